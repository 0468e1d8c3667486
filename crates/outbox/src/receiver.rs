//! What a node knows of one receiver of a kind.
use std::sync::{
    Arc,
    atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering::Relaxed},
};

use tokio::sync::{Notify, Semaphore};

use crate::kind::Bounds;

/// For so long after its last silence it is remembered how often a receiver was silent, seconds.
const REMEMBERED: u64 = 600;

/// For how long a receiver is left alone that could not be reached so often in a row, seconds.
pub(crate) fn pause(silences: u32) -> u64 {
    match silences {
        0 => 0,
        more => 60.min(5 << (more - 1).min(4)),
    }
}

/// See the module.
pub(crate) struct Receiver {
    /// Attempts that may begin.
    pub(crate) turns: Semaphore,
    /// Items that are claimed.
    pub(crate) held: AtomicUsize,
    /// How often in a row it could not be reached.
    silences: AtomicU32,
    /// Until when it is left alone, Unix seconds.
    alone_until: AtomicU64,
}

impl Receiver {
    pub(crate) fn new(bounds: &Bounds) -> Receiver {
        Receiver {
            turns: Semaphore::new(bounds.at_once_of_receiver),
            held: AtomicUsize::new(0),
            silences: AtomicU32::new(0),
            alone_until: AtomicU64::new(0),
        }
    }

    /// Until when it is left alone, where it is.
    pub(crate) fn alone(&self, now: u64) -> Option<u64> {
        Some(self.alone_until.load(Relaxed)).filter(|&until| now < until)
    }

    /// Whether there is something to remember of it.
    pub(crate) fn was_silent(&self, now: u64) -> bool {
        now < self.alone_until.load(Relaxed).saturating_add(REMEMBERED)
    }

    /// Whether it could be reached.
    pub(crate) fn heard(&self, reached: bool, now: u64) {
        if reached {
            self.silences.store(0, Relaxed);
            self.alone_until.store(0, Relaxed);
        } else if self.alone(now).is_none() {
            // Of several attempts that were open at once, one counts.
            let silences = self.silences.fetch_add(1, Relaxed).saturating_add(1);
            let until = now.saturating_add(pause(silences));
            self.alone_until.store(until, Relaxed);
        }
    }
}

/// One item of a receiver's that a node holds.
pub(crate) struct Share {
    pub(crate) receiver: Arc<Receiver>,
    /// Told when half of what the receiver may have held is free again.
    freed: Arc<Notify>,
    half: usize,
}

impl Share {
    pub(crate) fn new(receiver: Arc<Receiver>, freed: Arc<Notify>, bounds: &Bounds) -> Share {
        receiver.held.fetch_add(1, Relaxed);
        let half = bounds.held_of_receiver / 2;
        Share {
            receiver,
            freed,
            half,
        }
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        if self.receiver.held.fetch_sub(1, Relaxed) == self.half {
            self.freed.notify_one();
        }
    }
}
