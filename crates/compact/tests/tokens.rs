//! Behaviour of compact tokens: sizes, round trips, and that nothing but the one encoding of a
//! valid token is accepted.

use crate::common::published;
use signet_compact::{
    Algorithm, Claim, Claims, Confirmation, KeyError, KeyIdType, KeySet, MAX_TOKEN_BYTES, Payload,
    Policy, Refusal, Scopes, SignError, SigningKey, Token, VerifyingKey, Version,
};

const SIGNATURES: [Algorithm; 3] = [
    Algorithm::HmacSha256,
    Algorithm::Ed25519,
    Algorithm::MlDsa44,
];

/// Everything that version 1 has.
fn full() -> Payload<'static> {
    Payload {
        issuer: "https://login.example.com",
        token_id: Some(b"0123456789abcdef"),
        confirmation: Some(Confirmation::Jkt(&[7; 32])),
        claims: Claims::new(&[
            Claim {
                name: "acr",
                json: "\"urn:example:silver\"",
            },
            Claim {
                name: "client_id",
                json: "\"service\"",
            },
        ])
        .unwrap(),
        not_before: 999_999,
        ..published()
    }
}

fn sign(key: &SigningKey, version: Version, payload: &Payload<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    key.sign_into(version, payload, &mut out).unwrap();
    out
}

fn policy() -> Policy<'static> {
    Policy {
        confirmation: Some(Confirmation::Jkt(&[7; 32])),
        ..Policy::for_audience("api.example.com", 2_000_000)
    }
}

#[test]
fn sizes_are_the_published_ones() {
    for (algorithm, token, signing, verifying) in [
        (Algorithm::HmacSha256, 107, 36, None),
        (Algorithm::Ed25519, 139, 70, Some(36)),
        (Algorithm::MlDsa44, 2496, 1351, Some(1317)),
    ] {
        let key = SigningKey::generate(algorithm).unwrap();
        assert_eq!(
            sign(&key, Version::V0, &published()).len(),
            token,
            "{algorithm:?}"
        );
        // ML-DSA is written as its seed: 3,880 bytes in the published, expanded form.
        assert_eq!(
            key.to_bytes().unwrap().expose().len(),
            signing,
            "{algorithm:?}"
        );
        assert_eq!(
            key.public_bytes().map(|bytes| bytes.len()),
            verifying,
            "{algorithm:?}"
        );
    }
}

#[test]
fn what_was_signed_verifies_and_says_the_same() {
    for algorithm in SIGNATURES {
        let key = SigningKey::generate(algorithm).unwrap();
        let again = SigningKey::from_bytes(key.to_bytes().unwrap().expose()).unwrap();
        for (version, payload) in [
            (Version::V0, published()),
            (Version::V1, full()),
            (Version::V1, published()),
        ] {
            let token = sign(&again, version, &payload);
            let verified = key
                .verifying_key()
                .unwrap()
                .verify(&token, &policy())
                .map(|v| *v.payload())
                .unwrap();
            assert_eq!(verified.subject, payload.subject);
            assert_eq!(verified.audience, payload.audience);
            assert_eq!(
                verified.scopes.iter().collect::<Vec<_>>(),
                ["read", "write"]
            );
            assert_eq!(
                (verified.expires_at, verified.not_before, verified.issued_at),
                (payload.expires_at, payload.not_before, payload.issued_at)
            );
            assert_eq!(verified.issuer, payload.issuer);
            assert_eq!(verified.token_id, payload.token_id);
            assert_eq!(verified.confirmation, payload.confirmation);
            assert_eq!(
                verified.claims.iter().collect::<Vec<_>>(),
                payload.claims.iter().collect::<Vec<_>>()
            );
            let mut encoded = Vec::new();
            Token::parse(&token).unwrap().encode(&mut encoded);
            assert_eq!(encoded, token);
        }
    }
}

#[test]
fn every_key_id_type_finds_the_key_and_a_symmetric_key_is_never_its_own_id() {
    for algorithm in SIGNATURES {
        for kind in [KeyIdType::ShortHash, KeyIdType::PublicKey, KeyIdType::Hash] {
            let key = SigningKey::generate(algorithm).unwrap();
            let verifying = key.verifying_key().unwrap();
            match key.with_key_id_type(kind) {
                Ok(key) => {
                    let set = KeySet::new([
                        verifying,
                        SigningKey::generate(algorithm)
                            .unwrap()
                            .verifying_key()
                            .unwrap(),
                    ])
                    .unwrap();
                    set.verify(&sign(&key, Version::V0, &published()), &policy())
                        .unwrap();
                }
                Err(error) => {
                    assert_eq!(
                        (algorithm, kind, error),
                        (
                            Algorithm::HmacSha256,
                            KeyIdType::PublicKey,
                            KeyError::KeyIdType
                        )
                    );
                }
            }
        }
    }
}

#[test]
fn no_single_byte_change_is_accepted() {
    for algorithm in SIGNATURES {
        let key = SigningKey::generate(algorithm).unwrap();
        let verifying = key.verifying_key().unwrap();
        for (version, payload) in [(Version::V0, published()), (Version::V1, full())] {
            let token = sign(&key, version, &payload);
            for at in 0..token.len() {
                // Every bit where the token is short, some where it is long.
                for bit in 0..if token.len() < 400 { 8 } else { 1 } {
                    let mut changed = token.clone();
                    changed[at] ^= 1 << bit;
                    assert!(
                        verifying.verify(&changed, &policy()).is_err(),
                        "{algorithm:?} byte {at} bit {bit}"
                    );
                }
            }
            for length in 0..token.len() {
                assert!(
                    verifying.verify(&token[..length], &policy()).is_err(),
                    "{algorithm:?} cut at {length}"
                );
            }
            for more in [&[0][..], &[0x1a, 0x01, 0x00], &token] {
                assert!(
                    verifying
                        .verify(&[&token, more].concat(), &policy())
                        .is_err(),
                    "{algorithm:?} with bytes behind"
                );
            }
        }
    }
}

#[test]
fn a_proof_beside_a_signature_and_explicit_defaults_are_refused() {
    let key = SigningKey::generate(Algorithm::HmacSha256).unwrap();
    let verifying = key.verifying_key().unwrap();
    let token = sign(&key, Version::V0, &published());
    // proof = "x" behind the signature.
    assert_eq!(
        verifying
            .verify(&[&token[..], &[0x1a, 1, b'x']].concat(), &policy())
            .unwrap_err(),
        Refusal::Shape
    );
    // An empty proof, written out.
    assert!(
        verifying
            .verify(&[&token[..], &[0x1a, 0]].concat(), &policy())
            .is_err()
    );
    // version = 0, written out at the front of the payload.
    let payload_len = token[1];
    let explicit = [&[0x0a, payload_len + 2, 0x08, 0x00], &token[2..]].concat();
    assert_eq!(
        verifying.verify(&explicit, &policy()).unwrap_err(),
        Refusal::NotCanonical
    );
    // The payload's length in two bytes.
    let long = [&[0x0a, payload_len | 0x80, 0x00], &token[2..]].concat();
    assert_eq!(
        verifying.verify(&long, &policy()).unwrap_err(),
        Refusal::NotCanonical
    );
}

#[test]
fn the_policy_is_the_verifiers() {
    let key = SigningKey::generate(Algorithm::Ed25519).unwrap();
    let verifying = key.verifying_key().unwrap();
    let payload = Payload {
        expires_at: 3000,
        not_before: 2000,
        ..full()
    };
    let token = sign(
        &key,
        Version::V1,
        &Payload {
            issued_at: 2000,
            ..payload
        },
    );
    let good = Policy {
        now: 2000,
        issuer: Some("https://login.example.com"),
        scopes: &["read"],
        min_version: Version::V1,
        ..policy()
    };
    let refused = |policy: &Policy<'_>| verifying.verify(&token, policy).unwrap_err();
    verifying.verify(&token, &good).unwrap();
    verifying
        .verify(&token, &Policy { now: 3000, ..good })
        .unwrap();
    assert_eq!(refused(&Policy { now: 3001, ..good }), Refusal::Expired);
    verifying
        .verify(
            &token,
            &Policy {
                now: 3001,
                leeway: 1,
                ..good
            },
        )
        .unwrap();
    assert_eq!(refused(&Policy { now: 1999, ..good }), Refusal::NotYetValid);
    assert_eq!(
        refused(&Policy {
            audience: Some("api.example.co"),
            ..good
        }),
        Refusal::Audience
    );
    assert_eq!(
        refused(&Policy {
            audience: Some("API.example.com"),
            ..good
        }),
        Refusal::Audience
    );
    assert_eq!(
        refused(&Policy {
            issuer: Some("https://login.example.com/"),
            ..good
        }),
        Refusal::Issuer
    );
    assert_eq!(
        refused(&Policy {
            scopes: &["read", "admin"],
            ..good
        }),
        Refusal::Scope
    );
    assert_eq!(
        refused(&Policy {
            scopes: &["rea"],
            ..good
        }),
        Refusal::Scope
    );
    assert_eq!(
        refused(&Policy {
            confirmation: None,
            ..good
        }),
        Refusal::Confirmation
    );
    assert_eq!(
        refused(&Policy {
            confirmation: Some(Confirmation::X5tS256(&[7; 32])),
            ..good
        }),
        Refusal::Confirmation
    );
    let old = sign(&key, Version::V0, &published());
    assert_eq!(
        verifying
            .verify(
                &old,
                &Policy {
                    min_version: Version::V1,
                    ..policy()
                }
            )
            .unwrap_err(),
        Refusal::Unknown
    );
    assert_eq!(
        verifying
            .verify(
                &old,
                &Policy {
                    issuer: Some("https://login.example.com"),
                    ..policy()
                }
            )
            .unwrap_err(),
        Refusal::Issuer
    );
    assert_eq!(
        SigningKey::generate(Algorithm::Ed25519)
            .unwrap()
            .verifying_key()
            .unwrap()
            .verify(&token, &good)
            .unwrap_err(),
        Refusal::NoKey
    );
}

#[test]
fn a_version_1_signature_is_no_version_0_signature() {
    // The same content, signed for version 1 and shown as version 0: the version field goes, the
    // signature stays.
    let key = SigningKey::generate(Algorithm::HmacSha256).unwrap();
    let token = sign(&key, Version::V1, &published());
    assert_eq!(&token[2..4], [0x08, 0x01]);
    let shown = [&[0x0a, token[1] - 2], &token[4..]].concat();
    assert_eq!(Token::parse(&shown).unwrap().version(), Version::V0);
    assert_eq!(
        key.verifying_key()
            .unwrap()
            .verify(&shown, &policy())
            .unwrap_err(),
        Refusal::Signature
    );
    // And what is signed can begin no payload: no token parses whose payload starts with the
    // context.
    let context = signet_compact::SIGNING_CONTEXT_V1;
    assert_eq!(context[0] & 7, 3, "a group, which no payload has");
}

#[test]
fn limits_hold_on_both_sides() {
    let key = SigningKey::generate(Algorithm::HmacSha256).unwrap();
    let verifying = key.verifying_key().unwrap();
    let mut out = Vec::new();
    let longest = "x".repeat(255);
    let too_long = "x".repeat(256);
    let names: Vec<String> = (0..33)
        .map(|i| format!("{i:03}{}", "s".repeat(252)))
        .collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let json = format!("\"{}\"", "j".repeat(2046));
    let claims: Vec<Claim<'_>> = names[..4]
        .iter()
        .map(|&name| Claim { name, json: &json })
        .collect();
    let largest = Payload {
        subject: &longest,
        audience: "api.example.com",
        issuer: &longest,
        scopes: Scopes::new(&names[..32]).unwrap(),
        token_id: Some(&[1; 16]),
        confirmation: Some(Confirmation::Jkt(&[7; 32])),
        claims: Claims::new(&claims[..3]).unwrap(),
        not_before: 1,
        issued_at: 1,
        expires_at: u64::MAX,
        certificate: None,
    };
    key.sign_into(Version::V1, &largest, &mut out).unwrap();
    assert!(out.len() <= MAX_TOKEN_BYTES);
    verifying.verify(&out, &policy()).unwrap();

    let before = out.clone();
    let mut refused =
        |payload: &Payload<'_>| key.sign_into(Version::V1, payload, &mut out).unwrap_err();
    assert_eq!(
        refused(&Payload {
            subject: &too_long,
            ..largest
        }),
        SignError::Bounds("subject")
    );
    assert_eq!(
        refused(&Payload {
            audience: &too_long,
            ..largest
        }),
        SignError::Bounds("audience")
    );
    assert_eq!(
        refused(&Payload {
            issuer: &too_long,
            ..largest
        }),
        SignError::Bounds("issuer")
    );
    assert_eq!(
        refused(&Payload {
            claims: Claims::new(&claims).unwrap(),
            ..largest
        }),
        SignError::Bounds("payload")
    );
    assert_eq!(
        refused(&Payload {
            expires_at: 0,
            ..largest
        }),
        SignError::NoEnd
    );
    assert_eq!(
        key.sign_into(Version::V0, &largest, &mut out).unwrap_err(),
        SignError::Version("issuer")
    );
    assert_eq!(out, before, "a refusal leaves the buffer as it was");

    assert_eq!(Scopes::new(&names).unwrap_err(), SignError::Bounds("scope"));
    assert_eq!(Scopes::new(&[""]).unwrap_err(), SignError::Bounds("scope"));
    for scope in [
        "read admin",
        " ",
        "a\tb",
        "a\"b",
        "a\\b",
        "\u{e4}",
        "a\u{7f}",
        "a\0",
    ] {
        assert_eq!(
            Scopes::new(&[scope]).unwrap_err(),
            SignError::Characters("scope"),
            "{scope:?}"
        );
    }
    let every: String = ('!'..='~').filter(|c| !matches!(c, '"' | '\\')).collect();
    assert!(Scopes::new(&[&every]).is_ok());
    assert_eq!(
        Scopes::new(&["b", "a"]).unwrap_err(),
        SignError::Order("scope")
    );
    assert_eq!(
        Scopes::new(&["a", "a"]).unwrap_err(),
        SignError::Order("scope")
    );
    assert_eq!(
        Claims::new(&[Claim {
            name: "a",
            json: ""
        }])
        .unwrap_err(),
        SignError::Bounds("claim")
    );
    assert_eq!(
        verifying
            .verify(&vec![0x0a; MAX_TOKEN_BYTES + 1], &policy())
            .unwrap_err(),
        Refusal::TooLarge
    );
}

#[test]
fn a_batch_answers_as_each_alone() {
    let keys: Vec<SigningKey> = [
        Algorithm::Ed25519,
        Algorithm::Ed25519,
        Algorithm::HmacSha256,
        Algorithm::MlDsa44,
    ]
    .into_iter()
    .map(|a| SigningKey::generate(a).unwrap())
    .collect();
    let set = KeySet::new(keys.iter().map(|key| key.verifying_key().unwrap())).unwrap();
    let mut tokens: Vec<Vec<u8>> = (0..24)
        .map(|i| {
            let payload = Payload {
                issued_at: 1000 + i,
                ..published()
            };
            sign(
                &keys[i as usize % 4],
                if i % 8 < 4 { Version::V0 } else { Version::V1 },
                &payload,
            )
        })
        .collect();
    let check = |tokens: &[Vec<u8>]| {
        let borrowed: Vec<&[u8]> = tokens.iter().map(Vec::as_slice).collect();
        let batch = set.verify_batch(&borrowed, &policy());
        for (token, answer) in borrowed.iter().zip(&batch) {
            let alone = set.verify(token, &policy());
            assert_eq!(
                answer.as_ref().map(|_| ()).map_err(|e| *e),
                alone.map(|_| ())
            );
        }
        batch.iter().filter(|answer| answer.is_ok()).count()
    };
    assert_eq!(check(&tokens), 24);
    let last = tokens[0].len() - 1;
    tokens[0][last] ^= 1;
    tokens[5].truncate(7);
    assert_eq!(check(&tokens), 22);
}

#[test]
fn weak_foreign_and_malformed_keys_are_refused() {
    let message = |algorithm: u8, first: &[u8], second: &[u8]| {
        let mut out = vec![0x08, algorithm, 0x12, first.len() as u8];
        out.extend_from_slice(first);
        if !second.is_empty() {
            out.extend_from_slice(&[0x1a, second.len() as u8]);
            out.extend_from_slice(second);
        }
        out
    };
    assert_eq!(
        SigningKey::from_bytes(&message(1, &[7; 31], &[])).unwrap_err(),
        KeyError::TooShort
    );
    assert_eq!(
        SigningKey::from_bytes(&message(1, &[7; 32], &[1])).unwrap_err(),
        KeyError::Malformed
    );
    // The public half of another key.
    assert_eq!(
        SigningKey::from_bytes(&message(2, &[7; 32], &[8; 32])).unwrap_err(),
        KeyError::Invalid
    );
    assert_eq!(
        SigningKey::from_bytes(&message(9, &[7; 32], &[])).unwrap_err(),
        KeyError::Algorithm
    );
    assert_eq!(
        SigningKey::from_bytes(&[]).unwrap_err(),
        KeyError::Malformed
    );
    // A symmetric key is not read as a public one, whatever it looks like; the neutral point has
    // small order.
    assert_eq!(
        VerifyingKey::from_bytes(&message(1, &[7; 32], &[])).unwrap_err(),
        KeyError::Algorithm
    );
    let mut neutral = [0; 32];
    neutral[0] = 1;
    assert_eq!(
        VerifyingKey::from_bytes(&message(2, &neutral, &[])).unwrap_err(),
        KeyError::Invalid
    );
    let key = SigningKey::generate(Algorithm::HmacSha256).unwrap();
    assert_eq!(
        KeySet::new([key.verifying_key().unwrap(), key.verifying_key().unwrap()]).unwrap_err(),
        KeyError::Duplicate
    );
    let text = format!("{key:?} {:?}", key.verifying_key().unwrap());
    assert_eq!(
        text,
        "SigningKey { algorithm: HmacSha256, .. } VerifyingKey { algorithm: HmacSha256, .. }"
    );
}

proptest::proptest! {
    #[test]
    fn parsing_never_panics_and_what_parses_has_one_encoding(bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..300)) {
        if let Ok(token) = Token::parse(&bytes) {
            let mut again = Vec::new();
            token.encode(&mut again);
            assert_eq!(again, bytes);
        }
    }

    #[test]
    fn a_mutated_token_parses_to_its_own_bytes_or_not_at_all(at in 0_usize..200, byte in proptest::prelude::any::<u8>(), cut in 0_usize..3) {
        let key = SigningKey::generate(Algorithm::HmacSha256).unwrap();
        let token = sign(&key, Version::V1, &full());
        let mut changed = token.clone();
        let at = at % changed.len();
        changed[at] = byte;
        changed.drain(at..(at + cut).min(token.len()));
        if let Ok(parsed) = Token::parse(&changed) {
            let mut again = Vec::new();
            parsed.encode(&mut again);
            assert_eq!(again, changed);
        }
        if changed != token {
            assert!(key.verifying_key().unwrap().verify(&changed, &policy()).is_err());
        }
    }
}

/// A token whose one scope was replaced by another text of the same length, signed again.
fn with_scope(key: &[u8; 32], version: Version, scope: &str) -> Vec<u8> {
    let placeholder = "x".repeat(scope.len());
    let scopes = [&placeholder[..]];
    let payload = Payload {
        subject: "s",
        audience: "api.example.com",
        expires_at: u64::MAX,
        scopes: Scopes::new(&scopes).unwrap(),
        ..Payload::default()
    };
    let signer = SigningKey::from_bytes(&[&[0x08, 1, 0x12, 32], &key[..]].concat()).unwrap();
    let mut token = Vec::new();
    signer.sign_into(version, &payload, &mut token).unwrap();
    let payload_end = token.len() - 34;
    let at = (0..payload_end)
        .find(|at| token[*at..].starts_with(placeholder.as_bytes()))
        .unwrap();
    token[at..at + scope.len()].copy_from_slice(scope.as_bytes());
    let context = match version {
        Version::V0 => &b""[..],
        Version::V1 => signet_compact::SIGNING_CONTEXT_V1,
    };
    let mac = signet_crypto::mac::HmacSha256Key::new(key);
    let tag = mac.sign_parts(&[context, &token[2..payload_end]]);
    token[payload_end + 2..].copy_from_slice(&tag);
    token
}

#[test]
fn a_compact_scope_is_one_scope_wherever_scopes_are_joined() {
    let secret = [9; 32];
    let verifying = VerifyingKey::hmac(&secret).unwrap();
    let policy = || Policy::for_audience("api.example.com", 1);
    for version in [Version::V0, Version::V1] {
        let token = with_scope(&secret, version, "read:admin");
        let verified = verifying.verify(&token, &policy()).unwrap();
        assert!(verified.payload().scopes.are_tokens());
    }
    for scope in ["read admin", "read\\admin", "read\u{e4}dmin"] {
        assert_eq!(
            verifying
                .verify(&with_scope(&secret, Version::V1, scope), &policy())
                .unwrap_err(),
            Refusal::Characters,
            "{scope:?}"
        );
        // The published format allows it, as the one scope that it is; a caller that joins
        // scopes asks `are_tokens`.
        let token = with_scope(&secret, Version::V0, scope);
        let verified = verifying.verify(&token, &policy()).unwrap();
        assert!(!verified.payload().scopes.are_tokens());
        assert_eq!(
            verified.payload().scopes.iter().collect::<Vec<_>>(),
            [scope]
        );
        assert!(!verified.payload().scopes.contains("admin"));
    }
}
