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

    /// Reads a key. It is trusted by its hash or by where it was found, never because it could be
    /// read.
    ///
    /// # Errors
    /// [`Error::Encoding`] for other bytes, [`Error::Degenerate`] for points under which anybody
    /// makes proofs.
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
        key.checked()
    }

    /// The key, if its points are as far apart as those of secrets are.
    ///
    /// Groth16 is sound where alpha, beta, gamma, delta and the inputs are in no relation that
    /// anybody knows. Those that are seen at once are refused: a point at infinity binds nothing;
    /// delta = gamma lets C pay for the inputs, so A = alpha, B = beta proves every message; beta =
    /// delta and beta = gamma let A do it; two inputs of one point can be exchanged. The same holds
    /// for opposite points. A setup whose secrets are random makes such a key once in 2^250 times;
    /// what makes one is a ceremony whose secrets were 1.
    ///
    /// # Errors
    /// [`Error::Degenerate`].
    pub(crate) fn checked(self) -> Result<VerifyingKey, Error> {
        let mut ones = vec![G1Affine::generator(), self.alpha];
        ones.extend(&self.inputs);
        let twos = [G2Affine::generator(), self.beta, self.delta];
        if are_apart(&ones) && are_apart(&twos) {
            Ok(self)
        } else {
            Err(Error::Degenerate)
        }
    }

    /// SHA-256 of the bytes: what a verifier pins.
    pub fn hash(&self) -> [u8; 32] {
        signet_crypto::hash::sha256(&self.to_bytes())
    }
}

/// Whether no point is at infinity, and no two are equal or opposite: those have one x.
fn are_apart<G: AffineRepr>(points: &[G]) -> bool {
    points.iter().enumerate().all(|(at, point)| {
        let others = &points[..at];
        point
            .x()
            .is_some_and(|x| others.iter().all(|other| other.x() != Some(x)))
    })
}
