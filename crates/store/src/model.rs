//! The Store trait. One key, one atomic call; nothing needs a scan of a table on a request's way; everything short-lived carries its end.
//!
//! A key is (table, partition, sort). A partition is read in order of `sort`; most tables use one row per partition (`sort` empty).
//! This fits SQLite, the PostgreSQL protocol, and wide-column engines alike.
use std::{future::Future, pin::Pin};

/// Every table, one row each: its name on disk, and whether rows must carry an end.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Table {
    // registry (loaded whole at start, no end)
    Client,
    Resource,
    SigningKey,
    Setting,
    // directory
    User,
    /// partition: login name or e-mail, folded; value: user id
    UserLookup,
    /// partition: user id, sort: client_id
    Consent,
    // flow state, every row with an end
    /// codes, assertion ids, DPoP proof ids, pushed requests, one-time links: what may happen once
    Once,
    /// refresh families: value holds the current generation
    Family,
    Session,
    /// partition: user id, sort: session id
    UserSession,
    /// partition: user id, sort: family (grant) id
    UserGrant,
    OneTimeCode,
    DeviceCode,
    /// partition: user_code, value: device code id
    UserCode,
    PushedRequest,
    Attempts,
    /// partition: subject of the revocation; loaded whole at start; always with an end
    Revocation,
}
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Key {
    pub table: Table,
    pub partition: Vec<u8>,
    pub sort: Vec<u8>,
}
impl Key {
    pub fn new(table: Table, partition: impl Into<Vec<u8>>) -> Key {
        Key {
            table,
            partition: partition.into(),
            sort: Vec::new(),
        }
    }
    pub fn with_sort(table: Table, partition: impl Into<Vec<u8>>, sort: impl Into<Vec<u8>>) -> Key {
        Key {
            table,
            partition: partition.into(),
            sort: sort.into(),
        }
    }
}
/// `version` changes at every write, and never repeats for a key while the row lives. `end`: Unix seconds; the row does not exist from that second on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Row {
    pub value: Vec<u8>,
    pub version: u64,
    pub end: Option<u64>,
}
/// The one condition of a change, and what is done if it holds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Op {
    /// Must not exist (an expired row does not exist).
    Insert {
        key: Key,
        value: Vec<u8>,
        end: Option<u64>,
    },
    /// Must exist with this version.
    Replace {
        key: Key,
        version: u64,
        value: Vec<u8>,
        end: Option<u64>,
    },
    /// Must exist with this version.
    Remove { key: Key, version: u64 },
    /// No condition.
    Put {
        key: Key,
        value: Vec<u8>,
        end: Option<u64>,
    },
    /// No condition.
    Delete { key: Key },
}
/// At most one conditional operation (`first`), then unconditional ones that are done if and only if it held. All or nothing, durable on return.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Change {
    pub first: Op,
    pub then: Vec<Op>,
}
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// version of the row that `first` wrote (0 for removals)
    Done { version: u64 },
    /// The condition did not hold: the row as it is (None: there is none).
    Refused(Option<Row>),
}
pub type StoreFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'a>>;
/// `now` is Unix seconds, handed in by the caller: rows whose end is at or before it do not exist.
pub trait Store: Send + Sync + 'static {
    fn get<'a>(&'a self, key: &'a Key, now: u64) -> StoreFuture<'a, Option<Row>>;
    /// Durable before it answers Done.
    fn commit(&self, change: Change, now: u64) -> StoreFuture<'_, Outcome>;
    /// Several changes in order, each atomic, sharing one flush where the engine can; stops after the first that is refused (its outcome is the last).
    fn commit_each(&self, changes: Vec<Change>, now: u64) -> StoreFuture<'_, Vec<Outcome>>;
    /// Removes and returns: of racing callers one gets the row.
    fn take<'a>(&'a self, key: &'a Key, now: u64) -> StoreFuture<'a, Option<Row>>;
    /// A partition's rows after `after`, in order of `sort`.
    fn partition<'a>(
        &'a self,
        table: Table,
        partition: &'a [u8],
        after: &'a [u8],
        limit: usize,
        now: u64,
    ) -> StoreFuture<'a, Vec<(Key, Row)>>;
    /// A page of a whole table: start-up of registry and revocations, and the admin API's lists. Never on a request's way.
    fn page<'a>(
        &'a self,
        table: Table,
        after: Option<&'a Key>,
        limit: usize,
        now: u64,
    ) -> StoreFuture<'a, Vec<(Key, Row)>>;
    /// Removes at most `limit` ended rows; the number removed.
    fn sweep(&self, now: u64, limit: usize) -> StoreFuture<'_, usize>;
    /// Readiness: can it read and write?
    fn check(&self) -> StoreFuture<'_, ()>;
}
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    #[error("the store is unavailable: {0}")]
    Unavailable(String),
    #[error("a stored row cannot be read: {0}")]
    Corrupt(String),
    #[error("the value is too large")]
    TooLarge,
}
