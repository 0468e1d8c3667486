//! Work for the engine's writer, from a closure.
use signet_store::{
    SqliteStore, StoreError,
    sqlite::replica::{Failed, Space, Work},
};
use std::io;
use tokio::sync::oneshot;

struct Task<R, D> {
    run: R,
    flushed: bool,
    done: D,
}

impl<R, D> Work for Task<R, D>
where
    R: FnMut(&mut Space<'_>) -> Result<(), Failed> + Send,
    D: FnOnce(Result<(), StoreError>) + Send,
{
    fn run(&mut self, space: &mut Space<'_>) -> Result<(), Failed> {
        (self.run)(space)
    }

    fn is_flushed(&self) -> bool {
        self.flushed
    }

    fn done(self: Box<Self>, result: Result<(), StoreError>) {
        (self.done)(result);
    }
}

/// Whether an answer waits for the disk.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Until {
    /// It is flushed.
    Flushed,
    /// It is in its order, and read by any reader.
    Written,
}

/// Queues work, and calls `done` at its end. `run` may be called several times.
pub(crate) fn queue(
    store: &SqliteStore,
    until: Until,
    run: impl FnMut(&mut Space<'_>) -> Result<(), Failed> + Send + 'static,
    done: impl FnOnce(Result<(), StoreError>) + Send + 'static,
) -> Result<(), StoreError> {
    store.work(Box::new(Task {
        run,
        flushed: until == Until::Flushed,
        done,
    }))
}

/// Does work, and returns what its last run made.
pub(crate) async fn work<T: Send + 'static>(
    store: &SqliteStore,
    until: Until,
    mut run: impl FnMut(&mut Space<'_>) -> Result<T, Failed> + Send + 'static,
) -> Result<T, StoreError> {
    let (reply, answer) = oneshot::channel();
    let made = std::sync::Arc::new(std::sync::Mutex::new(None));
    let keep = made.clone();
    let lock = |made: &std::sync::Mutex<Option<T>>, value: Option<T>| {
        let mut made = made.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        std::mem::replace(&mut *made, value)
    };
    queue(
        store,
        until,
        move |space| {
            let value = run(space)?;
            lock(&keep, Some(value));
            Ok(())
        },
        move |result| drop(reply.send(result)),
    )?;
    let stopped = || StoreError::Unavailable("its thread has stopped".to_owned());
    answer.await.map_err(|_| stopped())??;
    let value = made
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner())
        .take();
    value.ok_or_else(stopped)
}

/// A failure of the store, as the consensus library takes it.
pub(crate) fn io_error(error: StoreError) -> io::Error {
    io::Error::other(error)
}
