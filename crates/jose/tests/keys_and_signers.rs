//! Key sets, signers, claims and the hashes of OpenID Connect and DPoP.

use signet_crypto::{Algorithm, KeyType, PublicKey, SigningKey};
use signet_encoding::base64url;
use signet_encoding::json::{JsonError, Value, Writer};
use signet_jose::dpop;
use signet_jose::jwk::{Jwk, JwkError, JwkSet, KeyUse, MAX_KEYS};
use signet_jose::jws::{JwsError, split, typ_is};
use signet_jose::jwt::{Claims, JwtSigner, Typ, half_hash};

const P256: &str = r#""kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0""#;
const ED: &str = r#""kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo""#;

fn set(keys: &[&str]) -> Result<JwkSet, JwkError> {
    let keys: Vec<String> = keys.iter().map(|key| format!("{{{key}}}")).collect();
    JwkSet::parse(format!(r#"{{"keys":[{}],"other":1}}"#, keys.join(",")).as_bytes())
}

fn strict(keys: &[&str]) -> Result<JwkSet, JwkError> {
    let keys: Vec<String> = keys.iter().map(|key| format!("{{{key}}}")).collect();
    let text = format!(r#"{{"keys":[{}]}}"#, keys.join(","));
    let object = signet_encoding::json::parse_object(text.as_bytes(), &Default::default())?;
    JwkSet::from_value_strict(&object)
}

fn with(key: &str, more: &str) -> String {
    format!("{key},{more}")
}

#[test]
fn a_set_leaves_out_what_it_does_not_understand() {
    let unknown = [
        r#""kty":"new","kid":"a""#,
        r#""kty":"EC","crv":"secp256k1","x":"AA","y":"AA""#,
        r#""kty":"OKP","crv":"X25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo""#,
        r#""kty":"RSA","alg":"RSA-OAEP","use":"enc","n":"AQ","e":"AQAB""#,
        r#""kty":"EC","crv":"P-256","x":"AA","y":"AA""#,
        r#""kid":"no type""#,
    ];
    let mut keys = unknown.to_vec();
    keys.push(P256);
    assert_eq!(set(&keys).unwrap().keys.len(), 1);
    for key in unknown {
        assert!(
            strict(&[key, P256]).is_err(),
            "registration hears of it: {key}"
        );
    }
    assert_eq!(set(&[]).unwrap().keys.len(), 0);
}

#[test]
fn a_private_or_symmetric_key_refuses_the_whole_set() {
    for key in [
        with(ED, r#""d":"nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A""#),
        with(ED, r#""d":null"#),
        with(P256, r#""d":"AA""#),
        r#""kty":"RSA","n":"AQ","e":"AQAB","p":"AA""#.to_owned(),
        r#""kty":"RSA","n":"AQ","e":"AQAB","oth":[]"#.to_owned(),
        r#""kty":"AKP","alg":"ML-DSA-44","pub":"AA","priv":"AA""#.to_owned(),
        r#""kty":"oct","k":"AA""#.to_owned(),
        r#""kty":"oct""#.to_owned(),
        r#""kty":"new","d":"AA""#.to_owned(),
    ] {
        assert_eq!(set(&[P256, &key]), Err(JwkError::Private), "{key}");
    }
}

#[test]
fn two_keys_of_one_type_with_one_kid_refuse_the_set() {
    let (a, b) = (with(P256, r#""kid":"k""#), with(ED, r#""kid":"k""#));
    assert_eq!(set(&[&a, &a]), Err(JwkError::DuplicateKid));
    assert_eq!(
        set(&[&a, P256, &with(P256, r#""kid":"k","use":"enc""#)]),
        Err(JwkError::DuplicateKid)
    );
    // RFC 7517 section 4.5: equivalent keys of different types may share an id; the algorithm tells
    // them apart.
    let both = set(&[&a, &b]).unwrap();
    assert_eq!(
        both.select(Some("k"), Algorithm::Es256),
        Some(&both.keys[0])
    );
    assert_eq!(
        both.select(Some("k"), Algorithm::EdDsa),
        Some(&both.keys[1])
    );
    assert_eq!(
        set(&[P256, P256]).unwrap().keys.len(),
        2,
        "keys without an id have no equal id"
    );
}

#[test]
fn without_kid_exactly_one_key_must_fit() {
    let keys = set(&[
        &with(P256, r#""kid":"a""#),
        &with(ED, r#""kid":"b""#),
        &with(P256, r#""kid":"c","use":"enc""#),
    ])
    .unwrap();
    assert_eq!(
        keys.select(None, Algorithm::Es256)
            .and_then(|key| key.kid.as_deref()),
        Some("a")
    );
    assert_eq!(
        keys.select(Some("a"), Algorithm::Es256)
            .and_then(|key| key.kid.as_deref()),
        Some("a")
    );
    assert_eq!(keys.select(Some("b"), Algorithm::Es256), None);
    assert_eq!(
        keys.select(Some("c"), Algorithm::Es256),
        None,
        "it is for encryption"
    );
    assert_eq!(keys.select(None, Algorithm::Rs256), None);
    let two = set(&[&with(P256, r#""kid":"a""#), &with(P256, r#""kid":"b""#)]).unwrap();
    assert_eq!(two.select(None, Algorithm::Es256), None);
}

#[test]
fn a_set_is_bounded_and_has_keys() {
    let many = vec![P256; MAX_KEYS];
    assert_eq!(set(&many).unwrap().keys.len(), MAX_KEYS);
    assert_eq!(set(&vec![P256; MAX_KEYS + 1]), Err(JwkError::TooMany));
    for text in [
        "{}",
        r#"{"keys":{}}"#,
        r#"{"keys":[1]}"#,
        r#"{"keys":null}"#,
    ] {
        assert_eq!(
            JwkSet::parse(text.as_bytes()),
            Err(JwkError::Member("keys")),
            "{text}"
        );
    }
    assert_eq!(JwkSet::parse(b"[]"), Err(JwkError::Json(JsonError::Type)));
}

#[test]
fn rsa_integers_have_no_leading_zeros() {
    let jwk =
        |n: &str, e: &str| Jwk::parse(format!(r#"{{"kty":"RSA","n":"{n}","e":"{e}"}}"#).as_bytes());
    let n = base64url::encode(&[0xff; 256]);
    assert!(jwk(&n, "AQAB").is_ok());
    assert_eq!(
        jwk(
            &base64url::encode(&[&[0][..], &[0xff; 256]].concat()),
            "AQAB"
        ),
        Err(JwkError::Member("n"))
    );
    assert_eq!(jwk(&n, "AAEAAQ"), Err(JwkError::Member("e")));
    assert_eq!(jwk(&n, ""), Err(JwkError::Member("e")));
    assert_eq!(jwk("", "AQAB"), Err(JwkError::Member("n")));
    assert_eq!(
        jwk(&base64url::encode(&[0xff; 1025]), "AQAB"),
        Err(JwkError::Member("n"))
    );
    // Too short a modulus is a key that cannot be used, not one that cannot be read.
    let weak = jwk(&base64url::encode(&[0xff; 128]), "AQAB").unwrap();
    assert!(weak.verifying_key(Algorithm::Rs256).is_err());
}

#[test]
fn a_key_fits_its_own_algorithms_only() {
    for alg in Algorithm::ALL
        .iter()
        .copied()
        .filter(|alg| !alg.is_symmetric())
    {
        let key = SigningKey::generate(alg).unwrap();
        let jwk = Jwk::new(key.public().unwrap().clone());
        for other in Algorithm::ALL {
            let same_material = match alg.key_type() {
                KeyType::Rsa | KeyType::Okp => other.key_type() == alg.key_type(),
                _ => *other == alg,
            };
            assert_eq!(
                jwk.verifying_key(*other).is_ok(),
                same_material,
                "{} for {}",
                alg.name(),
                other.name()
            );
            // RFC 7517 section 4.4: `alg` narrows it to one.
            let narrowed = Jwk {
                alg: Some(alg),
                ..jwk.clone()
            };
            assert_eq!(narrowed.verifying_key(*other).is_ok(), *other == alg);
        }
    }
}

#[test]
fn a_point_off_its_curve_is_no_key() {
    let PublicKey::P256 { x, mut y } = Jwk::parse(format!("{{{P256}}}").as_bytes()).unwrap().key
    else {
        panic!()
    };
    y[31] ^= 1;
    assert!(
        Jwk::new(PublicKey::P256 { x, y })
            .verifying_key(Algorithm::Es256)
            .is_err()
    );
}

#[test]
fn a_published_key_is_read_back_the_same() {
    for alg in Algorithm::ALL
        .iter()
        .copied()
        .filter(|alg| !alg.is_symmetric())
    {
        let key = SigningKey::generate(alg).unwrap();
        let jwk = Jwk::for_signatures(key.public().unwrap().clone(), alg, "a \"kid\"");
        let mut text = Vec::new();
        JwkSet {
            keys: vec![jwk.clone()],
        }
        .write(&mut text);
        assert_eq!(
            JwkSet::parse(&text).unwrap().keys[..],
            *std::slice::from_ref(&jwk)
        );
        assert_eq!(jwk.key_use, Some(KeyUse::Signature));
    }
    let certified = Jwk {
        x5c: vec![vec![0xfb, 0xff], vec![1]],
        ..Jwk::parse(format!("{{{ED}}}").as_bytes()).unwrap()
    };
    let mut text = Vec::new();
    certified.write(&mut Writer::new(&mut text));
    assert!(String::from_utf8_lossy(&text).contains(r#""x5c":["+/8=","AQ=="]"#));
    assert_eq!(Jwk::parse(&text).unwrap(), certified);
}

#[test]
fn every_algorithm_and_type_signs_what_verifies() {
    for alg in Algorithm::ALL.iter().copied() {
        let signer = JwtSigner::new(SigningKey::generate(alg).unwrap(), "k/1");
        let key = signer.key().verifying_key().unwrap();
        for typ in Typ::ALL {
            let mut out = b"before".to_vec();
            let signed = signer.sign_into(typ, br#"{"sub":"alice"}"#, &mut out);
            if typ == Typ::DpopProof && alg.is_symmetric() {
                assert!(signed.is_err());
                assert_eq!(out, b"before");
                continue;
            }
            signed.unwrap();
            let compact = split(&out[6..], 16 * 1024).unwrap();
            assert_eq!(compact.header, signer.header(typ));
            let header = compact.decode_header().unwrap();
            assert_eq!(header.alg, alg);
            assert_eq!(
                header.kid.as_deref(),
                (typ != Typ::DpopProof).then_some("k/1")
            );
            assert!(typ_is(header.typ.as_deref(), typ.as_str()));
            assert_eq!(
                compact.verify(&header, &key).unwrap(),
                br#"{"sub":"alice"}"#
            );
            compact.verify_signature(&key).unwrap();
        }
    }
}

#[test]
fn the_algorithm_is_the_keys() {
    // A token that is honestly signed with RS256 is refused by the same key prepared for PS256.
    let signer = JwtSigner::new(SigningKey::generate(Algorithm::Rs256).unwrap(), "k");
    let token = signer
        .sign(Typ::Jwt, |w| w.member("sub").string("alice"))
        .unwrap();
    let compact = split(token.as_bytes(), 4096).unwrap();
    let header = compact.decode_header().unwrap();
    let jwk = Jwk::new(signer.key().public().unwrap().clone());
    assert!(
        compact
            .verify(&header, &jwk.verifying_key(Algorithm::Rs256).unwrap())
            .is_ok()
    );
    let other = jwk.verifying_key(Algorithm::Ps256).unwrap();
    assert_eq!(compact.verify(&header, &other), Err(JwsError::KeyMismatch));
}

#[test]
fn a_signed_proof_verifies_for_every_asymmetric_algorithm() {
    for alg in Algorithm::ALL
        .iter()
        .copied()
        .filter(|alg| !alg.is_symmetric())
    {
        let signer = JwtSigner::new(SigningKey::generate(alg).unwrap(), "unused");
        let claims = |w: &mut Writer<'_>| {
            w.member("jti").string("id");
            w.member("htm").string("GET");
            w.member("htu").string("https://rs.example/r");
            w.member("iat").number(100);
            w.member("ath").string(&dpop::ath("token"));
        };
        let token = signer.sign(Typ::DpopProof, claims).unwrap();
        let proof = dpop::verify(&token, "GET", "https://rs.example/r?q", 100, 60, 5).unwrap();
        assert_eq!(
            proof.jkt,
            Jwk::new(signer.key().public().unwrap().clone()).thumbprint_text()
        );
        assert_eq!((&*proof.jti, proof.iat, proof.alg), ("id", 100, alg));
        assert!(proof.covers("token"));
        assert!(!proof.covers("other"));
    }
}

#[test]
fn the_proof_of_rfc_9449_section_4_1_verifies() {
    let proof = "eyJ0eXAiOiJkcG9wK2p3dCIsImFsZyI6IkVTMjU2IiwiandrIjp7Imt0eSI6IkVDIiwieCI6Imw4dEZyaHgtMzR0VjNoUklDUkRZOXpDa0RscEJoRjQyVVFVZldWQVdCRnMiLCJ5IjoiOVZFNGpmX09rX282NHpiVFRsY3VOSmFqSG10NnY5VERWclUwQ2R2R1JEQSIsImNydiI6IlAtMjU2In19.eyJqdGkiOiItQndDM0VTYzZhY2MybFRjIiwiaHRtIjoiUE9TVCIsImh0dSI6Imh0dHBzOi8vc2VydmVyLmV4YW1wbGUuY29tL3Rva2VuIiwiaWF0IjoxNTYyMjYyNjE2fQ.2-GxA6T8lP4vfrg8v-FdWP0A0zdrj8igiMLvqRMUvwnQg4PtFLbdLXiOSsX0x7NVY-FNyJK70nfbV37xRZT3Lg";
    let proof = dpop::verify(
        proof,
        "POST",
        "https://server.example.com/token",
        1_562_262_620,
        60,
        0,
    )
    .unwrap();
    // Section 6.1 binds the access token to this thumbprint.
    assert_eq!(proof.jkt, "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I");
    assert_eq!(
        (&*proof.jti, proof.nonce, proof.ath),
        ("-BwC3ESc6acc2lTc", None, None)
    );
}

/// RFC 9449 section 7.1.
#[test]
fn ath_is_the_hash_of_the_access_token() {
    assert_eq!(
        dpop::ath("Kz~8mXK1EalYznwH-LC-1fBAo.4Ljp~zsPE_NeO.gxU"),
        "fUHyO2r2Z3DZ53EsNrWBb0xWXoaNy59IiKCAqksmQEo"
    );
}

/// OpenID Connect Core appendix A.3 and A.4.
#[test]
fn half_hashes_are_those_of_openid_connect_core() {
    assert_eq!(
        half_hash(
            Algorithm::Rs256,
            "jHkWEdUXMU1BwAsC4vtUsZwnNvTIxEl0z9K3vx5KF0Y"
        ),
        "77QmUPtjPfzWtF2AnpK9RQ"
    );
    assert_eq!(
        half_hash(
            Algorithm::Rs256,
            "Qcb0Orv1zh30vL1MPRsbm-diHiMwcLyZvn1arpZv-Jxf_11jnpEX3Tgfvk"
        ),
        "LDktKdoQak3Pk0cnXxCltA"
    );
    assert_eq!(half_hash(Algorithm::Es384, "x").len(), 32);
    assert_eq!(half_hash(Algorithm::EdDsa, "x").len(), 43);
}

#[test]
fn claims_are_read_by_schema_and_others_stay() {
    let claims = Claims::parse(br#"{"iss":"i","sub":"s","aud":["a","b"],"exp":3.9,"nbf":1,"iat":2,"jti":"j","scope":"r w","act":{"sub":"x"}}"#).unwrap();
    assert_eq!(
        (
            claims.iss.as_deref(),
            claims.sub.as_deref(),
            claims.jti.as_deref()
        ),
        (Some("i"), Some("s"), Some("j"))
    );
    assert_eq!(
        (claims.exp, claims.nbf, claims.iat),
        (Some(3), Some(1), Some(2))
    );
    assert!(claims.has_audience("b") && !claims.has_audience("ab") && claims.aud_is_array);
    assert_eq!(
        claims.other.get("scope").and_then(Value::as_str),
        Some("r w")
    );
    assert_eq!(claims.other.len(), 2);
    assert!(claims.other.get("sub").is_none());
    let one = Claims::parse(br#"{"aud":"a"}"#).unwrap();
    assert!(one.has_audience("a") && !one.aud_is_array);
    assert_eq!(Claims::parse(br#"{"aud":[]}"#).unwrap().aud.len(), 0);
    assert_eq!(Claims::parse(b"{}").unwrap(), Claims::default());
}
