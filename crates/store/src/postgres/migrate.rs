//! The steps of the schema, done: one node at a time, each in a transaction of its own.
use super::{
    Options, PostgresError,
    queue::jitter,
    schema::{READ, Whose, check, found, programs, version},
    session::{Dialect, Purpose, Session},
};
use crate::schema::{self, Migration, SchemaStatus};
use std::{collections::BTreeMap, time::Duration};
use tokio::time::{Instant, sleep};

pub(super) async fn status(options: &Options) -> Result<SchemaStatus, PostgresError> {
    let session = Session::open(options, Purpose::Schema).await?;
    Ok(SchemaStatus {
        found: found(&session.client).await?,
        steps: options.migrations,
    })
}

pub(super) async fn connected(
    options: &Options,
    whose: Whose,
) -> Result<BTreeMap<u32, u64>, PostgresError> {
    let session = Session::open(options, Purpose::Schema).await?;
    programs(&session.client, whose).await
}

/// Where a database is in its own time: what a recovery of it can be asked to stop at.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Position {
    /// What it calls itself and its version.
    pub server: String,
    /// Its clock, Unix milliseconds.
    pub now_ms: u64,
    /// The place in its log up to which everything was written (`recovery_target_lsn`); none of one
    /// that has no such log.
    pub lsn: Option<String>,
}

pub(super) async fn position(options: &Options) -> Result<Position, PostgresError> {
    let session = Session::open(options, Purpose::Schema).await?;
    let client = &session.client;
    let row = client
        .query_one(
            "SELECT version(), (extract(epoch FROM clock_timestamp()) * 1000)::int8",
            &[],
        )
        .await?;
    let lsn = match session.dialect {
        Dialect::PostgreSql => {
            let row = client
                .query_one("SELECT pg_current_wal_lsn()::text", &[])
                .await?;
            row.try_get(0)?
        }
        Dialect::Distributed => None,
    };
    Ok(Position {
        server: row.try_get(0)?,
        now_ms: u64::try_from(row.try_get::<_, i64>(1)?).unwrap_or(0),
        lsn,
    })
}

/// What becomes of programs that cannot work on the schema any more.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Behind {
    /// A step is not done while one is connected.
    Refuse,
    /// They refuse everything from then on.
    Leave,
}

/// How long a lock may be waited for: as long waits whoever comes behind.
const LOCK_WAIT: &str = "SET LOCAL lock_timeout = '200ms'";

/// Seconds after which a step of the schema that got no lock is given up
pub const MIGRATE_SECONDS: u64 = 60;

/// Does what is missing; the steps that were done here.
pub(super) async fn migrate(
    options: &Options,
    behind: Behind,
) -> Result<Vec<Migration>, PostgresError> {
    let session = Session::open(options, Purpose::Schema).await?;
    let (client, steps) = (&session.client, options.migrations);
    let mut done = Vec::new();
    let mut until = Instant::now() + Duration::from_secs(MIGRATE_SECONDS);
    let mut pause = Duration::from_millis(20);
    loop {
        match step(&session, steps, behind).await {
            Ok(Step::Done(migration)) => {
                done.push(migration);
                until = Instant::now() + Duration::from_secs(MIGRATE_SECONDS);
            }
            Ok(Step::Others) => {}
            Ok(Step::Last) => break,
            Err(error) if error.is_race() && Instant::now() < until => {
                client.batch_execute("ROLLBACK").await?;
                sleep(jitter(pause)).await;
                pause = (pause * 2).min(Duration::from_secs(1));
            }
            Err(error) => return Err(error),
        }
    }
    check(client, steps).await?;
    Ok(done)
}

enum Step {
    Done(Migration),
    /// Another node has done it meanwhile.
    Others,
    /// None is missing.
    Last,
}

/// The next step, if one is missing.
async fn step(
    session: &Session,
    steps: &'static [Migration],
    behind: Behind,
) -> Result<Step, PostgresError> {
    let client = &session.client;
    client
        .batch_execute(
            "CREATE TABLE IF NOT EXISTS signet_schema (id int4 PRIMARY KEY, version int4 NOT NULL);
             INSERT INTO signet_schema (id, version) VALUES (1, 0) ON CONFLICT (id) DO NOTHING",
        )
        .await?;
    let before = found(client).await?;
    let missing = |found| steps.iter().find(|m| m.version > found);
    let Some(next) = missing(before) else {
        return Ok(Step::Last);
    };
    if behind == Behind::Refuse {
        let oldest = programs(client, Whose::All).await?.into_keys().next();
        if let Some(known) = oldest.filter(|known| known + 1 < next.version) {
            let next = next.version;
            return Err(PostgresError::Behind { known, next });
        }
    }
    for statement in (next.apart)() {
        client.batch_execute(&statement).await?;
    }
    client.batch_execute(session.dialect.begin()).await?;
    if session.dialect == Dialect::PostgreSql {
        client.batch_execute(LOCK_WAIT).await?;
        client
            .batch_execute("LOCK TABLE signet_schema IN ACCESS EXCLUSIVE MODE")
            .await?;
    }
    let row = client.query_opt(&format!("{READ} FOR UPDATE"), &[]).await?;
    if version(row.as_ref())? != before {
        client.batch_execute("COMMIT").await?;
        return Ok(Step::Others);
    }
    for statement in schema::statements(steps, next.version) {
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
    Ok(Step::Done(*next))
}
