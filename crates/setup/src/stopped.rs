//! The store of a server that does not run, opened by a command.

use std::sync::Arc;

use signet_crypto::private_file;
use signet_store::{Engine, EngineError, OpenError, Store};
use signet_terminal::output::Failure;

/// What the embedded store writes into its directory.
pub const FILES: [&str; 4] = ["signet.db", "signet.db-wal", "signet.db-shm", "signet.lock"];

/// The store; `None` if a server has its directory open.
///
/// # Errors
/// Why it cannot be opened, for the operator.
pub fn open(engine: &Engine) -> Result<Option<Arc<dyn Store>>, Failure> {
    let failed = |e: &dyn std::fmt::Display| match engine {
        Engine::Sqlite { directory, .. } => {
            Failure::unusable(format!("{}: {e}", directory.display()))
        }
        Engine::Postgres { .. } => Failure::unusable(e.to_string()),
    };
    if let Engine::Sqlite { directory, .. } = engine {
        private_file::directory(directory).map_err(|e| failed(&e))?;
    }
    match signet_store::open(engine) {
        Ok(store) => Ok(Some(store)),
        Err(EngineError::Embedded(OpenError::InUse { .. })) => Ok(None),
        Err(e) => Err(failed(&e)),
    }
}
