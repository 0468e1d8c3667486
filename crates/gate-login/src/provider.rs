//! The issuer: what its metadata says, and the three requests that a login makes of it.

use signet_encoding::json::{Limits, parse_object};
use signet_verify::fetch::Outbound;
use std::sync::Arc;
use tokio::sync::Mutex;

/// Seconds for which the metadata is not fetched again.
const METADATA_LIFE: u64 = 300;

/// What the metadata says (OpenID Connect Discovery section 3), as far as a login needs it.
#[derive(Clone, Debug)]
pub(crate) struct Metadata {
    pub(crate) authorization_endpoint: String,
    pub(crate) token_endpoint: String,
    /// RFC 9126
    pub(crate) pushed: Option<String>,
    pub(crate) userinfo_endpoint: Option<String>,
    /// RP-Initiated Logout
    pub(crate) end_session_endpoint: Option<String>,
    /// RFC 9207: every answer says `iss`
    pub(crate) says_iss: bool,
    /// OpenID Connect Core section 5.5
    pub(crate) takes_claims: bool,
}

impl Metadata {
    fn read(body: &[u8], issuer: &str) -> Result<Metadata, String> {
        let limits = Limits::default();
        let object = parse_object(body, &limits).map_err(|error| error.to_string())?;
        if object.string("issuer").ok().flatten() != Some(issuer) {
            return Err("the metadata is another issuer's".to_owned());
        }
        let scheme = issuer.split("://").next().unwrap_or("https");
        let url = |name: &str| -> Result<Option<String>, String> {
            let found = object
                .string(name)
                .map_err(|_| format!("{name} is no text"))?;
            match found {
                // A browser is led there: nowhere else than to where the issuer itself could be.
                Some(url) if !url.starts_with(&format!("{scheme}://")) => {
                    Err(format!("{name} is no {scheme} URL"))
                }
                found => Ok(found.map(str::to_owned)),
            }
        };
        let needed = |name: &str| url(name)?.ok_or_else(|| format!("it names no {name}"));
        let flag = |name: &str| object.bool(name).ok().flatten() == Some(true);
        let methods = object.strings("code_challenge_methods_supported");
        let methods =
            methods.map_err(|_| "code_challenge_methods_supported is no list".to_owned())?;
        if methods.is_some_and(|methods| !methods.contains(&"S256")) {
            return Err("the issuer has no PKCE with S256".to_owned());
        }
        Ok(Metadata {
            authorization_endpoint: needed("authorization_endpoint")?,
            token_endpoint: needed("token_endpoint")?,
            pushed: url("pushed_authorization_request_endpoint")?,
            userinfo_endpoint: url("userinfo_endpoint")?,
            end_session_endpoint: url("end_session_endpoint")?,
            says_iss: flag("authorization_response_iss_parameter_supported"),
            takes_claims: flag("claims_parameter_supported"),
        })
    }
}

/// The metadata, fetched when somebody logs in and it is older than five minutes.
#[derive(Default)]
pub(crate) struct Provider {
    known: Mutex<Option<(u64, Arc<Metadata>)>>,
}

impl Provider {
    /// One fetch at a time; whoever comes meanwhile waits for it.
    pub(crate) async fn metadata(
        &self,
        issuer: &str,
        outbound: &Outbound,
        now: u64,
    ) -> Result<Arc<Metadata>, String> {
        let mut known = self.known.lock().await;
        if let Some((at, metadata)) = &*known
            && now < at.saturating_add(METADATA_LIFE)
        {
            return Ok(metadata.clone());
        }
        let url = [
            issuer.trim_end_matches('/'),
            "/.well-known/openid-configuration",
        ]
        .concat();
        let body = outbound.get(&url, "application/json").await;
        let body = body.map_err(|error| format!("{url}: {error}"))?;
        let metadata = Metadata::read(&body, issuer).map_err(|why| format!("{url}: {why}"))?;
        let metadata = Arc::new(metadata);
        *known = Some((now, metadata.clone()));
        Ok(metadata)
    }
}

/// Why the issuer gave nothing.
#[derive(Debug)]
pub(crate) enum Failure {
    /// It could not be asked, or its answer could not be read: for the log.
    Unavailable(String),
    /// It refused: RFC 6749 section 5.2.
    Refused {
        /// the error code
        error: String,
        /// for the log
        description: String,
    },
}

/// What the token endpoint gave.
pub(crate) struct Tokens {
    pub(crate) id_token: String,
    pub(crate) access_token: String,
    pub(crate) is_bearer: bool,
    /// what was granted, where that differs from what was asked for
    pub(crate) scope: Option<String>,
}

/// RFC 6749 section 3.1: the endpoint's own query stays.
pub(crate) fn with_query(url: &str, query: &str) -> String {
    let separator = if url.contains('?') { "&" } else { "?" };
    [url, separator, query].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"{"issuer":"https://id","authorization_endpoint":"https://id/authorize","token_endpoint":"https://id/token"}"#;

    #[test]
    fn metadata_of_another_issuer_or_another_scheme_is_refused() {
        assert!(Metadata::read(GOOD.as_bytes(), "https://id").is_ok());
        assert!(Metadata::read(GOOD.as_bytes(), "https://id/").is_err());
        for (from, to) in [
            ("https://id/authorize", "http://id/authorize"),
            ("https://id/authorize", "javascript:alert(1)"),
            ("\"token_endpoint\"", "\"other\""),
            ("}", r#","code_challenge_methods_supported":["plain"]}"#),
            ("}", r#","end_session_endpoint":"data:text/html,x"}"#),
        ] {
            let bad = GOOD.replace(from, to);
            assert!(
                Metadata::read(bad.as_bytes(), "https://id").is_err(),
                "{bad}"
            );
        }
    }

    #[test]
    fn an_endpoints_own_query_stays() {
        assert_eq!(with_query("https://a/b", "c=d"), "https://a/b?c=d");
        assert_eq!(with_query("https://a/b?x=y", "c=d"), "https://a/b?x=y&c=d");
    }
}
