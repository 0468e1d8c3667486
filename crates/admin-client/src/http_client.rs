//! The commands' own requests: HTTP/1.1 over TLS, one connection each, bounded in time and size.

use std::{path::PathBuf, sync::Arc, time::Duration};

use bytes::Bytes;
use http::{Method, Request, Uri};
use http_body_util::Full;
use rustls::{ClientConfig, pki_types::ServerName};
pub use signet_http_client::Answer;
pub use signet_http_client::text::{form, percent_encode};
use signet_http_client::{Lines, Sender, Trust, Unanswered};
use tokio::{net::TcpStream, task::JoinHandle, time::timeout};

/// A whole exchange must be over within this.
const PATIENCE: Duration = Duration::from_secs(20);
/// Largest answer, in bytes.
const MAX_ANSWER: usize = 8 * 1024 * 1024;

/// A client that believes the machine's authorities, and those of the files it was given.
pub struct HttpClient {
    tls: Arc<ClientConfig>,
    /// How somebody names the authority of a server's certificate.
    authority: &'static str,
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
        Ok(HttpClient {
            tls,
            authority: "--ca-cert FILE or SIGNET_CA_CERT",
        })
    }

    /// The same, where another option names the authority.
    #[must_use]
    pub fn authority_by(self, authority: &'static str) -> HttpClient {
        HttpClient { authority, ..self }
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
        let exchange = async {
            let (mut sender, driven, request) = self.begin(method, url, headers, body).await?;
            let answer = signet_http_client::send(&mut sender, request, MAX_ANSWER).await;
            drop(driven);
            answer.map_err(|e| e.to_string())
        };
        within(url, exchange).await
    }

    /// GET of an answer that comes line by line, for as long as it is held. A status that is no
    /// success has the whole answer.
    pub async fn follow(&self, url: &str, headers: &[(&str, &str)]) -> Result<Followed, String> {
        let exchange = async {
            let begun = self.begin(Method::GET, url, headers, Bytes::new()).await?;
            let (mut sender, driven, request) = begun;
            let answer = signet_http_client::begin_answer(&mut sender, request).await;
            let (head, body) = answer.map_err(|e| e.to_string())?.into_parts();
            if head.status.is_success() {
                let lines = Lines::of(body, MAX_ANSWER);
                return Ok(Followed::Lines(lines, driven));
            }
            let body = signet_http_client::read(body, MAX_ANSWER).await;
            Ok(Followed::Refused(Answer {
                status: head.status,
                headers: head.headers,
                body: body.map_err(|e| e.to_string())?,
            }))
        };
        within(url, exchange).await
    }

    /// A connection, and what is sent over it.
    async fn begin(
        &self,
        method: Method,
        url: &str,
        headers: &[(&str, &str)],
        body: Bytes,
    ) -> Result<(Sender, Driving, Request<Full<Bytes>>), String> {
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
            // A reason is people's text.
            request = request.header(*name, value.as_bytes());
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
        let explained = |e: Unanswered| explained(&e.to_string(), self.authority);
        let (sender, driven) = connection.map_err(explained)?;
        Ok((sender, Driving(tokio::spawn(driven)), request))
    }
}

/// What somebody waits for, within bounds. Errors name the URL without its query.
async fn within<T>(
    url: &str,
    exchange: impl Future<Output = Result<T, String>>,
) -> Result<T, String> {
    let shown = url.split(['?', '#']).next().unwrap_or(url);
    match timeout(PATIENCE, exchange).await {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(e)) => Err(format!("cannot reach {shown}: {e}")),
        Err(_) => Err(format!(
            "cannot reach {shown}: no answer within {} seconds",
            PATIENCE.as_secs()
        )),
    }
}

/// A connection that is driven. It ends with this, whether or not an answer was read.
#[derive(Debug)]
pub struct Driving(JoinHandle<()>);

impl Drop for Driving {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// An answer that comes line by line.
#[derive(Debug)]
pub enum Followed {
    /// The lines, and what they come over.
    Lines(Lines, Driving),
    /// No success.
    Refused(Answer),
}

/// What helps against the refusals of certificates that people meet first.
fn explained(error: &str, authority: &str) -> String {
    if error.contains("UnknownIssuer") {
        return format!("{error}; {authority} names the authority that it comes from");
    }
    let hint = if error.contains("CaUsedAsEndEntity") {
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
        let said = explained("invalid peer certificate: UnknownIssuer", "--ca-cert FILE");
        assert!(said.starts_with("invalid peer") && said.contains("--ca-cert"));
        let said = explained(
            "invalid peer certificate: Other(OtherError(CaUsedAsEndEntity))",
            "",
        );
        assert!(said.contains("CA:TRUE"));
        assert_eq!(explained("connection refused", ""), "connection refused");
    }

    #[test]
    fn plain_http_is_only_spoken_to_this_machine() {
        assert!(is_loopback("localhost") && is_loopback("127.0.0.9") && is_loopback("::1"));
        assert!(!is_loopback("localhost.example") && !is_loopback("10.0.0.1"));
    }
}
