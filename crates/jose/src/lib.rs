//! JSON Object Signing and Encryption, strictly: one spelling for one meaning, everything bounded.
#![forbid(unsafe_code)]
pub mod base64url;
pub mod dpop;
pub mod json;
pub mod jwk;
pub mod jws;
pub mod jwt;
