//! Server nonces of DPoP proofs at a resource (RFC 9449 section 9): a proof made ahead, for later use, is worth nothing.
//!
//! They hold no state: a nonce is the second in which it was made and a keyed hash of it. Every verifier with the same key knows it,
//! and it ends by itself.

use signet_crypto::{ct_eq, mac::HmacSha256Key};
use signet_jose::base64url;

/// How long a nonce is accepted, in seconds.
pub const PROOF_NONCE_LIFETIME: u64 = 300;
/// How far ahead the clock of another verifier with the same key may be, in seconds.
const AHEAD: u64 = 60;

const TIME: usize = 8;
const TAG: usize = 16;

pub(crate) struct ProofNonces(HmacSha256Key);

impl ProofNonces {
    /// `secret`: shared by verifiers that must know each other's nonces; at least 32 bytes.
    pub(crate) fn new(secret: &[u8]) -> ProofNonces {
        ProofNonces(HmacSha256Key::new(secret))
    }

    pub(crate) fn random() -> ProofNonces {
        ProofNonces::new(&signet_crypto::random::bytes::<32>())
    }

    /// The nonce of this second.
    pub(crate) fn at(&self, now: u64) -> String {
        let mut nonce = [0; TIME + TAG];
        nonce[..TIME].copy_from_slice(&now.to_be_bytes());
        nonce[TIME..].copy_from_slice(&self.tag(now));
        base64url::encode(&nonce)
    }

    pub(crate) fn holds(&self, nonce: &str, now: u64) -> bool {
        let Ok(nonce) = base64url::decode_array::<{ TIME + TAG }>(nonce.as_bytes()) else {
            return false;
        };
        let mut time = [0; TIME];
        time.copy_from_slice(&nonce[..TIME]);
        let made = u64::from_be_bytes(time);
        ct_eq(&nonce[TIME..], &self.tag(made))
            && now <= made.saturating_add(PROOF_NONCE_LIFETIME)
            && made <= now.saturating_add(AHEAD)
    }

    fn tag(&self, made: u64) -> [u8; TAG] {
        let whole = self
            .0
            .sign_parts(&[b"signet dpop nonce of a resource", &made.to_be_bytes()]);
        let mut tag = [0; TAG];
        tag.copy_from_slice(&whole[..TAG]);
        tag
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_nonce_holds_for_its_time_and_for_its_key() {
        let nonces = ProofNonces::new(&[1; 32]);
        let nonce = nonces.at(1000);
        for (now, holds) in [
            (1000, true),
            (1300, true),
            (1301, false),
            (940, true),
            (939, false),
        ] {
            assert_eq!(nonces.holds(&nonce, now), holds, "{now}");
        }
        assert!(ProofNonces::new(&[1; 32]).holds(&nonce, 1000));
        assert!(!ProofNonces::new(&[2; 32]).holds(&nonce, 1000));
        assert!(!ProofNonces::random().holds(&nonce, 1000));
        assert_ne!(nonce, nonces.at(1001));
        for at in 0..nonce.len() {
            let mut other = nonce.clone().into_bytes();
            other[at] = if other[at] == b'A' { b'B' } else { b'A' };
            assert!(
                !nonces.holds(std::str::from_utf8(&other).unwrap(), 1000),
                "{at}"
            );
        }
        for junk in ["", "x", "é", &nonce[1..], &format!("{nonce}=")] {
            assert!(!nonces.holds(junk, 1000), "{junk}");
        }
    }
}
