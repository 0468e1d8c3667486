//! Keys that have done their work once: midstates, expanded keys and ids are computed when the key
//! is read, not per token.

mod check;
mod hmac;
mod id;
mod message;
mod set;
mod sign;
mod signing;
mod verifying;

pub use set::KeySet;
pub use signing::SigningKey;
pub use verifying::VerifyingKey;

pub(crate) use signing::Signer;

use signet_crypto::hash::Sha256;
use signet_zk::Statement;

use crate::Algorithm;

/// What a proof is bound to: SHA-256 of the message's parts.
pub(crate) fn message_hash(parts: &[&[u8]]) -> [u8; 32] {
    let mut hash = Sha256::new();
    parts.iter().for_each(|part| hash.update(part));
    hash.finish()
}

impl Algorithm {
    /// What a proof of this algorithm says.
    pub fn statement(self) -> Option<Statement> {
        match self {
            Algorithm::Groth16Poseidon => Some(Statement::Poseidon),
            Algorithm::Groth16Hybrid => Some(Statement::Sha256),
            Algorithm::HmacSha256 | Algorithm::Ed25519 | Algorithm::MlDsa44 => None,
        }
    }
}
