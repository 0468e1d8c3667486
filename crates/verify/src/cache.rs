//! Tokens that verified, kept so that the next request with the same token costs a comparison.
//!
//! One mechanism for whoever keeps such tokens: the verifier, and Signet's server for the tokens
//! that it issued itself. What is kept with a token, and when that ends, is the user's ([`Kept`]).
//!
//! - Found by a keyed hash, confirmed by comparing the whole token: a forged body finds nothing
//!   (known faults V2 and A11).
//! - Bound to a scope, the policy that accepted the token: a hit never skips a stricter one (V1).
//! - Only tokens that verified get in. There is nothing about refused ones, so nobody can fill it
//!   with junk.
//! - Eight places for each hash value, and a second chance for those that were hit: many tokens
//!   that come once push each other out, not those that come again. The key is random, so nobody
//!   can aim at a place.
//! - Looking up takes no lock and does not allocate.

use arc_swap::ArcSwapOption;
use std::sync::{
    Arc,
    atomic::{AtomicU8, AtomicU64, AtomicUsize, Ordering::Relaxed},
};

const WAYS: usize = 8;
/// Longest token that is kept, in bytes: one signed with ML-DSA-87 fits.
pub const MAX_KEPT_TOKEN_BYTES: usize = 8 * 1024;

/// What is kept for one token.
pub trait Kept: Send + Sync {
    /// The token, whole.
    fn token(&self) -> &str;

    /// Bytes that keeping it takes, the token among them.
    fn weight(&self) -> usize;

    /// Whether it is worth nothing any more, so that its place may be given away first. `now`: Unix
    /// seconds.
    fn is_dead(&self, now: u64) -> bool;
}

struct Entry<T> {
    scope: usize,
    /// as it was when the entry was made, so that what is added is what is taken away
    weight: usize,
    kept: T,
}

/// Eight places, their hashes in one cache line.
#[repr(align(64))]
struct Set<T> {
    tags: [AtomicU64; WAYS],
    places: [ArcSwapOption<Entry<T>>; WAYS],
    /// a bit for each place that was hit since the last sweep of the set
    recent: AtomicU8,
}

impl<T> Default for Set<T> {
    fn default() -> Self {
        Set {
            tags: Default::default(),
            places: Default::default(),
            recent: AtomicU8::new(0),
        }
    }
}

/// See the module.
pub struct TokenCache<T> {
    sets: Box<[Set<T>]>,
    key: HashKey,
    bytes: AtomicUsize,
    max_bytes: usize,
}

impl<T: Kept> TokenCache<T> {
    /// Room for about `entries` tokens, and at most `max_bytes` of them together. No entries: no
    /// cache.
    pub fn new(entries: usize, max_bytes: usize) -> TokenCache<T> {
        let sets = match entries {
            0 => 0,
            entries => entries.div_ceil(WAYS).next_power_of_two(),
        };
        TokenCache {
            sets: (0..sets).map(|_| Set::default()).collect(),
            key: HashKey::random(),
            bytes: AtomicUsize::new(0),
            max_bytes,
        }
    }

    fn set(&self, hash: u64) -> Option<&Set<T>> {
        // A power of two, or none at all. The tags use the whole hash.
        self.sets
            .get(hash as usize & self.sets.len().wrapping_sub(1))
    }

    /// Gives what `with` makes of what is kept for this token in this scope.
    pub fn find<R>(&self, token: &str, scope: usize, with: impl FnOnce(&T) -> R) -> Option<R> {
        if token.len() > MAX_KEPT_TOKEN_BYTES || self.sets.is_empty() {
            return None;
        }
        let hash = self.key.hash(token.as_bytes(), scope);
        let set = self.set(hash)?;
        for (way, tag) in set.tags.iter().enumerate() {
            if tag.load(Relaxed) != hash {
                continue;
            }
            let place = set.places[way].load();
            if let Some(entry) = &*place
                && entry.scope == scope
                && entry.kept.token() == token
            {
                let bit = 1 << way;
                if set.recent.load(Relaxed) & bit == 0 {
                    set.recent.fetch_or(bit, Relaxed);
                }
                return Some(with(&entry.kept));
            }
        }
        None
    }

    /// Keeps a token that verified, if there is a place for it.
    pub fn insert(&self, scope: usize, kept: T, now: u64) {
        let token = kept.token();
        if token.len() > MAX_KEPT_TOKEN_BYTES || self.sets.is_empty() {
            return;
        }
        let hash = self.key.hash(token.as_bytes(), scope);
        let Some(set) = self.set(hash) else {
            return;
        };
        let way = Self::victim(set, hash, now);
        // The entry itself, its counts, and what an allocation costs beside it.
        let weight = kept.weight() + size_of::<Entry<T>>() + 64;
        let old = set.places[way]
            .load()
            .as_ref()
            .map_or(0, |entry| entry.weight);
        if self.bytes.load(Relaxed).saturating_sub(old) + weight > self.max_bytes {
            return;
        }
        self.bytes.fetch_add(weight, Relaxed);
        let entry = Entry {
            scope,
            weight,
            kept,
        };
        let replaced = set.places[way].swap(Some(Arc::new(entry)));
        if let Some(replaced) = replaced {
            self.bytes.fetch_sub(replaced.weight, Relaxed);
        }
        set.tags[way].store(hash, Relaxed);
        set.recent.fetch_and(!(1 << way), Relaxed);
    }

    fn victim(set: &Set<T>, hash: u64, now: u64) -> usize {
        let worthless = |way: &usize| {
            let place = set.places[*way].load();
            place.as_ref().is_none_or(|entry| entry.kept.is_dead(now))
        };
        if let Some(way) = (0..WAYS).find(worthless) {
            return way;
        }
        // Any place that was not hit of late, starting anywhere; if all were, each loses its second
        // chance.
        let start = (hash >> 56) as usize;
        let recent = set.recent.load(Relaxed);
        let mut ways = (0..WAYS).map(|step| (start + step) % WAYS);
        ways.find(|way| recent & (1 << way) == 0)
            .unwrap_or_else(|| {
                set.recent.store(0, Relaxed);
                start % WAYS
            })
    }

    /// Bytes that everything kept takes together.
    pub fn bytes(&self) -> usize {
        self.bytes.load(Relaxed)
    }

    /// Forgets everything.
    pub fn clear(&self) {
        for set in &self.sets {
            for place in &set.places {
                if let Some(old) = place.swap(None) {
                    self.bytes.fetch_sub(old.weight, Relaxed);
                }
            }
        }
    }
}

/// A keyed hash: folded multiplications over sixteen bytes at a time. It need not resist more than
/// aiming at places from outside, for a match is confirmed by the token itself.
struct HashKey([u64; 4]);

impl HashKey {
    fn random() -> HashKey {
        let mut key = [0; 4];
        for word in &mut key {
            *word = u64::from_le_bytes(signet_crypto::random::bytes()) | 1;
        }
        HashKey(key)
    }

    fn hash(&self, text: &[u8], scope: usize) -> u64 {
        let [k0, k1, k2, k3] = self.0;
        let fold = |a: u64, b: u64| {
            let product = u128::from(a) * u128::from(b);
            (product as u64) ^ (product >> 64) as u64
        };
        let word = |bytes: &[u8; 8]| u64::from_le_bytes(*bytes);
        let (blocks, rest) = text.as_chunks::<32>();
        let (mut left, mut right) = (k0 ^ text.len() as u64, k1 ^ scope as u64);
        for block in blocks {
            let [a, b, c, d] = block.as_chunks::<8>().0 else {
                continue; // 32 bytes are four words
            };
            left = fold(word(a) ^ k2 ^ left, word(b) ^ k0);
            right = fold(word(c) ^ k3 ^ right, word(d) ^ k1);
        }
        let mut last = [0; 32];
        last[..rest.len()].copy_from_slice(rest);
        if let [a, b, c, d] = last.as_chunks::<8>().0 {
            left = fold(word(a) ^ k2 ^ left, word(b) ^ k0);
            right = fold(word(c) ^ k3 ^ right, word(d) ^ k1);
        }
        fold(left ^ k3, right ^ k2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Text(String, u64);
    impl Kept for Text {
        fn token(&self) -> &str {
            &self.0
        }
        fn weight(&self) -> usize {
            self.0.capacity()
        }
        fn is_dead(&self, now: u64) -> bool {
            now >= self.1
        }
    }

    fn keep(cache: &TokenCache<Text>, token: &str, end: u64) {
        cache.insert(0, Text(token.to_owned(), end), 0);
    }
    fn has(cache: &TokenCache<Text>, token: &str) -> bool {
        cache.find(token, 0, |_| ()).is_some()
    }

    #[test]
    fn a_token_is_found_whole_and_in_its_scope() {
        let cache = TokenCache::new(64, 1 << 20);
        keep(&cache, "header.payload.signature", 10);
        assert!(has(&cache, "header.payload.signature"));
        for other in ["header.payload.signaturf", "header.payload", "", "h"] {
            assert!(!has(&cache, other), "{other}");
        }
        assert!(cache.find("header.payload.signature", 1, |_| ()).is_none());
        cache.clear();
        assert!(!has(&cache, "header.payload.signature"));
        assert_eq!(cache.bytes(), 0);
    }

    #[test]
    fn however_many_come_their_number_and_bytes_are_bounded() {
        let cache = TokenCache::new(64, 8_000);
        for n in 0..10_000 {
            keep(&cache, &format!("token-{n}-{}", "x".repeat(n % 100)), 10);
            assert!(cache.bytes() <= 8_000);
        }
        let kept =
            (0..10_000).filter(|n| has(&cache, &format!("token-{n}-{}", "x".repeat(n % 100))));
        assert!((1..=64).contains(&kept.count()));
        keep(&cache, &"x".repeat(MAX_KEPT_TOKEN_BYTES + 1), 10);
        assert!(!has(&cache, &"x".repeat(MAX_KEPT_TOKEN_BYTES + 1)));
        let none = TokenCache::new(0, 1 << 20);
        keep(&none, "token", 10);
        assert!(!has(&none, "token"));
    }

    #[test]
    fn those_that_come_again_stay_while_thousands_come_once() {
        let cache = TokenCache::new(256, 1 << 20);
        let regulars: Vec<String> = (0..32).map(|n| format!("regular-{n}")).collect();
        for token in &regulars {
            keep(&cache, token, 10);
        }
        let mut lost = 0;
        for n in 0..5_000 {
            keep(&cache, &format!("once-{n}"), 10);
            for token in &regulars {
                if !has(&cache, token) {
                    lost += 1;
                    keep(&cache, token, 10);
                }
            }
        }
        // A set whose eight places were all hit loses one; 32 regulars in 32 sets of 8 are rarely
        // that many in one.
        assert!(lost < 500, "{lost} of 160,000");
    }

    #[test]
    fn what_has_ended_gives_its_place_away_first() {
        let cache = TokenCache::new(8, 1 << 20);
        for n in 0..8 {
            keep(&cache, &format!("token-{n}"), if n == 3 { 5 } else { 100 });
        }
        cache.insert(0, Text("new".to_owned(), 100), 5);
        assert!(has(&cache, "new") && !has(&cache, "token-3"));
        assert!(
            (0..8)
                .filter(|n| has(&cache, &format!("token-{n}")))
                .count()
                == 7
        );
    }
}
