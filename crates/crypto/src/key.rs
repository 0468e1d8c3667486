use crate::{Algorithm, Secret};

/// Public key material, in the units of its JWK (big-endian, fixed-length coordinates).
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum PublicKey {
    P256 {
        x: [u8; 32],
        y: [u8; 32],
    },
    P384 {
        x: [u8; 48],
        y: [u8; 48],
    },
    P521 {
        x: [u8; 66],
        y: [u8; 66],
    },
    Ed25519 {
        x: [u8; 32],
    },
    Rsa {
        n: Vec<u8>,
        e: Vec<u8>,
    },
    MlDsa {
        algorithm: Algorithm,
        public: Vec<u8>,
    },
}

/// A private key, parsed once, for exactly one algorithm. Debug prints the algorithm only.
pub struct SigningKey {/* private */}

impl SigningKey {
    pub fn generate(_algorithm: Algorithm) -> Result<SigningKey, KeyError> {
        todo!()
    }
    /// PKCS#8 DER for EC, OKP, RSA; the 32-byte seed for ML-DSA; the bytes themselves for HMAC.
    pub fn from_private(_algorithm: Algorithm, _private: &[u8]) -> Result<SigningKey, KeyError> {
        todo!()
    }
    /// What `from_private` reads.
    pub fn to_private(&self) -> Result<Secret<Vec<u8>>, KeyError> {
        todo!()
    }
    pub fn algorithm(&self) -> Algorithm {
        todo!()
    }
    /// None for HMAC keys.
    pub fn public(&self) -> Option<&PublicKey> {
        todo!()
    }
    /// Appends the JOSE signature (fixed-length r || s for ECDSA) of `message` to `out`.
    pub fn sign_into(&self, _message: &[u8], _out: &mut Vec<u8>) -> Result<(), KeyError> {
        todo!()
    }
}

/// A public (or HMAC) key prepared for one algorithm: parsing has been done.
pub struct VerifyingKey {/* private */}

impl VerifyingKey {
    /// Refuses a key that does not fit the algorithm, RSA under 2048 or over 8192 bits or with an even or tiny exponent,
    /// points off the curve, small-order Ed25519 keys.
    pub fn new(_algorithm: Algorithm, _key: &PublicKey) -> Result<VerifyingKey, KeyError> {
        todo!()
    }
    /// For HS256/384/512 (client_secret_jwt). Refuses secrets shorter than 32 bytes? No: shorter than the hash's JOSE minimum (RFC 7518 section 3.2).
    pub fn hmac(_algorithm: Algorithm, _secret: &[u8]) -> Result<VerifyingKey, KeyError> {
        todo!()
    }
    pub fn algorithm(&self) -> Algorithm {
        todo!()
    }
    pub fn verify(&self, _message: &[u8], _signature: &[u8]) -> Result<(), InvalidSignature> {
        todo!()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the signature is not valid")]
pub struct InvalidSignature;

/// Why a key could not be made, parsed or used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    #[error("the key does not fit the algorithm")]
    WrongKeyType,
    #[error("malformed key: {0}")]
    Malformed(&'static str),
    #[error("the key is too weak: {0}")]
    Weak(&'static str),
    #[error("unsupported: {0}")]
    Unsupported(&'static str),
    #[error("the cryptography library failed")]
    Library,
}
