//! The rotation of the sealing key, with every kind of people's secrets at rest.
use signet_crypto::seal::Keyring;
use signet_directory::UserError;
use signet_federation::upstream_tokens;
use signet_login::journey::totp;
use signet_realm::rewrap::{self, Reseal, RewrapError, Rewrapped};
use signet_realm::state::Realm;
use signet_registry::keys::SealingFile;
use std::{
    pin::Pin,
    sync::{Arc, Mutex},
};

type Resealing<'a> = Pin<Box<dyn Future<Output = Result<usize, UserError>> + Send + 'a>>;

/// The secrets of code apps.
struct CodeApps;

impl Reseal for CodeApps {
    fn reseal<'a>(&'a self, realm: &'a Realm, ring: &'a Keyring) -> Resealing<'a> {
        Box::pin(totp::rewrap(&realm.people.users, ring, realm.now()))
    }
}

/// Refresh tokens of identity providers.
struct ProviderTokens;

impl Reseal for ProviderTokens {
    fn reseal<'a>(&'a self, realm: &'a Realm, ring: &'a Keyring) -> Resealing<'a> {
        Box::pin(upstream_tokens::rewrap(realm, ring))
    }
}

/// See [`rewrap::rotate`].
///
/// # Errors
/// See [`RewrapError`].
pub async fn rotate_sealing_key(
    realm: &Realm,
    file: &Arc<Mutex<SealingFile>>,
) -> Result<Rewrapped, RewrapError> {
    rewrap::rotate(realm, file, &[&CodeApps, &ProviderTokens]).await
}
