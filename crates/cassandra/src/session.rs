//! The statements, and nothing about why they are sent.
//!
//! Every write of a row is a lightweight transaction: a plain write beside them would not be
//! ordered with them. They are decided at `SERIAL` and answered after their commit at `QUORUM`,
//! and so a read at `QUORUM` sees every write that was answered, and reads of one row never go
//! back (`read_repair` is blocking). A read at `SERIAL` also ends what another node left half
//! decided; that is needed in one place only, where the answer to a write was lost.
use crate::{
    CassandraError, Options,
    error::Trouble,
    intent::{self, Write},
    stamp::Name,
    tls,
};
use scylla::{
    client::{
        PoolSize, execution_profile::ExecutionProfile, session::Session as Driver,
        session_builder::SessionBuilder,
    },
    policies::retry::FallthroughRetryPolicy,
    response::{PagingState, PagingStateResponse, query_result::QueryResult},
    serialize::row::SerializeRow,
    statement::{Consistency, SerialConsistency, prepared::PreparedStatement},
    value::{CqlValue, Row as AnyRow},
};
use signet_store::{Key, Row};
use std::{num::NonZeroUsize, ops::ControlFlow, sync::Arc, time::Duration};

/// Seconds that one statement of a Cassandra store may take
pub const STATEMENT_SECONDS: u64 = 3;

/// Seconds that connecting may take.
const CONNECT_SECONDS: u64 = 5;

/// Rows that one page of a scan asks for.
const SCAN_PAGE: i32 = 500;

const READ: &str = "SELECT version, value, ends, lock, home, pend FROM rows WHERE tab = ? AND part = ? AND sort = ?";
const READ_OPS: &str = "SELECT pend, ops FROM rows WHERE tab = ? AND part = ? AND sort = ?";
const READ_PARTITION: &str = "SELECT sort, version, value, ends, lock, home FROM rows WHERE tab = ? AND part = ? AND sort > ? LIMIT ?";
const SCAN: &str = "SELECT tab, part, sort, version, ends, lock, home, pend FROM rows";
const SCAN_TABLE: &str = "SELECT tab, part, sort, version, ends, lock, home, pend FROM rows WHERE tab = ? ALLOW FILTERING";

const WRITE_EXACT: &str = "UPDATE rows USING TTL ? SET version = ?, value = ?, ends = ? WHERE tab = ? AND part = ? AND sort = ? IF version = ? AND lock = null";
const WRITE_LIVE: &str = "UPDATE rows USING TTL ? SET version = ?, value = ?, ends = ? WHERE tab = ? AND part = ? AND sort = ? IF version = ? AND ends > ? AND lock = null";
const WRITE_ANY: &str = "UPDATE rows USING TTL ? SET version = ?, value = ?, ends = ? WHERE tab = ? AND part = ? AND sort = ? IF lock = null";

const LOCK_EXACT: &str = "UPDATE rows SET lock = ? WHERE tab = ? AND part = ? AND sort = ? IF version = ? AND lock = null AND pend = null";
const LOCK_LIVE: &str = "UPDATE rows SET lock = ? WHERE tab = ? AND part = ? AND sort = ? IF version = ? AND ends > ? AND lock = null AND pend = null";
const LOCK_ANY: &str = "UPDATE rows SET lock = ? WHERE tab = ? AND part = ? AND sort = ? IF lock = null AND pend = null";
const LOCK_OTHER: &str =
    "UPDATE rows SET lock = ?, home = ? WHERE tab = ? AND part = ? AND sort = ? IF lock = null";
const DECIDE: &str = "BEGIN BATCH UPDATE rows USING TTL ? SET version = ?, value = ?, ends = ? WHERE tab = ? AND part = ? AND sort = ? IF lock = ?; UPDATE rows SET lock = null, home = null, pend = ?, ops = ? WHERE tab = ? AND part = ? AND sort = ?; APPLY BATCH";
const APPLY: &str = "UPDATE rows USING TTL ? SET version = ?, value = ?, ends = ?, lock = null, home = null WHERE tab = ? AND part = ? AND sort = ? IF lock = ?";
const UNLOCK: &str =
    "UPDATE rows SET lock = null, home = null WHERE tab = ? AND part = ? AND sort = ? IF lock = ?";
const CLEAR: &str =
    "UPDATE rows SET pend = null, ops = null WHERE tab = ? AND part = ? AND sort = ? IF pend = ?";
const PROBE: &str = "UPDATE rows USING TTL 60 SET version = ? WHERE tab = 0 AND part = ? AND sort = 0x IF lock = null";

/// What a row must be for a write to be applied; it must not be locked either.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Expect {
    /// Anything.
    Any,
    /// This version; None: there never was one, or what was left of it is gone.
    Exact(Option<u64>),
    /// This version, not ended at a time.
    Live(u64, u64),
}

/// A row as it is stored.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Stored {
    pub(crate) version: Option<u64>,
    pub(crate) value: Option<Vec<u8>>,
    pub(crate) ends: i64,
    /// The change that is about to write it.
    pub(crate) lock: Option<Name>,
    /// Where that change is decided; None: here.
    pub(crate) home: Option<Key>,
    /// The change that was decided here and may not have been written elsewhere yet.
    pub(crate) pend: Option<Name>,
}

impl Stored {
    pub(crate) fn lives(&self, now: u64) -> bool {
        self.version.is_some() && (self.ends == intent::ENDLESS || self.ends > intent::seconds(now))
    }

    /// As callers see it.
    pub(crate) fn row(self, now: u64) -> Option<Row> {
        let version = self.version.filter(|_| self.lives(now))?;
        Some(Row {
            version,
            end: match self.ends {
                intent::ENDLESS => None,
                end => u64::try_from(end).ok(),
            },
            value: self.value.unwrap_or_default(),
        })
    }
}

/// A connected driver and its prepared statements.
pub(crate) struct Session {
    pub(crate) driver: Driver,
    read: PreparedStatement,
    read_serial: PreparedStatement,
    read_ops: PreparedStatement,
    read_partition: PreparedStatement,
    scan: PreparedStatement,
    scan_table: PreparedStatement,
    write_exact: PreparedStatement,
    write_live: PreparedStatement,
    write_any: PreparedStatement,
    lock_exact: PreparedStatement,
    lock_live: PreparedStatement,
    lock_any: PreparedStatement,
    lock_other: PreparedStatement,
    decide: PreparedStatement,
    apply: PreparedStatement,
    unlock: PreparedStatement,
    clear: PreparedStatement,
    probe: PreparedStatement,
}

/// Connects, to whatever schema there is.
pub(crate) async fn connect(options: &Options) -> Result<Driver, CassandraError> {
    let address = &options.address;
    let profile = ExecutionProfile::builder()
        .consistency(Consistency::Quorum)
        .serial_consistency(Some(SerialConsistency::Serial))
        .request_timeout(Some(Duration::from_secs(STATEMENT_SECONDS)))
        // Whether a statement may be sent again is decided where its meaning is known.
        .retry_policy(Arc::new(FallthroughRetryPolicy::new()))
        .speculative_execution_policy(None)
        .build();
    let one = NonZeroUsize::MIN;
    let mut builder = SessionBuilder::new()
        .known_nodes(&address.hosts)
        .pool_size(PoolSize::PerHost(one.saturating_add(1)))
        .connection_timeout(Duration::from_secs(CONNECT_SECONDS))
        .keepalive_interval(Duration::from_secs(2))
        .keepalive_timeout(Duration::from_secs(STATEMENT_SECONDS))
        .fetch_schema_metadata(false)
        .driver_config_reporting(false)
        .default_execution_profile_handle(profile.into_handle());
    if address.uses_tls() {
        builder = builder.tls_context(Some(tls::config(address)?));
    }
    if let Some(user) = &address.user {
        let password = options.password()?;
        let password = password.as_ref().map_or("", |secret| secret.expose());
        builder = builder.user(user, password);
    }
    let built = builder.build().await;
    built.map_err(|e| CassandraError::Unreachable(e.to_string()))
}

/// The first row of an answer to a conditional write says whether it was applied.
fn applied(result: QueryResult) -> Result<bool, Trouble> {
    let strange = |text: String| Trouble::Unknown(format!("an answer cannot be read: {text}"));
    let rows = result
        .into_rows_result()
        .map_err(|e| strange(e.to_string()))?;
    let row = rows
        .first_row::<AnyRow>()
        .map_err(|e| strange(e.to_string()))?;
    match row.columns.first() {
        Some(Some(CqlValue::Boolean(applied))) => Ok(*applied),
        _ => Err(strange("it has no [applied]".to_owned())),
    }
}

fn corrupt(text: impl ToString) -> Trouble {
    Trouble::Corrupt(text.to_string())
}

/// Versions are stored by their bits: nothing orders by them.
fn bits(version: u64) -> i64 {
    version.cast_signed()
}

fn name(bytes: Option<Vec<u8>>) -> Result<Option<Name>, Trouble> {
    let read = |bytes: Vec<u8>| Name::read(&bytes).ok_or_else(|| corrupt("the name of a change"));
    bytes.map(read).transpose()
}

fn home(bytes: Option<Vec<u8>>) -> Result<Option<Key>, Trouble> {
    let read = |bytes: Vec<u8>| intent::read_key(&bytes).ok_or_else(|| corrupt("a key"));
    bytes.map(read).transpose()
}

fn tab(key: &Key) -> i32 {
    i32::from(key.table.number())
}

type Blob = Option<Vec<u8>>;

impl Session {
    pub(crate) async fn new(driver: Driver) -> Result<Session, Trouble> {
        let prepare = async |text: &str| {
            let prepared = driver.prepare(text).await;
            prepared.map_err(|e| Trouble::NotDone(e.to_string()))
        };
        let mut read_serial = prepare(READ).await?;
        read_serial.set_consistency(Consistency::Serial);
        let mut scan = prepare(SCAN).await?;
        scan.set_page_size(SCAN_PAGE);
        let mut scan_table = prepare(SCAN_TABLE).await?;
        scan_table.set_page_size(SCAN_PAGE);
        Ok(Session {
            read: prepare(READ).await?,
            read_serial,
            read_ops: prepare(READ_OPS).await?,
            read_partition: prepare(READ_PARTITION).await?,
            scan,
            scan_table,
            write_exact: prepare(WRITE_EXACT).await?,
            write_live: prepare(WRITE_LIVE).await?,
            write_any: prepare(WRITE_ANY).await?,
            lock_exact: prepare(LOCK_EXACT).await?,
            lock_live: prepare(LOCK_LIVE).await?,
            lock_any: prepare(LOCK_ANY).await?,
            lock_other: prepare(LOCK_OTHER).await?,
            decide: prepare(DECIDE).await?,
            apply: prepare(APPLY).await?,
            unlock: prepare(UNLOCK).await?,
            clear: prepare(CLEAR).await?,
            probe: prepare(PROBE).await?,
            driver,
        })
    }

    async fn conditional(
        &self,
        statement: &PreparedStatement,
        values: impl SerializeRow,
    ) -> Result<bool, Trouble> {
        applied(self.driver.execute_unpaged(statement, values).await?)
    }

    /// Writes a row, if it is what is expected and not locked.
    pub(crate) async fn write(&self, write: &Write, expect: Expect) -> Result<bool, Trouble> {
        let Write {
            key,
            version,
            value,
            ends,
            ttl,
        } = write;
        let (tab, part, sort, version) = (tab(key), &key.partition, &key.sort, bits(*version));
        match expect {
            Expect::Any => {
                let values = (ttl, version, value, ends, tab, part, sort);
                self.conditional(&self.write_any, values).await
            }
            Expect::Exact(was) => {
                let was = was.map(bits);
                let values = (ttl, version, value, ends, tab, part, sort, was);
                self.conditional(&self.write_exact, values).await
            }
            Expect::Live(was, now) => {
                let (was, now) = (bits(was), intent::seconds(now));
                let values = (ttl, version, value, ends, tab, part, sort, was, now);
                self.conditional(&self.write_live, values).await
            }
        }
    }

    /// Locks the row that is to decide a change, if it is what is expected.
    pub(crate) async fn lock_home(
        &self,
        key: &Key,
        name: Name,
        expect: Expect,
    ) -> Result<bool, Trouble> {
        let (tab, part, sort, name) = (tab(key), &key.partition, &key.sort, name.bytes());
        match expect {
            Expect::Any => {
                let values = (name, tab, part, sort);
                self.conditional(&self.lock_any, values).await
            }
            Expect::Exact(was) => {
                let values = (name, tab, part, sort, was.map(bits));
                self.conditional(&self.lock_exact, values).await
            }
            Expect::Live(was, now) => {
                let values = (name, tab, part, sort, bits(was), intent::seconds(now));
                self.conditional(&self.lock_live, values).await
            }
        }
    }

    /// Locks another row of a change, for whoever meets it to find the one that decides.
    pub(crate) async fn lock_other(
        &self,
        key: &Key,
        name: Name,
        home: &Key,
    ) -> Result<bool, Trouble> {
        let home = intent::key_bytes(home);
        let values = (name.bytes(), home, tab(key), &key.partition, &key.sort);
        self.conditional(&self.lock_other, values).await
    }

    /// The decision: writes the row that is locked, and what the change still has to write.
    pub(crate) async fn decide(
        &self,
        write: &Write,
        name: Name,
        ops: &[u8],
    ) -> Result<bool, Trouble> {
        let (tab, part, sort) = (tab(&write.key), &write.key.partition, &write.key.sort);
        let (name, version) = (name.bytes(), bits(write.version));
        let values = (
            write.ttl,
            version,
            &write.value,
            write.ends,
            tab,
            part,
            sort,
            name,
            name,
            ops,
            tab,
            part,
            sort,
        );
        self.conditional(&self.decide, values).await
    }

    /// Writes another row of a decided change, if it has not been written.
    pub(crate) async fn apply(&self, write: &Write, name: Name) -> Result<bool, Trouble> {
        let Write {
            key,
            version,
            value,
            ends,
            ttl,
        } = write;
        let (part, sort) = (&key.partition, &key.sort);
        let (tab, name, version) = (tab(key), name.bytes(), bits(*version));
        let values = (ttl, version, value, ends, tab, part, sort, name);
        self.conditional(&self.apply, values).await
    }

    /// Takes a change's lock off a row, if it is there.
    pub(crate) async fn unlock(&self, key: &Key, name: Name) -> Result<bool, Trouble> {
        let values = (tab(key), &key.partition, &key.sort, name.bytes());
        self.conditional(&self.unlock, values).await
    }

    /// The change is written everywhere.
    pub(crate) async fn clear(&self, key: &Key, name: Name) -> Result<bool, Trouble> {
        let values = (tab(key), &key.partition, &key.sort, name.bytes());
        self.conditional(&self.clear, values).await
    }

    /// Writes something, and nothing that matters.
    pub(crate) async fn probe(&self, version: u64, who: &[u8]) -> Result<bool, Trouble> {
        self.conditional(&self.probe, (bits(version), who)).await
    }

    async fn read_by(&self, statement: &PreparedStatement, key: &Key) -> Result<Stored, Trouble> {
        let values = (tab(key), &key.partition, &key.sort);
        let result = self.driver.execute_unpaged(statement, values).await?;
        let rows = result.into_rows_result().map_err(corrupt)?;
        type Columns = (Option<i64>, Blob, Option<i64>, Blob, Blob, Blob);
        let row = rows.maybe_first_row::<Columns>().map_err(corrupt)?;
        let Some((version, value, ends, lock, at, pend)) = row else {
            return Ok(Stored::default());
        };
        Ok(Stored {
            version: version.map(i64::cast_unsigned),
            value,
            ends: ends.unwrap_or(intent::REMOVED),
            lock: name(lock)?,
            home: home(at)?,
            pend: name(pend)?,
        })
    }

    /// A row, with every write that was answered.
    pub(crate) async fn read(&self, key: &Key) -> Result<Stored, Trouble> {
        self.read_by(&self.read, key).await
    }

    /// The same, after what is half decided was ended one way or the other.
    pub(crate) async fn read_serial(&self, key: &Key) -> Result<Stored, Trouble> {
        self.read_by(&self.read_serial, key).await
    }

    /// What a decided change still has to write; None: nothing, or another change's.
    pub(crate) async fn pending(&self, key: &Key, of: Name) -> Result<Option<Vec<Write>>, Trouble> {
        let values = (tab(key), &key.partition, &key.sort);
        let result = self.driver.execute_unpaged(&self.read_ops, values).await?;
        let rows = result.into_rows_result().map_err(corrupt)?;
        let row = rows.maybe_first_row::<(Blob, Blob)>().map_err(corrupt)?;
        let Some((Some(pend), Some(ops))) = row else {
            return Ok(None);
        };
        if Name::read(&pend) != Some(of) {
            return Ok(None);
        }
        let writes = intent::read_writes(&ops);
        writes
            .map(Some)
            .ok_or_else(|| corrupt("what a change has to write"))
    }

    /// At most `limit` stored rows of a partition, living or not, by their sort.
    pub(crate) async fn partition(
        &self,
        at: &Key,
        limit: i32,
    ) -> Result<Vec<(Key, Stored)>, Trouble> {
        let values = (tab(at), &at.partition, &at.sort, limit);
        let statement = &self.read_partition;
        let result = self.driver.execute_unpaged(statement, values).await?;
        let rows = result.into_rows_result().map_err(corrupt)?;
        type Columns = (Vec<u8>, Option<i64>, Blob, Option<i64>, Blob, Blob);
        let mut all = Vec::new();
        for row in rows.rows::<Columns>().map_err(corrupt)? {
            let (sort, version, value, ends, lock, at_home) = row.map_err(corrupt)?;
            let key = Key::with_sort(at.table, at.partition.clone(), sort);
            let stored = Stored {
                version: version.map(i64::cast_unsigned),
                value,
                ends: ends.unwrap_or(intent::REMOVED),
                lock: name(lock)?,
                home: home(at_home)?,
                pend: None,
            };
            all.push((key, stored));
        }
        Ok(all)
    }

    /// A page of all rows, or of one table's, without their values, in the order of the ring; and
    /// where it goes on. Rows of tables that this program does not know are left out.
    pub(crate) async fn scan(
        &self,
        table: Option<signet_store::Table>,
        from: PagingState,
    ) -> Result<(Vec<(Key, Stored)>, Option<PagingState>), Trouble> {
        let (result, next): (QueryResult, PagingStateResponse) = match table {
            None => {
                self.driver
                    .execute_single_page(&self.scan, (), from)
                    .await?
            }
            Some(table) => {
                let values = (i32::from(table.number()),);
                let statement = &self.scan_table;
                self.driver
                    .execute_single_page(statement, values, from)
                    .await?
            }
        };
        let rows = result.into_rows_result().map_err(corrupt)?;
        type Columns = (
            i32,
            Vec<u8>,
            Vec<u8>,
            Option<i64>,
            Option<i64>,
            Blob,
            Blob,
            Blob,
        );
        let mut all = Vec::new();
        for row in rows.rows::<Columns>().map_err(corrupt)? {
            let (tab, part, sort, version, ends, lock, at, pend) = row.map_err(corrupt)?;
            let table = u8::try_from(tab).ok();
            let Some(table) = table.and_then(signet_store::Table::from_number) else {
                continue;
            };
            let stored = Stored {
                version: version.map(i64::cast_unsigned),
                value: None,
                ends: ends.unwrap_or(intent::REMOVED),
                lock: name(lock)?,
                home: home(at)?,
                pend: name(pend)?,
            };
            all.push((Key::with_sort(table, part, sort), stored));
        }
        let next = match next.into_paging_control_flow() {
            ControlFlow::Continue(state) => Some(state),
            ControlFlow::Break(()) => None,
        };
        Ok((all, next))
    }
}
