//! What an error page says, sealed into the page: so the menu of languages shows the same page
//! again, and nobody has this server show words of theirs.

use serde::{Deserialize, Serialize};
use signet_crypto::seal::{Keyring, Purpose};
use signet_encoding::base64url;

/// The longest sealed error that is opened, in characters.
const MAX_SEALED_ERROR: usize = 4 * 1024;
/// What it is sealed for: no browser, for it says nothing of anybody.
const BINDING: &[u8] = b"error";

/// See the module.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShownError {
    /// The protocol's code.
    pub code: String,
    /// A fixed text in English, or the id of a text.
    pub description: String,
    /// Finds the log line of the request that failed.
    pub request_id: String,
}

impl ShownError {
    /// Empty if that fails: the menu then leads to the account page.
    pub fn seal(&self, keyring: &Keyring) -> String {
        // Invariant: strings always serialize.
        let plain = serde_json::to_vec(self).expect("an error serializes");
        keyring
            .seal_with(Purpose::Interaction, BINDING, &plain)
            .map(|sealed| base64url::encode(&sealed))
            .unwrap_or_default()
    }

    /// What [`ShownError::seal`] made.
    pub fn open(text: &str, keyring: &Keyring) -> Option<ShownError> {
        if text.len() > MAX_SEALED_ERROR {
            return None;
        }
        let sealed = base64url::decode(text.as_bytes()).ok()?;
        let plain = keyring.open_with(Purpose::Interaction, BINDING, &sealed);
        serde_json::from_slice(&plain.ok()?).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use signet_crypto::seal::SealingKey;

    #[test]
    fn an_error_is_shown_again_as_it_was_and_not_as_somebody_writes_it() {
        let keyring = Keyring::new(SealingKey::generate(), Vec::new());
        let error = ShownError {
            code: "invalid_request".to_owned(),
            description: "error-expired".to_owned(),
            request_id: "r1".to_owned(),
        };
        let sealed = error.seal(&keyring);
        assert_eq!(ShownError::open(&sealed, &keyring), Some(error));
        let own = base64url::encode(br#"{"code":"a","description":"b","request_id":""}"#);
        for text in ["", "x", &own, &"A".repeat(MAX_SEALED_ERROR + 1)] {
            assert_eq!(ShownError::open(text, &keyring), None);
        }
    }
}
