//! Identity providers of Keycloak.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::form::{IdentityProvider, Realm};
use super::rows;
use crate::moved::{self, Moved};
use crate::names;

/// What the providers are called here, by their aliases.
pub(super) fn read(realm: &Realm, moved: &mut Moved) -> BTreeMap<String, String> {
    let mut known = BTreeMap::new();
    for provider in &realm.rest.identity_providers {
        let alias = provider.alias.as_str();
        let Some(document) = document(provider) else {
            moved
                .report
                .add(&rows::OTHER_PROVIDERS, alias, &*provider.provider_id);
            continue;
        };
        let name = names::provider(alias);
        let Some(name) = name.filter(|name| known.values().all(|other| other != name)) else {
            moved.report.add(
                &rows::OTHER_PROVIDERS,
                alias,
                "no name for it, or another's is the same",
            );
            continue;
        };
        if name != alias {
            moved
                .report
                .add(&rows::PROVIDERS, alias, format!("called {name}"));
        }
        if provider.config_of("clientSecret").is_some() && !document.contains_key("client_secret") {
            moved.report.add(
                &rows::PROVIDERS,
                alias,
                "its secret was masked: write it again",
            );
        }
        known.insert(provider.alias.clone(), name.clone());
        moved.providers.push(moved::Provider { name, document });
    }
    known
}

impl IdentityProvider {
    fn config_of(&self, name: &str) -> Option<&str> {
        let value = self.config.get(name)?.as_deref()?;
        (!value.is_empty()).then_some(value)
    }
}

fn document(provider: &IdentityProvider) -> Option<Map<String, Value>> {
    let mut members = Map::new();
    let mut set = |name: &str, value: Value| drop(members.insert(name.to_owned(), value));
    match provider.provider_id.as_str() {
        "oidc" | "keycloak-oidc" => {
            let issuer = provider.config_of("issuer")?;
            set("issuer", issuer.into());
            for (member, name) in [
                ("authorization_endpoint", "authorizationUrl"),
                ("token_endpoint", "tokenUrl"),
                ("userinfo_endpoint", "userInfoUrl"),
            ] {
                if let Some(url) = provider.config_of(name) {
                    set(member, url.into());
                }
            }
            let method = match provider.config_of("clientAuthMethod") {
                Some("client_secret_post") => "client_secret_post",
                Some("private_key_jwt") => "private_key_jwt",
                _ => "client_secret_basic",
            };
            set("token_endpoint_auth_method", method.into());
            if let Some(scope) = provider.config_of("defaultScope") {
                let scope = match scope.split(' ').any(|name| name == "openid") {
                    true => scope.to_owned(),
                    false => format!("openid {scope}"),
                };
                set("scope", scope.into());
            }
        }
        preset @ ("google" | "github" | "gitlab") => set("preset", preset.into()),
        "microsoft" => {
            set("preset", "microsoft".into());
            let tenant = provider.config_of("tenantId")?;
            set(
                "issuer",
                format!("https://login.microsoftonline.com/{tenant}/v2.0").into(),
            );
        }
        _ => return None,
    }
    set("client_id", provider.config_of("clientId")?.into());
    let secret = provider.config_of("clientSecret");
    if let Some(secret) = secret.filter(|text| !text.starts_with("**") && !text.starts_with("${")) {
        set("client_secret", secret.into());
    }
    if let Some(label) = provider
        .display_name
        .as_deref()
        .filter(|label| !label.is_empty())
    {
        set("label", label.into());
    }
    set("trust_email", provider.trust_email.into());
    set("create", (!provider.link_only).into());
    set("enabled", provider.enabled.into());
    set("hidden", provider.hide_on_login.into());
    Some(members)
}
