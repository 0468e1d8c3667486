//! The way of a signed JWT: form, header, key, what could only refuse, signature, and then what the
//! signature makes believable.

use crate::keys::{Found, PreparedKey};
use crate::token::claim_checks;
use crate::verifier::{Active, Checked, usable};
use crate::{Claims, Form, Policy, Refusal, Verified, Verifier};
use signet_crypto::Algorithm;
use signet_encoding::base64url;
use signet_jose::jws::{self, HeaderBuffer, HeaderRef, JwsError, SignatureBuffer};
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
        let leads = self.leads(active, &compact, &mut buffer, now)?;
        let mut buffer = SignatureBuffer::new();
        let signature = compact.decode_signature_in(&mut buffer)?;
        if let Leads::Keys(_, keys, _) = &leads
            && !keys.fit(signature)
        {
            return Err(Refusal::Signature);
        }
        let claims = self.claims(&compact, token)?;
        let (index, keys, header) = match leads {
            Leads::Keys(index, keys, header) => (index, keys, header),
            Leads::Issuers(header) => {
                let iss = claims.iss().ok_or(Refusal::MissingClaim)?;
                let of = |index: &&usize| self.issuers[**index].issuer.name == iss;
                let index = *active.issuers.iter().find(of).ok_or(Refusal::Issuer)?;
                (index, self.keys(index, &header, policy, now)?, None)
            }
        };
        claim_checks::check_before_signature(
            &claims,
            policy,
            &self.issuers[index].issuer.name,
            now,
        )?;
        let key = keys.that_made(&compact, signature)?;
        if let Some(header) = &header {
            key.remember(compact.header, header);
        }
        // From here on the claims are the issuer's word.
        claim_checks::check_policy(&claims, policy)?;
        claim_checks::check_freshness(&claims, policy, now)?;
        let form = Form::Jwt(key.verifying_key().algorithm());
        let verified = Verified::new(claims, policy.kind, form, token);
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

    /// Checks the header, and where one issuer can have made the token, finds its key before
    /// anything else is decoded. With several issuers, `iss` chooses among them, and so among their
    /// keys; it is believed when a key of that very issuer made the signature.
    fn leads<'h>(
        &self,
        active: &Active,
        compact: &jws::Compact<'_>,
        buffer: &'h mut HeaderBuffer,
        now: u64,
    ) -> Result<Leads<'h>, Refusal> {
        let policy = &active.policy;
        let only = match active.issuers.as_slice() {
            &[only] => Some(only),
            _ => None,
        };
        if let Some(only) = only {
            let issuer = &self.issuers[only];
            let table = issuer.table.load();
            if let Some((key, typ)) = table.of_known_header(compact.header) {
                check_header(policy, key.verifying_key().algorithm(), typ)?;
                usable(issuer, now)?;
                return Ok(Leads::Keys(only, Candidates::one(key.clone()), None));
            }
        }
        let header = compact.decode_header_in(buffer)?;
        check_header(policy, header.alg, header.typ.as_deref())?;
        match only {
            Some(only) => {
                let keys = self.keys(only, &header, policy, now)?;
                Ok(Leads::Keys(only, keys, Some(header)))
            }
            None => Ok(Leads::Issuers(header)),
        }
    }

    /// The issuer's keys that the header leads to. An unknown key may be a new one: the refresher
    /// is notified, and decides whether to fetch.
    fn keys(
        &self,
        issuer: usize,
        header: &HeaderRef<'_>,
        policy: &Policy,
        now: u64,
    ) -> Result<Candidates, Refusal> {
        let issuer = &self.issuers[issuer];
        usable(issuer, now)?;
        let table = issuer.table.load();
        match table.find(header.kid.as_deref(), header.alg, policy.without_kid) {
            Found::Keys(first, others) => Ok(Candidates { first, others }),
            Found::Mismatch => Err(Refusal::KeyMismatch),
            Found::Ambiguous => Err(Refusal::AmbiguousKey),
            Found::Unknown => {
                issuer.want_keys();
                Err(Refusal::UnknownKey)
            }
        }
    }

    /// `token` will be kept behind its claims: one allocation for both.
    fn claims(&self, compact: &jws::Compact<'_>, token: &str) -> Result<Claims, Refusal> {
        let mut payload = Vec::with_capacity(compact.payload.len() + token.len());
        base64url::decode_into(compact.payload, &mut payload).map_err(|_| Refusal::Malformed)?;
        Claims::parse(payload, &self.limits).map_err(|_| Refusal::Claims)
    }
}

/// Where a token's header leads.
enum Leads<'h> {
    /// To keys of the one issuer. The header is there if it had to be read.
    Keys(usize, Candidates, Option<HeaderRef<'h>>),
    /// To one of several issuers.
    Issuers(HeaderRef<'h>),
}

fn check_header(policy: &Policy, algorithm: Algorithm, typ: Option<&str>) -> Result<(), Refusal> {
    if !policy.algorithms.contains(&algorithm) {
        return Err(Refusal::Algorithm);
    }
    match policy.accepts_type(typ) {
        true => Ok(()),
        false => Err(Refusal::Type),
    }
}

/// The one key that a token leads to, or the few that may be tried.
struct Candidates {
    first: Arc<PreparedKey>,
    others: Vec<Arc<PreparedKey>>,
}

impl Candidates {
    fn one(first: Arc<PreparedKey>) -> Candidates {
        Candidates {
            first,
            others: Vec::new(),
        }
    }

    /// Whether one of them could have made a signature of this length: if not, nothing else needs
    /// to be looked at.
    fn fit(&self, signature: &[u8]) -> bool {
        let fits = |key: &PreparedKey| key.verifying_key().signature_len() == signature.len();
        fits(&self.first) || self.others.iter().any(|key| fits(key))
    }

    /// The key that made the signature.
    fn that_made(
        self,
        compact: &jws::Compact<'_>,
        signature: &[u8],
    ) -> Result<Arc<PreparedKey>, Refusal> {
        let made = |key: &Arc<PreparedKey>| {
            let verified = compact.verify_decoded(signature, key.verifying_key());
            verified.is_ok()
        };
        let mut keys = std::iter::once(self.first).chain(self.others);
        keys.find(made).ok_or(Refusal::Signature)
    }
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
