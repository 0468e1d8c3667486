//! Keys: parsed and checked once, then used for exactly one algorithm.
//!
//! [`PublicKey`] is what a JWK says, as bytes; nothing has been checked about it. [`VerifyingKey`]
//! and [`SigningKey`] are made for one [`Algorithm`] and can only exist if the key fits it: a
//! token's header never chooses.

mod ed25519;
mod es256;
mod sign;
mod verify;

pub use es256::{MAX_TABLES, VERIFICATIONS_BEFORE_TABLE};
pub use sign::SigningKey;
pub use verify::{BatchItem, VerifyingKey, verify_ed25519_batch};

pub(crate) use sign::ec_public;

use crate::{Algorithm, KeyType};

/// Public key material, in the units of its JWK (big-endian, fixed-length coordinates). Unchecked:
/// see [`VerifyingKey::new`].
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum PublicKey {
    /// A point of P-256.
    P256 {
        /// The first coordinate.
        x: [u8; 32],
        /// The second coordinate.
        y: [u8; 32],
    },
    /// A point of P-384.
    P384 {
        /// The first coordinate.
        x: [u8; 48],
        /// The second coordinate.
        y: [u8; 48],
    },
    /// A point of P-521: 521 bits in 66 bytes.
    P521 {
        /// The first coordinate.
        x: [u8; 66],
        /// The second coordinate.
        y: [u8; 66],
    },
    /// An encoded point of edwards25519 (RFC 8032 section 5.1.2).
    Ed25519 {
        /// The JWK's `x`.
        x: [u8; 32],
    },
    /// An RSA key; both numbers without leading zeros.
    Rsa {
        /// The modulus.
        n: Vec<u8>,
        /// The public exponent.
        e: Vec<u8>,
    },
    /// An ML-DSA key; a JWK of type `AKP` names its algorithm.
    MlDsa {
        /// Which of the three.
        algorithm: Algorithm,
        /// The encoded public key of FIPS 204 (the JWK's `pub`).
        public: Vec<u8>,
    },
}

impl PublicKey {
    /// The JWK `kty`.
    pub fn key_type(&self) -> KeyType {
        match self {
            PublicKey::P256 { .. } | PublicKey::P384 { .. } | PublicKey::P521 { .. } => KeyType::Ec,
            PublicKey::Ed25519 { .. } => KeyType::Okp,
            PublicKey::Rsa { .. } => KeyType::Rsa,
            PublicKey::MlDsa { .. } => KeyType::Akp,
        }
    }

    /// Whether this key is of the type and curve that the algorithm needs.
    pub fn fits(&self, algorithm: Algorithm) -> bool {
        match self {
            PublicKey::P256 { .. } => algorithm == Algorithm::Es256,
            PublicKey::P384 { .. } => algorithm == Algorithm::Es384,
            PublicKey::P521 { .. } => algorithm == Algorithm::Es512,
            PublicKey::Ed25519 { .. } | PublicKey::Rsa { .. } => {
                self.key_type() == algorithm.key_type()
            }
            PublicKey::MlDsa { algorithm: own, .. } => *own == algorithm,
        }
    }
}

/// A signature that the key did not make for this message; the reason is nobody's business.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the signature is not valid")]
pub struct InvalidSignature;

/// Why a key could not be made, parsed or used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// The caller's key is of another type or curve than the algorithm needs.
    #[error("the key does not fit the algorithm")]
    WrongKeyType,
    /// The key's bytes are no key: a wrong length, a point off the curve, broken DER.
    #[error("malformed key: {0}")]
    Malformed(&'static str),
    /// A key that can be parsed and gives no protection.
    #[error("the key is too weak: {0}")]
    Weak(&'static str),
    /// A key that may be good, of a kind that this crate does not use.
    #[error("unsupported: {0}")]
    Unsupported(&'static str),
    /// The library refused where nothing should go wrong.
    #[error("the cryptography library failed")]
    Library,
}

/// Fewest and most bits of an RSA modulus that is used: fewer are weak (RFC 7518 section 3.3), more
/// are slow.
pub(crate) const RSA_BITS: std::ops::RangeInclusive<usize> = 2048..=8192;

/// Lengths of the encoded public key and of the signature (FIPS 204 table 2).
pub(crate) const fn ml_dsa_lengths(algorithm: Algorithm) -> Option<(usize, usize)> {
    match algorithm {
        Algorithm::MlDsa44 => Some((1312, 2420)),
        Algorithm::MlDsa65 => Some((1952, 3309)),
        Algorithm::MlDsa87 => Some((2592, 4627)),
        _ => None,
    }
}

/// The least length of an HMAC key in bytes: as long as the hash (RFC 7518 section 3.2).
const fn hmac_key_min(algorithm: Algorithm) -> usize {
    algorithm.hash().len()
}

#[cfg(test)]
mod tests;
