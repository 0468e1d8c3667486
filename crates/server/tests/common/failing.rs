//! A store that fails on demand.
use signet_store::{
    Change, Key, Layer, MemoryStore, Need, Outcome, Row, Store, StoreError, StoreFuture, Table,
};
use std::sync::{
    Mutex,
    atomic::{AtomicBool, Ordering},
};

/// A store in memory; while `full`, it takes no writes, while `unread`, it cannot be read either.
#[derive(Default)]
pub struct Failing {
    inner: MemoryStore,
    pub full: AtomicBool,
    pub unread: AtomicBool,
    /// Full from the first change on that decides at a row of this table: what a crash after it
    /// leaves.
    pub last: Mutex<Option<Table>>,
}

impl Failing {
    fn or_full<'a, T: Send + 'a>(
        &'a self,
        write: impl FnOnce() -> StoreFuture<'a, T>,
    ) -> StoreFuture<'a, T> {
        if self.full.load(Ordering::SeqCst) || self.unread.load(Ordering::SeqCst) {
            let error = StoreError::Unavailable("the disk is full".into());
            return Box::pin(std::future::ready(Err(error)));
        }
        write()
    }
    fn or_unread<'a, T: Send + 'a>(
        &'a self,
        read: impl FnOnce() -> StoreFuture<'a, T>,
    ) -> StoreFuture<'a, T> {
        if self.unread.load(Ordering::SeqCst) {
            let error = StoreError::Unavailable("the disk is gone".into());
            return Box::pin(std::future::ready(Err(error)));
        }
        read()
    }
}

impl Layer for Failing {
    fn inner(&self) -> &dyn Store {
        &self.inner
    }
    fn get<'a>(&'a self, key: &'a Key, now: u64) -> StoreFuture<'a, Option<Row>> {
        self.or_unread(|| self.inner.get(key, now))
    }
    fn commit(&self, change: Change, now: u64) -> StoreFuture<'_, Outcome> {
        let is_last = *self.last.lock().unwrap() == Some(change.first.key().table);
        let done = self.or_full(|| self.inner.commit(change, now));
        if is_last {
            self.full.store(true, Ordering::SeqCst);
        }
        done
    }
    fn commit_each(&self, changes: Vec<Change>, now: u64) -> StoreFuture<'_, Vec<Outcome>> {
        self.or_full(|| self.inner.commit_each(changes, now))
    }
    fn take<'a>(&'a self, key: &'a Key, now: u64) -> StoreFuture<'a, Option<Row>> {
        self.or_full(|| self.inner.take(key, now))
    }
    fn partition<'a>(
        &'a self,
        table: Table,
        partition: &'a [u8],
        after: &'a [u8],
        limit: usize,
        now: u64,
    ) -> StoreFuture<'a, Vec<(Key, Row)>> {
        self.or_unread(|| self.inner.partition(table, partition, after, limit, now))
    }
    fn page<'a>(
        &'a self,
        table: Table,
        after: Option<&'a Key>,
        limit: usize,
        now: u64,
    ) -> StoreFuture<'a, Vec<(Key, Row)>> {
        self.or_unread(|| self.inner.page(table, after, limit, now))
    }
    fn sweep(&self, now: u64, limit: usize) -> StoreFuture<'_, usize> {
        self.or_full(|| self.inner.sweep(now, limit))
    }
    fn check(&self) -> StoreFuture<'_, ()> {
        self.or_full(|| self.inner.check())
    }
}

/// A store in memory whose disk is full on demand: as the embedded one, it takes what ends
/// something.
#[derive(Default)]
pub struct FullDisk {
    inner: MemoryStore,
    pub full: AtomicBool,
}

impl FullDisk {
    fn or_full<'a, T: Send + 'a>(
        &'a self,
        need: Need,
        write: impl FnOnce() -> StoreFuture<'a, T>,
    ) -> StoreFuture<'a, T> {
        if self.full.load(Ordering::SeqCst) && need != Need::Ends {
            let error = StoreError::Unavailable("the disk is full".into());
            return Box::pin(std::future::ready(Err(error)));
        }
        write()
    }
}

impl Layer for FullDisk {
    fn inner(&self) -> &dyn Store {
        &self.inner
    }
    fn commit(&self, change: Change, now: u64) -> StoreFuture<'_, Outcome> {
        self.or_full(Need::of(&change), || self.inner.commit(change, now))
    }
    fn commit_each(&self, changes: Vec<Change>, now: u64) -> StoreFuture<'_, Vec<Outcome>> {
        let need = changes.iter().map(Need::of).max().unwrap_or(Need::Ends);
        self.or_full(need, || self.inner.commit_each(changes, now))
    }
    fn is_full(&self) -> bool {
        self.full.load(Ordering::SeqCst)
    }
}
