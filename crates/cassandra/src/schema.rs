//! The keyspace's tables, by numbered steps. The keyspace itself is the operator's to make: how
//! often a row is kept, and where, is theirs to say.
use crate::{CassandraError, Options, error::Trouble, session};
use scylla::{client::session::Session as Driver, response::query_result::QueryResult};
use signet_store::schema::{Migration, SchemaMismatch, SchemaStatus, nothing};
use std::time::Duration;
use tokio::time::sleep;

/// The steps, oldest first.
pub const MIGRATIONS: &[Migration] = &[Migration {
    version: 1,
    name: "rows, one for each key",
    apart: nothing,
    expand: rows,
    contract: nothing,
}];

const NOTE: &str = "CREATE TABLE IF NOT EXISTS schema_version (id int PRIMARY KEY, version int)";
const FOUND: &str = "SELECT version FROM schema_version WHERE id = 0";

/// `read_repair` is the default, said because reads stand on it. Nearly every row has a time to
/// live, and so what is left of it (`gc_grace_seconds`) is kept for three days and not for ten: a
/// server that was away for longer has to be rebuilt, as its manual says.
fn rows() -> Vec<String> {
    vec![
        "CREATE TABLE IF NOT EXISTS rows (tab int, part blob, sort blob, version bigint, value blob, ends bigint, lock blob, home blob, pend blob, ops blob, PRIMARY KEY ((tab, part), sort)) WITH read_repair = 'BLOCKING' AND gc_grace_seconds = 259200"
            .to_owned(),
    ]
}

/// How often a statement is asked for, and how long is waited in between: servers that have just
/// met refuse what they do not all know yet.
const TRIES: (u32, Duration) = (20, Duration::from_millis(500));

/// Does a statement that may be done twice.
async fn ask(driver: &Driver, text: &str) -> Result<QueryResult, Trouble> {
    let (most, pause) = TRIES;
    let mut tries = 1;
    loop {
        match driver.query_unpaged(text, ()).await.map_err(Trouble::from) {
            Err(Trouble::Unknown(_) | Trouble::NotDone(_)) if tries < most => tries += 1,
            answer => return answer,
        }
        sleep(pause).await;
    }
}

/// Connects to the keyspace.
pub(crate) async fn enter(options: &Options) -> Result<Driver, CassandraError> {
    let driver = session::connect(options).await?;
    let entered = driver.use_keyspace(&options.address.keyspace, false).await;
    entered.map_err(|e| CassandraError::Refused(e.to_string()))?;
    Ok(driver)
}

pub(crate) async fn found(driver: &Driver) -> Result<u32, CassandraError> {
    let result = match ask(driver, FOUND).await {
        Ok(result) => result,
        // The table is not there.
        Err(Trouble::Refused(text)) if text.contains("schema_version") => return Ok(0),
        Err(trouble) => return Err(trouble.for_operator()),
    };
    let strange = |text: String| CassandraError::Refused(text);
    let rows = result.into_rows_result();
    let rows = rows.map_err(|e| strange(e.to_string()))?;
    let row = rows.maybe_first_row::<(i32,)>();
    let row = row.map_err(|e| strange(e.to_string()))?;
    Ok(row.map_or(0, |(version,)| u32::try_from(version).unwrap_or(0)))
}

pub(crate) async fn status(options: &Options) -> Result<SchemaStatus, CassandraError> {
    let driver = enter(options).await?;
    Ok(SchemaStatus {
        found: found(&driver).await?,
        steps: MIGRATIONS,
    })
}

/// Whether this program can work on the schema.
pub(crate) async fn accept(driver: &Driver) -> Result<(), CassandraError> {
    let status = SchemaStatus {
        found: found(driver).await?,
        steps: MIGRATIONS,
    };
    let (found, known) = (status.found, status.known());
    status.accept().map_err(|mismatch| match mismatch {
        SchemaMismatch::Old => CassandraError::OldSchema { found, known },
        SchemaMismatch::New => CassandraError::NewSchema { found, known },
    })
}

/// Does the steps that are missing. Each may be done twice: two operators may start at once.
pub(crate) async fn migrate(options: &Options) -> Result<Vec<Migration>, CassandraError> {
    let driver = enter(options).await?;
    let operator = Trouble::for_operator;
    ask(&driver, NOTE).await.map_err(operator)?;
    let status = SchemaStatus {
        found: found(&driver).await?,
        steps: MIGRATIONS,
    };
    let mut done = Vec::new();
    for step in status.pending() {
        for text in (step.apart)().into_iter().chain((step.expand)()) {
            ask(&driver, &text).await.map_err(operator)?;
        }
        let note = format!(
            "INSERT INTO schema_version (id, version) VALUES (0, {})",
            step.version
        );
        ask(&driver, &note).await.map_err(operator)?;
        done.push(*step);
    }
    Ok(done)
}
