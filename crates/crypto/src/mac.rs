//! HMAC-SHA256 (RFC 2104) under keys that are used many times.
//!
//! A key is kept as the two states of SHA-256 after its padded blocks, so a short message costs
//! three blocks where the library's own HMAC costs five and copies of its contexts on the heap.
//! Nothing here allocates.

use sha2::{compress256, digest::generic_array::GenericArray};
use zeroize::Zeroize;

use crate::hash::sha256;

/// HMAC-SHA-1 (RFC 2104), for the codes of RFC 4226 and RFC 6238 and nothing else: in HMAC the
/// collisions of SHA-1 do not matter (RFC 6194 section 3.3), and most apps take no other hash.
pub fn hmac_sha1(key: &[u8], message: &[u8]) -> [u8; 20] {
    let key = aws_lc_rs::hmac::Key::new(aws_lc_rs::hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, key);
    let tag = aws_lc_rs::hmac::sign(&key, message);
    let mut bytes = [0; 20];
    // SHA-1 has 20 bytes (FIPS 180-4 section 6.1).
    bytes.copy_from_slice(tag.as_ref());
    bytes
}

/// HMAC-SHA-256 (RFC 2104) under a key that is used once.
pub fn hmac_sha256(key: &[u8], message: &[u8]) -> [u8; 32] {
    HmacSha256Key::new(key).sign(message)
}

/// HMAC-SHA-512 (RFC 2104), for the codes of RFC 6238.
pub fn hmac_sha512(key: &[u8], message: &[u8]) -> [u8; 64] {
    let key = aws_lc_rs::hmac::Key::new(aws_lc_rs::hmac::HMAC_SHA512, key);
    let tag = aws_lc_rs::hmac::sign(&key, message);
    let mut bytes = [0; 64];
    // SHA-512 has 64 bytes (FIPS 180-4 section 6.4).
    bytes.copy_from_slice(tag.as_ref());
    bytes
}

/// Bytes of a block of SHA-256 (FIPS 180-4 section 5.2.1).
const BLOCK: usize = 64;

/// SHA-256's initial hash value (FIPS 180-4 section 5.3.3).
const INITIAL: [u32; 8] = [
    0x6a09_e667,
    0xbb67_ae85,
    0x3c6e_f372,
    0xa54f_f53a,
    0x510e_527f,
    0x9b05_688c,
    0x1f83_d9ab,
    0x5be0_cd19,
];

/// An HMAC-SHA256 key with its two inner states computed once; they are wiped when it goes.
#[derive(Clone)]
pub struct HmacSha256Key {
    inner: [u32; 8],
    outer: [u32; 8],
}

impl HmacSha256Key {
    /// Any length is taken; 32 bytes and more are as strong as the hash.
    pub fn new(key: &[u8]) -> Self {
        let mut padded = [0; BLOCK];
        if key.len() > BLOCK {
            padded[..32].copy_from_slice(&sha256(key));
        } else {
            padded[..key.len()].copy_from_slice(key);
        }
        let state = |pad: u8| {
            let mut block = padded;
            block.iter_mut().for_each(|byte| *byte ^= pad);
            let mut state = INITIAL;
            compress(&mut state, &block);
            block.zeroize();
            state
        };
        // RFC 2104 section 2: ipad and opad.
        let key = HmacSha256Key {
            inner: state(0x36),
            outer: state(0x5c),
        };
        padded.zeroize();
        key
    }

    /// The tag of `message`.
    pub fn sign(&self, message: &[u8]) -> [u8; 32] {
        self.sign_parts(&[message])
    }

    /// The tag of the concatenation of `parts`.
    pub fn sign_parts(&self, parts: &[&[u8]]) -> [u8; 32] {
        let digest = finish(self.inner, parts);
        // One block holds the digest, the padding and the length: 64 bytes of key and 32 of digest,
        // in bits.
        let mut block = [0; BLOCK];
        block[..32].copy_from_slice(&digest);
        block[32] = 0x80;
        block[BLOCK - 8..].copy_from_slice(&(8 * (BLOCK as u64 + 32)).to_be_bytes());
        let mut state = self.outer;
        compress(&mut state, &block);
        bytes(&state)
    }

    /// Whether `tag` is the whole tag of the concatenation of `parts`; constant-time.
    pub fn verify_parts(&self, parts: &[&[u8]], tag: &[u8]) -> bool {
        crate::ct_eq(&self.sign_parts(parts), tag)
    }

    /// Whether `tag` is the whole tag of `message`; constant-time.
    pub fn verify(&self, message: &[u8], tag: &[u8]) -> bool {
        self.verify_parts(&[message], tag)
    }
}

impl Drop for HmacSha256Key {
    fn drop(&mut self) {
        self.inner.zeroize();
        self.outer.zeroize();
    }
}

impl std::fmt::Debug for HmacSha256Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("HmacSha256Key(..)")
    }
}

/// SHA-256 of `parts` behind one block that `state` has taken (FIPS 180-4 section 6.2.2, padding of
/// section 5.1.1).
fn finish(mut state: [u32; 8], parts: &[&[u8]]) -> [u8; 32] {
    let mut block = [0; BLOCK];
    let mut held = 0;
    let mut length = BLOCK;
    for part in parts {
        length += part.len();
        let mut rest = *part;
        if held > 0 {
            let (head, tail) = rest.split_at(rest.len().min(BLOCK - held));
            block[held..held + head.len()].copy_from_slice(head);
            held += head.len();
            rest = tail;
            if held < BLOCK {
                continue;
            }
            compress(&mut state, &block);
        }
        let (blocks, tail) = rest.as_chunks::<BLOCK>();
        for block in blocks {
            compress(&mut state, block);
        }
        block[..tail.len()].copy_from_slice(tail);
        held = tail.len();
    }
    block[held] = 0x80;
    block[held + 1..].fill(0);
    if held >= BLOCK - 8 {
        compress(&mut state, &block);
        block.fill(0);
    }
    block[BLOCK - 8..].copy_from_slice(&(8 * length as u64).to_be_bytes());
    compress(&mut state, &block);
    bytes(&state)
}

fn compress(state: &mut [u32; 8], block: &[u8; BLOCK]) {
    compress256(state, std::slice::from_ref(GenericArray::from_slice(block)));
}

fn bytes(state: &[u32; 8]) -> [u8; 32] {
    let mut out = [0; 32];
    for (bytes, word) in out.as_chunks_mut::<4>().0.iter_mut().zip(state) {
        *bytes = word.to_be_bytes();
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|b| format!("{b:02x}")).collect()
    }

    #[test]
    fn rfc_4231_cases() {
        let counting: Vec<u8> = (1..=25).collect();
        let cases: [(&[u8], &[u8], &str); 6] = [
            (
                &[0x0b; 20],
                b"Hi There",
                "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7",
            ),
            (
                b"Jefe",
                b"what do ya want for nothing?",
                "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
            ),
            (
                &[0xaa; 20],
                &[0xdd; 50],
                "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe",
            ),
            (
                &counting,
                &[0xcd; 50],
                "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b",
            ),
            (
                &[0xaa; 131],
                b"Test Using Larger Than Block-Size Key - Hash Key First",
                "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54",
            ),
            (
                &[0xaa; 131],
                b"This is a test using a larger than block-size key and a larger than block-size data. The key needs to be hashed before being used by the HMAC algorithm.",
                "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2",
            ),
        ];
        for (key, message, tag) in cases {
            let key = HmacSha256Key::new(key);
            assert_eq!(hex(&key.sign(message)), tag);
            assert!(key.verify(message, &key.sign(message)));
        }
    }

    #[test]
    fn a_changed_or_shortened_tag_is_refused() {
        let key = HmacSha256Key::new(b"key");
        let tag = key.sign(b"message");
        assert!(!key.verify(b"message", &tag[..31]));
        assert!(!key.verify(b"message", &[]));
        assert!(!key.verify(b"message", &[0; 32]));
        assert!(!key.verify(b"massage", &tag));
        for bit in 0..256 {
            let mut changed = tag;
            changed[bit / 8] ^= 1 << (bit % 8);
            assert!(!key.verify(b"message", &changed), "bit {bit}");
        }
    }

    /// RFC 4231 section 4.6 prints the first 128 bits.
    #[test]
    fn rfc_4231_case_5_begins_as_printed() {
        let tag = HmacSha256Key::new(&[0x0c; 20]).sign(b"Test With Truncation");
        assert_eq!(hex(&tag[..16]), "a3b6167473100ee06e0c796c2955552b");
    }

    #[test]
    fn every_length_and_every_cut_is_answered_as_by_the_library() {
        use aws_lc_rs::hmac;
        let data: Vec<u8> = (0..=255).cycle().take(300).collect();
        for key_len in [0, 1, 31, 32, 63, 64, 65, 131, 300] {
            let key = HmacSha256Key::new(&data[..key_len]);
            let library = hmac::Key::new(hmac::HMAC_SHA256, &data[..key_len]);
            for length in 0..data.len() {
                let message = &data[..length];
                let tag = hmac::sign(&library, message);
                assert_eq!(key.sign(message), tag.as_ref(), "{key_len} {length}");
                let (a, b) = message.split_at(length / 3);
                let (b, c) = b.split_at(b.len() / 2);
                assert!(
                    key.verify_parts(&[a, &[], b, c], tag.as_ref()),
                    "{key_len} {length}"
                );
            }
        }
        // Both sides of the ends of blocks, in two parts.
        let key = HmacSha256Key::new(&data[..32]);
        for cut in 0..=200 {
            assert_eq!(
                key.sign_parts(&[&data[..cut], &data[cut..200]]),
                key.sign(&data[..200]),
                "{cut}"
            );
        }
    }

    #[test]
    fn a_key_does_not_print() {
        assert_eq!(
            format!("{:?}", HmacSha256Key::new(&[7; 32])),
            "HmacSha256Key(..)"
        );
    }
}
