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
use signet_oauth::registry::{RealmEntries, Registry};
use signet_registry::{
    fields,
    kinds::{KINDS, RecordKind},
    merged::{Heard, Merged},
};

use super::Snapshot;
use signet_registry::delta::{Configuration, Delta, Malformed};
use signet_registry::keys::{KeysError, Published};

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

    /// Whether the current snapshot has these realms.
    pub(super) fn has_realms(&self, entries: &Arc<RealmEntries>) -> bool {
        Arc::ptr_eq(&self.snapshot.load().registry.realms, entries)
    }

    /// What the configuration says at the moment.
    pub fn configuration(&self) -> Configuration {
        self.known().configuration.clone()
    }

    /// A replica of its own that knows the same, for changes that are tried before they are made.
    /// It merges nothing: what is tried is not told.
    pub(super) fn fork(&self) -> Replica {
        let known = self.known();
        Replica {
            snapshot: ArcSwap::new(self.snapshot.load_full()),
            known: Mutex::new(Known {
                configuration: known.configuration.clone(),
                stored: known.stored.clone(),
                keys: known.keys.clone(),
                merged: None,
            }),
        }
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
                delta @ (Delta::Record { .. } | Delta::Key { .. } | Delta::Configuration(_)) => {
                    delta
                }
            };
            match delta {
                Delta::Key { kid, record } => keys
                    .get_or_insert_with(|| known.keys.clone())
                    .apply(&kid, record.as_deref(), keyring)?,
                other @ (Delta::Record { .. } | Delta::Configuration(_)) => records.push(other),
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

    /// Whether what was announced about a record is still the last word on it.
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
        for delta in deltas {
            match delta {
                Delta::Record { kind, name, record } => {
                    let Some(of_kind) = kind.row().registry else {
                        continue;
                    };
                    (of_kind.set)(&mut self.stored, &name, record);
                    // The configuration's record of a name holds over the store's.
                    let declared = (of_kind.get)(&self.configuration.declared, &name);
                    let shown = declared.or_else(|| (of_kind.get)(&self.stored, &name));
                    (of_kind.set)(&mut registry, &name, shown);
                }
                Delta::Configuration(next) => {
                    self.configuration = next;
                    registry = joined(&self.stored, &self.configuration.declared);
                }
                // Taken by the caller.
                Delta::Key { .. } | Delta::Heard { .. } => {}
            }
        }
        registry
    }
}

fn joined(stored: &Registry, declared: &Registry) -> Registry {
    let mut registry = stored.clone();
    for of_kind in KINDS.iter().filter_map(|row| row.registry) {
        for name in (of_kind.names)(declared) {
            (of_kind.set)(&mut registry, &name, (of_kind.get)(declared, &name));
        }
    }
    registry
}
