//! Several nodes over one store: what one tells the others is carried at once, later, twice,
//! backwards, or not at all.
use super::{Server, Setup};
use signet_crypto::{Clock, seal::SealingKey};
use signet_merge::entry::Entry;
use signet_merge::hlc::{Hlc, Stamp};
use signet_merge::tell::{Believe, BoxFuture, Receipt, Tell};
use signet_realm::state::Realm;
use signet_store::NodeId;
use signet_store::{MemoryStore, Store};
use std::{
    sync::{Arc, Mutex, Weak},
    time::Duration,
};

/// How what is announced is carried.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Carried {
    /// It is believed when the call returns.
    AtOnce,
    /// It waits for [`Mesh::deliver`].
    Later,
    /// Nobody hears it.
    NotAtAll,
}

/// Between the nodes.
pub struct Mesh {
    carried: Mutex<Carried>,
    nodes: Mutex<Vec<(NodeId, Weak<Realm>)>>,
    waiting: Mutex<Vec<(NodeId, Vec<Entry>)>>,
}

impl Mesh {
    pub fn carry(&self, how: Carried) {
        *self.carried.lock().unwrap() = how;
    }

    /// What waits comes, the last first, and all of it twice.
    pub fn deliver(&self) {
        let mut waiting = std::mem::take(&mut *self.waiting.lock().unwrap());
        waiting.reverse();
        for _ in 0..2 {
            for (origin, entries) in &waiting {
                self.believed(origin, entries);
            }
        }
    }

    /// What waits, for a test that delivers it itself.
    pub fn take(&self) -> Vec<(NodeId, Vec<Entry>)> {
        std::mem::take(&mut *self.waiting.lock().unwrap())
    }

    /// How many entries wait.
    pub fn waiting(&self) -> usize {
        let waiting = self.waiting.lock().unwrap();
        waiting.iter().map(|(_, entries)| entries.len()).sum()
    }

    fn believed(&self, origin: &NodeId, entries: &[Entry]) -> Vec<NodeId> {
        let nodes = self.nodes.lock().unwrap().clone();
        let others = nodes.into_iter().filter(|(id, _)| id != origin);
        let mut heard = Vec::new();
        for (id, realm) in others {
            if let Some(realm) = realm.upgrade() {
                realm.believe(origin, entries);
                heard.push(id);
            }
        }
        heard
    }
}

/// One node's end of it.
struct Wire {
    hlc: Hlc,
    ahead_ms: u64,
    mesh: Arc<Mesh>,
}

impl Tell for Wire {
    fn stamp(&self) -> Stamp {
        let clock = super::TestClock::default();
        self.hlc.now(clock.now_ms() + self.ahead_ms)
    }

    fn tell(&self, entries: Vec<Entry>) -> BoxFuture<'static, Receipt> {
        let origin = self.hlc.node();
        let mut receipt = Receipt::default();
        let carried = *self.mesh.carried.lock().unwrap();
        match carried {
            Carried::AtOnce => {
                let heard = self.mesh.believed(origin, &entries);
                receipt.acknowledged = heard.into_iter().map(|id| (id, Duration::ZERO)).collect();
            }
            Carried::Later | Carried::NotAtAll => {
                let nodes = self.mesh.nodes.lock().unwrap();
                let others = nodes.iter().map(|(id, _)| id.clone());
                receipt.unreachable = others.filter(|id| id != origin).collect();
                if carried == Carried::Later {
                    let waiting = &mut *self.mesh.waiting.lock().unwrap();
                    waiting.push((origin.clone(), entries));
                }
            }
        }
        Box::pin(std::future::ready(receipt))
    }
}

/// The nodes; the first one's address is the issuer's.
pub struct Cluster {
    pub nodes: Vec<Server>,
    pub mesh: Arc<Mesh>,
    pub store: Arc<dyn Store>,
    pub sealing_key: SealingKey,
}

impl Cluster {
    /// So many nodes, each made by `setup`.
    pub fn of(count: usize, setup: impl Fn() -> Setup) -> Cluster {
        let mut cluster = Cluster {
            nodes: Vec::new(),
            mesh: Arc::new(Mesh {
                carried: Mutex::new(Carried::AtOnce),
                nodes: Mutex::default(),
                waiting: Mutex::default(),
            }),
            store: Arc::new(MemoryStore::new()),
            sealing_key: SealingKey::generate(),
        };
        for _ in 0..count {
            cluster.join(setup());
        }
        cluster
    }

    /// One more.
    pub fn join(&mut self, setup: Setup) -> &Server {
        let name = NodeId::parse(&format!("node-{}", self.nodes.len() + 1)).unwrap();
        let wire = Wire {
            hlc: Hlc::new(name.clone()),
            ahead_ms: setup.ahead_ms,
            mesh: self.mesh.clone(),
        };
        let node = Server::start(Setup {
            store: Some(self.store.clone()),
            sealing_key: self.sealing_key.clone(),
            tell: Some(Arc::new(wire)),
            issuer: self.nodes.first().map(Server::issuer),
            ..setup
        });
        let realm = Arc::downgrade(&node.realm);
        self.mesh.nodes.lock().unwrap().push((name, realm));
        self.nodes.push(node);
        self.nodes.last().unwrap()
    }

    pub fn node(&self, at: usize) -> &Server {
        &self.nodes[at]
    }

    /// Every node reads the change log once.
    pub fn catch_up(&self) {
        for node in &self.nodes {
            super::block_on(node.realm.catch_up()).unwrap();
        }
    }
}
