//! Evaluation domains of 2^a, 3 * 2^a and 9 * 2^a points, and the transform over field elements or
//! curve points alike.
//!
//! The order of BN254's scalar field is 1 modulo 9 * 2^28: between 2^14 and 2^15 points there are
//! 18,432, which fits a circuit of 17,600 rows.

use std::ops::{Add, Sub};

use ark_bn254::Fr;
use ark_ec::scalar_mul::glv::GLVConfig;
use ark_ec::short_weierstrass::{Projective, SWCurveConfig};
use ark_ff::{BigInt, FftField, Field, One, PrimeField};
use zeroize::{Zeroize, Zeroizing};

/// What can be transformed: numbers, or points as numbers in the exponent.
pub(crate) trait Element:
    Copy + Send + Sync + Add<Output = Self> + Sub<Output = Self> + Zeroize
{
    /// A multiple. Points must be of the group of prime order.
    fn times(self, factor: Fr) -> Self;
}

impl Element for Fr {
    fn times(self, factor: Fr) -> Self {
        self * factor
    }
}

impl<P: GLVConfig + SWCurveConfig<ScalarField = Fr>> Element for Projective<P> {
    fn times(self, factor: Fr) -> Self {
        // For the second group the operator takes the long way: twice as many doublings.
        P::glv_mul_projective(self, factor)
    }
}

/// The powers of a root of unity.
#[derive(Debug)]
pub(crate) struct Domain {
    /// `powers[i]` is the root to the i.
    powers: Vec<Fr>,
}

impl Domain {
    /// The smallest domain with room for `rows`.
    pub(crate) fn new(rows: usize) -> Domain {
        let size = [1, 3, 9]
            .map(|odd: usize| odd * rows.div_ceil(odd).next_power_of_two())
            .into_iter()
            .min()
            .unwrap_or(1); // never: there are three
        // (r - 1) / size: the size divides r - 1.
        let mut quotient = Fr::MODULUS;
        quotient.0[0] -= 1;
        let quotient = divide(quotient, size as u64);
        let root = Fr::GENERATOR.pow(quotient);
        let powers = std::iter::successors(Some(Fr::one()), |power| Some(*power * root))
            .take(size)
            .collect();
        Domain { powers }
    }

    pub(crate) fn size(&self) -> usize {
        self.powers.len()
    }

    /// The powers of the root, from 1 on.
    pub(crate) fn powers(&self) -> &[Fr] {
        &self.powers
    }

    /// The point of row `row`.
    #[cfg(test)]
    pub(crate) fn point(&self, row: usize) -> Fr {
        self.powers[row]
    }

    /// What shifts the domain to the coset on which quotients are computed.
    pub(crate) fn shift() -> Fr {
        Fr::GENERATOR
    }

    pub(crate) fn size_inverse(&self) -> Fr {
        // The size is below the order, and not 0.
        Fr::from(self.size() as u64).inverse().unwrap_or_default()
    }

    /// 1 / (X^N - 1) on the coset, where it is one number.
    pub(crate) fn coset_vanishing_inverse(&self) -> Fr {
        (Self::shift().pow([self.size() as u64]) - Fr::one())
            .inverse()
            .unwrap_or_default() // never 0: the generator is no N-th root of unity
    }

    /// `out[k]` is the sum of `values[j] * root^(jk)`.
    pub(crate) fn forward<T: Element>(&self, values: &mut Vec<T>) {
        self.transform(values, false);
    }

    /// `out[k]` is the sum of `values[j] * root^(-jk)`: the inverse but for the division by the
    /// size.
    pub(crate) fn backward<T: Element>(&self, values: &mut Vec<T>) {
        self.transform(values, true);
    }

    /// Stockham's form: each pass splits by 3 or by 2 and leaves the results in order.
    fn transform<T: Element>(&self, values: &mut Vec<T>, inverse: bool) {
        let size = self.size();
        debug_assert_eq!(values.len(), size);
        let power = |i: usize| {
            if inverse && i > 0 {
                self.powers[size - i]
            } else {
                self.powers[i]
            }
        };
        // A prover's numbers come through here: what is left behind is wiped.
        let mut other = Zeroizing::new(values.clone());
        // `left` is the length of the transforms that are still to do, `stride` how many of them
        // are interleaved.
        let (mut left, mut stride) = (size, 1);
        while left > 1 {
            if left.is_multiple_of(3) {
                let third = left / 3;
                let cube_root = power(size / 3);
                for p in 0..third {
                    let (w1, w2) = (power(p * stride), power(2 * p * stride));
                    for q in 0..stride {
                        let a = values[q + stride * p];
                        let b = values[q + stride * (p + third)];
                        let c = values[q + stride * (p + 2 * third)];
                        // With u the cube root, u^2 = -1 - u.
                        let turned = (b - c).times(cube_root);
                        let at = q + stride * 3 * p;
                        other[at] = a + b + c;
                        other[at + stride] = (a - c + turned).times(w1);
                        other[at + 2 * stride] = (a - b - turned).times(w2);
                    }
                }
                left = third;
                stride *= 3;
            } else {
                let half = left / 2;
                for p in 0..half {
                    let w = power(p * stride);
                    for q in 0..stride {
                        let a = values[q + stride * p];
                        let b = values[q + stride * (p + half)];
                        let at = q + stride * 2 * p;
                        other[at] = a + b;
                        other[at + stride] = if p == 0 { a - b } else { (a - b).times(w) };
                    }
                }
                left = half;
                stride *= 2;
            }
            std::mem::swap(values, &mut *other);
        }
    }
}

/// Integer division by a small number.
fn divide(mut number: BigInt<4>, by: u64) -> BigInt<4> {
    let mut rest = 0_u128;
    for limb in number.0.iter_mut().rev() {
        let part = rest << 64 | u128::from(*limb);
        *limb = (part / u128::from(by)) as u64;
        rest = part % u128::from(by);
    }
    number
}

#[cfg(test)]
mod tests {
    use super::*;
    use ark_bn254::{G1Projective, G2Projective};
    use ark_ec::PrimeGroup;
    use ark_ff::Zero;

    #[test]
    fn sizes_are_the_smallest_that_fit() {
        for (rows, size) in [
            (1, 1),
            (3, 3),
            (5, 6),
            (9, 9),
            (245, 256),
            (257, 288),
            (17_640, 18_432),
            (18_433, 24_576),
        ] {
            assert_eq!(Domain::new(rows).size(), size, "{rows}");
        }
    }

    #[test]
    fn transforms_are_evaluations_and_invert_each_other() {
        for size in [1, 2, 3, 4, 6, 9, 12, 18, 36, 64, 144] {
            let domain = Domain::new(size);
            assert_eq!(domain.size(), size);
            let values: Vec<Fr> = (0..size).map(|_| crate::field::random()).collect();
            let mut out = values.clone();
            domain.forward(&mut out);
            for (k, got) in out.iter().enumerate() {
                let point = domain.point(k);
                let direct = values
                    .iter()
                    .rev()
                    .fold(Fr::zero(), |sum, value| sum * point + value);
                assert_eq!(*got, direct);
            }
            domain.backward(&mut out);
            let inverse = domain.size_inverse();
            assert!(out.iter().zip(&values).all(|(a, b)| *a * inverse == *b));
        }
    }

    #[test]
    fn multiples_of_points_are_the_groups() {
        let (one, two) = (G1Projective::generator(), G2Projective::generator());
        for factor in [Fr::zero(), Fr::one(), -Fr::one(), crate::field::random()] {
            assert_eq!(one.times(factor), one * factor);
            assert_eq!(two.times(factor), two * factor);
        }
    }
}
