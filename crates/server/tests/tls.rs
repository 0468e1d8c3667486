//! TLS as the server speaks it: versions, the hybrid key exchange, certificates that change,
//! sessions that resume.
use crate::common::{Server, Setup, block_on, client::Call};
use rustls::{
    ClientConfig, ClientConnection, HandshakeKind, NamedGroup, ProtocolVersion, RootCertStore,
    pki_types::{CertificateDer, ServerName, pem::PemObject},
};
use signet_crypto::certificate::DevelopmentCa;
use signet_http::tls::{Tls, TlsOptions};
use std::{
    io::{Read, Write},
    net::TcpStream,
    sync::Arc,
};

fn config(server: &Server, versions: &[&'static rustls::SupportedProtocolVersion]) -> ClientConfig {
    let mut roots = RootCertStore::empty();
    let ca = CertificateDer::from_pem_slice(server.ca.cert_pem().as_bytes()).unwrap();
    roots.add(ca).unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(versions)
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth()
}

/// One request over a fresh connection; the connection afterwards.
fn converse(server: &Server, config: &Arc<ClientConfig>) -> std::io::Result<ClientConnection> {
    let name = ServerName::try_from("localhost").unwrap();
    let mut session = ClientConnection::new(config.clone(), name).unwrap();
    let mut socket = TcpStream::connect(server.address)?;
    let mut stream = rustls::Stream::new(&mut session, &mut socket);
    stream
        .write_all(b"GET /health/live HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")?;
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    assert!(answer.starts_with(b"HTTP/1.1 200"));
    Ok(session)
}

#[test]
fn version_1_3_with_the_hybrid_key_exchange_is_spoken_and_1_2_is_not() {
    let server = Server::start(Setup::default());
    let modern = Arc::new(config(&server, &[&rustls::version::TLS13]));
    let session = converse(&server, &modern).unwrap();
    assert_eq!(session.protocol_version(), Some(ProtocolVersion::TLSv1_3));
    let group = session.negotiated_key_exchange_group().unwrap().name();
    assert_eq!(group, NamedGroup::X25519MLKEM768);
    let old = Arc::new(config(&server, &[&rustls::version::TLS12]));
    assert!(converse(&server, &old).is_err());
}

#[test]
fn a_second_connection_resumes_the_session() {
    let server = Server::start(Setup::default());
    let config = Arc::new(config(&server, &[&rustls::version::TLS13]));
    let kinds: Vec<_> = (0..2)
        .map(|_| converse(&server, &config).unwrap().handshake_kind())
        .collect();
    assert_eq!(
        kinds,
        [Some(HandshakeKind::Full), Some(HandshakeKind::Resumed)]
    );
}

#[test]
fn a_certificate_is_replaced_without_a_restart() {
    let ca = DevelopmentCa::generate().unwrap();
    let issue = || {
        let (chain, key) = ca.issue_server(&["localhost".to_owned()]).unwrap();
        (chain, key.expose().clone())
    };
    let (chain, key) = issue();
    let tls = Tls::new(chain.as_bytes(), key.as_bytes(), &TlsOptions::default()).unwrap();
    let (next, next_key) = issue();
    tls.reload(next.as_bytes(), next_key.as_bytes(), None)
        .unwrap();
    // A key that does not fit leaves the certificate in place as it is.
    assert!(
        tls.reload(chain.as_bytes(), next_key.as_bytes(), None)
            .is_err()
    );
    assert!(tls.reload(b"junk", b"junk", None).is_err());
    assert!(Tls::new(chain.as_bytes(), b"junk", &TlsOptions::default()).is_err());
}

#[test]
fn plain_http_at_a_tls_port_is_told_so_and_counted() {
    let server = Server::start(Setup::default());
    let mut socket = TcpStream::connect(server.address).unwrap();
    socket.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
    let mut answer = Vec::new();
    let _ = socket.read_to_end(&mut answer);
    let answer = String::from_utf8(answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 400 "), "{answer}");
    assert!(answer.contains("speaks https"), "{answer}");
    let metrics = block_on(Call::get("/metrics").send_async(&server)).text();
    assert!(
        metrics.contains("signet_tls_handshakes_failed_total 1"),
        "{metrics}"
    );
}
