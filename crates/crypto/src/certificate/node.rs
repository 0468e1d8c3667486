//! A certificate that names nobody: peers pin its key.

use rcgen::{CertificateParams, DistinguishedName, DnType, KeyPair, date_time_ymd};

use super::CertificateError;
use crate::{Secret, hash::sha256};

/// A key for TLS (ECDSA over P-256) with a certificate that it signed itself. Its validity ends
/// with 2049 and is looked at by nobody: who pins the key decides how long it counts.
#[derive(Debug)]
pub struct NodeCertificate {
    certificate: Vec<u8>,
    key: Secret<Vec<u8>>,
    spki_sha256: [u8; 32],
}

impl NodeCertificate {
    /// A new random key, and a certificate with this common name.
    ///
    /// # Errors
    /// If the library fails, which it does not in ordinary use.
    pub fn generate(common_name: &str) -> Result<NodeCertificate, CertificateError> {
        let key = KeyPair::generate().map_err(|_| CertificateError)?;
        let mut params = CertificateParams::default();
        params.not_before = date_time_ymd(2020, 1, 1);
        params.not_after = date_time_ymd(2049, 12, 31);
        params.distinguished_name = DistinguishedName::new();
        params
            .distinguished_name
            .push(DnType::CommonName, common_name);
        let certificate = params.self_signed(&key).map_err(|_| CertificateError)?;
        let certificate = certificate.der().to_vec();
        NodeCertificate::from_der(&certificate, Secret::new(key.serialize_der()))
    }

    /// A pair that was kept. That they fit is found by whoever speaks TLS with them.
    ///
    /// # Errors
    /// If the certificate cannot be read.
    pub fn from_der(
        certificate: &[u8],
        key: Secret<Vec<u8>>,
    ) -> Result<NodeCertificate, CertificateError> {
        Ok(NodeCertificate {
            spki_sha256: spki_sha256(certificate)?,
            certificate: certificate.to_vec(),
            key,
        })
    }

    /// DER.
    pub fn certificate(&self) -> &[u8] {
        &self.certificate
    }

    /// PKCS#8.
    pub fn key(&self) -> &Secret<Vec<u8>> {
        &self.key
    }

    /// SHA-256 of its SubjectPublicKeyInfo: what peers pin (as RFC 7469 section 2.4 does).
    pub fn spki_sha256(&self) -> [u8; 32] {
        self.spki_sha256
    }
}

/// SHA-256 of the SubjectPublicKeyInfo of a certificate (DER).
///
/// # Errors
/// If the certificate cannot be read.
pub fn spki_sha256(certificate: &[u8]) -> Result<[u8; 32], CertificateError> {
    super::ClientCertificate::parse(certificate).map(|c| sha256(&c.spki))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_nodes_certificate_is_kept_and_found_by_its_key() {
        let made = NodeCertificate::generate("node-1").expect("made");
        let again =
            NodeCertificate::from_der(made.certificate(), made.key().clone()).expect("read");
        assert_eq!(again.spki_sha256(), made.spki_sha256());
        let other = NodeCertificate::generate("node-1").expect("made");
        assert_ne!(other.spki_sha256(), made.spki_sha256());
        assert!(NodeCertificate::from_der(b"x", made.key().clone()).is_err());
        assert!(!format!("{made:?}").contains(&format!("{:?}", made.key().expose())));
    }
}
