//! X.509: what RFC 8705 needs of a client certificate, and the development CA.
/// What the server keeps of a client certificate (DER in).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientCertificate {
    /// SHA-256 of the DER: `x5t#S256` (RFC 8705 section 3.1).
    pub thumbprint: [u8; 32],
    /// RFC 4514 string of the subject.
    pub subject_dn: String,
    pub san_dns: Vec<String>,
    pub san_uri: Vec<String>,
    pub san_ip: Vec<std::net::IpAddr>,
    pub san_email: Vec<String>,
    /// SubjectPublicKeyInfo DER, to compare with a registered `jwks` (self_signed_tls_client_auth).
    pub spki: Vec<u8>,
    pub not_before: u64,
    pub not_after: u64,
}
impl ClientCertificate {
    pub fn parse(_der: &[u8]) -> Result<Self, CertificateError> {
        todo!()
    }
}
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("malformed certificate")]
pub struct CertificateError;
/// A development certificate authority; PEM in and out.
pub struct DevelopmentCa {/* private */}
impl DevelopmentCa {
    pub fn generate() -> Result<Self, CertificateError> {
        todo!()
    }
    pub fn from_pem(_cert: &str, _key: &str) -> Result<Self, CertificateError> {
        todo!()
    }
    pub fn cert_pem(&self) -> String {
        todo!()
    }
    pub fn key_pem(&self) -> crate::Secret<String> {
        todo!()
    }
    /// A server certificate for DNS names and addresses: (chain PEM, key PEM).
    pub fn issue_server(
        &self,
        _names: &[String],
    ) -> Result<(String, crate::Secret<String>), CertificateError> {
        todo!()
    }
    /// A client certificate with this common name (tests, `mtls` quick start).
    pub fn issue_client(
        &self,
        _common_name: &str,
    ) -> Result<(String, crate::Secret<String>), CertificateError> {
        todo!()
    }
}
