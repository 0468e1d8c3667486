//! What is revoked, in memory. Reading takes no lock.
//!
//! A token is revoked if its own id, that of a token it was exchanged from, its grant, its session
//! or a delegation of the agent chain behind it was, or if it was issued at or before the epoch of
//! its user, its client, an agent that acts in it or the issuer. Revocations only grow: of two for
//! one subject the later epoch and the later end hold, in whatever order they come.
//!
//! An index belongs to one issuer, so an entry for the issuer concerns every token that is asked
//! about.

use crate::Subject;
use std::{
    borrow::Borrow,
    hash::Hash,
    sync::atomic::{AtomicBool, Ordering::SeqCst},
};

/// What a token says of itself, as far as it can be revoked. Absent parts are parts that the token
/// does not have.
pub trait Facts {
    /// as which ids of tokens are looked up
    type Jti: ?Sized + Hash + Eq;
    /// as which ids of grants are looked up
    type Grant: ?Sized + Hash + Eq;
    /// as which ids of delegations are looked up
    type Delegation: ?Sized + Hash + Eq;

    /// `jti`
    fn jti(&self) -> Option<&Self::Jti>;
    /// `subject_jtis`: the tokens that this one was exchanged from (RFC 8693).
    fn subject_jtis(&self) -> impl Iterator<Item = &Self::Jti>;
    /// When the token was issued, Unix milliseconds. Where only the second is known: its beginning.
    fn issued_ms(&self) -> u64;
    /// `grant_id`
    fn grant_id(&self) -> Option<&Self::Grant>;
    /// `sid`
    fn sid(&self) -> Option<&str>;
    /// The user.
    fn user(&self) -> Option<&str>;
    /// The client.
    fn client(&self) -> Option<&str>;
    /// The delegations of the agent chain that the token was issued under.
    fn agent_grants(&self) -> impl Iterator<Item = &Self::Delegation>;
    /// Every actor. An agent that is the user or the client itself need not be named again.
    fn agents(&self) -> impl Iterator<Item = &str>;
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Entry {
    /// Unix milliseconds; not looked at for kinds without an epoch
    epoch_ms: u64,
    /// Unix seconds at which the last token concerned has expired by itself
    end: u64,
}

/// Entries of one kind. `used` is set before the first is put in and stays: while it is not,
/// nothing needs hashing. (The map's own length will not do: it is a sum over counters that are not
/// read at one moment.)
struct Entries<K> {
    map: papaya::HashMap<K, Entry>,
    used: AtomicBool,
}

impl<K: Hash + Eq> Entries<K> {
    fn new() -> Entries<K> {
        Entries {
            map: papaya::HashMap::new(),
            used: AtomicBool::new(false),
        }
    }

    fn join(&self, key: K, entry: Entry) {
        self.used.store(true, SeqCst);
        self.map.pin().update_or_insert(
            key,
            |known| Entry {
                epoch_ms: known.epoch_ms.max(entry.epoch_ms),
                end: known.end.max(entry.end),
            },
            entry,
        );
    }

    fn is_used(&self) -> bool {
        self.used.load(SeqCst)
    }

    /// The epoch of an entry, if there is one.
    fn find<Q>(&self, key: Option<&Q>) -> Option<u64>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        if !self.is_used() {
            return None;
        }
        self.map.pin().get(key?).map(|entry| entry.epoch_ms)
    }

    /// The latest epoch of all entries.
    fn latest(&self) -> Option<u64> {
        if !self.is_used() {
            return None;
        }
        self.map.pin().values().map(|entry| entry.epoch_ms).max()
    }

    fn take_over(&self, other: &Entries<K>)
    where
        K: Clone,
    {
        for (key, entry) in &other.map.pin() {
            self.join(key.clone(), *entry);
        }
    }
}

/// Revocations in memory: see [`Subject`] for the type parameters.
pub struct Index<J, G, D, T> {
    jti: Entries<J>,
    grant: Entries<G>,
    session: Entries<T>,
    user: Entries<T>,
    client: Entries<T>,
    agent_grant: Entries<D>,
    agent: Entries<T>,
    issuer: Entries<T>,
}

impl<J: Hash + Eq, G: Hash + Eq, D: Hash + Eq, T: Hash + Eq> Default for Index<J, G, D, T> {
    fn default() -> Index<J, G, D, T> {
        Index {
            jti: Entries::new(),
            grant: Entries::new(),
            session: Entries::new(),
            user: Entries::new(),
            client: Entries::new(),
            agent_grant: Entries::new(),
            agent: Entries::new(),
            issuer: Entries::new(),
        }
    }
}

impl<J: Hash + Eq, G: Hash + Eq, D: Hash + Eq, T: Hash + Eq + Borrow<str>> Index<J, G, D, T> {
    /// Revokes. `end`: Unix seconds at which the last token concerned has expired by itself; never
    /// shortened by a second call.
    pub fn revoke(&self, subject: Subject<J, G, D, T>, end: u64) {
        let epoch_ms = subject.epoch_ms().unwrap_or(0);
        let entry = Entry { epoch_ms, end };
        match subject {
            Subject::Jti(id) => self.jti.join(id, entry),
            Subject::Grant(id) => self.grant.join(id, entry),
            Subject::Session(sid) => self.session.join(sid, entry),
            Subject::User(user, _) => self.user.join(user, entry),
            Subject::Client(client, _) => self.client.join(client, entry),
            Subject::AgentGrant(id) => self.agent_grant.join(id, entry),
            Subject::Agent(agent, _) => self.agent.join(agent, entry),
            Subject::Issuer(issuer, _) => self.issuer.join(issuer, entry),
        }
    }

    /// Whether a token is revoked. An entry counts until it is swept: by then everything that it
    /// concerned has expired.
    pub fn is_revoked<F: Facts>(&self, token: &F) -> bool
    where
        J: Borrow<F::Jti>,
        G: Borrow<F::Grant>,
        D: Borrow<F::Delegation>,
    {
        if self.jti.find(token.jti()).is_some()
            || self.grant.find(token.grant_id()).is_some()
            || self.session.find(token.sid()).is_some()
        {
            return true;
        }
        // What was exchanged ends with what it was exchanged from.
        if self.jti.is_used()
            && token
                .subject_jtis()
                .any(|id| self.jti.find(Some(id)).is_some())
        {
            return true;
        }
        let (user, client) = (token.user(), token.client());
        let epochs = [
            self.user.find(user),
            self.client.find(client),
            // The subject of a client's own token is that client, and stays so when another client
            // exchanges the token (RFC 8693): it ends with either.
            self.client.find(user),
            self.agent.find(user),
            self.agent.find(client),
        ];
        let mut epoch_ms = epochs.into_iter().flatten().max().max(self.issuer.latest());
        if self.agent.is_used() {
            let acting = token.agents().filter_map(|id| self.agent.find(Some(id)));
            epoch_ms = epoch_ms.max(acting.max());
        }
        epoch_ms.is_some_and(|epoch_ms| token.issued_ms() <= epoch_ms)
            || self.agent_grant.is_used()
                && token
                    .agent_grants()
                    .any(|id| self.agent_grant.find(Some(id)).is_some())
    }

    /// What is known of a subject: its epoch (Unix milliseconds, 0 for kinds without one) and its
    /// end (Unix seconds).
    pub fn known(&self, subject: &Subject<J, G, D, T>) -> Option<(u64, u64)> {
        fn of<K: Hash + Eq>(entries: &Entries<K>, key: &K) -> Option<(u64, u64)> {
            let entry = *entries.map.pin().get(key)?;
            Some((entry.epoch_ms, entry.end))
        }
        match subject {
            Subject::Jti(id) => of(&self.jti, id),
            Subject::Grant(id) => of(&self.grant, id),
            Subject::Session(sid) => of(&self.session, sid),
            Subject::User(user, _) => of(&self.user, user),
            Subject::Client(client, _) => of(&self.client, client),
            Subject::AgentGrant(id) => of(&self.agent_grant, id),
            Subject::Agent(agent, _) => of(&self.agent, agent),
            Subject::Issuer(issuer, _) => of(&self.issuer, issuer),
        }
    }

    /// Takes over everything that another one holds.
    pub fn take_over(&self, other: &Index<J, G, D, T>)
    where
        J: Clone,
        G: Clone,
        D: Clone,
        T: Clone,
    {
        self.jti.take_over(&other.jti);
        self.grant.take_over(&other.grant);
        self.session.take_over(&other.session);
        self.user.take_over(&other.user);
        self.client.take_over(&other.client);
        self.agent_grant.take_over(&other.agent_grant);
        self.agent.take_over(&other.agent);
        self.issuer.take_over(&other.issuer);
    }

    /// Removes every entry whose end is before `time`, Unix seconds. To be called now and then.
    pub fn sweep_before(&self, time: u64) {
        fn sweep<K: Hash + Eq>(entries: &Entries<K>, time: u64) {
            entries.map.pin().retain(|_, entry| entry.end >= time);
        }
        sweep(&self.jti, time);
        sweep(&self.grant, time);
        sweep(&self.session, time);
        sweep(&self.user, time);
        sweep(&self.client, time);
        sweep(&self.agent_grant, time);
        sweep(&self.agent, time);
        sweep(&self.issuer, time);
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        let texts = [
            &self.session,
            &self.user,
            &self.client,
            &self.agent,
            &self.issuer,
        ];
        let texts: usize = texts.iter().map(|entries| entries.map.len()).sum();
        texts + self.jti.map.len() + self.grant.map.len() + self.agent_grant.map.len()
    }

    /// Whether nothing is revoked.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
