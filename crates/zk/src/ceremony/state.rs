//! The state of a ceremony, and how it goes on: contributions, and the step from the powers to the
//! circuit.

use ark_bn254::{Fr, G1Affine, G1Projective, G2Affine, G2Projective};
use ark_ec::{AffineRepr, CurveGroup};
use ark_ff::{Field, One};
use signet_crypto::hash::Sha256;
use zeroize::{Zeroize, Zeroizing};

use super::contribution::Contribution;
use crate::Error;
use crate::domain::{Domain, Element};
use crate::field::random;
use crate::parameters::{Powers, Queries, specialise};
use crate::statement::Statement;
use crate::threads::both;

/// The state of a ceremony, with its transcript.
#[derive(Clone)]
pub struct Ceremony {
    pub(super) statement: Statement,
    pub(super) first: Vec<Contribution>,
    pub(super) powers: Powers<G1Affine, G2Affine>,
    pub(super) beta_two: G2Affine,
    pub(super) second: Option<Second>,
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
pub(super) struct Second {
    pub(super) contributions: Vec<Contribution>,
    pub(super) delta: G1Affine,
    pub(super) delta_two: G2Affine,
    /// Of these, `wires` and `quotient` are over delta; the rest stays as phase 1 left it.
    pub(super) queries: Queries<G1Affine, G2Affine>,
}

/// Hashes of the contributions, in order: each covers all before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transcript {
    /// Phase 1: tau, alpha, beta.
    pub first: Vec<[u8; 32]>,
    /// Phase 2: delta.
    pub second: Vec<[u8; 32]>,
}

/// A contribution's work, whose progress is reported.
struct Work<'w> {
    done: usize,
    total: usize,
    watch: &'w mut dyn FnMut(u64, u64),
}

/// So many points are done before progress is reported.
const PIECE: usize = 1024;

impl Work<'_> {
    /// Multiplies point i by `first * ratio^i`.
    fn scale<G>(&mut self, points: &mut [G], first: Fr, ratio: Fr)
    where
        G: AffineRepr<ScalarField = Fr>,
        G::Group: Element,
    {
        let mut factor = first;
        let step = ratio.pow([PIECE as u64]);
        for piece in points.chunks_mut(PIECE) {
            piece.copy_from_slice(&scale(piece, factor, ratio));
            factor *= step;
            self.done += piece.len();
            (self.watch)(self.done as u64, self.total as u64);
        }
    }
}

/// Multiplies point i by `first * ratio^i`.
fn scale<G>(points: &[G], first: Fr, ratio: Fr) -> Vec<G>
where
    G: AffineRepr<ScalarField = Fr>,
    G::Group: Element,
{
    let part = |points: &[G], first: Fr| {
        let factors = std::iter::successors(Some(first), |factor| Some(*factor * ratio));
        let products: Vec<G::Group> = points
            .iter()
            .zip(factors)
            .map(|(point, factor)| point.into_group().times(factor))
            .collect();
        G::Group::normalize_batch(&products)
    };
    let middle = points.len() / 2;
    let (low, high) = points.split_at(middle);
    let second = first * ratio.pow([middle as u64]);
    let (mut low, high) = both(2, || part(low, first), || part(high, second));
    low.extend(high);
    low
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

    pub(super) fn start(&self) -> [u8; 32] {
        let mut hash = Sha256::new();
        hash.update(b"signet ceremony\n");
        hash.update(&[self.statement.number()]);
        hash.finish()
    }

    /// Contributes to the phase that the ceremony is in, with fresh secrets that are forgotten;
    /// returns the contribution's hash.
    pub fn contribute(&mut self) -> [u8; 32] {
        self.contribute_watched(&mut |_, _| {})
    }

    /// The same; `watch` receives how many of the points are done, of how many.
    pub fn contribute_watched(&mut self, watch: &mut dyn FnMut(u64, u64)) -> [u8; 32] {
        let mut secrets = Zeroizing::new([random(), random(), random()]);
        let hash = self.contribute_with(*secrets, watch);
        secrets.zeroize();
        hash
    }

    pub(super) fn contribute_with(
        &mut self,
        secrets: [Fr; 3],
        watch: &mut dyn FnMut(u64, u64),
    ) -> [u8; 32] {
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
                let size = powers.alpha.len();
                let mut work = Work {
                    done: 0,
                    total: powers.tau.len() + 3 * size,
                    watch,
                };
                work.scale(&mut powers.tau, Fr::one(), tau);
                work.scale(&mut powers.alpha, alpha, tau);
                work.scale(&mut powers.beta, beta, tau);
                work.scale(&mut powers.tau_two, Fr::one(), tau);
                self.beta_two = (self.beta_two * beta).into_affine();
                self.first.push(made.clone());
                made
            }
            Some(second) => {
                let [delta, ..] = secrets;
                let made = Contribution::make(&[second.delta], &[delta], &place);
                // A random number is 0 once in 2^254 times.
                let over = delta.inverse().unwrap_or(Fr::ONE);
                let queries = &mut second.queries;
                let mut work = Work {
                    done: 0,
                    total: queries.wires.len() + queries.quotient.len(),
                    watch,
                };
                work.scale(&mut queries.wires, over, Fr::one());
                work.scale(&mut queries.quotient, over, Fr::one());
                second.delta = made.steps[0].made;
                second.delta_two = (second.delta_two * delta).into_affine();
                second.contributions.push(made.clone());
                made
            }
        };
        contribution.hash(phase, &place)
    }

    /// Ends phase 1: the circuit's queries are computed from the powers. For SHA-256 this takes
    /// about a minute; everybody's result is the same.
    ///
    /// # Errors
    /// [`Error::Transcript`] where it has ended already.
    pub fn specialise(&mut self) -> Result<(), Error> {
        if self.second.is_some() {
            return Err(Error::Transcript("the first phase has ended"));
        }
        let system = self.statement.system();
        let domain = Domain::new(system.rows.len());
        let group = |points: &[G1Affine]| points.iter().map(|p| p.into_group()).collect();
        let powers = Powers {
            tau: group(&self.powers.tau),
            alpha: group(&self.powers.alpha),
            beta: group(&self.powers.beta),
            tau_two: self.powers.tau_two.iter().map(|p| p.into_group()).collect(),
        };
        let made: Queries<G1Projective, G2Projective> = specialise(&system, &domain, &powers);
        let normal = G1Projective::normalize_batch;
        self.second = Some(Second {
            contributions: Vec::new(),
            delta: G1Affine::generator(),
            delta_two: G2Affine::generator(),
            queries: Queries {
                a: normal(&made.a),
                b: normal(&made.b),
                b_two: G2Projective::normalize_batch(&made.b_two),
                inputs: normal(&made.inputs),
                wires: normal(&made.wires),
                quotient: normal(&made.quotient),
            },
        });
        Ok(())
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
}
