//! Versions and names of changes: numbers that no node gives twice.
use std::{
    sync::atomic::{AtomicU64, Ordering::SeqCst},
    time::{SystemTime, UNIX_EPOCH},
};

/// Bits of a stamp below its time: two nodes that write one key within a microsecond differ in
/// them but for one time in 4096, and even then only one of two conditional writes is applied.
const RANDOM_BITS: u32 = 12;

/// A clock that never repeats and never goes back, within this process.
pub(crate) struct Clock {
    last: AtomicU64,
}

fn microseconds() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| {
        u64::try_from(since.as_micros()).unwrap_or(u64::MAX)
    })
}

impl Clock {
    pub(crate) fn new() -> Clock {
        Clock {
            last: AtomicU64::new(0),
        }
    }

    /// The next stamp: the time in microseconds, and random bits.
    pub(crate) fn next(&self) -> u64 {
        let random = u64::from(u16::from_le_bytes(signet_crypto::random::bytes()));
        let now = (microseconds() << RANDOM_BITS) | (random & ((1 << RANDOM_BITS) - 1));
        let after = |last: u64| Some(now.max(last.saturating_add(1)));
        let last = self.last.fetch_update(SeqCst, SeqCst, after);
        // Invariant: `after` always answers.
        let last = last.unwrap_or_else(|last| last);
        now.max(last.saturating_add(1))
    }

    /// Later stamps are above this one, which another node gave: versions grow where clocks differ.
    pub(crate) fn observe(&self, stamp: u64) {
        // One that is a day ahead is a fault of that node's clock; it is not caught.
        let bound = (microseconds() + 86_400_000_000) << RANDOM_BITS;
        if stamp < bound {
            self.last.fetch_max(stamp, SeqCst);
        }
    }
}

/// The name of one try of a change with several rows: who began first, and a random number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Name([u8; 16]);

impl Name {
    /// A try that began at a stamp. Tries of one change share the stamp, and with it their turn.
    pub(crate) fn new(began: u64) -> Name {
        let random: [u8; 8] = signet_crypto::random::bytes();
        let mut name = [0; 16];
        name[..8].copy_from_slice(&began.to_be_bytes());
        name[8..].copy_from_slice(&random);
        Name(name)
    }

    pub(crate) fn read(bytes: &[u8]) -> Option<Name> {
        bytes.try_into().ok().map(Name)
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }

    pub(crate) fn began(&self) -> u64 {
        let mut began = [0; 8];
        began.copy_from_slice(&self.0[..8]);
        u64::from_be_bytes(began)
    }

    /// Seconds since it began, by this node's clock.
    pub(crate) fn age(&self) -> u64 {
        microseconds().saturating_sub(self.began() >> RANDOM_BITS) / 1_000_000
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_grow_and_pass_what_another_node_gave() {
        let clock = Clock::new();
        let stamps: Vec<u64> = (0..1000).map(|_| clock.next()).collect();
        assert!(stamps.windows(2).all(|pair| pair[0] < pair[1]));
        let ahead = stamps[999] + (5_000_000 << RANDOM_BITS);
        clock.observe(ahead);
        assert!(clock.next() > ahead);
        clock.observe(u64::MAX);
        assert!(clock.next() < ahead + (1 << 30));
    }

    #[test]
    fn a_name_is_read_as_it_was_written_and_says_who_began_first() {
        let name = Name::new(77);
        assert_eq!(Name::read(name.bytes()), Some(name));
        assert_eq!(name.began(), 77);
        assert_ne!(Name::new(77), name);
        assert_eq!(Name::read(&name.bytes()[1..]), None);
        assert!(Name::new(Clock::new().next()).age() < 5);
    }
}
