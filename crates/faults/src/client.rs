//! Requests over HTTPS to one node or another, each bounded in time, and what can be said of them
//! when they fail: one that was never sent was certainly not done.

use std::{collections::HashMap, net::SocketAddr, sync::Arc, time::Duration};

use bytes::Bytes;
use http::{HeaderMap, Method, Request, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1::SendRequest;
use hyper_util::rt::TokioIo;
use rustls::pki_types::{CertificateDer, ServerName, pem::PemObject};
use serde_json::Value;
use tokio::time::timeout;

/// How long a client waits for an answer: longer than any node waits for a majority.
pub const PATIENCE: Duration = Duration::from_secs(5);
/// How long it waits for a connection.
const CONNECT_WITHIN: Duration = Duration::from_secs(1);

/// Why there is no answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NoAnswer {
    /// No connection: the request was not sent.
    NotSent,
    /// It may have been sent, and nothing came back.
    Unknown,
}

/// An answer, whole.
#[derive(Debug)]
pub struct Answer {
    /// HTTP status.
    pub status: StatusCode,
    /// Its header fields.
    pub headers: HeaderMap,
    /// Its body.
    pub body: Bytes,
}

impl Answer {
    /// The body as JSON; null where it is none.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    /// A member of the body that is a text.
    pub fn member(&self, name: &str) -> Option<String> {
        Some(self.json()[name].as_str()?.to_owned())
    }

    /// The error code of an answer of the protocol.
    pub fn error(&self) -> Option<String> {
        self.member("error")
    }

    /// Where it redirects to.
    pub fn location(&self) -> Option<String> {
        Some(self.headers.get("location")?.to_str().ok()?.to_owned())
    }

    /// The body as a page.
    pub fn page(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

/// Which certificates are trusted.
pub fn trust(ca: &str) -> Result<Arc<rustls::ClientConfig>, String> {
    let mut roots = rustls::RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(ca.as_bytes()) {
        let certificate = certificate.map_err(|e| e.to_string())?;
        roots.add(certificate).map_err(|e| e.to_string())?;
    }
    let versions = [&rustls::version::TLS13];
    let mut tls = rustls::ClientConfig::builder_with_protocol_versions(&versions)
        .with_root_certificates(roots)
        .with_no_client_auth();
    tls.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(tls))
}

/// A request.
#[derive(Clone, Debug)]
pub struct Call {
    method: Method,
    path: String,
    headers: Vec<(&'static str, String)>,
    body: String,
}

impl Call {
    /// A GET.
    pub fn get(path: &str) -> Call {
        Call {
            method: Method::GET,
            path: path.to_owned(),
            headers: Vec::new(),
            body: String::new(),
        }
    }

    /// A POST of a form.
    pub fn form(path: &str, fields: &[(&str, &str)]) -> Call {
        let kind = "application/x-www-form-urlencoded".to_owned();
        Call {
            method: Method::POST,
            path: path.to_owned(),
            headers: vec![("content-type", kind)],
            body: encode(fields),
        }
    }

    /// A POST of JSON.
    pub fn json(path: &str, body: &Value) -> Call {
        Call {
            method: Method::POST,
            path: path.to_owned(),
            headers: vec![("content-type", "application/json".to_owned())],
            body: body.to_string(),
        }
    }

    /// With a header field.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: String) -> Call {
        self.headers.push((name, value));
        self
    }

    /// With HTTP Basic (RFC 6749 section 2.3.1); both are URL-safe.
    #[must_use]
    pub fn basic(self, id: &str, secret: &str) -> Call {
        let pair = signet_encoding::base64url::encode(format!("{id}:{secret}").as_bytes());
        let mut pair = pair.replace('-', "+").replace('_', "/");
        while !pair.len().is_multiple_of(4) {
            pair.push('=');
        }
        self.with("authorization", format!("Basic {pair}"))
    }
}

/// `application/x-www-form-urlencoded`.
pub fn encode(fields: &[(&str, &str)]) -> String {
    let escape = |text: &str| -> String {
        let one = |b: u8| match b.is_ascii_alphanumeric() || b"-._~".contains(&b) {
            true => char::from(b).to_string(),
            false => format!("%{b:02X}"),
        };
        text.bytes().map(one).collect()
    };
    let pairs: Vec<String> = fields
        .iter()
        .map(|(name, value)| format!("{}={}", escape(name), escape(value)))
        .collect();
    pairs.join("&")
}

/// A parameter of a URL's query.
pub fn parameter(url: &str, name: &str) -> Option<String> {
    let query = url.split_once('?')?.1;
    let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    let (_, value) = pairs.find(|(own, _)| *own == name)?;
    // What the server writes there is URL-safe, but for the issuer, which nobody asks for.
    Some(value.to_owned())
}

/// Keeps a connection to each node, one request on each at a time.
pub struct Client {
    tls: Arc<rustls::ClientConfig>,
    kept: HashMap<SocketAddr, SendRequest<Full<Bytes>>>,
}

impl Client {
    /// Without connections yet. Within a `LocalSet`.
    pub fn new(tls: Arc<rustls::ClientConfig>) -> Client {
        Client {
            tls,
            kept: HashMap::new(),
        }
    }

    /// Sends a request and reads the answer.
    ///
    /// # Errors
    /// Whether it may have been done.
    pub async fn send(&mut self, to: SocketAddr, call: &Call) -> Result<Answer, NoAnswer> {
        // A kept connection may have been closed since; only one that was made now is certain.
        let kept = self.kept.remove(&to).filter(|kept| !kept.is_closed());
        let mut connection = match kept {
            Some(kept) => kept,
            None => match timeout(CONNECT_WITHIN, self.connect(to)).await {
                Ok(Some(connection)) => connection,
                Ok(None) | Err(_) => return Err(NoAnswer::NotSent),
            },
        };
        let exchange = exchange(&mut connection, to, call);
        match timeout(PATIENCE, exchange).await {
            Ok(Some(answer)) => {
                self.kept.insert(to, connection);
                Ok(answer)
            }
            Ok(None) | Err(_) => Err(NoAnswer::Unknown),
        }
    }

    async fn connect(&self, to: SocketAddr) -> Option<SendRequest<Full<Bytes>>> {
        let stream = tokio::net::TcpStream::connect(to).await.ok()?;
        stream.set_nodelay(true).ok()?;
        let name = ServerName::from(to.ip());
        let connector = tokio_rustls::TlsConnector::from(self.tls.clone());
        let stream = connector.connect(name, stream).await.ok()?;
        let shaken = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await;
        let (sender, connection) = shaken.ok()?;
        tokio::task::spawn_local(async move {
            let _ended = connection.await;
        });
        Some(sender)
    }
}

async fn exchange(
    connection: &mut SendRequest<Full<Bytes>>,
    to: SocketAddr,
    call: &Call,
) -> Option<Answer> {
    let mut request = Request::builder()
        .method(call.method.clone())
        .uri(&call.path)
        .header("host", to.to_string());
    for (name, value) in &call.headers {
        request = request.header(*name, value);
    }
    let body = Full::new(Bytes::from(call.body.clone()));
    connection.ready().await.ok()?;
    let answer = connection.send_request(request.body(body).ok()?).await;
    let (head, body) = answer.ok()?.into_parts();
    Some(Answer {
        status: head.status,
        headers: head.headers,
        body: body.collect().await.ok()?.to_bytes(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_and_queries_are_written_and_read() {
        assert_eq!(encode(&[("a b", "c/d"), ("e", "~")]), "a%20b=c%2Fd&e=~");
        let url = "http://127.0.0.1/callback?code=x.y&state=z";
        assert_eq!(parameter(url, "code").as_deref(), Some("x.y"));
        assert_eq!(parameter(url, "od"), None);
    }
}
