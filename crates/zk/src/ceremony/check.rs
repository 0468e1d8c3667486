//! Whether a transcript holds: every contribution, every power, and their outcome.

use ark_bn254::{Bn254, Fr, G1Affine, G1Projective, G2Affine, G2Projective};
use ark_ec::pairing::Pairing;
use ark_ec::{AffineRepr, CurveGroup, PrimeGroup, VariableBaseMSM};
use ark_ff::Zero;

use super::state::{Ceremony, Second};
use crate::Error;
use crate::domain::Domain;
use crate::parameters::{Parameters, Powers, Queries, transposed};

/// e(a, b) = e(c, d).
fn pair(a: G1Projective, b: G2Projective, c: G1Projective, d: G2Projective) -> bool {
    Bn254::multi_pairing([a, -c], [b, d]).is_zero()
}

/// Random factors of 128 bits.
fn weights(count: usize) -> Vec<Fr> {
    (0..count)
        .map(|_| Fr::from(u128::from_le_bytes(signet_crypto::random::bytes())))
        .collect()
}

/// A sum of multiples, over the shorter length.
fn sum<G: CurveGroup<ScalarField = Fr> + VariableBaseMSM>(
    points: &[G::MulBase],
    factors: &[Fr],
) -> G {
    let count = points.len().min(factors.len());
    G::msm(&points[..count], &factors[..count]).unwrap_or_else(|_| G::zero())
}

impl Ceremony {
    /// Checks the whole transcript and gives the parameters: of two contributors at least in each
    /// phase.
    ///
    /// # Errors
    /// [`Error::Transcript`] says what does not hold.
    pub fn verify(&self) -> Result<Parameters, Error> {
        self.verify_powers()?;
        let Some(second) = &self.second else {
            return Err(Error::Transcript("the second phase has not begun"));
        };
        let (one, two) = (G1Projective::generator(), G2Projective::generator());
        let hashes = self.hashes();
        let mut place = *hashes.first.last().unwrap_or(&self.start());
        let mut bases = vec![G1Affine::generator()];
        for (contribution, hash) in second.contributions.iter().zip(&hashes.second) {
            if !contribution.holds(&bases, &place) {
                return Err(Error::Transcript("a contribution to the second phase"));
            }
            (place, bases) = (*hash, contribution.made());
        }
        let delta_two = second.delta_two.into_group();
        if bases != [second.delta] || !pair(second.delta.into_group(), two, one, delta_two) {
            return Err(Error::Transcript("delta is not the contributions'"));
        }
        if self.first.len() < 2 || second.contributions.len() < 2 {
            return Err(Error::Transcript("fewer than two contributions to a phase"));
        }
        let queries = &second.queries;
        let parameters = Parameters {
            statement: self.statement,
            alpha: self.powers.alpha[0],
            beta: self.powers.beta[0],
            delta: second.delta,
            beta_two: self.beta_two,
            delta_two: second.delta_two,
            inputs: queries.inputs.clone(),
            a: queries.a.clone(),
            b: queries.b.clone(),
            b_two: queries.b_two.clone(),
            wires: queries.wires.clone(),
            quotient: queries.quotient.clone(),
        };
        let degenerate = |_| Error::Transcript("the verifying key is degenerate");
        parameters.verifying_key().checked().map_err(degenerate)?;
        self.verify_queries(second)?;
        Ok(parameters)
    }

    /// Compares random sums of the queries with the same sums of the powers: the map from powers to
    /// queries is linear, and turned round it takes the sums' factors to factors of the powers.
    fn verify_queries(&self, second: &Second) -> Result<(), Error> {
        let system = self.statement.system();
        let domain = Domain::new(system.rows.len());
        let nothing = |count: usize| vec![Fr::zero(); count];
        let none = || Queries {
            a: nothing(system.wires),
            b: nothing(system.wires),
            b_two: nothing(system.wires),
            inputs: nothing(system.publics),
            wires: nothing(system.wires),
            quotient: nothing(domain.size()),
        };
        let (powers, own) = (&self.powers, &second.queries);
        let of_powers = |factors: &Powers<Fr, Fr>| -> G1Projective {
            sum::<G1Projective>(&powers.tau, &factors.tau)
                + sum::<G1Projective>(&powers.alpha, &factors.alpha)
                + sum::<G1Projective>(&powers.beta, &factors.beta)
        };
        // What phase 2 leaves as it is.
        let plain = Queries {
            a: weights(system.wires),
            b: weights(system.wires),
            b_two: weights(system.wires),
            inputs: weights(system.publics),
            ..none()
        };
        let expected = transposed(&system, &domain, &plain);
        let one = sum::<G1Projective>(&own.a, &plain.a)
            + sum::<G1Projective>(&own.b, &plain.b)
            + sum::<G1Projective>(&own.inputs, &plain.inputs);
        let two: G2Projective = sum(&own.b_two, &plain.b_two);
        let same = one == of_powers(&expected)
            && two == sum::<G2Projective>(&powers.tau_two, &expected.tau_two);
        // And what it divides by delta.
        let divided = Queries {
            wires: weights(system.wires),
            quotient: weights(domain.size()),
            ..none()
        };
        let left = sum::<G1Projective>(&own.wires, &divided.wires)
            + sum::<G1Projective>(&own.quotient, &divided.quotient);
        let right = of_powers(&transposed(&system, &domain, &divided));
        if same
            && pair(
                left,
                second.delta_two.into_group(),
                right,
                G2Projective::generator(),
            )
        {
            Ok(())
        } else {
            Err(Error::Transcript(
                "the parameters are not the powers' over delta",
            ))
        }
    }

    fn verify_powers(&self) -> Result<(), Error> {
        let one = G1Affine::generator();
        let mut place = self.start();
        let mut bases = vec![one; 3];
        for (contribution, hash) in self.first.iter().zip(self.hashes().first) {
            if !contribution.holds(&bases, &place) {
                return Err(Error::Transcript("a contribution to the first phase"));
            }
            (place, bases) = (hash, contribution.made());
        }
        let powers = &self.powers;
        let ends = [powers.tau[1], powers.alpha[0], powers.beta[0]];
        if bases != ends || powers.tau[0] != one || powers.tau_two[0] != G2Affine::generator() {
            return Err(Error::Transcript("the powers are not the contributions'"));
        }
        let (g, h) = (G1Projective::generator(), G2Projective::generator());
        let tau = powers.tau[1].into_group();
        let tau_two = powers.tau_two[1].into_group();
        let rises = |points: &[G1Affine]| {
            let weights = weights(points.len() - 1);
            pair(
                sum(points, &weights),
                tau_two,
                sum(&points[1..], &weights),
                h,
            )
        };
        let weights = weights(powers.tau_two.len() - 1);
        let low: G2Projective = sum(&powers.tau_two, &weights);
        let high: G2Projective = sum(&powers.tau_two[1..], &weights);
        let holds = pair(tau, h, g, tau_two)
            && rises(&powers.tau)
            && rises(&powers.alpha)
            && rises(&powers.beta)
            && pair(tau, low, g, high)
            && pair(ends[2].into_group(), h, g, self.beta_two.into_group());
        if !holds {
            return Err(Error::Transcript("the powers are not powers"));
        }
        // tau^N = 1: the vanishing polynomial is zero there, and the equation says nothing. 1 and
        // -1 are such points.
        if powers.tau[powers.alpha.len()] == one {
            return Err(Error::Transcript("tau is a point of the domain"));
        }
        let is_one = |point: G1Affine| point.x() == one.x();
        if is_one(ends[1]) || is_one(ends[2]) {
            return Err(Error::Transcript("alpha or beta is 1 or -1"));
        }
        Ok(())
    }
}
