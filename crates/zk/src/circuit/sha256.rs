//! SHA-256 of exactly 32 bytes: one block (FIPS 180-4), the padding, the length and the initial
//! state folded into the circuit.
//!
//! Public inputs: digest bits 0..128, digest bits 128..256, message hash bits 0..128, message hash
//! bits 128..256, each 128 bits read as one big-endian number. The sentence: *there are 256 bits K,
//! known to the prover, whose SHA-256 is the digest*; the message hash is in no equation with K:
//! the proof is bound to it because it is an input of the verification.

use ark_bn254::Fr;
use ark_ff::One;
use zeroize::{Zeroize, Zeroizing};

use super::gadget::{Bit, Builder, Source};
use crate::r1cs::{ConstraintSystem, Sum};

/// Public inputs.
pub(crate) const INPUTS: usize = 4;

const INITIAL: [u32; 8] = [
    0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
];

const ROUND: [u32; 64] = [
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
];

/// The words of the block behind the key: a one bit, zeros, and the length of 256 bits.
const PADDING: [u32; 8] = [0x8000_0000, 0, 0, 0, 0, 0, 0, 256];

/// A number as a sum of wires, with a bound that it never passes.
#[derive(Clone)]
struct Number {
    sum: Sum,
    most: u64,
}

impl Number {
    fn constant(value: u64) -> Number {
        Number {
            sum: Sum::constant(Fr::from(value)),
            most: value,
        }
    }

    fn plus(mut self, other: &Number) -> Number {
        self.sum.add_sum(&other.sum, Fr::one());
        self.most += other.most;
        self
    }

    /// Bits that its value takes.
    fn length(&self) -> u8 {
        (64 - self.most.leading_zeros()) as u8
    }
}

/// A 32-bit word: its bits, the least significant first, and the same as a number.
#[derive(Clone)]
struct Word {
    bits: [Bit; 32],
    number: Number,
}

impl Word {
    fn new(bits: [Bit; 32]) -> Word {
        let mut sum = Sum::default();
        let (mut most, mut power) = (0, Fr::one());
        for (i, bit) in bits.iter().enumerate() {
            bit.add_to(&mut sum, power);
            power += power;
            most |= u64::from(*bit != Bit::Known(false)) << i;
        }
        if sum.0.len() <= 1 && sum.0.iter().all(|term| term.0 == 0) {
            // All bits are known: the bound is the value.
            most = bits
                .iter()
                .enumerate()
                .map(|(i, bit)| u64::from(*bit == Bit::Known(true)) << i)
                .sum();
        }
        Word {
            bits,
            number: Number { sum, most },
        }
    }

    fn known(value: u32) -> Word {
        Word::new(std::array::from_fn(|i| Bit::Known(value >> i & 1 == 1)))
    }
}

/// Three rotations (the last a shift for the message schedule), joined by exclusive or.
fn mix(builder: &mut Builder, word: &Word, turns: [usize; 3], shift: bool, slot: u32) -> Word {
    Word::new(std::array::from_fn(|i| {
        let turned = |by: usize| word.bits[(i + by) % 32];
        let last = if shift && i + turns[2] >= 32 {
            Bit::Known(false)
        } else {
            turned(turns[2])
        };
        builder.xor3([turned(turns[0]), turned(turns[1]), last], slot, i as u8)
    }))
}

/// A number's word: what is left of it modulo 2^32.
fn reduce(builder: &mut Builder, number: &Number, slot: u32) -> Word {
    let bits = builder.decompose(&number.sum, number.length(), slot);
    Word::new(std::array::from_fn(|i| bits[i]))
}

/// The circuit.
#[derive(Debug)]
pub(crate) struct Sha256Circuit {
    pub(crate) system: ConstraintSystem,
    /// One for each secret wire.
    sources: Vec<Source>,
}

impl Sha256Circuit {
    pub(crate) fn new() -> Sha256Circuit {
        let mut builder = Builder::new(INPUTS);
        let b = &mut builder;
        let mut slots = 0_u32;
        let mut slot = || {
            slots += 1;
            slots - 1
        };
        // The key's bits in the order of FIPS 180-4: eight big-endian words.
        let mut schedule: Vec<Word> = (0..8)
            .map(|_| {
                let slot = slot();
                Word::new(std::array::from_fn(|i| b.free(slot, i as u8)))
            })
            .collect();
        schedule.extend(PADDING.map(Word::known));
        let mut inputs: Vec<Number> = schedule.iter().map(|word| word.number.clone()).collect();
        for t in 16..64 {
            let s0 = mix(b, &schedule[t - 15], [7, 18, 3], true, slot());
            let s1 = mix(b, &schedule[t - 2], [17, 19, 10], true, slot());
            let number = s1
                .number
                .plus(&inputs[t - 7])
                .plus(&s0.number)
                .plus(&inputs[t - 16]);
            let slot = slot();
            if t < 62 {
                schedule.push(reduce(b, &number, slot));
                inputs.push(schedule[t].number.clone());
            } else {
                // Nothing mixes the last two: they stay sums.
                inputs.push(number);
            }
        }

        let mut state = INITIAL.map(Word::known);
        let mut digest = Vec::new();
        for t in 0..64 {
            let [a, bb, c, d, e, f, g, h] = state.clone();
            let s1 = mix(b, &e, [6, 11, 25], false, slot());
            let at = slot();
            let choice = Word::new(std::array::from_fn(|i| {
                b.choice([e.bits[i], f.bits[i], g.bits[i]], at, i as u8)
            }));
            let s0 = mix(b, &a, [2, 13, 22], false, slot());
            let at = slot();
            let majority = Word::new(std::array::from_fn(|i| {
                b.majority([a.bits[i], bb.bits[i], c.bits[i]], at, i as u8)
            }));
            let t1 = h
                .number
                .plus(&s1.number)
                .plus(&choice.number)
                .plus(&Number::constant(u64::from(ROUND[t])))
                .plus(&inputs[t]);
            let e_sum = t1.clone().plus(&d.number);
            let (e_slot, a_slot) = (slot(), slot());
            if t == 63 {
                // The last round's words go straight into the final addition.
                let a_sum = t1.plus(&s0.number).plus(&majority.number);
                let last = [
                    a_sum, a.number, bb.number, c.number, e_sum, e.number, f.number, g.number,
                ];
                for (initial, number) in INITIAL.iter().zip(last) {
                    let number = number.plus(&Number::constant(u64::from(*initial)));
                    digest.push(reduce(b, &number, slot()));
                }
                break;
            }
            let e_new = reduce(b, &e_sum, e_slot);
            // a = T1 + S0 + Maj, and T1 = e - d modulo 2^32: the offset keeps the sum positive, and
            // T1 is not taken apart twice.
            let mut a_sum = e_new.number.clone().plus(&s0.number).plus(&majority.number);
            a_sum.sum.add_sum(&d.number.sum, -Fr::one());
            a_sum = a_sum.plus(&Number::constant(1 << 32));
            let a_new = reduce(b, &a_sum, a_slot);
            state = [a_new, a, bb, c, e_new, e, f, g];
        }
        for (half, words) in digest.chunks(4).enumerate() {
            let bits: Vec<Bit> = words
                .iter()
                .flat_map(|word| word.bits.iter().rev().copied())
                .collect();
            b.pack(half as u32 + 1, &bits);
        }
        builder.system.anchor_publics();
        Sha256Circuit {
            system: builder.system,
            sources: builder.sources,
        }
    }

    /// The secret wires for `key`, bits all of them: straight-line integer code.
    pub(crate) fn secret_wires(&self, key: &[u8; 32]) -> Zeroizing<Vec<u8>> {
        let trace = trace(key);
        let wires = self.sources.iter().map(|source| {
            (trace[source.word as usize] >> source.bit) as u8 & 1 ^ u8::from(source.negated)
        });
        // Its length is known: it does not grow, and leaves no copy behind.
        Zeroizing::new(wires.collect())
    }
}

/// Every intermediate word, in the order in which the circuit numbers them; sums before their
/// reduction.
fn trace(key: &[u8; 32]) -> Zeroizing<Vec<u64>> {
    let mut trace = Zeroizing::new(Vec::with_capacity(8 + 48 * 3 + 64 * 6 + 8));
    let mut w = [0_u32; 64];
    // The last two words as the circuit's sums, which are not reduced.
    let mut wide = [0_u64; 64];
    for (i, bytes) in key.chunks_exact(4).enumerate() {
        w[i] = u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        trace.push(u64::from(w[i]));
    }
    w[8..16].copy_from_slice(&PADDING);
    for t in 0..64 {
        if t >= 16 {
            let s0 = w[t - 15].rotate_right(7) ^ w[t - 15].rotate_right(18) ^ (w[t - 15] >> 3);
            let s1 = w[t - 2].rotate_right(17) ^ w[t - 2].rotate_right(19) ^ (w[t - 2] >> 10);
            let sum = [s1, w[t - 7], s0, w[t - 16]].map(u64::from).iter().sum();
            trace.extend([u64::from(s0), u64::from(s1), sum]);
            w[t] = sum as u32;
            wide[t] = if t < 62 { u64::from(w[t]) } else { sum };
        } else {
            wide[t] = u64::from(w[t]);
        }
    }
    let mut state = INITIAL;
    let mut last = [0_u64; 8];
    for t in 0..64 {
        let [a, b, c, d, e, f, g, h] = state;
        let s1 = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
        let choice = (e & f) ^ (!e & g);
        let s0 = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
        let majority = (a & b) ^ (a & c) ^ (b & c);
        let t1 = [h, s1, choice, ROUND[t]].map(u64::from).iter().sum::<u64>() + wide[t];
        let e_sum = t1 + u64::from(d);
        let a_sum = (1 << 32) + u64::from(e_sum as u32) + u64::from(s0) + u64::from(majority)
            - u64::from(d);
        trace.extend([s1, choice, s0, majority].map(u64::from));
        trace.extend([e_sum, a_sum]);
        let a_whole = t1 + u64::from(s0) + u64::from(majority);
        last = [
            a_whole,
            u64::from(a),
            u64::from(b),
            u64::from(c),
            e_sum,
            u64::from(e),
            u64::from(f),
            u64::from(g),
        ];
        state = [a_sum as u32, a, b, c, e_sum as u32, e, f, g];
    }
    trace.extend(
        last.iter()
            .zip(INITIAL)
            .map(|(word, initial)| word + u64::from(initial)),
    );
    w.zeroize();
    wide.zeroize();
    trace
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::halves;
    use signet_crypto::hash::sha256;

    fn wires(circuit: &Sha256Circuit, key: &[u8; 32], digest: &[u8; 32]) -> Vec<Fr> {
        let mut wires = vec![Fr::one()];
        wires.extend(halves(digest));
        wires.extend(halves(&[9; 32]));
        wires.extend(circuit.secret_wires(key).iter().copied().map(Fr::from));
        wires
    }

    #[test]
    fn the_circuit_is_sha_256_on_random_and_extreme_keys() {
        let circuit = Sha256Circuit::new();
        let mut keys = vec![[0; 32], [0xff; 32], [0x80; 32], [0x55; 32], [1; 32]];
        keys.extend((0..60).map(|_| signet_crypto::random::bytes::<32>()));
        for key in keys {
            let mut digest = sha256(&key);
            assert!(circuit.system.holds(&wires(&circuit, &key, &digest)));
            digest[31] ^= 1;
            assert!(!circuit.system.holds(&wires(&circuit, &key, &digest)));
        }
    }

    #[test]
    fn the_circuit_is_lean() {
        let circuit = Sha256Circuit::new();
        let rows = circuit.system.rows.len();
        // With the five rows that the public wires have to themselves.
        assert!(rows <= 17_640, "{rows} rows");
        assert_eq!(circuit.system.wires, circuit.sources.len() + INPUTS + 1);
    }

    /// No wire is loose: each row that names a flipped wire is evaluated again, and one of them
    /// fails.
    #[test]
    fn every_wire_flipped_breaks_a_row() {
        let circuit = Sha256Circuit::new();
        let rows = &circuit.system.rows;
        let mut users = vec![Vec::new(); circuit.system.wires];
        for (at, row) in rows.iter().enumerate() {
            for (wire, _) in row.a.0.iter().chain(&row.b.0).chain(&row.c.0) {
                users[*wire as usize].push(at);
            }
        }
        for key in [signet_crypto::random::bytes::<32>(), [0; 32], [0xff; 32]] {
            let mut wires = wires(&circuit, &key, &sha256(&key));
            // The message hash is bound by the verification, not by a row.
            for wire in (1..circuit.system.wires).filter(|wire| !(3..=4).contains(wire)) {
                let honest = wires[wire];
                wires[wire] = Fr::one() - honest;
                let broken = users[wire].iter().any(|&at| {
                    let row = &rows[at];
                    row.a.value(&wires) * row.b.value(&wires) != row.c.value(&wires)
                });
                assert!(broken, "wire {wire} is loose");
                wires[wire] = honest;
            }
        }
    }
}
