//! From the powers of a secret point to the parameters of one circuit.
//!
//! The map is linear, so it is written once and runs over numbers (development, where the secrets are known for a moment) or over curve points
//! (a ceremony, where nobody knows them). Against the textbook form, two things are folded, both linear and open to anybody's check:
//! - The quotient's query is given in Lagrange form on the coset: entry k is `[l_k(tau) Z(tau) / (delta (g^N - 1))]` without the term of degree N - 1,
//!   which a quotient never has. The prover's scalars are then the pointwise products themselves.
//! - C.w is linear in the witness, so its share of the quotient is part of the wires' own query.
//!
//! gamma is 1, as is usual where parameters come from powers of tau.

use std::ops::AddAssign;

use ark_bn254::{Fq, Fq2, Fr, G1Affine, G1Projective, G2Affine, G2Projective};
use ark_ec::scalar_mul::ScalarMul;
use ark_ec::{AffineRepr, CurveGroup, PrimeGroup};
use ark_ff::{BigInt, Field, One, PrimeField, Zero};

use crate::Error;
use crate::domain::{Domain, Element};
use crate::r1cs::{ConstraintSystem, Sum, small};
use crate::statement::Statement;

#[derive(Clone)]
/// Powers of tau, by alpha and beta where the equation needs them. `One` and `Two` are numbers, or points of the two groups.
pub(crate) struct Powers<One, Two> {
    /// tau^0 ..= tau^(2N - 2).
    pub(crate) tau: Vec<One>,
    /// alpha tau^0 ..= alpha tau^(N - 1).
    pub(crate) alpha: Vec<One>,
    /// beta tau^0 ..= beta tau^(N - 1).
    pub(crate) beta: Vec<One>,
    /// tau^0 ..= tau^(N - 1) in the second group.
    pub(crate) tau_two: Vec<Two>,
}

/// What a circuit makes of the powers, with delta = 1.
pub(crate) struct Queries<One, Two> {
    pub(crate) a: Vec<One>,
    pub(crate) b: Vec<One>,
    pub(crate) b_two: Vec<Two>,
    /// Of the public wires; the verifier's.
    pub(crate) inputs: Vec<One>,
    /// Of all wires: the secret ones' part of the equation, less C's share of the quotient. Over delta.
    pub(crate) wires: Vec<One>,
    /// Of the coset's points. Over delta.
    pub(crate) quotient: Vec<One>,
}

/// The powers for a domain from the secrets themselves.
pub(crate) fn powers(domain: &Domain, tau: Fr, alpha: Fr, beta: Fr) -> Powers<Fr, Fr> {
    let size = domain.size();
    let from = |first: Fr, count: usize| -> Vec<Fr> {
        std::iter::successors(Some(first), |power| Some(*power * tau))
            .take(count)
            .collect()
    };
    Powers {
        tau: from(Fr::one(), 2 * size - 1),
        alpha: from(alpha, size),
        beta: from(beta, size),
        tau_two: from(Fr::one(), size),
    }
}

/// `factor` times an element, cheaply for the small factors of which most rows are made.
fn times<T: Element + Zero>(element: T, factor: Fr) -> T {
    if factor == Fr::one() {
        return element;
    }
    match small(factor) {
        Some(factor) => {
            let mut out = T::zero();
            for bit in (0..64 - factor.unsigned_abs().leading_zeros()).rev() {
                out = out + out;
                if factor.unsigned_abs() >> bit & 1 == 1 {
                    out = out + element;
                }
            }
            if factor < 0 { T::zero() - out } else { out }
        }
        None => element * factor,
    }
}

/// Specialises powers to a circuit.
pub(crate) fn specialise<A, B>(
    system: &ConstraintSystem,
    domain: &Domain,
    powers: &Powers<A, B>,
) -> Queries<A, B>
where
    A: Element + Zero + AddAssign,
    B: Element + Zero + AddAssign,
{
    let size = domain.size();
    let lagrange = |mut values: Vec<A>| {
        domain.backward(&mut values);
        let inverse = domain.size_inverse();
        values
            .iter_mut()
            .for_each(|value| *value = *value * inverse);
        values
    };
    let plain = lagrange(powers.tau[..size].to_vec());
    let alpha = lagrange(powers.alpha.clone());
    let beta = lagrange(powers.beta.clone());
    let mut two = powers.tau_two.clone();
    domain.backward(&mut two);
    let inverse = domain.size_inverse();
    two.iter_mut().for_each(|value| *value = *value * inverse);

    // tau^j Z(tau), and nothing for j = N - 1.
    let shifted: Vec<A> = (0..size)
        .map(|j| match powers.tau.get(j + size) {
            Some(high) => *high - powers.tau[j],
            None => A::zero(),
        })
        .collect();
    let scale = domain.size_inverse() * domain.coset_vanishing_inverse();
    // What C's rows take of the quotient: [l_k(tau) Z(tau) / (g^N - 1)].
    let mut folded = shifted.clone();
    domain.backward(&mut folded);
    folded.iter_mut().for_each(|value| *value = *value * scale);
    // The shift is not 0.
    let unshift = Domain::shift().inverse().unwrap_or_default();
    let mut power = scale;
    let mut quotient = shifted;
    for value in &mut quotient {
        *value = *value * power;
        power *= unshift;
    }
    domain.backward(&mut quotient);

    let mut queries = Queries {
        a: vec![A::zero(); system.wires],
        b: vec![A::zero(); system.wires],
        b_two: vec![B::zero(); system.wires],
        inputs: vec![A::zero(); system.publics],
        wires: vec![A::zero(); system.wires],
        quotient,
    };
    for (k, row) in system.rows.iter().enumerate() {
        let mut own = |sum: &Sum, point: A| {
            for &(wire, factor) in &sum.0 {
                let value = times(point, factor);
                match queries.inputs.get_mut(wire as usize) {
                    Some(input) => *input += value,
                    None => queries.wires[wire as usize] += value,
                }
            }
        };
        own(&row.a, beta[k]);
        own(&row.b, alpha[k]);
        own(&row.c, plain[k]);
        for &(wire, factor) in &row.a.0 {
            queries.a[wire as usize] += times(plain[k], factor);
        }
        for &(wire, factor) in &row.b.0 {
            queries.b[wire as usize] += times(plain[k], factor);
            queries.b_two[wire as usize] += times(two[k], factor);
        }
        for &(wire, factor) in &row.c.0 {
            queries.wires[wire as usize] += times(A::zero() - folded[k], factor);
        }
    }
    queries
}

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
    /// Parameters whose secrets this process knew for a moment: **for development.** Whoever kept them could prove anything.
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
    pub fn verifying_key(&self) -> crate::VerifyingKey {
        crate::VerifyingKey {
            statement: self.statement,
            alpha: self.alpha,
            beta: self.beta_two,
            delta: self.delta_two,
            inputs: self.inputs.clone(),
        }
    }

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
