//! Gadgets over bits: one constraint each, constants folded away.

use ark_bn254::Fr;
use ark_ff::{One, Zero};

use crate::r1cs::{ConstraintSystem, Sum};

/// A bit: known when the circuit is made, or a wire, maybe negated. A wire's bit is forced to 0 or
/// 1 by the gadget that makes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bit {
    Known(bool),
    Wire { wire: u32, negated: bool },
}

/// Where a wire's value is found: bit `bit` of the trace's word `word`, negated or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Source {
    pub(crate) word: u32,
    pub(crate) bit: u8,
    pub(crate) negated: bool,
}

/// Makes rows, and remembers for each secret wire where its value comes from.
#[derive(Debug)]
pub(crate) struct Builder {
    pub(crate) system: ConstraintSystem,
    pub(crate) sources: Vec<Source>,
}

fn number(value: i64) -> Fr {
    Fr::from(value)
}

impl Bit {
    pub(crate) fn not(self) -> Bit {
        match self {
            Bit::Known(value) => Bit::Known(!value),
            Bit::Wire { wire, negated } => Bit::Wire {
                wire,
                negated: !negated,
            },
        }
    }

    /// Adds `factor` times the bit to a sum.
    pub(crate) fn add_to(self, sum: &mut Sum, factor: Fr) {
        match self {
            Bit::Known(false) => {}
            Bit::Known(true) => sum.add(0, factor),
            Bit::Wire {
                wire,
                negated: false,
            } => sum.add(wire, factor),
            Bit::Wire {
                wire,
                negated: true,
            } => {
                sum.add(0, factor);
                sum.add(wire, -factor);
            }
        }
    }

    fn sum(self) -> Sum {
        let mut sum = Sum::default();
        self.add_to(&mut sum, Fr::one());
        sum
    }
}

/// `factors[i] * bits[i]`, summed.
fn combine(terms: &[(Bit, i64)]) -> Sum {
    let mut sum = Sum::default();
    for &(bit, factor) in terms {
        bit.add_to(&mut sum, number(factor));
    }
    sum
}

impl Builder {
    pub(crate) fn new(inputs: usize) -> Builder {
        Builder {
            system: ConstraintSystem::new(inputs),
            sources: Vec::new(),
        }
    }

    /// A new wire, which nothing constrains yet.
    fn wire(&mut self, word: u32, bit: u8) -> Bit {
        self.sources.push(Source {
            word,
            bit,
            negated: false,
        });
        Bit::Wire {
            wire: self.system.wire(),
            negated: false,
        }
    }

    /// A bit that may be either: `x * (x - 1) = 0`.
    pub(crate) fn free(&mut self, word: u32, bit: u8) -> Bit {
        let made = self.wire(word, bit);
        let mut minus_one = made.sum();
        minus_one.add(0, -Fr::one());
        self.system.require(made.sum(), minus_one, Sum::default());
        made
    }

    /// x ^ y ^ z. With t = x + y + z, `t (2s - t) = 3s - 2t` has one solution s for each t of
    /// 0..=3.
    pub(crate) fn xor3(&mut self, [x, y, z]: [Bit; 3], word: u32, bit: u8) -> Bit {
        match (x, y, z) {
            (Bit::Known(known), y, z) => self.xor2(known, [y, z], word, bit),
            (x, Bit::Known(known), z) => self.xor2(known, [x, z], word, bit),
            (x, y, Bit::Known(known)) => self.xor2(known, [x, y], word, bit),
            _ => {
                let s = self.wire(word, bit);
                self.system.require(
                    combine(&[(x, 1), (y, 1), (z, 1)]),
                    combine(&[(s, 2), (x, -1), (y, -1), (z, -1)]),
                    combine(&[(s, 3), (x, -2), (y, -2), (z, -2)]),
                );
                s
            }
        }
    }

    /// flip ^ x ^ y: `2 x y = x + y - s`.
    fn xor2(&mut self, flip: bool, [x, y]: [Bit; 2], word: u32, bit: u8) -> Bit {
        let made = match (x, y) {
            (Bit::Known(known), other) | (other, Bit::Known(known)) => {
                return if known ^ flip { other.not() } else { other };
            }
            _ => {
                let s = self.wire(word, bit);
                self.system.require(
                    combine(&[(x, 2)]),
                    y.sum(),
                    combine(&[(x, 1), (y, 1), (s, -1)]),
                );
                s
            }
        };
        self.flipped(made, flip)
    }

    /// The bit that was just made, whose wire is the negation of the trace's bit if `flip`.
    fn flipped(&mut self, made: Bit, flip: bool) -> Bit {
        if !flip {
            return made;
        }
        if let Some(source) = self.sources.last_mut() {
            source.negated = true;
        }
        made.not()
    }

    /// x & y.
    fn and(&mut self, x: Bit, y: Bit, word: u32, bit: u8) -> Bit {
        let made = self.wire(word, bit);
        self.system.require(x.sum(), y.sum(), made.sum());
        made
    }

    /// The majority: `t (t - 4m) = t - 6m` with t = x + y + z.
    pub(crate) fn majority(&mut self, bits: [Bit; 3], word: u32, bit: u8) -> Bit {
        let [x, y, z] = bits;
        match (x, y, z) {
            (Bit::Known(known), y, z) | (y, Bit::Known(known), z) | (y, z, Bit::Known(known)) => {
                match (y, z) {
                    // Two that agree decide; where they differ, the third does.
                    (Bit::Known(other), last) | (last, Bit::Known(other)) => {
                        if known == other {
                            Bit::Known(known)
                        } else {
                            last
                        }
                    }
                    // x | y = !(!x & !y)
                    _ if known => {
                        let neither = self.and(y.not(), z.not(), word, bit);
                        self.flipped(neither, true)
                    }
                    _ => self.and(y, z, word, bit),
                }
            }
            _ => {
                let m = self.wire(word, bit);
                self.system.require(
                    combine(&[(x, 1), (y, 1), (z, 1)]),
                    combine(&[(x, 1), (y, 1), (z, 1), (m, -4)]),
                    combine(&[(x, 1), (y, 1), (z, 1), (m, -6)]),
                );
                m
            }
        }
    }

    /// e ? f : g, by `e (f - g) = o - g`.
    pub(crate) fn choice(&mut self, [e, f, g]: [Bit; 3], word: u32, bit: u8) -> Bit {
        match (e, f, g) {
            (Bit::Known(true), f, _) => f,
            (Bit::Known(false), _, g) => g,
            (e, Bit::Known(f), Bit::Known(g)) => match (f, g) {
                (true, false) => e,
                (false, true) => e.not(),
                (same, _) => Bit::Known(same),
            },
            _ => {
                let o = self.wire(word, bit);
                self.system.require(
                    e.sum(),
                    combine(&[(f, 1), (g, -1)]),
                    combine(&[(o, 1), (g, -1)]),
                );
                o
            }
        }
    }

    /// The bits of a sum of words whose value is below 2^`length`: a boolean wire for each, carries
    /// included, and one equation.
    pub(crate) fn decompose(&mut self, sum: &Sum, length: u8, word: u32) -> Vec<Bit> {
        let bits: Vec<Bit> = (0..length).map(|bit| self.free(word, bit)).collect();
        let mut rest = sum.scaled(-Fr::one());
        let mut power = Fr::one();
        for bit in &bits {
            bit.add_to(&mut rest, power);
            power += power;
        }
        self.system
            .require(rest, Sum::constant(Fr::one()), Sum::default());
        bits
    }

    /// A public input that is `bits` read as one number, the first bit the most significant.
    pub(crate) fn pack(&mut self, input: u32, bits: &[Bit]) {
        let mut sum = Sum::default();
        let mut power = Fr::one();
        for bit in bits.iter().rev() {
            bit.add_to(&mut sum, power);
            power += power;
        }
        debug_assert!(!power.is_zero());
        self.system
            .require(sum, Sum::constant(Fr::one()), Sum::wire(input));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Gadget = fn(&mut Builder, [Bit; 3], u32, u8) -> Bit;

    /// Every input, every mixture of known, plain and negated bits: the right output is taken, the
    /// wrong one and values that are no bit are refused.
    fn exhaustive(gadget: Gadget, expected: fn(bool, bool, bool) -> bool) {
        for values in 0..8_u32 {
            let value = |i: usize| values >> i & 1 == 1;
            for kinds in 0..27_u32 {
                let mut builder = Builder::new(0);
                let mut wires = vec![Fr::one()];
                let mut bits = [Bit::Known(false); 3];
                for (i, bit) in bits.iter_mut().enumerate() {
                    *bit = match kinds / 3_u32.pow(i as u32) % 3 {
                        0 => Bit::Known(value(i)),
                        kind => {
                            let negated = kind == 2;
                            wires.push(Fr::from(value(i) ^ negated));
                            match builder.free(i as u32, 0) {
                                Bit::Wire { wire, .. } => Bit::Wire { wire, negated },
                                known => known,
                            }
                        }
                    };
                }
                let made = gadget(&mut builder, bits, 7, 9);
                let right = expected(value(0), value(1), value(2));
                if builder.system.wires == wires.len() {
                    // Folded: no wire was made.
                    assert!(builder.system.holds(&wires));
                    assert_eq!(made.sum().value(&wires), Fr::from(right));
                    continue;
                }
                let source = *builder.sources.last().unwrap();
                assert_eq!((source.word, source.bit), (7, 9));
                wires.push(Fr::from(right ^ source.negated));
                assert!(builder.system.holds(&wires), "{values} {kinds}");
                assert_eq!(made.sum().value(&wires), Fr::from(right));
                for wrong in -9_i64..=9 {
                    let last = wires.len() - 1;
                    if Fr::from(wrong) != wires[last] {
                        let mut changed = wires.clone();
                        changed[last] = Fr::from(wrong);
                        assert!(!builder.system.holds(&changed), "{values} {kinds} {wrong}");
                    }
                }
            }
        }
    }

    #[test]
    fn exclusive_or_has_one_answer_for_every_input() {
        exhaustive(Builder::xor3, |x, y, z| x ^ y ^ z);
    }

    #[test]
    fn majority_has_one_answer_for_every_input() {
        exhaustive(Builder::majority, |x, y, z| {
            u8::from(x) + u8::from(y) + u8::from(z) >= 2
        });
    }

    #[test]
    fn choice_has_one_answer_for_every_input() {
        exhaustive(Builder::choice, |e, f, g| if e { f } else { g });
    }

    #[test]
    fn a_decomposition_and_a_packing_have_one_answer() {
        for value in 0..16_u64 {
            let mut builder = Builder::new(2);
            let bits = builder.decompose(&Sum::wire(1), 4, 0);
            let order: Vec<Bit> = bits.iter().rev().copied().collect();
            builder.pack(2, &order);
            for claimed in 0..16_u64 {
                for packed in 0..16_u64 {
                    let mut wires = vec![Fr::one(), Fr::from(value), Fr::from(packed)];
                    wires.extend((0..4).map(|bit| Fr::from(claimed >> bit & 1)));
                    assert_eq!(
                        builder.system.holds(&wires),
                        claimed == value && packed == value
                    );
                }
            }
            // What is no bit is refused, even where the sum is right.
            let mut wires = vec![Fr::one(), Fr::from(value), Fr::from(value)];
            wires.extend([Fr::from(value), Fr::zero(), Fr::zero(), Fr::zero()]);
            assert_eq!(builder.system.holds(&wires), value < 2);
        }
    }
}
