//! What a verifier demands, and the token that met it.

use crate::payload::Payload;
use crate::token::Token;
use crate::{Confirmation, KeySet, Refusal, VerifyingKey, Version};

/// A verifier's demands. Everything here comes from the verifier, nothing from the token.
#[derive(Clone, Copy, Debug)]
pub struct Policy<'p> {
    /// Unix seconds. A token is valid while `not_before <= now <= expires_at`.
    pub now: u64,
    /// Seconds by which clocks may differ; 0 is exact.
    pub leeway: u64,
    /// The audience the token must name; `None` only where the caller decides about audiences
    /// itself, and says so.
    pub audience: Option<&'p str>,
    /// The issuer a version 1 token must name; a version 0 token names none and is refused where
    /// one is demanded.
    pub issuer: Option<&'p str>,
    /// Scopes the token must all have.
    pub scopes: &'p [&'p str],
    /// The lowest version that is accepted.
    pub min_version: Version,
    /// The key whose proof of possession the caller has checked for this request. A bound token
    /// without it is refused.
    pub confirmation: Option<Confirmation<'p>>,
}

impl<'p> Policy<'p> {
    /// Demands this audience at this time, and nothing more.
    pub fn for_audience(audience: &'p str, now: u64) -> Policy<'p> {
        Policy {
            now,
            leeway: 0,
            audience: Some(audience),
            issuer: None,
            scopes: &[],
            min_version: Version::V0,
            confirmation: None,
        }
    }

    /// Checks no audience: for tools, and for callers that decide about audiences themselves.
    pub fn any_audience(now: u64) -> Policy<'p> {
        Policy {
            now,
            leeway: 0,
            audience: None,
            issuer: None,
            scopes: &[],
            min_version: Version::V0,
            confirmation: None,
        }
    }

    /// What can be refused without a signature check, cheapest first.
    fn check(&self, token: &Token<'_>) -> Result<(), Refusal> {
        let payload = &token.payload;
        if token.head.version < self.min_version {
            return Err(Refusal::Unknown);
        }
        if self.now > payload.expires_at.saturating_add(self.leeway) {
            return Err(Refusal::Expired);
        }
        let latest = self.now.saturating_add(self.leeway);
        if latest < payload.not_before || latest < payload.issued_at {
            return Err(Refusal::NotYetValid);
        }
        if self
            .audience
            .is_some_and(|audience| audience != payload.audience)
        {
            return Err(Refusal::Audience);
        }
        if self.issuer.is_some_and(|issuer| issuer != payload.issuer) {
            return Err(Refusal::Issuer);
        }
        if !self
            .scopes
            .iter()
            .all(|scope| payload.scopes.contains(scope))
        {
            return Err(Refusal::Scope);
        }
        if payload.confirmation.is_some() && payload.confirmation != self.confirmation {
            return Err(Refusal::Confirmation);
        }
        Ok(())
    }
}

impl Policy<'_> {
    /// A certified key takes tokens that name its certificate, while the certificate is valid; any
    /// other key takes tokens that name none.
    fn check_certificate(&self, token: &Token<'_>, key: &VerifyingKey) -> Result<(), Refusal> {
        let holds = match (&key.certificate, token.payload.certificate) {
            (None, None) => true,
            (Some(own), Some(named)) => own.id == *named && own.covers(self.now, self.leeway),
            _ => false,
        };
        if holds {
            Ok(())
        } else {
            Err(Refusal::Certificate)
        }
    }
}

/// A token that was checked: only [`KeySet::verify`], [`VerifyingKey::verify`] and their batches
/// make one.
#[derive(Clone, Copy, Debug)]
pub struct VerifiedToken<'a>(Token<'a>);

impl<'a> VerifiedToken<'a> {
    /// What the token says.
    pub fn payload(&self) -> &Payload<'a> {
        &self.0.payload
    }

    /// The token itself.
    pub fn token(&self) -> &Token<'a> {
        &self.0
    }
}

impl VerifyingKey {
    /// Checks a token under this key and a policy.
    ///
    /// # Errors
    /// The first [`Refusal`]; the signature is checked last, since it costs the most, and no reason
    /// tells more than the token's own text does.
    pub fn verify<'a>(
        &self,
        token: &'a [u8],
        policy: &Policy<'_>,
    ) -> Result<VerifiedToken<'a>, Refusal> {
        let token = Token::parse(token)?;
        if !self.is_named_by(&token) {
            return Err(Refusal::NoKey);
        }
        policy.check(&token)?;
        policy.check_certificate(&token, self)?;
        self.check_signature(&token)?;
        Ok(VerifiedToken(token))
    }
}

impl KeySet {
    /// Checks a token under the key of this set that it names.
    ///
    /// # Errors
    /// As [`VerifyingKey::verify`].
    pub fn verify<'a>(
        &self,
        token: &'a [u8],
        policy: &Policy<'_>,
    ) -> Result<VerifiedToken<'a>, Refusal> {
        let token = Token::parse(token)?;
        let key = self.find(&token).ok_or(Refusal::NoKey)?;
        policy.check(&token)?;
        policy.check_certificate(&token, key)?;
        key.check_signature(&token)?;
        Ok(VerifiedToken(token))
    }

    /// Checks many tokens under one policy: Ed25519 signatures share one equation, and proofs about
    /// one key a final exponentiation, with the same answer for each as alone.
    pub fn verify_batch<'a>(
        &self,
        tokens: &[&'a [u8]],
        policy: &Policy<'_>,
    ) -> Vec<Result<VerifiedToken<'a>, Refusal>> {
        let mut results: Vec<_> = tokens
            .iter()
            .map(|bytes| {
                let token = Token::parse(bytes)?;
                let key = self.find(&token).ok_or(Refusal::NoKey)?;
                policy.check(&token)?;
                policy.check_certificate(&token, key)?;
                Ok((token, key))
            })
            .collect();
        let batch: Vec<signet_crypto::BatchItem<'_>> = results
            .iter()
            .flatten()
            .filter_map(|(token, key)| {
                let [context, message] = token.message();
                Some(signet_crypto::BatchItem {
                    key: key.ed25519()?,
                    context,
                    message,
                    signature: token.signature,
                })
            })
            .collect();
        let together = batch.len() > 1 && signet_crypto::verify_ed25519_batch(&batch).is_ok();
        let mut proofs: Vec<(&VerifyingKey, Vec<&Token<'_>>)> = Vec::new();
        for (token, key) in results.iter().flatten() {
            if key.algorithm().is_zero_knowledge() {
                match proofs.iter_mut().find(|(own, _)| std::ptr::eq(*own, *key)) {
                    Some((_, tokens)) => tokens.push(token),
                    None => proofs.push((key, vec![token])),
                }
            }
        }
        let proven: Vec<*const VerifyingKey> = proofs
            .iter()
            .filter(|(key, tokens)| tokens.len() > 1 && key.check_proofs(tokens))
            .map(|(key, _)| std::ptr::from_ref(*key))
            .collect();
        results
            .drain(..)
            .map(|result| {
                let (token, key) = result?;
                // One bad signature or proof spoils a batch: then each is looked at alone.
                let held = together && key.ed25519().is_some()
                    || proven.contains(&std::ptr::from_ref(key));
                if !held {
                    key.check_signature(&token)?;
                }
                Ok(VerifiedToken(token))
            })
            .collect()
    }
}
