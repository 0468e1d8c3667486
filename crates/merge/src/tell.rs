//! Telling the other nodes, and believing them: what the rooms above see of the cluster, apart from
//! how it is done.
use crate::{
    entry::Entry,
    hlc::{Hlc, Stamp},
};
use signet_crypto::clock::Clock;
use signet_store::NodeId;
use std::{future::Future, pin::Pin, sync::Arc, time::Duration};

/// A future that may move between threads.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Who heard what was announced, and who did not.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Receipt {
    /// The members that believe it now, each with the time from the call to their acknowledgement,
    /// in the order of arrival.
    pub acknowledged: Vec<(NodeId, Duration)>,
    /// The members that did not answer in time, or cannot be reached. They hear of it when they
    /// can be reached again.
    pub unreachable: Vec<NodeId>,
}

impl Receipt {
    /// Whether every member believes it.
    pub fn is_complete(&self) -> bool {
        self.unreachable.is_empty()
    }
}

/// How a node tells the others. Handed to the rooms above, which call it after a change is durable
/// in the store.
pub trait Tell: Send + Sync + 'static {
    /// The stamp of a write that happens now: later than everything that this node wrote or heard.
    fn stamp(&self) -> Stamp;

    /// Tells all members. Begins at once, whether or not the future is awaited; that ends when
    /// every reachable member has acknowledged that it believes the entries, in bounded time.
    fn tell(&self, entries: Vec<Entry>) -> BoxFuture<'static, Receipt>;
}

/// What the rooms above do with what other nodes tell. Never waits: it changes memory.
pub trait Believe: Send + Sync + 'static {
    /// Merges entries that `origin` signed. They may come in any order, late and repeatedly.
    fn believe(&self, origin: &NodeId, entries: &[Entry]);

    /// Whether the entry says something that no later one superseded, so that a member who comes
    /// again must hear it.
    fn is_current(&self, entry: &Entry) -> bool;
}

/// The only node: it has nobody to notify.
pub struct Alone {
    hlc: Hlc,
    clock: Arc<dyn Clock>,
}

impl Alone {
    /// The node with this name.
    pub fn new(node: NodeId, clock: Arc<dyn Clock>) -> Alone {
        Alone {
            hlc: Hlc::new(node),
            clock,
        }
    }

    /// Its clock, to be given what is known from before a restart ([`Hlc::resume`]).
    pub fn hlc(&self) -> &Hlc {
        &self.hlc
    }
}

impl Tell for Alone {
    fn stamp(&self) -> Stamp {
        self.hlc.now(self.clock.now_ms())
    }

    fn tell(&self, _entries: Vec<Entry>) -> BoxFuture<'static, Receipt> {
        Box::pin(std::future::ready(Receipt::default()))
    }
}
