//! A budget of log lines: whoever can send requests can cause them, and must not fill the disk by
//! it.
//!
//! Each place in the program that logs has so many lines a second. What is beyond it is counted,
//! and one line says how many are left out. Lines below `info` are for whoever asks for them, and
//! are not bounded.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU32, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use tracing::{Event, Level, Subscriber, callsite::Identifier};
use tracing_subscriber::{Layer, layer::Context};

/// How often it is said what was left out.
const TELL_EVERY: Duration = Duration::from_secs(10);

/// See the module. Clones count together.
#[derive(Clone)]
pub struct LogBudget(Arc<Inner>);

struct Inner {
    per_second: AtomicU32,
    started: Instant,
    places: Mutex<HashMap<Identifier, Place>>,
}

struct Place {
    name: &'static str,
    second: u64,
    lines: u32,
    left_out: u64,
}

impl LogBudget {
    /// So many lines a second for each place.
    pub fn new(per_second: u32) -> LogBudget {
        LogBudget(Arc::new(Inner {
            per_second: AtomicU32::new(per_second),
            started: Instant::now(),
            places: Mutex::default(),
        }))
    }

    /// From here on another number.
    pub fn set(&self, per_second: u32) {
        self.0.per_second.store(per_second, Relaxed);
    }

    /// Whether a line of this place fits at this moment (seconds since any fixed one).
    fn admit(&self, place: Identifier, name: &'static str, second: u64) -> bool {
        let most = self.0.per_second.load(Relaxed);
        // Every step leaves a whole map; there are no more entries than places that log.
        let mut places = self.0.places.lock().unwrap_or_else(PoisonError::into_inner);
        let place = places.entry(place).or_insert(Place {
            name,
            second,
            lines: 0,
            left_out: 0,
        });
        if place.second != second {
            (place.second, place.lines) = (second, 0);
        }
        let fits = place.lines < most;
        if fits {
            place.lines += 1;
        } else {
            place.left_out += 1;
        }
        fits
    }

    /// What was left out since the last call: the place, and how many lines.
    fn take(&self) -> Vec<(&'static str, u64)> {
        let mut places = self.0.places.lock().unwrap_or_else(PoisonError::into_inner);
        places
            .values_mut()
            .filter(|place| place.left_out > 0)
            .map(|place| (place.name, std::mem::take(&mut place.left_out)))
            .collect()
    }

    /// Says from time to time what was left out; for ever.
    pub async fn tell(self) {
        loop {
            tokio::time::sleep(TELL_EVERY).await;
            for (place, lines) in self.take() {
                tracing::warn!(place, lines, "dropped log lines over log.per_second");
            }
        }
    }
}

impl<S: Subscriber> Layer<S> for LogBudget {
    fn event_enabled(&self, event: &Event<'_>, _: Context<'_, S>) -> bool {
        let metadata = event.metadata();
        // "More verbose" is greater.
        *metadata.level() > Level::INFO || {
            let second = self.0.started.elapsed().as_secs();
            self.admit(metadata.callsite(), metadata.target(), second)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;
    use tracing_subscriber::layer::SubscriberExt;

    #[derive(Clone, Default)]
    struct Count(Arc<AtomicUsize>);

    impl<S: Subscriber> Layer<S> for Count {
        fn on_event(&self, _: &Event<'_>, _: Context<'_, S>) {
            self.0.fetch_add(1, Relaxed);
        }
    }

    #[test]
    fn lines_of_one_place_have_a_budget_and_others_their_own() {
        let (budget, count) = (LogBudget::new(5), Count::default());
        let subscriber = tracing_subscriber::registry()
            .with(count.clone())
            .with(budget.clone());
        tracing::subscriber::with_default(subscriber, || {
            for _ in 0..1000 {
                tracing::info!(target: "refused", "one place");
            }
            tracing::info!("another place");
            for _ in 0..100 {
                tracing::debug!("whoever asks for it has it");
            }
        });
        // The second may change once while this runs.
        let lines = count.0.load(Relaxed);
        assert!((106..=111).contains(&lines), "{lines}");
        let left_out = budget.take();
        assert_eq!(left_out.len(), 1);
        assert_eq!(left_out[0].0, "refused");
        assert!(left_out[0].1 >= 990, "{left_out:?}");
        assert!(budget.take().is_empty());
    }
}
