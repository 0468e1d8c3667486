//! OAuth sources of authentik: identity providers.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::dump::Dump;
use super::form::{OAuthSource, Source};
use super::rows;
use crate::clients::WELL_KNOWN;
use crate::moved::{Moved, Provider};
use crate::names;

/// What the sources are called here, by their keys.
pub(super) fn read(dump: &Dump, moved: &mut Moved) -> BTreeMap<String, String> {
    let mut known = BTreeMap::new();
    for (key, source) in &dump.sources {
        let slug = source.slug.as_str();
        let Some(oauth) = dump.oauth_sources.get(key) else {
            // Its own database is a source, too.
            if slug != "authentik-built-in" {
                moved.report.add(&rows::OTHER_SOURCES, slug, "");
            }
            continue;
        };
        let Some(document) = document(source, oauth) else {
            let kind = oauth.provider_type.as_str();
            moved.report.add(&rows::OTHER_SOURCES, slug, kind);
            continue;
        };
        let name = names::provider(slug);
        let Some(name) = name.filter(|name| known.values().all(|other| other != name)) else {
            let detail = "no name for it, or another's is the same";
            moved.report.add(&rows::OTHER_SOURCES, slug, detail);
            continue;
        };
        if name != slug {
            moved
                .report
                .add(&rows::SOURCES, slug, format!("called {name}"));
        }
        known.insert(key.clone(), name.clone());
        moved.providers.push(Provider { name, document });
    }
    known
}

fn document(source: &Source, oauth: &OAuthSource) -> Option<Map<String, Value>> {
    let mut members = Map::new();
    let mut set = |name: &str, value: Value| drop(members.insert(name.to_owned(), value));
    let issuer = oauth.oidc_well_known_url.strip_suffix(WELL_KNOWN);
    match oauth.provider_type.as_str() {
        preset @ ("google" | "github" | "gitlab") => set("preset", preset.into()),
        "azuread" | "entraid" => {
            // The URL for all tenants names none.
            let issuer = issuer.filter(|url| !url.contains("/common/"))?;
            set("preset", "microsoft".into());
            set("issuer", issuer.into());
        }
        "openidconnect" | "okta" => set("issuer", issuer?.into()),
        _ => return None,
    }
    if oauth.consumer_key.is_empty() {
        return None;
    }
    set("client_id", oauth.consumer_key.as_str().into());
    if !oauth.consumer_secret.is_empty() {
        set("client_secret", oauth.consumer_secret.as_str().into());
    }
    if oauth.provider_type == "openidconnect" {
        let method = match oauth.authorization_code_auth_method.as_deref() {
            Some("post_body") => "client_secret_post",
            _ => "client_secret_basic",
        };
        set("token_endpoint_auth_method", method.into());
        // `*` replaces what authentik asks for by itself.
        let more = oauth.additional_scopes.split_whitespace();
        let more = more.map(|name| name.trim_start_matches('*'));
        let usual = ["openid", "email", "profile"];
        let more = more.filter(|name| !name.is_empty() && !usual.contains(name));
        let all: Vec<&str> = usual.into_iter().chain(more).collect();
        set("scope", all.join(" ").into());
    }
    set("label", source.name.as_str().into());
    set("enabled", source.enabled.into());
    set("create", source.enrollment_flow.is_some().into());
    let trusts = source.user_matching_mode.as_deref() == Some("email_link");
    set("trust_email", trusts.into());
    Some(members)
}
