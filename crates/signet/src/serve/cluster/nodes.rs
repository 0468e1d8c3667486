//! The nodes, as the admin API asks for them.

use std::{future::Future, pin::Pin, time::Duration};

use signet_cluster::{join::ClusterError, transport::Caller};
use signet_consensus::Role;
use signet_server::nodes::{Confirmation, Invitation, Node, Nodes, NodesError, NodesFuture};
use signet_store::NodeId;

use super::{
    Cluster, list,
    services::{self, READERS},
};

/// How long the other nodes may take to answer beyond what their readers may.
const ANSWERED_WITHIN: Duration = Duration::from_secs(1);

impl Nodes for Cluster {
    fn name(&self) -> &str {
        // The realm was built with it before anything is answered.
        self.late.get().map_or("", |late| late.name())
    }

    fn list(&self) -> NodesFuture<'_, Vec<Node>> {
        let nodes = match self.running.get() {
            None => match NodeId::parse(self.name()) {
                Ok(name) => vec![Node::alone(&name, &self.options.url)],
                Err(_) => Vec::new(),
            },
            Some(running) => list::of(&list::Seen {
                own: &running.node,
                members: &running.members,
                links: running.links.states(),
                gossip: running.spread.status(),
                detected: running.detection.states(),
                store: self.replicated.as_ref().map(|store| store.status()),
                now: self.clock.now(),
            }),
        };
        Box::pin(std::future::ready(Ok(nodes)))
    }

    fn invite(&self, seconds: u64) -> NodesFuture<'_, Invitation> {
        Box::pin(async move {
            let running = self.node().await?;
            let token = running.host.invite(Duration::from_secs(seconds)).await;
            let token = token.map_err(refusal)?;
            Ok(Invitation {
                token: token.to_text().expose().clone(),
                expires_at: token.end,
            })
        })
    }

    fn remove<'a>(&'a self, name: &'a NodeId) -> NodesFuture<'a, ()> {
        Box::pin(async move {
            if name.as_str() == self.name() {
                return Err(NodesError::NotPossible(
                    "a node is not removed by itself: ask another one".to_owned(),
                ));
            }
            let running = self.running.get().ok_or(NodesError::NotFound)?;
            if let Some(replicated) = &self.replicated
                && replicated.status().role != Role::Alone
            {
                let removed = replicated.remove(name).await;
                removed.map_err(|e| NodesError::Unavailable(e.to_string()))?;
            }
            let receipt = running.host.remove(name).await.map_err(refusal)?;
            // A later node of this name has a log of its own.
            let released = signet_audit::release_node(&*self.store, name, self.clock.now()).await;
            released.map_err(|e| NodesError::Unavailable(e.to_string()))?;
            for node in receipt.unreachable.iter().filter(|node| *node != name) {
                tracing::warn!(%node, removed = %name, "a node could not be told of a removal yet");
            }
            Ok(())
        })
    }

    fn confirm(
        &self,
        patience: Duration,
    ) -> Pin<Box<dyn Future<Output = Vec<Confirmation>> + Send + '_>> {
        Box::pin(async move {
            let Some(running) = self.running.get() else {
                return Vec::new();
            };
            let connected = running.links.states().into_iter();
            let connected = connected.filter(|state| state.connection.is_some());
            let calls: Vec<_> = connected
                .map(|state| {
                    let request = services::ask_readers(patience);
                    let within = patience + ANSWERED_WITHIN;
                    let call = running.links.call(&state.node, READERS, request, within);
                    (state.node, tokio::spawn(call))
                })
                .collect();
            let mut confirmed = Vec::with_capacity(calls.len());
            for (node, call) in calls {
                let answer = call.await.ok().and_then(Result::ok);
                confirmed.push(Confirmation {
                    node,
                    readers: answer.and_then(|answer| services::read_readers(&answer)),
                });
            }
            confirmed
        })
    }
}

fn refusal(error: ClusterError) -> NodesError {
    match error {
        ClusterError::NotFound => NodesError::NotFound,
        ClusterError::Store(error) => NodesError::Unavailable(error.to_string()),
        ClusterError::NameTaken(_)
        | ClusterError::Removed
        | ClusterError::NoAddress
        | ClusterError::Ttl
        | ClusterError::Member(_) => NodesError::NotPossible(error.to_string()),
    }
}
