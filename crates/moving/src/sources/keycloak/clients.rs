//! Clients of Keycloak, as RFC 7591 and Signet have them.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::form::{Client, Realm};
use super::realm::OWN_CLIENTS;
use super::rows;
use crate::moved::{self, Moved};
use crate::report::Report;

/// Shortest secret of a client here, in bytes.
const LEAST_SECRET: usize = 32;
/// Scopes that are here by themselves.
const SCOPES: [&str; 5] = ["profile", "email", "address", "phone", "offline_access"];

pub(super) fn read(realm: &Realm, moved: &mut Moved) {
    let of_realm = format!("{}-realm", realm.name);
    for client in &realm.rest.clients {
        let id = client.client_id.as_str();
        if OWN_CLIENTS.contains(&id) || id == of_realm || id == "master-realm" {
            continue;
        }
        match client.protocol.as_deref() {
            None | Some("openid-connect") => {}
            Some(_) => {
                moved.report.add(&rows::SAML_CLIENTS, id, "");
                continue;
            }
        }
        if client.bearer_only {
            moved.report.add(&rows::BEARER_ONLY, id, "");
            continue;
        }
        let document = document(client, &mut moved.report);
        moved.clients.push(moved::Client {
            client_id: client.client_id.clone(),
            document,
        });
    }
}

impl Client {
    /// An attribute that says something.
    fn attribute(&self, name: &str) -> Option<&str> {
        let value = self.attributes.get(name)?.as_deref()?;
        (!value.is_empty()).then_some(value)
    }

    fn is_on(&self, name: &str) -> bool {
        self.attribute(name) == Some("true")
    }

    /// A URL of the client; a relative one is below its root.
    fn url(&self, given: &str) -> Option<String> {
        match given.strip_prefix('/') {
            None => Some(given.to_owned()),
            Some(path) => {
                let root = self.root_url.as_deref().filter(|root| !root.is_empty())?;
                (!root.contains("${")).then(|| format!("{}/{path}", root.trim_end_matches('/')))
            }
        }
    }
}

/// Redirect URIs that are compared exactly. Others are reported.
fn redirects(client: &Client, given: &[String], report: &mut Report) -> Vec<String> {
    let mut kept = Vec::new();
    for uri in given {
        match client.url(uri).filter(|uri| !uri.contains('*')) {
            Some(uri) if !kept.contains(&uri) => kept.push(uri),
            Some(_) => {}
            None => report.add(&rows::WILDCARDS, &client.client_id, uri),
        }
    }
    kept
}

/// The origin of a URL of the web.
fn origin(uri: &str) -> Option<String> {
    let (scheme, rest) = uri.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next()?;
    ["https", "http"]
        .contains(&scheme)
        .then(|| format!("{scheme}://{authority}"))
}

/// Whether a client with this redirect URI is a program on somebody's device.
fn is_native(uri: &str) -> bool {
    match uri.split_once("://") {
        Some(("https", _)) => false,
        Some(("http", rest)) => ["localhost", "127.0.0.1", "[::1]"].iter().any(|host| {
            rest.strip_prefix(host)
                .is_some_and(|rest| !rest.starts_with('.'))
        }),
        Some(_) | None => true,
    }
}

fn document(client: &Client, report: &mut Report) -> Map<String, Value> {
    let id = client.client_id.as_str();
    let mut members = Map::new();
    let mut set = |name: &str, value: Value| drop(members.insert(name.to_owned(), value));
    set("client_id", id.into());
    set("enabled", client.enabled.into());
    let name = client
        .name
        .as_deref()
        .filter(|name| !name.is_empty() && !name.starts_with("${"));
    if let Some(name) = name {
        set("client_name", name.into());
    }
    let redirect_uris = redirects(client, &client.redirect_uris, report);
    let after_logout: Vec<String> = match client.attribute("post.logout.redirect.uris") {
        Some("+") => redirect_uris.clone(),
        Some("-") | None => Vec::new(),
        Some(text) => {
            let given: Vec<String> = text.split("##").map(str::to_owned).collect();
            redirects(client, &given, report)
        }
    };
    let mut origins = BTreeSet::new();
    for given in &client.web_origins {
        match given.as_str() {
            "+" => origins.extend(redirect_uris.iter().filter_map(|uri| origin(uri))),
            "*" => report.add(&rows::ORIGINS, id, ""),
            given => origins.extend(origin(given)),
        }
    }
    set("allowed_origins", json!(origins));
    if redirect_uris.iter().any(|uri| is_native(uri)) {
        set("application_type", "native".into());
    }
    set("redirect_uris", json!(redirect_uris));
    set("post_logout_redirect_uris", json!(after_logout));
    for (member, attribute) in [
        ("logo_uri", "logoUri"),
        ("policy_uri", "policyUri"),
        ("tos_uri", "tosUri"),
        ("backchannel_logout_uri", "backchannel.logout.url"),
        ("frontchannel_logout_uri", "frontchannel.logout.url"),
        (
            "id_token_signed_response_alg",
            "id.token.signed.response.alg",
        ),
        (
            "access_token_signed_response_alg",
            "access.token.signed.response.alg",
        ),
        (
            "userinfo_signed_response_alg",
            "user.info.response.signature.alg",
        ),
        (
            "token_endpoint_auth_signing_alg",
            "token.endpoint.auth.signing.alg",
        ),
    ] {
        if let Some(value) = client.attribute(attribute).filter(|value| *value != "any") {
            set(member, value.into());
        }
    }
    let home = client.base_url.as_deref().and_then(|url| client.url(url));
    if let Some(home) = home.filter(|home| home.starts_with("https://")) {
        set("client_uri", home.into());
    }
    let lifetime = client.attribute("access.token.lifespan");
    if let Some(seconds) = lifetime.and_then(|text| text.parse::<u64>().ok()) {
        set("access_token_lifetime", seconds.into());
    }
    for (member, attribute) in [
        (
            "require_pushed_authorization_requests",
            "require.pushed.authorization.requests",
        ),
        ("dpop_bound_access_tokens", "dpop.bound.access.tokens"),
        (
            "tls_client_certificate_bound_access_tokens",
            "tls.client.certificate.bound.access.tokens",
        ),
    ] {
        if client.is_on(attribute) {
            set(member, true.into());
        }
    }
    set("grant_types", json!(grants(client, report)));
    set(
        "consent",
        if client.consent_required {
            "ask"
        } else {
            "implicit"
        }
        .into(),
    );
    // A confidential client that never sent a challenge goes on as it is.
    let challenge = client.attribute("pkce.code.challenge.method").is_some();
    set("require_pkce", (challenge || client.public_client).into());
    set("scope", scope(client).into());
    if !client.protocol_mappers.is_empty() {
        let names = client
            .protocol_mappers
            .iter()
            .filter_map(|mapper| mapper.name.as_deref());
        report.add(&rows::MAPPERS, id, names.collect::<Vec<_>>().join(", "));
    }
    if client.authorization_services_enabled {
        report.add(&rows::AUTHORIZATION, id, "");
    }
    authentication(client, &mut members, report);
    members
}

fn grants(client: &Client, report: &mut Report) -> Vec<&'static str> {
    let mut grants = Vec::new();
    if client.standard_flow_enabled {
        grants.push("authorization_code");
        if client.attribute("use.refresh.tokens") != Some("false") {
            grants.push("refresh_token");
        }
    }
    if client.service_accounts_enabled && !client.public_client {
        grants.push("client_credentials");
    }
    if client.is_on("oauth2.device.authorization.grant.enabled") {
        grants.push("urn:ietf:params:oauth:grant-type:device_code");
    }
    if client.is_on("oidc.ciba.grant.enabled") {
        grants.push("urn:openid:params:grant-type:ciba");
    }
    if client.is_on("standard.token.exchange.enabled") {
        grants.push("urn:ietf:params:oauth:grant-type:token-exchange");
    }
    if client.implicit_flow_enabled {
        report.add(&rows::PASSWORD_GRANT, &client.client_id, "implicit flow");
    }
    if client.direct_access_grants_enabled {
        report.add(
            &rows::PASSWORD_GRANT,
            &client.client_id,
            "direct access grants",
        );
    }
    grants
}

fn scope(client: &Client) -> String {
    let given = client
        .default_client_scopes
        .iter()
        .chain(&client.optional_client_scopes);
    let given: BTreeSet<&str> = given.map(String::as_str).collect();
    let known = SCOPES.into_iter().filter(|name| given.contains(name));
    std::iter::once("openid")
        .chain(known)
        .collect::<Vec<_>>()
        .join(" ")
}

fn authentication(client: &Client, members: &mut Map<String, Value>, report: &mut Report) {
    let id = client.client_id.as_str();
    let mut set = |name: &str, value: Value| drop(members.insert(name.to_owned(), value));
    const METHOD: &str = "token_endpoint_auth_method";
    if client.public_client {
        set(METHOD, "none".into());
        return;
    }
    let with_keys = |set: &mut dyn FnMut(&str, Value)| {
        if let Some(uri) = client
            .attribute("jwks.url")
            .filter(|_| client.is_on("use.jwks.url"))
        {
            set("jwks_uri", uri.into());
            return true;
        }
        let keys = client
            .attribute("jwks.string")
            .filter(|_| client.is_on("use.jwks.string"));
        let keys = keys.and_then(|text| serde_json::from_str::<Value>(text).ok());
        match keys {
            Some(keys) => {
                set("jwks", keys);
                true
            }
            None => false,
        }
    };
    match client.client_authenticator_type.as_deref() {
        Some("client-jwt") => {
            set(METHOD, "private_key_jwt".into());
            if !with_keys(&mut set) {
                report.add(
                    &rows::CLIENT_KEYS,
                    id,
                    "without a jwks_uri or a key set: it is disabled",
                );
                set(METHOD, "client_secret_basic".into());
                set("enabled", false.into());
            }
        }
        Some("client-x509") => match client.attribute("x509.subjectdn") {
            Some(subject) if !client.is_on("x509.allow.regex.pattern.comparison") => {
                set(METHOD, "tls_client_auth".into());
                set("tls_client_auth_subject_dn", subject.into());
            }
            _ => {
                report.add(
                    &rows::CLIENT_KEYS,
                    id,
                    "the subject is a pattern: it is disabled",
                );
                set(METHOD, "client_secret_basic".into());
                set("enabled", false.into());
            }
        },
        Some("client-secret-jwt") => {
            set(METHOD, "client_secret_jwt".into());
            secret(client, &mut set, report);
        }
        _ => {
            set(METHOD, "client_secret_basic".into());
            set("any_secret_method", true.into());
            secret(client, &mut set, report);
        }
    }
}

fn secret(client: &Client, set: &mut dyn FnMut(&str, Value), report: &mut Report) {
    let fits = |secret: &&String| secret.len() >= LEAST_SECRET && !secret.starts_with("${");
    match client.secret.as_ref().filter(fits) {
        Some(secret) => set("client_secret", secret.clone().into()),
        None => report.add(&rows::SECRETS, &client.client_id, ""),
    }
}
