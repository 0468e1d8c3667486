//! The distributed engine: any server that speaks PostgreSQL's protocol.
//!
//! Calls become jobs on bounded queues, as with the embedded engine, and a thread with a runtime of
//! its own works on them over a few connections. What has queued up is done together: a group of
//! changes is two round trips and one transaction, however many changes there are (`plan`
//! says why that is right), and a group of reads is one statement. While one group waits for
//! its flush the other connection takes the next.
//!
//! Where the database does not answer, calls are refused at once until it does (see `queue`), and a
//! commit whose answer was lost is looked up, never guessed: each transaction writes a random mark
//! into a row of its connection's (see `writer`).
mod address;
mod jobs;
mod keys;
mod layout;
mod migrate;
mod plan;
mod queue;
mod reader;
mod schema;
mod session;
mod shared;
mod sweep;
mod tls;
mod work;
mod writer;

pub use address::{Address, Host, InvalidUrl, MAX_HOSTS, TlsMode};
pub use layout::{MIDDLE_BUCKET, NARROW_BUCKET, WIDE_BUCKET};
pub use migrate::{Behind, MIGRATE_SECONDS, Position};
pub use queue::MAX_QUEUE;
pub use schema::{MIGRATIONS, SCHEMA_VERSION};
pub use session::{CONNECT_SECONDS, PHASE_SECONDS};
pub use writer::MAX_GROUP;

use crate::{
    Change, Destination, Key, Outcome, Row, Store, StoreError, StoreFuture, Table,
    schema::{Migration, SchemaStatus},
};
use jobs::{Read, Write};
use queue::{Queue, Reply};
use shared::Shared;
use signet_crypto::Secret;
use std::{
    collections::BTreeMap,
    fmt,
    future::Future,
    io,
    path::PathBuf,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::Ordering::{Relaxed, SeqCst},
        mpsc,
    },
    thread::JoinHandle,
};
use tokio::{runtime, sync::oneshot, task::LocalSet};
use tokio_postgres::error::SqlState;

/// Longest partition and sort together, in bytes, that the distributed engine keeps: an index entry
/// has to fit on a third of a page
pub const MAX_KEY: usize = 2560;

/// Where the database is, and how many connections are used.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Options {
    /// Hosts, database, role, TLS.
    pub address: Address,
    /// The role's password, where it does not come from `PGPASSWORD` or a password file.
    pub password: Option<Secret<String>>,
    /// Connections that write: while one waits for its flush, another works.
    pub writers: usize,
    /// Connections that read.
    pub readers: usize,
    /// The schema, as this program knows it.
    pub migrations: &'static [Migration],
}

impl Options {
    /// The usual sizes.
    pub fn new(address: Address) -> Options {
        Options {
            address,
            password: None,
            writers: 2,
            readers: 2,
            migrations: MIGRATIONS,
        }
    }

    /// The password for a host: what was handed in, else `PGPASSWORD`, else the password file.
    fn password_of(&self, host: &Host) -> Result<Option<Secret<String>>, PostgresError> {
        if let Some(password) = &self.password {
            return Ok(Some(password.clone()));
        }
        if let Ok(password) = std::env::var("PGPASSWORD") {
            return Ok(Some(Secret::new(password)));
        }
        let named = self.address.password_file.clone();
        let file = named
            .clone()
            .or_else(|| std::env::var_os("PGPASSFILE").map(PathBuf::from))
            .or_else(|| std::env::home_dir().map(|home| home.join(".pgpass")));
        let Some(file) = file else { return Ok(None) };
        let unusable =
            |e: io::Error| PostgresError::PasswordFile(format!("{}: {e}", file.display()));
        let text = match std::fs::read_to_string(&file) {
            Ok(text) => Secret::new(text),
            Err(_) if named.is_none() => return Ok(None),
            Err(error) => return Err(unusable(error)),
        };
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = std::fs::metadata(&file)
                .map_err(unusable)?
                .permissions()
                .mode();
            if mode & 0o077 != 0 {
                return Err(PostgresError::PasswordFile(format!(
                    "{} may be read by others; chmod 600 it",
                    file.display()
                )));
            }
        }
        Ok(self.address.password_in(text.expose(), host))
    }
}

/// Why a database cannot be used. For the operator.
#[derive(Clone, Debug, thiserror::Error)]
pub enum PostgresError {
    /// It does not answer, or takes no writes.
    #[error("the database cannot be reached: {0}")]
    Unreachable(String),
    /// It answered, and refused.
    #[error("the database refuses: {message} (SQLSTATE {code})")]
    Refused {
        /// SQLSTATE
        code: String,
        /// the server's words
        message: String,
    },
    /// There is no schema, or an old one.
    #[error(
        "the database's schema is version {found}, and this program needs {known}; run: signet store migrate"
    )]
    OldSchema {
        /// in the database; 0: none
        found: u32,
        /// this program's
        known: u32,
    },
    /// The schema is too new.
    #[error(
        "the database's schema is version {found}; this program knows {known} and can work with one more, no further"
    )]
    NewSchema {
        /// in the database
        found: u32,
        /// this program's
        known: u32,
    },
    /// A step of the schema would leave a program behind that is connected.
    #[error(
        "a program that knows schema {known} is connected, and could not work on schema {next}: \
         stop it, or start its next version, first"
    )]
    Behind {
        /// the oldest program's
        known: u32,
        /// the step that is due
        next: u32,
    },
    /// Certificates or keys that cannot be used.
    #[error("TLS to the database: {0}")]
    Tls(String),
    /// The password file cannot be used.
    #[error("the password file: {0}")]
    PasswordFile(String),
    /// What is stored is not what was written.
    #[error("a stored row cannot be read: {0}")]
    Corrupt(&'static str),
    /// The connection was lost.
    #[error("the connection to the database was lost: {0}")]
    Lost(String),
    /// An answer did not come in time.
    #[error("the database does not answer in time")]
    Slow,
    /// The condition of [`Store::write_while`] does not hold.
    #[error("this node was removed from its cluster: it writes nothing any more")]
    Excluded,
    /// A connection pooler stands in between, which gives each transaction another connection.
    #[error(
        "{at} is a connection pooler that pools transactions or statements ({reason}): name the database itself in [store] url, or set pool_mode = session for this database (PgBouncer)"
    )]
    Pooled {
        /// host and port
        at: String,
        /// the server's words
        reason: String,
    },
}

impl From<tokio_postgres::Error> for PostgresError {
    fn from(error: tokio_postgres::Error) -> PostgresError {
        if let Some(said) = error.as_db_error() {
            // A connection's own statements are unknown, or another connection's are known, only
            // where somebody in between exchanges connections.
            let pooled = [
                SqlState::INVALID_SQL_STATEMENT_NAME,
                SqlState::DUPLICATE_PSTATEMENT,
            ];
            if pooled.contains(said.code()) {
                return PostgresError::Pooled {
                    at: "what [store] url names".to_owned(),
                    reason: said.message().to_owned(),
                };
            }
            return PostgresError::Refused {
                code: said.code().code().to_owned(),
                message: said.message().to_owned(),
            };
        }
        let mut text = error.to_string();
        let mut source = std::error::Error::source(&error);
        while let Some(cause) = source {
            text = format!("{text}: {cause}");
            source = cause.source();
        }
        PostgresError::Lost(text)
    }
}

impl PostgresError {
    fn code(&self) -> &str {
        match self {
            PostgresError::Refused { code, .. } => code,
            PostgresError::Unreachable(_)
            | PostgresError::OldSchema { .. }
            | PostgresError::NewSchema { .. }
            | PostgresError::Behind { .. }
            | PostgresError::Tls(_)
            | PostgresError::PasswordFile(_)
            | PostgresError::Corrupt(_)
            | PostgresError::Lost(_)
            | PostgresError::Slow
            | PostgresError::Excluded
            | PostgresError::Pooled { .. } => "",
        }
    }

    /// The same, with the host that it is about.
    fn at(self, host: &Host) -> PostgresError {
        let at = |text: String| format!("{}:{}: {text}", host.name, host.port);
        match self {
            PostgresError::Unreachable(text) => PostgresError::Unreachable(at(text)),
            PostgresError::Lost(text) => PostgresError::Unreachable(at(text)),
            PostgresError::Slow => PostgresError::Unreachable(at("no answer in time".to_owned())),
            other @ (PostgresError::Refused { .. }
            | PostgresError::OldSchema { .. }
            | PostgresError::NewSchema { .. }
            | PostgresError::Behind { .. }
            | PostgresError::Tls(_)
            | PostgresError::PasswordFile(_)
            | PostgresError::Corrupt(_)
            | PostgresError::Excluded) => other,
            PostgresError::Pooled { reason, .. } => PostgresError::Pooled {
                at: format!("{}:{}", host.name, host.port),
                reason,
            },
        }
    }

    /// The server rolled the transaction back because of another one: it may be tried again.
    fn is_conflict(&self) -> bool {
        let conflict = [
            SqlState::T_R_SERIALIZATION_FAILURE,
            SqlState::T_R_DEADLOCK_DETECTED,
            SqlState::LOCK_NOT_AVAILABLE,
        ];
        conflict.iter().any(|state| state.code() == self.code())
    }

    /// Two nodes made the same table or row at once.
    fn is_race(&self) -> bool {
        let race = [
            SqlState::UNIQUE_VIOLATION,
            SqlState::DUPLICATE_TABLE,
            SqlState::DUPLICATE_OBJECT,
        ];
        self.is_conflict() || race.iter().any(|state| state.code() == self.code())
    }

    /// Whether the connection is of no further use: it was lost, the server is going away
    /// (class 57: an operator intervened; class 25: what was a primary takes no writes), or its
    /// schema has become another program's.
    fn is_lost(&self) -> bool {
        match self {
            PostgresError::Lost(_)
            | PostgresError::Slow
            | PostgresError::Unreachable(_)
            | PostgresError::OldSchema { .. }
            | PostgresError::NewSchema { .. } => true,
            PostgresError::Refused { code, .. } => {
                ["57", "25", "08"].contains(&&code[..2.min(code.len())])
            }
            PostgresError::Behind { .. }
            | PostgresError::Tls(_)
            | PostgresError::PasswordFile(_)
            | PostgresError::Corrupt(_)
            | PostgresError::Excluded
            | PostgresError::Pooled { .. } => false,
        }
    }

    fn for_caller(&self) -> StoreError {
        match self {
            PostgresError::Corrupt(what) => StoreError::Corrupt((*what).to_owned()),
            other => StoreError::Unavailable(other.to_string()),
        }
    }
}

/// What the writers have done since the store was opened. `jobs / groups` is how many changes
/// shared a transaction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GroupCounts {
    /// transactions
    pub groups: u64,
    /// calls that were answered by them
    pub jobs: u64,
}

/// The distributed store. Dropping it finishes what is queued, and waits for that.
pub struct PostgresStore {
    shared: Arc<Shared>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl fmt::Debug for PostgresStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresStore").finish_non_exhaustive()
    }
}

/// Runs a task on a thread and a runtime of its own: the caller's may have no timers, and may be
/// inside another one.
fn apart<T: Send>(
    work: impl Future<Output = Result<T, PostgresError>> + Send,
) -> Result<T, PostgresError> {
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| new_runtime()?.block_on(work));
        let stopped = || PostgresError::Unreachable("its thread has stopped".to_owned());
        thread.join().map_err(|_| stopped())?
    })
}

fn new_runtime() -> Result<runtime::Runtime, PostgresError> {
    runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|e| PostgresError::Unreachable(format!("no runtime: {e}")))
}

impl PostgresStore {
    /// Connects to a database whose schema is there.
    ///
    /// # Errors
    /// See [`PostgresError`].
    pub fn open(options: &Options) -> Result<PostgresStore, PostgresError> {
        let runtime = new_runtime()?;
        let shared = Arc::new(Shared::new(options.clone()));
        let of_thread = shared.clone();
        let (opened, first) = mpsc::channel();
        let thread = std::thread::Builder::new()
            .name("store-postgres".to_owned())
            .spawn(move || {
                let tasks = LocalSet::new();
                tasks.block_on(&runtime, async move {
                    // The first connection says what is wrong, if something is.
                    let first = of_thread.writing().await;
                    let (session, result) = match first {
                        Ok(session) => (Some(session), Ok(())),
                        Err(error) => (None, Err(error)),
                    };
                    // Invariant: `open` waits for it.
                    drop(opened.send(result));
                    if let Some(session) = session {
                        work::work(of_thread, session).await;
                    }
                });
            })
            .map_err(|e| PostgresError::Unreachable(format!("no thread: {e}")))?;
        first
            .recv()
            .map_err(|_| PostgresError::Unreachable("its thread has stopped".to_owned()))??;
        Ok(PostgresStore {
            shared,
            thread: Mutex::new(Some(thread)),
        })
    }

    /// How the database's schema stands to this program.
    ///
    /// # Errors
    /// See [`PostgresError`].
    pub fn schema(options: &Options) -> Result<SchemaStatus, PostgresError> {
        apart(migrate::status(options))
    }

    /// How many connections the database has, of nodes and of commands, by the schema that their
    /// program knows.
    ///
    /// # Errors
    /// See [`PostgresError`].
    pub fn connected(options: &Options) -> Result<BTreeMap<u32, u64>, PostgresError> {
        apart(migrate::connected(options, schema::Whose::All))
    }

    /// Where the database is in its own time.
    ///
    /// # Errors
    /// See [`PostgresError`].
    pub fn position(options: &Options) -> Result<Position, PostgresError> {
        apart(migrate::position(options))
    }

    /// How many of those are not of this process.
    ///
    /// # Errors
    /// See [`PostgresError`].
    pub fn others(options: &Options) -> Result<u64, PostgresError> {
        let others = apart(migrate::connected(options, schema::Whose::Others))?;
        Ok(others.into_values().sum())
    }

    /// Makes or upgrades the schema, while nodes of the version before go on; the steps that were
    /// done.
    ///
    /// # Errors
    /// [`PostgresError::Behind`] where a program is connected that could not work on it any more,
    /// and `behind` says that this matters; otherwise see [`PostgresError`].
    pub fn migrate(options: &Options, behind: Behind) -> Result<Vec<Migration>, PostgresError> {
        apart(migrate::migrate(options, behind))
    }

    /// What the writers have done so far.
    pub fn group_counts(&self) -> GroupCounts {
        GroupCounts {
            groups: self.shared.groups.load(Relaxed),
            jobs: self.shared.jobs.load(Relaxed),
        }
    }

    async fn ask<J, T>(
        &self,
        queue: &Queue<J>,
        job: impl FnOnce(Reply<T>) -> J,
    ) -> Result<T, StoreError> {
        if self.shared.down.load(SeqCst) {
            return Err(self.shared.refusal());
        }
        let (reply, answer) = oneshot::channel();
        queue.push(job(reply))?;
        answer.await.map_err(|_| queue::stopped())?
    }

    async fn write<T>(&self, job: impl FnOnce(Reply<T>) -> Write) -> Result<T, StoreError> {
        self.ask(&self.shared.writes, job).await
    }

    async fn read<T>(&self, job: impl FnOnce(Reply<T>) -> Read) -> Result<T, StoreError> {
        self.ask(&self.shared.reads, job).await
    }
}

fn check_key(key: &Key) -> Result<(), StoreError> {
    match key.partition.len() + key.sort.len() > MAX_KEY {
        true => Err(StoreError::TooLarge),
        false => Ok(()),
    }
}

fn check(change: &Change) -> Result<(), StoreError> {
    change.check()?;
    std::iter::once(&change.first)
        .chain(&change.then)
        .try_for_each(|op| check_key(op.key()))
}

impl Store for PostgresStore {
    fn get<'a>(&'a self, key: &'a Key, now: u64) -> StoreFuture<'a, Option<Row>> {
        let key = key.clone();
        Box::pin(self.read(move |reply| Read::Get { key, now, reply }))
    }

    fn commit(&self, change: Change, now: u64) -> StoreFuture<'_, Outcome> {
        Box::pin(async move {
            check(&change)?;
            self.write(|reply| Write::Commit { change, now, reply })
                .await
        })
    }

    fn commit_each(&self, changes: Vec<Change>, now: u64) -> StoreFuture<'_, Vec<Outcome>> {
        Box::pin(async move {
            changes.iter().try_for_each(check)?;
            if changes.is_empty() {
                return Ok(Vec::new());
            }
            self.write(|reply| Write::CommitEach {
                changes,
                now,
                reply,
            })
            .await
        })
    }

    fn take<'a>(&'a self, key: &'a Key, now: u64) -> StoreFuture<'a, Option<Row>> {
        let key = key.clone();
        Box::pin(self.write(move |reply| Write::Take { key, now, reply }))
    }

    fn partition<'a>(
        &'a self,
        table: Table,
        partition: &'a [u8],
        after: &'a [u8],
        limit: usize,
        now: u64,
    ) -> StoreFuture<'a, Vec<(Key, Row)>> {
        let (partition, after) = (partition.to_vec(), after.to_vec());
        Box::pin(self.read(move |reply| Read::Partition {
            table,
            partition,
            after,
            limit,
            now,
            reply,
        }))
    }

    fn page<'a>(
        &'a self,
        table: Table,
        after: Option<&'a Key>,
        limit: usize,
        now: u64,
    ) -> StoreFuture<'a, Vec<(Key, Row)>> {
        let after = after.cloned();
        Box::pin(self.read(move |reply| Read::Page {
            table,
            after,
            limit,
            now,
            reply,
        }))
    }

    fn sweep(&self, now: u64, limit: usize) -> StoreFuture<'_, usize> {
        Box::pin(self.read(move |reply| Read::Sweep { now, limit, reply }))
    }

    fn check(&self) -> StoreFuture<'_, ()> {
        Box::pin(self.write(|reply| Write::Check { reply }))
    }

    fn write_while(&self, key: Key, value: Vec<u8>) {
        // A process is one node for as long as it runs.
        let _ = self.shared.condition.set((key, value));
    }

    fn close(&self) {
        self.shared.writes.close();
        self.shared.reads.close();
        let thread = self
            .thread
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if thread.is_some_and(|thread| thread.join().is_err()) {
            tracing::error!("stopped the store thread after a panic");
        }
    }
}

impl Destination for PostgresStore {
    fn restore(&self, rows: Vec<(Key, Option<Row>)>, now: u64) -> StoreFuture<'_, ()> {
        Box::pin(async move {
            rows.iter().try_for_each(|(key, _)| check_key(key))?;
            if rows.is_empty() {
                return Ok(());
            }
            self.write(|reply| Write::Restore { rows, now, reply })
                .await
        })
    }

    fn as_store(self: Arc<Self>) -> Arc<dyn Store> {
        self
    }
}

impl Drop for PostgresStore {
    fn drop(&mut self) {
        self.close();
    }
}
