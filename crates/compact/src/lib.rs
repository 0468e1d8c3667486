//! Compact tokens: canonical protobuf, 107 bytes where a JWT takes 500, checked in a fraction of a
//! microsecond with a shared key.
//!
//! **One encoding for one meaning.** [`Token::parse`] refuses whatever [`SigningKey::sign_into`]
//! would not have written: explicit defaults, unknown, repeated or unordered fields, long varints,
//! trailing bytes, scopes out of order. What parses re-encodes to the same bytes, so a token has
//! one spelling and a deny list cannot be walked around.
//!
//! **Nothing about trust is read from the token.** The verifier chooses the keys ([`KeySet`]) and
//! the [`Policy`]; the token's `algorithm` and `key_id` only select among the verifier's own keys,
//! and the algorithm must be that key's.
//!
//! **Two versions.** In version 0 the signed message is the payload's bytes: tokens and keys of the
//! published format verify here and the other way round. Version 1 adds an issuer, a token id, a
//! confirmation and named claims, and signs behind [`SIGNING_CONTEXT_V1`], whose first byte can
//! begin no payload. The caller says which version it signs, and a policy which it takes.
//!
//! **Zero knowledge.** For algorithms 4 and 5 the proof stands in field 3 and `signature` is empty.
//! It says that its maker knows the key K whose hash the *verifier* expects, and was made for
//! SHA-256 of the signed message (context and payload). A key file of the verifier holds the key
//! hash, and the proof system's verifying key or its hash; it is read only by a verifier that pins
//! that hash ([`VerifyingKey::from_bytes_pinned`]). A [`KeyCertificate`] proves once that a signing
//! key belongs to K's holder; its tokens are ordinary signatures.
//!
//! The messages are in `compact.proto` beside this crate; vectors are in `vectors/compact`. This
//! crate does no I/O and reads no clock. `examples/sign_and_verify.rs` is the whole way of a token.
#![forbid(unsafe_code)]

mod certificate;
mod certified;
mod error;
mod key;
mod limits;
mod payload;
mod policy;
mod token;
mod validity;
mod wire;

pub use certificate::{CERTIFICATE_CONTEXT_V1, KeyCertificate};
pub use certified::CertifiedKeys;
pub use error::{KeyError, Refusal, SignError};
pub use key::{KeySet, SigningKey, VerifyingKey};
pub use limits::{
    MAX_CERTIFICATES, MAX_CLAIM_BYTES, MAX_CLAIMS, MAX_KEY_ID_BYTES, MAX_SCOPES, MAX_STRING_BYTES,
    MAX_TOKEN_BYTES,
};
pub use payload::{Algorithm, Claim, Claims, Confirmation, KeyIdType, Payload, Scopes, Version};
pub use policy::{Policy, VerifiedToken};
pub use token::{SIGNING_CONTEXT_V1, Token};
pub use validity::Validity;
