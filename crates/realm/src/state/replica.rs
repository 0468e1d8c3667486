//! What this node believes, and the one function that changes it.
//!
//! The hot path takes no lock: it loads one `Arc<Snapshot>` and reads. Every change comes as a
//! [`Delta`], after it is durable; [`Replica::apply`] makes the next snapshot of it and swaps it
//! in. A request that is under way keeps the snapshot that it began with.
use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use arc_swap::ArcSwap;
use signet_crypto::seal::Keyring;
use signet_merge::crdt::Record;
use signet_oauth::command_line;
use signet_oauth::people::People;
use signet_oauth::people::access_rules::Rules;
use signet_oauth::people::provider::Providers;
use signet_oauth::registry::{Counted, Records, Registry};
use signet_registry::{
    fields,
    kinds::RecordKind,
    merged::{Heard, Merged},
};

use super::Snapshot;
use signet_registry::delta::{Configuration, Delta, Malformed};
use signet_registry::keys::{KeysError, Published};
use signet_registry::records;

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
    pub keys: Published,
    /// What was heard of each record, where several nodes write the store.
    merged: Option<Merged>,
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
                merged: None,
            }),
        })
    }

    /// The current snapshot. A request takes it once, through its `Context`.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.snapshot.load_full()
    }

    /// What the configuration says at the moment.
    pub fn configuration(&self) -> Configuration {
        self.known().configuration.clone()
    }

    /// From now on several nodes write the store: what they tell is merged with what is known. What
    /// is known has to be read again after this.
    pub fn begin_merging(&self) {
        self.known().merged.get_or_insert_default();
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        // A poisoned lock means that a writer panicked: what it had not swapped in is not in
        // effect, and what is known is whole, because a delta is put in by assignments alone.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts changes in effect, all at once, in their order. They are durable already. `keyring`
    /// opens keys; `now_ms`: Unix milliseconds. Whether all of them could be: where not, what is
    /// known of a record may be older than what the store has.
    ///
    /// # Errors
    /// [`KeysError`], where a key does not open or is not the one that it is called; then nothing
    /// is changed, but for what is known of how records merge.
    pub fn apply(
        &self,
        keyring: &Keyring,
        now_ms: u64,
        deltas: impl IntoIterator<Item = Delta>,
    ) -> Result<bool, KeysError> {
        let mut known = self.known();
        let mut keys = None;
        let mut records = Vec::new();
        let mut all = true;
        for delta in deltas {
            let delta = match delta {
                Delta::Heard {
                    kind,
                    name,
                    state,
                    stored,
                } => match known.hear(kind, &name, &state, stored, now_ms) {
                    Hearing::News(delta) => delta,
                    Hearing::Known => continue,
                    Hearing::Doubtful => {
                        all = false;
                        continue;
                    }
                },
                delta @ (Delta::Client { .. }
                | Delta::Resource { .. }
                | Delta::Scope { .. }
                | Delta::Group { .. }
                | Delta::Role { .. }
                | Delta::Attribute { .. }
                | Delta::Rule { .. }
                | Delta::Provider { .. }
                | Delta::Key { .. }
                | Delta::Configuration(_)) => delta,
            };
            match delta {
                Delta::Key { kid, record } => keys
                    .get_or_insert_with(|| known.keys.clone())
                    .apply(&kid, record.as_deref(), keyring)?,
                other @ (Delta::Client { .. }
                | Delta::Resource { .. }
                | Delta::Scope { .. }
                | Delta::Group { .. }
                | Delta::Role { .. }
                | Delta::Attribute { .. }
                | Delta::Rule { .. }
                | Delta::Provider { .. }
                | Delta::Configuration(_)) => records.push(other),
                // What was heard has become one of the others.
                Delta::Heard { .. } => {}
            }
        }
        if keys.is_none() && records.is_empty() {
            return Ok(all);
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
        Ok(all)
    }

    /// Whether what was told of a record is still the last word on it.
    pub fn is_current(&self, kind: RecordKind, name: &str, state: &Record) -> bool {
        let known = self.known();
        let merged = known.merged.as_ref();
        merged.is_none_or(|merged| !merged.supersedes(kind, name, state))
    }

    /// The records that live, as they were heard, but for those whose places are given.
    pub fn heard_beside(
        &self,
        places: &BTreeSet<(RecordKind, String)>,
    ) -> Vec<(RecordKind, String, Record)> {
        let known = self.known();
        let Some(merged) = &known.merged else {
            return Vec::new();
        };
        let living = merged.living().filter_map(|(kind, name)| {
            let place = (kind, name.to_owned());
            let state = (!places.contains(&place)).then(|| merged.state(kind, name))??;
            Some((kind, place.1, state))
        });
        living.collect()
    }

    /// Forgets records that were removed long ago. `now_ms`: Unix milliseconds.
    pub fn sweep(&self, now_ms: u64) {
        if let Some(merged) = &mut self.known().merged {
            merged.sweep(now_ms);
        }
    }
}

/// The outcome of a word.
enum Hearing {
    /// It is this change.
    News(Delta),
    /// It says nothing new.
    Known,
    /// The store knows better.
    Doubtful,
}

impl Known {
    /// A word of another node, or of the store, as the change that it is here.
    fn hear(
        &mut self,
        kind: RecordKind,
        name: &str,
        state: &Record,
        stored: bool,
        now_ms: u64,
    ) -> Hearing {
        let heard = match &mut self.merged {
            None => fields::read(state, kind).map(Heard::Changed),
            Some(merged) if stored => merged.read(kind, name, state).map(Heard::Changed),
            Some(merged) => merged.hear(kind, name, state, now_ms),
        };
        let delta = match heard {
            Ok(Heard::Changed(record)) => Delta::of_stored(kind, name, record.as_deref()),
            Ok(Heard::Known) => return Hearing::Known,
            Ok(Heard::Doubtful) => return Hearing::Doubtful,
            Err(_) => Err(Malformed),
        };
        match delta {
            // The client that every server has is again as it was before it was changed.
            Ok(Delta::Client {
                client_id,
                record: None,
            }) if client_id == command_line::CLIENT_ID => Hearing::News(Delta::Client {
                client_id,
                record: command_line::client().ok().map(Arc::new),
            }),
            Ok(delta) => Hearing::News(delta),
            Err(Malformed) => {
                let what = kind.row().what;
                tracing::error!(what, name, "failed to read a record of another node");
                Hearing::Doubtful
            }
        }
    }

    /// The registry with these changes.
    fn put(&mut self, deltas: Vec<Delta>, before: &Registry) -> Registry {
        let mut registry = before.clone();
        let mut people = false;
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
                Delta::Group { name, record } => {
                    let stored = Arc::make_mut(&mut self.stored.people);
                    match record {
                        Some(group) => stored.put_group(group),
                        None => stored.forget_group(&name),
                    }
                    people = true;
                }
                Delta::Role { name, record } => {
                    let stored = Arc::make_mut(&mut self.stored.people);
                    match record {
                        Some(role) => stored.put_role(role),
                        None => stored.forget_role(&name),
                    }
                    people = true;
                }
                Delta::Attribute { name, record } => {
                    let stored = Arc::make_mut(&mut self.stored.people);
                    match record {
                        Some(attribute) => drop(stored.attributes.insert(name, attribute)),
                        None => drop(stored.attributes.remove(&name)),
                    }
                    people = true;
                }
                Delta::Rule { name, record } => {
                    let stored = Arc::make_mut(&mut self.stored.rules);
                    match record {
                        Some(rule) => drop(stored.insert(name, rule)),
                        None => drop(stored.remove(&name)),
                    }
                    registry.rules = joined_rules(&self.stored, &self.configuration.declared);
                }
                Delta::Provider { name, record } => {
                    let stored = Arc::make_mut(&mut self.stored.providers);
                    match record {
                        Some(provider) => stored.put(provider),
                        None => stored.forget(&name),
                    }
                    let declared = &self.configuration.declared;
                    registry.providers = joined_providers(&self.stored, declared);
                }
                Delta::Configuration(next) => {
                    self.configuration = next;
                    registry = joined(&self.stored, &self.configuration.declared);
                }
                // Taken by the caller.
                Delta::Key { .. } | Delta::Heard { .. } => {}
            }
        }
        if people {
            registry.people = joined_people(&self.stored, &self.configuration.declared);
        }
        registry
    }
}

fn set<T: Counted>(records: &mut Records<T>, name: &str, record: Option<Arc<T>>) {
    match record {
        Some(record) => records.insert(name.to_owned(), record),
        None => records.remove(name),
    }
}

/// The configuration's record of a name holds over the store's.
fn show<T: Counted>(
    shown: &mut Records<T>,
    name: &str,
    stored: &Records<T>,
    declared: &Records<T>,
) {
    set(
        shown,
        name,
        declared.get(name).or_else(|| stored.get(name)).cloned(),
    );
}

fn joined(stored: &Registry, declared: &Registry) -> Registry {
    let mut registry = stored.clone();
    for (id, client) in declared.clients.iter() {
        registry.clients.insert(id.to_owned(), Arc::clone(client));
    }
    for (id, resource) in declared.resources.iter() {
        registry
            .resources
            .insert(id.to_owned(), Arc::clone(resource));
    }
    registry.scopes = joined_scopes(stored, declared);
    registry.people = joined_people(stored, declared);
    registry.rules = joined_rules(stored, declared);
    registry.providers = joined_providers(stored, declared);
    registry
}

fn joined_rules(stored: &Registry, declared: &Registry) -> Arc<Rules> {
    if declared.rules.is_empty() {
        return Arc::clone(&stored.rules);
    }
    let mut joined = Rules::clone(&stored.rules);
    let declared = declared.rules.iter();
    joined.extend(declared.map(|(name, rule)| (name.clone(), Arc::clone(rule))));
    Arc::new(joined)
}

fn joined_providers(stored: &Registry, declared: &Registry) -> Arc<Providers> {
    if declared.providers.is_empty() {
        return Arc::clone(&stored.providers);
    }
    let mut joined = Providers::clone(&stored.providers);
    joined.over(&declared.providers);
    Arc::new(joined)
}

fn joined_people(stored: &Registry, declared: &Registry) -> Arc<People> {
    if declared.people.is_empty() {
        return Arc::clone(&stored.people);
    }
    let mut joined = People::clone(&stored.people);
    joined.over(&declared.people);
    Arc::new(joined)
}

fn joined_scopes(
    stored: &Registry,
    declared: &Registry,
) -> Vec<signet_oauth::registry::ScopeEntry> {
    let mut joined = Registry {
        scopes: stored.scopes.clone(),
        ..Registry::default()
    };
    for entry in &declared.scopes {
        records::put_scope(&mut joined, entry.clone());
    }
    joined.scopes
}
