//! The certificate of a client, from the handshake or from the header field of a proxy that ended
//! TLS in front.
use crate::percent::percent_decode;
use signet_crypto::certificate::ClientCertificate;

/// A client certificate that was presented with the request, and whether its chain ends at a
/// configured CA.
#[derive(Clone, Debug)]
pub struct PresentedCertificate {
    /// What RFC 8705 needs of it.
    pub certificate: ClientCertificate,
    /// True if the chain was verified against the configured client CAs. `tls_client_auth` needs
    /// this; `self_signed_tls_client_auth` and certificate-bound tokens do not.
    pub chain_trusted: bool,
}

/// The DER of a certificate in a proxy's header field: RFC 9440 (`:base64:`), plain base64 DER, or
/// PEM in percent-encoding (nginx).
pub fn der_of_field(value: &str) -> Option<Vec<u8>> {
    use rustls::pki_types::{CertificateDer, pem::PemObject};
    let decoded;
    let mut text = value;
    if value.contains('%') {
        decoded = percent_decode(value)?;
        text = &decoded;
    }
    if text.starts_with("-----BEGIN") {
        let der = CertificateDer::from_pem_slice(text.as_bytes()).ok()?;
        return Some(der.to_vec());
    }
    let base64 = text
        .strip_prefix(':')
        .and_then(|t| t.strip_suffix(':'))
        .unwrap_or(text);
    // One decoder for all shapes: as the body of a PEM block.
    let pem = format!("-----BEGIN CERTIFICATE-----\n{base64}\n-----END CERTIFICATE-----\n");
    Some(
        CertificateDer::from_pem_slice(pem.as_bytes())
            .ok()?
            .to_vec(),
    )
}
