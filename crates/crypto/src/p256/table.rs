//! Multiples of one point: with them a product needs additions alone.

use super::field::Field;
use super::point::{Affine, Jacobian};

/// Bits of a window. Its digits are signed, from -64 to 64, so that half of the multiples are
/// enough.
const WINDOW: usize = 7;
/// Windows of a number of 256 bits; the last has four, and what is carried into it.
const WINDOWS: usize = 256_usize.div_ceil(WINDOW);
/// Multiples of each window's base.
const MULTIPLES: usize = 1 << (WINDOW - 1);

/// `j * 2^(7 * i) * point`, for `j` from 1 to 64 and each window `i`: 151,552 bytes.
pub(crate) struct Table(Box<[[Affine; MULTIPLES]]>);

impl Table {
    /// Some thousand additions and one inversion: about a millisecond.
    pub(super) fn new(point: &Affine) -> Table {
        let mut multiples = Vec::with_capacity(WINDOWS * MULTIPLES);
        let mut base = *point;
        for _ in 0..WINDOWS {
            let first = multiples.len();
            let mut multiple = Jacobian::from(base);
            multiples.push(multiple);
            for _ in 1..MULTIPLES {
                multiple = multiple.plus(&base);
                multiples.push(multiple);
            }
            // 2 * 64 * base begins the next window.
            let mut next = [multiples[first + MULTIPLES - 1].double()];
            base = affine(&mut next)[0];
        }
        let multiples = affine(&mut multiples);
        Table(
            multiples
                .chunks_exact(MULTIPLES)
                .map(|window| std::array::from_fn(|at| window[at]))
                .collect(),
        )
    }

    /// Adds `number * point` to `sum`.
    #[inline]
    pub(super) fn add(&self, mut sum: Jacobian, number: &[u64; 4]) -> Jacobian {
        let mut carry = 0;
        for (at, window) in self.0.iter().enumerate() {
            let digit = bits(number, at * WINDOW) + carry;
            // A digit above 64 stands for itself less 128, and one more in the next window.
            carry = u64::from(digit > MULTIPLES as u64);
            if carry == 1 {
                let negative = (1 << WINDOW) - digit as usize;
                if negative > 0 {
                    sum = sum.plus(&-window[negative - 1]);
                }
            } else if digit > 0 {
                sum = sum.plus(&window[digit as usize - 1]);
            }
        }
        sum
    }
}

/// The seven bits of a number from a place on; beyond its end, zeros.
fn bits(number: &[u64; 4], place: usize) -> u64 {
    let (limb, shift) = (place / 64, place % 64);
    let mut found = number[limb] >> shift;
    if shift > 64 - WINDOW && limb < 3 {
        found |= number[limb + 1] << (64 - shift);
    }
    found & ((1 << WINDOW) - 1)
}

/// Points with `z = 1`, none of them at infinity. One inversion serves all (Montgomery's trick).
fn affine(points: &mut [Jacobian]) -> Vec<Affine> {
    // Before each point the product of the z before it.
    let mut product = Field::ONE;
    let before: Vec<Field> = points
        .iter()
        .map(|point| {
            let before = product;
            product = product * point.z;
            before
        })
        .collect();
    let mut inverse = product.invert();
    let mut found: Vec<Affine> = points
        .iter()
        .zip(before)
        .rev()
        .map(|(point, before)| {
            let one_over_z = inverse * before;
            inverse = inverse * point.z;
            let square = one_over_z.square();
            Affine {
                x: point.x * square,
                y: point.y * square * one_over_z,
            }
        })
        .collect();
    found.reverse();
    found
}
