//! Identity providers: how their records change, and their secrets at rest.
use crate::records::write::RecordError;
use crate::state::Realm;
use signet_crypto::seal::Keyring;
use signet_encoding::base64url;
use signet_oauth::people::provider::Provider;
use signet_registry::providers::{open_secret, seal_secret};
use std::sync::Arc;

/// How often a record is sealed again that others keep writing.
const MAX_TRIES: usize = 8;

impl Realm {
    /// Writes a provider: `read` is the revision that it replaces, none if it must not exist yet.
    ///
    /// # Errors
    /// See [`RecordError`].
    pub async fn write_provider(
        &self,
        provider: Provider,
        read: Option<u64>,
    ) -> Result<Arc<Provider>, RecordError> {
        provider.check()?;
        self.write_record(provider, read).await
    }

    /// Seals the secrets of all providers with the ring's current key. How many were not yet.
    ///
    /// # Errors
    /// See [`RecordError`]; a secret that does not open is left as it is, for it opens nowhere.
    pub async fn rewrap_providers(&self, ring: &Keyring) -> Result<usize, RecordError> {
        let names = self.snapshot();
        let names = names.registry.providers.iter();
        let names: Vec<String> = names.map(|provider| provider.name.clone()).collect();
        let mut count = 0;
        'providers: for name in names {
            for _ in 0..MAX_TRIES {
                let Some(known) = self.snapshot().registry.providers.get(&name).cloned() else {
                    continue 'providers;
                };
                let Some(next) = rewrapped(&known, ring) else {
                    continue 'providers;
                };
                match self.write_provider(next, Some(known.revision)).await {
                    Ok(_) => {
                        count += 1;
                        continue 'providers;
                    }
                    // A declared one is read again with the configuration.
                    Err(RecordError::Declared | RecordError::NotFound) => continue 'providers,
                    Err(RecordError::Conflict) => {}
                    Err(error) => return Err(error),
                }
            }
            return Err(RecordError::Conflict);
        }
        Ok(count)
    }
}

/// The provider with its secret under the ring's current key. None: it is already, or has none that
/// opens.
fn rewrapped(provider: &Provider, ring: &Keyring) -> Option<Provider> {
    let sealed = provider.sealed_secret.as_deref()?;
    let sealed = base64url::decode(sealed.as_bytes()).ok()?;
    if Keyring::id_of(&sealed) == Some(ring.current_id()) {
        return None;
    }
    let secret = open_secret(ring, provider)?;
    Some(Provider {
        sealed_secret: Some(seal_secret(ring, &provider.name, &secret)?),
        ..provider.clone()
    })
}
