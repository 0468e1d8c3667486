//! What the verifier's cache keeps: the token, and the key, issuer and end that it depends on
//! (known fault V12).

use crate::{Verified, cache::Kept, compact_keys::CompactKeys, keys::PreparedKey};
use std::sync::Arc;

/// A token that a policy accepted.
pub(crate) struct Accepted {
    /// position of its issuer; none has the position of a token whose keys are the policy's own
    /// (compact tokens)
    pub(crate) issuer: usize,
    pub(crate) key: Option<Arc<PreparedKey>>,
    pub(crate) compact: Option<Arc<CompactKeys>>,
    /// Unix seconds from which it is worthless
    pub(crate) until: u64,
    pub(crate) verified: Verified,
}

impl Accepted {
    pub(crate) fn key_is_withdrawn(&self) -> bool {
        self.key.as_ref().is_some_and(|key| key.is_withdrawn())
            || self
                .compact
                .as_ref()
                .is_some_and(|keys| keys.is_withdrawn())
    }
}

impl Kept for Accepted {
    fn token(&self) -> &str {
        self.verified.text()
    }

    fn weight(&self) -> usize {
        // The claims hold the token, too.
        self.verified.claims().weight()
    }

    fn is_dead(&self, now: u64) -> bool {
        now >= self.until || self.key_is_withdrawn()
    }
}
