//! A client's public keys, prepared once: parsing a key costs as much as a part of its use.
use signet_crypto::{
    Algorithm, PublicKey, VerifyingKey, certificate::ClientCertificate, hash::sha256,
};
use signet_jose::jwk::JwkSet;

/// The prepared keys of one client, from its inline `jwks` or its `jwks_uri`. Worth keeping as long
/// as the set is.
pub struct ClientKeys {
    keys: Vec<Prepared>,
    /// SHA-256 of the leaf of each `x5c`
    certificates: Vec<[u8; 32]>,
    public: Vec<PublicKey>,
}

struct Prepared {
    kid: Option<String>,
    key: VerifyingKey,
}

impl ClientKeys {
    /// Prepares each key for every algorithm that it may be used with. Keys that cannot verify are
    /// left out.
    pub fn from_jwks(set: &JwkSet) -> ClientKeys {
        let mut keys = Vec::new();
        for jwk in &set.keys {
            for &alg in Algorithm::ALL.iter().filter(|alg| !alg.is_symmetric()) {
                if let Ok(key) = jwk.verifying_key(alg) {
                    keys.push(Prepared {
                        kid: jwk.kid.clone(),
                        key,
                    });
                }
            }
        }
        ClientKeys {
            keys,
            certificates: set
                .keys
                .iter()
                .filter_map(|jwk| jwk.x5c.first())
                .map(|der| sha256(der))
                .collect(),
            public: set.keys.iter().map(|jwk| jwk.key.clone()).collect(),
        }
    }

    /// Whether a key of this id is there: one that is not may justify a new fetch.
    pub fn has(&self, kid: &str) -> bool {
        self.keys
            .iter()
            .any(|prepared| prepared.kid.as_deref() == Some(kid))
    }

    /// The one key for this id and algorithm. Without an id exactly one must fit: trying several
    /// would let the sender choose.
    pub(super) fn select(&self, kid: Option<&str>, alg: Algorithm) -> Option<&VerifyingKey> {
        let mut fitting = self.keys.iter().filter(|prepared| {
            prepared.key.algorithm() == alg && (kid.is_none() || prepared.kid.as_deref() == kid)
        });
        let found = fitting.next()?;
        fitting.next().is_none().then_some(&found.key)
    }

    /// Whether the certificate, or its key, is registered (RFC 8705 section 2.2.2).
    pub(super) fn has_certificate(&self, certificate: &ClientCertificate) -> bool {
        self.certificates.contains(&certificate.thumbprint)
            || PublicKey::from_spki(&certificate.spki).is_ok_and(|key| self.public.contains(&key))
    }
}
