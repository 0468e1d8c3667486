//! Private keys, prepared.

use std::fmt;

use aws_lc_rs::{
    encoding::{AsBigEndian, AsDer, Curve25519SeedBin},
    hmac,
    rand::SystemRandom,
    rsa::KeySize,
    signature::{
        self, EcdsaKeyPair, EcdsaSigningAlgorithm, Ed25519KeyPair, KeyPair, PqdsaKeyPair,
        PqdsaSigningAlgorithm, RsaEncoding, RsaKeyPair,
    },
};
use zeroize::Zeroize;

use super::{
    KeyError, PublicKey, VerifyingKey, hmac_key_min, ml_dsa_lengths,
    verify::{check_rsa, hmac_key},
};
use crate::{Algorithm, KeyType, Secret, random};

/// A private key, parsed once, for exactly one algorithm. Debug prints the algorithm only.
pub struct SigningKey {
    algorithm: Algorithm,
    public: Option<PublicKey>,
    inner: Inner,
}

enum Inner {
    Ecdsa(EcdsaKeyPair),
    Ed25519(Ed25519KeyPair),
    Rsa {
        pair: RsaKeyPair,
        encoding: &'static dyn RsaEncoding,
    },
    MlDsa {
        pair: Box<PqdsaKeyPair>,
        /// The seed, or the expanded form where the key was read so: a seed cannot be had from it.
        private: Secret<Vec<u8>>,
    },
    Hmac {
        key: Box<hmac::Key>,
        secret: Secret<Vec<u8>>,
    },
}

/// ML-DSA's private key is its seed (FIPS 204 algorithm 6; RFC 9964 stores nothing else).
const ML_DSA_SEED_LEN: usize = 32;

impl SigningKey {
    /// A new random key: RSA with 2048 bits, HMAC with as many as the hash.
    ///
    /// RSA takes a noticeable part of a second; the others microseconds.
    ///
    /// # Errors
    /// [`KeyError::Library`] if the library fails, which it does not in ordinary use.
    pub fn generate(algorithm: Algorithm) -> Result<SigningKey, KeyError> {
        match algorithm.key_type() {
            KeyType::Ec => {
                let pair = EcdsaKeyPair::generate(ecdsa_parameters(algorithm)?)
                    .map_err(|_| KeyError::Library)?;
                Self::ecdsa(algorithm, pair)
            }
            KeyType::Okp => {
                let pair = Ed25519KeyPair::generate().map_err(|_| KeyError::Library)?;
                Self::ed25519(algorithm, pair)
            }
            KeyType::Rsa => {
                let pair = RsaKeyPair::generate(KeySize::Rsa2048).map_err(|_| KeyError::Library)?;
                Self::rsa(algorithm, pair)
            }
            KeyType::Akp => Self::from_random(algorithm, ML_DSA_SEED_LEN),
            KeyType::Oct => Self::from_random(algorithm, hmac_key_min(algorithm)),
        }
    }

    fn from_random(algorithm: Algorithm, len: usize) -> Result<SigningKey, KeyError> {
        let mut private = vec![0; len];
        random::fill_system(&mut private);
        let key = Self::from_private(algorithm, &private);
        private.zeroize();
        key
    }

    /// Reads PKCS#8 DER for EC, OKP and RSA; the 32-byte seed for ML-DSA (or, from other software,
    /// the expanded key of FIPS 204 section 4); the bytes themselves for HMAC.
    ///
    /// # Errors
    /// [`KeyError::Malformed`] for what is no such key or is one of another curve,
    /// [`KeyError::Weak`] and [`KeyError::Unsupported`] as [`VerifyingKey::new`] and
    /// [`VerifyingKey::hmac`].
    pub fn from_private(algorithm: Algorithm, private: &[u8]) -> Result<SigningKey, KeyError> {
        let is_der = matches!(
            algorithm.key_type(),
            KeyType::Ec | KeyType::Okp | KeyType::Rsa
        );
        // The library passes over bytes after the key; one key has one encoding here.
        if is_der && !matches!(der_value(0x30, private), Some((_, []))) {
            return Err(KeyError::Malformed("not one PKCS#8 structure"));
        }
        match algorithm.key_type() {
            KeyType::Ec => {
                let pair = EcdsaKeyPair::from_pkcs8(ecdsa_parameters(algorithm)?, private)
                    .map_err(|_| KeyError::Malformed("not a PKCS#8 key of this curve"))?;
                Self::ecdsa(algorithm, pair)
            }
            KeyType::Okp => {
                let pair = Ed25519KeyPair::from_pkcs8(private)
                    .map_err(|_| KeyError::Malformed("not a PKCS#8 Ed25519 key"))?;
                Self::ed25519(algorithm, pair)
            }
            KeyType::Rsa => {
                let pair = RsaKeyPair::from_pkcs8(private).map_err(|_| {
                    KeyError::Malformed("not a PKCS#8 RSA key of 2048 to 8192 bits")
                })?;
                Self::rsa(algorithm, pair)
            }
            KeyType::Akp => {
                let parameters = ml_dsa_parameters(algorithm)?;
                let pair = if private.len() == ML_DSA_SEED_LEN {
                    PqdsaKeyPair::from_seed(parameters, private)
                } else {
                    PqdsaKeyPair::from_raw_private_key(parameters, private)
                }
                .map_err(|_| KeyError::Malformed("not an ML-DSA seed or expanded key"))?;
                let public = pair.public_key().as_ref().to_vec();
                Ok(SigningKey {
                    algorithm,
                    public: Some(PublicKey::MlDsa { algorithm, public }),
                    inner: Inner::MlDsa {
                        pair: Box::new(pair),
                        private: Secret::new(private.to_vec()),
                    },
                })
            }
            KeyType::Oct => Ok(SigningKey {
                algorithm,
                public: None,
                inner: Inner::Hmac {
                    key: Box::new(hmac_key(algorithm, private)?),
                    secret: Secret::new(private.to_vec()),
                },
            }),
        }
    }

    /// An Ed25519 key from its 32-byte seed (RFC 8032 section 5.1.5), as formats other than PKCS#8
    /// keep it.
    ///
    /// # Errors
    /// [`KeyError::Library`] if the library fails, which it does not in ordinary use: every seed is
    /// a key.
    pub fn ed25519_from_seed(seed: &[u8; 32]) -> Result<SigningKey, KeyError> {
        let pair = Ed25519KeyPair::from_seed_unchecked(seed).map_err(|_| KeyError::Library)?;
        Self::ed25519(Algorithm::EdDsa, pair)
    }

    /// What [`ed25519_from_seed`](Self::ed25519_from_seed) reads.
    ///
    /// # Errors
    /// [`KeyError::WrongKeyType`] for a key of another type.
    pub fn ed25519_seed(&self) -> Result<Secret<[u8; 32]>, KeyError> {
        let Inner::Ed25519(pair) = &self.inner else {
            return Err(KeyError::WrongKeyType);
        };
        let seed = pair.seed().map_err(|_| KeyError::Library)?;
        let bytes: Curve25519SeedBin<'_> = seed.as_be_bytes().map_err(|_| KeyError::Library)?;
        let seed = bytes.as_ref().try_into().map_err(|_| KeyError::Library)?;
        Ok(Secret::new(seed))
    }

    fn ecdsa(algorithm: Algorithm, pair: EcdsaKeyPair) -> Result<SigningKey, KeyError> {
        let public = ec_public(algorithm, pair.public_key().as_ref()).ok_or(KeyError::Library)?;
        Ok(SigningKey {
            algorithm,
            public: Some(public),
            inner: Inner::Ecdsa(pair),
        })
    }

    fn ed25519(algorithm: Algorithm, pair: Ed25519KeyPair) -> Result<SigningKey, KeyError> {
        let x = pair
            .public_key()
            .as_ref()
            .try_into()
            .map_err(|_| KeyError::Library)?;
        Ok(SigningKey {
            algorithm,
            public: Some(PublicKey::Ed25519 { x }),
            inner: Inner::Ed25519(pair),
        })
    }

    fn rsa(algorithm: Algorithm, pair: RsaKeyPair) -> Result<SigningKey, KeyError> {
        let (n, e) = rsa_numbers(pair.public_key().as_ref()).ok_or(KeyError::Library)?;
        check_rsa(n, e)?;
        let public = PublicKey::Rsa {
            n: n.to_vec(),
            e: e.to_vec(),
        };
        let encoding: &'static dyn RsaEncoding = match algorithm {
            Algorithm::Rs256 => &signature::RSA_PKCS1_SHA256,
            Algorithm::Rs384 => &signature::RSA_PKCS1_SHA384,
            Algorithm::Rs512 => &signature::RSA_PKCS1_SHA512,
            Algorithm::Ps256 => &signature::RSA_PSS_SHA256,
            Algorithm::Ps384 => &signature::RSA_PSS_SHA384,
            Algorithm::Ps512 => &signature::RSA_PSS_SHA512,
            _ => return Err(KeyError::WrongKeyType),
        };
        Ok(SigningKey {
            algorithm,
            public: Some(public),
            inner: Inner::Rsa { pair, encoding },
        })
    }

    /// What [`from_private`](Self::from_private) reads.
    ///
    /// # Errors
    /// [`KeyError::Library`] if the key cannot be encoded.
    pub fn to_private(&self) -> Result<Secret<Vec<u8>>, KeyError> {
        let der = match &self.inner {
            Inner::Ecdsa(pair) => pair.to_pkcs8v1().map(|der| der.as_ref().to_vec()),
            Inner::Ed25519(pair) => pair.to_pkcs8v1().map(|der| der.as_ref().to_vec()),
            Inner::Rsa { pair, .. } => pair.as_der().map(|der| der.as_ref().to_vec()),
            Inner::MlDsa { private, .. } => return Ok(private.clone()),
            Inner::Hmac { secret, .. } => return Ok(secret.clone()),
        };
        der.map(Secret::new).map_err(|_| KeyError::Library)
    }

    /// The one algorithm that this key signs with.
    pub fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// The public half; `None` for HMAC keys.
    pub fn public(&self) -> Option<&PublicKey> {
        self.public.as_ref()
    }

    /// What verifies this key's signatures.
    ///
    /// # Errors
    /// [`KeyError::Library`], should the library refuse its own key.
    pub fn verifying_key(&self) -> Result<VerifyingKey, KeyError> {
        match (&self.inner, &self.public) {
            (Inner::Hmac { secret, .. }, _) => VerifyingKey::hmac(self.algorithm, secret.expose()),
            (_, Some(public)) => VerifyingKey::new(self.algorithm, public),
            // Only HMAC keys have no public half.
            (_, None) => Err(KeyError::Library),
        }
    }

    /// Length in bytes of the signatures that this key makes.
    pub fn signature_len(&self) -> usize {
        match &self.inner {
            Inner::Ecdsa(_) => match self.algorithm {
                Algorithm::Es256 => 64,
                Algorithm::Es384 => 96,
                _ => 132,
            },
            Inner::Ed25519(_) => 64,
            Inner::Rsa { pair, .. } => pair.public_modulus_len(),
            Inner::MlDsa { .. } => ml_dsa_lengths(self.algorithm).map_or(0, |(_, len)| len),
            Inner::Hmac { .. } => self.algorithm.hash().len(),
        }
    }

    /// Writes the JOSE signature of `message` to `signature`, which has
    /// [`signature_len`](Self::signature_len) bytes.
    ///
    /// # Errors
    /// [`KeyError::Library`] for a buffer of another length, or if the library fails, which it does
    /// not in ordinary use.
    pub fn sign_to(&self, message: &[u8], signature: &mut [u8]) -> Result<(), KeyError> {
        if signature.len() != self.signature_len() {
            return Err(KeyError::Library);
        }
        match &self.inner {
            Inner::Ecdsa(pair) => {
                let made = pair
                    .sign(&SystemRandom::new(), message)
                    .map_err(|_| KeyError::Library)?;
                signature.copy_from_slice(made.as_ref());
            }
            Inner::Ed25519(pair) => {
                let made = pair.try_sign(message).map_err(|_| KeyError::Library)?;
                signature.copy_from_slice(made.as_ref());
            }
            Inner::Rsa { pair, encoding } => pair
                .sign(*encoding, &SystemRandom::new(), message, signature)
                .map_err(|_| KeyError::Library)?,
            Inner::MlDsa { pair, .. } => {
                pair.sign(message, signature)
                    .map_err(|_| KeyError::Library)?;
            }
            Inner::Hmac { key, .. } => {
                signature.copy_from_slice(hmac::sign(key, message).as_ref());
            }
        }
        Ok(())
    }

    /// Appends the JOSE signature (fixed-length r || s for ECDSA) of `message` to `out`; on failure
    /// `out` is as it was.
    ///
    /// # Errors
    /// [`KeyError::Library`] if the library fails, which it does not in ordinary use.
    pub fn sign_into(&self, message: &[u8], out: &mut Vec<u8>) -> Result<(), KeyError> {
        let start = out.len();
        out.resize(start + self.signature_len(), 0);
        let signed = self.sign_to(message, &mut out[start..]);
        if signed.is_err() {
            out.truncate(start);
        }
        signed
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SigningKey")
            .field("algorithm", &self.algorithm)
            .finish_non_exhaustive()
    }
}

fn ecdsa_parameters(algorithm: Algorithm) -> Result<&'static EcdsaSigningAlgorithm, KeyError> {
    match algorithm {
        Algorithm::Es256 => Ok(&signature::ECDSA_P256_SHA256_FIXED_SIGNING),
        Algorithm::Es384 => Ok(&signature::ECDSA_P384_SHA384_FIXED_SIGNING),
        Algorithm::Es512 => Ok(&signature::ECDSA_P521_SHA512_FIXED_SIGNING),
        _ => Err(KeyError::WrongKeyType),
    }
}

fn ml_dsa_parameters(algorithm: Algorithm) -> Result<&'static PqdsaSigningAlgorithm, KeyError> {
    match algorithm {
        Algorithm::MlDsa44 => Ok(&signature::ML_DSA_44_SIGNING),
        Algorithm::MlDsa65 => Ok(&signature::ML_DSA_65_SIGNING),
        Algorithm::MlDsa87 => Ok(&signature::ML_DSA_87_SIGNING),
        _ => Err(KeyError::WrongKeyType),
    }
}

/// The coordinates of an uncompressed point (SEC 1 section 2.3.3).
pub(crate) fn ec_public(algorithm: Algorithm, point: &[u8]) -> Option<PublicKey> {
    fn halves<const N: usize>(point: &[u8]) -> Option<([u8; N], [u8; N])> {
        let (x, y) = point.strip_prefix(&[0x04])?.split_first_chunk::<N>()?;
        Some((*x, y.try_into().ok()?))
    }
    match algorithm {
        Algorithm::Es256 => halves(point).map(|(x, y)| PublicKey::P256 { x, y }),
        Algorithm::Es384 => halves(point).map(|(x, y)| PublicKey::P384 { x, y }),
        Algorithm::Es512 => halves(point).map(|(x, y)| PublicKey::P521 { x, y }),
        _ => None,
    }
}

/// Modulus and exponent of the library's own `RSAPublicKey` DER (RFC 8017 appendix A.1.1).
fn rsa_numbers(der: &[u8]) -> Option<(&[u8], &[u8])> {
    let (sequence, []) = der_value(0x30, der)? else {
        return None;
    };
    let (n, rest) = der_value(0x02, sequence)?;
    let (e, []) = der_value(0x02, rest)? else {
        return None;
    };
    // DER puts a zero before a number whose first bit is set.
    Some((
        n.strip_prefix(&[0]).unwrap_or(n),
        e.strip_prefix(&[0]).unwrap_or(e),
    ))
}

/// The value of a DER element with this tag, and what follows it.
fn der_value(tag: u8, der: &[u8]) -> Option<(&[u8], &[u8])> {
    let (first, rest) = der.strip_prefix(&[tag])?.split_first()?;
    let (len, rest) = match first {
        0..=0x7f => (usize::from(*first), rest),
        0x81 => {
            let ([a], rest) = rest.split_first_chunk()?;
            (usize::from(*a), rest)
        }
        0x82 => {
            let (len, rest) = rest.split_first_chunk()?;
            (usize::from(u16::from_be_bytes(*len)), rest)
        }
        _ => return None,
    };
    rest.split_at_checked(len)
}
