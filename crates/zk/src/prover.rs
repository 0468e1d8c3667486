//! Proofs: Groth16 with direct witnesses, four transforms, and bases that are prepared once.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use ark_bn254::{Fr, G1Projective, G2Projective};
use ark_ec::CurveGroup;
use ark_ff::{BigInt, One, PrimeField, Zero};
use zeroize::{Zeroize, Zeroizing};

use crate::Error;
use crate::circuit::{poseidon, sha256::Sha256Circuit};
use crate::domain::Domain;
use crate::field::{halves, random};
use crate::lanes::Transform;
use crate::parameters::Parameters;
use crate::proof::Proof;
use crate::r1cs::Matrix;
use crate::statement::Statement;
use crate::tables::{Tables, is_narrow};
use crate::threads::{both, join};
use crate::verifier::Prepared;
use crate::verifying_key::VerifyingKey;

/// Makes proofs of one statement; holds what can be prepared from its parameters. Preparing takes
/// about a second for SHA-256: keep it, or its tables.
pub struct Prover {
    tables: Tables,
    witness: WitnessMaker,
    domain: Domain,
    /// The shift's powers over the size: from sums to coefficients, and on to the coset.
    coset: Vec<Fr>,
    transform: Option<Transform>,
    /// What checks each proof before it leaves.
    check: Prepared,
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
            .field("statement", &self.statement())
            .finish_non_exhaustive()
    }
}

/// All wires of one proof: each as a bit (wide ones as 0), the wide ones as numbers, and both sides
/// of the rows over the domain.
struct Witness {
    bits: Zeroizing<Vec<u8>>,
    values: Zeroizing<Vec<Fr>>,
    left: Zeroizing<Vec<Fr>>,
    right: Zeroizing<Vec<Fr>>,
}

/// A part of a proof that a thread can make alone.
enum Part {
    A(G1Projective),
    B(G1Projective),
    BTwo(G2Projective),
    C(G1Projective),
}

impl Prover {
    /// Prepares parameters; both cores are used. What [`Prover::prepare`] makes can be kept in a
    /// file instead, and be read in no time.
    pub fn new(parameters: &Parameters) -> Prover {
        let tables = Tables::read(Arc::new(Tables::prepare(parameters)));
        match tables.and_then(Prover::with_tables) {
            Ok(prover) => prover,
            Err(_) => unreachable!("tables are read as they were just written"),
        }
    }

    /// The prepared tables of parameters, for a file: the parameters' own points among them,
    /// uncompressed, and the fixed bases' multiples.
    pub fn prepare(parameters: &Parameters) -> Vec<u8> {
        Tables::prepare(parameters)
    }

    /// A prover that works on prepared tables where they are, in a mapped file say: nothing is
    /// copied. The bytes must not change while it lives.
    ///
    /// # Errors
    /// [`Error::Hash`] where the tables' SHA-256 is not `hash`, [`Error::Circuit`] where they were
    /// made from other parameters than those whose hash is `parameters`, [`Error::Encoding`] where
    /// the right hash was given for what is no such file.
    pub fn from_prepared(
        tables: impl AsRef<[u8]> + Send + Sync + 'static,
        hash: &[u8; 32],
        parameters: &[u8; 32],
    ) -> Result<Prover, Error> {
        if signet_crypto::hash::sha256(tables.as_ref()) != *hash {
            return Err(Error::Hash);
        }
        let tables = Tables::read(Arc::new(tables))?;
        if tables.parameters != *parameters {
            return Err(Error::Circuit);
        }
        Prover::with_tables(tables)
    }

    fn with_tables(tables: Tables) -> Result<Prover, Error> {
        let (witness, wires, rows) = match tables.verifying_key.statement {
            Statement::Poseidon => {
                let system = poseidon::system();
                (WitnessMaker::Poseidon, system.wires, system.rows.len())
            }
            Statement::Sha256 => {
                let circuit = Box::new(Sha256Circuit::new());
                let rows = &circuit.system.rows;
                let narrow = |wire| is_narrow(Statement::Sha256, wire);
                let left = Matrix::new(rows.iter().map(|row| &row.a), narrow);
                let right = Matrix::new(rows.iter().map(|row| &row.b), narrow);
                let (wires, rows) = (circuit.system.wires, rows.len());
                let maker = WitnessMaker::Sha256 {
                    circuit,
                    left,
                    right,
                };
                (maker, wires, rows)
            }
        };
        let domain = Domain::new(rows);
        if !tables.fit(wires, domain.size()) {
            return Err(Error::Encoding("tables"));
        }
        let coset: Vec<Fr> = std::iter::successors(Some(domain.size_inverse()), |power| {
            Some(*power * Domain::shift())
        })
        .take(domain.size())
        .collect();
        Ok(Prover {
            check: Prepared::new(&tables.verifying_key),
            tables,
            witness,
            transform: Transform::new(domain.powers(), &coset),
            domain,
            coset,
            threads: std::thread::available_parallelism().map_or(1, |n| n.get().min(2)),
        })
    }

    /// Uses this many threads for a proof, 1 or 2; by default both cores where there are two.
    pub fn with_threads(mut self, threads: usize) -> Prover {
        self.threads = threads.clamp(1, 2);
        self
    }

    /// Which statement it proves.
    pub fn statement(&self) -> Statement {
        self.tables.verifying_key.statement
    }

    /// The key that checks its proofs.
    pub fn verifying_key(&self) -> &VerifyingKey {
        &self.tables.verifying_key
    }

    /// A proof that the holder of `key` made it for the message whose SHA-256 is `message`. Each
    /// call blinds afresh.
    ///
    /// The proof is verified before it leaves, which costs a millisecond: a proof from damaged
    /// tables would not hold, and which of them do not hold tells whoever damaged them of the key.
    /// What is written on the heap on the way is wiped; copies in registers and on the stack are
    /// not.
    ///
    /// # Errors
    /// [`Error::Prover`] where the proof does not hold.
    pub fn prove(&self, key: &[u8; 32], message: &[u8; 32]) -> Result<Proof, Error> {
        let Witness {
            bits,
            values,
            left,
            right,
        } = self.witness(key, message);
        let (bits, values) = (&bits[..], &values[..]);
        let products = self.products(left, right);
        let sorted = self.tables.quotient.sort(&products);

        let jobs: [&(dyn Fn() -> Part + Sync); 6] = [
            &|| Part::C(self.tables.quotient.sum_share(&sorted, 0, 2)),
            &|| Part::C(self.tables.quotient.sum_share(&sorted, 1, 2)),
            &|| Part::BTwo(self.tables.b_two.sum(bits, values)),
            &|| Part::C(self.tables.wires.sum(bits, values)),
            &|| Part::A(self.tables.a.sum(bits, values)),
            &|| Part::B(self.tables.b.sum(bits, values)),
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

        let (mut r, mut s) = (random(), random());
        let tables = &self.tables;
        let mut a = tables.alpha + tables.delta * r;
        let mut b = tables.beta + tables.delta * s;
        let mut b_two = tables.verifying_key.beta + tables.verifying_key.delta * s;
        let mut c = -(tables.delta * (r * s));
        for part in parts {
            match part {
                Part::A(part) => a += part,
                Part::B(part) => b += part,
                Part::BTwo(part) => b_two += part,
                Part::C(part) => c += part,
            }
        }
        c += a * s + b * r;
        r.zeroize();
        s.zeroize();
        let proof = Proof {
            a: a.into_affine(),
            b: b_two.into_affine(),
            c: c.into_affine(),
        };
        // The public wires begin with 1 and the key hash: the witness' own, not what somebody calls
        // the key's.
        let known = &values[1..self.statement().inputs() - 1];
        self.check
            .verify(self.check.fixed(known), &proof, message)
            .map_err(|_| Error::Prover)?;
        Ok(proof)
    }

    fn witness(&self, key: &[u8; 32], message: &[u8; 32]) -> Witness {
        // Nothing here grows: what grows leaves a copy behind.
        match &self.witness {
            WitnessMaker::Poseidon => {
                let made = poseidon::witness(key);
                let wires = 1 + poseidon::INPUTS + made.secret.len();
                let mut values = Zeroizing::new(Vec::with_capacity(wires));
                values.push(Fr::one());
                // The output's row is the last one: its left side is the hash.
                values.extend(made.left.last());
                values.extend(halves(message));
                let [left, right] =
                    [(&made.left, &values[..]), (&made.right, &[][..])].map(|(rows, publics)| {
                        let mut side = Zeroizing::new(vec![Fr::zero(); self.domain.size()]);
                        // Behind the circuit's rows the public wires have their own.
                        let values = rows.iter().chain(publics);
                        side.iter_mut()
                            .zip(values)
                            .for_each(|(to, from)| *to = *from);
                        side
                    });
                values.extend(made.secret.iter());
                let mut bits = vec![0; wires];
                bits[0] = 1;
                Witness {
                    bits: Zeroizing::new(bits),
                    values,
                    left,
                    right,
                }
            }
            WitnessMaker::Sha256 {
                circuit,
                left,
                right,
            } => {
                let mut publics = vec![Fr::one()];
                publics.extend(halves(&Statement::Sha256.key_hash(key)));
                publics.extend(halves(message));
                let secret = circuit.secret_wires(key);
                let mut bits = Zeroizing::new(Vec::with_capacity(publics.len() + secret.len()));
                bits.resize(publics.len(), 0);
                bits[0] = 1;
                bits.extend(secret.iter());
                let value = |wire: u32| match publics.get(wire as usize) {
                    Some(value) => *value,
                    None => Fr::from(bits[wire as usize]),
                };
                let sides = [left, right].map(|matrix| {
                    let mut side = Zeroizing::new(vec![Fr::zero(); self.domain.size()]);
                    matrix.apply(&bits, value, &mut side);
                    side
                });
                let [left, right] = sides;
                Witness {
                    bits,
                    values: Zeroizing::new(publics),
                    left,
                    right,
                }
            }
        }
    }

    /// Both sides, from the domain to the coset, multiplied point by point: the quotient's factors.
    fn products(
        &self,
        left: Zeroizing<Vec<Fr>>,
        right: Zeroizing<Vec<Fr>>,
    ) -> Zeroizing<Vec<BigInt<4>>> {
        // For Poseidon's 256 points a thread costs more than it brings.
        let threads = if self.domain.size() > 1024 {
            self.threads
        } else {
            1
        };
        if let Some(transform) = &self.transform {
            return transform.products(&left, &right, threads);
        }
        let through = |mut values: Zeroizing<Vec<Fr>>| {
            self.domain.backward(&mut values);
            for (value, power) in values.iter_mut().zip(&self.coset) {
                *value *= power;
            }
            self.domain.forward(&mut values);
            values
        };
        let (left, right) = both(threads, || through(left), || through(right));
        let products = left.iter().zip(right.iter()).map(|(a, b)| *a * b);
        Zeroizing::new(products.map(Fr::into_bigint).collect())
    }
}

#[cfg(test)]
mod tests;
