//! One keep-alive HTTPS connection, one request at a time; many of them make a load.

use std::sync::Arc;

use bytes::Bytes;
use http::{Method, Request};
use http_body_util::Full;
use rustls::pki_types::ServerName;
use signet_http_client::{Sender, Trust};

/// No answer of a benchmark is larger, in bytes.
const MAX_ANSWER: usize = 64 << 20;

/// What went wrong on the way; benchmarks stop at the first failure, a figure over errors is worth
/// nothing.
pub type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Where to connect, whom to trust, and the certificate to show (chain and key, PEM).
#[derive(Clone)]
pub struct Target {
    /// Port on 127.0.0.1.
    pub port: u16,
    source: Option<std::net::Ipv4Addr>,
    tls: Arc<rustls::ClientConfig>,
}

impl Target {
    /// A target that trusts `ca` (PEM) and, where asked, shows a client certificate.
    pub fn new(port: u16, ca: &[u8], identity: Option<(&str, &str)>) -> Result<Target, Failure> {
        let trusted = Trust::nobody().and(ca)?;
        let tls = match identity {
            Some((chain, key)) => trusted.tls_as(chain.as_bytes(), key.as_bytes())?,
            None => trusted.tls()?,
        };
        Ok(Target {
            port,
            source: None,
            tls,
        })
    }

    /// The same, from this address of the loopback network.
    #[must_use]
    pub fn from(mut self, source: std::net::Ipv4Addr) -> Target {
        self.source = Some(source);
        self
    }

    /// Opens a connection without TLS yet.
    pub async fn stream(&self) -> std::io::Result<tokio::net::TcpStream> {
        let socket = tokio::net::TcpSocket::new_v4()?;
        if let Some(source) = self.source {
            socket.bind((source, 0).into())?;
        }
        let stream = socket.connect(([127, 0, 0, 1], self.port).into()).await?;
        stream.set_nodelay(true)?;
        Ok(stream)
    }

    /// What the connections are opened with.
    #[must_use]
    pub fn tls(&self) -> Arc<rustls::ClientConfig> {
        self.tls.clone()
    }

    /// Opens a connection; the task that drives it ends with the connection.
    pub async fn connect(&self) -> Result<Connection, Failure> {
        let stream = self.stream().await?;
        let name = ServerName::try_from("localhost")?;
        let (sender, driven) =
            signet_http_client::connect(stream, Some((self.tls.clone(), name))).await?;
        tokio::task::spawn_local(driven);
        Ok(Connection {
            sender,
            host: format!("localhost:{}", self.port),
        })
    }
}

/// An answer, whole.
pub struct Answer(signet_http_client::Answer);

impl std::ops::Deref for Answer {
    type Target = signet_http_client::Answer;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl Answer {
    /// The body as JSON, or a failure that shows the status.
    pub fn json(&self) -> Result<serde_json::Value, Failure> {
        serde_json::from_slice(&self.body)
            .map_err(|error| format!("{}: {error}", self.status).into())
    }
}

/// A connection that is kept.
pub struct Connection {
    sender: Sender,
    host: String,
}

impl Connection {
    /// Whether the server has closed it, as far as is known.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.sender.is_closed()
    }

    /// Sends one request and reads the whole answer.
    pub async fn send(
        &mut self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: Bytes,
    ) -> Result<Answer, Failure> {
        let mut request = Request::builder()
            .method(method)
            .uri(path)
            .header("host", &self.host);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(Full::new(body))?;
        let answer = signet_http_client::send(&mut self.sender, request, MAX_ANSWER).await;
        Ok(Answer(answer?))
    }

    /// A form to `path`, with an `Authorization` header where given.
    pub async fn form(
        &mut self,
        path: &str,
        authorization: Option<&str>,
        body: Bytes,
    ) -> Result<Answer, Failure> {
        let form = ("content-type", "application/x-www-form-urlencoded");
        match authorization {
            Some(value) => {
                self.send(Method::POST, path, &[form, ("authorization", value)], body)
                    .await
            }
            None => self.send(Method::POST, path, &[form], body).await,
        }
    }
}
