//! Identity providers that the configuration declares: held to the rules of `signet provider`.

use std::{collections::BTreeSet, path::Path, sync::Arc};

use signet_crypto::{Secret, seal::Keyring};
use signet_oauth::people::provider::{MAX_PROVIDERS, Provider, Providers};
use signet_registry::providers::declared;

use super::{
    fault::Faults,
    model::{self, Config},
};

/// Members that the server says and nobody writes.
const ITS_OWN: [&str; 5] = [
    "revision",
    "redirect_uri",
    "backchannel_logout_uri",
    "post_logout_redirect_uri",
    "has_secret",
];

/// What is wrong with the providers of the file. `secrets`: whether their files are read.
pub fn check(config: &Config, base: &Path, secrets: bool, faults: &mut Faults) {
    if config.providers.len() > MAX_PROVIDERS {
        faults.add("providers", format!("at most {MAX_PROVIDERS}"));
    }
    let mut names = BTreeSet::new();
    for (i, entry) in config.providers.iter().enumerate() {
        let path = format!("providers[{i}]");
        if !names.insert(&*entry.name) {
            faults.add(
                format!("{path}.name"),
                format!("there are two with the name \"{}\"", entry.name),
            );
        }
        for own in ITS_OWN {
            if entry.members.contains_key(own) {
                faults.add(format!("{path}.{own}"), "is the server's own");
            }
        }
        let secret = match (&entry.client_secret, secrets) {
            (None, _) => None,
            // Whether one is there counts, and not which.
            (Some(_), false) => Some(Secret::new("unread".to_owned())),
            (Some(_), true) => secret(entry, base, &path, faults),
        };
        if entry.client_secret.is_some() == secret.is_some() {
            provider(entry, secret, None, &path, faults);
        }
    }
}

/// What the configuration declares of identity providers. The secrets are sealed with `keyring`.
pub fn providers(
    config: &Config,
    base: &Path,
    keyring: &Keyring,
    faults: &mut Faults,
) -> Providers {
    let mut providers = Providers::default();
    for (i, entry) in config.providers.iter().enumerate() {
        let path = format!("providers[{i}]");
        let secret = secret(entry, base, &path, faults);
        if entry.client_secret.is_some() == secret.is_some()
            && let Some(provider) = provider(entry, secret, Some(keyring), &path, faults)
        {
            providers.put(Arc::new(provider));
        }
    }
    providers
}

fn secret(
    entry: &model::Provider,
    base: &Path,
    path: &str,
    faults: &mut Faults,
) -> Option<Secret<String>> {
    match entry.client_secret.as_ref()?.read(base) {
        Ok(secret) => Some(secret),
        Err(message) => {
            faults.add(format!("{path}.client_secret"), message);
            None
        }
    }
}

fn provider(
    entry: &model::Provider,
    secret: Option<Secret<String>>,
    seal: Option<&Keyring>,
    path: &str,
    faults: &mut Faults,
) -> Option<Provider> {
    let made = serde_json::to_value(&entry.members)
        .map_err(|e| e.to_string())
        .and_then(|members| declared(&entry.name, members, secret, seal));
    made.map_err(|fault| faults.add(path, fault)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use signet_crypto::seal::SealingKey;

    fn read(text: &str) -> Config {
        let text = format!("issuer = \"https://id.example\"\nlisteners = []\n{text}");
        toml::from_str(&text).expect(&text)
    }

    #[test]
    fn declared_providers_are_read_with_their_sealed_secrets() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("corp"), "the secret itself\n").unwrap();
        let config = read(
            "[[providers]]\nname = \"corp\"\nissuer = \"https://id.corp.example\"\nclient_id = \"us\"\n\
             client_secret = { file = \"corp\" }\ntrust_email = true\ndomains = [\"corp.example\"]\n\
             groups = [{ claim = \"roles\", value = \"staff\", group = \"staff\" }]\n\
             [[providers]]\nname = \"hub\"\npreset = \"gitlab\"\nclient_id = \"us\"\n\
             token_endpoint_auth_method = \"private_key_jwt\"\n",
        );
        let keyring = Keyring::new(SealingKey::generate(), Vec::new());
        let mut faults = Faults::default();
        check(&config, dir.path(), true, &mut faults);
        let providers = providers(&config, dir.path(), &keyring, &mut faults);
        assert!(faults.0.is_empty(), "{:?}", faults.0);
        let corp = providers.get("corp").unwrap();
        assert!(corp.trust_email && !format!("{corp:?}").contains("the secret itself"));
        assert_eq!((corp.groups.len(), &*corp.domains[0]), (1, "corp.example"));
        let opened = signet_registry::providers::open_secret(&keyring, corp).unwrap();
        assert_eq!(opened.expose(), "the secret itself");
        assert_eq!(providers.get("hub").unwrap().issuer, "https://gitlab.com");
    }

    #[test]
    fn what_is_wrong_with_a_declared_provider_is_said_with_its_place() {
        let good = "issuer = \"https://a.example\"\nclient_id = \"us\"\ntoken_endpoint_auth_method = \"none\"\n";
        for (text, place) in [
            (
                "name = \"a\"\nclient_id = \"us\"\nissuer = \"https://a.example\"\n".to_owned(),
                "providers[0]",
            ),
            (format!("name = \"A B\"\n{good}"), "providers[0]"),
            (
                format!("name = \"a\"\n{good}trust_emial = true\n"),
                "providers[0]",
            ),
            (
                format!("name = \"a\"\n{good}domains = [\"Corp\"]\n"),
                "providers[0]",
            ),
            (
                format!("name = \"a\"\n{good}revision = 3\n"),
                "providers[0].revision",
            ),
            (
                format!("name = \"a\"\n{good}client_secret = {{ file = \"none\" }}\n"),
                "providers[0].client_secret",
            ),
            (
                format!("name = \"a\"\n{good}[[providers]]\nname = \"a\"\n{good}"),
                "providers[1].name",
            ),
        ] {
            let config = read(&format!("[[providers]]\n{text}"));
            let mut faults = Faults::default();
            check(&config, Path::new("/nonexistent"), true, &mut faults);
            let places: Vec<&str> = faults.0.iter().map(|fault| &*fault.path).collect();
            assert_eq!(places, [place], "{text}");
        }
    }
}
