//! Clients and resource servers: their rows in the store, and how a change reaches the snapshot.
//!
//! A record is replaced with a compare: whoever writes names the `revision` that was read, and of
//! two racing writers one is told so (known fault A18). The row is durable before the snapshot
//! shows it.
use crate::state::{Realm, TOLD_WITHIN};
use signet_oauth::{
    client::Client,
    command_line,
    registry::{Records, Registry, Resource, ScopeEntry},
};
use signet_registry::delta::Delta;
use signet_registry::records;
use signet_registry::{
    kinds::RecordKind,
    scribe::{Noted, Scribe, row_key},
};
use signet_store::{Change, Key, Op, Outcome, Row, Store, StoreError, Table};
use std::sync::Arc;

const PAGE: usize = 256;
/// Unused clients that are removed at once.
const SWEPT: usize = 500;
/// How often a write that another node was faster with is tried again.
const MAX_TRIES: usize = 16;

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
    let mut clients = Records::default();
    for (_, row) in rows(store, Table::Client, now).await? {
        let client = read_client(&row)?;
        clients.insert(client.client_id.clone(), Arc::new(client));
    }
    let mut resources = Records::default();
    for (_, row) in rows(store, Table::Resource, now).await? {
        let resource = read_resource(&row)?;
        resources.insert(resource.identifier.clone(), Arc::new(resource));
    }
    let mut registry = Registry {
        clients,
        resources,
        scopes: Registry::standard_scopes(),
        people: Arc::new(signet_registry::people::load(store, now).await?),
        rules: Arc::new(signet_registry::people::load_rules(store, now).await?),
        providers: Arc::new(signet_registry::providers::load(store, now).await?),
    };
    for entry in signet_registry::scopes::load(store, now).await? {
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

/// Writes a client that must not exist yet, where no server runs.
///
/// # Errors
/// `Exists`, or the store's.
pub async fn insert_client(
    store: &dyn Store,
    client: &Client,
    now: u64,
) -> Result<(), RegistryError> {
    let value = Some(client.to_json());
    let record = Written {
        kind: RecordKind::Client,
        name: &client.client_id,
        known: None,
        value,
    };
    record.commit(store, None, now).await.map(drop)
}

/// Writes a resource server that must not exist yet, where no server runs.
///
/// # Errors
/// `Exists`, or the store's.
pub async fn insert_resource(
    store: &dyn Store,
    resource: &Resource,
    now: u64,
) -> Result<(), RegistryError> {
    let record = Written {
        kind: RecordKind::Resource,
        name: &resource.identifier,
        known: None,
        value: Some(records::write_resource(resource)),
    };
    record.commit(store, None, now).await.map(drop)
}

/// One record that is written: conditional on the row that was read.
struct Written<'a> {
    kind: RecordKind,
    name: &'a str,
    /// The row as it was read; none: there must be none.
    known: Option<&'a Row>,
    /// None: it is removed.
    value: Option<Vec<u8>>,
}

impl Written<'_> {
    /// Writes it, with what it notes for other nodes.
    async fn commit(
        self,
        store: &dyn Store,
        scribe: Option<&Scribe>,
        now: u64,
    ) -> Result<Noted, RegistryError> {
        let Written {
            kind,
            name,
            known,
            value,
        } = self;
        let value = match known {
            Some(before) => value.map(|after| Delta::keeping(kind, name, &before.value, after)),
            None => value,
        };
        let key = row_key(kind, name);
        let (noted, then) = match scribe {
            None => (Noted::default(), Vec::new()),
            Some(scribe) => {
                let was = known.map(|row| row.value.as_slice());
                let noted = scribe.note(store, kind, name, was, value.as_deref(), now);
                let noted = noted.await?;
                let then = scribe.rows(&noted, now);
                (noted, then)
            }
        };
        let first = match (known, value) {
            (None, Some(value)) => Op::Insert {
                key,
                value,
                end: None,
            },
            (Some(row), Some(value)) => Op::Replace {
                key,
                version: row.version,
                value,
                end: None,
            },
            (Some(row), None) => Op::Remove {
                key,
                version: row.version,
            },
            (None, None) => return Err(RegistryError::NotFound),
        };
        match (store.commit(Change { first, then }, now).await?, known) {
            (Outcome::Done { .. }, _) => Ok(noted),
            (Outcome::Refused(_), None) => Err(RegistryError::Exists),
            (Outcome::Refused(Some(_)), Some(_)) => Err(RegistryError::Conflict),
            (Outcome::Refused(None), Some(_)) => Err(RegistryError::NotFound),
        }
    }
}

/// Writes that are durable and in effect when they return. On one node they come one after another,
/// so that the snapshot follows in the order of the commits: no older record can come back over a
/// newer one (known fault A15). Between nodes the row's version decides, and the stamps that go
/// with it say which of two words is the later one.
impl Realm {
    /// Writes a client that must not exist yet.
    ///
    /// # Errors
    /// `Exists`, or the store's; also for a client that the configuration declares.
    pub async fn insert_client(&self, client: Client) -> Result<Arc<Client>, RegistryError> {
        let _one_after_another = self.registry_writes.lock().await;
        let id = client.client_id.clone();
        if self.snapshot().registry.clients.contains_key(&id) {
            return Err(RegistryError::Exists);
        }
        let client = Arc::new(client);
        let value = Some(client.to_json());
        self.write(RecordKind::Client, &id, None, value, || {
            Delta::client(Arc::clone(&client))
        })
        .await?;
        Ok(client)
    }

    /// Writes one record, puts it in effect and tells the other nodes. The caller holds
    /// `registry_writes`.
    pub(crate) async fn write(
        &self,
        kind: RecordKind,
        name: &str,
        known: Option<&Row>,
        value: Option<Vec<u8>>,
        alone: impl FnOnce() -> Delta,
    ) -> Result<(), RegistryError> {
        let begun = self.now();
        let written = Written {
            kind,
            name,
            known,
            value,
        };
        let done = written.commit(&*self.store, Some(&self.scribe), begun);
        match done.await {
            Ok(noted) => {
                self.tell(noted, begun, alone).await;
                Ok(())
            }
            Err(error @ (RegistryError::Exists | RegistryError::Conflict)) => {
                // Another node was faster, and its word may not have come yet.
                self.learn(kind, name).await?;
                Err(error)
            }
            Err(error) => Err(error),
        }
    }

    /// What is durable is put in effect here, and told.
    pub(crate) async fn tell(&self, noted: Noted, begun: u64, alone: impl FnOnce() -> Delta) {
        if !self.is_shared() {
            return self.show([alone()]);
        }
        self.show(noted.deltas());
        let now = self.now();
        if let Some(line) = self.scribe.again(&noted, begun, now) {
            // Nodes that read the log have been there already.
            if let Err(error) = self.store.commit(Change::new(line), now).await {
                tracing::warn!(%error, "failed to announce a change at once; other nodes learn of it later");
            }
        }
        let told = self.scribe.tell(noted);
        // It goes on where nobody waits any more.
        let _ = tokio::time::timeout(TOLD_WITHIN, told).await;
    }

    /// The row of a client whose revision is `read` (none: whatever it is).
    async fn stored_client(
        &self,
        client_id: &str,
        read: Option<u64>,
    ) -> Result<Row, RegistryError> {
        let key = row_key(RecordKind::Client, client_id);
        let row = self.store.get(&key, self.now()).await?;
        let row = row.ok_or(RegistryError::NotFound)?;
        if read.is_some() && read != Some(read_client(&row)?.revision) {
            self.learn(RecordKind::Client, client_id).await?;
            return Err(RegistryError::Conflict);
        }
        Ok(row)
    }

    /// Writes a client over the one whose revision is `read`. Its own revision must be another one.
    ///
    /// # Errors
    /// `NotFound`, `Conflict`, or the store's.
    pub async fn replace_client(
        &self,
        client: Client,
        read: u64,
    ) -> Result<Arc<Client>, RegistryError> {
        let _one_after_another = self.registry_writes.lock().await;
        self.expect_stored(&client.client_id)?;
        let known = match self.stored_client(&client.client_id, Some(read)).await {
            // The client that every server has is not at rest before its first change.
            Err(RegistryError::NotFound) if client.client_id == command_line::CLIENT_ID => None,
            known => Some(known?),
        };
        let client = Arc::new(client);
        let (id, value) = (&client.client_id, Some(client.to_json()));
        let written = self.write(RecordKind::Client, id, known.as_ref(), value, || {
            Delta::client(Arc::clone(&client))
        });
        match written.await {
            // On another node, a moment ago.
            Err(RegistryError::Exists) => Err(RegistryError::Conflict),
            written => written.map(|()| client),
        }
    }

    /// Removes a client whose revision is `read` (`None`: whatever it is). The caller revokes what
    /// the client holds.
    ///
    /// # Errors
    /// `NotFound`, `Conflict`, or the store's.
    pub async fn remove_client(
        &self,
        client_id: &str,
        read: Option<u64>,
    ) -> Result<(), RegistryError> {
        let _one_after_another = self.registry_writes.lock().await;
        self.expect_stored(client_id)?;
        let known = self.stored_client(client_id, read).await?;
        self.write(RecordKind::Client, client_id, Some(&known), None, || {
            // The client that every server has is again as it was before it was changed.
            let built_in = (client_id == command_line::CLIENT_ID)
                .then(command_line::client)
                .and_then(Result::ok);
            Delta::Client {
                client_id: client_id.to_owned(),
                record: built_in.map(Arc::new),
            }
        })
        .await
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
            tracing::warn!(%error, client_id, "failed to record a client's first use");
        }
    }

    /// Removes clients that registered themselves, were never used, and end by `until` (Unix
    /// seconds), those first that registered first; at most [`SWEPT`] in a call. How many.
    ///
    /// # Errors
    /// The store's.
    pub async fn remove_unused_clients(&self, until: u64) -> Result<usize, StoreError> {
        let (now, longest) = (self.now(), self.longest_refresh_token());
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
            match self.remove_unused(client, now).await {
                Ok(noted) => {
                    match self.is_shared() {
                        true => gone.extend(noted.deltas()),
                        false => gone.push(Delta::Client {
                            client_id: id.to_owned(),
                            record: None,
                        }),
                    }
                    drop(self.scribe.tell(noted));
                    removed.push(id);
                }
                // It was used, changed or removed meanwhile; by another node, perhaps.
                Err(RegistryError::Conflict | RegistryError::NotFound | RegistryError::Exists) => {
                    self.learn(RecordKind::Client, id).await?;
                }
                Err(RegistryError::Store(error)) => return Err(error),
            }
        }
        // One new view for all of them.
        self.show(gone);
        for client_id in &removed {
            self.revoke_client_for(client_id, longest).await?;
        }
        Ok(removed.len())
    }

    async fn remove_unused(&self, client: &Client, now: u64) -> Result<Noted, RegistryError> {
        let id = &client.client_id;
        let row = self.stored_client(id, Some(client.revision)).await?;
        let gone = Written {
            kind: RecordKind::Client,
            name: id,
            known: Some(&row),
            value: None,
        };
        gone.commit(&*self.store, Some(&self.scribe), now).await
    }

    /// Writes a resource server: `read` is the revision it replaces, `None` if it must not exist
    /// yet.
    ///
    /// # Errors
    /// `Exists`, `NotFound`, `Conflict`, or the store's; also for a resource server that the
    /// configuration declares.
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
        let known = match read {
            None => None,
            Some(read) => {
                let key = row_key(RecordKind::Resource, &resource.identifier);
                let row = self.store.get(&key, self.now()).await?;
                let row = row.ok_or(RegistryError::NotFound)?;
                if read_resource(&row)?.revision != read {
                    self.learn(RecordKind::Resource, &resource.identifier)
                        .await?;
                    return Err(RegistryError::Conflict);
                }
                Some(row)
            }
        };
        let resource = Arc::new(resource);
        let (name, value) = (
            &resource.identifier,
            Some(records::write_resource(&resource)),
        );
        self.write(RecordKind::Resource, name, known.as_ref(), value, || {
            Delta::resource(Arc::clone(&resource))
        })
        .await?;
        Ok(resource)
    }

    /// Removes a resource server.
    ///
    /// # Errors
    /// `NotFound`, `Conflict`, or the store's.
    pub async fn remove_resource(&self, identifier: &str) -> Result<(), RegistryError> {
        let _one_after_another = self.registry_writes.lock().await;
        let key = row_key(RecordKind::Resource, identifier);
        let row = self.store.get(&key, self.now()).await?;
        let row = row.ok_or(RegistryError::NotFound)?;
        self.write(RecordKind::Resource, identifier, Some(&row), None, || {
            Delta::Resource {
                identifier: identifier.to_owned(),
                record: None,
            }
        })
        .await
    }

    /// Writes a scope, new or known: the last writer holds.
    ///
    /// # Errors
    /// `Conflict`, where others keep writing it, or the store's.
    pub async fn write_scope(&self, entry: ScopeEntry) -> Result<(), RegistryError> {
        let _one_after_another = self.registry_writes.lock().await;
        let key = row_key(RecordKind::Scope, &entry.name);
        for _ in 0..MAX_TRIES {
            let known = self.store.get(&key, self.now()).await?;
            let value = Some(records::write_scope(&entry));
            let delta = || Delta::scope(entry.clone());
            let written = self.write(RecordKind::Scope, &entry.name, known.as_ref(), value, delta);
            match written.await {
                // Another node was faster.
                Err(RegistryError::Exists | RegistryError::Conflict | RegistryError::NotFound) => {}
                written => return written,
            }
        }
        Err(RegistryError::Conflict)
    }

    /// Removes a scope.
    ///
    /// # Errors
    /// `NotFound`, `Conflict`, or the store's.
    pub async fn remove_scope(&self, name: &str) -> Result<(), RegistryError> {
        let _one_after_another = self.registry_writes.lock().await;
        let key = row_key(RecordKind::Scope, name);
        let row = self.store.get(&key, self.now()).await?;
        let row = row.ok_or(RegistryError::NotFound)?;
        self.write(RecordKind::Scope, name, Some(&row), None, || Delta::Scope {
            name: name.to_owned(),
            record: None,
        })
        .await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use signet_crypto::Algorithm;
    use signet_oauth::issued::format::AccessTokenFormat;
    use signet_oauth::scope::ScopeSet;
    use signet_store::MemoryStore;

    async fn put(
        store: &MemoryStore,
        kind: RecordKind,
        name: &str,
        known: Option<&Row>,
        value: Option<Vec<u8>>,
    ) -> Result<(), RegistryError> {
        let written = Written {
            kind,
            name,
            known,
            value,
        };
        written.commit(store, None, 1).await.map(drop)
    }

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
        let key = row_key(RecordKind::Client, "a");
        let read = store.get(&key, 1).await.expect("reads").expect("is there");
        client.revision = 2;
        let kind = RecordKind::Client;
        let value = || Some(client.to_json());
        put(&store, kind, "a", Some(&read), value())
            .await
            .expect("is 1");
        assert!(matches!(
            put(&store, kind, "a", Some(&read), value()).await,
            Err(RegistryError::Conflict)
        ));
        let loaded = load(&store, 1).await.expect("reads");
        assert_eq!(loaded.clients["a"].revision, 2);
        let read = store.get(&key, 1).await.expect("reads").expect("is there");
        put(&store, kind, "a", Some(&read), None)
            .await
            .expect("is 2");
        assert!(matches!(
            put(&store, kind, "a", Some(&read), None).await,
            Err(RegistryError::NotFound)
        ));
    }

    #[tokio::test]
    async fn what_a_later_version_wrote_is_kept_when_the_record_is_changed_here() {
        let store = MemoryStore::default();
        let mut client = Client::new("a", 1);
        client.client_name = Some("Shop".into());
        insert_client(&store, &client, 1).await.expect("is new");
        let (kind, key) = (RecordKind::Client, row_key(RecordKind::Client, "a"));
        let read = async || store.get(&key, 1).await.expect("reads").expect("is there");
        let said =
            |row: &Row| serde_json::from_slice::<serde_json::Value>(&row.value).expect("is JSON");
        let mut later = said(&read().await);
        later["later_list"] = serde_json::json!(["x", { "y": 1 }]);
        let value = serde_json::to_vec(&later).expect("serializes");
        let put_later = Op::Put {
            key: key.clone(),
            value,
            end: None,
        };
        store
            .commit(Change::new(put_later), 1)
            .await
            .expect("is put");
        // Taken away, and something else said.
        client.client_name = None;
        client.revision = 2;
        let value = Some(client.to_json());
        put(&store, kind, "a", Some(&read().await), value)
            .await
            .expect("is 2");
        let kept = said(&read().await);
        assert_eq!(kept["later_list"], later["later_list"]);
        assert_eq!(kept["revision"], 2);
        assert_eq!(kept.get("client_name"), None);
        let loaded = load(&store, 1).await.expect("reads");
        assert_eq!(*loaded.clients["a"], client);
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
            claims: signet_oauth::people::claim_rules::parse(
                br#"["groups"]"#,
                signet_oauth::people::claim_rules::TableOf::Resource,
            )
            .expect("rows"),
            revision: 1,
        };
        let value = Some(records::write_resource(&resource));
        let name = "https://api.example";
        put(&store, RecordKind::Resource, name, None, value)
            .await
            .expect("is new");
        let loaded = load(&store, 1).await.expect("reads");
        assert_eq!(*loaded.resources[name], resource);
    }
}
