//! The last requests of a development server, for whoever looks at one.
use super::recorded::Finished;
use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
};

/// Most requests that a development server keeps the steps of.
pub const MAX_KEPT: usize = 1_000;
/// Most steps of all of them together.
pub const MAX_KEPT_SPANS: usize = 32_768;

#[derive(Debug, Default)]
pub(super) struct Kept(Mutex<Inner>);

#[derive(Debug, Default)]
struct Inner {
    all: VecDeque<Arc<Finished>>,
    spans: usize,
}

impl Kept {
    pub(super) fn put(&self, finished: Arc<Finished>) {
        let mut inner = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        inner.spans += finished.spans.len();
        inner.all.push_back(finished);
        while inner.all.len() > MAX_KEPT || inner.spans > MAX_KEPT_SPANS {
            let Some(first) = inner.all.pop_front() else {
                break;
            };
            inner.spans -= first.spans.len();
        }
    }

    /// By the request's id, or by the trace's: of several the last one.
    pub(super) fn find(&self, id: &str) -> Option<Arc<Finished>> {
        let inner = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut all = inner.all.iter().rev();
        let found = all.find(|one| one.request_id == id || one.trace.to_string() == id);
        found.cloned()
    }
}
