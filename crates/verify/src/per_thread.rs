//! Counts that threads make beside each other: each thread writes to a place of its own, a reader
//! adds them up.
//!
//! One counter that every core writes costs each of them a trip to the other's cache, several times
//! a request: together more than finding the token. Threads beyond the number of places share them;
//! nothing is lost then, it only takes longer.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Places. A service has a thread for each core, so more would only cost memory.
const PLACES: usize = 16;

/// On cache lines that nothing else is on: processors fetch lines in pairs.
#[repr(align(128))]
#[derive(Debug, Default)]
struct Alone<T>(T);

/// A `T` for each thread.
#[derive(Debug, Default)]
pub struct PerThread<T> {
    places: [Alone<T>; PLACES],
}

impl<T> PerThread<T> {
    /// This thread's own.
    pub fn own(&self) -> &T {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        thread_local!(static PLACE: usize = NEXT.fetch_add(1, Relaxed) % PLACES);
        // A thread that is ending has no such value any more; the first place takes what it still
        // counts.
        let place = PLACE.try_with(|place| *place).unwrap_or(0);
        &self.places[place].0
    }

    /// Everybody's.
    pub fn all(&self) -> impl Iterator<Item = &T> {
        self.places.iter().map(|Alone(one)| one)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU64;

    #[test]
    fn what_many_threads_count_is_all_there() {
        let counts = PerThread::<AtomicU64>::default();
        std::thread::scope(|scope| {
            for _ in 0..2 * PLACES + 1 {
                scope.spawn(|| {
                    for _ in 0..1000 {
                        counts.own().fetch_add(1, Relaxed);
                    }
                });
            }
        });
        let sum: u64 = counts.all().map(|count| count.load(Relaxed)).sum();
        assert_eq!(sum, 1000 * (2 * PLACES as u64 + 1));
    }

    #[test]
    fn a_thread_keeps_its_place() {
        let counts = PerThread::<AtomicU64>::default();
        assert!(std::ptr::eq(counts.own(), counts.own()));
    }
}
