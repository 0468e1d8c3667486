//! What agents, people and operators have said: revocations by their target, declarations of refusal by their agent.
//!
//! A row is written when its signature held or its author's session or right was checked, and is believed from then on. Who may say
//! what about whom is asked again for every chain, by signet-agent's checker.
use super::{PAGE, corrupt};
use serde::{Deserialize, Serialize};
use signet_agent::{AgentId, Hash, declaration::Declaration, object::Signed, revocation::Target};
use signet_jose::base64url;
use signet_store::{Change, Key, Op, Store, StoreError, Table};

/// Most declarations of one agent that are kept.
pub const MAX_DECLARATIONS: usize = 32;
const DECLARATION: u8 = b'd';

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
    /// Whose revocation it is in the chain's terms: the signer; for a person the root; for an operator the agent itself.
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
    // Kinds are 1 to 4; the declarations' tag is none of them.
    let mut partition = vec![u8::try_from(kind).unwrap_or(u8::MAX)];
    partition.extend_from_slice(id);
    partition
}

/// Keeps a revocation. `object`: as it was signed. `end`, Unix seconds: when what it is about has ended by itself, where that is known.
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
    let row = Row {
        authority: said.authority,
        at: said.at,
        object: object.map(base64url::encode),
    };
    let put = Op::Put {
        key: Key::with_sort(
            Table::AgentStatement,
            partition_of(target),
            said.by.0.to_vec(),
        ),
        // Invariant: strings and a number always serialize.
        value: serde_json::to_vec(&row).expect("a revocation's row serializes"),
        end,
    };
    store.commit(Change::new(put), now).await.map(|_| ())
}

/// Every revocation of a target.
///
/// # Errors
/// The store's. A row that cannot be read is an error: what it revoked must not come alive (known fault G6).
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

/// Keeps a declaration of refusal whose signature held. False: the agent has as many as are kept.
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
    if known.len() >= MAX_DECLARATIONS && !known.iter().any(|known| known.id() == id) {
        return Ok(false);
    }
    let put = Op::Put {
        key: Key::with_sort(Table::AgentStatement, declarations_of(agent), id.0.to_vec()),
        value: declaration.as_bytes().to_vec(),
        end: declaration.body().until.map(|until| until + super::MARGIN),
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
