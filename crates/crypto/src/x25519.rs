//! X25519 (RFC 7748): keys that agree on a secret, for formats that prescribe it.

use aws_lc_rs::agreement::{PrivateKey, UnparsedPublicKey, X25519, agree};

use crate::{KeyError, Secret};

/// Bytes of a key, of either half.
pub const KEY_LEN: usize = 32;

/// The secret half.
pub struct X25519Key {
    key: PrivateKey,
    public: [u8; KEY_LEN],
}

impl X25519Key {
    /// A new one.
    pub fn generate() -> X25519Key {
        // Every 32 bytes are a secret key (RFC 7748 section 5).
        X25519Key::from_bytes(&Secret::random()).expect("32 bytes are a key of X25519")
    }

    /// A key by its bytes.
    ///
    /// # Errors
    /// [`KeyError`], where the library takes them for none.
    pub fn from_bytes(bytes: &Secret<[u8; KEY_LEN]>) -> Result<X25519Key, KeyError> {
        let key = PrivateKey::from_private_key(&X25519, bytes.expose());
        let key = key.map_err(|_| KeyError::Malformed("no key of X25519"))?;
        let public = key.compute_public_key().map_err(|_| KeyError::Library)?;
        let public = public.as_ref().try_into().map_err(|_| KeyError::Library)?;
        Ok(X25519Key { key, public })
    }

    /// The public half.
    pub fn public(&self) -> &[u8; KEY_LEN] {
        &self.public
    }

    /// What both sides know.
    ///
    /// # Errors
    /// [`KeyError`]: the other side's key is of small order, so that everybody knows it (RFC 7748
    /// section 6.1).
    pub fn agree(&self, peer: &[u8; KEY_LEN]) -> Result<Secret<[u8; KEY_LEN]>, KeyError> {
        let peer = UnparsedPublicKey::new(&X25519, peer);
        let weak = KeyError::Weak("a point of small order");
        agree(&self.key, peer, weak, |secret| {
            let secret: [u8; KEY_LEN] = secret.try_into().map_err(|_| KeyError::Library)?;
            let secret = Secret::new(secret);
            match secret == Secret::new([0; KEY_LEN]) {
                true => Err(weak),
                false => Ok(secret),
            }
        })
    }
}

impl std::fmt::Debug for X25519Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("X25519Key(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(hex: &str) -> [u8; KEY_LEN] {
        let byte = |at| u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).expect("hex");
        std::array::from_fn(byte)
    }

    #[test]
    fn rfc_7748_section_6_1() {
        let of = |hex| X25519Key::from_bytes(&Secret::new(bytes(hex))).expect("a key");
        let alice = of("77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a");
        let bob = of("5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb");
        let of_alice = bytes("8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a");
        let of_bob = bytes("de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f");
        assert_eq!((alice.public(), bob.public()), (&of_alice, &of_bob));
        let both = bytes("4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742");
        for (own, other) in [(&alice, &of_bob), (&bob, &of_alice)] {
            assert_eq!(own.agree(other).expect("a secret").expose(), &both);
        }
    }

    #[test]
    fn a_key_of_small_order_agrees_on_nothing() {
        let key = X25519Key::generate();
        assert!(key.agree(&[0; KEY_LEN]).is_err());
        let mut one = [0; KEY_LEN];
        one[0] = 1;
        assert!(key.agree(&one).is_err());
    }
}
