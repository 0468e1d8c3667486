//! What a link in a mail says, sealed into its URL: nobody but the server can write or read it.

use serde::{Serialize, de::DeserializeOwned};
use signet_crypto::seal::Purpose;
use signet_encoding::base64url;
use signet_store::StoreError;

use crate::state::Realm;

/// Longest value that is opened, in characters.
const MAX_TOKEN: usize = 2048;

/// The URL of a page below the issuer, with this in its parameter `token`.
pub fn url(
    realm: &Realm,
    path: &str,
    purpose: Purpose,
    link: &impl Serialize,
) -> Result<String, StoreError> {
    // Invariant: strings, bytes and numbers always serialize.
    let plain = serde_json::to_vec(link).expect("a link serializes");
    let sealed = realm.keyring().seal(purpose, &plain);
    let sealed = sealed.map_err(|_| StoreError::Unavailable("sealing".into()))?;
    let token = base64url::encode(&sealed);
    let snapshot = realm.snapshot();
    Ok(format!("{}{path}?token={token}", snapshot.settings.issuer))
}

/// What a `token` says. None: it is none of this purpose and server.
pub fn open<T: DeserializeOwned>(realm: &Realm, purpose: Purpose, token: &str) -> Option<T> {
    if token.len() > MAX_TOKEN {
        return None;
    }
    let sealed = base64url::decode(token.as_bytes()).ok()?;
    let plain = realm.keyring().open(purpose, &sealed).ok()?;
    serde_json::from_slice(&plain).ok()
}
