//! A store over another one that keeps what is written to itself: a change is tried with all its
//! rules, and made or forgotten afterwards.
use crate::{Change, Key, Layer, Op, Outcome, Row, Store, StoreError, StoreFuture, Table};
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::sync::Mutex;

/// A row that was written here.
#[derive(Clone, Debug)]
pub struct Staged {
    /// As the store has it.
    pub was: Option<Row>,
    /// As it is to be; none: it is removed.
    pub is: Option<Row>,
}

/// See the module.
pub struct Staging {
    below: Arc<dyn Store>,
    written: Mutex<BTreeMap<Key, Staged>>,
}

impl Staging {
    /// Over this store.
    pub fn new(below: Arc<dyn Store>) -> Staging {
        Staging {
            below,
            written: Mutex::default(),
        }
    }

    /// What was written so far, by key.
    pub async fn written(&self) -> BTreeMap<Key, Staged> {
        self.written.lock().await.clone()
    }

    async fn write(
        &self,
        written: &mut BTreeMap<Key, Staged>,
        key: &Key,
        row: Option<Row>,
        now: u64,
    ) -> Result<(), StoreError> {
        if let Some(known) = written.get_mut(key) {
            known.is = row;
            return Ok(());
        }
        let was = self.below.get(key, now).await?;
        written.insert(key.clone(), Staged { was, is: row });
        Ok(())
    }

    async fn row(
        &self,
        written: &BTreeMap<Key, Staged>,
        key: &Key,
        now: u64,
    ) -> Result<Option<Row>, StoreError> {
        match written.get(key) {
            Some(written) => Ok(written.is.clone()),
            None => self.below.get(key, now).await,
        }
    }

    async fn change(&self, change: Change, now: u64) -> Result<Outcome, StoreError> {
        change.check()?;
        let mut written = self.written.lock().await;
        let found = self.row(&written, change.first.key(), now).await?;
        let holds = match &change.first {
            Op::Insert { .. } => found.is_none(),
            Op::Replace { version, .. } | Op::Remove { version, .. } => {
                found.as_ref().is_some_and(|row| row.version == *version)
            }
            Op::Put { .. } | Op::Delete { .. } => true,
        };
        if !holds {
            return Ok(Outcome::Refused(found));
        }
        let mut first = None;
        for op in std::iter::once(change.first).chain(change.then) {
            let (key, row) = match op {
                Op::Insert { key, value, end }
                | Op::Replace {
                    key, value, end, ..
                }
                | Op::Put { key, value, end } => {
                    let version = u64::from_le_bytes(signet_crypto::random::bytes()) >> 1;
                    let row = Row {
                        value,
                        version,
                        end,
                    };
                    (key, Some(row))
                }
                Op::Remove { key, .. } | Op::Delete { key } => (key, None),
            };
            let version = row.as_ref().map_or(0, |row| row.version);
            first.get_or_insert(version);
            self.write(&mut written, &key, row, now).await?;
        }
        Ok(Outcome::Done {
            version: first.unwrap_or_default(),
        })
    }

    /// Rows of below with those that were written here, of which `belongs` says that they belong to
    /// what was asked for. `read` is given how many rows to read.
    async fn joined<'a>(
        &self,
        limit: usize,
        belongs: impl Fn(&Key) -> bool,
        read: impl FnOnce(usize) -> StoreFuture<'a, Vec<(Key, Row)>>,
    ) -> Result<Vec<(Key, Row)>, StoreError> {
        let written = self.written.lock().await;
        // So many of them at most are gone.
        let rows = read(limit.saturating_add(written.len())).await?;
        let mut rows: BTreeMap<Key, Row> = rows.into_iter().collect();
        for (key, written) in written.iter().filter(|(key, _)| belongs(key)) {
            match &written.is {
                Some(row) => drop(rows.insert(key.clone(), row.clone())),
                None => drop(rows.remove(key)),
            }
        }
        Ok(rows.into_iter().take(limit).collect())
    }
}

impl Layer for Staging {
    fn inner(&self) -> &dyn Store {
        &*self.below
    }

    fn get<'a>(&'a self, key: &'a Key, now: u64) -> StoreFuture<'a, Option<Row>> {
        Box::pin(async move {
            let written = self.written.lock().await;
            self.row(&written, key, now).await
        })
    }

    fn commit(&self, change: Change, now: u64) -> StoreFuture<'_, Outcome> {
        Box::pin(self.change(change, now))
    }

    fn commit_each(&self, changes: Vec<Change>, now: u64) -> StoreFuture<'_, Vec<Outcome>> {
        Box::pin(async move {
            let mut outcomes = Vec::with_capacity(changes.len());
            for change in changes {
                let outcome = self.change(change, now).await?;
                let refused = !outcome.is_done();
                outcomes.push(outcome);
                if refused {
                    break;
                }
            }
            Ok(outcomes)
        })
    }

    fn take<'a>(&'a self, key: &'a Key, now: u64) -> StoreFuture<'a, Option<Row>> {
        Box::pin(async move {
            let mut written = self.written.lock().await;
            let row = self.row(&written, key, now).await?;
            self.write(&mut written, key, None, now).await?;
            Ok(row)
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
        Box::pin(async move {
            let belongs =
                |key: &Key| key.table == table && key.partition == partition && *key.sort > *after;
            let read = |limit| self.below.partition(table, partition, after, limit, now);
            self.joined(limit, belongs, read).await
        })
    }

    fn page<'a>(
        &'a self,
        table: Table,
        after: Option<&'a Key>,
        limit: usize,
        now: u64,
    ) -> StoreFuture<'a, Vec<(Key, Row)>> {
        Box::pin(async move {
            let belongs = |key: &Key| key.table == table && after.is_none_or(|after| key > after);
            let read = |limit| self.below.page(table, after, limit, now);
            self.joined(limit, belongs, read).await
        })
    }

    fn sweep(&self, _: u64, _: usize) -> StoreFuture<'_, usize> {
        Box::pin(async { Ok(0) })
    }

    fn close(&self) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MemoryStore;

    fn key(name: &str) -> Key {
        Key::with_sort(Table::Setting, "p", name)
    }

    fn put(name: &str) -> Change {
        Change::new(Op::Put {
            key: key(name),
            value: name.into(),
            end: None,
        })
    }

    #[tokio::test]
    async fn what_is_staged_is_read_there_and_not_below() {
        let below: Arc<dyn Store> = Arc::new(MemoryStore::new());
        for name in ["a", "b", "d"] {
            below.commit(put(name), 1).await.unwrap();
        }
        let staging = Staging::new(Arc::clone(&below));
        Layer::commit(&staging, put("c"), 1).await.unwrap();
        let gone = Change::new(Op::Delete { key: key("b") });
        Layer::commit(&staging, gone, 1).await.unwrap();
        let read = |store: Arc<dyn Store>, limit| async move {
            let rows = store.partition(Table::Setting, b"p", b"", limit, 1).await;
            let names = rows.unwrap().into_iter().map(|(key, _)| key.sort);
            names
                .map(|sort| String::from_utf8(sort).unwrap())
                .collect::<Vec<_>>()
                .join("")
        };
        let staged: Arc<dyn Store> = Arc::new(staging);
        assert_eq!(read(Arc::clone(&staged), 10).await, "acd");
        assert_eq!(read(staged, 2).await, "ac");
        assert_eq!(read(below, 10).await, "abd");
    }
}
