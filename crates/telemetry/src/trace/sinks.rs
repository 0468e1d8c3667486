//! Where what was recorded goes.
use super::{kept::Kept, recorded::Finished};
use crate::queue::Queue;
use std::sync::{Arc, OnceLock};

/// Most spans that wait for their export; further ones are dropped and counted.
pub const MAX_WAITING_SPANS: usize = 32_768;

pub(super) struct Sinks {
    pub(super) kept: OnceLock<Kept>,
    pub(super) finished: Queue<Arc<Finished>>,
}

impl Default for Sinks {
    fn default() -> Sinks {
        Sinks {
            kept: OnceLock::new(),
            finished: Queue::new(MAX_WAITING_SPANS),
        }
    }
}

impl Sinks {
    pub(super) fn put(&self, finished: Arc<Finished>, exported: bool) {
        if let Some(kept) = self.kept.get() {
            kept.put(Arc::clone(&finished));
        }
        if exported {
            let weight = finished.spans.len();
            self.finished.put(finished, weight);
        }
    }
}
