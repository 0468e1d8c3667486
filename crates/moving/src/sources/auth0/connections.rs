//! Connections of Auth0: identity providers.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::clients::is_shown;
use super::form::Connection;
use super::rows;
use crate::clients::WELL_KNOWN;
use crate::moved::{Moved, Provider};
use crate::{names, people};

/// Reads a connection; `known` gets what it is called here.
pub(super) fn read(
    connection: &Connection,
    known: &mut BTreeMap<String, String>,
    moved: &mut Moved,
) {
    let name = connection.name.as_str();
    let report = &mut moved.report;
    if connection.strategy == "auth0" {
        report.add(&rows::DATABASES, name, "");
        return;
    }
    let Some(document) = document(connection) else {
        report.add(&rows::OTHER_CONNECTIONS, name, &*connection.strategy);
        return;
    };
    let called = names::provider(name);
    let taken = |called: &String| moved.providers.iter().any(|other| other.name == *called);
    let Some(called) = called.filter(|called| !taken(called)) else {
        let detail = "no name for it, or another's is the same";
        report.add(&rows::OTHER_CONNECTIONS, name, detail);
        return;
    };
    if called != name {
        report.add(&rows::CONNECTIONS, name, format!("called {called}"));
    }
    if !document.contains_key("client_secret") {
        let detail = "its secret is not there: write it again";
        report.add(&rows::CONNECTIONS, name, detail);
    }
    known.insert(name.to_owned(), called.clone());
    moved.providers.push(Provider {
        name: called,
        document,
    });
}

fn document(connection: &Connection) -> Option<Map<String, Value>> {
    let options = &connection.options;
    let said = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
    let mut members = Map::new();
    let mut set = |name: &str, value: Value| drop(members.insert(name.to_owned(), value));
    match connection.strategy.as_str() {
        "google-oauth2" => set("preset", "google".into()),
        "github" => set("preset", "github".into()),
        "waad" => {
            let tenant = said(&options.tenant_id)?;
            let issuer = format!("https://login.microsoftonline.com/{tenant}/v2.0");
            set("preset", "microsoft".into());
            set("issuer", issuer.into());
        }
        "oidc" | "okta" => {
            let metadata = options.oidc_metadata.as_ref();
            let issuer = metadata.and_then(|metadata| said(&metadata.issuer));
            let found = || {
                let url = said(&options.discovery_url)?;
                Some(url.strip_suffix(WELL_KNOWN)?.to_owned())
            };
            let issuer = issuer.or_else(|| said(&options.issuer)).or_else(found)?;
            set("issuer", issuer.into());
            let scope = options.scope.clone().map(people::texts).unwrap_or_default();
            let scope = scope.join(" ");
            let more = scope.split_whitespace().filter(|name| *name != "openid");
            let all: Vec<&str> = std::iter::once("openid").chain(more).collect();
            if all.len() > 1 {
                set("scope", all.join(" ").into());
            }
        }
        _ => return None,
    }
    set("client_id", said(&options.client_id)?.into());
    if let Some(secret) = said(&options.client_secret).filter(|secret| is_shown(secret)) {
        set("client_secret", secret.into());
    }
    if let Some(label) = said(&connection.display_name) {
        set("label", label.into());
    }
    Some(members)
}
