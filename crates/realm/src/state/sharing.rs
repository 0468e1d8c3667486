//! A realm of one of several nodes: believing what others tell, reading what they did not tell, and
//! telling what was done here.
//!
//! Everything that a node has in memory of the store (registry, keys, revocations) follows the
//! other nodes in two ways: they tell it ([`Believe`]), and, where they cannot, it reads the change
//! log of the store ([`Realm::catch_up`]). Both bring the same entries, and both may bring them
//! twice or in any order.
//!
//! A node of several is put together like this: its audit trail is opened with
//! `AuditOptions::shared_store`; the realm's change writer has the cluster's `Tell` and is shared
//! (`ChangeWriter::share`) before the signing keys are loaded; the realm is what the cluster's
//! `Believe` is; [`Realm::share`] reads everything before anything is answered;
//! `tasks::follow_nodes` runs from then on. A node that was alone becomes one of several by
//! [`Realm::share`] alone.
use super::Realm;
use signet_merge::entry::Entry;
use signet_merge::tell::{Believe, Receipt};
use signet_registry::delta::Delta;
use signet_registry::keys::KeysError;
use signet_registry::{
    change_writer::{self, ChangeWriter},
    changelog::Look,
    kinds::{KINDS, RecordKind},
    load,
};
use signet_store::NodeId;
use signet_store::{Change, Key, Revoked, Row, Store, StoreError, Subject, Table};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::atomic::Ordering::SeqCst,
    time::Duration,
};

const PAGE: usize = 256;
/// Records that are put in effect at once while all are read: what waits is in memory twice.
const AT_ONCE: usize = 1024;
/// How long a writer of the registry waits for the other nodes to hear of it: then it is answered,
/// and they hear of it all the same.
pub const TOLD_WITHIN: Duration = Duration::from_millis(250);

/// Why a node could not read what others wrote.
#[derive(Debug, thiserror::Error)]
pub enum FollowError {
    /// The store.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A signing key that does not open: the sealing key of another node has not come here yet.
    #[error(transparent)]
    Keys(#[from] KeysError),
}

impl Believe for Realm {
    fn believe(&self, origin: &NodeId, entries: &[Entry]) {
        let (mut records, mut keys) = (Vec::new(), Vec::new());
        for entry in entries.iter().filter(|entry| self.is_own(entry)) {
            let Some(kind) = RecordKind::of_number(entry.kind) else {
                // A later version's: nothing of it is in the memory of this one.
                continue;
            };
            if kind == RecordKind::Revocation {
                match Revoked::from_parts(&entry.name, &entry.fragment) {
                    Some(revoked) => drop(self.revocations.apply(revoked)),
                    // What is not understood must not be taken for nothing.
                    None => self.doubt(origin),
                }
                continue;
            }
            if !self.is_shared() {
                // Nothing is there yet that it could be merged with: [`Realm::share`] reads it.
                continue;
            }
            match Delta::of_entry(entry) {
                Ok(
                    delta @ Delta::Heard {
                        kind: RecordKind::Key,
                        ..
                    },
                ) => keys.push(delta),
                Ok(delta) => records.push(delta),
                Err(_) => self.doubt(origin),
            }
        }
        // Records are not held up by a key that does not open.
        for deltas in [records, keys] {
            match self.apply_all(deltas) {
                Ok(true) => {}
                Ok(false) => self.doubt(origin),
                Err(error) => {
                    tracing::warn!(%error, %origin, "failed to apply a change of another node");
                    self.doubt(origin);
                }
            }
        }
    }

    fn is_current(&self, entry: &Entry) -> bool {
        if !self.is_own(entry) {
            return false;
        }
        match RecordKind::of_number(entry.kind) {
            // A later version's: this one cannot say that it does not matter.
            None => true,
            Some(RecordKind::Revocation) => Revoked::from_parts(&entry.name, &entry.fragment)
                .is_some_and(|revoked| {
                    let Revoked { subject, end } = revoked;
                    end > self.now() && !self.revocations.supersedes(&subject, end)
                }),
            Some(_) => match Delta::of_entry(entry) {
                Ok(Delta::Heard {
                    kind, name, state, ..
                }) => self.replica.is_current(kind, &name, &state),
                Ok(_) | Err(_) => false,
            },
        }
    }
}

impl Realm {
    fn is_own(&self, entry: &Entry) -> bool {
        entry.realm == self.id().as_str()
    }

    /// What was heard cannot be believed as it is: the store is asked.
    fn doubt(&self, origin: &NodeId) {
        if !self.nodes.doubted.swap(true, SeqCst) {
            tracing::info!(%origin, "reading a change of another node in the store");
        }
    }

    /// What could not be put in effect is read again at the next look.
    pub(crate) fn look_again(&self) {
        self.nodes.doubted.store(true, SeqCst);
    }

    /// From now on several nodes write the store. Reads everything again: what this node had in
    /// memory was not made to be merged. Nothing may be answered before this has succeeded.
    ///
    /// # Errors
    /// See [`FollowError`].
    pub async fn share(&self) -> Result<(), FollowError> {
        self.share_own_rows().await?;
        self.restate_keys().await
    }

    /// The same for a node that can read and not write: it has no majority. [`Realm::share`]
    /// follows when there is one.
    ///
    /// # Errors
    /// See [`FollowError`].
    pub async fn share_own_rows(&self) -> Result<(), FollowError> {
        self.replica.begin_merging();
        self.change_writer.share();
        self.reload().await
    }

    /// Keys that this node made before it had others to note them for, at its start perhaps: who
    /// does not know them reads them in the store.
    async fn restate_keys(&self) -> Result<(), FollowError> {
        let now = self.now();
        let mut unnoted = Vec::new();
        for key in self.signing_keys.list().await {
            let (state, _) =
                ChangeWriter::stored(&*self.store, RecordKind::Key, &key.kid, now).await?;
            if state.newest().is_some_and(|stamp| stamp.ms == 0) {
                unnoted.push((key.kid, state));
            }
        }
        let states = unnoted.iter();
        let states = states.map(|(kid, state)| (RecordKind::Key, kid.as_str(), state));
        let noted = self.change_writer.restated(states);
        for line in self.change_writer.rows(&noted, now) {
            self.store.commit(Change::new(line), now).await?;
        }
        drop(self.change_writer.tell(noted));
        Ok(())
    }

    /// Whether several nodes write the store.
    pub fn is_shared(&self) -> bool {
        self.change_writer.is_shared()
    }

    /// Reads the change log, and puts in effect what other nodes wrote. To be called every second.
    ///
    /// # Errors
    /// See [`FollowError`]; the next call reads what this one did not.
    pub async fn catch_up(&self) -> Result<(), FollowError> {
        if !self.is_shared() {
            return Ok(());
        }
        if self.nodes.doubted.load(SeqCst) {
            return self.reload().await;
        }
        let look = {
            let mut reader = self.nodes.reader.lock().await;
            let (realm, own, now) = (self.id().as_str(), self.change_writer.log(), self.now());
            reader.look(&*self.store, realm, own, now).await?
        };
        let read_at_ms = self.now_ms();
        match look {
            Look::Lines(lines) => {
                for (origin, entries) in lines {
                    self.believe(&origin, &entries);
                }
                self.nodes.read_at_ms.store(read_at_ms, SeqCst);
                Ok(())
            }
            Look::TooLate => {
                tracing::warn!("reloading everything: the change log was not read for too long");
                self.reload().await
            }
        }
    }

    /// Reads everything that is in memory again: registry, keys and revocations.
    ///
    /// # Errors
    /// See [`FollowError`].
    pub async fn reload(&self) -> Result<(), FollowError> {
        let mut reader = self.nodes.reader.lock().await;
        self.nodes.doubted.store(false, SeqCst);
        let done = async {
            let now = self.now();
            // What is written while this reads is in the log behind what is there now.
            reader.begin(&*self.store, now).await?;
            self.revocations.reload(now).await?;
            self.reload_records(now).await
        };
        let done = done.await;
        if done.is_err() {
            self.nodes.doubted.store(true, SeqCst);
        }
        done
    }

    async fn reload_records(&self, now: u64) -> Result<(), FollowError> {
        let store = &*self.store;
        let mut stamps = BTreeMap::new();
        for (key, row) in rows(store, Table::Stamps, now).await? {
            if let Some(place) = change_writer::stamped(&key) {
                stamps.insert(place, row);
            }
        }
        let mut stored = Vec::new();
        // Revocations are read by themselves.
        for kind in KINDS.iter().map(|row| row.kind) {
            if kind != RecordKind::Revocation {
                let rows = load::rows(store, kind, now).await?;
                stored.extend(rows.into_iter().map(|(name, value)| (kind, name, value)));
            }
        }
        let mut living = BTreeSet::new();
        let (mut records, mut keys) = (Vec::new(), Vec::new());
        for (kind, name, value) in stored {
            let place = (kind, name);
            let stamped = stamps.remove(&place);
            let mut state = change_writer::reconciled(kind, stamped.as_ref(), Some(&value))?;
            if let Some(stamped) = &stamped
                && state.to_bytes() != stamped.value
            {
                // It may have been written between the two pages.
                (state, _) = ChangeWriter::stored(store, kind, &place.1, now).await?;
            }
            living.insert(place.clone());
            let deltas = if kind == RecordKind::Key {
                &mut keys
            } else {
                &mut records
            };
            deltas.push(heard(kind, place.1, state));
            if records.len() == AT_ONCE {
                self.apply_all(std::mem::take(&mut records))?;
            }
        }
        // Records that were removed, and are remembered.
        for (kind, name) in stamps.into_keys() {
            let (state, _) = ChangeWriter::stored(store, kind, &name, now).await?;
            records.push(heard(kind, name, state));
        }
        // Records whose removal was not heard here, and is forgotten.
        for (kind, name, mut state) in self.replica.heard_beside(&living) {
            let (known, row) = ChangeWriter::stored(store, kind, &name, now).await?;
            if row.is_none() && known.newest().is_none() {
                let Some(newest) = state.newest().cloned() else {
                    continue;
                };
                state.delete(&signet_merge::hlc::after(Some(&newest), newest.clone()));
                records.push(heard(kind, name, state));
            }
        }
        self.apply_all(records)?;
        self.apply_all(keys)?;
        Ok(())
    }

    /// Reads one record from the store, where other nodes may have written it: their word may not
    /// have come yet. Nothing is read on a node that is the only one.
    ///
    /// # Errors
    /// The store's.
    pub async fn learn(&self, kind: RecordKind, name: &str) -> Result<(), StoreError> {
        if !self.is_shared() {
            return Ok(());
        }
        let (state, _) = ChangeWriter::stored(&*self.store, kind, name, self.now()).await?;
        self.show([heard(kind, name.to_owned(), state)]);
        Ok(())
    }

    /// Reads the signing keys from the store, where other nodes may have changed them.
    ///
    /// # Errors
    /// See [`KeysError`].
    pub async fn learn_keys(&self) -> Result<(), KeysError> {
        loop {
            let keyring = std::sync::Arc::clone(&self.keyring());
            let show = |deltas| self.show_keys(deltas);
            let refreshed = self.signing_keys.refresh(&keyring, self.now(), show);
            let refreshed = refreshed.await;
            if !self.was_overtaken(&keyring, &refreshed) {
                return refreshed.map(drop);
            }
        }
    }

    /// Revokes, and waits until every node that can be reached has it in effect: who they are, and
    /// who could not be reached. `end` (Unix seconds): when the last token that this can concern
    /// has expired.
    ///
    /// # Errors
    /// The store's; then nothing was revoked.
    pub async fn revoke_everywhere(
        &self,
        subject: Subject,
        end: u64,
    ) -> Result<Receipt, StoreError> {
        let now = self.now();
        let revoked = self.revocations.revoke_here(subject, end, now).await?;
        Ok(self.change_writer.tell_revoked(revoked.as_slice()).await)
    }
}

fn heard(kind: RecordKind, name: String, state: signet_merge::crdt::Record) -> Delta {
    Delta::Heard {
        kind,
        name,
        state,
        stored: true,
    }
}

async fn rows(store: &dyn Store, table: Table, now: u64) -> Result<Vec<(Key, Row)>, StoreError> {
    let mut all: Vec<(Key, Row)> = Vec::new();
    loop {
        let after = all.last().map(|(key, _)| key.clone());
        let page = store.page(table, after.as_ref(), PAGE, now).await?;
        let last = page.len() < PAGE;
        all.extend(page);
        if last {
            return Ok(all);
        }
    }
}
