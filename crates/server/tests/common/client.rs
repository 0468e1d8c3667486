//! One call, one connection, over TLS (HTTP/1.1 or 2) or plain.
use super::{Server, block_on};
use bytes::Bytes;
use http::{HeaderMap, Method, Request, header};
use http_body_util::{BodyExt, Full};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::{
    ClientConfig, RootCertStore,
    pki_types::{CertificateDer, PrivateKeyDer, ServerName, pem::PemObject},
};
use signet_encoding::base64url;
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncWrite};

/// A request to be.
#[derive(Clone)]
pub struct Call {
    method: Method,
    target: String,
    headers: HeaderMap,
    body: Vec<u8>,
    h2: bool,
    mtls: bool,
    certificate: Option<(String, String)>,
}

/// An answer.
#[derive(Debug)]
pub struct Reply {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
}

impl Reply {
    #[track_caller]
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|e| panic!("{e}: {} {}", self.status, self.text()))
    }
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
    pub fn header(&self, name: &str) -> &str {
        self.headers
            .get(name)
            .map_or("", |v| v.to_str().unwrap_or(""))
    }
    /// The JSON member as text; empty if the answer has no such member.
    #[track_caller]
    pub fn member(&self, name: &str) -> String {
        self.json()[name].as_str().unwrap_or_default().to_owned()
    }
    #[track_caller]
    pub fn expect(self, status: u16) -> Reply {
        assert_eq!(self.status, status, "{}", self.text());
        self
    }
    /// The status, the JSON `error`, and the rules for every error answer.
    #[track_caller]
    pub fn expect_error(self, status: u16, error: &str) -> Reply {
        assert_eq!(
            (self.status, self.member("error").as_str()),
            (status, error),
            "{}",
            self.text()
        );
        assert_eq!(self.header("cache-control"), "no-store");
        self
    }
}

impl Call {
    pub fn new(method: Method, target: &str) -> Call {
        Call {
            method,
            target: target.to_owned(),
            headers: HeaderMap::new(),
            body: Vec::new(),
            h2: false,
            mtls: false,
            certificate: None,
        }
    }
    pub fn get(target: &str) -> Call {
        Call::new(Method::GET, target)
    }
    pub fn post(target: &str) -> Call {
        Call::new(Method::POST, target)
    }
    pub fn header(mut self, name: &'static str, value: &str) -> Call {
        self.headers.append(name, value.parse().unwrap());
        self
    }
    pub fn bearer(self, token: &str) -> Call {
        self.header("authorization", &format!("Bearer {token}"))
    }
    pub fn basic(self, id: &str, secret: &str) -> Call {
        self.header("authorization", &basic(id, secret))
    }
    pub fn form(mut self, pairs: &[(&str, &str)]) -> Call {
        let mut body = String::new();
        for (name, value) in pairs {
            if !body.is_empty() {
                body.push('&');
            }
            body.push_str(&escape(name));
            body.push('=');
            body.push_str(&escape(value));
        }
        self.body = body.into_bytes();
        self.header("content-type", "application/x-www-form-urlencoded")
    }
    pub fn json(mut self, value: &serde_json::Value) -> Call {
        self.body = value.to_string().into_bytes();
        self.header("content-type", "application/json")
    }
    pub fn body(mut self, content_type: &str, body: &[u8]) -> Call {
        self.body = body.to_vec();
        self.header("content-type", content_type)
    }
    pub fn h2(mut self) -> Call {
        self.h2 = true;
        self
    }
    /// At the listener that asks for certificates, without one.
    pub fn mtls(mut self) -> Call {
        self.mtls = true;
        self
    }
    /// At that listener, with a certificate (PEM).
    pub fn certificate(mut self, certificate: &(String, String)) -> Call {
        self.mtls = true;
        self.certificate = Some(certificate.clone());
        self
    }
    #[track_caller]
    pub fn send(&self, server: &Server) -> Reply {
        block_on(self.send_async(server))
    }

    pub async fn send_async(&self, server: &Server) -> Reply {
        let address = if self.mtls {
            server.mtls_address
        } else {
            server.address
        };
        let stream = tokio::net::TcpStream::connect(address).await.unwrap();
        if server.plain && !self.mtls {
            return self.exchange(stream, address.port(), server).await;
        }
        let name = ServerName::try_from("localhost").unwrap();
        let config = Arc::new(self.tls(server));
        let stream = tokio_rustls::TlsConnector::from(config)
            .connect(name, stream)
            .await
            .unwrap();
        self.exchange(stream, address.port(), server).await
    }

    fn tls(&self, server: &Server) -> ClientConfig {
        let mut roots = RootCertStore::empty();
        roots
            .add(CertificateDer::from_pem_slice(server.ca.cert_pem().as_bytes()).unwrap())
            .unwrap();
        let builder = ClientConfig::builder_with_provider(Arc::new(
            rustls::crypto::aws_lc_rs::default_provider(),
        ))
        .with_protocol_versions(&[&rustls::version::TLS13])
        .unwrap()
        .with_root_certificates(roots);
        let mut config = match &self.certificate {
            None => builder.with_no_client_auth(),
            Some((chain, key)) => builder
                .with_client_auth_cert(
                    CertificateDer::pem_slice_iter(chain.as_bytes())
                        .map(Result::unwrap)
                        .collect(),
                    PrivateKeyDer::from_pem_slice(key.as_bytes()).unwrap(),
                )
                .unwrap(),
        };
        if self.h2 {
            config.alpn_protocols = vec![b"h2".to_vec()];
        }
        config
    }

    async fn exchange<S>(&self, stream: S, port: u16, server: &Server) -> Reply
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let io = TokioIo::new(stream);
        let target = server.place_of(&self.target);
        let mut request = Request::builder().method(self.method.clone());
        *request.headers_mut().unwrap() = self.headers.clone();
        let body = Full::new(Bytes::from(self.body.clone()));
        if self.h2 {
            let (mut sender, connection) =
                hyper::client::conn::http2::handshake(TokioExecutor::new(), io)
                    .await
                    .unwrap();
            tokio::spawn(connection);
            let uri = format!("https://{}{target}", server.name(port));
            let request = request.uri(uri).body(body).unwrap();
            return Reply::read(sender.send_request(request).await.unwrap()).await;
        }
        let (mut sender, connection) = hyper::client::conn::http1::handshake(io).await.unwrap();
        tokio::spawn(connection);
        let request = request
            .uri(&target)
            .header(header::HOST, server.name(port))
            .body(body)
            .unwrap();
        Reply::read(sender.send_request(request).await.unwrap()).await
    }
}

impl Reply {
    async fn read(answer: http::Response<hyper::body::Incoming>) -> Reply {
        let (head, body) = answer.into_parts();
        Reply {
            status: head.status.as_u16(),
            headers: head.headers,
            body: body.collect().await.unwrap().to_bytes().to_vec(),
        }
    }
}

/// RFC 6749 section 2.3.1: both parts are form-encoded first.
pub fn basic(id: &str, secret: &str) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let text = format!("{}:{}", escape(id), escape(secret));
    // base64url and base64 differ in two characters and the padding.
    let mut encoded: String = base64url::encode(text.as_bytes())
        .replace('-', "+")
        .replace('_', "/");
    debug_assert!(encoded.bytes().all(|b| ALPHABET.contains(&b)));
    while !encoded.len().is_multiple_of(4) {
        encoded.push('=');
    }
    format!("Basic {encoded}")
}

pub fn escape(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                out.push(char::from(byte));
            }
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}
