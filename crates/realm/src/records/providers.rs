//! Identity providers: how their records change, and their secrets at rest.
use crate::records::registry::RegistryError;
use crate::state::Realm;
use signet_crypto::{
    Secret,
    seal::{Keyring, Purpose},
};
use signet_encoding::base64url;
use signet_oauth::people::provider::{MAX_PROVIDERS, Provider};
use signet_registry::delta::Delta;
use signet_registry::{kinds::RecordKind, providers, scribe::row_key};
use signet_store::{Row, StoreError};
use std::sync::Arc;

const SECRET: Purpose = Purpose::Other("provider-secret");
/// How often a record is sealed again that others keep writing.
const MAX_TRIES: usize = 8;

/// Why a provider could not be written or removed.
#[derive(Debug, thiserror::Error)]
pub enum ProviderError {
    /// As of every record.
    #[error(transparent)]
    Registry(#[from] RegistryError),
    /// The configuration declares it.
    #[error("the configuration file declares this record")]
    Declared,
    /// What was wanted cannot be.
    #[error("{0}")]
    Invalid(&'static str),
}

impl From<StoreError> for ProviderError {
    fn from(error: StoreError) -> ProviderError {
        RegistryError::from(error).into()
    }
}

/// A client secret as it rests in the record of the provider of this name.
pub fn seal_secret(keyring: &Keyring, name: &str, secret: &Secret<String>) -> Option<String> {
    let sealed = keyring.seal_with(SECRET, name.as_bytes(), secret.expose().as_bytes());
    Some(base64url::encode(&sealed.ok()?))
}

/// The client secret of a provider, where its record has one that opens.
pub fn open_secret(keyring: &Keyring, provider: &Provider) -> Option<Secret<String>> {
    let sealed = provider.sealed_secret.as_deref()?;
    let sealed = base64url::decode(sealed.as_bytes()).ok()?;
    let open = keyring.open_with(SECRET, provider.name.as_bytes(), &sealed);
    String::from_utf8(open.ok()?).ok().map(Secret::new)
}

impl Realm {
    /// Writes a provider: `read` is the revision that it replaces, none if it must not exist yet.
    ///
    /// # Errors
    /// See [`ProviderError`].
    pub async fn write_provider(
        &self,
        mut provider: Provider,
        read: Option<u64>,
    ) -> Result<Arc<Provider>, ProviderError> {
        provider.revision = read.unwrap_or(0).saturating_add(1);
        provider.check().map_err(ProviderError::Invalid)?;
        let _one_after_another = self.registry_writes.lock().await;
        let name = provider.name.clone();
        self.expect_undeclared_provider(&name)?;
        let known = match read {
            Some(read) => Some(self.stored_provider(&name, Some(read)).await?),
            None if self.snapshot().registry.providers.len() >= MAX_PROVIDERS => {
                return Err(ProviderError::Invalid("a realm has at most 100 providers"));
            }
            None => None,
        };
        let value = Some(providers::write(&provider));
        let provider = Arc::new(provider);
        let delta = || Delta::Provider {
            name: name.clone(),
            record: Some(Arc::clone(&provider)),
        };
        self.write(RecordKind::Provider, &name, known.as_ref(), value, delta)
            .await?;
        Ok(provider)
    }

    /// Removes a provider. Links to it stay with the accounts, for one of its issuer that is made
    /// again; nobody logs in by them meanwhile.
    ///
    /// # Errors
    /// See [`ProviderError`].
    pub async fn remove_provider(&self, name: &str) -> Result<(), ProviderError> {
        let _one_after_another = self.registry_writes.lock().await;
        self.expect_undeclared_provider(name)?;
        let known = self.stored_provider(name, None).await?;
        let delta = || Delta::Provider {
            name: name.to_owned(),
            record: None,
        };
        let removed = self.write(RecordKind::Provider, name, Some(&known), None, delta);
        Ok(removed.await?)
    }

    fn expect_undeclared_provider(&self, name: &str) -> Result<(), ProviderError> {
        match self.configuration().declared.providers.get(name) {
            Some(_) => Err(ProviderError::Declared),
            None => Ok(()),
        }
    }

    /// The row of a provider whose revision is `read` (none: whatever it is).
    async fn stored_provider(&self, name: &str, read: Option<u64>) -> Result<Row, ProviderError> {
        let key = row_key(RecordKind::Provider, name);
        let row = self.store.get(&key, self.now()).await?;
        let row = row.ok_or(RegistryError::NotFound)?;
        let known = providers::read(&row.value).map_err(StoreError::Corrupt)?;
        if read.is_some_and(|read| read != known.revision) {
            self.learn(RecordKind::Provider, name).await?;
            return Err(RegistryError::Conflict.into());
        }
        Ok(row)
    }

    /// Seals the secrets of all providers with the ring's current key. How many were not yet.
    ///
    /// # Errors
    /// See [`ProviderError`]; a secret that does not open is left as it is, for it opens nowhere.
    pub async fn rewrap_providers(&self, ring: &Keyring) -> Result<usize, ProviderError> {
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
                    Err(
                        ProviderError::Declared | ProviderError::Registry(RegistryError::NotFound),
                    ) => continue 'providers,
                    Err(ProviderError::Registry(RegistryError::Conflict)) => {}
                    Err(error) => return Err(error),
                }
            }
            return Err(RegistryError::Conflict.into());
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
