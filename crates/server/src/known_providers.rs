//! What was fetched of identity providers, and is kept for a while: [`crate::upstream`] fetches it.
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use serde::Deserialize;
use signet_verify::Verifier;

/// What was fetched of providers, of one realm.
#[derive(Default)]
pub struct Known {
    pub(crate) metadata: papaya::HashMap<String, Arc<KeptMetadata>>,
    pub(crate) keys: papaya::HashMap<String, Arc<Keys>>,
}

/// What a provider says of itself (OpenID Connect Discovery 1.0, RFC 8414).
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Metadata {
    pub(crate) issuer: String,
    /// Where people are sent.
    pub authorization_endpoint: String,
    /// Where codes are redeemed.
    pub token_endpoint: String,
    /// Where more is said of the person.
    pub userinfo_endpoint: Option<String>,
    /// Its keys.
    pub jwks_uri: Option<String>,
    /// Where a logout there begins (OpenID Connect RP-Initiated Logout 1.0).
    pub end_session_endpoint: Option<String>,
    /// RFC 9207 section 3.
    pub authorization_response_iss_parameter_supported: bool,
    /// RFC 9449 section 5.1.
    pub dpop_signing_alg_values_supported: Vec<String>,
    /// RFC 8414 section 2.
    pub token_endpoint_auth_signing_alg_values_supported: Vec<String>,
    /// RFC 8414 section 2.
    pub code_challenge_methods_supported: Vec<String>,
}

impl Metadata {
    /// Whether DPoP proofs signed with ES256 are taken.
    pub fn takes_dpop(&self) -> bool {
        let algorithms = &self.dpop_signing_alg_values_supported;
        algorithms.iter().any(|alg| alg == "ES256")
    }
}

/// Metadata as it was fetched.
pub(crate) struct KeptMetadata {
    pub(crate) metadata: Metadata,
    pub(crate) fetched_at: u64,
    pub(crate) tried_at: AtomicU64,
}

/// The keys of a provider, as a verifier of its tokens for one client.
pub(crate) struct Keys {
    /// None: the provider publishes no key that could be used.
    pub(crate) verifier: Option<Verifier>,
    pub(crate) fetched_at: u64,
    pub(crate) tried_at: AtomicU64,
    /// When an answer came first that is no key set; 0: none since these were fetched.
    pub(crate) unreadable_since: AtomicU64,
}
