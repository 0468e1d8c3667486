//! Poseidon of a 32-byte key, as in [`crate::poseidon`].
//!
//! Public inputs: the hash, message hash bits 0..128, message hash bits 128..256. The sentence:
//! *there are field elements x and y, known to the prover, whose Poseidon hash (of length 2) is the
//! key hash*. For the holder of K these are K's halves; the circuit does not ask that they are
//! below 2^128, which gives a forger nothing: any preimage at all would be a break of the hash. The
//! message hash is bound as an input.

use ark_bn254::Fr;
use ark_ff::{Field, One};
use zeroize::{Zeroize, Zeroizing};

use crate::field::halves;
use crate::poseidon::{MIX, ROUND_CONSTANTS, WIDTH, capacity, is_full};
use crate::r1cs::{ConstraintSystem, Sum};

/// Public inputs.
pub(crate) const INPUTS: usize = 3;

/// The circuit: three rows for each S-box (x^2, x^4, x^5), sums for everything else.
pub(crate) fn system() -> ConstraintSystem {
    let mut system = ConstraintSystem::new(INPUTS);
    let one = || Sum::constant(Fr::one());
    let (x, y) = (system.wire(), system.wire());
    let mut state = [Sum::constant(capacity(2)), Sum::wire(x), Sum::wire(y)];
    for (round, constants) in ROUND_CONSTANTS.iter().enumerate() {
        for (i, (element, constant)) in state.iter_mut().zip(constants).enumerate() {
            element.add(0, *constant);
            if i > 0 && !is_full(round) {
                continue;
            }
            if let [(0, known)] = element.0[..] {
                *element = Sum::constant(known.pow([5]));
                continue;
            }
            let powers = [system.wire(), system.wire(), system.wire()].map(Sum::wire);
            let [second, fourth, fifth] = powers;
            system.require(element.clone(), element.clone(), second.clone());
            system.require(second.clone(), second, fourth.clone());
            system.require(fourth, element.clone(), fifth.clone());
            *element = fifth;
        }
        let before = state.clone();
        for (element, row) in state.iter_mut().zip(&MIX) {
            *element = Sum::default();
            for (own, factor) in before.iter().zip(row) {
                element.add_sum(own, *factor);
            }
        }
    }
    system.require(state[1].clone(), one(), Sum::wire(1));
    system.anchor_publics();
    system
}

/// The secret wires of a key, and what the rows' left and right sides come to, in order, up to the
/// output's row.
pub(crate) struct Witness {
    pub(crate) secret: Zeroizing<Vec<Fr>>,
    pub(crate) left: Zeroizing<Vec<Fr>>,
    pub(crate) right: Zeroizing<Vec<Fr>>,
}

/// Room for each list of a witness: one that grows would leave a copy behind.
const ROOM: usize = 256;

/// Runs the permutation and writes down what the circuit names.
pub(crate) fn witness(key: &[u8; 32]) -> Witness {
    let [x, y] = halves(key);
    let mut state: [Fr; WIDTH] = [capacity(2), x, y];
    let mut made = Witness {
        secret: Zeroizing::new(Vec::with_capacity(ROOM)),
        left: Zeroizing::new(Vec::with_capacity(ROOM)),
        right: Zeroizing::new(Vec::with_capacity(ROOM)),
    };
    made.secret.extend([x, y]);
    for (round, constants) in ROUND_CONSTANTS.iter().enumerate() {
        for (i, (element, constant)) in state.iter_mut().zip(constants).enumerate() {
            *element += constant;
            if i > 0 && !is_full(round) {
                continue;
            }
            let second = element.square();
            let fourth = second.square();
            let fifth = fourth * *element;
            // The capacity is known in the first round, and its S-box is no row.
            if round > 0 || i > 0 {
                made.secret.extend([second, fourth, fifth]);
                made.left.extend([*element, second, fourth]);
                made.right.extend([*element, second, *element]);
            }
            *element = fifth;
        }
        state = MIX.map(|row| (row[0] * state[0]) + (row[1] * state[1]) + (row[2] * state[2]));
    }
    made.left.push(state[1]);
    made.right.push(Fr::one());
    state.zeroize();
    made
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::poseidon::hash;

    fn wires(key: &[u8; 32]) -> Vec<Fr> {
        let mut wires = vec![Fr::one(), hash(&halves(key))];
        wires.extend(halves(&[7; 32]));
        wires.extend(witness(key).secret.iter());
        wires
    }

    #[test]
    fn the_circuit_is_the_hash_and_the_witness_is_the_rows() {
        let system = system();
        assert!(system.rows.len() <= 256, "{}", system.rows.len());
        for key in [[0; 32], [0xff; 32], signet_crypto::random::bytes()] {
            let wires = wires(&key);
            assert_eq!(wires.len(), system.wires);
            assert!(system.holds(&wires));
            let made = witness(&key);
            for (row, (left, right)) in system
                .rows
                .iter()
                .zip(made.left.iter().zip(made.right.iter()))
            {
                assert_eq!((row.a.value(&wires), row.b.value(&wires)), (*left, *right));
            }
            assert_eq!(made.left.len() + system.publics, system.rows.len());
        }
    }

    #[test]
    fn every_wire_changed_breaks_a_row() {
        let system = system();
        let mut wires = wires(&signet_crypto::random::bytes());
        for wire in (1..system.wires).filter(|wire| !(2..=3).contains(wire)) {
            for change in [Fr::one(), -Fr::one(), crate::field::random()] {
                let honest = wires[wire];
                wires[wire] += change;
                assert!(!system.holds(&wires), "wire {wire} is loose");
                wires[wire] = honest;
            }
        }
    }
}
