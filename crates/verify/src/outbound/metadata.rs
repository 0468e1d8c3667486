//! What an issuer says of itself.

use super::{FetchError, Outbound};
use signet_encoding::json;

/// Why something could not be fetched, or be used.
pub(crate) struct Failure {
    /// For the log.
    pub(crate) text: String,
    /// There was an answer, and it is not what was asked for.
    pub(crate) arrived: bool,
}

impl Failure {
    /// An answer of `from` that cannot be used.
    pub(crate) fn unreadable(from: &str, why: impl std::fmt::Display) -> Failure {
        Failure {
            text: format!("{from}: {why}"),
            arrived: true,
        }
    }

    /// A fetch of `from` that failed.
    pub(crate) fn of_fetch(from: &str, error: &FetchError) -> Failure {
        Failure {
            text: format!("{from}: {error}"),
            arrived: error.is_of_content(),
        }
    }
}

/// A URL that the issuer's metadata names.
pub(crate) async fn url_of(
    issuer: &str,
    member: &str,
    outbound: &Outbound,
) -> Result<String, String> {
    let found = urls_of(issuer, [member], outbound).await;
    let [found] = found.map_err(|failure| failure.text)?;
    found.ok_or_else(|| format!("the metadata of {issuer} names no {member}"))
}

/// URLs that the issuer's metadata names, each if it is there: OpenID Connect Discovery section 4,
/// then RFC 8414 section 3.
pub(crate) async fn urls_of<const N: usize>(
    issuer: &str,
    members: [&str; N],
    outbound: &Outbound,
) -> Result<[Option<String>; N], Failure> {
    let first = format!(
        "{}/.well-known/openid-configuration",
        issuer.trim_end_matches('/')
    );
    let mut answer = (outbound.get(&first, "application/json").await, first);
    if let (Err(FetchError::Status(_)), Some(second)) = (&answer.0, rfc_8414(issuer)) {
        answer = (outbound.get(&second, "application/json").await, second);
    }
    let (body, url) = answer;
    let body = body.map_err(|error| Failure::of_fetch(&url, &error))?;
    let metadata = json::parse_object(&body, &json::Limits::default())
        .map_err(|error| Failure::unreadable(&url, error))?;
    // RFC 8414 section 3.3: another issuer's metadata must not be used.
    if metadata.string("issuer").ok().flatten() != Some(issuer) {
        return Err(Failure::unreadable(&url, "the metadata of another issuer"));
    }
    Ok(members.map(|member| {
        let found = metadata.string(member).ok().flatten();
        found.map(str::to_owned)
    }))
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
