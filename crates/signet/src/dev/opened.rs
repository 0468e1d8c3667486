//! The store of a development server, and its part among other nodes.

use std::net::SocketAddr;

use signet_assembly::store::{NotOpen, open_engine};
use signet_cluster::links::Topology;
use signet_crypto::private_file;
use signet_node::{ClusterOptions, OpenedStore};
use signet_store::{Engine, PostgresStore, StoreUrl, postgres::Behind, sqlite::DATABASE_FILE};

use super::{DevOptions, FOR_NODES, OTHER_DIRECTORY};

/// Opens the store of a development server; makes the schema of a database, or brings it up to
/// date.
pub fn open_store(wish: &DevOptions) -> Result<OpenedStore, NotOpen> {
    let directory = &wish.directory;
    let has = |name: &str| directory.join(name).exists();
    // A node of a replicated store whose file is gone says so itself.
    let elsewhere = has("dev.json") && !has(DATABASE_FILE) && !signet_node::is_noted(directory);
    if wish.store.is_none() && elsewhere {
        return Err(format!(
            "the rows of {} are in a database: name it by --store postgres://...",
            directory.display()
        )
        .into());
    }
    let url = wish.store.clone().unwrap_or(StoreUrl::Sqlite(None));
    private_file::directory(directory)
        .map_err(|e| format!("{}: {e}{}", directory.display(), OTHER_DIRECTORY))?;
    let engine = url.engine_of_node(directory);
    match &engine {
        Engine::Sqlite { .. } => {}
        Engine::Postgres { options, .. } => {
            PostgresStore::migrate(options, Behind::Refuse)
                .map_err(|e| NotOpen::of_database(&e))?;
        }
    }
    open_engine(&engine).map_err(|e| match (&engine, e) {
        (Engine::Sqlite { .. }, NotOpen::Unusable(why)) => {
            NotOpen::Unusable(format!("{why}{}", OTHER_DIRECTORY))
        }
        (Engine::Sqlite { .. } | Engine::Postgres { .. }, e) => e,
    })
}

/// Of a development server that listens at this address.
pub fn node_options(wish: &DevOptions, public: SocketAddr) -> Result<ClusterOptions, String> {
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
        development: Some(FOR_NODES),
        embedded: wish.store.as_ref().is_none_or(|store| !store.is_database()),
    })
}
