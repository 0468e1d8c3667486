//! Ed25519 verification (RFC 8032 section 5.1.7).
//!
//! Implementations differ in which borderline signatures they accept. Here, everywhere in the
//! house, the answer is:
//! - `S` is below the group order, so a signature cannot be changed into another valid one;
//! - the public key and `R` are canonical encodings: one key and one signature have one form;
//! - the public key has not small order: such a key accepts one constant signature for every
//!   message;
//! - the equation is the cofactored one of RFC 8032, `[8][S]B = [8]R + [8][k]A`. It is the one that
//!   verification in batches decides too, so both always agree.
//!
//! The quick path computes `[S]B - [k]A` and compares its encoding with `R`: equal encodings
//! satisfy the stricter cofactorless equation, hence also this one. Only a signature that fails
//! there, a forgery or a deliberately odd one, pays for decoding `R`.

use aws_lc_rs::digest;
use curve25519_dalek::{
    EdwardsPoint, Scalar,
    constants::ED25519_BASEPOINT_POINT,
    edwards::CompressedEdwardsY,
    traits::{IsIdentity, VartimeMultiscalarMul},
};

use super::{InvalidSignature, KeyError};
use crate::random;

/// A public key whose point is decoded and negated, ready for the equation.
#[derive(Clone)]
pub(super) struct Ed25519Key {
    encoded: [u8; 32],
    minus_a: EdwardsPoint,
}

impl Ed25519Key {
    pub(super) fn new(encoded: &[u8; 32]) -> Result<Self, KeyError> {
        let a = decode_canonical(encoded)
            .ok_or(KeyError::Malformed("not a canonical point of edwards25519"))?;
        if a.is_small_order() {
            return Err(KeyError::Weak("an Ed25519 point of small order"));
        }
        Ok(Ed25519Key {
            encoded: *encoded,
            minus_a: -a,
        })
    }

    /// Checks the signature of the concatenation of `message`.
    pub(super) fn verify(
        &self,
        message: &[&[u8]],
        signature: &[u8],
    ) -> Result<(), InvalidSignature> {
        let (r, s) = split(signature).ok_or(InvalidSignature)?;
        let k = self.challenge(r, message);
        let expected_r = EdwardsPoint::vartime_double_scalar_mul_basepoint(&k, &self.minus_a, &s);
        if expected_r.compress().as_bytes() == r || differ_by_torsion(&expected_r, r) {
            Ok(())
        } else {
            Err(InvalidSignature)
        }
    }

    /// Checks many signatures together. True means that each holds alone; false means that at least
    /// one does not.
    pub(super) fn verify_batch<'a>(
        items: impl ExactSizeIterator<Item = (&'a Ed25519Key, [&'a [u8]; 2], &'a [u8])>,
    ) -> bool {
        if items.len() <= FEW {
            Self::verify_few(items)
        } else {
            Self::verify_many(items)
        }
    }

    /// Each by its own equation as in [`verify`](Self::verify), with one inversion for all the
    /// encodings.
    fn verify_few<'a>(
        items: impl ExactSizeIterator<Item = (&'a Ed25519Key, [&'a [u8]; 2], &'a [u8])>,
    ) -> bool {
        let mut expected = Vec::with_capacity(items.len());
        let mut found = Vec::with_capacity(items.len());
        for (key, message, signature) in items {
            let Some((r, s)) = split(signature) else {
                return false;
            };
            let k = key.challenge(r, &message);
            let minus_a = &key.minus_a;
            expected.push(EdwardsPoint::vartime_double_scalar_mul_basepoint(
                &k, minus_a, &s,
            ));
            found.push(r);
        }
        let encoded = EdwardsPoint::compress_batch_alloc(&expected);
        let holds = |((point, encoded), r): ((&EdwardsPoint, &CompressedEdwardsY), &[u8; 32])| {
            encoded.as_bytes() == r || differ_by_torsion(point, r)
        };
        expected.iter().zip(&encoded).zip(found).all(holds)
    }

    /// By one equation, `[8](sum z_i S_i)B = [8]sum z_i R_i + [8]sum z_i k_i A_i` with random
    /// 128-bit `z_i`. A wrong "true" has a chance of 2^-128.
    ///
    /// The first `z` is 1: a wrong equation is multiplied by something else than 0 there, and by a
    /// random number elsewhere.
    fn verify_many<'a>(
        items: impl ExactSizeIterator<Item = (&'a Ed25519Key, [&'a [u8]; 2], &'a [u8])>,
    ) -> bool {
        let room = 1 + 2 * items.len();
        let (mut scalars, mut points) = (Vec::with_capacity(room), Vec::with_capacity(room));
        scalars.push(Scalar::ZERO);
        points.push(ED25519_BASEPOINT_POINT);
        for (i, (key, message, signature)) in items.enumerate() {
            let Some((r, s)) = split(signature) else {
                return false;
            };
            let Some(big_r) = decode_canonical(r) else {
                return false;
            };
            let k = key.challenge(r, &message);
            // The points are negated and not the weights: a weight of half the length costs half
            // the additions.
            points.extend([-big_r, key.minus_a]);
            if i == 0 {
                scalars[0] = s;
                scalars.extend([Scalar::ONE, k]);
            } else {
                let mut weight = [0; 32];
                random::fill(&mut weight[..16]);
                let z = Scalar::from_bytes_mod_order(weight);
                scalars[0] += z * s;
                scalars.extend([z, z * k]);
            }
        }
        EdwardsPoint::vartime_multiscalar_mul(&scalars, &points)
            .mul_by_cofactor()
            .is_identity()
    }

    /// `SHA-512(R || A || message)` as a scalar.
    fn challenge(&self, r: &[u8; 32], message: &[&[u8]]) -> Scalar {
        let mut hash = digest::Context::new(&digest::SHA512);
        hash.update(r);
        hash.update(&self.encoded);
        message.iter().for_each(|part| hash.update(part));
        let mut wide = [0; 64];
        wide.copy_from_slice(hash.finish().as_ref());
        Scalar::from_bytes_mod_order_wide(&wide)
    }
}

/// So many signatures cost less by their own equations: for each a batch decodes `R` and has two
/// more points.
const FEW: usize = 3;

/// Whether a point and an encoded one differ by a point of small order: the cofactored equation.
fn differ_by_torsion(point: &EdwardsPoint, encoded: &[u8; 32]) -> bool {
    decode_canonical(encoded)
        .is_some_and(|decoded| (point - decoded).mul_by_cofactor().is_identity())
}

/// `R` and `S`; only an `S` below the order is one.
fn split(signature: &[u8]) -> Option<(&[u8; 32], Scalar)> {
    let (r, s) = signature.split_first_chunk::<32>()?;
    let s = Option::from(Scalar::from_canonical_bytes(s.try_into().ok()?))?;
    Some((r, s))
}

/// The y coordinates of the two points whose x is 0, little-endian: 1, and p - 1 with p = 2^255 -
/// 19.
const Y_OF_ZERO_X: [[u8; 32]; 2] = {
    let (mut one, mut minus_one) = ([0; 32], [0xff; 32]);
    one[0] = 1;
    (minus_one[0], minus_one[31]) = (0xec, 0x7f);
    [one, minus_one]
};

/// Decoding alone accepts a y of p and more, and the sign of a zero x (RFC 8032 section 5.1.3
/// refuses both).
fn decode_canonical(encoded: &[u8; 32]) -> Option<EdwardsPoint> {
    let mut y = *encoded;
    y[31] &= 0x7f;
    let beyond = y[0] >= 0xed && y[31] == 0x7f && y[1..31].iter().all(|byte| *byte == 0xff);
    let signed_zero = encoded[31] >= 0x80 && Y_OF_ZERO_X.contains(&y);
    if beyond || signed_zero {
        return None;
    }
    CompressedEdwardsY(*encoded).decompress()
}

#[cfg(test)]
mod tests {
    use super::*;
    use curve25519_dalek::constants::EIGHT_TORSION;

    /// A signature with the given torsion in `R` and in the key: valid by the cofactored equation
    /// alone.
    fn odd_signature(key_torsion: usize, r_torsion: usize) -> (Ed25519Key, [u8; 64]) {
        let (a, r) = (Scalar::from(123_456_789_u64), Scalar::from(987_654_321_u64));
        let public = ED25519_BASEPOINT_POINT * a + EIGHT_TORSION[key_torsion];
        let key = Ed25519Key::new(public.compress().as_bytes()).expect("a full-order key");
        let big_r = (ED25519_BASEPOINT_POINT * r + EIGHT_TORSION[r_torsion]).compress();
        let s = r + key.challenge(big_r.as_bytes(), &[b"message"]) * a;
        let mut signature = [0; 64];
        signature[..32].copy_from_slice(big_r.as_bytes());
        signature[32..].copy_from_slice(s.as_bytes());
        (key, signature)
    }

    #[test]
    fn the_cofactored_equation_decides() {
        for key_torsion in 0..8 {
            for r_torsion in 0..8 {
                let (key, signature) = odd_signature(key_torsion, r_torsion);
                assert_eq!(
                    key.verify(&[b"message"], &signature),
                    Ok(()),
                    "{key_torsion} {r_torsion}"
                );
                assert_eq!(
                    key.verify(&[b"mass", b"age"], &signature),
                    Err(InvalidSignature)
                );
            }
        }
    }

    #[test]
    fn a_batch_answers_as_each_alone() {
        let signed: Vec<_> = (0..64).map(|i| odd_signature(i / 8, i % 8)).collect();
        let items = |message: &'static [u8]| {
            signed
                .iter()
                .map(move |(key, signature)| (key, [&message[..3], &message[3..]], &signature[..]))
        };
        assert!(Ed25519Key::verify_batch(items(b"message")));
        for bad in 0..signed.len() {
            let mixed = signed.iter().enumerate().map(|(i, (key, signature))| {
                let message: &[u8] = if i == bad { b"massage" } else { b"message" };
                (key, [b"", message], &signature[..])
            });
            assert!(!Ed25519Key::verify_batch(mixed), "{bad}");
        }
        assert!(!Ed25519Key::verify_batch(
            items(b"message").map(|(k, m, s)| (k, m, &s[..63]))
        ));
    }

    #[test]
    fn a_batch_of_every_small_size_answers_as_each_alone() {
        let signed: Vec<_> = (0..FEW + 3)
            .map(|i| odd_signature(i % 8, (i + 3) % 8))
            .collect();
        for len in 0..=signed.len() {
            for bad in 0..=len {
                let items = signed[..len]
                    .iter()
                    .enumerate()
                    .map(|(i, (key, signature))| {
                        let message: &[u8] = if i == bad { b"massage" } else { b"message" };
                        (key, [message, b""], &signature[..])
                    });
                assert_eq!(
                    Ed25519Key::verify_batch(items),
                    bad == len,
                    "{bad} of {len}"
                );
            }
        }
    }

    #[test]
    fn keys_of_small_order_are_refused() {
        for point in EIGHT_TORSION {
            assert!(matches!(
                Ed25519Key::new(point.compress().as_bytes()),
                Err(KeyError::Weak(_))
            ));
        }
    }

    #[test]
    fn encodings_that_are_not_canonical_are_refused() {
        // p = 2^255 - 19, little-endian; y = p is y = 0, y = p + 1 is the neutral element, and so
        // on up to 2^255 - 1.
        for low in 0xed..=0xff_u8 {
            for sign in [0x00, 0x80] {
                let mut encoded = [0xff; 32];
                encoded[0] = low;
                encoded[31] = 0x7f | sign;
                assert!(Ed25519Key::new(&encoded).is_err());
                assert!(decode_canonical(&encoded).is_none());
            }
        }
        // x = 0 has no negative: y = 1 and y = -1 with the sign bit set.
        let mut one = [0; 32];
        one[0] = 1;
        one[31] = 0x80;
        assert!(decode_canonical(&one).is_none());
        let mut minus_one = [0xff; 32];
        minus_one[0] = 0xec;
        assert!(decode_canonical(&minus_one).is_none());
    }

    #[test]
    fn what_is_decoded_is_what_encodes_to_the_same_bytes() {
        let mut encoded = [0; 32];
        for n in 0..4_096_u32 {
            // Random ones, and those at both ends of the field.
            match n % 3 {
                0 => random::fill(&mut encoded),
                1 => encoded = [0xff; 32],
                _ => encoded = [0; 32],
            }
            encoded[0] = (n >> 4) as u8;
            encoded[31] = (encoded[31] & 0x7f) | ((n & 8) << 4) as u8;
            let again = CompressedEdwardsY(encoded)
                .decompress()
                .is_some_and(|point| point.compress().as_bytes() == &encoded);
            assert_eq!(decode_canonical(&encoded).is_some(), again, "{encoded:x?}");
        }
    }

    #[test]
    fn s_of_the_order_and_more_is_refused() {
        let (key, signature) = odd_signature(0, 0);
        // l = 2^252 + 27742317777372353535851937790883648493, little-endian.
        let order: [u8; 32] = [
            0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9,
            0xde, 0x14, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10,
        ];
        let mut changed = signature;
        let mut carry = 0_u16;
        for (byte, addend) in changed[32..].iter_mut().zip(order) {
            let sum = u16::from(*byte) + u16::from(addend) + carry;
            *byte = sum as u8;
            carry = sum >> 8;
        }
        assert_eq!(carry, 0, "S + l fits 32 bytes");
        assert_eq!(key.verify(&[b"message"], &signature), Ok(()));
        assert_eq!(key.verify(&[b"message"], &changed), Err(InvalidSignature));
    }

    /// The edge cases of "Taming the many EdDSAs" (Chalkias, Garillot, Nikolaenko, 2020; table 5):
    /// message, key, signature, and the answer of the one equation and the encodings of this page.
    const SPECCHECK: [(&str, &str, &str, bool); 12] = [
        // 0 and 1: keys of small order.
        (
            "8c93255d71dcab10e8f379c26200f3c7bd5f09d9bc3068d3ef4edeb4853022b6",
            "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
            "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a0000000000000000000000000000000000000000000000000000000000000000",
            false,
        ),
        (
            "9bd9f44f4dcc75bd531b56b2cd280b0bb38fc1cd6d1230e14861d861de092e79",
            "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
            "f7badec5b8abeaf699583992219b7b223f1df3fbbea919844e3f7c554a43dd43a5bb704786be79fc476f91d3f3f89b03984d8068dcf1bb7dfc6637b45450ac04",
            false,
        ),
        // 2: R of small order, an ordinary key.
        (
            "aebf3f2601a0c8c5d39cc7d8911642f740b78168218da8471772b35f9d35b9ab",
            "f7badec5b8abeaf699583992219b7b223f1df3fbbea919844e3f7c554a43dd43",
            "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa8c4bd45aecaca5b24fb97bc10ac27ac8751a7dfe1baff8b953ec9f5833ca260e",
            true,
        ),
        // 3: A and R of mixed order; both equations hold.
        (
            "9bd9f44f4dcc75bd531b56b2cd280b0bb38fc1cd6d1230e14861d861de092e79",
            "cdb267ce40c5cd45306fa5d2f29731459387dbf9eb933b7bd5aed9a765b88d4d",
            "9046a64750444938de19f227bb80485e92b83fdb4b6506c160484c016cc1852f87909e14428a7a1d62e9f22f3d3ad7802db02eb2e688b6c52fcd6648a98bd009",
            true,
        ),
        // 4 and 5: mixed order; the cofactored equation alone holds.
        (
            "e47d62c63f830dc7a6851a0b1f33ae4bb2f507fb6cffec4011eaccd55b53f56c",
            "cdb267ce40c5cd45306fa5d2f29731459387dbf9eb933b7bd5aed9a765b88d4d",
            "160a1cb0dc9c0258cd0a7d23e94d8fa878bcb1925f2c64246b2dee1796bed5125ec6bc982a269b723e0668e540911a9a6a58921d6925e434ab10aa7940551a09",
            true,
        ),
        (
            "e47d62c63f830dc7a6851a0b1f33ae4bb2f507fb6cffec4011eaccd55b53f56c",
            "cdb267ce40c5cd45306fa5d2f29731459387dbf9eb933b7bd5aed9a765b88d4d",
            "21122a84e0b5fca4052f5b1235c80a537878b38f3142356b2c2384ebad4668b7e40bc836dac0f71076f9abe3a53f9c03c1ceeeddb658d0030494ace586687405",
            true,
        ),
        // 6 and 7: S beyond the order, and far beyond it.
        (
            "85e241a07d148b41e47d62c63f830dc7a6851a0b1f33ae4bb2f507fb6cffec40",
            "442aad9f089ad9e14647b1ef9099a1ff4798d78589e66f28eca69c11f582a623",
            "e96f66be976d82e60150baecff9906684aebb1ef181f67a7189ac78ea23b6c0e547f7690a0e2ddcd04d87dbc3490dc19b3b3052f7ff0538cb68afb369ba3a514",
            false,
        ),
        (
            "85e241a07d148b41e47d62c63f830dc7a6851a0b1f33ae4bb2f507fb6cffec40",
            "442aad9f089ad9e14647b1ef9099a1ff4798d78589e66f28eca69c11f582a623",
            "8ce5b96c8f26d0ab6c47958c9e68b937104cd36e13c33566acd2fe8d38aa19427e71f98a473474f2f13f06f97c20d58cc3f54b8bd0d272f42b695dd7e89a8c22",
            false,
        ),
        // 8 and 9: an R that is not canonical, hashed as it is and reduced.
        (
            "9bedc267423725d473888631ebf45988bad3db83851ee85c85e241a07d148b41",
            "f7badec5b8abeaf699583992219b7b223f1df3fbbea919844e3f7c554a43dd43",
            "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff03be9678ac102edcd92b0210bb34d7428d12ffc5df5f37e359941266a4e35f0f",
            false,
        ),
        (
            "9bedc267423725d473888631ebf45988bad3db83851ee85c85e241a07d148b41",
            "f7badec5b8abeaf699583992219b7b223f1df3fbbea919844e3f7c554a43dd43",
            "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffca8c5b64cd208982aa38d4936621a4775aa233aa0505711d8fdcfdaa943d4908",
            false,
        ),
        // 10 and 11: a key that is not canonical, hashed reduced and as it is.
        (
            "e96b7021eb39c1a163b6da4e3093dcd3f21387da4cc4572be588fafae23c155b",
            "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
            "a9d55260f765261eb9b84e106f665e00b867287a761990d7135963ee0a7d59dca5bb704786be79fc476f91d3f3f89b03984d8068dcf1bb7dfc6637b45450ac04",
            false,
        ),
        (
            "39a591f5321bbe07fd5a23dc2f39d025d74526615746727ceefd6e82ae65c06f",
            "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
            "a9d55260f765261eb9b84e106f665e00b867287a761990d7135963ee0a7d59dca5bb704786be79fc476f91d3f3f89b03984d8068dcf1bb7dfc6637b45450ac04",
            false,
        ),
    ];

    fn hex(text: &str) -> Vec<u8> {
        (0..text.len() / 2)
            .map(|i| u8::from_str_radix(&text[2 * i..2 * i + 2], 16).expect("hex"))
            .collect()
    }

    /// Alone, beside itself and beside an ordinary signature.
    #[test]
    fn the_twelve_edge_cases_get_one_answer_alone_and_in_batches() {
        let (ordinary, signature) = odd_signature(0, 0);
        for (n, (message, key, edge, holds)) in SPECCHECK.into_iter().enumerate() {
            let (message, edge) = (hex(message), hex(edge));
            let key: [u8; 32] = hex(key).try_into().expect("32 bytes");
            let Ok(key) = Ed25519Key::new(&key) else {
                assert!(!holds, "{n}");
                continue;
            };
            assert_eq!(key.verify(&[&message], &edge).is_ok(), holds, "{n}");
            let item = (&key, [&message[..], b""], &edge[..]);
            let beside = (&ordinary, [&b"message"[..], b""], &signature[..]);
            for batch in [
                vec![item],
                vec![item, item],
                vec![item, beside],
                vec![beside, item],
            ] {
                assert_eq!(Ed25519Key::verify_batch(batch.into_iter()), holds, "{n}");
            }
        }
    }

    /// C6: all encodings of the eight points of small order (table 6 of the same paper), and the
    /// signature that verifies any message under them.
    #[test]
    fn c06_a_key_of_small_order_is_refused_in_every_encoding() {
        let mut neutral = [0; 32];
        neutral[0] = 1;
        let constant = [neutral, [0; 32]].concat();
        let mut encodings = 0;
        for point in EIGHT_TORSION {
            let canonical = point.compress().to_bytes();
            let mut other_sign = canonical;
            other_sign[31] ^= 0x80;
            for encoded in [canonical, other_sign] {
                assert!(Ed25519Key::new(&encoded).is_err());
                encodings += 1;
            }
        }
        for low in [0xed, 0xee] {
            for high in [0x7f, 0xff] {
                let mut encoded = [0xff; 32];
                (encoded[0], encoded[31]) = (low, high);
                assert!(Ed25519Key::new(&encoded).is_err());
                encodings += 1;
            }
        }
        assert_eq!(encodings, 20);
        // Made past the check, such a key would accept it: the check is what refuses.
        let unchecked = Ed25519Key {
            encoded: neutral,
            minus_a: EIGHT_TORSION[0],
        };
        assert_eq!(unchecked.verify(&[b"any message"], &constant), Ok(()));
        // Under an ordinary key it says nothing.
        assert!(
            odd_signature(0, 0)
                .0
                .verify(&[b"any message"], &constant)
                .is_err()
        );
    }
}
