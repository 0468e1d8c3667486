//! The secret by which a reverse proxy is known.
//!
//! What a proxy says about a request stands in header fields, which anybody can write who reaches
//! the listener. A secret that the operator gave to the proxy tells it from every other caller, on
//! the same machine too.

use http::{HeaderMap, HeaderName};
use signet_crypto::{Secret, ct_eq};

/// Shortest secret, in bytes: 128 bits as hexadecimal digits.
const LEAST_SECRET: usize = 32;

/// A header field, and the value that the proxy alone knows.
#[derive(Debug)]
pub struct ProxySecret {
    header: HeaderName,
    secret: Secret<String>,
}

impl ProxySecret {
    /// This value in this header field.
    ///
    /// # Errors
    /// A sentence, for a name that is none, or a secret that is short or does not fit into a header
    /// field.
    pub fn new(header: &str, secret: Secret<String>) -> Result<ProxySecret, String> {
        let header = HeaderName::from_bytes(header.as_bytes())
            .map_err(|_| format!("{header:?} is no name of a header field"))?;
        if secret.expose().len() < LEAST_SECRET {
            return Err(format!(
                "the secret is shorter than {LEAST_SECRET} characters"
            ));
        }
        if !secret.expose().bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err("the secret is not visible ASCII, in one word".into());
        }
        Ok(ProxySecret { header, secret })
    }

    /// Whether a request carries it, once: a field that is there twice may be the client's.
    pub fn is_shown(&self, headers: &HeaderMap) -> bool {
        let mut fields = headers.get_all(&self.header).iter();
        match (fields.next(), fields.next()) {
            (Some(said), None) => ct_eq(said.as_bytes(), self.secret.expose().as_bytes()),
            (None, _) | (Some(_), Some(_)) => false,
        }
    }
}
