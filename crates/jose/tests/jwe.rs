//! Nested tokens that another implementation encrypted (`vectors/jose/jwe.json`), and everything
//! about them that is refused.
use proptest::prelude::*;
use serde_json::Value;
use signet_crypto::decrypt::DecryptionKey;
use signet_encoding::base64url;
use signet_jose::jwe::{JweError, NamedKey, decrypt_nested};
use std::sync::LazyLock;

const MAX: usize = 16 * 1024;

static FILE: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(include_str!("../../../vectors/jose/jwe.json")).unwrap());

fn keys() -> Vec<NamedKey> {
    let named = |entry: &Value| {
        let der = base64url::decode(entry["pkcs8"].as_str().unwrap().as_bytes()).unwrap();
        NamedKey {
            kid: Some(entry["name"].as_str().unwrap().to_owned()),
            key: DecryptionKey::from_pkcs8(&der).unwrap(),
        }
    };
    FILE["keys"].as_array().unwrap().iter().map(named).collect()
}

fn vectors() -> Vec<&'static Value> {
    FILE["vectors"].as_array().unwrap().iter().collect()
}

fn token(vector: &Value) -> &str {
    vector["token"].as_str().unwrap()
}

fn open(token: &str) -> Result<String, JweError> {
    decrypt_nested(token, &keys(), MAX)
}

/// The five parts, of which one is another.
fn with_part(token: &str, part: usize, change: impl FnOnce(&str) -> String) -> String {
    let mut parts: Vec<String> = token.split('.').map(str::to_owned).collect();
    parts[part] = change(&parts[part]);
    parts.join(".")
}

/// With another header. It is authenticated, so this can only be refused: what counts is for which
/// reason.
fn with_header(token: &str, from: &str, to: &str) -> String {
    with_part(token, 0, |header| {
        let text = String::from_utf8(base64url::decode(header.as_bytes()).unwrap()).unwrap();
        let changed = text.replacen(from, to, 1);
        assert_ne!(changed, text, "{from}");
        base64url::encode(changed.as_bytes())
    })
}

fn vector(key: &str) -> &'static str {
    let found = vectors().into_iter().find(|v| v["key"] == key);
    token(found.unwrap())
}

#[test]
fn what_another_implementation_encrypted_is_opened() {
    let inner = FILE["inner"].as_str().unwrap();
    assert_eq!(vectors().len(), 14);
    for vector in vectors() {
        assert_eq!(open(token(vector)).as_deref(), Ok(inner), "{vector}");
        // A key without a name is for any token that it fits.
        let unnamed: Vec<NamedKey> = keys()
            .into_iter()
            .map(|key| NamedKey { kid: None, ..key })
            .collect();
        assert_eq!(
            decrypt_nested(token(vector), &unnamed, MAX).as_deref(),
            Ok(inner)
        );
    }
}

#[test]
fn other_algorithms_compression_and_other_content_are_refused() {
    let expected = |why: &str| match why {
        "without cty" | "another cty" => JweError::Type,
        "a key that is not ours" => JweError::Decryption,
        _ => JweError::Algorithm,
    };
    let refused = FILE["refused"].as_array().unwrap();
    assert_eq!(refused.len(), 9);
    for case in refused {
        let why = case["why"].as_str().unwrap();
        assert_eq!(open(token(case)), Err(expected(why)), "{why}");
    }
}

#[test]
fn a_header_with_anything_that_changes_the_meaning_is_refused_before_any_key_is_used() {
    let ec = vector("P-256");
    let rsa = vector("RSA-2048");
    for (token, from, to, error) in [
        (ec, r#"{"#, r#"{"zip":"DEF","#, JweError::Extension),
        (ec, r#"{"#, r#"{"b64":false,"#, JweError::Extension),
        (ec, r#"{"#, r#"{"crit":["exp"],"#, JweError::Critical),
        (ec, r#"{"#, r#"{"crit":[],"#, JweError::Critical),
        (ec, r#"{"#, r#"{"alg":"ECDH-ES","#, JweError::Malformed),
        (ec, r#""ECDH-ES""#, r#""ecdh-es""#, JweError::Algorithm),
        (ec, r#""ECDH-ES""#, r#""dir""#, JweError::Algorithm),
        (ec, r#""ECDH-ES""#, r#""RSA-OAEP-256""#, JweError::Malformed),
        (ec, r#""ECDH-ES""#, r#"1"#, JweError::Malformed),
        (ec, r#""A128GCM""#, r#""A192GCM""#, JweError::Algorithm),
        (ec, r#""A128GCM""#, r#""none""#, JweError::Algorithm),
        (
            ec,
            r#""crv":"P-256""#,
            r#""crv":"P-384""#,
            JweError::Malformed,
        ),
        (
            ec,
            r#""crv":"P-256""#,
            r#""crv":"P-521""#,
            JweError::Algorithm,
        ),
        (
            ec,
            r#""kty":"EC""#,
            r#""kty":"EC","d":"AA""#,
            JweError::Malformed,
        ),
        (ec, r#""epk""#, r#""epk2""#, JweError::Malformed),
        (ec, r#""x":""#, r#""x":"AA"#, JweError::Malformed),
        (
            rsa,
            r#"{"#,
            r#"{"epk":{"kty":"EC","crv":"P-256"},"#,
            JweError::Malformed,
        ),
        (rsa, r#""RSA-OAEP-256""#, r#""RSA1_5""#, JweError::Algorithm),
        (
            rsa,
            r#""RSA-OAEP-256""#,
            r#""RSA-OAEP""#,
            JweError::Algorithm,
        ),
        (
            rsa,
            r#""RSA-OAEP-256""#,
            r#""PBES2-HS256+A128KW","p2c":2147483647"#,
            JweError::Algorithm,
        ),
    ] {
        assert!(open(token).is_ok());
        let changed = with_header(token, from, to);
        assert_eq!(open(&changed), Err(error), "{from} {to}");
    }
}

#[test]
fn parts_of_another_number_or_length_are_refused() {
    let ec = vector("X25519");
    let rsa = vector("RSA-2048");
    for changed in [
        format!("{ec}."),
        ec.rsplit_once('.').unwrap().0.to_owned(),
        with_part(ec, 1, |_| "AAAA".into()),
        with_part(rsa, 1, |_| String::new()),
        // a nonce and tags of other lengths
        with_part(ec, 2, |iv| iv[..8].into()),
        with_part(ec, 4, |tag| tag[..16].into()),
        with_part(ec, 4, |_| String::new()),
        with_part(ec, 3, |text| format!("{text}=")),
        with_part(ec, 3, |text| format!("{text} ")),
        String::new(),
        "....".into(),
    ] {
        assert_eq!(open(&changed), Err(JweError::Malformed), "{changed}");
    }
    assert_eq!(
        decrypt_nested(ec, &keys(), ec.len() - 1),
        Err(JweError::TooLarge)
    );
}

/// RFC 7516 section 11.5: which secret step failed is nobody's business.
#[test]
fn whatever_fails_with_a_key_fails_alike() {
    let flip = |text: &str| {
        let mut bytes = base64url::decode(text.as_bytes()).unwrap();
        if let Some(last) = bytes.last_mut() {
            *last ^= 1;
        }
        base64url::encode(&bytes)
    };
    for vector in vectors() {
        let token = token(vector);
        for part in [1, 2, 3, 4] {
            let changed = with_part(token, part, flip);
            if changed != token {
                assert_eq!(open(&changed), Err(JweError::Decryption), "{part}");
            }
        }
        assert_eq!(
            open(&with_header(token, "{", "{ ")),
            Err(JweError::Decryption)
        );
        assert_eq!(decrypt_nested(token, &[], MAX), Err(JweError::Decryption));
    }
    let rsa = vector("RSA-2048");
    for changed in [
        with_part(rsa, 1, |key| key[..key.len() - 2].into()),
        with_part(rsa, 1, |key| "A".repeat(key.len())),
        with_part(rsa, 1, |_| "AAAA".into()),
        with_header(rsa, r#""RSA-2048""#, r#""P-256""#),
    ] {
        assert_eq!(open(&changed), Err(JweError::Decryption));
    }
    // A point off the curve, and one of small order.
    for (key, coordinate) in [("P-256", "x"), ("X25519", "x")] {
        let token = vector(key);
        let changed = with_part(token, 0, |header| {
            let text = base64url::decode(header.as_bytes()).unwrap();
            let mut header: Value = serde_json::from_slice(&text).unwrap();
            header["epk"][coordinate] = base64url::encode(&[0; 32]).into();
            base64url::encode(header.to_string().as_bytes())
        });
        assert_eq!(open(&changed), Err(JweError::Decryption), "{key}");
    }
}

proptest! {
    #[test]
    fn no_input_panics(text in "[A-Za-z0-9_.-]{0,200}") {
        let _ = open(&text);
    }

    #[test]
    fn no_mutation_is_opened(index in 0..14usize, at in any::<prop::sample::Index>(), symbol in "[A-Za-z0-9_-]") {
        let token = token(vectors()[index]);
        let at = at.index(token.len());
        let mut changed = token.to_owned();
        changed.replace_range(at..=at, &symbol);
        prop_assume!(changed != token);
        prop_assert!(open(&changed).is_err());
    }
}
