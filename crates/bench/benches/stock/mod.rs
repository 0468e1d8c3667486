//! The stock way to the hybrid proof: the SHA-256 gadget and the Groth16 prover of arkworks, on one
//! thread.

use ark_bn254::{Bn254, Fr};
use ark_crypto_primitives::crh::sha256::constraints::Sha256Gadget;
use ark_groth16::{Groth16, Proof, ProvingKey};
use ark_r1cs_std::eq::EqGadget;
use ark_r1cs_std::uint8::UInt8;
use ark_relations::gr1cs::{ConstraintSynthesizer, ConstraintSystemRef, SynthesisError};

/// I know `key`, whose SHA-256 is `digest`.
#[derive(Clone)]
struct Circuit {
    key: [u8; 32],
    digest: [u8; 32],
}

impl ConstraintSynthesizer<Fr> for Circuit {
    fn generate_constraints(self, cs: ConstraintSystemRef<Fr>) -> Result<(), SynthesisError> {
        let key = UInt8::new_witness_vec(cs.clone(), &self.key)?;
        let expected = UInt8::new_input_vec(cs, &self.digest)?;
        Sha256Gadget::digest(&key)?.0.enforce_equal(&expected)
    }
}

/// A prover with parameters of its own.
pub(crate) struct Stock(ProvingKey<Bn254>);

fn circuit(key: &[u8; 32]) -> Circuit {
    Circuit {
        key: *key,
        digest: signet_crypto::hash::sha256(key),
    }
}

impl Stock {
    pub(crate) fn new() -> Result<Stock, SynthesisError> {
        let mut random = ark_std::test_rng();
        Groth16::<Bn254>::generate_random_parameters_with_reduction(circuit(&[1; 32]), &mut random)
            .map(Stock)
    }

    pub(crate) fn prove(&self, key: &[u8; 32]) -> Result<Proof<Bn254>, SynthesisError> {
        let mut random = ark_std::test_rng();
        Groth16::<Bn254>::create_random_proof_with_reduction(circuit(key), &self.0, &mut random)
    }
}
