//! How a record changes, whatever its kind.
//!
//! A record is replaced with a compare: whoever writes names the `revision` that was read, and of
//! two racing writers one receives a conflict (known fault A18). The row is durable before the
//! snapshot shows it.
//!
//! What must be true of all records of a kind together (groups without a circle, no more of them
//! than may be) cannot be a condition on one record. So every change of a kind that is counted
//! ([`Stored::COUNTED`]) has the census as its condition, a row that each such change replaces:
//! what was read after the census was read is still so when the change commits, or the change is
//! decided again. On one node and on many, two changes that would be a circle together come one
//! after the other, and the second is refused.
use crate::state::{Realm, TOLD_WITHIN};
use signet_oauth::people::Fault;
use signet_registry::census::{Census, census_key, mark};
use signet_registry::change_writer::Noted;
use signet_registry::delta::Delta;
use signet_registry::kinds::{RecordKind, Stored};
use signet_store::{Change, Op, Outcome, Row, Store, StoreError};
use std::sync::Arc;

/// How often a change that others were faster than is decided again.
const MAX_TRIES: usize = 32;

/// Why a record could not be written or removed.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// There is one with this name already.
    #[error("a record with this name exists")]
    Exists,
    /// No record has this name.
    #[error("there is no such record")]
    NotFound,
    /// Somebody else has written it since it was read; or others keep writing.
    #[error("the record has been changed meanwhile")]
    Conflict,
    /// The configuration declares it.
    #[error("the configuration file declares this record")]
    Declared,
    /// Every server has it: it cannot be removed.
    #[error("every server has this record")]
    BuiltIn,
    /// Other records stand against it.
    #[error("{why}")]
    Refused {
        /// For programs.
        code: &'static str,
        /// For people.
        why: &'static str,
    },
    /// What was wanted cannot be.
    #[error("{0}")]
    Invalid(Fault),
    /// The same, with what was wanted in its words.
    #[error("{0}")]
    Wrong(String),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<Fault> for RecordError {
    fn from(fault: Fault) -> RecordError {
        RecordError::Invalid(fault)
    }
}

/// What has to be in the store before a change.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Before {
    /// Nothing of this name.
    Nothing,
    /// The record of this revision.
    Revision(u64),
    /// Whatever there is: the last writer holds.
    Anything,
}

impl Before {
    /// Of what a caller has read; none: it is to be new.
    pub(crate) fn read(revision: Option<u64>) -> Before {
        revision.map_or(Before::Nothing, Before::Revision)
    }
}

/// What a change makes of a record. A kind with rules of its own has one beside them.
pub(crate) trait Next<T: Stored>: Sync {
    /// The record as it is to be; none: it goes. `known`: as it is in the store, read after the
    /// census.
    fn next(
        &self,
        realm: &Realm,
        known: Option<&T>,
    ) -> impl Future<Output = Result<Option<T>, RecordError>> + Send;
}

/// This record, as it is.
pub(crate) struct Written<T>(pub T);

impl<T: Stored> Next<T> for Written<T> {
    async fn next(&self, _: &Realm, _: Option<&T>) -> Result<Option<T>, RecordError> {
        Ok(Some(self.0.clone()))
    }
}

/// It goes.
pub(crate) struct Gone;

impl<T: Stored> Next<T> for Gone {
    async fn next(&self, _: &Realm, _: Option<&T>) -> Result<Option<T>, RecordError> {
        Ok(None)
    }
}

/// A change that is durable, and neither in effect here nor told.
pub(crate) struct Durable<T> {
    pub(crate) record: Option<Arc<T>>,
    pub(crate) noted: Noted,
    begun: u64,
}

/// Writes a record that must not exist yet, where no server runs.
///
/// # Errors
/// `Exists`, or the store's.
pub async fn insert<T: Stored>(store: &dyn Store, record: &T, now: u64) -> Result<(), RecordError> {
    let insert = Op::Insert {
        key: T::ROW.kind.key(record.name()),
        value: record.write(),
        end: None,
    };
    match store.commit(Change::new(insert), now).await? {
        Outcome::Done { .. } => Ok(()),
        Outcome::Refused(_) => Err(RecordError::Exists),
    }
}

/// Writes that are durable and in effect when they return. On one node they come one after another,
/// so that the snapshot follows in the order of the commits: no older record can come back over a
/// newer one (known fault A15). Between nodes the row's version decides, and the stamps that go
/// with it say which of two words is the later one.
impl Realm {
    /// Writes a record: `read` is the revision that it replaces, none if it must not exist yet. The
    /// record's own revision is the next one.
    ///
    /// # Errors
    /// See [`RecordError`].
    pub async fn write_record<T: Stored>(
        &self,
        record: T,
        read: Option<u64>,
    ) -> Result<Arc<T>, RecordError> {
        let name = record.name().to_owned();
        let next = Written(record);
        let written = self.change_record(&name, Before::read(read), &next);
        written.await?.ok_or(RecordError::Conflict)
    }

    /// Writes a record, new or known: the last writer holds.
    ///
    /// # Errors
    /// `Conflict`, where others keep writing it; else as [`Realm::write_record`].
    pub async fn put_record<T: Stored>(&self, record: T) -> Result<(), RecordError> {
        let name = record.name().to_owned();
        let next = Written(record);
        let put = self.change_record(&name, Before::Anything, &next);
        put.await.map(drop)
    }

    /// Removes a record whose revision is `read`; none: whatever it is. The caller revokes what was
    /// issued by it.
    ///
    /// # Errors
    /// See [`RecordError`].
    pub async fn remove_record<T: Stored>(
        &self,
        name: &str,
        read: Option<u64>,
    ) -> Result<(), RecordError> {
        let before = read.map_or(Before::Anything, Before::Revision);
        let removed = self.change_record::<T>(name, before, &Gone);
        removed.await.map(drop)
    }

    /// Decides a change and makes it durable, puts it in effect and tells the other nodes.
    pub(crate) async fn change_record<T: Stored>(
        &self,
        name: &str,
        before: Before,
        next: &impl Next<T>,
    ) -> Result<Option<Arc<T>>, RecordError> {
        let _one_after_another = self.registry_writes.lock().await;
        let done = self.commit_record(name, before, next).await?;
        let record = done.record.clone();
        self.tell(done.noted, done.begun, || {
            [match record {
                Some(record) => Delta::record(record),
                None => Delta::gone(T::ROW.kind, name),
            }]
        })
        .await;
        Ok(done.record)
    }

    /// Decides a change and makes it durable. The caller holds `registry_writes`.
    pub(crate) async fn commit_record<T: Stored>(
        &self,
        name: &str,
        before: Before,
        next: &impl Next<T>,
    ) -> Result<Durable<T>, RecordError> {
        if T::get(&self.configuration().declared, name).is_some() {
            return Err(RecordError::Declared);
        }
        let kind = T::ROW.kind;
        for _ in 0..MAX_TRIES {
            let begun = self.now();
            let census = match T::COUNTED {
                Some(member) => Some((member, self.store.get(&census_key(), begun).await?)),
                None => None,
            };
            let row = self.store.get(&kind.key(name), begun).await?;
            let known = row.as_ref().map(|row| T::read(&row.value)).transpose();
            let known = known.map_err(StoreError::Corrupt)?;
            if let Err(error) = expect(name, known.as_ref(), before) {
                // Another node was faster, and its word may not have come yet.
                self.learn(kind, name).await?;
                return Err(error);
            }
            let mut record = next.next(self, known.as_ref()).await?;
            if let Some(record) = &mut record {
                let last = known.as_ref().and_then(T::revision);
                let last = last.or_else(|| T::built_in(name)?.revision());
                record.set_revision(last.unwrap_or(0).saturating_add(1));
            } else if known.is_none() {
                return Err(match T::built_in(name) {
                    Some(_) => RecordError::BuiltIn,
                    None => RecordError::NotFound,
                });
            }
            let was = row.as_ref().map(|row| row.value.as_slice());
            let value = record.as_ref().map(|record| match was {
                Some(was) => Delta::keeping(kind, name, was, record.write()),
                None => record.write(),
            });
            signet_audit::name_changes(&super::changes::of(was, value.as_deref()));
            let store = &*self.store;
            let noted = self
                .change_writer
                .note(store, kind, name, was, value.as_deref(), begun);
            let noted = noted.await?;
            let guard = match census {
                None => {
                    // Only kinds with a bound are counted: there may be very many clients.
                    if T::MOST.is_some() && was.is_none() && value.is_some() {
                        room::<T>(T::names(&self.snapshot().registry).len())?;
                    }
                    None
                }
                Some((member, row)) => {
                    Some(counted::<T>(member, row, was.is_some(), value.is_some())?)
                }
            };
            let change = change(kind, name, row.as_ref(), value, guard);
            let Change { first, mut then } = change;
            then.extend(self.change_writer.rows(&noted, begun));
            then.push(mark());
            let outcome = self.store.commit(Change { first, then }, begun).await?;
            let Outcome::Refused(found) = outcome else {
                let record = record.map(Arc::new);
                return Ok(Durable {
                    record,
                    noted,
                    begun,
                });
            };
            self.learn(kind, name).await?;
            if T::COUNTED.is_none() && before != Before::Anything {
                return Err(match (row.is_some(), found.is_some()) {
                    (false, _) if before == Before::Nothing => RecordError::Exists,
                    (true, false) => RecordError::NotFound,
                    (true, true) | (false, _) => RecordError::Conflict,
                });
            }
        }
        Err(RecordError::Conflict)
    }

    /// What is durable is put in effect here, and told.
    /// `alone`: what it means on a node that is the only one.
    pub(crate) async fn tell<D: IntoIterator<Item = Delta>>(
        &self,
        noted: Noted,
        begun: u64,
        alone: impl FnOnce() -> D,
    ) {
        if !self.is_shared() {
            return self.show(alone());
        }
        self.show(noted.deltas());
        let now = self.now();
        for line in self.change_writer.again(&noted, begun, now) {
            // Nodes that read the log have been there already.
            if let Err(error) = self.store.commit(Change::new(line), now).await {
                tracing::warn!(%error, "failed to announce a change at once; other nodes learn of it later");
            }
        }
        let told = self.change_writer.tell(noted);
        // It goes on where nobody waits any more.
        let _ = tokio::time::timeout(TOLD_WITHIN, told).await;
    }
}

/// Whether what is in the store is what a change is of.
fn expect<T: Stored>(name: &str, known: Option<&T>, before: Before) -> Result<(), RecordError> {
    match (known, before) {
        (_, Before::Anything) => Ok(()),
        (None, Before::Nothing) => match T::built_in(name) {
            Some(_) => Err(RecordError::Exists),
            None => Ok(()),
        },
        (Some(_), Before::Nothing) => Err(RecordError::Exists),
        (Some(known), Before::Revision(read)) => match known.revision() == Some(read) {
            true => Ok(()),
            false => Err(RecordError::Conflict),
        },
        // What every server has is not at rest before its first change.
        (None, Before::Revision(read)) => match T::built_in(name) {
            Some(built_in) if built_in.revision() == Some(read) => Ok(()),
            Some(_) => Err(RecordError::Conflict),
            None => Err(RecordError::NotFound),
        },
    }
}

/// Whether one more fits beside so many.
fn room<T: Stored>(count: usize) -> Result<(), RecordError> {
    match T::MOST {
        Some(most) if count >= most.records => Err(most.full.into()),
        _ => Ok(()),
    }
}

/// The change of the census that goes before a change of a counted kind.
fn counted<T: Stored>(
    member: &str,
    row: Option<Row>,
    was: bool,
    is: bool,
) -> Result<Op, RecordError> {
    let mut census = Census::read(row.as_ref())?;
    let count = census.of(member);
    match (was, is) {
        (false, true) => {
            room::<T>(count)?;
            census.set(member, count + 1);
        }
        (true, false) => census.set(member, count.saturating_sub(1)),
        (false, false) | (true, true) => {}
    }
    census.changes += 1;
    let (key, value) = (census_key(), census.to_bytes());
    Ok(match row {
        None => Op::Insert {
            key,
            value,
            end: None,
        },
        Some(row) => Op::Replace {
            key,
            version: row.version,
            value,
            end: None,
        },
    })
}

/// The change of the row, conditional on the row that was read; or on the guard, which then goes
/// first.
fn change(
    kind: RecordKind,
    name: &str,
    row: Option<&Row>,
    value: Option<Vec<u8>>,
    guard: Option<Op>,
) -> Change {
    let key = kind.key(name);
    if let Some(first) = guard {
        let record = match value {
            Some(value) => Op::Put {
                key,
                value,
                end: None,
            },
            None => Op::Delete { key },
        };
        let then = vec![record];
        return Change { first, then };
    }
    Change::new(match (row, value) {
        (None, Some(value)) => Op::Insert {
            key,
            value,
            end: None,
        },
        (Some(row), Some(value)) => Op::Replace {
            key,
            version: row.version,
            value,
            end: None,
        },
        (Some(row), None) => Op::Remove {
            key,
            version: row.version,
        },
        // Nothing is there, and nothing is to be.
        (None, None) => Op::Delete { key },
    })
}
