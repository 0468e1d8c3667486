//! A compact token, signed by its issuer and verified by a resource server:
//! `cargo run -p signet-compact --example sign_and_verify`.

#![allow(clippy::print_stdout, reason = "a program that says what it did")]

use signet_compact::{
    Algorithm, KeySet, Payload, Policy, Refusal, Scopes, SigningKey, VerifyingKey, Version,
};
use std::{error::Error, time::UNIX_EPOCH};

const ISSUER: &str = "https://login.example.com";
const API: &str = "api.example.com";

/// The issuer's side: a token for five minutes.
fn issue(key: &SigningKey, now: u64) -> Result<Vec<u8>, Box<dyn Error>> {
    let payload = Payload {
        issuer: ISSUER,
        subject: "user:alice",
        audience: API,
        // In ascending order: a set of scopes has one encoding.
        scopes: Scopes::new(&["read", "write"])?,
        issued_at: now,
        expires_at: now + 300,
        ..Payload::default()
    };
    let mut token = Vec::new();
    key.sign_into(Version::V1, &payload, &mut token)?;
    Ok(token)
}

/// What the resource server demands. The token's own words choose none of it.
fn policy(now: u64) -> Policy<'static> {
    Policy {
        issuer: Some(ISSUER),
        scopes: &["read"],
        min_version: Version::V1,
        ..Policy::for_audience(API, now)
    }
}

/// The whole story.
pub fn main() -> Result<(), Box<dyn Error>> {
    let now = UNIX_EPOCH.elapsed()?.as_secs();
    let key = SigningKey::generate(Algorithm::Ed25519)?;
    let token = issue(&key, now)?;

    // Of the key only the public half travels. The server holds one key or many; a token names its
    // own among them.
    let public = key.public_bytes().ok_or("a key pair has a public half")?;
    let keys = KeySet::new([VerifyingKey::from_bytes(&public)?])?;
    let verified = keys.verify(&token, &policy(now))?;
    assert_eq!(verified.payload().subject, "user:alice");
    println!("{} bytes for {}", token.len(), verified.payload().subject);

    let mut changed = token.clone();
    if let Some(last) = changed.last_mut() {
        *last ^= 1;
    }
    let elsewhere = Policy {
        audience: Some("other.example.com"),
        ..policy(now)
    };
    for (token, policy, reason) in [
        (&changed, policy(now), Refusal::Signature),
        (&token, policy(now + 301), Refusal::Expired),
        (&token, elsewhere, Refusal::Audience),
    ] {
        let refused = keys.verify(token, &policy);
        let refusal = refused.err().ok_or("accepted what must be refused")?;
        assert_eq!(refusal, reason);
        println!("refused: {refusal}");
    }
    Ok(())
}
