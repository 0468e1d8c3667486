//! What the threads of the callers and the tasks of the store share: the queues, and the breaker
//! that refuses calls while the database does not answer.
use super::{
    Options, PostgresError,
    jobs::{Read, Write},
    queue::Queue,
    session::{Purpose, Session},
};
use crate::{Key, StoreError};
use std::sync::{
    Mutex, MutexGuard, OnceLock, PoisonError,
    atomic::{
        AtomicBool, AtomicU64,
        Ordering::{Relaxed, SeqCst},
    },
};
use tokio::sync::Notify;

/// What the threads of the callers and the tasks of the store share.
pub(super) struct Shared {
    pub(super) options: Options,
    pub(super) writes: Queue<Write>,
    pub(super) reads: Queue<Read>,
    /// The breaker is open.
    pub(super) down: AtomicBool,
    /// What opened it, or kept it open last.
    why: Mutex<Option<PostgresError>>,
    pub(super) tripped: Notify,
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

    pub(super) fn spare(&self) -> MutexGuard<'_, Option<Session>> {
        self.spare.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn keep(&self, session: Session) {
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

    /// What calls receive while the breaker is open.
    pub(super) fn refusal(&self) -> StoreError {
        let why = self.why.lock().unwrap_or_else(PoisonError::into_inner);
        match &*why {
            // No waiting helps: the error says what does.
            Some(error @ (PostgresError::OldSchema { .. } | PostgresError::NewSchema { .. })) => {
                error.for_caller()
            }
            Some(_) | None => StoreError::Unavailable("the database does not answer".to_owned()),
        }
    }

    pub(super) fn note(&self, error: &PostgresError) {
        let mut why = self.why.lock().unwrap_or_else(PoisonError::into_inner);
        *why = Some(error.clone());
    }

    /// Opens the breaker.
    pub(super) fn trip(&self, error: &PostgresError) {
        self.note(error);
        if !self.down.swap(true, SeqCst) {
            tracing::error!(%error, "lost the database: requests that need it are refused");
        }
        let refusal = self.refusal();
        self.writes.refuse_all(&refusal);
        self.reads.refuse_all(&refusal);
        self.tripped.notify_one();
    }

    pub(super) fn count_group(&self, jobs: usize) {
        self.groups.fetch_add(1, Relaxed);
        self.jobs.fetch_add(jobs as u64, Relaxed);
    }
}
