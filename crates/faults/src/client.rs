//! Requests over HTTPS to one node or another, each bounded in time, and what can be said of them
//! when they fail: one that was never sent was certainly not done.

use std::{collections::HashMap, net::SocketAddr, sync::Arc, time::Duration};

use bytes::Bytes;
use http::{Method, Request};
use http_body_util::Full;
use rustls::pki_types::ServerName;
use serde_json::Value;
use signet_http_client::{Sender, Trust, text};
use tokio::time::timeout;

/// No answer is larger, in bytes.
const MAX_ANSWER: usize = 64 << 20;
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
pub struct Answer(signet_http_client::Answer);

impl std::ops::Deref for Answer {
    type Target = signet_http_client::Answer;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
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
    let trusted = Trust::nobody().and(ca.as_bytes());
    let tls = trusted.and_then(Trust::tls);
    tls.map_err(|error| error.to_string())
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
            body: text::form(fields),
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
        self.with("authorization", text::basic(id, secret))
    }
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
    kept: HashMap<SocketAddr, Sender>,
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

    async fn connect(&self, to: SocketAddr) -> Option<Sender> {
        let stream = tokio::net::TcpStream::connect(to).await.ok()?;
        stream.set_nodelay(true).ok()?;
        let tls = (self.tls.clone(), ServerName::from(to.ip()));
        let (sender, driven) = signet_http_client::connect(stream, Some(tls)).await.ok()?;
        tokio::task::spawn_local(driven);
        Some(sender)
    }
}

async fn exchange(connection: &mut Sender, to: SocketAddr, call: &Call) -> Option<Answer> {
    let mut request = Request::builder()
        .method(call.method.clone())
        .uri(&call.path)
        .header("host", to.to_string());
    for (name, value) in &call.headers {
        request = request.header(*name, value);
    }
    let body = Full::new(Bytes::from(call.body.clone()));
    let request = request.body(body).ok()?;
    let answer = signet_http_client::send(connection, request, MAX_ANSWER).await;
    answer.ok().map(Answer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_and_queries_are_written_and_read() {
        assert_eq!(text::form(&[("a b", "c/d"), ("e", "~")]), "a%20b=c%2Fd&e=~");
        let url = "http://127.0.0.1/callback?code=x.y&state=z";
        assert_eq!(parameter(url, "code").as_deref(), Some("x.y"));
        assert_eq!(parameter(url, "od"), None);
    }
}
