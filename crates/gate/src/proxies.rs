//! Which callers are reverse proxies, whose word about a request is taken.
//!
//! The method and URL of a request, and the client's certificate, decide whether a bound token is
//! worth anything (RFC 9449 section 4.3, RFC 8705 section 3). They reach the gate as header fields,
//! which anybody can write. So they are accepted only from a caller that shows a secret which the
//! operator gave to the proxy, or whose TLS certificate ends at a CA that the operator named. Where
//! neither is configured they are accepted from nobody: bearer tokens are decided about all the
//! same, and tokens that are bound to a key or a certificate are refused.
//!
//! What this does not do: a proxy that is known and hands on a field as its client wrote it makes
//! that field the client's. The proxy's configuration must set each of them; the manual's do.

use http::HeaderMap;
use signet_crypto::Secret;
use signet_http::{Connection, ProxySecret};

/// How proxies are distinguished from other callers.
#[derive(Default)]
pub struct Proxies {
    secret: Option<ProxySecret>,
    certificate: bool,
}

impl Proxies {
    /// None is known yet.
    pub fn new() -> Proxies {
        Proxies::default()
    }

    /// A caller whose header field `name` has this value is a proxy.
    ///
    /// # Errors
    /// A sentence, for a name that is none, or a secret that is short or does not fit into a header
    /// field.
    pub fn with_secret(mut self, name: &str, secret: Secret<String>) -> Result<Proxies, String> {
        self.secret = Some(ProxySecret::new(name, secret)?);
        Ok(self)
    }

    /// A caller whose certificate ends at the listener's client CA is a proxy.
    #[must_use]
    pub fn with_certificate(mut self) -> Proxies {
        self.certificate = true;
        self
    }

    /// Whether any caller can be a proxy.
    pub(crate) fn are_configured(&self) -> bool {
        self.certificate || self.secret.is_some()
    }

    /// Whether this caller is one.
    pub(crate) fn know(&self, connection: &Connection, headers: &HeaderMap) -> bool {
        let by_certificate = self.certificate
            && connection
                .certificate
                .as_ref()
                .is_some_and(|presented| presented.chain_trusted);
        let by_secret = self.secret.as_ref().is_some_and(|s| s.is_shown(headers));
        by_certificate || by_secret
    }
}
