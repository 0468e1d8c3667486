//! The commands' own requests: HTTP/1.1 over TLS, one connection each, bounded in time and size.

use std::{path::PathBuf, sync::Arc, time::Duration};

use bytes::Bytes;
use http::{HeaderMap, Method, Request, StatusCode, Uri};
use http_body_util::{BodyExt, Full, Limited};
use hyper_util::rt::TokioIo;
use rustls::{
    ClientConfig, RootCertStore,
    pki_types::{CertificateDer, ServerName, pem::PemObject},
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
    time::timeout,
};
use tokio_rustls::TlsConnector;

/// A whole exchange must be over within this.
const PATIENCE: Duration = Duration::from_secs(20);
/// Largest answer, in bytes.
const MAX_ANSWER: usize = 8 * 1024 * 1024;

/// What came back.
#[derive(Debug)]
pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Bytes,
}

impl Answer {
    /// A header's text, if it is there and readable.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }
}

/// A client that believes the machine's authorities, and those of the files it was given.
pub struct HttpClient {
    tls: TlsConnector,
}

impl HttpClient {
    /// `trust`: PEM files of further authorities.
    pub fn new(trust: &[PathBuf]) -> Result<HttpClient, String> {
        let mut roots = RootCertStore::empty();
        if trust.is_empty() {
            // A machine without a trust store can still speak to servers whose authority is given.
            for certificate in rustls_native_certs::load_native_certs().certs {
                let _ = roots.add(certificate);
            }
        }
        for file in trust {
            let bad = |e: &dyn std::fmt::Display| {
                format!("cannot use the certificates in {}: {e}", file.display())
            };
            let pem = std::fs::read(file).map_err(|e| bad(&e))?;
            for certificate in CertificateDer::pem_slice_iter(&pem) {
                roots
                    .add(certificate.map_err(|e| bad(&e))?)
                    .map_err(|e| bad(&e))?;
            }
        }
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|e| format!("TLS cannot be set up: {e}"))?
            .with_root_certificates(roots)
            .with_no_client_auth();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(HttpClient {
            tls: TlsConnector::from(Arc::new(config)),
        })
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
        if !secure {
            return converse(stream, request).await;
        }
        let name = ServerName::try_from(host).map_err(|_| "not a host name".to_owned())?;
        let stream = self
            .tls
            .connect(name, stream)
            .await
            .map_err(|e| explained(&e.to_string()))?;
        converse(stream, request).await
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

async fn converse<S>(stream: S, request: Request<Full<Bytes>>) -> Result<Answer, String>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream))
        .await
        .map_err(|e| e.to_string())?;
    // It ends with the answer, or with the error that `send_request` reports.
    let driver = tokio::spawn(connection);
    let answer = sender
        .send_request(request)
        .await
        .map_err(|e| e.to_string())?;
    let (head, body) = answer.into_parts();
    let body = Limited::new(body, MAX_ANSWER)
        .collect()
        .await
        .map_err(|e| e.to_string())?
        .to_bytes();
    driver.abort();
    Ok(Answer {
        status: head.status,
        headers: head.headers,
        body,
    })
}

/// Percent-encodes everything but RFC 3986 unreserved characters.
pub fn percent_encode(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

/// An `application/x-www-form-urlencoded` body.
pub fn form(fields: &[(&str, &str)]) -> String {
    let pairs: Vec<String> = fields
        .iter()
        .map(|(name, value)| format!("{}={}", percent_encode(name), percent_encode(value)))
        .collect();
    pairs.join("&")
}

/// A parameter of a query, decoded.
pub fn query_parameter(query: &str, name: &str) -> Option<String> {
    let value = query
        .split('&')
        .find_map(|pair| pair.split_once('=').filter(|(n, _)| *n == name))?
        .1;
    let mut bytes = Vec::with_capacity(value.len());
    let mut rest = value.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => {
                let hex = [rest.next()?, rest.next()?];
                u8::from_str_radix(std::str::from_utf8(&hex).ok()?, 16).ok()?
            }
            other => other,
        });
    }
    String::from_utf8(bytes).ok()
}

/// `client_secret_basic` (RFC 6749 section 2.3.1): form-encoded, then Basic (RFC 7617).
pub fn basic(client_id: &str, secret: &str) -> String {
    let pair = format!("{}:{}", percent_encode(client_id), percent_encode(secret));
    let mut text = signet_encoding::base64url::encode(pair.as_bytes())
        .replace('-', "+")
        .replace('_', "/");
    while !text.len().is_multiple_of(4) {
        text.push('=');
    }
    format!("Basic {text}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_is_decoded() {
        let query = "code=a%2Bb&iss=https%3A%2F%2Fid&error_description=so+what";
        assert_eq!(query_parameter(query, "code").as_deref(), Some("a+b"));
        let words = query_parameter(query, "error_description");
        assert_eq!(words.as_deref(), Some("so what"));
        assert_eq!(query_parameter(query, "state"), None);
    }

    #[test]
    fn a_secret_is_form_encoded_before_it_is_basic() {
        // "a%20b:p%3Ass%3E" in base64.
        assert_eq!(basic("a b", "p:ss>"), "Basic YSUyMGI6cCUzQXNzJTNF");
    }

    #[test]
    fn a_form_survives_what_passwords_are_made_of() {
        assert_eq!(
            form(&[("a b", "p&ss=w%rd+é")]),
            "a%20b=p%26ss%3Dw%25rd%2B%C3%A9"
        );
    }

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
