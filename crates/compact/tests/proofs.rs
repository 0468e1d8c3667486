//! Behaviour of zero-knowledge tokens and of key certificates.

use std::sync::{Arc, LazyLock};

use crate::common::{policy, published, read_key, sign};
use signet_compact::{
    Algorithm, KeyCertificate, KeyError, KeyIdType, KeySet, Policy, Refusal, SignError, SigningKey,
    Token, Validity, VerifyingKey, Version,
};
use signet_zk::{Parameters, Proof, Prover, Statement};

const PROOFS: [Algorithm; 2] = [Algorithm::Groth16Poseidon, Algorithm::Groth16Hybrid];

fn prover(algorithm: Algorithm) -> Arc<Prover> {
    static PROVERS: LazyLock<[Arc<Prover>; 2]> = LazyLock::new(|| {
        Statement::ALL.map(|statement| Arc::new(Prover::new(&Parameters::development(statement))))
    });
    PROVERS[usize::from(algorithm == Algorithm::Groth16Hybrid)].clone()
}

fn new_key(algorithm: Algorithm) -> SigningKey {
    SigningKey::generate_for_proofs(algorithm)
        .unwrap()
        .with_prover(prover(algorithm))
        .unwrap()
}

#[test]
fn c01_the_verifier_supplies_the_expected_key_hash() {
    for algorithm in PROOFS {
        let key = new_key(algorithm);
        let file = key.public_bytes().unwrap();
        let verifying = read_key(&file).unwrap();
        let token = sign(&key, Version::V0);
        // 36 bytes of key, 228 of token: at most 232 for the published claims.
        assert_eq!(key.to_bytes().unwrap().expose().len(), 36);
        assert_eq!(token.len(), 228);
        verifying.verify(&token, &policy()).unwrap();
        verifying
            .verify(&sign(&key, Version::V1), &policy())
            .unwrap();
        assert_eq!(Token::parse(&token).unwrap().key_id().0, KeyIdType::Hash);

        // The token's own key id is not trusted: another key's token is refused, and so is one
        // that claims this key.
        let other = new_key(algorithm);
        let foreign = sign(&other, Version::V0);
        assert_eq!(
            verifying.verify(&foreign, &policy()).unwrap_err(),
            Refusal::NoKey
        );
        let id = |token: &[u8]| Token::parse(token).unwrap().key_id().1.to_vec();
        let at = foreign
            .windows(32)
            .position(|window| window == id(&foreign))
            .unwrap();
        let mut claimed = foreign.clone();
        claimed[at..at + 32].copy_from_slice(&id(&token));
        assert_eq!(
            verifying.verify(&claimed, &policy()).unwrap_err(),
            Refusal::Signature
        );
        // The same key under other parameters.
        if algorithm == Algorithm::Groth16Poseidon {
            let parameters = Parameters::development(Statement::Poseidon);
            let other = VerifyingKey::of_proofs(
                algorithm,
                id(&token).try_into().unwrap(),
                &parameters.verifying_key(),
            )
            .unwrap();
            assert_eq!(
                other.verify(&token, &policy()).unwrap_err(),
                Refusal::Signature
            );
        }
        let again = SigningKey::from_bytes(key.to_bytes().unwrap().expose()).unwrap();
        assert_eq!(
            again
                .sign_into(Version::V0, &published(), &mut Vec::new())
                .unwrap_err(),
            SignError::NoProver
        );
        let again = again.with_prover(prover(algorithm)).unwrap();
        verifying
            .verify(&sign(&again, Version::V0), &policy())
            .unwrap();
    }
}

#[test]
fn no_changed_token_is_accepted_and_a_signature_is_no_proof() {
    let key = new_key(Algorithm::Groth16Poseidon);
    let verifying = key.verifying_key().unwrap();
    let token = sign(&key, Version::V1);
    for at in 0..token.len() {
        for bit in 0..8 {
            let mut changed = token.clone();
            changed[at] ^= 1 << bit;
            assert!(
                verifying.verify(&changed, &policy()).is_err(),
                "byte {at} bit {bit}"
            );
        }
    }
    // Field 3 as field 2, and both.
    let tag = token.len() - 131;
    assert_eq!(token[tag], 0x1a);
    let mut moved = token.clone();
    moved[tag] = 0x12;
    assert_eq!(
        verifying.verify(&moved, &policy()).unwrap_err(),
        Refusal::Shape
    );
    let both = [&token[..tag], &[0x12, 1, 7], &token[tag..]].concat();
    assert_eq!(
        verifying.verify(&both, &policy()).unwrap_err(),
        Refusal::Shape
    );
}

#[test]
fn a_rerandomised_proof_is_the_same_token() {
    let key = new_key(Algorithm::Groth16Poseidon);
    let verifying = key.verifying_key().unwrap();
    let token = sign(&key, Version::V1);
    let at = token.len() - 128;
    let proof = Proof::from_bytes(&token[at..]).unwrap();
    let mut again = token.clone();
    let prover = prover(Algorithm::Groth16Poseidon);
    again[at..].copy_from_slice(&proof.rerandomised(prover.verifying_key()).to_bytes());
    assert_ne!(again, token);
    let verified = verifying.verify(&again, &policy()).unwrap();
    assert_eq!(
        verified.token().payload_bytes(),
        Token::parse(&token).unwrap().payload_bytes()
    );
}

#[test]
fn a_batch_of_proofs_answers_as_each_alone() {
    let keys = [
        new_key(Algorithm::Groth16Poseidon),
        new_key(Algorithm::Groth16Poseidon),
    ];
    let set = KeySet::new(keys.iter().map(|key| key.verifying_key().unwrap())).unwrap();
    let mut tokens: Vec<Vec<u8>> = (0..6)
        .map(|i| sign(&keys[i % 2], if i < 3 { Version::V0 } else { Version::V1 }))
        .collect();
    let count = |tokens: &[Vec<u8>]| {
        let borrowed: Vec<&[u8]> = tokens.iter().map(Vec::as_slice).collect();
        let answers = set.verify_batch(&borrowed, &policy());
        for (token, answer) in borrowed.iter().zip(&answers) {
            assert_eq!(answer.is_ok(), set.verify(token, &policy()).is_ok());
        }
        answers.iter().filter(|answer| answer.is_ok()).count()
    };
    assert_eq!(count(&tokens), 6);
    // The proof of one token on another of the same key.
    let proof = tokens[0][100..].to_vec();
    tokens[2].truncate(100);
    tokens[2].extend(proof);
    tokens[4][60] ^= 1;
    assert!(count(&tokens) <= 5);
}

#[test]
fn key_files_pin_the_verifying_key() {
    let key = new_key(Algorithm::Groth16Poseidon);
    let file = key.public_bytes().unwrap();
    let zk = prover(Algorithm::Groth16Poseidon).verifying_key().clone();
    let hash = &file[5..37];
    let mut pinned = vec![0x08, 4, 0x12, 64];
    pinned.extend_from_slice(hash);
    pinned.extend_from_slice(&zk.hash());
    assert_eq!(read_key(&pinned).unwrap_err(), KeyError::Parameters);
    let pins = [zk.hash()];
    let verifying = VerifyingKey::from_bytes_pinned(&pinned, &pins, |_| Some(zk.clone())).unwrap();
    verifying
        .verify(&sign(&key, Version::V0), &policy())
        .unwrap();
    let foreign = Parameters::development(Statement::Poseidon).verifying_key();
    assert_eq!(
        VerifyingKey::from_bytes_pinned(&pinned, &pins, |_| Some(foreign)).unwrap_err(),
        KeyError::Parameters
    );
    assert_eq!(
        VerifyingKey::from_bytes_pinned(&pinned, &pins, |_| None).unwrap_err(),
        KeyError::Parameters
    );
    // A key hash alone names no parameters; parameters of the other statement do not go with the
    // algorithm.
    let mut bare = vec![0x08, 4, 0x12, 32];
    bare.extend_from_slice(hash);
    assert!(read_key(&bare).is_err());
    let mut other = file.clone();
    other[1] = 5;
    assert_eq!(read_key(&other).unwrap_err(), KeyError::Parameters);
    assert_eq!(
        SigningKey::generate_for_proofs(Algorithm::Groth16Hybrid)
            .unwrap()
            .with_prover(prover(Algorithm::Groth16Poseidon))
            .unwrap_err(),
        KeyError::Parameters
    );
    assert_eq!(
        key.with_key_id_type(KeyIdType::PublicKey).unwrap_err(),
        KeyError::KeyIdType
    );
}

#[test]
fn a_certified_key_signs_for_the_holder_while_the_certificate_is_valid() {
    let holder = new_key(Algorithm::Groth16Poseidon);
    let issuer = holder.verifying_key().unwrap();
    let validity = Validity {
        not_before: 1_000_000,
        expires_at: 3_000_000,
    };
    for algorithm in [Algorithm::Ed25519, Algorithm::MlDsa44] {
        let key = SigningKey::generate(algorithm).unwrap();
        let plain = key.verifying_key().unwrap();
        let without = sign(&key, Version::V1);
        let certificate = holder.certify(&plain, validity).unwrap();
        let parsed = KeyCertificate::parse(&certificate).unwrap();
        assert_eq!(parsed.validity(), validity);
        let accepted = issuer.accept_certificate(&certificate, 2_000_000).unwrap();
        let key = key.with_certificate(&certificate).unwrap();
        let token = sign(&key, Version::V1);
        let verified = accepted.verify(&token, &policy()).unwrap();
        assert_eq!(verified.payload().certificate, Some(&parsed.id()));
        // What names a certificate needs it, and what has one names it.
        assert_eq!(
            plain.verify(&token, &policy()).unwrap_err(),
            Refusal::Certificate
        );
        assert_eq!(
            accepted.verify(&without, &policy()).unwrap_err(),
            Refusal::Certificate
        );
        // The certificate ends before the token does; version 0 has no room for a reference.
        let late = Policy {
            now: 3_000_001,
            ..policy()
        };
        assert_eq!(
            accepted.verify(&token, &late).unwrap_err(),
            Refusal::Certificate
        );
        assert_eq!(
            key.sign_into(Version::V0, &published(), &mut Vec::new())
                .unwrap_err(),
            SignError::Version("certificate")
        );
        // Another certificate of the same key is another certificate.
        let second = holder
            .certify(
                &plain,
                Validity {
                    not_before: 0,
                    expires_at: 4_000_000,
                },
            )
            .unwrap();
        let other = issuer.accept_certificate(&second, 2_000_000).unwrap();
        assert_eq!(
            other.verify(&token, &policy()).unwrap_err(),
            Refusal::Certificate
        );
        // Times, other holders, and any change.
        assert_eq!(
            issuer
                .accept_certificate(&certificate, 999_999)
                .unwrap_err(),
            Refusal::NotYetValid
        );
        assert_eq!(
            issuer
                .accept_certificate(&certificate, 3_000_001)
                .unwrap_err(),
            Refusal::Expired
        );
        let stranger = new_key(Algorithm::Groth16Poseidon).verifying_key().unwrap();
        assert_eq!(
            stranger
                .accept_certificate(&certificate, 2_000_000)
                .unwrap_err(),
            Refusal::NoKey
        );
        let step = if algorithm == Algorithm::Ed25519 {
            1
        } else {
            97
        };
        for at in (0..certificate.len()).step_by(step) {
            let mut changed = certificate.clone();
            changed[at] ^= 1;
            assert!(
                issuer.accept_certificate(&changed, 2_000_000).is_err(),
                "byte {at}"
            );
        }
        assert_eq!(
            SigningKey::generate(algorithm)
                .unwrap()
                .with_certificate(&certificate)
                .unwrap_err(),
            KeyError::Invalid
        );
    }
    // A certificate's proof is no token's: the messages begin differently.
    assert_ne!(
        signet_compact::CERTIFICATE_CONTEXT_V1[..18],
        signet_compact::SIGNING_CONTEXT_V1[..18]
    );
}

/// Little-endian `a + b`, `None` beyond 32 bytes.
fn add(a: &[u8], b: &[u8]) -> Option<[u8; 32]> {
    let mut out = [0; 32];
    let mut carry = 0;
    for i in 0..32 {
        let sum = u16::from(a[i]) + u16::from(b[i]) + carry;
        (out[i], carry) = (sum as u8, sum >> 8);
    }
    (carry == 0).then_some(out)
}

fn hex(text: &str) -> Vec<u8> {
    (0..text.len() / 2)
        .map(|i| u8::from_str_radix(&text[2 * i..2 * i + 2], 16).unwrap())
        .collect()
}

#[test]
fn c03_no_value_has_a_second_spelling_and_no_two_keys_are_one() {
    // Orders of BN254's scalar field and of its coordinates, big-endian.
    let mut order = hex("30644e72e131a029b85045b68181585d2833e84879b9709143e1f593f0000001");
    let mut coordinates = hex("30644e72e131a029b85045b68181585d97816a916871ca8d3c208c16d87cfd47");
    order.reverse();
    coordinates.reverse();

    // K and K + r: the same number for who reduces, two keys here.
    let statement = Statement::Poseidon;
    let mut secret = [7; 32];
    let mut other = add(&secret, &order).unwrap();
    secret.reverse();
    other.reverse();
    assert_ne!(statement.key_hash(&secret), statement.key_hash(&other));

    // A key hash and the same number spelled again, in a verifier's file.
    let algorithm = Algorithm::Groth16Poseidon;
    let prover = prover(algorithm);
    let key = new_key(algorithm);
    let mut hash = key.key_hash();
    let file = key.public_bytes().unwrap();
    assert_eq!(file[5..37], hash);
    read_key(&file).unwrap();
    hash.reverse();
    let mut again = add(&hash, &order).unwrap();
    again.reverse();
    let mut respelled = file.clone();
    respelled[5..37].copy_from_slice(&again);
    assert_eq!(read_key(&respelled).unwrap_err(), KeyError::Invalid);

    // The x of a proof's first point, where x + p fits beside the flags.
    let verifying = key.verifying_key().unwrap();
    let token = sign(&key, Version::V0);
    let at = token.len() - 128;
    let proof = Proof::from_bytes(&token[at..]).unwrap();
    let respelled = (0..200).find_map(|_| {
        let mut proof = proof.rerandomised(prover.verifying_key()).to_bytes();
        let flags = proof[31] & 0xc0;
        proof[31] &= 0x3f;
        let mut x = add(&proof[..32], &coordinates)?;
        if x[31] > 0x3f {
            return None;
        }
        x[31] |= flags;
        let mut whole = token.clone();
        whole[at..].copy_from_slice(&proof);
        whole[at + 31] |= flags;
        verifying.verify(&whole, &policy()).unwrap();
        whole[at..at + 32].copy_from_slice(&x);
        Some(whole)
    });
    assert_eq!(
        verifying
            .verify(&respelled.expect("an x that is small enough"), &policy())
            .unwrap_err(),
        Refusal::Signature
    );
}

#[test]
fn a_zero_knowledge_key_is_read_only_under_pinned_parameters() {
    for algorithm in PROOFS {
        let key = new_key(algorithm);
        let file = key.public_bytes().unwrap();
        let pin = prover(algorithm).verifying_key().hash();
        assert_eq!(VerifyingKey::parameters_hash(&file), Ok(Some(pin)));
        // The file alone says nothing of who knows the secrets.
        assert_eq!(
            VerifyingKey::from_bytes(&file).unwrap_err(),
            KeyError::Unpinned
        );
        for pins in [&[][..], &[[7; 32]]] {
            assert_eq!(
                VerifyingKey::from_bytes_pinned(&file, pins, |_| None).unwrap_err(),
                KeyError::Unpinned
            );
        }
        let verifying = VerifyingKey::from_bytes_pinned(&file, &[[7; 32], pin], |_| None).unwrap();
        verifying
            .verify(&sign(&key, Version::V0), &policy())
            .unwrap();
        // By its hash alone it is no more than the key of that hash: pinned first, then found.
        let named = [
            &[0x08, algorithm.number() as u8, 0x12, 64],
            &file[5..37],
            &pin,
        ]
        .concat();
        let mut asked = false;
        let found = VerifyingKey::from_bytes_pinned(&named, &[], |_| {
            asked = true;
            None
        });
        assert_eq!(found.unwrap_err(), KeyError::Unpinned);
        assert!(!asked);
    }
    let ed25519 = SigningKey::generate(Algorithm::Ed25519).unwrap();
    let file = ed25519.public_bytes().unwrap();
    assert_eq!(VerifyingKey::parameters_hash(&file), Ok(None));
    VerifyingKey::from_bytes_pinned(&file, &[], |_| None).unwrap();
}

#[test]
fn a_degenerate_verifying_key_in_a_key_file_is_refused() {
    use signet_zk::VerifyingKey as Zk;
    let file = new_key(Algorithm::Groth16Poseidon).public_bytes().unwrap();
    // beta (64 bytes behind the statement's number and alpha) and delta behind it: delta for beta.
    let zk = file.len() - Zk::length(Statement::Poseidon);
    let mut degenerate = file.clone();
    degenerate.copy_within(zk + 97..zk + 161, zk + 33);
    assert_eq!(read_key(&degenerate).unwrap_err(), KeyError::Degenerate);
}
