//! Signing keys: what the hot path sees of them.
use bytes::Bytes;
use signet_crypto::{Algorithm, KeyType, VerifyingKey};
use signet_encoding::{base64url, json::Writer};
use signet_jose::{jwk::Jwk, jwt::JwtSigner};
use signet_oauth::request::{IssuerKeys, IssuerSigners};
use std::{collections::HashMap, sync::Arc};

/// The keys of one snapshot, immutable: the active signers, every key that still verifies, and the
/// rendered documents (which also list keys that are published ahead of their first use).
#[derive(Clone, Default)]
pub struct KeySet {
    signers: Vec<Arc<JwtSigner>>,
    verifying: HashMap<String, Arc<VerifyingKey>>,
    jwks: Bytes,
    classical_jwks: Bytes,
    compact_signer: Option<Arc<signet_compact::SigningKey>>,
    compact: Arc<signet_compact::KeySet>,
    compact_document: Bytes,
}

impl KeySet {
    /// An empty set to add keys to, in the order in which documents list them.
    pub fn builder() -> Builder {
        Builder::default()
    }
    /// The active signer of an algorithm.
    pub fn signer(&self, algorithm: Algorithm) -> Option<&Arc<JwtSigner>> {
        // A handful of algorithms: a scan is quicker than a hash.
        self.signers.iter().find(|s| s.algorithm() == algorithm)
    }
    /// The key that verifies tokens of this server with this `kid`.
    pub fn verifying_key(&self, kid: &str) -> Option<&Arc<VerifyingKey>> {
        self.verifying.get(kid)
    }
    /// The encoded JWK Set, every key in it.
    pub fn jwks(&self) -> &Bytes {
        &self.jwks
    }
    /// The encoded JWK Set without keys of type `AKP` (RFC 9964): RFC 7517 section 5 has clients
    /// pass over types that they do not know, but some refuse the whole set.
    pub fn classical_jwks(&self) -> &Bytes {
        &self.classical_jwks
    }
    /// The encoded document of the public keys of compact tokens: `{"keys":[{"kid","alg","key"}]}`,
    /// where `alg` is the name of the algorithm, `kid` the tokens' `key_id` and `key` the
    /// `VerifyingKey` message, both base64url. Symmetric keys are not in it.
    pub fn compact_keys_document(&self) -> &Bytes {
        &self.compact_document
    }
    /// Is there a key to sign with?
    pub fn is_ready(&self) -> bool {
        !self.signers.is_empty()
    }
}

impl IssuerKeys for KeySet {
    fn verifying_key(&self, kid: &str) -> Option<&VerifyingKey> {
        self.verifying.get(kid).map(|key| &**key)
    }
    fn compact_keys(&self) -> Option<&signet_compact::KeySet> {
        Some(&self.compact)
    }
}

impl IssuerSigners for KeySet {
    fn jwt_signer(&self, algorithm: Algorithm) -> Option<&JwtSigner> {
        self.signer(algorithm).map(|signer| &**signer)
    }
    fn compact_signer(&self) -> Option<&signet_compact::SigningKey> {
        self.compact_signer.as_deref()
    }
}

/// Puts a [`KeySet`] together.
#[derive(Default)]
pub struct Builder {
    signers: Vec<Arc<JwtSigner>>,
    verifying: HashMap<String, Arc<VerifyingKey>>,
    jose: Vec<Arc<JwtSigner>>,
    compact_signer: Option<Arc<signet_compact::SigningKey>>,
    compact: Vec<Arc<signet_compact::SigningKey>>,
}

impl Builder {
    /// Adds a key of JWTs; `active`: it signs.
    pub fn jose(&mut self, signer: Arc<JwtSigner>, verifying: Arc<VerifyingKey>, active: bool) {
        self.verifying.insert(signer.kid().to_owned(), verifying);
        if active {
            self.signers.push(Arc::clone(&signer));
        }
        self.jose.push(signer);
    }

    /// Adds a key of compact tokens; `active`: it signs, if no other does.
    pub fn compact(&mut self, key: Arc<signet_compact::SigningKey>, active: bool) {
        if active {
            self.compact_signer.get_or_insert_with(|| Arc::clone(&key));
        }
        self.compact.push(key);
    }

    /// The set, with its documents rendered.
    ///
    /// # Errors
    /// Two compact keys of one id, or a key without a sound public half.
    pub fn build(self) -> Result<KeySet, signet_compact::KeyError> {
        let mut verifying = Vec::with_capacity(self.compact.len());
        for key in &self.compact {
            verifying.push(key.verifying_key()?);
        }
        Ok(KeySet {
            jwks: jwks(&self.jose, |_| true).into(),
            classical_jwks: jwks(&self.jose, |key_type| key_type != KeyType::Akp).into(),
            compact_document: compact_document(&self.compact).into(),
            compact: Arc::new(signet_compact::KeySet::new(verifying)?),
            signers: self.signers,
            verifying: self.verifying,
            compact_signer: self.compact_signer,
        })
    }
}

fn jwks(keys: &[Arc<JwtSigner>], listed: impl Fn(KeyType) -> bool) -> Vec<u8> {
    let mut out = Vec::new();
    Writer::new(&mut out).object(|w| {
        w.member("keys").array(|w| {
            for signer in keys
                .iter()
                .filter(|signer| listed(signer.algorithm().key_type()))
            {
                // A symmetric key has no public half, and is not for a JWKS.
                if let Some(public) = signer.key().public() {
                    Jwk::for_signatures(public.clone(), signer.algorithm(), signer.kid()).write(w);
                }
            }
        });
    });
    out
}

fn compact_document(keys: &[Arc<signet_compact::SigningKey>]) -> Vec<u8> {
    let mut out = Vec::new();
    Writer::new(&mut out).object(|w| {
        w.member("keys").array(|w| {
            for key in keys {
                if let Some(public) = key.public_bytes() {
                    w.object(|w| {
                        w.member("kid").string(&base64url::encode(key.key_id()));
                        w.member("alg").string(key.algorithm().name());
                        w.member("key").base64url(&public);
                    });
                }
            }
        });
    });
    out
}
