//! The way to the other nodes, handed in: this crate opens no connection.
use crate::Member;
use signet_store::NodeId;
use std::{future::Future, pin::Pin, time::Duration};

/// Most bytes of a message between two nodes of a replicated store
pub const MAX_MESSAGE: usize = 8 << 20;

/// Why a request was not answered. It may or may not have been done.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NetworkError {
    /// There is no connection to that node now: a request to it would fail at once again.
    #[error("the node cannot be reached: {0}")]
    Unreachable(String),
    /// No answer came in time, or the connection ended before it.
    #[error("no answer: {0}")]
    NoAnswer(String),
}

/// What a call returns.
pub type CallFuture = Pin<Box<dyn Future<Output = Result<Vec<u8>, NetworkError>> + Send>>;

/// Requests to other nodes. On the other side the bytes are given to
/// [`ReplicatedStore::handle`](crate::ReplicatedStore::handle), with the name of the node that the
/// connection proved to be, and what that returns is the answer.
///
/// A request may be lost, done twice or done late: the consensus stands that. Both directions are
/// at most [`MAX_MESSAGE`](MAX_MESSAGE) bytes.
pub trait Network: Send + Sync + 'static {
    /// Asks a node; ends by `deadline` from now at the latest. Several calls to one node are under
    /// way at once, and none should wait behind another.
    fn call(&self, to: &NodeId, request: Vec<u8>, deadline: Duration) -> CallFuture;

    /// The same for the parts of a snapshot, one at a time: large, and not urgent. An own channel
    /// keeps them from delaying the others.
    fn bulk(&self, to: &NodeId, request: Vec<u8>, deadline: Duration) -> CallFuture {
        self.call(to, request, deadline)
    }

    /// A node that belongs to the replicated store, as this one has just learned, itself included:
    /// where the network needs to know. Called again for each at every start.
    fn member(&self, member: &Member) {
        let _: &Member = member;
    }
}
