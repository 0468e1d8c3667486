//! JSON Object Signing and Encryption, strictly: one spelling for one meaning, everything bounded.
//!
//! No JSON or base64 library stands below this crate, because strictness is what it is for: a
//! signed document is read by several parties, and wherever two parsers disagree somebody's policy
//! is by-passed. The layers, from below:
//!
//! - [`base64url`]: one text for given bytes.
//! - [`json`]: a pull reader for hot paths, a small tree for documents, a writer.
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
pub mod base64url;
pub mod dpop;
pub mod json;
pub mod jwe;
pub mod jwk;
pub mod jws;
pub mod jwt;
