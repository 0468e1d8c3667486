//! Clients in the forms that several servers have, as RFC 7591 and Signet have them.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use crate::report::{Report, Row};

/// Shortest secret of a client here, in bytes.
const LEAST_SECRET: usize = 32;
/// Scopes that are here by themselves, beside `openid`.
pub(crate) const SCOPES: [&str; 5] = ["profile", "email", "address", "phone", "offline_access"];

/// Where discovery is, under an issuer.
pub(crate) const WELL_KNOWN: &str = "/.well-known/openid-configuration";

/// What every server says of a client.
pub(crate) struct Said<'a> {
    pub(crate) client_id: &'a str,
    pub(crate) name: Option<&'a str>,
    pub(crate) enabled: bool,
    /// Compared exactly.
    pub(crate) redirect_uris: Vec<String>,
    pub(crate) after_logout: Vec<String>,
    pub(crate) grants: Vec<&'static str>,
    /// It has no secret.
    pub(crate) is_public: bool,
    /// It sends a challenge always. A confidential client that does not goes on as it is.
    pub(crate) pkce: bool,
    /// People are asked before it gets anything.
    pub(crate) asks: bool,
    /// Of [`scope`].
    pub(crate) scope: String,
}

impl Said<'_> {
    /// The client's document, to which a source adds what it knows beside.
    pub(crate) fn document(&self) -> Map<String, Value> {
        let mut members = Map::new();
        let mut set = |name: &str, value: Value| drop(members.insert(name.to_owned(), value));
        set("client_id", self.client_id.into());
        set("enabled", self.enabled.into());
        if let Some(name) = self.name.filter(|name| !name.is_empty()) {
            set("client_name", name.into());
        }
        if self.redirect_uris.iter().any(|uri| is_native(uri)) {
            set("application_type", "native".into());
        }
        set("redirect_uris", json!(self.redirect_uris));
        set("post_logout_redirect_uris", json!(self.after_logout));
        set("grant_types", json!(self.grants));
        let consent = if self.asks { "ask" } else { "implicit" };
        set("consent", consent.into());
        set("require_pkce", (self.pkce || self.is_public).into());
        set("scope", self.scope.as_str().into());
        if self.is_public {
            set("token_endpoint_auth_method", "none".into());
        } else {
            set("token_endpoint_auth_method", "client_secret_basic".into());
            set("any_secret_method", true.into());
        }
        members
    }
}

/// Every scope that is here and this holds for, after `openid`.
pub(crate) fn scope(has: impl Fn(&str) -> bool) -> String {
    let known = SCOPES.into_iter().filter(|name| has(name));
    let all: Vec<&str> = std::iter::once("openid").chain(known).collect();
    all.join(" ")
}

/// A secret that a client can have here.
pub(crate) fn secret(given: Option<&str>) -> Option<&str> {
    given.filter(|secret| secret.len() >= LEAST_SECRET)
}

/// URIs that are compared exactly, once each. Those with a wildcard are reported.
pub(crate) fn exact(
    given: impl IntoIterator<Item = impl AsRef<str>>,
    client_id: &str,
    row: &Row,
    report: &mut Report,
) -> Vec<String> {
    let mut kept: Vec<String> = Vec::new();
    for uri in given {
        let uri = uri.as_ref();
        match uri.contains('*') {
            true => report.add(row, client_id, uri),
            false if uri.is_empty() || kept.iter().any(|one| one == uri) => {}
            false => kept.push(uri.to_owned()),
        }
    }
    kept
}

/// The origins of URLs of the web.
pub(crate) fn origins<'a>(uris: impl IntoIterator<Item = &'a String>) -> BTreeSet<String> {
    uris.into_iter().filter_map(|uri| origin(uri)).collect()
}

/// The origin of a URL of the web.
pub(crate) fn origin(uri: &str) -> Option<String> {
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
