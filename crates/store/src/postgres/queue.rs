//! Bounded queues, and the circuit breaker in front of them.
//!
//! While the database answers, calls wait on a queue for at most the groups before them. When it
//! does not (a connection cannot be made, or an answer does not come in time) the breaker opens:
//! what is queued is refused, and so is every call, at once. One task goes on trying; the first
//! connection over which it could write closes the breaker.
use super::{
    Options, PostgresError,
    reader::{self, Read},
    session::{Purpose, Session},
    writer::{self, PHASE_SECONDS, Write},
};
use crate::{Key, StoreError};
use std::{
    collections::VecDeque,
    pin::pin,
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{
            AtomicBool, AtomicU64,
            Ordering::{Relaxed, SeqCst},
        },
    },
    time::Duration,
};
use tokio::{
    sync::{Notify, oneshot},
    task::{self, JoinSet},
    time::{sleep, timeout},
};

/// Most calls that wait for a PostgreSQL store, of reads and of changes each
pub const MAX_QUEUE: usize = 8192;

/// The first pause between two tries to reach the database, and the longest.
const PROBES: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(1));

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
    fn new() -> Queue<T> {
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

    fn refuse_all(&self, why: &StoreError) {
        let jobs = std::mem::take(&mut self.state().jobs);
        for job in jobs {
            job.fail(why.clone());
        }
    }
}

/// What the threads of the callers and the tasks of the store share.
pub(super) struct Shared {
    pub(super) options: Options,
    pub(super) writes: Queue<Write>,
    pub(super) reads: Queue<Read>,
    /// The breaker is open.
    pub(super) down: AtomicBool,
    /// What opened it, or kept it open last.
    why: Mutex<Option<PostgresError>>,
    tripped: Notify,
    /// The connection that closed the breaker, for the next writer that needs one.
    spare: Mutex<Option<Session>>,
    pub(super) groups: AtomicU64,
    pub(super) jobs: AtomicU64,
    /// The row that has to be there for anything to be written, and its value.
    pub(super) condition: OnceLock<(Key, Vec<u8>)>,
}

impl Shared {
    pub(super) fn new(options: Options) -> Shared {
        Shared {
            options,
            writes: Queue::new(),
            reads: Queue::new(),
            down: AtomicBool::new(false),
            why: Mutex::new(None),
            tripped: Notify::new(),
            spare: Mutex::new(None),
            groups: AtomicU64::new(0),
            jobs: AtomicU64::new(0),
            condition: OnceLock::new(),
        }
    }

    /// Works until both queues are closed and empty. Within a `LocalSet`.
    pub(super) async fn work(self: Arc<Self>, first: Session) {
        self.keep(first);
        let mut tasks = JoinSet::new();
        for _ in 0..self.options.writers.max(1) {
            tasks.spawn_local(writer::run(self.clone()));
        }
        for _ in 0..self.options.readers.max(1) {
            tasks.spawn_local(reader::run(self.clone()));
        }
        let probing = task::spawn_local(self.clone().probe());
        while let Some(ended) = tasks.join_next().await {
            if ended.is_err_and(|error| error.is_panic()) {
                tracing::error!("a task of the store ended in a panic");
            }
        }
        probing.abort();
        self.spare().take();
    }

    fn spare(&self) -> MutexGuard<'_, Option<Session>> {
        self.spare.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn keep(&self, session: Session) {
        *self.spare() = Some(session);
    }

    /// A connection that writes.
    pub(super) async fn writing(&self) -> Result<Session, PostgresError> {
        let spare = self.spare().take();
        match spare.filter(|session| !session.client.is_closed()) {
            Some(session) => Ok(session),
            None => Session::open(&self.options, Purpose::Writing).await,
        }
    }

    /// What calls are told while the breaker is open.
    pub(super) fn refusal(&self) -> StoreError {
        let why = self.why.lock().unwrap_or_else(PoisonError::into_inner);
        match &*why {
            // No waiting helps: whoever asks is told what does.
            Some(error @ (PostgresError::OldSchema { .. } | PostgresError::NewSchema { .. })) => {
                error.for_caller()
            }
            Some(_) | None => StoreError::Unavailable("the database does not answer".to_owned()),
        }
    }

    fn note(&self, error: &PostgresError) {
        let mut why = self.why.lock().unwrap_or_else(PoisonError::into_inner);
        *why = Some(error.clone());
    }

    /// Opens the breaker.
    pub(super) fn trip(&self, error: &PostgresError) {
        self.note(error);
        if !self.down.swap(true, SeqCst) {
            tracing::error!(%error, "the database does not answer: what needs it is refused until it does");
        }
        let refusal = self.refusal();
        self.writes.refuse_all(&refusal);
        self.reads.refuse_all(&refusal);
        self.tripped.notify_one();
    }

    /// Closes the breaker when the database can be written to again.
    async fn probe(self: Arc<Self>) {
        loop {
            self.tripped.notified().await;
            let (mut pause, longest) = PROBES;
            while self.down.load(SeqCst) {
                sleep(jitter(pause)).await;
                pause = (pause * 2).min(longest);
                match self.try_write().await {
                    Ok(session) => {
                        self.keep(session);
                        self.down.store(false, SeqCst);
                        tracing::info!("the database answers again");
                    }
                    Err(error) => {
                        self.note(&error);
                        tracing::debug!(%error, "the database does not answer yet");
                    }
                }
            }
        }
    }

    /// A connection that has written something: where a standby has to confirm each commit, a
    /// server that has lost it answers reads and no more.
    async fn try_write(&self) -> Result<Session, PostgresError> {
        let session = Session::open(&self.options, Purpose::Writing).await?;
        let patience = Duration::from_secs(PHASE_SECONDS);
        match timeout(patience, writer::touch(&session)).await {
            Ok(done) => done.map(|()| session),
            Err(_) => Err(PostgresError::Slow),
        }
    }

    pub(super) fn count_group(&self, jobs: usize) {
        self.groups.fetch_add(1, Relaxed);
        self.jobs.fetch_add(jobs as u64, Relaxed);
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
