//! The engine without threads: whoever drives it says when queued work is done.
//!
//! For simulations. The same writer commits the same groups to the same file, but in the middle of
//! somebody else's order and time: so a run of many nodes can be repeated from its seed, a disk can
//! be slow by not being driven, and full by a bound on its pages. What a crash may take away is
//! known, too: see [`Committed`].
use super::{
    Options, Read, SqliteStore,
    open::{self, OpenError},
    queue::Queue,
    reserve::Machine,
    sql,
    writer::Writer,
};
use rusqlite::Connection;
use std::{
    io,
    path::Path,
    sync::{Arc, Mutex},
    time::Instant,
};
use tokio::sync::Notify;

/// What the engine asks its machine, handed in.
pub struct Surroundings {
    /// Time that only goes on.
    pub now: Box<dyn Fn() -> Instant + Send>,
    /// Free space of the disk, in bytes.
    pub free: Box<dyn Fn() -> u64 + Send>,
}

/// Does what is queued in a store that was opened by [`SqliteStore::open_driven`]. Until it does,
/// nobody is answered but who reads one key.
pub struct Driver {
    writer: Writer,
    reads: Arc<Queue<Read>>,
    reader: Connection,
    told: Arc<Notify>,
}

/// What [`Driver::commit`] did.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Committed {
    /// Calls that shared the transaction; 0: nothing was queued, and nothing was done.
    pub jobs: usize,
    /// Whether it was committed. Where not, each of them received an error.
    pub done: bool,
    /// Whether it was flushed, and with it all before it. A crash may take away the end of what was
    /// not.
    pub flushed: bool,
}

impl SqliteStore {
    /// The same as [`SqliteStore::open`], without threads: a [`Driver`] does what they would.
    ///
    /// # Errors
    /// See [`OpenError`].
    pub fn open_driven(
        directory: &Path,
        options: Options,
        surroundings: Surroundings,
    ) -> Result<(SqliteStore, Driver), OpenError> {
        let told = Arc::new(Notify::new());
        let queues = (
            Queue::telling(options.write_queue, told.clone()),
            Queue::telling(options.read_queue, told.clone()),
        );
        let Surroundings { now, free } = surroundings;
        let machine = Machine {
            now,
            free: Box::new(move |_| Ok::<u64, io::Error>(free())),
        };
        let options = Options {
            readers: 1,
            ..options
        };
        let lock = Some(open::lock(directory)?);
        let (mut store, writer, mut readers) =
            Self::build(directory, options, lock, machine, queues)?;
        // Invariant: as many as `options.readers`.
        let Some((nearby, reader)) = readers.pop() else {
            return Err(OpenError::Engine {
                path: directory.to_owned(),
                reason: "it has no reader".to_owned(),
            });
        };
        store.nearby.push(Mutex::new(Some(nearby)));
        let driver = Driver {
            writer,
            reads: store.reads.clone(),
            reader,
            told,
        };
        Ok((store, driver))
    }
}

impl Driver {
    /// Notified of every call that is queued.
    pub fn told(&self) -> Arc<Notify> {
        self.told.clone()
    }

    /// Whether changes are queued.
    pub fn has_changes(&self) -> bool {
        !self.writer.queue.is_empty()
    }

    /// Does what reads are queued; the number of them.
    pub fn read(&mut self) -> usize {
        let mut reads = Vec::new();
        self.reads.take_group(usize::MAX, &mut reads);
        let count = reads.len();
        reads.into_iter().for_each(|read| read(&self.reader));
        count
    }

    /// Commits the changes that are queued in one transaction, and answers them.
    pub fn commit(&mut self) -> Committed {
        let (jobs, done, flushed) = self.writer.run_queued();
        Committed {
            jobs,
            done,
            flushed,
        }
    }

    /// The disk has room for so many more pages of 4 KiB; None: for as many as it likes.
    ///
    /// # Errors
    /// [`StoreError`](crate::StoreError): the file cannot be read.
    pub fn limit(&mut self, more: Option<u64>) -> Result<(), crate::StoreError> {
        let connection = &self.writer.connection;
        let set = || -> rusqlite::Result<()> {
            let pages: i64 = connection.query_row("PRAGMA page_count", [], |row| row.get(0))?;
            let most = match more {
                Some(more) => sql::seconds(more).saturating_add(pages),
                None => i64::from(u32::MAX - 1),
            };
            connection.query_row(&format!("PRAGMA max_page_count = {most}"), [], |_| Ok(()))
        };
        set().map_err(sql::store_error)
    }

    /// Ends in order, as a store does that is closed: what is queued is done, and the log folded
    /// into the file.
    pub fn finish(mut self) {
        while self.read() > 0 || self.commit().jobs > 0 {}
        self.writer.finish();
    }
}

impl Drop for Driver {
    // Whoever waits for what is queued hears that the store has stopped.
    fn drop(&mut self) {
        self.writer.queue.close();
        self.reads.close();
        self.writer.queue.clear();
        self.reads.clear();
    }
}

/// Where the transactions end in the bytes of a write-ahead log, in order: a crash leaves it as it
/// is up to one of them that is not before the last flush. None are found in what is no such log.
pub fn ends_of_transactions(log: &[u8]) -> Vec<usize> {
    const HEAD: usize = 32;
    const FRAME: usize = 24 + 4096;
    let mut ends = Vec::new();
    let Some(salt) = log.get(16..24) else {
        return ends;
    };
    let mut at = HEAD;
    // Frames of an earlier turn through the file have another salt. One that ends a transaction
    // says how large the database is after it.
    while let Some(frame) = log
        .get(at..at + FRAME)
        .filter(|frame| frame[8..16] == *salt)
    {
        at += FRAME;
        if frame[4..8] != [0; 4] {
            ends.push(at);
        }
    }
    ends
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Change, Key, Op, Store, StoreError, Table};
    use std::{
        sync::atomic::{AtomicU64, Ordering::SeqCst},
        time::Duration,
    };

    /// Of a machine whose time, in seconds, stands still unless it is set.
    fn surroundings(seconds: &Arc<AtomicU64>) -> Surroundings {
        let (seconds, beginning) = (seconds.clone(), Instant::now());
        Surroundings {
            now: Box::new(move || beginning + Duration::from_secs(seconds.load(SeqCst))),
            free: Box::new(|| 1 << 40),
        }
    }

    fn put(id: &str, size: usize) -> Change {
        Change::new(Op::Put {
            key: Key::new(Table::User, id),
            value: vec![7; size],
            end: None,
        })
    }

    #[tokio::test]
    async fn nothing_is_done_before_the_engine_is_driven() {
        let directory = tempfile::tempdir().expect("a directory");
        let opened = SqliteStore::open_driven(
            directory.path(),
            Options::default(),
            surroundings(&Arc::default()),
        );
        let (store, mut driver) = opened.expect("opens");
        let store = Arc::new(store);
        let told = driver.told();
        let writing = store.clone();
        let written = tokio::spawn(async move { writing.commit(put("a", 1), 1).await });
        told.notified().await;
        let key = Key::new(Table::User, "a");
        assert!(store.get(&key, 1).await.expect("answers").is_none());
        assert!(driver.has_changes());
        let committed = driver.commit();
        assert_eq!(
            (committed.jobs, committed.done, committed.flushed),
            (1, true, true)
        );
        let outcome = written.await.expect("ends").expect("answers");
        assert!(outcome.is_done());
        assert!(store.get(&key, 1).await.expect("answers").is_some());
        assert_eq!(driver.commit().jobs, 0);
        // A caller that waits for a driver that is gone receives an error.
        let writing = store.clone();
        let written = tokio::spawn(async move { writing.commit(put("b", 1), 1).await });
        told.notified().await;
        drop(driver);
        let refused = written.await.expect("ends");
        assert!(
            matches!(refused, Err(StoreError::Unavailable(_))),
            "{refused:?}"
        );
    }

    #[tokio::test]
    async fn a_disk_without_room_refuses_and_takes_changes_again_when_there_is() {
        let seconds = Arc::new(AtomicU64::new(0));
        let directory = tempfile::tempdir().expect("a directory");
        let opened =
            SqliteStore::open_driven(directory.path(), Options::default(), surroundings(&seconds));
        let (store, mut driver) = opened.expect("opens");
        let store = Arc::new(store);
        let told = driver.told();
        // That there is space again is seen a few seconds later.
        for (at, room, taken) in [(0, Some(0), false), (1, None, false), (9, None, true)] {
            seconds.store(at, SeqCst);
            driver.limit(room).expect("reads");
            let writing = store.clone();
            let written = tokio::spawn(async move { writing.commit(put("a", 99_999), 1).await });
            told.notified().await;
            assert_eq!(driver.commit().done, taken);
            assert_eq!(written.await.expect("ends").is_ok(), taken);
        }
    }

    #[tokio::test]
    async fn space_is_looked_for_when_nobody_changes_anything() {
        let seconds = Arc::new(AtomicU64::new(0));
        let directory = tempfile::tempdir().expect("a directory");
        let opened =
            SqliteStore::open_driven(directory.path(), Options::default(), surroundings(&seconds));
        let (store, mut driver) = opened.expect("opens");
        let store = Arc::new(store);
        let told = driver.told();
        driver.limit(Some(0)).expect("reads");
        let writing = store.clone();
        let written = tokio::spawn(async move { writing.commit(put("a", 99_999), 1).await });
        told.notified().await;
        driver.commit();
        assert!(written.await.expect("ends").is_err() && store.is_full());
        driver.limit(None).expect("reads");
        for (at, full) in [(1, true), (9, false)] {
            seconds.store(at, SeqCst);
            store.look_for_space();
            assert!(driver.has_changes());
            driver.commit();
            assert_eq!(store.is_full(), full);
        }
    }
}
