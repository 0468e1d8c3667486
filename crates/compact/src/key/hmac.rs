//! Shared keys: their bounds, and what is prepared of them.

use signet_crypto::hash::sha256;
use signet_crypto::mac::HmacSha256Key;

use super::id::KeyId;
use crate::{KeyError, KeyIdType};

/// Shortest HMAC key, in bytes: an id that is a hash of a short key would help to guess it.
pub(super) const MIN_HMAC_KEY_BYTES: usize = 32;
/// Longest HMAC key, in bytes.
const MAX_HMAC_KEY_BYTES: usize = 64;

pub(super) fn prepare(secret: &[u8]) -> Result<(KeyId, HmacSha256Key), KeyError> {
    if secret.len() < MIN_HMAC_KEY_BYTES {
        return Err(KeyError::TooShort);
    }
    if secret.len() > MAX_HMAC_KEY_BYTES {
        return Err(KeyError::Malformed);
    }
    Ok((
        KeyId {
            kind: KeyIdType::ShortHash,
            hash: sha256(secret),
            public: Vec::new(),
        },
        HmacSha256Key::new(secret),
    ))
}
