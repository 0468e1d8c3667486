//! Client certificates. Rule: what is read names its own bytes and a key that is a key or is
//! refused.

use signet_crypto::{PublicKey, certificate::ClientCertificate, hash::sha256};

/// The input as a certificate and as a SubjectPublicKeyInfo, both DER.
pub fn run(data: &[u8]) {
    let _ = PublicKey::from_spki(data);
    let Ok(certificate) = ClientCertificate::parse(data) else {
        return;
    };
    assert_eq!(certificate.thumbprint, sha256(data));
    let _ = certificate.public_key();
    assert!(!certificate.subject_dn.contains('\0'));
}
