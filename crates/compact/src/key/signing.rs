//! Keys that make tokens: read, generated, written.

use std::sync::Arc;

use signet_crypto::mac::HmacSha256Key;
use signet_crypto::{PublicKey, Secret, hash::sha256};
use signet_zk::Prover;

use super::hmac::{self, MIN_HMAC_KEY_BYTES};
use super::id::KeyId;
use super::message::KeyMessage;
use crate::{Algorithm, KeyError, KeyIdType, VerifyingKey, wire};

/// Bytes of an ML-DSA-44 secret key in its expanded form (FIPS 204 section 4); the seed has 32.
const EXPANDED_ML_DSA_44_BYTES: usize = 2560;

/// A key that makes tokens. It does not print, and its secret is wiped when it goes.
pub struct SigningKey {
    pub(crate) algorithm: Algorithm,
    pub(crate) signer: Signer,
    pub(crate) id: KeyId,
    /// The certificate that tokens of this key name.
    pub(crate) certificate: Option<[u8; 32]>,
}

#[allow(clippy::large_enum_variant)] // Few and long-lived: a pointer more on each use would cost, the size does not.
pub(crate) enum Signer {
    Hmac {
        secret: Secret<Vec<u8>>,
        mac: HmacSha256Key,
    },
    Signature(signet_crypto::SigningKey),
    Proof {
        secret: Secret<[u8; 32]>,
        prover: Option<Arc<Prover>>,
    },
}

impl std::fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SigningKey")
            .field("algorithm", &self.algorithm)
            .finish_non_exhaustive()
    }
}

impl SigningKey {
    /// A fresh key; see [`SigningKey::generate_for_proofs`] for the zero-knowledge algorithms.
    ///
    /// # Errors
    /// [`KeyError::Algorithm`] for a zero-knowledge algorithm.
    pub fn generate(algorithm: Algorithm) -> Result<SigningKey, KeyError> {
        match algorithm {
            Algorithm::HmacSha256 => {
                let mut key = vec![0; MIN_HMAC_KEY_BYTES];
                signet_crypto::random::fill(&mut key);
                SigningKey::hmac(key)
            }
            Algorithm::Ed25519 => SigningKey::asymmetric(
                algorithm,
                signet_crypto::SigningKey::generate(signet_crypto::Algorithm::EdDsa),
            ),
            Algorithm::MlDsa44 => SigningKey::asymmetric(
                algorithm,
                signet_crypto::SigningKey::generate(signet_crypto::Algorithm::MlDsa44),
            ),
            Algorithm::Groth16Poseidon | Algorithm::Groth16Hybrid => Err(KeyError::Algorithm),
        }
    }

    /// A fresh key K of a zero-knowledge algorithm, which signs once it has a prover
    /// ([`SigningKey::with_prover`]).
    ///
    /// # Errors
    /// [`KeyError::Algorithm`] for the others.
    pub fn generate_for_proofs(algorithm: Algorithm) -> Result<SigningKey, KeyError> {
        let mut secret = [0; 32];
        signet_crypto::random::fill_system(&mut secret);
        SigningKey::proving(algorithm, Secret::new(secret))
    }

    fn proving(algorithm: Algorithm, secret: Secret<[u8; 32]>) -> Result<SigningKey, KeyError> {
        let statement = algorithm.statement().ok_or(KeyError::Algorithm)?;
        Ok(SigningKey {
            algorithm,
            id: KeyId::of_statement(statement.key_hash(secret.expose())),
            signer: Signer::Proof {
                secret,
                prover: None,
            },
            certificate: None,
        })
    }

    /// Gives a zero-knowledge key what makes its proofs. Provers are large and shared.
    ///
    /// # Errors
    /// [`KeyError::Parameters`]: the prover is for another statement, or the key makes no proofs.
    pub fn with_prover(mut self, shared: Arc<Prover>) -> Result<SigningKey, KeyError> {
        match &mut self.signer {
            Signer::Proof { prover, .. }
                if self.algorithm.statement() == Some(shared.statement()) =>
            {
                *prover = Some(shared);
                Ok(self)
            }
            Signer::Proof { .. } | Signer::Hmac { .. } | Signer::Signature(_) => {
                Err(KeyError::Parameters)
            }
        }
    }

    /// Reads a `SigningKey` message: canonical, secret and public half belonging together.
    ///
    /// # Errors
    /// [`KeyError`] for anything else.
    pub fn from_bytes(bytes: &[u8]) -> Result<SigningKey, KeyError> {
        let KeyMessage {
            algorithm,
            first: secret,
            second: public,
        } = KeyMessage::parse(bytes, true)?;
        match algorithm {
            Algorithm::HmacSha256 if public.is_empty() => SigningKey::hmac(secret.to_vec()),
            Algorithm::Ed25519 => {
                let seed = secret.try_into().map_err(|_| KeyError::Malformed)?;
                let key = SigningKey::asymmetric(
                    algorithm,
                    signet_crypto::SigningKey::ed25519_from_seed(seed),
                )?;
                key.must_have_public(public)
            }
            Algorithm::MlDsa44 => {
                if !matches!(secret.len(), 32 | EXPANDED_ML_DSA_44_BYTES) {
                    return Err(KeyError::Malformed);
                }
                let key = signet_crypto::SigningKey::from_private(
                    signet_crypto::Algorithm::MlDsa44,
                    secret,
                );
                SigningKey::asymmetric(algorithm, key)?.must_have_public(public)
            }
            Algorithm::Groth16Poseidon | Algorithm::Groth16Hybrid if public.is_empty() => {
                let secret = secret.try_into().map_err(|_| KeyError::Malformed)?;
                SigningKey::proving(algorithm, Secret::new(secret))
            }
            Algorithm::HmacSha256 | Algorithm::Groth16Poseidon | Algorithm::Groth16Hybrid => {
                Err(KeyError::Malformed)
            }
        }
    }

    /// The `SigningKey` message; an ML-DSA key that was read in its expanded form has no seed to
    /// write and is written as it was read.
    pub fn to_bytes(&self) -> Result<Secret<Vec<u8>>, KeyError> {
        let secret = match &self.signer {
            Signer::Hmac { secret, .. } => Secret::new(secret.expose().clone()),
            Signer::Proof { secret, .. } => Secret::new(secret.expose().to_vec()),
            Signer::Signature(key) if self.algorithm == Algorithm::Ed25519 => Secret::new(
                key.ed25519_seed()
                    .map_err(|_| KeyError::Invalid)?
                    .expose()
                    .to_vec(),
            ),
            Signer::Signature(key) => key.to_private().map_err(|_| KeyError::Invalid)?,
        };
        let mut out = Vec::with_capacity(16 + secret.expose().len() + self.id.public.len());
        wire::put_number(&mut out, 1, u64::from(self.algorithm.number()));
        wire::put_bytes(&mut out, 2, secret.expose());
        wire::put_bytes(&mut out, 3, &self.id.public);
        Ok(Secret::new(out))
    }

    /// The `VerifyingKey` message; none for a shared key. A zero-knowledge key needs its prover:
    /// the message holds the key hash and behind it the verifying key of the proof system, all that
    /// a verifier needs.
    pub fn public_bytes(&self) -> Option<Vec<u8>> {
        let public = match &self.signer {
            Signer::Hmac { .. } => return None,
            Signer::Signature(_) => self.id.public.clone(),
            Signer::Proof { prover, .. } => [
                &self.id.hash[..],
                &prover.as_ref()?.verifying_key().to_bytes(),
            ]
            .concat(),
        };
        let mut out = Vec::with_capacity(8 + public.len());
        wire::put_number(&mut out, 1, u64::from(self.algorithm.number()));
        wire::put_bytes(&mut out, 2, &public);
        Some(out)
    }

    /// The algorithm.
    pub fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// SHA-256 of the key (of its public half, where it has one); of a zero-knowledge key, the key
    /// hash that its proofs are about.
    pub fn key_hash(&self) -> [u8; 32] {
        self.id.hash
    }

    /// What its tokens call it.
    pub fn key_id(&self) -> &[u8] {
        self.id.bytes(self.id.kind)
    }

    /// Names the key in its tokens in another way than [`KeyIdType::ShortHash`].
    ///
    /// # Errors
    /// [`KeyError::KeyIdType`]: a symmetric key is never its own id.
    pub fn with_key_id_type(mut self, kind: KeyIdType) -> Result<SigningKey, KeyError> {
        if kind == KeyIdType::PublicKey && self.algorithm.is_symmetric() {
            return Err(KeyError::KeyIdType);
        }
        self.id.kind = kind;
        Ok(self)
    }

    /// The key that checks what this one signs.
    ///
    /// # Errors
    /// [`KeyError::Invalid`] where the public half is not acceptable, [`KeyError::Parameters`] for
    /// a zero-knowledge key without a prover.
    pub fn verifying_key(&self) -> Result<VerifyingKey, KeyError> {
        match &self.signer {
            Signer::Hmac { secret, .. } => VerifyingKey::hmac(secret.expose()),
            Signer::Signature(_) => VerifyingKey::public(self.algorithm, &self.id.public),
            Signer::Proof { prover, .. } => {
                let prover = prover.as_ref().ok_or(KeyError::Parameters)?;
                VerifyingKey::of_proofs(self.algorithm, self.id.hash, prover.verifying_key())
            }
        }
    }

    fn hmac(secret: Vec<u8>) -> Result<SigningKey, KeyError> {
        let (id, mac) = hmac::prepare(&secret)?;
        Ok(SigningKey {
            algorithm: Algorithm::HmacSha256,
            signer: Signer::Hmac {
                secret: Secret::new(secret),
                mac,
            },
            id,
            certificate: None,
        })
    }

    fn asymmetric(
        algorithm: Algorithm,
        key: Result<signet_crypto::SigningKey, signet_crypto::KeyError>,
    ) -> Result<SigningKey, KeyError> {
        let key = key.map_err(|_| KeyError::Invalid)?;
        let public = match key.public() {
            Some(PublicKey::Ed25519 { x }) => x.to_vec(),
            Some(PublicKey::MlDsa { public, .. }) => public.clone(),
            _ => return Err(KeyError::Algorithm),
        };
        Ok(SigningKey {
            algorithm,
            signer: Signer::Signature(key),
            id: KeyId {
                kind: KeyIdType::ShortHash,
                hash: sha256(&public),
                public,
            },
            certificate: None,
        })
    }

    fn must_have_public(self, public: &[u8]) -> Result<SigningKey, KeyError> {
        if self.id.public == public {
            Ok(self)
        } else {
            Err(KeyError::Invalid)
        }
    }
}
