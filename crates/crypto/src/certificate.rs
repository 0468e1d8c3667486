//! X.509: what RFC 8705 needs of a client certificate, and the development CA.
//!
//! A certificate is read here and not judged: whether its chain leads to a trusted root was decided
//! by the TLS handshake (or, for `self_signed_tls_client_auth`, is not asked), and whether it is in
//! force is for the caller, who knows the time.

mod development;
mod name;
mod node;

pub use development::{DevelopmentCa, NAME as DEVELOPMENT_CA_NAME};
pub use node::{NodeCertificate, spki_sha256};

use std::net::IpAddr;

use x509_parser::{
    asn1_rs::FromDer, certificate::X509Certificate, extensions::GeneralName, public_key,
    x509::SubjectPublicKeyInfo,
};

use crate::{
    Algorithm, KeyError, PublicKey,
    hash::sha256,
    key::{ec_public, ml_dsa_lengths},
};

/// What the server keeps of a client certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientCertificate {
    /// SHA-256 of the DER: `x5t#S256` (RFC 8705 section 3.1).
    pub thumbprint: [u8; 32],
    /// RFC 4514 string of the subject, to compare with `tls_client_auth_subject_dn`.
    pub subject_dn: String,
    /// `dNSName` entries of the subject alternative name.
    pub san_dns: Vec<String>,
    /// `uniformResourceIdentifier` entries.
    pub san_uri: Vec<String>,
    /// `iPAddress` entries.
    pub san_ip: Vec<IpAddr>,
    /// `rfc822Name` entries.
    pub san_email: Vec<String>,
    /// SubjectPublicKeyInfo DER, to compare with a registered `jwks` (self_signed_tls_client_auth).
    pub spki: Vec<u8>,
    /// Begin of validity, Unix seconds; 0 for anything before 1970.
    pub not_before: u64,
    /// End of validity, Unix seconds, inclusive.
    pub not_after: u64,
    /// Whether it may sign others (RFC 5280 section 4.2.1.9: basic constraints, CA:TRUE).
    pub is_authority: bool,
}

impl ClientCertificate {
    /// Reads one certificate, DER and nothing after it.
    ///
    /// # Errors
    /// If it is malformed, names something twice that may be there once, or has a subject
    /// alternative name that cannot be read.
    pub fn parse(der: &[u8]) -> Result<Self, CertificateError> {
        let (rest, certificate) = X509Certificate::from_der(der).map_err(|_| CertificateError)?;
        if !rest.is_empty() {
            return Err(CertificateError);
        }
        let validity = certificate.validity();
        let seconds = |time: i64| u64::try_from(time).unwrap_or(0);
        let mut out = ClientCertificate {
            thumbprint: sha256(der),
            subject_dn: name::rfc4514(certificate.subject())?,
            san_dns: Vec::new(),
            san_uri: Vec::new(),
            san_ip: Vec::new(),
            san_email: Vec::new(),
            spki: certificate.public_key().raw.to_vec(),
            not_before: seconds(validity.not_before.timestamp()),
            not_after: seconds(validity.not_after.timestamp()),
            is_authority: certificate.is_ca(),
        };
        let names = certificate
            .subject_alternative_name()
            .map_err(|_| CertificateError)?
            .map_or(&[][..], |extension| &extension.value.general_names);
        for name in names {
            match name {
                GeneralName::DNSName(name) => out.san_dns.push((*name).to_owned()),
                GeneralName::URI(uri) => out.san_uri.push((*uri).to_owned()),
                GeneralName::RFC822Name(email) => out.san_email.push((*email).to_owned()),
                GeneralName::IPAddress(bytes) => out.san_ip.push(ip_address(bytes)?),
                GeneralName::Invalid(..) => return Err(CertificateError),
                // The other kinds name nothing that RFC 8705 section 2.1.2 registers.
                _ => {}
            }
        }
        Ok(out)
    }

    /// The certificate's key, as a JWK has it.
    ///
    /// # Errors
    /// As [`PublicKey::from_spki`].
    pub fn public_key(&self) -> Result<PublicKey, KeyError> {
        PublicKey::from_spki(&self.spki)
    }

    /// Whether the certificate is in force at `now`, in Unix seconds (RFC 5280 section 4.1.2.5:
    /// both ends included).
    pub fn is_valid_at(&self, now: u64) -> bool {
        (self.not_before..=self.not_after).contains(&now)
    }
}

fn ip_address(bytes: &[u8]) -> Result<IpAddr, CertificateError> {
    if let Ok(v4) = <[u8; 4]>::try_from(bytes) {
        Ok(v4.into())
    } else if let Ok(v6) = <[u8; 16]>::try_from(bytes) {
        Ok(v6.into())
    } else {
        Err(CertificateError)
    }
}

impl PublicKey {
    /// The key in a SubjectPublicKeyInfo (RFC 5280 section 4.1), DER and nothing after it.
    ///
    /// # Errors
    /// [`KeyError::Malformed`] for broken DER and wrong lengths, [`KeyError::Unsupported`] for
    /// other kinds of key.
    pub fn from_spki(der: &[u8]) -> Result<PublicKey, KeyError> {
        const MALFORMED: KeyError = KeyError::Malformed("not a SubjectPublicKeyInfo");
        let (rest, spki) = SubjectPublicKeyInfo::from_der(der).map_err(|_| MALFORMED)?;
        let bits = &spki.subject_public_key;
        if !rest.is_empty() || bits.unused_bits != 0 {
            return Err(MALFORMED);
        }
        let ml_dsa = |algorithm| {
            let public = bits.data.to_vec();
            match ml_dsa_lengths(algorithm) {
                Some((len, _)) if len == public.len() => Ok(PublicKey::MlDsa { algorithm, public }),
                _ => Err(MALFORMED),
            }
        };
        match spki.algorithm.algorithm.to_id_string().as_str() {
            // RFC 5480: the curve is the parameter.
            "1.2.840.10045.2.1" => {
                let curve = spki
                    .algorithm
                    .parameters
                    .as_ref()
                    .and_then(|parameters| parameters.as_oid().ok())
                    .ok_or(MALFORMED)?;
                let algorithm = match curve.to_id_string().as_str() {
                    "1.2.840.10045.3.1.7" => Algorithm::Es256,
                    "1.3.132.0.34" => Algorithm::Es384,
                    "1.3.132.0.35" => Algorithm::Es512,
                    _ => return Err(KeyError::Unsupported("an elliptic curve")),
                };
                ec_public(algorithm, &bits.data).ok_or(MALFORMED)
            }
            "1.2.840.113549.1.1.1" => match spki.parsed() {
                Ok(public_key::PublicKey::RSA(key)) => Ok(PublicKey::Rsa {
                    n: unsigned(key.modulus).ok_or(MALFORMED)?,
                    e: unsigned(key.exponent).ok_or(MALFORMED)?,
                }),
                _ => Err(MALFORMED),
            },
            // RFC 8410.
            "1.3.101.112" => {
                let x = bits.data.as_ref().try_into().map_err(|_| MALFORMED)?;
                Ok(PublicKey::Ed25519 { x })
            }
            // RFC 9881.
            "2.16.840.1.101.3.4.3.17" => ml_dsa(Algorithm::MlDsa44),
            "2.16.840.1.101.3.4.3.18" => ml_dsa(Algorithm::MlDsa65),
            "2.16.840.1.101.3.4.3.19" => ml_dsa(Algorithm::MlDsa87),
            _ => Err(KeyError::Unsupported("a kind of public key")),
        }
    }
}

/// A positive DER INTEGER without the zero that keeps its first bit from being a sign.
fn unsigned(integer: &[u8]) -> Option<Vec<u8>> {
    match integer {
        [0, rest @ ..] if rest.first().is_some_and(|first| *first >= 0x80) => Some(rest.to_vec()),
        [1..=0x7f, ..] => Some(integer.to_vec()),
        _ => None,
    }
}

/// A certificate, name or key that cannot be read or made. The peer or operator who gave it learns
/// no more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("malformed certificate")]
pub struct CertificateError;

#[cfg(test)]
mod tests;
