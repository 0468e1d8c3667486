//! AES-256-GCM.

use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};

use crate::random;

const TAG_LEN: usize = 16;

/// AES-256-GCM under one key, prepared once; nonces are random 96-bit.
///
/// One key may seal 2^32 values before the chance of a repeated nonce passes 2^-33 (NIST SP 800-38D
/// section 8.3); at a thousand values a second that is seven weeks, and rotating the sealing key
/// begins again.
pub struct AeadKey(LessSafeKey);

impl AeadKey {
    /// What a sealed value is longer than its plaintext, in bytes: the nonce and the tag.
    pub const OVERHEAD: usize = NONCE_LEN + TAG_LEN;

    /// Prepares the key.
    pub fn new(key: &[u8; 32]) -> Self {
        let unbound = UnboundKey::new(&AES_256_GCM, key)
            // The only reason to refuse is a wrong length.
            .expect("AES-256 takes 32 bytes");
        AeadKey(LessSafeKey::new(unbound))
    }

    /// Appends nonce || ciphertext || tag to `out`; on failure `out` is as it was.
    ///
    /// # Errors
    /// If the library refuses, which it does for plaintexts of 64 GiB and more.
    pub fn seal_into(
        &self,
        aad: &[u8],
        plaintext: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), AeadError> {
        let start = out.len();
        let nonce: [u8; NONCE_LEN] = random::bytes();
        out.reserve(plaintext.len() + Self::OVERHEAD);
        out.extend_from_slice(&nonce);
        out.extend_from_slice(plaintext);
        let sealed = self.0.seal_in_place_separate_tag(
            Nonce::assume_unique_for_key(nonce),
            Aad::from(aad),
            &mut out[start + NONCE_LEN..],
        );
        match sealed {
            Ok(tag) => {
                out.extend_from_slice(tag.as_ref());
                Ok(())
            }
            Err(_) => {
                out.truncate(start);
                Err(AeadError)
            }
        }
    }

    /// The plaintext of what [`seal_into`](Self::seal_into) appended under the same associated
    /// data.
    ///
    /// # Errors
    /// For everything that this key did not seal, without saying why.
    pub fn open(&self, aad: &[u8], sealed: &[u8]) -> Result<Vec<u8>, AeadError> {
        let (nonce, rest) = sealed.split_first_chunk::<NONCE_LEN>().ok_or(AeadError)?;
        let (ciphertext, tag) = rest.split_last_chunk::<TAG_LEN>().ok_or(AeadError)?;
        let mut plaintext = vec![0; ciphertext.len()];
        self.0
            .open_separate_gather(
                Nonce::assume_unique_for_key(*nonce),
                Aad::from(aad),
                ciphertext,
                tag,
                &mut plaintext,
            )
            .map_err(|_| AeadError)?;
        Ok(plaintext)
    }
}

impl std::fmt::Debug for AeadKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("AeadKey(..)")
    }
}

/// The sealed value is not authentic. The peer sent something that this server did not seal for
/// this purpose; it learns no more than that.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the sealed value is not authentic")]
pub struct AeadError;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sealing_appends_and_opens_again() {
        let key = AeadKey::new(&[7; 32]);
        for length in [0, 1, 15, 16, 17, 1_000] {
            let plaintext = vec![42; length];
            let mut out = b"before".to_vec();
            key.seal_into(b"aad", &plaintext, &mut out).expect("sealed");
            let sealed = out.strip_prefix(b"before").expect("appended");
            assert_eq!(sealed.len(), length + AeadKey::OVERHEAD);
            assert_eq!(key.open(b"aad", sealed), Ok(plaintext));
        }
    }

    #[test]
    fn nonces_differ_so_equal_plaintexts_do_not_show() {
        let key = AeadKey::new(&[7; 32]);
        let (mut a, mut b) = (Vec::new(), Vec::new());
        key.seal_into(b"", b"same", &mut a).expect("sealed");
        key.seal_into(b"", b"same", &mut b).expect("sealed");
        assert_ne!(a, b);
        assert_ne!(a[..NONCE_LEN], b[..NONCE_LEN]);
    }

    #[test]
    fn every_flipped_bit_cut_and_other_context_is_refused() {
        let key = AeadKey::new(&[7; 32]);
        let mut sealed = Vec::new();
        key.seal_into(b"aad", b"text", &mut sealed).expect("sealed");
        for bit in 0..sealed.len() * 8 {
            let mut changed = sealed.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(key.open(b"aad", &changed), Err(AeadError), "bit {bit}");
        }
        for length in 0..sealed.len() {
            assert_eq!(key.open(b"aad", &sealed[..length]), Err(AeadError));
        }
        assert_eq!(key.open(b"", &sealed), Err(AeadError));
        assert_eq!(AeadKey::new(&[8; 32]).open(b"aad", &sealed), Err(AeadError));
    }
}
