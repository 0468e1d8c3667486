//! The open revocation streams: how many there are, and the word that ends them when the server
//! stops.
use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::Relaxed},
};
use tokio::sync::watch;

/// Streams at once. Beyond, the answer is 503.
pub const MAX_STREAMS: usize = 1024;

/// The open streams of a realm.
pub struct Streams {
    open: Arc<AtomicUsize>,
    stop: watch::Sender<bool>,
}

impl Default for Streams {
    fn default() -> Streams {
        Streams {
            open: Arc::default(),
            stop: watch::Sender::new(false),
        }
    }
}

impl Streams {
    /// Ends all of them, and every later one at its beginning: the server stops.
    pub fn end(&self) {
        self.stop.send_replace(true);
    }

    /// Says `true` once the streams have to end.
    pub fn stopping(&self) -> watch::Receiver<bool> {
        self.stop.subscribe()
    }

    /// A place for one more, until it is dropped; `None` where as many are open as may be.
    pub fn enter(&self) -> Option<Place> {
        let entered = self.open.fetch_update(Relaxed, Relaxed, |open| {
            (open < MAX_STREAMS).then_some(open + 1)
        });
        entered.ok().map(|_| Place(self.open.clone()))
    }
}

/// One open stream.
pub struct Place(Arc<AtomicUsize>);

impl Drop for Place {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Relaxed);
    }
}
