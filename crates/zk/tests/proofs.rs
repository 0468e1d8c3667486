//! Behaviour of proofs: the stock verifier takes them, and nothing but the right key, message and
//! parameters is accepted.

use std::sync::LazyLock;

use signet_crypto::hash::sha256;
use signet_zk::{Error, Parameters, Proof, Prover, Statement, Verifier, VerifyingKey};

struct World {
    parameters: Parameters,
    prover: Prover,
}

fn world(statement: Statement) -> &'static World {
    static WORLDS: LazyLock<[World; 2]> = LazyLock::new(|| {
        Statement::ALL.map(|statement| {
            let parameters = Parameters::development(statement);
            let prover = Prover::new(&parameters);
            World { parameters, prover }
        })
    });
    &WORLDS[usize::from(statement == Statement::Sha256)]
}

fn key(seed: u8) -> [u8; 32] {
    std::array::from_fn(|i| seed.wrapping_mul(31).wrapping_add(i as u8))
}

#[test]
fn c01_the_key_hash_is_the_verifiers_and_a_proof_holds_for_its_key_and_message_only() {
    for statement in Statement::ALL {
        let World { parameters, prover } = world(statement);
        let verifying = parameters.verifying_key();
        let verifier = Verifier::new(&verifying, &statement.key_hash(&key(1))).unwrap();
        let other = Verifier::new(&verifying, &statement.key_hash(&key(2))).unwrap();
        let proof = prover.prove(&key(1), &[5; 32]).unwrap();
        verifier.verify(&proof, &[5; 32]).unwrap();
        // C1: the key hash is the verifier's: a proof with another key is refused.
        assert_eq!(other.verify(&proof, &[5; 32]), Err(Error::Proof));
        for bit in 0..256 {
            let mut moved = [5; 32];
            moved[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(verifier.verify(&proof, &moved), Err(Error::Proof));
            if bit % 16 != 0 {
                continue;
            }
            let mut hash = statement.key_hash(&key(1));
            hash[bit / 8] ^= 1 << (bit % 8);
            if let Ok(verifier) = Verifier::new(&verifying, &hash) {
                assert_eq!(verifier.verify(&proof, &[5; 32]), Err(Error::Proof));
            }
        }
        // Other parameters.
        if statement == Statement::Poseidon {
            let foreign = Parameters::development(statement).verifying_key();
            let verifier = Verifier::new(&foreign, &statement.key_hash(&key(1))).unwrap();
            assert_eq!(verifier.verify(&proof, &[5; 32]), Err(Error::Proof));
        }
    }
}

#[test]
fn the_stock_verifier_accepts_what_this_prover_makes() {
    use ark_bn254::{Bn254, Fr, G1Affine, G2Affine};
    use ark_ec::AffineRepr;
    use ark_ff::PrimeField;
    use ark_serialize::CanonicalDeserialize;
    for statement in Statement::ALL {
        let World { parameters, prover } = world(statement);
        let bytes = parameters.verifying_key().to_bytes();
        let one = |at: usize| G1Affine::deserialize_compressed(&bytes[at..at + 32]).unwrap();
        let two = |at: usize| G2Affine::deserialize_compressed(&bytes[at..at + 64]).unwrap();
        let stock = ark_groth16::VerifyingKey::<Bn254> {
            alpha_g1: one(1),
            beta_g2: two(33),
            gamma_g2: G2Affine::generator(),
            delta_g2: two(97),
            gamma_abc_g1: (161..bytes.len()).step_by(32).map(one).collect(),
        };
        // Every public input has a point of its own in the key.
        assert!(stock.gamma_abc_g1.iter().all(|point| !point.is_zero()));
        let stock = ark_groth16::prepare_verifying_key(&stock);
        for seed in 0..4 {
            let message = key(seed + 100);
            let proof = prover.prove(&key(seed), &message).unwrap().to_bytes();
            let proof = ark_groth16::Proof::<Bn254>::deserialize_compressed(&proof[..]).unwrap();
            let hash = statement.key_hash(&key(seed));
            let number = Fr::from_be_bytes_mod_order;
            let mut inputs = match statement {
                Statement::Poseidon => vec![number(&hash)],
                _ => vec![number(&hash[..16]), number(&hash[16..])],
            };
            inputs.extend([number(&message[..16]), number(&message[16..])]);
            let verify = |inputs: &[Fr]| {
                ark_groth16::Groth16::<Bn254>::verify_proof(&stock, &proof, inputs).unwrap()
            };
            assert!(verify(&inputs));
            for i in 0..inputs.len() {
                let mut changed = inputs.clone();
                changed[i] += Fr::from(1);
                assert!(!verify(&changed));
            }
        }
    }
}

#[test]
fn one_thread_and_two_make_proofs_alike() {
    let parameters = Parameters::development(Statement::Poseidon);
    let verifier = Verifier::new(
        &parameters.verifying_key(),
        &Statement::Poseidon.key_hash(&key(3)),
    )
    .unwrap();
    for threads in [1, 2] {
        let prover = Prover::new(&parameters).with_threads(threads);
        verifier
            .verify(&prover.prove(&key(3), &[1; 32]).unwrap(), &[1; 32])
            .unwrap();
    }
}

#[test]
fn proofs_are_blinded_and_can_be_blinded_again() {
    let World { parameters, prover } = world(Statement::Poseidon);
    let verifying = parameters.verifying_key();
    let verifier = Verifier::new(&verifying, &Statement::Poseidon.key_hash(&key(1))).unwrap();
    let proof = prover.prove(&key(1), &[5; 32]).unwrap();
    assert_ne!(
        proof.to_bytes(),
        prover.prove(&key(1), &[5; 32]).unwrap().to_bytes()
    );
    let again = proof.rerandomised(&verifying);
    assert_ne!(proof.to_bytes(), again.to_bytes());
    verifier.verify(&again, &[5; 32]).unwrap();
}

#[test]
fn c03_a_proof_has_one_encoding() {
    let World { parameters, prover } = world(Statement::Poseidon);
    let verifying = parameters.verifying_key();
    let verifier = Verifier::new(&verifying, &Statement::Poseidon.key_hash(&key(1))).unwrap();
    let bytes = prover.prove(&key(1), &[5; 32]).unwrap().to_bytes();
    assert_eq!(Proof::from_bytes(&bytes).unwrap().to_bytes(), bytes);
    for length in [0, 127] {
        assert!(Proof::from_bytes(&bytes[..length]).is_err());
    }
    assert!(Proof::from_bytes(&[&bytes[..], &[0]].concat()).is_err());
    for bit in 0..bytes.len() * 8 {
        let mut changed = bytes;
        changed[bit / 8] ^= 1 << (bit % 8);
        // Most are no proof at all; what is one does not hold.
        if let Ok(proof) = Proof::from_bytes(&changed) {
            assert!(verifier.verify(&proof, &[5; 32]).is_err(), "bit {bit}");
        }
    }
    // x + p is another spelling of x; it fits the 254 bits beside the flags for small x only, so
    // the modulus itself stands for it.
    let modulus = [
        0x47, 0xfd, 0x7c, 0xd8, 0x16, 0x8c, 0x20, 0x3c, 0x8d, 0xca, 0x71, 0x68, 0x91, 0x6a, 0x81,
        0x97, 0x5d, 0x58, 0x81, 0x81, 0xb6, 0x45, 0x50, 0xb8, 0x29, 0xa0, 0x31, 0xe1, 0x72, 0x4e,
        0x64, 0x30,
    ];
    let mut changed = bytes;
    changed[..32].copy_from_slice(&modulus);
    assert!(Proof::from_bytes(&changed).is_err());
    // Infinity, plainly and with an x that a lax reader ignores.
    for x in [0, 1] {
        let mut changed = bytes;
        changed[96..].fill(0);
        changed[96] = x;
        changed[127] = 0x40;
        assert!(Proof::from_bytes(&changed).is_err());
    }
}

#[test]
fn a_batch_holds_if_each_proof_does() {
    let World { parameters, prover } = world(Statement::Poseidon);
    let verifying = parameters.verifying_key();
    let verifier = Verifier::new(&verifying, &Statement::Poseidon.key_hash(&key(1))).unwrap();
    let mut proofs: Vec<(Proof, [u8; 32])> = (0..8)
        .map(|i| (prover.prove(&key(1), &[i; 32]).unwrap(), [i; 32]))
        .collect();
    verifier.verify_batch(&[]).unwrap();
    verifier.verify_batch(&proofs[..1]).unwrap();
    verifier.verify_batch(&proofs).unwrap();
    // Two messages exchanged: their errors must not cancel out.
    proofs[2].1 = [3; 32];
    proofs[3].1 = [2; 32];
    assert_eq!(verifier.verify_batch(&proofs), Err(Error::Proof));
    proofs[2].1 = [2; 32];
    assert_eq!(verifier.verify_batch(&proofs), Err(Error::Proof));
    proofs[3].1 = [3; 32];
    verifier.verify_batch(&proofs).unwrap();
}

#[test]
fn parameters_and_keys_are_read_back_under_their_hash_only() {
    let World { parameters, .. } = world(Statement::Poseidon);
    let (mut bytes, hash) = (parameters.to_bytes(), parameters.hash());
    assert_eq!(Parameters::from_bytes(&bytes, &hash).unwrap(), *parameters);
    bytes[100] ^= 1;
    assert_eq!(Parameters::from_bytes(&bytes, &hash), Err(Error::Hash));
    let verifying = parameters.verifying_key();
    let mut bytes = verifying.to_bytes();
    assert_eq!(VerifyingKey::from_bytes(&bytes).unwrap(), verifying);
    // Of the other statement, cut, and with an input whose point is zero.
    bytes[0] = 5;
    assert!(VerifyingKey::from_bytes(&bytes).is_err());
    bytes[0] = 4;
    assert!(VerifyingKey::from_bytes(&bytes[..bytes.len() - 1]).is_err());
    bytes[161..193].fill(0);
    bytes[192] = 0x40;
    assert!(VerifyingKey::from_bytes(&bytes).is_err());
}

#[test]
fn c03_a_poseidon_key_hash_has_one_spelling() {
    let World { parameters, .. } = world(Statement::Poseidon);
    let verifying = parameters.verifying_key();
    // Above the field's order: would be read modulo it.
    assert!(Verifier::new(&verifying, &[0xff; 32]).is_err());
}

#[test]
fn prepared_tables_are_used_under_their_hash_and_for_their_parameters_only() {
    let World { parameters, .. } = world(Statement::Poseidon);
    let tables = Prover::prepare(parameters);
    assert_eq!(
        tables,
        Prover::prepare(parameters),
        "nothing random is in them"
    );
    let hash = sha256(&tables);
    let prover = Prover::from_prepared(tables.clone(), &hash, &parameters.hash()).unwrap();
    assert_eq!(*prover.verifying_key(), parameters.verifying_key());
    let verifier = Verifier::new(
        prover.verifying_key(),
        &Statement::Poseidon.key_hash(&key(1)),
    )
    .unwrap();
    verifier
        .verify(&prover.prove(&key(1), &[5; 32]).unwrap(), &[5; 32])
        .unwrap();
    let refused = |tables: &[u8], hash: &[u8; 32], parameters: &[u8; 32]| {
        Prover::from_prepared(tables.to_vec(), hash, parameters).unwrap_err()
    };
    let of = parameters.hash();
    let mut changed = tables.clone();
    changed[tables.len() / 2] ^= 1;
    assert_eq!(refused(&changed, &hash, &of), Error::Hash);
    assert_eq!(refused(&tables, &hash, &[7; 32]), Error::Circuit);
    // The right hash of what are no tables.
    for wrong in [&tables[..tables.len() - 1], &tables[..100], &[]] {
        assert_eq!(
            refused(wrong, &sha256(wrong), &of),
            Error::Encoding("tables")
        );
    }
    let longer = [&tables[..], &[0]].concat();
    assert_eq!(
        refused(&longer, &sha256(&longer), &of),
        Error::Encoding("tables")
    );
    // Another statement's number: its circuit has other wires.
    let mut other = tables.clone();
    other[24] = 5;
    assert!(Prover::from_prepared(other.clone(), &sha256(&other), &of).is_err());
}

/// A verifying key's bytes with one of its points replaced: alpha, beta, delta, then the inputs.
fn with_point(key: &VerifyingKey, at: std::ops::Range<usize>, point: &[u8]) -> Vec<u8> {
    let mut bytes = key.to_bytes();
    bytes[at].copy_from_slice(point);
    bytes
}

#[test]
fn verifying_keys_under_which_anybody_makes_proofs_are_refused() {
    use ark_bn254::{G1Affine, G2Affine};
    use ark_ec::AffineRepr;
    use ark_serialize::CanonicalSerialize;
    fn compressed(point: &impl CanonicalSerialize) -> Vec<u8> {
        let mut out = Vec::new();
        point.serialize_compressed(&mut out).unwrap();
        out
    }
    const ALPHA: std::ops::Range<usize> = 1..33;
    const BETA: std::ops::Range<usize> = 33..97;
    const DELTA: std::ops::Range<usize> = 97..161;
    let input = |i: usize| 161 + 32 * i..193 + 32 * i;
    // The sign of y is the highest bit.
    let opposite = |point: &[u8]| {
        let mut point = point.to_vec();
        *point.last_mut().unwrap() ^= 0x80;
        point
    };
    for statement in Statement::ALL {
        let key = &world(statement).parameters.verifying_key();
        let bytes = key.to_bytes();
        let (one, two) = (
            compressed(&G1Affine::generator()),
            compressed(&G2Affine::generator()),
        );
        let inputs = (bytes.len() - 161) / 32;
        let mut degenerate = vec![
            ("delta is gamma", DELTA, two.clone()),
            ("beta is gamma", BETA, two),
            ("beta is delta", BETA, bytes[DELTA].to_vec()),
            ("alpha is the generator", ALPHA, one.clone()),
            ("alpha is an input", ALPHA, bytes[input(0)].to_vec()),
            ("an input is the generator", input(1), one),
        ];
        for i in 1..inputs {
            degenerate.push(("two inputs are one", input(i), bytes[input(i - 1)].to_vec()));
        }
        for (what, at, point) in degenerate {
            for point in [opposite(&point), point] {
                let changed = with_point(key, at.clone(), &point);
                assert_eq!(
                    VerifyingKey::from_bytes(&changed),
                    Err(Error::Degenerate),
                    "{what}"
                );
            }
        }
    }
}

/// Bytes that are honest while they are hashed and read, and damaged afterwards, as a file can be
/// that others write to.
struct Changing {
    honest: Vec<u8>,
    damaged: Vec<u8>,
    now: std::sync::Arc<std::sync::atomic::AtomicBool>,
}

impl AsRef<[u8]> for Changing {
    fn as_ref(&self) -> &[u8] {
        if self.now.load(std::sync::atomic::Ordering::Relaxed) {
            &self.damaged
        } else {
            &self.honest
        }
    }
}

#[test]
fn a_proof_from_tables_that_changed_after_their_hash_does_not_leave() {
    let World { parameters, .. } = world(Statement::Poseidon);
    let honest = Prover::prepare(parameters);
    let mut damaged = honest.clone();
    // A bit of each point of the last table.
    let from = damaged.len() / 2;
    damaged[from..]
        .iter_mut()
        .step_by(64)
        .for_each(|byte| *byte ^= 1);
    let now = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let (hash, changing) = (
        sha256(&honest),
        Changing {
            honest,
            damaged,
            now: now.clone(),
        },
    );
    let prover = Prover::from_prepared(changing, &hash, &parameters.hash()).unwrap();
    prover.prove(&key(1), &[5; 32]).unwrap();
    now.store(true, std::sync::atomic::Ordering::Relaxed);
    for message in 0..8 {
        assert_eq!(prover.prove(&key(1), &[message; 32]), Err(Error::Prover));
    }
}
