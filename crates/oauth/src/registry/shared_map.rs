//! A map whose copies share what they have in common.
//!
//! Every change of the registry makes a new snapshot of it, and the old one goes on being read. A
//! plain map would be copied whole for that: with a hundred thousand clients, milliseconds of
//! every registration. Here the entries are in shards of a few hundred; a copy shares all of them,
//! and a change copies the one that it falls into.
use std::{
    collections::{HashMap, hash_map},
    sync::Arc,
};

/// Entries of a shard on average, at most: what a change copies.
const SHARD: usize = 256;

/// See the module. By name.
#[derive(Clone)]
pub struct SharedMap<V> {
    /// As many as a power of two.
    shards: Vec<Arc<HashMap<Arc<str>, V>>>,
    len: usize,
}

impl<V> Default for SharedMap<V> {
    fn default() -> SharedMap<V> {
        SharedMap {
            shards: vec![Arc::default()],
            len: 0,
        }
    }
}

/// A name whose entry may be another one in two maps.
pub struct MayDiffer<'a, V> {
    /// The name.
    pub name: &'a str,
    /// Its entry in the earlier map.
    pub was: Option<&'a V>,
    /// Its entry in the later one.
    pub is: Option<&'a V>,
}

/// Which of `count` shards a name is in. Names differ in their ends, where their random or
/// numbered part is; who chooses names that do not has made larger copies, and nothing else.
fn place(name: &str, count: usize) -> usize {
    /// 2^64 divided by the golden ratio: Fibonacci hashing.
    const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;
    let tail = name.bytes().rev().take(16);
    let mixed = tail.fold(name.len() as u64, |mixed, byte| {
        (mixed ^ u64::from(byte))
            .wrapping_mul(SPREAD)
            .rotate_left(23)
    });
    // A power of two: the mask has all of its bits.
    (mixed.wrapping_mul(SPREAD) >> 32) as usize & (count - 1)
}

impl<V> SharedMap<V> {
    /// The entry of a name.
    pub fn get(&self, name: &str) -> Option<&V> {
        self.shards[place(name, self.shards.len())].get(name)
    }

    /// Whether there is an entry of this name.
    pub fn contains_key(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// All entries, in no order.
    pub fn iter(&self) -> Iter<'_, V> {
        Iter {
            shards: self.shards.iter(),
            shard: None,
        }
    }

    /// Every name whose entry may differ from the one in `before`. Shards that both share are not
    /// looked into: between two copies with a few changes this costs what the changes cost, however
    /// many entries there are. Where the number of shards has changed, all are.
    pub fn changes_since<'a>(
        &'a self,
        before: &'a SharedMap<V>,
    ) -> impl Iterator<Item = MayDiffer<'a, V>> {
        let now = self.apart_from(before).flat_map(|shard| shard.iter());
        let now = now.map(|(name, is)| MayDiffer {
            name,
            was: before.get(name),
            is: Some(is),
        });
        let gone = before.apart_from(self).flat_map(|shard| shard.iter());
        let gone = gone.filter(|(name, _)| !self.contains_key(name));
        now.chain(gone.map(|(name, was)| MayDiffer {
            name,
            was: Some(was),
            is: None,
        }))
    }

    /// How many entries are in shards that `before` does not share: what the changes between the
    /// two have copied, and what comparing them looks at.
    pub fn copied_since(&self, before: &SharedMap<V>) -> usize {
        self.apart_from(before).map(|shard| shard.len()).sum()
    }

    /// The shards that the other map does not share.
    fn apart_from<'a>(
        &'a self,
        other: &'a SharedMap<V>,
    ) -> impl Iterator<Item = &'a Arc<HashMap<Arc<str>, V>>> {
        let comparable = self.shards.len() == other.shards.len();
        let shards = self.shards.iter().enumerate();
        let apart = shards.filter(move |(at, shard)| {
            let same = other.shards.get(*at);
            !(comparable && same.is_some_and(|same| Arc::ptr_eq(same, shard)))
        });
        apart.map(|(_, shard)| shard)
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it has no entries.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

impl<V: Clone> SharedMap<V> {
    /// Puts an entry in place of the one that was there, which it gives.
    pub fn insert(&mut self, name: &str, value: V) -> Option<V> {
        if self.len >= self.shards.len() * SHARD {
            self.grow();
        }
        let at = place(name, self.shards.len());
        let shard = Arc::make_mut(&mut self.shards[at]);
        let before = match shard.get_mut(name) {
            Some(known) => Some(std::mem::replace(known, value)),
            None => shard.insert(name.into(), value),
        };
        self.len += usize::from(before.is_none());
        before
    }

    /// The entry of a name, to be changed in this map and in no copy of it.
    pub fn get_mut(&mut self, name: &str) -> Option<&mut V> {
        let at = place(name, self.shards.len());
        // What is not there costs no copy.
        self.shards[at].get(name)?;
        Arc::make_mut(&mut self.shards[at]).get_mut(name)
    }

    /// Removes an entry, and gives it.
    pub fn remove(&mut self, name: &str) -> Option<V> {
        let at = place(name, self.shards.len());
        // What is not there costs no copy.
        self.shards[at].get(name)?;
        let removed = Arc::make_mut(&mut self.shards[at]).remove(name);
        self.len -= usize::from(removed.is_some());
        removed
    }

    /// Twice as many shards.
    fn grow(&mut self) {
        let count = self.shards.len() * 2;
        let mut shards: Vec<HashMap<Arc<str>, V>> = (0..count).map(|_| HashMap::new()).collect();
        for (name, value) in self.shards.iter().flat_map(|shard| shard.iter()) {
            shards[place(name, count)].insert(name.clone(), value.clone());
        }
        self.shards = shards.into_iter().map(Arc::new).collect();
    }
}

/// See [`SharedMap::iter`].
pub struct Iter<'a, V> {
    shards: std::slice::Iter<'a, Arc<HashMap<Arc<str>, V>>>,
    shard: Option<hash_map::Iter<'a, Arc<str>, V>>,
}

impl<'a, V> Iterator for Iter<'a, V> {
    type Item = (&'a Arc<str>, &'a V);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(entry) = self.shard.as_mut().and_then(Iterator::next) {
                return Some(entry);
            }
            self.shard = Some(self.shards.next()?.iter());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_of_a_copy_leaves_the_other_and_copies_one_shard() {
        let mut first = SharedMap::default();
        for n in 0..20_000_u32 {
            assert_eq!(first.insert(&format!("client-{n}"), n), None);
        }
        assert_eq!(first.len(), 20_000);
        let mut second = first.clone();
        assert_eq!(second.insert("client-7", 0), Some(7));
        assert_eq!(second.remove("client-8"), Some(8));
        assert_eq!(second.remove("no client"), None);
        assert_eq!(
            (first.get("client-7"), first.get("client-8")),
            (Some(&7), Some(&8))
        );
        assert_eq!(
            (second.get("client-7"), second.get("client-8")),
            (Some(&0), None)
        );
        assert_eq!((second.len(), second.iter().count()), (19_999, 19_999));
        let pairs = first.shards.iter().zip(&second.shards);
        let copied = pairs.filter(|(a, b)| !Arc::ptr_eq(a, b)).count();
        assert!((1..=2).contains(&copied), "{copied}");
    }

    #[test]
    fn what_differs_is_found_whatever_was_done_and_costs_what_was_done() {
        let numbered = |n: u32| format!("realm-{n}");
        let mut map = SharedMap::default();
        for n in 0..10_000 {
            map.insert(&numbered(n), n);
        }
        let before = map.clone();
        map.insert(&numbered(10_001), 0);
        // One shard of the forty: the rest is neither copied nor compared.
        assert!(map.copied_since(&before) < 2 * SHARD);
        assert!(map.changes_since(&before).count() < 2 * SHARD);
        // Over any changes, those that double the shards and those that leave few entries too.
        let (mut seed, mut earlier) = (1_u64, SharedMap::default());
        for round in 0..40_u32 {
            let mut later = earlier.clone();
            for _ in 0..(round % 7) * 60 {
                // Marsaglia's xorshift64.
                seed ^= seed << 13;
                seed ^= seed >> 7;
                seed ^= seed << 17;
                let name = numbered((seed % 3000) as u32);
                match seed >> 60 {
                    0..6 => drop(later.remove(&name)),
                    _ => drop(later.insert(&name, (seed >> 32) as u32)),
                }
            }
            let all = |map: &SharedMap<u32>| -> std::collections::BTreeMap<String, u32> {
                map.iter().map(|(name, v)| (name.to_string(), *v)).collect()
            };
            // What is said of each name, put over what was, makes what is.
            let mut followed = all(&earlier);
            for MayDiffer { name, was, is } in later.changes_since(&earlier) {
                assert_eq!(was, earlier.get(name));
                match is {
                    Some(is) => drop(followed.insert(name.to_owned(), *is)),
                    None => drop(followed.remove(name)),
                }
            }
            assert_eq!(followed, all(&later));
            earlier = later;
        }
        assert!(earlier.len() > SHARD);
    }

    #[test]
    fn shards_stay_small_for_random_and_for_numbered_names() {
        let random = || signet_encoding::base64url::encode(&signet_crypto::random::bytes::<16>());
        for name in [
            &(|n: usize| format!("service-{n:06}")) as &dyn Fn(usize) -> String,
            &|_| random(),
            &|n| format!("https://api-{n}.example.com/"),
        ] {
            let mut map = SharedMap::default();
            for n in 0..50_000 {
                map.insert(&name(n), ());
            }
            let largest = map.shards.iter().map(|shard| shard.len()).max();
            assert!(largest.is_some_and(|len| len < 2 * SHARD), "{largest:?}");
        }
    }
}
