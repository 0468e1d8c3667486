//! Applications of ZITADEL.

use std::collections::BTreeMap;

use serde_json::json;

use super::form::{App, OidcApp, OidcConfig, Org};
use super::rows;
use crate::clients::{self, Said};
use crate::moved::{self, Moved};
use crate::report::Report;

/// What ZITADEL calls the grants, without the prefix of their enumeration.
const GRANTS: [(&str, &str); 4] = [
    ("AUTHORIZATION_CODE", "authorization_code"),
    ("REFRESH_TOKEN", "refresh_token"),
    (
        "DEVICE_CODE",
        "urn:ietf:params:oauth:grant-type:device_code",
    ),
    (
        "TOKEN_EXCHANGE",
        "urn:ietf:params:oauth:grant-type:token-exchange",
    ),
];

/// The applications of an export; those that were listed beside it have the client ids.
pub(super) fn read(orgs: &[Org], listed: &[App], moved: &mut Moved) {
    let ids: BTreeMap<&str, &str> = listed
        .iter()
        .filter_map(|app| {
            let id = app.oidc_config.as_ref()?.client_id.as_deref()?;
            Some((&*app.id, id))
        })
        .collect();
    for org in orgs {
        for app in &org.oidc_apps {
            let OidcApp { app_id, app } = app;
            let Some(config) = app else {
                moved.report.add(&rows::CLIENTS, app_id, "it says nothing");
                continue;
            };
            // A key of an application names its client.
            let by_key = || {
                let mut keys = org.app_keys.iter().filter(|key| key.app_id == *app_id);
                keys.find_map(|key| key.client_id.as_deref())
            };
            let client_id = ids.get(app_id.as_str()).copied().or_else(by_key);
            let client_id = client_id.filter(|id| !id.is_empty());
            if client_id.is_none() {
                moved.report.add(&rows::CLIENT_IDS, app_id, "");
            }
            let client_id = client_id.unwrap_or(app_id);
            let client = client(client_id, config, &mut moved.report);
            moved.clients.push(client);
        }
        for app in &org.api_apps {
            moved.report.add(&rows::API_APPS, &*app.app_id, "");
        }
    }
}

fn client(client_id: &str, app: &OidcConfig, report: &mut Report) -> moved::Client {
    let mut grants = Vec::new();
    for name in &app.grant_types {
        let short = name.strip_prefix("OIDC_GRANT_TYPE_").unwrap_or(name);
        match GRANTS.iter().find(|(there, _)| *there == short) {
            Some((_, grant)) => grants.push(*grant),
            None => report.add(&rows::OTHER_GRANTS, client_id, name),
        }
    }
    // A list that has the first value alone is left out of some answers.
    if app.grant_types.is_empty() {
        grants.push("authorization_code");
    }
    let method = app.auth_method_type.as_deref();
    let method = method.and_then(|name| name.strip_prefix("OIDC_AUTH_METHOD_TYPE_"));
    let has_keys = method == Some("PRIVATE_KEY_JWT");
    let is_public = method == Some("NONE");
    let redirect_uris = clients::exact(&app.redirect_uris, client_id, &rows::WILDCARDS, report);
    let after_logout = &app.post_logout_redirect_uris;
    let after_logout = clients::exact(after_logout, client_id, &rows::WILDCARDS, report);
    let mut origins = clients::origins(&app.additional_origins);
    if app.app_type.as_deref() == Some("OIDC_APP_TYPE_USER_AGENT") {
        origins.extend(clients::origins(&redirect_uris));
    }
    let said = Said {
        client_id,
        name: app.name.as_deref(),
        enabled: !has_keys,
        redirect_uris,
        after_logout,
        grants,
        is_public,
        pkce: false,
        asks: false,
        scope: clients::scope(|_| true),
    };
    let mut document = said.document();
    document.insert("allowed_origins".to_owned(), json!(origins));
    if has_keys {
        report.add(&rows::CLIENT_KEYS, client_id, "");
    } else if !is_public {
        report.add(&rows::SECRETS, client_id, "");
    }
    moved::Client {
        client_id: client_id.to_owned(),
        document,
    }
}
