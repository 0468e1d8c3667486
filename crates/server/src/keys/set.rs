//! Signing keys: what the hot path sees of them.
use bytes::Bytes;
use signet_crypto::{Algorithm, VerifyingKey};
use signet_jose::jwt::JwtSigner;
use std::{collections::HashMap, sync::Arc};

/// The keys of one snapshot, immutable: the active signer of each algorithm, every key that still verifies, and the
/// rendered JWKS (which also lists keys that are published ahead of their first use).
#[derive(Clone, Default)]
pub struct KeySet {
    signers: Vec<Arc<JwtSigner>>,
    verifying: HashMap<String, Arc<VerifyingKey>>,
    jwks: Bytes,
}

impl KeySet {
    /// `signers`: one active key per algorithm; `verifying`: by `kid`; `jwks`: the encoded JWK Set.
    pub fn new(
        signers: Vec<Arc<JwtSigner>>,
        verifying: HashMap<String, Arc<VerifyingKey>>,
        jwks: Bytes,
    ) -> KeySet {
        KeySet {
            signers,
            verifying,
            jwks,
        }
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
    /// The encoded JWK Set.
    pub fn jwks(&self) -> &Bytes {
        &self.jwks
    }
    /// Is there a key to sign with?
    pub fn is_ready(&self) -> bool {
        !self.signers.is_empty()
    }
}

impl signet_oauth::request::IssuerKeys for KeySet {
    fn verifying_key(&self, kid: &str) -> Option<&VerifyingKey> {
        self.verifying.get(kid).map(|key| &**key)
    }
}
