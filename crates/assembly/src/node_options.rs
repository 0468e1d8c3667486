//! How this process takes part, from its configuration.

use std::time::Duration;

use signet_cluster::links::Topology;
use signet_node::ClusterOptions;
use signet_store::NodeId;

use signet_config::{
    Config,
    model::{self, StoreEngine},
};

/// Of a configuration file.
///
/// # Errors
/// A name that no node can have.
pub fn of_config(config: &Config) -> Result<ClusterOptions, String> {
    let cluster = config.cluster.as_ref();
    let name = config.node.as_deref().filter(|_| cluster.is_some());
    let name = name.map(NodeId::parse).transpose();
    let url = cluster.and_then(|cluster| cluster.url.clone());
    Ok(ClusterOptions {
        data_dir: config.data_dir.clone(),
        issuer: config.issuer.clone(),
        url: url.unwrap_or_else(|| config.issuer.clone()),
        name: name.map_err(|e| format!("node: {e}"))?,
        listen: cluster.map(|cluster| cluster.listen),
        advertise: cluster.map_or_else(Vec::new, |cluster| cluster.advertise.clone()),
        zone: cluster
            .and_then(|cluster| cluster.zone.clone())
            .unwrap_or_default(),
        hub: cluster.is_some_and(|cluster| cluster.hub),
        topology: match cluster.map(|cluster| cluster.topology).unwrap_or_default() {
            model::Topology::Mesh => Topology::Mesh,
            model::Topology::Hubs => Topology::Hubs,
        },
        peers: cluster.map_or_else(Vec::new, |cluster| cluster.peers.clone()),
        staleness: cluster
            .and_then(|cluster| cluster.staleness)
            .map(|staleness| Duration::from_secs(staleness.0)),
        development: None,
        embedded: config.store.engine == StoreEngine::Sqlite,
    })
}
