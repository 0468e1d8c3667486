//! The trait.
use crate::{Change, Key, Outcome, Row, StoreError, Table};
use std::{future::Future, pin::Pin};

/// What every call returns: a future that may move between threads.
pub type StoreFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'a>>;

/// Keys and values with versions and ends. See `tests/contract.rs` for the rules as tests.
///
/// `now` is Unix seconds, handed in by the caller: rows whose end is at or before it do not exist,
/// whether they have been swept or not.
pub trait Store: Send + Sync + 'static {
    /// The row at a key. A write that was answered is seen by every later read.
    fn get<'a>(&'a self, key: &'a Key, now: u64) -> StoreFuture<'a, Option<Row>>;

    /// One change, durable before it answers `Done`.
    fn commit(&self, change: Change, now: u64) -> StoreFuture<'_, Outcome>;

    /// Several changes in order, each atomic, sharing one flush where the engine can. Stops after
    /// the first that is refused: its outcome is the last of the answer, and those before it stay
    /// done.
    fn commit_each(&self, changes: Vec<Change>, now: u64) -> StoreFuture<'_, Vec<Outcome>>;

    /// Removes and returns: of racing callers one gets the row.
    fn take<'a>(&'a self, key: &'a Key, now: u64) -> StoreFuture<'a, Option<Row>>;

    /// At most `limit` rows of a partition whose sort is after `after`, in order of `sort`.
    fn partition<'a>(
        &'a self,
        table: Table,
        partition: &'a [u8],
        after: &'a [u8],
        limit: usize,
        now: u64,
    ) -> StoreFuture<'a, Vec<(Key, Row)>>;

    /// At most `limit` rows of a whole table after a key, in order of partition and sort: for
    /// start-up and the admin API's lists. Never on a request's way. A page shorter than `limit` is
    /// the last.
    fn page<'a>(
        &'a self,
        table: Table,
        after: Option<&'a Key>,
        limit: usize,
        now: u64,
    ) -> StoreFuture<'a, Vec<(Key, Row)>>;

    /// Removes at most `limit` ended rows; the number removed. Where several clocks are in play,
    /// hand in a `now` that lies behind the slowest of them: a row that was swept can be inserted
    /// again.
    fn sweep(&self, now: u64, limit: usize) -> StoreFuture<'_, usize>;

    /// Readiness: can it read and write?
    fn check(&self) -> StoreFuture<'_, ()>;

    /// Whether the disk is full: only changes that end or revoke something are taken, and records
    /// of them; others are refused as `Unavailable`. An engine that has no disk of its own is never
    /// full.
    fn is_full(&self) -> bool {
        false
    }

    /// How much of a disk everything in it takes, in bytes, for whoever watches over it. None: the
    /// engine does not know.
    fn bytes(&self) -> StoreFuture<'_, Option<u64>> {
        Box::pin(async { Ok(None) })
    }

    /// From now on every change is made on the condition that the row at `key` has this value: by
    /// it a process writes for as long as the others count it as one of them, whether it hears them
    /// or not. Only an engine that several processes write asks; the first condition stays.
    fn write_while(&self, key: Key, value: Vec<u8>) {
        drop((key, value));
    }

    /// Finishes what is queued and releases what the store holds. Waits for that; later calls are
    /// refused. Closing twice does nothing.
    fn close(&self) {}
}

/// A store over another one: what it does not change, the other one does.
///
/// ```
/// # use signet_store::{Layer, MemoryStore, Store, StoreError, StoreFuture};
/// struct NeverReady(MemoryStore);
///
/// impl Layer for NeverReady {
///     fn inner(&self) -> &dyn Store {
///         &self.0
///     }
///     fn check(&self) -> StoreFuture<'_, ()> {
///         Box::pin(async { Err(StoreError::Unavailable("never".into())) })
///     }
/// }
/// let store: Box<dyn Store> = Box::new(NeverReady(MemoryStore::new()));
/// ```
pub trait Layer: Send + Sync + 'static {
    /// The one below.
    fn inner(&self) -> &dyn Store;

    /// [`Store::get`]
    fn get<'a>(&'a self, key: &'a Key, now: u64) -> StoreFuture<'a, Option<Row>> {
        self.inner().get(key, now)
    }

    /// [`Store::commit`]
    fn commit(&self, change: Change, now: u64) -> StoreFuture<'_, Outcome> {
        self.inner().commit(change, now)
    }

    /// [`Store::commit_each`]
    fn commit_each(&self, changes: Vec<Change>, now: u64) -> StoreFuture<'_, Vec<Outcome>> {
        self.inner().commit_each(changes, now)
    }

    /// [`Store::take`]
    fn take<'a>(&'a self, key: &'a Key, now: u64) -> StoreFuture<'a, Option<Row>> {
        self.inner().take(key, now)
    }

    /// [`Store::partition`]
    fn partition<'a>(
        &'a self,
        table: Table,
        partition: &'a [u8],
        after: &'a [u8],
        limit: usize,
        now: u64,
    ) -> StoreFuture<'a, Vec<(Key, Row)>> {
        self.inner().partition(table, partition, after, limit, now)
    }

    /// [`Store::page`]
    fn page<'a>(
        &'a self,
        table: Table,
        after: Option<&'a Key>,
        limit: usize,
        now: u64,
    ) -> StoreFuture<'a, Vec<(Key, Row)>> {
        self.inner().page(table, after, limit, now)
    }

    /// [`Store::sweep`]
    fn sweep(&self, now: u64, limit: usize) -> StoreFuture<'_, usize> {
        self.inner().sweep(now, limit)
    }

    /// [`Store::check`]
    fn check(&self) -> StoreFuture<'_, ()> {
        self.inner().check()
    }

    /// [`Store::is_full`]
    fn is_full(&self) -> bool {
        self.inner().is_full()
    }

    /// [`Store::bytes`]
    fn bytes(&self) -> StoreFuture<'_, Option<u64>> {
        self.inner().bytes()
    }

    /// [`Store::write_while`]
    fn write_while(&self, key: Key, value: Vec<u8>) {
        self.inner().write_while(key, value);
    }

    /// [`Store::close`]
    fn close(&self) {
        self.inner().close();
    }
}

impl<T: Layer> Store for T {
    fn get<'a>(&'a self, key: &'a Key, now: u64) -> StoreFuture<'a, Option<Row>> {
        Layer::get(self, key, now)
    }

    fn commit(&self, change: Change, now: u64) -> StoreFuture<'_, Outcome> {
        Layer::commit(self, change, now)
    }

    fn commit_each(&self, changes: Vec<Change>, now: u64) -> StoreFuture<'_, Vec<Outcome>> {
        Layer::commit_each(self, changes, now)
    }

    fn take<'a>(&'a self, key: &'a Key, now: u64) -> StoreFuture<'a, Option<Row>> {
        Layer::take(self, key, now)
    }

    fn partition<'a>(
        &'a self,
        table: Table,
        partition: &'a [u8],
        after: &'a [u8],
        limit: usize,
        now: u64,
    ) -> StoreFuture<'a, Vec<(Key, Row)>> {
        Layer::partition(self, table, partition, after, limit, now)
    }

    fn page<'a>(
        &'a self,
        table: Table,
        after: Option<&'a Key>,
        limit: usize,
        now: u64,
    ) -> StoreFuture<'a, Vec<(Key, Row)>> {
        Layer::page(self, table, after, limit, now)
    }

    fn sweep(&self, now: u64, limit: usize) -> StoreFuture<'_, usize> {
        Layer::sweep(self, now, limit)
    }

    fn check(&self) -> StoreFuture<'_, ()> {
        Layer::check(self)
    }

    fn is_full(&self) -> bool {
        Layer::is_full(self)
    }

    fn bytes(&self) -> StoreFuture<'_, Option<u64>> {
        Layer::bytes(self)
    }

    fn write_while(&self, key: Key, value: Vec<u8>) {
        Layer::write_while(self, key, value);
    }

    fn close(&self) {
        Layer::close(self);
    }
}
