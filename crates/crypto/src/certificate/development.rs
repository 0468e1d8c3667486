//! A certificate authority for one developer's machine.
//!
//! Its certificates are ECDSA over P-256 and in force from 2020 to the end of 2049: no clock is
//! asked, nothing expires under a developer's hands, and nobody should ever trust such an authority
//! for anything but a local server.

use std::net::{IpAddr, Ipv6Addr};

use rcgen::{
    BasicConstraints, CertificateParams, CidrSubnet, DistinguishedName, DnType,
    ExtendedKeyUsagePurpose, GeneralSubtree, IsCa, Issuer, KeyPair, KeyUsagePurpose,
    NameConstraints, SanType, date_time_ymd,
};
use x509_parser::extensions::GeneralName;
use x509_parser::pem::parse_x509_pem;

use super::CertificateError;
use crate::{Secret, random};

/// How the name of every such authority begins.
pub const NAME: &str = "Signet development CA";

/// A development certificate authority; PEM in and out.
pub struct DevelopmentCa {
    issuer: Issuer<'static, KeyPair>,
    cert_pem: String,
}

impl DevelopmentCa {
    /// A new authority with a name of its own, so that two machines' authorities are not taken for
    /// each other.
    ///
    /// # Errors
    /// If the library fails, which it does not in ordinary use.
    pub fn generate() -> Result<Self, CertificateError> {
        DevelopmentCa::make(None)
    }

    /// The same, which nobody believes for other servers than these DNS names (with what is below
    /// them) and addresses, and this machine itself (RFC 5280 section 4.2.1.10): whoever finds its
    /// key can stand in for those, and for nobody else.
    ///
    /// # Errors
    /// If a name is neither an address nor ASCII.
    pub fn generate_for(names: &[String]) -> Result<Self, CertificateError> {
        let mut permitted = vec![
            GeneralSubtree::DnsName("localhost".into()),
            GeneralSubtree::IpAddress(CidrSubnet::V4([127, 0, 0, 0], [255, 0, 0, 0])),
            GeneralSubtree::IpAddress(CidrSubnet::from_addr_prefix(
                Ipv6Addr::LOCALHOST.into(),
                128,
            )),
        ];
        for name in names {
            permitted.push(match name.parse::<IpAddr>() {
                Ok(address) => {
                    let bits = if address.is_ipv4() { 32 } else { 128 };
                    GeneralSubtree::IpAddress(CidrSubnet::from_addr_prefix(address, bits))
                }
                Err(_) if name.is_ascii() => GeneralSubtree::DnsName(name.clone()),
                Err(_) => return Err(CertificateError),
            });
        }
        DevelopmentCa::make(Some(NameConstraints {
            permitted_subtrees: permitted,
            excluded_subtrees: Vec::new(),
        }))
    }

    fn make(name_constraints: Option<NameConstraints>) -> Result<Self, CertificateError> {
        let name = format!("{NAME} {:08x}", u32::from_be_bytes(random::bytes()));
        let key = KeyPair::generate().map_err(failed)?;
        let mut params = ca_params(&name);
        params.name_constraints = name_constraints;
        let certificate = params.self_signed(&key).map_err(failed)?;
        Ok(DevelopmentCa {
            cert_pem: certificate.pem(),
            issuer: Issuer::new(params, key),
        })
    }

    /// The DNS names and addresses that it is limited to; none: it may stand for any server.
    pub fn limited_to(&self) -> Option<Vec<String>> {
        let (_, pem) = parse_x509_pem(self.cert_pem.as_bytes()).ok()?;
        let certificate = pem.parse_x509().ok()?;
        let constraints = certificate.name_constraints().ok()??;
        let permitted = constraints.value.permitted_subtrees.iter().flatten();
        let shown = permitted.map(|subtree| match &subtree.base {
            GeneralName::DNSName(name) => (*name).to_owned(),
            // RFC 5280 section 4.2.1.10: an address and its mask.
            GeneralName::IPAddress(bytes) => match bytes.len() {
                8 => <[u8; 4]>::try_from(&bytes[..4])
                    .map_or_else(|_| String::new(), |ip| IpAddr::from(ip).to_string()),
                32 => <[u8; 16]>::try_from(&bytes[..16])
                    .map_or_else(|_| String::new(), |ip| IpAddr::from(ip).to_string()),
                _ => String::new(),
            },
            other => format!("{other}"),
        });
        Some(shown.collect())
    }

    /// Whether a server of this name would be believed by its certificate.
    pub fn permits(&self, name: &str) -> bool {
        let below = |zone: &str| name == zone || name.ends_with(&format!(".{zone}"));
        let is_loopback = name.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback());
        self.limited_to()
            .is_none_or(|zones| is_loopback || zones.iter().any(|zone| below(zone)))
    }

    /// An authority that was written out before.
    ///
    /// # Errors
    /// If either is malformed, the certificate is no authority made here, or the key is not the
    /// certificate's.
    pub fn from_pem(cert: &str, key: &str) -> Result<Self, CertificateError> {
        let key = KeyPair::from_pem(key).map_err(failed)?;
        let (_, pem) = parse_x509_pem(cert.as_bytes()).map_err(failed)?;
        let certificate = pem.parse_x509().map_err(failed)?;
        let own_key = certificate.public_key().subject_public_key.data.as_ref();
        if !certificate.is_ca() || own_key != key.public_key_raw() {
            return Err(CertificateError);
        }
        let mut names = certificate.subject().iter_common_name();
        let (Some(name), None) = (names.next(), names.next()) else {
            return Err(CertificateError);
        };
        Ok(DevelopmentCa {
            cert_pem: cert.to_owned(),
            issuer: Issuer::new(ca_params(name.as_str().map_err(failed)?), key),
        })
    }

    /// The authority's certificate, for those who are to trust it.
    pub fn cert_pem(&self) -> String {
        self.cert_pem.clone()
    }

    /// The authority's private key (PKCS#8).
    pub fn key_pem(&self) -> Secret<String> {
        Secret::new(self.issuer.key().serialize_pem())
    }

    /// A server certificate for DNS names and IP addresses: (chain PEM, key PEM). The first name is
    /// the subject.
    ///
    /// # Errors
    /// If there is no name, or one is neither an address nor ASCII.
    pub fn issue_server(
        &self,
        names: &[String],
    ) -> Result<(String, Secret<String>), CertificateError> {
        let subject = names.first().ok_or(CertificateError)?;
        let mut params = leaf_params(subject, ExtendedKeyUsagePurpose::ServerAuth);
        for name in names {
            params.subject_alt_names.push(match name.parse::<IpAddr>() {
                Ok(address) => SanType::IpAddress(address),
                Err(_) => SanType::DnsName(name.as_str().try_into().map_err(failed)?),
            });
        }
        self.issue(params)
    }

    /// A client certificate with this common name (tests, `mtls` quick start): (chain PEM, key
    /// PEM).
    ///
    /// # Errors
    /// If the library refuses the name.
    pub fn issue_client(
        &self,
        common_name: &str,
    ) -> Result<(String, Secret<String>), CertificateError> {
        self.issue(leaf_params(
            common_name,
            ExtendedKeyUsagePurpose::ClientAuth,
        ))
    }

    fn issue(
        &self,
        params: CertificateParams,
    ) -> Result<(String, Secret<String>), CertificateError> {
        let key = KeyPair::generate().map_err(failed)?;
        let certificate = params.signed_by(&key, &self.issuer).map_err(failed)?;
        let chain = format!("{}{}", certificate.pem(), self.cert_pem);
        Ok((chain, Secret::new(key.serialize_pem())))
    }
}

impl std::fmt::Debug for DevelopmentCa {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("DevelopmentCa(..)")
    }
}

fn params(common_name: &str) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.not_before = date_time_ymd(2020, 1, 1);
    params.not_after = date_time_ymd(2049, 12, 31);
    params.distinguished_name = DistinguishedName::new();
    params
        .distinguished_name
        .push(DnType::CommonName, common_name);
    params
}

fn ca_params(common_name: &str) -> CertificateParams {
    let mut params = params(common_name);
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    params
}

fn leaf_params(common_name: &str, usage: ExtendedKeyUsagePurpose) -> CertificateParams {
    let mut params = params(common_name);
    params.is_ca = IsCa::ExplicitNoCa;
    params.use_authority_key_identifier_extension = true;
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages = vec![usage];
    params
}

/// Why a development certificate could not be made helps nobody beyond the name of the step.
fn failed<E>(_: E) -> CertificateError {
    CertificateError
}
