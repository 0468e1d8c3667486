//! Notes what is written to the registry, so that other nodes learn of it.
//!
//! Where several nodes write one store, the change of a record takes two rows along: the stamps of
//! the record's members ([`Table::Stamps`], the state that merges), and its line of the change log
//! ([`changelog`]). When the change is durable, it is announced to the other nodes at once
//! ([`Tell`]); who is not reached reads the log.
//!
//! The record's own row stays what it is on a single node. Where the two disagree (a binary that
//! knows no stamps wrote the row) the row holds, and every node makes the same state of it.
use crate::{changelog, delta::Delta, fields, kinds::RecordKind};
/// So the order of the store's changes is that of the stamps, whatever the clocks say.
use signet_merge::hlc::after;
use signet_merge::{
    crdt::{MAX_RECORD_BYTES, Record},
    entry::Entry,
    hlc::Stamp,
    tell::{BoxFuture, Receipt, Tell},
};
use signet_store::NodeId;
use signet_store::{Announce, Key, Op, RealmId, Revoked, Row, Store, StoreError, Table};
use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering::SeqCst},
};

/// How often a record that others keep writing is read again.
const MAX_TRIES: usize = 16;

/// Bytes of the records of a line of the change log, beside which another record makes a new line.
const MAX_LINE_BYTES: usize = 256 * 1024;

/// What a change writes and tells. Empty on a node that is the only one.
#[derive(Clone, Default, Debug)]
pub struct Noted {
    stamps: Vec<Op>,
    entries: Vec<Entry>,
    deltas: Vec<Delta>,
}

impl Noted {
    /// Together with another one of the same change.
    pub fn add(&mut self, other: Noted) {
        self.stamps.extend(other.stamps);
        self.entries.extend(other.entries);
        self.deltas.extend(other.deltas);
    }

    /// What the change means for this node's memory; none on a node that is the only one.
    pub fn deltas(&self) -> Vec<Delta> {
        self.deltas.clone()
    }
}

/// See the module. One for each realm of a node.
pub struct ChangeWriter {
    realm: RealmId,
    tell: Arc<dyn Tell>,
    shared: AtomicBool,
    log: changelog::Writer,
}

impl ChangeWriter {
    /// For a realm. Until [`ChangeWriter::share`] the node is the only one that writes its store.
    pub fn new(realm: RealmId, tell: Arc<dyn Tell>) -> Arc<ChangeWriter> {
        Arc::new(ChangeWriter {
            realm,
            tell,
            shared: AtomicBool::new(false),
            log: changelog::Writer::default(),
        })
    }

    /// From now on several nodes write the store. What is in memory was not noted: read it again
    /// after this.
    pub fn share(&self) {
        self.shared.store(true, SeqCst);
    }

    /// Whether several nodes write the store.
    pub fn is_shared(&self) -> bool {
        self.shared.load(SeqCst)
    }

    /// This node's name in stamps.
    pub fn node(&self) -> NodeId {
        self.tell.stamp().node
    }

    /// Whose realm it is.
    pub fn realm(&self) -> &RealmId {
        &self.realm
    }

    /// What counts this node's lines of the change log.
    pub fn log(&self) -> &changelog::Writer {
        &self.log
    }

    fn entry(&self, kind: RecordKind, name: &[u8], fragment: Vec<u8>, end: Option<u64>) -> Entry {
        Entry {
            realm: self.realm.as_str().to_owned(),
            kind: kind.row().number,
            name: name.to_vec(),
            fragment,
            end,
        }
    }

    /// What the change of a record writes and tells. `known`: its row as it was read, on whose
    /// version the change is conditional; `value`: what is written; none: it is removed.
    ///
    /// # Errors
    /// The store's; also where a stored record cannot be read.
    pub async fn note(
        &self,
        store: &dyn Store,
        kind: RecordKind,
        name: &str,
        known: Option<&[u8]>,
        value: Option<&[u8]>,
        now: u64,
    ) -> Result<Noted, StoreError> {
        if !self.is_shared() {
            return Ok(Noted::default());
        }
        let row = store.get(&stamps_key(kind, name), now).await?;
        let mut state = reconciled(kind, row.as_ref(), known)?;
        let stamp = after(state.newest(), self.tell.stamp());
        fields::write(&mut state, kind, value, &stamp).map_err(corrupt)?;
        let mut bytes = state.to_bytes();
        if bytes.len() > MAX_RECORD_BYTES / 2 {
            // What was removed over the years outweighs what is there.
            state.renew(&after(Some(&stamp), stamp.clone()));
            bytes = state.to_bytes();
        }
        if bytes.len() > MAX_RECORD_BYTES {
            return Err(StoreError::TooLarge);
        }
        // A removal is remembered for as long as a late word of the record may come.
        let end = value.is_none().then(|| {
            let remembered = crate::merged::REMEMBERED_MS / 1000;
            now.saturating_add(remembered)
        });
        Ok(Noted {
            stamps: vec![Op::Put {
                key: stamps_key(kind, name),
                value: bytes.clone(),
                end,
            }],
            entries: vec![self.entry(kind, name.as_bytes(), bytes, end)],
            deltas: vec![Delta::Heard {
                kind,
                name: name.to_owned(),
                state,
                stored: true,
            }],
        })
    }

    /// Records as they are, for nodes that may not know them.
    pub fn restated<'a>(
        &self,
        states: impl IntoIterator<Item = (RecordKind, &'a str, &'a Record)>,
    ) -> Noted {
        let entries = states
            .into_iter()
            .map(|(kind, name, state)| self.entry(kind, name.as_bytes(), state.to_bytes(), None));
        Noted {
            entries: entries.collect(),
            ..Noted::default()
        }
    }

    /// The rows that go with the change.
    pub fn rows(&self, noted: &Noted, now: u64) -> Vec<Op> {
        if noted.entries.is_empty() {
            return Vec::new();
        }
        let mut rows = noted.stamps.clone();
        rows.extend(self.lines(&noted.entries, now));
        rows
    }

    /// Lines of the change log that have these entries, each of a size that a row may have.
    fn lines(&self, entries: &[Entry], now: u64) -> Vec<Op> {
        let mut lines = Vec::new();
        let (mut from, mut bytes) = (0, 0);
        for (at, entry) in entries.iter().enumerate() {
            let own = entry.name.len() + entry.fragment.len();
            let full = bytes + own > MAX_LINE_BYTES || at - from == changelog::MAX_ENTRIES;
            if full && at > from {
                lines.push(self.line(&entries[from..at], now));
                (from, bytes) = (at, 0);
            }
            bytes += own;
        }
        lines.push(self.line(&entries[from..], now));
        lines
    }

    /// A line of the change log. It is kept from the later of both clocks on: where the wall clock
    /// is behind, the others would take the line for one that has ended.
    fn line(&self, entries: &[Entry], now: u64) -> Op {
        let stamp = self.tell.stamp();
        self.log.row(&stamp.node, entries, now.max(stamp.ms / 1000))
    }

    /// Tells the other nodes what is durable. Begins at once; the future ends when they have
    /// acknowledged it.
    pub fn tell(&self, noted: Noted) -> BoxFuture<'static, Receipt> {
        if noted.entries.is_empty() {
            return Box::pin(std::future::ready(Receipt::default()));
        }
        self.tell.tell(noted.entries)
    }

    /// Tells the other nodes of revocations that are durable.
    pub fn tell_revoked(&self, revoked: &[Revoked]) -> BoxFuture<'static, Receipt> {
        if revoked.is_empty() || !self.is_shared() {
            return Box::pin(std::future::ready(Receipt::default()));
        }
        self.tell.tell(self.revocations(revoked))
    }

    fn revocations(&self, revoked: &[Revoked]) -> Vec<Entry> {
        let entry = |revoked: &Revoked| {
            let (name, fragment) = revoked.to_parts();
            self.entry(
                RecordKind::Revocation,
                &name,
                fragment.to_vec(),
                Some(revoked.end),
            )
        };
        revoked.iter().map(entry).collect()
    }

    /// A change whose line of the log may have come later than readers look for it: it was decided
    /// at `begun` (Unix seconds) and is durable now. The lines to write once more, where that is
    /// so.
    pub fn again(&self, noted: &Noted, begun: u64, now: u64) -> Vec<Op> {
        let late = now.saturating_sub(begun) > changelog::LATE;
        match late && !noted.entries.is_empty() {
            true => self.lines(&noted.entries, now),
            false => Vec::new(),
        }
    }

    /// The state of one record as the store has it now, with its row: read together.
    ///
    /// # Errors
    /// The store's; also where a stored record cannot be read.
    pub async fn stored(
        store: &dyn Store,
        kind: RecordKind,
        name: &str,
        now: u64,
    ) -> Result<(Record, Option<Row>), StoreError> {
        let (stamps_key, row_key) = (stamps_key(kind, name), kind.key(name));
        let mut stamps = store.get(&stamps_key, now).await?;
        for _ in 0..MAX_TRIES {
            let row = store.get(&row_key, now).await?;
            let again = store.get(&stamps_key, now).await?;
            let version = |row: &Option<Row>| row.as_ref().map(|row| row.version);
            if version(&stamps) == version(&again) {
                let value = row.as_ref().map(|row| row.value.as_slice());
                let state = reconciled(kind, stamps.as_ref(), value)?;
                return Ok((state, row));
            }
            stamps = again;
        }
        Err(StoreError::Unavailable(
            "a record is being changed by others".to_owned(),
        ))
    }
}

impl Announce for ChangeWriter {
    fn row(&self, revoked: &[Revoked], now: u64) -> Option<Op> {
        self.is_shared()
            .then(|| self.line(&self.revocations(revoked), now))
    }

    fn durable(&self, revoked: &[Revoked]) {
        // It begins at once; whoever wants to know who heard it asks for the receipt.
        drop(self.tell_revoked(revoked));
    }
}

fn corrupt(error: fields::Unreadable) -> StoreError {
    StoreError::Corrupt(error.to_string())
}

/// Where the stamps of a record are.
pub fn stamps_key(kind: RecordKind, name: &str) -> Key {
    let mut partition = vec![kind.row().number];
    partition.extend_from_slice(name.as_bytes());
    Key::new(Table::Stamps, partition)
}

/// The kind and name that a row of stamps is of.
pub fn stamped(key: &Key) -> Option<(RecordKind, String)> {
    let (number, name) = key.partition.split_first()?;
    let name = String::from_utf8(name.to_vec()).ok()?;
    Some((RecordKind::of_number(*number)?, name))
}

/// The state that a record's two rows say. Every node makes the same of the same rows.
///
/// # Errors
/// A row that cannot be read.
pub fn reconciled(
    kind: RecordKind,
    stamps: Option<&Row>,
    row: Option<&[u8]>,
) -> Result<Record, StoreError> {
    let unreadable = |_| StoreError::Corrupt("the stamps of a record".to_owned());
    let mut state = match stamps {
        Some(stamps) => Record::from_bytes(&stamps.value).map_err(unreadable)?,
        None => Record::new(),
    };
    let said = fields::read(&state, kind).map_err(corrupt)?;
    let agree = match (&said, row) {
        (Some(said), Some(row)) => fields::same(said, row),
        (None, None) => true,
        (Some(_), None) | (None, Some(_)) => false,
    };
    if !agree {
        // Older than anything that a node writes itself.
        let first = Stamp {
            ms: 0,
            seq: 0,
            node: NodeId::default(),
        };
        let stamp = after(state.newest(), first);
        fields::write(&mut state, kind, row, &stamp).map_err(corrupt)?;
    }
    Ok(state)
}
