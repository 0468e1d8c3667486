//! What this node believes, and the one function that changes it.
//!
//! The hot path takes no lock: it loads one `Arc<Snapshot>` and reads. Every change comes as a
//! [`Delta`], after it is durable; [`Replica::apply`] makes the next snapshot of it and swaps it
//! in. A request that is under way keeps the snapshot that it began with.
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use arc_swap::ArcSwap;
use signet_crypto::seal::Keyring;
use signet_oauth::registry::Registry;

use super::Snapshot;
use crate::{
    delta::{Configuration, Delta},
    keys::{KeysError, Published},
    records,
};

/// See the module.
pub struct Replica {
    snapshot: ArcSwap<Snapshot>,
    /// What snapshots are made of. Writers come one after another; readers never touch it.
    known: Mutex<Known>,
}

struct Known {
    configuration: Configuration,
    /// The records of the store with the standard scopes, without the configuration's.
    stored: Registry,
    keys: Published,
}

impl Replica {
    /// What is known at the start. `stored`: the store's records, with the standard scopes.
    ///
    /// # Errors
    /// [`KeysError`], where the keys cannot be put into one set.
    pub fn new(
        configuration: Configuration,
        stored: Registry,
        keys: Published,
    ) -> Result<Replica, KeysError> {
        let registry = joined(&stored, &configuration.declared);
        let snapshot = Snapshot::new(
            Arc::clone(&configuration.settings),
            Arc::new(registry),
            Arc::new(keys.render()?),
        );
        Ok(Replica {
            snapshot: ArcSwap::from_pointee(snapshot),
            known: Mutex::new(Known {
                configuration,
                stored,
                keys,
            }),
        })
    }

    /// The current snapshot. A request takes it once, through its `Context`.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.snapshot.load_full()
    }

    /// What the configuration says at the moment.
    pub fn configuration(&self) -> Configuration {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.configuration.clone()
    }

    /// Puts changes in effect, all at once, in their order. They are durable already. `keyring`
    /// opens keys.
    ///
    /// # Errors
    /// [`KeysError`], where a key does not open or is not the one that it is called; then nothing
    /// is changed.
    pub fn apply(
        &self,
        keyring: &Keyring,
        deltas: impl IntoIterator<Item = Delta>,
    ) -> Result<(), KeysError> {
        // A poisoned lock means that a writer panicked: what it had not swapped in is not in
        // effect, and what is known is whole, because a delta is put in by assignments alone.
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let mut keys = None;
        let mut records = Vec::new();
        for delta in deltas {
            match delta {
                Delta::Key { kid, record } => keys
                    .get_or_insert_with(|| known.keys.clone())
                    .apply(&kid, record.as_deref(), keyring)?,
                other @ (Delta::Client { .. }
                | Delta::Resource { .. }
                | Delta::Scope { .. }
                | Delta::Configuration(_)) => records.push(other),
            }
        }
        let set = keys.as_ref().map(Published::render).transpose()?;
        let before = self.snapshot.load();
        // The same set while no key changes: memories of verified tokens belong to one set.
        let set = set.map_or_else(|| Arc::clone(&before.keys), Arc::new);
        if let Some(keys) = keys {
            known.keys = keys;
        }
        let registry = if records.is_empty() {
            Arc::clone(&before.registry)
        } else {
            Arc::new(known.put(records, &before.registry))
        };
        let settings = Arc::clone(&known.configuration.settings);
        self.snapshot
            .store(Arc::new(Snapshot::new(settings, registry, set)));
        Ok(())
    }
}

impl Known {
    /// The registry with these changes.
    fn put(&mut self, deltas: Vec<Delta>, before: &Registry) -> Registry {
        let mut registry = before.clone();
        for delta in deltas {
            match delta {
                Delta::Client { client_id, record } => {
                    set(&mut self.stored.clients, &client_id, record);
                    show(
                        &mut registry.clients,
                        &client_id,
                        &self.stored.clients,
                        &self.configuration.declared.clients,
                    );
                }
                Delta::Resource { identifier, record } => {
                    set(&mut self.stored.resources, &identifier, record);
                    show(
                        &mut registry.resources,
                        &identifier,
                        &self.stored.resources,
                        &self.configuration.declared.resources,
                    );
                }
                Delta::Scope { name, record } => {
                    match record {
                        Some(entry) => records::put_scope(&mut self.stored, entry),
                        None => records::forget_scope(&mut self.stored, &name),
                    }
                    registry.scopes = joined_scopes(&self.stored, &self.configuration.declared);
                }
                Delta::Configuration(next) => {
                    self.configuration = next;
                    registry = joined(&self.stored, &self.configuration.declared);
                }
                // Taken by the caller.
                Delta::Key { .. } => {}
            }
        }
        registry
    }
}

fn set<T>(records: &mut HashMap<String, T>, name: &str, record: Option<T>) {
    match record {
        Some(record) => drop(records.insert(name.to_owned(), record)),
        None => drop(records.remove(name)),
    }
}

/// The configuration's record of a name holds over the store's.
fn show<T: Clone>(
    shown: &mut HashMap<String, T>,
    name: &str,
    stored: &HashMap<String, T>,
    declared: &HashMap<String, T>,
) {
    set(
        shown,
        name,
        declared.get(name).or_else(|| stored.get(name)).cloned(),
    );
}

fn joined(stored: &Registry, declared: &Registry) -> Registry {
    let mut registry = stored.clone();
    let clients = declared.clients.iter();
    registry
        .clients
        .extend(clients.map(|(id, client)| (id.clone(), Arc::clone(client))));
    let resources = declared.resources.iter();
    registry
        .resources
        .extend(resources.map(|(id, resource)| (id.clone(), Arc::clone(resource))));
    registry.scopes = joined_scopes(stored, declared);
    registry
}

fn joined_scopes(
    stored: &Registry,
    declared: &Registry,
) -> Vec<signet_oauth::registry::ScopeEntry> {
    let mut joined = Registry {
        clients: HashMap::new(),
        resources: HashMap::new(),
        scopes: stored.scopes.clone(),
    };
    for entry in &declared.scopes {
        records::put_scope(&mut joined, entry.clone());
    }
    joined.scopes
}
