use crate::Secret;
/// HKDF-SHA256 (RFC 5869) to `N` bytes.
pub fn hkdf_sha256<const N: usize>(_salt: &[u8], _input: &[u8], _info: &[u8]) -> Secret<[u8; N]>
where
    [u8; N]: zeroize::Zeroize,
{
    todo!()
}
