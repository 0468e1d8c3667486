//! Signatures and thumbprints that RFCs publish: `vectors/jose/rfc-signatures.json` and
//! `thumbprints.json`.

use signet_crypto::{Algorithm, SigningKey, VerifyingKey};
use signet_encoding::base64url;
use signet_encoding::json::{Limits, Object, Value, parse_object};
use signet_jose::jwk::{Jwk, JwkError};
use signet_jose::jws::{JwsError, split};

fn vectors(text: &'static str) -> Vec<Object<'static>> {
    let limits = Limits {
        bytes: 1 << 20,
        depth: 8,
        members: 10_000,
    };
    let mut document = parse_object(text.as_bytes(), &limits).unwrap();
    let Some(Value::Array(vectors)) = document.remove("vectors") else {
        panic!("no vectors")
    };
    let object = |vector| match vector {
        Value::Object(object) => object,
        other => panic!("{other:?}"),
    };
    vectors.into_iter().map(object).collect()
}

fn text<'o>(object: &'o Object<'_>, name: &str) -> &'o str {
    object.string(name).unwrap().expect(name)
}

fn key(jwk: &Object<'_>, alg: Algorithm) -> VerifyingKey {
    if alg.is_symmetric() {
        // A shared secret is no public key: the reader of JWKs refuses it, a client's secret comes
        // another way.
        assert_eq!(Jwk::from_value(jwk), Err(JwkError::Private));
        let secret = base64url::decode(text(jwk, "k").as_bytes()).unwrap();
        return VerifyingKey::hmac(alg, &secret).unwrap();
    }
    Jwk::from_value(jwk).unwrap().verifying_key(alg).unwrap()
}

#[test]
fn signatures_published_in_rfcs_verify() {
    let vectors = vectors(include_str!("../../../vectors/jose/rfc-signatures.json"));
    assert_eq!(vectors.len(), 12);
    for vector in &vectors {
        let name = text(vector, "name");
        let token = split(text(vector, "token").as_bytes(), 16 * 1024).expect(name);
        let header = token.decode_header().expect(name);
        let key = key(vector.object("jwk").unwrap().unwrap(), header.alg);
        let payload = token.verify(&header, &key).expect(name);
        assert_eq!(
            base64url::encode(&payload),
            text(vector, "payload"),
            "{name}"
        );
    }
}

#[test]
fn one_changed_character_of_a_published_signature_is_refused() {
    for vector in &vectors(include_str!("../../../vectors/jose/rfc-signatures.json")) {
        let name = text(vector, "name");
        let token = text(vector, "token");
        let alg = split(token.as_bytes(), 16 * 1024)
            .unwrap()
            .decode_header()
            .unwrap()
            .alg;
        let key = key(vector.object("jwk").unwrap().unwrap(), alg);
        let payload_at = token.find('.').unwrap() + 1;
        let signature_at = token.rfind('.').unwrap() + 1;
        for at in [
            payload_at,
            payload_at + 3,
            signature_at,
            signature_at + 7,
            token.len() - 1,
        ] {
            let mut changed = token.as_bytes().to_vec();
            changed[at] = if changed[at] == b'A' { b'B' } else { b'A' };
            let compact = split(&changed, 16 * 1024).unwrap();
            let refused = compact
                .decode_header()
                .and_then(|header| compact.verify(&header, &key));
            assert!(
                matches!(refused, Err(JwsError::Signature | JwsError::Malformed)),
                "{name}, byte {at}: {refused:?}"
            );
        }
    }
}

#[test]
fn thumbprints_published_in_rfcs_are_reproduced() {
    let vectors = vectors(include_str!("../../../vectors/jose/thumbprints.json"));
    assert_eq!(vectors.len(), 6);
    for vector in &vectors {
        let jwk = Jwk::from_value(vector.object("jwk").unwrap().unwrap()).unwrap();
        assert_eq!(
            jwk.thumbprint_text(),
            text(vector, "thumbprint"),
            "{}",
            text(vector, "name")
        );
    }
}

/// RFC 9964 appendix A: the keys come from a seed of 32 zero bytes.
#[test]
fn an_ml_dsa_seed_gives_the_published_public_key() {
    for vector in &vectors(include_str!("../../../vectors/jose/thumbprints.json")) {
        let jwk = Jwk::from_value(vector.object("jwk").unwrap().unwrap()).unwrap();
        if let Some(alg) = jwk
            .alg
            .filter(|alg| alg.key_type() == signet_crypto::KeyType::Akp)
        {
            let key = SigningKey::from_private(alg, &[0; 32]).unwrap();
            assert_eq!(key.public(), Some(&jwk.key));
        }
    }
}

/// RFC 7515 appendix A.5: an unsecured JWS is a JWS there, and nothing here.
#[test]
fn an_unsecured_jws_is_refused() {
    let token = b"eyJhbGciOiJub25lIn0.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ.";
    assert_eq!(split(token, 1024).err(), Some(JwsError::Malformed));
    let with_something = [&token[..], b"AA"].concat();
    let header = split(&with_something, 1024).unwrap().decode_header();
    assert_eq!(header, Err(JwsError::Algorithm));
}
