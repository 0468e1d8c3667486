//! Rotating the sealing key: a new one seals, data at rest is re-encrypted, and old ones are
//! forgotten when nothing needs them any more.
use crate::{
    keys::{KeysError, SealingError, SealingFile, SigningKeys},
    registry::RegistryError,
    state::Realm,
};
use signet_audit::AuditError;
use signet_crypto::seal::{Keyring, Purpose};
use signet_oauth::client::{Client, ClientSecret};
use std::sync::{Arc, Mutex, PoisonError};

/// How much longer than the longest-lived sealed value an old key is kept, seconds.
const MARGIN: u64 = 86_400;

/// Why the sealing key was not rotated, or not to the end. Doing it again is always right: an older
/// key is only forgotten when everything at rest has been sealed anew.
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
    /// A client's record.
    #[error("a client could not be written: {0}")]
    Registry(#[from] RegistryError),
    /// A client's sealed secret does not open.
    #[error("the secret of client {0} does not open")]
    Secret(String),
    /// The runtime is stopping.
    #[error("the server is stopping")]
    Stopping,
}

/// What a rotation did.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rewrapped {
    /// Signing keys that were sealed anew.
    pub signing_keys: usize,
    /// Clients whose secrets were.
    pub clients: usize,
    /// Sealing keys that are left, the new one included.
    pub sealing_keys: usize,
}

/// Makes a new sealing key and lets it seal from now on. What clients and browsers hold goes on:
/// older keys still open it until the longest-lived of it has expired.
///
/// # Errors
/// See [`RewrapError`].
pub async fn rotate_sealing_key(
    realm: &Realm,
    file: &Arc<Mutex<SealingFile>>,
    keys: &SigningKeys,
) -> Result<Rewrapped, RewrapError> {
    let now = realm.now();
    let ring = on_file(file, move |file| {
        file.rotate(now)?;
        Ok(file.keys())
    });
    let (current, older) = ring.await?;
    let ring = realm.replace_keyring(current, older);
    let signing_keys = keys
        .rewrap(&ring, now, |deltas| realm.show_keys(deltas))
        .await?;
    let clients = rewrap_clients(realm, &ring).await?;
    realm.audit().rewrap(&ring).await?;
    let forgotten_before = now.saturating_sub(longest_sealed(realm).saturating_add(MARGIN));
    let sealing_keys = on_file(file, move |file| {
        file.forget_retired_before(forgotten_before)?;
        Ok(file.len())
    });
    Ok(Rewrapped {
        signing_keys,
        clients,
        sealing_keys: sealing_keys.await?,
    })
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
    let clients = snapshot.registry.clients.values();
    clients
        .filter_map(|client| client.refresh_token_lifetime)
        .chain([
            settings.refresh_token_lifetime,
            settings.session_absolute_lifetime,
        ])
        .max()
        .unwrap_or_default()
}

async fn rewrap_clients(realm: &Realm, ring: &Keyring) -> Result<usize, RewrapError> {
    const MAX_TRIES: usize = 8;
    let ids: Vec<String> = realm.snapshot().registry.clients.keys().cloned().collect();
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
            match realm.replace_client(client, current.revision).await {
                Ok(_) => {
                    count += 1;
                    continue 'clients;
                }
                // Declared in the configuration, which is read anew at the next start.
                Err(RegistryError::NotFound) => continue 'clients,
                Err(RegistryError::Conflict) => {}
                Err(error) => return Err(error.into()),
            }
        }
        return Err(RegistryError::Conflict.into());
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
            let open = signet_crypto::Secret::new(open.map_err(|_| refused())?);
            *sealed = ring
                .seal_with(Purpose::ClientSecret, id, open.expose())
                .map_err(|_| refused())?;
            changed = true;
        }
    }
    Ok(changed.then_some(next))
}
