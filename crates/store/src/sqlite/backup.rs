//! A copy of a database of one moment, while a process writes it; and what is looked at and changed
//! in one that no process has open.
use super::{
    DATABASE_FILE, OpenError,
    open::{engine_error, reader},
    replica, sql,
};
use crate::{RealmId, Table, realm, schema::SchemaStatus};
use rusqlite::{Connection, OpenFlags, params};
use std::{collections::BTreeMap, path::Path};

/// Copies a database into a file that must not exist, as it is at one moment; a process may have it
/// open. It is one statement, so it reads one moment; what is written meanwhile goes to the log
/// beside the file, which grows for that long. The copy is flushed. Its size in bytes.
///
/// # Errors
/// See [`OpenError`]; also where there is no database.
pub fn snapshot(database: &Path, to: &Path) -> Result<u64, OpenError> {
    let io = |path: &Path| {
        let path = path.to_owned();
        move |source| OpenError::Io { path, source }
    };
    std::fs::metadata(database).map_err(io(database))?;
    let name = to.to_str().ok_or_else(|| {
        let source = std::io::Error::new(std::io::ErrorKind::InvalidInput, "is no text");
        io(to)(source)
    })?;
    let from = reader(database)?;
    from.execute("VACUUM INTO ?1", [name])
        .map_err(engine_error(database))?;
    let file = std::fs::File::open(to).map_err(io(to))?;
    file.sync_all().map_err(io(to))?;
    Ok(file.metadata().map_err(io(to))?.len())
}

/// Reads a whole database, every index with its table (`PRAGMA integrity_check`). Slower than what
/// a start does after an unclean end, and complete.
///
/// # Errors
/// See [`OpenError`]: [`OpenError::Corrupt`] with the first thing that is wrong.
pub fn integrity(database: &Path) -> Result<(), OpenError> {
    let error = engine_error(database);
    let said: String = reader(database)?
        .query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))
        .map_err(&error)?;
    match said.as_str() {
        "ok" => Ok(()),
        _ => Err(OpenError::Corrupt {
            path: database.to_owned(),
            reason: said,
        }),
    }
}

/// How the layout of a database stands to this program, wherever the file lies.
///
/// # Errors
/// See [`OpenError`]; a file that is not there, or empty, is an error.
pub fn schema_of(database: &Path) -> Result<SchemaStatus, OpenError> {
    let status = super::open::layout(&reader(database)?, database, sql::MIGRATIONS)?;
    status.ok_or_else(|| OpenError::Corrupt {
        path: database.to_owned(),
        reason: "it is empty".to_owned(),
    })
}

/// Whether the rows of a directory's database are replicated by consensus; whoever has it open.
///
/// # Errors
/// See [`OpenError`].
pub fn is_replicated(directory: &Path) -> Result<bool, OpenError> {
    let path = directory.join(DATABASE_FILE);
    replica::is_replicated(&reader(&path)?).map_err(engine_error(&path))
}

/// How much there is of one table of one realm.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Size {
    /// Rows, ended ones that were not swept yet among them.
    pub rows: u64,
    /// Bytes of their keys and values.
    pub bytes: u64,
}

/// How much there is of each table and realm; whoever has the database open. Reads all keys.
///
/// # Errors
/// See [`OpenError`].
pub fn sizes(directory: &Path) -> Result<BTreeMap<(RealmId, Table), Size>, OpenError> {
    let path = directory.join(DATABASE_FILE);
    let error = engine_error(&path);
    let connection = reader(&path)?;
    let mut statement = connection
        .prepare("SELECT kind, part, length(part) + length(sort) + length(value) FROM entry")
        .map_err(&error)?;
    let mut rows = statement.query([]).map_err(&error)?;
    let mut sizes: BTreeMap<(RealmId, Table), Size> = BTreeMap::new();
    while let Some(row) = rows.next().map_err(&error)? {
        let kind: u8 = row.get(0).map_err(&error)?;
        let bytes: i64 = row.get(2).map_err(&error)?;
        let part = row.get_ref(1).map_err(&error)?;
        let part = part.as_blob().map_err(|e| error(e.into()))?;
        // A later program's table is none of ours.
        let Some(table) = Table::from_number(kind) else {
            continue;
        };
        let size = sizes
            .entry((RealmId::of_partition(part), table))
            .or_default();
        size.rows += 1;
        size.bytes += u64::try_from(bytes).unwrap_or(0);
    }
    Ok(sizes)
}

/// Removes the rows of a table whose partitions begin so, in every realm, from a database that
/// nobody has open; how many there were.
///
/// # Errors
/// See [`OpenError`].
pub fn forget(directory: &Path, table: Table, begins: &[u8]) -> Result<u64, OpenError> {
    let path = directory.join(DATABASE_FILE);
    let error = engine_error(&path);
    let connection = Connection::open_with_flags(
        &path,
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX,
    )
    .map_err(&error)?;
    let mut keys: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
    {
        let mut statement = connection
            .prepare("SELECT part, sort FROM entry WHERE kind = ?1")
            .map_err(&error)?;
        let mut rows = statement.query([table.number()]).map_err(&error)?;
        while let Some(row) = rows.next().map_err(&error)? {
            let part: Vec<u8> = row.get(0).map_err(&error)?;
            if realm::without_prefix(&part).starts_with(begins) {
                keys.push((part, row.get(1).map_err(&error)?));
            }
        }
    }
    let transaction = connection.unchecked_transaction().map_err(&error)?;
    for (part, sort) in &keys {
        transaction
            .execute(
                "DELETE FROM entry WHERE kind = ?1 AND part = ?2 AND sort = ?3",
                params![table.number(), part, sort],
            )
            .map_err(&error)?;
    }
    transaction.commit().map_err(&error)?;
    Ok(keys.len() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Change, Key, Op, RealmStore, SqliteStore, Store, sqlite::Options};
    use std::sync::Arc;

    fn put(table: Table, partition: &[u8]) -> Change {
        let first = Op::Put {
            key: Key::new(table, partition.to_vec()),
            value: b"value".to_vec(),
            end: None,
        };
        Change {
            first,
            then: Vec::new(),
        }
    }

    #[tokio::test]
    async fn a_copy_is_counted_checked_and_rid_of_rows_realm_by_realm() {
        let directory = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(directory.path(), Options::default()).unwrap();
        let store: Arc<dyn Store> = Arc::new(store);
        let realm = RealmId::parse("acme").unwrap();
        let of_realm = RealmStore::new(&realm, store.clone());
        for (partition, both) in [(&b"one"[..], true), (b"other", false)] {
            store.commit(put(Table::User, partition), 1).await.unwrap();
            if both {
                of_realm
                    .commit(put(Table::User, partition), 1)
                    .await
                    .unwrap();
            }
        }
        // While it is open.
        let copy = tempfile::tempdir().unwrap();
        let file = copy.path().join(DATABASE_FILE);
        let bytes = snapshot(&directory.path().join(DATABASE_FILE), &file).unwrap();
        assert_eq!(std::fs::metadata(&file).unwrap().len(), bytes);
        store.commit(put(Table::User, b"later"), 1).await.unwrap();
        store.close();

        integrity(&file).unwrap();
        assert_eq!(schema_of(&file).unwrap().found, sql::SCHEMA_VERSION);
        assert!(!is_replicated(copy.path()).unwrap());
        let rows = |realm: &RealmId| {
            let sizes = sizes(copy.path()).unwrap();
            let size = sizes.get(&(realm.clone(), Table::User)).copied();
            size.map_or((0, 0), |size| (size.rows, size.bytes))
        };
        let first = RealmId::default_realm();
        assert_eq!(rows(&first), (2, 18));
        assert_eq!(rows(&realm).0, 1);
        assert_eq!(forget(copy.path(), Table::User, b"one").unwrap(), 2);
        assert_eq!((rows(&first).0, rows(&realm).0), (1, 0));

        // A page that was damaged.
        let mut bytes = std::fs::read(&file).unwrap();
        let page = 4096;
        bytes[page + 100..2 * page].fill(0xa5);
        std::fs::write(&file, bytes).unwrap();
        assert!(matches!(integrity(&file), Err(OpenError::Corrupt { .. })));
        assert!(snapshot(&copy.path().join("none.db"), &copy.path().join("x")).is_err());
    }
}
