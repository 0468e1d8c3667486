//! One keep-alive HTTPS connection, one request at a time; many of them make a load.

use std::sync::Arc;

use bytes::Bytes;
use http::{Method, Request, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1::SendRequest;
use hyper_util::rt::TokioIo;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};

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
        let mut roots = rustls::RootCertStore::empty();
        for certificate in CertificateDer::pem_slice_iter(ca) {
            roots.add(certificate?)?;
        }
        let builder =
            rustls::ClientConfig::builder_with_protocol_versions(&[&rustls::version::TLS13])
                .with_root_certificates(roots);
        let mut tls = match identity {
            Some((chain, key)) => {
                let chain = CertificateDer::pem_slice_iter(chain.as_bytes())
                    .collect::<Result<Vec<_>, _>>()?;
                builder
                    .with_client_auth_cert(chain, PrivateKeyDer::from_pem_slice(key.as_bytes())?)?
            }
            None => builder.with_no_client_auth(),
        };
        tls.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Target {
            port,
            source: None,
            tls: Arc::new(tls),
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
        let stream = tokio_rustls::TlsConnector::from(self.tls.clone())
            .connect(name, stream)
            .await?;
        let (sender, connection) =
            hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
        tokio::task::spawn_local(async move {
            let _ = connection.await;
        });
        Ok(Connection {
            sender,
            host: format!("localhost:{}", self.port),
        })
    }
}

/// An answer, whole.
pub struct Answer {
    /// HTTP status.
    pub status: StatusCode,
    /// `Location`, `Set-Cookie` and `DPoP-Nonce` are looked at.
    pub headers: http::HeaderMap,
    /// The body, at most what the server sent.
    pub body: Bytes,
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
    sender: SendRequest<Full<Bytes>>,
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
        self.sender.ready().await?;
        let answer = self
            .sender
            .send_request(request.body(Full::new(body))?)
            .await?;
        let (head, body) = answer.into_parts();
        Ok(Answer {
            status: head.status,
            headers: head.headers,
            body: body.collect().await?.to_bytes(),
        })
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
