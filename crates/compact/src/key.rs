//! Keys that have done their work once: midstates, expanded keys and ids are computed when the key is read, not per token.

use std::collections::HashMap;
use std::sync::Arc;

use signet_crypto::mac::HmacSha256Key;
use signet_crypto::{PublicKey, Secret, hash::Sha256, hash::sha256};
use signet_zk::{Proof, Prover, Statement, Verifier};

use crate::certificate::Certified;
use crate::limits::MAX_TOKEN_BYTES;
use crate::payload::{Head, Payload};
use crate::token::{Token, context};
use crate::wire::{self, Reader};
use crate::{Algorithm, KeyError, KeyIdType, Refusal, SignError, Version};

/// Shortest HMAC key, in bytes: an id that is a hash of a short key would help to guess it.
const MIN_HMAC_KEY_BYTES: usize = 32;
/// Longest HMAC key, in bytes.
const MAX_HMAC_KEY_BYTES: usize = 64;
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

/// The ids of one key, computed once.
pub(crate) struct KeyId {
    kind: KeyIdType,
    pub(crate) hash: [u8; 32],
    pub(crate) public: Vec<u8>,
}

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
            _ => None,
        }
    }
}

impl KeyId {
    /// The key hash itself, whole unless asked otherwise.
    fn of_statement(key_hash: [u8; 32]) -> KeyId {
        KeyId {
            kind: KeyIdType::Hash,
            hash: key_hash,
            public: Vec::new(),
        }
    }

    fn bytes(&self, kind: KeyIdType) -> &[u8] {
        match kind {
            KeyIdType::ShortHash => &self.hash[..8],
            KeyIdType::Hash => &self.hash,
            KeyIdType::PublicKey => &self.public,
        }
    }
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

    /// A fresh key K of a zero-knowledge algorithm, which signs once it has a prover ([`SigningKey::with_prover`]).
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
            _ => Err(KeyError::Parameters),
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
            _ => Err(KeyError::Malformed),
        }
    }

    /// The `SigningKey` message; an ML-DSA key that was read in its expanded form has no seed to write and is written as it was read.
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

    /// The `VerifyingKey` message; none for a shared key. A zero-knowledge key needs its prover: the message holds the key hash and behind it the
    /// verifying key of the proof system, all that a verifier needs.
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

    /// SHA-256 of the key (of its public half, where it has one); of a zero-knowledge key, the key hash that its proofs are about.
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
    /// [`KeyError::Invalid`] where the public half is not acceptable, [`KeyError::Parameters`] for a zero-knowledge key without a prover.
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

    /// Appends a token that says `payload`.
    ///
    /// # Errors
    /// [`SignError`] where a verifier would refuse the payload; `out` is then as it was.
    pub fn sign_into(
        &self,
        version: Version,
        payload: &Payload<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), SignError> {
        let payload = &Payload {
            certificate: self.certificate.as_ref(),
            ..*payload
        };
        payload.check(version)?;
        let head = Head {
            version,
            algorithm: self.algorithm,
            key_id_type: self.id.kind,
            key_id: self.id.bytes(self.id.kind),
        };
        let length = payload.encoded_len(&head);
        if length > crate::limits::MAX_PAYLOAD_BYTES {
            return Err(SignError::Bounds("payload"));
        }
        let start = out.len();
        out.reserve(length + self.algorithm.signature_len() + 16);
        wire::put_head(out, 1, length);
        let payload_at = out.len();
        payload.encode(&head, out);
        match &self.signer {
            Signer::Hmac { mac, .. } => {
                let tag = mac.sign_parts(&[context(version), &out[payload_at..]]);
                wire::put_bytes(out, 2, &tag);
            }
            Signer::Proof { secret, prover } => {
                let Some(prover) = prover else {
                    out.truncate(start);
                    return Err(SignError::NoProver);
                };
                let hash = message_hash(&[context(version), &out[payload_at..]]);
                let proof = prover.prove(secret.expose(), &hash).to_bytes();
                wire::put_bytes(out, 3, &proof);
            }
            Signer::Signature(key) => {
                // The signature's library wants one message and appends to a buffer of its own.
                let mut message = Vec::with_capacity(32 + length + self.algorithm.signature_len());
                message.extend_from_slice(context(version));
                message.extend_from_slice(&out[payload_at..]);
                let mut signature = Vec::with_capacity(self.algorithm.signature_len());
                if key.sign_into(&message, &mut signature).is_err() {
                    out.truncate(start);
                    return Err(SignError::Library);
                }
                wire::put_bytes(out, 2, &signature);
            }
        }
        debug_assert!(out.len() - start <= MAX_TOKEN_BYTES);
        Ok(())
    }

    fn hmac(secret: Vec<u8>) -> Result<SigningKey, KeyError> {
        let (id, mac) = hmac_parts(&secret)?;
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

/// A key that checks tokens: public, or shared.
pub struct VerifyingKey {
    pub(crate) algorithm: Algorithm,
    check: Check,
    pub(crate) id: KeyId,
    /// What vouches for this key, where a certificate does.
    pub(crate) certificate: Option<Certified>,
}

#[allow(clippy::large_enum_variant)] // Few and long-lived: a pointer more on each use would cost, the size does not.
enum Check {
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
        let (id, mac) = hmac_parts(secret)?;
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
            Check::Signature(key) if context.is_empty() => {
                key.verify(payload, token.signature).is_ok()
            }
            Check::Signature(key) => key
                .verify(&[context, payload].concat(), token.signature)
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

    /// Whether all these tokens, which name this key, hold: with one final exponentiation, for a zero-knowledge key; no other answers `true`.
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
            _ => None,
        }
    }
}

/// The keys that a verifier has chosen, found by what tokens call them.
#[derive(Debug, Default)]
pub struct KeySet {
    keys: Vec<VerifyingKey>,
    by_short_hash: HashMap<(Algorithm, [u8; 8]), usize>,
}

impl KeySet {
    /// A set of these keys.
    ///
    /// # Errors
    /// [`KeyError::Duplicate`]: two keys of one algorithm and one id would leave the choice to chance.
    pub fn new(keys: impl IntoIterator<Item = VerifyingKey>) -> Result<KeySet, KeyError> {
        let mut set = KeySet::default();
        for key in keys {
            // The first 8 bytes of the hash find the key whatever id type the token uses; the whole id is compared after.
            if set
                .by_short_hash
                .insert((key.algorithm, short(&key.id.hash)), set.keys.len())
                .is_some()
            {
                return Err(KeyError::Duplicate);
            }
            set.keys.push(key);
        }
        Ok(set)
    }

    pub(crate) fn find(&self, token: &Token<'_>) -> Option<&VerifyingKey> {
        let head = &token.head;
        let short = match head.key_id_type {
            KeyIdType::ShortHash | KeyIdType::Hash => short(head.key_id),
            KeyIdType::PublicKey => short(&sha256(head.key_id)),
        };
        let key = &self.keys[*self.by_short_hash.get(&(head.algorithm, short))?];
        key.is_named_by(token).then_some(key)
    }
}

/// The first 8 bytes of at least as many.
fn short(id: &[u8]) -> [u8; 8] {
    let mut out = [0; 8];
    out.copy_from_slice(&id[..8]);
    out
}

fn hmac_parts(secret: &[u8]) -> Result<(KeyId, HmacSha256Key), KeyError> {
    if secret.len() < MIN_HMAC_KEY_BYTES {
        return Err(KeyError::TooShort);
    }
    if secret.len() > MAX_HMAC_KEY_BYTES {
        return Err(KeyError::Malformed);
    }
    Ok((
        KeyId {
            kind: KeyIdType::ShortHash,
            hash: sha256(secret),
            public: Vec::new(),
        },
        HmacSha256Key::new(secret),
    ))
}

/// `SigningKey` or `VerifyingKey`, canonical.
pub(crate) struct KeyMessage<'a> {
    algorithm: Algorithm,
    first: &'a [u8],
    second: &'a [u8],
}

impl<'a> KeyMessage<'a> {
    fn parse(bytes: &'a [u8], second_allowed: bool) -> Result<KeyMessage<'a>, KeyError> {
        let mut reader = Reader::new(bytes);
        let mut next = || reader.next().map_err(|_| KeyError::Malformed);
        let Some((1, algorithm)) = next()? else {
            return Err(KeyError::Malformed);
        };
        let algorithm = Algorithm::from_number(algorithm.small().map_err(|_| KeyError::Malformed)?)
            .ok_or(KeyError::Algorithm)?;
        let Some((2, first)) = next()? else {
            return Err(KeyError::Malformed);
        };
        let first = first.bytes().map_err(|_| KeyError::Malformed)?;
        let second = match next()? {
            None => &[][..],
            Some((3, second)) if second_allowed => {
                second.bytes().map_err(|_| KeyError::Malformed)?
            }
            Some(_) => return Err(KeyError::Malformed),
        };
        if next()?.is_some() {
            return Err(KeyError::Malformed);
        }
        Ok(KeyMessage {
            algorithm,
            first,
            second,
        })
    }
}
