use crate::support::*;
use signet_crypto::Algorithm;
use signet_verify::{Issuer, KeySource, Policy, Refusal, Verifier};

/// The order of P-256.
const N: [u8; 32] = [
    0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xbc, 0xe6,
    0xfa, 0xad, 0xa7, 0x17, 0x9e, 0x84, 0xf3, 0xb9, 0xca, 0xc2, 0xfc, 0x63, 0x25, 0x51,
];

fn with_signature(token: &str, signature: &[u8]) -> String {
    let (header, payload, _) = parts(token);
    format!("{header}.{payload}.{}", encode(signature))
}

#[test]
fn stripped_truncated_and_extended_signatures() {
    let (v, good) = (verifier(), access().signed());
    let (header, payload, signature) = parts(&good);
    refused(
        &v,
        &good,
        &format!("{header}.{payload}"),
        &[Refusal::Malformed],
    );
    refused(
        &v,
        &good,
        &format!("{header}.{payload}."),
        &[Refusal::Malformed],
    );
    let bytes = decode(&signature);
    for length in [1, 32, 63] {
        refused(
            &v,
            &good,
            &with_signature(&good, &bytes[..length]),
            &[Refusal::Signature],
        );
    }
    refused(
        &v,
        &good,
        &with_signature(&good, &[&bytes[..], &[0]].concat()),
        &[Refusal::Signature],
    );
    refused(
        &v,
        &good,
        &with_signature(&good, &[0; 2000]),
        &[Refusal::Signature],
    );
}

#[test]
fn psychic_zero_and_out_of_range_signatures() {
    let (v, good) = (verifier(), access().signed());
    let bytes = decode(&parts(&good).2);
    let (r, s) = bytes.split_at(32);
    let zero = [0; 32];
    let one = {
        let mut one = [0; 32];
        one[31] = 1;
        one
    };
    for (r, s) in [
        (&zero[..], &zero[..]),
        (&zero, s),
        (r, &zero),
        (&N, s),
        (r, &N),
        (&N, &N),
        (&one, &one),
        (&[0xff; 32], &[0xff; 32]),
        (&zero, &one),
        (&one, &zero),
    ] {
        refused(
            &v,
            &good,
            &with_signature(&good, &[r, s].concat()),
            &[Refusal::Signature],
        );
    }
}

#[test]
fn der_encoded_and_swapped_signatures() {
    let (v, good) = (verifier(), access().signed());
    let bytes = decode(&parts(&good).2);
    let (r, s) = bytes.split_at(32);
    let integer = |value: &[u8]| [&[2, 33, 0][..], value].concat();
    let body = [integer(r), integer(s)].concat();
    let der = [&[0x30, body.len() as u8][..], &body].concat();
    refused(
        &v,
        &good,
        &with_signature(&good, &der),
        &[Refusal::Signature],
    );
    refused(
        &v,
        &good,
        &with_signature(&good, &[s, r].concat()),
        &[Refusal::Signature],
    );
}

#[test]
fn small_order_and_non_canonical_ed25519_signatures() {
    let good = access()
        .with_header("\"ES256\"", "\"EdDSA\"")
        .with_header("key-ES256", "key-EdDSA");
    let good = sign_with(key(Algorithm::EdDsa), &good.header, good.payload.as_bytes());
    let v = verifier();
    let bytes = decode(&parts(&good).2);
    // S + L: the same value modulo the group's order (RFC 8032 section 5.1.7).
    const L: [u8; 32] = [
        0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde,
        0x14, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10,
    ];
    let mut malleable = bytes.clone();
    let mut carry = 0;
    for (byte, add) in malleable[32..].iter_mut().zip(L) {
        let sum = u16::from(*byte) + u16::from(add) + carry;
        (*byte, carry) = (sum as u8, sum >> 8);
    }
    refused(
        &v,
        &good,
        &with_signature(&good, &malleable),
        &[Refusal::Signature],
    );
    // R of small order with S = 0; the identity with S = 0.
    for first in [0, 1] {
        let mut small = [0; 64];
        small[0] = first;
        refused(
            &v,
            &good,
            &with_signature(&good, &small),
            &[Refusal::Signature],
        );
    }
    refused(
        &v,
        &good,
        &with_signature(&good, &[0xff; 64]),
        &[Refusal::Signature],
    );
    // A key of small order is no key at all: nothing verifies under it.
    let mut identity = [0; 32];
    identity[0] = 1;
    let weak = signet_jose::jwk::Jwk::for_signatures(
        signet_crypto::PublicKey::Ed25519 { x: identity },
        Algorithm::EdDsa,
        "weak",
    );
    let built = Verifier::builder()
        .issuer(Issuer::new(
            ISSUER,
            KeySource::Memory(signet_jose::jwk::JwkSet { keys: vec![weak] }),
        ))
        .policy(Policy::access_token(AUDIENCE))
        .build();
    assert!(built.is_err());
}

#[test]
fn the_other_form_of_an_ecdsa_signature_is_no_other_token() {
    let (v, good) = (verifier(), access().signed());
    let bytes = decode(&parts(&good).2);
    let (r, s) = bytes.split_at(32);
    let mut other = [0; 32];
    let mut borrow = 0_i16;
    for at in (0..32).rev() {
        let difference = i16::from(N[at]) - i16::from(s[at]) - borrow;
        borrow = i16::from(difference < 0);
        other[at] = difference.rem_euclid(256) as u8;
    }
    let twin = with_signature(&good, &[r, &other].concat());
    assert_ne!(twin, good);
    let (first, second) = (verify(&v, &good).unwrap(), verify(&v, &twin).unwrap());
    assert_eq!(first.identity(), second.identity());
    // Any other claims are another token.
    let third = verify(&v, &access().with("t-1", "t-2").signed()).unwrap();
    assert_ne!(first.identity(), third.identity());
}

#[test]
fn a_signature_for_other_content() {
    let (v, good) = (verifier(), access());
    let (header, _, signature) = parts(&good.signed());
    let richer = good.with("orders read", "orders admin");
    refused(
        &v,
        &good.signed(),
        &format!("{header}.{}.{signature}", encode(&richer.payload)),
        &[Refusal::Signature],
    );
    let (_, payload, signature) = parts(&good.signed());
    let other = good.and_header(r#""x":1"#);
    refused(
        &v,
        &good.signed(),
        &format!("{}.{payload}.{signature}", encode(&other.header)),
        &[Refusal::Signature],
    );
}
