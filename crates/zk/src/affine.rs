//! Additions in affine form, many at once: one inversion is shared, and a sum costs six
//! multiplications instead of sixteen.

use ark_ec::AffineRepr;
use ark_ec::short_weierstrass::{Affine, SWCurveConfig};
use ark_ff::{AdditiveGroup, Field, One, Zero};
use zeroize::Zeroizing;

/// So many additions share an inversion: enough to make it cheap, few enough to stay in the cache.
const CHUNK: usize = 1024;

/// `targets[to] += addend`, for targets that are all different.
pub(crate) fn add_all<P: SWCurveConfig>(targets: &mut [Affine<P>], additions: &[(u32, Affine<P>)]) {
    let mut divisors = Zeroizing::new(Vec::with_capacity(CHUNK));
    let mut products = Zeroizing::new(Vec::with_capacity(CHUNK));
    for chunk in additions.chunks(CHUNK) {
        divisors.clear();
        products.clear();
        let mut product = P::BaseField::one();
        for (to, addend) in chunk {
            let target = &targets[*to as usize];
            // A sum without a division (one of them is the point at infinity, or the sum is)
            // divides by one.
            let divisor = match slope_divisor(target, addend) {
                Some(divisor) => divisor,
                None => P::BaseField::one(),
            };
            products.push(product);
            product *= divisor;
            divisors.push(divisor);
        }
        // No factor is zero.
        let mut inverse = product.inverse().unwrap_or_default();
        for (((to, addend), divisor), before) in
            chunk.iter().zip(divisors.iter()).zip(products.iter()).rev()
        {
            let target = &mut targets[*to as usize];
            let own = inverse * before;
            inverse *= divisor;
            if addend.is_zero() {
                continue;
            }
            if target.is_zero() {
                *target = *addend;
                continue;
            }
            let rise = if target.x != addend.x {
                addend.y - target.y
            } else if target.y == addend.y && !target.y.is_zero() {
                // a = 0 on both curves.
                let square = target.x.square();
                square.double() + square
            } else {
                *target = Affine::identity();
                continue;
            };
            let slope = rise * own;
            let x = slope.square() - target.x - addend.x;
            target.y = slope * (target.x - x) - target.y;
            target.x = x;
        }
    }
}

/// What the slope of the line through both is divided by.
fn slope_divisor<P: SWCurveConfig>(a: &Affine<P>, b: &Affine<P>) -> Option<P::BaseField> {
    if a.is_zero() || b.is_zero() {
        None
    } else if a.x != b.x {
        Some(b.x - a.x)
    } else if a.y == b.y && !a.y.is_zero() {
        Some(a.y.double())
    } else {
        None
    }
}

/// The sum of each segment of `points`; `lengths` are the segments' lengths, in order. Which points
/// were chosen may be a secret, and the first sums tell it to whoever has the table: they are
/// wiped.
pub(crate) fn sum_segments<P: SWCurveConfig>(
    points: impl Iterator<Item = Affine<P>>,
    lengths: &[u32],
) -> Vec<Affine<P>> {
    let mut lengths = Zeroizing::new(lengths.to_vec());
    // Nothing here grows: what grows leaves a copy behind.
    let room = |lengths: &[u32]| {
        lengths
            .iter()
            .map(|length| length.div_ceil(2) as usize)
            .sum()
    };
    let mut targets = Zeroizing::new(Vec::with_capacity(room(&lengths)));
    let mut additions = Zeroizing::new(Vec::with_capacity(room(&lengths)));
    halve(points, &mut lengths, &mut targets, &mut additions);
    while lengths.iter().any(|length| *length > 1) {
        let next = Zeroizing::new(Vec::with_capacity(room(&lengths)));
        let points = std::mem::replace(&mut targets, next);
        let points = points.iter().copied();
        halve(points, &mut lengths, &mut targets, &mut additions);
    }
    let mut sums = targets.iter().copied();
    lengths
        .iter()
        .map(|length| match length {
            0 => Affine::identity(),
            // One point is left for each segment that had any.
            _ => sums.next().unwrap_or_default(),
        })
        .collect()
}

/// Adds neighbours of each segment.
fn halve<P: SWCurveConfig>(
    mut points: impl Iterator<Item = Affine<P>>,
    lengths: &mut [u32],
    targets: &mut Vec<Affine<P>>,
    additions: &mut Vec<(u32, Affine<P>)>,
) {
    additions.clear();
    for length in lengths {
        for at in 0..*length {
            // The lengths add up to the number of points.
            let Some(point) = points.next() else { break };
            if at % 2 == 0 {
                targets.push(point);
            } else {
                additions.push((targets.len() as u32 - 1, point));
            }
        }
        *length = length.div_ceil(2);
    }
    add_all(targets, additions);
}

#[cfg(test)]
mod tests {
    use super::*;
    use ark_bn254::{Fr, G1Affine, G1Projective, G2Affine, g1, g2};
    use ark_ec::{CurveGroup, PrimeGroup};

    fn every_pair<P: SWCurveConfig<ScalarField = Fr>>() {
        let generator = Affine::<P>::generator();
        let points: Vec<Affine<P>> = (-3_i64..=3)
            .map(|n| (generator.into_group() * Fr::from(n)).into_affine())
            .collect();
        let mut targets = Vec::new();
        let mut additions = Vec::new();
        let mut expected = Vec::new();
        for a in &points {
            for b in &points {
                additions.push((targets.len() as u32, *b));
                targets.push(*a);
                expected.push((*a + *b).into_affine());
            }
        }
        add_all(&mut targets, &additions);
        assert_eq!(targets, expected);
    }

    #[test]
    fn equal_opposite_and_infinite_points_have_their_own_path() {
        every_pair::<g1::Config>();
        every_pair::<g2::Config>();
        let empty: [(u32, G2Affine); 0] = [];
        add_all(&mut [], &empty);
    }

    #[test]
    fn segments_are_summed_each_alone() {
        let lengths = [0, 1, 2, 3, 0, 7, 64, 1, 0];
        let points: Vec<G1Affine> = (0..78)
            .map(|i| (G1Projective::generator() * Fr::from(i % 9)).into_affine())
            .collect();
        let sums = sum_segments(points.iter().copied(), &lengths);
        let mut rest = &points[..];
        for (length, sum) in lengths.iter().zip(sums) {
            let (own, behind) = rest.split_at(*length as usize);
            rest = behind;
            let direct: G1Projective = own.iter().map(|p| p.into_group()).sum();
            assert_eq!(sum, direct.into_affine());
        }
    }
}
