//! A bounded queue between tasks and the store's threads: pushing never waits, popping does.
//!
//! Each realm's jobs stand in a lane of their own, in the order in which they came, and the lanes
//! are served in turn. So of a realm that floods the store another one's job waits for no more than
//! the group that is being done, and where two realms have jobs, groups are small.
use std::{
    collections::{BTreeMap, VecDeque},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
};
use tokio::sync::Notify;

/// Most jobs of a group while more than one lane has any.
const SHARED_GROUP: usize = 64;
/// For so many groups after that a lane alone is served as one of several: the others come back.
const SHARED_FOR: u32 = 64;

/// Why a job was not taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Refused {
    Full,
    Closed,
}

/// Where a job stands.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Place {
    /// Behind the other ones of this lane. The first realm's has no name.
    Lane(Vec<u8>),
    /// Behind everything that was queued before.
    Last,
}

impl Place {
    /// Of the first realm, and of what is no realm's own.
    pub(super) const FIRST: Place = Place::Lane(Vec::new());
}

pub(super) struct Queue<T> {
    state: Mutex<State<T>>,
    filled: Condvar,
    /// Notified of each job, where no thread waits for them.
    told: Option<Arc<Notify>>,
    bound: usize,
}

struct State<T> {
    /// The lane without a name.
    first: VecDeque<T>,
    /// The others, while they have jobs.
    lanes: BTreeMap<Vec<u8>, VecDeque<T>>,
    /// Each lane that has jobs once, the next one to be served first.
    turns: VecDeque<Vec<u8>>,
    count: usize,
    /// Groups since more than one lane had jobs.
    alone_for: u32,
    closed: bool,
}

impl<T> State<T> {
    fn push(&mut self, place: Place, job: T) {
        let name = match place {
            Place::Lane(name) => name,
            Place::Last => {
                self.join();
                Vec::new()
            }
        };
        let lane = match name.is_empty() {
            true => &mut self.first,
            false => self.lanes.entry(name.clone()).or_default(),
        };
        if lane.is_empty() {
            self.turns.push_back(name);
        }
        lane.push_back(job);
        self.count += 1;
    }

    /// Puts every job into the lane without a name, in the order in which they would be served.
    fn join(&mut self) {
        if self.lanes.is_empty() {
            return;
        }
        let all: VecDeque<T> = std::iter::from_fn(|| self.pop()).collect();
        self.count = all.len();
        self.first = all;
        self.turns.push_back(Vec::new());
    }

    fn pop(&mut self) -> Option<T> {
        let name = self.turns.pop_front()?;
        let (job, is_left) = match &*name {
            [] => (self.first.pop_front(), !self.first.is_empty()),
            name => {
                let lane = self.lanes.get_mut(name)?;
                let job = lane.pop_front();
                let is_left = !lane.is_empty();
                if !is_left {
                    self.lanes.remove(name);
                }
                (job, is_left)
            }
        };
        if is_left {
            self.turns.push_back(name);
        }
        self.count -= usize::from(job.is_some());
        job
    }

    fn take_group(&mut self, limit: usize, group: &mut Vec<T>) {
        self.alone_for = match self.turns.len() {
            0 | 1 => self.alone_for.saturating_add(1),
            _ => 0,
        };
        let limit = match self.alone_for < SHARED_FOR {
            true => limit.min(SHARED_GROUP),
            false => limit,
        };
        while group.len() < limit
            && let Some(job) = self.pop()
        {
            group.push(job);
        }
    }
}

impl<T> Queue<T> {
    pub(super) fn new(bound: usize) -> Queue<T> {
        Queue {
            state: Mutex::new(State {
                first: VecDeque::new(),
                lanes: BTreeMap::new(),
                turns: VecDeque::new(),
                count: 0,
                alone_for: SHARED_FOR,
                closed: false,
            }),
            filled: Condvar::new(),
            told: None,
            bound,
        }
    }

    /// The same for a queue that no thread waits at.
    pub(super) fn telling(bound: usize, told: Arc<Notify>) -> Queue<T> {
        Queue {
            told: Some(told),
            ..Queue::new(bound)
        }
    }

    // A panic while the lock is held leaves the queue whole: every step is one push or pop.
    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn push(&self, place: Place, job: T) -> Result<(), Refused> {
        let mut state = self.state();
        if state.closed {
            return Err(Refused::Closed);
        }
        if state.count >= self.bound {
            return Err(Refused::Full);
        }
        state.push(place, job);
        drop(state);
        self.filled.notify_one();
        if let Some(told) = &self.told {
            told.notify_one();
        }
        Ok(())
    }

    pub(super) fn is_closed(&self) -> bool {
        self.state().closed
    }

    /// Waits until there is a job; None once the queue is closed and empty.
    fn filled(&self) -> Option<MutexGuard<'_, State<T>>> {
        let mut state = self.state();
        loop {
            if state.count > 0 {
                return Some(state);
            }
            if state.closed {
                return None;
            }
            state = self
                .filled
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Waits for a job; None once the queue is closed and empty.
    pub(super) fn pop(&self) -> Option<T> {
        self.filled()?.pop()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.state().count == 0
    }

    /// What is queued, `limit` in all, without waiting.
    pub(super) fn take_group(&self, limit: usize, group: &mut Vec<T>) {
        self.state().take_group(limit, group);
    }

    /// Waits for a job, then takes what else has queued up, `limit` in all. False once the queue is
    /// closed and empty.
    pub(super) fn pop_group(&self, limit: usize, group: &mut Vec<T>) -> bool {
        let Some(mut state) = self.filled() else {
            return false;
        };
        state.take_group(limit, group);
        true
    }

    /// Nothing more is taken; what is queued is still done.
    pub(super) fn close(&self) {
        self.state().closed = true;
        self.filled.notify_all();
    }

    /// Forgets what is queued.
    pub(super) fn clear(&self) {
        let mut state = self.state();
        while state.pop().is_some() {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(realm: &str) -> Place {
        Place::Lane(realm.into())
    }

    #[test]
    fn a_full_queue_refuses_and_a_closed_one_still_empties() {
        let queue = Queue::new(2);
        assert_eq!(queue.push(of(""), 1), Ok(()));
        assert_eq!(queue.push(of("a"), 2), Ok(()));
        assert_eq!(queue.push(of(""), 3), Err(Refused::Full));
        queue.close();
        assert_eq!(queue.push(of(""), 4), Err(Refused::Closed));
        let mut group = Vec::new();
        assert!(queue.pop_group(8, &mut group));
        assert_eq!(group, [1, 2]);
        assert!(!queue.pop_group(8, &mut group));
    }

    #[test]
    fn a_realm_alone_fills_a_group_and_beside_another_one_takes_its_turn() {
        let queue = Queue::new(10_000);
        let mut group = Vec::new();
        for i in 0..600 {
            queue.push(of("a"), i).unwrap();
        }
        queue.take_group(512, &mut group);
        assert_eq!(group, (0..512).collect::<Vec<_>>());
        group.clear();
        for i in 0..600 {
            queue.push(of("a"), 600 + i).unwrap();
        }
        for i in 0..3 {
            queue.push(of("b"), -i - 1).unwrap();
        }
        queue.take_group(512, &mut group);
        assert_eq!(group[..8], [512, -1, 513, -2, 514, -3, 515, 516]);
        assert_eq!(group.len(), SHARED_GROUP);
        // The other one has nothing more, and is expected back for a while.
        for _ in 0..SHARED_FOR - 1 {
            group.clear();
            queue.push(of("a"), 0).unwrap();
            queue.take_group(512, &mut group);
            assert!(group.len() <= SHARED_GROUP);
        }
        for _ in 0..600 {
            queue.push(of("a"), 7).unwrap();
        }
        group.clear();
        queue.take_group(512, &mut group);
        assert_eq!(group.len(), 512);
    }

    #[test]
    fn what_is_put_last_is_done_after_everything_that_was_queued() {
        let queue = Queue::new(100);
        for (realm, job) in [("a", 1), ("a", 2), ("", 3), ("b", 4), ("a", 5)] {
            queue.push(of(realm), job).unwrap();
        }
        queue.push(Place::Last, 6).unwrap();
        queue.push(of("b"), 7).unwrap();
        let mut group = Vec::new();
        queue.take_group(100, &mut group);
        let at = |job| group.iter().position(|one| *one == job).unwrap();
        assert_eq!(group.len(), 7);
        assert!((1..6).all(|job| at(job) < at(6)), "{group:?}");
        assert!(at(1) < at(2) && at(2) < at(5), "{group:?}");
        assert!(queue.is_empty());
    }
}
