//! Building, revocation, counters, and what is shared between threads.

use crate::support::*;
use signet_crypto::Algorithm;
use signet_verify::{
    BuildError, Freshness, Issuer, KeySource, MemoryRevocations, OnStreamLoss, Policy, Presented,
    Refusal, Revocation, Revocations, Subject, Verifier,
};
use std::{sync::Arc, time::Duration};

#[test]
fn a_policy_that_could_not_work_is_refused_when_it_is_built() {
    let build = |policy: Policy| {
        Verifier::builder()
            .issuer(issuer())
            .policy(policy)
            .build()
            .err()
    };
    let good = || Policy::access_token(AUDIENCE);
    for policy in [
        good().algorithms(&[]),
        good().types(&[]),
        good().max_age(0),
        good().authentication_max_age(0),
        good().proof_max_age(0),
        good().leeway(601),
        good().max_bytes(0),
        Policy::access_token(""),
        good().audience(""),
    ] {
        assert!(matches!(build(policy), Some(BuildError::Policy { .. })));
    }
    assert!(matches!(
        build(good().issuer("https://unknown")),
        Some(BuildError::UnknownIssuer { .. })
    ));
    assert_eq!(
        Verifier::builder().issuer(issuer()).build().err(),
        Some(BuildError::NoPolicy)
    );
    assert_eq!(
        Verifier::builder().policy(good()).build().err(),
        Some(BuildError::NoIssuer)
    );
    let twice = Verifier::builder()
        .issuer(issuer())
        .policy(good())
        .policy(good())
        .build()
        .err();
    assert_eq!(twice, Some(BuildError::Twice("default".into())));
    let twice = Verifier::builder()
        .issuer(issuer())
        .issuer(issuer())
        .policy(good())
        .build()
        .err();
    assert_eq!(twice, Some(BuildError::Twice(ISSUER.into())));
    let empty = Issuer::new(ISSUER, KeySource::Memory(Default::default()));
    assert!(matches!(
        Verifier::builder()
            .issuer(empty)
            .policy(good())
            .build()
            .err(),
        Some(BuildError::Issuer { .. })
    ));
    let zero = issuer().freshness(Freshness {
        interval: Duration::ZERO,
        ..Freshness::default()
    });
    assert!(matches!(
        Verifier::builder()
            .issuer(zero)
            .policy(good())
            .build()
            .err(),
        Some(BuildError::Issuer { .. })
    ));
}

#[test]
fn revocation_ends_cached_tokens_by_whatever_they_hang_on() {
    for (subject, other) in [
        (Subject::Jti("t-1"), Subject::Jti("t-2")),
        // What was exchanged ends with each token that it was exchanged from.
        (Subject::Jti("t-subject"), Subject::Jti("t-subjec")),
        (Subject::Jti("t-first"), Subject::Grant("t-first")),
        (Subject::Grant("g"), Subject::Grant("h")),
        (Subject::Session("s"), Subject::Session("S")),
        (
            Subject::User("alice", (NOW - 10) * 1000),
            Subject::User("alice", (NOW - 10) * 1000 - 1),
        ),
        (
            Subject::Client("web", NOW * 1000),
            Subject::Client("webs", NOW * 1000),
        ),
        // The subject of an exchanged token may be a client.
        (
            Subject::Client("alice", NOW * 1000),
            Subject::Client("alice", (NOW - 11) * 1000),
        ),
        (Subject::AgentGrant("g1"), Subject::AgentGrant("g")),
        (Subject::AgentGrant("g2"), Subject::AgentGrant("g3")),
        (
            Subject::Agent("agent:inner", NOW * 1000),
            Subject::Agent("agent:inner", (NOW - 11) * 1000),
        ),
        (
            Subject::Agent("agent:outer", NOW * 1000),
            Subject::Agent("agent:other", NOW * 1000),
        ),
        (
            Subject::Agent("alice", NOW * 1000),
            Subject::Agent("bob", NOW * 1000),
        ),
        (
            Subject::Agent("web", NOW * 1000),
            Subject::Agent("webs", NOW * 1000),
        ),
        (
            Subject::Issuer(ISSUER, NOW * 1000),
            Subject::Issuer(ISSUER, (NOW - 11) * 1000),
        ),
    ] {
        let index = Arc::new(MemoryRevocations::new(OnStreamLoss::FailOpen));
        let v = Verifier::builder()
            .issuer(issuer())
            .policy(Policy::access_token(AUDIENCE))
            .revocations(index.clone())
            .build()
            .unwrap();
        let token = access()
            .and(r#""grant_id":"g","sid":"s","subject_jtis":["t-subject","t-first"]"#)
            .and(r#""agent_grants":["g1","g2"]"#)
            .and(r#""act":{"sub":"agent:outer","act":{"sub":"agent:inner"}}"#)
            .signed();
        assert!(verify(&v, &token).is_ok());
        index.revoke(other, NOW + 300);
        assert!(verify(&v, &token).is_ok(), "{other:?}");
        index.revoke(subject, NOW + 300);
        assert_eq!(
            verify(&v, &token).unwrap_err(),
            Refusal::Revoked,
            "{subject:?}"
        );
        index.sweep(NOW + 301);
        assert!(
            verify(&v, &token).is_ok(),
            "the entry has ended, as every token that it concerned"
        );
    }
}

#[test]
fn what_takes_over_revokes_all_that_was_revoked_and_waits_no_longer_than_what_it_replaces() {
    let (before, next) = (
        MemoryRevocations::new(OnStreamLoss::FailClosedAfter(30)),
        Arc::new(MemoryRevocations::new(OnStreamLoss::FailClosedAfter(30))),
    );
    before.heard(NOW - 10);
    before.revoke(Subject::Session("s"), NOW + 300);
    before.revoke(Subject::User("bob", NOW * 1000), NOW + 300);
    next.revoke(Subject::User("bob", 5), NOW + 400);
    before.lost("gone");
    next.take_over(&before);
    assert_eq!(next.len(), 2);
    assert!(!next.is_current(), "that it has to hear itself");
    let v = Verifier::builder()
        .issuer(issuer())
        .policy(Policy::access_token(AUDIENCE))
        .revocations(next)
        .build()
        .unwrap();
    let of_session = access().and(r#""sid":"s""#).signed();
    let of_bob = access().with(r#""sub":"alice""#, r#""sub":"bob""#).signed();
    for token in [of_session, of_bob] {
        assert_eq!(verify(&v, &token).unwrap_err(), Refusal::Revoked);
    }
    let other = access().signed();
    assert!(verify(&v, &other).is_ok());
    let late = v.verify(&Presented::token(&other), NOW + 21);
    assert_eq!(late.unwrap_err(), Refusal::RevocationUnknown);
}

#[test]
fn a_source_of_revocations_that_fell_silent_closes_where_that_was_chosen() {
    let index = Arc::new(MemoryRevocations::new(OnStreamLoss::FailClosedAfter(30)));
    let v = Verifier::builder()
        .issuer(issuer())
        .policy(Policy::access_token(AUDIENCE))
        .revocations(index.clone())
        .build()
        .unwrap();
    let token = access().signed();
    assert_eq!(verify(&v, &token).unwrap_err(), Refusal::RevocationUnknown);
    index.heard(NOW - 30);
    assert!(verify(&v, &token).is_ok());
    assert_eq!(
        v.verify(&Presented::token(&token), NOW + 1).unwrap_err(),
        Refusal::RevocationUnknown
    );
    struct Broken;
    impl Revocations for Broken {
        fn check(&self, _: &signet_verify::Claims, _: u64) -> Revocation {
            Revocation::Unknown
        }
    }
    let v = Verifier::builder()
        .issuer(issuer())
        .policy(Policy::access_token(AUDIENCE))
        .revocations(Arc::new(Broken))
        .build()
        .unwrap();
    assert_eq!(
        verify(&v, &token).unwrap_err(),
        Refusal::RevocationUnknown,
        "never fail-open"
    );
}

#[test]
fn each_refusal_is_counted_under_its_reason() {
    let v = verifier();
    let token = access().signed();
    let _ = (
        verify(&v, &token),
        verify(&v, &token),
        verify(&v, "a.b.c"),
        verify(&v, ""),
        verify(&v, "x"),
    );
    let counters = v.counters();
    assert_eq!((counters.accepted(), counters.cached()), (2, 1));
    assert_eq!(counters.refused(Refusal::Malformed), 2);
    assert_eq!(counters.refused(Refusal::NoToken), 1);
    let all: u64 = Refusal::ALL
        .iter()
        .map(|refusal| counters.refused(*refusal))
        .sum();
    assert_eq!(all, 3);
}

#[test]
fn threads_share_one_verifier_while_keys_change() {
    let v = verifier();
    let tokens: Vec<String> = (0..50)
        .map(|n| access().with("t-1", &format!("t-{n}")).signed())
        .collect();
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                for _ in 0..20 {
                    for token in &tokens {
                        assert!(verify(&v, token).is_ok());
                    }
                }
            });
        }
        scope.spawn(|| {
            for round in 0..50 {
                let more = if round % 2 == 0 {
                    &[Algorithm::Es256, Algorithm::EdDsa][..]
                } else {
                    &[Algorithm::Es256]
                };
                v.set_keys(ISSUER, &jwks(more));
            }
        });
    });
    assert_eq!(v.counters().accepted(), 3000);
}

#[test]
fn scopes_of_one_request_are_asked_of_the_verified_token() {
    let verified = verify(&verifier(), &access().signed()).unwrap();
    assert_eq!(verified.require_scope("read"), Ok(()));
    assert_eq!(verified.require_scope("rea"), Err(Refusal::Scope));
    assert_eq!(
        verified.claims().scopes().collect::<Vec<_>>(),
        ["orders", "read"]
    );
}
