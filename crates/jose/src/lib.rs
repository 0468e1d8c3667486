//! JSON Object Signing and Encryption, strictly: one spelling for one meaning, everything bounded.
//!
//! A signed document is read by several parties, and wherever two parsers disagree somebody's
//! policy is by-passed: JSON and base64url are those of `signet-encoding`, with bounds of each
//! document's own. The layers, from below:
//!
//! - [`jwk`]: public keys, what they may be used for, thumbprints.
//! - [`jws`]: compact signatures; the key decides the algorithm.
//! - [`jwt`]: signing with prepared headers, claims by schema.
//! - [`authorization`]: an access token in the `Authorization` header field.
//! - [`dpop`]: proofs of possession, server nonces, and whether a presenter may use a bound token.
//!
//! What a token means for a request (issuer, audience, time, revocation, replay) is for the
//! callers.

#![forbid(unsafe_code)]

pub mod authorization;
pub mod dpop;
pub mod jwe;
pub mod jwk;
pub mod jws;
pub mod jwt;
