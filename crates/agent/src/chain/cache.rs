//! What a verifier remembers from one chain to the next.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

use signet_crypto::hash::Sha256;

use crate::error::Result;
use crate::keys::{KeySet, VerifyingKeys};

/// Signatures that are known to hold, and prepared keys, both bounded.
///
/// A signature is remembered by the hash of the whole message and the key, never by anything it
/// says of itself; what depends on the moment is checked each time. A known prefix of a chain costs
/// one hash a link.
#[derive(Debug, Default)]
pub struct Cache {
    known: HashSet<[u8; 32]>,
    order: VecDeque<[u8; 32]>,
    keys: HashMap<KeySet, Arc<VerifyingKeys>>,
}

impl Cache {
    /// Most signatures and keys that are kept.
    pub const MAX: usize = 65_536;

    /// The hash of a key and a message. The suite says how long the key is, so nothing of one can
    /// be read as the other.
    pub(super) fn name(keys: &KeySet, message: &[u8]) -> [u8; 32] {
        let mut hash = Sha256::new();
        hash.update(&[keys.suite() as u8]);
        keys.iter().for_each(|(_, key)| hash.update(key));
        hash.update(message);
        hash.finish()
    }

    pub(super) fn knows(&self, name: &[u8; 32]) -> bool {
        self.known.contains(name)
    }

    pub(super) fn remember(&mut self, name: [u8; 32]) {
        if self.known.insert(name) {
            self.order.push_back(name);
        }
        if self.order.len() > Self::MAX
            && let Some(oldest) = self.order.pop_front()
        {
            self.known.remove(&oldest);
        }
    }

    pub(super) fn prepared(&mut self, set: &KeySet) -> Result<Arc<VerifyingKeys>> {
        if let Some(keys) = self.keys.get(set) {
            return Ok(Arc::clone(keys));
        }
        let keys = Arc::new(VerifyingKeys::new(set)?);
        if self.keys.len() >= Self::MAX {
            self.keys.clear();
        }
        self.keys.insert(set.clone(), Arc::clone(&keys));
        Ok(keys)
    }

    /// Signatures that are remembered.
    pub fn len(&self) -> usize {
        self.known.len()
    }

    /// Whether none is.
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }
}
