//! One revocation as a row of the store.
//!
//! The key is of the subject, the value its epoch (Unix milliseconds, big endian; 0 for a kind
//! without one), the row's end the revocation's. Which kinds there are, and the first byte of their
//! keys, is [`signet_revocation::KINDS`].
use crate::{Key, Op, Row, StoreError, Table};
use signet_revocation::{GrantId, Jti, Kind};

/// Rows that are read at once, at start and for a follower.
pub(crate) const PAGE: usize = 1024;

/// Whom or what a revocation concerns, with ids as the server has them: the bytes of a `jti`, a
/// grant and a delegation, and texts.
pub type Subject = signet_revocation::Subject<Jti, GrantId, [u8; 32], String>;

/// A revocation, and when the last token that it can concern has expired, Unix seconds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Revoked {
    /// What is revoked.
    pub subject: Subject,
    /// Unix seconds
    pub end: u64,
}

impl Revoked {
    /// As it travels: the name of the subject, and what is said of it (epoch and end).
    pub fn to_parts(&self) -> (Vec<u8>, [u8; 16]) {
        let mut said = [0; 16];
        let epoch_ms = self.subject.epoch_ms().unwrap_or(0);
        said[..8].copy_from_slice(&epoch_ms.to_be_bytes());
        said[8..].copy_from_slice(&self.end.to_be_bytes());
        (key_of(&self.subject).partition, said)
    }

    /// Reads what [`Revoked::to_parts`] wrote; none where it is something else.
    pub fn from_parts(name: &[u8], said: &[u8]) -> Option<Revoked> {
        let (epoch_ms, end) = said.split_first_chunk::<8>()?;
        let end = u64::from_be_bytes(end.try_into().ok()?);
        let subject = subject(name, u64::from_be_bytes(*epoch_ms)).ok()?;
        Some(Revoked { subject, end })
    }
}

pub(crate) fn key_of(subject: &Subject) -> Key {
    let id: &[u8] = subject.id(
        |jti| jti.as_bytes().as_slice(),
        |grant| grant.as_bytes().as_slice(),
        |delegation| delegation.as_slice(),
        |text| text.as_bytes(),
    );
    let mut partition = Vec::with_capacity(1 + id.len());
    partition.push(subject.kind().row().tag);
    partition.extend_from_slice(id);
    Key::new(Table::Revocation, partition)
}

/// What says so, as a write without a condition: its key is of what it says, so that no other
/// revocation of the same subject is overwritten by it, whichever comes first, and reading joins
/// them.
pub(crate) fn put(subject: &Subject, end: u64) -> Op {
    let key = key_of(subject);
    let epoch_ms = subject.epoch_ms().unwrap_or(0).to_be_bytes().to_vec();
    let mut sort = epoch_ms.clone();
    sort.extend_from_slice(&end.to_be_bytes());
    Op::Put {
        key: Key::with_sort(key.table, key.partition, sort),
        value: epoch_ms,
        end: Some(end),
    }
}

/// A row as what it says.
pub(crate) fn read(key: &Key, row: &Row) -> Result<Revoked, StoreError> {
    let end = row
        .end
        .ok_or_else(|| StoreError::Corrupt("a revocation without end".to_owned()))?;
    let subject = subject(&key.partition, epoch_of(row)?)?;
    Ok(Revoked { subject, end })
}

fn subject(name: &[u8], epoch_ms: u64) -> Result<Subject, StoreError> {
    let corrupt = || StoreError::Corrupt("a revocation".to_owned());
    let (tag, id) = name.split_first().ok_or_else(corrupt)?;
    let kind = Kind::of_tag(*tag).ok_or_else(corrupt)?;
    Subject::made(
        kind,
        epoch_ms,
        || Jti::from_slice(id).ok_or_else(corrupt),
        || GrantId::from_slice(id).ok_or_else(corrupt),
        || id.try_into().map_err(|_| corrupt()),
        || String::from_utf8(id.to_vec()).map_err(|_| corrupt()),
    )
}

pub(crate) fn epoch_of(row: &Row) -> Result<u64, StoreError> {
    <[u8; 8]>::try_from(row.value.as_slice())
        .map(u64::from_be_bytes)
        .map_err(|_| StoreError::Corrupt("the epoch of a revocation".to_owned()))
}
