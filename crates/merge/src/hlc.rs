//! Hybrid logical time: Unix milliseconds that never run backwards, also across nodes.
//!
//! A stamp made after another one was heard is later than it, whatever the two wall clocks say. So
//! a write that knew of another one wins over it, and a node whose clock is minutes ahead cannot
//! make its writes win for ever: whoever hears of them writes later stamps from then on. A clock
//! does not follow a stamp that is further ahead than [`MAX_AHEAD_MS`], so one broken clock cannot
//! carry the others away. What carries such a stamp is believed all the same: a revocation counts
//! whatever the clock of its writer shows.
//!
//! A clock that is itself that far ahead of the wall clock, because the wall clock was wrong and is
//! right again, begins a new epoch: its next stamps are the wall clock's. A write that must be
//! later than one that it knows of is stamped by [`after`], in whatever epoch that one was made.
//!
//! After Kulkarni, Demirbas, Madappa, Avva and Leone: Logical Physical Clocks (2014).
use signet_store::NodeId;
use std::{
    fmt,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

/// How far ahead of the local wall clock a stamp may be, in milliseconds.
pub const MAX_AHEAD_MS: u64 = 600_000;

/// When something was written: Unix milliseconds by the writer's hybrid clock, a counter within the
/// millisecond, and the writer. Ordered in this order; no two writes have the same.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Stamp {
    /// Unix milliseconds.
    pub ms: u64,
    /// Within the millisecond.
    pub seq: u32,
    /// Who wrote.
    pub node: NodeId,
}

impl fmt::Display for Stamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}@{}", self.ms, self.seq, self.node)
    }
}

/// A stamp that is later than what is known: the node's own, or, where that one is earlier, the one
/// right behind what is known.
pub fn after(newest: Option<&Stamp>, own: Stamp) -> Stamp {
    let Some(newest) = newest.filter(|newest| **newest >= own) else {
        return own;
    };
    let (ms, seq) = match newest.seq.checked_add(1) {
        Some(seq) => (newest.ms, seq),
        None => (newest.ms.saturating_add(1), 0),
    };
    Stamp {
        ms,
        seq,
        node: own.node,
    }
}

/// A stamp is further ahead of the local wall clock than [`MAX_AHEAD_MS`]: the writer's clock is
/// wrong, or this node's.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the stamp is {ahead_ms} ms ahead of this node's clock")]
pub struct TooFarAhead {
    /// By how many milliseconds.
    pub ahead_ms: u64,
}

/// A node's hybrid clock. Cheap to ask; never waits for more than another thread's addition.
#[derive(Debug)]
pub struct Hlc {
    node: NodeId,
    last: Mutex<(u64, u32)>,
    epochs: AtomicU64,
}

impl Hlc {
    /// The clock of a node that has written nothing yet.
    pub fn new(node: NodeId) -> Hlc {
        Hlc {
            node,
            last: Mutex::new((0, 0)),
            epochs: AtomicU64::new(0),
        }
    }

    /// How often it was so far ahead of the wall clock that it began a new epoch.
    pub fn epochs(&self) -> u64 {
        self.epochs.load(Relaxed)
    }

    /// Whose clock it is.
    pub fn node(&self) -> &NodeId {
        &self.node
    }

    /// What is known from before a restart: no stamp is made that is not later than this one, even
    /// if the wall clock was set back meanwhile. For what this node itself kept; what others say
    /// goes through [`observe`](Self::observe).
    pub fn resume(&self, floor: &Stamp) {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        *last = (*last).max((floor.ms, floor.seq));
    }

    /// The stamp of a write that happens now: later than every stamp that this clock made or
    /// observed in its epoch. `wall_ms` is the wall clock, Unix milliseconds.
    pub fn now(&self, wall_ms: u64) -> Stamp {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let is_far_ahead = last.0 > wall_ms.saturating_add(MAX_AHEAD_MS);
        if is_far_ahead {
            self.epochs.fetch_add(1, Relaxed);
        }
        *last = if wall_ms > last.0 || is_far_ahead {
            (wall_ms, 0)
        } else {
            match last.1.checked_add(1) {
                Some(seq) => (last.0, seq),
                None => (last.0.saturating_add(1), 0),
            }
        };
        Stamp {
            ms: last.0,
            seq: last.1,
            node: self.node.clone(),
        }
    }

    /// A stamp was heard: everything written here from now on is later.
    ///
    /// # Errors
    /// [`TooFarAhead`]; then the clock has not moved.
    pub fn observe(&self, stamp: &Stamp, wall_ms: u64) -> Result<(), TooFarAhead> {
        let ahead_ms = stamp.ms.saturating_sub(wall_ms);
        if ahead_ms > MAX_AHEAD_MS {
            return Err(TooFarAhead { ahead_ms });
        }
        self.resume(stamp);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(name: &str) -> NodeId {
        NodeId::parse(name).expect("a name")
    }

    #[test]
    fn stamps_of_a_clock_always_ascend() {
        let clock = Hlc::new(node("a"));
        let mut last = clock.now(1_000);
        for wall in [1_000, 999, 0, 1_001, 5, MAX_AHEAD_MS, 3] {
            let next = clock.now(wall);
            assert!(next > last, "{next} after {last}");
            last = next;
        }
        assert_eq!(clock.epochs(), 0);
    }

    #[test]
    fn a_wall_clock_that_was_wrong_by_an_hour_does_not_keep_the_clock_there() {
        const HOUR_MS: u64 = 3_600_000;
        let (clock, other) = (Hlc::new(node("a")), Hlc::new(node("b")));
        let wrong = clock.now(HOUR_MS + 1_000);
        assert!(other.observe(&wrong, 1_000).is_err());
        // It is put right.
        let right = clock.now(2_000);
        assert_eq!((right.ms, clock.epochs()), (2_000, 1));
        other.observe(&right, 2_000).expect("not ahead");
        // Who changes what was written by the wrong clock has the later word.
        assert!(after(Some(&wrong), right.clone()) > wrong);
        assert_eq!(after(None, right.clone()), right);
    }

    #[test]
    fn the_counter_within_a_millisecond_carries_over() {
        let clock = Hlc::new(node("a"));
        let full = Stamp {
            ms: 50,
            seq: u32::MAX,
            node: node("b"),
        };
        clock.observe(&full, 50).expect("not ahead");
        let next = clock.now(50);
        assert_eq!((next.ms, next.seq), (51, 0));
    }

    #[test]
    fn what_was_heard_is_earlier_than_what_is_written_next() {
        let (fast, slow) = (Hlc::new(node("fast")), Hlc::new(node("slow")));
        let theirs = fast.now(1_000_000 + 300_000);
        slow.observe(&theirs, 1_000_000).expect("five minutes");
        assert!(slow.now(1_000_000) > theirs);
        assert!(slow.now(1_000_001) > theirs);
    }

    #[test]
    fn a_stamp_too_far_ahead_does_not_move_the_clock() {
        let clock = Hlc::new(node("a"));
        let wrong = Stamp {
            ms: 10 + MAX_AHEAD_MS + 1,
            seq: 0,
            node: node("b"),
        };
        assert_eq!(
            clock.observe(&wrong, 10),
            Err(TooFarAhead {
                ahead_ms: MAX_AHEAD_MS + 1
            })
        );
        assert_eq!(clock.now(10).ms, 10);
        let bound = Stamp {
            ms: 10 + MAX_AHEAD_MS,
            ..wrong
        };
        assert_eq!(clock.observe(&bound, 10), Ok(()));
        assert_eq!(clock.now(10).ms, bound.ms);
    }

    #[test]
    fn a_restart_with_a_clock_set_back_writes_no_earlier_stamp() {
        let before = Hlc::new(node("a")).now(9_000_000_000);
        let restarted = Hlc::new(node("a"));
        restarted.resume(&before);
        assert!(restarted.now(9_000_000_000 - MAX_AHEAD_MS) > before);
    }
}
