//! Several records that change together: all of them, or none.
//!
//! The changes are tried on a copy of the realm over a store that keeps what is written to itself
//! ([`Staging`]), one after another, each by the function that makes it alone. So all their
//! rules hold, and one may name what another one makes. What is then written below is one change of
//! the store. Its condition is the mark, a row that every change of a record writes again
//! ([`signet_registry::census::mark_key`]): while it is the one that was read first, everything
//! that was read after it is still so.
//!
//! Accounts are not among them: they are many, and do not write the mark.
use crate::records::write::RecordError;
use crate::state::{FollowError, Realm};
use signet_registry::census::{mark_key, unmarked};
use signet_registry::change_writer::Noted;
use signet_registry::delta::Delta;
use signet_registry::staged::{self, Changed};
use signet_store::{Change, MAX_THEN, Op, Outcome, Row, Staging, StoreError};
use std::sync::Arc;
use tokio::sync::MutexGuard;

/// Changes of records that are tried, and made together.
pub struct Together<'a> {
    realm: &'a Realm,
    /// Nobody else of this node writes a record until this is done; none where it is only tried.
    _one_after_another: Option<MutexGuard<'a, ()>>,
    mark: Option<Row>,
    begun: u64,
    staging: Arc<Staging>,
    /// The copy that they are tried on.
    pub tried: Arc<Realm>,
}

impl Realm {
    /// Begins changes that are made together; or, unless they `are_made`, only tried.
    ///
    /// # Errors
    /// The store's.
    pub async fn together(self: &Arc<Self>, are_made: bool) -> Result<Together<'_>, StoreError> {
        let one_after_another = match are_made {
            true => Some(self.registry_writes.lock().await),
            false => None,
        };
        let begun = self.now();
        // First of all: what changes behind this is noticed.
        let mark = self.store.get(&mark_key(), begun).await?;
        self.catch_up().await.map_err(|error| match error {
            FollowError::Store(error) => error,
            FollowError::Keys(error) => StoreError::Unavailable(error.to_string()),
        })?;
        let staging = Arc::new(Staging::new(Arc::clone(&self.store)));
        let over = Arc::clone(&staging);
        Ok(Together {
            realm: self,
            _one_after_another: one_after_another,
            mark,
            begun,
            staging,
            tried: self.over(over),
        })
    }
}

impl Together<'_> {
    /// The records that differ from what the store has, but for their revision.
    pub async fn changed(&self) -> Vec<Changed> {
        staged::changed(self.staging.written().await)
    }

    /// Makes them all, with the other rows that were written on the copy, and puts them in effect
    /// here and on the other nodes.
    ///
    /// # Errors
    /// `Conflict`, where somebody has written a record since [`Realm::together`]: then nothing is
    /// done. Else the store's.
    pub async fn commit(self) -> Result<(), RecordError> {
        let (realm, begun) = (self.realm, self.begun);
        let rows = self.staging.written().await;
        let changed = staged::changed(rows.clone());
        let mut then: Vec<Op> = changed.iter().map(Changed::op).collect();
        then.extend(staged::others(rows, &changed));
        if then.is_empty() {
            return Ok(());
        }
        let mut noted = Noted::default();
        for one in &changed {
            let (store, name) = (&*realm.store, &one.name);
            let writer = &realm.change_writer;
            let note = writer.note(store, one.kind, name, one.was(), one.is(), begun);
            noted.add(note.await?);
        }
        then.extend(realm.change_writer.rows(&noted, begun));
        if then.len() > MAX_THEN {
            return Err(StoreError::TooLarge.into());
        }
        let first = unmarked(self.mark.as_ref());
        match realm.store.commit(Change { first, then }, begun).await? {
            Outcome::Done { .. } => {}
            Outcome::Refused(_) => return Err(RecordError::Conflict),
        }
        // They were read on the copy already.
        let delta = |one: &Changed| Delta::of_stored(one.kind, &one.name, one.is()).ok();
        let deltas: Vec<Delta> = changed.iter().filter_map(delta).collect();
        realm.tell(noted, begun, || deltas).await;
        Ok(())
    }
}
