//! The verifying key: what a verifier pins.

use ark_bn254::{G1Affine, G2Affine};
use ark_ec::AffineRepr;

use crate::Error;
use crate::points::{point, put};
use crate::statement::Statement;

/// The verifying key of a statement's parameters. gamma is the second group's generator.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VerifyingKey {
    pub(crate) statement: Statement,
    pub(crate) alpha: G1Affine,
    pub(crate) beta: G2Affine,
    pub(crate) delta: G2Affine,
    pub(crate) inputs: Vec<G1Affine>,
}

impl VerifyingKey {
    /// Which statement it is for.
    pub fn statement(&self) -> Statement {
        self.statement
    }

    /// Bytes of a statement's key.
    pub fn length(statement: Statement) -> usize {
        1 + 32 + 64 + 64 + 32 * (statement.inputs() + 1)
    }

    /// The statement's number, then alpha, beta, delta and the inputs' points, compressed.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = vec![0; Self::length(self.statement)];
        out[0] = self.statement.number();
        put(&self.alpha, &mut out[1..33]);
        put(&self.beta, &mut out[33..97]);
        put(&self.delta, &mut out[97..161]);
        for (point, out) in self.inputs.iter().zip(out[161..].chunks_exact_mut(32)) {
            put(point, out);
        }
        out
    }

    /// Reads a key. It is trusted by its hash or by where it was found, never because it could be read.
    ///
    /// # Errors
    /// [`Error::Encoding`], also for an input whose point is zero: it would bind nothing.
    pub fn from_bytes(bytes: &[u8]) -> Result<VerifyingKey, Error> {
        let number = bytes.first().ok_or(Error::Encoding("verifying key"))?;
        let statement = Statement::from_number(*number)?;
        if bytes.len() != Self::length(statement) {
            return Err(Error::Encoding("verifying key"));
        }
        let key = VerifyingKey {
            statement,
            alpha: point(&bytes[1..33])?,
            beta: point(&bytes[33..97])?,
            delta: point(&bytes[97..161])?,
            inputs: bytes[161..]
                .chunks_exact(32)
                .map(point)
                .collect::<Result<_, _>>()?,
        };
        let zero = key.alpha.is_zero()
            || key.beta.is_zero()
            || key.delta.is_zero()
            || key.inputs.iter().any(|input| input.is_zero());
        if zero {
            return Err(Error::Encoding("verifying key"));
        }
        Ok(key)
    }

    /// SHA-256 of the bytes: what a verifier pins.
    pub fn hash(&self) -> [u8; 32] {
        signet_crypto::hash::sha256(&self.to_bytes())
    }
}
