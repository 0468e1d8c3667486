//! What is computed eight at a time is what the portable code computes. Where the processor has no
//! such instructions there is nothing to compare.

use ark_bn254::{Fr, G1Affine, G1Projective};
use ark_ec::{AffineRepr, CurveGroup, PrimeGroup};
use ark_ff::{Field, One, PrimeField, Zero};

use super::{NEGATIVE, Transform, bucket_sums, sum};
use crate::domain::Domain;
use crate::field::random;
use crate::points::put_one;

fn table(points: &[G1Affine]) -> Vec<u8> {
    let mut bytes = Vec::new();
    points.iter().for_each(|point| put_one(&mut bytes, point));
    bytes
}

fn points(count: usize) -> Vec<G1Affine> {
    (0..count)
        .map(|_| (G1Projective::generator() * random()).into_affine())
        .collect()
}

fn signed(points: &[G1Affine], entry: u32) -> G1Projective {
    let point = points[(entry & !NEGATIVE) as usize].into_group();
    if entry & NEGATIVE == 0 { point } else { -point }
}

#[test]
fn sums_of_any_length_are_the_definitions() {
    let points = points(300);
    let table = table(&points);
    for count in [0, 1, 2, 3, 7, 8, 9, 16, 17, 63, 300] {
        let entries: Vec<u32> = (0..count).collect();
        let Some(made) = sum(&table, &entries) else {
            assert!(!super::here());
            return;
        };
        let direct: G1Projective = entries.iter().map(|e| signed(&points, *e)).sum();
        assert_eq!(made, direct.into_affine(), "{count}");
    }
}

#[test]
fn extreme_coordinates_are_added_rightly() {
    // Small multiples of the generator have small coordinates; their negatives' y are close to the
    // modulus.
    let points: Vec<G1Affine> = (1..200_u64)
        .map(|i| (G1Projective::generator() * Fr::from(i)).into_affine())
        .flat_map(|point| [point, -point])
        .collect();
    let table = table(&points);
    // Every second one, and the negatives of the rest, out of order so that no two neighbours are
    // opposite.
    let entries: Vec<u32> = (0..199).map(|i| 2 * (i * 7 % 199) + i % 2).collect();
    let direct: G1Projective = entries.iter().map(|e| signed(&points, *e)).sum();
    if let Some(made) = sum(&table, &entries) {
        assert_eq!(made, direct.into_affine());
    }
}

#[test]
fn buckets_are_summed_by_rows_and_by_columns() {
    let points = points(400);
    let table = table(&points);
    let mut seed = 1_u32;
    let mut next = |below: u32| {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 8) % below
    };
    for (buckets, width) in [(1, 1), (10, 3), (64, 8), (100, 10)] {
        let lengths: Vec<u32> = (0..buckets).map(|_| next(7)).collect();
        let count = lengths.iter().sum::<u32>();
        // Each point once: equal ones have a test of their own.
        let entries: Vec<u32> = (0..count)
            .map(|i| i | if next(2) == 1 { NEGATIVE } else { 0 })
            .collect();
        let Some([rows, columns]) = bucket_sums(&table, &entries, &lengths, width) else {
            assert!(!super::here());
            return;
        };
        let mut rest = &entries[..];
        let sums: Vec<G1Projective> = lengths
            .iter()
            .map(|length| {
                let (own, behind) = rest.split_at(*length as usize);
                rest = behind;
                own.iter().map(|e| signed(&points, *e)).sum()
            })
            .collect();
        for (row, sums) in rows.iter().zip(sums.chunks(width)) {
            let direct: G1Projective = sums.iter().sum();
            assert_eq!(*row, direct.into_affine());
        }
        for (i, column) in columns.iter().enumerate() {
            let direct: G1Projective = sums.iter().skip(i).step_by(width).sum();
            assert_eq!(*column, direct.into_affine());
        }
        assert_eq!(rows.len(), sums.len().div_ceil(width));
        assert_eq!(columns.len(), width);
    }
}

#[test]
fn what_needs_the_special_cases_is_left_to_the_portable_code() {
    let mut points = points(40);
    points[8] = G1Affine::identity();
    let table = table(&points);
    // Equal, opposite, and at infinity, alone or not.
    for entries in [
        &[1, 1][..],
        &[1, 1 | NEGATIVE],
        &[8],
        &[2, 8],
        &[0, 1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 13, 14, 20, 20],
    ] {
        assert_eq!(sum(&table, entries), None, "{entries:?}");
    }
}

#[test]
fn transforms_are_the_portable_ones() {
    for size in [16, 32, 48, 96, 144, 256, 288, 18_432] {
        let domain = Domain::new(size);
        assert_eq!(domain.size(), size);
        let between: Vec<Fr> = (0..size).map(|_| random()).collect();
        let Some(transform) = Transform::new(domain.powers(), &between) else {
            assert!(!super::here());
            return;
        };
        let mut left: Vec<Fr> = (0..size).map(|_| random()).collect();
        let mut right: Vec<Fr> = (0..size).map(|_| random()).collect();
        // The ends of the range, too.
        (left[0], left[1], right[0], right[2]) = (-Fr::one(), Fr::zero(), -Fr::one(), Fr::one());
        let made = transform.products(&left, &right, 1 + size % 2);
        let through = |values: &[Fr]| {
            let mut values = values.to_vec();
            domain.backward(&mut values);
            for (value, factor) in values.iter_mut().zip(&between) {
                *value *= factor;
            }
            domain.forward(&mut values);
            values
        };
        for ((a, b), made) in through(&left).iter().zip(through(&right)).zip(made.iter()) {
            assert_eq!((*a * b).into_bigint(), *made, "{size}");
        }
    }
}

#[test]
fn a_vanishing_product_is_zero_as_a_number() {
    let domain = Domain::new(64);
    let between = vec![Fr::from(64).inverse().unwrap(); 64];
    let Some(transform) = Transform::new(domain.powers(), &between) else {
        return;
    };
    let products = transform.products(&[Fr::zero(); 64], &[-Fr::one(); 64], 2);
    assert!(products.iter().all(|product| product.0 == [0; 4]));
    let products = transform.products(&[-Fr::one(); 64], &[-Fr::one(); 64], 2);
    assert!(
        products
            .iter()
            .all(|product| *product == Fr::one().into_bigint())
    );
}
