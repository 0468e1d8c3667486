//! The verifier: policies, issuers, and the one entry point.

use crate::{
    Claims, Counters, Form, Health, HealthState, Issuer, KeySource, Policy, Presented, Refusal,
    Revocations, TokenKind, Verified,
    cache::{Cache, Entry},
    issuer::IssuerState,
    keys::{Found, PreparedKey},
    moment,
    replay::ReplayGuard,
};
use signet_crypto::{Algorithm, VerifyingKey};
use signet_jose::{
    base64url,
    json::Limits,
    jwk::JwkSet,
    jws::{self, HeaderBuffer, HeaderRef, JwsError},
};
use std::sync::Arc;

/// Why a verifier could not be built: always its configuration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// No policy at all.
    #[error("a verifier needs a policy")]
    NoPolicy,
    /// No issuer at all.
    #[error("a verifier needs an issuer")]
    NoIssuer,
    /// Two policies with one name, or two issuers.
    #[error("{0} is there twice")]
    Twice(String),
    /// A policy names an issuer that the verifier does not have.
    #[error("policy {policy}: no issuer is called {issuer}")]
    UnknownIssuer {
        /// the policy
        policy: String,
        /// the name that it wants
        issuer: String,
    },
    /// A value that would make a policy accept nothing, or everything.
    #[error("policy {policy}: {what}")]
    Policy {
        /// the policy
        policy: String,
        /// what is wrong with it
        what: &'static str,
    },
    /// An issuer that can never have keys.
    #[error("issuer {issuer}: {what}")]
    Issuer {
        /// the issuer
        issuer: String,
        /// what is wrong with it
        what: &'static str,
    },
}

/// Names a policy of one verifier.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PolicyId(usize);

/// Builds a [`Verifier`].
pub struct Builder {
    policies: Vec<Policy>,
    issuers: Vec<Issuer>,
    revocations: Option<Arc<dyn Revocations>>,
    cache_entries: usize,
    cache_bytes: usize,
    replay_capacity: usize,
    limits: Limits,
}

impl Builder {
    /// Adds an issuer.
    #[must_use]
    pub fn issuer(mut self, issuer: Issuer) -> Builder {
        self.issuers.push(issuer);
        self
    }

    /// Adds a policy. The first one is the one that counts where none is named.
    #[must_use]
    pub fn policy(mut self, policy: Policy) -> Builder {
        self.policies.push(policy);
        self
    }

    /// Asks `revocations` about every token.
    #[must_use]
    pub fn revocations(mut self, revocations: Arc<dyn Revocations>) -> Builder {
        self.revocations = Some(revocations);
        self
    }

    /// How many verified access tokens are kept, and how many bytes they may take together. 0 entries: none is kept.
    #[must_use]
    pub fn cache(mut self, entries: usize, bytes: usize) -> Builder {
        self.cache_entries = entries;
        self.cache_bytes = bytes;
        self
    }

    /// How many DPoP proofs and logout tokens are remembered while they are fresh. Beyond, they are refused.
    #[must_use]
    pub fn replay_capacity(mut self, ids: usize) -> Builder {
        self.replay_capacity = ids;
        self
    }

    /// Bounds of a payload.
    #[must_use]
    pub fn claim_limits(mut self, limits: Limits) -> Builder {
        self.limits = limits;
        self
    }

    /// Checks everything and builds.
    ///
    /// # Errors
    /// See [`BuildError`].
    pub fn build(self) -> Result<Verifier, BuildError> {
        if self.policies.is_empty() {
            return Err(BuildError::NoPolicy);
        }
        let mut policies = Vec::with_capacity(self.policies.len());
        let mut used: Vec<Vec<Algorithm>> = vec![Vec::new(); self.issuers.len()];
        for (index, issuer) in self.issuers.iter().enumerate() {
            if self.issuers[..index]
                .iter()
                .any(|other| other.name == issuer.name)
            {
                return Err(BuildError::Twice(issuer.name.clone()));
            }
            check_issuer(issuer)?;
        }
        for policy in self.policies {
            if policies
                .iter()
                .any(|other: &Active| other.policy.name == policy.name)
            {
                return Err(BuildError::Twice(policy.name));
            }
            check_policy(&policy)?;
            let mut issuers = Vec::new();
            for name in &policy.issuers {
                let found = self.issuers.iter().position(|issuer| issuer.name == *name);
                issuers.push(found.ok_or_else(|| BuildError::UnknownIssuer {
                    policy: policy.name.clone(),
                    issuer: name.clone(),
                })?);
            }
            if policy.issuers.is_empty() {
                issuers = (0..self.issuers.len()).collect();
            }
            if issuers.is_empty() && policy.compact_keys.is_none() {
                return Err(BuildError::NoIssuer);
            }
            for issuer in &issuers {
                used[*issuer].extend(&policy.algorithms);
            }
            policies.push(Active { policy, issuers });
        }
        let issuers: Vec<IssuerState> = self
            .issuers
            .into_iter()
            .zip(used)
            .map(|(issuer, mut algorithms)| {
                algorithms.sort_unstable();
                algorithms.dedup();
                IssuerState::new(issuer, algorithms)
            })
            .collect();
        for state in &issuers {
            let held = matches!(
                state.issuer.source,
                KeySource::Memory(_) | KeySource::Secret { .. }
            );
            if held && state.table.load().len() == 0 {
                return Err(BuildError::Issuer {
                    issuer: state.issuer.name.clone(),
                    what: "it has no key that a policy could use",
                });
            }
        }
        let proof_life = policies
            .iter()
            .map(|p| p.policy.proof_max_age + 2 * p.policy.leeway);
        // A logout token is fresh for five minutes, if nothing else says so.
        let life = proof_life
            .max()
            .unwrap_or(0)
            .max(moment::LOGOUT_MAX_AGE + 120)
            + 1;
        Ok(Verifier {
            policies,
            issuers: issuers.into_iter().map(Arc::new).collect(),
            cache: Cache::new(self.cache_entries, self.cache_bytes),
            replays: ReplayGuard::new(life, self.replay_capacity),
            revocations: self.revocations,
            counters: Counters::default(),
            limits: self.limits,
        })
    }
}

fn check_issuer(issuer: &Issuer) -> Result<(), BuildError> {
    let wrong = |what| {
        Err(BuildError::Issuer {
            issuer: issuer.name.clone(),
            what,
        })
    };
    if issuer.name.is_empty() {
        return wrong("its name is empty");
    }
    let freshness = &issuer.freshness;
    if freshness.interval.is_zero() || freshness.grace.is_zero() || freshness.cool_down.is_zero() {
        return wrong("its times must not be zero");
    }
    if freshness.grace < freshness.interval {
        return wrong("its keys would end before the next fetch");
    }
    if let KeySource::Secret {
        algorithm, secret, ..
    } = &issuer.source
        && VerifyingKey::hmac(*algorithm, secret).is_err()
    {
        return wrong("the secret does not fit the algorithm, or is too short");
    }
    Ok(())
}

fn check_policy(policy: &Policy) -> Result<(), BuildError> {
    let wrong = |what| {
        Err(BuildError::Policy {
            policy: policy.name.clone(),
            what,
        })
    };
    if policy.algorithms.is_empty() {
        return wrong("it allows no algorithm");
    }
    if policy.types.is_empty() {
        return wrong("it allows no type");
    }
    if !policy.any_audience
        && (policy.audiences.is_empty() || policy.audiences.iter().any(String::is_empty))
    {
        return wrong("an audience is empty");
    }
    if policy.max_age == Some(0) || policy.auth_max_age == Some(0) || policy.proof_max_age == 0 {
        return wrong("a lifetime is zero");
    }
    if policy.leeway > 600 {
        return wrong("a leeway of more than ten minutes is no leeway");
    }
    if policy.max_bytes == 0 {
        return wrong("it allows no token of any length");
    }
    let symmetric = policy.algorithms.iter().any(|a| a.is_symmetric());
    if symmetric && policy.algorithms.iter().any(|a| !a.is_symmetric()) {
        // RFC 8725 section 2.1: a public key must never be taken for a secret.
        return wrong("it mixes shared secrets and public keys");
    }
    if policy.compact_keys.is_some() && !policy.kind.is_access() {
        return wrong("compact tokens are access tokens");
    }
    Ok(())
}

/// A policy and the issuers that it accepts.
struct Active {
    policy: Policy,
    issuers: Vec<usize>,
}

/// The answer about one token.
#[derive(Debug)]
pub struct Decision {
    /// The token, or why not.
    pub outcome: Result<Verified, Refusal>,
    /// Whether it was found in the cache.
    pub cached: bool,
}

/// Decides about tokens. Built once, shared by all threads; [`Verifier::verify`] takes no lock and does no I/O.
pub struct Verifier {
    policies: Vec<Active>,
    pub(crate) issuers: Vec<Arc<IssuerState>>,
    cache: Cache,
    replays: ReplayGuard,
    revocations: Option<Arc<dyn Revocations>>,
    counters: Counters,
    limits: Limits,
}

/// A token of which everything was checked that does not depend on the request.
struct Checked {
    verified: Verified,
    issuer: usize,
    key: Option<Arc<PreparedKey>>,
}

impl Verifier {
    /// Begins to build one.
    pub fn builder() -> Builder {
        Builder {
            policies: Vec::new(),
            issuers: Vec::new(),
            revocations: None,
            cache_entries: 4096,
            cache_bytes: 16 << 20,
            replay_capacity: 1 << 16,
            limits: Limits::default(),
        }
    }

    /// The policy of this name.
    pub fn policy(&self, name: &str) -> Option<PolicyId> {
        self.policies
            .iter()
            .position(|active| active.policy.name == name)
            .map(PolicyId)
    }

    /// The first policy.
    pub fn default_policy(&self) -> PolicyId {
        PolicyId(0)
    }

    /// What a policy demands: for challenges.
    pub fn rules(&self, policy: PolicyId) -> &Policy {
        &self.policies[policy.0].policy
    }

    /// What was decided so far.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Decides about a token under the first policy. `now`: Unix seconds.
    ///
    /// # Errors
    /// The first reason found. Its text is for the operator; a peer gets [`crate::Challenge`].
    pub fn verify(&self, presented: &Presented<'_>, now: u64) -> Result<Verified, Refusal> {
        self.verify_under(PolicyId(0), presented, now)
    }

    /// Decides about a token under a policy.
    ///
    /// Cheap checks come first: the cache, the form, the header, the key's id, the claims that could only refuse, then the signature;
    /// what depends on the request (sender constraint, nonce, revocation) comes last, and is never cached.
    ///
    /// # Errors
    /// As [`Verifier::verify`].
    pub fn verify_under(
        &self,
        policy: PolicyId,
        presented: &Presented<'_>,
        now: u64,
    ) -> Result<Verified, Refusal> {
        self.decide(policy, presented, now).outcome
    }

    /// As [`Verifier::verify_under`], and says where the answer came from.
    pub fn decide(&self, policy: PolicyId, presented: &Presented<'_>, now: u64) -> Decision {
        let mut cached = false;
        let outcome = self.look(policy, presented, now, &mut cached);
        match &outcome {
            Ok(_) => self.counters.accept(cached),
            Err(refusal) => self.counters.refuse(*refusal),
        }
        Decision { outcome, cached }
    }

    fn look(
        &self,
        policy: PolicyId,
        presented: &Presented<'_>,
        now: u64,
        cached: &mut bool,
    ) -> Result<Verified, Refusal> {
        let active = self.policies.get(policy.0).ok_or(Refusal::NoToken)?;
        let token = presented.token;
        if token.is_empty() {
            return Err(Refusal::NoToken);
        }
        if token.len() > active.policy.max_bytes {
            return Err(Refusal::TooLarge);
        }
        let cacheable = active.policy.kind.is_access();
        if cacheable && let Some(verified) = self.find(policy, token, now) {
            moment::still_holds(verified.claims(), &active.policy, now)?;
            self.for_this_request(&verified, &active.policy, presented, now)?;
            *cached = true;
            return Ok(verified);
        }
        let checked = self.check(active, token, now)?;
        let verified = checked.verified;
        if cacheable && let Some(exp) = verified.claims().exp() {
            let until = exp.saturating_add(active.policy.leeway);
            let entry = Entry::new(
                policy.0,
                checked.issuer,
                checked.key,
                until,
                verified.clone(),
            );
            self.cache.insert(entry, now);
        }
        self.for_this_request(&verified, &active.policy, presented, now)?;
        Ok(verified)
    }

    /// A cached token, unless its key or issuer has gone meanwhile: then it is checked anew, and refused for the right reason.
    fn find(&self, policy: PolicyId, token: &str, now: u64) -> Option<Verified> {
        self.cache.find(token, policy.0, |entry| {
            let issuer = self.issuers.get(entry.issuer);
            let usable = issuer.is_none_or(|issuer| usable(issuer, now).is_ok());
            (usable && !entry.key_is_withdrawn()).then(|| entry.verified.clone())
        })?
    }

    fn check(&self, active: &Active, token: &str, now: u64) -> Result<Checked, Refusal> {
        let policy = &active.policy;
        if let Some(keys) = &policy.compact_keys
            && !token.contains('.')
        {
            return self.check_compact(active, keys, token, now);
        }
        self.check_jws(active, token, token, now)
    }

    /// `token` is what was presented, `jws` the signed token: the same, unless it was encrypted.
    fn check_jws(
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
        // With one issuer the key is looked for before the payload is touched. With several, `iss` chooses among the issuers, and
        // so among their keys; it is believed when a key of that very issuer made the signature.
        let (claims, index) = match active.issuers.as_slice() {
            &[only] => {
                let issuer = &self.issuers[only];
                usable(issuer, now)?;
                let table = issuer.table.load();
                self.reject_unknown_key(issuer, &table, &header, policy)?;
                (self.claims(&compact)?, only)
            }
            several => {
                let claims = self.claims(&compact)?;
                let iss = claims.iss().ok_or(Refusal::MissingClaim)?;
                let of = |index: &&usize| self.issuers[**index].issuer.name == iss;
                let index = *several.iter().find(of).ok_or(Refusal::Issuer)?;
                usable(&self.issuers[index], now)?;
                (claims, index)
            }
        };
        let issuer = &self.issuers[index];
        moment::could_hold(&claims, policy, &issuer.issuer.name, now)?;
        let table = issuer.table.load();
        let key = match table.find(header.kid.as_deref(), header.alg, policy.without_kid) {
            Found::Keys(first, others) => signed_by(&compact, first, others)?.clone(),
            missing => return Err(self.missing(issuer, &missing)),
        };
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
        })
    }

    fn reject_unknown_key(
        &self,
        issuer: &IssuerState,
        table: &crate::keys::KeyTable,
        header: &HeaderRef<'_>,
        policy: &Policy,
    ) -> Result<(), Refusal> {
        match table.find(header.kid.as_deref(), header.alg, policy.without_kid) {
            Found::Keys(..) => Ok(()),
            missing => Err(self.missing(issuer, &missing)),
        }
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

    fn check_compact(
        &self,
        active: &Active,
        keys: &signet_compact::KeySet,
        token: &str,
        now: u64,
    ) -> Result<Checked, Refusal> {
        let policy = &active.policy;
        let bytes = base64url::decode(token.as_bytes()).map_err(|_| Refusal::Malformed)?;
        let (json, form, identity) = crate::compact::verify(&bytes, keys, policy, now)?;
        let claims = Claims::parse(json, &self.limits).map_err(|_| Refusal::Claims)?;
        // A version 1 token names its issuer; a version 0 token is its key's owner's.
        let issuer = match claims.iss() {
            Some(iss) => {
                let of = |index: &&usize| self.issuers[**index].issuer.name == iss;
                let index = *active.issuers.iter().find(of).ok_or(Refusal::Issuer)?;
                if !self.issuers[index].is_enabled() {
                    return Err(Refusal::IssuerDisabled);
                }
                index
            }
            None => usize::MAX,
        };
        moment::satisfies_compact(&claims, policy)?;
        moment::still_holds(&claims, policy, now)?;
        let verified = Verified::new(claims, policy.kind, form, token).with_identity(identity);
        Ok(Checked {
            verified,
            issuer,
            key: None,
        })
    }

    /// What no cache may answer.
    fn for_this_request(
        &self,
        verified: &Verified,
        policy: &Policy,
        presented: &Presented<'_>,
        now: u64,
    ) -> Result<(), Refusal> {
        let claims = verified.claims();
        if let Some(revocations) = &self.revocations {
            match revocations.check(claims, now) {
                crate::Revocation::Live => {}
                crate::Revocation::Revoked => return Err(Refusal::Revoked),
                crate::Revocation::Unknown => return Err(Refusal::RevocationUnknown),
            }
        }
        match policy.kind {
            TokenKind::IdToken => crate::id_token::answers(verified, policy, presented)?,
            TokenKind::LogoutToken => {}
            _ => crate::binding::prove(claims, policy, presented, now, &self.replays)?,
        }
        if policy.once {
            let jti = claims.jti().ok_or(Refusal::MissingClaim)?;
            if !self.replays.first(claims.iss().unwrap_or(""), jti, now)? {
                return Err(Refusal::Replayed);
            }
        }
        Ok(())
    }

    fn issuer(&self, name: &str) -> Option<&Arc<IssuerState>> {
        self.issuers.iter().find(|state| state.issuer.name == name)
    }

    /// Puts other keys in place, for an issuer whose keys the caller holds. What withdrawn keys signed is refused from now on. False
    /// where there is no such issuer.
    pub fn set_keys(&self, issuer: &str, keys: &JwkSet) -> bool {
        let found = self.issuer(issuer);
        if let Some(state) = found {
            state.install(keys, None);
        }
        found.is_some()
    }

    /// Disables an issuer, or enables it again: from now on none of its tokens is accepted, cached ones included. False where there is
    /// no such issuer.
    pub fn set_enabled(&self, issuer: &str, enabled: bool) -> bool {
        let found = self.issuer(issuer);
        if let Some(state) = found {
            state.set_enabled(enabled);
        }
        found.is_some()
    }

    /// Forgets every cached token: the next request with each is checked from the start.
    pub fn clear_cache(&self) {
        self.cache.clear();
    }

    /// How every issuer is. `now`: Unix seconds.
    pub fn health(&self, now: u64) -> Vec<Health> {
        self.issuers.iter().map(|state| state.health(now)).collect()
    }

    /// Whether every issuer that is required has keys.
    pub fn is_ready(&self, now: u64) -> bool {
        self.issuers.iter().all(|state| {
            !state.issuer.required
                || matches!(
                    state.health(now).state,
                    HealthState::Healthy | HealthState::Stale | HealthState::Disabled
                )
        })
    }
}

/// The key that made the signature.
fn signed_by<'k>(
    compact: &jws::Compact<'_>,
    first: &'k Arc<PreparedKey>,
    others: Vec<&'k Arc<PreparedKey>>,
) -> Result<&'k Arc<PreparedKey>, Refusal> {
    for key in std::iter::once(first).chain(others) {
        match compact.verify_signature(key.verifying_key()) {
            Ok(()) => return Ok(key),
            Err(JwsError::Signature) => {}
            // Not canonical base64url: no key would make it better.
            Err(error) => return Err(error.into()),
        }
    }
    Err(Refusal::Signature)
}

fn usable(issuer: &IssuerState, now: u64) -> Result<(), Refusal> {
    if !issuer.is_enabled() {
        return Err(Refusal::IssuerDisabled);
    }
    match issuer.is_usable(now) {
        true => Ok(()),
        false => {
            issuer.want_keys();
            Err(Refusal::KeysUnavailable)
        }
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
