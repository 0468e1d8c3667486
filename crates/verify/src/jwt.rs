//! The way of a signed JWT: form, header, key, what could only refuse, signature, and then what the signature makes believable.

use crate::{
    Claims, Form, Refusal, Verified, Verifier,
    issuer::IssuerState,
    keys::{Found, PreparedKey},
    moment,
    verifier::{Active, Checked, usable},
};
use signet_jose::{
    base64url,
    jws::{self, HeaderBuffer, JwsError, SignatureBuffer},
};
use std::sync::Arc;

impl Verifier {
    /// `token` is what was presented, `jws` the signed token: the same, unless it was encrypted.
    pub(crate) fn check_jws(
        &self,
        active: &Active,
        token: &str,
        jws: &str,
        now: u64,
    ) -> Result<Checked, Refusal> {
        let policy = &active.policy;
        let compact = jws::split(jws.as_bytes(), policy.max_bytes)?;
        let mut buffer = HeaderBuffer::new();
        let header = compact.decode_header_in(&mut buffer)?;
        if !policy.algorithms.contains(&header.alg) {
            return Err(Refusal::Algorithm);
        }
        if !policy.accepts_type(header.typ.as_deref()) {
            return Err(Refusal::Type);
        }
        let mut buffer = SignatureBuffer::new();
        let signature = compact.decode_signature_in(&mut buffer)?;
        // With one issuer the key is looked for before the payload is touched. With several, `iss` chooses among the issuers, and
        // so among their keys; it is believed when a key of that very issuer made the signature.
        let (index, claims) = match active.issuers.as_slice() {
            &[only] => (only, None),
            several => {
                let claims = self.claims(&compact)?;
                let iss = claims.iss().ok_or(Refusal::MissingClaim)?;
                let of = |index: &&usize| self.issuers[**index].issuer.name == iss;
                let index = *several.iter().find(of).ok_or(Refusal::Issuer)?;
                (index, Some(claims))
            }
        };
        let issuer = &self.issuers[index];
        usable(issuer, now)?;
        let table = issuer.table.load();
        let (first, others) =
            match table.find(header.kid.as_deref(), header.alg, policy.without_kid) {
                Found::Keys(first, others) => (first, others),
                missing => return Err(self.missing(issuer, &missing)),
            };
        if others.is_empty() && first.verifying_key().signature_len() != signature.len() {
            return Err(Refusal::Signature);
        }
        let claims = match claims {
            Some(claims) => claims,
            None => self.claims(&compact)?,
        };
        moment::could_hold(&claims, policy, &issuer.issuer.name, now)?;
        let key = signed_by(&compact, signature, first, others)?.clone();
        // From here on the claims are the issuer's word.
        moment::satisfies(&claims, policy)?;
        moment::still_holds(&claims, policy, now)?;
        let verified = Verified::new(claims, policy.kind, Form::Jwt(header.alg), token);
        // An encrypted token is named by what is inside, for it can be encrypted again by anyone.
        let verified = match token.len() == jws.len() {
            true => verified,
            false => verified.with_identity(signet_crypto::hash::sha256(compact.signing_input)),
        };
        Ok(Checked {
            verified,
            issuer: index,
            key: Some(key),
            compact: None,
        })
    }

    /// An unknown key may be a new one: the refresher is told, and decides whether to fetch.
    fn missing(&self, issuer: &IssuerState, found: &Found<'_>) -> Refusal {
        match found {
            Found::Mismatch => Refusal::KeyMismatch,
            Found::Ambiguous => Refusal::AmbiguousKey,
            Found::Unknown | Found::Keys(..) => {
                issuer.want_keys();
                Refusal::UnknownKey
            }
        }
    }

    fn claims(&self, compact: &jws::Compact<'_>) -> Result<Claims, Refusal> {
        let mut payload = Vec::new();
        base64url::decode_into(compact.payload, &mut payload).map_err(|_| Refusal::Malformed)?;
        Claims::parse(payload, &self.limits).map_err(|_| Refusal::Claims)
    }
}

/// The key that made the signature.
fn signed_by<'k>(
    compact: &jws::Compact<'_>,
    signature: &[u8],
    first: &'k Arc<PreparedKey>,
    others: Vec<&'k Arc<PreparedKey>>,
) -> Result<&'k Arc<PreparedKey>, Refusal> {
    std::iter::once(first)
        .chain(others)
        .find(|key| {
            compact
                .verify_decoded(signature, key.verifying_key())
                .is_ok()
        })
        .ok_or(Refusal::Signature)
}

impl From<JwsError> for Refusal {
    fn from(error: JwsError) -> Refusal {
        match error {
            JwsError::TooLarge => Refusal::TooLarge,
            JwsError::Algorithm => Refusal::Algorithm,
            JwsError::Critical => Refusal::Critical,
            JwsError::Extension => Refusal::Extension,
            JwsError::KeyMismatch => Refusal::KeyMismatch,
            JwsError::Signature => Refusal::Signature,
            _ => Refusal::Malformed,
        }
    }
}
