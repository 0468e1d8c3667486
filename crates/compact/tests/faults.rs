//! What comparable code got wrong, by the number of the fault. C1 and C3 are in `proofs.rs`, where
//! the proofs are; C4 in signet-zk; C5 and C6 also in signet-crypto, where the primitives are; C10
//! in the tests of the commands; C11 beside the bench's inputs.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::common::{policy, published, sign};
use proptest::prelude::*;
use signet_compact::{
    Algorithm, Claim, Claims, Confirmation, KeyError, KeyIdType, KeySet, MAX_CLAIM_BYTES,
    MAX_CLAIMS, MAX_SCOPES, MAX_STRING_BYTES, Payload, Policy, Refusal, Scopes, SigningKey, Token,
    VerifyingKey, Version,
};

const SIGNATURES: [Algorithm; 3] = [
    Algorithm::HmacSha256,
    Algorithm::Ed25519,
    Algorithm::MlDsa44,
];

/// A key message: algorithm, first field, second field.
fn message(algorithm: u8, first: &[u8], second: &[u8]) -> Vec<u8> {
    let mut out = vec![0x08, algorithm];
    for (tag, bytes) in [(0x12, first), (0x1a, second)] {
        if !bytes.is_empty() {
            out.push(tag);
            if bytes.len() > 127 {
                out.push(bytes.len() as u8 | 0x80);
                out.push((bytes.len() >> 7) as u8);
            } else {
                out.push(bytes.len() as u8);
            }
            out.extend_from_slice(bytes);
        }
    }
    out
}

#[test]
fn c02_a_token_has_one_encoding() {
    for algorithm in SIGNATURES {
        let key = SigningKey::generate(algorithm).unwrap();
        let verifying = key.verifying_key().unwrap();
        for version in [Version::V0, Version::V1] {
            let token = sign(&key, version);
            verifying.verify(&token, &policy()).unwrap();
            let payload_len = usize::from(token[1]);
            assert!(token[0] == 0x0a && payload_len < 120);
            let (body, signature) = token[2..].split_at(payload_len);
            let with_body = |body: &[u8]| {
                let mut out = vec![0x0a, body.len() as u8];
                out.extend_from_slice(body);
                out.extend_from_slice(signature);
                out
            };
            assert_eq!(with_body(body), token);
            let mut others = vec![
                // A junk and an empty proof, a repeated signature, an unknown field, a byte behind,
                // the fields exchanged.
                [&token[..], &[0x1a, 1, 7]].concat(),
                [&token[..], &[0x1a, 0]].concat(),
                [&token[..], signature].concat(),
                [&token[..], &[0x22, 1, 7]].concat(),
                [&token[..], &[0]].concat(),
                [signature, &token[..2 + payload_len]].concat(),
                // The payload's length in two bytes.
                [&[0x0a, token[1] | 0x80, 0], &token[2..]].concat(),
                // Unknown fields behind the payload's own.
                with_body(&[body, &[0x80, 0x01, 1]].concat()),
                with_body(&[body, &[0x82, 0x01, 0]].concat()),
            ];
            // Explicit defaults of every scalar field, before and behind.
            for tag in [
                0x08, 0x10, 0x18, 0x22, 0x28, 0x30, 0x38, 0x42, 0x4a, 0x52, 0x5a, 0x62,
            ] {
                others.push(with_body(&[&[tag, 0][..], body].concat()));
                others.push(with_body(&[body, &[tag, 0]].concat()));
            }
            // The algorithm in two bytes, a first field that stands twice, two fields out of order.
            let at = if version == Version::V0 { 0 } else { 2 };
            let (head, rest) = body.split_at(at);
            assert_eq!(rest[0], 0x10);
            others.push(with_body(
                &[head, &[0x10, rest[1] | 0x80, 0], &rest[2..]].concat(),
            ));
            others.push(with_body(&[head, &rest[..2], rest].concat()));
            others.push(with_body(
                &[head, &rest[2..4], &rest[..2], &rest[4..]].concat(),
            ));
            for other in others {
                let parsed = Token::parse(&other).map(drop);
                assert!(parsed.is_err(), "{algorithm:?} {version:?} {other:02x?}");
                assert!(verifying.verify(&other, &policy()).is_err());
            }
        }
    }
}

/// The primitives' own tests are in signet-crypto; here, that a token's check is theirs.
#[test]
fn c05_c06_a_weak_key_or_a_second_spelling_of_a_signature_is_refused() {
    // Points of small order, canonical and not, as a key and as a key that names itself.
    let mut neutral = [0; 32];
    neutral[0] = 1;
    let mut order_two = [0xff; 32];
    (order_two[0], order_two[31]) = (0xec, 0x7f);
    let mut beyond = [0xff; 32];
    (beyond[0], beyond[31]) = (0xee, 0x7f);
    for point in [neutral, order_two, [0; 32], beyond] {
        assert_eq!(
            VerifyingKey::from_bytes(&message(2, &point, &[])).unwrap_err(),
            KeyError::Invalid
        );
    }
    // S + l, the signature that a verifier without a bound on S takes for the same.
    let key = SigningKey::generate(Algorithm::Ed25519).unwrap();
    let verifying = key.verifying_key().unwrap();
    let mut token = sign(&key, Version::V0);
    const ORDER: [u8; 32] = [
        0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde,
        0x14, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10,
    ];
    let s_at = token.len() - 32;
    let mut carry = 0;
    for (byte, addend) in token[s_at..].iter_mut().zip(ORDER) {
        let sum = u16::from(*byte) + u16::from(addend) + carry;
        (*byte, carry) = (sum as u8, sum >> 8);
    }
    assert_eq!(carry, 0);
    assert_eq!(
        verifying.verify(&token, &policy()).unwrap_err(),
        Refusal::Signature
    );
    // A byte behind ML-DSA's last hint, which means nothing and must be zero.
    let key = SigningKey::generate(Algorithm::MlDsa44).unwrap();
    let verifying = key.verifying_key().unwrap();
    let mut token = sign(&key, Version::V0);
    let hints_at = token.len() - 84;
    let used = usize::from(token[token.len() - 1]);
    verifying.verify(&token, &policy()).unwrap();
    if used < 80 {
        token[hints_at + used] = 1;
        assert_eq!(
            verifying.verify(&token, &policy()).unwrap_err(),
            Refusal::Signature
        );
    }
}

#[test]
fn c08_the_verifying_call_names_an_audience_and_a_keys_kind_is_never_guessed() {
    let key = SigningKey::generate(Algorithm::HmacSha256).unwrap();
    let verifying = key.verifying_key().unwrap();
    let mut nobody = Vec::new();
    let to_nobody = Payload {
        audience: "",
        ..published()
    };
    key.sign_into(Version::V0, &to_nobody, &mut nobody).unwrap();
    for token in [sign(&key, Version::V0), nobody] {
        for audience in ["other.example.com", "api.example.co", "api.example.com."] {
            let policy = Policy::for_audience(audience, 2_000_000);
            assert_eq!(
                verifying.verify(&token, &policy).unwrap_err(),
                Refusal::Audience
            );
        }
        // Without an audience only by saying so.
        verifying
            .verify(&token, &Policy::any_audience(2_000_000))
            .unwrap();
    }

    // The public key as a shared secret: the same key id, another algorithm.
    let signer = SigningKey::generate(Algorithm::Ed25519).unwrap();
    let public = signer.public_bytes().unwrap();
    let point = &public[public.len() - 32..];
    let forger = SigningKey::from_bytes(&message(1, point, &[])).unwrap();
    assert_eq!(forger.key_id(), signer.key_id());
    let forged = sign(&forger, Version::V0);
    let set = KeySet::new([signer.verifying_key().unwrap()]).unwrap();
    assert_eq!(set.verify(&forged, &policy()).unwrap_err(), Refusal::NoKey);
    assert_eq!(
        signer
            .verifying_key()
            .unwrap()
            .verify(&forged, &policy())
            .unwrap_err(),
        Refusal::NoKey
    );
    let mut renamed = forged.clone();
    assert_eq!(renamed[2..4], [0x10, 1]);
    renamed[3] = 2;
    assert_eq!(set.verify(&renamed, &policy()).unwrap_err(), Refusal::Shape);

    // A key file is of the kind that it says, or it is none: no file is read as two kinds.
    for algorithm in SIGNATURES {
        let key = SigningKey::generate(algorithm).unwrap();
        let private = key.to_bytes().unwrap();
        assert!(VerifyingKey::from_bytes(private.expose()).is_err());
        if let Some(public) = key.public_bytes() {
            assert!(SigningKey::from_bytes(&public).is_err());
        }
        for other in 0..=6 {
            let mut file = private.expose().clone();
            file[1] = other;
            let same = u32::from(other) == algorithm.number();
            let both_bare_secrets = algorithm == Algorithm::HmacSha256 && matches!(other, 4 | 5);
            assert_eq!(
                SigningKey::from_bytes(&file).is_ok(),
                same || both_bare_secrets,
                "{algorithm:?} as {other}"
            );
        }
    }
}

#[test]
fn c09_a_key_id_does_not_help_to_guess_a_weak_key() {
    for length in [1, 8, 16, 31] {
        let file = message(1, &vec![7; length], &[]);
        assert_eq!(
            SigningKey::from_bytes(&file).unwrap_err(),
            KeyError::TooShort
        );
        assert_eq!(
            VerifyingKey::hmac(&vec![7; length]).unwrap_err(),
            KeyError::TooShort
        );
    }
    // Only generated keys are made, and no two are one.
    let keys: Vec<SigningKey> = (0..4)
        .map(|_| SigningKey::generate(Algorithm::HmacSha256).unwrap())
        .collect();
    for (i, key) in keys.iter().enumerate() {
        assert_eq!(key.to_bytes().unwrap().expose().len(), 4 + 32);
        assert!(
            keys[..i]
                .iter()
                .all(|other| other.key_hash() != key.key_hash())
        );
    }
    // A symmetric key is never its own id, neither written nor read.
    for key in keys {
        let token = sign(&key, Version::V0);
        assert_eq!(token[4..6], [0x18, 1]);
        let mut named = token.clone();
        named[5] = 2;
        assert_eq!(Token::parse(&named).unwrap_err(), Refusal::Unknown);
        assert_eq!(
            key.with_key_id_type(KeyIdType::PublicKey).unwrap_err(),
            KeyError::KeyIdType
        );
    }
}

/// Strings of every length up to the limit, and seldom beyond it.
fn text(least: usize, max: usize) -> impl Strategy<Value = String> {
    let regex = |class: &str, most: usize| {
        proptest::string::string_regex(&format!("{class}{{{least},{most}}}")).unwrap()
    };
    prop_oneof![
        30 => regex("[a-z]", 12),
        4 => (max - 2..=max).prop_map(|length| "x".repeat(length)),
        8 => regex("\\PC", 40),
        1 => Just("x".repeat(max + 1)),
    ]
}

/// Few of them mostly, and seldom more than a token may have.
fn names(max: usize) -> impl Strategy<Value = BTreeSet<String>> {
    use prop::collection::btree_set;
    prop_oneof![
        4 => btree_set(text(1, MAX_STRING_BYTES), 0..5),
        1 => btree_set(text(1, MAX_STRING_BYTES), 0..max + 3),
    ]
}

/// Scopes: most of them of the characters that scopes have, some not.
fn scopes() -> impl Strategy<Value = BTreeSet<String>> {
    prop_oneof![
        4 => prop::collection::btree_set("[!#-\\[\\]-~]{1,40}", 0..MAX_SCOPES + 3),
        1 => names(MAX_SCOPES),
    ]
}

/// How many payloads of the cases were signed.
static SIGNED: AtomicUsize = AtomicUsize::new(0);

#[test]
fn c07_what_can_be_signed_can_be_verified() {
    whatever_is_signed_verifies();
    // Not most of them were refused before anything was tried.
    assert!(SIGNED.load(Ordering::Relaxed) > 100);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    /// Whatever is signed verifies, says the same and is read back to the same bytes; whatever is
    /// refused leaves the buffer alone.
    fn whatever_is_signed_verifies(
        (subject, audience, issuer) in (text(0, MAX_STRING_BYTES), text(0, MAX_STRING_BYTES), text(0, MAX_STRING_BYTES)),
        scopes in scopes(),
        (claims, json) in (names(MAX_CLAIMS), text(1, MAX_CLAIM_BYTES)),
        (expires_at, not_before, issued_at) in (any::<u64>(), any::<u64>(), any::<u64>()),
        token_id in any::<Option<[u8; 16]>>(),
        bound in any::<Option<[u8; 32]>>(),
        version in prop_oneof![Just(Version::V0), Just(Version::V1)],
    ) {
        let key = SigningKey::generate(Algorithm::HmacSha256).unwrap();
        let scopes: Vec<&str> = scopes.iter().map(String::as_str).collect();
        let claims: Vec<Claim<'_>> = claims.iter().map(|name| Claim { name, json: &json }).collect();
        let (Ok(scopes), Ok(claims)) = (Scopes::new(&scopes), Claims::new(&claims)) else {
            return Ok(());
        };
        let later = version == Version::V1;
        let payload = Payload {
            expires_at, not_before, issued_at, subject: &subject, audience: &audience, scopes,
            issuer: if later { &issuer } else { "" },
            token_id: token_id.as_ref().filter(|_| later),
            confirmation: bound.as_ref().filter(|_| later).map(Confirmation::X5tS256),
            claims: if later { claims } else { Claims::default() },
            certificate: None,
        };
        let mut out = b"before".to_vec();
        if key.sign_into(version, &payload, &mut out).is_err() {
            prop_assert_eq!(out, b"before");
            return Ok(());
        }
        SIGNED.fetch_add(1, Ordering::Relaxed);
        let token = &out[6..];
        let now = not_before.max(issued_at);
        let policy = Policy {
            leeway: if now > expires_at { u64::MAX } else { 0 },
            confirmation: payload.confirmation,
            ..Policy::for_audience(&audience, now)
        };
        let verified = key.verifying_key().unwrap().verify(token, &policy).map(|token| *token.payload());
        let verified = verified.unwrap();
        prop_assert_eq!((verified.subject, verified.issuer), (&subject[..], payload.issuer));
        prop_assert_eq!((verified.expires_at, verified.not_before, verified.issued_at), (expires_at, not_before, issued_at));
        prop_assert_eq!(verified.scopes.iter().collect::<Vec<_>>(), scopes.iter().collect::<Vec<_>>());
        prop_assert_eq!(verified.claims.iter().collect::<Vec<_>>(), payload.claims.iter().collect::<Vec<_>>());
        let mut again = Vec::new();
        Token::parse(token).unwrap().encode(&mut again);
        prop_assert_eq!(&again, token);
    }

    #[test]
    fn keys_are_read_from_one_encoding(bytes in prop::collection::vec(any::<u8>(), 0..100), algorithm in 0_u8..6, secret in any::<[u8; 32]>()) {
        for file in [bytes.clone(), message(algorithm, &secret, &bytes), message(algorithm, &bytes, &[])] {
            if let Ok(key) = SigningKey::from_bytes(&file) {
                let written = key.to_bytes().unwrap();
                prop_assert_eq!(written.expose(), &file);
            }
            if let Ok(key) = VerifyingKey::from_bytes(&file) {
                prop_assert_eq!(u32::from(file[1]), key.algorithm().number());
            }
        }
    }
}
