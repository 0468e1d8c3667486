//! ChaCha20-Poly1305 (RFC 8439) under keys and nonces that a format prescribes.
//!
//! What Signet seals for itself is sealed by [`crate::aead`], which draws its nonces. Here the
//! caller's format says which nonce belongs to which value, and that each is used once under a key.

use aws_lc_rs::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};

use crate::aead::AeadError;

/// Bytes of a tag (RFC 8439 section 2.8).
pub const TAG_LEN: usize = 16;

/// A key, prepared once.
pub struct ChaChaKey(LessSafeKey);

impl ChaChaKey {
    /// Prepares the key.
    pub fn new(key: &[u8; 32]) -> Self {
        let unbound = UnboundKey::new(&CHACHA20_POLY1305, key)
            // The only reason to refuse is a wrong length.
            .expect("ChaCha20-Poly1305 takes 32 bytes");
        ChaChaKey(LessSafeKey::new(unbound))
    }

    /// Seals a value in its place; its tag is appended. `nonce`: never used under this key before.
    ///
    /// # Errors
    /// If the library refuses, which it does for values of 256 GiB and more.
    pub fn seal(&self, nonce: [u8; NONCE_LEN], value: &mut Vec<u8>) -> Result<(), AeadError> {
        let nonce = Nonce::assume_unique_for_key(nonce);
        let sealed = self.0.seal_in_place_append_tag(nonce, Aad::empty(), value);
        sealed.map_err(|_| AeadError)
    }

    /// Opens a value and its tag in their place; the tag is cut off.
    ///
    /// # Errors
    /// For everything that was not sealed under this key and nonce; what is in `value` then is
    /// nothing.
    pub fn open(&self, nonce: [u8; NONCE_LEN], value: &mut Vec<u8>) -> Result<(), AeadError> {
        let nonce = Nonce::assume_unique_for_key(nonce);
        let opened = self.0.open_in_place(nonce, Aad::empty(), value);
        let length = opened.map_err(|_| AeadError)?.len();
        value.truncate(length);
        Ok(())
    }
}

impl std::fmt::Debug for ChaChaKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ChaChaKey(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_opens_under_its_own_key_and_nonce_alone() {
        let key = ChaChaKey::new(&[7; 32]);
        for length in [0, 1, 64, 65] {
            let mut sealed = vec![42; length];
            key.seal([1; 12], &mut sealed).expect("sealed");
            assert_eq!(sealed.len(), length + TAG_LEN);
            let mut opened = sealed.clone();
            assert_eq!(key.open([1; 12], &mut opened), Ok(()));
            assert_eq!(opened, vec![42; length]);
            assert_eq!(key.open([2; 12], &mut sealed.clone()), Err(AeadError));
            let other = ChaChaKey::new(&[8; 32]);
            assert_eq!(other.open([1; 12], &mut sealed.clone()), Err(AeadError));
            for bit in 0..sealed.len() * 8 {
                let mut changed = sealed.clone();
                changed[bit / 8] ^= 1 << (bit % 8);
                assert_eq!(key.open([1; 12], &mut changed), Err(AeadError), "bit {bit}");
            }
        }
    }
}
