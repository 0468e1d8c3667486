//! The clients that the configuration declares, remembered over restarts: one that is no longer
//! there has been removed, and ends like a client that the admin API removes.
//!
//! The configuration says what is there and never what was. Without the list a client that is taken
//! out of the file, to shut it out, would come back with every token that it ever had as soon as
//! its entry comes back.
use crate::state::Realm;
use signet_store::{Change, Key, Op, StoreError, Table};
use std::collections::{BTreeMap, BTreeSet};

fn key() -> Key {
    Key::new(Table::Setting, b"declared_clients".as_slice())
}

impl Realm {
    /// Takes note of the clients that the configuration declares and that may act, and ends
    /// everything of those that it declared before. To be called when the snapshot has them: at the
    /// start, before anything is answered, and after each reload. The number of clients that were
    /// ended.
    ///
    /// # Errors
    /// The store's; then the list is as it was, and the next call does what this one left.
    pub async fn note_declared_clients(
        &self,
        declared: &BTreeSet<String>,
    ) -> Result<usize, StoreError> {
        let now = self.now();
        let corrupt = |_| StoreError::Corrupt("the list of declared clients".to_owned());
        // Each with how long its tokens may live: when it is gone, nothing else says so.
        let before: BTreeMap<String, u64> = match self.store.get(&key(), now).await? {
            Some(row) => serde_json::from_slice(&row.value).map_err(corrupt)?,
            None => BTreeMap::new(),
        };
        let mut ended = 0;
        for (client_id, longest) in &before {
            if !declared.contains(client_id) {
                self.revoke_client_for(client_id, *longest).await?;
                tracing::info!(
                    client_id,
                    "revoked everything issued to a client that left the configuration"
                );
                ended += 1;
            }
        }
        let longest = self.longest_refresh_token();
        let next: BTreeMap<&String, u64> = declared
            .iter()
            .map(|client_id| {
                // Tokens of before a lifetime was lowered still live.
                let known = before.get(client_id).copied().unwrap_or_default();
                (client_id, longest.max(known))
            })
            .collect();
        if next.keys().copied().eq(before.keys()) && next.values().eq(before.values()) {
            return Ok(ended);
        }
        // Invariant: strings and numbers always serialize.
        let value = serde_json::to_vec(&next).expect("a list of clients serializes");
        let put = Op::Put {
            key: key(),
            value,
            end: None,
        };
        self.store.commit(Change::new(put), now).await?;
        Ok(ended)
    }
}
