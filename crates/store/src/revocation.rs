//! What has been revoked: in memory for every introspection, durable beside it.
//!
//! A token is dead if its own id, its grant, its session or a grant of the agent chain behind it was revoked, or if it
//! was made at or before the epoch of its user, its client or an agent that acts in it. Reading takes no lock and asks no store. Writing is durable first and visible second, so that a
//! revocation that was answered survives a crash; a failure of the store is an error, never "not revoked".
//!
//! Revocations only grow: of two for one subject the later epoch and the later end hold, in whatever order they come.
//! An entry ends when the longest-lived token that it can concern has ended, so it never outlives its use and never
//! ends before it (the caller hands in that end).
use crate::{Change, Key, Op, Outcome, Revoked, Row, Store, StoreError, Table, feed::Changes};
use std::{
    borrow::Borrow,
    hash::Hash,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

/// Rows that are read at once, at start and for a follower.
pub(crate) const PAGE: usize = 1024;

/// What is revoked. Epochs are Unix milliseconds: everything made at or before them is dead.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Subject {
    /// One access token, by the 16 bytes of its `jti`.
    Jti([u8; 16]),
    /// A grant: its refresh family and all tokens that came of it.
    Grant([u8; 16]),
    /// A login session, by its public `sid`.
    Session(String),
    /// Everything of a user up to a moment.
    User(String, u64),
    /// Everything of a client up to a moment.
    Client(String, u64),
    /// A grant of an agent chain, by its 32-byte id: every token whose chain it is part of.
    AgentGrant([u8; 32]),
    /// Everything that an agent acts in up to a moment, by its identity's id.
    Agent(String, u64),
}

const JTI: u8 = b'j';
const GRANT: u8 = b'g';
const SESSION: u8 = b's';
const USER: u8 = b'u';
const CLIENT: u8 = b'c';
const AGENT_GRANT: u8 = b'd';
const AGENT: u8 = b'a';

impl Subject {
    fn key(&self) -> Key {
        let (tag, id): (u8, &[u8]) = match self {
            Subject::Jti(id) => (JTI, id),
            Subject::Grant(id) => (GRANT, id),
            Subject::Session(sid) => (SESSION, sid.as_bytes()),
            Subject::User(user, _) => (USER, user.as_bytes()),
            Subject::Client(client, _) => (CLIENT, client.as_bytes()),
            Subject::AgentGrant(id) => (AGENT_GRANT, id),
            Subject::Agent(agent, _) => (AGENT, agent.as_bytes()),
        };
        let mut partition = Vec::with_capacity(1 + id.len());
        partition.push(tag);
        partition.extend_from_slice(id);
        Key::new(Table::Revocation, partition)
    }

    /// What says so, as a write without a condition: its key is of what it says, so that no other revocation of the same
    /// subject is overwritten by it, whichever comes first, and reading joins them.
    fn row(&self, end: u64) -> Op {
        let key = self.key();
        let mut sort = self.epoch_ms().to_be_bytes().to_vec();
        sort.extend_from_slice(&end.to_be_bytes());
        Op::Put {
            key: Key::with_sort(key.table, key.partition, sort),
            value: self.epoch_ms().to_be_bytes().to_vec(),
            end: Some(end),
        }
    }

    /// The epoch; 0 where the subject has none.
    fn epoch_ms(&self) -> u64 {
        match self {
            Subject::User(_, epoch_ms)
            | Subject::Client(_, epoch_ms)
            | Subject::Agent(_, epoch_ms) => *epoch_ms,
            Subject::Jti(_) | Subject::Grant(_) | Subject::Session(_) | Subject::AgentGrant(_) => 0,
        }
    }

    fn from_row(key: &Key, row: &Row) -> Result<Subject, StoreError> {
        let corrupt = || StoreError::Corrupt("a revocation".to_owned());
        let (tag, id) = key.partition.split_first().ok_or_else(corrupt)?;
        let bytes = || <[u8; 16]>::try_from(id).map_err(|_| corrupt());
        let text = || String::from_utf8(id.to_vec()).map_err(|_| corrupt());
        let epoch_ms = epoch_of(row)?;
        match *tag {
            JTI => Ok(Subject::Jti(bytes()?)),
            GRANT => Ok(Subject::Grant(bytes()?)),
            SESSION => Ok(Subject::Session(text()?)),
            USER => Ok(Subject::User(text()?, epoch_ms)),
            CLIENT => Ok(Subject::Client(text()?, epoch_ms)),
            AGENT_GRANT => Ok(Subject::AgentGrant(id.try_into().map_err(|_| corrupt())?)),
            AGENT => Ok(Subject::Agent(text()?, epoch_ms)),
            _ => Err(corrupt()),
        }
    }
}

/// A row as what it says.
pub(crate) fn read(key: &Key, row: &Row) -> Result<Revoked, StoreError> {
    let end = row
        .end
        .ok_or_else(|| StoreError::Corrupt("a revocation without end".to_owned()))?;
    let subject = Subject::from_row(key, row)?;
    Ok(Revoked { subject, end })
}

fn epoch_of(row: &Row) -> Result<u64, StoreError> {
    <[u8; 8]>::try_from(row.value.as_slice())
        .map(u64::from_be_bytes)
        .map_err(|_| StoreError::Corrupt("the epoch of a revocation".to_owned()))
}

/// What a token says of itself, as far as it can be revoked. Absent parts are parts that the token has not.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TokenFacts<'a> {
    /// The 16 bytes of `jti`; None for what has no id (a refresh token).
    pub jti: Option<&'a [u8; 16]>,
    /// When the token was made, Unix milliseconds. Where only the second is known: its beginning.
    pub jti_time_ms: u64,
    /// `grant_id`
    pub grant_id: Option<&'a [u8; 16]>,
    /// `sid`
    pub sid: Option<&'a str>,
    /// The user; None where a client acts for itself.
    pub user: Option<&'a str>,
    /// `client_id`
    pub client: Option<&'a str>,
    /// `agent_grants`: the ids of all grants of the agent chain that the token was made from.
    pub agent_grants: &'a [[u8; 32]],
    /// The `sub` of every actor in `act`. An agent that is the user or the client itself need not be named again.
    pub agents: &'a [String],
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Entry {
    epoch_ms: u64,
    end: u64,
}

/// Entries of one kind. `used` is set before the first is put in and stays: while it is not, nothing needs hashing.
/// (The map's own length will not do: it is a sum over counters that are not read at one moment.)
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
        self.used.store(true, Ordering::SeqCst);
        self.map.pin().update_or_insert(
            key,
            |known| Entry {
                epoch_ms: known.epoch_ms.max(entry.epoch_ms),
                end: known.end.max(entry.end),
            },
            entry,
        );
    }

    /// The epoch of an entry, if there is one.
    fn find<Q>(&self, key: Option<&Q>) -> Option<u64>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        if !self.used.load(Ordering::SeqCst) {
            return None;
        }
        self.map.pin().get(key?).map(|entry| entry.epoch_ms)
    }

    fn sweep(&self, now: u64) {
        self.map.pin().retain(|_, entry| entry.end > now);
    }
}

/// All revocations of the server.
pub struct RevocationIndex {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) changes: Changes,
    jti: Entries<[u8; 16]>,
    grant: Entries<[u8; 16]>,
    session: Entries<Box<str>>,
    user: Entries<Box<str>>,
    client: Entries<Box<str>>,
    agent_grant: Entries<[u8; 32]>,
    agent: Entries<Box<str>>,
}

impl RevocationIndex {
    /// Reads every revocation that has not ended. Nothing may be answered before this has succeeded.
    ///
    /// # Errors
    /// The store's. An entry that cannot be read is an error: what it revoked must not come alive.
    pub async fn load(store: Arc<dyn Store>, now: u64) -> Result<RevocationIndex, StoreError> {
        let index = RevocationIndex {
            store,
            changes: Changes::new(),
            jti: Entries::new(),
            grant: Entries::new(),
            session: Entries::new(),
            user: Entries::new(),
            client: Entries::new(),
            agent_grant: Entries::new(),
            agent: Entries::new(),
        };
        let mut after: Option<Key> = None;
        loop {
            let page = index
                .store
                .page(Table::Revocation, after.as_ref(), PAGE, now)
                .await?;
            for (key, row) in &page {
                let Revoked { subject, end } = read(key, row)?;
                index.remember(&subject, end);
            }
            if page.len() < PAGE {
                return Ok(index);
            }
            after = page.into_iter().next_back().map(|(key, _)| key);
        }
    }

    /// Revokes. `end` (Unix seconds): when the last token that this can concern has ended. Returns when it is durable
    /// and in effect. Doing it twice is harmless; the later epoch and the later end hold.
    ///
    /// # Errors
    /// The store's; then nothing was revoked, and the caller must not answer that it was.
    pub async fn revoke(&self, subject: Subject, end: u64, now: u64) -> Result<(), StoreError> {
        if end <= now {
            // Whatever it concerned has ended already.
            return Ok(());
        }
        let key = subject.key();
        let mut known = self.store.get(&key, now).await?;
        loop {
            let (epoch_ms, end) = match &known {
                Some(row) => (
                    epoch_of(row)?.max(subject.epoch_ms()),
                    row.end.unwrap_or(end).max(end),
                ),
                None => (subject.epoch_ms(), end),
            };
            let (key, value, end) = (key.clone(), epoch_ms.to_be_bytes().to_vec(), Some(end));
            let op = match known {
                Some(row) => Op::Replace {
                    key,
                    version: row.version,
                    value,
                    end,
                },
                None => Op::Insert { key, value, end },
            };
            match self.store.commit(Change::new(op), now).await? {
                Outcome::Done { .. } => break,
                // Somebody else revoked the same at the same moment: theirs and ours are joined.
                Outcome::Refused(row) => known = row,
            }
        }
        self.remember(&subject, end);
        self.changes.tell(subject, end);
        Ok(())
    }

    /// Commits a change and, in the same change, what is revoked with it: after a crash both are there or neither is.
    /// Where the change is refused nothing is revoked. At most [`MAX_THEN`](crate::MAX_THEN) further writes in all.
    ///
    /// # Errors
    /// The store's; then the caller must not answer that anything was done.
    pub async fn commit_with(
        &self,
        mut change: Change,
        revoked: Vec<Revoked>,
        now: u64,
    ) -> Result<Outcome, StoreError> {
        let lasting = revoked.into_iter().filter(|revoked| revoked.end > now);
        let lasting: Vec<Revoked> = lasting.collect();
        let rows = lasting
            .iter()
            .map(|revoked| revoked.subject.row(revoked.end));
        change.then.extend(rows);
        let outcome = self.store.commit(change, now).await?;
        if outcome.is_done() {
            for Revoked { subject, end } in lasting {
                self.remember(&subject, end);
                self.changes.tell(subject, end);
            }
        }
        Ok(outcome)
    }

    fn remember(&self, subject: &Subject, end: u64) {
        let entry = Entry {
            epoch_ms: subject.epoch_ms(),
            end,
        };
        match subject {
            Subject::Jti(id) => self.jti.join(*id, entry),
            Subject::Grant(id) => self.grant.join(*id, entry),
            Subject::Session(sid) => self.session.join(sid.as_str().into(), entry),
            Subject::User(user, _) => self.user.join(user.as_str().into(), entry),
            Subject::Client(client, _) => self.client.join(client.as_str().into(), entry),
            Subject::AgentGrant(id) => self.agent_grant.join(*id, entry),
            Subject::Agent(agent, _) => self.agent.join(agent.as_str().into(), entry),
        }
    }

    /// Whether the token is dead. An entry counts until it is swept: by then everything that it concerned has ended.
    pub fn is_revoked(&self, token: &TokenFacts<'_>) -> bool {
        let made = token.jti_time_ms;
        let ended_agent = |agent: Option<&str>| {
            self.agent
                .find(agent)
                .is_some_and(|epoch_ms| made <= epoch_ms)
        };
        self.jti.find(token.jti).is_some()
            || self.grant.find(token.grant_id).is_some()
            || self.session.find(token.sid).is_some()
            || self
                .user
                .find(token.user)
                .is_some_and(|epoch| made <= epoch)
            || self
                .client
                .find(token.client)
                .is_some_and(|epoch| made <= epoch)
            || token
                .agent_grants
                .iter()
                .any(|id| self.agent_grant.find(Some(id)).is_some())
            || ended_agent(token.user)
            || ended_agent(token.client)
            || token.agents.iter().any(|agent| ended_agent(Some(agent)))
    }

    /// Forgets what has ended, in memory; the store sweeps its own rows.
    pub fn sweep(&self, now: u64) {
        self.jti.sweep(now);
        self.grant.sweep(now);
        self.session.sweep(now);
        self.user.sweep(now);
        self.client.sweep(now);
        self.agent_grant.sweep(now);
        self.agent.sweep(now);
    }

    /// How many entries are held.
    pub fn len(&self) -> usize {
        self.jti.map.len()
            + self.grant.map.len()
            + self.session.map.len()
            + self.user.map.len()
            + self.client.map.len()
            + self.agent_grant.map.len()
            + self.agent.map.len()
    }

    /// Whether nothing is revoked.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
