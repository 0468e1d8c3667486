//! OAuth 2 providers of authentik with their applications: clients.

use std::collections::BTreeMap;

use super::dump::Dump;
use super::form::{Client, Provider};
use super::rows;
use crate::clients::{self, SCOPES, Said};
use crate::moved::{self, Moved};
use crate::report::Report;

/// The flow that asks nobody.
const IMPLICIT: &str = "default-provider-authorization-implicit-consent";

/// What the clients are called here, by the keys of their applications.
pub(super) fn read(dump: &Dump, moved: &mut Moved) -> BTreeMap<String, String> {
    let of_provider: BTreeMap<&str, &str> = dump
        .applications
        .iter()
        .filter_map(|(key, application)| Some((&*application.provider.as_ref()?.0, &**key)))
        .collect();
    let mut known = BTreeMap::new();
    for (key, client) in &dump.clients {
        let application = of_provider.get(key.as_str()).copied();
        if let Some(application) = application {
            known.insert(application.to_owned(), client.client_id.clone());
        }
        let application = application.and_then(|key| dump.applications.get(key));
        let provider = dump.providers.get(key);
        let name = application.map(|application| &*application.name);
        let name = name.or(provider.map(|provider| &*provider.name));
        let home = application.map(|application| &*application.meta_launch_url);
        let mut client = document(client, provider, name, dump, &mut moved.report);
        if let Some(home) = home.filter(|home| home.starts_with("https://")) {
            let document = &mut client.document;
            document.insert("client_uri".to_owned(), home.into());
        }
        moved.clients.push(client);
    }
    for application in dump.applications.values() {
        let provider = application.provider.as_ref();
        if provider.is_none_or(|provider| !dump.clients.contains_key(&provider.0)) {
            moved
                .report
                .add(&rows::OTHER_APPLICATIONS, &*application.name, "");
        }
    }
    known
}

fn document(
    client: &Client,
    provider: Option<&Provider>,
    name: Option<&str>,
    dump: &Dump,
    report: &mut Report,
) -> moved::Client {
    let id = client.client_id.as_str();
    let (redirect_uris, after_logout) = uris(client, report);
    let is_public = client.client_type == "public";
    // Every provider has every grant there; without a redirect there is nothing but itself.
    let grants = match redirect_uris.is_empty() {
        false => vec!["authorization_code", "refresh_token"],
        true if is_public => vec!["urn:ietf:params:oauth:grant-type:device_code"],
        true => vec!["client_credentials"],
    };
    if redirect_uris.is_empty() {
        report.add(&rows::NO_REDIRECT, id, "");
    }
    let flow = provider.and_then(|provider| provider.authorization_flow.as_ref());
    let flow = flow.and_then(|flow| dump.flows.get(&flow.0));
    let said = Said {
        client_id: id,
        name,
        enabled: true,
        redirect_uris,
        after_logout,
        grants,
        is_public,
        pkce: false,
        asks: flow.is_none_or(|flow| flow.slug != IMPLICIT),
        scope: scope(id, provider, dump, report),
    };
    let mut document = said.document();
    let mut set = |name: &str, value| drop(document.insert(name.to_owned(), value));
    if !client.logout_uri.is_empty() {
        let member = match client.logout_method.as_deref() {
            Some("frontchannel") => "frontchannel_logout_uri",
            _ => "backchannel_logout_uri",
        };
        set(member, client.logout_uri.as_str().into());
    }
    if client.signing_key.is_none() {
        report.add(&rows::SIGNATURES, id, "");
    }
    if client.encryption_key.is_some() {
        report.add(&rows::ENCRYPTION, id, "");
    }
    if !is_public {
        match clients::secret(client.client_secret.as_deref()) {
            Some(secret) => set("client_secret", secret.into()),
            None => report.add(&rows::SECRETS, id, ""),
        }
    }
    moved::Client {
        client_id: client.client_id.clone(),
        document,
    }
}

/// Where answers go, and where a logout may end.
fn uris(client: &Client, report: &mut Report) -> (Vec<String>, Vec<String>) {
    let id = client.client_id.as_str();
    let (mut answers, mut after_logout) = (Vec::new(), Vec::new());
    for uri in client.uris.iter().flatten() {
        if uri.matching_mode != "strict" {
            report.add(&rows::PATTERNS, id, &*uri.url);
        } else if uri.redirect_uri_type.as_deref() == Some("logout") {
            after_logout.push(uri.url.clone());
        } else {
            answers.push(uri.url.clone());
        }
    }
    let lines = client.redirect_uris.as_deref().unwrap_or_default();
    for line in lines.split_whitespace() {
        // What has one of these is a regular expression, and no URL.
        match line.contains(['^', '$', '\\', '(', ')', '[', ']', '{', '}', '|', '*']) {
            true => report.add(&rows::PATTERNS, id, line),
            false => answers.push(line.to_owned()),
        }
    }
    (
        clients::exact(answers, id, &rows::PATTERNS, report),
        clients::exact(after_logout, id, &rows::PATTERNS, report),
    )
}

fn scope(id: &str, provider: Option<&Provider>, dump: &Dump, report: &mut Report) -> String {
    let mappings = provider.map_or(&[][..], |provider| &provider.property_mappings);
    let mut names: Vec<&str> = Vec::new();
    for mapping in mappings {
        let mapping = dump.scopes.get(&mapping.0);
        names.extend(mapping.map(|mapping| &*mapping.scope_name));
        let name = mapping.map(|mapping| &*mapping.scope_name);
        match name.filter(|name| *name == "openid" || SCOPES.contains(name)) {
            Some(_) => {}
            None => report.add(&rows::SCOPE_MAPPINGS, id, name.unwrap_or("not in the dump")),
        }
    }
    clients::scope(|name| names.contains(&name))
}
