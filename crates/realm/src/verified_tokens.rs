//! Access tokens of our own whose signature held, so that asking again about the same token costs a
//! look-up.
//!
//! Kept in the cache of `signet-verify`, the one mechanism for tokens that verified
//! ([`signet_verify::cache`]): found by the whole token, so a forged body finds nothing (known
//! fault A11), bounded, and closed to tokens that did not verify. What is kept is only what never
//! changes while the keys stay ([`access_token::verify`]); end, client and revocation are judged
//! for every use. Each entry counts for the key set that verified it, and no other: not for a new
//! set, one without a withdrawn key perhaps, nor for another realm's. So the realms of a process
//! share one memory, and its bounds.
use signet_oauth::issued::access_token::{self, TokenLookup, TokenState, VerifiedAccessToken};
use signet_oauth::request;
use signet_registry::keys::KeySet;
use signet_verify::cache::{Kept, TokenCache};
use std::sync::{Arc, Weak};

/// Tokens of our own that are kept, about.
pub const MAX_TOKENS: usize = 8192;
/// Most bytes that they take together.
pub const MAX_TOKENS_BYTES: usize = 16 * 1024 * 1024;

/// The kept tokens of the process.
pub struct VerifiedTokens {
    tokens: TokenCache<Own>,
}

struct Own {
    token: Box<str>,
    facts: Arc<VerifiedAccessToken>,
    /// The set that verified it. What is kept holds no keys in memory that are replaced; the place
    /// of a set is not another one's while this points to it.
    keys: Weak<KeySet>,
}

impl Kept for Own {
    fn token(&self) -> &str {
        &self.token
    }

    /// What the facts say was decoded from the token, and so is no longer than it.
    fn weight(&self) -> usize {
        2 * self.token.len() + size_of::<VerifiedAccessToken>()
    }

    fn is_dead(&self, now: u64) -> bool {
        now >= self.facts.exp || self.keys.strong_count() == 0
    }
}

impl Default for VerifiedTokens {
    fn default() -> Self {
        VerifiedTokens {
            tokens: TokenCache::new(MAX_TOKENS, MAX_TOKENS_BYTES),
        }
    }
}

impl VerifiedTokens {
    /// The rules' look-up with this memory before it. `keys` are those of the snapshot that `rules`
    /// borrow from.
    pub fn before<'a>(
        &'a self,
        rules: &'a request::Context<'a>,
        keys: &'a Arc<KeySet>,
    ) -> impl TokenLookup + 'a {
        Remembering {
            tokens: self,
            rules,
            keys,
        }
    }

    fn facts(
        &self,
        rules: &request::Context<'_>,
        keys: &Arc<KeySet>,
        token: &str,
    ) -> Option<Arc<VerifiedAccessToken>> {
        // A request that began before a change of keys finds nothing of the others', and they
        // nothing of its own.
        let of_these_keys = |own: &Own| {
            std::ptr::eq(own.keys.as_ptr(), Arc::as_ptr(keys)).then(|| own.facts.clone())
        };
        if let Some(Some(facts)) = self.tokens.find(token, 0, of_these_keys) {
            return Some(facts);
        }
        let facts = Arc::new(access_token::verify(rules, token)?);
        let own = Own {
            token: token.into(),
            facts: facts.clone(),
            keys: Arc::downgrade(keys),
        };
        self.tokens.insert(0, own, rules.now());
        Some(facts)
    }
}

struct Remembering<'a> {
    tokens: &'a VerifiedTokens,
    rules: &'a request::Context<'a>,
    keys: &'a Arc<KeySet>,
}

impl TokenLookup for Remembering<'_> {
    fn look_up(&self, token: &str) -> TokenState {
        match self.tokens.facts(self.rules, self.keys, token) {
            Some(facts) => access_token::judge(self.rules, facts),
            None => TokenState::Forged,
        }
    }
}
