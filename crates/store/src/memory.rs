//! A store in memory, for unit tests of the rooms above: it passes the contract and forgets
//! everything.
use crate::{Change, Key, Op, Outcome, Row, Store, StoreError, StoreFuture, Table};
use std::{
    collections::BTreeMap,
    ops::Bound,
    sync::{Mutex, MutexGuard, PoisonError},
};

/// Rows in a map behind a lock.
#[derive(Default)]
pub struct MemoryStore {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    rows: BTreeMap<Key, Row>,
    version: u64,
}

impl State {
    fn live(&self, key: &Key, now: u64) -> Option<&Row> {
        self.rows.get(key).filter(|row| row.lives(now))
    }

    fn write(&mut self, key: Key, value: Vec<u8>, end: Option<u64>) -> u64 {
        self.version += 1;
        let version = self.version;
        self.rows.insert(
            key,
            Row {
                value,
                version,
                end,
            },
        );
        version
    }

    fn apply(&mut self, op: Op, now: u64) -> Outcome {
        match op {
            Op::Insert { key, value, end } => match self.live(&key, now) {
                Some(row) => Outcome::Refused(Some(row.clone())),
                None if end.is_some_and(|end| end <= now) => Outcome::Refused(None),
                None => Outcome::Done {
                    version: self.write(key, value, end),
                },
            },
            Op::Replace {
                key,
                version,
                value,
                end,
            } => match self.live(&key, now) {
                Some(row) if row.version == version => Outcome::Done {
                    version: self.write(key, value, end),
                },
                other => Outcome::Refused(other.cloned()),
            },
            Op::Remove { key, version } => match self.live(&key, now) {
                Some(row) if row.version == version => {
                    self.rows.remove(&key);
                    Outcome::Done { version: 0 }
                }
                other => Outcome::Refused(other.cloned()),
            },
            Op::Put { key, value, end } => Outcome::Done {
                version: self.write(key, value, end),
            },
            Op::Delete { key } => {
                self.rows.remove(&key);
                Outcome::Done { version: 0 }
            }
        }
    }

    fn commit(&mut self, change: Change, now: u64) -> Outcome {
        let outcome = self.apply(change.first, now);
        if outcome.is_done() {
            for op in change.then {
                self.apply(op, now);
            }
        }
        outcome
    }
}

impl MemoryStore {
    /// An empty store.
    pub fn new() -> MemoryStore {
        MemoryStore::default()
    }

    // A panic while the lock is held leaves a map that is still whole: every step is one insert or
    // remove.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn range(
        &self,
        from: Bound<Key>,
        limit: usize,
        now: u64,
        within: impl Fn(&Key) -> bool,
    ) -> Vec<(Key, Row)> {
        self.state()
            .rows
            .range((from, Bound::Unbounded))
            .take_while(|(key, _)| within(key))
            .filter(|(_, row)| row.lives(now))
            .take(limit)
            .map(|(key, row)| (key.clone(), row.clone()))
            .collect()
    }
}

fn ready<'a, T: Send + 'a>(answer: Result<T, StoreError>) -> StoreFuture<'a, T> {
    Box::pin(std::future::ready(answer))
}

impl Store for MemoryStore {
    fn get<'a>(&'a self, key: &'a Key, now: u64) -> StoreFuture<'a, Option<Row>> {
        ready(Ok(self.state().live(key, now).cloned()))
    }

    fn commit(&self, change: Change, now: u64) -> StoreFuture<'_, Outcome> {
        ready(change.check().map(|()| self.state().commit(change, now)))
    }

    fn commit_each(&self, changes: Vec<Change>, now: u64) -> StoreFuture<'_, Vec<Outcome>> {
        if let Err(error) = changes.iter().try_for_each(Change::check) {
            return ready(Err(error));
        }
        let mut state = self.state();
        let mut outcomes = Vec::with_capacity(changes.len());
        for change in changes {
            outcomes.push(state.commit(change, now));
            if !outcomes.last().is_some_and(Outcome::is_done) {
                break;
            }
        }
        ready(Ok(outcomes))
    }

    fn take<'a>(&'a self, key: &'a Key, now: u64) -> StoreFuture<'a, Option<Row>> {
        let mut state = self.state();
        let lives = state.live(key, now).is_some();
        ready(Ok(if lives { state.rows.remove(key) } else { None }))
    }

    fn partition<'a>(
        &'a self,
        table: Table,
        partition: &'a [u8],
        after: &'a [u8],
        limit: usize,
        now: u64,
    ) -> StoreFuture<'a, Vec<(Key, Row)>> {
        let from = Bound::Excluded(Key::with_sort(table, partition, after));
        ready(Ok(self.range(from, limit, now, |key| {
            key.table == table && key.partition == partition
        })))
    }

    fn page<'a>(
        &'a self,
        table: Table,
        after: Option<&'a Key>,
        limit: usize,
        now: u64,
    ) -> StoreFuture<'a, Vec<(Key, Row)>> {
        let from = match after {
            Some(key) => Bound::Excluded(Key::with_sort(
                table,
                key.partition.clone(),
                key.sort.clone(),
            )),
            None => Bound::Included(Key::new(table, [])),
        };
        ready(Ok(self.range(from, limit, now, |key| key.table == table)))
    }

    fn sweep(&self, now: u64, limit: usize) -> StoreFuture<'_, usize> {
        let mut state = self.state();
        let ended: Vec<Key> = state
            .rows
            .iter()
            .filter(|(_, row)| !row.lives(now))
            .take(limit)
            .map(|(key, _)| key.clone())
            .collect();
        for key in &ended {
            state.rows.remove(key);
        }
        ready(Ok(ended.len()))
    }

    fn check(&self) -> StoreFuture<'_, ()> {
        ready(Ok(()))
    }
}
