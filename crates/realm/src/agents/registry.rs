//! Agents that the server knows: those that an operator registered, those that people bound, those
//! that were seen in a chain.
//!
//! A document is only ever replaced by one that continues it: a stolen or outdated history cannot
//! take a newer one's place.
use super::{AgentError, LEEWAY, MAX_TRIES, busy, corrupt};
use serde::{Deserialize, Serialize};
use signet_agent::{AgentId, identity::VerifiedDocument};
use signet_encoding::base64url;
use signet_store::{Change, Key, Op, Outcome, Store, StoreError, Table};

/// An agent, as it is kept.
#[derive(Clone, Debug)]
pub struct Agent {
    /// Its id.
    pub id: AgentId,
    /// Its newest document that was shown; agents that were only named in a grant have shown none.
    pub document: Option<VerifiedDocument>,
    /// Whether an operator registered it.
    pub registered: bool,
    /// Since when, Unix seconds.
    pub since: u64,
}

#[derive(Serialize, Deserialize)]
struct AgentRow {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    document: Option<String>,
    registered: bool,
    since: u64,
}

impl AgentRow {
    fn encode(&self) -> Vec<u8> {
        // Invariant: strings, a flag and a number always serialize.
        serde_json::to_vec(self).expect("an agent's row serializes")
    }
}

fn key_of(agent: AgentId) -> Key {
    Key::new(Table::Agent, agent.0.to_vec())
}

fn decode(id: AgentId, value: &[u8]) -> Result<Agent, StoreError> {
    let bad = || corrupt("an agent");
    let row: AgentRow = serde_json::from_slice(value).map_err(|_| bad())?;
    let document = row.document.map(|text| {
        let bytes = base64url::decode(text.as_bytes()).map_err(|_| bad())?;
        VerifiedDocument::parse(bytes)
            .ok()
            .filter(|document| document.id() == id)
            .ok_or_else(bad)
    });
    Ok(Agent {
        id,
        document: document.transpose()?,
        registered: row.registered,
        since: row.since,
    })
}

/// The agent, if it is known.
///
/// # Errors
/// The store's.
pub async fn get(store: &dyn Store, id: AgentId, now: u64) -> Result<Option<Agent>, StoreError> {
    let row = store.get(&key_of(id), now).await?;
    row.map(|row| decode(id, &row.value)).transpose()
}

/// A page of all known agents, in the order of their ids.
///
/// # Errors
/// The store's.
pub async fn list(
    store: &dyn Store,
    after: Option<AgentId>,
    limit: usize,
    now: u64,
) -> Result<Vec<Agent>, StoreError> {
    let after = after.map(key_of);
    let rows = store.page(Table::Agent, after.as_ref(), limit, now).await?;
    rows.into_iter()
        .map(|(key, row)| {
            let id = <[u8; 32]>::try_from(key.partition).map_err(|_| corrupt("an agent"))?;
            decode(AgentId(id), &row.value)
        })
        .collect()
}

/// Keeps a document, where it is the agent's first or continues the one that is kept. `register`:
/// an operator's word.
///
/// # Errors
/// [`AgentError::Rollback`], [`AgentError::Refused`] for a rotation of the future, and the store's.
pub async fn keep(
    store: &dyn Store,
    document: &VerifiedDocument,
    register: bool,
    now: u64,
) -> Result<(), AgentError> {
    document.check_time(now, LEEWAY)?;
    let key = key_of(document.id());
    for _ in 0..MAX_TRIES {
        let stored = store.get(&key, now).await?;
        let known = stored
            .as_ref()
            .map(|row| decode(document.id(), &row.value))
            .transpose()?;
        let continues = |known: &VerifiedDocument| known.is_continued_by(document);
        let before = known.as_ref().and_then(|known| known.document.as_ref());
        if before.is_some_and(|before| !continues(before)) {
            return Err(AgentError::Rollback);
        }
        let row = AgentRow {
            document: Some(base64url::encode(document.signed().as_bytes())),
            registered: register || known.as_ref().is_some_and(|known| known.registered),
            since: known.as_ref().map_or(now, |known| known.since),
        };
        let (key, value, end) = (key.clone(), row.encode(), None);
        let first = match stored {
            None => Op::Insert { key, value, end },
            Some(stored) => Op::Replace {
                key,
                version: stored.version,
                value,
                end,
            },
        };
        if let Outcome::Done { .. } = store.commit(Change::new(first), now).await? {
            return Ok(());
        }
    }
    Err(busy().into())
}

/// Remembers that an agent was seen in an accepted chain, with its document where one was shown.
/// One that is known stays as it is, but for a document that continues its own.
///
/// # Errors
/// The store's.
pub async fn see(
    store: &dyn Store,
    id: AgentId,
    document: Option<&VerifiedDocument>,
    now: u64,
) -> Result<(), StoreError> {
    if let Some(document) = document {
        return match keep(store, document, false, now).await {
            // The chain's checker has believed the known one.
            Ok(()) | Err(AgentError::Rollback) => Ok(()),
            Err(AgentError::Store(error)) => Err(error),
            Err(_) => Err(busy()),
        };
    }
    let row = AgentRow {
        document: None,
        registered: false,
        since: now,
    };
    let insert = Op::Insert {
        key: key_of(id),
        value: row.encode(),
        end: None,
    };
    store.commit(Change::new(insert), now).await.map(|_| ())
}
