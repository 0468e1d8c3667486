//! Verified tokens, kept so that the next request with the same token costs a comparison.
//!
//! - Found by a keyed hash, confirmed by comparing the whole token: a forged body finds nothing (known fault V2).
//! - Bound to the policy that accepted the token: a hit never skips a stricter one (V1).
//! - An entry holds the key that verified it, and ends with that key, with its issuer, and with its `exp` (V12).
//! - Only tokens that verified get in. There is nothing about refused ones, so nobody can fill it with junk.
//! - Eight places for each hash value, and a second chance for those that were hit: many tokens that come once push each other out,
//!   not those that come again. The key is random, so nobody can aim at a place.
//! - Looking up takes no lock and does not allocate.

use crate::{Verified, keys::PreparedKey};
use arc_swap::ArcSwapOption;
use std::sync::{
    Arc,
    atomic::{AtomicU8, AtomicU64, AtomicUsize, Ordering::Relaxed},
};

const WAYS: usize = 8;
/// Longer tokens are not kept: an ML-DSA-44 token fits.
const MAX_TOKEN: usize = 8 * 1024;

/// One token that verified.
pub(crate) struct Entry {
    policy: usize,
    pub(crate) issuer: usize,
    /// None for a token whose keys are the policy's own (compact tokens)
    key: Option<Arc<PreparedKey>>,
    /// Unix seconds from which the entry is worthless
    until: u64,
    pub(crate) verified: Verified,
}

impl Entry {
    pub(crate) fn new(
        policy: usize,
        issuer: usize,
        key: Option<Arc<PreparedKey>>,
        until: u64,
        verified: Verified,
    ) -> Entry {
        Entry {
            policy,
            issuer,
            key,
            until,
            verified,
        }
    }

    fn weight(&self) -> usize {
        size_of::<Entry>() + self.verified.text().len() + self.verified.claims().weight() + 64
    }

    pub(crate) fn key_is_withdrawn(&self) -> bool {
        self.key.as_ref().is_some_and(|key| key.is_withdrawn())
    }

    fn is_dead(&self, now: u64) -> bool {
        now >= self.until || self.key_is_withdrawn()
    }
}

/// Eight places, their hashes in one cache line.
#[derive(Default)]
#[repr(align(64))]
struct Set {
    tags: [AtomicU64; WAYS],
    places: [ArcSwapOption<Entry>; WAYS],
    /// a bit for each place that was hit since the last sweep of the set
    recent: AtomicU8,
}

/// See the module.
pub(crate) struct Cache {
    sets: Box<[Set]>,
    key: HashKey,
    bytes: AtomicUsize,
    max_bytes: usize,
}

impl Cache {
    /// Room for about `entries` tokens, and at most `max_bytes` of them together. No entries: no cache.
    pub(crate) fn new(entries: usize, max_bytes: usize) -> Cache {
        let sets = match entries {
            0 => 0,
            entries => entries.div_ceil(WAYS).next_power_of_two(),
        };
        Cache {
            sets: (0..sets).map(|_| Set::default()).collect(),
            key: HashKey::random(),
            bytes: AtomicUsize::new(0),
            max_bytes,
        }
    }

    fn set(&self, hash: u64) -> Option<&Set> {
        // A power of two, or none at all. The tags use the whole hash.
        self.sets
            .get(hash as usize & self.sets.len().wrapping_sub(1))
    }

    /// Gives what `with` makes of the token's entry.
    pub(crate) fn find<T>(
        &self,
        token: &str,
        policy: usize,
        with: impl FnOnce(&Entry) -> T,
    ) -> Option<T> {
        let hash = self.key.hash(token.as_bytes(), policy);
        let set = self.set(hash)?;
        for (way, tag) in set.tags.iter().enumerate() {
            if tag.load(Relaxed) != hash {
                continue;
            }
            let place = set.places[way].load();
            if let Some(entry) = &*place
                && entry.policy == policy
                && entry.verified.text() == token
            {
                let bit = 1 << way;
                if set.recent.load(Relaxed) & bit == 0 {
                    set.recent.fetch_or(bit, Relaxed);
                }
                return Some(with(entry));
            }
        }
        None
    }

    /// Keeps a token that verified, if there is a place for it.
    pub(crate) fn insert(&self, entry: Entry, now: u64) {
        let token = entry.verified.text();
        if token.len() > MAX_TOKEN {
            return;
        }
        let hash = self.key.hash(token.as_bytes(), entry.policy);
        let Some(set) = self.set(hash) else {
            return;
        };
        let way = Self::victim(set, hash, now);
        let weight = entry.weight();
        let old = set.places[way]
            .load()
            .as_ref()
            .map_or(0, |entry| entry.weight());
        if self.bytes.load(Relaxed).saturating_sub(old) + weight > self.max_bytes {
            return;
        }
        self.bytes.fetch_add(weight, Relaxed);
        let replaced = set.places[way].swap(Some(Arc::new(entry)));
        if let Some(replaced) = replaced {
            self.bytes.fetch_sub(replaced.weight(), Relaxed);
        }
        set.tags[way].store(hash, Relaxed);
        set.recent.fetch_and(!(1 << way), Relaxed);
    }

    fn victim(set: &Set, hash: u64, now: u64) -> usize {
        let worthless = |way: &usize| {
            let place = set.places[*way].load();
            place.as_ref().is_none_or(|entry| entry.is_dead(now))
        };
        if let Some(way) = (0..WAYS).find(worthless) {
            return way;
        }
        // Any place that was not hit of late, starting anywhere; if all were, each loses its second chance.
        let start = (hash >> 56) as usize;
        let recent = set.recent.load(Relaxed);
        let mut ways = (0..WAYS).map(|step| (start + step) % WAYS);
        ways.find(|way| recent & (1 << way) == 0)
            .unwrap_or_else(|| {
                set.recent.store(0, Relaxed);
                start % WAYS
            })
    }

    /// Forgets everything.
    pub(crate) fn clear(&self) {
        for set in &self.sets {
            for place in &set.places {
                if let Some(old) = place.swap(None) {
                    self.bytes.fetch_sub(old.weight(), Relaxed);
                }
            }
        }
    }
}

/// A keyed hash: folded multiplications over sixteen bytes at a time. It need not resist more than aiming at places from outside, for a
/// match is confirmed by the token itself.
struct HashKey([u64; 4]);

impl HashKey {
    fn random() -> HashKey {
        let mut key = [0; 4];
        for word in &mut key {
            *word = u64::from_le_bytes(signet_crypto::random::bytes()) | 1;
        }
        HashKey(key)
    }

    fn hash(&self, text: &[u8], policy: usize) -> u64 {
        let [k0, k1, k2, k3] = self.0;
        let fold = |a: u64, b: u64| {
            let product = u128::from(a) * u128::from(b);
            (product as u64) ^ (product >> 64) as u64
        };
        let word = |bytes: &[u8; 8]| u64::from_le_bytes(*bytes);
        let (blocks, rest) = text.as_chunks::<32>();
        let (mut left, mut right) = (k0 ^ text.len() as u64, k1 ^ policy as u64);
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
