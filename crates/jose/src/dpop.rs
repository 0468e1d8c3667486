//! DPoP proofs (RFC 9449), the stateless half: replay and nonces are the caller's.
/// A proof whose signature, `typ`, `htm` and `htu` held.
#[derive(Clone, Debug)]
pub struct DpopProof {
    /// RFC 7638 thumbprint of the proof's key, base64url (`jkt`)
    pub jkt: String,
    pub jti: String,
    pub iat: u64,
    pub nonce: Option<String>,
    pub ath: Option<String>,
    pub alg: signet_crypto::Algorithm,
}
/// Checks of RFC 9449 section 4.3, items 1 to 9. `htu` is compared after RFC 3986 syntax and scheme normalization, without query and fragment.
pub fn verify(
    _proof: &str,
    _htm: &str,
    _htu: &str,
    _now: u64,
    _max_age: u64,
    _leeway: u64,
) -> Result<DpopProof, DpopError> {
    todo!()
}
/// base64url(SHA-256(access token)): the `ath` a proof must carry at a resource.
pub fn ath(_access_token: &str) -> String {
    todo!()
}
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DpopError {
    #[error("malformed DPoP proof")]
    Malformed,
    #[error("unsupported algorithm")]
    Algorithm,
    #[error("the proof's key is private or malformed")]
    Key,
    #[error("the signature is not valid")]
    Signature,
    #[error("the proof is for another method")]
    Method,
    #[error("the proof is for another URL")]
    Url,
    #[error("the proof is too old or from the future")]
    Time,
}
