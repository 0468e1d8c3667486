//! The keys of a verifier.

use std::collections::HashMap;

use signet_crypto::hash::sha256;

use crate::token::Token;
use crate::{Algorithm, KeyError, KeyIdType, VerifyingKey};

/// The keys that a verifier has chosen, found by what tokens call them.
#[derive(Debug, Default)]
pub struct KeySet {
    keys: Vec<VerifyingKey>,
    by_short_hash: HashMap<(Algorithm, [u8; 8]), usize>,
}

impl KeySet {
    /// A set of these keys.
    ///
    /// # Errors
    /// [`KeyError::Duplicate`]: two keys of one algorithm and one id would leave the choice to
    /// chance.
    pub fn new(keys: impl IntoIterator<Item = VerifyingKey>) -> Result<KeySet, KeyError> {
        let mut set = KeySet::default();
        for key in keys {
            // The first 8 bytes of the hash find the key whatever id type the token uses; the whole
            // id is compared after.
            if set
                .by_short_hash
                .insert((key.algorithm, short(&key.id.hash)), set.keys.len())
                .is_some()
            {
                return Err(KeyError::Duplicate);
            }
            set.keys.push(key);
        }
        Ok(set)
    }

    pub(crate) fn find(&self, token: &Token<'_>) -> Option<&VerifyingKey> {
        let head = &token.head;
        let short = match head.key_id_type {
            KeyIdType::ShortHash | KeyIdType::Hash => short(head.key_id),
            KeyIdType::PublicKey => short(&sha256(head.key_id)),
        };
        let key = &self.keys[*self.by_short_hash.get(&(head.algorithm, short))?];
        key.is_named_by(token).then_some(key)
    }
}

/// The first 8 bytes of at least as many.
fn short(id: &[u8]) -> [u8; 8] {
    let mut out = [0; 8];
    out.copy_from_slice(&id[..8]);
    out
}
