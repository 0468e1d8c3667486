//! Issuers: where their keys come from, which keys they have at the moment, and how they are.

use crate::{compact_keys::CompactKeys, keys::KeyTable};
use arc_swap::{ArcSwap, ArcSwapOption};
use signet_crypto::{Algorithm, VerifyingKey, hash::sha256};
use signet_jose::jwk::JwkSet;
#[cfg(feature = "fetch")]
use signet_jose::jwk::LeftOut;
use std::{
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

/// Where an issuer's keys come from.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum KeySource {
    /// A set that the caller holds; changed with [`crate::Verifier::set_keys`].
    Memory(JwkSet),
    /// One secret that issuer and verifier share (HS256, HS384, HS512).
    Secret {
        /// the `kid` that tokens name, if they name one
        kid: Option<String>,
        /// its one algorithm
        algorithm: Algorithm,
        /// at least as long as the hash
        secret: Vec<u8>,
    },
    /// A file with a JWK Set, read again when it changes.
    #[cfg(feature = "fetch")]
    File(std::path::PathBuf),
    /// The URL of a JWK Set.
    #[cfg(feature = "fetch")]
    JwksUrl(String),
    /// The issuer's metadata (OpenID Connect Discovery section 4, RFC 8414 section 3) names its
    /// `jwks_uri`.
    #[cfg(feature = "fetch")]
    Discovery,
}

/// How keys are kept fresh. Of no effect on keys from memory.
#[derive(Clone, Copy, Debug)]
pub struct Freshness {
    /// Time between two fetches where the answer does not say how long it stays good. A file is
    /// looked at every second instead.
    pub interval: Duration,
    /// Where the answer says it (`Cache-Control: max-age`, RFC 9111 section 5.2.2.1), that counts,
    /// but never less than this.
    pub interval_min: Duration,
    /// Nor more than this, or than the grace: a withdrawn key of which nobody tells is seen by
    /// then.
    pub interval_max: Duration,
    /// How long the last good keys are used when nothing can be fetched. Then tokens are refused as
    /// `keys_unavailable`.
    pub grace: Duration,
    /// How long they are used once something was fetched that is no key set: it may have been meant
    /// to withdraw them.
    pub grace_unreadable: Duration,
    /// Least time between two fetches that unknown `kid`s cause, however many come.
    pub cool_down: Duration,
}

impl Freshness {
    /// When to fetch again, of an answer that said that it stays good for `lifetime`.
    #[cfg(feature = "fetch")]
    pub(crate) fn until_next(&self, lifetime: Option<Duration>) -> Duration {
        let within = |lifetime: Duration| {
            // The maximum counts where the two contradict each other.
            lifetime
                .max(self.interval_min)
                .min(self.interval_max)
                .min(self.grace)
        };
        lifetime.map_or(self.interval, within)
    }
}

impl Default for Freshness {
    fn default() -> Self {
        Freshness {
            interval: Duration::from_secs(300),
            interval_min: Duration::from_secs(30),
            interval_max: Duration::from_secs(3600),
            grace: Duration::from_secs(6 * 3600),
            grace_unreadable: Duration::from_secs(300),
            cool_down: Duration::from_secs(10),
        }
    }
}

/// An issuer that a verifier accepts tokens of.
#[derive(Clone, Debug)]
pub struct Issuer {
    pub(crate) name: String,
    pub(crate) source: KeySource,
    pub(crate) freshness: Freshness,
    pub(crate) required: bool,
    /// SHA-256 of each proof system's verifying key whose zero-knowledge tokens are accepted
    #[cfg_attr(
        not(feature = "fetch"),
        allow(dead_code, reason = "nothing is fetched")
    )]
    pub(crate) verifying_keys: Vec<[u8; 32]>,
}

impl Issuer {
    /// `name` is compared with `iss` byte for byte.
    pub fn new(name: impl Into<String>, source: KeySource) -> Issuer {
        Issuer {
            name: name.into(),
            source,
            freshness: Freshness::default(),
            required: true,
            verifying_keys: Vec::new(),
        }
    }

    /// Accepts zero-knowledge tokens under published keys of this proof system's verifying key,
    /// named by its SHA-256, besides those of earlier calls. Without, published zero-knowledge keys
    /// are passed over: whoever made the parameters and kept their secrets could prove anything,
    /// and that a key is published says nothing of it. So pin what a ceremony made that you have
    /// checked.
    #[cfg(feature = "compact")]
    #[must_use]
    pub fn verifying_key(mut self, sha256: [u8; 32]) -> Issuer {
        self.verifying_keys.push(sha256);
        self
    }

    /// With other times.
    #[must_use]
    pub fn freshness(mut self, freshness: Freshness) -> Issuer {
        self.freshness = freshness;
        self
    }

    /// Readiness does not wait for this issuer's keys.
    #[must_use]
    pub fn optional(mut self) -> Issuer {
        self.required = false;
        self
    }
}

/// How an issuer is, and why (known fault V17: an outage and an attack must not look alike).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Health {
    /// The issuer.
    pub issuer: String,
    /// In one word.
    pub state: HealthState,
    /// Keys that can be used at the moment, one for each key and algorithm.
    pub keys: usize,
    /// When keys were last fetched, Unix seconds; 0: never.
    pub fetched_at: u64,
    /// When it was last tried, Unix seconds; 0: never.
    pub attempted_at: u64,
    /// Attempts that failed since the last good one.
    pub failures: u32,
    /// Why the last attempt failed.
    pub error: Option<String>,
    /// Whether readiness needs it.
    pub required: bool,
}

/// See [`Health`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HealthState {
    /// No keys yet.
    Starting,
    /// Keys, and the last attempt went well.
    Healthy,
    /// The last attempt failed; older keys are used within their grace.
    Stale,
    /// The grace is over, or keys were never there and cannot be fetched.
    Failed,
    /// Disabled by the operator.
    Disabled,
}

impl HealthState {
    /// Every state.
    pub const ALL: [HealthState; 5] = [
        HealthState::Starting,
        HealthState::Healthy,
        HealthState::Stale,
        HealthState::Failed,
        HealthState::Disabled,
    ];

    /// One word, lower case.
    pub const fn as_str(self) -> &'static str {
        match self {
            HealthState::Starting => "starting",
            HealthState::Healthy => "healthy",
            HealthState::Stale => "stale",
            HealthState::Failed => "failed",
            HealthState::Disabled => "disabled",
        }
    }
}

#[derive(Debug, Default)]
struct Attempts {
    fetched_at: u64,
    attempted_at: u64,
    failures: u32,
    error: Option<String>,
}

/// An issuer at work.
pub(crate) struct IssuerState {
    pub(crate) issuer: Issuer,
    /// what tokens of this issuer may be signed with: those of all policies that accept it
    pub(crate) algorithms: Vec<Algorithm>,
    pub(crate) table: ArcSwap<KeyTable>,
    /// a policy accepts compact tokens under the keys that this issuer publishes
    #[cfg_attr(
        not(feature = "fetch"),
        allow(dead_code, reason = "nothing is fetched")
    )]
    pub(crate) wants_compact: bool,
    /// those keys
    #[cfg_attr(
        not(feature = "fetch"),
        allow(dead_code, reason = "nothing is fetched")
    )]
    pub(crate) compact: ArcSwapOption<CompactKeys>,
    /// Unix seconds until which the keys may be used
    usable_until: AtomicU64,
    enabled: AtomicBool,
    attempts: Mutex<Attempts>,
    /// what the last publication had that is not used
    #[cfg(feature = "fetch")]
    left_out: Mutex<Vec<LeftOut>>,
    /// somebody asked for a key that is not there
    pub(crate) wanted: AtomicBool,
    #[cfg(feature = "fetch")]
    pub(crate) wake: tokio::sync::Notify,
}

impl IssuerState {
    pub(crate) fn new(
        issuer: Issuer,
        algorithms: Vec<Algorithm>,
        wants_compact: bool,
    ) -> IssuerState {
        let nothing = KeyTable::default();
        let table = match &issuer.source {
            KeySource::Memory(set) => KeyTable::prepare(set, &algorithms, &nothing),
            KeySource::Secret {
                kid,
                algorithm,
                secret,
            } => match VerifyingKey::hmac(*algorithm, secret) {
                Ok(key) if algorithms.contains(algorithm) => {
                    KeyTable::secret(kid.as_deref(), key, sha256(secret))
                }
                _ => nothing,
            },
            #[cfg(feature = "fetch")]
            KeySource::File(_) | KeySource::JwksUrl(_) | KeySource::Discovery => nothing,
        };
        // Keys that the caller holds have no end; fetched ones have none to begin with.
        let usable_until = match &issuer.source {
            KeySource::Memory(_) | KeySource::Secret { .. } => u64::MAX,
            #[cfg(feature = "fetch")]
            KeySource::File(_) | KeySource::JwksUrl(_) | KeySource::Discovery => 0,
        };
        IssuerState {
            issuer,
            algorithms,
            table: ArcSwap::from_pointee(table),
            wants_compact,
            compact: ArcSwapOption::empty(),
            usable_until: AtomicU64::new(usable_until),
            enabled: AtomicBool::new(true),
            attempts: Mutex::default(),
            #[cfg(feature = "fetch")]
            left_out: Mutex::default(),
            wanted: AtomicBool::new(false),
            #[cfg(feature = "fetch")]
            wake: tokio::sync::Notify::new(),
        }
    }

    pub(crate) fn is_enabled(&self) -> bool {
        self.enabled.load(Relaxed)
    }

    pub(crate) fn set_enabled(&self, enabled: bool) {
        self.enabled.store(enabled, Relaxed);
    }

    /// Whether the keys may be used at this moment.
    pub(crate) fn is_usable(&self, now: u64) -> bool {
        now <= self.usable_until.load(Relaxed)
    }

    /// Puts other keys in place, until the end that those before them have. Those that are gone end
    /// at once.
    pub(crate) fn replace_keys(&self, set: &JwkSet) {
        let before = self.table.load_full();
        let next = KeyTable::prepare(set, &self.algorithms, &before);
        before.withdraw_all_but(&next);
        self.table.store(std::sync::Arc::new(next));
    }

    /// Puts other keys in place, with an end of their own. Those that are gone end at once.
    pub(crate) fn install(&self, set: &JwkSet, now: Option<u64>) {
        self.replace_keys(set);
        let until = match now {
            Some(now) => now.saturating_add(self.issuer.freshness.grace.as_secs()),
            None => u64::MAX,
        };
        self.usable_until.store(until, Relaxed);
        let mut attempts = self.attempts.lock().unwrap_or_else(PoisonError::into_inner);
        *attempts = Attempts {
            fetched_at: now.unwrap_or(0),
            attempted_at: now.unwrap_or(0),
            ..Attempts::default()
        };
    }

    /// Notes what a publication has that is not used; true where that is not as it was.
    #[cfg(feature = "fetch")]
    pub(crate) fn is_news(&self, left_out: &[LeftOut]) -> bool {
        let mut known = self.left_out.lock().unwrap_or_else(PoisonError::into_inner);
        let is_news = *known != left_out;
        if is_news {
            *known = left_out.to_vec();
        }
        is_news
    }

    /// Puts other keys of compact tokens in place, or none. What others verified is verified again.
    #[cfg(feature = "fetch")]
    pub(crate) fn install_compact(&self, keys: Option<CompactKeys>) {
        let before = self.compact.load_full();
        if let (Some(before), Some(next)) = (&before, &keys)
            && before.is_same(next)
        {
            return;
        }
        for sha256 in keys.iter().flat_map(CompactKeys::not_pinned) {
            tracing::warn!(
                issuer = self.issuer.name,
                verifying_key_sha256 = sha256,
                "skipped a zero-knowledge key: the verifying key of its proof system is not pinned"
            );
        }
        self.compact.store(keys.map(std::sync::Arc::new));
        if let Some(before) = before {
            before.withdraw();
        }
    }

    /// The keys were looked at and are still the same.
    #[cfg(feature = "fetch")]
    pub(crate) fn still_good(&self, now: u64) {
        let until = now.saturating_add(self.issuer.freshness.grace.as_secs());
        self.usable_until.store(until, Relaxed);
    }

    /// Notes a failed attempt. Gives how many there were in a row. `arrived`: something was
    /// fetched, which cannot be read.
    #[cfg(feature = "fetch")]
    pub(crate) fn note_failure(&self, error: String, arrived: bool, now: u64) -> u32 {
        if arrived {
            let grace = self.issuer.freshness.grace_unreadable.as_secs();
            // The first such answer counts: the next ones do not put the end off.
            self.usable_until
                .fetch_min(now.saturating_add(grace), Relaxed);
        }
        let mut attempts = self.attempts.lock().unwrap_or_else(PoisonError::into_inner);
        attempts.attempted_at = now;
        attempts.failures = attempts.failures.saturating_add(1);
        attempts.error = Some(error);
        attempts.failures
    }

    /// Asks for a fetch. Cheap however often it is called: the refresher decides when.
    pub(crate) fn want_keys(&self) {
        if !self.wanted.load(Relaxed) && !self.wanted.swap(true, Relaxed) {
            #[cfg(feature = "fetch")]
            self.wake.notify_one();
        }
    }

    pub(crate) fn health(&self, now: u64) -> Health {
        let attempts = self.attempts.lock().unwrap_or_else(PoisonError::into_inner);
        let keys = self.table.load().len();
        let state = match () {
            () if !self.is_enabled() => HealthState::Disabled,
            () if keys > 0 && self.is_usable(now) => match attempts.failures {
                0 => HealthState::Healthy,
                _ => HealthState::Stale,
            },
            () if attempts.failures == 0 && keys == 0 && attempts.fetched_at == 0 => {
                HealthState::Starting
            }
            () => HealthState::Failed,
        };
        Health {
            issuer: self.issuer.name.clone(),
            state,
            keys,
            fetched_at: attempts.fetched_at,
            attempted_at: attempts.attempted_at,
            failures: attempts.failures,
            error: attempts.error.clone(),
            required: self.issuer.required,
        }
    }
}
