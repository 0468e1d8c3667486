//! Nested tokens: opened where a policy has a key for it, and then held to all of it.

use crate::support::*;
use serde_json::Value;
use signet_crypto::decrypt::DecryptionKey;
use signet_encoding::base64url;
use signet_jose::{jwe::NamedKey, jwk::JwkSet};
use signet_verify::{BuildError, Form, Issuer, KeySource, Policy, Refusal, Verifier};

fn file() -> Value {
    serde_json::from_str(include_str!("../../../vectors/jose/jwe.json")).unwrap()
}

fn key(file: &Value, name: &str) -> NamedKey {
    let keys = file["keys"].as_array().unwrap();
    let entry = keys.iter().find(|key| key["name"] == name).unwrap();
    let der = base64url::decode(entry["pkcs8"].as_str().unwrap().as_bytes()).unwrap();
    NamedKey {
        kid: Some(name.to_owned()),
        key: DecryptionKey::from_pkcs8(&der).unwrap(),
    }
}

fn verifier_with(file: &Value, policy: Policy) -> Verifier {
    let keys = JwkSet::parse(file["jwks"].to_string().as_bytes()).unwrap();
    Verifier::builder()
        .issuer(Issuer::new(ISSUER, KeySource::Memory(keys)))
        .policy(policy)
        .build()
        .unwrap()
}

#[test]
fn a_nested_token_is_opened_verified_and_kept() {
    let file = file();
    let all = ["RSA-2048", "P-256", "P-384", "X25519"].map(|name| key(&file, name));
    let v = verifier_with(&file, Policy::access_token(AUDIENCE).decrypt(all));
    let inner = verify(&v, file["inner"].as_str().unwrap()).unwrap();
    for vector in file["vectors"].as_array().unwrap() {
        let token = vector["token"].as_str().unwrap();
        for _ in 0..2 {
            let verified = verify(&v, token).unwrap();
            assert_eq!(verified.claims().sub(), Some("alice"));
            assert!(matches!(verified.form(), Form::Jwt(_)));
            // However often it is encrypted, it is one token.
            assert_eq!(verified.identity(), inner.identity());
        }
    }
    for case in file["refused"].as_array().unwrap() {
        let token = case["token"].as_str().unwrap();
        assert_eq!(
            verify(&v, token).unwrap_err(),
            Refusal::Encryption,
            "{}",
            case["why"]
        );
    }
}

#[test]
fn without_a_key_or_with_another_one_it_is_refused() {
    let file = file();
    let token = file["vectors"][0]["token"].as_str().unwrap();
    let plain = verifier_with(&file, Policy::access_token(AUDIENCE));
    assert_eq!(verify(&plain, token).unwrap_err(), Refusal::Malformed);
    let other = Policy::access_token(AUDIENCE).decrypt([key(&file, "P-256")]);
    let other = verifier_with(&file, other);
    assert_eq!(verify(&other, token).unwrap_err(), Refusal::Encryption);
    let none = Verifier::builder()
        .issuer(issuer())
        .policy(Policy::access_token(AUDIENCE).decrypt([]))
        .build();
    assert!(matches!(none.err(), Some(BuildError::Policy { .. })));
}

#[test]
fn what_is_inside_is_held_to_the_policy() {
    let file = file();
    let token = file["vectors"][0]["token"].as_str().unwrap();
    let with = |policy: Policy| {
        let v = verifier_with(&file, policy.decrypt([key(&file, "RSA-2048")]));
        verify(&v, token)
    };
    assert!(with(Policy::access_token(AUDIENCE)).is_ok());
    let refused = |policy: Policy| with(policy).unwrap_err();
    assert_eq!(refused(Policy::access_token("x")), Refusal::Audience);
    assert_eq!(
        refused(Policy::access_token(AUDIENCE).scope("x")),
        Refusal::Scope
    );
    assert_eq!(refused(Policy::id_token(AUDIENCE)), Refusal::Type);
    // Another issuer's key set: the signature inside counts, not who could encrypt.
    let v = Verifier::builder()
        .issuer(issuer())
        .policy(Policy::access_token(AUDIENCE).decrypt([key(&file, "RSA-2048")]))
        .build()
        .unwrap();
    assert_eq!(verify(&v, token).unwrap_err(), Refusal::UnknownKey);
}
