//! Clients and resource servers: their rows in the store, and how a change reaches the snapshot.
//!
//! A record is replaced with a compare: whoever writes names the `revision` that was read, and of two racing writers one is
//! told so (known fault A18). The row is durable before the snapshot shows it.
use crate::state::Realm;
use serde::{Deserialize, Serialize};
use signet_crypto::Algorithm;
use signet_oauth::{
    client::Client,
    format::AccessTokenFormat,
    registry::{Registry, Resource, ScopeEntry},
    scope::ScopeSet,
};
use signet_store::{Change, Key, Op, Outcome, Row, Store, StoreError, Table};
use std::{collections::HashMap, sync::Arc};

const PAGE: usize = 256;

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
/// A store that cannot be read, or a row that is not a record: a server must not start with half of its registry.
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
        crate::scopes::put(&mut registry, entry);
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
    // Invariant: strings, numbers and lists of them always serialize.
    let value = serde_json::to_vec(&StoredResource::from(resource)).unwrap_or_default();
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

/// Writes that are durable and in effect when they return. One after another, so that the snapshot follows in the order
/// of the commits: no older record can come back over a newer one (known fault A15).
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
        self.expect_stored(&client.client_id).await?;
        replace_client(&*self.store, &client, read, self.now()).await?;
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
        self.expect_stored(client_id).await?;
        remove_client(&*self.store, client_id, read, self.now()).await?;
        publish(self, |registry| drop(registry.clients.remove(client_id)));
        Ok(())
    }

    /// The configuration's clients win over stored ones of the same id, and are not changed here.
    async fn expect_stored(&self, client_id: &str) -> Result<(), RegistryError> {
        let key = Key::new(Table::Client, client_id.as_bytes());
        let row = self.store.get(&key, self.now()).await?;
        let stored = read_client(&row.ok_or(RegistryError::NotFound)?)?;
        match self.snapshot().registry.clients.get(client_id) {
            Some(shown) if **shown != stored => Err(RegistryError::NotFound),
            _ => Ok(()),
        }
    }

    fn show_client(&self, client: Client) -> Arc<Client> {
        let client = Arc::new(client);
        let shown = Arc::clone(&client);
        publish(self, |registry| {
            registry.clients.insert(shown.client_id.clone(), shown);
        });
        client
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
        let shown = Arc::clone(&resource);
        publish(self, |registry| {
            registry.resources.insert(shown.identifier.clone(), shown);
        });
        Ok(resource)
    }

    /// As [`remove_resource`].
    ///
    /// # Errors
    /// As there.
    pub async fn remove_resource(&self, identifier: &str) -> Result<(), RegistryError> {
        let _one_after_another = self.registry_writes.lock().await;
        remove_resource(&*self.store, identifier, self.now()).await?;
        publish(self, |registry| drop(registry.resources.remove(identifier)));
        Ok(())
    }

    /// Writes a scope, new or known.
    ///
    /// # Errors
    /// The store's.
    pub async fn write_scope(&self, entry: ScopeEntry) -> Result<(), RegistryError> {
        let _one_after_another = self.registry_writes.lock().await;
        crate::scopes::write(&*self.store, &entry, self.now()).await?;
        publish(self, |registry| crate::scopes::put(registry, entry));
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
        publish(self, |registry| crate::scopes::forget(registry, name));
        Ok(())
    }
}

/// Changes the registry of the snapshot: after the row is durable.
pub fn publish(realm: &Realm, change: impl FnOnce(&mut Registry)) {
    realm.update(|snapshot| {
        let mut registry = Registry::clone(&snapshot.registry);
        change(&mut registry);
        snapshot.registry = Arc::new(registry);
    });
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

#[derive(Serialize, Deserialize)]
struct StoredResource {
    identifier: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(default)]
    scopes: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    access_token_signed_response_alg: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    access_token_format: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    access_token_lifetime: Option<u64>,
    #[serde(default)]
    introspectors: Vec<String>,
    revision: u64,
}

impl From<&Resource> for StoredResource {
    fn from(resource: &Resource) -> Self {
        StoredResource {
            identifier: resource.identifier.clone(),
            name: resource.name.clone(),
            scopes: resource.scopes.iter().map(str::to_owned).collect(),
            access_token_signed_response_alg: resource
                .access_token_signed_response_alg
                .map(|alg| alg.name().to_owned()),
            access_token_format: resource
                .access_token_format
                .map(|format| format.as_str().to_owned()),
            access_token_lifetime: resource.access_token_lifetime,
            introspectors: resource.introspectors.clone(),
            revision: resource.revision,
        }
    }
}

fn read_resource(row: &Row) -> Result<Resource, StoreError> {
    let corrupt = |why: String| StoreError::Corrupt(format!("a resource server: {why}"));
    let stored: StoredResource =
        serde_json::from_slice(&row.value).map_err(|e| corrupt(e.to_string()))?;
    let alg = match stored.access_token_signed_response_alg {
        None => None,
        Some(name) => {
            Some(Algorithm::from_name(&name).ok_or_else(|| corrupt(format!("algorithm {name}")))?)
        }
    };
    let format = match stored.access_token_format {
        None => None,
        Some(name) => Some(
            AccessTokenFormat::from_name(&name).ok_or_else(|| corrupt(format!("format {name}")))?,
        ),
    };
    Ok(Resource {
        identifier: stored.identifier,
        name: stored.name,
        scopes: ScopeSet::parse(&stored.scopes.join(" ")).map_err(|_| corrupt("scopes".into()))?,
        access_token_signed_response_alg: alg,
        access_token_format: format,
        access_token_lifetime: stored.access_token_lifetime,
        introspectors: stored.introspectors,
        revision: stored.revision,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
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
