//! Sums by tables are the sums of the definition.

use std::sync::Arc;

use ark_bn254::{Fr, G1Affine, G1Projective, g1};
use ark_ec::{AffineRepr, CurveGroup, PrimeGroup};
use ark_ff::{Field, One, PrimeField, Zero};

use super::bits::BitBases;
use super::*;

fn read(image: Image) -> Source {
    Source::new(Arc::new(image.0))
}

fn wide(points: &[G1Affine]) -> WideBases<g1::Config> {
    let mut image = Image::default();
    WideBases::prepare(points, &mut image);
    WideBases::read(&mut read(image)).unwrap()
}

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
        let wide = wide(&points);
        assert_eq!(wide.sum(&factors), direct);
        let numbers: Vec<_> = factors.iter().map(|f| f.into_bigint()).collect();
        let sorted = wide.sort(&numbers);
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
        let mut image = Image::default();
        BitBases::<g1::Config>::prepare(&named, &mut image);
        let bases = BitBases::<g1::Config>::read(&mut read(image)).unwrap();
        assert_eq!(bases.sum(&bits), direct);
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
        assert_eq!(wide(&points).sum(&factors), direct);
    }
}
