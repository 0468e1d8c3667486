//! Access tokens of our own whose signature held, so that asking again about the same token costs a look-up.
//!
//! Kept is only what never changes while the keys stay ([`access_token::verify`]); end, client and revocation are judged for
//! every use. The whole token is the key, so a forged body finds nothing (known fault A11), and a token that did not verify
//! is not kept, so nobody fills the memory with junk. A new key set, a withdrawn key among them, starts empty.
//!
//! Two generations bound the memory: when the young one is full it becomes the old one, and what is asked for again moves
//! back into the young. Looking up takes no lock.
use crate::keys::KeySet;
use arc_swap::ArcSwap;
use signet_oauth::{
    access_token::{self, AccessTokenFacts, TokenLookup, TokenState},
    request,
};
use std::sync::Arc;

/// Most tokens of one generation.
pub const MAX_TOKENS: usize = 4096;
/// Longest token that is kept, in bytes: one signed with ML-DSA-87 fits.
pub const MAX_TOKEN_BYTES: usize = 8 * 1024;

type Tokens = papaya::HashMap<Box<str>, Arc<AccessTokenFacts>>;

/// The kept tokens of the process.
#[derive(Default)]
pub struct VerifiedTokens(ArcSwap<Generations>);

#[derive(Default)]
struct Generations {
    /// The keys that verified them all.
    keys: Option<Arc<KeySet>>,
    young: Arc<Tokens>,
    old: Arc<Tokens>,
}

impl VerifiedTokens {
    /// The rules' look-up with this memory before it. `keys` are those of the snapshot that `rules` borrow from.
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
    ) -> Option<Arc<AccessTokenFacts>> {
        let Some(kept) = self.of(keys) else {
            return access_token::verify(rules, token).map(Arc::new);
        };
        if let Some(facts) = kept.young.pin().get(token) {
            return Some(facts.clone());
        }
        let before = kept.old.pin().get(token).cloned();
        let facts = match before {
            Some(facts) => facts,
            None => Arc::new(access_token::verify(rules, token)?),
        };
        if token.len() <= MAX_TOKEN_BYTES {
            if kept.young.len() >= MAX_TOKENS {
                self.0.store(Arc::new(Generations {
                    keys: Some(keys.clone()),
                    young: Arc::default(),
                    old: kept.young.clone(),
                }));
            } else {
                kept.young.pin().insert(token.into(), facts.clone());
            }
        }
        Some(facts)
    }

    /// What these keys verified; nothing while requests with other keys are still under way.
    fn of(&self, keys: &Arc<KeySet>) -> Option<Arc<Generations>> {
        let holds =
            |kept: &Generations| kept.keys.as_ref().is_some_and(|own| Arc::ptr_eq(own, keys));
        let kept = self.0.load_full();
        if holds(&kept) {
            return Some(kept);
        }
        self.0.store(Arc::new(Generations {
            keys: Some(keys.clone()),
            ..Generations::default()
        }));
        Some(self.0.load_full()).filter(|kept| holds(kept))
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
