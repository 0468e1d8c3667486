//! Clients of Keycloak, as RFC 7591 and Signet have them.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::form::{Client, Realm};
use super::realm::OWN_CLIENTS;
use super::rows;
use crate::clients::{self, Said};
use crate::moved::{self, Moved};
use crate::report::Report;

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
    let whole = given.iter().filter_map(|uri| {
        let url = client.url(uri);
        if url.is_none() {
            report.add(&rows::WILDCARDS, &client.client_id, uri);
        }
        url
    });
    let whole: Vec<String> = whole.collect();
    clients::exact(whole, &client.client_id, &rows::WILDCARDS, report)
}

fn document(client: &Client, report: &mut Report) -> Map<String, Value> {
    let id = client.client_id.as_str();
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
            "+" => origins.extend(clients::origins(&redirect_uris)),
            "*" => report.add(&rows::ORIGINS, id, ""),
            given => origins.extend(clients::origin(given)),
        }
    }
    let name = client.name.as_deref();
    let said = Said {
        client_id: id,
        name: name.filter(|name| !name.starts_with("${")),
        enabled: client.enabled,
        redirect_uris,
        after_logout,
        grants: grants(client, report),
        is_public: client.public_client,
        pkce: client.attribute("pkce.code.challenge.method").is_some(),
        asks: client.consent_required,
        scope: clients::scope(|name| {
            let given = client.default_client_scopes.iter();
            let mut given = given.chain(&client.optional_client_scopes);
            given.any(|given| given == name)
        }),
    };
    let mut members = said.document();
    let mut set = |name: &str, value: Value| drop(members.insert(name.to_owned(), value));
    set("allowed_origins", json!(origins));
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

fn authentication(client: &Client, members: &mut Map<String, Value>, report: &mut Report) {
    let id = client.client_id.as_str();
    let mut set = |name: &str, value: Value| drop(members.insert(name.to_owned(), value));
    const METHOD: &str = "token_endpoint_auth_method";
    if client.public_client {
        return;
    }
    let kind = client.client_authenticator_type.as_deref();
    let has_method = ["client-jwt", "client-x509", "client-secret-jwt"];
    if kind.is_some_and(|kind| has_method.contains(&kind)) {
        set("any_secret_method", false.into());
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
    match kind {
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
        _ => secret(client, &mut set, report),
    }
}

fn secret(client: &Client, set: &mut dyn FnMut(&str, Value), report: &mut Report) {
    let given = client.secret.as_deref();
    let given = given.filter(|secret| !secret.starts_with("${"));
    match clients::secret(given) {
        Some(secret) => set("client_secret", secret.into()),
        None => report.add(&rows::SECRETS, &client.client_id, ""),
    }
}
