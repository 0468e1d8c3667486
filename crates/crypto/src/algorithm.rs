/// One row per JOSE signature algorithm. `EdDSA` and `Ed25519` (RFC 9864) are two names of one algorithm over Ed25519.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Algorithm {
    Es256,
    Es384,
    Es512,
    EdDsa,
    Ed25519,
    Rs256,
    Rs384,
    Rs512,
    Ps256,
    Ps384,
    Ps512,
    MlDsa44,
    MlDsa65,
    MlDsa87,
    Hs256,
    Hs384,
    Hs512,
}

/// JWK `kty`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum KeyType {
    Ec,
    Okp,
    Rsa,
    Akp,
    Oct,
}

impl Algorithm {
    pub const ALL: &'static [Algorithm] = &[];
    /// The registered JOSE name: "ES256", "EdDSA", "ML-DSA-44".
    pub fn name(self) -> &'static str {
        todo!()
    }
    pub fn from_name(_name: &str) -> Option<Algorithm> {
        todo!()
    }
    pub fn key_type(self) -> KeyType {
        todo!()
    }
    pub fn is_symmetric(self) -> bool {
        todo!()
    }
    /// Hash for at_hash / c_hash (OpenID Connect Core 3.1.3.6). EdDSA: SHA-512; ML-DSA: SHA-512 (documented choice).
    pub fn hash(self) -> crate::hash::HashAlgorithm {
        todo!()
    }
}
