//! ES256 verification with a table of the key's multiples.
//!
//! A verification needs `u1 * G + u2 * Q`, where `G` is the curve's and `Q` the key's point. The
//! best libraries have a table of the multiples of `G` and walk `Q` bit by bit. A key that verifies
//! thousands of signatures is worth a table of its own: what is left then are 74 additions, less
//! than a third of the time. It costs as much as some twenty verifications, and 148 KB.
//!
//! **Everything here is public**: the key, the digest and the signature. Nothing runs in constant
//! time, and nothing here may ever see a private key, a nonce or a shared secret. Signing and key
//! agreement stay with the library, and so does the decision which points are keys: a table is only
//! made of a point that the library took.

mod field;
mod inverse;
mod point;
mod scalar;
mod table;
#[cfg(test)]
mod tests;

use std::sync::LazyLock;

use field::Field;
use point::{Affine, Jacobian};
use scalar::Scalar;
pub(crate) use table::Table;

/// The curve's base point (SP 800-186 section 3.2.1.3), least limb first.
const BASE: ([u64; 4], [u64; 4]) = (
    [
        0xf4a1_3945_d898_c296,
        0x7703_7d81_2deb_33a0,
        0xf8bc_e6e5_63a4_40f2,
        0x6b17_d1f2_e12c_4247,
    ],
    [
        0xcbb6_4068_37bf_51f5,
        0x2bce_3357_6b31_5ece,
        0x8ee7_eb4a_7c0f_9e16,
        0x4fe3_42e2_fe1a_7f9b,
    ],
);

static BASE_TABLE: LazyLock<Option<Table>> =
    LazyLock::new(|| Affine::new(BASE.0, BASE.1).map(|base| Table::new(&base)));

/// The table of a key, by its coordinates in 32 bytes each, big-endian. None: it is no point of the
/// curve. Takes milliseconds; the first one makes that of the base point, too.
pub(crate) fn table(x: &[u8; 32], y: &[u8; 32]) -> Option<Table> {
    let table = Table::new(&Affine::new(limbs(x), limbs(y))?);
    BASE_TABLE.as_ref().map(|_| table)
}

/// Whether the key of the table made the signature (`r` and `s`, 32 bytes each) of what has this
/// digest (FIPS 186-5 section 6.4.2).
pub(crate) fn verify(key: &Table, digest: &[u8; 32], signature: &[u8; 64]) -> bool {
    let Some(base) = BASE_TABLE.as_ref() else {
        return false;
    };
    let (r, s) = signature.split_at(32);
    let number = |half: &[u8]| {
        let half = half.first_chunk().map(limbs).and_then(Scalar::new);
        half.filter(|number| !number.is_zero())
    };
    let (Some(r), Some(s)) = (number(r), number(s)) else {
        return false;
    };
    let (u1, u2) = s.divide(Scalar::of_digest(limbs(digest)), r);
    let sum = base.add(Jacobian::INFINITY, &u1.limbs());
    let sum = key.add(sum, &u2.limbs());
    if sum.is_infinity() {
        return false;
    }
    // The sum's x, which is sum.x / z^2, is r modulo n. It is below p, which is a little more than
    // n: so it is r itself, or r + n. Both are compared without an inversion.
    let zz = sum.z.square();
    let is_x = |candidate: [u64; 4]| {
        Field::new(candidate).is_some_and(|candidate| candidate * zz == sum.x)
    };
    is_x(r.limbs()) || r.plus_order().is_some_and(is_x)
}

/// A number of 32 bytes, big-endian, as limbs, least first.
fn limbs(bytes: &[u8; 32]) -> [u64; 4] {
    let (chunks, _) = bytes.as_chunks();
    let limb = |at: usize| u64::from_be_bytes(chunks[at]);
    [limb(3), limb(2), limb(1), limb(0)]
}

/// `a < b`.
fn below(a: &[u64; 4], b: &[u64; 4]) -> bool {
    let (_, borrow) = a[0].borrowing_sub(b[0], false);
    let (_, borrow) = a[1].borrowing_sub(b[1], borrow);
    let (_, borrow) = a[2].borrowing_sub(b[2], borrow);
    a[3].borrowing_sub(b[3], borrow).1
}
