//! Building a verifier: everything that can be wrong with a configuration is found here, before the
//! first token.

#[cfg(feature = "fetch")]
use crate::introspector::Introspector;
use crate::{
    Counters, Issuer, KeySource, Policy, ReplayGuard, Revocations, Verifier, cache::TokenCache,
    issuer::IssuerState, verifier::Active,
};
use signet_crypto::{Algorithm, Secret, VerifyingKey};
use signet_encoding::json::Limits;
use signet_jose::dpop::nonce::HmacNonceKey;
use std::{sync::Arc, time::Duration};

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
    /// Whoever guesses the key makes nonces.
    #[error("the key of DPoP nonces is shorter than 32 bytes")]
    ShortNonceKey,
    /// An issuer that can never have keys.
    #[error("issuer {issuer}: {what}")]
    Issuer {
        /// the issuer
        issuer: String,
        /// what is wrong with it
        what: &'static str,
    },
}

/// Builds a [`Verifier`].
pub struct Builder {
    policies: Vec<Policy>,
    issuers: Vec<Issuer>,
    revocations: Option<Arc<dyn Revocations>>,
    cache_entries: usize,
    cache_bytes: usize,
    replay_guard: Option<Arc<ReplayGuard>>,
    #[cfg(feature = "fetch")]
    introspectors: Vec<Arc<Introspector>>,
    proof_nonce_key: Option<Secret<Vec<u8>>>,
    limits: Limits,
}

impl Verifier {
    /// Begins to build one.
    pub fn builder() -> Builder {
        Builder::new()
    }
}

impl Builder {
    fn new() -> Builder {
        Builder {
            policies: Vec::new(),
            issuers: Vec::new(),
            revocations: None,
            cache_entries: 4096,
            cache_bytes: 16 << 20,
            replay_guard: None,
            #[cfg(feature = "fetch")]
            introspectors: Vec::new(),
            proof_nonce_key: None,
            limits: Limits::default(),
        }
    }

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

    /// Adds an introspector: policies with [`Policy::introspect`] that accept its issuer ask it.
    #[cfg(feature = "fetch")]
    #[must_use]
    pub fn introspector(mut self, introspector: Arc<Introspector>) -> Builder {
        self.introspectors.push(introspector);
        self
    }

    /// Asks `revocations` about every token.
    #[must_use]
    pub fn revocations(mut self, revocations: Arc<dyn Revocations>) -> Builder {
        self.revocations = Some(revocations);
        self
    }

    /// How many verified access tokens are kept, and how many bytes they may take together. 0
    /// entries: none is kept.
    #[must_use]
    pub fn cache(mut self, entries: usize, bytes: usize) -> Builder {
        self.cache_entries = entries;
        self.cache_bytes = bytes;
        self
    }

    /// What remembers DPoP proofs and tokens that are accepted once. Without, a guard of
    /// [`ReplayGuard::DEFAULT_BYTES`] that is this verifier's own. A verifier that takes another's
    /// place must get its guard ([`Verifier::replay_guard`]), or accepts once more what the other
    /// one has seen.
    #[must_use]
    pub fn replay_guard(mut self, guard: Arc<ReplayGuard>) -> Builder {
        self.replay_guard = Some(guard);
        self
    }

    /// The key of the nonces that DPoP proofs must carry ([`Policy::proof_nonces`]), at least 32
    /// bytes: for several verifiers that stand beside each other. Without, each verifier has a
    /// random one.
    #[must_use]
    pub fn proof_nonce_key(mut self, key: &[u8]) -> Builder {
        self.proof_nonce_key = Some(Secret::new(key.to_vec()));
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
        let nonce_key = match &self.proof_nonce_key {
            None => HmacNonceKey::random(),
            Some(key) if key.expose().len() < 32 => return Err(BuildError::ShortNonceKey),
            Some(key) => HmacNonceKey::new(key.expose()),
        };
        let mut policies = Vec::with_capacity(self.policies.len());
        let mut used: Vec<(Vec<Algorithm>, bool)> = vec![(Vec::new(), false); self.issuers.len()];
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
            if issuers.is_empty() && !policy.takes_compact() {
                return Err(BuildError::NoIssuer);
            }
            for issuer in &issuers {
                used[*issuer].0.extend(&policy.algorithms);
                used[*issuer].1 |= policy.compact_of_issuers;
            }
            #[cfg(feature = "fetch")]
            let introspector = the_one_to_ask(&policy, &self.introspectors)?;
            policies.push(Active {
                policy,
                issuers,
                #[cfg(feature = "fetch")]
                introspector,
            });
        }
        let issuers: Vec<IssuerState> = self
            .issuers
            .into_iter()
            .zip(used)
            .map(|(issuer, (mut algorithms, wants_compact))| {
                algorithms.sort_unstable();
                algorithms.dedup();
                IssuerState::new(issuer, algorithms, wants_compact)
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
        let replays = self
            .replay_guard
            .unwrap_or_else(|| Arc::new(ReplayGuard::new(ReplayGuard::DEFAULT_BYTES)));
        for Active { policy, .. } in &policies {
            let life = policy.proof_max_age.saturating_add(policy.proof_leeway());
            replays.keep_proofs_for(life);
        }
        Ok(Verifier {
            policies,
            issuers: issuers.into_iter().map(Arc::new).collect(),
            cache: TokenCache::new(self.cache_entries, self.cache_bytes),
            replays,
            nonce_key,
            revocations: self.revocations,
            counters: Counters::default(),
            limits: self.limits,
        })
    }
}

/// An opaque token does not say whose it is, so a policy has one issuer to ask.
#[cfg(feature = "fetch")]
fn the_one_to_ask(
    policy: &Policy,
    introspectors: &[Arc<Introspector>],
) -> Result<Option<Arc<Introspector>>, BuildError> {
    if policy.introspect.is_none() {
        return Ok(None);
    }
    let wrong = |what| {
        Err(BuildError::Policy {
            policy: policy.name.clone(),
            what,
        })
    };
    let accepted = |one: &&Arc<Introspector>| {
        policy.issuers.is_empty() || policy.issuers.iter().any(|name| name == one.issuer())
    };
    let mut found = introspectors.iter().filter(accepted);
    match (found.next(), found.next()) {
        (Some(one), None) => Ok(Some(one.clone())),
        (None, _) => wrong("introspect needs an issuer with introspection"),
        (Some(_), Some(_)) => wrong("introspect needs one issuer to ask, and there are several"),
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
    let times = [
        freshness.interval,
        freshness.interval_min,
        freshness.interval_max,
        freshness.grace,
        freshness.grace_unreadable,
        freshness.cool_down,
    ];
    if times.iter().any(Duration::is_zero) {
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

/// Longest token that a policy may allow, in bytes.
const MAX_TOKEN_BYTES: usize = 16 * 1024 * 1024;

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
    if policy.origins.iter().any(String::is_empty) {
        return wrong("an origin is no http(s) origin");
    }
    if policy.max_bytes == 0 {
        return wrong("it allows no token of any length");
    }
    if policy.max_bytes > MAX_TOKEN_BYTES {
        return wrong("it allows tokens of more than 16 MiB");
    }
    let symmetric = policy.algorithms.iter().any(|a| a.is_symmetric());
    if symmetric && policy.algorithms.iter().any(|a| !a.is_symmetric()) {
        // RFC 8725 section 2.1: a public key must never be taken for a secret.
        return wrong("it mixes shared secrets and public keys");
    }
    if policy
        .decryption
        .as_ref()
        .is_some_and(|keys| keys.is_empty())
    {
        return wrong("it decrypts and has no key for it");
    }
    if policy.takes_compact() && !policy.kind.is_access() {
        return wrong("compact tokens are access tokens");
    }
    Ok(())
}
