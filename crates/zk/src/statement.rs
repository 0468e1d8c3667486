//! The two sentences that can be proven.

use ark_bn254::Fr;

use crate::circuit::{poseidon, sha256};
use crate::field::{from_bytes, halves};
use crate::r1cs::ConstraintSystem;
use crate::{Error, poseidon_hash_key};

/// What a proof says about a key K and a message.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Statement {
    /// I know K with Poseidon(K) = key hash, and made this proof for this message.
    Poseidon,
    /// I know K with SHA-256(K) = key hash, and made this proof for this message.
    Sha256,
}

impl Statement {
    /// Both.
    pub const ALL: [Statement; 2] = [Statement::Poseidon, Statement::Sha256];

    /// The number in files.
    pub(crate) fn number(self) -> u8 {
        match self {
            Statement::Poseidon => 4,
            Statement::Sha256 => 5,
        }
    }

    pub(crate) fn from_number(number: u8) -> Result<Statement, Error> {
        Statement::ALL
            .into_iter()
            .find(|statement| statement.number() == number)
            .ok_or(Error::Circuit)
    }

    /// The hash by which a key is known, 32 bytes.
    pub fn key_hash(self, key: &[u8; 32]) -> [u8; 32] {
        match self {
            Statement::Poseidon => poseidon_hash_key(key),
            Statement::Sha256 => signet_crypto::hash::sha256(key),
        }
    }

    pub(crate) fn system(self) -> ConstraintSystem {
        match self {
            Statement::Poseidon => poseidon::system(),
            Statement::Sha256 => sha256::Sha256Circuit::new().system,
        }
    }

    /// Public inputs, the message's two halves last.
    pub(crate) fn inputs(self) -> usize {
        match self {
            Statement::Poseidon => poseidon::INPUTS,
            Statement::Sha256 => sha256::INPUTS,
        }
    }

    /// The key hash as public inputs.
    ///
    /// # Errors
    /// [`Error::Encoding`]: a Poseidon hash is below the field's order, or it would have two
    /// spellings.
    pub(crate) fn key_inputs(self, key_hash: &[u8; 32]) -> Result<Vec<Fr>, Error> {
        match self {
            Statement::Poseidon => from_bytes(key_hash)
                .map(|hash| vec![hash])
                .ok_or(Error::Encoding("key hash")),
            Statement::Sha256 => Ok(halves(key_hash).to_vec()),
        }
    }
}
