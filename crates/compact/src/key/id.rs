//! What tokens call a key.

use crate::KeyIdType;

/// The ids of one key, computed once.
pub(crate) struct KeyId {
    pub(crate) kind: KeyIdType,
    pub(crate) hash: [u8; 32],
    pub(crate) public: Vec<u8>,
}

impl KeyId {
    /// The key hash itself, whole unless asked otherwise.
    pub(super) fn of_statement(key_hash: [u8; 32]) -> KeyId {
        KeyId {
            kind: KeyIdType::Hash,
            hash: key_hash,
            public: Vec::new(),
        }
    }

    pub(crate) fn bytes(&self, kind: KeyIdType) -> &[u8] {
        match kind {
            KeyIdType::ShortHash => &self.hash[..8],
            KeyIdType::Hash => &self.hash,
            KeyIdType::PublicKey => &self.public,
        }
    }
}
