//! TLS: version 1.3 (1.2 only where the operator asks), X25519MLKEM768 preferred, certificates and
//! client CAs that change without a restart.
//!
//! The listener that asks for client certificates accepts any: the handshake proves possession of
//! the key, and client authentication decides what the certificate means (RFC 8705). Whether its
//! chain ends at a configured CA is noted apart, and looked at again when the CAs were replaced: a
//! connection may be older than the withdrawal of its CA.
use crate::{certificate::PresentedCertificate, serves::Connection};
use arc_swap::{ArcSwap, ArcSwapOption};
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
    roots: Arc<ArcSwapOption<ClientRoots>>,
}

/// The client CAs of one reading of their file.
struct ClientRoots(Arc<dyn ClientCertVerifier>);

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
        let roots = options.client_roots.as_deref();
        let roots = roots.map(|pem| client_roots(pem, &provider)).transpose()?;
        Ok(Tls {
            config: Arc::new(config),
            certificate,
            roots: Arc::new(ArcSwapOption::new(roots)),
        })
    }

    /// What rustls was configured with, for a listener of another kind (a mail server that a test
    /// plays).
    pub fn config(&self) -> &Arc<ServerConfig> {
        &self.config
    }

    /// Puts another certificate in place, for handshakes from now on, and other client CAs, for
    /// every request from now on. `client_roots`: as in [`TlsOptions`].
    ///
    /// # Errors
    /// What cannot be used; then all is as it was.
    pub fn reload(
        &self,
        chain: &[u8],
        key: &[u8],
        client_roots: Option<&[u8]>,
    ) -> Result<(), TlsError> {
        let provider = self.config.crypto_provider();
        let next = certified_key(chain, key, provider)?;
        let roots = client_roots.map(|pem| self::client_roots(pem, provider));
        self.roots.store(roots.transpose()?);
        self.certificate.0.store(Arc::new(next));
        Ok(())
    }

    /// Until when the server's own certificate is good, Unix seconds; None where that cannot be
    /// read.
    pub fn ends_at(&self) -> Option<u64> {
        let current = self.certificate.0.load();
        let own = current.cert.first()?;
        let read = ClientCertificate::parse(own).ok()?;
        Some(read.not_after)
    }

    /// Whether a chain ends at one of the client CAs.
    fn is_trusted(
        roots: Option<&Arc<ClientRoots>>,
        chain: &[CertificateDer<'_>],
        now: u64,
    ) -> bool {
        let at = UnixTime::since_unix_epoch(Duration::from_secs(now));
        chain.split_first().is_some_and(|(end_entity, others)| {
            roots.is_some_and(|roots| roots.0.verify_client_cert(end_entity, others, at).is_ok())
        })
    }
}

/// The certificate chain of a connection's handshake, with what it is worth under the client CAs of
/// the moment.
pub(crate) struct PresentedChain {
    tls: Tls,
    chain: Vec<CertificateDer<'static>>,
    judged: ArcSwap<Judged>,
}

/// The connection as requests see it, and the client CAs under which that holds.
struct Judged {
    roots: Option<Arc<ClientRoots>>,
    connection: Arc<Connection>,
}

impl PresentedChain {
    /// `None` if the peer presented nothing, or nothing that parses. `now`: Unix seconds.
    pub(crate) fn new(
        tls: &Tls,
        chain: &[CertificateDer<'_>],
        connection: &Connection,
        now: u64,
    ) -> Option<PresentedChain> {
        let certificate = ClientCertificate::parse(chain.first()?).ok()?;
        let roots = tls.roots.load_full();
        let presented = PresentedCertificate {
            certificate,
            chain_trusted: Tls::is_trusted(roots.as_ref(), chain, now),
        };
        let connection = Arc::new(Connection {
            certificate: Some(Arc::new(presented)),
            ..connection.clone()
        });
        Some(PresentedChain {
            tls: tls.clone(),
            chain: chain.iter().map(|c| c.clone().into_owned()).collect(),
            judged: ArcSwap::from_pointee(Judged { roots, connection }),
        })
    }

    /// The connection with its certificate, judged under the client CAs of this moment.
    pub(crate) fn connection(&self, now: u64) -> Arc<Connection> {
        let judged = self.judged.load();
        let roots = self.tls.roots.load();
        let is_current = match (&judged.roots, &*roots) {
            (None, None) => true,
            (Some(before), Some(current)) => Arc::ptr_eq(before, current),
            (None, Some(_)) | (Some(_), None) => false,
        };
        if is_current {
            return judged.connection.clone();
        }
        let roots = roots.clone();
        let chain_trusted = Tls::is_trusted(roots.as_ref(), &self.chain, now);
        let certificate = judged.connection.certificate.as_deref().map(|presented| {
            Arc::new(PresentedCertificate {
                chain_trusted,
                ..presented.clone()
            })
        });
        let connection = Arc::new(Connection {
            certificate,
            ..(*judged.connection).clone()
        });
        self.judged.store(Arc::new(Judged {
            roots,
            connection: connection.clone(),
        }));
        connection
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
    if is_authority(&chain[0]) {
        // RFC 5280 section 4.2.1.9; `openssl req -x509` makes such a one unless an option forbids
        // it.
        tracing::warn!(
            "loaded a CA certificate (CA:TRUE) for a listener: strict clients, the command line and gates included, refuse it; issue one with basicConstraints=critical,CA:FALSE"
        );
    }
    let key = PrivateKeyDer::from_pem_slice(key).map_err(|_| TlsError::Key)?;
    Ok(CertifiedKey::from_der(chain, key, provider)?)
}

/// Whether a certificate may sign others (basic constraints, CA:TRUE).
fn is_authority(certificate: &CertificateDer<'_>) -> bool {
    ClientCertificate::parse(certificate).is_ok_and(|certificate| certificate.is_authority)
}

fn client_roots(pem: &[u8], provider: &Arc<CryptoProvider>) -> Result<Arc<ClientRoots>, TlsError> {
    let mut store = rustls::RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(pem) {
        let certificate = certificate.map_err(|e| TlsError::ClientRoots(e.to_string()))?;
        store
            .add(certificate)
            .map_err(|e| TlsError::ClientRoots(e.to_string()))?;
    }
    WebPkiClientVerifier::builder_with_provider(Arc::new(store), provider.clone())
        .build()
        .map(|verifier| Arc::new(ClientRoots(verifier)))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::serves::ListenerKind;
    use signet_crypto::certificate::DevelopmentCa;

    #[test]
    fn a_client_ca_that_is_replaced_counts_at_open_connections_too() {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let now = now.unwrap().as_secs();
        let [own, before, next] = [(); 3].map(|()| DevelopmentCa::generate().unwrap());
        let (chain, key) = own.issue_server(&["localhost".to_owned()]).unwrap();
        let (chain, key) = (chain.as_bytes(), key.expose().as_bytes());
        let options = TlsOptions {
            ask_for_certificate: true,
            client_roots: Some(before.cert_pem().into_bytes()),
            ..TlsOptions::default()
        };
        let tls = Tls::new(chain, key, &options).unwrap();
        let connection = Connection {
            peer: [127, 0, 0, 1].into(),
            listener_kind: ListenerKind::Mtls,
            is_tls: true,
            certificate: None,
        };
        let opened = |ca: &DevelopmentCa| {
            let (pem, _) = ca.issue_client("service").unwrap();
            let chain: Vec<_> = CertificateDer::pem_slice_iter(pem.as_bytes())
                .map(Result::unwrap)
                .collect();
            PresentedChain::new(&tls, &chain, &connection, now).unwrap()
        };
        let is_trusted = |chain: &PresentedChain| {
            let certificate = chain.connection(now).certificate.clone();
            certificate.unwrap().chain_trusted
        };
        let (of_before, of_next) = (opened(&before), opened(&next));
        assert_eq!([&of_before, &of_next].map(is_trusted), [true, false]);
        let reload = |pem: Option<&[u8]>| tls.reload(chain, key, pem);
        reload(Some(next.cert_pem().as_bytes())).unwrap();
        assert_eq!([&of_before, &of_next].map(is_trusted), [false, true]);
        assert!(is_trusted(&opened(&next)) && !is_trusted(&opened(&before)));
        // What cannot be used changes nothing.
        assert!(reload(Some(b"no certificate")).is_err());
        assert_eq!([&of_before, &of_next].map(is_trusted), [false, true]);
        reload(None).unwrap();
        assert_eq!([&of_before, &of_next].map(is_trusted), [false, false]);
    }

    #[test]
    fn a_certificate_of_an_authority_is_known_as_one() {
        let ca = DevelopmentCa::generate().expect("a CA");
        let (chain, _) = ca
            .issue_server(&["localhost".to_owned()])
            .expect("a certificate");
        let first = |pem: &str| {
            let mut chain = CertificateDer::pem_slice_iter(pem.as_bytes());
            chain.next().expect("one").expect("PEM")
        };
        assert!(is_authority(&first(&ca.cert_pem())));
        assert!(!is_authority(&first(&chain)));
    }
}
