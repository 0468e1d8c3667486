//! Clients that registered themselves: they stay once they are used, and go where nobody used them.
use crate::records::write::{Before, Gone, RecordError};
use crate::state::Realm;
use signet_oauth::client::Client;
use signet_registry::delta::Delta;
use signet_registry::kinds::RecordKind;
use signet_store::StoreError;
use std::sync::Arc;

/// Unused clients that are removed at once.
const SWEPT: usize = 500;

impl Realm {
    /// A client that registered itself stays once it was used. Where that cannot be written now,
    /// its next use tries again.
    pub async fn mark_used(&self, client_id: &str) {
        let snapshot = self.snapshot();
        let Some(client) = snapshot.registry.clients.get(client_id) else {
            return;
        };
        if client.registration_token_hash.is_none() || client.expires_at.is_none() {
            return;
        }
        let used = Client {
            expires_at: None,
            revision: client.revision + 1,
            ..Client::clone(client)
        };
        if let Err(error) = self.write_record(used, Some(client.revision)).await {
            tracing::warn!(%error, client_id, "failed to record a client's first use");
        }
    }

    /// Removes clients that registered themselves, were never used, and end by `until` (Unix
    /// seconds), those first that registered first; at most [`SWEPT`] in a call. How many.
    ///
    /// # Errors
    /// The store's.
    pub async fn remove_unused_clients(&self, until: u64) -> Result<usize, StoreError> {
        let longest = self.longest_refresh_token();
        let snapshot = self.snapshot();
        let mut unused: Vec<(u64, &Arc<Client>)> = snapshot
            .registry
            .clients
            .values()
            .filter(|client| client.registration_token_hash.is_some())
            .filter_map(|client| Some((client.expires_at?, client)))
            .filter(|(end, _)| *end <= until)
            .collect();
        if unused.is_empty() {
            return Ok(0);
        }
        unused.sort_unstable_by_key(|(end, client)| (*end, &client.client_id));
        unused.truncate(SWEPT);
        let _one_after_another = self.registry_writes.lock().await;
        let (mut removed, mut gone) = (Vec::with_capacity(unused.len()), Vec::new());
        for (_, client) in unused {
            let id = client.client_id.as_str();
            let before = Before::Revision(client.revision);
            match self.commit_record::<Client>(id, before, &Gone).await {
                Ok(done) => {
                    match self.is_shared() {
                        true => gone.extend(done.noted.deltas()),
                        false => gone.push(Delta::gone(RecordKind::Client, id)),
                    }
                    drop(self.change_writer.tell(done.noted));
                    removed.push(id);
                }
                Err(RecordError::Store(error)) => return Err(error),
                // It was used, changed or removed meanwhile; by another node, perhaps.
                Err(_) => self.learn(RecordKind::Client, id).await?,
            }
        }
        // One new view for all of them.
        self.show(gone);
        for client_id in &removed {
            self.revoke_client_for(client_id, longest).await?;
        }
        Ok(removed.len())
    }
}
