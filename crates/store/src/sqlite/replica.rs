//! What the consensus needs of the engine: its log and its notes beside the rows, changes applied
//! in its order, and the whole store as a snapshot.
//!
//! Everything lies in one file behind one writer, so one order holds for all of it. [`Work`] that
//! asks for a flush is answered when it is on the disk, and then everything that was done before it
//! is there, too; work that does not ask may be lost by a crash, but only together with all work
//! behind it. The consensus flushes its log and not what it applies: after a crash the notes say
//! how far the rows are, and the log holds the rest.
//!
//! A replicated store takes no change from its [`Store`](crate::Store) calls: they answer
//! [`REPLICATED`], because a change that the other nodes do not know would never reach them.
//! Versions are counted one by one, from the counter in the file, so that the same changes give the
//! same versions everywhere.
use super::{Job, Place, Refused, SqliteStore, open, recent::Changing, refused, sql};
use crate::{Change, Key, Outcome, Row, StoreError};
use rusqlite::{Connection, OptionalExtension, params};

/// The text of [`StoreError::Invalid`] for a change that did not come from the consensus.
pub const REPLICATED: &str = "the store is replicated: its changes come from the consensus";

/// Says that the store is replicated.
const MARK: &[u8] = b"replicated";

/// Begins the names of the notes that belong to the replicated state and travel in a snapshot.
pub const STATE: &[u8] = b"state/";

/// The name and the value of a note.
pub type Note = (Vec<u8>, Vec<u8>);

/// A failure of the engine, of no use but to be handed back.
#[derive(Debug)]
pub struct Failed(pub(super) rusqlite::Error);

impl Failed {
    /// What is stored is not what was written.
    pub fn corrupt(what: &str) -> Failed {
        Failed(rusqlite::Error::InvalidColumnType(
            0,
            what.to_owned(),
            rusqlite::types::Type::Blob,
        ))
    }
}

impl From<rusqlite::Error> for Failed {
    fn from(error: rusqlite::Error) -> Failed {
        Failed(error)
    }
}

/// A part of a transaction.
pub trait Work: Send {
    /// Does it. Called again where the transaction is done again, so it begins again each time.
    ///
    /// # Errors
    /// The engine's; then nothing of the transaction is done.
    fn run(&mut self, space: &mut Space<'_>) -> Result<(), Failed>;

    /// Whether [`Work::done`] waits for the disk.
    fn is_flushed(&self) -> bool;

    /// The transaction is done, or nothing of it is.
    fn done(self: Box<Self>, result: Result<(), StoreError>);
}

/// What work may do within its transaction.
pub struct Space<'a> {
    pub(super) connection: &'a Connection,
    pub(super) versions: &'a mut sql::Versions,
    pub(super) changing: &'a mut Changing,
    pub(super) replicated: &'a mut bool,
}

impl Space<'_> {
    /// From here on changes come from the consensus, or no longer.
    ///
    /// # Errors
    /// The engine's.
    pub fn set_replicated(&mut self, replicated: bool) -> Result<(), Failed> {
        match replicated {
            true => self.set_note(MARK, b"1")?,
            false => self.remove_note(MARK)?,
        }
        // What was reserved before is left out, not given out again.
        self.versions.keep(self.connection)?;
        self.versions.set_exact(replicated);
        *self.replicated = replicated;
        Ok(())
    }

    /// One change; see [`Store::commit`](crate::Store::commit).
    ///
    /// # Errors
    /// The engine's.
    pub fn change(&mut self, change: &Change, now: u64) -> Result<Outcome, Failed> {
        self.changing.change(change);
        Ok(sql::change(self.connection, self.versions, change, now)?)
    }

    /// See [`Store::take`](crate::Store::take).
    ///
    /// # Errors
    /// The engine's.
    pub fn take(&mut self, key: &Key, now: u64) -> Result<Option<Row>, Failed> {
        self.changing.row(key);
        Ok(sql::take(self.connection, key, now)?)
    }

    /// See [`Store::sweep`](crate::Store::sweep).
    ///
    /// # Errors
    /// The engine's.
    pub fn sweep(&mut self, now: u64, limit: usize) -> Result<usize, Failed> {
        self.changing.sweep(now);
        Ok(sql::sweep(self.connection, now, limit)?)
    }

    /// Writes an entry of the log, over one that is there.
    ///
    /// # Errors
    /// The engine's.
    pub fn append(&mut self, position: u64, entry: &[u8]) -> Result<(), Failed> {
        self.connection
            .prepare_cached("INSERT OR REPLACE INTO log (position, entry) VALUES (?1, ?2)")?
            .execute(params![sql::seconds(position), entry])?;
        Ok(())
    }

    /// Removes the entries from a position on.
    ///
    /// # Errors
    /// The engine's.
    pub fn truncate(&mut self, from: u64) -> Result<(), Failed> {
        self.connection
            .prepare_cached("DELETE FROM log WHERE position >= ?1")?
            .execute([sql::seconds(from)])?;
        Ok(())
    }

    /// Removes the entries up to a position, itself included.
    ///
    /// # Errors
    /// The engine's.
    pub fn purge(&mut self, upto: u64) -> Result<(), Failed> {
        self.connection
            .prepare_cached("DELETE FROM log WHERE position <= ?1")?
            .execute([sql::seconds(upto)])?;
        Ok(())
    }

    /// A note.
    ///
    /// # Errors
    /// The engine's.
    pub fn note(&self, name: &[u8]) -> Result<Option<Vec<u8>>, Failed> {
        Ok(note(self.connection, name)?)
    }

    /// Writes a note.
    ///
    /// # Errors
    /// The engine's.
    pub fn set_note(&mut self, name: &[u8], value: &[u8]) -> Result<(), Failed> {
        self.connection
            .prepare_cached("INSERT OR REPLACE INTO note (name, value) VALUES (?1, ?2)")?
            .execute(params![name, value])?;
        Ok(())
    }

    /// Removes a note.
    ///
    /// # Errors
    /// The engine's.
    pub fn remove_note(&mut self, name: &[u8]) -> Result<(), Failed> {
        self.connection
            .prepare_cached("DELETE FROM note WHERE name = ?1")?
            .execute([name])?;
        Ok(())
    }

    /// Removes the notes from one name on, up to another, that one not included.
    ///
    /// # Errors
    /// The engine's.
    pub fn remove_notes(&mut self, from: &[u8], to: &[u8]) -> Result<(), Failed> {
        self.connection
            .prepare_cached("DELETE FROM note WHERE name >= ?1 AND name < ?2")?
            .execute([from, to])?;
        Ok(())
    }

    /// The entries of the log from a position on, at most so many.
    ///
    /// # Errors
    /// The engine's.
    pub fn log(&self, from: u64, to: u64) -> Result<Vec<(u64, Vec<u8>)>, Failed> {
        Ok(log(self.connection, from, to)?)
    }

    /// Makes an empty place beside the rows, for those of a snapshot. What was left in it by one
    /// that was broken off goes.
    ///
    /// # Errors
    /// The engine's.
    pub fn stage(&mut self) -> Result<(), Failed> {
        let staged = sql::table("staged");
        let batch = format!("DROP TABLE IF EXISTS staged; {staged}");
        Ok(self.connection.execute_batch(&batch)?)
    }

    /// Adds a row to that place. `kind`: the number of its table, known here or not.
    ///
    /// # Errors
    /// The engine's.
    pub fn stage_row(&mut self, row: &RawRow) -> Result<(), Failed> {
        self.connection
            .prepare_cached(
                "INSERT OR REPLACE INTO staged (kind, part, sort, value, version, ends_at)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            )?
            .execute(params![
                row.kind,
                row.partition,
                row.sort,
                row.row.value,
                sql::seconds(row.row.version),
                row.row.end.map(sql::seconds)
            ])?;
        Ok(())
    }

    /// The rows of that place become the store's, and its own are gone; so do these notes become
    /// those of the state. Versions go on from `version`.
    ///
    /// # Errors
    /// The engine's.
    pub fn install(&mut self, version: u64, notes: &[Note]) -> Result<(), Failed> {
        self.changing.all();
        // An index keeps its name when its table is renamed, and two cannot share one.
        self.connection.execute_batch(&format!(
            "DROP TABLE entry; ALTER TABLE staged RENAME TO entry; {}",
            sql::END_INDEX
        ))?;
        self.versions.forget();
        sql::set_version(self.connection, version)?;
        let mut behind = STATE.to_vec();
        if let Some(last) = behind.last_mut() {
            *last += 1;
        }
        self.remove_notes(STATE, &behind)?;
        notes
            .iter()
            .try_for_each(|(name, value)| self.set_note(name, value))
    }

    /// The counter of versions.
    ///
    /// # Errors
    /// The engine's.
    pub fn version(&mut self) -> Result<u64, Failed> {
        self.versions.keep(self.connection)?;
        Ok(sql::version(self.connection)?)
    }
}

/// A row as it is on the disk: of a table that this program knows, or of a later one's.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RawRow {
    /// number of the table
    pub kind: u8,
    /// see [`Key`]
    pub partition: Vec<u8>,
    /// see [`Key`]
    pub sort: Vec<u8>,
    /// the rest
    pub row: Row,
}

/// A read of what lies beside the rows.
pub struct Look<'a>(&'a Connection);

impl Look<'_> {
    /// A note.
    ///
    /// # Errors
    /// The engine's.
    pub fn note(&self, name: &[u8]) -> Result<Option<Vec<u8>>, Failed> {
        Ok(note(self.0, name)?)
    }

    /// The entries of the log from one position up to another, that one not included.
    ///
    /// # Errors
    /// The engine's.
    pub fn log(&self, from: u64, to: u64) -> Result<Vec<(u64, Vec<u8>)>, Failed> {
        Ok(log(self.0, from, to)?)
    }

    /// The last entry of the log.
    ///
    /// # Errors
    /// The engine's.
    pub fn last(&self) -> Result<Option<(u64, Vec<u8>)>, Failed> {
        let last = self
            .0
            .prepare_cached("SELECT position, entry FROM log ORDER BY position DESC LIMIT 1")?
            .query_row([], |row| {
                Ok((row.get::<_, i64>(0)?.max(0) as u64, row.get(1)?))
            })
            .optional()?;
        Ok(last)
    }

    /// Whether there is any row.
    ///
    /// # Errors
    /// The engine's.
    pub fn is_empty(&self) -> Result<bool, Failed> {
        let any: Option<i64> = self
            .0
            .prepare_cached("SELECT 1 FROM entry LIMIT 1")?
            .query_row([], |row| row.get(0))
            .optional()?;
        Ok(any.is_none())
    }
}

fn note(connection: &Connection, name: &[u8]) -> rusqlite::Result<Option<Vec<u8>>> {
    connection
        .prepare_cached("SELECT value FROM note WHERE name = ?1")?
        .query_row([name], |row| row.get(0))
        .optional()
}

fn log(connection: &Connection, from: u64, to: u64) -> rusqlite::Result<Vec<(u64, Vec<u8>)>> {
    connection
        .prepare_cached(
            "SELECT position, entry FROM log WHERE position >= ?1 AND position < ?2
             ORDER BY position",
        )?
        .query_map([sql::seconds(from), sql::seconds(to)], |row| {
            Ok((row.get::<_, i64>(0)?.max(0) as u64, row.get(1)?))
        })?
        .collect()
}

pub(super) fn is_replicated(connection: &Connection) -> rusqlite::Result<bool> {
    Ok(note(connection, MARK)?.is_some())
}

/// The whole store as it was at one moment. While it lives, the engine's log cannot be folded
/// further than to that moment, and so grows with what is written.
pub struct Snapshot {
    connection: Connection,
    after: Option<(u8, Vec<u8>, Vec<u8>)>,
}

const ROWS: &str = "SELECT kind, part, sort, value, version, ends_at FROM entry
    WHERE (kind, part, sort) > (?1, ?2, ?3) ORDER BY kind, part, sort";

impl Snapshot {
    /// The counter of versions.
    ///
    /// # Errors
    /// [`StoreError`]
    pub fn version(&self) -> Result<u64, StoreError> {
        sql::version(&self.connection).map_err(sql::store_error)
    }

    /// A note.
    ///
    /// # Errors
    /// [`StoreError`]
    pub fn note(&self, name: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        note(&self.connection, name).map_err(sql::store_error)
    }

    /// The notes of the state.
    ///
    /// # Errors
    /// [`StoreError`]
    pub fn notes(&self) -> Result<Vec<Note>, StoreError> {
        let read = || -> rusqlite::Result<Vec<Note>> {
            self.connection
                .prepare_cached("SELECT name, value FROM note WHERE name > ?1 ORDER BY name")?
                .query_map([STATE], |row| Ok((row.get(0)?, row.get(1)?)))?
                .filter(|note: &rusqlite::Result<Note>| {
                    note.as_ref()
                        .map_or(true, |(name, _)| name.starts_with(STATE))
                })
                .collect()
        };
        read().map_err(sql::store_error)
    }

    /// The next rows, in order: as many as have `bytes` together, one at least; none at the end.
    ///
    /// # Errors
    /// [`StoreError`]
    pub fn rows(&mut self, bytes: usize) -> Result<Vec<RawRow>, StoreError> {
        let (kind, part, sort) = self.after.clone().unwrap_or_default();
        let read = || -> rusqlite::Result<Vec<RawRow>> {
            let mut statement = self.connection.prepare_cached(ROWS)?;
            let mut found = statement.query(params![kind, part, sort])?;
            let (mut rows, mut size) = (Vec::new(), 0);
            while size < bytes
                && let Some(row) = found.next()?
            {
                let row = RawRow {
                    kind: row.get(0)?,
                    partition: row.get(1)?,
                    sort: row.get(2)?,
                    row: sql::row_at(row, 3)?,
                };
                size += row.partition.len() + row.sort.len() + row.row.value.len() + 32;
                rows.push(row);
            }
            Ok(rows)
        };
        let rows = read().map_err(sql::store_error)?;
        if let Some(last) = rows.last() {
            self.after = Some((last.kind, last.partition.clone(), last.sort.clone()));
        }
        Ok(rows)
    }
}

impl SqliteStore {
    /// Queues a part of a transaction. Whatever was queued before it is done before it.
    ///
    /// # Errors
    /// The work itself, where the store is closed or its queue is full: its `done` is not called.
    pub fn work(&self, work: Box<dyn Work>) -> Result<(), StoreError> {
        self.whole()?;
        let job = Job::Work(work);
        self.writes.push(job.place(), job).map_err(refused)
    }

    /// Reads what lies beside the rows.
    ///
    /// # Errors
    /// [`StoreError`]
    pub async fn look<T: Send + 'static>(
        &self,
        look: impl FnOnce(&Look<'_>) -> Result<T, Failed> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.read(Place::FIRST, move |connection| {
            look(&Look(connection)).map_err(|failed| failed.0)
        })
        .await
    }

    /// The same where it is called, waiting for the disk: for a start.
    ///
    /// # Errors
    /// [`StoreError`]
    pub fn look_now<T>(
        &self,
        look: impl FnOnce(&Look<'_>) -> Result<T, Failed>,
    ) -> Result<T, StoreError> {
        self.whole()?;
        let connection = open::reader(&self.path).map_err(unavailable)?;
        look(&Look(&connection)).map_err(|failed| sql::store_error(failed.0))
    }

    /// The whole store as it is now. Waits for the disk.
    ///
    /// # Errors
    /// [`StoreError`]
    pub fn snapshot(&self) -> Result<Snapshot, StoreError> {
        self.whole()?;
        if self.writes.is_closed() {
            return Err(refused(Refused::Closed));
        }
        let connection = open::reader(&self.path).map_err(unavailable)?;
        connection
            .execute_batch("BEGIN")
            .map_err(sql::store_error)?;
        let snapshot = Snapshot {
            connection,
            after: None,
        };
        // The first read is what the transaction begins with.
        snapshot.version()?;
        Ok(snapshot)
    }

    /// Whether changes come from the consensus.
    ///
    /// # Errors
    /// [`StoreError`]
    pub fn is_replicated(&self) -> Result<bool, StoreError> {
        self.look_now(|look| Ok(is_replicated(look.0)?))
    }
}

fn unavailable(error: crate::OpenError) -> StoreError {
    StoreError::Unavailable(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Op, Store, Table, sqlite::Options};
    use tokio::sync::oneshot;

    struct Task<F>(F, bool, Option<oneshot::Sender<Result<(), StoreError>>>);

    impl<F: FnMut(&mut Space<'_>) -> Result<(), Failed> + Send> Work for Task<F> {
        fn run(&mut self, space: &mut Space<'_>) -> Result<(), Failed> {
            (self.0)(space)
        }
        fn is_flushed(&self) -> bool {
            self.1
        }
        fn done(mut self: Box<Self>, result: Result<(), StoreError>) {
            if let Some(reply) = self.2.take() {
                drop(reply.send(result));
            }
        }
    }

    async fn work(
        store: &SqliteStore,
        flushed: bool,
        run: impl FnMut(&mut Space<'_>) -> Result<(), Failed> + Send + 'static,
    ) {
        let (reply, answer) = oneshot::channel();
        let task = Task(run, flushed, Some(reply));
        store.work(Box::new(task)).expect("is queued");
        answer.await.expect("is answered").expect("is done");
    }

    fn put(id: &str) -> Change {
        Change::new(Op::Put {
            key: Key::new(Table::User, id),
            value: id.into(),
            end: None,
        })
    }

    async fn version(store: &SqliteStore, id: &str) -> u64 {
        let key = Key::new(Table::User, id);
        let row = store.get(&key, 1).await.expect("answers");
        row.expect("is there").version
    }

    #[tokio::test]
    async fn a_replicated_store_takes_changes_from_the_consensus_alone_and_counts_them_exactly() {
        let directory = tempfile::tempdir().expect("a directory");
        let open = || SqliteStore::open(directory.path(), Options::default()).expect("opens");
        let store = open();
        store.commit(put("before"), 1).await.expect("answers");
        work(&store, true, |space| space.set_replicated(true)).await;
        for _ in 0..2 {
            let refused = store.commit(put("a"), 1).await;
            assert!(matches!(refused, Err(StoreError::Invalid(REPLICATED))));
        }
        work(&store, false, |space| space.change(&put("a"), 1).map(drop)).await;
        store.close();
        let store = open();
        let refused = store.commit(put("a"), 1).await;
        assert!(matches!(refused, Err(StoreError::Invalid(REPLICATED))));
        work(&store, false, |space| space.change(&put("b"), 1).map(drop)).await;
        let (before, a, b) = (
            version(&store, "before").await,
            version(&store, "a").await,
            version(&store, "b").await,
        );
        assert!(before < a, "{before} {a}");
        assert_eq!(a + 1, b);
        work(&store, true, |space| space.set_replicated(false)).await;
        store.commit(put("c"), 1).await.expect("answers");
        assert!(version(&store, "c").await > b);
    }

    #[tokio::test]
    async fn a_snapshot_is_of_one_moment_and_replaces_everything() {
        let (one, two) = (
            tempfile::tempdir().expect("a directory"),
            tempfile::tempdir().expect("a directory"),
        );
        let open = |directory: &tempfile::TempDir| {
            SqliteStore::open(directory.path(), Options::default()).expect("opens")
        };
        let (from, to) = (open(&one), open(&two));
        for number in 0..50 {
            from.commit(put(&format!("{number}")), 1)
                .await
                .expect("answers");
        }
        to.commit(put("old"), 1).await.expect("answers");
        work(&from, true, |space| space.set_note(b"state/a", b"1")).await;
        work(&to, true, |space| {
            space.set_note(b"state/b", b"2")?;
            space.set_note(b"vote", b"3")
        })
        .await;
        let mut snapshot = from.snapshot().expect("reads");
        from.commit(put("late"), 1).await.expect("answers");
        work(&to, false, |space| space.stage()).await;
        let mut count = 0;
        loop {
            let rows = snapshot.rows(200).expect("reads");
            if rows.is_empty() {
                break;
            }
            count += rows.len();
            work(&to, false, move |space| {
                rows.iter().try_for_each(|row| space.stage_row(row))
            })
            .await;
        }
        assert_eq!(count, 50);
        let (at, notes) = (
            snapshot.version().expect("reads"),
            snapshot.notes().expect("reads"),
        );
        assert_eq!(notes, [(b"state/a".to_vec(), b"1".to_vec())]);
        work(&to, true, move |space| space.install(at, &notes)).await;
        let page = |store| async move {
            let store: &SqliteStore = store;
            let rows = store.page(Table::User, None, 99, 1).await.expect("answers");
            rows.into_iter()
                .map(|(key, row)| (key.partition, row))
                .collect::<Vec<_>>()
        };
        let (mut whole, copy) = (page(&from).await, page(&to).await);
        whole.retain(|(name, _)| name != b"late");
        assert_eq!(whole, copy);
        let notes = to
            .look(|look| Ok((look.note(b"state/b")?, look.note(b"vote")?)))
            .await;
        assert_eq!(notes.expect("reads"), (None, Some(b"3".to_vec())));
        to.commit(put("new"), 1).await.expect("answers");
        assert!(version(&to, "new").await > at);
        // And again: names that the engine gives do not collide.
        work(&to, false, |space| space.stage()).await;
        work(&to, true, |space| space.install(1 << 40, &[])).await;
        assert!(page(&to).await.is_empty());
    }
}
