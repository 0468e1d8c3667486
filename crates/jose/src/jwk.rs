use signet_crypto::{Algorithm, PublicKey, VerifyingKey};
/// A public JSON Web Key (RFC 7517, RFC 7518, RFC 8037, RFC 9964 `AKP`). A JWK that carries its private part is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Jwk {
    pub key: PublicKey,
    pub kid: Option<String>,
    pub alg: Option<Algorithm>,
    pub key_use: Option<KeyUse>,
    pub key_ops: Option<Vec<String>>,
    pub x5c: Vec<Vec<u8>>,
}
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyUse {
    Signature,
    Encryption,
}
impl Jwk {
    pub fn parse(_json: &[u8]) -> Result<Jwk, JwkError> {
        todo!()
    }
    pub fn from_value(_object: &crate::json::Object<'_>) -> Result<Jwk, JwkError> {
        todo!()
    }
    pub fn write(&self, _w: &mut crate::json::Writer<'_>) {
        todo!()
    }
    /// RFC 7638 SHA-256 thumbprint (for AKP: members alg, kty, pub).
    pub fn thumbprint(&self) -> [u8; 32] {
        todo!()
    }
    /// Prepared for `alg`, if this key may be used so: type, curve, `alg`, `use`, `key_ops` all fit.
    pub fn verifying_key(&self, _alg: Algorithm) -> Result<VerifyingKey, JwkError> {
        todo!()
    }
}
/// A key set: unknown key types are skipped, equal `kid`s of one type are refused, bounded count.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JwkSet {
    pub keys: Vec<Jwk>,
}
impl JwkSet {
    pub fn parse(_json: &[u8]) -> Result<JwkSet, JwkError> {
        todo!()
    }
    pub fn write(&self, _out: &mut Vec<u8>) {
        todo!()
    }
}
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum JwkError {
    #[error(transparent)]
    Json(#[from] crate::json::JsonError),
    #[error("the JWK member {0} is missing or malformed")]
    Member(&'static str),
    #[error("the JWK carries private key material")]
    Private,
    #[error("the key may not be used so")]
    Use,
    #[error("unsupported key type")]
    Unsupported,
    #[error("two keys have one kid")]
    DuplicateKid,
    #[error("too many keys")]
    TooMany,
}
