/// AES-256-GCM under one key; nonces are random 96-bit.
pub struct AeadKey {/* private */}
impl AeadKey {
    pub fn new(_key: &[u8; 32]) -> Self {
        todo!()
    }
    /// Appends nonce || ciphertext || tag to `out`.
    pub fn seal_into(
        &self,
        _aad: &[u8],
        _plaintext: &[u8],
        _out: &mut Vec<u8>,
    ) -> Result<(), AeadError> {
        todo!()
    }
    pub fn open(&self, _aad: &[u8], _sealed: &[u8]) -> Result<Vec<u8>, AeadError> {
        todo!()
    }
}
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the sealed value is not authentic")]
pub struct AeadError;
