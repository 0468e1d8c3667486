//! The tables, in numbered steps.
//!
//! A step is one transaction that also writes its number, so two nodes that migrate at once do each
//! step once. Every step leaves a schema that the version of the program before it can go on with:
//! so a program accepts its own schema and the next one, and nodes of two versions run side by side
//! while the schema is already the newer one's. A program never works on an older schema than its
//! own: `signet store migrate` first, then the new program.
use super::{
    Options, PostgresError,
    layout::{LOCKS, Place},
    session::{Purpose, Session},
};
use tokio_postgres::{Client, error::SqlState};

/// One numbered step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Migration {
    /// The schema's version after it.
    pub version: u32,
    /// What it does, for people.
    pub name: &'static str,
}

/// All steps, in order.
pub const MIGRATIONS: &[Migration] = &[Migration {
    version: 1,
    name: "rows, buckets, locks and writers",
}];

/// The schema that this program was written for.
pub const SCHEMA_VERSION: u32 = MIGRATIONS[MIGRATIONS.len() - 1].version;

/// How a database stands to this program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SchemaStatus {
    /// The schema's version; 0: there is none yet.
    pub found: u32,
    /// This program's.
    pub known: u32,
}

impl SchemaStatus {
    /// The steps that are missing.
    pub fn pending(&self) -> &'static [Migration] {
        let done = MIGRATIONS.iter().filter(|m| m.version <= self.found);
        &MIGRATIONS[done.count()..]
    }

    /// Whether this program can work on it: it is the program's own, or the next.
    ///
    /// # Errors
    /// [`PostgresError::OldSchema`] or [`PostgresError::NewSchema`].
    pub fn accept(&self) -> Result<(), PostgresError> {
        let (found, known) = (self.found, self.known);
        match found {
            found if found < known => Err(PostgresError::OldSchema { found, known }),
            found if found > known + 1 => Err(PostgresError::NewSchema { found, known }),
            _ => Ok(()),
        }
    }
}

fn statements(version: u32) -> Vec<String> {
    match version {
        1 => first(),
        // Invariant: called for members of `MIGRATIONS`.
        _ => Vec::new(),
    }
}

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

const READ: &str = "SELECT version FROM signet_schema WHERE id = 1";

async fn found(client: &Client) -> Result<u32, PostgresError> {
    match client.query_opt(READ, &[]).await {
        Ok(Some(row)) => Ok(u32::try_from(row.get::<_, i32>(0)).unwrap_or(0)),
        Ok(None) => Ok(0),
        Err(error) if error.code() == Some(&SqlState::UNDEFINED_TABLE) => Ok(0),
        Err(error) => Err(error.into()),
    }
}

pub(super) async fn check(client: &Client) -> Result<(), PostgresError> {
    let status = SchemaStatus {
        found: found(client).await?,
        known: SCHEMA_VERSION,
    };
    status.accept()
}

pub(super) async fn status(options: &Options) -> Result<SchemaStatus, PostgresError> {
    let session = Session::open(options, Purpose::Schema).await?;
    Ok(SchemaStatus {
        found: found(&session.client).await?,
        known: SCHEMA_VERSION,
    })
}

/// How often a step is tried again that another node does at the same time.
const TRIES: usize = 5;

/// Does what is missing; the steps that were done here.
pub(super) async fn migrate(options: &Options) -> Result<Vec<Migration>, PostgresError> {
    let session = Session::open(options, Purpose::Schema).await?;
    let mut done = Vec::new();
    let mut tries = 0;
    loop {
        match step(&session.client).await {
            Ok(Some(migration)) => done.push(migration),
            Ok(None) => break,
            Err(error) if error.is_race() && tries < TRIES => {
                tries += 1;
                session.client.batch_execute("ROLLBACK").await?;
            }
            Err(error) => return Err(error),
        }
    }
    check(&session.client).await?;
    Ok(done)
}

/// The next step, if one is missing.
async fn step(client: &Client) -> Result<Option<Migration>, PostgresError> {
    client
        .batch_execute(
            "CREATE TABLE IF NOT EXISTS signet_schema (id int4 PRIMARY KEY, version int4 NOT NULL);
             INSERT INTO signet_schema (id, version) VALUES (1, 0) ON CONFLICT (id) DO NOTHING",
        )
        .await?;
    client.batch_execute("BEGIN").await?;
    let row = client
        .query_one(
            "SELECT version FROM signet_schema WHERE id = 1 FOR UPDATE",
            &[],
        )
        .await?;
    let found = u32::try_from(row.get::<_, i32>(0)).unwrap_or(0);
    let Some(next) = MIGRATIONS.iter().find(|m| m.version > found) else {
        client.batch_execute("COMMIT").await?;
        return Ok(None);
    };
    for statement in statements(next.version) {
        client.batch_execute(&statement).await?;
    }
    // Invariant: versions are small.
    let version = next.version as i32;
    client
        .execute(
            "UPDATE signet_schema SET version = $1 WHERE id = 1",
            &[&version],
        )
        .await?;
    client.batch_execute("COMMIT").await?;
    Ok(Some(*next))
}
