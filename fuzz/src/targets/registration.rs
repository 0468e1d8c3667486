//! Dynamic client registration (RFC 7591). Rules: what is registered is stored and read as itself,
//! has redirect URIs that its kind of client may have, and nothing that only the server sets.

use std::sync::LazyLock;

use signet_crypto::{
    Secret,
    seal::{Keyring, SealingKey},
};
use signet_encoding::json::{Limits, parse_object};
use signet_oauth::client::Client;
use signet_oauth::client::registration::{MAX_REGISTRATION_BYTES, Random, register};
use signet_oauth::settings::Settings;

static SERVER: LazyLock<(Settings, Keyring)> = LazyLock::new(|| {
    let mut settings = Settings::new("https://as.example");
    settings.registration.enabled = true;
    settings.registration.open = true;
    settings.mtls_base = Some("https://as.example:8444".to_owned());
    let key = SealingKey {
        id: [7; 4],
        key: Secret::new([7; 32]),
        opens: signet_crypto::seal::Opens::All,
    };
    (settings, Keyring::new(key, Vec::new()))
});

/// The input as a registration document, and as a stored client.
pub fn run(data: &[u8]) {
    let _ = Client::from_json(data);
    let random = Random {
        client_id: [1; 16],
        secret: [2; 48],
        token: [3; 32],
    };
    let (settings, keyring) = &*SERVER;
    let Ok(registered) = register(data, settings, keyring, None, &random, 1_800_000_000) else {
        return;
    };
    assert!(data.len() <= MAX_REGISTRATION_BYTES);
    let client = registered.client;
    let again = Client::from_json(&client.to_json()).expect("what was written is a client");
    assert_eq!(again, client);
    for uri in &client.redirect_uris {
        assert!(!uri.as_str().contains(['#', ' ']), "{uri:?}");
        assert_eq!(client.redirect_uri(uri.as_str()), Some(uri));
    }
    assert!(client.may_act_for.is_empty());
    assert!(!client.scope.contains(signet_oauth::scope::ADMIN));
    assert!(client.require_pkce || !client.is_public());
    parse_object(&registered.response, &Limits::default()).expect("the answer is JSON");
}
