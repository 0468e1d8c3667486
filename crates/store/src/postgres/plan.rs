//! What a group of changes does, decided in memory.
//!
//! The writer holds the locks of all keys that the group names, and has read what lies there. So
//! each change can be decided here, one after the other, as if each had come alone; what is left at
//! the end is written by a few statements, however many changes there were.
use super::layout::{Buckets, Place};
use crate::{Change, Key, Op, Outcome, Row};
use std::collections::HashMap;

/// What lies at a key, in the database.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Found {
    pub(super) place: Place,
    /// With an empty value where none was asked for.
    pub(super) row: Row,
}

#[derive(Default)]
struct Cell {
    found: Option<Place>,
    row: Option<Row>,
    dirty: bool,
}

/// One group, while it is decided.
pub(super) struct Plan {
    cells: HashMap<Key, Cell>,
}

/// What has to be written.
#[derive(Default, Debug)]
pub(super) struct Writes {
    pub(super) upserts: HashMap<Place, Vec<(Key, Row)>>,
    pub(super) deletes: HashMap<Place, Vec<Key>>,
}

impl Writes {
    pub(super) fn is_empty(&self) -> bool {
        self.upserts.is_empty() && self.deletes.is_empty()
    }
}

/// 1 to 2^63 - 1, never the same twice: a counter would be one row that all nodes wait for.
fn new_version() -> u64 {
    (u64::from_le_bytes(signet_crypto::random::bytes()) >> 1).max(1)
}

impl Plan {
    pub(super) fn new(found: impl IntoIterator<Item = (Key, Found)>) -> Plan {
        let cells = found.into_iter().map(|(key, found)| {
            let cell = Cell {
                found: Some(found.place),
                row: Some(found.row),
                dirty: false,
            };
            (key, cell)
        });
        Plan {
            cells: cells.collect(),
        }
    }

    fn live(&self, key: &Key, now: u64) -> Option<&Row> {
        let row = self.cells.get(key)?.row.as_ref()?;
        row.lives(now).then_some(row)
    }

    fn write(&mut self, key: &Key, value: &[u8], end: Option<u64>) -> Outcome {
        let version = new_version();
        let cell = self.cells.entry(key.clone()).or_default();
        cell.dirty = true;
        cell.row = Some(Row {
            value: value.to_vec(),
            version,
            end,
        });
        Outcome::Done { version }
    }

    fn remove(&mut self, key: &Key) -> Option<Row> {
        let cell = self.cells.entry(key.clone()).or_default();
        cell.dirty = true;
        cell.row.take()
    }

    /// The row as another store had it, or none.
    pub(super) fn restore(&mut self, key: &Key, row: Option<Row>) {
        let cell = self.cells.entry(key.clone()).or_default();
        cell.dirty = true;
        cell.row = row;
    }

    fn apply(&mut self, op: &Op, now: u64) -> Outcome {
        match op {
            Op::Insert { key, value, end } => match self.live(key, now) {
                Some(row) => Outcome::Refused(Some(row.clone())),
                None if end.is_some_and(|end| end <= now) => Outcome::Refused(None),
                None => self.write(key, value, *end),
            },
            Op::Replace {
                key,
                version,
                value,
                end,
            } => match self.live(key, now) {
                Some(row) if row.version == *version => self.write(key, value, *end),
                other => Outcome::Refused(other.cloned()),
            },
            Op::Remove { key, version } => match self.live(key, now) {
                Some(row) if row.version == *version => {
                    self.remove(key);
                    Outcome::Done { version: 0 }
                }
                other => Outcome::Refused(other.cloned()),
            },
            Op::Put { key, value, end } => self.write(key, value, *end),
            Op::Delete { key } => {
                self.remove(key);
                Outcome::Done { version: 0 }
            }
        }
    }

    pub(super) fn commit(&mut self, change: &Change, now: u64) -> Outcome {
        let outcome = self.apply(&change.first, now);
        if outcome.is_done() {
            for op in &change.then {
                self.apply(op, now);
            }
        }
        outcome
    }

    pub(super) fn take(&mut self, key: &Key, now: u64) -> Option<Row> {
        self.live(key, now)?;
        self.remove(key)
    }

    /// What the group leaves behind. A row stays where it is as long as its end allows that: it is
    /// then written in place, and moves otherwise.
    pub(super) fn writes(self, buckets: &Buckets, now: u64) -> Writes {
        let mut writes = Writes::default();
        for (key, cell) in self.cells {
            if !cell.dirty {
                continue;
            }
            // A row that was put with an end that has passed does not exist.
            let row = cell.row.filter(|row| row.lives(now));
            let place = row.as_ref().map(|row| match cell.found {
                Some(place) if row.end.is_none_or(|end| buckets.admits(place, end)) => place,
                _ => buckets.place(key.table, row.end, now),
            });
            if let Some(found) = cell.found.filter(|found| Some(*found) != place) {
                writes.deletes.entry(found).or_default().push(key.clone());
            }
            if let (Some(place), Some(row)) = (place, row) {
                writes.upserts.entry(place).or_default().push((key, row));
            }
        }
        writes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Table;

    fn key() -> Key {
        Key::new(Table::Family, "f")
    }

    fn at(place: Place, end: u64) -> Found {
        Found {
            place,
            row: Row {
                value: b"x".to_vec(),
                version: 7,
                end: Some(end),
            },
        }
    }

    fn replace(end: u64) -> Change {
        Change::new(Op::Replace {
            key: key(),
            version: 7,
            value: b"y".to_vec(),
            end: Some(end),
        })
    }

    #[test]
    fn a_row_moves_with_its_end_and_leaves_nothing_behind() {
        let buckets = Buckets::default();
        let before = Place::Bucket(0, 0);
        let mut plan = Plan::new([(key(), at(before, 2_000))]);
        assert!(plan.commit(&replace(9_000), 1_000).is_done());
        let writes = plan.writes(&buckets, 1_000);
        assert_eq!(writes.deletes[&before], [key()]);
        assert_eq!(writes.upserts[&Place::Far].len(), 1);
    }

    #[test]
    fn a_row_whose_end_stays_in_its_bucket_is_written_in_place() {
        let mut buckets = Buckets::default();
        let place = Place::Bucket(0, 0);
        buckets.set(place, Some(0));
        let mut plan = Plan::new([(key(), at(place, 2_000))]);
        assert!(plan.commit(&replace(3_000), 1_000).is_done());
        let writes = plan.writes(&buckets, 1_000);
        assert!(writes.deletes.is_empty());
        assert_eq!(writes.upserts[&place].len(), 1);
    }

    #[test]
    fn of_two_changes_of_a_group_the_second_sees_the_first() {
        let mut plan = Plan::new([]);
        let insert = Change::new(Op::Insert {
            key: key(),
            value: b"1".to_vec(),
            end: Some(2_000),
        });
        let Outcome::Done { version } = plan.commit(&insert, 1_000) else {
            panic!("refused");
        };
        let told = plan.commit(&insert, 1_000);
        assert!(matches!(told, Outcome::Refused(Some(row)) if row.version == version));
        assert!(plan.take(&key(), 1_000).is_some());
        assert!(plan.take(&key(), 1_000).is_none());
        // It came and went: there is nothing to write.
        assert!(plan.writes(&Buckets::default(), 1_000).is_empty());
    }
}
