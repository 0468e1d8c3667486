//! Telling over real connections, with real keys and a journal.
use crate::node::{Node, SystemClock, block_on, eventually, name, nodes, stamp};
use signet_cluster::{
    NodeId,
    batch::MemberKeys,
    journal::Journal,
    links::{Ears, Links, Parts, Topology, bind},
    member,
    spread::{Spread, SpreadParts},
};
use signet_merge::{
    entry::Entry,
    tell::{Believe, Tell},
};
use signet_store::{Change, Layer, MemoryStore, Outcome, Store, StoreFuture};
use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex},
};
use tokio::sync::watch;

/// What a node believes: names.
#[derive(Default)]
struct Memory(Mutex<BTreeSet<Vec<u8>>>);

impl Memory {
    fn knows(&self, what: &str) -> bool {
        self.0.lock().expect("whole").contains(what.as_bytes())
    }
}

impl Believe for Memory {
    fn believe(&self, _: &NodeId, entries: &[Entry]) {
        let names = entries.iter().map(|entry| entry.name.clone());
        self.0.lock().expect("whole").extend(names);
    }

    fn is_current(&self, _: &Entry) -> bool {
        true
    }
}

fn entry(what: &str) -> Entry {
    Entry {
        realm: String::new(),
        kind: 16,
        name: what.into(),
        fragment: vec![1],
        end: None,
    }
}

/// A node with all that belongs to telling.
struct Teller {
    node: Node,
    store: Arc<dyn Store>,
    memory: Arc<Memory>,
    running: Option<(Arc<Links>, Arc<Spread>)>,
}

impl Teller {
    fn new(node: Node) -> Teller {
        Teller {
            node,
            store: Arc::new(MemoryStore::new()),
            memory: Arc::default(),
            running: None,
        }
    }

    fn spread(&self) -> &Spread {
        &self.running.as_ref().expect("started").1
    }

    fn start(&mut self) {
        let node = &mut self.node;
        self.memory = Arc::default();
        let keys = MemberKeys::new(&node.name, node.identity.clone(), node.members.clone());
        let spread = block_on(Spread::start(SpreadParts {
            node: node.name.clone(),
            keys: Arc::new(keys),
            members: node.members.clone(),
            believe: self.memory.clone(),
            journal: Some(Journal::new(self.store.clone())),
            clock: Arc::new(SystemClock),
        }))
        .expect("started");
        let links = Arc::new(Links::new(Parts {
            node: node.name.clone(),
            identity: node.identity.clone(),
            members: node.members.clone(),
            services: node.services.clone(),
            clock: Arc::new(SystemClock),
            options: node.options.clone(),
        }));
        spread.connect(links.clone());
        let listener = node.listener.take();
        let listener = listener.unwrap_or_else(|| bind(node.address).expect("bound again"));
        let ears = Ears {
            gossip: spread.clone(),
            membership: None,
            door: None,
        };
        links.start(listener, ears).expect("started");
        self.running = Some((links, spread));
    }

    fn stop(&mut self) {
        if let Some((links, spread)) = self.running.take() {
            links.stop();
            spread.stop();
        }
    }

    fn tell(&self, what: &str) -> (Vec<NodeId>, Vec<NodeId>) {
        let receipt = block_on(self.spread().tell(vec![entry(what)]));
        let names = receipt.acknowledged.into_iter().map(|(node, _)| node);
        (names.collect(), receipt.unreachable)
    }

    fn meets(&self, others: usize) {
        eventually("connections", || {
            let peers = self.spread().status().peers;
            let reached = peers.iter().filter(|p| p.connected || p.relayed);
            reached.count() == others
        });
    }
}

impl Drop for Teller {
    fn drop(&mut self) {
        self.stop();
    }
}

fn tellers(nodes: Vec<Node>) -> Vec<Teller> {
    let mut tellers: Vec<Teller> = nodes.into_iter().map(Teller::new).collect();
    tellers.iter_mut().for_each(Teller::start);
    tellers
}

fn in_sync(tellers: &[Teller]) {
    eventually("equal digests", || {
        let digests: BTreeSet<u128> = tellers
            .iter()
            .filter(|teller| teller.running.is_some())
            .map(|teller| teller.spread().digest())
            .collect();
        digests.len() == 1
    });
}

#[test]
fn what_one_node_tells_every_member_believes_and_acknowledges() {
    let tellers = tellers(nodes(3, |_, _| {}));
    tellers.iter().for_each(|teller| teller.meets(2));
    let (acknowledged, unreachable) = tellers[0].tell("told");
    assert_eq!(unreachable, []);
    assert_eq!(acknowledged.len(), 2);
    assert!(
        tellers[1..]
            .iter()
            .all(|teller| teller.memory.knows("told"))
    );
    in_sync(&tellers);
    // That it is in their journals they say later; nobody waits for it.
    eventually("journals", || {
        let peers = tellers[0].spread().status().peers;
        peers.iter().all(|peer| peer.lag_batches == 0)
    });
    let status = tellers[0].spread().status();
    assert!(status.staleness.is_some());
    assert!(
        status
            .peers
            .iter()
            .all(|peer| peer.believed_after.is_some())
    );
}

/// A store that writes nothing until it may.
struct Held(MemoryStore, watch::Receiver<bool>);

impl Layer for Held {
    fn inner(&self) -> &dyn Store {
        &self.0
    }

    fn commit_each(&self, changes: Vec<Change>, now: u64) -> StoreFuture<'_, Vec<Outcome>> {
        let mut may = self.1.clone();
        Box::pin(async move {
            // The test is over without the sender.
            let _ = may.wait_for(|may| *may).await;
            Store::commit_each(&self.0, changes, now).await
        })
    }
}

#[test]
fn a_receipt_waits_for_what_is_in_effect_and_not_for_the_journals() {
    let (may, held) = watch::channel(false);
    let mut all: Vec<Teller> = nodes(3, |_, _| {}).into_iter().map(Teller::new).collect();
    for teller in &mut all {
        teller.store = Arc::new(Held(MemoryStore::new(), held.clone()));
        teller.start();
    }
    all.iter().for_each(|teller| teller.meets(2));
    let (acknowledged, unreachable) = all[0].tell("at once");
    assert_eq!((acknowledged.len(), unreachable), (2, vec![]));
    assert!(all[1..].iter().all(|teller| teller.memory.knows("at once")));
    let peers = all[0].spread().status().peers;
    assert!(peers.iter().all(|peer| peer.lag_batches == 1));
    // Who is stopped writes what it believes before.
    may.send_replace(true);
    all.iter_mut().for_each(Teller::stop);
    all[1].start();
    assert!(all[1].memory.knows("at once"));
}

#[test]
fn a_node_behind_a_hub_hears_and_acknowledges_through_it() {
    let mut all = nodes(4, |at, member| member.hub = at == 0);
    for node in &mut all {
        node.options.topology = Topology::Hubs;
    }
    let tellers = tellers(all);
    tellers.iter().for_each(|teller| teller.meets(3));
    let (acknowledged, unreachable) = tellers[1].tell("through the hub");
    assert_eq!((acknowledged.len(), unreachable.len()), (3, 0));
    let peers = tellers[1].spread().status().peers;
    assert_eq!(peers.iter().filter(|peer| peer.connected).count(), 1);
    in_sync(&tellers);
}

#[test]
fn a_member_that_is_away_is_named_and_hears_of_it_when_it_is_back() {
    let mut tellers = tellers(nodes(3, |_, _| {}));
    tellers.iter().for_each(|teller| teller.meets(2));
    tellers[2].stop();
    tellers[0].meets(1);
    let (acknowledged, unreachable) = tellers[0].tell("meanwhile");
    assert_eq!(
        (acknowledged, unreachable),
        (vec![name("b")], vec![name("c")])
    );
    tellers[2].start();
    eventually("what was missed", || tellers[2].memory.knows("meanwhile"));
    in_sync(&tellers);
}

#[test]
fn what_was_acknowledged_is_believed_again_after_a_restart() {
    let mut tellers = tellers(nodes(2, |_, _| {}));
    tellers.iter().for_each(|teller| teller.meets(1));
    assert_eq!(tellers[0].tell("kept").0, [name("b")]);
    tellers.iter_mut().for_each(Teller::stop);
    tellers[1].start();
    assert!(tellers[1].memory.knows("kept"));
}

#[test]
fn a_node_alone_is_answered_at_once() {
    let tellers = tellers(nodes(1, |_, _| {}));
    assert_eq!(tellers[0].tell("alone"), (vec![], vec![]));
}

#[test]
fn a_removed_member_is_told_like_anything_else_and_counts_no_more() {
    let tellers = tellers(nodes(3, |_, _| {}));
    tellers.iter().for_each(|teller| teller.meets(2));
    let members = &tellers[0].node.members;
    let (fingerprint, removal) = members.removal(&name("c"), stamp(2)).expect("a member");
    members
        .merge(fingerprint, removal.clone())
        .expect("removed");
    let removal = removal.entry(fingerprint);
    assert_eq!(removal.kind, member::KIND);
    block_on(tellers[0].spread().tell(vec![removal]));
    eventually("the removal", || {
        tellers[1].node.members.find(&name("c")).is_none()
    });
    tellers[0].meets(1);
    let (acknowledged, unreachable) = tellers[0].tell("without c");
    assert_eq!((acknowledged, unreachable), (vec![name("b")], vec![]));
    assert!(!tellers[2].memory.knows("without c"));
}

#[test]
fn kinds_of_a_later_version_are_kept_and_relayed() {
    let mut all = nodes(3, |at, member| member.hub = at == 0);
    for node in &mut all {
        node.options.topology = Topology::Hubs;
    }
    let tellers = tellers(all);
    tellers.iter().for_each(|teller| teller.meets(2));
    // Kinds that this version does not know, of the cluster's own numbers and of those above: from
    // one spoke to the other, through a hub that knows them as little.
    let later = [5, 250].map(|kind| Entry {
        kind,
        ..entry("later")
    });
    let receipt = block_on(tellers[1].spread().tell(later.to_vec()));
    assert_eq!(receipt.acknowledged.len(), 2);
    in_sync(&tellers);
    eventually("the batch", || tellers[2].spread().status().batches == 1);
    in_sync(&tellers);
}
