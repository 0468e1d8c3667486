//! A proof: A, B and C, 128 bytes.

use ark_bn254::{Fr, G1Affine, G2Affine};
use ark_ec::{AffineRepr, CurveGroup};
use ark_ff::Field;

use crate::Error;
use crate::field::random;
use crate::points::{point, put};
use crate::verifying_key::VerifyingKey;

/// A proof whose points are on their curves and in their groups, and none of them at infinity.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Proof {
    pub(crate) a: G1Affine,
    pub(crate) b: G2Affine,
    pub(crate) c: G1Affine,
}

impl Proof {
    /// Bytes of a proof.
    pub const BYTES: usize = 128;

    /// Reads A, B and C, compressed as arkworks writes them (x little-endian, flags in the highest
    /// bits): the one encoding of each.
    ///
    /// # Errors
    /// [`Error::Encoding`]: another length, a number above the modulus, a point that is not on its
    /// curve, not in its group or at infinity.
    pub fn from_bytes(bytes: &[u8]) -> Result<Proof, Error> {
        if bytes.len() != Self::BYTES {
            return Err(Error::Encoding("proof"));
        }
        let proof = Proof {
            a: point(&bytes[..32])?,
            b: point(&bytes[32..96])?,
            c: point(&bytes[96..])?,
        };
        if proof.a.is_zero() || proof.b.is_zero() || proof.c.is_zero() {
            return Err(Error::Encoding("proof"));
        }
        Ok(proof)
    }

    /// The 128 bytes.
    pub fn to_bytes(&self) -> [u8; 128] {
        let mut out = [0; 128];
        put(&self.a, &mut out[..32]);
        put(&self.b, &mut out[32..96]);
        put(&self.c, &mut out[96..]);
        out
    }

    /// Another proof of the same sentence, as anybody can make it: a token is identified by its
    /// payload, never by its bytes.
    pub fn rerandomised(&self, key: &VerifyingKey) -> Proof {
        let (r, s) = (random(), random());
        // A random number is 0 once in 2^254 times.
        let over = r.inverse().unwrap_or(Fr::ONE);
        Proof {
            a: (self.a * over).into_affine(),
            b: (self.b * r + key.delta * (r * s)).into_affine(),
            c: (self.a * s + self.c).into_affine(),
        }
    }
}
