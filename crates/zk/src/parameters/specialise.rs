//! From the powers of a secret point to the parameters of one circuit.
//!
//! The map is linear, so it is written once and runs over numbers (development, where the secrets
//! are known for a moment) or over curve points (a ceremony, where nobody knows them). Against the
//! textbook form, two things are folded, both linear and open to anybody's check:
//! - The quotient's query is given in Lagrange form on the coset: entry k is `[l_k(tau) Z(tau) /
//!   (delta (g^N - 1))]` without the term of degree N - 1, which a quotient never has. The prover's
//!   scalars are then the pointwise products themselves.
//! - C.w is linear in the witness, so its share of the quotient is part of the wires' own query.
//!
//! gamma is 1, as is usual where parameters come from powers of tau.

use std::ops::AddAssign;

use ark_bn254::Fr;
use ark_ff::{Field, One, Zero};

use crate::domain::{Domain, Element};
use crate::r1cs::{ConstraintSystem, Sum, small};
#[cfg(test)]
use crate::statement::Statement;
use crate::threads::both;

/// Powers of tau, by alpha and beta where the equation needs them. `One` and `Two` are numbers, or
/// points of the two groups.
#[derive(Clone)]
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
#[derive(Clone)]
pub(crate) struct Queries<One, Two> {
    pub(crate) a: Vec<One>,
    pub(crate) b: Vec<One>,
    pub(crate) b_two: Vec<Two>,
    /// Of the public wires; the verifier's.
    pub(crate) inputs: Vec<One>,
    /// Of all wires: the secret ones' part of the equation, less C's share of the quotient. Over
    /// delta.
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
        None => element.times(factor),
    }
}

/// The powers of 1 / shift, times a factor.
fn unshifts(factor: Fr) -> impl Iterator<Item = Fr> {
    // The shift is not 0.
    let unshift = Domain::shift().inverse().unwrap_or_default();
    std::iter::successors(Some(factor), move |power| Some(*power * unshift))
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
    let scaled = |mut values: Vec<A>, factor: Fr| {
        domain.backward(&mut values);
        values
            .iter_mut()
            .for_each(|value| *value = value.times(factor));
        values
    };
    let inverse = domain.size_inverse();
    let scale = inverse * domain.coset_vanishing_inverse();
    // tau^j Z(tau), and nothing for j = N - 1.
    let shifted: Vec<A> = (0..size)
        .map(|j| match powers.tau.get(j + size) {
            Some(high) => *high - powers.tau[j],
            None => A::zero(),
        })
        .collect();
    // Transforms of points take most of the time; one of the second group takes as long as two of
    // the first.
    let ((two, plain), [alpha, beta, folded, quotient]) = both(
        2,
        || {
            let mut two = powers.tau_two.clone();
            domain.backward(&mut two);
            two.iter_mut()
                .for_each(|value| *value = value.times(inverse));
            (two, scaled(powers.tau[..size].to_vec(), inverse))
        },
        || {
            let unshifted = unshifts(scale).zip(&shifted);
            let unshifted = unshifted.map(|(power, value)| value.times(power)).collect();
            [
                scaled(powers.alpha.clone(), inverse),
                scaled(powers.beta.clone(), inverse),
                // What C's rows take of the quotient: [l_k(tau) Z(tau) / (g^N - 1)].
                scaled(shifted.clone(), scale),
                scaled(unshifted, Fr::one()),
            ]
        },
    );

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

/// The same map, the other way round: factors of the queries' sums become factors of the powers,
/// with which the powers have the same sum. That is how queries are checked against powers without
/// being computed again.
pub(crate) fn transposed(
    system: &ConstraintSystem,
    domain: &Domain,
    factors: &Queries<Fr, Fr>,
) -> Powers<Fr, Fr> {
    let size = domain.size();
    let nothing = || vec![Fr::zero(); size];
    let (mut plain, mut alpha, mut beta) = (nothing(), nothing(), nothing());
    let (mut folded, mut two) = (nothing(), nothing());
    for (k, row) in system.rows.iter().enumerate() {
        let own = |wire: u32| match factors.inputs.get(wire as usize) {
            Some(factor) => *factor,
            None => factors.wires[wire as usize],
        };
        for &(wire, factor) in &row.a.0 {
            beta[k] += own(wire) * factor;
            plain[k] += factors.a[wire as usize] * factor;
        }
        for &(wire, factor) in &row.b.0 {
            alpha[k] += own(wire) * factor;
            plain[k] += factors.b[wire as usize] * factor;
            two[k] += factors.b_two[wire as usize] * factor;
        }
        for &(wire, factor) in &row.c.0 {
            plain[k] += own(wire) * factor;
            folded[k] -= factors.wires[wire as usize] * factor;
        }
    }
    // The transforms' matrices are their own transposes.
    let scaled = |mut values: Vec<Fr>, factor: Fr| {
        domain.backward(&mut values);
        values.iter_mut().for_each(|value| *value *= factor);
        values
    };
    let inverse = domain.size_inverse();
    let scale = inverse * domain.coset_vanishing_inverse();
    let folded = scaled(folded, scale);
    let quotient = scaled(factors.quotient.clone(), Fr::one());
    let mut tau = scaled(plain, inverse);
    tau.resize(2 * size - 1, Fr::zero());
    let shifted = folded.iter().zip(quotient.iter().zip(unshifts(scale)));
    for (j, (folded, (quotient, power))) in shifted.enumerate().take(size - 1) {
        let shifted = *folded + *quotient * power;
        tau[j + size] += shifted;
        tau[j] -= shifted;
    }
    Powers {
        tau,
        alpha: scaled(alpha, inverse),
        beta: scaled(beta, inverse),
        tau_two: scaled(two, inverse),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::random;

    #[test]
    fn the_transposed_map_has_the_same_sums() {
        let system = Statement::Poseidon.system();
        let domain = Domain::new(system.rows.len());
        let some = |count: usize| -> Vec<Fr> { (0..count).map(|_| random()).collect() };
        let size = domain.size();
        // Any numbers: the map is linear, whether they are powers or not.
        let powers = Powers {
            tau: some(2 * size - 1),
            alpha: some(size),
            beta: some(size),
            tau_two: some(size),
        };
        let factors = Queries {
            a: some(system.wires),
            b: some(system.wires),
            b_two: some(system.wires),
            inputs: some(system.publics),
            wires: some(system.wires),
            quotient: some(size),
        };
        let queries = specialise(&system, &domain, &powers);
        let back = transposed(&system, &domain, &factors);
        let sum = |pairs: &[(&Vec<Fr>, &Vec<Fr>)]| -> Fr {
            pairs
                .iter()
                .flat_map(|(a, b)| {
                    assert_eq!(a.len(), b.len());
                    a.iter().zip(b.iter()).map(|(a, b)| *a * b)
                })
                .sum()
        };
        assert_eq!(
            sum(&[
                (&queries.a, &factors.a),
                (&queries.b, &factors.b),
                (&queries.inputs, &factors.inputs),
                (&queries.wires, &factors.wires),
                (&queries.quotient, &factors.quotient),
            ]),
            sum(&[
                (&powers.tau, &back.tau),
                (&powers.alpha, &back.alpha),
                (&powers.beta, &back.beta),
            ])
        );
        assert_eq!(
            sum(&[(&queries.b_two, &factors.b_two)]),
            sum(&[(&powers.tau_two, &back.tau_two)])
        );
    }
}
