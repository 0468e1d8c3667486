//! Why a trail could not be opened.

use std::io;
use std::path::PathBuf;

use signet_store::StoreError;

use signet_store::NodeId;

/// Why the trail could not be opened. For the operator.
#[derive(Debug, thiserror::Error)]
pub enum AuditError {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The directory cannot be read or written.
    #[error("{path}: {source}")]
    Io {
        /// the directory or file
        path: PathBuf,
        /// the system's reason
        source: io::Error,
    },
    /// The identity cannot be made or read.
    #[error("the audit trail's identity cannot be made or read")]
    Identity,
    /// The sealing keys at hand do not open it.
    #[error("the audit trail's key does not open with the sealing keys of this data directory")]
    Sealed,
    /// The store is another node's.
    #[error(
        "the store belongs to the node {stored}, and audit.node says {wanted}: a node keeps the name of its first start"
    )]
    OtherNode {
        /// the name at the first start
        stored: NodeId,
        /// the configured name
        wanted: NodeId,
    },
    /// Another directory's node of the same store has this name.
    #[error(
        "another node of this store is called {0}: give this one another name (audit.node), or remove that one first"
    )]
    NameTaken(NodeId),
    /// Another process writes this trail.
    #[error("{0} is in use by another process")]
    InUse(PathBuf),
    /// The directory holds another server's trail.
    #[error(
        "{0} holds the audit trail of another server: name another directory, or restore the database that belongs to it"
    )]
    Foreign(PathBuf),
}
