//! The commands' own requests: HTTP/1.1 over TLS, one connection each, bounded in time and size.

use std::{path::PathBuf, sync::Arc, time::Duration};

use bytes::Bytes;
use http::{Method, Request, Uri};
use http_body_util::Full;
use rustls::{ClientConfig, pki_types::ServerName};
pub use signet_http_client::Answer;
use signet_http_client::Trust;
pub use signet_http_client::text::{form, percent_encode};
use tokio::{net::TcpStream, time::timeout};

/// A whole exchange must be over within this.
const PATIENCE: Duration = Duration::from_secs(20);
/// Largest answer, in bytes.
const MAX_ANSWER: usize = 8 * 1024 * 1024;

/// A client that believes the machine's authorities, and those of the files it was given.
pub struct HttpClient {
    tls: Arc<ClientConfig>,
}

impl HttpClient {
    /// `trust`: PEM files of further authorities.
    pub fn new(trust: &[PathBuf]) -> Result<HttpClient, String> {
        // A machine without a trust store can still speak to servers whose authority is given.
        let mut trusted = match trust.is_empty() {
            true => Trust::system(),
            false => Trust::nobody(),
        };
        for file in trust {
            let bad = |e: &dyn std::fmt::Display| {
                format!("cannot use the certificates in {}: {e}", file.display())
            };
            let pem = std::fs::read(file).map_err(|e| bad(&e))?;
            trusted = trusted.and(&pem).map_err(|e| bad(&e))?;
        }
        let tls = trusted.tls();
        let tls = tls.map_err(|e| format!("TLS cannot be set up: {e}"))?;
        Ok(HttpClient { tls })
    }

    /// GET.
    pub async fn get(&self, url: &str, headers: &[(&str, &str)]) -> Result<Answer, String> {
        self.send(Method::GET, url, headers, Bytes::new()).await
    }

    /// Any request. Plain http is only spoken to this machine. Errors name the URL without its
    /// query.
    pub async fn send(
        &self,
        method: Method,
        url: &str,
        headers: &[(&str, &str)],
        body: Bytes,
    ) -> Result<Answer, String> {
        let shown = url.split(['?', '#']).next().unwrap_or(url);
        match timeout(PATIENCE, self.exchange(method, url, headers, body)).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(e)) => Err(format!("cannot reach {shown}: {e}")),
            Err(_) => Err(format!(
                "cannot reach {shown}: no answer within {} seconds",
                PATIENCE.as_secs()
            )),
        }
    }

    async fn exchange(
        &self,
        method: Method,
        url: &str,
        headers: &[(&str, &str)],
        body: Bytes,
    ) -> Result<Answer, String> {
        let uri: Uri = url.parse().map_err(|_| "not a URL".to_owned())?;
        let authority = uri.authority().ok_or("not an absolute URL")?.clone();
        let host = authority
            .host()
            .trim_start_matches('[')
            .trim_end_matches(']')
            .to_owned();
        let secure = match uri.scheme_str() {
            Some("https") => true,
            Some("http") if is_loopback(&host) => false,
            _ => return Err("only https is spoken (plain http to this machine only)".into()),
        };
        let port = authority
            .port_u16()
            .unwrap_or(if secure { 443 } else { 80 });
        let mut request = Request::builder()
            .method(method)
            .uri(uri.path_and_query().map_or("/", |p| p.as_str()))
            .header("host", authority.as_str())
            .header("user-agent", concat!("signet/", env!("CARGO_PKG_VERSION")));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(Full::new(body)).map_err(|e| e.to_string())?;
        let stream = TcpStream::connect((host.as_str(), port))
            .await
            .map_err(|e| e.to_string())?;
        let _ = stream.set_nodelay(true);
        let name = match secure {
            true => Some(ServerName::try_from(host).map_err(|_| "not a host name".to_owned())?),
            false => None,
        };
        let tls = name.map(|name| (self.tls.clone(), name));
        let connection = signet_http_client::connect(stream, tls).await;
        let (mut sender, driven) = connection.map_err(|e| explained(&e.to_string()))?;
        // It ends with the answer, or with the error that sending reports.
        let driven = tokio::spawn(driven);
        let answer = signet_http_client::send(&mut sender, request, MAX_ANSWER).await;
        driven.abort();
        answer.map_err(|e| e.to_string())
    }
}

/// What helps against the refusals of certificates that people meet first.
fn explained(error: &str) -> String {
    let hint = if error.contains("UnknownIssuer") {
        "; --ca-cert FILE or SIGNET_CA_CERT names the authority that it comes from"
    } else if error.contains("CaUsedAsEndEntity") {
        "; the server shows the certificate of an authority (CA:TRUE) as its own: give it one without"
    } else if error.contains("NotValidForName") {
        "; use the name that the certificate has, or give the server one for this name"
    } else {
        ""
    };
    format!("{error}{hint}")
}

fn is_loopback(host: &str) -> bool {
    host == "localhost"
        || host
            .parse::<std::net::IpAddr>()
            .is_ok_and(|a| a.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_certificate_comes_with_what_helps() {
        let said = explained("invalid peer certificate: UnknownIssuer");
        assert!(said.starts_with("invalid peer") && said.contains("--ca-cert"));
        let said = explained("invalid peer certificate: Other(OtherError(CaUsedAsEndEntity))");
        assert!(said.contains("CA:TRUE"));
        assert_eq!(explained("connection refused"), "connection refused");
    }

    #[test]
    fn plain_http_is_only_spoken_to_this_machine() {
        assert!(is_loopback("localhost") && is_loopback("127.0.0.9") && is_loopback("::1"));
        assert!(!is_loopback("localhost.example") && !is_loopback("10.0.0.1"));
    }
}
