//! Agents at the server: which identities are known and whose they are, which tokens were issued
//! for their grants.
//!
//! signet-agent proves chains; this module keeps what only a server can know. A person binds an
//! identity to their account ([`binding`]); operators register agents ([`registry`]); signed
//! [`statement`]s arrive; exchanged grants are listed ([`delegation_index`]) so that people see
//! them and ending one is quick ([`crate::terminate`]). [`chain_state`] reads all that concerns one
//! presented chain.
//!
//! A revocation is written before what it ends is looked for, and a grant is listed before a token
//! of it is made; who makes the token looks for revocations again in between. So of a revocation
//! and an exchange at the same moment one always sees the other.
pub mod binding;
pub mod chain_state;
pub mod delegation_index;
pub mod registry;
pub mod statement;

use signet_store::StoreError;

/// Rows that are read at once.
const PAGE: usize = 256;
/// How often a change that lost a race is tried again.
const MAX_TRIES: usize = 5;
/// Rows outlive what they are about by this many seconds: clocks differ.
pub(crate) const MARGIN: u64 = 300;
/// Seconds by which a document's last rotation may be ahead of this clock.
const LEEWAY: u64 = 60;

/// Why something about agents was not done.
#[derive(Debug, thiserror::Error)]
pub enum AgentError {
    /// The object, or what it says, is refused.
    #[error("{0}")]
    Refused(signet_agent::Refusal),
    /// The document does not continue the one that is known: it is older, or another history of the
    /// same id.
    #[error("the document does not continue the one that is known")]
    Rollback,
    /// Somebody else bound this identity.
    #[error("the identity is bound to another account")]
    Taken,
    /// It was stopped, for good.
    #[error("the agent was stopped")]
    Stopped,
    /// A user has as many identities as a user can have.
    #[error("there are too many identities on this account")]
    TooMany,
    /// The signer has said as much of what was never seen here as is kept.
    #[error("the signer has revoked as many grants and agents that are not known here as are kept")]
    NoRoom,
    /// Nobody who may say this.
    #[error("the signer may not say this")]
    NotTheirs,
    /// There is no such agent, binding or grant.
    #[error("there is no such record")]
    NotFound,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<signet_agent::Refusal> for AgentError {
    fn from(reason: signet_agent::Refusal) -> AgentError {
        AgentError::Refused(reason)
    }
}

fn corrupt(what: &str) -> StoreError {
    StoreError::Corrupt(what.to_owned())
}

fn busy() -> StoreError {
    StoreError::Unavailable("a record of an agent is being written by others".to_owned())
}
