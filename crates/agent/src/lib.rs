//! Agent identities, grants that only narrow, receipts that nobody can rewrite.
#![forbid(unsafe_code)]

pub mod anchor;
pub mod attestation;
pub mod base64url;
pub mod cbor;
pub mod cose;
pub mod derive;
pub mod error;
pub mod file;
pub mod id;
pub mod identity;
pub mod keys;
pub mod method;
pub mod object;
pub mod text_map;

pub use error::{Refusal, Result};
pub use id::{AgentId, Hash};
pub use keys::{Alg, KeySet, SigningKeys, Suite, VerifyingKeys};
