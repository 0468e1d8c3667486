//! Sets of numbers that mostly follow each other.
use signet_cbor::{Decoder, Encoder, Error, Result};
use std::collections::BTreeMap;

/// A set of numbers, kept as ranges: first to last, both in it. The greatest number is in no set.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Ranges(BTreeMap<u64, u64>);

impl Ranges {
    /// The empty set.
    pub fn new() -> Ranges {
        Ranges::default()
    }

    /// The numbers from `first` to `last`, both in it.
    pub fn of(first: u64, last: u64) -> Ranges {
        let mut ranges = Ranges::new();
        ranges.insert_range(first, last);
        ranges
    }

    /// Whether nothing is in it.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The ranges, ascending.
    pub fn iter(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.0.iter().map(|(first, last)| (*first, *last))
    }

    /// How many ranges there are.
    pub fn pieces(&self) -> usize {
        self.0.len()
    }

    /// How many numbers are in it.
    pub fn count(&self) -> u64 {
        self.iter().map(|(first, last)| last - first + 1).sum()
    }

    /// Whether the number is in it.
    pub fn contains(&self, number: u64) -> bool {
        self.0
            .range(..=number)
            .next_back()
            .is_some_and(|(_, last)| *last >= number)
    }

    /// Puts a number into it.
    pub fn insert(&mut self, number: u64) {
        self.insert_range(number, number);
    }

    /// Puts a range into it; nothing, where `first` is beyond `last`.
    pub fn insert_range(&mut self, mut first: u64, mut last: u64) {
        last = last.min(u64::MAX - 1);
        if first > last {
            return;
        }
        // Everything that overlaps or touches becomes one range.
        while let Some((&from, &to)) = self.0.range(..=last + 1).next_back() {
            if to + 1 < first {
                break;
            }
            first = first.min(from);
            last = last.max(to);
            self.0.remove(&from);
        }
        self.0.insert(first, last);
    }

    /// Takes a number out of it.
    pub fn remove(&mut self, number: u64) {
        self.remove_range(number, number);
    }

    /// Takes a range out of it.
    pub fn remove_range(&mut self, first: u64, last: u64) {
        while let Some((&from, &to)) = self.0.range(..=last).next_back() {
            if to < first {
                break;
            }
            self.0.remove(&from);
            if to > last {
                self.0.insert(last + 1, to);
            }
            if from < first {
                self.0.insert(from, first - 1);
            }
        }
    }

    /// Puts all of the other one into it.
    pub fn join(&mut self, other: &Ranges) {
        for (first, last) in other.iter() {
            self.insert_range(first, last);
        }
    }

    /// Takes all of the other one out of it.
    pub fn subtract(&mut self, other: &Ranges) {
        for (first, last) in other.iter() {
            // Only where there is something: the other set may be much longer.
            self.remove_range(first, last);
        }
    }

    /// Whether all of the other one is in it.
    pub fn covers(&self, other: &Ranges) -> bool {
        other.iter().all(|(first, last)| {
            self.0
                .range(..=first)
                .next_back()
                .is_some_and(|(_, to)| *to >= last)
        })
    }

    /// Appends it.
    pub(crate) fn write(&self, out: &mut Encoder) {
        out.array(self.0.len());
        for (first, last) in self.iter() {
            out.array(2).uint(first).uint(last);
        }
    }

    /// Reads ranges that ascend and do not touch, so that a set has one encoding.
    pub(crate) fn read(d: &mut Decoder<'_>) -> Result<Ranges> {
        let mut beyond: Option<u64> = None;
        let pairs = d.list(usize::MAX, |d| {
            d.tuple(2, |d| {
                let (first, last) = (d.uint()?, d.uint()?);
                let ascends = beyond.is_none_or(|beyond| first > beyond);
                if !ascends || first > last || last == u64::MAX {
                    return Err(Error::NotCanonical);
                }
                beyond = Some(last + 1);
                Ok((first, last))
            })
        })?;
        Ok(Ranges(pairs.into_iter().collect()))
    }
}

impl FromIterator<u64> for Ranges {
    fn from_iter<I: IntoIterator<Item = u64>>(numbers: I) -> Ranges {
        let mut ranges = Ranges::new();
        for number in numbers {
            ranges.insert(number);
        }
        ranges
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn ranges_are_a_set_of_numbers(
            edits in prop::collection::vec((any::<bool>(), 0..60_u64, 0..9_u64), 0..40),
            other in prop::collection::btree_set(0..60_u64, 0..30),
        ) {
            let mut ranges = Ranges::new();
            let mut model = BTreeSet::new();
            for (insert, first, length) in edits {
                let numbers = first..=first + length;
                if insert {
                    ranges.insert_range(first, first + length);
                    model.extend(numbers);
                } else {
                    ranges.remove_range(first, first + length);
                    model.retain(|n| !numbers.contains(n));
                }
            }
            prop_assert_eq!(&ranges, &model.iter().copied().collect::<Ranges>());
            prop_assert_eq!(ranges.count(), model.len() as u64);
            let there: Vec<bool> = (0..80).map(|n| ranges.contains(n)).collect();
            prop_assert_eq!(there, (0..80).map(|n| model.contains(&n)).collect::<Vec<_>>());

            let theirs: Ranges = other.iter().copied().collect();
            prop_assert_eq!(ranges.covers(&theirs), other.is_subset(&model));
            let mut all = ranges.clone();
            all.join(&theirs);
            prop_assert_eq!(all, model.union(&other).copied().collect::<Ranges>());
            let mut less = ranges.clone();
            less.subtract(&theirs);
            prop_assert_eq!(less, model.difference(&other).copied().collect::<Ranges>());

            let mut out = Encoder::new();
            ranges.write(&mut out);
            let bytes = out.finish();
            let read = Decoder::whole(&bytes, Ranges::read).expect("canonical");
            prop_assert_eq!(read, ranges);
        }
    }

    #[test]
    fn ranges_that_touch_or_run_backwards_are_not_read() {
        for pairs in [
            &[(1, 2), (3, 4)][..],
            &[(5, 4)],
            &[(4, 5), (1, 2)],
            &[(1, u64::MAX)],
        ] {
            let mut out = Encoder::new();
            out.array(pairs.len());
            for (first, last) in pairs {
                out.array(2).uint(*first).uint(*last);
            }
            assert!(
                Decoder::whole(&out.finish(), Ranges::read).is_err(),
                "{pairs:?}"
            );
        }
    }
}
