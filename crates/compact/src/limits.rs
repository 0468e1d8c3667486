//! One set of limits, checked when a token is made and when it is read: what can be signed can be
//! verified.

/// Longest string (subject, audience, issuer, a scope, a claim's name), in bytes of UTF-8.
pub const MAX_STRING_BYTES: usize = 255;
/// Most scopes.
pub const MAX_SCOPES: usize = 32;
/// Most named claims (version 1).
pub const MAX_CLAIMS: usize = 32;
/// Longest JSON text of one claim, in bytes.
pub const MAX_CLAIM_BYTES: usize = 2048;
/// Longest key id: an ML-DSA-44 public key.
pub const MAX_KEY_ID_BYTES: usize = 1312;
/// Longest payload, in bytes.
pub(crate) const MAX_PAYLOAD_BYTES: usize = 16 * 1024;
/// Longest signature: ML-DSA-44's (FIPS 204 table 2).
pub(crate) const MAX_SIGNATURE_BYTES: usize = 2420;
/// Longest token, in bytes: anything longer is refused before it is read.
pub const MAX_TOKEN_BYTES: usize = MAX_PAYLOAD_BYTES + MAX_SIGNATURE_BYTES + 256;
/// Bytes of a version 1 token id.
pub(crate) const TOKEN_ID_BYTES: usize = 16;

/// Most certificates of one holder that a verifier remembers ([`crate::CertifiedKeys`]).
pub const MAX_CERTIFICATES: usize = 256;
