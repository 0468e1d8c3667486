//! Keys that a zero-knowledge key has vouched for, remembered: a certificate's proof is checked
//! once, its tokens cost one signature check each.

use std::collections::HashMap;

use crate::policy::{Policy, VerifiedToken};
use crate::token::Token;
use crate::{KeyCertificate, KeyError, MAX_CERTIFICATES, Refusal, VerifyingKey};

/// The certified keys of one holder of a key K. Which holder is the verifier's choice: its
/// zero-knowledge verifying key.
#[derive(Debug)]
pub struct CertifiedKeys {
    holder: VerifyingKey,
    /// By the certificate's id.
    keys: HashMap<[u8; 32], VerifyingKey>,
}

impl CertifiedKeys {
    /// None yet, of this holder.
    ///
    /// # Errors
    /// [`KeyError::Algorithm`]: only a zero-knowledge key's holder certifies.
    pub fn new(holder: VerifyingKey) -> Result<CertifiedKeys, KeyError> {
        if !holder.algorithm().is_zero_knowledge() {
            return Err(KeyError::Algorithm);
        }
        Ok(CertifiedKeys {
            holder,
            keys: HashMap::new(),
        })
    }

    /// Takes a certificate and returns its id. One whose body was accepted before is only looked at
    /// for its times: a proof says nothing beyond the body that it was made for. Where
    /// [`MAX_CERTIFICATES`] are remembered, the expired ones go, and then the one that ends
    /// first.
    ///
    /// # Errors
    /// As [`VerifyingKey::accept_certificate`].
    pub fn accept(&mut self, certificate: &[u8], now: u64) -> Result<[u8; 32], Refusal> {
        let id = KeyCertificate::parse(certificate)?.id();
        if let Some(known) = self.keys.get(&id).and_then(VerifyingKey::validity) {
            return if now > known.expires_at {
                self.keys.remove(&id);
                Err(Refusal::Expired)
            } else if now < known.not_before {
                Err(Refusal::NotYetValid)
            } else {
                Ok(id)
            };
        }
        let key = self.holder.accept_certificate(certificate, now)?;
        let end = |key: &VerifyingKey| key.validity().map_or(0, |validity| validity.expires_at);
        if self.keys.len() >= MAX_CERTIFICATES {
            self.keys.retain(|_, key| end(key) >= now);
        }
        if self.keys.len() >= MAX_CERTIFICATES {
            let first = self.keys.iter().min_by_key(|(_, key)| end(key));
            if let Some(id) = first.map(|(id, _)| *id) {
                self.keys.remove(&id);
            }
        }
        self.keys.insert(id, key);
        Ok(id)
    }

    /// Checks a token that names a certificate which was accepted.
    ///
    /// # Errors
    /// [`Refusal::Certificate`] where it names none or an unknown one: the caller may fetch and
    /// [`accept`](Self::accept) that. Else as [`VerifyingKey::verify`].
    pub fn verify<'a>(
        &self,
        token: &'a [u8],
        policy: &Policy<'_>,
    ) -> Result<VerifiedToken<'a>, Refusal> {
        let named = Token::parse(token)?.unverified_payload().certificate;
        let key = named.and_then(|id| self.keys.get(id));
        key.ok_or(Refusal::Certificate)?.verify(token, policy)
    }

    /// How many are remembered.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether none is.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }
}
