//! Prove once, sign many: a certificate that an ordinary signing key belongs to the holder of K.
//!
//! **What it proves**, to a verifier that knows K's hash and the proof system's verifying key:
//! somebody who knew K made this proof for exactly this body, that is for this public key and these
//! times. **What it does not prove:** that the maker holds the private half of that public key
//! (tokens show that, by their signatures); that K's holder stands behind any single token (a party
//! that has the private key can sign until the certificate ends); when it was made; or that it was
//! not withdrawn, for which K's holder can only let it end, so certificates should be short.
//!
//! A verifier accepts a certificate once and keeps the key that it gets
//! ([`VerifyingKey::accept_certificate`], or [`crate::CertifiedKeys`] for many): its tokens cost
//! one signature check. A token names the certificate by the SHA-256 of its body (its proof can be
//! re-randomised by anyone).

use signet_crypto::hash::sha256;

use crate::key::{Signer, message_hash};
use crate::validity::{Certified, Validity};
use crate::wire::{self, Reader};
use crate::{Algorithm, KeyError, Refusal, SignError, SigningKey, VerifyingKey};

/// What stands before a certificate's body when its proof is made. No token's signed message begins
/// so.
pub const CERTIFICATE_CONTEXT_V1: &[u8] = b"signet compact key certificate v1\n";

/// Longest certificate: an ML-DSA-44 key, a proof and what is around them.
const MAX_BYTES: usize = 2048;

/// A certificate whose form is right and whose proof nobody has checked.
#[derive(Clone, Copy, Debug)]
pub struct KeyCertificate<'a> {
    body: &'a [u8],
    proof: &'a [u8],
    proof_algorithm: Algorithm,
    key_hash: &'a [u8],
    algorithm: Algorithm,
    public_key: &'a [u8],
    validity: Validity,
}

impl<'a> KeyCertificate<'a> {
    /// Parses the one canonical encoding.
    ///
    /// # Errors
    /// A [`Refusal`] about size, form or kind.
    pub fn parse(bytes: &'a [u8]) -> Result<KeyCertificate<'a>, Refusal> {
        if bytes.len() > MAX_BYTES {
            return Err(Refusal::TooLarge);
        }
        let mut reader = Reader::new(bytes);
        let (Some((1, body)), Some((2, proof)), None) =
            (reader.next()?, reader.next()?, reader.next()?)
        else {
            return Err(Refusal::NotCanonical);
        };
        let (body, proof) = (body.bytes()?, proof.bytes()?);
        let mut reader = Reader::new(body);
        let mut field = |number: u32| match reader.next()? {
            Some((found, value)) if found == number => Ok(value),
            _ => Err(Refusal::NotCanonical),
        };
        if field(1)?.small()? != 1 {
            return Err(Refusal::Unknown);
        }
        let algorithm = |number: u32| Algorithm::from_number(number).ok_or(Refusal::Unknown);
        let proof_algorithm = algorithm(field(2)?.small()?)?;
        let key_hash = field(3)?.bytes()?;
        let subject = algorithm(field(4)?.small()?)?;
        let public_key = field(5)?.bytes()?;
        let expires_at = field(6)?.number()?;
        let not_before = match reader.next()? {
            None => 0,
            Some((7, value)) => value.number()?,
            Some(_) => return Err(Refusal::NotCanonical),
        };
        if reader.next()?.is_some() {
            return Err(Refusal::NotCanonical);
        }
        if !proof_algorithm.is_zero_knowledge() || subject.is_symmetric() {
            return Err(Refusal::Unknown);
        }
        if key_hash.len() != 32 || proof.len() != proof_algorithm.signature_len() {
            return Err(Refusal::Bounds);
        }
        Ok(KeyCertificate {
            body,
            proof,
            proof_algorithm,
            key_hash,
            algorithm: subject,
            public_key,
            validity: Validity {
                not_before,
                expires_at,
            },
        })
    }

    /// SHA-256 of the body: what tokens name.
    pub fn id(&self) -> [u8; 32] {
        sha256(self.body)
    }

    /// The algorithm and the public half of the key that it is about.
    pub fn subject(&self) -> (Algorithm, &'a [u8]) {
        (self.algorithm, self.public_key)
    }

    /// The algorithm of its proof, and the hash of K.
    pub fn issuer(&self) -> (Algorithm, &'a [u8]) {
        (self.proof_algorithm, self.key_hash)
    }

    /// When it is valid.
    pub fn validity(&self) -> Validity {
        self.validity
    }
}

impl SigningKey {
    /// A certificate that `subject`, an Ed25519 or ML-DSA key, belongs to this zero-knowledge key's
    /// holder.
    ///
    /// # Errors
    /// [`SignError::NoEnd`], [`SignError::NoProver`], [`SignError::Proof`], and
    /// [`SignError::Library`] where one of the two keys is of the wrong kind.
    pub fn certify(
        &self,
        subject: &VerifyingKey,
        validity: Validity,
    ) -> Result<Vec<u8>, SignError> {
        if validity.expires_at == 0 {
            return Err(SignError::NoEnd);
        }
        let Signer::Proof { secret, prover } = &self.signer else {
            return Err(SignError::Library);
        };
        if subject.algorithm.is_symmetric() || subject.certificate.is_some() {
            return Err(SignError::Library);
        }
        let prover = prover.as_ref().ok_or(SignError::NoProver)?;
        let mut body = Vec::with_capacity(64 + subject.id.public.len());
        wire::put_number(&mut body, 1, 1);
        wire::put_number(&mut body, 2, u64::from(self.algorithm.number()));
        wire::put_bytes(&mut body, 3, &self.id.hash);
        wire::put_number(&mut body, 4, u64::from(subject.algorithm.number()));
        wire::put_bytes(&mut body, 5, &subject.id.public);
        wire::put_number(&mut body, 6, validity.expires_at);
        wire::put_number(&mut body, 7, validity.not_before);
        let hash = message_hash(&[CERTIFICATE_CONTEXT_V1, &body]);
        let proof = prover
            .prove(secret.expose(), &hash)
            .map_err(|_| SignError::Proof)?
            .to_bytes();
        let mut out = Vec::with_capacity(body.len() + 144);
        wire::put_bytes(&mut out, 1, &body);
        wire::put_bytes(&mut out, 2, &proof);
        Ok(out)
    }

    /// Names this certificate in the tokens that the key signs, all of version 1.
    ///
    /// # Errors
    /// [`KeyError::Invalid`]: malformed, or about another key.
    pub fn with_certificate(mut self, certificate: &[u8]) -> Result<SigningKey, KeyError> {
        let certificate = KeyCertificate::parse(certificate).map_err(|_| KeyError::Invalid)?;
        if certificate.subject() != (self.algorithm, &self.id.public[..]) {
            return Err(KeyError::Invalid);
        }
        self.certificate = Some(certificate.id());
        Ok(self)
    }
}

impl VerifyingKey {
    /// When the certificate that vouches for this key is valid; `None` for a key that needs none.
    pub fn validity(&self) -> Option<Validity> {
        self.certificate.map(|certified| certified.validity)
    }

    /// Checks a certificate by this zero-knowledge key, and returns the key that it is about: it
    /// takes tokens that name this certificate, while the certificate is valid.
    ///
    /// # Errors
    /// A [`Refusal`]: form, another key's, not valid at `now` (Unix seconds), or a proof that does
    /// not hold.
    pub fn accept_certificate(&self, bytes: &[u8], now: u64) -> Result<VerifyingKey, Refusal> {
        let certificate = KeyCertificate::parse(bytes)?;
        if certificate.issuer() != (self.algorithm, &self.id.hash[..]) {
            return Err(Refusal::NoKey);
        }
        let certified = Certified {
            id: certificate.id(),
            validity: certificate.validity,
        };
        if now > certificate.validity.expires_at {
            return Err(Refusal::Expired);
        }
        if now < certificate.validity.not_before {
            return Err(Refusal::NotYetValid);
        }
        let (algorithm, public) = certificate.subject();
        let mut key = VerifyingKey::public(algorithm, public).map_err(|_| Refusal::Bounds)?;
        if !self.check_proof(
            &[CERTIFICATE_CONTEXT_V1, certificate.body],
            certificate.proof,
        ) {
            return Err(Refusal::Signature);
        }
        key.certificate = Some(certified);
        Ok(key)
    }
}
