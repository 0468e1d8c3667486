//! The store of a node, from its configuration.

use std::{path::Path, sync::Arc};

use signet_config::{Config, engine};
use signet_consensus::{ReplicatedStore, Settings};
use signet_crypto::private_file;
use signet_node::OpenedStore;
use signet_store::{
    Engine, EngineError, MovableStore, postgres::PostgresError, sqlite::DATABASE_FILE,
};

/// Why a store is not open.
pub enum NotOpen {
    /// Its database cannot be reached now.
    Unreachable(String),
    /// It cannot be used.
    Unusable(String),
}

impl From<String> for NotOpen {
    fn from(why: String) -> NotOpen {
        NotOpen::Unusable(why)
    }
}

impl NotOpen {
    /// Of a database that was asked.
    pub fn of_database(error: &PostgresError) -> NotOpen {
        /// The server starts or stops, or has no connection left (PostgreSQL, appendix A, classes
        /// 57 and 53).
        const LATER: [&str; 4] = ["57P01", "57P02", "57P03", "53300"];
        let why = error.to_string();
        match error {
            PostgresError::Unreachable(_) | PostgresError::Lost(_) | PostgresError::Slow => {
                NotOpen::Unreachable(why)
            }
            PostgresError::Refused { code, .. } if LATER.contains(&code.as_str()) => {
                NotOpen::Unreachable(why)
            }
            PostgresError::Refused { .. }
            | PostgresError::OldSchema { .. }
            | PostgresError::NewSchema { .. }
            | PostgresError::Behind { .. }
            | PostgresError::Tls(_)
            | PostgresError::PasswordFile(_)
            | PostgresError::Corrupt(_)
            | PostgresError::Excluded
            | PostgresError::Pooled { .. } => NotOpen::Unusable(why),
        }
    }
}

/// Opens the store of a configuration. A database must have its schema already: an operator says
/// when it is made or changed.
pub fn open_store(config: &Config, base: &Path) -> Result<OpenedStore, NotOpen> {
    let directory = config.store_directory();
    if directory != config.data_dir && config.data_dir.join("signet.db").exists() {
        tracing::warn!(
            opened = %directory.display(),
            "ignored a database in data_dir: [store] directory names another place"
        );
    }
    private_file::directory(&config.data_dir)
        .map_err(|e| format!("{}: {e}", config.data_dir.display()))?;
    open_engine(&engine::of_config(config, base)?)
}

/// Opens a node's store, and with it takes the lock of its directory, which is made where it is
/// missing.
///
/// # Errors
/// See [`NotOpen`].
pub fn open_engine(engine: &Engine) -> Result<OpenedStore, NotOpen> {
    let directory = match engine {
        Engine::Sqlite { directory, .. } => Some(directory),
        Engine::Postgres { directory, .. } => directory.as_ref(),
    };
    if let Some(directory) = directory {
        private_file::directory(directory).map_err(|e| format!("{}: {e}", directory.display()))?;
    }
    let opened = match engine {
        Engine::Sqlite { directory, options } => {
            let random = || u64::from_be_bytes(signet_crypto::random::bytes());
            let settings = Settings::new(Arc::new(random));
            let store = ReplicatedStore::open(directory, *options, settings);
            store.map_err(EngineError::Embedded).map(|store| {
                let store = Arc::new(store);
                OpenedStore {
                    store: Arc::new(MovableStore::new(store.clone())),
                    engine: engine.clone(),
                    replicated: Some(store),
                }
            })
        }
        Engine::Postgres { .. } => signet_store::open(engine).map(|store| OpenedStore {
            store: Arc::new(MovableStore::new(store)),
            engine: engine.clone(),
            replicated: None,
        }),
    };
    opened.map_err(|e| {
        let whose = |directory| private_file::owner(directory, &["signet.lock", DATABASE_FILE]);
        match &e {
            EngineError::Embedded(_) => {
                let whose = directory.map(|directory| whose(directory).to_string());
                NotOpen::Unusable(format!("{e}{}", whose.unwrap_or_default()))
            }
            EngineError::Postgres(error) => NotOpen::of_database(error),
        }
    })
}
