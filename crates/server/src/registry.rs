//! Clients and resource servers: their rows in the store, and how a change reaches the snapshot.
//!
//! A record is replaced with a compare: whoever writes names the `revision` that was read, and of
//! two racing writers one is told so (known fault A18). The row is durable before the snapshot
//! shows it.
use crate::{delta::Delta, records, state::Realm};
use signet_oauth::{
    client::Client,
    command_line,
    registry::{Registry, Resource, ScopeEntry},
};
use signet_store::{Change, Key, Op, Outcome, Row, Store, StoreError, Table};
use std::{collections::HashMap, sync::Arc};

const PAGE: usize = 256;
/// Unused clients that are removed at once.
const SWEPT: usize = 500;

/// Why a record could not be written.
#[derive(Debug, thiserror::Error)]
pub enum RegistryError {
    /// There is one with this identifier already.
    #[error("a record with this identifier exists")]
    Exists,
    /// There is none in the store (it may be the configuration's).
    #[error("there is no such record")]
    NotFound,
    /// Somebody else has written it since it was read.
    #[error("the record has been changed meanwhile")]
    Conflict,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Everything that the store knows, with the standard scopes. `now`: Unix seconds.
///
/// # Errors
/// A store that cannot be read, or a row that is not a record: a server must not start with half of
/// its registry.
pub async fn load(store: &dyn Store, now: u64) -> Result<Registry, StoreError> {
    let mut clients = HashMap::new();
    for (_, row) in rows(store, Table::Client, now).await? {
        let client = read_client(&row)?;
        clients.insert(client.client_id.clone(), Arc::new(client));
    }
    let mut resources = HashMap::new();
    for (_, row) in rows(store, Table::Resource, now).await? {
        let resource = read_resource(&row)?;
        resources.insert(resource.identifier.clone(), Arc::new(resource));
    }
    let mut registry = Registry {
        clients,
        resources,
        scopes: Registry::standard_scopes(),
    };
    for entry in crate::scopes::load(store, now).await? {
        records::put_scope(&mut registry, entry);
    }
    Ok(registry)
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

fn read_resource(row: &Row) -> Result<Resource, StoreError> {
    records::read_resource(&row.value).map_err(StoreError::Corrupt)
}

fn read_client(row: &Row) -> Result<Client, StoreError> {
    Client::from_json(&row.value).map_err(|e| StoreError::Corrupt(e.to_string()))
}

/// Writes a client that must not exist yet.
///
/// # Errors
/// `Exists`, or the store's.
pub async fn insert_client(
    store: &dyn Store,
    client: &Client,
    now: u64,
) -> Result<(), RegistryError> {
    let key = Key::new(Table::Client, client.client_id.as_bytes());
    insert(store, key, client.to_json(), now).await
}

/// Writes a client over the one whose revision is `read`. Its own revision must be another one.
///
/// # Errors
/// `NotFound`, `Conflict`, or the store's.
pub async fn replace_client(
    store: &dyn Store,
    client: &Client,
    read: u64,
    now: u64,
) -> Result<(), RegistryError> {
    let key = Key::new(Table::Client, client.client_id.as_bytes());
    let row = store.get(&key, now).await?.ok_or(RegistryError::NotFound)?;
    if read_client(&row)?.revision != read {
        return Err(RegistryError::Conflict);
    }
    let replace = Op::Replace {
        key,
        version: row.version,
        value: client.to_json(),
        end: None,
    };
    decided(store.commit(only(replace), now).await?)
}

/// Removes a client whose revision is `read` (`None`: whatever it is).
///
/// # Errors
/// `NotFound`, `Conflict`, or the store's.
pub async fn remove_client(
    store: &dyn Store,
    client_id: &str,
    read: Option<u64>,
    now: u64,
) -> Result<(), RegistryError> {
    let key = Key::new(Table::Client, client_id.as_bytes());
    let row = store.get(&key, now).await?.ok_or(RegistryError::NotFound)?;
    if read.is_some() && read != Some(read_client(&row)?.revision) {
        return Err(RegistryError::Conflict);
    }
    let remove = Op::Remove {
        key,
        version: row.version,
    };
    decided(store.commit(only(remove), now).await?)
}

/// Writes a resource server: `read` is the revision it replaces, `None` if it must not exist yet.
///
/// # Errors
/// `Exists`, `NotFound`, `Conflict`, or the store's.
pub async fn write_resource(
    store: &dyn Store,
    resource: &Resource,
    read: Option<u64>,
    now: u64,
) -> Result<(), RegistryError> {
    let key = Key::new(Table::Resource, resource.identifier.as_bytes());
    let value = records::write_resource(resource);
    let Some(read) = read else {
        return insert(store, key, value, now).await;
    };
    let row = store.get(&key, now).await?.ok_or(RegistryError::NotFound)?;
    if read_resource(&row)?.revision != read {
        return Err(RegistryError::Conflict);
    }
    let replace = Op::Replace {
        key,
        version: row.version,
        value,
        end: None,
    };
    decided(store.commit(only(replace), now).await?)
}

/// Removes a resource server.
///
/// # Errors
/// `NotFound`, `Conflict`, or the store's.
pub async fn remove_resource(
    store: &dyn Store,
    identifier: &str,
    now: u64,
) -> Result<(), RegistryError> {
    let key = Key::new(Table::Resource, identifier.as_bytes());
    let row = store.get(&key, now).await?.ok_or(RegistryError::NotFound)?;
    let remove = Op::Remove {
        key,
        version: row.version,
    };
    decided(store.commit(only(remove), now).await?)
}

/// Writes that are durable and in effect when they return. One after another, so that the snapshot
/// follows in the order of the commits: no older record can come back over a newer one (known fault
/// A15).
impl Realm {
    /// As [`insert_client`].
    ///
    /// # Errors
    /// As there; also for a client that the configuration declares.
    pub async fn insert_client(&self, client: Client) -> Result<Arc<Client>, RegistryError> {
        let _one_after_another = self.registry_writes.lock().await;
        let id = client.client_id.clone();
        if self.snapshot().registry.clients.contains_key(&id) {
            return Err(RegistryError::Exists);
        }
        insert_client(&*self.store, &client, self.now()).await?;
        Ok(self.show_client(client))
    }

    /// As [`replace_client`].
    ///
    /// # Errors
    /// As there.
    pub async fn replace_client(
        &self,
        client: Client,
        read: u64,
    ) -> Result<Arc<Client>, RegistryError> {
        let _one_after_another = self.registry_writes.lock().await;
        self.expect_stored(&client.client_id)?;
        let replaced = replace_client(&*self.store, &client, read, self.now()).await;
        match replaced {
            // The client that every server has is not at rest before its first change.
            Err(RegistryError::NotFound) if client.client_id == command_line::CLIENT_ID => {
                let inserted = insert_client(&*self.store, &client, self.now()).await;
                inserted.map_err(|error| match error {
                    // On another node, a moment ago.
                    RegistryError::Exists => RegistryError::Conflict,
                    RegistryError::NotFound | RegistryError::Conflict | RegistryError::Store(_) => {
                        error
                    }
                })?;
            }
            replaced => replaced?,
        }
        Ok(self.show_client(client))
    }

    /// As [`remove_client`]. The caller revokes what the client holds.
    ///
    /// # Errors
    /// As there.
    pub async fn remove_client(
        &self,
        client_id: &str,
        read: Option<u64>,
    ) -> Result<(), RegistryError> {
        let _one_after_another = self.registry_writes.lock().await;
        self.expect_stored(client_id)?;
        remove_client(&*self.store, client_id, read, self.now()).await?;
        // The client that every server has is again as it was before it was changed.
        let built_in = (client_id == command_line::CLIENT_ID)
            .then(command_line::client)
            .and_then(Result::ok);
        self.show(Delta::Client {
            client_id: client_id.to_owned(),
            record: built_in.map(Arc::new),
        });
        Ok(())
    }

    /// The configuration's clients win over stored ones of the same id, and are not changed here.
    fn expect_stored(&self, client_id: &str) -> Result<(), RegistryError> {
        match self
            .configuration()
            .declared
            .clients
            .contains_key(client_id)
        {
            true => Err(RegistryError::NotFound),
            false => Ok(()),
        }
    }

    fn show_client(&self, client: Client) -> Arc<Client> {
        let client = Arc::new(client);
        self.show(Delta::client(Arc::clone(&client)));
        client
    }

    /// Puts a record in effect that is durable.
    fn show(&self, delta: Delta) {
        if let Err(error) = self.apply([delta]) {
            // Only a key can fail to open, and a record of the registry has none.
            tracing::error!(%error, "a change of the registry is durable and not in effect");
        }
    }

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
        if let Err(error) = self.replace_client(used, client.revision).await {
            tracing::warn!(%error, client_id, "a client's first use could not be noted");
        }
    }

    /// Removes clients that registered themselves and were not used in their time; at most
    /// [`SWEPT`] in a call. How many.
    ///
    /// # Errors
    /// The store's.
    pub async fn remove_unused_clients(&self) -> Result<usize, StoreError> {
        let (now, longest) = (self.now(), self.longest_refresh_token());
        let snapshot = self.snapshot();
        let unused: Vec<&Arc<Client>> = snapshot
            .registry
            .clients
            .values()
            .filter(|client| client.registration_token_hash.is_some())
            .filter(|client| client.expires_at.is_some_and(|end| end <= now))
            .take(SWEPT)
            .collect();
        if unused.is_empty() {
            return Ok(0);
        }
        let _one_after_another = self.registry_writes.lock().await;
        let mut removed = Vec::with_capacity(unused.len());
        for client in unused {
            let gone = remove_client(&*self.store, &client.client_id, Some(client.revision), now);
            match gone.await {
                Ok(()) => removed.push(client.client_id.as_str()),
                // It was used, changed or removed meanwhile.
                Err(RegistryError::Conflict | RegistryError::NotFound | RegistryError::Exists) => {}
                Err(RegistryError::Store(error)) => return Err(error),
            }
        }
        // One new view for all of them.
        let gone = removed.iter().map(|client_id| Delta::Client {
            client_id: (*client_id).to_owned(),
            record: None,
        });
        if let Err(error) = self.apply(gone) {
            tracing::error!(%error, "a change of the registry is durable and not in effect");
        }
        for client_id in &removed {
            self.revoke_client_for(client_id, longest).await?;
        }
        Ok(removed.len())
    }

    /// As [`write_resource`].
    ///
    /// # Errors
    /// As there; also for a resource server that the configuration declares.
    pub async fn write_resource(
        &self,
        resource: Resource,
        read: Option<u64>,
    ) -> Result<Arc<Resource>, RegistryError> {
        let _one_after_another = self.registry_writes.lock().await;
        let registry = &self.snapshot().registry;
        if read.is_none() && registry.resources.contains_key(&resource.identifier) {
            return Err(RegistryError::Exists);
        }
        write_resource(&*self.store, &resource, read, self.now()).await?;
        let resource = Arc::new(resource);
        self.show(Delta::resource(Arc::clone(&resource)));
        Ok(resource)
    }

    /// As [`remove_resource`].
    ///
    /// # Errors
    /// As there.
    pub async fn remove_resource(&self, identifier: &str) -> Result<(), RegistryError> {
        let _one_after_another = self.registry_writes.lock().await;
        remove_resource(&*self.store, identifier, self.now()).await?;
        self.show(Delta::Resource {
            identifier: identifier.to_owned(),
            record: None,
        });
        Ok(())
    }

    /// Writes a scope, new or known.
    ///
    /// # Errors
    /// The store's.
    pub async fn write_scope(&self, entry: ScopeEntry) -> Result<(), RegistryError> {
        let _one_after_another = self.registry_writes.lock().await;
        crate::scopes::write(&*self.store, &entry, self.now()).await?;
        self.show(Delta::scope(entry));
        Ok(())
    }

    /// Removes a scope.
    ///
    /// # Errors
    /// `NotFound`, or the store's.
    pub async fn remove_scope(&self, name: &str) -> Result<(), RegistryError> {
        let _one_after_another = self.registry_writes.lock().await;
        if !crate::scopes::remove(&*self.store, name, self.now()).await? {
            return Err(RegistryError::NotFound);
        }
        self.show(Delta::Scope {
            name: name.to_owned(),
            record: None,
        });
        Ok(())
    }
}

async fn insert(
    store: &dyn Store,
    key: Key,
    value: Vec<u8>,
    now: u64,
) -> Result<(), RegistryError> {
    let insert = Op::Insert {
        key,
        value,
        end: None,
    };
    match store.commit(only(insert), now).await? {
        Outcome::Done { .. } => Ok(()),
        Outcome::Refused(_) => Err(RegistryError::Exists),
    }
}

fn decided(outcome: Outcome) -> Result<(), RegistryError> {
    match outcome {
        Outcome::Done { .. } => Ok(()),
        Outcome::Refused(Some(_)) => Err(RegistryError::Conflict),
        Outcome::Refused(None) => Err(RegistryError::NotFound),
    }
}

fn only(first: Op) -> Change {
    Change {
        first,
        then: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use signet_crypto::Algorithm;
    use signet_oauth::{format::AccessTokenFormat, scope::ScopeSet};
    use signet_store::MemoryStore;

    #[tokio::test]
    async fn of_two_writers_one_is_told_that_the_record_changed() {
        let store = MemoryStore::default();
        let mut client = Client::new("a", 1);
        client.revision = 1;
        insert_client(&store, &client, 1).await.expect("is new");
        assert!(matches!(
            insert_client(&store, &client, 1).await,
            Err(RegistryError::Exists)
        ));
        client.revision = 2;
        replace_client(&store, &client, 1, 1).await.expect("is 1");
        client.revision = 3;
        assert!(matches!(
            replace_client(&store, &client, 1, 1).await,
            Err(RegistryError::Conflict)
        ));
        let loaded = load(&store, 1).await.expect("reads");
        assert_eq!(loaded.clients["a"].revision, 2);
        remove_client(&store, "a", Some(2), 1).await.expect("is 2");
        assert!(matches!(
            remove_client(&store, "a", None, 1).await,
            Err(RegistryError::NotFound)
        ));
    }

    #[tokio::test]
    async fn a_resource_server_survives_a_restart() {
        let store = MemoryStore::default();
        let resource = Resource {
            identifier: "https://api.example".into(),
            name: Some("API".into()),
            scopes: ScopeSet::parse("read write").expect("scopes"),
            access_token_signed_response_alg: Some(Algorithm::EdDsa),
            access_token_format: Some(AccessTokenFormat::Compact),
            access_token_lifetime: Some(60),
            introspectors: vec!["gateway".into()],
            revision: 1,
        };
        write_resource(&store, &resource, None, 1)
            .await
            .expect("is new");
        let loaded = load(&store, 1).await.expect("reads");
        assert_eq!(*loaded.resources["https://api.example"], resource);
    }
}
