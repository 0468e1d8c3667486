//! Numbers that follow from a seed, and what a run did as one number.
use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering::SeqCst},
};

fn mix(z: u64) -> u64 {
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// SplitMix64; clones continue together.
#[derive(Clone)]
pub(crate) struct Random(Arc<AtomicU64>);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random(Arc::new(AtomicU64::new(mix(seed))))
    }

    /// Numbers of their own, that follow from these.
    pub(crate) fn fork(&self) -> Random {
        Random::new(self.next())
    }

    pub(crate) fn next(&self) -> u64 {
        mix(self
            .0
            .fetch_add(0x9e37_79b9_7f4a_7c15, SeqCst)
            .wrapping_add(0x9e37_79b9_7f4a_7c15))
    }

    /// Below `bound`, which is not 0.
    pub(crate) fn below(&self, bound: u64) -> u64 {
        self.next() % bound
    }

    pub(crate) fn between(&self, least: u64, most: u64) -> u64 {
        least + self.below(most - least + 1)
    }

    /// In so many of a thousand cases.
    pub(crate) fn permille(&self, cases: u64) -> bool {
        self.below(1000) < cases
    }

    pub(crate) fn one_of<'a, T>(&self, all: &'a [T]) -> &'a T {
        &all[usize::try_from(self.below(all.len() as u64)).expect("few")]
    }
}

/// Everything that happened in a run, in its order, as one number.
#[derive(Default)]
pub(crate) struct Trace(AtomicU64);

impl Trace {
    pub(crate) fn note(&self, what: &[u64]) {
        let before = self.0.load(SeqCst);
        let after = what.iter().fold(before, |hash, part| {
            mix(hash.rotate_left(5) ^ part.wrapping_add(0x9e37_79b9_7f4a_7c15))
        });
        self.0.store(after, SeqCst);
    }

    pub(crate) fn note_bytes(&self, bytes: &[u8]) {
        let parts: Vec<u64> = bytes
            .chunks(8)
            .map(|part| {
                let mut word = [0; 8];
                word[..part.len()].copy_from_slice(part);
                u64::from_le_bytes(word)
            })
            .collect();
        self.note(&[bytes.len() as u64]);
        self.note(&parts);
    }

    pub(crate) fn value(&self) -> u64 {
        self.0.load(SeqCst)
    }
}
