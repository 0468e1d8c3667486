//! Access tokens of our own whose signature held, so that asking again about the same token costs a
//! look-up.
//!
//! Kept in the cache of `signet-verify`, the one mechanism for tokens that verified
//! ([`signet_verify::cache`]): found by the whole token, so a forged body finds nothing (known
//! fault A11), bounded, and closed to tokens that did not verify. What is kept is only what never
//! changes while the keys stay ([`access_token::verify`]); end, client and revocation are judged
//! for every use. Each entry counts for the key set that verified it: a new set, one without a
//! withdrawn key among them, starts empty.
use crate::keys::KeySet;
use arc_swap::ArcSwapOption;
use signet_oauth::{
    access_token::{self, TokenLookup, TokenState, VerifiedAccessToken},
    request,
};
use signet_verify::cache::{Kept, TokenCache};
use std::sync::Arc;

/// Tokens of our own that are kept, about.
pub const MAX_TOKENS: usize = 8192;
/// Most bytes that they take together.
pub const MAX_TOKENS_BYTES: usize = 16 * 1024 * 1024;

/// The kept tokens of the process.
pub struct VerifiedTokens {
    tokens: TokenCache<Own>,
    /// The keys that verified those that were kept last.
    keys: ArcSwapOption<KeySet>,
}

struct Own {
    token: Box<str>,
    facts: Arc<VerifiedAccessToken>,
    keys: Arc<KeySet>,
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
        now >= self.facts.exp
    }
}

impl Default for VerifiedTokens {
    fn default() -> Self {
        VerifiedTokens {
            tokens: TokenCache::new(MAX_TOKENS, MAX_TOKENS_BYTES),
            keys: ArcSwapOption::empty(),
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
        let of_these_keys = |own: &Own| Arc::ptr_eq(&own.keys, keys).then(|| own.facts.clone());
        if let Some(Some(facts)) = self.tokens.find(token, 0, of_these_keys) {
            return Some(facts);
        }
        let facts = Arc::new(access_token::verify(rules, token)?);
        self.forget_others(keys);
        let own = Own {
            token: token.into(),
            facts: facts.clone(),
            keys: keys.clone(),
        };
        self.tokens.insert(0, own, rules.now());
        Some(facts)
    }

    /// What other keys verified is of no use any more, and would keep those keys in memory.
    fn forget_others(&self, keys: &Arc<KeySet>) {
        let same = |own: &Arc<KeySet>| Arc::ptr_eq(own, keys);
        if !self.keys.load().as_ref().is_some_and(same) {
            self.keys.store(Some(keys.clone()));
            self.tokens.clear();
        }
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
