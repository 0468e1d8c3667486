//! Parameters as a file, and points in files.

use ark_bn254::{Fq, Fq2, G1Affine, G2Affine};
use ark_ec::AffineRepr;
use ark_ff::{BigInt, PrimeField, Zero};

use super::Parameters;
use crate::Error;
use crate::statement::Statement;

impl Parameters {
    fn points(&self) -> ([&[G1Affine]; 5], &[G2Affine]) {
        (
            [&self.inputs, &self.a, &self.b, &self.wires, &self.quotient],
            &self.b_two,
        )
    }

    /// The file: a head, then every point uncompressed, as the limbs that the field arithmetic works on. It is read once, and only after its
    /// hash was compared with the pinned one; nothing in it is checked again.
    pub fn to_bytes(&self) -> Vec<u8> {
        let (ones, twos) = self.points();
        let mut out = Vec::new();
        out.extend_from_slice(MAGIC);
        out.push(self.statement.number());
        for list in ones {
            out.extend_from_slice(&(list.len() as u32).to_le_bytes());
        }
        out.extend_from_slice(&(twos.len() as u32).to_le_bytes());
        for point in [self.alpha, self.beta, self.delta] {
            put_one(&mut out, &point);
        }
        for point in [self.beta_two, self.delta_two] {
            put_two(&mut out, &point);
        }
        ones.iter()
            .copied()
            .flatten()
            .for_each(|point| put_one(&mut out, point));
        twos.iter().for_each(|point| put_two(&mut out, point));
        out
    }

    /// SHA-256 of the file.
    pub fn hash(&self) -> [u8; 32] {
        signet_crypto::hash::sha256(&self.to_bytes())
    }

    /// Reads a file whose SHA-256 must be `hash`.
    ///
    /// # Errors
    /// [`Error::Hash`] where it is another, [`Error::Encoding`] where the right hash was given for what is no such file.
    pub fn from_bytes(bytes: &[u8], hash: &[u8; 32]) -> Result<Parameters, Error> {
        if signet_crypto::hash::sha256(bytes) != *hash {
            return Err(Error::Hash);
        }
        Self::read(bytes)
    }

    fn read(bytes: &[u8]) -> Result<Parameters, Error> {
        let mut reader = Reader(bytes);
        if reader.take(MAGIC.len())? != MAGIC {
            return Err(Error::Encoding("parameters"));
        }
        let statement = Statement::from_number(reader.take(1)?[0])?;
        let mut counts = [0; 6];
        for count in &mut counts {
            *count = reader.number()?;
        }
        let [inputs, a, b, wires, quotient, b_two] = counts;
        let (alpha, beta, delta) = (reader.one()?, reader.one()?, reader.one()?);
        let (beta_two, delta_two) = (reader.two()?, reader.two()?);
        let read = Parameters {
            statement,
            alpha,
            beta,
            delta,
            beta_two,
            delta_two,
            inputs: reader.ones(inputs)?,
            a: reader.ones(a)?,
            b: reader.ones(b)?,
            wires: reader.ones(wires)?,
            quotient: reader.ones(quotient)?,
            b_two: (0..b_two).map(|_| reader.two()).collect::<Result<_, _>>()?,
        };
        if reader.0.is_empty() {
            Ok(read)
        } else {
            Err(Error::Encoding("parameters"))
        }
    }
}

const MAGIC: &[u8] = b"signet groth16 parameters 1\n";

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
