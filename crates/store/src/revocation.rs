//! What has been revoked: in memory for every introspection, durable beside it.
//!
//! A token is dead if its own id, its grant, its session or a grant of the agent chain behind it
//! was revoked, or if it was made at or before the epoch of its user, its client or an agent that
//! acts in it. Reading takes no lock and asks no store. Writing is durable first and visible
//! second, so that a revocation that was answered survives a crash; a failure of the store is an
//! error, never "not revoked".
//!
//! Revocations only grow: of two for one subject the later epoch and the later end hold, in
//! whatever order they come. An entry ends when the longest-lived token that it can concern has
//! expired, so it never outlives its use and never ends before it (the caller hands in that end).
use crate::{
    Change, Key, Op, Outcome, Store, StoreError, Table,
    feed::{Changes, Feed},
    revoked::{PAGE, Revoked, Subject, epoch_of, key_of, put, read},
};
use signet_revocation::{GrantId, Index, Jti, RevocationQuery};
use std::sync::{
    Arc, OnceLock,
    atomic::{AtomicU64, Ordering::SeqCst},
};

/// Who tells other nodes what was revoked here.
pub trait Announce: Send + Sync {
    /// What the change of a revocation writes with it, so that nodes that do not hear of it can
    /// read it; unconditional operations. One at most, so that there is room for it in every
    /// change.
    fn row(&self, revoked: &[Revoked], now: u64) -> Option<Op>;

    /// It is durable, and in effect on this node. Never waits.
    fn durable(&self, revoked: &[Revoked]);
}

/// All revocations of the server.
pub struct RevocationIndex {
    store: Arc<dyn Store>,
    changes: Changes,
    index: Index<Jti, GrantId, [u8; 32], String>,
    /// The latest epoch of all, Unix milliseconds.
    latest_ms: AtomicU64,
    announce: OnceLock<Arc<dyn Announce>>,
}

impl RevocationIndex {
    /// Reads every revocation that has not ended. Nothing may be answered before this has
    /// succeeded.
    ///
    /// # Errors
    /// The store's. An entry that cannot be read is an error: what it revoked must not come alive.
    pub async fn load(store: Arc<dyn Store>, now: u64) -> Result<RevocationIndex, StoreError> {
        let index = RevocationIndex::unread(store);
        index.reload(now).await?;
        Ok(index)
    }

    /// One that has read nothing: nothing may be answered by it.
    pub fn unread(store: Arc<dyn Store>) -> RevocationIndex {
        RevocationIndex {
            store,
            changes: Changes::new(),
            index: Index::default(),
            latest_ms: AtomicU64::new(0),
            announce: OnceLock::new(),
        }
    }

    /// Takes in every revocation of the store: where changes of other nodes may have been missed.
    ///
    /// # Errors
    /// As [`RevocationIndex::load`].
    pub async fn reload(&self, now: u64) -> Result<(), StoreError> {
        let mut after: Option<Key> = None;
        loop {
            let page = self
                .store
                .page(Table::Revocation, after.as_ref(), PAGE, now)
                .await?;
            for (key, row) in &page {
                self.apply(read(key, row)?);
            }
            if page.len() < PAGE {
                return Ok(());
            }
            after = page.into_iter().next_back().map(|(key, _)| key);
        }
    }

    /// From now on other nodes are notified, by this. Once.
    pub fn announce_by(&self, announce: Arc<dyn Announce>) {
        // A second one is refused: changes under way may hold the first.
        let _ = self.announce.set(announce);
    }

    /// Puts a durable revocation in effect: here, and for whoever follows. Whether it says
    /// anything that was not known.
    pub fn apply(&self, revoked: Revoked) -> bool {
        let Revoked { subject, end } = revoked;
        if self.holds(&subject, end) {
            return false;
        }
        self.latest_ms
            .fetch_max(subject.epoch_ms().unwrap_or(0), SeqCst);
        self.index.revoke(subject.clone(), end);
        self.changes.tell(subject, end);
        true
    }

    /// The latest epoch that anything was revoked up to, Unix milliseconds; 0 where nothing was.
    /// One that lies in the future is of a clock that is, or was, ahead.
    pub fn latest_epoch_ms(&self) -> u64 {
        self.latest_ms.load(SeqCst)
    }

    /// Whether this, or more, is known of the subject.
    pub fn holds(&self, subject: &Subject, end: u64) -> bool {
        let known = self.index.known(subject);
        known.is_some_and(|(epoch_ms, known_end)| {
            epoch_ms >= subject.epoch_ms().unwrap_or(0) && known_end >= end
        })
    }

    /// Whether a revocation that says less than what is known of its subject is superseded by it.
    pub fn supersedes(&self, subject: &Subject, end: u64) -> bool {
        let known = self.index.known(subject);
        known.is_some_and(|(epoch_ms, known_end)| {
            let own_epoch_ms = subject.epoch_ms().unwrap_or(0);
            epoch_ms >= own_epoch_ms
                && known_end >= end
                && (epoch_ms, known_end) != (own_epoch_ms, end)
        })
    }

    /// Revokes. `end` (Unix seconds): when the last token that this can concern has expired.
    /// Returns when it is durable and in effect on this node; others are being told. Doing it twice
    /// is harmless; the later epoch and the later end hold.
    ///
    /// # Errors
    /// The store's; then nothing was revoked, and the caller must not answer that it was.
    pub async fn revoke(&self, subject: Subject, end: u64, now: u64) -> Result<(), StoreError> {
        if let Some(revoked) = self.revoke_here(subject, end, now).await?
            && let Some(announce) = self.announce.get()
        {
            announce.durable(&[revoked]);
        }
        Ok(())
    }

    /// As [`RevocationIndex::revoke`], for a caller who tells other nodes: what is to be announced.
    /// None where whatever it concerned has expired.
    ///
    /// # Errors
    /// As there.
    pub async fn revoke_here(
        &self,
        subject: Subject,
        end: u64,
        now: u64,
    ) -> Result<Option<Revoked>, StoreError> {
        if end <= now {
            return Ok(None);
        }
        let key = key_of(&subject);
        let own_epoch_ms = subject.epoch_ms().unwrap_or(0);
        let mut known = self.store.get(&key, now).await?;
        loop {
            let (epoch_ms, end) = match &known {
                Some(row) => (
                    epoch_of(row)?.max(own_epoch_ms),
                    row.end.unwrap_or(end).max(end),
                ),
                None => (own_epoch_ms, end),
            };
            // A row that is wider than what is revoked now may be another node's, whose word may
            // not have come here: what is in effect and told is what the row says.
            let subject = subject.clone().with_epoch(epoch_ms);
            let revoked = Revoked { subject, end };
            let (key, value, end) = (key.clone(), epoch_ms.to_be_bytes().to_vec(), Some(end));
            let op = match known {
                Some(row) => Op::Replace {
                    key,
                    version: row.version,
                    value,
                    end,
                },
                None => Op::Insert { key, value, end },
            };
            let announce = self.announce.get();
            let row = announce.and_then(|by| by.row(std::slice::from_ref(&revoked), now));
            let change = Change {
                first: op,
                then: row.into_iter().collect(),
            };
            match self.store.commit(change, now).await? {
                Outcome::Done { .. } => {
                    self.apply(revoked.clone());
                    return Ok(Some(revoked));
                }
                // Somebody else revoked the same at the same moment: theirs and ours are joined.
                Outcome::Refused(row) => known = row,
            }
        }
    }

    /// Commits a change and, in the same change, what is revoked with it: after a crash both are
    /// there or neither is. Where the change is refused nothing is revoked. At most
    /// [`MAX_THEN`](crate::MAX_THEN) further writes in all.
    ///
    /// # Errors
    /// The store's; then the caller must not answer that anything was done.
    pub async fn commit_with(
        &self,
        mut change: Change,
        revoked: Vec<Revoked>,
        now: u64,
    ) -> Result<Outcome, StoreError> {
        let lasting = revoked.into_iter().filter(|revoked| revoked.end > now);
        let lasting: Vec<Revoked> = lasting.collect();
        let rows = lasting
            .iter()
            .map(|revoked| put(&revoked.subject, revoked.end));
        change.then.extend(rows);
        let announce = self.announce.get().filter(|_| !lasting.is_empty());
        change
            .then
            .extend(announce.and_then(|by| by.row(&lasting, now)));
        let outcome = self.store.commit(change, now).await?;
        if outcome.is_done() {
            for revoked in &lasting {
                self.apply(revoked.clone());
            }
            if let Some(announce) = announce {
                announce.durable(&lasting);
            }
        }
        Ok(outcome)
    }

    /// Begins to follow.
    pub fn follow(&self) -> Feed {
        Feed::new(self.store.clone(), &self.changes)
    }

    /// Whether the token is revoked. An entry counts until it is swept: by then everything that it
    /// concerned has expired.
    pub fn is_revoked(&self, token: &RevocationQuery<'_>) -> bool {
        self.index.is_revoked(token)
    }

    /// Forgets expired entries, in memory; the store sweeps its own rows.
    pub fn sweep(&self, now: u64) {
        self.index.sweep_before(now.saturating_add(1));
    }

    /// How many entries are held.
    pub fn len(&self) -> usize {
        self.index.len()
    }

    /// Whether nothing is revoked.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
