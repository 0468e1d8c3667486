//! Sealed values: AES-256-GCM with the id of the sealing key in front, so that the key can be rotated.
use crate::{Secret, aead::AeadError};

/// What a sealed value is for; bound as associated data, so that a code cannot be replayed as a cookie.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Purpose {
    AuthorizationCode,
    RefreshToken,
    SessionCookie,
    Interaction,
    PushedRequest,
    DeviceCode,
    SigningKey,
    ClientSecret,
    RegistrationToken,
    DpopNonce,
    Csrf,
    Recovery,
    Other(&'static str),
}

/// The keys that seal: one current, older ones that still open. Ids are 4 bytes.
/// Each (key, purpose) pair uses its own HKDF-derived AES key.
pub struct Keyring {/* private */}
impl Keyring {
    pub fn new(_current: SealingKey, _older: Vec<SealingKey>) -> Self {
        todo!()
    }
    pub fn seal(&self, _purpose: Purpose, _plaintext: &[u8]) -> Result<Vec<u8>, AeadError> {
        todo!()
    }
    /// As `seal` with further associated data (an issuer, a user id).
    pub fn seal_with(
        &self,
        _purpose: Purpose,
        _aad: &[u8],
        _plaintext: &[u8],
    ) -> Result<Vec<u8>, AeadError> {
        todo!()
    }
    pub fn open(&self, _purpose: Purpose, _sealed: &[u8]) -> Result<Vec<u8>, AeadError> {
        todo!()
    }
    pub fn open_with(
        &self,
        _purpose: Purpose,
        _aad: &[u8],
        _sealed: &[u8],
    ) -> Result<Vec<u8>, AeadError> {
        todo!()
    }
    /// 32 bytes for keyed hashing under the current key and a context (HKDF-SHA256).
    pub fn derive(&self, _context: &str) -> Secret<[u8; 32]> {
        todo!()
    }
    pub fn current_id(&self) -> [u8; 4] {
        todo!()
    }
}
pub struct SealingKey {
    pub id: [u8; 4],
    pub key: Secret<[u8; 32]>,
}
impl SealingKey {
    pub fn generate() -> Self {
        todo!()
    }
}
