//! Grants that were exchanged here, and the tokens that were issued for them: lists for people, and
//! what a revocation looks through.
//!
//! Rows end with what they are about. Whether a token is in force is the revocations' business, not
//! that of these lists.
use super::{MARGIN, PAGE, corrupt, statement};
use serde::{Deserialize, Serialize};
use signet_agent::{
    AgentId, Hash, grant::Grant, object::Signed, presentation::Presentation, revocation::Target,
};
use signet_encoding::base64url;
use signet_oauth::id::Jti;
use signet_store::{Key, Op, Store, StoreError, Table};

/// Whose list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holder<'a> {
    /// Grants that were issued under a user's identities.
    User(&'a str),
    /// Grants from an agent and to it.
    Agent(AgentId),
    /// Grants that were delegated directly under a grant.
    Parent(Hash),
}

/// A grant that was exchanged.
#[derive(Clone, Debug)]
pub struct HeldGrant {
    /// The grant; its signature held when it came.
    pub grant: Signed<Grant>,
    /// The identity that the chain begins at.
    pub root: AgentId,
    /// Whose identity that was.
    pub user_id: String,
    /// The grants above it, the root's first.
    pub above: Vec<Hash>,
    /// Who may revoke it: everyone above its grantee, and whom the grants name.
    pub revokers: Vec<AgentId>,
    /// Unix seconds.
    pub first_seen: u64,
}

#[derive(Serialize, Deserialize)]
struct GrantRow {
    grant: String,
    root: String,
    user_id: String,
    above: Vec<String>,
    revokers: Vec<String>,
    first_seen: u64,
}

/// A token that was issued for a chain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenRow {
    /// To which client it was given.
    pub client_id: String,
    /// For whom it acts.
    pub user_id: String,
    /// Where it is good.
    pub audience: Vec<String>,
    /// The last grant of its chain, base64url.
    pub grant: String,
    /// Its end, Unix seconds.
    pub exp: u64,
}

impl Holder<'_> {
    fn partition(&self) -> Vec<u8> {
        let (tag, id): (u8, &[u8]) = match self {
            Holder::User(user) => (b'u', user.as_bytes()),
            Holder::Agent(agent) => (b'a', &agent.0),
            Holder::Parent(grant) => (b'p', &grant.0),
        };
        let mut partition = vec![tag];
        partition.extend_from_slice(id);
        partition
    }
}

fn grant_key(id: Hash) -> Key {
    Key::new(Table::AgentGrant, id.0.to_vec())
}

fn tokens_of(agent: AgentId) -> Vec<u8> {
    let mut partition = vec![b't'];
    partition.extend_from_slice(&agent.0);
    partition
}

/// The grant, if it was ever exchanged here and has not ended.
///
/// # Errors
/// The store's.
pub async fn grant(store: &dyn Store, id: Hash, now: u64) -> Result<Option<HeldGrant>, StoreError> {
    let Some(row) = store.get(&grant_key(id), now).await? else {
        return Ok(None);
    };
    let bad = || corrupt("an exchanged grant");
    let row: GrantRow = serde_json::from_slice(&row.value).map_err(|_| bad())?;
    let bytes = base64url::decode(row.grant.as_bytes()).map_err(|_| bad())?;
    let agents = row.revokers.iter().map(|agent| agent.parse());
    let above = row.above.iter().map(|id| id.parse());
    Ok(Some(HeldGrant {
        grant: Signed::parse(bytes).map_err(|_| bad())?,
        root: row.root.parse().map_err(|_| bad())?,
        user_id: row.user_id,
        above: above.collect::<Result<_, _>>().map_err(|_| bad())?,
        revokers: agents.collect::<Result<_, _>>().map_err(|_| bad())?,
        first_seen: row.first_seen,
    }))
}

/// A holder's grants, in the order of their ids.
///
/// # Errors
/// The store's.
pub async fn grants(
    store: &dyn Store,
    holder: Holder<'_>,
    now: u64,
) -> Result<Vec<HeldGrant>, StoreError> {
    let partition = holder.partition();
    let (mut all, mut after) = (Vec::new(), Vec::new());
    loop {
        let rows = store
            .partition(Table::AgentHolding, &partition, &after, PAGE, now)
            .await?;
        let Some((last, _)) = rows.last() else {
            return Ok(all);
        };
        after.clone_from(&last.sort);
        for (key, _) in rows {
            let id = <[u8; 32]>::try_from(key.sort).map_err(|_| corrupt("a list of grants"))?;
            all.extend(grant(store, Hash(id), now).await?);
        }
    }
}

/// The living tokens of an agent, by their ids.
///
/// # Errors
/// The store's.
pub async fn tokens(
    store: &dyn Store,
    agent: AgentId,
    now: u64,
) -> Result<Vec<(Jti, TokenRow)>, StoreError> {
    let partition = tokens_of(agent);
    let (mut all, mut after) = (Vec::new(), Vec::new());
    loop {
        let rows = store
            .partition(Table::AgentHolding, &partition, &after, PAGE, now)
            .await?;
        let Some((last, _)) = rows.last() else {
            return Ok(all);
        };
        after.clone_from(&last.sort);
        for (key, row) in rows {
            let bad = || corrupt("a list of tokens");
            let id = Jti::from_slice(&key.sort).ok_or_else(bad)?;
            all.push((id, serde_json::from_slice(&row.value).map_err(|_| bad())?));
        }
    }
}

/// The writes that list the grants of a chain from number `from` on. All of a chain fit one change.
pub fn entries(shown: &Presentation, from: usize, user_id: &str, now: u64) -> Vec<Op> {
    let mut ops = Vec::new();
    // A presentation has one grant at least.
    let root = shown.grants[0].body().by.agent;
    let (mut above, mut revokers): (Vec<Hash>, Vec<AgentId>) = (Vec::new(), Vec::new());
    for (number, grant) in shown.grants.iter().enumerate() {
        let body = grant.body();
        revokers.push(body.by.agent);
        revokers.extend(&body.revocation.delegates);
        if number >= from {
            let end = Some(body.not_after.saturating_add(MARGIN));
            let row = GrantRow {
                grant: base64url::encode(grant.as_bytes()),
                root: root.to_string(),
                user_id: user_id.to_owned(),
                above: above.iter().map(ToString::to_string).collect(),
                revokers: revokers.iter().map(ToString::to_string).collect(),
                first_seen: now,
            };
            ops.push(Op::Put {
                key: grant_key(grant.id()),
                // Invariant: strings and numbers always serialize.
                value: serde_json::to_vec(&row).expect("a grant's row serializes"),
                end,
            });
            let holders = [
                Some(Holder::User(user_id)),
                Some(Holder::Agent(body.by.agent)),
                Some(Holder::Agent(body.to.agent)),
                above.last().copied().map(Holder::Parent),
            ];
            for holder in holders.into_iter().flatten() {
                ops.push(Op::Put {
                    key: Key::with_sort(
                        Table::AgentHolding,
                        holder.partition(),
                        grant.id().0.to_vec(),
                    ),
                    value: Vec::new(),
                    end,
                });
            }
        }
        above.push(grant.id());
    }
    ops
}

/// The write that lists a token for the agent that holds it.
pub fn token_entry(agent: AgentId, id: &Jti, row: &TokenRow) -> Op {
    Op::Put {
        key: Key::with_sort(
            Table::AgentHolding,
            tokens_of(agent),
            id.as_bytes().to_vec(),
        ),
        // Invariant: strings and a number always serialize.
        value: serde_json::to_vec(row).expect("a token's row serializes"),
        end: Some(row.exp),
    }
}

/// Whether a grant, or one above it, was revoked by somebody who may. Agents' own ends are not
/// asked about here.
///
/// # Errors
/// The store's.
pub async fn is_ended(store: &dyn Store, held: &HeldGrant, now: u64) -> Result<bool, StoreError> {
    for id in held.above.iter().copied().chain([held.grant.id()]) {
        if !statement::revocations(store, Target::Grant(id), now)
            .await?
            .is_empty()
        {
            return Ok(true);
        }
    }
    Ok(false)
}
