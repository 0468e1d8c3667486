//! Key certificates. Rules: what parses is the one encoding of what it says; what is accepted is
//! what the holder certified, its proof aside.

use std::sync::LazyLock;

use signet_compact::{KeyCertificate, VerifyingKey};
use signet_crypto::hash::sha256;

const CERTIFIED: [&[u8]; 2] = [
    include_bytes!("../../corpus/compact_certificate/ed25519"),
    include_bytes!("../../corpus/compact_certificate/ml-dsa-44"),
];

static ISSUER: LazyLock<VerifyingKey> = LazyLock::new(|| {
    let file = include_bytes!("../../data/certificate-issuer.public");
    let pin = VerifyingKey::parameters_hash(file).expect("a key file");
    let pins = [pin.expect("of proofs")];
    VerifyingKey::from_bytes_pinned(file, &pins, |_| None).expect("pinned by itself")
});

/// One input.
pub fn run(data: &[u8]) {
    let accepted = ISSUER.accept_certificate(data, 2_000_000);
    let Ok(certificate) = KeyCertificate::parse(data) else {
        assert!(accepted.is_err());
        return;
    };
    let body = body(&certificate);
    assert_eq!(sha256(&body), certificate.id(), "one body, one encoding");
    let mut around = Vec::new();
    bytes(&mut around, 1, &body);
    assert!(data.starts_with(&around));
    assert_eq!(
        data.len(),
        around.len() + 3 + 128,
        "a proof and nothing more"
    );
    if accepted.is_ok() {
        assert!(
            CERTIFIED.iter().any(|own| own.starts_with(&around)),
            "nobody certified this"
        );
    }
}

/// The body as protobuf writes it.
fn body(certificate: &KeyCertificate<'_>) -> Vec<u8> {
    let (proof_algorithm, key_hash) = certificate.issuer();
    let (algorithm, public_key) = certificate.subject();
    let validity = certificate.validity();
    let mut out = Vec::new();
    number(&mut out, 1, 1);
    number(&mut out, 2, u64::from(proof_algorithm.number()));
    bytes(&mut out, 3, key_hash);
    number(&mut out, 4, u64::from(algorithm.number()));
    bytes(&mut out, 5, public_key);
    number(&mut out, 6, validity.expires_at);
    number(&mut out, 7, validity.not_before);
    out
}

fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value > 127 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn number(out: &mut Vec<u8>, field: u8, value: u64) {
    if value != 0 {
        out.push(field << 3);
        varint(out, value);
    }
}

fn bytes(out: &mut Vec<u8>, field: u8, value: &[u8]) {
    out.push(field << 3 | 2);
    varint(out, value.len() as u64);
    out.extend_from_slice(value);
}
