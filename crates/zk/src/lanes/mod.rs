//! Eight field elements at a time, where the processor multiplies eight 52-bit limbs (AVX-512
//! IFMA): four times as fast as one after the other.
//!
//! This is only a way to compute. Everything here answers `None` where the processor has no such
//! instructions, or where points meet that need the addition's special cases (equal, opposite, at
//! infinity); the portable code beside it gives the same answer for all of them.
//!
//! Numbers have five limbs of 52 bits and stand for themselves times 2^260 modulo the order
//! (Montgomery form). They are not fully reduced: a bound, as a multiple of the modulus p, stands
//! where it matters; 2^260 is 85 p for both of BN254's fields, so products of numbers below 32 p
//! are below 16 p.

#[cfg(target_arch = "x86_64")]
mod arithmetic;
#[cfg(target_arch = "x86_64")]
mod modulus;
#[cfg(target_arch = "x86_64")]
mod sums;
#[cfg(target_arch = "x86_64")]
mod transform;

use ark_bn254::{Fr, G1Affine};
use ark_ff::BigInt;
use zeroize::Zeroizing;

/// Whether this processor can.
#[cfg(target_arch = "x86_64")]
fn here() -> bool {
    std::arch::is_x86_feature_detected!("avx512f")
        && std::arch::is_x86_feature_detected!("avx512ifma")
}

/// Runs what is compiled for the processor's further instructions.
#[cfg(target_arch = "x86_64")]
macro_rules! with_lanes {
    ($work:expr) => {{
        // SAFETY: `here` was asked, and the processor has the features that the function is
        // compiled for; nothing else is required of a caller.
        #[allow(
            unsafe_code,
            reason = "the compiler cannot see which processor will run it"
        )]
        unsafe {
            $work
        }
    }};
}

/// The highest bit of an entry: the point is to be subtracted.
pub(crate) const NEGATIVE: u32 = 1 << 31;

/// Sums over rows and over columns of a rectangle of buckets, `width` to a row. The buckets'
/// entries follow each other in `entries` (places in the table of points, maybe [`NEGATIVE`]);
/// `lengths` says how many each has.
pub(crate) fn bucket_sums(
    table: &[u8],
    entries: &[u32],
    lengths: &[u32],
    width: usize,
) -> Option<[Vec<G1Affine>; 2]> {
    #[cfg(target_arch = "x86_64")]
    if here() {
        return with_lanes!(sums::bucket_sums(table, entries, lengths, width));
    }
    let _ = (table, entries, lengths, width);
    None
}

/// The sum of the points at `entries` of a table.
pub(crate) fn sum(table: &[u8], entries: &[u32]) -> Option<G1Affine> {
    #[cfg(target_arch = "x86_64")]
    if here() {
        return with_lanes!(sums::sum(table, entries));
    }
    let _ = (table, entries);
    None
}

#[cfg(target_arch = "x86_64")]
type Tables = transform::Tables;
#[cfg(not(target_arch = "x86_64"))]
type Tables = std::convert::Infallible;

/// Transforms over one domain, prepared; it only exists where the processor has the instructions.
pub(crate) struct Transform(Tables);

impl Transform {
    /// Prepares the powers of a domain's root, and the factors between its two transforms.
    pub(crate) fn new(powers: &[Fr], between: &[Fr]) -> Option<Transform> {
        #[cfg(target_arch = "x86_64")]
        if here() {
            return with_lanes!(transform::Tables::new(powers, between)).map(Transform);
        }
        let _ = (powers, between);
        None
    }

    /// Both lists backward, times the factors, and forward again; then multiplied with each other,
    /// as numbers. With or without a second thread.
    pub(crate) fn products(
        &self,
        left: &[Fr],
        right: &[Fr],
        threads: usize,
    ) -> Zeroizing<Vec<BigInt<4>>> {
        #[cfg(target_arch = "x86_64")]
        {
            let through = |values: &[Fr]| with_lanes!(self.0.through(values));
            let (left, right) = crate::threads::both(threads, || through(left), || through(right));
            with_lanes!(transform::products(&left, &right))
        }
        #[cfg(not(target_arch = "x86_64"))]
        {
            let _ = (left, right, threads);
            match self.0 {}
        }
    }
}

#[cfg(test)]
mod tests;
