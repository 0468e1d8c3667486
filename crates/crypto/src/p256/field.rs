//! The field of P-256: integers modulo `p = 2^256 - 2^224 + 2^192 + 2^96 - 1` (SP 800-186 section
//! 3.2.1.3), in Montgomery form. Not constant-time: for public values alone.

use std::ops::{Add, Mul, Neg, Sub};

/// The modulus, least limb first.
pub(super) const P: [u64; 4] = [
    0xffff_ffff_ffff_ffff,
    0x0000_0000_ffff_ffff,
    0x0000_0000_0000_0000,
    0xffff_ffff_0000_0001,
];

/// `2^512 mod p`: what brings a number into Montgomery form.
const R2: Field = Field([
    0x0000_0000_0000_0003,
    0xffff_fffb_ffff_ffff,
    0xffff_ffff_ffff_fffe,
    0x0000_0004_ffff_fffd,
]);

/// An element: `a * 2^256 mod p`, least limb first, always below `p`, so that equal elements have
/// equal limbs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Field([u64; 4]);

impl Field {
    pub(super) const ZERO: Field = Field([0; 4]);

    /// `2^256 mod p`.
    pub(super) const ONE: Field = Field([
        0x0000_0000_0000_0001,
        0xffff_ffff_0000_0000,
        0xffff_ffff_ffff_ffff,
        0x0000_0000_ffff_fffe,
    ]);

    /// Brings a number into the field. None: it is not below `p`.
    pub(super) fn new(limbs: [u64; 4]) -> Option<Field> {
        super::below(&limbs, &P).then(|| Field(limbs) * R2)
    }

    /// The number itself.
    #[cfg(test)]
    pub(super) fn to_limbs(self) -> [u64; 4] {
        let [t0, t1, t2, t3] = self.0;
        reduce([t0, t1, t2, t3, 0, 0, 0, 0]).0
    }

    pub(super) fn is_zero(self) -> bool {
        self.0 == [0; 4]
    }

    /// `self * self`.
    #[inline(always)]
    pub(super) fn square(self) -> Field {
        let [a0, a1, a2, a3] = self.0;
        // The products of different limbs, each once; then doubled; then the squares.
        let (t1, c) = a0.carrying_mul(a1, 0);
        let (t2, c) = a0.carrying_mul(a2, c);
        let (t3, t4) = a0.carrying_mul(a3, c);
        let (t3, c) = a1.carrying_mul_add(a2, t3, 0);
        let (t4, t5) = a1.carrying_mul_add(a3, t4, c);
        let (t5, t6) = a2.carrying_mul(a3, t5);
        let t7 = t6 >> 63;
        let t6 = t6 << 1 | t5 >> 63;
        let t5 = t5 << 1 | t4 >> 63;
        let t4 = t4 << 1 | t3 >> 63;
        let t3 = t3 << 1 | t2 >> 63;
        let t2 = t2 << 1 | t1 >> 63;
        let t1 = t1 << 1;
        let (t0, h0) = a0.carrying_mul(a0, 0);
        let (l1, h1) = a1.carrying_mul(a1, 0);
        let (l2, h2) = a2.carrying_mul(a2, 0);
        let (l3, h3) = a3.carrying_mul(a3, 0);
        let (t1, c) = t1.carrying_add(h0, false);
        let (t2, c) = t2.carrying_add(l1, c);
        let (t3, c) = t3.carrying_add(h1, c);
        let (t4, c) = t4.carrying_add(l2, c);
        let (t5, c) = t5.carrying_add(h2, c);
        let (t6, c) = t6.carrying_add(l3, c);
        let t7 = t7 + h3 + u64::from(c);
        reduce([t0, t1, t2, t3, t4, t5, t6, t7])
    }

    /// `2 * self`.
    #[inline(always)]
    pub(super) fn double(self) -> Field {
        self + self
    }

    /// `1 / self`, and 0 for 0: `self^(p - 2)` (Fermat).
    pub(super) fn invert(self) -> Field {
        let mut power = Field::ONE;
        for limb in [P[0] - 2, P[1], P[2], P[3]].into_iter().rev() {
            for bit in (0..64).rev() {
                power = power.square();
                if limb >> bit & 1 == 1 {
                    power = power * self;
                }
            }
        }
        power
    }
}

/// The Montgomery reduction of a product of two elements: `t / 2^256 mod p`. As `p = -1 mod 2^64`,
/// the multiple of `p` that clears the lowest limb is that limb itself.
#[inline(always)]
fn reduce(t: [u64; 8]) -> Field {
    let [t0, t1, t2, t3, t4, t5, t6, t7] = t;
    let (t0, t1, t2, t3) = step(t0, t1, t2, t3);
    let (t0, t1, t2, t3) = step(t0, t1, t2, t3);
    let (t0, t1, t2, t3) = step(t0, t1, t2, t3);
    let (t0, t1, t2, t3) = step(t0, t1, t2, t3);
    let (r0, c) = t0.carrying_add(t4, false);
    let (r1, c) = t1.carrying_add(t5, c);
    let (r2, c) = t2.carrying_add(t6, c);
    let (r3, c) = t3.carrying_add(t7, c);
    subtract_p([r0, r1, r2, r3], c)
}

/// One limb of the reduction: `(t + t0 * p) / 2^64`, whose upper limbs come later. It fits four
/// limbs.
#[inline(always)]
fn step(t0: u64, t1: u64, t2: u64, t3: u64) -> (u64, u64, u64, u64) {
    let (low, high) = t0.carrying_mul(P[3], 0);
    let (r0, c) = t1.carrying_add(t0 << 32, false);
    let (r1, c) = t2.carrying_add(t0 >> 32, c);
    let (r2, c) = t3.carrying_add(low, c);
    (r0, r1, r2, high + u64::from(c))
}

/// Takes `p` away where the number, `carry * 2^256` included, is not below it.
#[inline(always)]
fn subtract_p(t: [u64; 4], carry: bool) -> Field {
    let (r0, b) = t[0].borrowing_sub(P[0], false);
    let (r1, b) = t[1].borrowing_sub(P[1], b);
    let (r2, b) = t[2].borrowing_sub(P[2], b);
    let (r3, b) = t[3].borrowing_sub(P[3], b);
    let keep = 0_u64.wrapping_sub(u64::from(b & !carry));
    let pick = |old: u64, new: u64| new ^ ((old ^ new) & keep);
    Field([
        pick(t[0], r0),
        pick(t[1], r1),
        pick(t[2], r2),
        pick(t[3], r3),
    ])
}

impl Mul for Field {
    type Output = Field;

    #[inline(always)]
    fn mul(self, other: Field) -> Field {
        let a = self.0;
        let [b0, b1, b2, b3] = other.0;
        let (t0, c) = a[0].carrying_mul(b0, 0);
        let (t1, c) = a[0].carrying_mul(b1, c);
        let (t2, c) = a[0].carrying_mul(b2, c);
        let (t3, t4) = a[0].carrying_mul(b3, c);
        let (t1, c) = a[1].carrying_mul_add(b0, t1, 0);
        let (t2, c) = a[1].carrying_mul_add(b1, t2, c);
        let (t3, c) = a[1].carrying_mul_add(b2, t3, c);
        let (t4, t5) = a[1].carrying_mul_add(b3, t4, c);
        let (t2, c) = a[2].carrying_mul_add(b0, t2, 0);
        let (t3, c) = a[2].carrying_mul_add(b1, t3, c);
        let (t4, c) = a[2].carrying_mul_add(b2, t4, c);
        let (t5, t6) = a[2].carrying_mul_add(b3, t5, c);
        let (t3, c) = a[3].carrying_mul_add(b0, t3, 0);
        let (t4, c) = a[3].carrying_mul_add(b1, t4, c);
        let (t5, c) = a[3].carrying_mul_add(b2, t5, c);
        let (t6, t7) = a[3].carrying_mul_add(b3, t6, c);
        reduce([t0, t1, t2, t3, t4, t5, t6, t7])
    }
}

impl Add for Field {
    type Output = Field;

    #[inline(always)]
    fn add(self, other: Field) -> Field {
        let (r0, c) = self.0[0].carrying_add(other.0[0], false);
        let (r1, c) = self.0[1].carrying_add(other.0[1], c);
        let (r2, c) = self.0[2].carrying_add(other.0[2], c);
        let (r3, c) = self.0[3].carrying_add(other.0[3], c);
        subtract_p([r0, r1, r2, r3], c)
    }
}

impl Sub for Field {
    type Output = Field;

    #[inline(always)]
    fn sub(self, other: Field) -> Field {
        let (r0, b) = self.0[0].borrowing_sub(other.0[0], false);
        let (r1, b) = self.0[1].borrowing_sub(other.0[1], b);
        let (r2, b) = self.0[2].borrowing_sub(other.0[2], b);
        let (r3, b) = self.0[3].borrowing_sub(other.0[3], b);
        let add = 0_u64.wrapping_sub(u64::from(b));
        let (r0, c) = r0.carrying_add(P[0] & add, false);
        let (r1, c) = r1.carrying_add(P[1] & add, c);
        let (r2, c) = r2.carrying_add(P[2] & add, c);
        let (r3, _) = r3.carrying_add(P[3] & add, c);
        Field([r0, r1, r2, r3])
    }
}

impl Neg for Field {
    type Output = Field;

    #[inline(always)]
    fn neg(self) -> Field {
        Field::ZERO - self
    }
}
