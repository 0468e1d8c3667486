//! The log of the consensus, in the store's own file.
//!
//! What was appended is read from memory: the last entries are kept there until they are flushed,
//! and some thousands longer, because the other nodes and the rows want them next.
use crate::{
    codec::Reader,
    task::{Until, io_error, queue, work},
    types::{Entry, LogId, Types, Vote, read, written},
};
use openraft::{
    OptionalSend,
    storage::{IOFlushed, LogState, RaftLogReader, RaftLogStorage},
};
use signet_store::{SqliteStore, StoreError};
use std::{
    collections::BTreeMap,
    fmt::Debug,
    io,
    ops::{Bound, RangeBounds},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering::SeqCst},
    },
};

/// The vote, as this node last gave it.
pub(crate) const VOTE: &[u8] = b"vote";
/// The last entry that was removed because the rows hold it.
pub(crate) const PURGED: &[u8] = b"purged";

/// Entries of the log that are kept in memory
const MAX_KEPT: usize = 4096;

/// Bytes of entries of the log that are kept in memory
const MAX_KEPT_BYTES: usize = 16 << 20;

/// Entries that are sent to another node at once
const MAX_SENT: u64 = 256;

/// Bytes of entries that are sent to another node at once, where it is more than one
const MAX_SENT_BYTES: usize = 2 << 20;

struct Kept {
    vote: Option<Vote>,
    purged: Option<LogId>,
    last: Option<LogId>,
    /// The end of the log, without a gap.
    entries: BTreeMap<u64, Entry>,
    bytes: usize,
}

struct Shared {
    store: Arc<SqliteStore>,
    kept: Mutex<Kept>,
    /// Entries below this are on the disk.
    flushed: AtomicU64,
}

/// The log of this node.
#[derive(Clone)]
pub(crate) struct Log(Arc<Shared>);

fn size(entry: &Entry) -> usize {
    match &entry.payload {
        openraft::EntryPayload::Normal(proposed) => proposed.0.len() + 64,
        openraft::EntryPayload::Blank | openraft::EntryPayload::Membership(_) => 64,
    }
}

impl Kept {
    fn cut(&mut self, from: u64) {
        for entry in self.entries.split_off(&from).values() {
            self.bytes -= size(entry);
        }
    }

    fn shed(&mut self, flushed: u64) {
        while (self.entries.len() > MAX_KEPT || self.bytes > MAX_KEPT_BYTES)
            && let Some(first) = self.entries.first_entry()
            && *first.key() < flushed
        {
            self.bytes -= size(&first.remove());
        }
    }
}

impl Log {
    /// The log as it is on the disk.
    pub(crate) fn open(store: Arc<SqliteStore>) -> Result<Log, StoreError> {
        let (vote, purged, last) =
            store.look_now(|look| Ok((look.note(VOTE)?, look.note(PURGED)?, look.last()?)))?;
        let corrupt = |_| StoreError::Corrupt("the log of the consensus cannot be read".into());
        let vote = vote.map(|bytes| read(&bytes, Reader::vote)).transpose();
        let purged = purged.map(|bytes| read(&bytes, Reader::log_id)).transpose();
        let last = last
            .map(|(_, bytes)| read(&bytes, Reader::entry))
            .transpose();
        let (vote, purged, last) = (
            vote.map_err(corrupt)?,
            purged.map_err(corrupt)?,
            last.map_err(corrupt)?,
        );
        let last = last.map(|entry| entry.log_id).max(purged);
        Ok(Log(Arc::new(Shared {
            store,
            flushed: AtomicU64::new(last.map_or(0, |last| last.index + 1)),
            kept: Mutex::new(Kept {
                vote,
                purged,
                last,
                entries: BTreeMap::new(),
                bytes: 0,
            }),
        })))
    }

    // Every step under the lock leaves the entries whole.
    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.0.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The term of the last vote, and the index plus one up to which entries are on the disk.
    pub(crate) fn kept_for_good(&self) -> (u64, u64) {
        let term = self.kept().vote.map_or(0, |vote| vote.leader_id.term);
        (term, self.0.flushed.load(SeqCst))
    }

    /// Entries from `from` up to `to`, that one not included.
    async fn entries(&self, from: u64, to: u64) -> io::Result<Vec<Entry>> {
        let (from_disk_to, mut kept) = {
            let kept = self.kept();
            let entries: Vec<Entry> = match from < to {
                true => kept
                    .entries
                    .range(from..to)
                    .map(|(_, e)| e.clone())
                    .collect(),
                false => Vec::new(),
            };
            let first = entries.first().map_or(to, |entry| entry.log_id.index);
            (first, entries)
        };
        if from >= from_disk_to {
            return Ok(kept);
        }
        let rows = self
            .0
            .store
            .look(move |look| look.log(from, from_disk_to))
            .await
            .map_err(io_error)?;
        let mut entries = rows
            .iter()
            .map(|(_, bytes)| read(bytes, Reader::entry))
            .collect::<Result<Vec<Entry>, _>>()?;
        entries.append(&mut kept);
        Ok(entries)
    }
}

fn bounds(range: &impl RangeBounds<u64>) -> (u64, u64) {
    let from = match range.start_bound() {
        Bound::Included(from) => *from,
        Bound::Excluded(from) => from.saturating_add(1),
        Bound::Unbounded => 0,
    };
    let to = match range.end_bound() {
        Bound::Included(to) => to.saturating_add(1),
        Bound::Excluded(to) => *to,
        Bound::Unbounded => u64::MAX,
    };
    (from, to)
}

impl RaftLogReader<Types> for Log {
    async fn try_get_log_entries<RB: RangeBounds<u64> + Clone + Debug + OptionalSend>(
        &mut self,
        range: RB,
    ) -> Result<Vec<Entry>, io::Error> {
        let (from, to) = bounds(&range);
        self.entries(from, to).await
    }

    async fn read_vote(&mut self) -> Result<Option<Vote>, io::Error> {
        Ok(self.kept().vote)
    }

    async fn limited_get_log_entries(
        &mut self,
        start: u64,
        end: u64,
    ) -> Result<Vec<Entry>, io::Error> {
        let end = end.min(start.saturating_add(MAX_SENT));
        let mut entries = self.entries(start, end).await?;
        let mut bytes = 0;
        let fits = entries.iter().take_while(|entry| {
            bytes += size(entry);
            bytes <= MAX_SENT_BYTES
        });
        let fits = fits.count().max(1);
        entries.truncate(fits);
        Ok(entries)
    }
}

impl RaftLogStorage<Types> for Log {
    type LogReader = Log;

    async fn get_log_state(&mut self) -> Result<LogState<Types>, io::Error> {
        let kept = self.kept();
        Ok(LogState {
            last_purged_log_id: kept.purged,
            last_log_id: kept.last,
        })
    }

    async fn get_log_reader(&mut self) -> Log {
        self.clone()
    }

    async fn save_vote(&mut self, vote: &Vote) -> Result<(), io::Error> {
        let bytes = written(|to| to.vote(vote));
        work(&self.0.store, Until::Flushed, move |space| {
            space.set_note(VOTE, &bytes)
        })
        .await
        .map_err(io_error)?;
        self.kept().vote = Some(*vote);
        Ok(())
    }

    async fn append<I>(&mut self, entries: I, callback: IOFlushed<Types>) -> Result<(), io::Error>
    where
        I: IntoIterator<Item = Entry> + OptionalSend,
        I::IntoIter: OptionalSend,
    {
        let mut rows = Vec::new();
        {
            let mut kept = self.kept();
            for entry in entries {
                let index = entry.log_id.index;
                rows.push((index, written(|to| to.entry(&entry))));
                kept.last = Some(entry.log_id);
                kept.bytes += size(&entry);
                if let Some(before) = kept.entries.insert(index, entry) {
                    kept.bytes -= size(&before);
                }
            }
        }
        let behind = rows.last().map_or(0, |(index, _)| index + 1);
        let shared = self.0.clone();
        queue(
            &self.0.store,
            Until::Flushed,
            move |space| {
                rows.iter()
                    .try_for_each(|(at, entry)| space.append(*at, entry))
            },
            move |result| {
                if result.is_ok() {
                    let flushed = shared.flushed.fetch_max(behind, SeqCst).max(behind);
                    let mut kept = shared.kept.lock().unwrap_or_else(PoisonError::into_inner);
                    kept.shed(flushed);
                }
                callback.io_completed(result.map_err(io_error));
            },
        )
        .map_err(io_error)
    }

    async fn truncate_after(&mut self, last: Option<LogId>) -> Result<(), io::Error> {
        let from = last.map_or(0, |last| last.index + 1);
        {
            let mut kept = self.kept();
            kept.cut(from);
            kept.last = last.max(kept.purged);
        }
        self.0.flushed.fetch_min(from, SeqCst);
        work(&self.0.store, Until::Flushed, move |space| {
            space.truncate(from)
        })
        .await
        .map_err(io_error)
    }

    // Not flushed: it lies behind the rows that hold what is removed, and so is never kept without
    // them.
    async fn purge(&mut self, upto: LogId) -> Result<(), io::Error> {
        {
            let mut kept = self.kept();
            let rest = kept.entries.split_off(&(upto.index + 1));
            for entry in std::mem::replace(&mut kept.entries, rest).values() {
                kept.bytes -= size(entry);
            }
            kept.purged = kept.purged.max(Some(upto));
            kept.last = kept.last.max(Some(upto));
        }
        let bytes = written(|to| to.log_id(&upto));
        work(&self.0.store, Until::Written, move |space| {
            space.purge(upto.index)?;
            space.set_note(PURGED, &bytes)
        })
        .await
        .map_err(io_error)
    }
}
