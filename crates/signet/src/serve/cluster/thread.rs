//! A thread with a runtime of its own.

use std::{io, sync::mpsc, thread::JoinHandle};

use tokio::{runtime, sync::oneshot};

/// Runs what is spawned on it, until it is dropped. The consensus of the store needs one: it must
/// go on while other threads wait for the store, to the very end of the process.
pub struct OwnThread {
    handle: runtime::Handle,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl OwnThread {
    /// Starts it.
    pub fn start(name: &str) -> io::Result<OwnThread> {
        let runtime = runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let handle = runtime.handle().clone();
        let (stop, stopped) = oneshot::channel();
        let (begun, begins) = mpsc::sync_channel(1);
        let thread = std::thread::Builder::new()
            .name(name.to_owned())
            .spawn(move || {
                // Whoever started it has gone where nobody listens.
                let _ = begun.send(());
                // The sender says nothing; that it is gone is the word.
                let _ = runtime.block_on(stopped);
            })?;
        begins.recv().map_err(io::Error::other)?;
        Ok(OwnThread {
            handle,
            stop: Some(stop),
            thread: Some(thread),
        })
    }

    /// Does `work` there, and waits for it here.
    pub async fn run<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Result<T, String> {
        let done = self.handle.spawn(work).await;
        done.map_err(|e| format!("the process is stopping: {e}"))
    }
}

impl Drop for OwnThread {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // One that panicked has said so.
            let _ = thread.join();
        }
    }
}
