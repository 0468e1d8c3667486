//! What the tests of compact tokens begin with.
#![allow(dead_code, reason = "each file of tests uses its part")]

use signet_compact::{KeyError, Payload, Policy, Scopes, SigningKey, VerifyingKey, Version};

/// The claims of the published size table.
pub fn published() -> Payload<'static> {
    Payload {
        subject: "user:alice",
        audience: "api.example.com",
        scopes: Scopes::new(&["read", "write"]).unwrap(),
        issued_at: 1_000_000,
        expires_at: u64::MAX,
        ..Payload::default()
    }
}

/// A policy that these claims fulfil.
pub fn policy() -> Policy<'static> {
    Policy::for_audience("api.example.com", 2_000_000)
}

/// A token of these claims.
pub fn sign(key: &SigningKey, version: Version) -> Vec<u8> {
    let mut out = Vec::new();
    key.sign_into(version, &published(), &mut out).unwrap();
    out
}

/// Reads a key file, pinning the parameters that it names itself, as only a test may.
pub fn read_key(file: &[u8]) -> Result<VerifyingKey, KeyError> {
    let pins: Vec<[u8; 32]> = VerifyingKey::parameters_hash(file)?.into_iter().collect();
    VerifyingKey::from_bytes_pinned(file, &pins, |_| None)
}
