//! TLS: version 1.3 (1.2 only where the operator asks), X25519MLKEM768 preferred, certificates that
//! change without a restart.
//!
//! The listener that asks for client certificates accepts any: the handshake proves possession of
//! the key, and client authentication decides what the certificate means (RFC 8705). Whether its
//! chain ends at a configured CA is noted apart.
use crate::certificate::PresentedCertificate;
use arc_swap::ArcSwap;
use rustls::{
    DigitallySignedStruct, DistinguishedName, ServerConfig, SignatureScheme,
    client::danger::HandshakeSignatureValid,
    crypto::{
        CryptoProvider, WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature,
    },
    pki_types::{CertificateDer, PrivateKeyDer, UnixTime, pem::PemObject},
    server::{
        ClientHello, ResolvesServerCert, WebPkiClientVerifier,
        danger::{ClientCertVerified, ClientCertVerifier},
    },
    sign::CertifiedKey,
};
use signet_crypto::certificate::ClientCertificate;
use std::{fmt, sync::Arc, time::Duration};

/// Why TLS could not be set up: always the operator's configuration.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// The certificate file.
    #[error("the certificate chain cannot be read as PEM")]
    Chain,
    /// The key file.
    #[error("the private key cannot be read as PEM")]
    Key,
    /// The client CA file.
    #[error("the client CA certificates cannot be read: {0}")]
    ClientRoots(String),
    /// Anything that rustls refuses: a key that does not fit its certificate, for example.
    #[error("TLS refuses this configuration: {0}")]
    Rustls(#[from] rustls::Error),
}

/// How a listener speaks TLS.
#[derive(Clone, Debug, Default)]
pub struct TlsOptions {
    /// Also speak TLS 1.2. Off by default.
    pub tls12: bool,
    /// Ask for a client certificate; a client without one is still let in.
    pub ask_for_certificate: bool,
    /// PEM of the CAs whose chains count for `tls_client_auth`.
    pub client_roots: Option<Vec<u8>>,
}

/// One listener's TLS.
#[derive(Clone)]
pub struct Tls {
    config: Arc<ServerConfig>,
    certificate: Arc<CurrentCertificate>,
    roots: Option<Arc<dyn ClientCertVerifier>>,
}

impl Tls {
    /// Reads PEM: the chain with the server's own certificate first, and its key.
    pub fn new(chain: &[u8], key: &[u8], options: &TlsOptions) -> Result<Tls, TlsError> {
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let certificate = Arc::new(CurrentCertificate(ArcSwap::from_pointee(certified_key(
            chain, key, &provider,
        )?)));
        let versions: &[&rustls::SupportedProtocolVersion] = if options.tls12 {
            &[&rustls::version::TLS13, &rustls::version::TLS12]
        } else {
            &[&rustls::version::TLS13]
        };
        let builder = ServerConfig::builder_with_provider(provider.clone())
            .with_protocol_versions(versions)?;
        let mut config = if options.ask_for_certificate {
            builder.with_client_cert_verifier(Arc::new(AnyCertificate(
                provider.signature_verification_algorithms,
            )))
        } else {
            builder.with_no_client_auth()
        }
        .with_cert_resolver(certificate.clone());
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        // Stateless tickets: resumption costs no memory. The ticketer's keys rotate by themselves,
        // and are not shared between listeners: a session that began without a certificate is never
        // resumed where one is asked for.
        config.ticketer = rustls::crypto::aws_lc_rs::Ticketer::new()?;
        config.send_tls13_tickets = 1;
        Ok(Tls {
            config: Arc::new(config),
            certificate,
            roots: options
                .client_roots
                .as_deref()
                .map(|pem| client_roots(pem, &provider))
                .transpose()?,
        })
    }

    /// What rustls was told, for a listener of another kind (a mail server that a test plays).
    pub fn config(&self) -> &Arc<ServerConfig> {
        &self.config
    }

    /// Puts another certificate in place, for handshakes from now on.
    pub fn reload(&self, chain: &[u8], key: &[u8]) -> Result<(), TlsError> {
        let next = certified_key(chain, key, self.config.crypto_provider())?;
        self.certificate.0.store(Arc::new(next));
        Ok(())
    }

    /// What the peer presented; `None` if nothing, or nothing that parses.
    pub(crate) fn presented(
        &self,
        chain: &[CertificateDer<'_>],
        now: u64,
    ) -> Option<PresentedCertificate> {
        let (end_entity, intermediates) = chain.split_first()?;
        let certificate = ClientCertificate::parse(end_entity).ok()?;
        let at = UnixTime::since_unix_epoch(Duration::from_secs(now));
        let chain_trusted = self.roots.as_ref().is_some_and(|roots| {
            roots
                .verify_client_cert(end_entity, intermediates, at)
                .is_ok()
        });
        Some(PresentedCertificate {
            certificate,
            chain_trusted,
        })
    }
}

fn certified_key(
    chain: &[u8],
    key: &[u8],
    provider: &CryptoProvider,
) -> Result<CertifiedKey, TlsError> {
    let chain = CertificateDer::pem_slice_iter(chain)
        .collect::<Result<Vec<_>, _>>()
        .map_err(|_| TlsError::Chain)?;
    if chain.is_empty() {
        return Err(TlsError::Chain);
    }
    let key = PrivateKeyDer::from_pem_slice(key).map_err(|_| TlsError::Key)?;
    Ok(CertifiedKey::from_der(chain, key, provider)?)
}

fn client_roots(
    pem: &[u8],
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<dyn ClientCertVerifier>, TlsError> {
    let mut store = rustls::RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(pem) {
        let certificate = certificate.map_err(|e| TlsError::ClientRoots(e.to_string()))?;
        store
            .add(certificate)
            .map_err(|e| TlsError::ClientRoots(e.to_string()))?;
    }
    WebPkiClientVerifier::builder_with_provider(Arc::new(store), provider.clone())
        .build()
        .map(|v| v as Arc<dyn ClientCertVerifier>)
        .map_err(|e| TlsError::ClientRoots(e.to_string()))
}

struct CurrentCertificate(ArcSwap<CertifiedKey>);

impl fmt::Debug for CurrentCertificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CurrentCertificate")
    }
}

impl ResolvesServerCert for CurrentCertificate {
    fn resolve(&self, _hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.0.load_full())
    }
}

/// Asks for a certificate, takes any, and checks that the peer holds its key.
#[derive(Debug)]
struct AnyCertificate(WebPkiSupportedAlgorithms);

impl ClientCertVerifier for AnyCertificate {
    fn client_auth_mandatory(&self) -> bool {
        false
    }
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }
    fn verify_client_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _now: UnixTime,
    ) -> Result<ClientCertVerified, rustls::Error> {
        Ok(ClientCertVerified::assertion())
    }
    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, cert, dss, &self.0)
    }
    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, cert, dss, &self.0)
    }
    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_schemes()
    }
}
