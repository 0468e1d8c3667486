//! Whom TLS trusts, and what it shows.
use rustls::{
    ClientConfig, RootCertStore,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
};
use std::sync::Arc;

/// Why certificates or a key cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    /// Not PEM, or not what it says it is.
    #[error(transparent)]
    Pem(#[from] rustls::pki_types::pem::Error),
    /// A certificate that cannot be an authority, or a key that does not fit.
    #[error(transparent)]
    Tls(#[from] rustls::Error),
}

/// The authorities that servers' certificates may come from.
#[derive(Clone, Debug)]
pub struct Trust(RootCertStore);

impl Trust {
    /// Nobody.
    pub fn nobody() -> Trust {
        Trust(RootCertStore::empty())
    }

    /// The machine's own authorities: reads files. What of them cannot be used is left out.
    pub fn system() -> Trust {
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        Trust(roots)
    }

    /// Those of a PEM text besides.
    ///
    /// # Errors
    /// One of them cannot be used.
    pub fn and(mut self, pem: &[u8]) -> Result<Trust, TrustError> {
        for certificate in CertificateDer::pem_slice_iter(pem) {
            self.0.add(certificate?)?;
        }
        Ok(self)
    }

    /// Those of a PEM text besides; what of them cannot be used is left out.
    #[must_use]
    pub fn and_usable(mut self, pem: &[u8]) -> Trust {
        let certificates = CertificateDer::pem_slice_iter(pem).filter_map(Result::ok);
        self.0.add_parsable_certificates(certificates);
        self
    }

    /// TLS 1.2 and 1.3 to servers of these authorities, without a certificate of one's own.
    ///
    /// # Errors
    /// The library cannot be set up.
    pub fn tls(self) -> Result<Arc<ClientConfig>, TrustError> {
        Ok(finish(self.versions()?.with_no_client_auth()))
    }

    /// The same, with a certificate of one's own: chain and key, PEM.
    ///
    /// # Errors
    /// They cannot be used.
    pub fn tls_as(self, chain: &[u8], key: &[u8]) -> Result<Arc<ClientConfig>, TrustError> {
        let chain = CertificateDer::pem_slice_iter(chain).collect::<Result<Vec<_>, _>>()?;
        let key = PrivateKeyDer::from_pem_slice(key)?;
        Ok(finish(self.versions()?.with_client_auth_cert(chain, key)?))
    }

    fn versions(
        self,
    ) -> Result<rustls::ConfigBuilder<ClientConfig, rustls::client::WantsClientCert>, TrustError>
    {
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let builder = ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&rustls::version::TLS13, &rustls::version::TLS12])?;
        Ok(builder.with_root_certificates(self.0))
    }
}

fn finish(mut config: ClientConfig) -> Arc<ClientConfig> {
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Arc::new(config)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BROKEN: &[u8] = b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";

    #[test]
    fn what_is_no_certificate_is_refused_or_left_out_as_asked() {
        assert!(Trust::nobody().and(BROKEN).is_err());
        assert!(Trust::nobody().and_usable(BROKEN).0.is_empty());
        assert!(Trust::nobody().tls_as(BROKEN, b"no key").is_err());
    }

    #[test]
    fn one_protocol_is_offered() {
        let config = Trust::nobody().tls().unwrap();
        assert_eq!(config.alpn_protocols, [b"http/1.1".to_vec()]);
    }
}
