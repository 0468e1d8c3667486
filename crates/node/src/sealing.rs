//! The sealing keys of the installation, between its nodes: each sealed to the key of the node that
//! it is for, also within the connection.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use signet_cluster::{
    identity::Identity,
    links::Links,
    member::{Living, Members},
    transport::{CallError, Caller, Serve},
};
use signet_crypto::Secret;
use signet_merge::tell::BoxFuture;
use signet_realm::state::Realm;
use signet_registry::keys::ShareSealingKeys;
use signet_store::NodeId;

use super::{late::Heard, service_ids::SEALING};

/// How long a node may take to write them to its disk.
const WITHIN: Duration = Duration::from_secs(5);
/// Between two looks for nodes that are connected again, at the latest.
const LOOK_EVERY: Duration = Duration::from_secs(30);

fn context(from: &NodeId, to: &NodeId) -> Vec<u8> {
    format!("signet sealing keys 1\0{from}\0{to}").into_bytes()
}

/// Gives this node's sealing keys to others.
pub(crate) struct Shared {
    pub node: NodeId,
    pub members: Arc<Members>,
    pub links: Arc<Links>,
}

impl Shared {
    async fn give(&self, to: &Living, keys: &Secret<Vec<u8>>) -> Result<(), CallError> {
        let name = &to.member.node;
        let sealed = to
            .keys
            .ml_kem_768
            .seal_to(&context(&self.node, name), keys.expose());
        let sealed = sealed.map_err(|e| CallError::Refused(e.to_string()))?;
        self.links
            .call(name, SEALING, sealed, WITHIN)
            .await
            .map(drop)
    }

    fn others(&self) -> Vec<Living> {
        let mut all = self.members.all();
        all.retain(|living| living.member.node != self.node);
        all
    }

    /// Tells each node that is connected again which keys this one has: it may have missed what was
    /// announced. For as long as the process runs.
    pub(crate) async fn keep_told(self: Arc<Self>, realm: Arc<Realm>) {
        let mut changes = self.links.changes();
        let mut told = BTreeSet::new();
        loop {
            changes.borrow_and_update();
            let connected: BTreeSet<NodeId> = self
                .links
                .states()
                .into_iter()
                .filter(|state| state.connection.is_some())
                .map(|state| state.node)
                .collect();
            told.retain(|node| connected.contains(node));
            for living in self.others() {
                let name = &living.member.node;
                if !connected.contains(name) || told.contains(name) {
                    continue;
                }
                let Some(keys) = own_keys(&realm).await else {
                    return;
                };
                match self.give(&living, &keys).await {
                    Ok(()) => drop(told.insert(name.clone())),
                    Err(error) => {
                        tracing::info!(node = %name, %error, "failed to send the sealing keys to a node; retrying");
                    }
                }
            }
            // A node that did not receive them is tried again, connected again or not.
            let _ = tokio::time::timeout(LOOK_EVERY, changes.changed()).await;
        }
    }
}

async fn own_keys(realm: &Realm) -> Option<Secret<Vec<u8>>> {
    let file = realm.sealing_file.clone()?;
    let read = tokio::task::spawn_blocking(move || {
        let file = file.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        file.to_bytes()
    });
    read.await.ok()
}

impl ShareSealingKeys for Shared {
    fn share(&self, keys: Secret<Vec<u8>>) -> BoxFuture<'_, Vec<NodeId>> {
        Box::pin(async move {
            let mut missed = Vec::new();
            for living in self.others() {
                if let Err(error) = self.give(&living, &keys).await {
                    let node = living.member.node.clone();
                    tracing::warn!(%node, %error, "failed to send the sealing keys to a node");
                    missed.push(node);
                }
            }
            missed
        })
    }
}

/// Answers [`SEALING`].
pub(crate) struct Taken {
    pub node: NodeId,
    pub identity: Arc<Identity>,
    pub heard: Arc<Heard>,
}

impl Serve for Taken {
    fn serve(
        &self,
        from: &NodeId,
        request: Vec<u8>,
    ) -> BoxFuture<'static, Result<Vec<u8>, String>> {
        let opened = self
            .identity
            .ml_kem_768()
            .open(&context(from, &self.node), &request);
        let (realm, from) = (self.heard.realm(), from.clone());
        Box::pin(async move {
            let keys = opened.map_err(|_| "the keys are not sealed to this node")?;
            let realm = realm.ok_or("the node is starting")?;
            let taken = realm.take_over_sealing_keys(keys).await;
            if taken.map_err(|e| e.to_string())? {
                tracing::info!(%from, "received a sealing key from another node");
            }
            Ok(Vec::new())
        })
    }
}
