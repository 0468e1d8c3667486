//! Identities that people bound to their accounts: where a chain of grants may begin.
//!
//! One identity belongs to at most one user: the binding is one row that is made once, by one
//! conditional insert. What was issued under an identity ends with its binding.
use super::{AgentError, PAGE, corrupt, registry, statement};
use serde::{Deserialize, Serialize};
use signet_agent::{AgentId, identity::VerifiedDocument, revocation::Target};
use signet_store::{Change, Key, Op, Outcome, Store, StoreError, Table};

/// Most identities that one user may bind.
pub const MAX_ROOTS: usize = 16;

/// A binding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Binding {
    /// Whose identity it is.
    pub user_id: String,
    /// Since when, Unix seconds.
    pub bound_at: u64,
}

fn key_of(agent: AgentId) -> Key {
    Key::new(Table::AgentRoot, agent.0.to_vec())
}

fn list_key(user_id: &str, agent: AgentId) -> Key {
    Key::with_sort(Table::UserAgent, user_id.as_bytes(), agent.0.to_vec())
}

/// Whose identity this is, if anybody's.
///
/// # Errors
/// The store's.
pub async fn get(
    store: &dyn Store,
    agent: AgentId,
    now: u64,
) -> Result<Option<Binding>, StoreError> {
    let row = store.get(&key_of(agent), now).await?;
    row.map(|row| serde_json::from_slice(&row.value).map_err(|_| corrupt("a bound identity")))
        .transpose()
}

/// The identities of a user, in the order of their ids.
///
/// # Errors
/// The store's.
pub async fn list(store: &dyn Store, user_id: &str, now: u64) -> Result<Vec<AgentId>, StoreError> {
    let rows = store
        .partition(Table::UserAgent, user_id.as_bytes(), b"", PAGE, now)
        .await?;
    rows.into_iter()
        .map(|(key, _)| {
            <[u8; 32]>::try_from(key.sort)
                .map(AgentId)
                .map_err(|_| corrupt("a bound identity"))
        })
        .collect()
}

/// Binds an identity to a user, or renews the document of one that is theirs. Possession of its
/// current key was proven before.
///
/// # Errors
/// [`AgentError::Taken`], [`AgentError::Stopped`], [`AgentError::Rollback`],
/// [`AgentError::TooMany`], and the store's.
pub async fn bind(
    store: &dyn Store,
    user_id: &str,
    document: &VerifiedDocument,
    now: u64,
) -> Result<(), AgentError> {
    let agent = document.id();
    let theirs = |binding: &Binding| binding.user_id == user_id;
    let bound = get(store, agent, now).await?;
    if bound.as_ref().is_some_and(|bound| !theirs(bound)) {
        return Err(AgentError::Taken);
    }
    let ended = statement::revocations(store, Target::Agent(agent), now).await?;
    if ended.iter().any(|said| said.by == agent) {
        return Err(AgentError::Stopped);
    }
    let own = list(store, user_id, now).await?;
    if own.len() >= MAX_ROOTS && !own.contains(&agent) {
        return Err(AgentError::TooMany);
    }
    registry::keep(store, document, false, now).await?;
    let binding = Binding {
        user_id: user_id.to_owned(),
        bound_at: now,
    };
    let change = Change {
        first: Op::Insert {
            key: key_of(agent),
            // Invariant: a string and a number always serialize.
            value: serde_json::to_vec(&binding).expect("a binding serializes"),
            end: None,
        },
        then: vec![Op::Put {
            key: list_key(user_id, agent),
            value: Vec::new(),
            end: None,
        }],
    };
    match store.commit(change, now).await? {
        Outcome::Done { .. } => Ok(()),
        // Somebody was first: then it is theirs, or it was this user's already.
        Outcome::Refused(_) => match get(store, agent, now).await? {
            Some(bound) if theirs(&bound) => Ok(()),
            _ => Err(AgentError::Taken),
        },
    }
}

/// Takes a binding away; nothing is issued under the identity from here on. What was issued before
/// is the caller's to revoke.
///
/// # Errors
/// [`AgentError::NotFound`] where the identity is not this user's, and the store's.
pub async fn unbind(
    store: &dyn Store,
    user_id: &str,
    agent: AgentId,
    now: u64,
) -> Result<(), AgentError> {
    let key = key_of(agent);
    let row = store.get(&key, now).await?.ok_or(AgentError::NotFound)?;
    let bound: Binding =
        serde_json::from_slice(&row.value).map_err(|_| corrupt("a bound identity"))?;
    if bound.user_id != user_id {
        return Err(AgentError::NotFound);
    }
    let change = Change {
        first: Op::Remove {
            key,
            version: row.version,
        },
        then: vec![Op::Delete {
            key: list_key(user_id, agent),
        }],
    };
    match store.commit(change, now).await? {
        Outcome::Done { .. } => Ok(()),
        Outcome::Refused(_) => Err(AgentError::NotFound),
    }
}
