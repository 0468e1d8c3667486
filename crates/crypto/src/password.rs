//! Argon2id passwords, as PHC strings.
/// Memory in KiB, passes, lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
    pub memory_kib: u32,
    pub passes: u32,
    pub lanes: u32,
}
impl Default for Cost {
    fn default() -> Self {
        Cost {
            memory_kib: 19_456,
            passes: 2,
            lanes: 1,
        }
    }
}
/// Longest password that is hashed, in bytes; longer ones are refused before hashing (known fault A22).
pub const MAX_PASSWORD_BYTES: usize = 1024;
pub fn hash(_password: &[u8], _cost: Cost) -> Result<String, PasswordError> {
    todo!()
}
/// False for a wrong password and for a stored string that cannot be read; parameters above a fixed bound are refused.
pub fn verify(_password: &[u8], _stored: &str) -> bool {
    todo!()
}
/// Raw Argon2id to 32 bytes, for identity files and sealed keys.
pub fn derive_key(
    _password: &[u8],
    _salt: &[u8],
    _cost: Cost,
) -> Result<crate::Secret<[u8; 32]>, PasswordError> {
    todo!()
}
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PasswordError {
    #[error("the password is too long")]
    TooLong,
    #[error("the parameters are out of bounds")]
    Parameters,
}
