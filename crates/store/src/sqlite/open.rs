//! Opening: one process, one directory, one file that is surely ours.
use super::sql;
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
        "{path} was written by a newer Signet (layout {found}, this one knows {known}); it was left as it is"
    )]
    Newer {
        /// the file
        path: PathBuf,
        /// layout in the file
        found: i32,
        /// layout of this program
        known: i32,
    },
    /// The file is no database, or a damaged one.
    #[error("{path} is damaged or no database ({reason}); restore it from a backup")]
    Corrupt {
        /// the file
        path: PathBuf,
        /// what the engine said
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

fn engine_error(path: &Path) -> impl Fn(rusqlite::Error) -> OpenError + '_ {
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

/// The lock ends with the file handle, so also with the process, however that ends.
pub(super) fn lock(directory: &Path) -> Result<File, OpenError> {
    private_directory(directory)?;
    let path = directory.join(LOCK_FILE);
    let mut file = private_file(&path)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            return Err(OpenError::InUse {
                path: directory.to_owned(),
            });
        }
        Err(TryLockError::Error(source)) => return Err(OpenError::Io { path, source }),
    }
    file.set_len(0).map_err(io_error(&path))?;
    writeln!(file, "{}", std::process::id()).map_err(io_error(&path))?;
    Ok(file)
}

/// The writer's connection. Makes the layout in an empty file, and refuses what is not Signet's before it writes.
pub(super) fn writer(path: &Path) -> Result<Connection, OpenError> {
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
    identify(&connection, path)?;
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
    // Pages of 4 KiB: the log is folded into the file each 8 MiB, and is not kept larger than twice that.
    connection
        .pragma_update(None, "wal_autocheckpoint", 2048)
        .map_err(&error)?;
    connection
        .pragma_update(None, "journal_size_limit", 16 << 20)
        .map_err(&error)?;
    connection.set_prepared_statement_cache_capacity(32);
    Ok(connection)
}

fn identify(connection: &Connection, path: &Path) -> Result<(), OpenError> {
    let error = engine_error(path);
    let number = |pragma: &str| -> Result<i32, OpenError> {
        connection
            .pragma_query_value(None, pragma, |row| row.get(0))
            .map_err(&error)
    };
    let objects: i64 = connection
        .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
        .map_err(&error)?;
    match (number("application_id")?, objects) {
        (0, 0) => connection
            .execute_batch(&format!(
                "BEGIN IMMEDIATE; {} PRAGMA application_id = {}; PRAGMA user_version = {}; COMMIT;",
                sql::SCHEMA,
                sql::APPLICATION_ID,
                sql::SCHEMA_VERSION
            ))
            .map_err(&error),
        (sql::APPLICATION_ID, _) => match number("user_version")? {
            sql::SCHEMA_VERSION => Ok(()),
            found if found > sql::SCHEMA_VERSION => Err(OpenError::Newer {
                path: path.to_owned(),
                found,
                known: sql::SCHEMA_VERSION,
            }),
            found => Err(OpenError::Corrupt {
                path: path.to_owned(),
                reason: format!("layout {found} was never written"),
            }),
        },
        _ => Err(OpenError::Foreign {
            path: path.to_owned(),
        }),
    }
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
