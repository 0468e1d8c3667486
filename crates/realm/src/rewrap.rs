//! Rotating the sealing key: a new one seals, data at rest is re-encrypted, and old ones are
//! forgotten when nothing needs them any more.
use crate::realms::{NotOpen, Realms};
use crate::records::RecordError;
use crate::state::Realm;
use signet_audit::AuditError;
use signet_crypto::{
    Secret,
    seal::{Keyring, Purpose, SealingKey},
};
use signet_directory::UserError;
use signet_oauth::client::{Client, ClientSecret};
use signet_registry::keys::{KeysError, SealingError, SealingFile, ShareSealingKeys};
use signet_store::NodeId;
use std::{
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
};

/// How much longer than the longest-lived sealed value an old key is kept, seconds.
const MARGIN: u64 = 86_400;

/// Why the sealing key was not rotated, or not to the end. Doing it again is always right: an older
/// key is only forgotten when everything at rest has been sealed again.
#[derive(Debug, thiserror::Error)]
pub enum RewrapError {
    /// The file.
    #[error(transparent)]
    Sealing(#[from] SealingError),
    /// The signing keys.
    #[error(transparent)]
    Keys(#[from] KeysError),
    /// The audit trail's key.
    #[error(transparent)]
    Audit(#[from] AuditError),
    /// The secret of a person's code app, or a provider's refresh token.
    #[error("the secret of a code app or a provider's refresh token could not be written: {0}")]
    Factor(#[from] UserError),
    /// The record of a client or an identity provider.
    #[error("a record could not be written: {0}")]
    Record(#[from] RecordError),
    /// A client's sealed secret does not open.
    #[error("the secret of client {0} does not open")]
    Secret(String),
    /// Nodes that do not know the new key yet: none seals with it before they do.
    #[error("these nodes could not be given the new sealing key: {}", names(.0))]
    Unreached(Vec<NodeId>),
    /// A realm of the process could not be opened.
    #[error("the realm {0} could not be opened")]
    Realm(String),
    /// The runtime is stopping.
    #[error("the server is stopping")]
    Stopping,
}

fn names(nodes: &[NodeId]) -> String {
    let names: Vec<&str> = nodes.iter().map(NodeId::as_str).collect();
    names.join(", ")
}

/// What a rotation did.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rewrapped {
    /// Signing keys that were sealed again.
    pub signing_keys: usize,
    /// Clients whose secrets were.
    pub clients: usize,
    /// Secrets of people that were: see [`Reseal`].
    pub of_people: usize,
    /// Sealing keys that are left, the new one included.
    pub sealing_keys: usize,
}

/// A kind of people's secrets at rest, whose room lies above this one: code apps, refresh tokens of
/// providers.
pub trait Reseal: Sync {
    /// Seals all of them under the ring's current key. How many were not under it yet.
    ///
    /// # Errors
    /// The store's; [`UserError::Conflict`] where one is written all the time.
    fn reseal<'a>(
        &'a self,
        realm: &'a Realm,
        ring: &'a Keyring,
    ) -> Pin<Box<dyn Future<Output = Result<usize, UserError>> + Send + 'a>>;
}

/// Makes a new sealing key and lets it seal from now on. What clients and browsers hold goes on:
/// older keys still open it until the longest-lived of it has expired.
///
/// Where there are other nodes, the key is known to all of them before any seals with it; a node
/// that cannot be reached holds it up, and the next call goes on with the same key.
///
/// # Errors
/// See [`RewrapError`].
pub async fn rotate(
    realm: &Realm,
    file: &Arc<Mutex<SealingFile>>,
    of_people: &[&dyn Reseal],
) -> Result<Rewrapped, RewrapError> {
    let now = realm.now();
    let step = |step: fn(&mut SealingFile, u64) -> Result<(), SealingError>| {
        on_file(file, move |file| {
            step(file, now)?;
            Ok((file.keys(), file.to_bytes()))
        })
    };
    let ((current, older), announced) = step(SealingFile::prepare).await?;
    put(realm, &current, &older);
    if let Some(nodes) = realm.other_nodes() {
        let missed = nodes.share(announced).await;
        if !missed.is_empty() {
            return Err(RewrapError::Unreached(missed));
        }
    }
    let ((current, older), announced) = step(SealingFile::promote).await?;
    put(realm, &current, &older);
    if let Some(nodes) = realm.other_nodes() {
        // Who misses it now opens everything, and hears which key seals with the next change.
        let missed = nodes.share(announced).await;
        if !missed.is_empty() {
            tracing::warn!(
                ?missed,
                "failed to notify all nodes of the new sealing key; they still use the previous one"
            );
        }
    }
    let mut done = rewrap(realm, of_people).await?;
    let mut longest = longest_sealed(realm);
    // A key is forgotten when no realm needs it.
    if let Some(realms) = Realms::of(realm) {
        for slot in realms.table().slots() {
            let other = match realms.open_suspended(slot).await {
                Ok(other) => other,
                Err(NotOpen::Changed | NotOpen::Suspended | NotOpen::Failed) => {
                    return Err(RewrapError::Realm(slot.entry().name.clone()));
                }
            };
            let of_other = rewrap(&other, of_people).await?;
            longest = longest.max(longest_sealed(&other));
            done.signing_keys += of_other.signing_keys;
            done.clients += of_other.clients;
            done.of_people += of_other.of_people;
        }
    }
    let forgotten_before = now.saturating_sub(longest.saturating_add(MARGIN));
    let sealing_keys = on_file(file, move |file| {
        file.forget_retired_before(forgotten_before)?;
        Ok(file.len())
    });
    done.sealing_keys = sealing_keys.await?;
    Ok(done)
}

/// Every realm of the process that is open takes these keys; the others do when they are opened.
fn put(realm: &Realm, current: &SealingKey, older: &[SealingKey]) {
    let put = |realm: &Realm| realm.replace_keyring(current.clone(), older.to_vec());
    put(realm);
    let realms = Realms::of(realm).map(|realms| realms.all_opened());
    realms.iter().flatten().for_each(|other| drop(put(other)));
}

/// Seals again what a realm has at rest.
async fn rewrap(realm: &Realm, of_people: &[&dyn Reseal]) -> Result<Rewrapped, RewrapError> {
    let ring = Arc::clone(&realm.keyring());
    let keys = &realm.signing_keys;
    let show = |deltas| realm.show_keys(deltas);
    let signing_keys = keys.rewrap(&ring, realm.now(), show).await?;
    let clients = rewrap_clients(realm, &ring).await?;
    let mut resealed = 0;
    for kind in of_people {
        resealed += kind.reseal(realm, &ring).await?;
    }
    realm.rewrap_providers(&ring).await?;
    realm.audit().rewrap(&ring).await?;
    Ok(Rewrapped {
        signing_keys,
        clients,
        of_people: resealed,
        sealing_keys: 0,
    })
}

impl Realm {
    /// Whether work on the signing keys failed because the sealing keys changed while it was under
    /// way: it is to be done again. No row is sealed with a key before every node has it, so
    /// whatever a row needs is among the keys that are there after it was read.
    pub fn was_overtaken<T>(&self, keyring: &Arc<Keyring>, done: &Result<T, KeysError>) -> bool {
        matches!(done, Err(KeysError::Sealed)) && !Arc::ptr_eq(keyring, &self.keyring())
    }

    /// From now on this brings the sealing keys to the other nodes. Once.
    pub fn share_sealing_keys_by(&self, nodes: Arc<dyn ShareSealingKeys>) {
        // A second one is refused: a rotation under way holds the first.
        let _ = self.other_nodes.set(nodes);
    }

    fn other_nodes(&self) -> Option<&Arc<dyn ShareSealingKeys>> {
        self.other_nodes.get()
    }

    /// Another node announced its sealing keys. They are on disk and in effect when this returns;
    /// whether they were new.
    ///
    /// # Errors
    /// See [`RewrapError`].
    pub async fn take_over_sealing_keys(
        &self,
        announced: Secret<Vec<u8>>,
    ) -> Result<bool, RewrapError> {
        let Some(file) = &self.sealing_file else {
            return Ok(false);
        };
        let taken = on_file(file, move |file| {
            let changed = file.take_over(announced.expose())?;
            Ok(changed.then(|| file.keys()))
        });
        let Some((current, older)) = taken.await? else {
            return Ok(false);
        };
        put(self, &current, &older);
        let others = Realms::of(self).map(|realms| realms.all_opened());
        let others = others.unwrap_or_default();
        let others = others.iter().filter(|other| other.id() != self.id());
        for realm in others.map(|other| &**other).chain([self]) {
            // What did not open before may now.
            realm.look_again();
            let ring = Arc::clone(&realm.keyring());
            realm.audit().rewrap(&ring).await?;
        }
        Ok(true)
    }
}

/// Work on the file, off the runtime's threads: it is flushed.
async fn on_file<T: Send + 'static>(
    file: &Arc<Mutex<SealingFile>>,
    work: impl FnOnce(&mut SealingFile) -> Result<T, SealingError> + Send + 'static,
) -> Result<T, RewrapError> {
    let file = Arc::clone(file);
    let done = tokio::task::spawn_blocking(move || {
        // A panic while the lock was held left the keys as they were before or after a write: both
        // are whole.
        work(&mut file.lock().unwrap_or_else(PoisonError::into_inner))
    });
    Ok(done.await.map_err(|_| RewrapError::Stopping)??)
}

/// The longest that a sealed value in somebody else's hands can live, seconds: refresh tokens and
/// session cookies.
fn longest_sealed(realm: &Realm) -> u64 {
    let snapshot = realm.snapshot();
    let settings = &snapshot.settings;
    let of_clients = snapshot.registry.clients.tally().longest_refresh_token();
    settings
        .refresh_token_lifetime
        .max(settings.session_absolute_lifetime)
        .max(of_clients.unwrap_or_default())
}

async fn rewrap_clients(realm: &Realm, ring: &Keyring) -> Result<usize, RewrapError> {
    const MAX_TRIES: usize = 8;
    let ids: Vec<String> = realm
        .snapshot()
        .registry
        .clients
        .keys()
        .map(str::to_owned)
        .collect();
    let mut count = 0;
    'clients: for id in ids {
        for _ in 0..MAX_TRIES {
            let Some(current) = realm.snapshot().registry.clients.get(&id).cloned() else {
                continue 'clients;
            };
            let Some(mut client) = rewrapped(&current, ring)? else {
                continue 'clients;
            };
            client.revision = current.revision + 1;
            match realm.write_record(client, Some(current.revision)).await {
                Ok(_) => {
                    count += 1;
                    continue 'clients;
                }
                // Declared in the configuration, which is read again at the next start.
                Err(RecordError::Declared | RecordError::NotFound) => continue 'clients,
                Err(RecordError::Conflict) => {}
                Err(error) => return Err(error.into()),
            }
        }
        return Err(RecordError::Conflict.into());
    }
    Ok(count)
}

/// The client with its secrets under the ring's current key. None: they are already.
fn rewrapped(client: &Client, ring: &Keyring) -> Result<Option<Client>, RewrapError> {
    let id = client.client_id.as_bytes();
    let refused = || RewrapError::Secret(client.client_id.clone());
    let mut next = client.clone();
    let mut changed = false;
    for secret in &mut next.secrets {
        if let ClientSecret::Sealed { sealed, .. } = secret
            && Keyring::id_of(sealed) != Some(ring.current_id())
        {
            let open = ring.open_with(Purpose::ClientSecret, id, sealed);
            let open = Secret::new(open.map_err(|_| refused())?);
            *sealed = ring
                .seal_with(Purpose::ClientSecret, id, open.expose())
                .map_err(|_| refused())?;
            changed = true;
        }
    }
    Ok(changed.then_some(next))
}
