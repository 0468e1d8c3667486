//! A realm's place in the process: its record, and the realm once somebody asked for it.
use super::{OpenRealm, Realms};
use crate::state::Realm;
use signet_oauth::registry::RealmEntry;
use std::{
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
    sync::{OnceCell, watch},
    time::Instant,
};

/// How long requests under way may go on in a realm whose record has changed.
const LEAVE_WITHIN: Duration = Duration::from_secs(10);
/// Between two looks whether they are done.
const LOOK_EVERY: Duration = Duration::from_millis(2);

/// For how long a realm that could not be opened is not tried again: requests for it cost no more
/// than an answer.
const AGAIN_AFTER: Duration = Duration::from_secs(1);

/// Why a realm is not open.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NotOpen {
    /// Its record was changed meanwhile: the next look finds another place.
    #[error("the realm was changed meanwhile")]
    Changed,
    /// It is suspended, or is going to be deleted.
    #[error("the realm is suspended")]
    Suspended,
    /// It could not be made; the log says why.
    #[error("the realm could not be opened")]
    Failed,
}

/// See the module.
pub struct Slot {
    entry: Arc<RealmEntry>,
    realm: OnceCell<Arc<Realm>>,
    /// It is not in the table any more.
    ended: AtomicBool,
    /// Says `true` once the realm of the record before this one is closed.
    before: Option<watch::Receiver<bool>>,
    closed: watch::Sender<bool>,
    /// Requests for it, from its first one on.
    requests: OnceLock<Arc<AtomicU64>>,
    /// When the last one came, Unix milliseconds.
    asked_at_ms: AtomicU64,
    /// When it could not be opened.
    failed_at: Mutex<Option<Instant>>,
}

impl Slot {
    /// The place of a record. `before`: the place that the realm of this name had, whose realm is
    /// closed before this one is opened.
    pub(super) fn new(entry: Arc<RealmEntry>, before: Option<&Arc<Slot>>) -> Arc<Slot> {
        Arc::new(Slot {
            entry,
            realm: OnceCell::new(),
            ended: AtomicBool::new(false),
            before: before.map(|before| before.closed.subscribe()),
            closed: watch::Sender::new(false),
            requests: OnceLock::new(),
            asked_at_ms: AtomicU64::new(0),
            failed_at: Mutex::default(),
        })
    }

    /// Its record.
    pub fn entry(&self) -> &Arc<RealmEntry> {
        &self.entry
    }

    /// The realm, if it is open.
    pub fn opened(&self) -> Option<&Arc<Realm>> {
        self.realm.get()
    }

    /// Counts a request for it.
    pub(super) fn count(&self, realms: &Realms) {
        let counter = || realms.requests.counter(&self.entry.name);
        self.requests.get_or_init(counter).fetch_add(1, Relaxed);
        self.asked_at_ms.store(realms.first().now_ms(), Relaxed);
    }

    /// When the last request for it came, Unix milliseconds; 0: none did.
    pub(super) fn asked_at_ms(&self) -> u64 {
        self.asked_at_ms.load(Relaxed)
    }

    fn failed(&self) -> MutexGuard<'_, Option<Instant>> {
        // It is written whole.
        self.failed_at
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn has_just_failed(&self) -> bool {
        self.failed().is_some_and(|at| at.elapsed() < AGAIN_AFTER)
    }

    async fn until_free(&self) {
        if let Some(mut before) = self.before.clone() {
            // One that is gone is closed.
            let _ = before.wait_for(|closed| *closed).await;
        }
    }

    /// Opens the realm. It is not given up half way: the caller spawns this.
    pub(super) async fn open(
        self: Arc<Self>,
        realms: Arc<Realms>,
        by: Arc<dyn OpenRealm>,
    ) -> Result<Arc<Realm>, NotOpen> {
        self.until_free().await;
        let made = self.realm.get_or_try_init(async || {
            if self.ended.load(SeqCst) {
                return Err(NotOpen::Changed);
            }
            if self.has_just_failed() {
                return Err(NotOpen::Failed);
            }
            let realm = by.open(Arc::clone(&self.entry)).await.map_err(|error| {
                tracing::error!(realm = self.entry.name, error, "failed to open a realm");
                *self.failed() = Some(Instant::now());
                NotOpen::Failed
            })?;
            realms.hold(&realm);
            Ok(realm)
        });
        let realm = made.await?;
        by.opened(realm);
        Ok(Arc::clone(realm))
    }

    /// It is no longer in the table. What closes it, at the first call.
    pub(super) fn end(self: &Arc<Self>) -> Option<Closing> {
        let first = !self.ended.swap(true, SeqCst);
        first.then(|| Closing(Arc::clone(self)))
    }

    /// Whether it is no longer in the table, and closed.
    pub(super) fn is_closed(&self) -> bool {
        *self.closed.borrow()
    }

    /// Waits until a realm that is no longer in the table is closed.
    pub async fn until_closed(&self) {
        let mut closed = self.closed.subscribe();
        // The sender is this place's own.
        let _ = closed.wait_for(|closed| *closed).await;
    }
}

/// A realm that has to be closed.
pub(super) struct Closing(Arc<Slot>);

impl Closing {
    pub(super) async fn run(self, by: Arc<dyn OpenRealm>) {
        let slot = self.0;
        slot.until_free().await;
        // Waits for one that is being opened now.
        let none = slot.realm.get_or_try_init(async || Err(NotOpen::Changed));
        if let Ok(realm) = none.await {
            let realm = Arc::clone(realm);
            by.end_tasks(&realm);
            realm.revocation_streams.end();
            // The place's own, and this one.
            let until = Instant::now() + LEAVE_WITHIN;
            while Arc::strong_count(&realm) > 2 && Instant::now() < until {
                tokio::time::sleep(LOOK_EVERY).await;
            }
            by.close(realm).await;
        }
        slot.closed.send_replace(true);
    }
}
