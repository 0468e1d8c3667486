//! Server nonces of DPoP proofs (RFC 9449 sections 8 and 9): a proof made ahead, for later use, is
//! worth nothing.
//!
//! They hold no state: a nonce is the second in which it was made, under a key that is handed in.
//! Everybody with the same key knows it, and it expires by itself.

use signet_crypto::{ct_eq, mac::HmacSha256Key};
use signet_encoding::base64url;

/// How long a nonce is accepted, in seconds.
pub const LIFETIME: u64 = 300;
/// How far ahead the clock of somebody else with the same key may be, in seconds.
const AHEAD: u64 = 60;
/// Longest nonce that is opened, in bytes of its wire form.
const MAX_BYTES: usize = 128;

const TIME: usize = 8;
const TAG: usize = 16;

/// What nobody without the key can make.
pub trait NonceKey {
    /// Protects the moment. None where the cryptography library fails.
    fn seal(&self, made: [u8; TIME]) -> Option<Vec<u8>>;
    /// The moment, where this key protects it. Compared in constant time.
    fn open(&self, sealed: &[u8]) -> Option<[u8; TIME]>;
}

/// The nonce of this second. None where the cryptography library fails. `now`: Unix seconds.
pub fn make(key: &impl NonceKey, now: u64) -> Option<String> {
    let sealed = key.seal(now.to_be_bytes())?;
    Some(base64url::encode(&sealed))
}

/// Whether somebody with this key made the nonce, not too long ago. `now`: Unix seconds.
pub fn holds(key: &impl NonceKey, nonce: &str, now: u64) -> bool {
    if nonce.len() > MAX_BYTES {
        return false;
    }
    let sealed = base64url::decode(nonce.as_bytes()).ok();
    let made = sealed.and_then(|sealed| key.open(&sealed));
    made.map(u64::from_be_bytes).is_some_and(|made| {
        now <= made.saturating_add(LIFETIME) && made <= now.saturating_add(AHEAD)
    })
}

/// A key by itself: the nonce is the moment and a keyed hash of it.
pub struct HmacNonceKey(HmacSha256Key);

impl HmacNonceKey {
    /// `secret`: shared by those who must know each other's nonces; at least 32 bytes.
    pub fn new(secret: &[u8]) -> HmacNonceKey {
        HmacNonceKey(HmacSha256Key::new(secret))
    }

    /// One that nobody else has.
    pub fn random() -> HmacNonceKey {
        HmacNonceKey::new(&signet_crypto::random::bytes::<32>())
    }

    fn tag(&self, made: &[u8; TIME]) -> [u8; TAG] {
        let whole = self
            .0
            .sign_parts(&[b"signet dpop nonce of a resource", made]);
        let mut tag = [0; TAG];
        tag.copy_from_slice(&whole[..TAG]);
        tag
    }
}

impl NonceKey for HmacNonceKey {
    fn seal(&self, made: [u8; TIME]) -> Option<Vec<u8>> {
        Some([&made[..], &self.tag(&made)].concat())
    }

    fn open(&self, sealed: &[u8]) -> Option<[u8; TIME]> {
        let (made, tag) = sealed.split_first_chunk::<TIME>()?;
        ct_eq(tag, &self.tag(made)).then_some(*made)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_nonce_holds_for_its_time_and_for_its_key() {
        let key = HmacNonceKey::new(&[1; 32]);
        let nonce = make(&key, 1000).unwrap();
        for (now, expected) in [
            (1000, true),
            (1300, true),
            (1301, false),
            (940, true),
            (939, false),
        ] {
            assert_eq!(holds(&key, &nonce, now), expected, "{now}");
        }
        assert!(holds(&HmacNonceKey::new(&[1; 32]), &nonce, 1000));
        assert!(!holds(&HmacNonceKey::new(&[2; 32]), &nonce, 1000));
        assert!(!holds(&HmacNonceKey::random(), &nonce, 1000));
        assert_ne!(Some(&nonce), make(&key, 1001).as_ref());
        for at in 0..nonce.len() {
            let mut other = nonce.clone().into_bytes();
            other[at] = if other[at] == b'A' { b'B' } else { b'A' };
            let other = String::from_utf8(other).unwrap();
            assert!(!holds(&key, &other, 1000), "{at}");
        }
        let long = nonce.repeat(10);
        for junk in [
            "",
            "x",
            "é",
            &nonce[1..],
            &nonce[..4],
            &format!("{nonce}="),
            &long,
        ] {
            assert!(!holds(&key, junk, 1000), "{junk}");
        }
    }
}
