use crate::support::*;
use signet_crypto::Algorithm;
use signet_verify::{Freshness, Issuer, KeySource, Policy, PolicyId, Presented, Refusal, Verifier};
use std::time::Duration;

#[test]
fn v01_a_shared_cache_never_answers_a_strict_policy_with_what_a_lax_one_accepted() {
    let lax = || Policy::access_token(AUDIENCE).named("lax");
    let strict: [(&str, Policy, Refusal); 7] = [
        ("scope", lax().scope("admin"), Refusal::Scope),
        (
            "audience",
            Policy::access_token("https://other"),
            Refusal::Audience,
        ),
        ("age", lax().max_age(5).leeway(0), Refusal::TooOld),
        ("acr", lax().acr("mfa"), Refusal::AuthenticationContext),
        (
            "party",
            lax().authorized_party("app"),
            Refusal::AuthorizedParty,
        ),
        (
            "algorithm",
            lax().algorithms(&[Algorithm::EdDsa]),
            Refusal::Algorithm,
        ),
        (
            "rule",
            lax().rule(|claims| claims.sub() != Some("alice")),
            Refusal::Rule,
        ),
    ];
    let mut builder = Verifier::builder().issuer(issuer()).policy(lax());
    for (name, policy, _) in &strict {
        builder = builder.policy(policy.clone().named(name));
    }
    let v = builder.build().unwrap();
    let token = access().signed();
    for round in 0..3 {
        assert!(verify(&v, &token).is_ok());
        assert_eq!(
            v.counters().cached(),
            round,
            "the lax policy has its own hits"
        );
        for (name, _, reason) in &strict {
            let id: PolicyId = v.policy(name).unwrap();
            let answer = v.verify_under(id, &Presented::token(&token), NOW);
            assert_eq!(answer.unwrap_err(), *reason, "{name}, round {round}");
        }
    }
}

#[test]
fn v02_a_cached_answer_is_for_the_whole_token_and_not_for_its_id_or_a_part_of_it() {
    let (v, good) = (verifier(), access());
    let token = good.signed();
    let (header, payload, signature) = parts(&token);
    assert!(verify(&v, &token).is_ok() && verify(&v, &token).is_ok());
    assert_eq!(v.counters().cached(), 1);
    let body = encode(&good.with("alice", "admin").payload);
    let other = parts(&good.with("t-1", "t-2").signed()).2;
    for forged in [
        // The same `jti`, another subject.
        format!("{header}.{body}.{signature}"),
        // The same header and payload, the signature of another token.
        format!("{header}.{payload}.{other}"),
        format!("{header}.{payload}.{}", "A".repeat(86)),
    ] {
        assert_eq!(verify(&v, &forged).unwrap_err(), Refusal::Signature);
    }
    for part in [
        format!("{header}.{payload}"),
        format!("{header}.{payload}."),
        token[..token.len() - 1].to_owned(),
        format!("{token}A"),
        format!(" {token}"),
    ] {
        assert!(verify(&v, &part).is_err(), "{part}");
    }
    assert_eq!(v.counters().cached(), 1, "none of them was found");
}

#[test]
fn v12_a_cache_hit_is_held_to_key_issuer_grace_age_and_end() {
    let token = access().signed();
    let cached = |v: &Verifier| {
        let before = v.counters().cached();
        assert!(verify(v, &token).is_ok() && verify(v, &token).is_ok());
        assert!(v.counters().cached() > before, "it is cached");
    };
    let at = |v: &Verifier, now| v.verify(&Presented::token(&token), now).map(drop);

    let v = verifier();
    cached(&v);
    v.set_keys(ISSUER, &jwks(&[Algorithm::EdDsa]));
    assert_eq!(
        at(&v, NOW),
        Err(Refusal::UnknownKey),
        "its key was withdrawn"
    );
    v.set_keys(ISSUER, &jwks(&[Algorithm::Es256]));
    cached(&v);
    v.set_enabled(ISSUER, false);
    assert_eq!(at(&v, NOW), Err(Refusal::IssuerDisabled));
    v.set_enabled(ISSUER, true);
    cached(&v);
    assert_eq!(at(&v, NOW + 300), Err(Refusal::Expired));

    let v = verifier_of(Policy::access_token(AUDIENCE).leeway(0).max_age(60));
    cached(&v);
    assert_eq!(at(&v, NOW + 50), Ok(()));
    assert_eq!(at(&v, NOW + 51), Err(Refusal::TooOld));
}

/// The keys' own grace, which only fetched keys have.
#[test]
fn v12_a_cache_hit_ends_with_the_grace_of_keys_that_cannot_be_fetched_any_more() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("keys.json");
    let mut text = Vec::new();
    jwks(&[Algorithm::Es256]).write(&mut text);
    std::fs::write(&file, text).unwrap();
    let freshness = Freshness {
        grace: Duration::from_secs(600),
        ..Freshness::default()
    };
    let policy = Policy::access_token(AUDIENCE).leeway(60);
    let v = Verifier::builder()
        .issuer(Issuer::new(ISSUER, KeySource::File(file)).freshness(freshness))
        .policy(policy)
        .build()
        .unwrap();
    let v = std::sync::Arc::new(v);
    super::fetching::fetch_once(&v, NOW);
    let token = access()
        .with(&format!("{}", NOW + 300), &format!("{}", NOW + 9_000))
        .signed();
    let at = |now| v.verify(&Presented::token(&token), now).map(drop);
    assert_eq!((at(NOW), at(NOW), at(NOW + 600)), (Ok(()), Ok(()), Ok(())));
    assert_eq!(v.counters().cached(), 2);
    assert_eq!(at(NOW + 601), Err(Refusal::KeysUnavailable));
}
