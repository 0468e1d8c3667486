//! Several records that change together: all of them, or none.
//!
//! The changes are tried on a copy of the realm over a store that keeps what is written to itself
//! ([`super::staging`]), one after another, each by the function that makes it alone. So all their
//! rules hold, and one may name what another one makes. What is then written below is one change of
//! the store. Its condition is the mark, a row that every change of a record writes again
//! ([`signet_registry::census::mark_key`]): while it is the one that was read first, everything
//! that was read after it is still so.
//!
//! Accounts are not among them: they are many, and do not write the mark.
use super::staging::{Staging, Written};
use crate::records::write::RecordError;
use crate::state::{FollowError, Realm};
use signet_registry::census::{census_key, mark_key};
use signet_registry::change_writer::Noted;
use signet_registry::delta::Delta;
use signet_registry::kinds::{KINDS, RecordKind, Rows};
use signet_store::{Change, Key, MAX_THEN, Op, Outcome, Row, StoreError, Table};
use std::sync::Arc;
use tokio::sync::MutexGuard;

/// Changes of records that are tried, and made together.
pub struct Together<'a> {
    realm: &'a Realm,
    /// Nobody else of this node writes a record until this is done; none where it is only tried.
    _one_after_another: Option<MutexGuard<'a, ()>>,
    mark: Option<Row>,
    begun: u64,
    staging: Arc<Staging>,
    /// The copy that they are tried on.
    pub tried: Arc<Realm>,
}

impl Realm {
    /// Begins changes that are made together; or, unless they `are_made`, only tried.
    ///
    /// # Errors
    /// The store's.
    pub async fn together(self: &Arc<Self>, are_made: bool) -> Result<Together<'_>, StoreError> {
        let one_after_another = match are_made {
            true => Some(self.registry_writes.lock().await),
            false => None,
        };
        let begun = self.now();
        // First of all: what changes behind this is noticed.
        let mark = self.store.get(&mark_key(), begun).await?;
        self.catch_up().await.map_err(|error| match error {
            FollowError::Store(error) => error,
            FollowError::Keys(error) => StoreError::Unavailable(error.to_string()),
        })?;
        let staging = Arc::new(Staging::new(Arc::clone(&self.store)));
        let over = Arc::clone(&staging);
        Ok(Together {
            realm: self,
            _one_after_another: one_after_another,
            mark,
            begun,
            staging,
            tried: self.over(over),
        })
    }
}

/// A record of a change: what it is, and how it was and is at rest.
pub struct Changed {
    /// Its kind.
    pub kind: RecordKind,
    /// Its name.
    pub name: String,
    written: Written,
}

impl Changed {
    /// Whether a member of the stored form differs.
    pub fn differs(&self, member: &str) -> bool {
        let said = |row: &Option<Row>| -> Option<serde_json::Value> {
            let value = serde_json::from_slice::<serde_json::Value>(&row.as_ref()?.value).ok()?;
            value.get(member).cloned()
        };
        said(&self.written.was) != said(&self.written.is)
    }

    fn is(&self) -> Option<&[u8]> {
        self.written.is.as_ref().map(|row| &*row.value)
    }
}

impl Together<'_> {
    /// The records that differ from what the store has, but for their revision.
    pub async fn changed(&self) -> Vec<Changed> {
        let written = self.staging.written().await;
        let records = written.into_iter().filter_map(|(key, written)| {
            let (kind, name) = record_at(&key)?;
            (!same(&written)).then_some(Changed {
                kind,
                name,
                written,
            })
        });
        records.collect()
    }

    /// Makes them all, with the other rows that were written on the copy, and puts them in effect
    /// here and on the other nodes.
    ///
    /// # Errors
    /// `Conflict`, where somebody has written a record since [`Realm::together`]: then nothing is
    /// done. Else the store's.
    pub async fn commit(self) -> Result<(), RecordError> {
        let changed = self.changed().await;
        let Together {
            realm,
            mark,
            begun,
            staging,
            ..
        } = &self;
        let mut then = Vec::new();
        let mut noted = Noted::default();
        for Changed {
            kind,
            name,
            written,
        } in &changed
        {
            let was = written.was.as_ref().map(|row| &*row.value);
            let is = written.is.as_ref().map(|row| &*row.value);
            then.push(op(kind.key(name), &written.is));
            let note = realm
                .change_writer
                .note(&*realm.store, *kind, name, was, is, *begun);
            noted.add(note.await?);
        }
        for (key, written) in staging.written().await {
            let value = |row: &Option<Row>| row.as_ref().map(|row| row.value.clone());
            let is_record = record_at(&key).is_some() || key == mark_key();
            // The census counts also what was tried and is as it was.
            let idle = key == census_key() && changed.is_empty();
            if !is_record && !idle && value(&written.was) != value(&written.is) {
                then.push(op(key, &written.is));
            }
        }
        if then.is_empty() {
            return Ok(());
        }
        then.extend(realm.change_writer.rows(&noted, *begun));
        if then.len() > MAX_THEN {
            return Err(StoreError::TooLarge.into());
        }
        let (key, value) = (mark_key(), Vec::new());
        let first = match mark {
            None => Op::Insert {
                key,
                value,
                end: None,
            },
            Some(mark) => Op::Replace {
                key,
                version: mark.version,
                value,
                end: None,
            },
        };
        match realm.store.commit(Change { first, then }, *begun).await? {
            Outcome::Done { .. } => {}
            Outcome::Refused(_) => return Err(RecordError::Conflict),
        }
        let deltas: Vec<Delta> = changed
            .iter()
            .filter_map(|changed| {
                // They were read on the copy already.
                Delta::of_stored(changed.kind, &changed.name, changed.is()).ok()
            })
            .collect();
        realm.tell(noted, *begun, || deltas).await;
        Ok(())
    }
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
fn same(written: &Written) -> bool {
    let said = |row: &Option<Row>| -> Option<Option<serde_json::Value>> {
        let Some(row) = row else { return Some(None) };
        let mut value: serde_json::Value = serde_json::from_slice(&row.value).ok()?;
        value.as_object_mut()?.remove("revision");
        Some(Some(value))
    };
    said(&written.was).is_some_and(|was| Some(was) == said(&written.is))
}
