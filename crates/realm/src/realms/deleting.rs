//! Deleting a realm for good: everything of it goes, and its record last.
use super::{Realms, Slot};
use crate::records::RecordError;
use signet_oauth::registry::RealmEntry;
use std::sync::Arc;

/// For how long the record outlives the deletion where there are other nodes, seconds: longer than
/// one of them lets requests under way go on. What these wrote meanwhile is deleted again.
const SETTLED_AFTER: u64 = 15;

/// Why a realm is not deleted yet. It is tried again.
#[derive(Debug, thiserror::Error)]
pub enum NotDeleted {
    /// Rows or files could not be deleted.
    #[error("{0}")]
    Failed(String),
    /// The record.
    #[error(transparent)]
    Record(#[from] RecordError),
}

impl Realms {
    /// Deletes every realm whose time has come. To be called every few seconds.
    pub async fn delete_due(self: &Arc<Self>) {
        let table = self.table();
        let now = self.first().now();
        for slot in table.slots().filter(|slot| slot.entry().is_due(now)) {
            let name = &slot.entry().name;
            match self.delete(slot).await {
                Ok(true) => tracing::info!(realm = name, "deleted a realm"),
                Ok(false) => {}
                Err(error) => {
                    tracing::warn!(realm = name, %error, "failed to delete a realm; retrying");
                }
            }
        }
    }

    /// Deletes everything of a realm whose time has come. Whether its record is gone too: it stays
    /// for a moment where other nodes may not have heard of it.
    ///
    /// # Errors
    /// See [`NotDeleted`]; to be tried again.
    pub async fn delete(self: &Arc<Self>, slot: &Arc<Slot>) -> Result<bool, NotDeleted> {
        let entry = slot.entry();
        let (Some(opener), Some(at)) = (self.opener(), entry.deletes_at) else {
            return Ok(false);
        };
        self.close(slot);
        slot.until_closed().await;
        while opener.delete(entry).await.map_err(NotDeleted::Failed)? > 0 {}
        let first = self.first();
        if first.is_shared() && first.now() < at.saturating_add(SETTLED_AFTER) {
            return Ok(false);
        }
        match first.remove_record::<RealmEntry>(&entry.name, None).await {
            Ok(()) | Err(RecordError::NotFound) => Ok(true),
            Err(error) => Err(error.into()),
        }
    }
}
