//! The transforms of [`crate::domain`], eight numbers at a time: first the passes that halve, so
//! that from the fourth on whole registers share a factor.

use std::arch::x86_64::*;

use ark_bn254::Fr;
use ark_ff::{BigInt, PrimeField};
use zeroize::Zeroizing;

use super::arithmetic::{Eight, register, words};
use super::modulus::Scalar;

type Numbers = Eight<Scalar>;

/// A domain's powers, prepared.
pub(super) struct Tables {
    /// Powers of the root, and of its inverse.
    forward: Vec<Numbers>,
    backward: Vec<Numbers>,
    between: Vec<Numbers>,
    cube_roots: [Numbers; 2],
}

#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn load(values: &[Fr]) -> Numbers {
    let mut words = [[0; 8]; 4];
    for (i, value) in values.iter().take(8).enumerate() {
        let [a, b, c, d] = value.0.0;
        (words[0][i], words[1][i], words[2][i], words[3][i]) = (a, b, c, d);
    }
    Numbers::unpack_portable([
        register(&words[0]),
        register(&words[1]),
        register(&words[2]),
        register(&words[3]),
    ])
}

/// Loads and takes multiples of the modulus away.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn settled(values: &[Fr]) -> Numbers {
    load(values).settled()
}

impl Tables {
    /// `None` for a domain that is no multiple of 16 points.
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn new(powers: &[Fr], between: &[Fr]) -> Option<Tables> {
        let size = powers.len();
        if !size.is_multiple_of(16) {
            return None;
        }
        let inverse: Vec<Fr> = (0..size).map(|i| powers[(size - i) % size]).collect();
        let blocks = |values: &[Fr]| values.chunks_exact(8).map(|eight| settled(eight)).collect();
        let cube_root = |powers: &[Fr]| match size % 3 {
            0 => settled(&[powers[size / 3]; 8]),
            _ => settled(&[powers[0]; 8]),
        };
        Some(Tables {
            cube_roots: [cube_root(powers), cube_root(&inverse)],
            forward: blocks(powers),
            backward: blocks(&inverse),
            between: blocks(between),
        })
    }

    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn through(&self, values: &[Fr]) -> Zeroizing<Vec<Numbers>> {
        let numbers: Vec<Numbers> = values.chunks_exact(8).map(|eight| settled(eight)).collect();
        let mut numbers = Zeroizing::new(numbers);
        let mut other = numbers.clone();
        pass_all(&mut numbers, &mut other, &self.backward, self.cube_roots[1]);
        for (number, factor) in numbers.iter_mut().zip(&self.between) {
            *number = number.mul(*factor);
        }
        pass_all(&mut numbers, &mut other, &self.forward, self.cube_roots[0]);
        numbers
    }
}

/// Products of two lists, as numbers below the order.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn products(left: &[Numbers], right: &[Numbers]) -> Zeroizing<Vec<BigInt<4>>> {
    // From 2^260 times a number to the number.
    let one = Numbers::constant([1, 0, 0, 0, 0]);
    let mut out = Zeroizing::new(Vec::with_capacity(left.len() * 8));
    for (left, right) in left.iter().zip(right) {
        let packed = left.mul(*right).mul(one).pack();
        let low = words(packed[0]).into_iter().zip(words(packed[1]));
        let high = words(packed[2]).into_iter().zip(words(packed[3]));
        for ((a, b), (c, d)) in low.zip(high) {
            let mut number = BigInt([a, b, c, d]);
            while number >= Fr::MODULUS {
                ark_ff::BigInteger::sub_with_borrow(&mut number, &Fr::MODULUS);
            }
            out.push(number);
        }
    }
    out
}

/// Stockham's form, as in the portable code. Inputs are below 3.7 p, and so are the results.
#[target_feature(enable = "avx512f,avx512ifma")]
fn pass_all(
    values: &mut Vec<Numbers>,
    other: &mut Vec<Numbers>,
    powers: &[Numbers],
    cube_root: Numbers,
) {
    let blocks = values.len();
    let (mut left, mut stride) = (blocks * 8, 1_usize);
    // The factor of number i: the power i less i modulo the stride. Within a block of eight it is
    // one number from the stride 8 on.
    let first = _mm512_setzero_si512();
    while left.is_multiple_of(2) {
        let half = blocks / 2;
        // How the lanes of a factor are taken from the block of powers, and how two blocks of
        // results interleave.
        let (order, low, high) = match stride {
            1 => (
                _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0),
                _mm512_set_epi64(11, 3, 10, 2, 9, 1, 8, 0),
                _mm512_set_epi64(15, 7, 14, 6, 13, 5, 12, 4),
            ),
            2 => (
                _mm512_set_epi64(6, 6, 4, 4, 2, 2, 0, 0),
                _mm512_set_epi64(11, 10, 3, 2, 9, 8, 1, 0),
                _mm512_set_epi64(15, 14, 7, 6, 13, 12, 5, 4),
            ),
            4 => (
                _mm512_set_epi64(4, 4, 4, 4, 0, 0, 0, 0),
                _mm512_set_epi64(11, 10, 9, 8, 3, 2, 1, 0),
                _mm512_set_epi64(15, 14, 13, 12, 7, 6, 5, 4),
            ),
            _ => (first, first, first),
        };
        for block in 0..half {
            let (a, b) = (values[block], values[block + half]);
            let at = block * 8 - block * 8 % stride;
            let factor = powers[at / 8].permuted(order);
            let (sum, turned) = (a.add(b), a.sub(b).mul(factor));
            if stride < 8 {
                other[2 * block] = sum.chosen(low, turned);
                other[2 * block + 1] = sum.chosen(high, turned);
            } else {
                // p = at / stride: results at stride * 2 p, and one stride further.
                let to = (at + block * 8) / 8;
                other[to] = sum;
                other[to + stride / 8] = turned;
            }
        }
        left /= 2;
        stride *= 2;
        std::mem::swap(values, other);
    }
    while left > 1 {
        let third = blocks / 3;
        let by = stride / 8;
        for block in 0..third {
            let (a, b) = (values[block], values[block + third]);
            let c = values[block + 2 * third];
            let p = block / by;
            let (one, two) = (
                powers[p * by].permuted(first),
                powers[2 * p * by].permuted(first),
            );
            let turned = b.sub(c).mul(cube_root);
            let to = block + 2 * p * by;
            other[to] = a.add(b.add(c));
            let second = a.sub(c).add(turned);
            other[to + by] = second.mul(one);
            let last = a.sub(b).sub(turned);
            other[to + 2 * by] = last.mul(two);
        }
        left /= 3;
        stride *= 3;
        std::mem::swap(values, other);
    }
}
