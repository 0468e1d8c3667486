use crate::support::*;
use signet_crypto::{Algorithm, SigningKey};
use signet_jose::jwk::{Jwk, JwkSet};
use signet_verify::{Issuer, KeySource, Policy, Presented, Refusal, Verifier, WithoutKid};

#[test]
fn a_foreign_key_with_the_same_kid() {
    let (v, good) = (verifier(), access());
    let foreign = SigningKey::generate(Algorithm::Es256).unwrap();
    let forged = sign_with(&foreign, &good.header, good.payload.as_bytes());
    refused(&v, &good.signed(), &forged, &[Refusal::Signature]);
}

#[test]
fn two_keys_with_one_kid() {
    let mut json = Vec::new();
    let twice = JwkSet {
        keys: vec![jwk(Algorithm::Es256), jwk(Algorithm::Es256)],
    };
    twice.write(&mut json);
    assert!(
        JwkSet::parse(&json).is_err(),
        "the whole set is refused: none of the two wins"
    );
}

#[test]
fn a_key_set_with_a_private_key() {
    let set = br#"{"keys":[{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo","d":"nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A"}]}"#;
    assert!(JwkSet::parse(set).is_err());
    assert!(JwkSet::parse(br#"{"keys":[{"kty":"oct","k":"AAAA"}]}"#).is_err());
}

#[test]
fn a_key_that_was_rotated_out_ends_cached_tokens_too() {
    let (v, good) = (verifier(), access());
    let other = JwkSet {
        keys: vec![jwk(Algorithm::EdDsa)],
    };
    assert!(verify(&v, &good.signed()).is_ok());
    let token = good.signed();
    assert!(verify(&v, &token).is_ok());
    assert!(verify(&v, &token).is_ok(), "cached");
    assert_eq!(v.counters().cached(), 1);
    v.set_keys(ISSUER, &other);
    assert_eq!(verify(&v, &token).unwrap_err(), Refusal::UnknownKey);
    // The same id, another key.
    let foreign = SigningKey::generate(Algorithm::Es256).unwrap();
    v.set_keys(
        ISSUER,
        &JwkSet {
            keys: vec![Jwk::for_signatures(
                foreign.public().unwrap().clone(),
                Algorithm::Es256,
                "key-ES256",
            )],
        },
    );
    assert_eq!(verify(&v, &token).unwrap_err(), Refusal::Signature);
    v.set_keys(ISSUER, &jwks(&[Algorithm::Es256]));
    assert!(verify(&v, &token).is_ok());
}

#[test]
fn a_disabled_issuer_ends_cached_tokens_too() {
    let v = verifier();
    let token = access().signed();
    assert!(verify(&v, &token).is_ok());
    assert!(v.set_enabled(ISSUER, false));
    assert_eq!(verify(&v, &token).unwrap_err(), Refusal::IssuerDisabled);
    assert!(v.set_enabled(ISSUER, true));
    assert!(verify(&v, &token).is_ok());
}

#[test]
fn a_token_without_kid() {
    let good = access();
    let nameless = good.with_header(r#","kid":"key-ES256""#, "").signed();
    let second = SigningKey::generate(Algorithm::Es256).unwrap();
    let two = JwkSet {
        keys: vec![
            Jwk::for_signatures(second.public().unwrap().clone(), Algorithm::Es256, "second"),
            jwk(Algorithm::Es256),
        ],
    };
    let with = |rule, set: &JwkSet| {
        let issuer = Issuer::new(ISSUER, KeySource::Memory(set.clone()));
        let policy = Policy::access_token(AUDIENCE).without_kid(rule);
        verify(
            &Verifier::builder()
                .issuer(issuer)
                .policy(policy)
                .build()
                .unwrap(),
            &nameless,
        )
        .map(drop)
    };
    let one = jwks(&[Algorithm::Es256]);
    assert_eq!(with(WithoutKid::OnlyKey, &one), Ok(()));
    assert_eq!(with(WithoutKid::Refuse, &one), Err(Refusal::UnknownKey));
    assert_eq!(with(WithoutKid::OnlyKey, &two), Err(Refusal::AmbiguousKey));
    assert_eq!(with(WithoutKid::TryEach, &two), Ok(()));
}

#[test]
fn a_strict_policy_behind_a_lax_one() {
    // Known fault V1: what a lax policy put into the cache is no answer for a strict one.
    let v = Verifier::builder()
        .issuer(issuer())
        .policy(Policy::access_token(AUDIENCE))
        .policy(
            Policy::access_token(AUDIENCE)
                .named("strict")
                .scope("admin"),
        )
        .build()
        .unwrap();
    let token = access().signed();
    let strict = v.policy("strict").unwrap();
    for _ in 0..3 {
        assert!(verify(&v, &token).is_ok());
        assert_eq!(
            v.verify_under(strict, &Presented::token(&token), NOW)
                .unwrap_err(),
            Refusal::Scope
        );
    }
    assert_eq!(v.counters().cached(), 2);
}

#[test]
fn a_forged_body_behind_a_cached_token() {
    // Known fault V2.
    let (v, good) = (verifier(), access());
    let token = good.signed();
    let (header, _, signature) = parts(&token);
    assert!(verify(&v, &token).is_ok());
    for other in [
        good.with("alice", "admin"),
        good.with("read", "root"),
        good.with("t-1", "t-1 "),
    ] {
        let forged = format!("{header}.{}.{signature}", encode(&other.payload));
        assert_eq!(verify(&v, &forged).unwrap_err(), Refusal::Signature);
    }
    assert_eq!(v.counters().cached(), 0);
}

#[test]
fn a_cached_token_after_its_end() {
    let v = verifier();
    let token = access().signed();
    let at = |now| v.verify(&Presented::token(&token), now).map(drop);
    assert_eq!(at(NOW), Ok(()));
    assert_eq!(at(NOW + 299), Ok(()));
    assert_eq!(at(NOW + 300), Err(Refusal::Expired));
    assert_eq!(v.counters().cached(), 1);
}

#[test]
fn junk_does_not_push_valid_tokens_out_of_the_cache() {
    let v = Verifier::builder()
        .issuer(issuer())
        .policy(Policy::access_token(AUDIENCE))
        .cache(64, 1 << 20)
        .build()
        .unwrap();
    let token = access().signed();
    assert!(verify(&v, &token).is_ok());
    for n in 0..2000 {
        let junk = format!("{}{n}", &token[..token.len() - 4]);
        assert!(verify(&v, &junk).is_err());
    }
    let hits = v.counters().cached();
    assert!(verify(&v, &token).is_ok());
    assert_eq!(v.counters().cached(), hits + 1);
    // Valid tokens that come once do not push out one that comes again.
    for n in 0..500 {
        assert!(verify(&v, &access().with("t-1", &format!("t-{n}x")).signed()).is_ok());
        assert!(verify(&v, &token).is_ok());
    }
    assert_eq!(v.counters().cached(), hits + 501);
}
