//! The inverse modulo the order of P-256, by division steps (Bernstein and Yang, "Fast
//! constant-time gcd computation and modular inversion", 2019), here with jumps that depend on the
//! number: for public values alone.
//!
//! `f` begins as the order and `g` as the number. A division step makes `(f, g)` smaller and keeps
//! their greatest common divisor, 1; at the end `g` is 0 and `f` is 1 or -1. Beside them go `d` and
//! `e`, with `d * number = f` and `e * number = g` modulo the order; so `d` ends as the inverse, or
//! its negative. Sixty-two steps look at the lowest bits alone: they are collected in a matrix,
//! which is applied to the whole numbers at once.

/// The order of the group (SP 800-186 section 3.2.1.3), least limb first.
pub(super) const N: [u64; 4] = [
    0xf3b9_cac2_fc63_2551,
    0xbce6_faad_a717_9e84,
    0xffff_ffff_ffff_ffff,
    0xffff_ffff_0000_0000,
];

/// Bits of a limb here: the products of two, and the sum of four of these, fit an `i128`.
const BITS: u32 = 62;
const MASK: u64 = (1 << BITS) - 1;

/// A number in limbs of 62 bits, least first; the last has the sign.
type Wide = [i64; 5];

const ORDER: Wide = widened(&N);

/// `1 / order mod 2^62`.
const ORDER_INVERSE: u64 = inverse_of_odd(N[0]) & MASK;

/// `1 / odd mod 2^64`: an odd number is its own inverse modulo 8, and each step of Newton's method
/// doubles the bits that are right.
const fn inverse_of_odd(odd: u64) -> u64 {
    let mut inverse = odd;
    let mut right = 3;
    while right < 64 {
        inverse = inverse.wrapping_mul(2_u64.wrapping_sub(odd.wrapping_mul(inverse)));
        right *= 2;
    }
    inverse
}

const fn widened(a: &[u64; 4]) -> Wide {
    [
        (a[0] & MASK) as i64,
        ((a[0] >> 62 | a[1] << 2) & MASK) as i64,
        ((a[1] >> 60 | a[2] << 4) & MASK) as i64,
        ((a[2] >> 58 | a[3] << 6) & MASK) as i64,
        (a[3] >> 56) as i64,
    ]
}

/// Of a number that is not negative and below `2^256`.
fn narrowed(a: &Wide) -> [u64; 4] {
    let a = a.map(|limb| limb as u64);
    [
        a[0] | a[1] << 62,
        a[1] >> 2 | a[2] << 60,
        a[2] >> 4 | a[3] << 58,
        a[3] >> 6 | a[4] << 56,
    ]
}

/// What sixty-two division steps do: `2^62 * (f, g)` afterwards are `(u * f + v * g, q * f + r *
/// g)` before. `|u| + |v|` and `|q| + |r|` are at most `2^62`.
struct Matrix {
    u: i64,
    v: i64,
    q: i64,
    r: i64,
}

/// Sixty-two division steps over the lowest bits. `eta` is the paper's delta, negated.
fn steps(mut eta: i64, f: i64, g: i64) -> (i64, Matrix) {
    let (mut f, mut g) = (f as u64, g as u64);
    let (mut u, mut v, mut q, mut r) = (1_u64, 0_u64, 0_u64, 1_u64);
    let mut left = BITS;
    loop {
        // Steps at which g is even halve it.
        let zeros = (g | 1 << left).trailing_zeros();
        g >>= zeros;
        u <<= zeros;
        v <<= zeros;
        eta -= i64::from(zeros);
        left -= zeros;
        if left == 0 {
            break;
        }
        if eta < 0 {
            eta = -eta;
            (f, g) = (g, f.wrapping_neg());
            (u, q) = (q, u.wrapping_neg());
            (v, r) = (r, v.wrapping_neg());
        }
        // Now eta + 1 steps follow without an exchange: each adds f where g is odd. Together they
        // add the multiple of f that clears so many bits, and six are looked at in one go.
        let clear = (eta + 1).min(i64::from(left)).min(6) as u32;
        // f * f = 1 modulo 8, so that one step of Newton's method gives the inverse modulo 64.
        let inverse = f.wrapping_mul(2_u64.wrapping_sub(f.wrapping_mul(f)));
        let times = g.wrapping_neg().wrapping_mul(inverse) & ((1 << clear) - 1);
        g = g.wrapping_add(f.wrapping_mul(times));
        q = q.wrapping_add(u.wrapping_mul(times));
        r = r.wrapping_add(v.wrapping_mul(times));
    }
    let matrix = Matrix {
        u: u as i64,
        v: v as i64,
        q: q as i64,
        r: r as i64,
    };
    (eta, matrix)
}

/// `(a * x + b * y + times * order) / 2^62`, which has no remainder.
#[inline(always)]
fn combined(a: i64, x: &Wide, b: i64, y: &Wide, times: i64) -> Wide {
    let product = |at: usize| {
        i128::from(a) * i128::from(x[at])
            + i128::from(b) * i128::from(y[at])
            + i128::from(times) * i128::from(ORDER[at])
    };
    let mut sum = product(0) >> BITS;
    let mut result = [0; 5];
    for at in 1..5 {
        sum += product(at);
        result[at - 1] = (sum as u64 & MASK) as i64;
        sum >>= BITS;
    }
    result[4] = sum as i64;
    result
}

/// `(a * x + b * y) / 2^62` modulo the order, for x and y from `-order` to below `order`, as the
/// result is.
#[inline(always)]
fn combined_modulo(a: i64, x: &Wide, b: i64, y: &Wide) -> Wide {
    let lowest = (a as u64)
        .wrapping_mul(x[0] as u64)
        .wrapping_add((b as u64).wrapping_mul(y[0] as u64));
    // The multiple of the order that makes the sum divisible by 2^62; not negative, so that the
    // result is below twice the order.
    let times = lowest.wrapping_mul(ORDER_INVERSE).wrapping_neg() & MASK;
    let result = combined(a, x, b, y, times as i64);
    match result[4] < 0 {
        true => result,
        false => added(&result, &ORDER, -1),
    }
}

/// `x + sign * y`.
fn added(x: &Wide, y: &Wide, sign: i64) -> Wide {
    let mut result = [0; 5];
    let mut carry = 0;
    for at in 0..4 {
        let sum = x[at] + sign * y[at] + carry;
        result[at] = sum & MASK as i64;
        carry = sum >> BITS;
    }
    result[4] = x[4] + sign * y[4] + carry;
    result
}

/// The inverse of a number above 0 and below the order.
pub(super) fn of(number: &[u64; 4]) -> [u64; 4] {
    let (mut f, mut g) = (ORDER, widened(number));
    let (mut d, mut e): (Wide, Wide) = ([0; 5], [1, 0, 0, 0, 0]);
    let mut eta = -1;
    // At most twelve rounds for numbers of 256 bits (the paper, section 11); 0 has no inverse and
    // does not come here.
    while g != [0; 5] {
        let lowest = |x: &Wide| x[0] | x[1] << BITS;
        let (next, t) = steps(eta, lowest(&f), lowest(&g));
        eta = next;
        (f, g) = (combined(t.u, &f, t.v, &g, 0), combined(t.q, &f, t.r, &g, 0));
        (d, e) = (
            combined_modulo(t.u, &d, t.v, &e),
            combined_modulo(t.q, &d, t.r, &e),
        );
    }
    if f[4] < 0 {
        d = added(&[0; 5], &d, -1);
    }
    if d[4] < 0 {
        d = added(&d, &ORDER, 1);
    }
    narrowed(&d)
}
