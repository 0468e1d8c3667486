//! ML-KEM-768 (FIPS 203), and values sealed to the holder of such a key.
//!
//! A sealed value is the ciphertext of the encapsulation and what AES-256-GCM made of the plaintext
//! under a key that HKDF-SHA256 draws from the shared secret. The key is used once, so whatever the
//! holder's key seals is bounded by nothing but its length. Who sealed is not proven: the room
//! above says whose word it takes.

use aws_lc_rs::kem::{self, ML_KEM_768};

use crate::{KeyError, Secret, aead::AeadError, aead::AeadKey, kdf::Extracted};

/// Bytes of an encapsulation key (FIPS 203 table 3).
pub const ENCAPSULATION_KEY_LEN: usize = 1184;
/// Bytes of a decapsulation key.
const DECAPSULATION_KEY_LEN: usize = 2400;
/// Bytes of a ciphertext.
const CIPHERTEXT_LEN: usize = 1088;
/// Sets these keys apart from everything else that is derived here.
const LABEL: &[u8] = b"signet sealed to ML-KEM-768 1\0";

/// The public half: seals.
pub struct EncapsulationKey {
    key: kem::EncapsulationKey,
    bytes: Vec<u8>,
}

/// The secret half: opens.
pub struct DecapsulationKey {
    key: kem::DecapsulationKey,
    public: EncapsulationKey,
}

impl EncapsulationKey {
    /// Reads the encoding of FIPS 203 section 7.2.
    ///
    /// # Errors
    /// [`KeyError::Malformed`] for another length, and for coefficients that are not reduced.
    pub fn from_bytes(bytes: &[u8]) -> Result<EncapsulationKey, KeyError> {
        let malformed = KeyError::Malformed("not an ML-KEM-768 encapsulation key");
        let key = kem::EncapsulationKey::new(&ML_KEM_768, bytes).map_err(|_| malformed)?;
        // The library reads the coefficients at the first use; a key that cannot be used is refused
        // where it is read.
        key.encapsulate().map_err(|_| malformed)?;
        Ok(EncapsulationKey {
            key,
            bytes: bytes.to_vec(),
        })
    }

    /// The encoding.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// A fresh shared secret, and the ciphertext that tells it to the holder.
    ///
    /// # Errors
    /// [`KeyError::Library`] if the library fails, which it does not in ordinary use.
    pub fn encapsulate(&self) -> Result<(Vec<u8>, Secret<[u8; 32]>), KeyError> {
        let (ciphertext, shared) = self.key.encapsulate().map_err(|_| KeyError::Library)?;
        Ok((ciphertext.as_ref().to_vec(), shared_secret(&shared)?))
    }

    /// Seals a plaintext to the holder; `context` names what it is for, and opens it again. What
    /// comes out is longer by 1,116 bytes.
    ///
    /// # Errors
    /// [`KeyError::Library`] if the library fails, which it does not in ordinary use.
    pub fn seal_to(&self, context: &[u8], plaintext: &[u8]) -> Result<Vec<u8>, KeyError> {
        let (mut out, shared) = self.encapsulate()?;
        let key = content_key(&shared, &out, &self.bytes);
        key.seal_into(context, plaintext, &mut out)
            .map_err(|_| KeyError::Library)?;
        Ok(out)
    }
}

impl DecapsulationKey {
    /// A new random key.
    ///
    /// # Errors
    /// [`KeyError::Library`] if the library fails, which it does not in ordinary use.
    pub fn generate() -> Result<DecapsulationKey, KeyError> {
        let key = kem::DecapsulationKey::generate(&ML_KEM_768).map_err(|_| KeyError::Library)?;
        let public = key.encapsulation_key().map_err(|_| KeyError::Library)?;
        let bytes = public.key_bytes().map_err(|_| KeyError::Library)?;
        let bytes = bytes.as_ref().to_vec();
        Ok(DecapsulationKey {
            key,
            public: EncapsulationKey { key: public, bytes },
        })
    }

    /// Reads the encoding of FIPS 203 section 7.1, in which the public half stands, too.
    ///
    /// # Errors
    /// [`KeyError::Malformed`] for what is no such key, or one whose halves do not fit.
    pub fn from_bytes(bytes: &[u8]) -> Result<DecapsulationKey, KeyError> {
        const MALFORMED: KeyError = KeyError::Malformed("not an ML-KEM-768 decapsulation key");
        if bytes.len() != DECAPSULATION_KEY_LEN {
            return Err(MALFORMED);
        }
        // dk = dk_PKE (1,152 bytes) || ek || H(ek) || z
        let public = EncapsulationKey::from_bytes(&bytes[1152..1152 + ENCAPSULATION_KEY_LEN])?;
        let key = kem::DecapsulationKey::new(&ML_KEM_768, bytes).map_err(|_| MALFORMED)?;
        let key = DecapsulationKey { key, public };
        let (ciphertext, shared) = key.public.encapsulate()?;
        if key.decapsulate(&ciphertext).ok() != Some(shared) {
            return Err(MALFORMED);
        }
        Ok(key)
    }

    /// The encoding, for keeping.
    ///
    /// # Errors
    /// [`KeyError::Library`] if the library fails, which it does not in ordinary use.
    pub fn to_bytes(&self) -> Result<Secret<Vec<u8>>, KeyError> {
        let bytes = self.key.key_bytes().map_err(|_| KeyError::Library)?;
        Ok(Secret::new(bytes.as_ref().to_vec()))
    }

    /// The public half.
    pub fn public(&self) -> &EncapsulationKey {
        &self.public
    }

    /// The secret that a ciphertext tells. A ciphertext of the right length that was not made for
    /// this key gives a secret that nobody else knows (FIPS 203 section 6.3), no error.
    ///
    /// # Errors
    /// [`KeyError::Malformed`] for another length.
    pub fn decapsulate(&self, ciphertext: &[u8]) -> Result<Secret<[u8; 32]>, KeyError> {
        if ciphertext.len() != CIPHERTEXT_LEN {
            return Err(KeyError::Malformed("not an ML-KEM-768 ciphertext"));
        }
        let shared = self.key.decapsulate(ciphertext.into());
        shared_secret(&shared.map_err(|_| KeyError::Library)?)
    }

    /// The plaintext of what [`EncapsulationKey::seal_to`] made under the same context.
    ///
    /// # Errors
    /// [`AeadError`] for everything else, without saying why.
    pub fn open(&self, context: &[u8], sealed: &[u8]) -> Result<Secret<Vec<u8>>, AeadError> {
        let (ciphertext, sealed) = sealed.split_at_checked(CIPHERTEXT_LEN).ok_or(AeadError)?;
        let shared = self.decapsulate(ciphertext).map_err(|_| AeadError)?;
        content_key(&shared, ciphertext, self.public.as_bytes())
            .open(context, sealed)
            .map(Secret::new)
    }
}

impl std::fmt::Debug for EncapsulationKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("EncapsulationKey(ML-KEM-768)")
    }
}

impl std::fmt::Debug for DecapsulationKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("DecapsulationKey(ML-KEM-768)")
    }
}

fn shared_secret(shared: &kem::SharedSecret) -> Result<Secret<[u8; 32]>, KeyError> {
    let bytes = shared.as_ref().try_into().map_err(|_| KeyError::Library)?;
    Ok(Secret::new(bytes))
}

/// Bound to ciphertext and public key: neither can be put in another's place.
fn content_key(shared: &Secret<[u8; 32]>, ciphertext: &[u8], public: &[u8]) -> AeadKey {
    let key: Secret<[u8; 32]> =
        Extracted::new(LABEL, shared.expose()).expand(&[LABEL, ciphertext, public]);
    AeadKey::new(key.expose())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vector(name: &str) -> Vec<u8> {
        let text = include_str!("../../../vectors/cluster/ml-kem-768.json");
        let start = text.find(&format!("\"{name}\": \"")).expect("the member") + name.len() + 5;
        let hex = text[start..].split('"').next().expect("its value");
        (0..hex.len() / 2)
            .map(|i| u8::from_str_radix(&hex[2 * i..2 * i + 2], 16).expect("hex"))
            .collect()
    }

    #[test]
    fn another_implementations_ciphertext_tells_the_same_secret() {
        let key = DecapsulationKey::from_bytes(&vector("decapsulation_key")).expect("a key");
        assert_eq!(key.public().as_bytes(), vector("encapsulation_key"));
        assert_eq!(
            key.to_bytes().expect("bytes").expose(),
            &vector("decapsulation_key")
        );
        let mut ciphertext = vector("ciphertext");
        let shared = key.decapsulate(&ciphertext).expect("a secret");
        assert_eq!(shared.expose().as_slice(), vector("shared_secret"));
        // FIPS 203 section 6.3: implicit rejection.
        ciphertext[0] ^= 1;
        let shared = key.decapsulate(&ciphertext).expect("a secret");
        assert_eq!(
            shared.expose().as_slice(),
            vector("shared_secret_of_rejected")
        );
    }

    #[test]
    fn what_is_sealed_opens_with_its_key_and_context_only() {
        let key = DecapsulationKey::generate().expect("a key");
        let again = key.to_bytes().expect("bytes");
        let again = DecapsulationKey::from_bytes(again.expose()).expect("read back");
        let other = DecapsulationKey::generate().expect("a key");
        for len in [0, 1, 1_000] {
            let plaintext = vec![7; len];
            let sealed = key.public().seal_to(b"a", &plaintext).expect("sealed");
            assert_eq!(sealed.len(), len + 1116);
            let opened = again.open(b"a", &sealed).expect("opened");
            assert_eq!(opened.expose(), &plaintext);
            assert!(key.open(b"b", &sealed).is_err());
            assert!(other.open(b"a", &sealed).is_err());
            for cut in [0, 1087, 1088, sealed.len() - 1] {
                assert!(key.open(b"a", &sealed[..cut]).is_err());
            }
            for at in [0, 1087, 1088, sealed.len() - 1] {
                let mut changed = sealed.clone();
                changed[at] ^= 0x80;
                assert!(key.open(b"a", &changed).is_err(), "byte {at}");
            }
        }
    }

    #[test]
    fn keys_that_are_none_are_refused() {
        let key = vector("encapsulation_key");
        assert!(EncapsulationKey::from_bytes(&key[1..]).is_err());
        // FIPS 203 section 7.2: the modulus check.
        let mut unreduced = key.clone();
        unreduced[..3].fill(0xff);
        assert!(EncapsulationKey::from_bytes(&unreduced).is_err());
        let secret = vector("decapsulation_key");
        assert!(DecapsulationKey::from_bytes(&secret[1..]).is_err());
        let mut other = secret.clone();
        other[1200] ^= 1;
        assert!(DecapsulationKey::from_bytes(&other).is_err());
    }

    #[test]
    fn keys_do_not_print() {
        let key = DecapsulationKey::generate().expect("a key");
        assert_eq!(format!("{key:?}"), "DecapsulationKey(ML-KEM-768)");
    }
}
