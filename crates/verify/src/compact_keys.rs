//! Keys of compact tokens that an issuer publishes (`signet_compact_keys_uri` of its metadata).

#[cfg(feature = "compact")]
use signet_compact::KeySet;
#[cfg(feature = "compact")]
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
#[cfg(all(feature = "fetch", feature = "compact"))]
use {
    signet_compact::VerifyingKey,
    signet_crypto::hash::sha256,
    signet_jose::{base64url, json},
};

/// Without the feature `compact` there are none: nothing of this type is ever made.
#[cfg(not(feature = "compact"))]
pub(crate) enum CompactKeys {}

#[cfg(not(feature = "compact"))]
impl CompactKeys {
    #[cfg(feature = "fetch")]
    pub(crate) fn parse(_text: &[u8]) -> Result<CompactKeys, String> {
        Err("compact tokens are not built in (feature compact)".to_owned())
    }

    #[cfg(feature = "fetch")]
    pub(crate) fn is_same(&self, _other: &CompactKeys) -> bool {
        match *self {}
    }

    #[cfg(feature = "fetch")]
    pub(crate) fn withdraw(&self) {
        match *self {}
    }

    pub(crate) fn is_withdrawn(&self) -> bool {
        match *self {}
    }
}

/// One publication. Another one withdraws it as a whole: what it verified is verified again under the next.
#[cfg(feature = "compact")]
pub(crate) struct CompactKeys {
    pub(crate) set: KeySet,
    /// SHA-256 of the document
    #[cfg(feature = "fetch")]
    document: [u8; 32],
    withdrawn: AtomicBool,
}

#[cfg(feature = "compact")]
impl CompactKeys {
    /// Reads `{"keys": [{"kid", "alg", "key"}]}`, where `key` is a `VerifyingKey` message in base64url. A key of a kind that is not known
    /// here verifies nothing, and is passed over.
    #[cfg(feature = "fetch")]
    pub(crate) fn parse(text: &[u8]) -> Result<CompactKeys, String> {
        let document = json::parse_object(text, &json::Limits::default());
        let document = document.map_err(|error| error.to_string())?;
        let listed = document.get("keys").and_then(json::Value::as_array);
        let listed = listed.ok_or("the document has no keys")?;
        if listed.len() > MAX_KEYS {
            return Err("the document has too many keys".to_owned());
        }
        let mut keys = Vec::new();
        for entry in listed {
            let key = entry
                .as_object()
                .and_then(|entry| entry.get("key")?.as_str());
            let key = key.ok_or("an entry has no key")?;
            let bytes = base64url::decode(key.as_bytes())
                .map_err(|_| "a key is not base64url".to_owned())?;
            keys.extend(VerifyingKey::from_bytes(&bytes).ok());
        }
        Ok(CompactKeys {
            set: KeySet::new(keys).map_err(|error| error.to_string())?,
            document: sha256(text),
            withdrawn: AtomicBool::new(false),
        })
    }

    #[cfg(feature = "fetch")]
    pub(crate) fn is_same(&self, other: &CompactKeys) -> bool {
        self.document == other.document
    }

    #[cfg(feature = "fetch")]
    pub(crate) fn withdraw(&self) {
        self.withdrawn.store(true, Relaxed);
    }

    pub(crate) fn is_withdrawn(&self) -> bool {
        self.withdrawn.load(Relaxed)
    }
}

/// Most keys of one document.
#[cfg(all(feature = "fetch", feature = "compact"))]
const MAX_KEYS: usize = 64;
