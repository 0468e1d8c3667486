//! Bases whose factors have full size: each is kept shifted by every window, so that all windows
//! share one set of buckets.

use ark_bn254::Fr;
use ark_ec::short_weierstrass::{Affine, Projective};
use ark_ff::{AdditiveGroup, BigInt, PrimeField, Zero};
use zeroize::Zeroizing;

use super::image::{Image, Points, Source, Stored, point};
use crate::Error;
use crate::affine::{add_all, sum_segments};
use crate::lanes::NEGATIVE;

pub(crate) struct WideBases<P: Stored> {
    count: usize,
    window: usize,
    /// Window by window: the bases times 2^(window * w).
    shifted: Points<P>,
}

/// Factors have 254 bits, and signed digits may carry one further.
const BITS: usize = 255;

/// Widths of a window that are looked at.
const WIDTHS: std::ops::RangeInclusive<usize> = 4..=16;

fn windows(window: usize) -> usize {
    BITS.div_ceil(window)
}

/// The digits of some factors, sorted by bucket: bucket b holds the bases (a table index, the
/// highest bit its sign) whose digit is b + 1.
pub(crate) struct Sorted {
    entries: Zeroizing<Vec<u32>>,
    /// `ends[b]` is where bucket b's entries end.
    ends: Zeroizing<Vec<u32>>,
}

#[cfg(test)]
impl Sorted {
    pub(crate) fn entries(&self) -> &[u32] {
        &self.entries
    }
}

impl<P: Stored> WideBases<P> {
    /// Writes the table of these bases.
    pub(crate) fn prepare(bases: &[Affine<P>], image: &mut Image) {
        let count = bases.len();
        // Additions: one for each digit, and two for each bucket less the one that its first entry
        // saves.
        let window = WIDTHS
            .min_by_key(|window| count * windows(*window) + (1 << (window - 1)))
            .unwrap_or(8); // never: the range is not empty
        image.number(count);
        image.number(window);
        image.points(bases);
        let mut last = bases.to_vec();
        for _ in 1..windows(window) {
            for _ in 0..window {
                let doubled: Vec<(u32, Affine<P>)> = (0..).zip(last.iter().copied()).collect();
                add_all(&mut last, &doubled);
            }
            image.more_points(&last);
        }
    }

    pub(crate) fn read(source: &mut Source) -> Result<WideBases<P>, Error> {
        let (count, window) = (source.number()?, source.number()?);
        if !WIDTHS.contains(&window) {
            return Err(Error::Encoding("tables"));
        }
        Ok(WideBases {
            count,
            window,
            shifted: source.points(count.saturating_mul(windows(window)))?,
        })
    }

    /// How many bases there are.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    fn buckets(&self) -> usize {
        1 << (self.window - 1)
    }

    /// Takes the factors apart into signed digits and sorts them by bucket (by counting).
    pub(crate) fn sort(&self, factors: &[BigInt<4>]) -> Sorted {
        debug_assert_eq!(factors.len(), self.count);
        let windows = windows(self.window);
        let full = 1_i32 << self.window;
        let mut digits = Zeroizing::new(vec![0_i32; windows * factors.len()]);
        let mut ends = Zeroizing::new(vec![0_u32; self.buckets() + 1]);
        for (i, factor) in factors.iter().enumerate() {
            let limbs = factor.0;
            let mut carry = 0;
            for w in 0..windows {
                let (limb, shift) = (w * self.window / 64, w * self.window % 64);
                let low = limbs.get(limb).copied().unwrap_or(0) >> shift;
                let high = match shift {
                    0 => 0,
                    _ => limbs.get(limb + 1).copied().unwrap_or(0) << (64 - shift),
                };
                let mut digit = ((low | high) & (full as u64 - 1)) as i32 + carry;
                carry = i32::from(digit > full / 2);
                digit -= carry * full;
                digits[w * factors.len() + i] = digit;
                ends[digit.unsigned_abs() as usize] += 1;
            }
            debug_assert_eq!(carry, 0);
        }
        // Zero digits fall away; then counts become starts.
        ends.remove(0);
        let mut at = 0;
        for end in ends.iter_mut() {
            at += std::mem::replace(end, at);
        }
        let mut entries = Zeroizing::new(vec![0; at as usize]);
        for (index, digit) in digits.iter().enumerate() {
            if *digit != 0 {
                let end = &mut ends[digit.unsigned_abs() as usize - 1];
                entries[*end as usize] = index as u32 | if *digit < 0 { NEGATIVE } else { 0 };
                *end += 1;
            }
        }
        Sorted { entries, ends }
    }

    /// The sum of digit times base over the buckets of share `share` of `shares`; the sum of all
    /// shares is the sum.
    pub(crate) fn sum_share(&self, sorted: &Sorted, share: usize, shares: usize) -> Projective<P> {
        let buckets = self.buckets();
        let (from, to) = (buckets * share / shares, buckets * (share + 1) / shares);
        let start = |bucket: usize| match bucket {
            0 => 0,
            _ => sorted.ends[bucket - 1],
        };
        let lengths = (from..to).map(|b| start(b + 1) - start(b));
        let lengths: Zeroizing<Vec<u32>> = Zeroizing::new(lengths.collect());
        let entries = &sorted.entries[start(from) as usize..start(to) as usize];
        let (table, width) = (self.shifted.as_bytes(), lengths.len().isqrt().max(1));
        if let Some([rows, columns]) = P::bucket_sums(table, entries, &lengths, width) {
            return weigh(&rows, &columns, width, from + 1);
        }
        let sums = Zeroizing::new(sum_segments(
            entries.iter().map(|entry| {
                let mut point: Affine<P> = point(table, (entry & !NEGATIVE) as usize);
                if entry & NEGATIVE != 0 {
                    point.y = -point.y;
                }
                point
            }),
            &lengths,
        ));
        let row_lengths: Vec<u32> = sums.chunks(width).map(|row| row.len() as u32).collect();
        let rows = sum_segments(sums.iter().copied(), &row_lengths);
        let columns = (0..width).flat_map(|column| sums.iter().skip(column).step_by(width));
        let column_lengths: Vec<u32> = (0..width)
            .map(|column| (sums.len().saturating_sub(column)).div_ceil(width) as u32)
            .collect();
        let columns = sum_segments(columns.copied(), &column_lengths);
        weigh(&rows, &columns, width, from + 1)
    }

    /// The sum of factor times base.
    pub(crate) fn sum(&self, factors: &[Fr]) -> Projective<P> {
        if factors.is_empty() {
            return Projective::zero();
        }
        let factors = factors.iter().map(|f| f.into_bigint());
        let factors: Zeroizing<Vec<BigInt<4>>> = Zeroizing::new(factors.collect());
        self.sum_share(&self.sort(&factors), 0, 1)
    }
}

/// The sum of `(first + i) * bucket[i]`. The buckets lie in a rectangle: with i = row * width +
/// column, the sums of rows and of columns, which were made many at once, are two short lists to
/// weigh.
fn weigh<P: Stored>(
    rows: &[Affine<P>],
    columns: &[Affine<P>],
    width: usize,
    first: usize,
) -> Projective<P> {
    let (row_total, row_weighted) = running(rows);
    let (_, column_weighted) = running(columns);
    times(row_weighted, width) + column_weighted + times(row_total, first)
}

/// The sum of the points, and the sum of i times point i.
fn running<P: Stored>(points: &[Affine<P>]) -> (Projective<P>, Projective<P>) {
    let mut total = Projective::zero();
    let mut weighted = Projective::zero();
    for point in points.iter().rev() {
        weighted += total;
        total += point;
    }
    (total, weighted)
}

fn times<P: Stored>(point: Projective<P>, factor: usize) -> Projective<P> {
    let mut out = Projective::zero();
    for bit in (0..usize::BITS - factor.leading_zeros()).rev() {
        out.double_in_place();
        if factor >> bit & 1 == 1 {
            out += point;
        }
    }
    out
}
