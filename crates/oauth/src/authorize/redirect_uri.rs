//! Redirect URIs: what may be registered, and when a requested one is the registered one.
use crate::{
    error::{ErrorCode, OAuthError},
    uri::{Uri, parse_port},
};
use std::fmt;

/// An absolute URI without fragment, registered. Matching is exact, but for the port of a native
/// application's loopback redirect (RFC 8252 section 7.3): [`crate::client::Client::redirect_uri`]
/// says which rule holds.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct RedirectUri(String);

impl RedirectUri {
    /// `https` with a host, or `http` on loopback (OAuth 2.1 section 2.3.1); a `native` client may
    /// also use a private-use scheme, which must have a dot: a reversed domain name (RFC 8252
    /// section 7.1).
    ///
    /// # Errors
    /// `invalid_redirect_uri`, for anything else, a fragment, user information, or more than 2048
    /// bytes.
    pub fn parse(text: &str, native: bool) -> Result<Self, OAuthError> {
        let refuse = |why| Err(OAuthError::new(ErrorCode::InvalidRedirectUri, why));
        let Some(uri) = Uri::parse(text) else {
            return refuse("a redirect URI must be an absolute URI without fragment");
        };
        match uri.scheme {
            "https" if uri.host.is_some() => {}
            "http" if uri.is_loopback() => {}
            "http" => return refuse("http redirect URIs are for loopback addresses only"),
            scheme if native && scheme.contains('.') => {}
            _ if native => {
                return refuse(
                    "a private-use scheme must be a reversed domain name (RFC 8252 section 7.1)",
                );
            }
            _ => {
                return refuse(
                    "a web client's redirect URIs must be https URLs (private-use schemes are for application_type native)",
                );
            }
        }
        Ok(RedirectUri(text.to_owned()))
    }

    /// The text as registered.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Is `requested` this URI, for a native application? Byte for byte; only the port of an `http`
    /// loopback redirect may differ or be missing (RFC 8252 section 7.3, RFC 9700 section 4.1.3).
    pub fn matches_any_loopback_port(&self, requested: &str) -> bool {
        self.0 == requested
            || match (
                without_loopback_port(&self.0),
                without_loopback_port(requested),
            ) {
                (Some(registered), Some(requested)) => registered == requested,
                _ => false,
            }
    }
}

impl fmt::Display for RedirectUri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// (`http://host`, path and query) of an `http` loopback URI, its port cut out; None for every
/// other.
fn without_loopback_port(text: &str) -> Option<(&str, &str)> {
    let uri = Uri::parse(text).filter(|u| u.scheme == "http" && u.is_loopback())?;
    let before_rest = &text[..text.len() - uri.rest.len()];
    let front = match before_rest.rsplit_once(':') {
        Some((front, digits)) if uri.port.is_some() && parse_port(digits).is_some() => front,
        _ => before_rest,
    };
    Some((front, uri.rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn web(text: &str) -> RedirectUri {
        RedirectUri::parse(text, false).expect(text)
    }

    #[test]
    fn a_web_client_registers_https_or_loopback_only() {
        for ok in [
            "https://rp.example/cb",
            "https://rp.example/cb?x=y",
            "http://127.0.0.1/cb",
            "http://[::1]:8080/cb",
            "http://localhost/cb",
        ] {
            assert!(RedirectUri::parse(ok, false).is_ok(), "{ok}");
        }
        for bad in [
            "http://rp.example/cb",
            "https://rp.example/cb#f",
            "https://u@rp.example/cb",
            "https://*.rp.example/cb",
            "com.example.app:/cb",
            "javascript:alert(1)",
            "data:text/html,x",
            "/cb",
            "",
        ] {
            assert!(RedirectUri::parse(bad, false).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_private_use_scheme_needs_native_and_a_dot() {
        assert!(RedirectUri::parse("com.example.app:/cb", true).is_ok());
        for bad in [
            "myapp:/cb",
            "javascript:x",
            "data:x",
            "file:///etc",
            "http://rp.example/",
        ] {
            assert!(RedirectUri::parse(bad, true).is_err(), "{bad}");
        }
    }

    #[test]
    fn redirects_match_exactly_but_for_a_loopback_port() {
        let uri = web("https://rp.example/cb");
        assert!(uri.matches_any_loopback_port("https://rp.example/cb"));
        for other in [
            "https://rp.example/cb/",
            "https://rp.example/cb?x=1",
            "https://rp.example:443/cb",
            "https://rp.example:8443/cb",
            "https://rp.example.evil.example/cb",
            "https://RP.example/cb",
            "http://rp.example/cb",
            "https://rp.example/CB",
            "https://rp.example/cb#",
        ] {
            assert!(!uri.matches_any_loopback_port(other), "{other}");
        }
        let loopback = web("http://127.0.0.1/cb");
        for ok in ["http://127.0.0.1/cb", "http://127.0.0.1:49152/cb"] {
            assert!(loopback.matches_any_loopback_port(ok), "{ok}");
        }
        assert!(web("http://[::1]:1/cb").matches_any_loopback_port("http://[::1]:2/cb"));
        assert!(web("http://localhost:1/cb").matches_any_loopback_port("http://localhost/cb"));
        for other in [
            "http://127.0.0.2:1/cb",
            "http://localhost:1/cb",
            "https://127.0.0.1:1/cb",
            "http://127.0.0.1:1/cb2",
            "http://127.0.0.1:1/cb?x",
            "http://127.0.0.1:01/cb",
            "http://127.0.0.1:1@evil.example/cb",
            "http://127.0.0.1:99999/cb",
            "http://127.0.0.1:/cb",
        ] {
            assert!(!loopback.matches_any_loopback_port(other), "{other}");
        }
        // https on loopback is matched as any https URL is.
        assert!(!web("https://localhost:1/cb").matches_any_loopback_port("https://localhost:2/cb"));
    }

    proptest! {
        #[test]
        fn matching_never_panics(a in "(http|https)://(127.0.0.1|\\[::1\\]|localhost)?[:/a-z0-9?]{0,20}", b in ".{0,40}") {
            if let Ok(uri) = RedirectUri::parse(&a, true) {
                prop_assert!(uri.matches_any_loopback_port(&a));
                let _ = uri.matches_any_loopback_port(&b);
            }
        }
    }
}
