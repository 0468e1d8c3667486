//! Bounded queues, and the circuit breaker in front of them.
//!
//! While the database answers, calls wait on a queue for at most the groups before them. When it
//! does not (a connection cannot be made, or an answer does not come in time) the breaker opens:
//! what is queued is refused, and so is every call, at once. One task goes on trying; the first
//! connection over which it could write closes the breaker.
use crate::StoreError;
use std::{
    collections::VecDeque,
    pin::pin,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tokio::sync::{Notify, oneshot};

/// Most calls that wait for a PostgreSQL store, of reads and of changes each
pub const MAX_QUEUE: usize = 8192;

/// Where a call is answered.
pub(super) type Reply<T> = oneshot::Sender<Result<T, StoreError>>;

pub(super) fn stopped() -> StoreError {
    StoreError::Unavailable("it was closed".to_owned())
}

/// What can be refused, and weighs something.
pub(super) trait Job {
    fn fail(self, error: StoreError);
    /// Bytes.
    fn weight(&self) -> usize;
}

pub(super) struct Queue<T> {
    state: Mutex<State<T>>,
    filled: Notify,
}

struct State<T> {
    jobs: VecDeque<T>,
    closed: bool,
}

impl<T> Queue<T> {
    pub(super) fn new() -> Queue<T> {
        Queue {
            state: Mutex::new(State {
                jobs: VecDeque::new(),
                closed: false,
            }),
            filled: Notify::new(),
        }
    }

    // A panic while the lock is held leaves the queue whole: every step is one push or pop.
    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn push(&self, job: T) -> Result<(), StoreError> {
        let mut state = self.state();
        if state.closed {
            return Err(stopped());
        }
        if state.jobs.len() >= MAX_QUEUE {
            return Err(StoreError::Unavailable("its queue is full".to_owned()));
        }
        state.jobs.push_back(job);
        drop(state);
        self.filled.notify_one();
        Ok(())
    }

    /// Nothing more is taken; what is queued is still done.
    pub(super) fn close(&self) {
        self.state().closed = true;
        self.filled.notify_waiters();
    }
}

impl<T: Job> Queue<T> {
    /// Waits for a job, then takes what else has queued up, within bounds. Empty once the queue is
    /// closed and empty.
    pub(super) async fn pop_group(&self, most: usize, weight: usize) -> Vec<T> {
        loop {
            let mut filled = pin!(self.filled.notified());
            // From here on no notification is missed.
            filled.as_mut().enable();
            {
                let mut state = self.state();
                let mut group = Vec::new();
                let mut weighs = 0;
                while group.len() < most && weighs < weight {
                    let Some(job) = state.jobs.pop_front() else {
                        break;
                    };
                    weighs += job.weight();
                    group.push(job);
                }
                if !group.is_empty() || state.closed {
                    if !state.jobs.is_empty() {
                        self.filled.notify_one();
                    }
                    return group;
                }
            }
            filled.await;
        }
    }

    pub(super) fn refuse_all(&self, why: &StoreError) {
        let jobs = std::mem::take(&mut self.state().jobs);
        for job in jobs {
            job.fail(why.clone());
        }
    }
}

/// Half of it to all of it, so that several nodes do not come back in step.
pub(super) fn jitter(pause: Duration) -> Duration {
    let part = f64::from(u16::from_le_bytes(signet_crypto::random::bytes())) / 65536.0;
    pause.mul_f64(0.5 + part / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Job for usize {
        fn fail(self, _: StoreError) {}
        fn weight(&self) -> usize {
            *self
        }
    }

    #[tokio::test]
    async fn a_group_is_bounded_by_its_number_and_its_weight() {
        let queue = Queue::new();
        for job in [1, 1, 1, 50, 60, 70] {
            queue.push(job).expect("is taken");
        }
        assert_eq!(queue.pop_group(2, 100).await, [1, 1]);
        assert_eq!(queue.pop_group(9, 100).await, [1, 50, 60]);
        queue.close();
        assert!(queue.push(1).is_err());
        assert_eq!(queue.pop_group(9, 100).await, [70]);
        assert_eq!(queue.pop_group(9, 100).await, [0; 0]);
    }

    #[tokio::test]
    async fn a_full_queue_refuses() {
        let queue = Queue::new();
        for _ in 0..MAX_QUEUE {
            queue.push(1usize).expect("is taken");
        }
        assert!(matches!(queue.push(1), Err(StoreError::Unavailable(_))));
    }
}
