//! Sums of many points in affine form: neighbours are added, eight pairs at a time, until one point
//! of each segment is left.
//!
//! An addition divides by the difference of two x. The divisors of some thousand additions share
//! one inversion: each lane multiplies its own up, the eight products are inverted together, and
//! the way back gives each divisor's inverse. A product of zero says that somewhere two points had
//! the same x.

use ark_bn254::{Fq, G1Affine};
use ark_ff::{BigInt, Field, PrimeField, Zero, batch_inversion};
use zeroize::{Zeroize, Zeroizing};

use super::NEGATIVE;
use super::arithmetic::{Eight, register, transpose, words};
use super::modulus::Base;

type Coordinates = Eight<Base>;

/// A point: x and y, four words each.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Row([u64; 8]);

impl Zeroize for Row {
    fn zeroize(&mut self) {
        self.0.zeroize();
    }
}

/// Where a level's points come from.
trait Rows {
    /// Whether words are in the portable code's form, and entries may be negative.
    const PORTABLE: bool;

    fn row(&self, entry: u32) -> [u64; 8];
}

/// A table as it is stored.
struct Table<'a>(&'a [u8]);

impl Rows for Table<'_> {
    const PORTABLE: bool = true;

    #[inline(always)]
    fn row(&self, entry: u32) -> [u64; 8] {
        let at = (entry & !NEGATIVE) as usize * 64;
        let (words, _) = self.0[at..at + 64].as_chunks::<8>();
        let mut out = [0; 8];
        for i in 0..8 {
            out[i] = u64::from_le_bytes(words[i]);
        }
        out
    }
}

/// Points that were made here.
struct Made<'a>(&'a [Row]);

impl Rows for Made<'_> {
    const PORTABLE: bool = false;

    #[inline(always)]
    fn row(&self, entry: u32) -> [u64; 8] {
        self.0[entry as usize].0
    }
}

/// Eight points. `zero` is set where one of them is the point at infinity, which a portable table
/// may have.
struct Points {
    x: Coordinates,
    y: Coordinates,
}

#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn load<R: Rows>(rows: &R, entries: [u32; 8], zero: &mut bool) -> Points {
    use std::arch::x86_64::*;
    let mut registers = [_mm512_setzero_si512(); 8];
    let mut negative = 0;
    for i in 0..8 {
        registers[i] = register(&rows.row(entries[i]));
        if R::PORTABLE {
            *zero |= _mm512_test_epi64_mask(registers[i], registers[i]) == 0;
            negative |= ((entries[i] >> 31) as u8) << i;
        }
    }
    let t = transpose(registers);
    let (x, y) = ([t[0], t[1], t[2], t[3]], [t[4], t[5], t[6], t[7]]);
    if R::PORTABLE {
        Points {
            x: Coordinates::unpack_portable(x),
            y: Coordinates::unpack_portable(y).negated(negative),
        }
    } else {
        Points {
            x: Coordinates::unpack(x),
            y: Coordinates::unpack(y),
        }
    }
}

/// Eight points as rows, for coordinates below 2^256.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn rows_of(x: Coordinates, y: Coordinates) -> [Row; 8] {
    let (x, y) = (x.pack(), y.pack());
    let rows = transpose([x[0], x[1], x[2], x[3], y[0], y[1], y[2], y[3]]);
    let mut out = [Row([0; 8]); 8];
    for i in 0..8 {
        out[i] = Row(words(rows[i]));
    }
    out
}

/// An addition: which two entries, and where the sum goes.
type Pair = [u32; 3];

/// Eight pairs; the last one again where there are fewer.
#[inline]
fn entries(pairs: &[Pair], which: usize) -> [u32; 8] {
    let mut out = [0; 8];
    for i in 0..8 {
        out[i] = pairs[i.min(pairs.len() - 1)][which];
    }
    out
}

/// So many times eight additions share an inversion: what is remembered for them stays in the
/// second-level cache.
const CHUNK: usize = 512;

/// Adds pairs; `None` where two of them have the same x, or one is at infinity.
#[target_feature(enable = "avx512f,avx512ifma")]
fn add_pairs<R: Rows>(rows: &R, pairs: &[Pair], out: &mut [Row]) -> Option<()> {
    let mut remembered: Zeroizing<Vec<(Coordinates, Coordinates)>> =
        Zeroizing::new(Vec::with_capacity(CHUNK));
    for chunk in pairs.chunks(8 * CHUNK) {
        remembered.clear();
        let mut zero = false;
        let mut product: Option<Coordinates> = None;
        for eight in chunk.chunks(8) {
            let first = load(rows, entries(eight, 0), &mut zero);
            let second = load(rows, entries(eight, 1), &mut zero);
            let divisor = second.x.sub(first.x);
            remembered.push((divisor, product.unwrap_or(divisor)));
            product = Some(match product {
                Some(product) => product.mul(divisor),
                None => divisor,
            });
        }
        let mut inverse = invert(product?)?;
        if zero {
            return None;
        }
        for (at, eight) in chunk.chunks(8).enumerate().rev() {
            let first = load(rows, entries(eight, 0), &mut zero);
            let second = load(rows, entries(eight, 1), &mut zero);
            let (divisor, before) = remembered[at];
            let own = if at == 0 {
                inverse
            } else {
                inverse.mul(before)
            };
            inverse = inverse.mul(divisor);
            let slope = second.y.sub(first.y).mul(own);
            let x = slope.square().sub_both(first.x, second.x);
            let y = slope.mul(first.x.sub(x)).sub_reduced(first.y);
            let sums = rows_of(x, y);
            for (row, pair) in sums.iter().zip(eight) {
                out[pair[2] as usize] = *row;
            }
        }
    }
    Some(())
}

/// 1 / x for each lane, in the same form; `None` where one is zero.
#[target_feature(enable = "avx512f,avx512ifma")]
fn invert(numbers: Coordinates) -> Option<Coordinates> {
    let mut lanes = [Fq::zero(); 8];
    let packed = numbers.settled().pack().map(|word| words(word));
    for (i, lane) in lanes.iter_mut().enumerate() {
        // The portable form of x 2^260 is that of 16 x.
        *lane = portable([packed[0][i], packed[1][i], packed[2][i], packed[3][i]]);
    }
    if lanes.iter().any(Zero::is_zero) {
        return None;
    }
    batch_inversion(&mut lanes);
    // 1 / (16 x) in the portable form, and 16 / x is wanted.
    let out = lanes.map(|lane| (lane * Fq::from(256)).0.0);
    Some(Coordinates::unpack([0, 1, 2, 3].map(|word| {
        register(&std::array::from_fn(|i| out[i][word]))
    })))
}

/// Four words, a number below 2^256 in portable form.
fn portable(words: [u64; 4]) -> Fq {
    let mut number = BigInt(words);
    while number >= Fq::MODULUS {
        ark_ff::BigInteger::sub_with_borrow(&mut number, &Fq::MODULUS);
    }
    Fq::new_unchecked(number)
}

fn point(row: &Row, over_sixteen: Fq) -> G1Affine {
    let w = row.0;
    G1Affine::new_unchecked(
        portable([w[0], w[1], w[2], w[3]]) * over_sixteen,
        portable([w[4], w[5], w[6], w[7]]) * over_sixteen,
    )
}

/// One row for each segment that is not empty. `entries` are the segments', one after the other.
/// Which they are may be a secret, and the sums on the way tell it to whoever has the table: lists
/// and rows are wiped, and do not grow.
#[target_feature(enable = "avx512f,avx512ifma")]
fn sum_segments<R: Rows>(
    rows: &R,
    entries: &[u32],
    lengths: &[u32],
) -> Option<Zeroizing<Vec<Row>>> {
    let mut lengths = Zeroizing::new(lengths.to_vec());
    let mut made = level(rows, |at| entries[at], &mut lengths)?;
    while lengths.iter().any(|length| *length > 1) {
        made = level(&Made(&made), |at| at as u32, &mut lengths)?;
    }
    Some(made)
}

/// Adds neighbours of each segment; what has no neighbour goes along.
#[target_feature(enable = "avx512f,avx512ifma")]
fn level<R: Rows>(
    rows: &R,
    entry: impl Fn(usize) -> u32,
    lengths: &mut [u32],
) -> Option<Zeroizing<Vec<Row>>> {
    let count = lengths.iter().map(|length| *length as usize / 2).sum();
    let mut pairs = Zeroizing::new(Vec::<Pair>::with_capacity(count));
    let mut alone = Zeroizing::new(Vec::<Pair>::with_capacity(lengths.len()));
    let (mut at, mut to) = (0, 0);
    for length in lengths {
        for _ in 0..*length / 2 {
            pairs.push([entry(at), entry(at + 1), to]);
            (at, to) = (at + 2, to + 1);
        }
        if *length % 2 == 1 {
            alone.push([entry(at), 0, to]);
            (at, to) = (at + 1, to + 1);
        }
        *length = length.div_ceil(2);
    }
    let mut out = Zeroizing::new(vec![Row([0; 8]); to as usize]);
    if R::PORTABLE {
        let mut zero = false;
        for eight in alone.chunks(8) {
            let points = load(rows, self::entries(eight, 0), &mut zero);
            let settled = rows_of(points.x.settled(), points.y.settled());
            for (row, pair) in settled.into_iter().zip(eight) {
                out[pair[2] as usize] = row;
            }
        }
        if zero {
            return None;
        }
    } else {
        for &[from, _, to] in alone.iter() {
            out[to as usize] = Row(rows.row(from));
        }
    }
    add_pairs(rows, &pairs, &mut out)?;
    Some(out)
}

#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn sum(table: &[u8], entries: &[u32]) -> Option<G1Affine> {
    let rows = sum_segments(&Table(table), entries, &[entries.len() as u32])?;
    let over_sixteen = Fq::from(16).inverse()?;
    Some(match rows.first() {
        Some(row) => point(row, over_sixteen),
        None => G1Affine::identity(),
    })
}

#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn bucket_sums(
    table: &[u8],
    entries: &[u32],
    lengths: &[u32],
    width: usize,
) -> Option<[Vec<G1Affine>; 2]> {
    let buckets = sum_segments(&Table(table), entries, lengths)?;
    // Where each bucket's sum is; an empty one has none.
    let mut next = 0;
    let places = lengths.iter().map(|length| {
        (*length > 0).then(|| {
            next += 1;
            next - 1
        })
    });
    let places: Zeroizing<Vec<Option<u32>>> = Zeroizing::new(places.collect());
    let over_sixteen = Fq::from(16).inverse()?;
    let sums = |segments: &mut dyn Iterator<Item = Vec<u32>>| -> Option<Vec<G1Affine>> {
        // Each bucket's sum is in one row and one column.
        let mut entries = Zeroizing::new(Vec::with_capacity(buckets.len()));
        let mut lengths = Zeroizing::new(Vec::with_capacity(places.len()));
        for segment in segments {
            lengths.push(segment.len() as u32);
            entries.extend(segment);
        }
        let rows = sum_segments(&Made(&buckets), &entries, &lengths)?;
        let mut rows = rows.iter();
        Some(
            lengths
                .iter()
                .map(
                    |length| match (*length > 0).then(|| rows.next()).flatten() {
                        Some(row) => point(row, over_sixteen),
                        None => G1Affine::identity(),
                    },
                )
                .collect(),
        )
    };
    let by_row = sums(
        &mut places
            .chunks(width)
            .map(|row| row.iter().copied().flatten().collect()),
    )?;
    let by_column = sums(&mut (0..width).map(|column| {
        let own = places.iter().skip(column).step_by(width);
        own.copied().flatten().collect()
    }))?;
    Some([by_row, by_column])
}
