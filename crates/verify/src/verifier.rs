//! The verifier and its one entry point: which way a token goes, what a cache may answer, and what
//! is decided for every request.

use crate::accepted::Accepted;
use crate::cache::TokenCache;
use crate::compact_keys::CompactKeys;
#[cfg(feature = "fetch")]
use crate::introspector::Introspector;
use crate::issuer::IssuerState;
use crate::keys::PreparedKey;
use crate::replay::{Dated, ReplayGuard, Seen};
use crate::token::claim_checks;
use crate::{
    Claims, Counters, Health, HealthState, Policy, PolicyId, Presented, Refusal, Revocations,
    TokenKind, Verified,
};
use signet_encoding::json::Limits;
use signet_jose::{
    dpop::nonce::{self, HmacNonceKey},
    jwe,
    jwk::JwkSet,
};
use std::sync::Arc;

/// A policy and the issuers that it accepts.
pub(crate) struct Active {
    pub(crate) policy: Policy,
    pub(crate) issuers: Vec<usize>,
    /// whom the policy asks, where it asks
    #[cfg(feature = "fetch")]
    pub(crate) introspector: Option<Arc<Introspector>>,
}

#[cfg(feature = "fetch")]
impl Active {
    /// Who is to be asked about this token, if anybody.
    pub(crate) fn asks(&self, token: &str) -> Option<&Arc<Introspector>> {
        let introspector = self.introspector.as_ref()?;
        self.policy.asks_about(token).then_some(introspector)
    }
}

/// The answer about one token.
#[derive(Debug)]
pub struct Decision {
    /// The token, or why not.
    pub outcome: Result<Verified, Refusal>,
    /// Whether it was found in the cache.
    pub cached: bool,
}

/// Decides about tokens. Built once, shared by all threads; [`Verifier::verify`] takes no lock and
/// does no I/O.
pub struct Verifier {
    pub(crate) policies: Vec<Active>,
    pub(crate) issuers: Vec<Arc<IssuerState>>,
    pub(crate) cache: TokenCache<Accepted>,
    pub(crate) replays: Arc<ReplayGuard>,
    pub(crate) nonce_key: HmacNonceKey,
    pub(crate) revocations: Option<Arc<dyn Revocations>>,
    pub(crate) counters: Counters,
    pub(crate) limits: Limits,
}

/// A token of which everything was checked that does not depend on the request.
pub(crate) struct Checked {
    pub(crate) verified: Verified,
    pub(crate) issuer: usize,
    pub(crate) key: Option<Arc<PreparedKey>>,
    /// the publication that a compact token's key was in
    pub(crate) compact: Option<Arc<CompactKeys>>,
}

impl Verifier {
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

    /// The value of the `DPoP-Nonce` header field that goes with the answer to a refused request,
    /// where there is one (RFC 9449 section 9): the proof must carry it. `now`: Unix seconds.
    pub fn nonce_for(&self, refusal: Refusal, now: u64) -> Option<String> {
        let asked_for = refusal.answer() == crate::Answer::UseDpopNonce;
        asked_for
            .then(|| nonce::make(&self.nonce_key, now))
            .flatten()
    }

    /// What remembers DPoP proofs and tokens that are accepted once: for the verifier that takes
    /// this one's place, and to see how full it is.
    pub fn replay_guard(&self) -> &Arc<ReplayGuard> {
        &self.replays
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
    /// Cheap checks come first: the cache, the form, the header, the key's id, the claims that
    /// could only refuse, then the signature; what depends on the request (sender constraint,
    /// nonce, revocation) comes last, and is never cached.
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
        #[cfg(feature = "fetch")]
        if let Some(introspector) = active.asks(token) {
            // Nobody is asked here: see `decide_asking`.
            let verified = self.known_by_asking(introspector, policy, token, now)?;
            claim_checks::check_freshness(verified.claims(), &active.policy, now)?;
            self.for_this_request(&verified, &active.policy, presented, now)?;
            *cached = true;
            return Ok(verified);
        }
        let cacheable = active.policy.kind.is_access();
        if cacheable && let Some(verified) = self.find(policy, token, now) {
            claim_checks::check_freshness(verified.claims(), &active.policy, now)?;
            self.for_this_request(&verified, &active.policy, presented, now)?;
            *cached = true;
            return Ok(verified);
        }
        let checked = self.check(active, token, now)?;
        let verified = checked.verified;
        if cacheable && let Some(exp) = verified.claims().exp() {
            let accepted = Accepted {
                issuer: checked.issuer,
                key: checked.key,
                compact: checked.compact,
                until: exp.saturating_add(active.policy.leeway),
                verified: verified.clone(),
            };
            self.cache.insert(policy.0, accepted, now);
        }
        self.for_this_request(&verified, &active.policy, presented, now)?;
        Ok(verified)
    }

    /// A cached token, unless its key or issuer has gone meanwhile: then it is checked again, and
    /// refused for the right reason.
    fn find(&self, policy: PolicyId, token: &str, now: u64) -> Option<Verified> {
        self.cache.find(token, policy.0, |entry| {
            let issuer = self.issuers.get(entry.issuer);
            let usable = issuer.is_none_or(|issuer| usable(issuer, now).is_ok());
            (usable && !entry.key_is_withdrawn()).then(|| entry.verified.clone())
        })?
    }

    pub(crate) fn check(&self, active: &Active, token: &str, now: u64) -> Result<Checked, Refusal> {
        let policy = &active.policy;
        #[cfg(feature = "compact")]
        if let Some(keys) = &policy.compact_keys
            && !token.contains('.')
        {
            return self.check_compact(active, keys, token, now);
        }
        #[cfg(feature = "compact")]
        if policy.compact_of_issuers && !token.contains('.') {
            return self.check_compact_of_issuer(active, token, now);
        }
        if let Some(keys) = &policy.decryption
            && jwe::has_form(token)
        {
            // One refusal for all that can be wrong with it: no sender learns from the answer how
            // far it came (RFC 7516 section 11.4).
            let inner = jwe::decrypt_nested(token, keys, policy.max_bytes);
            let inner = inner.map_err(|_| Refusal::Encryption)?;
            return self.check_jws(active, token, &inner, now);
        }
        self.check_jws(active, token, token, now)
    }

    /// What no cache may answer.
    pub(crate) fn for_this_request(
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
            TokenKind::IdToken => crate::token::id_token::answers(verified, policy, presented)?,
            TokenKind::LogoutToken => {}
            TokenKind::AccessToken | TokenKind::PlainAccessToken => crate::token::binding::prove(
                claims,
                policy,
                presented,
                now,
                &self.replays,
                &self.nonce_key,
            )?,
        }
        if policy.once {
            let jti = claims.jti().ok_or(Refusal::MissingClaim)?;
            // A token without `exp` is a logout token, and good for a while after `iat`.
            let exp = claims.exp().unwrap_or_else(|| {
                let iat = claims.iat().unwrap_or(now);
                iat.saturating_add(claim_checks::LOGOUT_MAX_AGE)
            });
            let issuer = claims.iss().unwrap_or("");
            match self.replays.see(issuer, jti, Dated::Token(exp), now) {
                Seen::First => {}
                Seen::Before => return Err(Refusal::Replayed),
                Seen::ShareUsed => return Err(Refusal::ReplayShareUsed),
                Seen::Full => return Err(Refusal::ReplayGuardFull),
            }
        }
        Ok(())
    }

    /// Holds claims that the caller vouches for ([`Claims::vouched`]) to what a policy demands of
    /// whom a token is about: its end and age, authorized parties, scopes, authentication context
    /// and age, rules. What belongs to a token (its kind, audience, signature, binding) is not
    /// looked at. `now`: Unix seconds.
    ///
    /// # Errors
    /// The first reason found.
    pub fn hold(&self, policy: PolicyId, claims: &Claims, now: u64) -> Result<(), Refusal> {
        let active = self.policies.get(policy.0).ok_or(Refusal::Rule)?;
        claim_checks::check_freshness(claims, &active.policy, now)?;
        claim_checks::demands(claims, &active.policy)
    }

    /// False for an issuer that was disabled.
    #[cfg(feature = "fetch")]
    pub(crate) fn is_enabled(&self, issuer: &str) -> bool {
        self.issuer(issuer).is_none_or(|state| state.is_enabled())
    }

    fn issuer(&self, name: &str) -> Option<&Arc<IssuerState>> {
        self.issuers.iter().find(|state| state.issuer.name == name)
    }

    /// Puts other keys in place, for an issuer whose keys the caller holds. What withdrawn keys
    /// signed is refused from now on. False where there is no such issuer.
    pub fn set_keys(&self, issuer: &str, keys: &JwkSet) -> bool {
        let found = self.issuer(issuer);
        if let Some(state) = found {
            state.install(keys, None);
        }
        found.is_some()
    }

    /// Disables an issuer, or enables it again: from now on none of its tokens is accepted, cached
    /// ones included. False where there is no such issuer.
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

    /// Bytes that the cached tokens take together: never more than [`Builder::cache`] allows.
    pub fn cached_bytes(&self) -> usize {
        self.cache.bytes()
    }

    /// How the sources of revocations are. `now`: Unix seconds.
    pub fn revocation_health(&self, now: u64) -> Vec<crate::RevocationHealth> {
        self.revocations
            .as_ref()
            .map_or_else(Vec::new, |revocations| revocations.health(now))
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

pub(crate) fn usable(issuer: &IssuerState, now: u64) -> Result<(), Refusal> {
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
