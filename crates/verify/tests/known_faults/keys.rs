use crate::support::*;
use signet_crypto::{Algorithm, SigningKey};
use signet_jose::jwk::{Jwk, JwkSet};
use signet_verify::{Issuer, KeySource, Policy, Refusal, Verifier};

fn with_keys(keys: Vec<Jwk>) -> Verifier {
    // A second key, so that the verifier has one in any case.
    let mut keys = keys;
    keys.push(jwk(Algorithm::MlDsa44));
    Verifier::builder()
        .issuer(Issuer::new(ISSUER, KeySource::Memory(JwkSet { keys })))
        .policy(Policy::access_token(AUDIENCE))
        .build()
        .unwrap()
}

/// A token that names `kid` and `alg`, signed for that algorithm by `signer`'s key.
fn token(alg: &str, kid: &str, signer: Algorithm) -> String {
    let made = access()
        .with_header("\"ES256\"", &format!("\"{alg}\""))
        .with_header("key-ES256", kid);
    sign_with(key(signer), &made.header, made.payload.as_bytes())
}

#[test]
fn v07_a_key_verifies_what_it_is_for_and_nothing_else() {
    // `use: enc`.
    let good = access().signed();
    assert!(verify(&with_keys(vec![jwk(Algorithm::Es256)]), &good).is_ok());
    let v = with_keys(vec![enc_jwk(jwk(Algorithm::Es256))]);
    assert_eq!(verify(&v, &good).unwrap_err(), Refusal::UnknownKey);
    // `key_ops` without `verify`.
    let mut other_operations = jwk(Algorithm::Es256);
    other_operations.key_ops = Some(vec!["encrypt".into()]);
    let v = with_keys(vec![other_operations]);
    assert_eq!(verify(&v, &good).unwrap_err(), Refusal::UnknownKey);
    // `alg: RS256` verifies neither PS256 nor RS512, though the key could.
    let v = with_keys(vec![jwk(Algorithm::Rs256)]);
    assert!(verify(&v, &token("RS256", "key-RS256", Algorithm::Rs256)).is_ok());
    for other in [Algorithm::Ps256, Algorithm::Rs512] {
        let other = token(other.name(), "key-RS256", other);
        assert_eq!(verify(&v, &other).unwrap_err(), Refusal::KeyMismatch);
    }
    // ES512 with a P-256 key, whatever the key says of its algorithm.
    let mut unnamed = jwk(Algorithm::Es256);
    unnamed.alg = None;
    let v = with_keys(vec![unnamed]);
    assert!(verify(&v, &good).is_ok());
    for alg in ["ES512", "ES384"] {
        let other = token(alg, "key-ES256", Algorithm::Es256);
        assert_eq!(verify(&v, &other).unwrap_err(), Refusal::KeyMismatch);
    }
}

#[test]
fn v07_a_set_with_a_private_part_or_one_kid_twice_is_no_set() {
    let text = |keys: Vec<Jwk>| {
        let mut out = Vec::new();
        JwkSet { keys }.write(&mut out);
        String::from_utf8(out).unwrap()
    };
    let one = text(vec![jwk(Algorithm::Es256)]);
    assert!(JwkSet::parse(one.as_bytes()).is_ok());
    let private = one.replacen(r#""kty""#, r#""d":"AAAA","kty""#, 1);
    assert_ne!(private, one);
    assert!(JwkSet::parse(private.as_bytes()).is_err());
    let foreign = SigningKey::generate(Algorithm::Es256).unwrap();
    let foreign = foreign.public().unwrap().clone();
    let second = Jwk::for_signatures(foreign, Algorithm::Es256, &kid(Algorithm::Es256));
    let twice = text(vec![jwk(Algorithm::Es256), second]);
    assert!(
        JwkSet::parse(twice.as_bytes()).is_err(),
        "none of the two wins"
    );
}
