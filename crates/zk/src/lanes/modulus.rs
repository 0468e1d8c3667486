//! The two moduli in limbs of 52 bits, and multiples of them.

use ark_bn254::{Fq, Fr};
use ark_ff::PrimeField;

pub(super) const LIMBS: usize = 5;
pub(super) const MASK: u64 = (1 << 52) - 1;

pub(super) type Limbs = [u64; LIMBS];

/// A modulus, and what the arithmetic needs of it.
pub(super) trait Modulus {
    const P: Limbs;
    /// -1 / p modulo 2^52.
    const MINUS_INVERSE: u64 = minus_inverse(Self::P[0]);
    /// 16 p and 32 p: they keep differences positive.
    const SIXTEEN: Limbs = times(Self::P, 16);
    const THIRTY_TWO: Limbs = times(Self::P, 32);
    /// Limb i of the multiple of p that is taken from a number whose bits from 255 on are q, at
    /// `[i][q / 8][q % 8]`: as large as leaves nothing negative.
    const MULTIPLES: [[[u64; 8]; 2]; LIMBS] = multiples(Self::P);
}

/// Of the curves' coordinates.
pub(super) struct Base;
/// Of the scalars.
pub(super) struct Scalar;

impl Modulus for Base {
    const P: Limbs = split(Fq::MODULUS.0);
}

impl Modulus for Scalar {
    const P: Limbs = split(Fr::MODULUS.0);
}

const fn split(w: [u64; 4]) -> Limbs {
    [
        w[0] & MASK,
        (w[0] >> 52 | w[1] << 12) & MASK,
        (w[1] >> 40 | w[2] << 24) & MASK,
        (w[2] >> 28 | w[3] << 36) & MASK,
        w[3] >> 16,
    ]
}

const fn minus_inverse(p: u64) -> u64 {
    // Newton's iteration doubles the bits that are right.
    let mut inverse = 1_u64;
    let mut i = 0;
    while i < 6 {
        inverse = inverse.wrapping_mul(2_u64.wrapping_sub(p.wrapping_mul(inverse)));
        i += 1;
    }
    inverse.wrapping_neg() & MASK
}

const fn times(p: Limbs, factor: u64) -> Limbs {
    let mut out = [0; LIMBS];
    let mut carry = 0_u128;
    let mut i = 0;
    while i < LIMBS {
        let product = p[i] as u128 * factor as u128 + carry;
        out[i] = product as u64 & MASK;
        carry = product >> 52;
        i += 1;
    }
    out
}

const fn multiples(p: Limbs) -> [[[u64; 8]; 2]; LIMBS] {
    let mut out = [[[0; 8]; 2]; LIMBS];
    let mut q = 1;
    while q < 16 {
        let mut factor = 0;
        // Bit 255 is bit 47 of the last limb. The limbs below it may owe it a little, as their
        // carries have not been taken.
        while times(p, factor + 1)[4] + 8 < (q as u64) << 47 {
            factor += 1;
        }
        let multiple = times(p, factor);
        let mut i = 0;
        while i < LIMBS {
            out[i][q / 8][q % 8] = multiple[i];
            i += 1;
        }
        q += 1;
    }
    out
}
