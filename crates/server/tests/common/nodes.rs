//! A node of several, as far as the server sees them.
use signet_realm::nodes::{
    Confirmation, Invitation, Node, Nodes, NodesError, NodesFuture, Standing, SyncState,
};
use signet_realm::streams::Acknowledged;
use signet_store::{NodeId, RealmId};
use std::{
    future::{Future, ready},
    pin::Pin,
    sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst},
    time::Duration,
};

/// One that may be cut off from the others.
#[derive(Default)]
pub struct Cut {
    /// How long ago it knew what the others know, seconds; beyond all numbers: never.
    pub ago: AtomicU64,
    /// It reaches no majority.
    pub minority: AtomicBool,
}

impl Nodes for Cut {
    fn name(&self) -> &str {
        "node-3"
    }

    fn confirm<'a>(
        &'a self,
        _: &'a RealmId,
        _: Duration,
    ) -> Pin<Box<dyn Future<Output = Vec<Confirmation>> + Send + 'a>> {
        Box::pin(ready(Vec::new()))
    }

    fn acknowledge<'a>(
        &'a self,
        _: &'a NodeId,
        _: &'a Acknowledged,
    ) -> Pin<Box<dyn Future<Output = bool> + Send + 'a>> {
        Box::pin(ready(false))
    }

    fn standing(&self) -> Standing {
        match self.minority.load(SeqCst) {
            false => Standing::alone(),
            true => Standing {
                sync: SyncState::Minority,
                not_ready: Some("no majority of the nodes can be reached".to_owned()),
                in_sync: 0,
                others: 2,
            },
        }
    }

    fn known_ago(&self) -> Option<Duration> {
        match self.ago.load(SeqCst) {
            u64::MAX => None,
            seconds => Some(Duration::from_secs(seconds)),
        }
    }

    fn list(&self) -> NodesFuture<'_, Vec<Node>> {
        Box::pin(ready(Ok(Vec::new())))
    }

    fn invite(&self, _: u64) -> NodesFuture<'_, Invitation> {
        Box::pin(ready(Err(NodesError::NotFound)))
    }

    fn remove<'a>(&'a self, _: &'a NodeId) -> NodesFuture<'a, ()> {
        Box::pin(ready(Err(NodesError::NotFound)))
    }
}
