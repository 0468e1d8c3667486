//! Records among the rows that were written to a store which keeps them to itself
//! ([`signet_store::Staging`]).
use crate::census::{census_key, mark_key};
use crate::kinds::{KINDS, RecordKind, Rows};
use signet_store::{Key, Op, Row, Staged, Table};
use std::collections::BTreeMap;

/// A record of a change: what it is, and how it was and is at rest.
pub struct Changed {
    /// Its kind.
    pub kind: RecordKind,
    /// Its name.
    pub name: String,
    staged: Staged,
}

impl Changed {
    /// Its stored form as it was; none: it is new.
    pub fn was(&self) -> Option<&[u8]> {
        self.staged.was.as_ref().map(|row| &*row.value)
    }

    /// What writes or removes its row.
    pub fn op(&self) -> Op {
        op(self.kind.key(&self.name), &self.staged.is)
    }

    /// Whether a member of the stored form differs.
    pub fn differs(&self, member: &str) -> bool {
        let said = |row: &Option<Row>| -> Option<serde_json::Value> {
            let value = serde_json::from_slice::<serde_json::Value>(&row.as_ref()?.value).ok()?;
            value.get(member).cloned()
        };
        said(&self.staged.was) != said(&self.staged.is)
    }

    /// Its stored form as it is to be; none: it goes.
    pub fn is(&self) -> Option<&[u8]> {
        self.staged.is.as_ref().map(|row| &*row.value)
    }
}

/// The records among these rows that differ from what the store has, but for their revision.
pub fn changed(rows: BTreeMap<Key, Staged>) -> Vec<Changed> {
    let records = rows.into_iter().filter_map(|(key, staged)| {
        let (kind, name) = record_at(&key)?;
        (!same(&staged)).then_some(Changed { kind, name, staged })
    });
    records.collect()
}

/// What makes the other rows what they are to be.
pub fn others(rows: BTreeMap<Key, Staged>, changed: &[Changed]) -> Vec<Op> {
    let value = |row: &Option<Row>| row.as_ref().map(|row| row.value.clone());
    let others = rows.into_iter().filter(|(key, staged)| {
        let is_record = record_at(key).is_some() || *key == mark_key();
        // The census counts also what was tried and is as it was.
        let is_idle = *key == census_key() && changed.is_empty();
        !is_record && !is_idle && value(&staged.was) != value(&staged.is)
    });
    others.map(|(key, staged)| op(key, &staged.is)).collect()
}

fn op(key: Key, row: &Option<Row>) -> Op {
    match row {
        Some(row) => Op::Put {
            key,
            value: row.value.clone(),
            end: row.end,
        },
        None => Op::Delete { key },
    }
}

/// The record of the registry whose row this is.
fn record_at(key: &Key) -> Option<(RecordKind, String)> {
    let row = KINDS.iter().find(|row| {
        row.registry.is_some()
            && match row.rows {
                Rows::Table(table) => key.table == table,
                Rows::Listed(partition) => {
                    key.table == Table::Setting
                        && key.partition == partition
                        && !key.sort.is_empty()
                }
            }
    })?;
    let name = match row.rows {
        Rows::Table(_) => &key.partition,
        Rows::Listed(_) => &key.sort,
    };
    Some((row.kind, String::from_utf8(name.clone()).ok()?))
}

/// Whether a record says what it said, whatever its revision.
fn same(staged: &Staged) -> bool {
    let said = |row: &Option<Row>| -> Option<Option<serde_json::Value>> {
        let Some(row) = row else { return Some(None) };
        let mut value: serde_json::Value = serde_json::from_slice(&row.value).ok()?;
        value.as_object_mut()?.remove("revision");
        Some(Some(value))
    };
    said(&staged.was).is_some_and(|was| Some(was) == said(&staged.is))
}
