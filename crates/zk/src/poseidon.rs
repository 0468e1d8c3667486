//! Poseidon over the scalar field of BN254.
//!
//! The instance is the reference's `poseidonperm_x5_254_3`: width t = 3, S-box x^5, 8 full rounds
//! (4 before, 4 after), 57 partial rounds, round constants and MDS matrix from the Grain LFSR. Each
//! round adds constants, applies the S-box (in partial rounds to element 0 only) and mixes.
//!
//! The hash is a sponge of rate 2: element 0 is the capacity and starts as `length * 2^64`, the
//! number of hashed elements (the paper's constant-length domain separation, one output), so inputs
//! of different lengths are hashed by different functions; elements 1 and 2 absorb; element 1 is
//! the output. A missing second element of the last pair counts as zero, which the length tells
//! from a zero that is there.
//!
//! A key of 32 bytes enters as two elements, its halves as big-endian numbers of 128 bits: each key
//! is one pair of elements and no other key's.

mod constants;

use ark_bn254::Fr;
use ark_ff::{Field, Zero};

pub(crate) use constants::{MIX, ROUND_CONSTANTS};

use crate::field::{halves, to_bytes};

pub(crate) const WIDTH: usize = 3;
pub(crate) const ROUNDS: usize = 65;
const RATE: usize = WIDTH - 1;

/// Whether round `round` applies the S-box to all elements.
pub(crate) fn is_full(round: usize) -> bool {
    !(4..ROUNDS - 4).contains(&round)
}

/// The permutation.
pub(crate) fn permute(state: &mut [Fr; WIDTH]) {
    for (round, constants) in ROUND_CONSTANTS.iter().enumerate() {
        for (i, (element, constant)) in state.iter_mut().zip(constants).enumerate() {
            *element += constant;
            if i == 0 || is_full(round) {
                *element *= element.square().square();
            }
        }
        *state = MIX.map(|row| (row[0] * state[0]) + (row[1] * state[1]) + (row[2] * state[2]));
    }
}

/// The capacity element for this many inputs.
pub(crate) fn capacity(length: usize) -> Fr {
    Fr::from((length as u128) << 64)
}

/// The hash of field elements.
pub(crate) fn hash(elements: &[Fr]) -> Fr {
    let mut state = [capacity(elements.len()), Fr::zero(), Fr::zero()];
    for chunk in elements.chunks(RATE) {
        for (slot, element) in state[1..].iter_mut().zip(chunk) {
            *slot += element;
        }
        permute(&mut state);
    }
    state[1]
}

/// The Poseidon hash of a key of 32 bytes, as 32 big-endian bytes.
pub fn hash_key(key: &[u8; 32]) -> [u8; 32] {
    to_bytes(hash(&halves(key)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ark_ff::{BigInteger, PrimeField};

    fn element(hex: &str) -> Fr {
        let bytes: Vec<u8> = (0..32)
            .map(|i| u8::from_str_radix(&hex[2 * i..2 * i + 2], 16).unwrap())
            .collect();
        Fr::from_be_bytes_mod_order(&bytes)
    }

    #[test]
    fn the_references_vector() {
        let mut state = [0_u64, 1, 2].map(Fr::from);
        permute(&mut state);
        assert_eq!(
            state,
            [
                "115cc0f5e7d690413df64c6b9662e9cf2a3617f2743245519e19607a4417189a",
                "0fca49b798923ab0239de1c9e7a4a9a2210312b6a2f616d18b5a87f9b628ae29",
                "0e7ae82e40091e63cbd4f16a6d16310b3729d4b6e138fcf54110e2867045a30c",
            ]
            .map(element)
        );
    }

    /// From an implementation in another language, written from the paper.
    #[test]
    fn vectors_of_the_hash() {
        let key: [u8; 32] = std::array::from_fn(|i| i as u8);
        assert_eq!(
            Fr::from_be_bytes_mod_order(&hash_key(&key)),
            element("261625bf4e12332170d5facf4bf88db33ab0ff4f6c463fb62121cd70549132c0")
        );
        assert_eq!(
            hash(&[1].map(Fr::from)),
            element("14b2e5484b232721d64f405caa487febbce835dd07c5de940f2a775dc9aa0da6")
        );
        assert_eq!(
            hash(&[1, 0].map(Fr::from)),
            element("0a31b191a06296f8345501928757881b3208524d058f73807e84e4660f9c8602")
        );
        assert_eq!(
            hash(&[1, 2, 3].map(Fr::from)),
            element("0f01d46ddfdb75f5de15a0594347d0f4e1ec0329c8a8b087d07af5bf8e2ee8d5")
        );
    }

    #[test]
    fn c04_length_is_part_of_the_hash() {
        let one = Fr::from(1);
        assert_ne!(hash(&[one]), hash(&[one, Fr::zero()]));
        assert_ne!(hash(&[one, one]), hash(&[one, one, Fr::zero()]));
        assert_ne!(hash(&[]), hash(&[Fr::zero()]));
        let mut keys = vec![[0; 32], [0xff; 32]];
        // Numbers that are equal modulo the field's order are different keys all the same.
        let order: [u8; 32] = Fr::MODULUS.to_bytes_be().try_into().unwrap();
        keys.push(order);
        for (i, key) in keys.iter().enumerate() {
            for other in &keys[..i] {
                assert_ne!(hash_key(key), hash_key(other));
            }
        }
    }

    /// The reference's generator: an 80-bit LFSR, its bits taken in pairs.
    struct Grain(Vec<bool>);

    impl Grain {
        fn new() -> Grain {
            let mut bits = Vec::new();
            // Prime field, x^alpha, 254 bits, t = 3, 8 full and 57 partial rounds, thirty ones.
            for (value, length) in [
                (1, 2),
                (0, 4),
                (254, 12),
                (3, 12),
                (8, 10),
                (57, 10),
                ((1 << 30) - 1, 30),
            ] {
                bits.extend((0..length).rev().map(|bit| value >> bit & 1_u32 == 1));
            }
            let mut grain = Grain(bits);
            (0..160).for_each(|_| {
                grain.step();
            });
            grain
        }

        fn step(&mut self) -> bool {
            let bits = &mut self.0;
            let new = bits[62] ^ bits[51] ^ bits[38] ^ bits[23] ^ bits[13] ^ bits[0];
            bits.remove(0);
            bits.push(new);
            new
        }

        fn number(&mut self) -> Vec<bool> {
            (0..254)
                .map(|_| {
                    while !self.step() {
                        self.step();
                    }
                    self.step()
                })
                .collect()
        }
    }

    #[test]
    fn the_constants_are_the_generators() {
        let mut grain = Grain::new();
        let value = |bits: &[bool]| {
            bits.iter()
                .fold(Fr::zero(), |sum, &bit| sum + sum + Fr::from(bit))
        };
        for constant in ROUND_CONSTANTS.as_flattened() {
            let bits = loop {
                let bits = grain.number();
                let order = Fr::MODULUS.to_bits_be();
                // As numbers of 256 bits, the most significant first.
                if [&[false, false][..], &bits].concat() < order {
                    break bits;
                }
            };
            assert_eq!(*constant, value(&bits));
        }
        let numbers: Vec<Fr> = (0..2 * WIDTH).map(|_| value(&grain.number())).collect();
        for (i, row) in MIX.iter().enumerate() {
            for (j, entry) in row.iter().enumerate() {
                assert_eq!(*entry * (numbers[i] + numbers[WIDTH + j]), Fr::from(1));
            }
        }
    }
}
