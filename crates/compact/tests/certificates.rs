//! Certificates: who may vouch for which key until when, and how a verifier remembers them.

use std::sync::{Arc, LazyLock};

use signet_compact::{
    Algorithm, CertifiedKeys, KeyError, MAX_CERTIFICATES, Payload, Policy, Refusal, SigningKey,
    Validity, VerifyingKey, Version,
};
use signet_zk::{Parameters, Prover, Statement};

fn holder() -> SigningKey {
    static PROVER: LazyLock<Arc<Prover>> =
        LazyLock::new(|| Arc::new(Prover::new(&Parameters::development(Statement::Poseidon))));
    SigningKey::generate_for_proofs(Algorithm::Groth16Poseidon)
        .and_then(|key| key.with_prover(PROVER.clone()))
        .unwrap()
}

fn until(expires_at: u64) -> Validity {
    Validity {
        not_before: 1_000,
        expires_at,
    }
}

fn token(key: &SigningKey) -> Vec<u8> {
    let mut out = Vec::new();
    let payload = Payload {
        subject: "user:alice",
        audience: "api.example.com",
        expires_at: 1_000_000,
        ..Payload::default()
    };
    key.sign_into(Version::V1, &payload, &mut out).unwrap();
    out
}

fn policy(now: u64) -> Policy<'static> {
    Policy::for_audience("api.example.com", now)
}

#[test]
fn a_certificate_is_checked_once_and_its_tokens_by_their_signatures() {
    let holder = holder();
    let mut known = CertifiedKeys::new(holder.verifying_key().unwrap()).unwrap();
    for algorithm in [Algorithm::Ed25519, Algorithm::MlDsa44] {
        let key = SigningKey::generate(algorithm).unwrap();
        let certificate = holder
            .certify(&key.verifying_key().unwrap(), until(5_000))
            .unwrap();
        let plain = token(&key);
        let token = token(&key.with_certificate(&certificate).unwrap());
        // Unknown before, known after; a token that names none is not this holder's.
        assert_eq!(
            known.verify(&token, &policy(2_000)).unwrap_err(),
            Refusal::Certificate
        );
        let id = known.accept(&certificate, 2_000).unwrap();
        assert_eq!(known.accept(&certificate, 3_000).unwrap(), id);
        let verified = known.verify(&token, &policy(2_000)).unwrap();
        assert_eq!(verified.payload().certificate, Some(&id));
        assert_eq!(
            known.verify(&plain, &policy(2_000)).unwrap_err(),
            Refusal::Certificate
        );
        // Another audience, a changed signature, and the time after the end.
        let elsewhere = Policy::for_audience("other.example.com", 2_000);
        assert_eq!(
            known.verify(&token, &elsewhere).unwrap_err(),
            Refusal::Audience
        );
        let mut changed = token.clone();
        *changed.last_mut().unwrap() ^= 1;
        assert!(known.verify(&changed, &policy(2_000)).is_err());
        assert_eq!(
            known.verify(&token, &policy(5_001)).unwrap_err(),
            Refusal::Certificate
        );
        // What was accepted is not accepted for ever.
        assert_eq!(
            known.accept(&certificate, 999).unwrap_err(),
            Refusal::NotYetValid
        );
        assert_eq!(
            known.accept(&certificate, 5_001).unwrap_err(),
            Refusal::Expired
        );
        assert!(known.is_empty(), "an ended certificate is forgotten");
    }
}

#[test]
fn nobody_but_the_holder_vouches_and_a_proof_is_of_one_body() {
    let (holder, stranger) = (holder(), holder());
    let verifying = holder.verifying_key().unwrap();
    let key = SigningKey::generate(Algorithm::Ed25519).unwrap();
    let subject = key.verifying_key().unwrap();
    let own = holder.certify(&subject, until(5_000)).unwrap();
    let foreign = stranger.certify(&subject, until(5_000)).unwrap();
    let mut known = CertifiedKeys::new(verifying).unwrap();
    assert_eq!(known.accept(&foreign, 2_000).unwrap_err(), Refusal::NoKey);
    // The other party's proof with a body that names the holder, and the proof of one end with the
    // body of a later one.
    let later = holder.certify(&subject, until(9_000)).unwrap();
    assert_eq!(own.len(), foreign.len());
    for proof in [&foreign, &later] {
        let at = own.len() - 128;
        let moved = [&own[..at], &proof[proof.len() - 128..]].concat();
        assert_eq!(known.accept(&moved, 2_000).unwrap_err(), Refusal::Signature);
    }
    // Another key under the proof of this one.
    let other = SigningKey::generate(Algorithm::Ed25519).unwrap();
    let others = holder
        .certify(&other.verifying_key().unwrap(), until(5_000))
        .unwrap();
    let moved = [&others[..others.len() - 128], &own[own.len() - 128..]].concat();
    assert_eq!(known.accept(&moved, 2_000).unwrap_err(), Refusal::Signature);
    assert!(known.is_empty(), "what was refused is not remembered");
    // The holder's other certificate of the same key does not carry a token that names this one.
    let token = token(&key.with_certificate(&own).unwrap());
    known.accept(&later, 2_000).unwrap();
    assert_eq!(
        known.verify(&token, &policy(2_000)).unwrap_err(),
        Refusal::Certificate
    );
}

#[test]
fn only_a_zero_knowledge_key_certifies() {
    let key = SigningKey::generate(Algorithm::Ed25519).unwrap();
    assert_eq!(
        CertifiedKeys::new(key.verifying_key().unwrap()).unwrap_err(),
        KeyError::Algorithm
    );
}

#[test]
fn no_more_than_the_limit_is_remembered_and_what_ends_first_goes_first() {
    let holder = holder();
    let subject: VerifyingKey = SigningKey::generate(Algorithm::Ed25519)
        .and_then(|key| key.verifying_key())
        .unwrap();
    let mut known = CertifiedKeys::new(holder.verifying_key().unwrap()).unwrap();
    let mut first = None;
    for i in 0..=MAX_CERTIFICATES as u64 {
        let certificate = holder.certify(&subject, until(10_000 + i)).unwrap();
        known.accept(&certificate, 2_000).unwrap();
        first.get_or_insert(certificate);
        assert!(known.len() <= MAX_CERTIFICATES);
    }
    assert_eq!(known.len(), MAX_CERTIFICATES);
    // The first one went. It comes back, in place of the one that now ends first; those that have
    // ended make room before.
    known.accept(&first.unwrap(), 2_000).unwrap();
    assert_eq!(known.len(), MAX_CERTIFICATES);
    let late = holder.certify(&subject, until(20_000)).unwrap();
    known.accept(&late, 10_100).unwrap();
    assert!(known.len() < MAX_CERTIFICATES);
}
