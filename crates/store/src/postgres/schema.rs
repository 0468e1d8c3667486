//! The tables, in numbered steps (see [`crate::schema`]).
//!
//! A step is one transaction that also writes its number. It begins by taking the table of that
//! number for itself. Each group of changes reads the number within its own transaction, so a step
//! waits for the groups that are under way, and every later one sees the new number: a program that
//! cannot work on a schema never writes to it, not even once. Locks are asked for briefly, because
//! whoever waits for one holds up those behind it, and the step is tried again until it gets them.
use super::{
    PostgresError,
    layout::{LOCKS, Place},
};
use crate::schema::{self, Migration, SchemaMismatch, SchemaStatus};
use std::{collections::BTreeMap, sync::LazyLock};
use tokio_postgres::{Client, error::SqlState};

/// All steps, in order.
pub const MIGRATIONS: &[Migration] = &[Migration {
    version: 1,
    name: "rows, buckets, locks and writers",
    apart: schema::nothing,
    expand: first,
    contract: schema::nothing,
}];

/// The schema that this program was written for.
pub const SCHEMA_VERSION: u32 = schema::known(MIGRATIONS);

fn first() -> Vec<String> {
    let mut all = Vec::new();
    for place in Place::all() {
        let name = place.name();
        // Room on each page, so that a row can be written again beside itself.
        all.push(format!(
            "CREATE TABLE {name} (
                kind int2 NOT NULL, part bytea NOT NULL, sort bytea NOT NULL,
                value bytea NOT NULL, version int8 NOT NULL, ends_at int8,
                PRIMARY KEY (kind, part, sort)
            ) WITH (fillfactor = 85)"
        ));
    }
    for place in [Place::Kept, Place::Far] {
        let name = place.name();
        all.push(format!(
            "CREATE INDEX {name}_end ON {name} (ends_at) WHERE ends_at IS NOT NULL"
        ));
    }
    all.push("CREATE TABLE signet_bucket (place int2 PRIMARY KEY, bucket int8)".to_owned());
    for place in Place::buckets() {
        let number = place.number();
        all.push(format!(
            "INSERT INTO signet_bucket (place) VALUES ({number})"
        ));
    }
    all.push("CREATE TABLE signet_lock (id int4 PRIMARY KEY)".to_owned());
    all.push(format!(
        "INSERT INTO signet_lock (id) SELECT generate_series(0, {})",
        LOCKS - 1
    ));
    all.push(
        "CREATE TABLE signet_writer (
            id int8 PRIMARY KEY, mark int8 NOT NULL, touched int8 NOT NULL
        ) WITH (fillfactor = 50)"
            .to_owned(),
    );
    all
}

/// Within a group's transaction it also keeps a step from beginning.
pub(super) const READ: &str = "SELECT version FROM signet_schema WHERE id = 1";

/// Begins the name of a program's connections; the schema that it knows and its process follow.
const APPLICATION: &str = "signet schema ";

/// Tells this process from all others, on any machine.
static PROCESS: LazyLock<String> = LazyLock::new(|| {
    let number = u64::from_le_bytes(signet_crypto::random::bytes());
    format!("{number:016x}")
});

/// By which a program's connections are distinguished from others of the same database.
pub(super) fn application(steps: &[Migration]) -> String {
    format!("{APPLICATION}{} {}", schema::known(steps), *PROCESS)
}

/// Whose connections are counted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Whose {
    All,
    /// Not those of this process.
    Others,
}

/// The version in a row of [`READ`].
pub(super) fn version(row: Option<&tokio_postgres::Row>) -> Result<u32, PostgresError> {
    let version = row.map(|row| row.try_get::<_, i32>(0)).transpose()?;
    Ok(version.and_then(|v| u32::try_from(v).ok()).unwrap_or(0))
}

pub(super) async fn found(client: &Client) -> Result<u32, PostgresError> {
    match client.query_opt(READ, &[]).await {
        Ok(row) => version(row.as_ref()),
        Err(error) if error.code() == Some(&SqlState::UNDEFINED_TABLE) => Ok(0),
        Err(error) => Err(error.into()),
    }
}

/// Whether a program can work on a schema.
pub(super) fn accept(found: u32, steps: &'static [Migration]) -> Result<(), PostgresError> {
    let status = SchemaStatus { found, steps };
    let known = status.known();
    status.accept().map_err(|mismatch| match mismatch {
        SchemaMismatch::Old => PostgresError::OldSchema { found, known },
        SchemaMismatch::New => PostgresError::NewSchema { found, known },
    })
}

pub(super) async fn check(
    client: &Client,
    steps: &'static [Migration],
) -> Result<(), PostgresError> {
    accept(found(client).await?, steps)
}

/// Connections of programs, by the schema that they know. A server that does not say who is
/// connected has none.
pub(super) async fn programs(
    client: &Client,
    whose: Whose,
) -> Result<BTreeMap<u32, u64>, PostgresError> {
    let rows = client
        .query(
            "SELECT application_name FROM pg_stat_activity
             WHERE datname = current_database() AND pid <> pg_backend_pid()",
            &[],
        )
        .await?;
    let mut programs = BTreeMap::new();
    for row in rows {
        let name: Option<String> = row.try_get(0)?;
        let Some(name) = name.as_deref().and_then(|n| n.strip_prefix(APPLICATION)) else {
            continue;
        };
        let (known, process) = name.split_once(' ').unwrap_or((name, ""));
        let counts = whose == Whose::All || process != *PROCESS;
        if let Some(known) = known.parse().ok().filter(|_| counts) {
            *programs.entry(known).or_default() += 1;
        }
    }
    Ok(programs)
}
