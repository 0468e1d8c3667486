//! The embedded engine: SQLite in WAL mode, one writer thread that commits in groups, readers
//! beside it.
//!
//! Writes and lists become jobs on a bounded queue, and the asynchronous caller waits for its
//! answer. When a queue is full the call is refused at once (`Unavailable`): waiting longer would
//! only make the queue longer. A read of one key is done where it is asked for: a row that was
//! written a moment ago lies in memory and costs a few microseconds, where handing the question to
//! another thread and back costs ten times that. Only when all connections for such reads are taken
//! does it queue with the lists. Rows that every request reads and few change ([`recent`]) are not
//! asked for again. The data directory belongs to one process at a time.
mod backup;
mod driven;
mod open;
mod queue;
mod recent;
pub mod replica;
mod reserve;
mod sql;
mod writer;

pub use backup::{Size, forget, integrity, is_replicated, schema_of, sizes, snapshot};
pub use driven::{Committed, Driver, Surroundings, ends_of_transactions};
pub use open::{DATABASE_FILE, LOCK_FILE, OpenError};
pub use reserve::{DEFAULT_RESERVE, RESERVE_FILE};
pub use sql::{MIGRATIONS, SCHEMA_VERSION};

use crate::{
    Change, Destination, Key, Outcome, Row, Store, StoreError, StoreFuture, Table, realm,
    schema::{Migration, SchemaStatus},
};
use open::Lock;
use queue::{Place, Queue, Refused};
use recent::{Changing, Found, Recent};
use reserve::{Machine, Reserve};
use rusqlite::Connection;
use std::{
    io,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{
            AtomicBool,
            Ordering::{Relaxed, SeqCst},
        },
    },
    thread::{self, JoinHandle},
};
use tokio::sync::oneshot;
use writer::{Counters, Job, Writer};

type Read = Box<dyn FnOnce(&Connection) + Send>;

/// How large the store's queues and its pool are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// Threads that read lists, and as many connections for reads of one key where they are asked
    /// for.
    pub readers: usize,
    /// Most writes that wait. Beyond it: `Unavailable`.
    pub write_queue: usize,
    /// Most reads that wait. Beyond it: `Unavailable`.
    pub read_queue: usize,
    /// Bytes on the disk that are kept for changes which end or revoke something when it is full;
    /// 0: none.
    pub reserve: u64,
    /// The layout, as this program knows it.
    pub migrations: &'static [Migration],
}

impl Default for Options {
    fn default() -> Self {
        Options {
            readers: 2,
            write_queue: 8192,
            read_queue: 8192,
            reserve: 0,
            migrations: MIGRATIONS,
        }
    }
}

/// What the writer has done since the store was opened. `jobs / groups` is how many requests shared
/// a flush.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Statistics {
    /// flushes
    pub groups: u64,
    /// calls that were answered by them
    pub jobs: u64,
}

struct Connections {
    writer: Connection,
    /// For reads where they are asked for, and for the threads.
    readers: Vec<(Connection, Connection)>,
}

/// The lock on a data directory, for a node whose rows are elsewhere: its keys and its audit trail
/// are one process's, too. It ends with the process.
pub struct DirectoryLock(Lock);

impl DirectoryLock {
    /// Takes the lock. Makes the directory where it is missing.
    ///
    /// # Errors
    /// [`OpenError::InUse`] where another process has it.
    pub fn take(directory: &Path) -> Result<DirectoryLock, OpenError> {
        open::lock(directory).map(DirectoryLock)
    }

    /// Gives it back in order.
    pub fn release(self) {
        self.0.clean();
    }
}

/// The embedded store. Dropping it finishes what is queued, and waits for that.
pub struct SqliteStore {
    path: PathBuf,
    writes: Arc<Queue<Job>>,
    reads: Arc<Queue<Read>>,
    counters: Arc<Counters>,
    /// Connections for reads of one key; taken without waiting, or not at all.
    nearby: Vec<Mutex<Option<Connection>>>,
    recent: Arc<Recent>,
    threads: Mutex<Vec<JoinHandle<()>>>,
    /// The disk is full.
    full: Arc<AtomicBool>,
    /// The engine found its file damaged: nothing more is answered.
    damaged: Arc<AtomicBool>,
    // Released last, when the threads have ended.
    lock: Mutex<Option<Lock>>,
}

/// A store that nobody works for yet, its writer, and the readers' connections.
type Built = (SqliteStore, Writer, Vec<(Connection, Connection)>);

impl SqliteStore {
    /// Opens the store of a data directory, or makes it (directory 0700, files 0600).
    ///
    /// # Errors
    /// See [`OpenError`]. A file that is not Signet's is left as it is.
    pub fn open(directory: &Path, options: Options) -> Result<SqliteStore, OpenError> {
        let lock = open::lock(directory)?;
        SqliteStore::within(directory, options, Some(lock))
    }

    /// The same in a directory whose lock this process holds already, as long as the store is open.
    ///
    /// # Errors
    /// See [`OpenError`].
    pub fn open_locked(directory: &Path, options: Options) -> Result<SqliteStore, OpenError> {
        SqliteStore::within(directory, options, None)
    }

    fn within(
        directory: &Path,
        options: Options,
        lock: Option<Lock>,
    ) -> Result<SqliteStore, OpenError> {
        let machine = Machine::default();
        let queues = (
            Queue::new(options.write_queue),
            Queue::new(options.read_queue),
        );
        let (mut store, writer, readers) = Self::build(directory, options, lock, machine, queues)?;
        let path = store.path.clone();
        store.spawn(&path, "store-writer", move || writer.run())?;
        for (nearby, connection) in readers {
            store.nearby.push(Mutex::new(Some(nearby)));
            let queue = store.reads.clone();
            store.spawn(&path, "store-reader", move || {
                while let Some(read) = queue.pop() {
                    read(&connection);
                }
            })?;
        }
        Ok(store)
    }

    /// A store that nobody works for yet, its writer, and the readers' connections.
    fn build(
        directory: &Path,
        options: Options,
        lock: Option<Lock>,
        machine: Machine,
        (writes, reads): (Queue<Job>, Queue<Read>),
    ) -> Result<Built, OpenError> {
        let unclean = lock.as_ref().is_none_or(|lock| lock.unclean);
        let full = Arc::new(AtomicBool::new(false));
        let mut reserve = Reserve::find_on(machine, directory, options.reserve, full.clone());
        let path = directory.join(DATABASE_FILE);
        let connections = loop {
            match Self::connect(&path, unclean, &options) {
                Err(error) if error.may_be_full(directory) => {
                    if !reserve.give(true) {
                        return Err(error.of_full(directory));
                    }
                }
                opened => break opened?,
            }
        };
        reserve.begin();
        let replicated = replica::is_replicated(&connections.writer)
            .map_err(|error| open::engine_error(&path)(error))?;
        let mut versions = sql::Versions::default();
        versions.set_exact(replicated);
        let store = SqliteStore {
            path,
            writes: Arc::new(writes),
            reads: Arc::new(reads),
            counters: Arc::default(),
            nearby: Vec::new(),
            recent: Arc::default(),
            threads: Mutex::default(),
            full,
            damaged: Arc::default(),
            lock: Mutex::new(lock),
        };
        let writer = Writer {
            connection: connections.writer,
            reserve,
            folds_often: false,
            damaged: store.damaged.clone(),
            queue: store.writes.clone(),
            counters: store.counters.clone(),
            changing: Changing::new(store.recent.clone()),
            versions,
            replicated,
            relaxed: false,
        };
        Ok((store, writer, connections.readers))
    }

    /// How the layout of a directory's store stands to this program; None: there is no store. Also
    /// while a process has it open.
    ///
    /// # Errors
    /// See [`OpenError`].
    pub fn schema(directory: &Path) -> Result<Option<SchemaStatus>, OpenError> {
        open::status(directory)
    }

    /// All connections; each has read something, so that none finds out later that it cannot.
    fn connect(path: &Path, unclean: bool, options: &Options) -> Result<Connections, OpenError> {
        let writer = open::writer(path, options.migrations)?;
        let readers = options.readers.max(1);
        if unclean {
            open::check(&writer, path)?;
        }
        let pair = |_| Ok((open::reader(path)?, open::reader(path)?));
        let readers = (0..readers).map(pair).collect::<Result<_, OpenError>>()?;
        Ok(Connections { writer, readers })
    }

    fn spawn(
        &self,
        path: &Path,
        name: &str,
        work: impl FnOnce() + Send + 'static,
    ) -> Result<(), OpenError> {
        let handle = thread::Builder::new()
            .name(name.to_owned())
            .spawn(work)
            .map_err(|source: io::Error| OpenError::Io {
                path: path.to_owned(),
                source,
            })?;
        self.threads
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(handle);
        Ok(())
    }

    /// Has it looked soon whether a full disk has space again. For whoever refuses changes in the
    /// store's place while [`Store::is_full`]: none of them would come to the writer, which looks.
    pub fn look_for_space(&self) {
        // A queue that is full brings the writer to look by itself.
        let _ = self.writes.push(Place::FIRST, Job::Look);
    }

    /// What the writer has done so far.
    pub fn statistics(&self) -> Statistics {
        Statistics {
            groups: self.counters.groups.load(Relaxed),
            jobs: self.counters.jobs.load(Relaxed),
        }
    }

    /// An error of a read. A damaged file is served no further: what can still be read of it may be
    /// wrong.
    fn read_failed(damaged: &AtomicBool, error: rusqlite::Error) -> StoreError {
        if sql::is_damage(&error) && !damaged.swap(true, SeqCst) {
            tracing::error!(%error, "refusing all reads: the database is damaged");
        }
        sql::store_error(error)
    }

    fn whole(&self) -> Result<(), StoreError> {
        match self.damaged.load(Relaxed) {
            true => Err(damaged()),
            false => Ok(()),
        }
    }

    async fn write<T>(&self, job: impl FnOnce(writer::Reply<T>) -> Job) -> Result<T, StoreError> {
        self.whole()?;
        let (reply, answer) = oneshot::channel();
        let job = job(reply.into());
        self.writes.push(job.place(), job).map_err(refused)?;
        answer.await.map_err(|_| stopped())?
    }

    /// A read of rows of the realm whose lane this is.
    async fn read<T: Send + 'static>(
        &self,
        place: Place,
        read: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.whole()?;
        let (reply, answer) = oneshot::channel();
        let damaged = self.damaged.clone();
        let job: Read = Box::new(move |connection| {
            // Nobody waits any more: nothing to do.
            if !reply.is_closed() {
                let done = read(connection);
                drop(reply.send(done.map_err(|error| Self::read_failed(&damaged, error))));
            }
        });
        self.reads.push(place, job).map_err(refused)?;
        answer.await.map_err(|_| stopped())?
    }

    async fn get_from_engine(&self, key: &Key, now: u64) -> Result<Option<Row>, StoreError> {
        for nearby in &self.nearby {
            // A poisoned lock means that a read panicked: its connection is left alone.
            if let Ok(connection) = nearby.try_lock()
                && let Some(connection) = connection.as_ref()
            {
                return sql::get(connection, key, now)
                    .map_err(|error| Self::read_failed(&self.damaged, error));
            }
        }
        let lane = realm::prefix_of(&key.partition).to_vec();
        let key = key.clone();
        self.read(Place::Lane(lane), move |connection| {
            sql::get(connection, &key, now)
        })
        .await
    }

    /// Does something that waits for the disk where lists are read, and not where it is called.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`]: the queue is full, or the store was closed.
    pub async fn read_apart<T: Send + 'static>(
        &self,
        read: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, StoreError> {
        self.read(Place::FIRST, move |_| Ok(read())).await
    }
}

impl Drop for SqliteStore {
    fn drop(&mut self) {
        self.close();
    }
}

fn refused(why: Refused) -> StoreError {
    StoreError::Unavailable(
        match why {
            Refused::Full => "its queue is full",
            Refused::Closed => "it was closed",
        }
        .to_owned(),
    )
}

fn damaged() -> StoreError {
    StoreError::Corrupt(
        "the database is damaged: restore it from a backup, or, where it is one of several nodes, \
         remove this node and let it join again with an empty data directory"
            .to_owned(),
    )
}

fn stopped() -> StoreError {
    StoreError::Unavailable("its thread has stopped".to_owned())
}

impl Store for SqliteStore {
    fn get<'a>(&'a self, key: &'a Key, now: u64) -> StoreFuture<'a, Option<Row>> {
        Box::pin(async move {
            self.whole()?;
            let ticket = match self.recent.find(key, now) {
                Found::Row(row) => return Ok(Some(row)),
                Found::Nothing(ticket) => ticket,
            };
            let row = self.get_from_engine(key, now).await?;
            if let Some((ticket, row)) = ticket.zip(row.as_ref()) {
                self.recent.keep(ticket, key, row);
            }
            Ok(row)
        })
    }

    fn commit(&self, change: Change, now: u64) -> StoreFuture<'_, Outcome> {
        Box::pin(async move {
            change.check()?;
            self.write(|reply| Job::Commit { change, now, reply }).await
        })
    }

    fn commit_each(&self, changes: Vec<Change>, now: u64) -> StoreFuture<'_, Vec<Outcome>> {
        Box::pin(async move {
            changes.iter().try_for_each(Change::check)?;
            if changes.is_empty() {
                return Ok(Vec::new());
            }
            self.write(|reply| Job::CommitEach {
                changes,
                now,
                reply,
            })
            .await
        })
    }

    fn take<'a>(&'a self, key: &'a Key, now: u64) -> StoreFuture<'a, Option<Row>> {
        Box::pin(async move {
            let key = key.clone();
            self.write(|reply| Job::Take { key, now, reply }).await
        })
    }

    fn partition<'a>(
        &'a self,
        table: Table,
        partition: &'a [u8],
        after: &'a [u8],
        limit: usize,
        now: u64,
    ) -> StoreFuture<'a, Vec<(Key, Row)>> {
        let lane = Place::Lane(realm::prefix_of(partition).to_vec());
        let (partition, after) = (partition.to_vec(), after.to_vec());
        Box::pin(self.read(lane, move |connection| {
            sql::partition(connection, table, &partition, &after, limit, now)
        }))
    }

    fn page<'a>(
        &'a self,
        table: Table,
        after: Option<&'a Key>,
        limit: usize,
        now: u64,
    ) -> StoreFuture<'a, Vec<(Key, Row)>> {
        let place = after.map_or(Place::FIRST, |after| {
            Place::Lane(realm::prefix_of(&after.partition).to_vec())
        });
        let after = after.cloned();
        Box::pin(self.read(place, move |connection| {
            sql::page(connection, table, after.as_ref(), limit, now)
        }))
    }

    fn sweep(&self, now: u64, limit: usize) -> StoreFuture<'_, usize> {
        Box::pin(self.write(move |reply| Job::Sweep { now, limit, reply }))
    }

    fn check(&self) -> StoreFuture<'_, ()> {
        Box::pin(async move {
            self.read(Place::FIRST, |connection| {
                connection.query_row(
                    "SELECT value FROM counter WHERE name = 'version'",
                    [],
                    |_| Ok(()),
                )
            })
            .await?;
            self.write(|reply| Job::Check { reply }).await
        })
    }

    fn is_full(&self) -> bool {
        self.full.load(Relaxed)
    }

    fn bytes(&self) -> StoreFuture<'_, Option<u64>> {
        Box::pin(async move {
            let read = self.read(Place::FIRST, |connection| {
                let number = |of| connection.query_row(of, [], |row| row.get::<_, i64>(0));
                let pages = number("PRAGMA page_count")?;
                Ok(pages.saturating_mul(number("PRAGMA page_size")?))
            });
            Ok(u64::try_from(read.await?).ok())
        })
    }

    // Also folds the log into the file and releases the directory.
    fn close(&self) {
        self.writes.close();
        self.reads.close();
        self.recent.close();
        let threads =
            std::mem::take(&mut *self.threads.lock().unwrap_or_else(PoisonError::into_inner));
        for nearby in &self.nearby {
            nearby.lock().unwrap_or_else(PoisonError::into_inner).take();
        }
        // Readers first: the writer can then fold in the whole log.
        for thread in threads.into_iter().rev() {
            if thread.join().is_err() {
                tracing::error!("stopped a store thread after a panic");
            }
        }
        let lock = self
            .lock
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        // What was found damaged is checked by the next start.
        if let Some(lock) = lock.filter(|_| !self.damaged.load(SeqCst)) {
            lock.clean();
        }
    }
}

impl Destination for SqliteStore {
    fn restore(&self, rows: Vec<(Key, Option<Row>)>, _: u64) -> StoreFuture<'_, ()> {
        Box::pin(self.write(move |reply| Job::Restore { rows, reply }))
    }

    fn as_store(self: Arc<Self>) -> Arc<dyn Store> {
        self
    }
}
