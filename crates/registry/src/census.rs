//! How many records there are of the kinds that are counted.
//!
//! Every change of one of them has the census as its condition: so changes of them come one after
//! another, whichever node makes them, and what is true of all of them together (no circle of
//! groups, no more of them than may be) is decided by one atomic change.
use serde::{Deserialize, Serialize};
use signet_store::{Key, Op, Row, StoreError, Table};
use std::collections::BTreeMap;

/// The row that every change of these kinds has as its condition.
pub fn census_key() -> Key {
    Key::new(Table::Setting, b"people")
}

/// The row that every change of a record writes again, whatever its kind. Whoever changes several
/// records together has it as the condition: while its version is the same, nobody else has written
/// any record.
pub fn mark_key() -> Key {
    Key::new(Table::Setting, b"registry_mark")
}

/// The mark, as a change writes it along.
pub fn mark() -> Op {
    Op::Put {
        key: mark_key(),
        value: Vec::new(),
        end: None,
    }
}

/// The condition that nobody has written a record since the mark was read.
pub fn unmarked(read: Option<&Row>) -> Op {
    let (key, value, end) = (mark_key(), Vec::new(), None);
    match read {
        None => Op::Insert { key, value, end },
        Some(mark) => Op::Replace {
            key,
            version: mark.version,
            value,
            end,
        },
    }
}

/// How many records there are of each kind, by [`crate::kinds::Stored::COUNTED`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Census {
    /// Grows with every change.
    pub changes: u64,
    #[serde(flatten)]
    counts: BTreeMap<String, usize>,
}

impl Census {
    /// Reads its row, which does not exist before the first change.
    ///
    /// # Errors
    /// A row that cannot be read.
    pub fn read(row: Option<&Row>) -> Result<Census, StoreError> {
        let Some(row) = row else {
            return Ok(Census::default());
        };
        let read = serde_json::from_slice(&row.value);
        read.map_err(|_| StoreError::Corrupt("the census of groups and roles".into()))
    }

    /// Its row.
    pub fn to_bytes(&self) -> Vec<u8> {
        // Invariant: numbers by names always serialize.
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// How many there are.
    pub fn of(&self, member: &str) -> usize {
        self.counts.get(member).copied().unwrap_or(0)
    }

    /// Says how many there are.
    pub fn set(&mut self, member: &str, count: usize) {
        self.counts.insert(member.to_owned(), count);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_census_of_earlier_versions_is_read_and_written_on() {
        let row = Row {
            value: br#"{"attributes":1,"roles":2,"groups":3,"changes":9}"#.to_vec(),
            version: 4,
            end: None,
        };
        let mut census = Census::read(Some(&row)).unwrap();
        assert_eq!((census.of("groups"), census.of("rules")), (3, 0));
        assert_eq!(census.changes, 9);
        census.set("rules", 1);
        let again: serde_json::Value = serde_json::from_slice(&census.to_bytes()).unwrap();
        let expected = serde_json::json!(
            {"attributes": 1, "roles": 2, "groups": 3, "rules": 1, "changes": 9}
        );
        assert_eq!(again, expected);
    }
}
