//! Under which name a server is asked.
use http::{HeaderMap, Uri, header};

/// The authority of a base URL, as [`asked_name`] has it.
pub(crate) fn name_of(base: &str) -> Option<String> {
    let rest = base.split_once("://")?.1;
    Some(plain(rest.split('/').next().unwrap_or(rest)))
}

/// The name that a request asks, with its port.
pub(crate) fn asked_name(uri: &Uri, headers: &HeaderMap) -> Option<String> {
    headers
        .get(header::HOST)
        .and_then(|host| host.to_str().ok())
        .or_else(|| uri.authority().map(|authority| authority.as_str()))
        .map(plain)
}

/// Names are compared without case, and without the port that is understood (RFC 9110 section
/// 4.2.3).
fn plain(authority: &str) -> String {
    let authority = authority.strip_suffix(":443").unwrap_or(authority);
    authority.to_ascii_lowercase()
}
