//! The rules of every engine, over a real server.
use crate::{rules::contract, server};
use signet_cassandra::CassandraStore;
use signet_store::Store;
use std::sync::Arc;

struct Opened {
    store: Arc<dyn Store>,
}

fn cassandra() -> Opened {
    let options = server::shared().keyspace();
    let store = CassandraStore::open(&options).expect("opens");
    Opened {
        store: Arc::new(store),
    }
}

contract!(cassandra);
