//! Parameters as a file.

use ark_bn254::{G1Affine, G2Affine};

use super::Parameters;
use crate::Error;
use crate::points::{Reader, put_one, put_two};
use crate::statement::Statement;

impl Parameters {
    fn points(&self) -> ([&[G1Affine]; 5], &[G2Affine]) {
        (
            [&self.inputs, &self.a, &self.b, &self.wires, &self.quotient],
            &self.b_two,
        )
    }

    /// The file: a head, then every point uncompressed, as the limbs that the field arithmetic
    /// works on. It is read once, and only after its hash was compared with the pinned one; nothing
    /// in it is checked again.
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
    /// [`Error::Hash`] where it is another, [`Error::Encoding`] where the right hash was given for
    /// what is no such file, [`Error::Degenerate`] where its verifying key is.
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
        if !reader.0.is_empty() {
            return Err(Error::Encoding("parameters"));
        }
        read.verifying_key().checked()?;
        Ok(read)
    }
}

const MAGIC: &[u8] = b"signet groth16 parameters 1\n";
