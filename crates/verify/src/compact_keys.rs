//! Keys of compact tokens that an issuer publishes (`signet_compact_keys_uri` of its metadata).

#[cfg(feature = "compact")]
use signet_compact::KeySet;
#[cfg(feature = "compact")]
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
#[cfg(all(feature = "fetch", feature = "compact"))]
use {
    signet_compact::{KeyError, VerifyingKey},
    signet_crypto::hash::sha256,
    signet_encoding::{base64url, json},
    signet_jose::jwk,
};

/// Without the feature `compact` there are none: nothing of this type is ever made.
#[cfg(not(feature = "compact"))]
pub(crate) enum CompactKeys {}

#[cfg(not(feature = "compact"))]
impl CompactKeys {
    #[cfg(feature = "fetch")]
    pub(crate) fn parse(_text: &[u8], _pins: &[[u8; 32]]) -> Result<CompactKeys, String> {
        Err("compact tokens are not built in (feature compact)".to_owned())
    }

    #[cfg(feature = "fetch")]
    pub(crate) fn not_pinned(&self) -> &[String] {
        match *self {}
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

/// One publication. Another one withdraws it as a whole: what it verified is verified again under
/// the next.
#[cfg(feature = "compact")]
pub(crate) struct CompactKeys {
    pub(crate) set: KeySet,
    /// SHA-256 of the document
    #[cfg(feature = "fetch")]
    document: [u8; 32],
    /// verifying keys of zero-knowledge keys that are passed over: SHA-256 in hexadecimal
    #[cfg(feature = "fetch")]
    not_pinned: Vec<String>,
    withdrawn: AtomicBool,
}

#[cfg(feature = "compact")]
impl CompactKeys {
    /// Reads `{"keys": [{"kid", "alg", "key"}]}`, where `key` is a `VerifyingKey` message in
    /// base64url. The document is as good as its good keys, as a JWK Set is: an entry that cannot
    /// be read, or is beyond [`MAX_KEYS`], is passed over, and so is a key of a kind that is not
    /// known here, and a zero-knowledge key whose proof system's verifying key is not among `pins`.
    #[cfg(feature = "fetch")]
    pub(crate) fn parse(text: &[u8], pins: &[[u8; 32]]) -> Result<CompactKeys, String> {
        let listed = jwk::published_entries(text, MAX_BYTES).map_err(|error| error.to_string())?;
        let (mut keys, mut not_pinned) = (Vec::new(), Vec::new());
        let mut seen: Vec<Vec<u8>> = Vec::new();
        for entry in listed.into_iter().take(MAX_KEYS) {
            let Some(bytes) = message_of(entry) else {
                continue;
            };
            if seen.contains(&bytes) {
                continue;
            }
            seen.push(bytes.clone());
            // One that is named by its hash alone is nowhere to be found here.
            match VerifyingKey::from_bytes_pinned(&bytes, pins, |_| None) {
                Ok(key) => keys.push(key),
                Err(KeyError::Unpinned) => {
                    let hash = VerifyingKey::parameters_hash(&bytes).ok().flatten();
                    not_pinned.push(hash.map_or_else(String::new, hexadecimal));
                }
                Err(_) => {}
            }
        }
        Ok(CompactKeys {
            set: KeySet::new(keys).map_err(|error| error.to_string())?,
            document: sha256(text),
            not_pinned,
            withdrawn: AtomicBool::new(false),
        })
    }

    #[cfg(feature = "fetch")]
    pub(crate) fn is_same(&self, other: &CompactKeys) -> bool {
        self.document == other.document
    }

    #[cfg(feature = "fetch")]
    pub(crate) fn not_pinned(&self) -> &[String] {
        &self.not_pinned
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

/// Most bytes of one document.
#[cfg(all(feature = "fetch", feature = "compact"))]
const MAX_BYTES: usize = 64 * 1024;

/// The `VerifyingKey` message of an entry.
#[cfg(all(feature = "fetch", feature = "compact"))]
fn message_of(entry: &[u8]) -> Option<Vec<u8>> {
    let entry = json::parse_object(entry, &json::Limits::default()).ok()?;
    base64url::decode(entry.get("key")?.as_str()?.as_bytes()).ok()
}

#[cfg(all(feature = "fetch", feature = "compact"))]
fn hexadecimal(bytes: [u8; 32]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(all(test, feature = "fetch", feature = "compact"))]
mod tests {
    use super::*;
    use signet_compact::Policy;

    #[test]
    fn a_published_zero_knowledge_key_is_used_only_where_its_verifying_key_is_pinned() {
        let vectors: serde_json::Value = serde_json::from_str(include_str!(
            "../../../vectors/compact/groth16-poseidon.json"
        ))
        .unwrap();
        let key = vectors["key"].as_str().unwrap();
        let bytes = base64url::decode(key.as_bytes()).unwrap();
        let pin = VerifyingKey::parameters_hash(&bytes).unwrap().unwrap();
        let text = format!(r#"{{"keys":[{{"kid":"z","alg":"groth16-poseidon","key":"{key}"}}]}}"#);
        let token = vectors["vectors"][0]["token"].as_str().unwrap();
        let token = base64url::decode(token.as_bytes()).unwrap();
        let policy = Policy::any_audience(vectors["now"].as_u64().unwrap());
        for (pins, used) in [
            (&[][..], false),
            (&[[7; 32]], false),
            (&[[7; 32], pin], true),
        ] {
            let keys = CompactKeys::parse(text.as_bytes(), pins).unwrap();
            assert_eq!(keys.set.verify(&token, &policy).is_ok(), used);
            let said = match used {
                true => Vec::new(),
                false => vec![hexadecimal(pin)],
            };
            assert_eq!(keys.not_pinned(), said);
        }
    }
}
