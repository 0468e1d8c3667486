//! The store.

use signet_store::schema::{SchemaMismatch, SchemaStatus};
use signet_store::sqlite::DATABASE_FILE;
use signet_store::{Engine, OpenError, PostgresStore, SqliteStore};

use super::Finding;
use super::subject::Subject;

/// The database can be read, and this version works on it.
pub(crate) fn store(subject: &Subject) -> Finding {
    match &subject.place.engine {
        Engine::Sqlite { directory, .. } => match SqliteStore::schema(directory) {
            Ok(Some(status)) => embedded(&status),
            Ok(None) if subject.place.dev.is_some() => Finding::wrong(
                format!("{} holds no {DATABASE_FILE}", directory.display()),
                "name where the rows are: --store postgres://...",
            ),
            Ok(None) => Finding::warning(
                format!("{} holds no {DATABASE_FILE} yet", directory.display()),
                "the first start makes it",
            ),
            Err(error @ OpenError::Newer { .. }) => Finding::wrong(
                error.to_string(),
                "use the version that wrote it, or a later one: `signet upgrade check`",
            ),
            Err(error @ OpenError::Corrupt { .. }) => {
                Finding::wrong(error.to_string(), "signet restore --from FILE")
            }
            Err(error) => Finding::wrong(
                error.to_string(),
                "let the server's user read and write the directory of the database",
            ),
        },
        Engine::Postgres { options, .. } => match PostgresStore::schema(options) {
            Ok(status) => shared(&status, &options.address.to_string()),
            Err(error) => Finding::wrong(
                error.to_string(),
                "correct [store] url and password, or start the database",
            ),
        },
    }
}

fn embedded(status: &SchemaStatus) -> Finding {
    let found = format!("the embedded database is readable, schema {}", status.found);
    match (status.accept(), status.pending()) {
        (Err(SchemaMismatch::New), _) => Finding::wrong(
            format!("{found}, and this version knows {}", status.known()),
            "use the version that wrote it, or a later one: `signet upgrade check`",
        ),
        (_, []) => Finding::ok(found),
        (_, steps) => Finding::warning(
            format!("{found}; the next start brings it to {}", status.known()),
            format!(
                "back it up first ({} steps): `signet upgrade check`",
                steps.len()
            ),
        ),
    }
}

fn shared(status: &SchemaStatus, address: &str) -> Finding {
    let found = format!("{address} is readable, schema {}", status.found);
    match status.accept() {
        Ok(()) => Finding::ok(found),
        Err(SchemaMismatch::Old) => Finding::wrong(
            format!("{found}, and this version needs {}", status.known()),
            "signet store migrate",
        ),
        Err(SchemaMismatch::New) => Finding::wrong(
            format!("{found}, and this version knows {}", status.known()),
            "use the version that wrote it, or a later one",
        ),
    }
}
