//! Counters of what lies below the realm: the store's time, guesses that were refused, what could
//! not be exported. They are the process', as `/metrics` is, so that a crate of the lower floors
//! need not be handed a place to count in.
use super::{Family, Histogram, table};
use std::{
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::Duration,
};

/// Upper bounds of what is timed here, in microseconds.
const BOUNDS: [u64; 12] = [
    50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 100_000, 500_000, 2_500_000,
];

/// How long something took.
#[derive(Debug)]
pub struct Timed {
    buckets: [AtomicU64; BOUNDS.len()],
    beyond: AtomicU64,
    micros: AtomicU64,
}

impl Timed {
    const fn new() -> Timed {
        Timed {
            buckets: [const { AtomicU64::new(0) }; BOUNDS.len()],
            beyond: AtomicU64::new(0),
            micros: AtomicU64::new(0),
        }
    }

    /// Once more.
    pub fn took(&self, time: Duration) {
        let micros = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        let at = BOUNDS.partition_point(|bound| *bound < micros);
        let bucket = self.buckets.get(at).unwrap_or(&self.beyond);
        bucket.fetch_add(1, Relaxed);
        self.micros.fetch_add(micros, Relaxed);
    }

    fn read(&self) -> Histogram {
        let bounds = BOUNDS.iter().zip(&self.buckets);
        let buckets: Vec<(f64, u64)> = bounds
            .map(|(micros, count)| (*micros as f64 / 1e6, count.load(Relaxed)))
            .collect();
        let within: u64 = buckets.iter().map(|(_, count)| count).sum();
        Histogram {
            buckets,
            count: within + self.beyond.load(Relaxed),
            seconds: self.micros.load(Relaxed) as f64 / 1e6,
        }
    }
}

/// A number for each value of a label.
#[derive(Debug)]
pub struct Counters<const N: usize>([AtomicU64; N]);

impl<const N: usize> Counters<N> {
    const fn new() -> Counters<N> {
        Counters([const { AtomicU64::new(0) }; N])
    }

    /// So many more of the value at this place of the label's list; of none beyond it.
    pub fn add(&self, at: usize, more: u64) {
        if let Some(count) = self.0.get(at) {
            count.fetch_add(more, Relaxed);
        }
    }

    /// All of them, in the order of the label's list.
    pub fn read(&self) -> [u64; N] {
        std::array::from_fn(|at| self.0[at].load(Relaxed))
    }
}

/// From a change that is handed to the store to its answer.
pub static STORE_COMMIT: Timed = Timed::new();
/// One flush of the embedded store.
pub static STORE_FLUSH: Timed = Timed::new();
/// Changes of the embedded store that shared the flushes.
pub static STORE_CHANGES: AtomicU64 = AtomicU64::new(0);
/// Guesses that were refused, in the order of [`table::GUESSES`].
pub static GUESSES_REFUSED: Counters<{ table::GUESSES.len() }> = Counters::new();
/// What was exported, in the order of [`table::SIGNALS`].
pub static EXPORTED: Counters<{ table::SIGNALS.len() }> = Counters::new();
/// What could not be exported, in the order of [`table::SIGNALS`].
pub static DROPPED: Counters<{ table::SIGNALS.len() }> = Counters::new();
/// When the certificate of the listeners ends, Unix seconds; 0: no listener has one.
pub static CERTIFICATE_END: AtomicU64 = AtomicU64::new(0);

/// All of them.
pub fn families() -> Vec<Family> {
    let mut families = vec![
        Family::new(&table::STORE_COMMIT).timed([], STORE_COMMIT.read()),
        Family::new(&table::STORE_FLUSH).timed([], STORE_FLUSH.read()),
        Family::new(&table::STORE_CHANGES).value(STORE_CHANGES.load(Relaxed)),
    ];
    let guesses = table::GUESSES.iter().zip(GUESSES_REFUSED.read());
    families.push(guesses.fold(
        Family::new(&table::GUESSES_REFUSED),
        |family, (kind, count)| family.of([("kind", kind)], count),
    ));
    for (metric, counters) in [
        (&table::EXPORTED, &EXPORTED),
        (&table::EXPORT_DROPPED, &DROPPED),
    ] {
        let signals = table::SIGNALS.iter().zip(counters.read());
        let family = Family::new(metric);
        families.push(signals.fold(family, |family, (signal, count)| {
            family.of([("signal", signal)], count)
        }));
    }
    let end = CERTIFICATE_END.load(Relaxed);
    if end > 0 {
        families.push(Family::new(&table::CERTIFICATE_END).value(end));
    }
    families
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_timed_lies_in_its_bucket() {
        let timed = Timed::new();
        for micros in [50, 51, 9_999_999] {
            timed.took(Duration::from_micros(micros));
        }
        let read = timed.read();
        assert_eq!(read.buckets[..2], [(0.000_05, 1), (0.000_1, 1)]);
        assert_eq!(read.count, 3);
        assert!((read.seconds - 10.0001).abs() < 1e-4, "{}", read.seconds);
    }

    #[test]
    fn every_label_has_its_count() {
        GUESSES_REFUSED.add(0, 2);
        GUESSES_REFUSED.add(99, 2);
        let families = families();
        let guesses = families
            .iter()
            .find(|family| family.metric.name == table::GUESSES_REFUSED.name)
            .unwrap();
        assert_eq!(guesses.readings.len(), table::GUESSES.len());
    }
}
