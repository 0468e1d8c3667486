//! The statements. All tables share one SQL table, clustered by key; one partial index finds
//! expired rows.
use crate::{
    Change, Key, Op, Outcome, Row, StoreError, Table,
    schema::{self, Migration},
};
use rusqlite::{CachedStatement, Connection, OptionalExtension, ToSql, params};

/// All steps of the layout, in order (`PRAGMA user_version` is the last that was done).
pub const MIGRATIONS: &[Migration] = &[
    Migration {
        version: 1,
        name: "rows and the counter of versions",
        apart: schema::nothing,
        expand: || vec![table("entry"), END_INDEX.to_owned(), COUNTER.to_owned()],
        contract: schema::nothing,
    },
    Migration {
        version: 2,
        name: "the log and the notes of the consensus",
        apart: schema::nothing,
        expand: || vec![REPLICA.to_owned()],
        contract: schema::nothing,
    },
];

/// The layout that this program was written for.
pub const SCHEMA_VERSION: u32 = schema::known(MIGRATIONS);

/// `PRAGMA application_id`: "Sgnt". Tells Signet's files from everybody else's.
pub(super) const APPLICATION_ID: i32 = 0x5367_6e74;

/// A table of rows: the store's, or one that becomes it.
pub(super) fn table(name: &str) -> String {
    format!(
        "CREATE TABLE {name} (
            kind INTEGER NOT NULL,
            part BLOB NOT NULL,
            sort BLOB NOT NULL,
            value BLOB NOT NULL,
            version INTEGER NOT NULL,
            ends_at INTEGER,
            PRIMARY KEY (kind, part, sort)
        ) WITHOUT ROWID, STRICT;"
    )
}

pub(super) const END_INDEX: &str =
    "CREATE INDEX entry_end ON entry (ends_at) WHERE ends_at IS NOT NULL;";

const COUNTER: &str = "
    CREATE TABLE counter (
        name TEXT PRIMARY KEY,
        value INTEGER NOT NULL
    ) WITHOUT ROWID, STRICT;
    INSERT INTO counter (name, value) VALUES ('version', 0);
";

// There already in files of a program that made them without a number.
const REPLICA: &str = "
    CREATE TABLE IF NOT EXISTS log (
        position INTEGER PRIMARY KEY,
        entry BLOB NOT NULL
    ) STRICT;
    CREATE TABLE IF NOT EXISTS note (
        name BLOB PRIMARY KEY,
        value BLOB NOT NULL
    ) WITHOUT ROWID, STRICT;
";

const GET: &str = "SELECT value, version, ends_at FROM entry
    WHERE kind = ?1 AND part = ?2 AND sort = ?3 AND (ends_at IS NULL OR ends_at > ?4)";

// An ended row does not exist: it is overwritten as if it were not there.
const INSERT: &str = "INSERT INTO entry (kind, part, sort, value, version, ends_at)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6)
    ON CONFLICT (kind, part, sort) DO UPDATE
    SET value = excluded.value, version = excluded.version, ends_at = excluded.ends_at
    WHERE entry.ends_at <= ?7";

const PUT: &str = "INSERT INTO entry (kind, part, sort, value, version, ends_at)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6)
    ON CONFLICT (kind, part, sort) DO UPDATE
    SET value = excluded.value, version = excluded.version, ends_at = excluded.ends_at";

const REPLACE: &str = "UPDATE entry SET value = ?4, version = ?5, ends_at = ?6
    WHERE kind = ?1 AND part = ?2 AND sort = ?3 AND (ends_at IS NULL OR ends_at > ?7) AND version = ?8";

const REMOVE: &str = "DELETE FROM entry
    WHERE kind = ?1 AND part = ?2 AND sort = ?3 AND (ends_at IS NULL OR ends_at > ?4) AND version = ?5";

const DELETE: &str = "DELETE FROM entry WHERE kind = ?1 AND part = ?2 AND sort = ?3";

const TAKE: &str = "DELETE FROM entry
    WHERE kind = ?1 AND part = ?2 AND sort = ?3 AND (ends_at IS NULL OR ends_at > ?4)
    RETURNING value, version, ends_at";

const PARTITION: &str = "SELECT part, sort, value, version, ends_at FROM entry
    WHERE kind = ?1 AND part = ?2 AND sort > ?3 AND (ends_at IS NULL OR ends_at > ?4)
    ORDER BY sort LIMIT ?5";

const PAGE: &str = "SELECT part, sort, value, version, ends_at FROM entry
    WHERE kind = ?1 AND (part, sort) > (?2, ?3) AND (ends_at IS NULL OR ends_at > ?4)
    ORDER BY part, sort LIMIT ?5";

const FIRST_PAGE: &str = "SELECT part, sort, value, version, ends_at FROM entry
    WHERE kind = ?1 AND (ends_at IS NULL OR ends_at > ?2)
    ORDER BY part, sort LIMIT ?3";

const SWEEP: &str = "DELETE FROM entry WHERE (kind, part, sort) IN (
        SELECT kind, part, sort FROM entry
        WHERE ends_at IS NOT NULL AND ends_at <= ?1 ORDER BY ends_at LIMIT ?2)";

const RESERVE: &str =
    "UPDATE counter SET value = value + ?1 WHERE name = 'version' RETURNING value";

/// How many versions are reserved at once: one more page is written for each so many changes.
const RESERVED: u64 = 1 << 16;

/// Versions come from one counter for all keys, so that none repeats even after a row was removed
/// and made again.
#[derive(Default)]
pub(super) struct Versions {
    next: u64,
    until: u64,
    /// Of a replicated store: the counter itself is the last version, so that the same changes give
    /// the same versions on every node and after every restart.
    exact: bool,
    dirty: bool,
}

impl Versions {
    /// The next version, reserved within the transaction that is open. Forget the reservation if
    /// that is rolled back.
    fn next(&mut self, connection: &Connection) -> rusqlite::Result<u64> {
        if self.exact {
            if self.until == 0 {
                self.next = version(connection)?;
                self.until = u64::MAX;
            }
            self.dirty = true;
        } else if self.next >= self.until {
            let until: i64 = connection
                .prepare_cached(RESERVE)?
                .query_row([RESERVED as i64], |row| row.get(0))?;
            self.until = until.max(0) as u64;
            self.next = self.until.saturating_sub(RESERVED);
        }
        self.next += 1;
        Ok(self.next)
    }

    pub(super) fn forget(&mut self) {
        *self = Versions {
            exact: self.exact,
            ..Versions::default()
        };
    }

    pub(super) fn set_exact(&mut self, exact: bool) {
        *self = Versions {
            exact,
            ..Versions::default()
        };
    }

    /// Before the end of a transaction: what was given out is in it.
    pub(super) fn keep(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        if self.dirty {
            set_version(connection, self.next)?;
            self.dirty = false;
        }
        Ok(())
    }
}

/// The counter of versions.
pub(super) fn version(connection: &Connection) -> rusqlite::Result<u64> {
    let value: i64 = connection
        .prepare_cached("SELECT value FROM counter WHERE name = 'version'")?
        .query_row([], |row| row.get(0))?;
    Ok(value.max(0) as u64)
}

pub(super) fn set_version(connection: &Connection, version: u64) -> rusqlite::Result<()> {
    connection
        .prepare_cached("UPDATE counter SET value = ?1 WHERE name = 'version'")?
        .execute([seconds(version)])?;
    Ok(())
}

/// SQLite's integers are signed: what lies beyond them is as good as for ever.
pub(super) fn seconds(time: u64) -> i64 {
    i64::try_from(time).unwrap_or(i64::MAX)
}

pub(super) fn row_at(row: &rusqlite::Row<'_>, column: usize) -> rusqlite::Result<Row> {
    Ok(Row {
        value: row.get(column)?,
        version: row.get::<_, i64>(column + 1)?.max(0) as u64,
        end: row
            .get::<_, Option<i64>>(column + 2)?
            .map(|end| end.max(0) as u64),
    })
}

pub(super) fn get(connection: &Connection, key: &Key, now: u64) -> rusqlite::Result<Option<Row>> {
    connection
        .prepare_cached(GET)?
        .query_row(
            params![key.table.number(), key.partition, key.sort, seconds(now)],
            |row| row_at(row, 0),
        )
        .optional()
}

pub(super) fn take(connection: &Connection, key: &Key, now: u64) -> rusqlite::Result<Option<Row>> {
    connection
        .prepare_cached(TAKE)?
        .query_row(
            params![key.table.number(), key.partition, key.sort, seconds(now)],
            |row| row_at(row, 0),
        )
        .optional()
}

/// Does one change within the transaction that is open. A refused one writes nothing.
pub(super) fn change(
    connection: &Connection,
    versions: &mut Versions,
    change: &Change,
    now: u64,
) -> rusqlite::Result<Outcome> {
    let outcome = apply(connection, versions, &change.first, now)?;
    if outcome.is_done() {
        for op in &change.then {
            apply(connection, versions, op, now)?;
        }
    }
    Ok(outcome)
}

/// Does one operation within the transaction that is open, if its condition holds.
fn apply(
    connection: &Connection,
    versions: &mut Versions,
    op: &Op,
    now: u64,
) -> rusqlite::Result<Outcome> {
    let now_column = seconds(now);
    let (written, version) = match op {
        Op::Insert { end: Some(end), .. } if *end <= now => (0, 0),
        Op::Insert { key, value, end } => {
            let version = versions.next(connection)?;
            let written = connection.prepare_cached(INSERT)?.execute(params![
                key.table.number(),
                key.partition,
                key.sort,
                value,
                version as i64,
                end.map(seconds),
                now_column
            ])?;
            (written, version)
        }
        Op::Replace {
            key,
            version: expected,
            value,
            end,
        } => {
            let version = versions.next(connection)?;
            let written = connection.prepare_cached(REPLACE)?.execute(params![
                key.table.number(),
                key.partition,
                key.sort,
                value,
                version as i64,
                end.map(seconds),
                now_column,
                seconds(*expected)
            ])?;
            (written, version)
        }
        Op::Remove {
            key,
            version: expected,
        } => {
            let written = connection.prepare_cached(REMOVE)?.execute(params![
                key.table.number(),
                key.partition,
                key.sort,
                now_column,
                seconds(*expected)
            ])?;
            (written, 0)
        }
        Op::Put { key, value, end } => {
            let version = versions.next(connection)?;
            connection.prepare_cached(PUT)?.execute(params![
                key.table.number(),
                key.partition,
                key.sort,
                value,
                version as i64,
                end.map(seconds)
            ])?;
            (1, version)
        }
        Op::Delete { key } => {
            connection.prepare_cached(DELETE)?.execute(params![
                key.table.number(),
                key.partition,
                key.sort
            ])?;
            (1, 0)
        }
    };
    if written > 0 {
        Ok(Outcome::Done { version })
    } else {
        Ok(Outcome::Refused(get(connection, op.key(), now)?))
    }
}

/// Versions below this were counted, those above it drawn by lot, and never met by counting.
const COUNTED: u64 = 1 << 48;

/// What may have been counted beyond the highest version that is there: by rows that are gone.
const UNSEEN: u64 = 1 << 32;

/// Writes rows as another store had them. Versions go on behind theirs.
pub(super) fn restore(
    connection: &Connection,
    versions: &mut Versions,
    rows: &[(Key, Option<Row>)],
) -> rusqlite::Result<()> {
    let mut highest = 0;
    for (key, row) in rows {
        let Some(row) = row else {
            connection.prepare_cached(DELETE)?.execute(params![
                key.table.number(),
                key.partition,
                key.sort
            ])?;
            continue;
        };
        connection.prepare_cached(PUT)?.execute(params![
            key.table.number(),
            key.partition,
            key.sort,
            row.value,
            seconds(row.version),
            row.end.map(seconds)
        ])?;
        if row.version < COUNTED {
            highest = highest.max(row.version);
        }
    }
    versions.keep(connection)?;
    // What was reserved before is left out, so that the counter alone says where versions go on.
    versions.forget();
    if highest > 0 {
        let behind = highest + UNSEEN;
        let counted = version(connection)?;
        // Only where it is no longer far enough ahead: not at every call.
        if counted < highest + UNSEEN / 2 {
            set_version(connection, behind)?;
        }
    }
    Ok(())
}

fn rows(
    mut statement: CachedStatement<'_>,
    table: Table,
    parameters: &[&dyn ToSql],
) -> rusqlite::Result<Vec<(Key, Row)>> {
    statement
        .query_map(parameters, |row| {
            Ok((
                Key {
                    table,
                    partition: row.get(0)?,
                    sort: row.get(1)?,
                },
                row_at(row, 2)?,
            ))
        })?
        .collect()
}

pub(super) fn partition(
    connection: &Connection,
    table: Table,
    partition: &[u8],
    after: &[u8],
    limit: usize,
    now: u64,
) -> rusqlite::Result<Vec<(Key, Row)>> {
    rows(
        connection.prepare_cached(PARTITION)?,
        table,
        &[
            &table.number(),
            &partition,
            &after,
            &seconds(now),
            &seconds(limit as u64),
        ],
    )
}

pub(super) fn page(
    connection: &Connection,
    table: Table,
    after: Option<&Key>,
    limit: usize,
    now: u64,
) -> rusqlite::Result<Vec<(Key, Row)>> {
    let limit = seconds(limit as u64);
    match after {
        Some(key) => rows(
            connection.prepare_cached(PAGE)?,
            table,
            &[
                &table.number(),
                &key.partition,
                &key.sort,
                &seconds(now),
                &limit,
            ],
        ),
        None => rows(
            connection.prepare_cached(FIRST_PAGE)?,
            table,
            &[&table.number(), &seconds(now), &limit],
        ),
    }
}

pub(super) fn sweep(connection: &Connection, now: u64, limit: usize) -> rusqlite::Result<usize> {
    connection
        .prepare_cached(SWEEP)?
        .execute(params![seconds(now), seconds(limit as u64)])
}

/// Whether the engine found its file damaged.
pub(super) fn is_damage(error: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode::{DatabaseCorrupt, NotADatabase};
    matches!(
        error.sqlite_error_code(),
        Some(DatabaseCorrupt | NotADatabase)
    )
}

/// Whether the engine was refused space. Where it could not enlarge a file that it works with, it
/// says no more than that reading or writing failed.
pub(super) fn may_be_full(error: &rusqlite::Error, nearly_full: impl FnOnce() -> bool) -> bool {
    use rusqlite::ErrorCode::{DiskFull, SystemIoFailure};
    match error.sqlite_error_code() {
        Some(DiskFull) => true,
        Some(SystemIoFailure) => nearly_full(),
        _ => false,
    }
}

/// What the caller receives after an engine's failure.
pub(super) fn store_error(error: rusqlite::Error) -> StoreError {
    use rusqlite::ErrorCode::{DatabaseCorrupt, NotADatabase, TooBig};
    match &error {
        rusqlite::Error::InvalidColumnType(..)
        | rusqlite::Error::FromSqlConversionFailure(..)
        | rusqlite::Error::IntegralValueOutOfRange(..) => StoreError::Corrupt(error.to_string()),
        _ => match error.sqlite_error_code() {
            Some(DatabaseCorrupt | NotADatabase) => StoreError::Corrupt(error.to_string()),
            Some(TooBig) => StoreError::TooLarge,
            _ => StoreError::Unavailable(error.to_string()),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sweep_and_the_pages_use_an_index() {
        let connection = Connection::open_in_memory().expect("opens");
        for step in MIGRATIONS {
            let statements = schema::statements(MIGRATIONS, step.version).concat();
            connection.execute_batch(&statements).expect("is SQL");
        }
        for statement in [
            GET, PARTITION, PAGE, FIRST_PAGE, SWEEP, TAKE, REPLACE, REMOVE,
        ] {
            let mut explain = connection
                .prepare(&format!("EXPLAIN QUERY PLAN {statement}"))
                .expect("is SQL");
            let parameters = vec![1i64; explain.parameter_count()];
            let plan: Vec<String> = explain
                .query_map(rusqlite::params_from_iter(parameters), |row| row.get(3))
                .expect("explains")
                .collect::<Result<_, _>>()
                .expect("explains");
            assert!(
                plan.iter()
                    .all(|step| !step.contains("SCAN entry") && !step.contains("TEMP B-TREE")),
                "{statement}: {plan:?}"
            );
        }
    }
}
