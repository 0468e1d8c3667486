//! What waits for its export: bounded, and what finds it full is counted and dropped, because no
//! request waits for whoever watches.
use std::{
    collections::VecDeque,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

/// See the module. Each thing has a weight, of which the queue holds so much at most.
#[derive(Debug)]
pub struct Queue<T> {
    most: usize,
    waiting: Mutex<Waiting<T>>,
    dropped: AtomicU64,
}

#[derive(Debug)]
struct Waiting<T> {
    things: VecDeque<(T, usize)>,
    weight: usize,
}

impl<T> Queue<T> {
    /// One that holds so much.
    pub const fn new(most: usize) -> Queue<T> {
        Queue {
            most,
            waiting: Mutex::new(Waiting {
                things: VecDeque::new(),
                weight: 0,
            }),
            dropped: AtomicU64::new(0),
        }
    }

    /// Puts it at the end, or drops it.
    pub fn put(&self, thing: T, weight: usize) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.weight + weight > self.most {
            drop(waiting);
            self.drop_more(weight);
            return;
        }
        waiting.weight += weight;
        waiting.things.push_back((thing, weight));
    }

    /// The first ones, of this weight together, and at least one where there is any.
    pub fn take(&self, most: usize) -> Vec<T> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut taken, mut weight) = (Vec::new(), 0);
        while let Some((_, next)) = waiting.things.front() {
            if !taken.is_empty() && weight + next > most {
                break;
            }
            let Some((thing, of_it)) = waiting.things.pop_front() else {
                break;
            };
            weight += of_it;
            waiting.weight -= of_it;
            taken.push(thing);
        }
        taken
    }

    /// How much waits.
    pub fn weight(&self) -> usize {
        let waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.weight
    }

    /// So much more was dropped, by whoever took it and could not hand it on.
    pub fn drop_more(&self, weight: usize) {
        self.dropped.fetch_add(weight as u64, Relaxed);
    }

    /// How much was dropped since the start.
    pub fn dropped(&self) -> u64 {
        self.dropped.load(Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_queue_drops_what_comes_and_counts_it() {
        let queue = Queue::new(10);
        for thing in 0..5 {
            queue.put(thing, 3);
        }
        assert_eq!((queue.weight(), queue.dropped()), (9, 6));
        assert_eq!(queue.take(7), [0, 1]);
        assert_eq!(
            queue.take(1),
            [2],
            "one that is larger than what is asked for"
        );
        assert!(queue.take(7).is_empty());
        assert_eq!(queue.weight(), 0);
    }
}
