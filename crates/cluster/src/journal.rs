//! What a node holds of what was announced, over its restarts.
//!
//! A table of a store that is the node's own. The order of writing is the caller's; a write that
//! was answered is durable.
use crate::batch::{BatchId, Signed};
use signet_store::{Change, Key, Op, Store, StoreError, Table};
use std::sync::Arc;

/// Rows that are read at a time.
const PAGE: usize = 32;

/// Bytes of rows that share one change.
const MAX_CHANGE_BYTES: usize = 4 * 1024 * 1024;

/// Batches in a store.
#[derive(Clone)]
pub struct Journal {
    store: Arc<dyn Store>,
}

fn key(id: &BatchId) -> Key {
    let mut partition = id.stream.origin.as_str().as_bytes().to_vec();
    partition.push(0);
    partition.extend_from_slice(&id.stream.number.to_be_bytes());
    Key::with_sort(Table::Gossip, partition, id.seq.to_be_bytes())
}

/// Puts operations together into as few changes as they may share.
fn changes(ops: impl Iterator<Item = (Op, usize)>) -> Vec<Change> {
    let mut changes: Vec<Change> = Vec::new();
    let mut bytes = 0;
    for (op, size) in ops {
        bytes += size;
        match changes.last_mut() {
            Some(change)
                if change.then.len() < signet_store::COLLECTED && bytes <= MAX_CHANGE_BYTES =>
            {
                change.then.push(op);
            }
            Some(_) | None => {
                bytes = size;
                changes.push(Change::new(op));
            }
        }
    }
    changes
}

impl Journal {
    /// In this store, which no other node shares.
    pub fn new(store: Arc<dyn Store>) -> Journal {
        Journal { store }
    }

    /// Everything that is in it. A row that cannot be read is logged and left out: others still
    /// have what it said.
    ///
    /// # Errors
    /// [`StoreError`], if the store does not answer.
    pub async fn load(&self) -> Result<Vec<Signed>, StoreError> {
        let mut batches = Vec::new();
        let mut after: Option<Key> = None;
        loop {
            // None of the rows has an end: no time is before it.
            let rows = self.store.page(Table::Gossip, after.as_ref(), PAGE, 0);
            let rows = rows.await?;
            let last = rows.len() < PAGE;
            for (key, row) in rows {
                match Signed::from_bytes(&row.value) {
                    Ok(signed) => batches.push(signed),
                    Err(error) => tracing::error!(%error, "failed to read a journal batch"),
                }
                after = Some(key);
            }
            if last {
                return Ok(batches);
            }
        }
    }

    /// Writes batches; they are durable when it answers.
    ///
    /// # Errors
    /// [`StoreError`]; some of them may be there then.
    pub async fn keep(&self, batches: &[Signed]) -> Result<(), StoreError> {
        let puts = batches.iter().map(|signed| {
            let value = signed.bytes().to_vec();
            let size = value.len();
            let key = key(&signed.batch().id);
            let end = None;
            (Op::Put { key, value, end }, size)
        });
        self.store.commit_each(changes(puts), 0).await.map(|_| ())
    }

    /// Deletes batches.
    ///
    /// # Errors
    /// [`StoreError`]; some of them may be gone then.
    pub async fn forget(&self, ids: &[BatchId]) -> Result<(), StoreError> {
        let deletes = ids.iter().map(|id| (Op::Delete { key: key(id) }, 0));
        self.store
            .commit_each(changes(deletes), 0)
            .await
            .map(|_| ())
    }
}
