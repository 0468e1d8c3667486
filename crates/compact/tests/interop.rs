//! Keys and tokens of the published format that were not made here.

use std::path::Path;

use serde_json::Value;
use signet_compact::{Algorithm, KeyError, Payload, Policy, SigningKey, VerifyingKey, Version};
use signet_encoding::base64url;

/// A key message with fields longer than 127 bytes, as protobuf writes it.
fn message(algorithm: u8, fields: &[&[u8]]) -> Vec<u8> {
    let mut out = vec![0x08, algorithm];
    for (field, bytes) in (2_u8..).zip(fields) {
        out.push(field << 3 | 2);
        let mut length = bytes.len();
        while length > 127 {
            out.push(length as u8 | 0x80);
            length >>= 7;
        }
        out.push(length as u8);
        out.extend_from_slice(bytes);
    }
    out
}

/// NIST's key generation vectors: seed, public key and expanded secret key belong together, and
/// each form of the secret is a key file.
#[test]
fn nists_ml_dsa_44_keys_are_read_as_seeds_and_expanded() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../vectors/compact/nist-ml-dsa-44-keygen.json");
    let file: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let vectors = file["vectors"].as_array().unwrap();
    assert_eq!(vectors.len(), 25);
    let policy = Policy::any_audience(1);
    let payload = Payload {
        expires_at: 2,
        subject: "user:alice",
        ..Payload::default()
    };
    let mut previous: Option<Vec<u8>> = None;
    for vector in vectors {
        let bytes =
            |name: &str| base64url::decode(vector[name].as_str().unwrap().as_bytes()).unwrap();
        let (seed, public, expanded) = (bytes("seed"), bytes("public_key"), bytes("secret_key"));
        assert_eq!((seed.len(), public.len(), expanded.len()), (32, 1312, 2560));
        let verifying = VerifyingKey::from_bytes(&message(3, &[&public])).unwrap();
        for (secret, length) in [(&seed, 1351), (&expanded, 3880)] {
            let file = message(3, &[secret, &public]);
            assert_eq!(file.len(), length);
            let key = SigningKey::from_bytes(&file).unwrap();
            // A seed is written as a seed; no seed can be had from an expanded key, which is
            // written as it was read.
            assert_eq!(key.to_bytes().unwrap().expose(), &file);
            assert_eq!(key.public_bytes().unwrap(), message(3, &[&public]));
            for version in [Version::V0, Version::V1] {
                let mut token = Vec::new();
                key.sign_into(version, &payload, &mut token).unwrap();
                verifying.verify(&token, &policy).unwrap();
            }
            // Another vector's public half, and none.
            if let Some(other) = &previous {
                assert_eq!(
                    SigningKey::from_bytes(&message(3, &[secret, other])).unwrap_err(),
                    KeyError::Invalid
                );
            }
            assert!(SigningKey::from_bytes(&message(3, &[secret])).is_err());
        }
        for wrong in [
            &expanded[..2559],
            &seed[..31],
            &[&expanded[..], &[0]].concat(),
        ] {
            assert_eq!(
                SigningKey::from_bytes(&message(3, &[wrong, &public])).unwrap_err(),
                KeyError::Malformed
            );
        }
        previous = Some(public);
    }
    // A new key is written as its seed.
    let made = SigningKey::generate(Algorithm::MlDsa44).unwrap();
    assert_eq!(made.to_bytes().unwrap().expose().len(), 1351);
}

/// RFC 8032 section 7.1, test 1: the secret key is the seed, 70 bytes of file, 36 of the public
/// one.
#[test]
fn an_ed25519_key_of_the_rfc_is_a_key_file() {
    let hex = |text: &str| -> Vec<u8> {
        (0..text.len() / 2)
            .map(|i| u8::from_str_radix(&text[2 * i..2 * i + 2], 16).unwrap())
            .collect()
    };
    let seed = hex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60");
    let public = hex("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a");
    let file = message(2, &[&seed, &public]);
    assert_eq!(file.len(), 70);
    let key = SigningKey::from_bytes(&file).unwrap();
    assert_eq!(key.to_bytes().unwrap().expose(), &file);
    assert_eq!(key.public_bytes().unwrap(), message(2, &[&public]));
    // The signature of version 0 is the primitive's of the payload's bytes, deterministic: one
    // payload, one token.
    let payload = Payload {
        expires_at: 2,
        ..Payload::default()
    };
    let (mut one, mut two) = (Vec::new(), Vec::new());
    key.sign_into(Version::V0, &payload, &mut one).unwrap();
    key.sign_into(Version::V0, &payload, &mut two).unwrap();
    assert_eq!(one, two);
    let bare = signet_crypto::SigningKey::ed25519_from_seed(&seed.try_into().unwrap()).unwrap();
    let payload_len = usize::from(one[1]);
    let mut signature = Vec::new();
    bare.sign_into(&one[2..2 + payload_len], &mut signature)
        .unwrap();
    assert_eq!(one[one.len() - 64..], signature);
}
