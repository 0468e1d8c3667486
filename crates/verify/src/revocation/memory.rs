//! Revocations of one issuer, in memory.

use super::{Revocation, RevocationHealth, RevocationState, Revocations};
use crate::Claims;
use signet_encoding::base64url;
use signet_revocation::Index;
use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
};

/// What to do when the source of revocations was not heard of for some time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OnStreamLoss {
    /// What is known goes on to count; tokens that were revoked meanwhile are accepted until their
    /// end.
    FailOpen,
    /// Every token is refused after this many seconds.
    FailClosedAfter(u64),
}

/// Whom or what a revocation concerns, with ids as tokens have them: text.
pub type Subject<'a> = signet_revocation::Subject<&'a str, &'a str, &'a str, &'a str>;

/// Revocations in memory, of one issuer. Reading takes no lock.
pub struct MemoryRevocations {
    issuer: String,
    index: Index<Box<str>, Box<str>, Box<str>, Box<str>>,
    on_stream_loss: OnStreamLoss,
    /// Unix seconds; 0: never
    heard_at: AtomicU64,
    /// nothing is missed at the moment
    current: AtomicBool,
    error: Mutex<Option<String>>,
}

impl MemoryRevocations {
    /// Nothing revoked. With [`OnStreamLoss::FailClosedAfter`], nothing is accepted before
    /// [`MemoryRevocations::heard`] was called.
    pub fn new(on_stream_loss: OnStreamLoss) -> MemoryRevocations {
        MemoryRevocations {
            issuer: String::new(),
            index: Index::default(),
            on_stream_loss,
            heard_at: AtomicU64::new(0),
            current: AtomicBool::new(false),
            error: Mutex::default(),
        }
    }

    /// With the issuer's name, for [`RevocationHealth`].
    #[must_use]
    pub fn named(mut self, issuer: impl Into<String>) -> MemoryRevocations {
        self.issuer = issuer.into();
        self
    }

    /// The source of revocations was heard of, and nothing was missed. `now`: Unix seconds.
    pub fn heard(&self, now: u64) {
        self.heard_at.fetch_max(now, Relaxed);
        if !self.current.swap(true, Relaxed) {
            *self.error.lock().unwrap_or_else(PoisonError::into_inner) = None;
        }
    }

    /// The source of revocations was heard of, and it knows only what was revoked until `at`, Unix
    /// seconds.
    pub fn behind(&self, at: u64, why: impl Into<String>) {
        self.heard_at.fetch_max(at, Relaxed);
        self.lost(why);
    }

    /// The source of revocations is lost, or cannot be reached: from now on something may be
    /// missed.
    pub fn lost(&self, why: impl Into<String>) {
        self.current.store(false, Relaxed);
        *self.error.lock().unwrap_or_else(PoisonError::into_inner) = Some(why.into());
    }

    /// Whether everything that was revoked is known at the moment.
    pub fn is_current(&self) -> bool {
        self.current.load(Relaxed)
    }

    /// Revokes. `end`: Unix seconds at which the last token concerned has expired; never shortened
    /// by a second call.
    pub fn revoke(&self, subject: Subject<'_>, end: u64) {
        self.index
            .revoke(subject.map(Box::from, Box::from, Box::from, Box::from), end);
    }

    /// Takes over what another one holds, and when it was last heard of: for the one that takes its
    /// place, whose source need not have told anything yet. Whether something is missed, this one
    /// has to hear itself.
    pub fn take_over(&self, other: &MemoryRevocations) {
        self.index.take_over(&other.index);
        self.heard_at
            .fetch_max(other.heard_at.load(Relaxed), Relaxed);
    }

    /// Removes expired entries. To be called now and then.
    pub fn sweep(&self, now: u64) {
        self.index.sweep_before(now);
    }

    /// How many revocations are held.
    pub fn len(&self) -> usize {
        self.index.len()
    }

    /// Whether nothing is revoked.
    pub fn is_empty(&self) -> bool {
        self.index.is_empty()
    }

    fn is_closed(&self, now: u64) -> bool {
        match self.on_stream_loss {
            OnStreamLoss::FailOpen => false,
            OnStreamLoss::FailClosedAfter(seconds) => {
                now > self.heard_at.load(Relaxed).saturating_add(seconds)
            }
        }
    }
}

/// A token's claims, as far as it can be revoked by them.
struct Facts<'a>(&'a Claims);

impl signet_revocation::Facts for Facts<'_> {
    type Jti = str;
    type Grant = str;
    type Delegation = str;

    fn jti(&self) -> Option<&str> {
        self.0.jti()
    }

    fn subject_jtis(&self) -> impl Iterator<Item = &str> {
        self.0.subject_jtis()
    }

    fn issued_ms(&self) -> u64 {
        issued_ms(self.0)
    }

    fn grant_id(&self) -> Option<&str> {
        self.0.grant_id()
    }

    fn sid(&self) -> Option<&str> {
        self.0.sid()
    }

    fn user(&self) -> Option<&str> {
        self.0.sub()
    }

    fn client(&self) -> Option<&str> {
        self.0.client_id().or(self.0.azp())
    }

    fn agent_grants(&self) -> impl Iterator<Item = &str> {
        self.0.agent_grants()
    }

    fn agents(&self) -> impl Iterator<Item = &str> {
        self.0.actors()
    }
}

/// When a token was issued, Unix milliseconds. A `jti` of Signet begins with the millisecond; it is
/// believed within the second that `iat` names. Otherwise that second's beginning counts, and a
/// token that does not say when it was issued is as old as can be.
fn issued_ms(claims: &Claims) -> u64 {
    let second = claims.iat().unwrap_or(0);
    let millisecond = |jti: &str| -> Option<u64> {
        let id: [u8; 16] = base64url::decode(jti.as_bytes()).ok()?.try_into().ok()?;
        Some(
            id[..6]
                .iter()
                .fold(0, |time, byte| time << 8 | u64::from(*byte)),
        )
    };
    claims
        .jti()
        .and_then(millisecond)
        .filter(|issued| issued / 1000 == second)
        .unwrap_or(second.saturating_mul(1000))
}

impl Revocations for MemoryRevocations {
    fn check(&self, claims: &Claims, now: u64) -> Revocation {
        if self.is_closed(now) {
            return Revocation::Unknown;
        }
        match self.index.is_revoked(&Facts(claims)) {
            true => Revocation::Revoked,
            false => Revocation::Live,
        }
    }

    fn health(&self, now: u64) -> Vec<RevocationHealth> {
        let heard_at = self.heard_at.load(Relaxed);
        let state = match (self.is_current(), heard_at) {
            (true, _) => RevocationState::Current,
            (false, 0) => RevocationState::Starting,
            (false, _) => RevocationState::Lost,
        };
        let error = self.error.lock().unwrap_or_else(PoisonError::into_inner);
        vec![RevocationHealth {
            issuer: self.issuer.clone(),
            state,
            refusing: self.is_closed(now),
            entries: self.len(),
            heard_at,
            error: error.clone(),
        }]
    }
}
