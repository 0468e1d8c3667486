//! Keeps the keys: reads and writes their rows, does what is due, and makes the view that requests
//! read.
use super::{
    KeyKind, KeysError, Phase, Policy,
    material::Material,
    plan::{Step, due_steps},
    published::Published,
    record::Record,
};
use crate::{
    change_writer::{ChangeWriter, Noted},
    delta::Delta,
    kinds::RecordKind,
};
use signet_audit::{Action, Event, with_record};
use signet_crypto::seal::Keyring;
use signet_oauth::{registry::Registry, settings::Settings};
use signet_store::{COLLECTED, Change, Key, Op, Outcome, Store, StoreError, Table};
use std::{collections::BTreeMap, pin::Pin, sync::Arc};
use tokio::sync::Mutex;

const PAGE: usize = 256;

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
    let of_clients = registry.clients.tally().longest_access_token();
    let of_resources = registry.resources.tally().longest_access_token();
    of_clients
        .into_iter()
        .chain(of_resources)
        .chain([settings.access_token_lifetime, settings.id_token_lifetime])
        .max()
        .unwrap_or(0)
}

struct Entry {
    record: Record,
    key: Material,
}

/// The keys as they were last read or written.
#[derive(Default)]
struct Kept {
    entries: Vec<Entry>,
    /// The version of the row that every change of a key replaces. None: the row does not exist
    /// yet.
    generation: Option<u64>,
    /// The records that were handed to memory, by `kid`.
    shown: BTreeMap<String, Vec<u8>>,
}

/// How often a change that another node was faster with is decided again.
const MAX_TRIES: usize = 32;

/// Most steps of one change. A step writes two records at most, each with what it is to the other
/// nodes, and a line of the audit trail: what a change may carry lines beside ([`COLLECTED`]).
const STEPS_AT_ONCE: usize = 11;
const _: () = assert!(STEPS_AT_ONCE * 5 < COLLECTED);

/// The row that every change of the keys has as its condition: of two nodes that change them at
/// once one is refused, reads what the other did, and decides again.
fn generation_row() -> Key {
    Key::new(Table::Setting, b"signing-keys".as_slice())
}

/// The issuer's signing keys. Changes come one after another, also those of several nodes; requests
/// read the [`KeySet`](super::KeySet) of their snapshot.
pub struct SigningKeys {
    store: Arc<dyn Store>,
    change_writer: Arc<ChangeWriter>,
    kinds: Vec<KeyKind>,
    policy: Policy,
    kept: Mutex<Kept>,
}

impl SigningKeys {
    /// Reads the keys, and makes an active one for each of `kinds` that has none. Standby keys are
    /// left to the first [`SigningKeys::tick`], so that a start does not wait for them.
    ///
    /// # Errors
    /// See [`KeysError`]: a server without its keys must not start.
    pub async fn load(
        store: Arc<dyn Store>,
        change_writer: Arc<ChangeWriter>,
        keyring: Arc<Keyring>,
        kinds: impl IntoIterator<Item = impl Into<KeyKind>>,
        policy: Policy,
        at: Moment,
    ) -> Result<(SigningKeys, Published), KeysError> {
        let keys = SigningKeys {
            store,
            change_writer,
            kinds: kinds.into_iter().map(Into::into).collect(),
            policy,
            kept: Mutex::default(),
        };
        let mut kept = keys.read(&keyring, at.now).await?;
        let mut tries = 0;
        loop {
            let steps = keys.due(&kept.entries, at.now);
            if steps.iter().all(|step| matches!(step, Step::Generate(_))) {
                break;
            }
            match keys.perform(&mut kept, &steps, &keyring, at).await {
                Err(KeysError::Changed) if tries < MAX_TRIES => {
                    tries += 1;
                    kept = keys.read(&keyring, at.now).await?;
                }
                // The keys that are there are in force; the step is for when it can be written.
                Err(KeysError::Store(StoreError::Unavailable(_))) if keys.store.is_full() => {
                    tracing::error!("postponed signing key rotation: disk full");
                    break;
                }
                Err(KeysError::Store(error @ StoreError::Unavailable(_)))
                    if !steps.iter().any(|s| matches!(s, Step::GenerateActive(_))) =>
                {
                    tracing::warn!(%error, "postponed signing key rotation");
                    break;
                }
                done => done?,
            }
        }
        let published = kept
            .entries
            .iter()
            .map(|entry| (entry.record.clone(), entry.key.clone()))
            .collect();
        kept.shown = encoded(&kept.entries)?;
        *keys.kept.lock().await = kept;
        Ok((keys, published))
    }

    async fn generation(&self, now: u64) -> Result<Option<u64>, StoreError> {
        let row = self.store.get(&generation_row(), now).await?;
        Ok(row.map(|row| row.version))
    }

    /// Everything that is stored. The generation first: what changes while the keys are being read
    /// refuses the next change.
    async fn read(&self, keyring: &Keyring, now: u64) -> Result<Kept, KeysError> {
        let generation = self.generation(now).await?;
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
                let key_material = record.open(keyring)?;
                entries.push(Entry {
                    record,
                    key: key_material,
                });
                after = Some(key);
            }
            if last {
                // What is due for several is done in the order in which they were made; of those
                // that were made at once, in the order of their kinds: names are drawn, and say
                // nothing.
                entries.sort_by_key(|entry: &Entry| {
                    let record = &entry.record;
                    (record.created_at, record.kind().ok(), record.active_from)
                });
                return Ok(Kept {
                    entries,
                    generation,
                    shown: BTreeMap::new(),
                });
            }
        }
    }

    /// Reads again where another node has changed the keys since.
    async fn follow(&self, kept: &mut Kept, keyring: &Keyring, now: u64) -> Result<(), KeysError> {
        if self.generation(now).await? != kept.generation {
            self.read_again(kept, keyring, now).await?;
        }
        Ok(())
    }

    async fn read_again(
        &self,
        kept: &mut Kept,
        keyring: &Keyring,
        now: u64,
    ) -> Result<(), KeysError> {
        let read = self.read(keyring, now).await?;
        kept.entries = read.entries;
        kept.generation = read.generation;
        Ok(())
    }

    /// Hands what changed since the last time to memory; whether anything did.
    async fn show(
        &self,
        kept: &mut Kept,
        now: u64,
        publish: impl FnOnce(Vec<Delta>),
    ) -> Result<bool, KeysError> {
        let after = encoded(&kept.entries)?;
        let mut changes = changes(&kept.shown, &after);
        if changes.is_empty() {
            return Ok(false);
        }
        if self.change_writer.is_shared() {
            for change in &mut changes {
                if let Delta::Key { kid, .. } = change {
                    let (kind, name) = (RecordKind::Key, kid.clone());
                    let (state, _) = ChangeWriter::stored(&*self.store, kind, &name, now).await?;
                    *change = Delta::Heard {
                        kind,
                        name,
                        state,
                        stored: true,
                    };
                }
            }
        }
        publish(changes);
        kept.shown = after;
        Ok(true)
    }

    /// Reads what other nodes changed, and hands it to `publish`, if there is any.
    ///
    /// # Errors
    /// See [`KeysError`].
    pub async fn refresh(
        &self,
        keyring: &Keyring,
        now: u64,
        publish: impl FnOnce(Vec<Delta>),
    ) -> Result<bool, KeysError> {
        let mut kept = self.kept.lock().await;
        self.follow(&mut kept, keyring, now).await?;
        self.show(&mut kept, now, publish).await
    }

    fn due(&self, entries: &[Entry], now: u64) -> Vec<Step> {
        let records: Vec<&Record> = entries.iter().map(|e| &e.record).collect();
        let mut steps = due_steps(&records, &self.kinds, &self.policy, now);
        steps.truncate(STEPS_AT_ONCE);
        steps
    }

    /// Does what is due, and hands the changes to `publish` if there are any: also those that
    /// another node made. To be called every minute or so.
    ///
    /// # Errors
    /// See [`KeysError`]. What had been done by then is in effect.
    pub async fn tick(
        &self,
        keyring: &Arc<Keyring>,
        at: Moment,
        publish: impl FnOnce(Vec<Delta>),
    ) -> Result<bool, KeysError> {
        let mut kept = self.kept.lock().await;
        let result = async {
            self.follow(&mut kept, keyring, at.now).await?;
            self.catch_up(&mut kept, keyring, at).await
        };
        let result = result.await;
        let shown = self.show(&mut kept, at.now, publish).await;
        result.and(shown)
    }

    async fn catch_up(
        &self,
        kept: &mut Kept,
        keyring: &Arc<Keyring>,
        at: Moment,
    ) -> Result<(), KeysError> {
        let mut tries = 0;
        loop {
            let steps = self.due(&kept.entries, at.now);
            if steps.is_empty() {
                return Ok(());
            }
            let done = self.perform(kept, &steps, keyring, at).await;
            self.or_decide_again(done, &mut tries, kept, keyring, at)
                .await?;
        }
    }

    /// Another node was faster: what it did is read, and the caller decides again.
    async fn or_decide_again(
        &self,
        done: Result<(), KeysError>,
        tries: &mut usize,
        kept: &mut Kept,
        keyring: &Keyring,
        at: Moment,
    ) -> Result<(), KeysError> {
        match done {
            Err(KeysError::Changed) if *tries < MAX_TRIES => {
                *tries += 1;
                self.read_again(kept, keyring, at.now).await
            }
            done => done,
        }
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
        let mut kept = self.kept.lock().await;
        let result = self.rotate_soon(&mut kept, kind, keyring, at).await;
        let shown = self.show(&mut kept, at.now, publish).await;
        result.and(shown.map(drop))
    }

    async fn rotate_soon(
        &self,
        kept: &mut Kept,
        kind: Option<KeyKind>,
        keyring: &Arc<Keyring>,
        at: Moment,
    ) -> Result<(), KeysError> {
        self.follow(kept, keyring, at.now).await?;
        let mut tries = 0;
        for kid in active(&kept.entries, kind)? {
            // Where another node was faster: while it still signs.
            while let Some(entry) = kept.find(&kid)
                && entry.record.phase() == Phase::Active
                && !entry.record.rotate_soon
            {
                let mut record = entry.record.clone();
                record.rotate_soon = true;
                let done = self
                    .write(kept, vec![Write::Put(record, None)], at.now)
                    .await;
                self.or_decide_again(done, &mut tries, kept, keyring, at)
                    .await?;
            }
        }
        self.catch_up(kept, keyring, at).await
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
        let mut kept = self.kept.lock().await;
        let result = self
            .withdraw(&mut kept, kind, standby_too, keyring, at)
            .await;
        // What was withdrawn before a failure is withdrawn.
        let shown = self.show(&mut kept, at.now, publish).await;
        result.and(shown.map(drop))
    }

    async fn withdraw(
        &self,
        kept: &mut Kept,
        kind: Option<KeyKind>,
        standby_too: bool,
        keyring: &Arc<Keyring>,
        at: Moment,
    ) -> Result<(), KeysError> {
        self.follow(kept, keyring, at.now).await?;
        active(&kept.entries, kind)?;
        let affected = |entry: &&Entry| {
            kind.is_none_or(|a| a.name() == entry.record.alg)
                && (entry.record.phase() != Phase::Standby || standby_too)
        };
        let affected = kept.entries.iter().filter(affected);
        let affected: Vec<String> = affected.map(|entry| entry.record.kid.clone()).collect();
        let mut tries = 0;
        for kid in affected {
            while let Some(place) = kept.place(&kid) {
                let done = self
                    .perform(kept, &[Step::Remove(place)], keyring, at)
                    .await;
                self.or_decide_again(done, &mut tries, kept, keyring, at)
                    .await?;
            }
        }
        self.catch_up(kept, keyring, at).await
    }

    /// Seals every private half again that an older sealing key sealed; how many. After a rotation
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
        let mut kept = self.kept.lock().await;
        let result = self.seal_anew(&mut kept, keyring, now).await;
        let shown = self.show(&mut kept, now, publish).await;
        let count = result?;
        shown.map(|_| count)
    }

    async fn seal_anew(
        &self,
        kept: &mut Kept,
        keyring: &Keyring,
        now: u64,
    ) -> Result<usize, KeysError> {
        self.follow(kept, keyring, now).await?;
        let kids: Vec<String> = kept.entries.iter().map(|e| e.record.kid.clone()).collect();
        let (mut count, mut tries) = (0, 0);
        for kid in kids {
            while let Some(entry) = kept.find(&kid) {
                let mut record = entry.record.clone();
                if !record.rewrap(keyring)? {
                    break;
                }
                match self.write(kept, vec![Write::Put(record, None)], now).await {
                    Err(KeysError::Changed) if tries < MAX_TRIES => {
                        tries += 1;
                        self.read_again(kept, keyring, now).await?;
                    }
                    done => {
                        done?;
                        count += 1;
                    }
                }
            }
        }
        Ok(count)
    }

    /// All keys as they were last read or written here: active ones first, then standby, then
    /// retired.
    pub async fn list(&self) -> Vec<KeyInfo> {
        let kept = self.kept.lock().await;
        let entries = &kept.entries;
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

    /// Does these steps, all of them or none: one change of the store, which carries a line of the
    /// audit trail for each.
    async fn perform(
        &self,
        kept: &mut Kept,
        steps: &[Step],
        keyring: &Arc<Keyring>,
        at: Moment,
    ) -> Result<(), KeysError> {
        let kid_of = |place: usize| kept.entries[place].record.kid.clone();
        let named = steps.iter().map(|step| match step {
            Step::Generate(kind) => ("publish", kind.name().to_owned()),
            Step::GenerateActive(kind) => ("publish_active", kind.name().to_owned()),
            Step::Succeed { next, .. } => ("activate", kid_of(*next)),
            Step::Retire(place) => ("retire", kid_of(*place)),
            Step::Remove(place) => ("remove", kid_of(*place)),
        });
        let named: Vec<(&str, String)> = named.collect();
        let mut work: Pin<Box<dyn Future<Output = Result<(), KeysError>> + Send + '_>> =
            Box::pin(self.take_steps(kept, steps, keyring, at));
        // The outermost act's line is the first.
        for (operation, target) in named.iter().rev() {
            let event = Event::new(Action::KEY, at.now.saturating_mul(1000)).happened();
            let event = event.operation(operation).target(target);
            work = Box::pin(async move { with_record(event, work).await.0 });
        }
        work.await?;
        for (step, (_, target)) in steps.iter().zip(&named) {
            match step {
                Step::Generate(_) | Step::GenerateActive(_) => {
                    let alg = target;
                    tracing::info!(alg, "published a signing key");
                }
                Step::Succeed { .. } => tracing::info!(kid = target, "activated a signing key"),
                Step::Retire(_) => tracing::info!(kid = target, "retired a signing key"),
                Step::Remove(_) => tracing::info!(kid = target, "removed a signing key"),
            }
        }
        Ok(())
    }

    async fn take_steps(
        &self,
        kept: &mut Kept,
        steps: &[Step],
        keyring: &Arc<Keyring>,
        at: Moment,
    ) -> Result<(), KeysError> {
        let record = |place: usize| &kept.entries[place].record;
        let put = |record| Write::Put(record, None);
        let (mut writes, mut made) = (Vec::new(), Vec::new());
        for step in steps {
            match *step {
                Step::Generate(kind) => made.push((kind, None)),
                Step::GenerateActive(kind) => made.push((kind, Some(at.now))),
                Step::Succeed { next, active } => {
                    let mut successor = record(next).clone();
                    successor.active_from = Some(at.now);
                    let retired = active.map(|place| self.retired(record(place), at));
                    writes.push(put(successor));
                    writes.extend(retired.map(put));
                }
                Step::Retire(place) => writes.push(put(self.retired(record(place), at))),
                Step::Remove(place) => writes.push(Write::Remove(record(place).kid.clone())),
            }
        }
        writes.extend(self.generated(made, keyring, at).await?);
        self.write(kept, writes, at.now).await
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

    /// New keys of these kinds, one after another: each with the time from which it signs, unless
    /// it stands by.
    async fn generated(
        &self,
        wanted: Vec<(KeyKind, Option<u64>)>,
        keyring: &Arc<Keyring>,
        at: Moment,
    ) -> Result<Vec<Write>, KeysError> {
        if wanted.is_empty() {
            return Ok(Vec::new());
        }
        let ring = Arc::clone(keyring);
        let made = signet_surroundings::blocking(move || {
            let made = wanted.into_iter().map(|(kind, active_from)| {
                let (mut record, key) = Record::generate(kind, &ring, at.now)?;
                record.active_from = active_from;
                Ok(Write::Put(record, Some(key)))
            });
            made.collect()
        });
        made.await.map_err(|_| KeysError::Stopping)?
    }

    /// Writes keys, all of them or none. [`KeysError::Changed`]: they are not as they were read.
    async fn write(&self, kept: &mut Kept, writes: Vec<Write>, now: u64) -> Result<(), KeysError> {
        let (mut then, mut written) = (Vec::new(), Vec::new());
        for write in &writes {
            match write {
                Write::Put(record, _) => {
                    let value = record.encode()?;
                    written.push((record.kid.as_str(), Some(value.clone())));
                    then.push(Op::Put {
                        key: record.key(),
                        value,
                        end: None,
                    });
                }
                Write::Remove(kid) => {
                    written.push((kid.as_str(), None));
                    then.push(Op::Delete {
                        key: Key::new(Table::SigningKey, kid.as_bytes()),
                    });
                }
            }
        }
        let mut noted = Noted::default();
        for (kid, value) in &written {
            let known = kept.find(kid).map(|entry| entry.record.encode());
            let known = known.transpose()?;
            let (known, value) = (known.as_deref(), value.as_deref());
            let note =
                self.change_writer
                    .note(&*self.store, RecordKind::Key, kid, known, value, now);
            noted.add(note.await?);
        }
        then.extend(self.change_writer.rows(&noted, now));
        let (key, value) = (generation_row(), now.to_string().into_bytes());
        let first = match kept.generation {
            Some(version) => Op::Replace {
                key,
                version,
                value,
                end: None,
            },
            None => Op::Insert {
                key,
                value,
                end: None,
            },
        };
        match self.store.commit(Change { first, then }, now).await? {
            Outcome::Done { version } => kept.generation = Some(version),
            Outcome::Refused(_) => return Err(KeysError::Changed),
        }
        for write in writes {
            match write {
                Write::Put(record, key) => match (kept.place(&record.kid), key) {
                    (Some(place), _) => kept.entries[place].record = record,
                    (None, Some(key)) => kept.entries.push(Entry { record, key }),
                    // Invariant: without its key a record is one that was read.
                    (None, None) => return Err(KeysError::Unreadable),
                },
                Write::Remove(kid) => kept.entries.retain(|entry| entry.record.kid != kid),
            }
        }
        // Begins at once; a key is not used before everybody had time to hear of it.
        drop(self.change_writer.tell(noted));
        Ok(())
    }
}

/// One key of a change.
enum Write {
    /// Its record, and the key itself where it is new.
    Put(Record, Option<Material>),
    /// It goes.
    Remove(String),
}

impl Kept {
    fn place(&self, kid: &str) -> Option<usize> {
        self.entries
            .iter()
            .position(|entry| entry.record.kid == kid)
    }

    fn find(&self, kid: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.record.kid == kid)
    }
}

/// The keys that sign, by `kid`.
fn active(entries: &[Entry], kind: Option<KeyKind>) -> Result<Vec<String>, KeysError> {
    let active: Vec<String> = entries
        .iter()
        .filter(|entry| entry.record.phase() == Phase::Active)
        .filter(|entry| kind.is_none_or(|a| a.name() == entry.record.alg))
        .map(|entry| entry.record.kid.clone())
        .collect();
    match active.is_empty() {
        true => Err(KeysError::NoSuchAlgorithm),
        false => Ok(active),
    }
}

/// The records as they are at rest, by `kid`.
fn encoded(entries: &[Entry]) -> Result<BTreeMap<String, Vec<u8>>, KeysError> {
    let encode = |entry: &Entry| Ok((entry.record.kid.clone(), entry.record.encode()?));
    entries.iter().map(encode).collect()
}

/// What has changed since `before`: keys that are new or have another record, and keys that are
/// gone.
fn changes(before: &BTreeMap<String, Vec<u8>>, after: &BTreeMap<String, Vec<u8>>) -> Vec<Delta> {
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
    gone.chain(written).collect()
}
