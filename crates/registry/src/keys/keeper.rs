//! Keeps the keys: reads and writes their rows, does what is due, and makes the view that requests
//! read.
use super::{
    KeyKind, Phase, Policy,
    material::Material,
    plan::{Step, next_step},
    published::Published,
    record::Record,
};
use crate::delta::Delta;
use signet_audit::{Action, Event, with_record};
use signet_crypto::{KeyError, seal::Keyring};
use signet_oauth::{registry::Registry, settings::Settings};
use signet_store::{Change, Key, Op, Outcome, Store, StoreError, Table};
use std::{collections::BTreeMap, sync::Arc};
use tokio::sync::Mutex;

const PAGE: usize = 256;

/// Why the keys could not be had or changed. None of it is a client's fault.
#[derive(Debug, thiserror::Error)]
pub enum KeysError {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The cryptography library failed, or a stored key does not fit its algorithm.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// As before, of a key of compact tokens.
    #[error(transparent)]
    Compact(#[from] signet_compact::KeyError),
    /// The sealing keys at hand do not open a stored key: the file belongs to another data
    /// directory, or is too old.
    #[error("a signing key does not open with the sealing keys of this data directory")]
    Sealed,
    /// A stored record is not what was written.
    #[error("a stored signing key cannot be read")]
    Unreadable,
    /// No key is kept for this algorithm.
    #[error("there is no signing key for this algorithm")]
    NoSuchAlgorithm,
    /// The runtime is stopping.
    #[error("the server is stopping")]
    Stopping,
}

/// A key as it may be shown.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KeyInfo {
    /// Key id.
    pub kid: String,
    /// Its one format and algorithm.
    pub kind: KeyKind,
    /// Where it is in its life.
    pub phase: Phase,
    /// Made and published, Unix seconds.
    pub created_at: u64,
    /// Signs from then on.
    pub active_from: Option<u64>,
    /// Standby: will sign from then on, unless it is asked for earlier.
    pub signs_from: Option<u64>,
    /// Signs no more since then.
    pub retired_at: Option<u64>,
    /// Is removed then.
    pub ends_at: Option<u64>,
    /// The next key takes over as soon as it has been published for long enough.
    pub rotates_soon: bool,
}

/// When something is done, and how long the tokens live that are signed then; seconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Moment {
    /// Unix seconds.
    pub now: u64,
    /// The longest lifetime of any token: see [`longest_token`].
    pub longest_token: u64,
}

/// The longest lifetime that a signed token can have, in seconds: a key must outlive all that it
/// signed.
pub fn longest_token(settings: &Settings, registry: &Registry) -> u64 {
    let clients = registry.clients.values().map(|c| c.access_token_lifetime);
    let resources = registry.resources.values().map(|r| r.access_token_lifetime);
    clients
        .chain(resources)
        .flatten()
        .chain([settings.access_token_lifetime, settings.id_token_lifetime])
        .max()
        .unwrap_or(0)
}

struct Entry {
    record: Record,
    version: u64,
    key: Material,
}

/// The issuer's signing keys. Changes come one after another; requests read the [`KeySet`] of their
/// snapshot.
pub struct SigningKeys {
    store: Arc<dyn Store>,
    kinds: Vec<KeyKind>,
    policy: Policy,
    entries: Mutex<Vec<Entry>>,
}

impl SigningKeys {
    /// Reads the keys, and makes an active one for each of `kinds` that has none. Standby keys are
    /// left to the first [`SigningKeys::tick`], so that a start does not wait for them.
    ///
    /// # Errors
    /// See [`KeysError`]: a server without its keys must not start.
    pub async fn load(
        store: Arc<dyn Store>,
        keyring: Arc<Keyring>,
        kinds: impl IntoIterator<Item = impl Into<KeyKind>>,
        policy: Policy,
        at: Moment,
    ) -> Result<(SigningKeys, Published), KeysError> {
        let keys = SigningKeys {
            store,
            kinds: kinds.into_iter().map(Into::into).collect(),
            policy,
            entries: Mutex::default(),
        };
        let mut entries = keys.read(&keyring, at.now).await?;
        while let Some(step) = keys.due(&entries, at.now)
            && !matches!(step, Step::Generate(_))
        {
            match keys.perform(&mut entries, step, &keyring, at).await {
                // The keys that are there are in force; the step is for when there is space.
                Err(KeysError::Store(StoreError::Unavailable(_))) if keys.store.is_full() => {
                    tracing::error!("the disk is full: a due step of the signing keys waits");
                    break;
                }
                done => done?,
            }
        }
        let published = entries
            .iter()
            .map(|entry| (entry.record.clone(), entry.key.clone()))
            .collect();
        *keys.entries.lock().await = entries;
        Ok((keys, published))
    }

    async fn read(&self, keyring: &Keyring, now: u64) -> Result<Vec<Entry>, KeysError> {
        let mut entries = Vec::new();
        let mut after: Option<Key> = None;
        loop {
            let page = self
                .store
                .page(Table::SigningKey, after.as_ref(), PAGE, now)
                .await?;
            let last = page.len() < PAGE;
            for (key, row) in page {
                let record = Record::parse(&row.value)?;
                if record.key() != key {
                    return Err(KeysError::Unreadable);
                }
                entries.push(Entry::open(record, row.version, keyring)?);
                after = Some(key);
            }
            if last {
                return Ok(entries);
            }
        }
    }

    fn due(&self, entries: &[Entry], now: u64) -> Option<Step> {
        let records: Vec<&Record> = entries.iter().map(|e| &e.record).collect();
        next_step(&records, &self.kinds, &self.policy, now)
    }

    /// Does what is due, and hands the changes to `publish` if there are any. To be called every
    /// minute or so.
    ///
    /// # Errors
    /// See [`KeysError`]. What had been done by then is in effect.
    pub async fn tick(
        &self,
        keyring: &Arc<Keyring>,
        at: Moment,
        publish: impl FnOnce(Vec<Delta>),
    ) -> Result<bool, KeysError> {
        let mut entries = self.entries.lock().await;
        let before = encoded(&entries)?;
        let result = self.catch_up(&mut entries, keyring, at).await;
        let changes = changes(&before, &entries)?;
        let changed = !changes.is_empty();
        if changed {
            publish(changes);
        }
        result.map(|()| changed)
    }

    async fn catch_up(
        &self,
        entries: &mut Vec<Entry>,
        keyring: &Arc<Keyring>,
        at: Moment,
    ) -> Result<(), KeysError> {
        while let Some(step) = self.due(entries, at.now) {
            self.perform(entries, step, keyring, at).await?;
        }
        Ok(())
    }

    /// Lets the standby keys take over: at once where they have been published for long enough,
    /// else as soon as they have. One algorithm, or all. The old keys go on verifying.
    ///
    /// # Errors
    /// See [`KeysError`].
    pub async fn rotate(
        &self,
        kind: Option<KeyKind>,
        keyring: &Arc<Keyring>,
        at: Moment,
        publish: impl FnOnce(Vec<Delta>),
    ) -> Result<(), KeysError> {
        let mut entries = self.entries.lock().await;
        let before = encoded(&entries)?;
        let result = self.rotate_soon(&mut entries, kind, keyring, at).await;
        publish(changes(&before, &entries)?);
        result
    }

    async fn rotate_soon(
        &self,
        entries: &mut Vec<Entry>,
        kind: Option<KeyKind>,
        keyring: &Arc<Keyring>,
        at: Moment,
    ) -> Result<(), KeysError> {
        for place in self.active(entries, kind)? {
            let mut record = entries[place].record.clone();
            record.rotate_soon = true;
            self.replace(entries, place, record, Vec::new(), at.now)
                .await?;
        }
        self.catch_up(entries, keyring, at).await
    }

    /// For keys that somebody else may have: the active ones are withdrawn at once, with everything
    /// that they signed. The standby keys take over; `standby_too` withdraws those as well and
    /// makes new ones, which clients learn of when they meet the unknown `kid`.
    ///
    /// # Errors
    /// See [`KeysError`].
    pub async fn rotate_compromised(
        &self,
        kind: Option<KeyKind>,
        standby_too: bool,
        keyring: &Arc<Keyring>,
        at: Moment,
        publish: impl FnOnce(Vec<Delta>),
    ) -> Result<(), KeysError> {
        let mut entries = self.entries.lock().await;
        let before = encoded(&entries)?;
        let result = self
            .withdraw(&mut entries, kind, standby_too, keyring, at)
            .await;
        // What was withdrawn before a failure is withdrawn.
        publish(changes(&before, &entries)?);
        result
    }

    async fn withdraw(
        &self,
        entries: &mut Vec<Entry>,
        kind: Option<KeyKind>,
        standby_too: bool,
        keyring: &Arc<Keyring>,
        at: Moment,
    ) -> Result<(), KeysError> {
        self.active(entries, kind)?;
        let affected = |entry: &Entry| {
            kind.is_none_or(|a| a.name() == entry.record.alg)
                && (entry.record.phase() != Phase::Standby || standby_too)
        };
        while let Some(place) = entries.iter().position(affected) {
            self.perform(entries, Step::Remove(place), keyring, at)
                .await?;
        }
        self.catch_up(entries, keyring, at).await
    }

    /// Seals every private half anew that an older sealing key sealed; how many. After a rotation
    /// of the sealing key.
    ///
    /// # Errors
    /// See [`KeysError`]. The older sealing key must stay until this has succeeded.
    pub async fn rewrap(
        &self,
        keyring: &Keyring,
        now: u64,
        publish: impl FnOnce(Vec<Delta>),
    ) -> Result<usize, KeysError> {
        let mut entries = self.entries.lock().await;
        let before = encoded(&entries)?;
        let mut count = 0;
        for place in 0..entries.len() {
            let mut record = entries[place].record.clone();
            if record.rewrap(keyring)? {
                self.replace(&mut entries, place, record, Vec::new(), now)
                    .await?;
                count += 1;
            }
        }
        publish(changes(&before, &entries)?);
        Ok(count)
    }

    /// All keys: active ones first, then standby, then retired.
    pub async fn list(&self) -> Vec<KeyInfo> {
        let entries = self.entries.lock().await;
        let records: Vec<&Record> = entries.iter().map(|entry| &entry.record).collect();
        let mut keys: Vec<KeyInfo> = entries
            .iter()
            .filter_map(|entry| {
                let next = super::plan::signs_from(&records, &entry.record.alg, &self.policy);
                let next = next.filter(|(kid, _)| *kid == entry.record.kid);
                Some(KeyInfo {
                    signs_from: next.map(|(_, from)| from),
                    kid: entry.record.kid.clone(),
                    kind: entry.record.kind().ok()?,
                    phase: entry.record.phase(),
                    created_at: entry.record.created_at,
                    active_from: entry.record.active_from,
                    retired_at: entry.record.retired_at,
                    ends_at: entry.record.ends_at,
                    rotates_soon: entry.record.rotate_soon,
                })
            })
            .collect();
        keys.sort_by_key(|k| (k.phase.order(), k.kind, k.created_at));
        keys
    }

    fn active(&self, entries: &[Entry], kind: Option<KeyKind>) -> Result<Vec<usize>, KeysError> {
        let places: Vec<usize> = (0..entries.len())
            .filter(|place| entries[*place].record.phase() == Phase::Active)
            .filter(|place| kind.is_none_or(|a| a.name() == entries[*place].record.alg))
            .collect();
        match places.is_empty() {
            true => Err(KeysError::NoSuchAlgorithm),
            false => Ok(places),
        }
    }

    /// Does a step; its change carries a line of the audit trail.
    async fn perform(
        &self,
        entries: &mut Vec<Entry>,
        step: Step,
        keyring: &Arc<Keyring>,
        at: Moment,
    ) -> Result<(), KeysError> {
        let kid_of = |place: usize| entries[place].record.kid.clone();
        let (operation, target) = match &step {
            Step::Generate(kind) => ("publish", kind.name().to_owned()),
            Step::GenerateActive(kind) => ("publish_active", kind.name().to_owned()),
            Step::Succeed { next, .. } => ("activate", kid_of(*next)),
            Step::Retire(place) => ("retire", kid_of(*place)),
            Step::Remove(place) => ("remove", kid_of(*place)),
        };
        let event = Event::new(Action::KEY, at.now.saturating_mul(1000)).happened();
        let event = event.operation(operation).target(&target);
        with_record(event, self.take_step(entries, step, keyring, at))
            .await
            .0
    }

    async fn take_step(
        &self,
        entries: &mut Vec<Entry>,
        step: Step,
        keyring: &Arc<Keyring>,
        at: Moment,
    ) -> Result<(), KeysError> {
        match step {
            Step::Generate(kind) => self.generate(entries, kind, None, keyring, at).await,
            Step::GenerateActive(kind) => {
                self.generate(entries, kind, Some(at.now), keyring, at)
                    .await
            }
            Step::Succeed { next, active } => {
                let mut record = entries[next].record.clone();
                record.active_from = Some(at.now);
                let mut then = Vec::new();
                let mut retired = None;
                if let Some(place) = active {
                    let old = self.retired(&entries[place].record, at);
                    then.push(Op::Put {
                        key: old.key(),
                        value: old.encode()?,
                        end: None,
                    });
                    retired = Some((place, old));
                }
                tracing::info!(
                    kid = record.kid,
                    alg = record.alg,
                    "a signing key is active"
                );
                self.replace(entries, next, record, then, at.now).await?;
                if let Some((place, old)) = retired {
                    self.refresh(&mut entries[place], old, at.now).await?;
                }
                Ok(())
            }
            Step::Retire(place) => {
                let record = self.retired(&entries[place].record, at);
                self.replace(entries, place, record, Vec::new(), at.now)
                    .await
            }
            Step::Remove(place) => {
                let record = &entries[place].record;
                tracing::info!(
                    kid = record.kid,
                    alg = record.alg,
                    "a signing key is removed"
                );
                let removal = Op::Delete { key: record.key() };
                self.store.commit(Change::new(removal), at.now).await?;
                entries.remove(place);
                Ok(())
            }
        }
    }

    fn retired(&self, record: &Record, at: Moment) -> Record {
        let mut record = record.clone();
        record.rotate_soon = false;
        record.retired_at = Some(at.now);
        record.ends_at = Some(
            at.now
                .saturating_add(at.longest_token)
                .saturating_add(self.policy.grace),
        );
        record
    }

    async fn generate(
        &self,
        entries: &mut Vec<Entry>,
        kind: KeyKind,
        active_from: Option<u64>,
        keyring: &Arc<Keyring>,
        at: Moment,
    ) -> Result<(), KeysError> {
        let ring = Arc::clone(keyring);
        let (mut record, key) =
            tokio::task::spawn_blocking(move || Record::generate(kind, &ring, at.now))
                .await
                .map_err(|_| KeysError::Stopping)??;
        record.active_from = active_from;
        let insert = Op::Insert {
            key: record.key(),
            value: record.encode()?,
            end: None,
        };
        tracing::info!(
            kid = record.kid,
            alg = record.alg,
            "a signing key is published"
        );
        match self.store.commit(Change::new(insert), at.now).await? {
            Outcome::Done { version } => {
                entries.push(Entry {
                    record,
                    version,
                    key,
                });
                Ok(())
            }
            // The id is the key's own hash: a second one with it would be the same key.
            Outcome::Refused(_) => Err(KeysError::Unreadable),
        }
    }

    async fn replace(
        &self,
        entries: &mut [Entry],
        place: usize,
        record: Record,
        then: Vec<Op>,
        now: u64,
    ) -> Result<(), KeysError> {
        let entry = &mut entries[place];
        let first = Op::Replace {
            key: record.key(),
            version: entry.version,
            value: record.encode()?,
            end: None,
        };
        match self.store.commit(Change { first, then }, now).await? {
            Outcome::Done { version } => {
                entry.record = record;
                entry.version = version;
                Ok(())
            }
            Outcome::Refused(_) => Err(KeysError::Store(StoreError::Unavailable(
                "another process changed the signing keys".to_owned(),
            ))),
        }
    }

    /// After a write without condition: the version that it made.
    async fn refresh(&self, entry: &mut Entry, record: Record, now: u64) -> Result<(), KeysError> {
        let row = self.store.get(&record.key(), now).await?;
        entry.version = row.ok_or(KeysError::Unreadable)?.version;
        entry.record = record;
        Ok(())
    }
}

impl Entry {
    fn open(record: Record, version: u64, keyring: &Keyring) -> Result<Entry, KeysError> {
        Ok(Entry {
            key: record.open(keyring)?,
            version,
            record,
        })
    }
}

/// The records as they are at rest, by `kid`.
fn encoded(entries: &[Entry]) -> Result<BTreeMap<String, Vec<u8>>, KeysError> {
    let encode = |entry: &Entry| Ok((entry.record.kid.clone(), entry.record.encode()?));
    entries.iter().map(encode).collect()
}

/// What has changed since `before`: keys that are new or have another record, and keys that are
/// gone.
fn changes(before: &BTreeMap<String, Vec<u8>>, entries: &[Entry]) -> Result<Vec<Delta>, KeysError> {
    let after = encoded(entries)?;
    let gone = before.keys().filter(|kid| !after.contains_key(*kid));
    let gone = gone.map(|kid| Delta::Key {
        kid: kid.clone(),
        record: None,
    });
    let written = after
        .iter()
        .filter(|(kid, record)| before.get(*kid) != Some(record));
    let written = written.map(|(kid, record)| Delta::Key {
        kid: kid.clone(),
        record: Some(record.clone()),
    });
    Ok(gone.chain(written).collect())
}
