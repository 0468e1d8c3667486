use crate::support::*;
use signet_crypto::Algorithm;
use signet_jose::jwk::JwkSet;
use signet_verify::{Issuer, KeySource, Policy, Refusal, Verifier};

#[test]
fn none_in_every_spelling() {
    let (v, good) = (verifier(), access());
    for none in ["none", "None", "NONE", "nOnE", "none ", "\\u006eone", ""] {
        let made = good.with_header("ES256", none);
        refused(&v, &good.signed(), &made.signed(), &[Refusal::Algorithm]);
        let (header, payload, _) = parts(&made.signed());
        refused(
            &v,
            &good.signed(),
            &format!("{header}.{payload}."),
            &[Refusal::Malformed],
        );
    }
    for alg in ["null", "[\"ES256\"]", "1", "{}"] {
        let made = good.with_header("\"ES256\"", alg);
        refused(&v, &good.signed(), &made.signed(), &[Refusal::Malformed]);
    }
    let made = good.with_header("\"alg\":\"ES256\",", "");
    refused(&v, &good.signed(), &made.signed(), &[Refusal::Malformed]);
}

#[test]
fn hmac_with_the_public_key_as_secret() {
    let (v, good) = (verifier(), access());
    let mut secrets = Vec::new();
    let mut json = Vec::new();
    jwk(Algorithm::Es256).write(&mut signet_encoding::json::Writer::new(&mut json));
    secrets.push(json);
    let signet_crypto::PublicKey::P256 { x, y } = key(Algorithm::Es256).public().unwrap().clone()
    else {
        panic!("ES256 keys are of P-256")
    };
    secrets.push([&[4][..], &x, &y].concat());
    secrets.push(x.to_vec());
    for secret in secrets {
        let key = signet_crypto::SigningKey::from_private(Algorithm::Hs256, &secret).unwrap();
        let made = good.with_header("ES256", "HS256");
        let forged = sign_with(&key, &made.header, made.payload.as_bytes());
        refused(&v, &good.signed(), &forged, &[Refusal::Algorithm]);
    }
    // Nor can a policy be talked into it.
    let mixed = Policy::access_token(AUDIENCE).algorithms(&[Algorithm::Es256, Algorithm::Hs256]);
    assert!(
        Verifier::builder()
            .issuer(issuer())
            .policy(mixed)
            .build()
            .is_err()
    );
}

#[test]
fn an_algorithm_that_is_not_the_keys() {
    let (v, good) = (verifier(), access());
    for alg in [
        "ES384",
        "ES512",
        "EdDSA",
        "RS256",
        "PS256",
        "Ed25519",
        "ML-DSA-44",
    ] {
        let made = good.with_header("ES256", alg);
        refused(&v, &good.signed(), &made.signed(), &[Refusal::KeyMismatch]);
    }
    // The key's own algorithm where the policy has another one.
    let narrow = verifier_of(Policy::access_token(AUDIENCE).algorithms(&[Algorithm::EdDsa]));
    assert_eq!(
        verify(&narrow, &good.signed()).unwrap_err(),
        Refusal::Algorithm
    );
}

#[test]
fn a_key_that_says_otherwise_is_not_used() {
    // `alg: RS256` does not verify PS256; `use: enc` verifies nothing (known fault V7).
    let good = access()
        .with_header("ES256\"", "RS256\"")
        .with_header("key-ES256", "key-RS256");
    let good_token = sign_with(key(Algorithm::Rs256), &good.header, good.payload.as_bytes());
    let issuer = |set| Issuer::new(ISSUER, KeySource::Memory(set));
    let v = Verifier::builder()
        .issuer(issuer(jwks(&[Algorithm::Rs256])))
        .policy(Policy::access_token(AUDIENCE))
        .build()
        .unwrap();
    let other = good.with_header("\"RS256\"", "\"PS256\"");
    let forged = sign_with(
        key(Algorithm::Ps256),
        &other.header,
        other.payload.as_bytes(),
    );
    refused(&v, &good_token, &forged, &[Refusal::KeyMismatch]);
    let keys = JwkSet {
        keys: vec![enc_jwk(jwk(Algorithm::Rs256)), jwk(Algorithm::Es256)],
    };
    assert!(v.set_keys(ISSUER, &keys));
    assert_eq!(verify(&v, &good_token).unwrap_err(), Refusal::UnknownKey);
}

#[test]
fn kid_as_path_query_url_or_megabyte() {
    let (v, good) = (verifier(), access());
    let kids = [
        "../../dev/null",
        "' OR 1=1 --",
        "https://evil.example/k",
        "key-ES256\\u0000",
        "KEY-ES256",
        " key-ES256",
        "|id",
        "${jndi:ldap://x}",
        "",
    ];
    for kid in kids {
        let made = good.with_header("key-ES256", kid);
        refused(&v, &good.signed(), &made.signed(), &[Refusal::UnknownKey]);
    }
    let made = good.with_header("key-ES256", &"k".repeat(1 << 20));
    refused(&v, &good.signed(), &made.signed(), &[Refusal::TooLarge]);
    let made = good.with_header("key-ES256", &"k".repeat(600));
    refused(&v, &good.signed(), &made.signed(), &[Refusal::TooLarge]);
    for kid in ["1", "null", "[\"key-ES256\"]"] {
        let made = good.with_header("\"key-ES256\"", kid);
        refused(&v, &good.signed(), &made.signed(), &[Refusal::Malformed]);
    }
}

#[test]
fn keys_brought_by_the_token() {
    let (v, good) = (verifier(), access());
    let attacker = signet_crypto::SigningKey::generate(Algorithm::Es256).unwrap();
    let mut own = Vec::new();
    signet_jose::jwk::Jwk::new(attacker.public().unwrap().clone())
        .write(&mut signet_encoding::json::Writer::new(&mut own));
    let own = String::from_utf8(own).unwrap();
    for member in [
        format!(r#""jwk":{own}"#),
        format!(r#""jwk":{own},"jku":"https://evil.example/jwks""#),
        r#""jku":"https://evil.example/jwks""#.to_owned(),
        r#""jku":"https://id.example.com@evil.example/jwks""#.to_owned(),
        r#""x5u":"https://evil.example/cert""#.to_owned(),
        r#""x5c":["MIIB"]"#.to_owned(),
        r#""x5t#S256":"AAAA""#.to_owned(),
    ] {
        let made = good.and_header(&member);
        let forged = sign_with(&attacker, &made.header, made.payload.as_bytes());
        refused(&v, &good.signed(), &forged, &[Refusal::Signature]);
        // The same members change nothing where the issuer itself wrote them.
        assert!(verify(&v, &made.signed()).is_ok(), "{member}");
    }
}

#[test]
fn unknown_critical_headers() {
    let (v, good) = (verifier(), access());
    for crit in [
        r#"["exp"]"#,
        r#"["b64"]"#,
        r#"["alg"]"#,
        "[]",
        r#""exp""#,
        "null",
        r#"["http://x","http://x"]"#,
        "{}",
        "[1]",
    ] {
        let made = good.and_header(&format!(r#""crit":{crit},"exp":1"#));
        refused(&v, &good.signed(), &made.signed(), &[Refusal::Critical]);
    }
    let made = good.and_header(r#""\u0063rit":["x"]"#);
    refused(&v, &good.signed(), &made.signed(), &[Refusal::Critical]);
}

#[test]
fn unencoded_payload_and_compression() {
    let (v, good) = (verifier(), access());
    for member in [r#""b64":false"#, r#""b64":true"#, r#""zip":"DEF""#] {
        refused(
            &v,
            &good.signed(),
            &good.and_header(member).signed(),
            &[Refusal::Extension],
        );
    }
    let made = good.and_header(r#""b64":false,"crit":["b64"]"#);
    refused(
        &v,
        &good.signed(),
        &made.signed(),
        &[Refusal::Extension, Refusal::Critical],
    );
}

#[test]
fn duplicate_header_members() {
    let (v, good) = (verifier(), access());
    for member in [
        r#""alg":"ES256""#,
        r#""alg":"none""#,
        r#""kid":"key-ES256""#,
        r#""typ":"at+jwt""#,
        r#""\u0061lg":"ES256""#,
    ] {
        refused(
            &v,
            &good.signed(),
            &good.and_header(member).signed(),
            &[Refusal::Malformed],
        );
    }
}
