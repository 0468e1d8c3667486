//! Whether a token was revoked: asked for each token that is accepted, cached or not.

use crate::Claims;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The answer about one token.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Revocation {
    /// Nothing is known against it.
    Live,
    /// It was revoked.
    Revoked,
    /// It cannot be known at the moment. The token is refused (known fault A7).
    Unknown,
}

/// Knows what was revoked. Asked on every request, so it answers from memory.
pub trait Revocations: Send + Sync {
    /// Decides about a token whose signature held. `now`: Unix seconds.
    fn check(&self, claims: &Claims, now: u64) -> Revocation;
}

/// What to do when the source of revocations was not heard of for some time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WhenSilent {
    /// What is known goes on to count; tokens that were revoked meanwhile are accepted until their end.
    StayOpen,
    /// Every token is refused after this many seconds.
    CloseAfter(u64),
}

/// Whom or what a revocation concerns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Subject<'a> {
    /// One token, by its `jti`.
    Token(&'a str),
    /// All tokens of a grant, by `grant_id`.
    Grant(&'a str),
    /// All tokens of a session, by `sid`.
    Session(&'a str),
    /// All tokens of a user (`sub`) that were issued up to this moment, Unix seconds.
    User(&'a str, u64),
    /// All tokens of a client (`client_id`, else `azp`) that were issued up to this moment, Unix seconds.
    Client(&'a str, u64),
}

#[derive(Clone, Copy)]
struct Until {
    /// Unix seconds from which no token can be concerned any more
    end: u64,
    /// tokens issued up to this moment; all of them for a token, a grant or a session
    epoch: u64,
}

type Map = papaya::HashMap<Box<str>, Until>;

/// Revocations in memory, of one issuer. Reading takes no lock.
pub struct MemoryRevocations {
    tokens: Map,
    grants: Map,
    sessions: Map,
    users: Map,
    clients: Map,
    when_silent: WhenSilent,
    /// Unix seconds; 0: never
    heard_at: AtomicU64,
}

impl MemoryRevocations {
    /// Nothing revoked. With [`WhenSilent::CloseAfter`], nothing is accepted before [`MemoryRevocations::heard`] was called.
    pub fn new(when_silent: WhenSilent) -> MemoryRevocations {
        MemoryRevocations {
            tokens: Map::new(),
            grants: Map::new(),
            sessions: Map::new(),
            users: Map::new(),
            clients: Map::new(),
            when_silent,
            heard_at: AtomicU64::new(0),
        }
    }

    /// The source of revocations was heard of, and nothing was missed. `now`: Unix seconds.
    pub fn heard(&self, now: u64) {
        self.heard_at.fetch_max(now, Relaxed);
    }

    /// Revokes. `end`: Unix seconds at which the last token concerned has ended by itself; never shortened by a second call.
    pub fn revoke(&self, subject: Subject<'_>, end: u64) {
        let (map, id, epoch) = match subject {
            Subject::Token(id) => (&self.tokens, id, u64::MAX),
            Subject::Grant(id) => (&self.grants, id, u64::MAX),
            Subject::Session(id) => (&self.sessions, id, u64::MAX),
            Subject::User(id, epoch) => (&self.users, id, epoch),
            Subject::Client(id, epoch) => (&self.clients, id, epoch),
        };
        map.pin().update_or_insert(
            id.into(),
            |old| Until {
                end: old.end.max(end),
                epoch: old.epoch.max(epoch),
            },
            Until { end, epoch },
        );
    }

    /// Removes what has ended. To be called now and then.
    pub fn sweep(&self, now: u64) {
        for map in [
            &self.tokens,
            &self.grants,
            &self.sessions,
            &self.users,
            &self.clients,
        ] {
            map.pin().retain(|_, until| until.end >= now);
        }
    }
}

impl Revocations for MemoryRevocations {
    fn check(&self, claims: &Claims, now: u64) -> Revocation {
        if let WhenSilent::CloseAfter(seconds) = self.when_silent
            && now > self.heard_at.load(Relaxed).saturating_add(seconds)
        {
            return Revocation::Unknown;
        }
        // A token that does not say when it was issued is as old as can be.
        let issued = claims.iat().unwrap_or(0);
        let client = claims.client_id().or(claims.azp());
        let asked = [
            (&self.tokens, claims.jti()),
            (&self.grants, claims.grant_id()),
            (&self.sessions, claims.sid()),
            (&self.users, claims.sub()),
            (&self.clients, client),
        ];
        let revoked = asked.into_iter().any(|(map, id)| {
            id.is_some_and(|id| {
                !map.is_empty() && map.pin().get(id).is_some_and(|until| issued <= until.epoch)
            })
        });
        match revoked {
            true => Revocation::Revoked,
            false => Revocation::Live,
        }
    }
}
