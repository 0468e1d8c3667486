//! A node's part in the replicated store of an installation: how it becomes the first member, joins
//! and asks for admission, goes on after a restart, lets others in, and removes one.
//!
//! The process puts it together with its streams, its realms and its configuration; a simulation
//! with a network, disks and a time of its own.

use std::{path::PathBuf, sync::Arc, time::Duration};

use signet_cluster::{
    join::{ClusterError, Host},
    member::Members,
    transport::Services,
};
use signet_consensus::{Member, ReplicatedStore, Role};
use signet_crypto::Clock;
use signet_merge::tell::Receipt;
use signet_realm::nodes::NodesError;
use signet_store::{NodeId, Store};
use signet_surroundings::{now as moment, sleep};

use super::{
    LOOK_EVERY, Place, STORE_WITHIN, numbers,
    peers::{Peers, run},
    service_ids::{ADMISSION, CONSENSUS, GREETING, SNAPSHOTS},
    services::{self, Wire},
    witness::{self, Witness},
};

/// How long a node may take to admit another one to its store.
const ADMITTED_WITHIN: Duration = Duration::from_secs(30);

/// What a part is made of.
pub struct PartOf {
    /// The node's name.
    pub node: NodeId,
    /// Where it keeps what is its own.
    pub data_dir: PathBuf,
    /// Where it stands; empty: nowhere in particular.
    pub zone: String,
    /// Its store.
    pub store: Arc<ReplicatedStore>,
    /// Who is in the cluster.
    pub members: Arc<Members>,
    /// The other nodes.
    pub peers: Arc<dyn Peers>,
    /// The time.
    pub clock: Arc<dyn Clock>,
}

/// See the module.
pub struct Part {
    of: PartOf,
    pub(crate) witness: Arc<Witness>,
}

impl Part {
    /// Compares a node's rows with what it noted that it has: before it takes part in anything.
    ///
    /// # Errors
    /// The rows are not those that it had: why, and what to do.
    pub async fn check(of: &PartOf, place: &Place) -> Result<(), String> {
        witness::check(&of.data_dir, place, &of.store).await
    }

    /// Takes no part in anything yet.
    ///
    /// # Errors
    /// What the node noted cannot be read.
    pub fn open(of: PartOf) -> Result<Arc<Part>, String> {
        let witness = Witness::open(
            of.node.clone(),
            &of.data_dir,
            of.store.clone(),
            of.members.clone(),
        )?;
        Ok(Arc::new(Part { of, witness }))
    }

    /// Answers the other nodes from now on.
    pub fn serve(self: &Arc<Self>, services: &Services) {
        let (store, witness) = (&self.of.store, &self.witness);
        let consensus = services::Consensus(store.clone(), witness.clone());
        let consensus = Arc::new(consensus);
        services.put(CONSENSUS, consensus.clone());
        services.put(SNAPSHOTS, consensus);
        services.put(GREETING, Arc::new(witness::Greetings(witness.clone())));
        let admission = services::Admission {
            replicated: store.clone(),
            witness: witness.clone(),
            clock: self.of.clock.clone(),
        };
        services.put(ADMISSION, Arc::new(admission));
    }

    /// Compares with the other members what each has acknowledged, for as long as the node runs.
    pub async fn keep(self: Arc<Self>) {
        self.witness.clone().keep(self.of.peers.clone()).await;
    }

    fn wire(&self) -> Arc<Wire> {
        let (peers, witness) = (self.of.peers.clone(), self.witness.clone());
        Arc::new(Wire::new(peers, witness))
    }

    fn member(&self, number: u64) -> Member {
        let zone = &self.of.zone;
        let zone = (!zone.is_empty()).then(|| zone.clone());
        Member::new(number, self.of.node.clone(), zone)
    }

    /// Goes on with the part that the node has, or begins it where the node was invited and has
    /// none. One that let nobody in yet stays by itself.
    ///
    /// # Errors
    /// Why it has no part; a later start may try again.
    pub async fn begin(&self, place: &Place) -> Result<(), String> {
        let replicated = |e: &dyn std::fmt::Display| format!("the replicated store: {e}");
        let (store, wire) = (self.of.store.clone(), self.wire());
        let known = store.me().map_err(|e| e.to_string())?;
        match known {
            Some(_) => {
                let resumed = run(&*self.of.peers, async move { store.resume(wire).await });
                resumed.await?.map_err(|e| replicated(&e))?;
                // It may have ended before anybody admitted it.
                if place.invited && self.of.store.status().applied == 0 {
                    self.ask_for_admission().await?;
                }
            }
            None if place.invited => {
                let me = self.member(place.number);
                let joined = run(
                    &*self.of.peers,
                    async move { store.join(me, wire, false).await },
                );
                joined.await?.map_err(|e| replicated(&e))?;
                self.witness.save()?;
                self.ask_for_admission().await?;
            }
            // It let nobody in yet.
            None => {}
        }
        Ok(())
    }

    /// Whoever is connected is asked, until one has done it, or this node is sent the store: then
    /// one had.
    async fn ask_for_admission(&self) -> Result<(), String> {
        let peers = &self.of.peers;
        let until = moment() + STORE_WITHIN;
        let mut said = "no other node can be reached".to_owned();
        while moment() < until {
            if self.of.store.status().leader.is_some() {
                return Ok(());
            }
            for node in peers.connected() {
                let zone = self.of.zone.clone().into_bytes();
                match peers.call(&node, ADMISSION, zone, ADMITTED_WITHIN).await {
                    Ok(_) => return Ok(()),
                    Err(error) => said = format!("{node}: {error}"),
                }
            }
            sleep(LOOK_EVERY).await;
        }
        Err(format!("the cluster does not give its store: {said}"))
    }

    /// From a node by itself to the first member of a replicated store, where it is not one yet.
    ///
    /// # Errors
    /// Why it is not; it is asked again with the next newcomer.
    pub(crate) async fn become_first(&self, now: u64) -> Result<(), String> {
        let store = self.of.store.clone();
        if store.status().role != Role::Alone {
            return Ok(());
        }
        let number = numbers::give(&*store, &self.of.node, None, now).await;
        let number = number.map_err(|e| e.to_string())?;
        let (me, wire) = (self.member(number), self.wire());
        let begun = run(&*self.of.peers, async move { store.begin(me, wire).await });
        begun.await?.map_err(|e| e.to_string())?;
        self.witness.save()?;
        tracing::info!("switched to the replicated store");
        Ok(())
    }
}

/// Removes a node for good: from the replicated store, where there is one, and from the cluster.
/// `part` and `host`: of another node. Asking again is harmless until it has succeeded.
///
/// # Errors
/// Why it is not removed, or not whole yet.
pub async fn remove(
    part: Option<&Part>,
    host: &Host,
    name: &NodeId,
    store: &dyn Store,
    now: u64,
) -> Result<Receipt, NodesError> {
    if let Some(part) = part
        && part.of.store.status().role != Role::Alone
    {
        let removed = part.of.store.remove(name).await;
        removed.map_err(|e| NodesError::Unavailable(e.to_string()))?;
    }
    let mut removed = host.remove(name).await;
    if let Err(ClusterError::NotFound) = removed {
        // This node may not have heard of it; the store has.
        host.load().await.map_err(refusal)?;
        removed = host.remove(name).await;
    }
    let receipt = match removed {
        Ok(receipt) => Some(receipt),
        // It may have been removed before, and the last step not been done.
        Err(ClusterError::NotFound) => None,
        Err(error) => return Err(refusal(error)),
    };
    // A later node of this name has a log of its own.
    let released = signet_audit::release_node(store, name, now).await;
    released.map_err(|e| NodesError::Unavailable(e.to_string()))?;
    receipt.ok_or(NodesError::NotFound)
}

pub(crate) fn refusal(error: ClusterError) -> NodesError {
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
