//! A value that tasks wait for changes of.
//!
//! Tokio's own picks by chance who of several waiting tasks runs first. Here they run in the
//! order in which they began to wait: with the time and the randomness that are handed in, the same
//! calls are then the same run, and a simulation can be repeated from its seed.
use openraft::{
    OptionalSend, OptionalSync,
    async_runtime::{
        Watch, WatchReceiver, WatchSender,
        watch::{RecvError, SendError},
    },
};
use std::sync::{
    Arc, PoisonError, RwLock, RwLockReadGuard,
    atomic::{AtomicU64, AtomicUsize, Ordering::SeqCst},
};
use tokio::sync::Notify;

struct Shared<T> {
    value: RwLock<T>,
    /// Counted under the lock of the value.
    version: AtomicU64,
    senders: AtomicUsize,
    receivers: AtomicUsize,
    changed: Notify,
}

/// Who changes it.
pub(crate) struct Sender<T>(Arc<Shared<T>>);

/// Who waits for changes.
pub(crate) struct Receiver<T> {
    shared: Arc<Shared<T>>,
    seen: u64,
}

/// All senders are gone.
#[derive(Debug)]
pub(crate) struct Gone;

impl<T> Shared<T> {
    // What is behind the lock is replaced whole, or by a caller that does not panic.
    fn read(&self) -> RwLockReadGuard<'_, T> {
        self.value.read().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Sender<T> {
    pub(crate) fn new(value: T) -> Sender<T> {
        Sender(Arc::new(Shared {
            value: RwLock::new(value),
            version: AtomicU64::new(0),
            senders: AtomicUsize::new(1),
            receivers: AtomicUsize::new(0),
            changed: Notify::new(),
        }))
    }

    /// Changes it; a waiting task continues where `modify` says that it did.
    pub(crate) fn send_if_modified(&self, modify: impl FnOnce(&mut T) -> bool) -> bool {
        {
            let lock = self.0.value.write();
            let mut value = lock.unwrap_or_else(PoisonError::into_inner);
            if !modify(&mut value) {
                return false;
            }
            self.0.version.fetch_add(1, SeqCst);
        }
        self.0.changed.notify_waiters();
        true
    }

    pub(crate) fn send_replace(&self, value: T) {
        self.send_if_modified(|there| {
            *there = value;
            true
        });
    }

    pub(crate) fn borrow(&self) -> RwLockReadGuard<'_, T> {
        self.0.read()
    }

    /// From now on: what is there counts as seen.
    pub(crate) fn subscribe(&self) -> Receiver<T> {
        self.0.receivers.fetch_add(1, SeqCst);
        Receiver {
            seen: self.0.version.load(SeqCst),
            shared: self.0.clone(),
        }
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Sender<T> {
        self.0.senders.fetch_add(1, SeqCst);
        Sender(self.0.clone())
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        if self.0.senders.fetch_sub(1, SeqCst) == 1 {
            self.0.changed.notify_waiters();
        }
    }
}

impl<T> Receiver<T> {
    pub(crate) fn borrow(&self) -> RwLockReadGuard<'_, T> {
        self.shared.read()
    }

    /// What is there now counts as seen.
    pub(crate) fn borrow_and_update(&mut self) -> RwLockReadGuard<'_, T> {
        let value = self.shared.read();
        self.seen = self.shared.version.load(SeqCst);
        value
    }

    /// Waits for something that was not seen.
    pub(crate) async fn changed(&mut self) -> Result<(), Gone> {
        loop {
            // Before the look: what changes behind it is not missed.
            let mut notified = std::pin::pin!(self.shared.changed.notified());
            notified.as_mut().enable();
            let version = self.shared.version.load(SeqCst);
            if version != self.seen {
                self.seen = version;
                return Ok(());
            }
            if self.shared.senders.load(SeqCst) == 0 {
                return Err(Gone);
            }
            notified.await;
        }
    }

    /// Waits until it is so.
    pub(crate) async fn wait_for(&mut self, so: impl Fn(&T) -> bool) -> Result<(), Gone> {
        while !so(&self.borrow_and_update()) {
            self.changed().await?;
        }
        Ok(())
    }
}

impl<T> Clone for Receiver<T> {
    fn clone(&self) -> Receiver<T> {
        self.shared.receivers.fetch_add(1, SeqCst);
        Receiver {
            shared: self.shared.clone(),
            seen: self.seen,
        }
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        self.shared.receivers.fetch_sub(1, SeqCst);
    }
}

/// As the consensus library asks for it.
pub(crate) struct InOrder;

impl Watch for InOrder {
    type Sender<T: OptionalSend + OptionalSync> = Sender<T>;
    type Receiver<T: OptionalSend + OptionalSync> = Receiver<T>;
    type Ref<'a, T: OptionalSend + 'a> = RwLockReadGuard<'a, T>;

    fn channel<T: OptionalSend + OptionalSync>(init: T) -> (Sender<T>, Receiver<T>) {
        let sender = Sender::new(init);
        let receiver = sender.subscribe();
        (sender, receiver)
    }
}

impl<T: OptionalSend + OptionalSync> WatchSender<InOrder, T> for Sender<T> {
    fn send(&self, value: T) -> Result<(), SendError<T>> {
        if self.0.receivers.load(SeqCst) == 0 {
            return Err(SendError(value));
        }
        self.send_replace(value);
        Ok(())
    }

    fn send_if_modified<F: FnOnce(&mut T) -> bool>(&self, modify: F) -> bool {
        Sender::send_if_modified(self, modify)
    }

    fn borrow_watched(&self) -> RwLockReadGuard<'_, T> {
        self.borrow()
    }

    fn subscribe(&self) -> Receiver<T> {
        Sender::subscribe(self)
    }
}

impl<T: OptionalSend + OptionalSync> WatchReceiver<InOrder, T> for Receiver<T> {
    async fn changed(&mut self) -> Result<(), RecvError> {
        Receiver::changed(self).await.map_err(|Gone| RecvError(()))
    }

    fn borrow_watched(&self) -> RwLockReadGuard<'_, T> {
        self.borrow()
    }

    fn borrow_and_update(&mut self) -> RwLockReadGuard<'_, T> {
        Receiver::borrow_and_update(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    #[tokio::test]
    async fn who_waits_goes_on_in_the_order_in_which_it_began_to() {
        let sender = Sender::new(0);
        let order = Arc::new(Mutex::new(Vec::new()));
        let tasks: Vec<_> = (0..40)
            .map(|number| {
                let (mut receiver, order) = (sender.subscribe(), order.clone());
                tokio::spawn(async move {
                    receiver.changed().await.expect("is there");
                    order.lock().expect("is whole").push(number);
                })
            })
            .collect();
        tokio::task::yield_now().await;
        sender.send_replace(1);
        for task in tasks {
            task.await.expect("ends");
        }
        let order = order.lock().expect("is whole").clone();
        assert_eq!(order, (0..40).collect::<Vec<_>>());
    }

    #[tokio::test]
    async fn a_change_is_seen_once_and_the_end_of_the_senders_too() {
        let sender = Sender::new(0);
        let mut receiver = sender.subscribe();
        assert!(!sender.send_if_modified(|_| false));
        sender.send_replace(1);
        sender.send_replace(2);
        receiver.changed().await.expect("is there");
        assert_eq!(*receiver.borrow(), 2);
        let mut late = sender.subscribe();
        let waiting = tokio::spawn(async move { late.wait_for(|value| *value == 3).await });
        tokio::task::yield_now().await;
        sender.send_replace(3);
        waiting.await.expect("ends").expect("is there");
        receiver.changed().await.expect("is there");
        drop(sender.clone());
        drop(sender);
        assert!(receiver.changed().await.is_err());
        assert_eq!(*receiver.borrow_and_update(), 3);
    }
}
