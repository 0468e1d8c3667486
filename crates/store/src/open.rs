//! From a setting to a store: the one place that names the engines.
use crate::{
    Destination, Key, Layer, OpenError, PostgresStore, Row, SqliteStore, Store, StoreFuture,
    postgres::{self, PostgresError},
    sqlite::{self, DirectoryLock},
};
use std::{
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

/// Which engine, and what it needs to be opened.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Engine {
    /// The embedded one.
    Sqlite {
        /// Holds the database; made where it is missing. On a local disk, and one process's at a
        /// time.
        directory: PathBuf,
        /// Sizes.
        options: sqlite::Options,
    },
    /// The distributed one: a server that speaks PostgreSQL's protocol, for any number of nodes.
    Postgres {
        /// Where it is.
        options: postgres::Options,
        /// The node's data directory, which is locked for as long as the store is open; None: the
        /// caller is no node.
        directory: Option<PathBuf>,
    },
}

/// Why a store could not be opened. For the operator.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The embedded engine.
    #[error(transparent)]
    Embedded(#[from] OpenError),
    /// The distributed engine.
    #[error(transparent)]
    Postgres(#[from] PostgresError),
}

impl Engine {
    /// The embedded engine with its usual sizes.
    pub fn sqlite(directory: impl Into<PathBuf>) -> Engine {
        Engine::Sqlite {
            directory: directory.into(),
            options: sqlite::Options::default(),
        }
    }
}

/// Opens a store. The embedded one is made where it is missing; the distributed one is made by
/// [`PostgresStore::migrate`].
///
/// # Errors
/// See [`EngineError`].
pub fn open(engine: &Engine) -> Result<Arc<dyn Store>, EngineError> {
    open_destination(engine).map(Destination::as_store)
}

/// The same, for rows that are copied into it.
///
/// # Errors
/// See [`EngineError`].
pub fn open_destination(engine: &Engine) -> Result<Arc<dyn Destination>, EngineError> {
    match engine {
        Engine::Sqlite { directory, options } => {
            Ok(Arc::new(SqliteStore::open(directory, *options)?))
        }
        Engine::Postgres { options, directory } => {
            // First the lock: it says soonest that another process is there.
            let lock = directory.as_deref().map(DirectoryLock::take).transpose()?;
            Ok(Arc::new(InDirectory {
                store: PostgresStore::open(options)?,
                lock: Mutex::new(lock),
            }))
        }
    }
}

/// A node's store, and its data directory.
struct InDirectory {
    store: PostgresStore,
    lock: Mutex<Option<DirectoryLock>>,
}

impl Layer for InDirectory {
    fn inner(&self) -> &dyn Store {
        &self.store
    }

    fn close(&self) {
        self.store.close();
        let lock = self
            .lock
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(lock) = lock {
            lock.release();
        }
    }
}

impl Destination for InDirectory {
    fn restore(&self, rows: Vec<(Key, Option<Row>)>, now: u64) -> StoreFuture<'_, ()> {
        self.store.restore(rows, now)
    }

    fn as_store(self: Arc<Self>) -> Arc<dyn Store> {
        self
    }
}
