//! HMAC-SHA256 (RFC 2104) under keys that are used many times.

use aws_lc_rs::hmac;

/// An HMAC-SHA256 key with its two inner states computed once.
#[derive(Clone)]
pub struct HmacSha256Key(hmac::Key);

impl HmacSha256Key {
    /// Any length is taken; 32 bytes and more are as strong as the hash.
    pub fn new(key: &[u8]) -> Self {
        HmacSha256Key(hmac::Key::new(hmac::HMAC_SHA256, key))
    }

    /// The tag of `message`.
    pub fn sign(&self, message: &[u8]) -> [u8; 32] {
        let mut out = [0; 32];
        out.copy_from_slice(hmac::sign(&self.0, message).as_ref());
        out
    }

    /// The tag of the concatenation of `parts`.
    pub fn sign_parts(&self, parts: &[&[u8]]) -> [u8; 32] {
        let mut context = hmac::Context::with_key(&self.0);
        for part in parts {
            context.update(part);
        }
        let mut out = [0; 32];
        out.copy_from_slice(context.sign().as_ref());
        out
    }

    /// Whether `tag` is the whole tag of the concatenation of `parts`; constant-time.
    pub fn verify_parts(&self, parts: &[&[u8]], tag: &[u8]) -> bool {
        crate::ct_eq(&self.sign_parts(parts), tag)
    }

    /// Whether `tag` is the whole tag of `message`; constant-time.
    pub fn verify(&self, message: &[u8], tag: &[u8]) -> bool {
        crate::ct_eq(&self.sign(message), tag)
    }
}

impl std::fmt::Debug for HmacSha256Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("HmacSha256Key(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|b| format!("{b:02x}")).collect()
    }

    #[test]
    fn rfc_4231_cases() {
        let cases: [(&[u8], &[u8], &str); 5] = [
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
}
