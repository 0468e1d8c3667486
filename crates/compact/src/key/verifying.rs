//! Keys that check tokens: read, or made from what the verifier holds.

use signet_crypto::mac::HmacSha256Key;
use signet_crypto::{PublicKey, hash::sha256};
use signet_zk::Verifier;

use super::hmac;
use super::id::KeyId;
use super::message::KeyMessage;
use crate::validity::Certified;
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
    /// Reads a `VerifyingKey` message of a signature algorithm.
    ///
    /// # Errors
    /// [`KeyError`]: malformed, not a public-key algorithm, or a point that is not acceptable
    /// (small order, not canonical). [`KeyError::Unpinned`] for a zero-knowledge key: no message
    /// says who knows the secrets behind its proof system's parameters, so
    /// [`VerifyingKey::from_bytes_pinned`] reads it.
    pub fn from_bytes(bytes: &[u8]) -> Result<VerifyingKey, KeyError> {
        let message = KeyMessage::parse(bytes, false)?;
        match message.algorithm.statement() {
            None => VerifyingKey::public(message.algorithm, message.first),
            Some(_) => Err(KeyError::Unpinned),
        }
    }

    /// SHA-256 of the verifying key of the proof system that a `VerifyingKey` message holds or
    /// names: what a verifier pins, having checked the ceremony that made it. `None` for a
    /// signature algorithm, which has none.
    ///
    /// # Errors
    /// [`KeyError`] as [`VerifyingKey::from_bytes_pinned`], for the message alone.
    pub fn parameters_hash(bytes: &[u8]) -> Result<Option<[u8; 32]>, KeyError> {
        let message = KeyMessage::parse(bytes, false)?;
        match message.algorithm.statement() {
            None => Ok(None),
            Some(_) => Ok(Some(ProofKey::parse(message.first)?.parameters.hash())),
        }
    }

    /// Reads a `VerifyingKey` message, of a zero-knowledge algorithm too. The verifying key of its
    /// proof system must be one whose SHA-256 is among `pins`: a party that made other parameters,
    /// and kept their secrets, can prove anything. A message may name it by that hash alone: then
    /// `find` is asked for it, and its answer is accepted only if it has that hash.
    ///
    /// # Errors
    /// As [`VerifyingKey::from_bytes`]; [`KeyError::Unpinned`] for a key that is not among `pins`,
    /// [`KeyError::Parameters`] where `find` has no such key, [`KeyError::Degenerate`] for one
    /// under which anybody makes proofs.
    pub fn from_bytes_pinned(
        bytes: &[u8],
        pins: &[[u8; 32]],
        find: impl FnOnce(&[u8; 32]) -> Option<signet_zk::VerifyingKey>,
    ) -> Result<VerifyingKey, KeyError> {
        let message = KeyMessage::parse(bytes, false)?;
        if !message.algorithm.is_zero_knowledge() {
            return VerifyingKey::public(message.algorithm, message.first);
        }
        let ProofKey {
            key_hash,
            parameters,
        } = ProofKey::parse(message.first)?;
        let pin = parameters.hash();
        if !pins.contains(&pin) {
            return Err(KeyError::Unpinned);
        }
        let key = match parameters {
            ProofParameters::Held(key) => *key,
            ProofParameters::Named(hash) => find(&hash)
                .filter(|key| key.hash() == hash)
                .ok_or(KeyError::Parameters)?,
        };
        VerifyingKey::of_proofs(message.algorithm, key_hash, &key)
    }

    /// Checks proofs about the key whose hash is `key_hash`, under the parameters of `key`: both
    /// are the verifier's choice.
    ///
    /// # Errors
    /// [`KeyError::Parameters`] for the key of another statement, [`KeyError::Invalid`] for a
    /// number that is no key hash.
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
            Algorithm::HmacSha256 | Algorithm::Groth16Poseidon | Algorithm::Groth16Hybrid => {
                return Err(KeyError::Algorithm);
            }
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

/// What a zero-knowledge key's message holds.
struct ProofKey {
    key_hash: [u8; 32],
    parameters: ProofParameters,
}

/// The verifying key of the proof system, or its name.
enum ProofParameters {
    Held(Box<signet_zk::VerifyingKey>),
    Named([u8; 32]),
}

impl ProofKey {
    fn parse(bytes: &[u8]) -> Result<ProofKey, KeyError> {
        let (key_hash, key) = bytes.split_first_chunk::<32>().ok_or(KeyError::Malformed)?;
        let parameters = match <[u8; 32]>::try_from(key) {
            Ok(hash) => ProofParameters::Named(hash),
            Err(_) => ProofParameters::Held(Box::new(proof_system_key(key)?)),
        };
        Ok(ProofKey {
            key_hash: *key_hash,
            parameters,
        })
    }
}

impl ProofParameters {
    fn hash(&self) -> [u8; 32] {
        match self {
            ProofParameters::Held(key) => key.hash(),
            ProofParameters::Named(hash) => *hash,
        }
    }
}

fn proof_system_key(bytes: &[u8]) -> Result<signet_zk::VerifyingKey, KeyError> {
    use signet_zk::Error;
    signet_zk::VerifyingKey::from_bytes(bytes).map_err(|error| match error {
        Error::Degenerate => KeyError::Degenerate,
        Error::Proof
        | Error::Encoding(_)
        | Error::Hash
        | Error::Circuit
        | Error::Prover
        | Error::Transcript(_) => KeyError::Malformed,
    })
}
