//! From a setting to a store: the one place that names the engines.
use crate::{OpenError, SqliteStore, Store, sqlite};
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

/// Opens a store, or makes it.
///
/// # Errors
/// See [`OpenError`].
pub fn open(engine: &Engine) -> Result<Arc<dyn Store>, OpenError> {
    match engine {
        Engine::Sqlite { directory, options } => {
            Ok(Arc::new(SqliteStore::open(directory, *options)?))
        }
    }
}
