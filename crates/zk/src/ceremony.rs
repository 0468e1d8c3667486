//! A ceremony: parameters whose secrets nobody knows, if one contributor to each phase was honest and forgot its own.
//!
//! **Both phases are multi-party.** In phase 1 each contributor multiplies tau, alpha and beta by secrets of its own; the powers that result do not depend
//! on the circuit but for their number. Specialising them to the circuit is public arithmetic that anybody repeats. In phase 2 each contributor multiplies
//! delta. gamma is 1 and nobody's. Somebody who knew all of one phase's secrets (tau, alpha and beta, or delta) could prove anything; one honest
//! contributor in each phase, who need not be the same, prevents it. No random beacon ends the phases: Groth16 stays sound without one (Kohlweiss,
//! Maller, Siim, Volkhov, "Snarky Ceremonies", 2021).
//!
//! **The transcript** has every contribution: the points it made of tau, alpha, beta or delta, and for each a Schnorr proof that the contributor knew its
//! factor, bound to the hash of all that came before, so no contribution can be cut out, moved or copied. Of the powers it has the last state only, which is
//! checked as a whole against the last points ([`Ceremony::verify`], with the checker's own random weights).
//!
//! A contributor does not have to trust the ones before: whoever uses the parameters verifies the transcript, and each contributor looks for the hash
//! of its own contribution in it.

use ark_bn254::{Bn254, Fr, G1Affine, G1Projective, G2Affine, G2Projective};
use ark_ec::pairing::Pairing;
use ark_ec::{AffineRepr, CurveGroup, PrimeGroup, VariableBaseMSM};
use ark_ff::{Field, One, PrimeField, Zero};
use signet_crypto::hash::{Sha256, sha512};

use crate::Error;
use crate::domain::Domain;
use crate::field::{random, to_bytes};
use crate::parameters::{Parameters, Powers, Queries, Reader, put_one, put_two, specialise};
use crate::statement::Statement;

/// A point was multiplied by a number that its maker knew: the product, and a Schnorr proof.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Step {
    made: G1Affine,
    commitment: G1Affine,
    answer: Fr,
}

/// One contribution: steps of tau, alpha and beta, or the one of delta.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Contribution {
    steps: Vec<Step>,
}

/// The state of a ceremony, with its transcript.
#[derive(Clone)]
pub struct Ceremony {
    statement: Statement,
    first: Vec<Contribution>,
    powers: Powers<G1Affine, G2Affine>,
    beta_two: G2Affine,
    second: Option<Second>,
}

impl std::fmt::Debug for Ceremony {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ceremony")
            .field("statement", &self.statement)
            .finish_non_exhaustive()
    }
}

/// The second phase.
#[derive(Clone)]
struct Second {
    contributions: Vec<Contribution>,
    delta: G1Affine,
    delta_two: G2Affine,
    wires: Vec<G1Affine>,
    quotient: Vec<G1Affine>,
}

/// Hashes of the contributions, in order: each covers all before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transcript {
    /// Phase 1: tau, alpha, beta.
    pub first: Vec<[u8; 32]>,
    /// Phase 2: delta.
    pub second: Vec<[u8; 32]>,
}

impl Step {
    /// Multiplies `base` by `secret`.
    fn make(base: G1Affine, secret: Fr, place: &[u8; 32], index: u8) -> Step {
        let made = (base * secret).into_affine();
        let nonce = random();
        let commitment = (base * nonce).into_affine();
        let challenge = challenge(place, index, [base, made, commitment]);
        Step {
            made,
            commitment,
            answer: nonce + challenge * secret,
        }
    }

    fn holds(&self, base: G1Affine, place: &[u8; 32], index: u8) -> bool {
        let challenge = challenge(place, index, [base, self.made, self.commitment]);
        !self.made.is_zero() && base * self.answer == self.made * challenge + self.commitment
    }
}

/// 512 bits of hash, reduced: uniform.
fn challenge(place: &[u8; 32], index: u8, points: [G1Affine; 3]) -> Fr {
    let mut message = b"signet ceremony step\n".to_vec();
    message.extend_from_slice(place);
    message.push(index);
    points.iter().for_each(|point| put_one(&mut message, point));
    Fr::from_be_bytes_mod_order(&sha512(&message))
}

impl Contribution {
    /// Multiplies each of `bases` by its secret.
    fn make(bases: &[G1Affine], secrets: &[Fr], place: &[u8; 32]) -> Contribution {
        let steps = (0..).zip(bases.iter().zip(secrets));
        Contribution {
            steps: steps
                .map(|(index, (base, secret))| Step::make(*base, *secret, place, index))
                .collect(),
        }
    }

    fn holds(&self, bases: &[G1Affine], place: &[u8; 32]) -> bool {
        self.steps.len() == bases.len()
            && (0..)
                .zip(self.steps.iter().zip(bases))
                .all(|(index, (step, base))| step.holds(*base, place, index))
    }

    fn put(&self, out: &mut Vec<u8>) {
        for step in &self.steps {
            put_one(out, &step.made);
            put_one(out, &step.commitment);
            out.extend_from_slice(&to_bytes(step.answer));
        }
    }

    fn read(reader: &mut Reader<'_>, steps: usize) -> Result<Contribution, Error> {
        let step = |reader: &mut Reader<'_>| {
            let (made, commitment) = (checked(reader.one()?)?, checked(reader.one()?)?);
            let mut answer = [0; 32];
            answer.copy_from_slice(reader.take(32)?);
            Ok(Step {
                made,
                commitment,
                answer: crate::field::from_bytes(&answer).ok_or(Error::Encoding("transcript"))?,
            })
        };
        Ok(Contribution {
            steps: (0..steps).map(|_| step(reader)).collect::<Result<_, _>>()?,
        })
    }

    /// The hash of this contribution and all before it.
    fn hash(&self, phase: u8, before: &[u8; 32]) -> [u8; 32] {
        let mut bytes = Vec::new();
        self.put(&mut bytes);
        let mut hash = Sha256::new();
        hash.update(b"signet ceremony contribution\n");
        hash.update(before);
        hash.update(&[phase]);
        hash.update(&bytes);
        hash.finish()
    }

    fn made(&self) -> Vec<G1Affine> {
        self.steps.iter().map(|step| step.made).collect()
    }
}

/// A point of the curve: the first group has no others.
fn checked(point: G1Affine) -> Result<G1Affine, Error> {
    if point.is_on_curve() {
        Ok(point)
    } else {
        Err(Error::Encoding("transcript"))
    }
}

fn checked_two(point: G2Affine) -> Result<G2Affine, Error> {
    if point.is_on_curve() && point.is_in_correct_subgroup_assuming_on_curve() {
        Ok(point)
    } else {
        Err(Error::Encoding("transcript"))
    }
}

/// Multiplies point i by `first * ratio^i`.
fn scale<G: AffineRepr<ScalarField = Fr>>(points: &[G], first: Fr, ratio: Fr) -> Vec<G> {
    let factors = std::iter::successors(Some(first), |factor| Some(*factor * ratio));
    let products: Vec<G::Group> = points.iter().zip(factors).map(|(p, f)| *p * f).collect();
    G::Group::normalize_batch(&products)
}

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
    /// A ceremony that nobody has contributed to: every secret is 1.
    pub fn new(statement: Statement) -> Ceremony {
        let size = Domain::new(statement.system().rows.len()).size();
        let (one, two) = (G1Affine::generator(), G2Affine::generator());
        Ceremony {
            statement,
            first: Vec::new(),
            powers: Powers {
                tau: vec![one; 2 * size - 1],
                alpha: vec![one; size],
                beta: vec![one; size],
                tau_two: vec![two; size],
            },
            beta_two: two,
            second: None,
        }
    }

    /// Which statement's parameters it makes.
    pub fn statement(&self) -> Statement {
        self.statement
    }

    /// 1, or 2 once the powers were specialised.
    pub fn phase(&self) -> u8 {
        if self.second.is_some() { 2 } else { 1 }
    }

    fn start(&self) -> [u8; 32] {
        let mut hash = Sha256::new();
        hash.update(b"signet ceremony\n");
        hash.update(&[self.statement.number()]);
        hash.finish()
    }

    /// Contributes to the phase that the ceremony is in, with fresh secrets that are forgotten; returns the contribution's hash.
    pub fn contribute(&mut self) -> [u8; 32] {
        self.contribute_with([random(), random(), random()])
    }

    fn contribute_with(&mut self, secrets: [Fr; 3]) -> [u8; 32] {
        let hashes = self.hashes();
        let place = *hashes
            .second
            .last()
            .or(hashes.first.last())
            .unwrap_or(&self.start());
        let phase = self.phase();
        let contribution = match &mut self.second {
            None => {
                let powers = &mut self.powers;
                let bases = [powers.tau[1], powers.alpha[0], powers.beta[0]];
                let made = Contribution::make(&bases, &secrets, &place);
                let [tau, alpha, beta] = secrets;
                powers.tau = scale(&powers.tau, Fr::one(), tau);
                powers.alpha = scale(&powers.alpha, alpha, tau);
                powers.beta = scale(&powers.beta, beta, tau);
                powers.tau_two = scale(&powers.tau_two, Fr::one(), tau);
                self.beta_two = (self.beta_two * beta).into_affine();
                self.first.push(made.clone());
                made
            }
            Some(second) => {
                let [delta, ..] = secrets;
                let made = Contribution::make(&[second.delta], &[delta], &place);
                // A random number is 0 once in 2^254 times.
                let over = delta.inverse().unwrap_or(Fr::ONE);
                second.wires = scale(&second.wires, over, Fr::one());
                second.quotient = scale(&second.quotient, over, Fr::one());
                second.delta = made.steps[0].made;
                second.delta_two = (second.delta_two * delta).into_affine();
                second.contributions.push(made.clone());
                made
            }
        };
        contribution.hash(phase, &place)
    }

    /// Ends phase 1. Takes a minute or two for SHA-256; the result is the same wherever it is computed.
    ///
    /// # Errors
    /// [`Error::Transcript`] where it has ended already.
    pub fn specialise(&mut self) -> Result<(), Error> {
        if self.second.is_some() {
            return Err(Error::Transcript("the first phase has ended"));
        }
        let queries = self.queries();
        self.second = Some(Second {
            contributions: Vec::new(),
            delta: G1Affine::generator(),
            delta_two: G2Affine::generator(),
            wires: G1Projective::normalize_batch(&queries.wires),
            quotient: G1Projective::normalize_batch(&queries.quotient),
        });
        Ok(())
    }

    fn queries(&self) -> Queries<G1Projective, G2Projective> {
        let system = self.statement.system();
        let domain = Domain::new(system.rows.len());
        let group = |points: &[G1Affine]| points.iter().map(|p| p.into_group()).collect();
        specialise(
            &system,
            &domain,
            &Powers {
                tau: group(&self.powers.tau),
                alpha: group(&self.powers.alpha),
                beta: group(&self.powers.beta),
                tau_two: self.powers.tau_two.iter().map(|p| p.into_group()).collect(),
            },
        )
    }

    /// The contributions' hashes, which everybody who contributed compares with their own.
    pub fn hashes(&self) -> Transcript {
        let mut place = self.start();
        let mut chain = |phase: u8, contributions: &[Contribution]| {
            contributions
                .iter()
                .map(|contribution| {
                    place = contribution.hash(phase, &place);
                    place
                })
                .collect::<Vec<_>>()
        };
        Transcript {
            first: chain(1, &self.first),
            second: match &self.second {
                Some(second) => chain(2, &second.contributions),
                None => Vec::new(),
            },
        }
    }

    /// Checks the whole transcript and gives the parameters: of two contributors at least in each phase.
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
        let queries = self.queries();
        let normal = G1Projective::normalize_batch;
        for (own, base) in [
            (&second.wires, normal(&queries.wires)),
            (&second.quotient, normal(&queries.quotient)),
        ] {
            let weights = weights(base.len());
            let same = own.len() == base.len()
                && pair(sum(own, &weights), delta_two, sum(&base, &weights), two);
            if !same {
                return Err(Error::Transcript(
                    "the parameters are not the powers' over delta",
                ));
            }
        }
        Ok(Parameters {
            statement: self.statement,
            alpha: self.powers.alpha[0],
            beta: self.powers.beta[0],
            delta: second.delta,
            beta_two: self.beta_two,
            delta_two: second.delta_two,
            inputs: normal(&queries.inputs),
            a: normal(&queries.a),
            b: normal(&queries.b),
            b_two: G2Projective::normalize_batch(&queries.b_two),
            wires: second.wires.clone(),
            quotient: second.quotient.clone(),
        })
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
        if holds {
            Ok(())
        } else {
            Err(Error::Transcript("the powers are not powers"))
        }
    }

    /// The transcript as a file: contributions, the last powers, and in phase 2 what became of them.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = MAGIC.to_vec();
        out.push(self.statement.number());
        let count = |out: &mut Vec<u8>, number: usize| {
            out.extend_from_slice(&(number as u32).to_le_bytes());
        };
        count(&mut out, self.first.len());
        self.first.iter().for_each(|c| c.put(&mut out));
        let powers = &self.powers;
        for list in [&powers.tau, &powers.alpha, &powers.beta] {
            list.iter().for_each(|point| put_one(&mut out, point));
        }
        powers
            .tau_two
            .iter()
            .for_each(|point| put_two(&mut out, point));
        put_two(&mut out, &self.beta_two);
        if let Some(second) = &self.second {
            count(&mut out, second.contributions.len());
            second.contributions.iter().for_each(|c| c.put(&mut out));
            put_one(&mut out, &second.delta);
            put_two(&mut out, &second.delta_two);
            for list in [&second.wires, &second.quotient] {
                list.iter().for_each(|point| put_one(&mut out, point));
            }
        }
        out
    }

    /// Reads a transcript. Its points are on their curves and in their groups; [`Ceremony::verify`] says whether it holds.
    ///
    /// # Errors
    /// [`Error::Encoding`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Ceremony, Error> {
        let mut reader = Reader(bytes);
        if reader.take(MAGIC.len())? != MAGIC {
            return Err(Error::Encoding("transcript"));
        }
        let statement = Statement::from_number(reader.take(1)?[0])?;
        let system = statement.system();
        let size = Domain::new(system.rows.len()).size();
        let contributions = |reader: &mut Reader<'_>, steps: usize| {
            let count = reader.number()?;
            (0..count)
                .map(|_| Contribution::read(reader, steps))
                .collect::<Result<Vec<_>, Error>>()
        };
        let ones = |reader: &mut Reader<'_>, count: usize| {
            (0..count)
                .map(|_| checked(reader.one()?))
                .collect::<Result<Vec<_>, Error>>()
        };
        let first = contributions(&mut reader, 3)?;
        let powers = Powers {
            tau: ones(&mut reader, 2 * size - 1)?,
            alpha: ones(&mut reader, size)?,
            beta: ones(&mut reader, size)?,
            tau_two: (0..size)
                .map(|_| checked_two(reader.two()?))
                .collect::<Result<_, _>>()?,
        };
        let beta_two = checked_two(reader.two()?)?;
        let second = if reader.0.is_empty() {
            None
        } else {
            Some(Second {
                contributions: contributions(&mut reader, 1)?,
                delta: checked(reader.one()?)?,
                delta_two: checked_two(reader.two()?)?,
                wires: ones(&mut reader, system.wires)?,
                quotient: ones(&mut reader, size)?,
            })
        };
        if !reader.0.is_empty() {
            return Err(Error::Encoding("transcript"));
        }
        Ok(Ceremony {
            statement,
            first,
            powers,
            beta_two,
            second,
        })
    }
}

const MAGIC: &[u8] = b"signet ceremony transcript 1\n";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Prover, Verifier};

    fn finished() -> Ceremony {
        let mut ceremony = Ceremony::new(Statement::Poseidon);
        ceremony.contribute();
        ceremony.contribute();
        ceremony.specialise().unwrap();
        ceremony.contribute();
        ceremony.contribute();
        ceremony
    }

    #[test]
    fn a_ceremony_makes_the_parameters_of_its_secrets_product() {
        let secrets: Vec<[Fr; 3]> = (0..4).map(|_| [random(), random(), random()]).collect();
        let mut ceremony = Ceremony::new(Statement::Poseidon);
        ceremony.contribute_with(secrets[0]);
        ceremony.contribute_with(secrets[1]);
        ceremony.specialise().unwrap();
        ceremony.contribute_with(secrets[2]);
        ceremony.contribute_with(secrets[3]);
        let product = |i: usize| secrets[0][i] * secrets[1][i];
        let expected = Parameters::from_secrets(
            Statement::Poseidon,
            [
                product(0),
                product(1),
                product(2),
                secrets[2][0] * secrets[3][0],
            ],
        );
        assert!(ceremony.verify().unwrap() == expected);
    }

    #[test]
    fn its_parameters_prove_and_its_transcript_is_read_back() {
        let ceremony = finished();
        let bytes = ceremony.to_bytes();
        let again = Ceremony::from_bytes(&bytes).unwrap();
        assert_eq!(again.to_bytes(), bytes);
        let parameters = again.verify().unwrap();
        let hash = Statement::Poseidon.key_hash(&[7; 32]);
        let proof = Prover::new(&parameters).prove(&[7; 32], &[8; 32]);
        Verifier::new(&parameters.verifying_key(), &hash)
            .unwrap()
            .verify(&proof, &[8; 32])
            .unwrap();
        assert!(Ceremony::from_bytes(&bytes[..bytes.len() - 1]).is_err());
        assert!(Ceremony::from_bytes(&[&bytes[..], &[0]].concat()).is_err());
    }

    #[test]
    fn a_single_party_is_no_ceremony() {
        let mut ceremony = Ceremony::new(Statement::Poseidon);
        ceremony.contribute();
        ceremony.contribute();
        assert!(ceremony.verify().is_err());
        ceremony.specialise().unwrap();
        ceremony.contribute();
        assert_eq!(
            ceremony.verify().unwrap_err(),
            Error::Transcript("fewer than two contributions to a phase")
        );
        assert!(ceremony.specialise().is_err());
    }

    #[test]
    fn what_does_not_follow_from_the_contributions_is_refused() {
        let honest = finished();
        let generator = G1Affine::generator();
        let refused = |change: fn(&mut Ceremony, G1Affine), what: &str| {
            let mut changed = honest.clone();
            change(&mut changed, generator);
            assert!(changed.verify().is_err(), "{what}");
        };
        fn second(ceremony: &mut Ceremony) -> &mut Second {
            ceremony.second.as_mut().unwrap()
        }
        refused(|c, g| c.powers.tau[9] = g, "a power of tau");
        refused(|c, g| c.powers.alpha[9] = g, "a power times alpha");
        refused(|c, g| c.powers.beta[0] = g, "beta");
        refused(
            |c, _| c.powers.tau_two[3] = G2Affine::generator(),
            "a power in the second group",
        );
        refused(
            |c, _| c.beta_two = G2Affine::generator(),
            "beta in the second group",
        );
        refused(|c, _| c.first.swap(0, 1), "contributions in another order");
        refused(|c, _| drop(c.first.remove(0)), "a contribution cut out");
        refused(|c, _| drop(c.first.pop()), "the last contribution dropped");
        refused(
            |c, _| c.first[0].steps[1].answer += Fr::one(),
            "a proof of knowledge",
        );
        refused(|c, g| c.first[1].steps[0].made = g, "a product");
        refused(|c, g| second(c).wires[20] = g, "a wire's point");
        refused(|c, g| second(c).quotient[20] = g, "a quotient's point");
        refused(|c, g| second(c).delta = g, "delta");
        refused(
            |c, _| second(c).delta_two = G2Affine::generator(),
            "delta in the second group",
        );
        refused(
            |c, _| second(c).contributions.swap(0, 1),
            "phase 2 in another order",
        );
        refused(
            |c, _| {
                let copy = second(c).contributions[0].clone();
                second(c).contributions[1] = copy;
            },
            "a copied contribution",
        );
    }
}
