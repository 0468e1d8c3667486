//! Every JOSE signature algorithm, one row each.
//!
//! A new algorithm is one variant, one row of the table below, and one arm in `key/sign.rs` and
//! `key/verify.rs`.

use crate::hash::HashAlgorithm;

/// One JOSE signature algorithm.
///
/// `EdDSA` (RFC 8037, here always over Ed25519) and `Ed25519` (RFC 9864) are two names of one
/// signature scheme: a key for either has the same material, but a token's `alg` has to be the name
/// that the key was registered for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Algorithm {
    /// ECDSA over P-256 with SHA-256 (RFC 7518 section 3.4).
    Es256,
    /// ECDSA over P-384 with SHA-384.
    Es384,
    /// ECDSA over P-521 with SHA-512.
    Es512,
    /// Ed25519 under its first JOSE name (RFC 8037).
    EdDsa,
    /// Ed25519 under its fully specified name (RFC 9864).
    Ed25519,
    /// RSASSA-PKCS1-v1_5 with SHA-256 (RFC 7518 section 3.3).
    Rs256,
    /// RSASSA-PKCS1-v1_5 with SHA-384.
    Rs384,
    /// RSASSA-PKCS1-v1_5 with SHA-512.
    Rs512,
    /// RSASSA-PSS with SHA-256, the salt as long as the hash (RFC 7518 section 3.5).
    Ps256,
    /// RSASSA-PSS with SHA-384.
    Ps384,
    /// RSASSA-PSS with SHA-512.
    Ps512,
    /// ML-DSA-44 (FIPS 204, RFC 9964).
    MlDsa44,
    /// ML-DSA-65.
    MlDsa65,
    /// ML-DSA-87.
    MlDsa87,
    /// HMAC with SHA-256 (RFC 7518 section 3.2); for `client_secret_jwt` only.
    Hs256,
    /// HMAC with SHA-384.
    Hs384,
    /// HMAC with SHA-512.
    Hs512,
}

/// JWK `kty`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum KeyType {
    /// `EC` (RFC 7518 section 6.2).
    Ec,
    /// `OKP` (RFC 8037 section 2).
    Okp,
    /// `RSA` (RFC 7518 section 6.3).
    Rsa,
    /// `AKP` (RFC 9964).
    Akp,
    /// `oct` (RFC 7518 section 6.4).
    Oct,
}

struct Row {
    name: &'static str,
    key_type: KeyType,
    hash: HashAlgorithm,
}

const fn row(name: &'static str, key_type: KeyType, hash: HashAlgorithm) -> Row {
    Row {
        name,
        key_type,
        hash,
    }
}

impl Algorithm {
    /// All of them, in the order in which metadata lists them.
    pub const ALL: &'static [Algorithm] = &[
        Algorithm::Es256,
        Algorithm::Es384,
        Algorithm::Es512,
        Algorithm::EdDsa,
        Algorithm::Ed25519,
        Algorithm::Rs256,
        Algorithm::Rs384,
        Algorithm::Rs512,
        Algorithm::Ps256,
        Algorithm::Ps384,
        Algorithm::Ps512,
        Algorithm::MlDsa44,
        Algorithm::MlDsa65,
        Algorithm::MlDsa87,
        Algorithm::Hs256,
        Algorithm::Hs384,
        Algorithm::Hs512,
    ];

    const fn row(self) -> Row {
        use HashAlgorithm::{Sha256, Sha384, Sha512};
        use KeyType::{Akp, Ec, Oct, Okp, Rsa};
        match self {
            Algorithm::Es256 => row("ES256", Ec, Sha256),
            Algorithm::Es384 => row("ES384", Ec, Sha384),
            Algorithm::Es512 => row("ES512", Ec, Sha512),
            Algorithm::EdDsa => row("EdDSA", Okp, Sha512),
            Algorithm::Ed25519 => row("Ed25519", Okp, Sha512),
            Algorithm::Rs256 => row("RS256", Rsa, Sha256),
            Algorithm::Rs384 => row("RS384", Rsa, Sha384),
            Algorithm::Rs512 => row("RS512", Rsa, Sha512),
            Algorithm::Ps256 => row("PS256", Rsa, Sha256),
            Algorithm::Ps384 => row("PS384", Rsa, Sha384),
            Algorithm::Ps512 => row("PS512", Rsa, Sha512),
            Algorithm::MlDsa44 => row("ML-DSA-44", Akp, Sha512),
            Algorithm::MlDsa65 => row("ML-DSA-65", Akp, Sha512),
            Algorithm::MlDsa87 => row("ML-DSA-87", Akp, Sha512),
            Algorithm::Hs256 => row("HS256", Oct, Sha256),
            Algorithm::Hs384 => row("HS384", Oct, Sha384),
            Algorithm::Hs512 => row("HS512", Oct, Sha512),
        }
    }

    /// The registered JOSE name: "ES256", "EdDSA", "ML-DSA-44".
    pub const fn name(self) -> &'static str {
        self.row().name
    }

    /// The algorithm of a JOSE `alg`; exact, so `none`, `es256` and the empty string are no
    /// algorithm.
    pub fn from_name(name: &str) -> Option<Algorithm> {
        // As one number each: every token that comes names one.
        let wanted = pack(name.as_bytes())?;
        let at = NAMES.iter().position(|own| *own == wanted)?;
        Some(Self::ALL[at])
    }

    /// The JWK `kty` that this algorithm's keys have.
    pub const fn key_type(self) -> KeyType {
        self.row().key_type
    }

    /// Whether signer and verifier share one secret.
    pub const fn is_symmetric(self) -> bool {
        matches!(self.key_type(), KeyType::Oct)
    }

    /// The hash of `at_hash` and `c_hash` (OpenID Connect Core section 3.1.3.6).
    ///
    /// EdDSA and ML-DSA name no hash in their JOSE name. Ed25519 hashes with SHA-512, which is what
    /// other implementations use; for ML-DSA no rule exists yet, and SHA-512 is this house's choice
    /// for all three.
    pub const fn hash(self) -> HashAlgorithm {
        self.row().hash
    }
}

impl KeyType {
    /// The registered name: "EC", "OKP", "RSA", "AKP", "oct".
    pub const fn name(self) -> &'static str {
        match self {
            KeyType::Ec => "EC",
            KeyType::Okp => "OKP",
            KeyType::Rsa => "RSA",
            KeyType::Akp => "AKP",
            KeyType::Oct => "oct",
        }
    }
}

/// A name of at most 15 bytes and its length, as one number.
const fn pack(name: &[u8]) -> Option<u128> {
    if name.len() > 15 {
        return None;
    }
    let (mut packed, mut at) = (name.len() as u128, 0);
    while at < name.len() {
        packed = packed << 8 | name[at] as u128;
        at += 1;
    }
    Some(packed)
}

/// The packed names, in the order of [`Algorithm::ALL`].
static NAMES: [u128; Algorithm::ALL.len()] = {
    let (mut names, mut at) = ([0; Algorithm::ALL.len()], 0);
    while at < names.len() {
        // A name that is too long would pack to nothing, and so be found by no text.
        if let Some(packed) = pack(Algorithm::ALL[at].name().as_bytes()) {
            names[at] = packed;
        }
        at += 1;
    }
    names
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_finds_its_own_algorithm() {
        for algorithm in Algorithm::ALL {
            assert_eq!(Algorithm::from_name(algorithm.name()), Some(*algorithm));
        }
    }

    #[test]
    fn names_are_exact_and_none_is_no_algorithm() {
        for name in ["none", "None", "", "es256", "ES256 ", "ES256K", "HS1"] {
            assert_eq!(Algorithm::from_name(name), None, "{name:?}");
        }
    }
}
