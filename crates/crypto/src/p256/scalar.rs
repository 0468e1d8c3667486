//! Integers modulo the order `n` of P-256's group (SP 800-186 section 3.2.1.3). Not constant-time:
//! for public values alone.

use super::inverse::{self, N};

/// `-1 / n mod 2^64`.
const N_NEGATED_INVERSE: u64 = 0xccd1_c8aa_ee00_bc4f;

/// `2^512 mod n`.
const R2: [u64; 4] = [
    0x8324_4c95_be79_eea2,
    0x4699_799c_49bd_6fa6,
    0x2845_b239_2b6b_ec59,
    0x66e1_2d94_f3d9_5620,
];

/// A number below `n`, as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Scalar([u64; 4]);

impl Scalar {
    /// None: the number is not below `n`.
    pub(super) fn new(limbs: [u64; 4]) -> Option<Scalar> {
        super::below(&limbs, &N).then_some(Scalar(limbs))
    }

    /// A digest as a number (FIPS 186-5 section 6.4.2): modulo `n`, which is more than half of
    /// `2^256`.
    pub(super) fn of_digest(limbs: [u64; 4]) -> Scalar {
        Scalar(match super::below(&limbs, &N) {
            true => limbs,
            false => subtract(limbs, &N),
        })
    }

    pub(super) fn is_zero(self) -> bool {
        self.0 == [0; 4]
    }

    pub(super) fn limbs(self) -> [u64; 4] {
        self.0
    }

    /// `self + n`. None: it does not fit 256 bits.
    pub(super) fn plus_order(self) -> Option<[u64; 4]> {
        let (r0, carry) = self.0[0].carrying_add(N[0], false);
        let (r1, carry) = self.0[1].carrying_add(N[1], carry);
        let (r2, carry) = self.0[2].carrying_add(N[2], carry);
        let (r3, carry) = self.0[3].carrying_add(N[3], carry);
        (!carry).then_some([r0, r1, r2, r3])
    }

    /// `(first / self, second / self)`. `self` is not 0.
    pub(super) fn divide(self, first: Scalar, second: Scalar) -> (Scalar, Scalar) {
        // In Montgomery form once, so that each product with it is as it is.
        let inverse = multiply(inverse::of(&self.0), R2);
        (
            Scalar(multiply(first.0, inverse)),
            Scalar(multiply(second.0, inverse)),
        )
    }
}

fn subtract(a: [u64; 4], b: &[u64; 4]) -> [u64; 4] {
    let (r0, borrow) = a[0].borrowing_sub(b[0], false);
    let (r1, borrow) = a[1].borrowing_sub(b[1], borrow);
    let (r2, borrow) = a[2].borrowing_sub(b[2], borrow);
    let (r3, _) = a[3].borrowing_sub(b[3], borrow);
    [r0, r1, r2, r3]
}

/// `a * b / 2^256 mod n`, of numbers below `n`.
fn multiply(a: [u64; 4], b: [u64; 4]) -> [u64; 4] {
    let mut t = [0_u64; 5];
    for limb in a {
        let mut carry = 0;
        for (t, b) in t.iter_mut().zip(b) {
            (*t, carry) = limb.carrying_mul_add(b, *t, carry);
        }
        let (top, over) = t[4].overflowing_add(carry);
        let factor = t[0].wrapping_mul(N_NEGATED_INVERSE);
        let (_, mut carry) = factor.carrying_mul_add(N[0], t[0], 0);
        for at in 1..4 {
            (t[at - 1], carry) = factor.carrying_mul_add(N[at], t[at], carry);
        }
        let (top, more) = top.overflowing_add(carry);
        t[3] = top;
        t[4] = u64::from(over) + u64::from(more);
    }
    let low = [t[0], t[1], t[2], t[3]];
    match t[4] == 0 && super::below(&low, &N) {
        true => low,
        false => subtract(low, &N),
    }
}
