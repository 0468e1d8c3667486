//! Web Authentication (WebAuthn Level 3) for a relying party: the two ceremonies, strictly.
//!
//! A browser answers a challenge with JSON around bytes that an authenticator signed. This crate
//! reads both ([`Registration`], [`Assertion`]), compares everything that section 7 of the
//! specification has compared, and checks the signature with the house's own cryptography. It does
//! no I/O, reads no clock and keeps nothing: whether a challenge was used before, whose a
//! credential is, and what a counter that went back leads to are the caller's.
//!
//! CBOR is read in its one canonical form (section 6.5.1 demands it of authenticators), JSON
//! without duplicate members, an ECDSA signature as DER and nothing else.
#![forbid(unsafe_code)]

mod attestation;
mod authenticator_data;
mod ceremony;
mod client_data;
mod cose_key;
mod ecdsa;
mod error;
mod item;
mod message;
mod relying_party;

pub use attestation::Attestation;
pub use authenticator_data::{Attested, AuthenticatorData, Flags};
pub use ceremony::{Counter, Known, NewCredential, Used, authenticate, register};
pub use cose_key::{CoseKey, SUPPORTED, algorithm_of};
pub use error::{Error, Result};
pub use message::{Assertion, Registration};
pub use relying_party::RelyingParty;

/// The length of a challenge in bytes: section 13.4.3 asks for 16 at least.
pub const CHALLENGE_LEN: usize = 32;

/// Longest credential id in bytes (section 4, "Credential ID").
pub const MAX_CREDENTIAL_ID: usize = 1023;

/// Longest user handle in bytes (section 5.4.3).
pub const MAX_USER_HANDLE: usize = 64;

/// Longest answer of a browser that is read, in bytes of its JSON. An ML-DSA-87 key with its
/// attestation fits.
pub const MAX_MESSAGE: usize = 16 * 1024;

/// Longest client data that is read, in bytes.
pub const MAX_CLIENT_DATA: usize = 4 * 1024;

/// Most transports of a credential that are kept; the specification names six.
pub const MAX_TRANSPORTS: usize = 8;
