//! Applications of Auth0.

use serde_json::json;

use super::form::Client;
use super::rows;
use crate::clients::{self, Said};
use crate::moved::{self, Moved};

/// Grants that are called the same here.
const GRANTS: [&str; 5] = [
    "authorization_code",
    "refresh_token",
    "client_credentials",
    "urn:ietf:params:oauth:grant-type:device_code",
    "urn:openid:params:grant-type:ciba",
];

pub(super) fn read(client: &Client, moved: &mut Moved) {
    let report = &mut moved.report;
    if client.global {
        return;
    }
    let id = client.client_id.as_deref().filter(|id| !id.is_empty());
    let Some(id) = id else {
        report.add(&rows::NO_CLIENT_ID, &*client.name, "");
        return;
    };
    let mut grants = Vec::new();
    for name in &client.grant_types {
        match GRANTS.into_iter().find(|grant| grant == name) {
            Some(grant) => grants.push(grant),
            None => report.add(&rows::OTHER_GRANTS, id, name),
        }
    }
    let method = client.token_endpoint_auth_method.as_deref();
    // Without a method, kinds of applications that cannot keep a secret have none.
    let keeps_none = ["native", "spa"]
        .map(Some)
        .contains(&client.app_type.as_deref());
    let has_keys = client.client_authentication_methods.is_some();
    let is_public = !has_keys && (method == Some("none") || method.is_none() && keeps_none);
    if is_public {
        grants.retain(|grant| *grant != "client_credentials");
    }
    let redirect_uris = clients::exact(&client.callbacks, id, &rows::WILDCARDS, report);
    let after_logout = &client.allowed_logout_urls;
    let after_logout = clients::exact(after_logout, id, &rows::WILDCARDS, report);
    let given = client.web_origins.iter().chain(&client.allowed_origins);
    let exact = clients::exact(given, id, &rows::WILDCARDS, report);
    let said = Said {
        client_id: id,
        name: Some(&client.name),
        enabled: !has_keys,
        redirect_uris,
        after_logout,
        grants,
        is_public,
        pkce: false,
        asks: client.is_first_party == Some(false),
        scope: clients::scope(|_| true),
    };
    let mut document = said.document();
    let mut set = |name: &str, value| drop(document.insert(name.to_owned(), value));
    set("allowed_origins", json!(clients::origins(&exact)));
    for (member, url) in [
        ("logo_uri", client.logo_uri.as_deref()),
        ("initiate_login_uri", client.initiate_login_uri.as_deref()),
    ] {
        if let Some(url) = url.filter(|url| url.starts_with("https://")) {
            set(member, url.into());
        }
    }
    let logout = client.oidc_logout.as_ref();
    if let [url, more @ ..] = logout.map_or(&[][..], |logout| &logout.backchannel_logout_urls) {
        set("backchannel_logout_uri", url.as_str().into());
        if !more.is_empty() {
            report.add(&rows::LOGOUT_URLS, id, "");
        }
    }
    if client.require_pushed_authorization_requests {
        set("require_pushed_authorization_requests", true.into());
    }
    let configuration = client.jwt_configuration.as_ref();
    match configuration.and_then(|configuration| configuration.alg.as_deref()) {
        Some(alg @ ("RS256" | "PS256")) => set("id_token_signed_response_alg", alg.into()),
        Some(alg) => report.add(&rows::SIGNATURES, id, alg),
        None => {}
    }
    if has_keys {
        report.add(&rows::CLIENT_KEYS, id, "");
    } else if !is_public {
        let given = client.client_secret.as_deref();
        match clients::secret(given.filter(|secret| is_shown(secret))) {
            Some(secret) => set("client_secret", secret.into()),
            None => report.add(&rows::SECRETS, id, ""),
        }
    }
    if !client.addons.is_empty() {
        report.add(&rows::ADDONS, id, "");
    }
    if !client.client_metadata.is_empty() {
        report.add(&rows::CLIENT_METADATA, id, "");
    }
    moved.clients.push(moved::Client {
        client_id: id.to_owned(),
        document,
    });
}

/// Whether a secret is one, and not what the Deploy CLI puts in its place.
pub(super) fn is_shown(secret: &str) -> bool {
    !["##", "@@", "_VALUE_NOT_SHOWN_"]
        .iter()
        .any(|sign| secret.starts_with(sign))
}
