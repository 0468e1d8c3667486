//! What agents, people and operators have said: revocations by their target, declarations of
//! refusal by their agent.
//!
//! A row is written when its signature held or its author's session or right was checked, and is
//! believed from then on. Who may say what about whom is asked again for every chain, by
//! signet-agent's checker.
use super::{MAX_TRIES, PAGE, busy, corrupt};
use serde::{Deserialize, Serialize};
use signet_agent::{AgentId, Hash, declaration::Declaration, object::Signed, revocation::Target};
use signet_encoding::base64url;
use signet_store::{Change, Key, Op, Outcome, Store, StoreError, Table};

/// Most declarations of one agent that are kept.
pub const MAX_DECLARATIONS: usize = 32;
/// Most revocations by one agent of what was never seen here that are kept
pub const MAX_UNSEEN: usize = 256;
/// How long a revocation of what was never seen here is kept, in seconds: five years
pub const UNSEEN_LIFETIME: u64 = 5 * 365 * 86_400;
const DECLARATION: u8 = b'd';
const UNSEEN: u8 = b'n';

/// By whose word something was revoked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Authority {
    /// A signed revocation.
    Signature,
    /// The person, in a session.
    Person,
    /// An administrator.
    Operator,
}

/// A revocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Said {
    /// Whose revocation it is in the chain's terms: the signer; for a person the root; for an
    /// operator the agent itself.
    pub by: AgentId,
    /// By whose word.
    pub authority: Authority,
    /// Unix seconds.
    pub at: u64,
}

#[derive(Serialize, Deserialize)]
struct Row {
    authority: Authority,
    at: u64,
    /// The signed object, for auditors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    object: Option<String>,
}

fn partition_of(target: Target) -> Vec<u8> {
    let (kind, id) = target.parts();
    // Kinds are 1 to 4; the tags of declarations and lists are none of them.
    let mut partition = vec![u8::try_from(kind).unwrap_or(u8::MAX)];
    partition.extend_from_slice(id);
    partition
}

/// Keeps a revocation. `object`: as it was signed. `end`, Unix seconds: when what it is about has
/// expired, where that is known.
///
/// # Errors
/// The store's; then nothing was revoked.
pub async fn revoke(
    store: &dyn Store,
    target: Target,
    said: Said,
    object: Option<&[u8]>,
    end: Option<u64>,
    now: u64,
) -> Result<(), StoreError> {
    let put = put(target, said, object, end);
    store.commit(Change::new(put), now).await.map(|_| ())
}

/// When somebody revoked this target by a signature, Unix seconds, where that is kept until `end`
/// (Unix seconds; none: for ever).
///
/// # Errors
/// The store's, and a row that cannot be read.
pub async fn signed_at(
    store: &dyn Store,
    target: Target,
    by: AgentId,
    end: Option<u64>,
    now: u64,
) -> Result<Option<u64>, StoreError> {
    let partition = partition_of(target);
    let key = Key::with_sort(Table::AgentStatement, partition, by.0.to_vec());
    let Some(found) = store.get(&key, now).await? else {
        return Ok(None);
    };
    let row: Row =
        serde_json::from_slice(&found.value).map_err(|_| corrupt("an agent's revocation"))?;
    let lasts = match (found.end, end) {
        (None, _) => true,
        (Some(kept), Some(end)) => kept >= end,
        (Some(_), None) => false,
    };
    let holds = lasts && row.authority == Authority::Signature && row.object.is_some();
    Ok(holds.then_some(row.at))
}

fn put(target: Target, said: Said, object: Option<&[u8]>, end: Option<u64>) -> Op {
    let row = Row {
        authority: said.authority,
        at: said.at,
        object: object.map(base64url::encode),
    };
    Op::Put {
        key: Key::with_sort(
            Table::AgentStatement,
            partition_of(target),
            said.by.0.to_vec(),
        ),
        // Invariant: strings and a number always serialize.
        value: serde_json::to_vec(&row).expect("a revocation's row serializes"),
        end,
    }
}

/// What an agent has revoked that was never seen here.
#[derive(Default, Serialize, Deserialize)]
struct Unseen {
    /// Base64url of kind and id of each target, with the end of its revocation, Unix seconds.
    targets: Vec<(String, u64)>,
}

/// Keeps an agent's signed revocation of what was never seen here: it may be seen tomorrow, and it
/// may be nothing. So there is room for [`MAX_UNSEEN`] of each agent, and each ends after
/// [`UNSEEN_LIFETIME`]. False: the agent's room is full.
///
/// The agent's list and the revocation are one change: racing calls cannot go beyond the room.
///
/// # Errors
/// The store's; then nothing was revoked.
pub async fn revoke_unseen(
    store: &dyn Store,
    target: Target,
    said: Said,
    object: &[u8],
    now: u64,
) -> Result<bool, StoreError> {
    let mut partition = vec![UNSEEN];
    partition.extend_from_slice(&said.by.0);
    let key = Key::new(Table::AgentStatement, partition);
    let (name, end) = (
        base64url::encode(&partition_of(target)),
        now.saturating_add(UNSEEN_LIFETIME),
    );
    for _ in 0..MAX_TRIES {
        let stored = store.get(&key, now).await?;
        let mut unseen = match &stored {
            None => Unseen::default(),
            Some(row) => serde_json::from_slice(&row.value)
                .map_err(|_| corrupt("an agent's list of revocations"))?,
        };
        // The same again is no further one.
        unseen
            .targets
            .retain(|(known, end)| *known != name && *end > now);
        if unseen.targets.len() >= MAX_UNSEEN {
            return Ok(false);
        }
        unseen.targets.push((name.clone(), end));
        // Invariant: strings and numbers always serialize.
        let value = serde_json::to_vec(&unseen).expect("a list of revocations serializes");
        let (key, end) = (key.clone(), Some(end));
        let first = match stored {
            None => Op::Insert { key, value, end },
            Some(row) => Op::Replace {
                key,
                version: row.version,
                value,
                end,
            },
        };
        let change = Change {
            first,
            then: vec![put(target, said, Some(object), end)],
        };
        if let Outcome::Done { .. } = store.commit(change, now).await? {
            return Ok(true);
        }
    }
    Err(busy())
}

/// Every revocation of a target.
///
/// # Errors
/// The store's. A row that cannot be read is an error: what it revoked must not come alive (known
/// fault G6).
pub async fn revocations(
    store: &dyn Store,
    target: Target,
    now: u64,
) -> Result<Vec<Said>, StoreError> {
    let partition = partition_of(target);
    let (mut all, mut after) = (Vec::new(), Vec::new());
    loop {
        let rows = store
            .partition(Table::AgentStatement, &partition, &after, PAGE, now)
            .await?;
        let Some((last, _)) = rows.last() else {
            return Ok(all);
        };
        after.clone_from(&last.sort);
        for (key, row) in rows {
            let bad = || corrupt("an agent's revocation");
            let by = <[u8; 32]>::try_from(key.sort).map_err(|_| bad())?;
            let row: Row = serde_json::from_slice(&row.value).map_err(|_| bad())?;
            all.push(Said {
                by: AgentId(by),
                authority: row.authority,
                at: row.at,
            });
        }
    }
}

fn declarations_of(agent: AgentId) -> Vec<u8> {
    let mut partition = vec![DECLARATION];
    partition.extend_from_slice(&agent.0);
    partition
}

/// Keeps a declaration of refusal whose signature held; one that is there stays as it is. False:
/// the agent has as many as are kept.
///
/// # Errors
/// The store's.
pub async fn declare(
    store: &dyn Store,
    declaration: &Signed<Declaration>,
    now: u64,
) -> Result<bool, StoreError> {
    let agent = declaration.body().by.agent;
    let known = declarations(store, agent, now).await?;
    let id: Hash = declaration.id();
    if known.iter().any(|known| known.id() == id) {
        return Ok(true);
    }
    if known.len() >= MAX_DECLARATIONS {
        return Ok(false);
    }
    let put = Op::Put {
        key: Key::with_sort(Table::AgentStatement, declarations_of(agent), id.0.to_vec()),
        value: declaration.as_bytes().to_vec(),
        end: declaration
            .body()
            .until
            .map(|until| until.saturating_add(super::MARGIN)),
    };
    store.commit(Change::new(put), now).await?;
    Ok(true)
}

/// The declarations that an agent has left here.
///
/// # Errors
/// The store's.
pub async fn declarations(
    store: &dyn Store,
    agent: AgentId,
    now: u64,
) -> Result<Vec<Signed<Declaration>>, StoreError> {
    let rows = store
        .partition(
            Table::AgentStatement,
            &declarations_of(agent),
            b"",
            PAGE,
            now,
        )
        .await?;
    rows.into_iter()
        .map(|(_, row)| Signed::parse(row.value).map_err(|_| corrupt("a declaration")))
        .collect()
}
