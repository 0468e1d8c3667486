//! Shared secrets: hashed at rest, sealed where HMAC needs the value; compared in constant time.
use crate::client::{Client, ClientSecret};
use signet_crypto::{
    Secret,
    aead::AeadError,
    ct_eq,
    hash::sha256,
    seal::{Keyring, Purpose},
};

/// Seals a secret for [`ClientSecret::Sealed`], bound to its client.
pub fn seal_secret(keyring: &Keyring, client_id: &str, secret: &str) -> Result<Vec<u8>, AeadError> {
    keyring.seal_with(
        Purpose::ClientSecret,
        client_id.as_bytes(),
        secret.as_bytes(),
    )
}

/// Opens every secret that has not ended.
pub(super) fn open_secrets(keyring: &Keyring, client: &Client, now: u64) -> Vec<Secret<Vec<u8>>> {
    client
        .secrets
        .iter()
        .filter_map(|secret| match secret {
            ClientSecret::Sealed { sealed, expires_at } if lives(*expires_at, now) => keyring
                .open_with(Purpose::ClientSecret, client.client_id.as_bytes(), sealed)
                .ok()
                .map(Secret::new),
            ClientSecret::Sha256 { .. } | ClientSecret::Sealed { .. } => None,
        })
        .collect()
}

/// Whether the presented secret is one of the client's. Every registered one is compared, in
/// constant time.
pub(super) fn matches(keyring: &Keyring, client: &Client, presented: &str, now: u64) -> bool {
    let hash = sha256(presented.as_bytes());
    let mut found = false;
    for secret in &client.secrets {
        found |= match secret {
            ClientSecret::Sha256 {
                hash: expected,
                expires_at,
            } => ct_eq(&hash, expected) & lives(*expires_at, now),
            ClientSecret::Sealed { sealed, expires_at } => {
                keyring
                    .open_with(Purpose::ClientSecret, client.client_id.as_bytes(), sealed)
                    .is_ok_and(|value| ct_eq(&hash, &sha256(Secret::new(value).expose())))
                    & lives(*expires_at, now)
            }
        };
    }
    found
}

/// The work of [`matches`] where there is nothing to match.
pub(super) fn decoy(presented: &str) {
    std::hint::black_box(ct_eq(&sha256(presented.as_bytes()), &[0; 32]));
}

fn lives(expires_at: Option<u64>, now: u64) -> bool {
    expires_at.is_none_or(|end| now < end)
}
