//! What the rooms above see of the streams between nodes.
//!
//! [`Transport`] sends frames and promises nothing: a frame may be lost with its connection, and
//! whoever sends must be able to say it again. [`Caller`] asks one node one question and has an
//! answer, or an error, by a deadline. The room `links` implements both; a simulation may
//! implement them over a network of its own.
use crate::NodeId;
use signet_merge::tell::BoxFuture;
use std::{sync::Arc, time::Duration};

/// Longest frame of [`Transport::send`], in bytes.
pub const MAX_FRAME_BYTES: usize = 1 << 20;

/// Longest request or answer of [`Caller::call`], in bytes.
pub const MAX_CALL_BYTES: usize = 16 << 20;

/// Sends frames to other nodes.
pub trait Transport: Send + Sync + 'static {
    /// Queues a frame of at most [`MAX_FRAME_BYTES`]. Never waits. Frames to one node arrive in
    /// their order for as long as its connection lives; `Ok` does not say that it arrived.
    ///
    /// # Errors
    /// [`NotSent`]; the frame is dropped.
    fn send(&self, to: &NodeId, frame: Vec<u8>) -> Result<(), NotSent>;

    /// Who can be sent to at this moment.
    fn connected(&self) -> Vec<NodeId>;
}

/// Why a frame was not even queued.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NotSent {
    /// There is no connection to that node.
    #[error("not connected")]
    NotConnected,
    /// The node takes less than it is sent: its queue is full.
    #[error("the queue to this node is full")]
    Full,
    /// The frame is longer than [`MAX_FRAME_BYTES`].
    #[error("the frame is too long")]
    TooLong,
}

/// Who is notified of connections and frames. Called on the links' own thread, one call after the
/// other for a peer: an implementation hands work on and returns at once.
pub trait Hear: Send + Sync + 'static {
    /// A connection to this member stands; what is sent now goes over it.
    fn up(&self, peer: &NodeId);

    /// It is gone, with whatever had not arrived.
    fn down(&self, peer: &NodeId);

    /// A frame of a peer that is up.
    fn received(&self, from: &NodeId, frame: &[u8]);
}

/// How soon a service's requests are served when many wait. The service's number decides.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Urgency {
    /// Services 0 to 63: consensus. Before everything but gossip.
    Consensus,
    /// Services 64 to 191: what somebody waits for.
    Call,
    /// Services 192 to 255: what is long, snapshots say.
    Bulk,
}

impl Urgency {
    /// Of a service's number.
    pub const fn of(service: u8) -> Urgency {
        match service {
            0..64 => Urgency::Consensus,
            64..192 => Urgency::Call,
            192..=255 => Urgency::Bulk,
        }
    }
}

/// Asks other nodes.
pub trait Caller: Send + Sync + 'static {
    /// Sends a request of at most [`MAX_CALL_BYTES`] to a service of a node and waits for the
    /// answer, in a tokio runtime with timers. Dropping the future gives the answer up.
    ///
    /// An error does not say that the request was not acted upon, unless its variant does.
    fn call(
        &self,
        to: &NodeId,
        service: u8,
        request: Vec<u8>,
        deadline: Duration,
    ) -> BoxFuture<'static, Result<Vec<u8>, CallError>>;
}

/// Why a call has no answer.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum CallError {
    /// There is no connection to that node; the request was not sent.
    #[error("not connected")]
    NotConnected,
    /// The connection was lost while the call was under way; the other node may have acted.
    #[error("the connection was lost")]
    Lost,
    /// No answer by the deadline; the other node may have acted.
    #[error("no answer in time")]
    Late,
    /// The request or the answer is longer than [`MAX_CALL_BYTES`].
    #[error("the message is too long")]
    TooLong,
    /// The other node has no such service; it did not act.
    #[error("the node has no such service")]
    NoService,
    /// The other node answers as many calls as it does at once; it did not act.
    #[error("the node is busy")]
    Busy,
    /// The service refused, in its own words.
    #[error("{0}")]
    Refused(String),
}

/// A service: answers requests of other nodes. Runs on the links' own thread; what takes long is
/// handed on. The future is dropped when the deadline has passed or the connection is lost.
pub trait Serve: Send + Sync + 'static {
    /// The answer to a member's request.
    ///
    /// # Errors
    /// The text reaches the caller as [`CallError::Refused`].
    fn serve(&self, from: &NodeId, request: Vec<u8>)
    -> BoxFuture<'static, Result<Vec<u8>, String>>;
}

/// The services of this node, by number.
#[derive(Default)]
pub struct Services(std::sync::RwLock<std::collections::BTreeMap<u8, Arc<dyn Serve>>>);

impl Services {
    /// None yet.
    pub fn new() -> Services {
        Services::default()
    }

    /// Puts a service in its place; an earlier one of that number answers no further request.
    pub fn put(&self, number: u8, service: Arc<dyn Serve>) {
        let mut services = self.0.write().unwrap_or_else(|e| e.into_inner());
        services.insert(number, service);
    }

    /// The service of this number.
    pub fn find(&self, number: u8) -> Option<Arc<dyn Serve>> {
        let services = self.0.read().unwrap_or_else(|e| e.into_inner());
        services.get(&number).cloned()
    }
}
