//! The other nodes, as a node's part in the installation reaches them: over the streams between
//! them, or over a network that a simulation hands in.

use std::{collections::BTreeSet, future::Future};

use signet_cluster::{links::Links, transport::Caller};
use signet_merge::tell::BoxFuture;
use signet_store::NodeId;
use signet_surroundings::Task;
use tokio::sync::{oneshot, watch};

/// See the module. [`Caller::call`] asks one of them.
pub trait Peers: Caller {
    /// Who is connected now.
    fn connected(&self) -> Vec<NodeId>;

    /// Changes whenever somebody is connected, or no longer.
    fn changes(&self) -> watch::Receiver<u64>;

    /// With whom there is to be a connection, whatever the topology.
    fn want(&self, nodes: BTreeSet<NodeId>);

    /// Runs work where the connections are served, and ends with it.
    ///
    /// # Errors
    /// Why nothing is run there.
    fn run(&self, work: Task) -> BoxFuture<'_, Result<(), String>>;
}

impl Peers for Links {
    fn connected(&self) -> Vec<NodeId> {
        let states = self.states().into_iter();
        let connected = states.filter(|state| state.connection.is_some());
        connected.map(|state| state.node).collect()
    }

    fn changes(&self) -> watch::Receiver<u64> {
        Links::changes(self)
    }

    fn want(&self, nodes: BTreeSet<NodeId>) {
        Links::want(self, nodes);
    }

    fn run(&self, work: Task) -> BoxFuture<'_, Result<(), String>> {
        Box::pin(async move { Links::run(self, work).await.map_err(|e| e.to_string()) })
    }
}

/// Runs work where the connections are served; its result.
pub(crate) async fn run<T: Send + 'static>(
    peers: &dyn Peers,
    work: impl Future<Output = T> + Send + 'static,
) -> Result<T, String> {
    let (reply, done) = oneshot::channel();
    // Whoever asked may have given up waiting.
    let work = async move { drop(reply.send(work.await)) };
    peers.run(Box::pin(work)).await?;
    done.await.map_err(|_| "the node is stopping".to_owned())
}
