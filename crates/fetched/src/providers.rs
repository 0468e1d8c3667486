//! What was fetched of identity providers, and is kept for a while: `signet-federation` fetches it.
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use serde::Deserialize;
use signet_verify::Verifier;
use tokio::sync::{Semaphore, SemaphorePermit};

/// How long they are used where no answer comes, seconds
const STALE: u64 = 3600;
/// How long they are used once an answer came that is no key set, seconds: it may have been meant
/// to withdraw them.
const UNREADABLE: u64 = 300;

/// What was fetched of providers, of one realm.
#[derive(Default)]
pub struct Known {
    /// By issuer.
    pub metadata: papaya::HashMap<String, Arc<KeptMetadata>>,
    /// By issuer and client.
    pub keys: papaya::HashMap<String, Arc<Keys>>,
    /// Passwords that are asked of servers that people move away from.
    pub passwords: AskedPasswords,
}

/// Most passwords of a realm that other servers are asked for at once.
pub const MAX_PASSWORDS_ASKED: usize = 16;
/// How long a server that failed is not asked for passwords, seconds.
const PAUSE: u64 = 5;

/// What keeps a server that does not answer from holding up others: a bound on those who wait for
/// one, and a pause after a failure.
pub struct AskedPasswords {
    turns: Semaphore,
    /// By provider: until when it is not asked, Unix seconds.
    paused: papaya::HashMap<String, u64>,
}

impl Default for AskedPasswords {
    fn default() -> AskedPasswords {
        AskedPasswords {
            turns: Semaphore::new(MAX_PASSWORDS_ASKED),
            paused: papaya::HashMap::new(),
        }
    }
}

impl AskedPasswords {
    /// A turn to ask this provider. None: as many wait as may, or it failed a moment ago.
    pub fn turn(&self, provider: &str, now: u64) -> Option<SemaphorePermit<'_>> {
        let paused = self.paused.pin();
        let is_paused = paused.get(provider).is_some_and(|until| now < *until);
        match is_paused {
            true => None,
            false => self.turns.try_acquire().ok(),
        }
    }

    /// The provider did not answer, or not as it should.
    pub fn failed(&self, provider: &str, now: u64) {
        let paused = self.paused.pin();
        // More than a realm has: of those that were removed.
        if paused.len() >= signet_oauth::people::provider::MAX_PROVIDERS {
            paused.clear();
        }
        paused.insert(provider.to_owned(), now.saturating_add(PAUSE));
    }
}

/// What a provider says of itself (OpenID Connect Discovery 1.0, RFC 8414).
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Metadata {
    /// Its identifier, which its tokens must name.
    pub issuer: String,
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
pub struct KeptMetadata {
    /// What it says.
    pub metadata: Metadata,
    /// Unix seconds.
    pub fetched_at: u64,
    /// When fetching was last tried, in Unix seconds.
    pub tried_at: AtomicU64,
}

/// The keys of a provider, as a verifier of its tokens for one client.
pub struct Keys {
    /// None: the provider publishes no key that could be used.
    pub verifier: Option<Verifier>,
    /// Unix seconds.
    pub fetched_at: u64,
    /// When fetching was last tried, in Unix seconds.
    pub tried_at: AtomicU64,
    /// When an answer came first that is no key set; 0: none since these were fetched.
    pub unreadable_since: AtomicU64,
}

impl Keys {
    /// Whether they still count at this moment (Unix seconds).
    pub fn may_be_used(&self, now: u64) -> bool {
        let unreadable = self.unreadable_since.load(Relaxed);
        now.saturating_sub(self.fetched_at) < STALE
            && (unreadable == 0 || now.saturating_sub(unreadable) < UNREADABLE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn so_many_wait_for_passwords_and_who_failed_is_left_alone_for_a_moment() {
        let asked = AskedPasswords::default();
        let turns: Vec<_> = (0..MAX_PASSWORDS_ASKED)
            .map(|_| asked.turn("old", 100).unwrap())
            .collect();
        assert!(asked.turn("old", 100).is_none());
        drop(turns);
        assert!(asked.turn("old", 100).is_some());
        asked.failed("old", 100);
        assert!(asked.turn("old", 100 + PAUSE - 1).is_none());
        assert!(asked.turn("other", 100).is_some());
        assert!(asked.turn("old", 100 + PAUSE).is_some());
    }
}
