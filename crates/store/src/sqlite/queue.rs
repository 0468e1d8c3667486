//! A bounded queue between tasks and the store's threads: pushing never waits, popping does.
use std::{
    collections::VecDeque,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
};
use tokio::sync::Notify;

/// Why a job was not taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Refused {
    Full,
    Closed,
}

pub(super) struct Queue<T> {
    state: Mutex<State<T>>,
    filled: Condvar,
    /// Notified of each job, where no thread waits for them.
    told: Option<Arc<Notify>>,
    bound: usize,
}

struct State<T> {
    jobs: VecDeque<T>,
    closed: bool,
}

impl<T> Queue<T> {
    pub(super) fn new(bound: usize) -> Queue<T> {
        Queue {
            state: Mutex::new(State {
                jobs: VecDeque::new(),
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

    pub(super) fn push(&self, job: T) -> Result<(), Refused> {
        let mut state = self.state();
        if state.closed {
            return Err(Refused::Closed);
        }
        if state.jobs.len() >= self.bound {
            return Err(Refused::Full);
        }
        state.jobs.push_back(job);
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

    /// Waits for a job; None once the queue is closed and empty.
    pub(super) fn pop(&self) -> Option<T> {
        let mut state = self.state();
        loop {
            if let Some(job) = state.jobs.pop_front() {
                return Some(job);
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

    pub(super) fn is_empty(&self) -> bool {
        self.state().jobs.is_empty()
    }

    /// What is queued, `limit` in all, without waiting.
    pub(super) fn take_group(&self, limit: usize, group: &mut Vec<T>) {
        let mut state = self.state();
        while group.len() < limit
            && let Some(job) = state.jobs.pop_front()
        {
            group.push(job);
        }
    }

    /// Waits for a job, then takes what else has queued up, `limit` in all. False once the queue is
    /// closed and empty.
    pub(super) fn pop_group(&self, limit: usize, group: &mut Vec<T>) -> bool {
        let Some(first) = self.pop() else {
            return false;
        };
        group.push(first);
        self.take_group(limit, group);
        true
    }

    /// Nothing more is taken; what is queued is still done.
    pub(super) fn close(&self) {
        self.state().closed = true;
        self.filled.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_queue_refuses_and_a_closed_one_still_empties() {
        let queue = Queue::new(2);
        assert_eq!(queue.push(1), Ok(()));
        assert_eq!(queue.push(2), Ok(()));
        assert_eq!(queue.push(3), Err(Refused::Full));
        queue.close();
        assert_eq!(queue.push(4), Err(Refused::Closed));
        let mut group = Vec::new();
        assert!(queue.pop_group(8, &mut group));
        assert_eq!(group, [1, 2]);
        assert!(!queue.pop_group(8, &mut group));
    }
}
