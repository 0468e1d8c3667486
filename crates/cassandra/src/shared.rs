//! What all calls of a store share: the connection, the clock, places in line, and the circuit
//! breaker.
use crate::{
    error::Trouble,
    fault::{Fault, Point},
    session::Session,
    stamp::Clock,
};
use signet_store::{Key, StoreError};
use std::{
    collections::hash_map::RandomState,
    hash::BuildHasher,
    sync::{
        Arc,
        atomic::{
            AtomicBool, AtomicU32, AtomicUsize,
            Ordering::{Relaxed, SeqCst},
        },
    },
    time::Duration,
};
use tokio::{
    sync::{Mutex, OwnedMutexGuard, Semaphore},
    time::{Instant, sleep, timeout},
};

/// Most calls of a Cassandra store that are worked on at once
pub const MAX_IN_FLIGHT: usize = 256;

/// Most calls that wait for a Cassandra store, beside those that are worked on
pub const MAX_WAITING: usize = 8192;

/// Seconds after which a call of a Cassandra store is answered as unavailable
pub const CALL_SECONDS: u64 = 10;

/// Lost answers in a row that open the breaker.
const MISSES: u32 = 3;

/// The first pause between two tries to reach the cluster, and the longest.
const PROBES: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(1));

/// Locks of this process' keys.
const STRIPES: usize = 1024;

/// Keys that a call has to itself, within this process.
pub(crate) type Held = Vec<OwnedMutexGuard<()>>;

pub(crate) struct Shared {
    pub(crate) session: Session,
    pub(crate) clock: Clock,
    pub(crate) fault: Option<Fault>,
    pub(crate) permits: Arc<Semaphore>,
    pub(crate) waiting: AtomicUsize,
    stripes: Vec<Arc<Mutex<()>>>,
    hasher: RandomState,
    down: AtomicBool,
    misses: AtomicU32,
    /// This process' row of the probes.
    who: [u8; 16],
}

/// How long a call may still take.
#[derive(Clone, Copy)]
pub(crate) struct Deadline {
    at: Instant,
    tries: u32,
}

impl Deadline {
    pub(crate) fn new() -> Deadline {
        Deadline {
            at: Instant::now() + Duration::from_secs(CALL_SECONDS),
            tries: 0,
        }
    }

    /// Whether there is time left.
    pub(crate) fn check(&self) -> Result<(), StoreError> {
        if Instant::now() >= self.at {
            let text = "the row is contended, or the cluster is slow";
            return Err(StoreError::Unavailable(text.to_owned()));
        }
        Ok(())
    }

    /// Waits before another try, longer each time and never as long as another node does.
    pub(crate) async fn pause(&mut self) -> Result<(), StoreError> {
        self.check()?;
        let most = 4000u64 << self.tries.min(4);
        let random = u64::from_le_bytes(signet_crypto::random::bytes());
        sleep(Duration::from_micros(500 + random % most)).await;
        self.tries += 1;
        Ok(())
    }
}

impl Shared {
    pub(crate) fn new(session: Session, fault: Option<Fault>) -> Shared {
        Shared {
            session,
            clock: Clock::new(),
            fault,
            permits: Arc::new(Semaphore::new(MAX_IN_FLIGHT)),
            waiting: AtomicUsize::new(0),
            stripes: (0..STRIPES).map(|_| Arc::default()).collect(),
            hasher: RandomState::new(),
            down: AtomicBool::new(false),
            misses: AtomicU32::new(0),
            who: signet_crypto::random::bytes(),
        }
    }

    /// Waits for this process' other calls on the same keys: they would only get in each other's
    /// way. All are taken in one order, so that no two calls wait for each other.
    pub(crate) async fn hold(&self, keys: impl Iterator<Item = &Key>) -> Result<Held, StoreError> {
        let stripe = |key: &Key| usize::try_from(self.hasher.hash_one(key)).unwrap_or(0) % STRIPES;
        let mut wanted: Vec<usize> = keys.map(stripe).collect();
        wanted.sort_unstable();
        wanted.dedup();
        let all = async {
            let mut held = Vec::with_capacity(wanted.len());
            for stripe in wanted {
                held.push(self.stripes[stripe].clone().lock_owned().await);
            }
            held
        };
        let patience = Duration::from_secs(CALL_SECONDS);
        let slow = |_| StoreError::Unavailable("calls before it do not end".to_owned());
        timeout(patience, all).await.map_err(slow)
    }

    pub(crate) fn refuse_if_down(&self) -> Result<(), StoreError> {
        match self.down.load(SeqCst) {
            true => Err(StoreError::Unavailable(
                "the cluster does not answer".to_owned(),
            )),
            false => Ok(()),
        }
    }

    /// Notes what became of a statement, and hands it on.
    pub(crate) fn note<T>(self: &Arc<Self>, result: Result<T, Trouble>) -> Result<T, Trouble> {
        match &result {
            Ok(_) | Err(Trouble::Refused(_) | Trouble::Corrupt(_)) => self.misses.store(0, Relaxed),
            Err(Trouble::NotDone(text) | Trouble::Unknown(text)) => {
                let misses = self.misses.fetch_add(1, Relaxed) + 1;
                if misses >= MISSES && !self.down.swap(true, SeqCst) {
                    tracing::error!(error = text, "the store's cluster does not answer");
                    tokio::spawn(self.clone().probe_until_up());
                }
            }
        }
        result
    }

    /// Writes a row of this process' own.
    pub(crate) async fn probe(&self) -> Result<bool, Trouble> {
        self.session.probe(self.clock.next(), &self.who).await
    }

    async fn probe_until_up(self: Arc<Self>) {
        let (mut pause, longest) = PROBES;
        loop {
            sleep(pause).await;
            pause = longest.min(pause * 2);
            // Closed: nobody asks any more.
            if self.permits.is_closed() {
                return;
            }
            if self.probe().await.is_ok() {
                tracing::info!("the store's cluster answers again");
                self.misses.store(0, Relaxed);
                self.down.store(false, SeqCst);
                return;
            }
        }
    }

    /// Tests end a call at some point as a crash would. Everything stays as it is then.
    pub(crate) fn reach(&self, point: Point) -> Result<(), StoreError> {
        match self
            .fault
            .as_ref()
            .is_some_and(|fault| fault.strikes(point))
        {
            true => Err(StoreError::Unavailable("a test ended this call".to_owned())),
            false => Ok(()),
        }
    }

    /// Tests lose the answer to a statement that was done.
    pub(crate) fn lose(
        &self,
        point: Point,
        answer: Result<bool, Trouble>,
    ) -> Result<bool, Trouble> {
        match self
            .fault
            .as_ref()
            .is_some_and(|fault| fault.strikes(point))
        {
            true => Err(Trouble::Unknown("a test lost this answer".to_owned())),
            false => answer,
        }
    }
}
