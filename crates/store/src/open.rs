//! From a setting to a store: the one place that names the engines.
use crate::{
    OpenError, PostgresStore, SqliteStore, Store,
    postgres::{self, PostgresError},
    sqlite,
};
use std::{path::PathBuf, sync::Arc};

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
    match engine {
        Engine::Sqlite { directory, options } => {
            Ok(Arc::new(SqliteStore::open(directory, *options)?))
        }
        Engine::Postgres { options } => Ok(Arc::new(PostgresStore::open(options)?)),
    }
}
