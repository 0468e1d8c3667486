//! Keys that check tokens: read, or made from what the verifier holds.

use signet_crypto::mac::HmacSha256Key;
use signet_crypto::{PublicKey, hash::sha256};
use signet_zk::Verifier;

use super::hmac;
use super::id::KeyId;
use super::message::KeyMessage;
use crate::certificate::Certified;
use crate::{Algorithm, KeyError, KeyIdType};

/// A key that checks tokens: public, or shared.
pub struct VerifyingKey {
    pub(crate) algorithm: Algorithm,
    pub(super) check: Check,
    pub(crate) id: KeyId,
    /// What vouches for this key, where a certificate does.
    pub(crate) certificate: Option<Certified>,
}

#[allow(clippy::large_enum_variant)] // Few and long-lived: a pointer more on each use would cost, the size does not.
pub(super) enum Check {
    Hmac(HmacSha256Key),
    Signature(signet_crypto::VerifyingKey),
    Proof(Box<Verifier>),
}

impl std::fmt::Debug for VerifyingKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("VerifyingKey")
            .field("algorithm", &self.algorithm)
            .finish_non_exhaustive()
    }
}

impl VerifyingKey {
    /// Reads a `VerifyingKey` message.
    ///
    /// # Errors
    /// [`KeyError`]: malformed, not a public-key algorithm, or a point that is not acceptable (small order, not canonical).
    pub fn from_bytes(bytes: &[u8]) -> Result<VerifyingKey, KeyError> {
        let KeyMessage {
            algorithm,
            first: public,
            ..
        } = KeyMessage::parse(bytes, false)?;
        match algorithm.statement() {
            None => VerifyingKey::public(algorithm, public),
            Some(_) => {
                let (hash, key) = public
                    .split_first_chunk::<32>()
                    .ok_or(KeyError::Malformed)?;
                if key.len() == 32 {
                    // The proof system's key is named by its hash only.
                    return Err(KeyError::Parameters);
                }
                let key =
                    signet_zk::VerifyingKey::from_bytes(key).map_err(|_| KeyError::Malformed)?;
                VerifyingKey::of_proofs(algorithm, *hash, &key)
            }
        }
    }

    /// Reads a `VerifyingKey` message that may pin the proof system's verifying key by its SHA-256 alone: `find` is asked for the key of a hash, and
    /// its answer is believed only if it has that hash.
    ///
    /// # Errors
    /// As [`VerifyingKey::from_bytes`]; [`KeyError::Parameters`] where `find` has no such key.
    pub fn from_bytes_pinned(
        bytes: &[u8],
        find: impl FnOnce(&[u8; 32]) -> Option<signet_zk::VerifyingKey>,
    ) -> Result<VerifyingKey, KeyError> {
        let message = KeyMessage::parse(bytes, false)?;
        let Some((hash, pin)) = message.first.split_first_chunk::<32>() else {
            return VerifyingKey::from_bytes(bytes);
        };
        let Ok(pin) = <&[u8; 32]>::try_from(pin) else {
            return VerifyingKey::from_bytes(bytes);
        };
        if !message.algorithm.is_zero_knowledge() {
            return VerifyingKey::from_bytes(bytes);
        }
        let key = find(pin).ok_or(KeyError::Parameters)?;
        if key.hash() != *pin {
            return Err(KeyError::Parameters);
        }
        VerifyingKey::of_proofs(message.algorithm, *hash, &key)
    }

    /// Checks proofs about the key whose hash is `key_hash`, under the parameters of `key`: both are the verifier's choice.
    ///
    /// # Errors
    /// [`KeyError::Parameters`] for the key of another statement, [`KeyError::Invalid`] for a number that is no key hash.
    pub fn of_proofs(
        algorithm: Algorithm,
        key_hash: [u8; 32],
        key: &signet_zk::VerifyingKey,
    ) -> Result<VerifyingKey, KeyError> {
        if algorithm.statement() != Some(key.statement()) {
            return Err(KeyError::Parameters);
        }
        let verifier = Verifier::new(key, &key_hash).map_err(|_| KeyError::Invalid)?;
        Ok(VerifyingKey {
            algorithm,
            check: Check::Proof(Box::new(verifier)),
            id: KeyId::of_statement(key_hash),
            certificate: None,
        })
    }

    /// A shared key, at least 32 bytes.
    ///
    /// # Errors
    /// [`KeyError::TooShort`].
    pub fn hmac(secret: &[u8]) -> Result<VerifyingKey, KeyError> {
        let (id, mac) = hmac::prepare(secret)?;
        Ok(VerifyingKey {
            algorithm: Algorithm::HmacSha256,
            check: Check::Hmac(mac),
            id,
            certificate: None,
        })
    }

    /// The algorithm.
    pub fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// SHA-256 of the key; of a zero-knowledge key, the key hash that its proofs are about.
    pub fn key_hash(&self) -> [u8; 32] {
        self.id.hash
    }

    pub(crate) fn public(algorithm: Algorithm, public: &[u8]) -> Result<VerifyingKey, KeyError> {
        let (jose, key) = match algorithm {
            Algorithm::Ed25519 => (
                signet_crypto::Algorithm::EdDsa,
                PublicKey::Ed25519 {
                    x: public.try_into().map_err(|_| KeyError::Malformed)?,
                },
            ),
            Algorithm::MlDsa44 => (
                signet_crypto::Algorithm::MlDsa44,
                PublicKey::MlDsa {
                    algorithm: signet_crypto::Algorithm::MlDsa44,
                    public: public.to_vec(),
                },
            ),
            _ => return Err(KeyError::Algorithm),
        };
        let check = Check::Signature(
            signet_crypto::VerifyingKey::new(jose, &key).map_err(|_| KeyError::Invalid)?,
        );
        Ok(VerifyingKey {
            algorithm,
            check,
            id: KeyId {
                kind: KeyIdType::ShortHash,
                hash: sha256(public),
                public: public.to_vec(),
            },
            certificate: None,
        })
    }
}
