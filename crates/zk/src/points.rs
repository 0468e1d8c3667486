//! Points as bytes: compressed and checked in proofs and verifying keys, uncompressed in files that
//! are read under their hash.

use ark_bn254::{Fq, Fq2, G1Affine, G2Affine};
use ark_ec::AffineRepr;
use ark_ff::{BigInt, PrimeField, Zero};
use ark_serialize::{CanonicalDeserialize, CanonicalSerialize};

use crate::Error;

/// A compressed point, canonical and in its group.
pub(crate) fn point<T>(bytes: &[u8]) -> Result<T, Error>
where
    T: CanonicalDeserialize + CanonicalSerialize,
{
    let point = T::deserialize_compressed(bytes).map_err(|_| Error::Encoding("point"))?;
    // arkworks ignores x beside the flag of infinity; what does not come back is a second spelling.
    let mut again = [0; 64];
    let again = &mut again[..bytes.len()];
    put(&point, again);
    if again == bytes {
        Ok(point)
    } else {
        Err(Error::Encoding("point"))
    }
}

/// Writes a compressed point into exactly its size.
pub(crate) fn put<T: CanonicalSerialize>(point: &T, mut out: &mut [u8]) {
    debug_assert_eq!(point.compressed_size(), out.len());
    // A slice of the point's own size takes all of it.
    let written = point.serialize_compressed(&mut out);
    debug_assert!(written.is_ok());
}

fn put_field(out: &mut Vec<u8>, value: &Fq) {
    for limb in value.0.0 {
        out.extend_from_slice(&limb.to_le_bytes());
    }
}

/// Zeros are the point at infinity: (0, 0) is on neither curve.
pub(crate) fn put_one(out: &mut Vec<u8>, point: &G1Affine) {
    let (x, y) = point.xy().unwrap_or((Fq::zero(), Fq::zero()));
    put_field(out, &x);
    put_field(out, &y);
}

pub(crate) fn put_two(out: &mut Vec<u8>, point: &G2Affine) {
    let (x, y) = point.xy().unwrap_or((Fq2::zero(), Fq2::zero()));
    for value in [x.c0, x.c1, y.c0, y.c1] {
        put_field(out, &value);
    }
}

/// Reads what the functions above write.
pub(crate) struct Reader<'a>(pub(crate) &'a [u8]);

impl<'a> Reader<'a> {
    pub(crate) fn take(&mut self, count: usize) -> Result<&'a [u8], Error> {
        let (taken, rest) = self
            .0
            .split_at_checked(count)
            .ok_or(Error::Encoding("parameters"))?;
        self.0 = rest;
        Ok(taken)
    }

    pub(crate) fn number(&mut self) -> Result<usize, Error> {
        let mut bytes = [0; 4];
        bytes.copy_from_slice(self.take(4)?);
        Ok(u32::from_le_bytes(bytes) as usize)
    }

    /// A field element, below the order.
    fn field(&mut self) -> Result<Fq, Error> {
        let mut limbs = [0; 4];
        for limb in &mut limbs {
            let mut bytes = [0; 8];
            bytes.copy_from_slice(self.take(8)?);
            *limb = u64::from_le_bytes(bytes);
        }
        let limbs = BigInt(limbs);
        if limbs >= Fq::MODULUS {
            return Err(Error::Encoding("parameters"));
        }
        Ok(Fq::new_unchecked(limbs))
    }

    pub(crate) fn one(&mut self) -> Result<G1Affine, Error> {
        let (x, y) = (self.field()?, self.field()?);
        Ok(if x.is_zero() && y.is_zero() {
            G1Affine::identity()
        } else {
            G1Affine::new_unchecked(x, y)
        })
    }

    pub(crate) fn two(&mut self) -> Result<G2Affine, Error> {
        let x = Fq2::new(self.field()?, self.field()?);
        let y = Fq2::new(self.field()?, self.field()?);
        Ok(if x.is_zero() && y.is_zero() {
            G2Affine::identity()
        } else {
            G2Affine::new_unchecked(x, y)
        })
    }

    pub(crate) fn ones(&mut self, count: usize) -> Result<Vec<G1Affine>, Error> {
        (0..count).map(|_| self.one()).collect()
    }
}

/// A point of a transcript, on the curve: the first group has no others.
pub(crate) fn checked(point: G1Affine) -> Result<G1Affine, Error> {
    if point.is_on_curve() {
        Ok(point)
    } else {
        Err(Error::Encoding("transcript"))
    }
}

/// A point of a transcript, on the curve and in its group.
pub(crate) fn checked_two(point: G2Affine) -> Result<G2Affine, Error> {
    if point.is_on_curve() && point.is_in_correct_subgroup_assuming_on_curve() {
        Ok(point)
    } else {
        Err(Error::Encoding("transcript"))
    }
}
