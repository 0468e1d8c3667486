//! TLS between nodes: version 1.3, key exchange X25519MLKEM768 and no other, both sides
//! authenticated by keys that are known beforehand. No certificate authority has a say, names and
//! dates in certificates are not looked at, and no session is resumed: who was removed does not
//! come back by a ticket.
use crate::member::Members;
use rustls::{
    ClientConfig, DigitallySignedStruct, DistinguishedName, ServerConfig, SignatureScheme,
    client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
    crypto::{
        CryptoProvider, WebPkiSupportedAlgorithms,
        aws_lc_rs::{default_provider, kx_group::X25519MLKEM768},
        verify_tls13_signature,
    },
    pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime},
    server::danger::{ClientCertVerified, ClientCertVerifier},
};
use signet_crypto::certificate::{NodeCertificate, spki_sha256};
use std::sync::Arc;

/// What members speak.
pub(crate) const MEMBER_ALPN: &[u8] = b"signet-cluster-1";
/// What a newcomer speaks; the id of its invitation follows.
pub(crate) const JOIN_ALPN: &[u8] = b"signet-join-1/";

fn provider() -> Arc<CryptoProvider> {
    Arc::new(CryptoProvider {
        kx_groups: vec![X25519MLKEM768],
        ..default_provider()
    })
}

fn refused() -> rustls::Error {
    rustls::Error::InvalidCertificate(rustls::CertificateError::ApplicationVerificationFailure)
}

/// Who may be at the other end.
#[derive(Debug)]
pub(crate) enum Peer {
    /// Any living member.
    Member(Arc<Members>),
    /// The holder of one of these keys (SHA-256 of the SubjectPublicKeyInfo).
    Pinned(Vec<[u8; 32]>),
    /// Anybody who has a key: what it is good for is said inside.
    Anybody,
}

#[derive(Debug)]
struct Verifier {
    peer: Peer,
    algorithms: WebPkiSupportedAlgorithms,
}

impl Verifier {
    fn check(&self, certificate: &CertificateDer<'_>) -> Result<(), rustls::Error> {
        let spki = spki_sha256(certificate).map_err(|_| refused())?;
        let known = match &self.peer {
            Peer::Member(members) => members.by_spki(&spki).is_some(),
            Peer::Pinned(pins) => pins.contains(&spki),
            Peer::Anybody => true,
        };
        known.then_some(()).ok_or_else(refused)
    }
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        self.check(end_entity)
            .map(|()| ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _cert: &CertificateDer<'_>,
        _dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Err(refused())
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, cert, dss, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}

impl ClientCertVerifier for Verifier {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _now: UnixTime,
    ) -> Result<ClientCertVerified, rustls::Error> {
        self.check(end_entity)
            .map(|()| ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        ServerCertVerifier::verify_tls12_signature(self, message, cert, dss)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        ServerCertVerifier::verify_tls13_signature(self, message, cert, dss)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}

fn verifier(provider: &CryptoProvider, peer: Peer) -> Arc<Verifier> {
    Arc::new(Verifier {
        peer,
        algorithms: provider.signature_verification_algorithms,
    })
}

fn own(
    certificate: &NodeCertificate,
) -> Result<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>), rustls::Error> {
    let key = PrivateKeyDer::try_from(certificate.key().expose().as_slice());
    let key = key.map_err(|why| rustls::Error::General(why.to_owned()))?;
    let chain = vec![CertificateDer::from(certificate.certificate().to_vec())];
    Ok((chain, key.clone_key()))
}

/// The side that listens.
pub(crate) fn server(
    certificate: &NodeCertificate,
    peer: Peer,
    alpn: &[u8],
) -> Result<Arc<ServerConfig>, rustls::Error> {
    let provider = provider();
    let verifier = verifier(&provider, peer);
    let (chain, key) = own(certificate)?;
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])?
        .with_client_cert_verifier(verifier)
        .with_single_cert(chain, key)?;
    config.alpn_protocols = vec![alpn.to_vec()];
    config.send_tls13_tickets = 0;
    config.session_storage = Arc::new(rustls::server::NoServerSessionStorage {});
    Ok(Arc::new(config))
}

/// The side that connects.
pub(crate) fn client(
    certificate: &NodeCertificate,
    peer: Peer,
    alpn: &[u8],
) -> Result<Arc<ClientConfig>, rustls::Error> {
    let provider = provider();
    let verifier = verifier(&provider, peer);
    let (chain, key) = own(certificate)?;
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])?
        .dangerous()
        .with_custom_certificate_verifier(verifier)
        .with_client_auth_cert(chain, key)?;
    config.alpn_protocols = vec![alpn.to_vec()];
    config.resumption = rustls::client::Resumption::disabled();
    // Who listens is known by its key; its name is nobody's business on the way.
    config.enable_sni = false;
    Ok(Arc::new(config))
}

/// Stands where TLS wants a name; it is neither sent nor looked at.
pub(crate) fn server_name() -> ServerName<'static> {
    ServerName::IpAddress(std::net::IpAddr::from([0, 0, 0, 0]).into())
}

/// The key of the peer of a finished handshake.
pub(crate) fn peer_spki(certificates: Option<&[CertificateDer<'_>]>) -> Option<[u8; 32]> {
    spki_sha256(certificates?.first()?).ok()
}
