use signet_crypto::{Algorithm, VerifyingKey};
/// The three parts of a compact serialization (RFC 7515 section 7.1), borrowed; no allocation.
#[derive(Clone, Copy, Debug)]
pub struct Compact<'a> {
    pub header: &'a [u8],
    pub payload: &'a [u8],
    pub signature: &'a [u8],
    pub signing_input: &'a [u8],
}
pub fn split(_token: &[u8], _max_bytes: usize) -> Result<Compact<'_>, JwsError> {
    todo!()
}
/// The protected header members that decide anything. `jku`, `x5u`, `x5c`, `jwk` are seen and never trusted;
/// `crit` with anything in it is refused, as is `b64`.
#[derive(Clone, Debug)]
pub struct Header {
    pub alg: Algorithm,
    pub kid: Option<String>,
    pub typ: Option<String>,
    pub cty: Option<String>,
    /// raw `jwk`, for DPoP proofs only
    pub jwk: Option<crate::jwk::Jwk>,
}
impl<'a> Compact<'a> {
    pub fn decode_header(&self) -> Result<Header, JwsError> {
        todo!()
    }
    /// Verifies under a key whose algorithm must equal the header's; gives the decoded payload.
    pub fn verify(&self, _header: &Header, _key: &VerifyingKey) -> Result<Vec<u8>, JwsError> {
        todo!()
    }
    /// The payload without believing it (`token inspect`, choosing an issuer).
    pub fn unverified_payload(&self) -> Result<Vec<u8>, JwsError> {
        todo!()
    }
}
/// `typ` comparison of RFC 7515 section 4.1.9: case-insensitive, `application/` optional.
pub fn typ_is(_typ: Option<&str>, _expected: &str) -> bool {
    todo!()
}
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum JwsError {
    #[error("malformed token")]
    Malformed,
    #[error("the token is too large")]
    TooLarge,
    #[error("unsupported algorithm")]
    Algorithm,
    #[error("unknown critical header")]
    Critical,
    #[error("the algorithm is not the key's")]
    KeyMismatch,
    #[error("the signature is not valid")]
    Signature,
}
