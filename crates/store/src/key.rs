//! Keys and rows.
use crate::{StoreError, Table};

/// Longest partition and longest sort, in bytes.
pub const MAX_KEY_BYTES: usize = 2048;

/// Where a row is: a table, a partition of it, and a place in that partition's order.
///
/// Most tables use one row per partition, with an empty `sort`. A partition that is listed uses
/// non-empty sorts.
#[derive(Clone, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct Key {
    /// The table.
    pub table: Table,
    /// What is found by its exact bytes.
    pub partition: Vec<u8>,
    /// What a partition is ordered by, byte by byte.
    pub sort: Vec<u8>,
}

impl Key {
    /// The only row of a partition.
    pub fn new(table: Table, partition: impl Into<Vec<u8>>) -> Key {
        Key {
            table,
            partition: partition.into(),
            sort: Vec::new(),
        }
    }

    /// One of several rows of a partition.
    pub fn with_sort(table: Table, partition: impl Into<Vec<u8>>, sort: impl Into<Vec<u8>>) -> Key {
        Key {
            table,
            partition: partition.into(),
            sort: sort.into(),
        }
    }

    pub(crate) fn check(&self) -> Result<(), StoreError> {
        if self.partition.len() > MAX_KEY_BYTES || self.sort.len() > MAX_KEY_BYTES {
            return Err(StoreError::TooLarge);
        }
        Ok(())
    }
}

/// What is at a key.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Row {
    /// Opaque to the store.
    pub value: Vec<u8>,
    /// Changes at every write, and never repeats for a key: not while the row lives, and not after
    /// it was made again.
    pub version: u64,
    /// Unix seconds; from that second on the row does not exist, swept or not.
    pub end: Option<u64>,
}

impl Row {
    /// Whether the row exists at `now` (Unix seconds).
    pub fn lives(&self, now: u64) -> bool {
        self.end.is_none_or(|end| end > now)
    }
}
