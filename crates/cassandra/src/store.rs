//! The store: calls from any runtime, done on its own.
use crate::{
    Address, CassandraError, commit,
    commit::{MAX_CHANGE_BYTES, Place},
    fault::Fault,
    read, schema,
    session::Session,
    shared::{MAX_IN_FLIGHT, MAX_WAITING, Shared},
    sweep::{self, Cursor},
};
use signet_crypto::Secret;
use signet_store::{
    Change, Key, MAX_KEY_BYTES, Outcome, Row, Store, StoreError, StoreFuture, Table,
    schema::{Migration, SchemaStatus},
};
use std::{
    fmt,
    future::Future,
    io,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::Ordering::{Relaxed, SeqCst},
    },
    time::Duration,
};
use tokio::{
    runtime::{self, Handle, Runtime},
    sync::oneshot,
};

/// How long closing waits for the calls that go on.
const CLOSE: Duration = Duration::from_secs(30);

/// Where the cluster is.
#[derive(Clone, Debug)]
pub struct Options {
    /// Hosts, keyspace, role, TLS.
    pub address: Address,
    /// The role's password, where it does not come from `CASSANDRA_PASSWORD` or a password file.
    pub password: Option<Secret<String>>,
    /// For tests only.
    #[doc(hidden)]
    pub fault: Option<Fault>,
}

impl Options {
    /// Without a password.
    pub fn new(address: Address) -> Options {
        Options {
            address,
            password: None,
            fault: None,
        }
    }

    /// What was handed in, else `CASSANDRA_PASSWORD`, else the password file's first line.
    pub(crate) fn password(&self) -> Result<Option<Secret<String>>, CassandraError> {
        if let Some(password) = &self.password {
            return Ok(Some(password.clone()));
        }
        if let Ok(password) = std::env::var("CASSANDRA_PASSWORD") {
            return Ok(Some(Secret::new(password)));
        }
        let Some(file) = &self.address.password_file else {
            return Ok(None);
        };
        let unusable =
            |e: io::Error| CassandraError::PasswordFile(format!("{}: {e}", file.display()));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = std::fs::metadata(file).map_err(unusable)?;
            if mode.permissions().mode() & 0o077 != 0 {
                return Err(CassandraError::PasswordFile(format!(
                    "{} may be read by others; chmod 600 it",
                    file.display()
                )));
            }
        }
        let text = Secret::new(std::fs::read_to_string(file).map_err(unusable)?);
        let line = text.expose().lines().next().unwrap_or_default();
        Ok(Some(Secret::new(line.to_owned())))
    }
}

/// A store over a cluster. Dropping it finishes what was asked for, and waits for that.
pub struct CassandraStore {
    shared: Arc<Shared>,
    cursor: Arc<Cursor>,
    handle: Handle,
    runtime: Mutex<Option<Runtime>>,
}

impl fmt::Debug for CassandraStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CassandraStore").finish_non_exhaustive()
    }
}

fn new_runtime() -> Result<Runtime, CassandraError> {
    runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .thread_name("store-cassandra")
        .enable_all()
        .build()
        .map_err(|e| CassandraError::Unreachable(format!("no runtime: {e}")))
}

/// Waits on a thread of its own: the caller's may be in a runtime.
fn apart<T: Send>(
    runtime: &Runtime,
    work: impl Future<Output = Result<T, CassandraError>> + Send,
) -> Result<T, CassandraError> {
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| runtime.block_on(work));
        let stopped = || CassandraError::Unreachable("its thread has stopped".to_owned());
        thread.join().map_err(|_| stopped())?
    })
}

/// One errand, with a runtime that ends with it.
fn errand<T: Send>(
    work: impl Future<Output = Result<T, CassandraError>> + Send,
) -> Result<T, CassandraError> {
    let runtime = new_runtime()?;
    let answer = apart(&runtime, work);
    runtime.shutdown_background();
    answer
}

async fn connected(options: &Options) -> Result<Shared, CassandraError> {
    let driver = schema::enter(options).await?;
    schema::accept(&driver).await?;
    let session = Session::new(driver).await;
    let session = session.map_err(crate::error::Trouble::for_operator)?;
    Ok(Shared::new(session, options.fault.clone()))
}

impl CassandraStore {
    /// Connects to a keyspace whose schema is there.
    ///
    /// # Errors
    /// See [`CassandraError`].
    pub fn open(options: &Options) -> Result<CassandraStore, CassandraError> {
        let runtime = new_runtime()?;
        let shared = match apart(&runtime, connected(options)) {
            Ok(shared) => shared,
            Err(error) => {
                runtime.shutdown_background();
                return Err(error);
            }
        };
        Ok(CassandraStore {
            shared: Arc::new(shared),
            cursor: Arc::default(),
            handle: runtime.handle().clone(),
            runtime: Mutex::new(Some(runtime)),
        })
    }

    /// How the keyspace's schema stands to this program.
    ///
    /// # Errors
    /// See [`CassandraError`].
    pub fn schema(options: &Options) -> Result<SchemaStatus, CassandraError> {
        errand(schema::status(options))
    }

    /// Makes or upgrades the tables, while nodes of the version before go on; the steps that were
    /// done. The keyspace is there already: how often its rows are kept is the operator's to say.
    ///
    /// # Errors
    /// See [`CassandraError`].
    pub fn migrate(options: &Options) -> Result<Vec<Migration>, CassandraError> {
        errand(schema::migrate(options))
    }

    /// Does a call on the store's runtime, where it goes on when the caller goes away.
    async fn ask<T, F>(
        &self,
        work: impl FnOnce(Arc<Shared>, Place) -> F + Send,
    ) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, StoreError>> + Send + 'static,
    {
        let shared = &self.shared;
        let closed = || StoreError::Unavailable("it was closed".to_owned());
        shared.refuse_if_down()?;
        let full = shared.waiting.fetch_add(1, SeqCst) >= MAX_WAITING;
        let waited = match full {
            true => None,
            false => Some(shared.permits.clone().acquire_owned().await),
        };
        shared.waiting.fetch_sub(1, SeqCst);
        let Some(permit) = waited else {
            return Err(StoreError::Unavailable("its queue is full".to_owned()));
        };
        let permit = permit.map_err(|_| closed())?;
        // Meanwhile the cluster may have gone.
        shared.refuse_if_down()?;
        let place = Place::new(permit);
        let (reply, answer) = oneshot::channel();
        let work = work(shared.clone(), place);
        self.handle.spawn(async move {
            // A caller that has gone away is no reason to stop: sending may fail.
            drop(reply.send(work.await));
        });
        answer.await.map_err(|_| closed())?
    }
}

fn check_key(key: &Key) -> Result<(), StoreError> {
    match key.partition.len() > MAX_KEY_BYTES || key.sort.len() > MAX_KEY_BYTES {
        true => Err(StoreError::TooLarge),
        false => Ok(()),
    }
}

fn check(change: &Change) -> Result<(), StoreError> {
    change.check()?;
    match commit::weight(change) > MAX_CHANGE_BYTES {
        true => Err(StoreError::TooLarge),
        false => Ok(()),
    }
}

impl Store for CassandraStore {
    fn get<'a>(&'a self, key: &'a Key, now: u64) -> StoreFuture<'a, Option<Row>> {
        let key = key.clone();
        Box::pin(async move {
            check_key(&key)?;
            let get = |shared: Arc<Shared>, place: Place| async move {
                let _place = place;
                read::get(&shared, &key, now).await
            };
            self.ask(get).await
        })
    }

    fn commit(&self, change: Change, now: u64) -> StoreFuture<'_, Outcome> {
        Box::pin(async move {
            check(&change)?;
            let commit = |shared: Arc<Shared>, place: Place| async move {
                commit::commit(&shared, &place, change, now).await
            };
            self.ask(commit).await
        })
    }

    fn commit_each(&self, changes: Vec<Change>, now: u64) -> StoreFuture<'_, Vec<Outcome>> {
        Box::pin(async move {
            changes.iter().try_for_each(check)?;
            if changes.is_empty() {
                return Ok(Vec::new());
            }
            let each = |shared: Arc<Shared>, place: Place| async move {
                let mut outcomes = Vec::with_capacity(changes.len());
                for change in changes {
                    outcomes.push(commit::commit(&shared, &place, change, now).await?);
                    if !outcomes.last().is_some_and(Outcome::is_done) {
                        break;
                    }
                }
                Ok(outcomes)
            };
            self.ask(each).await
        })
    }

    fn take<'a>(&'a self, key: &'a Key, now: u64) -> StoreFuture<'a, Option<Row>> {
        let key = key.clone();
        Box::pin(async move {
            check_key(&key)?;
            let take = |shared: Arc<Shared>, place: Place| async move {
                let _place = place;
                commit::take(&shared, &key, now).await
            };
            self.ask(take).await
        })
    }

    fn partition<'a>(
        &'a self,
        table: Table,
        partition: &'a [u8],
        after: &'a [u8],
        limit: usize,
        now: u64,
    ) -> StoreFuture<'a, Vec<(Key, Row)>> {
        let at = Key::with_sort(table, partition, after);
        Box::pin(async move {
            check_key(&at)?;
            let read = |shared: Arc<Shared>, place: Place| async move {
                let _place = place;
                read::partition(&shared, at, limit, now).await
            };
            self.ask(read).await
        })
    }

    fn page<'a>(
        &'a self,
        table: Table,
        after: Option<&'a Key>,
        limit: usize,
        now: u64,
    ) -> StoreFuture<'a, Vec<(Key, Row)>> {
        let after = after.cloned();
        Box::pin(async move {
            let read = |shared: Arc<Shared>, place: Place| async move {
                let _place = place;
                read::page(&shared, table, after, limit, now).await
            };
            self.ask(read).await
        })
    }

    fn sweep(&self, now: u64, limit: usize) -> StoreFuture<'_, usize> {
        let cursor = self.cursor.clone();
        Box::pin(async move {
            let sweep = |shared: Arc<Shared>, place: Place| async move {
                let _place = place;
                sweep::sweep(&shared, &cursor, now, limit).await
            };
            self.ask(sweep).await
        })
    }

    fn check(&self) -> StoreFuture<'_, ()> {
        Box::pin(async move {
            let probe = |shared: Arc<Shared>, place: Place| async move {
                let _place = place;
                let answer = shared.note(shared.probe().await);
                answer.map(drop).map_err(crate::error::Trouble::for_caller)
            };
            self.ask(probe).await
        })
    }

    fn close(&self) {
        let taken = self.runtime.lock();
        let Some(runtime) = taken.unwrap_or_else(PoisonError::into_inner).take() else {
            return;
        };
        let permits = self.shared.permits.clone();
        let all = async move {
            // What has a permit is finished; what has none yet is refused.
            let many = u32::try_from(MAX_IN_FLIGHT).unwrap_or(u32::MAX);
            let finished = tokio::time::timeout(CLOSE, permits.acquire_many(many)).await;
            permits.close();
            if finished.is_err() {
                tracing::error!("calls of the store did not end in time");
            }
            Ok(())
        };
        // Invariant: the errand above answers.
        drop(apart(&runtime, all));
        let waiting = self.shared.waiting.load(Relaxed);
        tracing::debug!(waiting, "the store is closed");
        runtime.shutdown_background();
    }
}

impl Drop for CassandraStore {
    fn drop(&mut self) {
        self.close();
    }
}
