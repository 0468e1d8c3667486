//! Proofs: Groth16 with direct witnesses, four transforms, and bases that are prepared once.

use std::sync::atomic::{AtomicUsize, Ordering};

use ark_bn254::{Fr, G1Affine, G1Projective, G2Affine, G2Projective, g1, g2};
use ark_ec::CurveGroup;
use ark_ff::{One, Zero};
use signet_crypto::Secret;

use crate::circuit::{poseidon, sha256::Sha256Circuit};
use crate::domain::Domain;
use crate::field::{halves, random};
use crate::fixed::{Query, WideBases};
use crate::parameters::Parameters;
use crate::proof::Proof;
use crate::r1cs::Matrix;
use crate::statement::Statement;
use crate::verifier::VerifyingKey;

/// Makes proofs of one statement; holds what can be prepared from its parameters. Making one takes about a second for SHA-256: keep it.
pub struct Prover {
    statement: Statement,
    verifying_key: VerifyingKey,
    witness: WitnessMaker,
    domain: Domain,
    /// The shift's powers over the size: from sums to coefficients, and on to the coset.
    coset: Vec<Fr>,
    alpha: G1Affine,
    beta: G1Affine,
    beta_two: G2Affine,
    delta: G1Affine,
    delta_two: G2Affine,
    a: Query<g1::Config>,
    b: Query<g1::Config>,
    b_two: Query<g2::Config>,
    wires: Query<g1::Config>,
    quotient: WideBases<g1::Config>,
    threads: usize,
}

enum WitnessMaker {
    Poseidon,
    Sha256 {
        circuit: Box<Sha256Circuit>,
        left: Matrix,
        right: Matrix,
    },
}

impl std::fmt::Debug for Prover {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Prover")
            .field("statement", &self.statement)
            .finish_non_exhaustive()
    }
}

/// All wires of one proof: each as a bit (wide ones as 0), the wide ones as numbers, and both sides of the rows over the domain.
struct Witness {
    bits: Secret<Vec<u8>>,
    values: Secret<Vec<Fr>>,
    left: Vec<Fr>,
    right: Vec<Fr>,
}

/// A part of a proof that a thread can make alone.
enum Part {
    A(G1Projective),
    B(G1Projective),
    BTwo(G2Projective),
    C(G1Projective),
}

impl Prover {
    /// Prepares parameters; both cores are used.
    pub fn new(parameters: &Parameters) -> Prover {
        let statement = parameters.statement;
        let publics = statement.inputs() as u32 + 1;
        let (witness, rows) = match statement {
            Statement::Poseidon => (WitnessMaker::Poseidon, poseidon::system().rows.len()),
            Statement::Sha256 => {
                let circuit = Box::new(Sha256Circuit::new());
                let rows = &circuit.system.rows;
                let narrow = |wire| wire == 0 || wire >= publics;
                let left = Matrix::new(rows.iter().map(|row| &row.a), narrow);
                let right = Matrix::new(rows.iter().map(|row| &row.b), narrow);
                let count = rows.len();
                (
                    WitnessMaker::Sha256 {
                        circuit,
                        left,
                        right,
                    },
                    count,
                )
            }
        };
        let domain = Domain::new(rows);
        let coset = std::iter::successors(Some(domain.size_inverse()), |power| {
            Some(*power * Domain::shift())
        })
        .take(domain.size())
        .collect();
        let narrow = move |wire| wire == 0 || (statement == Statement::Sha256 && wire >= publics);
        let p = parameters;
        std::thread::scope(|scope| {
            let quotient = scope.spawn(|| WideBases::new(&p.quotient));
            let a = Query::new(&p.a, narrow);
            let b = Query::new(&p.b, narrow);
            let b_two = Query::new(&p.b_two, narrow);
            let wires = Query::new(&p.wires, narrow);
            Prover {
                statement,
                verifying_key: p.verifying_key(),
                witness,
                domain,
                coset,
                alpha: p.alpha,
                beta: p.beta,
                beta_two: p.beta_two,
                delta: p.delta,
                delta_two: p.delta_two,
                a,
                b,
                b_two,
                wires,
                quotient: join(quotient),
                threads: std::thread::available_parallelism().map_or(1, |n| n.get().min(2)),
            }
        })
    }

    /// Uses this many threads for a proof, 1 or 2; by default both cores where there are two.
    pub fn with_threads(mut self, threads: usize) -> Prover {
        self.threads = threads.clamp(1, 2);
        self
    }

    /// Which statement it proves.
    pub fn statement(&self) -> Statement {
        self.statement
    }

    /// The key that checks its proofs.
    pub fn verifying_key(&self) -> &VerifyingKey {
        &self.verifying_key
    }

    /// A proof that the holder of `key` made it for the message whose SHA-256 is `message`. Each call blinds afresh.
    pub fn prove(&self, key: &[u8; 32], message: &[u8; 32]) -> Proof {
        let Witness {
            bits,
            values,
            left,
            right,
        } = self.witness(key, message);
        let (bits, values) = (bits.expose(), values.expose());
        let products = self.products(left, right);
        let sorted = self.quotient.sort(&products);

        let jobs: [&(dyn Fn() -> Part + Sync); 6] = [
            &|| Part::C(self.quotient.sum_share(&sorted, 0, 2)),
            &|| Part::C(self.quotient.sum_share(&sorted, 1, 2)),
            &|| Part::BTwo(self.b_two.sum(bits, values)),
            &|| Part::C(self.wires.sum(bits, values)),
            &|| Part::A(self.a.sum(bits, values)),
            &|| Part::B(self.b.sum(bits, values)),
        ];
        let next = AtomicUsize::new(0);
        let work = || {
            let mut made = Vec::new();
            while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                made.push(job());
            }
            made
        };
        let parts = if self.threads > 1 {
            std::thread::scope(|scope| {
                let other = scope.spawn(work);
                let mut parts = work();
                parts.extend(join(other));
                parts
            })
        } else {
            work()
        };

        let (r, s) = (random(), random());
        let mut a = self.alpha + self.delta * r;
        let mut b = self.beta + self.delta * s;
        let mut b_two = self.beta_two + self.delta_two * s;
        let mut c = -(self.delta * (r * s));
        for part in parts {
            match part {
                Part::A(part) => a += part,
                Part::B(part) => b += part,
                Part::BTwo(part) => b_two += part,
                Part::C(part) => c += part,
            }
        }
        c += a * s + b * r;
        Proof {
            a: a.into_affine(),
            b: b_two.into_affine(),
            c: c.into_affine(),
        }
    }

    fn witness(&self, key: &[u8; 32], message: &[u8; 32]) -> Witness {
        let mut publics = vec![Fr::one()];
        match &self.witness {
            WitnessMaker::Poseidon => {
                let made = poseidon::witness(key);
                // The output's row is the last one: its left side is the hash.
                publics.extend(made.left.last());
                publics.extend(halves(message));
                let mut sides = [made.left, made.right];
                // The public wires' own rows.
                sides[0].extend(&publics);
                for side in &mut sides {
                    side.resize(self.domain.size(), Fr::zero());
                }
                let [left, right] = sides;
                publics.extend(made.secret);
                let mut bits = vec![0; publics.len()];
                bits[0] = 1;
                Witness {
                    bits: Secret::new(bits),
                    values: Secret::new(publics),
                    left,
                    right,
                }
            }
            WitnessMaker::Sha256 {
                circuit,
                left,
                right,
            } => {
                publics.extend(halves(&Statement::Sha256.key_hash(key)));
                publics.extend(halves(message));
                let mut bits = vec![0; publics.len()];
                bits[0] = 1;
                bits.extend(circuit.secret_wires(key));
                let value = |wire: u32| match publics.get(wire as usize) {
                    Some(value) => *value,
                    None => Fr::from(bits[wire as usize]),
                };
                let sides = [left, right].map(|matrix| {
                    let mut side = vec![Fr::zero(); self.domain.size()];
                    matrix.apply(&bits, value, &mut side);
                    side
                });
                let [left, right] = sides;
                Witness {
                    bits: Secret::new(bits),
                    values: Secret::new(publics),
                    left,
                    right,
                }
            }
        }
    }

    /// Both sides, from the domain to the coset, multiplied point by point: the quotient's factors.
    fn products(&self, left: Vec<Fr>, right: Vec<Fr>) -> Vec<Fr> {
        let to_coset = |mut values: Vec<Fr>| {
            self.domain.backward(&mut values);
            for (value, power) in values.iter_mut().zip(&self.coset) {
                *value *= power;
            }
            self.domain.forward(&mut values);
            values
        };
        let (mut left, right) = if self.threads > 1 && self.domain.size() > 1024 {
            std::thread::scope(|scope| {
                let other = scope.spawn(|| to_coset(right));
                (to_coset(left), join(other))
            })
        } else {
            (to_coset(left), to_coset(right))
        };
        for (product, factor) in left.iter_mut().zip(&right) {
            *product *= factor;
        }
        left
    }
}

/// A scoped thread's result: it has no way to panic of its own, and a panic goes on here.
fn join<T>(thread: std::thread::ScopedJoinHandle<'_, T>) -> T {
    match thread.join() {
        Ok(value) => value,
        Err(panic) => std::panic::resume_unwind(panic),
    }
}
