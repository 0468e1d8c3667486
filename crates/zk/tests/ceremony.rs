//! A whole ceremony for SHA-256 keys: two contributors in each phase, files between them, and
//! proofs with what they made.

use signet_zk::{Ceremony, Error, Prover, Statement, Verifier};

/// What goes from one party to the next is a file.
fn pass_on(ceremony: &Ceremony) -> Ceremony {
    Ceremony::from_bytes(&ceremony.to_bytes()).expect("a transcript as it was written")
}

#[test]
fn two_parties_make_parameters_for_sha_256_that_nobody_knows_the_secrets_of() {
    let mut ceremony = Ceremony::new(Statement::Sha256);
    let mut contributions = vec![ceremony.contribute()];
    ceremony = pass_on(&ceremony);
    contributions.push(ceremony.contribute());
    ceremony.specialise().unwrap();
    contributions.push(ceremony.contribute());
    contributions.push(ceremony.contribute());

    // Anybody checks the transcript; contributors find their own hashes in it.
    let checked = pass_on(&ceremony);
    let parameters = checked.verify().unwrap();
    let hashes = checked.hashes();
    assert_eq!([hashes.first, hashes.second].concat(), contributions);

    let hash = Statement::Sha256.key_hash(&[7; 32]);
    let verifier = Verifier::new(&parameters.verifying_key(), &hash).unwrap();
    let proof = Prover::new(&parameters).prove(&[7; 32], &[8; 32]).unwrap();
    verifier.verify(&proof, &[8; 32]).unwrap();
    assert_eq!(verifier.verify(&proof, &[9; 32]), Err(Error::Proof));
}
