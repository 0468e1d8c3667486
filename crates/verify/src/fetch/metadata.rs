//! What an issuer says of itself.

use super::{FetchError, Outbound};
use signet_jose::json;

/// A URL that the issuer's metadata names: OpenID Connect Discovery section 4, then RFC 8414 section 3.
pub(super) async fn url_of(
    issuer: &str,
    member: &str,
    outbound: &Outbound,
) -> Result<String, String> {
    let first = format!(
        "{}/.well-known/openid-configuration",
        issuer.trim_end_matches('/')
    );
    let mut answer = (outbound.get(&first, "application/json").await, first);
    if let (Err(FetchError::Status(_)), Some(second)) = (&answer.0, rfc_8414(issuer)) {
        answer = (outbound.get(&second, "application/json").await, second);
    }
    let (body, url) = answer;
    let body = body.map_err(|error| format!("{url}: {error}"))?;
    let metadata = json::parse_object(&body, &json::Limits::default())
        .map_err(|error| format!("{url}: {error}"))?;
    // RFC 8414 section 3.3: another issuer's metadata must not be used.
    if metadata.string("issuer").ok().flatten() != Some(issuer) {
        return Err(format!("{url} is the metadata of another issuer"));
    }
    match metadata.string(member) {
        Ok(Some(found)) => Ok(found.to_owned()),
        _ => Err(format!("{url} names no {member}")),
    }
}

/// The well-known part goes between host and path.
fn rfc_8414(issuer: &str) -> Option<String> {
    let (scheme, rest) = issuer.split_once("://")?;
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let path = path.trim_end_matches('/');
    Some(format!(
        "{scheme}://{host}/.well-known/oauth-authorization-server{path}"
    ))
}
