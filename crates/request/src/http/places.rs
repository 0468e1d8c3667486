//! An index of places by the names and paths that realms are found at.
//!
//! A copy shares what it has in common with the one that it is made of, so that a place that comes
//! or goes among ten thousand copies a few hundred entries, and those who read the earlier one are
//! not disturbed.
use signet_oauth::registry::SharedMap;
use std::{collections::BTreeMap, sync::Arc};

/// Where a realm is found: at the authorities of its issuer and of its aliases, by the path of its
/// issuer, which is empty where it has none.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Address {
    names: Vec<String>,
    pub(super) prefix: String,
}

impl Address {
    /// The same name twice is one.
    pub(super) fn new(names: impl IntoIterator<Item = String>, prefix: &str) -> Address {
        let mut names: Vec<String> = names.into_iter().collect();
        names.sort_unstable();
        names.dedup();
        Address {
            names,
            prefix: prefix.to_owned(),
        }
    }

    fn depth(&self) -> usize {
        self.prefix.matches('/').count()
    }
}

/// What can be found. No two of an index have one rank.
pub(super) trait Ranked: Clone {
    /// Of two at one address the one with the least rank is found.
    fn rank(&self) -> (usize, &str);
}

/// Those at one address, the one that is found first: usually there is no other.
#[derive(Clone)]
struct Claims<P> {
    found: P,
    others: Vec<P>,
}

/// By the issuer's path.
#[derive(Clone)]
pub(super) struct Prefixes<P>(SharedMap<Claims<P>>);

impl<P> Default for Prefixes<P> {
    fn default() -> Prefixes<P> {
        Prefixes(SharedMap::default())
    }
}

impl<P: Ranked> Prefixes<P> {
    /// The place of this path.
    pub(super) fn get(&self, prefix: &str) -> Option<&P> {
        self.0.get(prefix).map(|claims| &claims.found)
    }

    fn put(&mut self, prefix: &str, place: &P) {
        let Some(claims) = self.0.get_mut(prefix) else {
            let claims = Claims {
                found: place.clone(),
                others: Vec::new(),
            };
            self.0.insert(prefix, claims);
            return;
        };
        let mut place = place.clone();
        if place.rank() < claims.found.rank() {
            std::mem::swap(&mut place, &mut claims.found);
        }
        let at = claims
            .others
            .partition_point(|one| one.rank() < place.rank());
        claims.others.insert(at, place);
    }

    fn take(&mut self, prefix: &str, place: &P) {
        let Some(claims) = self.0.get_mut(prefix) else {
            return;
        };
        if claims.found.rank() != place.rank() {
            claims.others.retain(|one| one.rank() != place.rank());
        } else if claims.others.is_empty() {
            self.0.remove(prefix);
        } else {
            claims.found = claims.others.remove(0);
        }
    }
}

/// See the module.
#[derive(Clone)]
pub(super) struct Index<P> {
    by_name: SharedMap<Arc<Prefixes<P>>>,
    /// The names of the one that answers for names that nobody has.
    names_of_first: Arc<[String]>,
    /// What shares a name with that one.
    nameless: Prefixes<P>,
    /// How many have a path of so many segments.
    depths: BTreeMap<usize, usize>,
}

impl<P: Ranked> Index<P> {
    /// Of one place, which answers for names that nobody has; as do those that share a name with
    /// it.
    pub(super) fn of(address: &Address, place: &P) -> Index<P> {
        let mut index = Index {
            by_name: SharedMap::default(),
            names_of_first: address.names.clone().into(),
            nameless: Prefixes::default(),
            depths: BTreeMap::new(),
        };
        index.put(address, place);
        index
    }

    /// A place comes.
    pub(super) fn put(&mut self, address: &Address, place: &P) {
        *self.depths.entry(address.depth()).or_default() += 1;
        for name in &address.names {
            if !self.by_name.contains_key(name) {
                self.by_name.insert(name, Arc::default());
            }
            if let Some(prefixes) = self.by_name.get_mut(name) {
                Arc::make_mut(prefixes).put(&address.prefix, place);
            }
        }
        if self.is_nameless(address) {
            self.nameless.put(&address.prefix, place);
        }
    }

    /// A place goes that came with this address.
    pub(super) fn take(&mut self, address: &Address, place: &P) {
        if let Some(count) = self.depths.get_mut(&address.depth()) {
            *count -= 1;
        }
        self.depths.retain(|_, count| *count > 0);
        for name in &address.names {
            let Some(prefixes) = self.by_name.get_mut(name) else {
                continue;
            };
            let prefixes = Arc::make_mut(prefixes);
            prefixes.take(&address.prefix, place);
            if prefixes.0.is_empty() {
                self.by_name.remove(name);
            }
        }
        if self.is_nameless(address) {
            self.nameless.take(&address.prefix, place);
        }
    }

    fn is_nameless(&self, address: &Address) -> bool {
        let mut names = address.names.iter();
        names.any(|name| self.names_of_first.contains(name))
    }

    /// The places at a name; where nobody has it, or none is named, those of the first.
    pub(super) fn at(&self, name: Option<&str>) -> &Prefixes<P> {
        let of_name = name.and_then(|name| self.by_name.get(name));
        of_name.map_or(&self.nameless, |of_name| of_name)
    }

    /// Segments of the longest path: a request's path is not looked at further.
    pub(super) fn deepest(&self) -> usize {
        self.depths.keys().next_back().copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[derive(Clone, PartialEq, Eq, Debug)]
    struct Numbered(usize);

    impl Ranked for Numbered {
        fn rank(&self) -> (usize, &str) {
            (self.0, "")
        }
    }

    fn address(names: &[&str], prefix: &str) -> Address {
        Address::new(names.iter().map(|name| (*name).to_owned()), prefix)
    }

    /// Everything that an index says.
    type Said = (
        BTreeSet<(String, String, usize, Vec<usize>)>,
        BTreeSet<(String, usize, Vec<usize>)>,
        BTreeMap<usize, usize>,
    );

    fn said(index: &Index<Numbered>) -> Said {
        let of = |prefixes: &Prefixes<Numbered>| -> Vec<(String, usize, Vec<usize>)> {
            let all = prefixes.0.iter();
            all.map(|(prefix, claims)| {
                let others = claims.others.iter().map(|one| one.0).collect();
                (prefix.to_string(), claims.found.0, others)
            })
            .collect()
        };
        let by_name = index.by_name.iter().flat_map(|(name, prefixes)| {
            // A name without a place would hide those of names that nobody has.
            assert!(!prefixes.0.is_empty(), "{name}");
            let all = of(prefixes).into_iter();
            all.map(move |(prefix, found, others)| (name.to_string(), prefix, found, others))
        });
        (
            by_name.collect(),
            of(&index.nameless).into_iter().collect(),
            index.depths.clone(),
        )
    }

    #[test]
    fn an_index_after_any_changes_is_the_one_made_from_nothing() {
        let first = (address(&["id", "mtls"], ""), Numbered(0));
        for seed in 1..60_u64 {
            let mut seed = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let mut below = |bound: u64| {
                // Marsaglia's xorshift64.
                seed ^= seed << 13;
                seed ^= seed >> 7;
                seed ^= seed << 17;
                (seed >> 11) % bound
            };
            let mut index = Index::of(&first.0, &first.1);
            let mut there: BTreeMap<usize, Address> = BTreeMap::new();
            for step in 0..150 {
                let earlier = (index.clone(), said(&index));
                let number = 1 + usize::try_from(below(9)).unwrap();
                match there.remove(&number) {
                    Some(address) => index.take(&address, &Numbered(number)),
                    None => {
                        // Some share a name with the first, some with each other, some a place.
                        let names = [&["id", "mtls"][..], &["a"], &["a", "b"], &["b", "id"]];
                        let names = names[usize::try_from(below(4)).unwrap()];
                        let prefixes = ["", "/a", "/a/b", "/c/d/e"];
                        let prefix = prefixes[usize::try_from(below(4)).unwrap()];
                        let address = address(names, prefix);
                        index.put(&address, &Numbered(number));
                        there.insert(number, address);
                    }
                }
                // In another order than they came in.
                let mut made = Index::of(&first.0, &first.1);
                let mut all: Vec<_> = there.iter().collect();
                if step % 2 == 0 {
                    all.reverse();
                }
                for (number, address) in all {
                    made.put(address, &Numbered(*number));
                }
                assert_eq!(said(&index), said(&made));
                // Whoever reads the earlier one reads what it said.
                assert_eq!(said(&earlier.0), earlier.1);
                // Of two at one place the first by rank is found.
                for (_, _, found, others) in said(&index).0 {
                    assert!(others.iter().all(|other| *other > found));
                }
            }
        }
    }

    #[test]
    fn one_place_among_ten_thousand_copies_a_shard() {
        let first = address(&["id"], "");
        for at in [
            &(|n: usize| address(&["id"], &format!("/r{n}"))) as &dyn Fn(usize) -> Address,
            &|n| Address::new([format!("r{n}.example")], ""),
        ] {
            let mut index = Index::of(&first, &Numbered(0));
            for n in 1..=10_000 {
                index.put(&at(n), &Numbered(n));
            }
            let before = index.clone();
            index.put(&at(10_001), &Numbered(10_001));
            let mut copied = index.by_name.copied_since(&before.by_name);
            for name in index.by_name.changes_since(&before.by_name) {
                let (Some(is), was) = (name.is, name.was) else {
                    panic!("nothing went");
                };
                let Some(was) = was else {
                    continue;
                };
                if !Arc::ptr_eq(is, was) {
                    copied += is.0.copied_since(&was.0);
                }
            }
            copied += index.nameless.0.copied_since(&before.nameless.0);
            assert!(copied < 1500, "{copied}");
            index.take(&at(10_001), &Numbered(10_001));
            assert_eq!(said(&index), said(&before));
        }
    }
}
