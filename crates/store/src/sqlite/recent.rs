//! Rows that were read a moment ago, so that a request which reads the same session, person and
//! consent as the one before it asks the engine for none of them: a read there takes two locks
//! that all threads share, and two calls of the system.
//!
//! Only tables whose rows are read much more often than they are written are kept
//! (`Table::is_kept`). What is found here is what the engine would have said:
//!
//! - The writer takes a row out before it commits a change of it, and nobody puts one back until
//!   the change is done. So nobody finds the old one here who could have read another row of the
//!   same change in its new state.
//! - A row that was read before a change and comes here after it is not kept.
//! - A row is not given out at or after its end, nor after a sweep of that time.
//!
//! What may happen once is decided by conditional changes, never by what is here.
use crate::{Change, Key, Row};
use std::{
    collections::{HashMap, HashSet},
    hash::{BuildHasher, RandomState},
    mem,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{
            AtomicU64,
            Ordering::{Acquire, Release},
        },
    },
};

/// Most bytes of rows that the embedded store keeps in memory, keys included
const MAX_KEPT: usize = 8 * 1024 * 1024;

/// Parts that are locked apart.
const SHARDS: usize = 64;

/// What a row takes beside its bytes: the map's slot, and three allocations.
const OVERHEAD: usize = 160;

/// See the module.
pub(super) struct Recent {
    hasher: RandomState,
    shards: Box<[Mutex<Shard>]>,
    /// Rows that end up to here were swept.
    swept: AtomicU64,
}

#[derive(Default)]
struct Shard {
    /// Asked for since the older ones were last dropped.
    newer: HashMap<Key, Row>,
    newer_bytes: usize,
    /// Dropped together, unless they are asked for before.
    older: HashMap<Key, Row>,
    /// Keys of the transaction that is open.
    changing: HashSet<Key>,
    /// All of them are.
    all: bool,
    /// Grows with each transaction that changed something here.
    changes: u64,
}

/// What was found of a key.
pub(super) enum Found {
    /// The row.
    Row(Row),
    /// Nothing. What the engine says may be kept with this; None: it may not.
    Nothing(Option<Ticket>),
}

/// Of a read that began: at which change of its shard.
#[derive(Clone, Copy)]
pub(super) struct Ticket {
    shard: usize,
    changes: u64,
}

impl Default for Recent {
    fn default() -> Recent {
        Recent {
            hasher: RandomState::new(),
            shards: (0..SHARDS).map(|_| Mutex::default()).collect(),
            swept: AtomicU64::new(0),
        }
    }
}

fn size(key: &Key, row: &Row) -> usize {
    key.partition.len() + key.sort.len() + row.value.len() + OVERHEAD
}

impl Recent {
    fn at(&self, shard: usize) -> MutexGuard<'_, Shard> {
        // What is in it is whole after every statement: a panic elsewhere leaves it usable.
        self.shards[shard]
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn shard_of(&self, key: &Key) -> usize {
        self.hasher.hash_one(key) as usize % SHARDS
    }

    /// The row of a key, if it was read a moment ago and lives at `now`.
    pub(super) fn find(&self, key: &Key, now: u64) -> Found {
        if !key.table.is_kept() {
            return Found::Nothing(None);
        }
        let number = self.shard_of(key);
        let mut shard = self.at(number);
        let now = now.max(self.swept.load(Acquire));
        if let Some(row) = shard.newer.get(key) {
            if row.lives(now) {
                return Found::Row(row.clone());
            }
            return Found::Nothing(None);
        }
        if let Some(row) = shard.older.remove(key)
            && row.lives(now)
        {
            let found = row.clone();
            shard.keep(key.clone(), row);
            return Found::Row(found);
        }
        let ticket = Ticket {
            shard: number,
            changes: shard.changes,
        };
        Found::Nothing((!shard.is_changing(key)).then_some(ticket))
    }

    /// Keeps what the engine said of a key, unless a change came between.
    pub(super) fn keep(&self, ticket: Ticket, key: &Key, row: &Row) {
        let mut shard = self.at(ticket.shard);
        if shard.changes == ticket.changes
            && !shard.is_changing(key)
            && size(key, row) <= MAX_KEPT / SHARDS / 4
        {
            shard.keep(key.clone(), row.clone());
        }
    }

    /// Before the transaction that changes it is committed.
    fn take_out(&self, key: &Key) -> Option<usize> {
        if !key.table.is_kept() {
            return None;
        }
        let number = self.shard_of(key);
        let mut shard = self.at(number);
        if let Some(row) = shard.newer.remove(key) {
            shard.newer_bytes -= size(key, &row);
        }
        shard.older.remove(key);
        shard.changing.insert(key.clone());
        Some(number)
    }

    fn take_out_all(&self) {
        for number in 0..SHARDS {
            let mut shard = self.at(number);
            *shard = Shard {
                all: true,
                changes: shard.changes,
                ..Shard::default()
            };
        }
    }

    /// Keeps nothing any more.
    pub(super) fn close(&self) {
        self.take_out_all();
    }
}

impl Shard {
    fn is_changing(&self, key: &Key) -> bool {
        self.all || self.changing.contains(key)
    }

    fn keep(&mut self, key: Key, row: Row) {
        let bytes = size(&key, &row);
        if self.newer_bytes + bytes > MAX_KEPT / SHARDS / 2 {
            self.older = mem::take(&mut self.newer);
            self.newer_bytes = 0;
        }
        self.newer_bytes += bytes;
        if let Some(before) = self.newer.insert(key.clone(), row) {
            self.newer_bytes -= size(&key, &before);
        }
    }
}

/// What the open transaction changes of the rows that are kept. One writer has it.
pub(super) struct Changing {
    recent: Arc<Recent>,
    /// Bit by shard.
    shards: u64,
}

const _: () = assert!(SHARDS == u64::BITS as usize, "a bit for each shard");

impl Changing {
    pub(super) fn new(recent: Arc<Recent>) -> Changing {
        Changing { recent, shards: 0 }
    }

    /// A row that is changed, or may be.
    pub(super) fn row(&mut self, key: &Key) {
        if let Some(shard) = self.recent.take_out(key) {
            self.shards |= 1 << shard;
        }
    }

    /// The rows of a change, whether or not its condition holds.
    pub(super) fn change(&mut self, change: &Change) {
        self.row(change.first.key());
        change.then.iter().for_each(|op| self.row(op.key()));
    }

    /// All rows are.
    pub(super) fn all(&mut self) {
        self.recent.take_out_all();
        self.shards = u64::MAX;
    }

    /// What ended up to `now` goes.
    pub(super) fn sweep(&mut self, now: u64) {
        self.recent.swept.fetch_max(now, Release);
    }

    /// The transaction was committed, or rolled back.
    pub(super) fn done(&mut self) {
        let mut shards = mem::take(&mut self.shards);
        while shards != 0 {
            let mut shard = self.recent.at(shards.trailing_zeros() as usize);
            shard.changing.clear();
            shard.all = false;
            shard.changes += 1;
            shards &= shards - 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Table;

    fn key(id: &str) -> Key {
        Key::new(Table::Session, id)
    }

    fn row(version: u64, end: Option<u64>) -> Row {
        Row {
            value: vec![7; 100],
            version,
            end,
        }
    }

    fn found(recent: &Recent, id: &str, now: u64) -> Option<u64> {
        match recent.find(&key(id), now) {
            Found::Row(row) => Some(row.version),
            Found::Nothing(_) => None,
        }
    }

    fn ticket(recent: &Recent, key: &Key) -> Option<Ticket> {
        match recent.find(key, 1) {
            Found::Row(_) => panic!("is kept already"),
            Found::Nothing(ticket) => ticket,
        }
    }

    fn read(recent: &Recent, id: &str, row: &Row) {
        let key = key(id);
        if let Some(ticket) = ticket(recent, &key) {
            recent.keep(ticket, &key, row);
        }
    }

    #[test]
    fn a_row_that_was_read_is_found_until_it_is_changed() {
        let recent = Arc::new(Recent::default());
        let mut changing = Changing::new(recent.clone());
        read(&recent, "a", &row(1, None));
        assert_eq!(found(&recent, "a", 1), Some(1));
        changing.row(&key("a"));
        assert_eq!(found(&recent, "a", 1), None);
        // Not while the change is under way, whatever was read.
        read(&recent, "a", &row(1, None));
        assert_eq!(found(&recent, "a", 1), None);
        changing.done();
        read(&recent, "a", &row(2, None));
        assert_eq!(found(&recent, "a", 1), Some(2));
    }

    #[test]
    fn what_was_read_before_a_change_is_not_kept_after_it() {
        let recent = Arc::new(Recent::default());
        let mut changing = Changing::new(recent.clone());
        let key = key("a");
        let before = ticket(&recent, &key).expect("a ticket");
        changing.row(&key);
        recent.keep(before, &key, &row(1, None));
        assert_eq!(found(&recent, "a", 1), None);
        changing.done();
        recent.keep(before, &key, &row(1, None));
        assert_eq!(found(&recent, "a", 1), None);
    }

    #[test]
    fn a_row_is_not_found_at_its_end_nor_after_a_sweep_of_that_time() {
        let recent = Arc::new(Recent::default());
        let mut changing = Changing::new(recent.clone());
        read(&recent, "a", &row(1, Some(100)));
        assert_eq!(found(&recent, "a", 99), Some(1));
        assert_eq!(found(&recent, "a", 100), None);
        changing.sweep(100);
        assert_eq!(found(&recent, "a", 99), None);
    }

    #[test]
    fn other_tables_are_not_kept_and_nothing_is_once_all_rows_change() {
        let recent = Arc::new(Recent::default());
        let mut changing = Changing::new(recent.clone());
        assert!(ticket(&recent, &Key::new(Table::Once, "a")).is_none());
        read(&recent, "a", &row(1, None));
        changing.all();
        assert_eq!(found(&recent, "a", 1), None);
        assert!(ticket(&recent, &key("a")).is_none());
        changing.done();
        read(&recent, "a", &row(2, None));
        assert_eq!(found(&recent, "a", 1), Some(2));
        recent.close();
        read(&recent, "a", &row(2, None));
        assert_eq!(found(&recent, "a", 1), None);
    }

    #[test]
    fn memory_is_bounded_and_what_is_asked_for_stays() {
        let recent = Recent::default();
        let each = row(1, None);
        read(&recent, "often", &each);
        for number in 0..200_000 {
            read(&recent, &number.to_string(), &each);
            assert_eq!(found(&recent, "often", 1), Some(1));
        }
        let kept: usize = (0..SHARDS)
            .map(|number| {
                let shard = recent.at(number);
                let newer = shard.newer.iter().map(|(key, row)| size(key, row));
                let newer: usize = newer.sum();
                assert_eq!(newer, shard.newer_bytes);
                let older = shard.older.iter().map(|(key, row)| size(key, row));
                newer + older.sum::<usize>()
            })
            .sum();
        assert!(kept <= MAX_KEPT, "{kept}");
        assert!(kept > MAX_KEPT / 4, "{kept}");
        // One row does not push out all others.
        let large = Row {
            value: vec![0; MAX_KEPT / SHARDS],
            ..each
        };
        read(&recent, "large", &large);
        assert_eq!(found(&recent, "large", 1), None);
    }
}
