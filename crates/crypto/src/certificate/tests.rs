use super::*;
use rcgen::{
    CertificateParams, CustomExtension, DistinguishedName, DnType, DnValue, KeyPair, SanType,
};
use x509_parser::pem::Pem;

/// The DER of each certificate in a PEM chain.
fn chain(pem: &str) -> Vec<Vec<u8>> {
    Pem::iter_from_buffer(pem.as_bytes())
        .map(|pem| pem.expect("PEM").contents)
        .collect()
}

fn self_signed(change: impl FnOnce(&mut CertificateParams)) -> Vec<u8> {
    let mut params = CertificateParams::default();
    change(&mut params);
    let key = KeyPair::generate().expect("a key");
    params
        .self_signed(&key)
        .expect("a certificate")
        .der()
        .to_vec()
}

#[test]
fn a_server_certificate_has_its_names_and_its_issuer() {
    let ca = DevelopmentCa::generate().expect("a CA");
    let names = ["localhost", "127.0.0.1", "::1"].map(String::from);
    let (pem, key) = ca.issue_server(&names).expect("issued");
    assert!(key.expose().starts_with("-----BEGIN PRIVATE KEY-----"));
    let chain = chain(&pem);
    assert_eq!(chain.len(), 2);

    let leaf = ClientCertificate::parse(&chain[0]).expect("parsed");
    assert_eq!(leaf.subject_dn, "CN=localhost");
    assert_eq!(leaf.san_dns, ["localhost"]);
    assert_eq!(
        leaf.san_ip,
        ["127.0.0.1", "::1"].map(|ip| ip.parse::<IpAddr>().expect("an address"))
    );
    assert_eq!(leaf.thumbprint, sha256(&chain[0]));
    assert!(leaf.is_valid_at(1_800_000_000));
    assert!(!leaf.is_valid_at(leaf.not_after + 1));
    assert!(!leaf.is_valid_at(leaf.not_before - 1));

    let (_, issuer) = X509Certificate::from_der(&chain[1]).expect("parsed");
    let (_, subject) = X509Certificate::from_der(&chain[0]).expect("parsed");
    assert_eq!(subject.issuer(), issuer.subject());
    assert!(issuer.is_ca() && !subject.is_ca());
    assert!(ca.issue_server(&[]).is_err());
}

#[test]
fn a_written_ca_issues_under_the_same_name_and_key() {
    let ca = DevelopmentCa::generate().expect("a CA");
    let again = DevelopmentCa::from_pem(&ca.cert_pem(), ca.key_pem().expose()).expect("read");
    assert_eq!(again.cert_pem(), ca.cert_pem());
    assert_eq!(again.key_pem(), ca.key_pem());

    let (pem, _) = again.issue_client("service").expect("issued");
    let chain = chain(&pem);
    let (_, leaf) = X509Certificate::from_der(&chain[0]).expect("parsed");
    let (_, root) = X509Certificate::from_der(&chain[1]).expect("parsed");
    assert_eq!(leaf.issuer().as_raw(), root.subject().as_raw());
    let Ok(PublicKey::P256 { x, y }) = PublicKey::from_spki(root.public_key().raw) else {
        panic!("a P-256 key")
    };
    // The certificate's signature is ASN.1; verified here with the library itself.
    let point = [&[4][..], &x, &y].concat();
    aws_lc_rs::signature::UnparsedPublicKey::new(
        &aws_lc_rs::signature::ECDSA_P256_SHA256_ASN1,
        point,
    )
    .verify(leaf.tbs_certificate.as_ref(), &leaf.signature_value.data)
    .expect("signed by the CA's key");

    let other = DevelopmentCa::generate().expect("a CA");
    assert_ne!(other.cert_pem(), ca.cert_pem());
    assert!(DevelopmentCa::from_pem(&ca.cert_pem(), other.key_pem().expose()).is_err());
    let (leaf, key) = ca.issue_client("service").expect("issued");
    assert!(
        DevelopmentCa::from_pem(&leaf, key.expose()).is_err(),
        "no CA"
    );
    assert!(DevelopmentCa::from_pem("", "").is_err());
}

#[test]
fn a_subject_reads_from_its_last_name_to_its_first() {
    let der = self_signed(|params| {
        let mut name = DistinguishedName::new();
        name.push(DnType::CountryName, "DE");
        name.push(DnType::OrganizationName, "Acme, Inc.");
        name.push(
            DnType::CustomDnType(vec![0, 9, 2342, 19200300, 100, 1, 1]),
            "svc",
        );
        name.push(
            DnType::CommonName,
            DnValue::BmpString("Z\u{fc}rich".try_into().expect("BMP")),
        );
        // pkcs-9 emailAddress has no short name in RFC 4514.
        name.push(
            DnType::CustomDnType(vec![1, 2, 840, 113549, 1, 9, 1]),
            "a@b",
        );
        params.distinguished_name = name;
    });
    let parsed = ClientCertificate::parse(&der).expect("parsed");
    assert_eq!(
        parsed.subject_dn,
        "1.2.840.113549.1.9.1=#0c03614062,CN=Z\u{fc}rich,UID=svc,O=Acme\\, Inc.,C=DE"
    );
}

#[test]
fn alternative_names_are_kept_by_kind() {
    let der = self_signed(|params| {
        params.subject_alt_names = vec![
            SanType::DnsName("a.example".try_into().expect("IA5")),
            SanType::URI("spiffe://example/a".try_into().expect("IA5")),
            SanType::Rfc822Name("a@example".try_into().expect("IA5")),
            SanType::IpAddress("192.0.2.1".parse().expect("an address")),
            SanType::DnsName("b.example".try_into().expect("IA5")),
        ];
    });
    let parsed = ClientCertificate::parse(&der).expect("parsed");
    assert_eq!(parsed.san_dns, ["a.example", "b.example"]);
    assert_eq!(parsed.san_uri, ["spiffe://example/a"]);
    assert_eq!(parsed.san_email, ["a@example"]);
    assert_eq!(parsed.san_ip.len(), 1);
}

#[test]
fn unreadable_alternative_names_are_refused() {
    // An iPAddress of five bytes, and a dNSName that is no text.
    for san in [
        &[0x30, 7, 0x87, 5, 1, 2, 3, 4, 5][..],
        &[0x30, 4, 0x82, 2, 0xff, 0xff],
    ] {
        let der = self_signed(|params| {
            params
                .custom_extensions
                .push(CustomExtension::from_oid_content(
                    &[2, 5, 29, 17],
                    san.to_vec(),
                ));
        });
        assert_eq!(ClientCertificate::parse(&der), Err(CertificateError));
    }
}

#[test]
fn cut_and_lengthened_certificates_are_refused() {
    let der = self_signed(|_| {});
    assert!(ClientCertificate::parse(&der).is_ok());
    for length in 0..der.len() {
        assert_eq!(
            ClientCertificate::parse(&der[..length]),
            Err(CertificateError)
        );
    }
    let longer = [der.as_slice(), &[0]].concat();
    assert_eq!(ClientCertificate::parse(&longer), Err(CertificateError));
}

#[test]
fn the_public_key_of_a_certificate_is_that_of_its_jwk() {
    use crate::SigningKey;
    for (algorithm, rcgen_algorithm) in [
        (Algorithm::Es256, &rcgen::PKCS_ECDSA_P256_SHA256),
        (Algorithm::Es384, &rcgen::PKCS_ECDSA_P384_SHA384),
        (Algorithm::Es512, &rcgen::PKCS_ECDSA_P521_SHA512),
        (Algorithm::EdDsa, &rcgen::PKCS_ED25519),
        (Algorithm::Rs256, &rcgen::PKCS_RSA_SHA256),
    ] {
        let key = SigningKey::generate(algorithm).expect("a key");
        let private = key.to_private().expect("encoded");
        let pair = KeyPair::from_pkcs8_der_and_sign_algo(
            &private.expose().as_slice().into(),
            rcgen_algorithm,
        )
        .expect("the same key");
        let certificate = CertificateParams::default()
            .self_signed(&pair)
            .expect("a certificate");
        let parsed = ClientCertificate::parse(certificate.der()).expect("parsed");
        assert_eq!(
            parsed.public_key().as_ref(),
            Ok(key.public().expect("public")),
            "{algorithm:?}"
        );
        let longer = [parsed.spki.as_slice(), &[0]].concat();
        assert!(PublicKey::from_spki(&longer).is_err());
        for length in 0..parsed.spki.len() {
            assert!(PublicKey::from_spki(&parsed.spki[..length]).is_err());
        }
    }
}
