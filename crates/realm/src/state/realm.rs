//! The realm: one issuer, and everything that is its own.
use super::{
    Host, Partition, Replica, Snapshot,
    speaking::{Claim, Mute},
};
use crate::budgets::Budgets;
use crate::outbound::Logos;
use crate::streams::Streams;
use crate::user_services::{UserServiceOptions, UserServices};
use arc_swap::{ArcSwap, Guard};
use signet_audit::Audit;
use signet_crypto::seal::{Keyring, SealingKey};
use signet_fetched::ClientKeysCache;
use signet_merge::tell::Alone;
use signet_oauth::registry::RealmEntries;
use signet_registry::delta::{Configuration, Delta};
use signet_registry::keys::{self, KeysError, SealingFile, ShareSealingKeys, SigningKeys};
use signet_registry::{change_writer::ChangeWriter, changelog};
use signet_store::{RealmId, RevocationIndex, Store};
use std::any::Any;
use std::sync::{
    Arc, Mutex, OnceLock, Weak,
    atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
};

/// What a [`Realm`] is made of.
pub struct Parts {
    /// Its name, store and sealing keys. All other parts were loaded through it.
    pub partition: Partition,
    /// Who notes and tells what is changed; the keys' keeper has the same one. Where several nodes
    /// write the store, [`Realm::share`] is called before anything is answered.
    pub change_writer: Arc<ChangeWriter>,
    /// Settings, registry and keys as they are at the start.
    pub replica: Replica,
    /// What is revoked.
    pub revocations: RevocationIndex,
    /// The signing keys' keeper. The keys that requests use are the snapshot's.
    pub signing_keys: SigningKeys,
    /// The file that the sealing keys came from; without one they are not rotated. A file belongs
    /// to one realm: rotating it re-encrypts that realm's data at rest and forgets keys that only
    /// it needed.
    pub sealing_file: Option<SealingFile>,
    /// The audit trail; one that keeps nothing where no trail is kept.
    pub audit: Audit,
    /// Mail, and what limits guessing.
    pub people: UserServiceOptions,
}

/// One issuer. Shared by all runtimes of the process.
pub struct Realm {
    id: RealmId,
    /// The process that it is in.
    pub host: Arc<Host>,
    pub(super) replica: Replica,
    keyring: ArcSwap<Keyring>,
    /// Serializes writers of the registry's rows, so that the snapshot follows in the order of
    /// their commits.
    pub(crate) registry_writes: tokio::sync::Mutex<()>,
    /// Who notes and tells what is changed.
    pub change_writer: Arc<ChangeWriter>,
    pub(super) nodes: Nodes,
    /// Who brings the sealing keys to the other nodes; none where there are none.
    pub(crate) other_nodes: OnceLock<Arc<dyn ShareSealingKeys>>,
    /// The signing keys' keeper.
    pub signing_keys: Arc<SigningKeys>,
    audit: Audit,
    /// The file that the keyring came from, where there is one.
    pub sealing_file: Option<Arc<Mutex<SealingFile>>>,
    /// Its state, and nobody else's.
    pub store: Arc<dyn Store>,
    /// Told when something was put into the outbox that is due at once.
    pub(crate) outgoing: tokio::sync::Notify,
    /// What concerns persons: users, mail, limits of guessing.
    pub people: Arc<UserServices>,
    /// What unauthenticated callers may cause.
    pub budgets: Budgets,
    /// What is revoked.
    pub revocations: RevocationIndex,
    /// Who follows what is revoked.
    pub revocation_streams: Streams,
    /// Clients' public keys.
    pub client_keys: Arc<ClientKeysCache>,
    /// Clients' pictures.
    pub logos: Logos,
    /// What was fetched of identity providers.
    pub upstream: signet_fetched::providers::Known,
    /// What holds the realms of the process: it is above this, and known there.
    holder: OnceLock<Weak<dyn Any + Send + Sync>>,
}

/// How far this node has followed the others.
#[derive(Default)]
pub(super) struct Nodes {
    /// Something was heard that only the store can answer.
    pub(super) doubted: AtomicBool,
    pub(super) reader: tokio::sync::Mutex<changelog::Reader>,
    /// When what they wrote was last read, Unix milliseconds.
    pub(super) read_at_ms: AtomicU64,
}

impl Realm {
    /// Puts the parts together.
    pub fn new(host: Arc<Host>, parts: Parts) -> Arc<Realm> {
        let announce = Arc::clone(&parts.change_writer);
        parts.revocations.announce_by(announce);
        let Partition { id, store, keyring } = parts.partition;
        let passwords = Arc::new(host.passwords.lines_of_their_own());
        Arc::new(Realm {
            id,
            host,
            replica: parts.replica,
            keyring: ArcSwap::new(keyring),
            registry_writes: tokio::sync::Mutex::new(()),
            change_writer: parts.change_writer,
            nodes: Nodes::default(),
            other_nodes: OnceLock::new(),
            signing_keys: Arc::new(parts.signing_keys),
            audit: parts.audit,
            sealing_file: parts.sealing_file.map(|file| Arc::new(Mutex::new(file))),
            people: Arc::new(UserServices::new(
                Arc::clone(&store),
                passwords,
                parts.people,
            )),
            store,
            outgoing: tokio::sync::Notify::new(),
            revocations: parts.revocations,
            budgets: Budgets::default(),
            revocation_streams: Streams::default(),
            client_keys: Arc::default(),
            logos: Logos::default(),
            upstream: signet_fetched::providers::Known::default(),
            holder: OnceLock::new(),
        })
    }

    /// It is held by this. Once.
    pub(crate) fn set_holder(&self, holder: Weak<dyn Any + Send + Sync>) {
        // It was put there before.
        let _ = self.holder.set(holder);
    }

    /// What holds the realms of the process; none where it is not put together yet.
    pub(crate) fn holder(&self) -> Option<Arc<dyn Any + Send + Sync>> {
        self.holder.get()?.upgrade()
    }

    /// Whether its registry has these realms, and has had no other ones since.
    pub(crate) fn has_realms(&self, entries: &Arc<RealmEntries>) -> bool {
        self.replica.has_realms(entries)
    }

    /// The realm as it is, over another store: what is written through it is neither in effect here
    /// nor told. Accounts are those of this realm, and are not changed through it.
    pub(crate) fn over(self: &Arc<Self>, store: Arc<dyn Store>) -> Arc<Realm> {
        let clock = Arc::clone(&self.host.clock);
        let tell = Arc::new(Alone::new(self.change_writer.node(), clock));
        Arc::new(Realm {
            id: self.id.clone(),
            host: Arc::clone(&self.host),
            replica: self.replica.fork(),
            keyring: ArcSwap::new(self.keyring.load_full()),
            registry_writes: tokio::sync::Mutex::new(()),
            change_writer: ChangeWriter::new(self.id.clone(), tell),
            nodes: Nodes::default(),
            other_nodes: OnceLock::new(),
            signing_keys: Arc::clone(&self.signing_keys),
            audit: self.audit.clone(),
            sealing_file: self.sealing_file.clone(),
            people: Arc::clone(&self.people),
            revocations: RevocationIndex::unread(Arc::clone(&store)),
            store,
            outgoing: tokio::sync::Notify::new(),
            budgets: Budgets::default(),
            revocation_streams: Streams::default(),
            client_keys: Arc::clone(&self.client_keys),
            logos: Logos::default(),
            upstream: signet_fetched::providers::Known::default(),
            // What is asked of all realms is asked of those of the process.
            holder: self.holder.clone(),
        })
    }

    /// How long ago the change log was read, milliseconds.
    pub fn log_age_ms(&self) -> u64 {
        let read_at_ms = self.nodes.read_at_ms.load(Relaxed);
        self.now_ms().saturating_sub(read_at_ms)
    }

    /// Its name.
    pub fn id(&self) -> &RealmId {
        &self.id
    }

    /// The current snapshot. A request takes it once, through its `Context`.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.replica.snapshot()
    }

    /// The sealing keys; not to be held across an `await` for long.
    pub fn keyring(&self) -> Guard<Arc<Keyring>> {
        self.keyring.load()
    }

    /// Puts other sealing keys in place (sealing key rotation), and gives the realm's keyring of
    /// them. The older ones must still open what the last keyring sealed.
    pub fn replace_keyring(&self, current: SealingKey, older: Vec<SealingKey>) -> Arc<Keyring> {
        let keyring = Arc::new(Keyring::of_realm(self.id.as_str(), current, older));
        self.keyring.store(Arc::clone(&keyring));
        keyring
    }

    /// The audit trail; one that keeps nothing where no trail is kept.
    pub fn audit(&self) -> &Audit {
        &self.audit
    }

    /// What this node is called.
    pub fn node(&self) -> &str {
        self.host.node()
    }

    /// Seconds since the Unix epoch.
    pub fn now(&self) -> u64 {
        self.host.now()
    }

    /// Milliseconds since the Unix epoch.
    pub fn now_ms(&self) -> u64 {
        self.host.now_ms()
    }

    /// The moment that what is issued at `now_ms` bears, Unix milliseconds: later than every epoch
    /// that is known, so that it holds on every node. Such an epoch lies in the future where it is
    /// that of a clock which is, or was, ahead.
    pub fn issue_ms_at(&self, now_ms: u64) -> u64 {
        // A token's id has six bytes for it.
        const LAST: u64 = (1 << 48) - 1;
        let latest = self.revocations.latest_epoch_ms();
        now_ms.max(latest.saturating_add(1)).min(LAST)
    }

    /// The epoch of a revocation of now, Unix milliseconds: nothing that this node has issued bears
    /// a later moment, also where its clock was ahead and is right again.
    pub fn epoch_ms(&self) -> u64 {
        let now_ms = self.now_ms();
        self.issue_ms_at(now_ms).max(self.host.clock.highest_ms())
    }

    /// The present, and how long the tokens live that are signed now: what keys are kept by.
    pub fn moment(&self) -> keys::Moment {
        let snapshot = self.snapshot();
        keys::Moment {
            now: self.now(),
            longest_token: keys::longest_token(&snapshot.settings, &snapshot.registry),
        }
    }

    /// What the configuration says at the moment.
    pub fn configuration(&self) -> Configuration {
        self.replica.configuration()
    }

    /// Puts durable changes in effect, all at once: see [`Replica::apply`].
    ///
    /// # Errors
    /// [`KeysError`], where a key does not open; then nothing is changed.
    pub fn apply(&self, deltas: impl IntoIterator<Item = Delta>) -> Result<(), KeysError> {
        self.apply_all(deltas).map(drop)
    }

    /// As [`Realm::apply`]; whether all of them could be put in effect.
    pub(super) fn apply_all(
        &self,
        deltas: impl IntoIterator<Item = Delta>,
    ) -> Result<bool, KeysError> {
        let (keyring, now_ms) = (self.keyring.load(), self.now_ms());
        self.replica.apply(&keyring, now_ms, deltas)
    }

    /// Puts records in effect that are durable.
    pub(crate) fn show(&self, deltas: impl IntoIterator<Item = Delta>) {
        if let Err(error) = self.apply(deltas) {
            // Only a key can fail to open, and a record of the registry has none.
            tracing::error!(%error, "failed to apply a committed registry change");
        }
    }

    /// Forgets what was remembered of records that were removed long ago.
    pub(crate) fn sweep_replica(&self) {
        self.replica.sweep(self.now_ms());
    }

    /// As [`Realm::apply`], for changes of keys that this process has just made.
    pub fn show_keys(&self, deltas: Vec<Delta>) {
        if let Err(error) = self.apply(deltas) {
            tracing::error!(%error, "failed to apply a committed signing key change");
        }
    }
}

/// Whether this node may speak for the cluster: see [`speaking`](super::speaking).
impl Realm {
    /// Whether this node may claim that now.
    ///
    /// # Errors
    /// Why it may not.
    pub fn may_speak(&self, claim: Claim) -> Result<(), Mute> {
        self.host.speaking.may_say(claim)
    }

    /// Says whether the others were heard within the time that is allowed.
    pub fn set_deaf(&self, deaf: bool) {
        self.host.speaking.set_deaf(deaf);
    }

    /// Says whether what this node holds counts as long past.
    pub fn set_outdated(&self, outdated: bool) {
        self.host.speaking.set_outdated(outdated);
    }

    /// Whether what this node holds counts as long past.
    pub fn is_outdated(&self) -> bool {
        self.host.speaking.is_outdated()
    }

    /// The node was removed from its cluster, for good: from now on it answers nothing but how it
    /// is, and its streams of revocations end.
    pub fn set_removed(&self) {
        self.host.speaking.set_removed();
        self.revocation_streams.end();
    }

    /// Whether the node was removed.
    pub fn is_removed(&self) -> bool {
        self.host.speaking.is_removed()
    }
}
