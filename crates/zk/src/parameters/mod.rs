//! The parameters of a statement: what a prover and a verifier need, as a setup made them.

mod file;
mod specialise;

use ark_bn254::{Fr, G1Affine, G1Projective, G2Affine, G2Projective};
use ark_ec::scalar_mul::ScalarMul;
use ark_ec::{CurveGroup, PrimeGroup};
use ark_ff::Field;

use self::specialise::powers;
pub(crate) use self::specialise::{Powers, Queries, specialise, transposed};
use crate::domain::Domain;
use crate::statement::Statement;
use crate::verifying_key::VerifyingKey;

/// The parameters of one statement: the prover's, with the verifier's among them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Parameters {
    pub(crate) statement: Statement,
    pub(crate) alpha: G1Affine,
    pub(crate) beta: G1Affine,
    pub(crate) delta: G1Affine,
    pub(crate) beta_two: G2Affine,
    pub(crate) delta_two: G2Affine,
    pub(crate) inputs: Vec<G1Affine>,
    pub(crate) a: Vec<G1Affine>,
    pub(crate) b: Vec<G1Affine>,
    pub(crate) b_two: Vec<G2Affine>,
    pub(crate) wires: Vec<G1Affine>,
    pub(crate) quotient: Vec<G1Affine>,
}

impl Parameters {
    /// Parameters whose secrets this process knew for a moment: **for development.** Whoever kept
    /// them could prove anything.
    pub fn development(statement: Statement) -> Parameters {
        let random = crate::field::random;
        let secrets = [random(), random(), random(), random()];
        Parameters::from_secrets(statement, secrets)
    }

    pub(crate) fn from_secrets(
        statement: Statement,
        [tau, alpha, beta, delta]: [Fr; 4],
    ) -> Parameters {
        let system = statement.system();
        let domain = Domain::new(system.rows.len());
        let queries = specialise(&system, &domain, &powers(&domain, tau, alpha, beta));
        // A random number is 0 once in 2^254 times.
        let over = delta.inverse().unwrap_or_default();
        let divided = |numbers: Vec<Fr>| numbers.iter().map(|n| *n * over).collect::<Vec<_>>();
        let (one, two) = (G1Projective::generator(), G2Projective::generator());
        Parameters {
            statement,
            alpha: (one * alpha).into_affine(),
            beta: (one * beta).into_affine(),
            delta: (one * delta).into_affine(),
            beta_two: (two * beta).into_affine(),
            delta_two: (two * delta).into_affine(),
            inputs: one.batch_mul(&queries.inputs),
            a: one.batch_mul(&queries.a),
            b: one.batch_mul(&queries.b),
            b_two: two.batch_mul(&queries.b_two),
            wires: one.batch_mul(&divided(queries.wires)),
            quotient: one.batch_mul(&divided(queries.quotient)),
        }
    }

    /// Which statement they are for.
    pub fn statement(&self) -> Statement {
        self.statement
    }

    /// The verifying key among them.
    pub fn verifying_key(&self) -> VerifyingKey {
        VerifyingKey {
            statement: self.statement,
            alpha: self.alpha,
            beta: self.beta_two,
            delta: self.delta_two,
            inputs: self.inputs.clone(),
        }
    }
}
