//! Checking a token's signature or proof under one key.

use signet_zk::Proof;

use super::message_hash;
use super::verifying::Check;
use crate::token::Token;
use crate::{Algorithm, KeyIdType, Refusal, VerifyingKey};

impl VerifyingKey {
    /// Whether the token's algorithm and key id are this key's.
    pub(crate) fn is_named_by(&self, token: &Token<'_>) -> bool {
        let head = &token.head;
        head.algorithm == self.algorithm
            && !(head.key_id_type == KeyIdType::PublicKey && self.algorithm.is_symmetric())
            && head.key_id == self.id.bytes(head.key_id_type)
    }

    pub(crate) fn check_signature(&self, token: &Token<'_>) -> Result<(), Refusal> {
        let [context, payload] = token.message();
        let holds = match &self.check {
            Check::Hmac(mac) => mac.verify_parts(&[context, payload], token.signature),
            Check::Proof(verifier) => Proof::from_bytes(token.signature)
                .and_then(|proof| verifier.verify(&proof, &message_hash(&[context, payload])))
                .is_ok(),
            Check::Signature(key) => key
                .verify_with_context(context, payload, token.signature)
                .is_ok(),
        };
        if holds {
            Ok(())
        } else {
            Err(Refusal::Signature)
        }
    }

    /// Whether this proof was made for the message with the holder's key.
    pub(crate) fn check_proof(&self, message: &[&[u8]], proof: &[u8]) -> bool {
        match (&self.check, Proof::from_bytes(proof)) {
            (Check::Proof(verifier), Ok(proof)) => {
                verifier.verify(&proof, &message_hash(message)).is_ok()
            }
            _ => false,
        }
    }

    /// Whether all these tokens, which name this key, hold: with one final exponentiation, for a
    /// zero-knowledge key; no other answers `true`.
    pub(crate) fn check_proofs(&self, tokens: &[&Token<'_>]) -> bool {
        let Check::Proof(verifier) = &self.check else {
            return false;
        };
        let proofs: Result<Vec<_>, _> = tokens
            .iter()
            .map(|token| {
                Ok::<_, signet_zk::Error>((
                    Proof::from_bytes(token.signature)?,
                    message_hash(&token.message()),
                ))
            })
            .collect();
        proofs.is_ok_and(|proofs: Vec<(Proof, [u8; 32])>| verifier.verify_batch(&proofs).is_ok())
    }

    pub(crate) fn ed25519(&self) -> Option<&signet_crypto::VerifyingKey> {
        match &self.check {
            Check::Signature(key) if self.algorithm == Algorithm::Ed25519 => Some(key),
            Check::Hmac(_) | Check::Signature(_) | Check::Proof(_) => None,
        }
    }
}
