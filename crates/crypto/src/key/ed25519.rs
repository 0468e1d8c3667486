//! Ed25519 verification (RFC 8032 section 5.1.7).
//!
//! Implementations differ in which borderline signatures they accept. Here, everywhere in the house, the answer is:
//! - `S` is below the group order, so a signature cannot be changed into another valid one;
//! - the public key and `R` are canonical encodings: one key and one signature have one form;
//! - the public key has not small order: such a key accepts one constant signature for every message;
//! - the equation is the cofactored one of RFC 8032, `[8][S]B = [8]R + [8][k]A`. It is the one that verification in batches
//!   decides too, so both always agree.
//!
//! The quick path computes `[S]B - [k]A` and compares its encoding with `R`: equal encodings satisfy the stricter
//! cofactorless equation, hence also this one. Only a signature that fails there, a forgery or a deliberately odd one,
//! pays for decoding `R`.

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

    pub(super) fn verify(&self, message: &[u8], signature: &[u8]) -> Result<(), InvalidSignature> {
        let (r, s) = split(signature).ok_or(InvalidSignature)?;
        let k = self.challenge(r, message);
        let expected_r = EdwardsPoint::vartime_double_scalar_mul_basepoint(&k, &self.minus_a, &s);
        if expected_r.compress().as_bytes() == r {
            return Ok(());
        }
        let r = decode_canonical(r).ok_or(InvalidSignature)?;
        if (expected_r - r).mul_by_cofactor().is_identity() {
            Ok(())
        } else {
            Err(InvalidSignature)
        }
    }

    /// Checks many signatures by one equation, `[8](sum z_i S_i)B = [8]sum z_i R_i + [8]sum z_i k_i A_i` with random 128-bit `z_i`.
    ///
    /// True means that each holds alone; false means that at least one does not. A wrong "true" has a chance of 2^-128.
    ///
    /// The first `z` is 1: a wrong equation is multiplied by something else than 0 there, and by a random number elsewhere.
    pub(super) fn verify_batch<'a>(
        items: impl ExactSizeIterator<Item = (&'a Ed25519Key, &'a [u8], &'a [u8])>,
    ) -> bool {
        if items.len() == 0 {
            return true;
        }
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
            let k = key.challenge(r, message);
            // The points are negated and not the weights: a weight of half the length costs half the additions.
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
    fn challenge(&self, r: &[u8; 32], message: &[u8]) -> Scalar {
        let mut hash = digest::Context::new(&digest::SHA512);
        hash.update(r);
        hash.update(&self.encoded);
        hash.update(message);
        let mut wide = [0; 64];
        wide.copy_from_slice(hash.finish().as_ref());
        Scalar::from_bytes_mod_order_wide(&wide)
    }
}

/// `R` and `S`; only an `S` below the order is one.
fn split(signature: &[u8]) -> Option<(&[u8; 32], Scalar)> {
    let (r, s) = signature.split_first_chunk::<32>()?;
    let s = Option::from(Scalar::from_canonical_bytes(s.try_into().ok()?))?;
    Some((r, s))
}

/// The y coordinates of the two points whose x is 0, little-endian: 1, and p - 1 with p = 2^255 - 19.
const Y_OF_ZERO_X: [[u8; 32]; 2] = {
    let (mut one, mut minus_one) = ([0; 32], [0xff; 32]);
    one[0] = 1;
    (minus_one[0], minus_one[31]) = (0xec, 0x7f);
    [one, minus_one]
};

/// Decoding alone accepts a y of p and more, and the sign of a zero x (RFC 8032 section 5.1.3 refuses both).
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

    /// A signature with the given torsion in `R` and in the key: valid by the cofactored equation alone.
    fn odd_signature(key_torsion: usize, r_torsion: usize) -> (Ed25519Key, [u8; 64]) {
        let (a, r) = (Scalar::from(123_456_789_u64), Scalar::from(987_654_321_u64));
        let public = ED25519_BASEPOINT_POINT * a + EIGHT_TORSION[key_torsion];
        let key = Ed25519Key::new(public.compress().as_bytes()).expect("a full-order key");
        let big_r = (ED25519_BASEPOINT_POINT * r + EIGHT_TORSION[r_torsion]).compress();
        let s = r + key.challenge(big_r.as_bytes(), b"message") * a;
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
                    key.verify(b"message", &signature),
                    Ok(()),
                    "{key_torsion} {r_torsion}"
                );
                assert_eq!(key.verify(b"massage", &signature), Err(InvalidSignature));
            }
        }
    }

    #[test]
    fn a_batch_answers_as_each_alone() {
        let signed: Vec<_> = (0..64).map(|i| odd_signature(i / 8, i % 8)).collect();
        let items = |message: &'static [u8]| {
            signed
                .iter()
                .map(move |(key, signature)| (key, message, &signature[..]))
        };
        assert!(Ed25519Key::verify_batch(items(b"message")));
        for bad in 0..signed.len() {
            let mixed = signed.iter().enumerate().map(|(i, (key, signature))| {
                let message: &[u8] = if i == bad { b"massage" } else { b"message" };
                (key, message, &signature[..])
            });
            assert!(!Ed25519Key::verify_batch(mixed), "{bad}");
        }
        assert!(!Ed25519Key::verify_batch(
            items(b"message").map(|(k, m, s)| (k, m, &s[..63]))
        ));
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
        // p = 2^255 - 19, little-endian; y = p is y = 0, y = p + 1 is the neutral element, and so on up to 2^255 - 1.
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
        assert_eq!(key.verify(b"message", &signature), Ok(()));
        assert_eq!(key.verify(b"message", &changed), Err(InvalidSignature));
    }
}
