//! Time never runs backwards for what was spent or revoked.
//!
//! Whatever may happen once is remembered until it could not happen any more, by the clock. A clock
//! that was forward for a moment would make the server forget too early, and one that is set back
//! would let it happen again. So:
//!
//! - what has expired is kept for [`MARGIN`] more;
//! - the highest time that was seen is kept in the store, and a clock that steps, forward or back,
//!   by more than [`TOLERANCE`] against the monotonic clock stops the removal of expired rows for
//!   [`HOLD`]: a wrong clock is put right within it, and a right one (a machine that slept) loses
//!   nothing by it;
//! - the server's time is never before that up to which something was removed.
//!
//! On a node of several whose clock differs from the majority's, the server's time is the
//! majority's ([`FloorClock::set_ahead`]): otherwise what it issues and revokes would bear a moment
//! that has not come for the others.
use serde::{Deserialize, Serialize};
use signet_crypto::Clock;
use signet_store::{Change, Key, Op, Outcome, Store, StoreError, Table};
use std::{
    sync::{
        Arc,
        atomic::{AtomicI64, AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

/// Seconds that a row is kept beyond its end.
pub const MARGIN: u64 = 3600;
/// Seconds by which the clock may differ from the monotonic one between two looks.
pub const TOLERANCE: u64 = 60;
/// How long nothing is removed after a step.
pub const HOLD: Duration = Duration::from_secs(3600);

/// How often a row that other nodes write at the same time is tried again.
const MAX_TRIES: usize = 16;

/// A clock that never shows a time before its floor.
pub struct FloorClock {
    inner: Arc<dyn Clock>,
    floor_ms: AtomicU64,
    ahead_ms: AtomicI64,
    highest_ms: AtomicU64,
}

/// Milliseconds by which a node's clock may differ from the majority's and is believed: how exactly
/// they are compared.
const BELIEVED_MS: u64 = 1_000;

impl FloorClock {
    /// Over the system's clock.
    pub fn new(inner: Arc<dyn Clock>) -> FloorClock {
        FloorClock {
            inner,
            floor_ms: AtomicU64::new(0),
            ahead_ms: AtomicI64::new(0),
            highest_ms: AtomicU64::new(0),
        }
    }

    /// By how much the clock beneath is ahead of that of the majority of the nodes, in
    /// milliseconds; negative where it is behind.
    pub fn set_ahead(&self, ahead_ms: i64) {
        let differs = ahead_ms.unsigned_abs() > BELIEVED_MS;
        self.ahead_ms
            .store(if differs { ahead_ms } else { 0 }, Relaxed);
    }

    /// The highest time that it has shown, Unix milliseconds.
    pub fn highest_ms(&self) -> u64 {
        self.highest_ms.load(Relaxed)
    }

    /// From here on it shows no time before this one, Unix seconds.
    pub fn raise(&self, floor: u64) {
        self.floor_ms.fetch_max(floor.saturating_mul(1000), Relaxed);
    }

    /// What the clock beneath shows, Unix seconds.
    pub fn unbounded(&self) -> u64 {
        self.inner.now()
    }
}

impl Clock for FloorClock {
    fn now_ms(&self) -> u64 {
        let ahead_ms = self.ahead_ms.load(Relaxed);
        let now_ms = self
            .inner
            .now_ms()
            .saturating_add_signed(ahead_ms.saturating_neg());
        let now_ms = now_ms.max(self.floor_ms.load(Relaxed));
        // Nearly always another thread has shown this millisecond already.
        if self.highest_ms.load(Relaxed) < now_ms {
            self.highest_ms.fetch_max(now_ms, Relaxed);
        }
        now_ms
    }
}

/// What the store knows of time, Unix seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kept {
    /// The highest time that was seen.
    pub highest: u64,
    /// Everything that ended before this may have been removed.
    pub removed_to: u64,
}

fn key() -> Key {
    Key::new(Table::Setting, b"time".as_slice())
}

impl Kept {
    /// None where the store is new.
    ///
    /// # Errors
    /// The store's.
    pub async fn load(store: &dyn Store, now: u64) -> Result<Option<Kept>, StoreError> {
        let corrupt = |_| StoreError::Corrupt("the highest time".to_owned());
        let row = store.get(&key(), now).await?;
        row.map(|row| serde_json::from_slice(&row.value).map_err(corrupt))
            .transpose()
    }

    /// Joins it with what the store knows: of two nodes whose clocks differ the later one holds,
    /// whichever comes last.
    ///
    /// # Errors
    /// The store's.
    pub async fn save(self, store: &dyn Store, now: u64) -> Result<(), StoreError> {
        let corrupt = |_| StoreError::Corrupt("the highest time".to_owned());
        let mut known = store.get(&key(), now).await?;
        for _ in 0..MAX_TRIES {
            let mut joined = self;
            if let Some(row) = &known {
                let kept: Kept = serde_json::from_slice(&row.value).map_err(corrupt)?;
                joined.highest = joined.highest.max(kept.highest);
                joined.removed_to = joined.removed_to.max(kept.removed_to);
            }
            // Invariant: numbers always serialize.
            let value = serde_json::to_vec(&joined).expect("two numbers serialize");
            let (key, end) = (key(), None);
            let op = match &known {
                None => Op::Insert { key, value, end },
                Some(row) => Op::Replace {
                    key,
                    version: row.version,
                    value,
                    end,
                },
            };
            match store.commit(Change::new(op), now).await? {
                Outcome::Done { .. } => return Ok(()),
                Outcome::Refused(row) => known = row,
            }
        }
        Err(StoreError::Unavailable(
            "the highest time is being changed by others".to_owned(),
        ))
    }

    /// The time to read revocations by, at a start: one that a clock which is forward takes for
    /// ended counts when it is right again.
    pub fn to_read_by(kept: Option<Kept>, now: u64) -> u64 {
        let known = kept.map_or(now, |kept| kept.highest.min(now));
        known.saturating_sub(MARGIN)
    }
}

/// Compares the clock with the monotonic one.
#[derive(Debug)]
pub struct Watch {
    wall: u64,
    monotonic: Duration,
    hold: Option<Duration>,
}

impl Watch {
    /// Begins. `kept`: of the last run; a clock that is further from it than a row's margin may be
    /// wrong. `monotonic`: since any fixed moment. The step in seconds, where there was one.
    pub fn begin(kept: Option<Kept>, wall: u64, monotonic: Duration) -> (Watch, Option<i64>) {
        let mut watch = Watch {
            wall,
            monotonic,
            hold: None,
        };
        let step = kept.and_then(|kept| {
            let step = signed(wall, kept.highest);
            let back = step < -signed(TOLERANCE, 0);
            (back || step > signed(MARGIN, 0)).then_some(step)
        });
        watch.hold = step.map(|_| monotonic + HOLD);
        (watch, step)
    }

    /// Looks again: the step since the last look in seconds, where there was one.
    pub fn look(&mut self, wall: u64, monotonic: Duration) -> Option<i64> {
        let passed = monotonic.saturating_sub(self.monotonic).as_secs();
        let step = signed(wall, self.wall.saturating_add(passed));
        (self.wall, self.monotonic) = (wall, monotonic);
        let stepped = step.unsigned_abs() > TOLERANCE;
        if stepped {
            self.hold = Some(monotonic + HOLD);
        }
        stepped.then_some(step)
    }

    /// Whether expired rows may be removed now.
    pub fn may_remove(&self, monotonic: Duration) -> bool {
        self.hold.is_none_or(|hold| monotonic >= hold)
    }
}

fn signed(a: u64, b: u64) -> i64 {
    i64::try_from(i128::from(a) - i128::from(b)).unwrap_or(if a > b { i64::MAX } else { i64::MIN })
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: u64 = 1_800_000_000;

    fn at(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    struct Fixed(u64);

    impl Clock for Fixed {
        fn now_ms(&self) -> u64 {
            self.0
        }
    }

    #[test]
    fn the_time_of_a_node_whose_clock_differs_is_the_majority_s() {
        let clock = FloorClock::new(Arc::new(Fixed(NOW * 1000)));
        clock.set_ahead(50_000);
        assert_eq!(clock.now(), NOW - 50);
        clock.set_ahead(-50_000);
        assert_eq!(
            (clock.now(), clock.highest_ms()),
            (NOW + 50, (NOW + 50) * 1000)
        );
        // What is within the exactness of the comparison is no difference.
        clock.set_ahead(1_000);
        assert_eq!(clock.now(), NOW);
        clock.raise(NOW + 7);
        clock.set_ahead(i64::MAX);
        assert_eq!(clock.now(), NOW + 7);
        assert_eq!(clock.highest_ms(), (NOW + 50) * 1000);
    }

    #[test]
    fn a_step_of_the_clock_stops_the_removal_until_it_has_held_for_an_hour() {
        let (mut watch, step) = Watch::begin(None, NOW, at(10));
        assert_eq!(step, None);
        assert!(watch.may_remove(at(10)));
        assert_eq!(watch.look(NOW + 60, at(70)), None);
        assert_eq!(watch.look(NOW + 120 + 1500, at(130)), Some(1500));
        assert!(!watch.may_remove(at(130)));
        // Back again: that is a step, too.
        assert_eq!(watch.look(NOW + 180, at(190)), Some(-1500));
        assert!(!watch.may_remove(at(190 + 3599)));
        assert_eq!(watch.look(NOW + 240, at(250)), None);
        assert!(watch.may_remove(at(190 + 3600)));
    }

    #[test]
    fn a_start_far_from_the_highest_time_seen_removes_nothing_at_first() {
        let kept = |highest| {
            Some(Kept {
                highest,
                removed_to: 0,
            })
        };
        assert_eq!(Watch::begin(kept(NOW), NOW + 30, at(0)).1, None);
        assert_eq!(Watch::begin(kept(NOW), NOW - 61, at(0)).1, Some(-61));
        let (watch, step) = Watch::begin(kept(NOW), NOW + 86_400, at(0));
        assert_eq!(step, Some(86_400));
        assert!(!watch.may_remove(at(3599)));
        assert!(watch.may_remove(at(3600)));
        assert_eq!(Kept::to_read_by(kept(NOW), NOW + 86_400), NOW - MARGIN);
        assert_eq!(Kept::to_read_by(kept(NOW), NOW - 10), NOW - 10 - MARGIN);
        assert_eq!(Kept::to_read_by(None, NOW), NOW - MARGIN);
    }

    #[tokio::test]
    async fn of_nodes_whose_clocks_differ_the_later_time_is_kept() {
        let store = signet_store::MemoryStore::new();
        for (highest, removed_to) in [(NOW, NOW - 10), (NOW - 240, NOW - 250), (NOW + 5, 0)] {
            let kept = Kept {
                highest,
                removed_to,
            };
            kept.save(&store, NOW).await.expect("writes");
        }
        let kept = Kept::load(&store, NOW).await.expect("reads");
        let (highest, removed_to) = (NOW + 5, NOW - 10);
        assert_eq!(
            kept,
            Some(Kept {
                highest,
                removed_to
            })
        );
    }

    #[test]
    fn extreme_clocks_are_steps_and_no_panic() {
        let (mut watch, _) = Watch::begin(None, u64::MAX, at(0));
        assert!(watch.look(0, at(u64::MAX / 4)).is_some());
        assert!(watch.look(u64::MAX, at(u64::MAX / 4)).is_some());
    }
}
