//! The nodes, as the admin API asks for them.

use std::{future::Future, pin::Pin, time::Duration};

use signet_realm::nodes::{
    Confirmation, Invitation, Node, Nodes, NodesError, NodesFuture, Standing, StoreMove,
};
use signet_realm::streams::Acknowledged;
use signet_store::{NodeId, RealmId};

use super::{
    Cluster, list,
    part::{self, refusal},
    service_ids::{ACKNOWLEDGED, READERS},
    services,
};

/// How long the other nodes may take to answer beyond what their readers may.
const ANSWERED_WITHIN: Duration = Duration::from_secs(1);

impl Nodes for Cluster {
    fn name(&self) -> &str {
        // The realm was built with it before anything is answered.
        self.late.get().map_or("", |late| late.name())
    }

    fn standing(&self) -> Standing {
        self.stands()
    }

    fn clock_ahead_ms(&self) -> i64 {
        let running = self.running.get();
        running.map_or(0, |running| running.spread.status().clock_ahead_ms())
    }

    fn known_ago(&self) -> Option<Duration> {
        self.heard_ago()
    }

    fn list(&self) -> NodesFuture<'_, Vec<Node>> {
        let nodes = match self.running.get() {
            None => match NodeId::parse(self.name()) {
                Ok(name) => vec![Node::alone(&name, &self.options.url)],
                Err(_) => Vec::new(),
            },
            Some(running) => {
                let standing = self.stands();
                list::of(&list::Seen {
                    own: &running.node,
                    members: &running.members,
                    links: running.links.states(),
                    gossip: running.spread.status(),
                    detected: running.detection.states(),
                    store: self.replicated.as_ref().map(|store| store.status()),
                    now: self.clock.now(),
                    whole: self.is_whole(),
                    sync: standing.sync,
                    not_ready: standing.not_ready,
                    journal: &self.options.data_dir.join(super::place::DIRECTORY),
                })
            }
        };
        Box::pin(std::future::ready(Ok(nodes)))
    }

    fn invite(&self, seconds: u64) -> NodesFuture<'_, Invitation> {
        Box::pin(async move {
            if self.moving.has_moved() {
                return Err(NodesError::NotPossible(
                    "the store was moved: restart this server over the new one first".to_owned(),
                ));
            }
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
            let (part, host) = (running.part.as_deref(), &running.host);
            let removed = part::remove(part, host, name, &*self.store, self.clock.now());
            let receipt = removed.await?;
            for node in receipt.unreachable.iter().filter(|node| *node != name) {
                tracing::warn!(%node, removed = %name, "failed to notify a node of a removal; retrying");
            }
            Ok(())
        })
    }

    fn move_store<'a>(&'a self, to: &'a str) -> NodesFuture<'a, StoreMove> {
        Box::pin(async move {
            let others = self.running.get().is_some_and(|running| {
                let members = running.members.names();
                members.iter().any(|name| *name != running.node)
            });
            if others {
                return Err(NodesError::NotPossible(
                    "other nodes use the store: remove them first, and let them join again afterwards"
                        .to_owned(),
                ));
            }
            let realm = self.heard.realm();
            let realm = realm
                .ok_or_else(|| NodesError::Unavailable("the server is starting".to_owned()))?;
            self.moving.begin(&self.runtime, realm, to)
        })
    }

    fn store_move(&self) -> Option<StoreMove> {
        self.moving.last()
    }

    fn confirm<'a>(
        &'a self,
        realm: &'a RealmId,
        patience: Duration,
    ) -> Pin<Box<dyn Future<Output = Vec<Confirmation>> + Send + 'a>> {
        Box::pin(async move {
            let Some(running) = self.running.get() else {
                return Vec::new();
            };
            // Those behind a hub, too. Who cannot be reached is named for that.
            let peers = running.spread.status().peers.into_iter();
            let reached = peers.filter(|peer| peer.connected || peer.relayed);
            let calls: Vec<_> = reached
                .map(|peer| {
                    let request = services::ask_readers(realm, patience);
                    let within = patience + ANSWERED_WITHIN;
                    let (links, members) = (running.links.clone(), running.members.clone());
                    let node = peer.node.clone();
                    let call = async move {
                        services::ask(&links, &members, &node, READERS, request, within).await
                    };
                    (peer.node, tokio::spawn(call))
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

    fn acknowledge<'a>(
        &'a self,
        node: &'a NodeId,
        word: &'a Acknowledged,
    ) -> Pin<Box<dyn Future<Output = bool> + Send + 'a>> {
        Box::pin(async move {
            let Some(running) = self.running.get() else {
                return false;
            };
            let (links, members) = (&running.links, &running.members);
            let request = services::pass_acknowledgement(word);
            let passed =
                services::ask(links, members, node, ACKNOWLEDGED, request, ANSWERED_WITHIN);
            passed.await.is_ok()
        })
    }
}
