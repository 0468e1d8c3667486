//! What a ceremony makes, and what its check refuses.

use ark_bn254::{Fr, G1Affine, G2Affine};
use ark_ec::AffineRepr;
use ark_ff::{Field, One};

use super::Ceremony;
use super::state::Second;
use crate::field::random;
use crate::{Error, Parameters, Prover, Statement, Verifier};

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
    ceremony.contribute_with(secrets[0], &mut |_, _| {});
    ceremony.contribute_with(secrets[1], &mut |_, _| {});
    ceremony.specialise().unwrap();
    ceremony.contribute_with(secrets[2], &mut |_, _| {});
    ceremony.contribute_with(secrets[3], &mut |_, _| {});
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
    let proof = Prover::new(&parameters).prove(&[7; 32], &[8; 32]).unwrap();
    Verifier::new(&parameters.verifying_key(), &hash)
        .unwrap()
        .verify(&proof, &[8; 32])
        .unwrap();
    assert!(Ceremony::from_bytes(&bytes[..bytes.len() - 1]).is_err());
    assert!(Ceremony::from_bytes(&[&bytes[..], &[0]].concat()).is_err());
}

#[test]
fn c10_a_single_party_is_no_ceremony() {
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
    refused(|c, g| second(c).queries.wires[20] = g, "a wire's point");
    refused(
        |c, g| second(c).queries.quotient[20] = g,
        "a quotient's point",
    );
    refused(|c, g| second(c).queries.inputs[2] = g, "an input's point");
    refused(|c, g| second(c).queries.a[20] = g, "a point of A");
    refused(|c, g| second(c).queries.b[20] = g, "a point of B");
    refused(
        |c, _| second(c).queries.b_two[20] = G2Affine::generator(),
        "a point of B in the second group",
    );
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

/// The refusal of a first phase with these secrets. What it refuses, it refuses before it looks for
/// a second.
fn first_phase(secrets: [[Fr; 3]; 2]) -> Error {
    let mut ceremony = Ceremony::new(Statement::Poseidon);
    ceremony.contribute_with(secrets[0], &mut |_, _| {});
    ceremony.contribute_with(secrets[1], &mut |_, _| {});
    ceremony.verify().unwrap_err()
}

#[test]
fn a_contribution_that_changes_nothing_is_none() {
    let honest = || [random(), random(), random()];
    let refusal = Error::Transcript("a contribution to the first phase");
    for one in [Fr::one(), -Fr::one()] {
        // All of them; and each secret alone, whatever the others are.
        assert_eq!(first_phase([[one; 3]; 2]), refusal);
        for i in 0..3 {
            let mut second = honest();
            second[i] = one;
            assert_eq!(first_phase([honest(), second]), refusal);
        }
    }
    assert_eq!(
        first_phase([honest(), honest()]),
        Error::Transcript("the second phase has not begun")
    );
}

#[test]
fn secrets_that_cancel_out_make_no_parameters() {
    // Two contributors who work together: each contribution holds, and the product is 1, or a root
    // of unity.
    let over = |secret: Fr| secret.inverse().unwrap();
    let product = |i: usize, product: Fr| {
        let mut secrets = [(); 2].map(|()| [random(), random(), random()]);
        secrets[1][i] = over(secrets[0][i]) * product;
        first_phase(secrets)
    };
    let root = crate::domain::Domain::new(Statement::Poseidon.system().rows.len()).point(3);
    for tau in [Fr::one(), -Fr::one(), root] {
        assert_eq!(
            product(0, tau),
            Error::Transcript("tau is a point of the domain")
        );
    }
    for i in [1, 2] {
        assert_eq!(
            product(i, Fr::one()),
            Error::Transcript("alpha or beta is 1 or -1")
        );
    }
    let mut ceremony = Ceremony::new(Statement::Poseidon);
    ceremony.contribute();
    ceremony.contribute();
    ceremony.specialise().unwrap();
    let before = ceremony.clone();
    let delta = random();
    for secret in [delta, -over(delta)] {
        ceremony.contribute_with([secret, Fr::one(), Fr::one()], &mut |_, _| {});
    }
    assert_eq!(
        ceremony.verify(),
        Err(Error::Transcript("the verifying key is degenerate"))
    );
    let mut ceremony = before;
    ceremony.contribute();
    ceremony.contribute_with([Fr::one(); 3], &mut |_, _| {});
    assert_eq!(
        ceremony.verify(),
        Err(Error::Transcript("a contribution to the second phase"))
    );
}

#[test]
fn a_contribution_tells_how_far_it_is() {
    let mut ceremony = Ceremony::new(Statement::Poseidon);
    let mut told = Vec::new();
    ceremony.contribute_watched(&mut |done, total| told.push((done, total)));
    // 256 points: 511 powers of tau, and three lists of 256.
    assert_eq!(told, [(511, 1279), (767, 1279), (1023, 1279), (1279, 1279)]);
}
