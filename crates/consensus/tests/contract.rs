//! The rules of every engine, for a store that is alone, one that is replicated on one node, and
//! three nodes, asked at the leader, at another voter, and at one that forwards.
use crate::{
    rules::contract,
    world::{World, settings},
};
use signet_consensus::{ReplicatedStore, Role};
use signet_store::{Store, sqlite};
use std::sync::Arc;

struct Opened {
    store: Arc<dyn Store>,
    _keep: Box<dyn std::any::Any>,
}

fn alone() -> Opened {
    let directory = tempfile::tempdir().expect("a directory");
    let options = sqlite::Options::default();
    let store = ReplicatedStore::open(directory.path(), options, settings(1)).expect("opens");
    Opened {
        store: Arc::new(store),
        _keep: Box::new(directory),
    }
}

/// A world on a runtime of its own: that of a test has one thread, which the test's calls need.
fn world(nodes: usize, role: Role) -> Opened {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime");
    let (world, store) = std::thread::scope(|scope| {
        let made = scope.spawn(|| {
            runtime.block_on(async {
                let world = World::of(nodes, 7).await;
                let store = world.with_role(role).await;
                (world, store)
            })
        });
        made.join().expect("is made")
    });
    Opened {
        store,
        _keep: Box::new((world, Background(Some(runtime)))),
    }
}

/// A runtime that may be dropped within another one.
struct Background(Option<tokio::runtime::Runtime>);

impl Drop for Background {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

fn one_node() -> Opened {
    world(1, Role::Leader)
}

fn leader_of_three() -> Opened {
    world(3, Role::Leader)
}

fn voter_of_three() -> Opened {
    world(3, Role::Voter)
}

fn forwarder_of_four() -> Opened {
    world(4, Role::Forwarder)
}

contract!(
    alone,
    one_node,
    leader_of_three,
    voter_of_three,
    forwarder_of_four
);
