//! TLS for the driver, by the same library as everywhere. The driver connects to addresses and
//! asks certificates for those: a server's certificate needs its IP address as a subject
//! alternative name.
use crate::{CassandraError, address::Address};
use rustls::{
    ClientConfig, RootCertStore,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
};
use std::{path::Path, sync::Arc};

/// What the address says is believed, and shown.
pub(crate) fn config(address: &Address) -> Result<Arc<ClientConfig>, CassandraError> {
    let mut roots = RootCertStore::empty();
    match &address.root_certificates {
        Some(file) => {
            for certificate in certificates(file)? {
                roots.add(certificate).map_err(|e| unusable(file, &e))?;
            }
        }
        None => {
            let found = rustls_native_certs::load_native_certs();
            roots.add_parsable_certificates(found.certs);
        }
    }
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|e| CassandraError::Tls(e.to_string()))?
        .with_root_certificates(roots);
    let config = match &address.client_certificate {
        None => config.with_no_client_auth(),
        Some((certificate, key)) => config
            .with_client_auth_cert(
                certificates(certificate)?,
                PrivateKeyDer::from_pem_file(key).map_err(|e| unusable(key, &e))?,
            )
            .map_err(|e| unusable(certificate, &e))?,
    };
    Ok(Arc::new(config))
}

fn unusable(file: &Path, error: &dyn std::fmt::Display) -> CassandraError {
    CassandraError::Tls(format!("{}: {error}", file.display()))
}

fn certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>, CassandraError> {
    let all = CertificateDer::pem_file_iter(file).map_err(|e| unusable(file, &e))?;
    let all: Vec<_> = all
        .collect::<Result<_, _>>()
        .map_err(|e| unusable(file, &e))?;
    match all.is_empty() {
        true => Err(unusable(file, &"there is no certificate in it")),
        false => Ok(all),
    }
}
