//! The transport floor: a bare hyper server over TLS that answers every request with a fixed body,
//! in a process of its own.

use std::convert::Infallible;
use std::sync::Arc;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use signet_crypto::certificate::DevelopmentCa;

/// About the size of a token response, so that copying and encrypting it costs the same.
pub const ANSWER_BYTES: usize = 760;

/// The argument that turns the benchmark's own executable into the echo server; a directory for its
/// certificate follows.
pub const ARGUMENT: &str = "--signet-bench-echo";

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
        loop {
            let (stream, _) = listener.accept().await?;
            stream.set_nodelay(true)?;
            let (acceptor, answer) = (acceptor.clone(), answer.clone());
            tokio::task::spawn_local(async move {
                let Ok(stream) = acceptor.accept(stream).await else {
                    return;
                };
                let service = service_fn(move |request: http::Request<hyper::body::Incoming>| {
                    let answer = answer.clone();
                    async move {
                        let _ = request.into_body().collect().await;
                        Ok::<_, Infallible>(http::Response::new(Full::new(answer)))
                    }
                });
                let _ = hyper::server::conn::http1::Builder::new()
                    .serve_connection(TokioIo::new(stream), service)
                    .await;
            });
        }
    })
}
