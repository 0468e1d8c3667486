//! What can go wrong with a node's part, beside its answers.
use signet_store::{OpenError, StoreError};

/// Why a node's part could not begin, change or be recovered. For the operator.
#[derive(Debug, thiserror::Error)]
pub enum ConsensusError {
    /// The engine cannot be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The data directory cannot be used.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The store is this node's alone.
    #[error("the store is not replicated")]
    Alone,
    /// The store is replicated, and its part has begun.
    #[error("the store is replicated already")]
    Replicated,
    /// A node that joins has rows of its own.
    #[error("the store is not empty: a node that joins would lose what it holds")]
    NotEmpty,
    /// There is no state in the store: it has joined, and was never sent one.
    #[error("the store was never sent the state of its cluster: there is nothing to recover")]
    Nothing,
    /// The members could not be changed.
    #[error("the members of the replicated store could not be changed: {0}")]
    Members(String),
    /// A later version wrote an entry of the log.
    #[error("{0}")]
    Later(String),
    /// The times of [`Settings`](crate::Settings) contradict each other.
    #[error("the times of the replicated store do not fit together")]
    Settings,
}
