//! What requests, the writer and readers share: the queue, and how the writer is woken.

use std::fs::File;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed, Ordering::SeqCst, fence};
use std::sync::mpsc::{SyncSender, TrySendError};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread::{JoinHandle, Thread};

use signet_agent::identity::VerifiedDocument;
use signet_crypto::Clock;
use signet_store::Store;

use crate::counters::Counters;
use crate::event::Entry;
use crate::refusals::Refusals;
use crate::repeated::Repeated;
use crate::segment::Places;
use signet_store::NodeId;

/// Decisions that may wait for the audit trail's writer; beyond it they are counted, and the count
/// is a line.
pub(crate) const MAX_QUEUED: usize = 65536;

/// What requests, the writer and readers share.
pub(crate) struct Shared {
    sender: SyncSender<Box<Entry>>,
    pub(crate) node: NodeId,
    pub(crate) places: Places,
    pub(crate) document: VerifiedDocument,
    pub(crate) counters: Counters,
    pub(crate) refusals: Refusals,
    pub(crate) repeated: Repeated,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) clock: Arc<dyn Clock>,
    /// Decisions that found the queue full, and since when.
    pub(crate) dropped: AtomicU64,
    pub(crate) dropped_since: AtomicU64,
    /// All of them since the start.
    pub(crate) dropped_in_all: AtomicU64,
    /// The store may have lines that are not in the log.
    pub(crate) pending: AtomicBool,
    pub(crate) closing: AtomicBool,
    /// The last batch could not be written.
    pub(crate) failing: AtomicBool,
    /// The last batch could not be written because the disk is full: refusals are counted and
    /// nothing else of them kept.
    pub(crate) full: AtomicBool,
    /// Refusals that were not recorded because of that, and since when.
    pub(crate) shed: AtomicU64,
    pub(crate) shed_since: AtomicU64,
    /// A segment was closed that the keeper has not looked at. A flag beside its wake: waiting for
    /// the writer may take the wake for its own.
    pub(crate) closed: AtomicBool,
    /// A record says that the segments before this record left the directory.
    pub(crate) gone: AtomicU64,
    /// Lines in the log.
    pub(crate) lines: AtomicU64,
    /// The writer waits to be woken.
    pub(crate) asleep: AtomicBool,
    pub(crate) thread: OnceLock<Thread>,
    pub(crate) keeper: OnceLock<Thread>,
    /// Keeps other processes out of the directory, on a store that several nodes write.
    pub(crate) lock: OnceLock<File>,
    pub(crate) handles: Mutex<Vec<JoinHandle<()>>>,
}

impl Shared {
    pub(crate) fn new(
        sender: SyncSender<Box<Entry>>,
        node: NodeId,
        places: Places,
        document: VerifiedDocument,
        store: Arc<dyn Store>,
        clock: Arc<dyn Clock>,
        refusals_per_second: u32,
    ) -> Shared {
        Shared {
            sender,
            node,
            places,
            document,
            counters: Counters::default(),
            refusals: Refusals::new(refusals_per_second),
            repeated: Repeated::default(),
            store,
            clock,
            dropped: AtomicU64::new(0),
            dropped_since: AtomicU64::new(0),
            dropped_in_all: AtomicU64::new(0),
            pending: AtomicBool::new(true),
            closing: AtomicBool::new(false),
            failing: AtomicBool::new(false),
            full: AtomicBool::new(false),
            shed: AtomicU64::new(0),
            shed_since: AtomicU64::new(0),
            closed: AtomicBool::new(false),
            gone: AtomicU64::new(0),
            lines: AtomicU64::new(0),
            asleep: AtomicBool::new(false),
            thread: OnceLock::new(),
            keeper: OnceLock::new(),
            lock: OnceLock::new(),
            handles: Mutex::default(),
        }
    }

    /// A change carried a line.
    pub(crate) fn changed(&self) {
        self.pending.store(true, SeqCst);
        self.wake();
    }

    /// So many refusals are not recorded, because the disk is full.
    pub(crate) fn shed(&self, refusals: u64, at_ms: u64) {
        let _ = self.shed_since.compare_exchange(0, at_ms, Relaxed, Relaxed);
        self.shed.fetch_add(refusals, SeqCst);
    }

    pub(crate) fn push(&self, entry: Entry) {
        let at_ms = entry.at_ms;
        match self.sender.try_send(Box::new(entry)) {
            Ok(()) => {}
            Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) => {
                let _ = self
                    .dropped_since
                    .compare_exchange(0, at_ms, Relaxed, Relaxed);
                self.dropped.fetch_add(1, SeqCst);
                self.dropped_in_all.fetch_add(1, Relaxed);
            }
        }
        self.wake();
    }

    /// One wake for each batch, not for each line: the writer says when it sleeps.
    fn wake(&self) {
        // Without it the writer could sleep on a line that it did not see, and we see a writer that
        // was still awake.
        fence(SeqCst);
        if self.asleep.load(SeqCst) && self.asleep.swap(false, SeqCst) {
            self.unpark();
        }
    }

    /// A segment was closed.
    pub(crate) fn closed_a_segment(&self) {
        self.closed.store(true, SeqCst);
        if let Some(thread) = self.keeper.get() {
            thread.unpark();
        }
    }

    pub(crate) fn unpark(&self) {
        if let Some(thread) = self.thread.get() {
            thread.unpark();
        }
    }
}
