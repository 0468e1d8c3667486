//! Revocations of one issuer, in memory.

use super::{Revocation, RevocationHealth, RevocationState, Revocations};
use crate::Claims;
use signet_jose::base64url;
use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicBool, AtomicU64, Ordering::Relaxed, Ordering::SeqCst},
};

/// What to do when the source of revocations was not heard of for some time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WhenSilent {
    /// What is known goes on to count; tokens that were revoked meanwhile are accepted until their end.
    StayOpen,
    /// Every token is refused after this many seconds.
    CloseAfter(u64),
}

/// Whom or what a revocation concerns. Epochs are Unix milliseconds: everything issued up to that moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Subject<'a> {
    /// One token, by its `jti`.
    Token(&'a str),
    /// All tokens of a grant, by `grant_id`.
    Grant(&'a str),
    /// All tokens of a session, by `sid`.
    Session(&'a str),
    /// All tokens of a user (`sub`) that were issued up to this moment.
    User(&'a str, u64),
    /// All tokens of a client (`client_id`, else `azp`) that were issued up to this moment.
    Client(&'a str, u64),
    /// All tokens whose agent chain has this grant in it (`agent_grants`).
    AgentGrant(&'a str),
    /// All tokens, issued up to this moment, that an agent acts in: as an actor (`act`), as the subject or as the client.
    Agent(&'a str, u64),
}

#[derive(Clone, Copy)]
struct Until {
    /// Unix seconds from which no token can be concerned any more
    end: u64,
    /// Unix milliseconds: tokens issued up to this moment; all of them for a token, a grant or a session
    epoch_ms: u64,
}

/// Entries of one kind. While `used` is not set, nothing needs hashing.
#[derive(Default)]
struct Entries {
    map: papaya::HashMap<Box<str>, Until>,
    used: AtomicBool,
}

impl Entries {
    fn join(&self, id: &str, until: Until) {
        self.used.store(true, SeqCst);
        self.map.pin().update_or_insert(
            id.into(),
            |old| Until {
                end: old.end.max(until.end),
                epoch_ms: old.epoch_ms.max(until.epoch_ms),
            },
            until,
        );
    }

    fn is_used(&self) -> bool {
        self.used.load(SeqCst)
    }

    fn epoch_ms(&self, id: Option<&str>) -> Option<u64> {
        if !self.is_used() {
            return None;
        }
        self.map.pin().get(id?).map(|until| until.epoch_ms)
    }
}

/// Revocations in memory, of one issuer. Reading takes no lock.
pub struct MemoryRevocations {
    issuer: String,
    tokens: Entries,
    grants: Entries,
    sessions: Entries,
    users: Entries,
    clients: Entries,
    agent_grants: Entries,
    agents: Entries,
    when_silent: WhenSilent,
    /// Unix seconds; 0: never
    heard_at: AtomicU64,
    /// nothing is missed at the moment
    current: AtomicBool,
    error: Mutex<Option<String>>,
}

impl MemoryRevocations {
    /// Nothing revoked. With [`WhenSilent::CloseAfter`], nothing is accepted before [`MemoryRevocations::heard`] was called.
    pub fn new(when_silent: WhenSilent) -> MemoryRevocations {
        MemoryRevocations {
            issuer: String::new(),
            tokens: Entries::default(),
            grants: Entries::default(),
            sessions: Entries::default(),
            users: Entries::default(),
            clients: Entries::default(),
            agent_grants: Entries::default(),
            agents: Entries::default(),
            when_silent,
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

    /// The source of revocations is lost, or cannot be reached: from now on something may be missed.
    pub fn lost(&self, why: impl Into<String>) {
        self.current.store(false, Relaxed);
        *self.error.lock().unwrap_or_else(PoisonError::into_inner) = Some(why.into());
    }

    /// Whether everything that was revoked is known at the moment.
    pub fn is_current(&self) -> bool {
        self.current.load(Relaxed)
    }

    /// Revokes. `end`: Unix seconds at which the last token concerned has ended by itself; never shortened by a second call.
    pub fn revoke(&self, subject: Subject<'_>, end: u64) {
        let (entries, id, epoch_ms) = match subject {
            Subject::Token(id) => (&self.tokens, id, u64::MAX),
            Subject::Grant(id) => (&self.grants, id, u64::MAX),
            Subject::Session(id) => (&self.sessions, id, u64::MAX),
            Subject::User(id, epoch_ms) => (&self.users, id, epoch_ms),
            Subject::Client(id, epoch_ms) => (&self.clients, id, epoch_ms),
            Subject::AgentGrant(id) => (&self.agent_grants, id, u64::MAX),
            Subject::Agent(id, epoch_ms) => (&self.agents, id, epoch_ms),
        };
        entries.join(id, Until { end, epoch_ms });
    }

    /// Takes over what another one holds, and when it was last heard of: for the one that takes its place, whose source need not have told
    /// anything yet. Whether something is missed, this one has to hear itself.
    pub fn take_over(&self, other: &MemoryRevocations) {
        for (own, others) in self.all().into_iter().zip(other.all()) {
            for (id, until) in &others.map.pin() {
                own.join(id, *until);
            }
        }
        self.heard_at
            .fetch_max(other.heard_at.load(Relaxed), Relaxed);
    }

    /// Removes what has ended. To be called now and then.
    pub fn sweep(&self, now: u64) {
        for entries in self.all() {
            entries.map.pin().retain(|_, until| until.end >= now);
        }
    }

    /// How many revocations are held.
    pub fn len(&self) -> usize {
        self.all().iter().map(|entries| entries.map.len()).sum()
    }

    /// Whether nothing is revoked.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn all(&self) -> [&Entries; 7] {
        [
            &self.tokens,
            &self.grants,
            &self.sessions,
            &self.users,
            &self.clients,
            &self.agent_grants,
            &self.agents,
        ]
    }

    fn is_closed(&self, now: u64) -> bool {
        match self.when_silent {
            WhenSilent::StayOpen => false,
            WhenSilent::CloseAfter(seconds) => {
                now > self.heard_at.load(Relaxed).saturating_add(seconds)
            }
        }
    }

    fn is_revoked(&self, claims: &Claims) -> bool {
        let client = claims.client_id().or(claims.azp());
        if self.tokens.epoch_ms(claims.jti()).is_some()
            || self.grants.epoch_ms(claims.grant_id()).is_some()
            || self.sessions.epoch_ms(claims.sid()).is_some()
        {
            return true;
        }
        let epochs = [
            self.users.epoch_ms(claims.sub()),
            self.clients.epoch_ms(client),
            self.agents.epoch_ms(claims.sub()),
            self.agents.epoch_ms(client),
        ];
        let mut epoch_ms = epochs.into_iter().flatten().max();
        if self.agents.is_used() {
            let acting = claims
                .actors()
                .filter_map(|id| self.agents.epoch_ms(Some(id)));
            epoch_ms = epoch_ms.max(acting.max());
        }
        epoch_ms.is_some_and(|epoch_ms| issued_ms(claims) <= epoch_ms)
            || self.agent_grants.is_used()
                && claims
                    .agent_grants()
                    .any(|id| self.agent_grants.epoch_ms(Some(id)).is_some())
    }
}

/// When a token was issued, Unix milliseconds. A `jti` of Signet begins with the millisecond; it is believed within the second that `iat`
/// names. Otherwise that second's beginning counts, and a token that does not say when it was issued is as old as can be.
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
        match self.is_revoked(claims) {
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
