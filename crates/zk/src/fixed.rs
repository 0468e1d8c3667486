//! Sums of multiples of fixed bases, prepared once: by bits, and by full-size numbers.
//!
//! Tables are public. Which entries are read depends on secrets: a prover must not share its processor's caches with somebody it distrusts.

use ark_ec::AffineRepr;
use ark_ec::short_weierstrass::{Affine, Projective, SWCurveConfig};
use ark_ff::{AdditiveGroup, PrimeField, Zero};

use crate::affine::{add_all, sum_segments};

/// Neighbours that share a table: 64 sums each, 40 MB for the three queries of the first group.
const GROUP: usize = 6;

/// Bases whose factors are bits: for each group of neighbours, all subset sums.
pub(crate) struct BitBases<P: SWCurveConfig> {
    /// The wires of the bases, in the order of the table.
    wires: Vec<u32>,
    sums: Vec<Affine<P>>,
}

impl<P: SWCurveConfig> BitBases<P> {
    pub(crate) fn new(bases: &[(u32, Affine<P>)]) -> BitBases<P> {
        let groups = bases.len().div_ceil(GROUP);
        let mut sums = vec![Affine::identity(); groups << GROUP];
        let mut additions = Vec::new();
        for place in 0..GROUP {
            // Entries with this bit as their highest are those without it, plus its base.
            additions.clear();
            for group in 0..groups {
                let Some((_, base)) = bases.get(group * GROUP + place) else {
                    continue;
                };
                for low in 0..1 << place {
                    let at = group << GROUP | 1 << place | low;
                    sums[at] = sums[group << GROUP | low];
                    additions.push((at as u32, *base));
                }
            }
            add_all(&mut sums, &additions);
        }
        BitBases {
            wires: bases.iter().map(|base| base.0).collect(),
            sums,
        }
    }

    /// The sum of the bases whose wire is one.
    pub(crate) fn sum(&self, bits: &[u8]) -> Projective<P> {
        let chosen: Vec<Affine<P>> = self
            .wires
            .chunks(GROUP)
            .enumerate()
            .map(|(group, wires)| {
                let subset = wires.iter().enumerate().fold(0, |set, (i, &wire)| {
                    set | usize::from(bits[wire as usize]) << i
                });
                self.sums[group << GROUP | subset]
            })
            .collect();
        let count = chosen.len() as u32;
        sum_segments(chosen.into_iter(), &[count])
            .iter()
            .map(|sum| sum.into_group())
            .sum()
    }
}

/// Bases whose factors have full size: each is kept shifted by every window, so that all windows share one set of buckets.
pub(crate) struct WideBases<P: SWCurveConfig> {
    count: usize,
    window: usize,
    /// Window by window: the bases times 2^(window * w).
    shifted: Vec<Affine<P>>,
}

/// Factors have 254 bits, and signed digits may carry one further.
const BITS: usize = 255;

/// The digits of some factors, sorted by bucket: bucket b holds the bases (a table index, the highest bit its sign) whose digit is b + 1.
pub(crate) struct Sorted {
    entries: Vec<u32>,
    /// `ends[b]` is where bucket b's entries end.
    ends: Vec<u32>,
}

const NEGATIVE: u32 = 1 << 31;

impl<P: SWCurveConfig> WideBases<P> {
    pub(crate) fn new(bases: &[Affine<P>]) -> WideBases<P> {
        let count = bases.len();
        // Additions: one for each digit, and two for each bucket less the one that its first entry saves.
        let window = (4..=16)
            .min_by_key(|window| count * BITS.div_ceil(*window) + (1 << (window - 1)))
            .unwrap_or(8); // never: the range is not empty
        let windows = BITS.div_ceil(window);
        let mut shifted = bases.to_vec();
        shifted.reserve(count * (windows - 1));
        let mut last = bases.to_vec();
        for _ in 1..windows {
            for _ in 0..window {
                let doubled: Vec<(u32, Affine<P>)> = (0..).zip(last.iter().copied()).collect();
                add_all(&mut last, &doubled);
            }
            shifted.extend_from_slice(&last);
        }
        WideBases {
            count,
            window,
            shifted,
        }
    }

    fn buckets(&self) -> usize {
        1 << (self.window - 1)
    }

    /// Takes the factors apart into signed digits and sorts them by bucket (by counting).
    pub(crate) fn sort<F: PrimeField>(&self, factors: &[F]) -> Sorted {
        debug_assert_eq!(factors.len(), self.count);
        let windows = BITS.div_ceil(self.window);
        let full = 1_i32 << self.window;
        let mut digits = vec![0_i32; windows * factors.len()];
        let mut ends = vec![0_u32; self.buckets() + 1];
        for (i, factor) in factors.iter().enumerate() {
            let number = factor.into_bigint();
            let limbs = number.as_ref();
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
        for end in &mut ends {
            at += std::mem::replace(end, at);
        }
        let mut entries = vec![0; at as usize];
        for (index, digit) in digits.iter().enumerate() {
            if *digit != 0 {
                let end = &mut ends[digit.unsigned_abs() as usize - 1];
                entries[*end as usize] = index as u32 | if *digit < 0 { NEGATIVE } else { 0 };
                *end += 1;
            }
        }
        Sorted { entries, ends }
    }

    /// The sum of digit times base over the buckets of share `share` of `shares`; the sum of all shares is the sum.
    pub(crate) fn sum_share(&self, sorted: &Sorted, share: usize, shares: usize) -> Projective<P> {
        let buckets = self.buckets();
        let (from, to) = (buckets * share / shares, buckets * (share + 1) / shares);
        let start = |bucket: usize| match bucket {
            0 => 0,
            _ => sorted.ends[bucket - 1],
        };
        let lengths: Vec<u32> = (from..to).map(|b| start(b + 1) - start(b)).collect();
        let entries = &sorted.entries[start(from) as usize..start(to) as usize];
        let sums = sum_segments(
            entries.iter().map(|entry| {
                let mut point = self.shifted[(entry & !NEGATIVE) as usize];
                if entry & NEGATIVE != 0 {
                    point.y = -point.y;
                }
                point
            }),
            &lengths,
        );
        weigh(&sums, from + 1)
    }

    /// The sum of factor times base.
    pub(crate) fn sum<F: PrimeField>(&self, factors: &[F]) -> Projective<P> {
        if factors.is_empty() {
            return Projective::zero();
        }
        self.sum_share(&self.sort(factors), 0, 1)
    }
}

/// The sum of `(first + i) * points[i]`. The points are laid out as a square: with i = row * width + column, sums of rows and of columns, made many
/// at once, leave two short sums to weigh.
fn weigh<P: SWCurveConfig>(points: &[Affine<P>], first: usize) -> Projective<P> {
    let width = points.len().isqrt().max(1);
    let rows = points.len().div_ceil(width);
    let row_lengths: Vec<u32> = points.chunks(width).map(|row| row.len() as u32).collect();
    let row_sums = sum_segments(points.iter().copied(), &row_lengths);
    let columns = (0..width).flat_map(|column| points.iter().skip(column).step_by(width).copied());
    let column_lengths: Vec<u32> = (0..width)
        .map(|column| (points.len().saturating_sub(column)).div_ceil(width) as u32)
        .collect();
    let column_sums = sum_segments(columns, &column_lengths);
    debug_assert_eq!(rows, row_sums.len());
    let (row_total, row_weighted) = running(&row_sums);
    let (_, column_weighted) = running(&column_sums);
    times(row_weighted, width) + column_weighted + times(row_total, first)
}

/// The sum of the points, and the sum of i times point i.
fn running<P: SWCurveConfig>(points: &[Affine<P>]) -> (Projective<P>, Projective<P>) {
    let mut total = Projective::zero();
    let mut weighted = Projective::zero();
    for point in points.iter().rev() {
        weighted += total;
        total += point;
    }
    (total, weighted)
}

fn times<P: SWCurveConfig>(point: Projective<P>, factor: usize) -> Projective<P> {
    let mut out = Projective::zero();
    for bit in (0..usize::BITS - factor.leading_zeros()).rev() {
        out.double_in_place();
        if factor >> bit & 1 == 1 {
            out += point;
        }
    }
    out
}

/// One query of the proving key over all wires: bits and wide wires in their own tables, points at infinity left out.
pub(crate) struct Query<P: SWCurveConfig> {
    bits: BitBases<P>,
    wide_wires: Vec<u32>,
    wide: WideBases<P>,
}

impl<P: SWCurveConfig> Query<P> {
    pub(crate) fn new(points: &[Affine<P>], narrow: impl Fn(u32) -> bool) -> Query<P> {
        let (bits, wide): (Vec<_>, Vec<_>) = (0..)
            .zip(points.iter().copied())
            .filter(|(_, point)| !point.is_zero())
            .partition(|(wire, _)| narrow(*wire));
        let bases: Vec<Affine<P>> = wide.iter().map(|base| base.1).collect();
        Query {
            bits: BitBases::new(&bits),
            wide_wires: wide.iter().map(|base| base.0).collect(),
            wide: WideBases::new(&bases),
        }
    }

    /// The sum over all wires: `bits` has every wire, `values` at least the wide ones, both by wire.
    pub(crate) fn sum<F: PrimeField>(&self, bits: &[u8], values: &[F]) -> Projective<P> {
        let factors: Vec<F> = self
            .wide_wires
            .iter()
            .map(|&wire| values[wire as usize])
            .collect();
        self.bits.sum(bits) + self.wide.sum(&factors)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ark_bn254::{Fr, G1Affine, G1Projective, g1};
    use ark_ec::{CurveGroup, PrimeGroup};
    use ark_ff::One;

    fn bases(count: usize) -> Vec<G1Affine> {
        (0..count)
            .map(|_| (G1Projective::generator() * crate::field::random()).into_affine())
            .collect()
    }

    #[test]
    fn sums_are_those_of_the_definition() {
        for count in [1, 2, 5, 6, 7, 40, 130] {
            let mut points = bases(count);
            if count > 6 {
                // Equal, opposite and infinite bases.
                points[1] = points[0];
                points[3] = -points[2];
                points[4] = G1Affine::identity();
            }
            let mut factors: Vec<Fr> = (0..count).map(|_| crate::field::random()).collect();
            factors[0] = -Fr::one();
            if count > 1 {
                factors[1] = Fr::zero();
            }
            let direct: G1Projective = points.iter().zip(&factors).map(|(p, f)| *p * f).sum();
            let wide = WideBases::<g1::Config>::new(&points);
            assert_eq!(wide.sum(&factors), direct);
            let sorted = wide.sort(&factors);
            let shares: G1Projective = (0..3).map(|i| wide.sum_share(&sorted, i, 3)).sum();
            assert_eq!(shares, direct);

            let bits: Vec<u8> = (0..count).map(|i| (i % 3 != 1) as u8).collect();
            let named: Vec<(u32, G1Affine)> = (0..).zip(points.iter().copied()).collect();
            let direct: G1Projective = points
                .iter()
                .zip(&bits)
                .filter(|(_, bit)| **bit == 1)
                .map(|(p, _)| p.into_group())
                .sum();
            assert_eq!(BitBases::<g1::Config>::new(&named).sum(&bits), direct);
        }
    }

    #[test]
    fn equal_factors_and_powers_of_two_meet_in_one_bucket() {
        let points = bases(20);
        for factor in [
            Fr::from(1),
            Fr::from(1_u64 << 15),
            Fr::from(2).inverse().unwrap(),
        ] {
            let factors = vec![factor; 20];
            let direct: G1Projective = points.iter().map(|p| *p * factor).sum();
            assert_eq!(WideBases::<g1::Config>::new(&points).sum(&factors), direct);
        }
    }

    use ark_ff::Field;
}
