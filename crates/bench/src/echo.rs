//! The floor's server: bare hyper over TLS that answers every request with a fixed body, in a
//! process of its own. Its path says what it signs and checks before it answers
//! (`/sign/ES256/check/ES256`): a signature in a loop by itself finds its code and tables in the
//! cache, and in a server nobody does.

use std::cell::RefCell;
use std::collections::HashMap;
use std::convert::Infallible;
use std::rc::Rc;
use std::sync::Arc;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use signet_crypto::certificate::DevelopmentCa;
use signet_crypto::{Algorithm, SigningKey, VerifyingKey};

use crate::client::Failure;

/// About the size of a token response, so that copying and encrypting it costs the same.
pub const ANSWER_BYTES: usize = 760;

/// The argument that turns the benchmark's own executable into the echo server; a directory for its
/// certificate follows.
pub const ARGUMENT: &str = "--signet-bench-echo";

/// Bytes that are signed: about a token's.
const SIGNED_BYTES: usize = 400;

/// A key that is made when it is first asked for, with a signature of it.
struct Signer {
    key: SigningKey,
    check: VerifyingKey,
    message: Vec<u8>,
    signature: Vec<u8>,
    made: u64,
}

impl Signer {
    fn new(algorithm: Algorithm) -> Result<Signer, Failure> {
        let key = SigningKey::generate(algorithm)?;
        let check = key.verifying_key()?;
        let message = vec![b'm'; SIGNED_BYTES];
        let mut signature = Vec::new();
        key.sign_into(&message, &mut signature)?;
        Ok(Signer {
            key,
            check,
            message,
            signature,
            made: 0,
        })
    }

    /// Signs a message that it has not signed yet.
    fn sign(&mut self) -> Result<(), Failure> {
        self.made += 1;
        self.message[..8].copy_from_slice(&self.made.to_le_bytes());
        self.signature.clear();
        self.key.sign_into(&self.message, &mut self.signature)?;
        Ok(())
    }
}

#[derive(Default)]
struct Signers(HashMap<String, Signer>);

impl Signers {
    /// Does what a path says, in its order.
    fn work(&mut self, path: &str) -> Result<(), Failure> {
        let mut parts = path.split('/').filter(|part| !part.is_empty());
        while let (Some(act), Some(name)) = (parts.next(), parts.next()) {
            if !self.0.contains_key(name) {
                let algorithm = Algorithm::from_name(name).ok_or("no such algorithm")?;
                self.0.insert(name.to_owned(), Signer::new(algorithm)?);
            }
            let signer = self.0.get_mut(name).ok_or("no signer")?;
            match act {
                "sign" => signer.sign()?,
                "check" => signer.check.verify(&signer.message, &signer.signature)?,
                other => return Err(format!("the echo does not {other}").into()),
            }
        }
        Ok(())
    }
}

/// Runs the echo server for ever, after writing `ca.pem` and `port` into `directory`.
pub fn serve(directory: &std::path::Path) -> Result<(), Box<dyn std::error::Error>> {
    let ca = DevelopmentCa::generate()?;
    let (chain, key) = ca.issue_server(&["localhost".to_owned(), "127.0.0.1".to_owned()])?;
    let chain = CertificateDer::pem_slice_iter(chain.as_bytes()).collect::<Result<Vec<_>, _>>()?;
    let key = PrivateKeyDer::from_pem_slice(key.expose().as_bytes())?;
    let mut tls = rustls::ServerConfig::builder_with_protocol_versions(&[&rustls::version::TLS13])
        .with_no_client_auth()
        .with_single_cert(chain, key)?;
    tls.alpn_protocols = vec![b"http/1.1".to_vec()];
    let acceptor = tokio_rustls::TlsAcceptor::from(Arc::new(tls));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let local = tokio::task::LocalSet::new();
    local.block_on(&runtime, async move {
        let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await?;
        std::fs::write(directory.join("ca.pem"), ca.cert_pem())?;
        let port = listener.local_addr()?.port().to_string();
        std::fs::write(directory.join("port.new"), port)?;
        std::fs::rename(directory.join("port.new"), directory.join("port"))?;
        let answer = Bytes::from(vec![b'x'; ANSWER_BYTES]);
        let signers = Rc::new(RefCell::new(Signers::default()));
        loop {
            let (stream, _) = listener.accept().await?;
            stream.set_nodelay(true)?;
            let (acceptor, answer) = (acceptor.clone(), answer.clone());
            let signers = signers.clone();
            tokio::task::spawn_local(async move {
                let Ok(stream) = acceptor.accept(stream).await else {
                    return;
                };
                let service = service_fn(move |request: http::Request<hyper::body::Incoming>| {
                    let (answer, signers) = (answer.clone(), signers.clone());
                    async move {
                        let path = request.uri().path().to_owned();
                        let _ = request.into_body().collect().await;
                        let worked = signers.borrow_mut().work(&path);
                        let mut response = http::Response::new(Full::new(answer));
                        if worked.is_err() {
                            *response.status_mut() = http::StatusCode::INTERNAL_SERVER_ERROR;
                        }
                        Ok::<_, Infallible>(response)
                    }
                });
                let _ = hyper::server::conn::http1::Builder::new()
                    .serve_connection(TokioIo::new(stream), service)
                    .await;
            });
        }
    })
}
