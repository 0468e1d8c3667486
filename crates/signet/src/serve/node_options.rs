//! How this process takes part, from its configuration.

use std::{net::SocketAddr, time::Duration};

use signet_cluster::links::Topology;
use signet_node::ClusterOptions;
use signet_store::NodeId;

use crate::dev::{self, DevOptions};
use signet_config::{
    Config,
    model::{self, StoreEngine},
};

/// Of a configuration file.
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

/// Of a development server that listens at this address.
pub fn of_dev(wish: &DevOptions, public: SocketAddr) -> Result<ClusterOptions, String> {
    let own = format!("https://localhost:{}", public.port());
    Ok(ClusterOptions {
        data_dir: wish.directory.clone(),
        issuer: wish.issuer.clone().unwrap_or_else(|| own.clone()),
        url: own,
        name: None,
        // Whichever port is free at the first invitation.
        listen: Some(SocketAddr::from(([127, 0, 0, 1], 0))),
        advertise: Vec::new(),
        zone: String::new(),
        hub: false,
        topology: Topology::Mesh,
        peers: Vec::new(),
        staleness: None,
        development: Some(dev::FOR_NODES),
        embedded: wish.store.as_ref().is_none_or(|store| !store.is_database()),
    })
}
