//! Opening: one process, one directory, one file that is surely ours.
use super::{reserve, sql};
use crate::{
    lock_file,
    schema::{self, Migration, SchemaMismatch, SchemaStatus},
};
use rusqlite::{Connection, OpenFlags};
use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io::{self, Write},
    path::{Path, PathBuf},
    time::Duration,
};

/// The database within the data directory.
pub const DATABASE_FILE: &str = "signet.db";

/// Held locked while a process uses the directory; holds its process id, for people.
pub const LOCK_FILE: &str = "signet.lock";

/// Why a data directory could not be used. For the operator: each variant says what to do.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The directory or a file in it cannot be made, opened or protected.
    #[error("{path}: {source}")]
    Io {
        /// the file
        path: PathBuf,
        /// the system's reason
        source: io::Error,
    },
    /// Another process has the directory open.
    #[error(
        "{path} is in use by another process; stop that one first, or use another data directory"
    )]
    InUse {
        /// the directory
        path: PathBuf,
    },
    /// The file is an SQLite database of another program.
    #[error("{path} is a database, but not one of Signet's; it was left as it is")]
    Foreign {
        /// the file
        path: PathBuf,
    },
    /// The file was written by a later version of this program.
    #[error(
        "{path} was written by a newer Signet: its layout is {found}, and this one knows {known} and can work with one more, no further; it was left as it is"
    )]
    Newer {
        /// the file
        path: PathBuf,
        /// layout in the file
        found: u32,
        /// layout of this program
        known: u32,
    },
    /// The file is no database, or a damaged one.
    #[error(
        "{path} is damaged or no database ({reason}); restore it from a backup, or, where it is one of several nodes, remove this node and let it join again with an empty data directory: a copy of its rows lacks what it has acknowledged since"
    )]
    Corrupt {
        /// the file
        path: PathBuf,
        /// what the engine said
        reason: String,
    },
    /// The disk is full, and nothing is left of the reserve that a start could use.
    #[error(
        "the disk of {path} is full, and no reserve is left: make some space, 1 MiB at least ({reason})"
    )]
    Full {
        /// the directory
        path: PathBuf,
        /// what the engine or the system said
        reason: String,
    },
    /// Any other failure of the engine.
    #[error("{path}: {reason}")]
    Engine {
        /// the file
        path: PathBuf,
        /// what the engine said
        reason: String,
    },
}

fn io_error(path: &Path) -> impl FnOnce(io::Error) -> OpenError + '_ {
    |source| OpenError::Io {
        path: path.to_owned(),
        source,
    }
}

pub(super) fn engine_error(path: &Path) -> impl Fn(rusqlite::Error) -> OpenError + '_ {
    use rusqlite::ErrorCode::{DatabaseCorrupt, NotADatabase};
    |error| match error.sqlite_error_code() {
        Some(DatabaseCorrupt | NotADatabase) => OpenError::Corrupt {
            path: path.to_owned(),
            reason: error.to_string(),
        },
        _ => OpenError::Engine {
            path: path.to_owned(),
            reason: error.to_string(),
        },
    }
}

#[cfg(unix)]
fn private_options() -> OpenOptions {
    use std::os::unix::fs::OpenOptionsExt;
    let mut options = OpenOptions::new();
    options.mode(0o600);
    options
}

#[cfg(not(unix))]
fn private_options() -> OpenOptions {
    OpenOptions::new()
}

/// Opens or makes a file that only its owner may read (0600); tightens one that others may.
fn private_file(path: &Path) -> Result<File, OpenError> {
    let file = private_options()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)
        .map_err(io_error(path))?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = file
            .metadata()
            .map_err(io_error(path))?
            .permissions()
            .mode();
        if mode & 0o077 != 0 {
            file.set_permissions(fs::Permissions::from_mode(0o600))
                .map_err(io_error(path))?;
        }
    }
    Ok(file)
}

fn private_directory(path: &Path) -> Result<(), OpenError> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt;
        builder.mode(0o700);
    }
    builder.create(path).map_err(io_error(path))
}

/// The lock on a directory. It ends with the file handle, so also with the process, however that
/// ends.
pub(super) struct Lock {
    file: File,
    /// The process that had it before did not close the store.
    pub(super) unclean: bool,
}

impl Lock {
    /// The store was closed in order.
    pub(super) fn clean(&self) {
        if let Err(error) = self.file.set_len(0) {
            tracing::warn!(%error, "failed to write the lock file: the next start checks the database");
        }
    }
}

/// Takes the lock of a directory. Its file holds a process id from here until the store is closed:
/// where it does before that, a process ended without closing.
pub(super) fn lock(directory: &Path) -> Result<Lock, OpenError> {
    private_directory(directory)?;
    let path = directory.join(LOCK_FILE);
    let mut file = private_file(&path)?;
    match lock_file(&file) {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            return Err(OpenError::InUse {
                path: directory.to_owned(),
            });
        }
        Err(TryLockError::Error(source)) => return Err(OpenError::Io { path, source }),
    }
    let unclean = file.metadata().map_err(io_error(&path))?.len() > 0;
    let written = file
        .set_len(0)
        .and_then(|()| writeln!(file, "{}", std::process::id()))
        .and_then(|()| file.sync_data());
    match written {
        // It is for people, and for the next start's check, and no reason to refuse this one.
        Err(error) if is_full(&error) => {
            tracing::warn!("holding the lock without a process id: disk full")
        }
        written => written.map_err(io_error(&path))?,
    }
    Ok(Lock { file, unclean })
}

/// Whether the disk, a quota or a limit of the file's size refuses further bytes.
fn is_full(error: &io::Error) -> bool {
    use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
    matches!(error.kind(), StorageFull | QuotaExceeded | FileTooLarge)
}

impl OpenError {
    /// Whether it may be that the disk is full: the engine says so in several ways, where it cannot
    /// make the files that it works with.
    pub(super) fn may_be_full(&self, directory: &Path) -> bool {
        match self {
            OpenError::Full { .. } => true,
            OpenError::Io { source, .. } if is_full(source) => true,
            OpenError::Io { .. } | OpenError::Engine { .. } => reserve::is_nearly_full(directory),
            OpenError::InUse { .. }
            | OpenError::Foreign { .. }
            | OpenError::Newer { .. }
            | OpenError::Corrupt { .. } => false,
        }
    }

    /// The same, said as a full disk's.
    pub(super) fn of_full(self, directory: &Path) -> OpenError {
        OpenError::Full {
            path: directory.to_owned(),
            reason: self.to_string(),
        }
    }
}

/// Reads the whole database and compares its structure, after a process that did not close it. A
/// damaged page could hide a revocation, so nothing is served before. About three seconds for each
/// GB that the system has in memory, and as long as the disk takes for what it has not.
pub(super) fn check(connection: &Connection, path: &Path) -> Result<(), OpenError> {
    let started = std::time::Instant::now();
    let said: String = connection
        .query_row("PRAGMA quick_check(1)", [], |row| row.get(0))
        .map_err(engine_error(path))?;
    let took_ms = started.elapsed().as_millis();
    if said != "ok" {
        return Err(OpenError::Corrupt {
            path: path.to_owned(),
            reason: said,
        });
    }
    tracing::info!(
        took_ms,
        "checked the database after an unclean shutdown: no damage"
    );
    Ok(())
}

/// The writer's connection. Makes the layout in an empty file, brings an older one up to date, and
/// refuses what is not Signet's before it writes.
pub(super) fn writer(path: &Path, steps: &'static [Migration]) -> Result<Connection, OpenError> {
    // SQLite gives its log and index files the mode of the database.
    private_file(path)?;
    let error = engine_error(path);
    let connection = Connection::open_with_flags(
        path,
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX,
    )
    .map_err(&error)?;
    connection
        .busy_timeout(Duration::from_secs(5))
        .map_err(&error)?;
    identify(&connection, path, steps)?;
    connection
        .pragma_update(None, "journal_mode", "WAL")
        .map_err(&error)?;
    // FULL: a commit returns after its log is flushed. That is the meaning of `Done`.
    connection
        .pragma_update(None, "synchronous", "FULL")
        .map_err(&error)?;
    // In KiB, as SQLite counts negative sizes.
    connection
        .pragma_update(None, "cache_size", -2048)
        .map_err(&error)?;
    // The log is not kept larger than twice what it usually grows to.
    fold_each(&connection, PAGES).map_err(&error)?;
    connection
        .pragma_update(None, "journal_size_limit", 16 << 20)
        .map_err(&error)?;
    connection.set_prepared_statement_cache_capacity(32);
    Ok(connection)
}

/// Pages of 4 KiB that the log grows by before it is folded into the file and used again: 8 MiB.
pub(super) const PAGES: i64 = 2048;

/// The same while the disk is full: 256 KiB.
pub(super) const FEW_PAGES: i64 = 64;

pub(super) fn fold_each(connection: &Connection, pages: i64) -> rusqlite::Result<()> {
    connection.pragma_update(None, "wal_autocheckpoint", pages)
}

fn number(connection: &Connection, pragma: &str) -> rusqlite::Result<i32> {
    connection.pragma_query_value(None, pragma, |row| row.get(0))
}

/// How a file's layout stands to this program; None: the file is empty.
pub(super) fn layout(
    connection: &Connection,
    path: &Path,
    steps: &'static [Migration],
) -> Result<Option<SchemaStatus>, OpenError> {
    let error = engine_error(path);
    let objects: i64 = connection
        .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
        .map_err(&error)?;
    match (
        number(connection, "application_id").map_err(&error)?,
        objects,
    ) {
        (0, 0) => Ok(None),
        (sql::APPLICATION_ID, _) => {
            let found = number(connection, "user_version").map_err(&error)?;
            match u32::try_from(found) {
                Ok(found @ 1..) => Ok(Some(SchemaStatus { found, steps })),
                Ok(0) | Err(_) => Err(OpenError::Corrupt {
                    path: path.to_owned(),
                    reason: format!("layout {found} was never written"),
                }),
            }
        }
        _ => Err(OpenError::Foreign {
            path: path.to_owned(),
        }),
    }
}

/// Refuses what is not Signet's, and does the steps that are missing, all in one transaction:
/// nobody else has the file meanwhile.
fn identify(
    connection: &Connection,
    path: &Path,
    steps: &'static [Migration],
) -> Result<(), OpenError> {
    let error = engine_error(path);
    let status = layout(connection, path, steps)?;
    let status = status.unwrap_or(SchemaStatus { found: 0, steps });
    if let (found, known, Err(SchemaMismatch::New)) =
        (status.found, status.known(), status.accept())
    {
        return Err(OpenError::Newer {
            path: path.to_owned(),
            found,
            known,
        });
    }
    let Some(last) = status.pending().last() else {
        return Ok(());
    };
    let mut batch = "BEGIN IMMEDIATE;".to_owned();
    for step in status.pending() {
        for statement in (step.apart)()
            .into_iter()
            .chain(schema::statements(steps, step.version))
        {
            batch.push_str(&statement);
            batch.push(';');
        }
    }
    batch.push_str(&format!(
        "PRAGMA application_id = {}; PRAGMA user_version = {}; COMMIT;",
        sql::APPLICATION_ID,
        last.version
    ));
    connection.execute_batch(&batch).map_err(&error)
}

/// How the layout of a directory's store stands to this program, whoever has it open; None: there
/// is no store.
pub(super) fn status(directory: &Path) -> Result<Option<SchemaStatus>, OpenError> {
    let path = directory.join(DATABASE_FILE);
    if !path.exists() {
        return Ok(None);
    }
    layout(&reader(&path)?, &path, sql::MIGRATIONS)
}

/// A reader's connection.
pub(super) fn reader(path: &Path) -> Result<Connection, OpenError> {
    let error = engine_error(path);
    let connection = Connection::open_with_flags(
        path,
        OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX,
    )
    .map_err(&error)?;
    connection
        .busy_timeout(Duration::from_secs(5))
        .map_err(&error)?;
    connection
        .pragma_update(None, "cache_size", -1024)
        .map_err(&error)?;
    Ok(connection)
}
