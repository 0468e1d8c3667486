//! Joining and leaving, over real sockets and one store.
use crate::node::{Heard, Node, SystemClock, block_on, eventually, name};
use signet_cluster::{
    NodeId,
    identity::Identity,
    join::{
        ByStream, ClusterError, Description, Host, HostParts, JoinError, Newcomer, Provide, Token,
        Welcome, join,
    },
    member::{Known, Member, Members},
    transport::Transport,
};
use signet_crypto::{Secret, clock::Clock};
use signet_merge::{
    entry::Entry,
    hlc::{Hlc, Stamp},
    tell::{Believe, BoxFuture, Receipt, Tell},
};
use signet_store::{Change, Key, MemoryStore, Op, Store, Table};
use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering::SeqCst},
    },
    time::Duration,
};

const MINUTES: Duration = Duration::from_secs(600);

/// Told at once: what gossip does later.
struct TellAll {
    hlc: Hlc,
    others: Mutex<Vec<Arc<Members>>>,
}

impl Tell for TellAll {
    fn stamp(&self) -> Stamp {
        self.hlc.now(SystemClock.now_ms())
    }
    fn tell(&self, entries: Vec<Entry>) -> BoxFuture<'static, Receipt> {
        for other in self.others.lock().expect("unpoisoned").iter() {
            Believe::believe(other.as_ref(), self.hlc.node(), &entries);
        }
        Box::pin(std::future::ready(Receipt::default()))
    }
}

/// Gives the newcomer its own name, unless it is set to fail.
struct Package(AtomicBool);

const FITS: &[u8] = b"as the others";

impl Provide for Package {
    fn fits(&self, profile: &[u8]) -> Result<(), String> {
        match profile == FITS {
            true => Ok(()),
            false => Err("the others are different".to_owned()),
        }
    }

    fn provide(&self, newcomer: &Member) -> BoxFuture<'static, Result<Vec<u8>, String>> {
        let package = format!("for {}", newcomer.node).into_bytes();
        let answer = if self.0.load(SeqCst) {
            Ok(package)
        } else {
            Err("no keys yet".to_owned())
        };
        Box::pin(std::future::ready(answer))
    }
}

struct Moved(AtomicU64);

impl Clock for Moved {
    fn now_ms(&self) -> u64 {
        SystemClock.now_ms() + self.0.load(SeqCst)
    }
}

struct Cluster {
    store: Arc<MemoryStore>,
    clock: Arc<Moved>,
    package: Arc<Package>,
    nodes: Vec<(Node, Host, Arc<TellAll>)>,
}

fn description(address: &str) -> Description {
    Description {
        addresses: vec![address.to_owned()],
        url: "https://localhost:8443".to_owned(),
        zone: "z".to_owned(),
        hub: false,
    }
}

impl Cluster {
    /// One node, which is a cluster.
    fn new() -> Cluster {
        let mut cluster = Cluster {
            store: Arc::new(MemoryStore::new()),
            clock: Arc::new(Moved(AtomicU64::new(0))),
            package: Arc::new(Package(AtomicBool::new(true))),
            nodes: Vec::new(),
        };
        cluster.put(Node::new("node-1"));
        let (node, host, _) = &cluster.nodes[0];
        let own = description(&node.address.to_string());
        block_on(host.describe(&own)).expect("a member");
        cluster
    }

    /// Starts a node whose members are known.
    fn put(&mut self, mut node: Node) {
        let tell = Arc::new(TellAll {
            hlc: Hlc::new(node.name.clone()),
            others: Mutex::default(),
        });
        let host = Host::new(HostParts {
            node: node.name.clone(),
            identity: node.identity.clone(),
            members: node.members.clone(),
            store: self.store.clone(),
            tell: tell.clone(),
            provide: self.package.clone(),
            clock: self.clock.clone(),
        });
        for (other, _, told) in &self.nodes {
            told.others
                .lock()
                .expect("unpoisoned")
                .push(node.members.clone());
            tell.others
                .lock()
                .expect("unpoisoned")
                .push(other.members.clone());
        }
        node.door = Some(Arc::new(host.clone()));
        node.start();
        self.nodes.push((node, host, tell));
    }

    fn invite(&self) -> Token {
        let text = block_on(self.nodes[0].1.invite(MINUTES))
            .expect("invited")
            .to_text();
        Token::parse(text.expose()).expect("a token")
    }

    fn join(&self, token: &Token, node: &Node, wanted: Option<&str>) -> Result<Welcome, JoinError> {
        ask(token, &node.identity, &node.address.to_string(), wanted)
    }

    /// Joins, and starts the node.
    fn grow(&mut self) -> NodeId {
        let mut node = Node::new("new");
        let welcome = self.join(&self.invite(), &node, None).expect("joined");
        take(&mut node, &welcome);
        self.put(node);
        welcome.node
    }
}

fn ask(
    token: &Token,
    identity: &Identity,
    address: &str,
    wanted: Option<&str>,
) -> Result<Welcome, JoinError> {
    ask_as(FITS, token, identity, address, wanted)
}

fn ask_as(
    profile: &[u8],
    token: &Token,
    identity: &Identity,
    address: &str,
    wanted: Option<&str>,
) -> Result<Welcome, JoinError> {
    let newcomer = Newcomer {
        identity,
        wanted: wanted.map(name),
        description: description(address),
        profile: profile.to_vec(),
    };
    block_on(join(token, &newcomer, &SystemClock, &ByStream))
}

#[test]
fn a_newcomer_that_does_not_fit_is_refused_before_anything_is_changed() {
    let cluster = Cluster::new();
    let token = cluster.invite();
    let identity = Identity::generate().expect("keys");
    let refused = ask_as(b"of another kind", &token, &identity, "a:1", Some("a"));
    let why = refused.map(|_| ()).expect_err("refused");
    assert_eq!(why.to_string(), "the others are different");
    assert_eq!(cluster.nodes[0].0.members.names().len(), 1);
    // Its name is free, and the token still lets one node in: another one, even.
    let other = Identity::generate().expect("keys");
    let joined = ask(&token, &other, "b:1", Some("a")).expect("joined");
    assert_eq!(joined.node, name("a"));
}

fn take(node: &mut Node, welcome: &Welcome) {
    node.name = welcome.node.clone();
    for (fingerprint, known) in &welcome.members {
        node.members
            .merge(*fingerprint, known.clone())
            .expect("merged");
    }
}

#[test]
fn a_node_joins_is_known_to_all_and_connects() {
    let mut cluster = Cluster::new();
    assert_eq!(cluster.grow(), name("node-2"));
    let mut third = Node::new("x");
    let welcome = cluster
        .join(&cluster.invite(), &third, Some("berlin-1"))
        .expect("joined");
    assert_eq!(welcome.node, name("berlin-1"));
    assert_eq!(welcome.package.expose(), b"for berlin-1");
    assert_eq!(welcome.members.len(), 3);
    take(&mut third, &welcome);
    let names = [name("berlin-1"), name("node-1"), name("node-2")];
    assert_eq!(third.members.names(), names);
    cluster.put(third);
    for (node, host, _) in &cluster.nodes {
        assert_eq!(node.members.names(), names);
        let member = node.members.find(&names[0]).expect("known").member;
        assert_eq!((member.zone.as_str(), member.hub), ("z", false));
        // The store knows the same.
        assert_eq!(block_on(host.load()).expect("loaded"), 0);
    }
    let (third, _, _) = &cluster.nodes[2];
    let mut up = vec![third.hears(), third.hears()];
    up.retain(|heard| matches!(heard, Heard::Up(_)));
    assert_eq!(up.len(), 2);
}

#[test]
fn a_token_lets_one_node_in_and_that_one_may_ask_again() {
    let cluster = Cluster::new();
    let token = cluster.invite();
    let (first, second) = (Node::new("x"), Node::new("y"));
    let welcome = cluster.join(&token, &first, Some("a")).expect("joined");
    assert_eq!(welcome.node, name("a"));
    let replayed = cluster.join(&token, &second, Some("b"));
    assert!(matches!(replayed, Err(JoinError::Used)));
    // Its answer was lost, say: the same keys have the same name.
    let again = cluster
        .join(&token, &first, Some("other"))
        .expect("welcome again");
    assert_eq!(again.node, name("a"));
    assert_eq!(cluster.nodes[0].0.members.names().len(), 2);
    // Unless it was removed meanwhile: then its keys are worth nothing, whatever it is called.
    block_on(cluster.nodes[0].1.remove(&name("a"))).expect("removed");
    let removed = cluster.join(&token, &first, None);
    assert!(matches!(removed, Err(JoinError::Used)));
    for wanted in [Some("a"), Some("b"), None] {
        let removed = cluster.join(&cluster.invite(), &first, wanted);
        assert!(matches!(removed, Err(JoinError::Removed)));
    }
}

#[test]
fn of_racing_nodes_with_one_token_one_joins() {
    let mut cluster = Cluster::new();
    cluster.grow();
    for _ in 0..5 {
        let mut token = cluster.invite();
        let identities: Vec<Identity> = (0..4)
            .map(|_| Identity::generate().expect("keys"))
            .collect();
        let joined: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> = identities
                .iter()
                .map(|identity| {
                    // Each at another member first.
                    token.addresses.rotate_left(1);
                    let token = token.clone();
                    scope.spawn(move || ask(&token, identity, "a:1", None).map(|w| w.node))
                })
                .collect();
            threads
                .into_iter()
                .map(|t| t.join().expect("ended"))
                .collect()
        });
        let (let_in, refused): (Vec<_>, Vec<_>) = joined.into_iter().partition(Result::is_ok);
        assert_eq!(let_in.len(), 1);
        assert!(
            refused.iter().all(|r| matches!(r, Err(JoinError::Used))),
            "{refused:?}"
        );
        let joined = let_in[0].as_ref().expect("joined");
        block_on(cluster.nodes[0].1.remove(joined)).expect("removed");
    }
}

#[test]
fn tokens_that_are_forged_unknown_expired_or_another_clusters_are_refused() {
    let cluster = Cluster::new();
    let node = Node::new("x");
    let token = cluster.invite();
    let forged = Token {
        secret: Secret::new([1; 32]),
        ..token.clone()
    };
    let refused = cluster.join(&forged, &node, None).map(|w| w.node);
    assert!(matches!(refused, Err(JoinError::Forged)), "{refused:?}");
    let unknown = Token {
        id: [1; 16],
        ..token.clone()
    };
    let refused = cluster.join(&unknown, &node, None).map(|w| w.node);
    assert!(matches!(refused, Err(JoinError::Unknown)), "{refused:?}");
    let elsewhere = Token {
        pins: vec![[1; 32]],
        ..token.clone()
    };
    let refused = cluster.join(&elsewhere, &node, None).map(|w| w.node);
    assert!(
        matches!(refused, Err(JoinError::NotTheCluster(_))),
        "{refused:?}"
    );
    let nowhere = Token {
        addresses: vec!["127.0.0.1:1".into()],
        ..token.clone()
    };
    let refused = cluster.join(&nowhere, &node, None).map(|w| w.node);
    assert!(
        matches!(refused, Err(JoinError::Unreachable(_))),
        "{refused:?}"
    );
    let late = Token {
        end: 1,
        ..token.clone()
    };
    let refused = cluster.join(&late, &node, None).map(|w| w.node);
    assert!(matches!(refused, Err(JoinError::Expired)), "{refused:?}");
    // None of that used it.
    let other = cluster.invite();
    cluster.join(&token, &node, None).expect("joined");
    // The cluster's clock decides, whatever the newcomer's says.
    cluster.clock.0.store(11 * 60 * 1000, SeqCst);
    let refused = cluster.join(&other, &Node::new("y"), None).map(|w| w.node);
    assert!(matches!(refused, Err(JoinError::Unknown)), "{refused:?}");
}

#[test]
fn a_name_is_given_to_one_node_and_not_to_another_unasked() {
    let mut cluster = Cluster::new();
    let token = cluster.invite();
    let node = Node::new("x");
    let refused = cluster.join(&token, &node, Some("node-1")).map(|w| w.node);
    assert!(matches!(refused, Err(JoinError::NameTaken)), "{refused:?}");
    // The invitation is unused.
    cluster.join(&token, &node, Some("node-2")).expect("joined");
    block_on(cluster.nodes[0].1.remove(&name("node-2"))).expect("removed");
    assert_eq!(cluster.grow(), name("node-3"));
    // Who asks for it has it, with other keys.
    let welcome = cluster.join(&cluster.invite(), &Node::new("y"), Some("node-2"));
    assert_eq!(welcome.expect("joined").node, name("node-2"));
    let taken = cluster.join(&cluster.invite(), &Node::new("z"), Some("node-2"));
    assert!(matches!(taken, Err(JoinError::NameTaken)));
    assert_eq!(cluster.grow(), name("node-4"));
}

#[test]
fn without_a_package_nobody_joins_and_nothing_is_used() {
    let cluster = Cluster::new();
    let token = cluster.invite();
    cluster.package.0.store(false, SeqCst);
    let node = Node::new("x");
    match cluster.join(&token, &node, Some("a")) {
        Err(JoinError::Unavailable(why)) => assert_eq!(why, "no keys yet"),
        other => panic!("{:?}", other.map(|w| w.node)),
    }
    assert_eq!(cluster.nodes[0].0.members.names().len(), 1);
    cluster.package.0.store(true, SeqCst);
    let other = cluster
        .join(&token, &Node::new("y"), Some("a"))
        .expect("joined");
    assert_eq!(other.node, name("a"));
}

#[test]
fn any_member_answers_for_the_one_that_invited() {
    let mut cluster = Cluster::new();
    cluster.grow();
    let token = cluster.invite();
    assert_eq!((token.addresses.len(), token.pins.len()), (2, 2));
    cluster.nodes[0].0.stop();
    let welcome = cluster.join(&token, &Node::new("x"), None).expect("joined");
    assert_eq!(welcome.node, name("node-3"));
}

#[test]
fn a_removed_node_is_out_everywhere_and_its_keys_never_come_back() {
    let mut cluster = Cluster::new();
    cluster.grow();
    cluster.grow();
    let (removed, host, _) = &cluster.nodes[2];
    removed.waits_for(&Heard::Up(name("node-1")));
    let fingerprint = removed.identity.fingerprint(&removed.name);
    block_on(cluster.nodes[1].1.remove(&removed.name)).expect("removed");
    for (node, host, _) in &cluster.nodes[..2] {
        assert_eq!(node.members.names(), [name("node-1"), name("node-2")]);
        eventually("it is disconnected", || {
            !node.links().connected().contains(&removed.name)
        });
        block_on(host.load()).expect("loaded");
        let known = node.members.known(&fingerprint);
        assert!(matches!(known, Some(Known::Removed { .. })));
    }
    removed.waits_for(&Heard::Down(name("node-1")));
    // It knows, and cannot describe itself into the cluster again.
    let again = block_on(host.describe(&description("a:1")));
    assert!(matches!(again, Err(ClusterError::Removed)));
    let nobody = block_on(cluster.nodes[0].1.remove(&name("node-3")));
    assert!(matches!(nobody, Err(ClusterError::NotFound)));
    // Its keys under the same name are the removed identity; a store says so to a fresh node, too.
    let fresh = Members::new();
    for (fingerprint, known) in cluster.nodes[0].0.members.identities() {
        fresh.merge(fingerprint, known).expect("merged");
    }
    assert!(fresh.find(&name("node-3")).is_none());
}

#[test]
fn the_store_has_what_the_members_know_and_neither_undoes_the_other() {
    let mut cluster = Cluster::new();
    cluster.grow();
    block_on(cluster.nodes[0].1.remove(&name("node-2"))).expect("removed");
    // Another store: the nodes fill it.
    let (node, _, tell) = &cluster.nodes[0];
    let store = Arc::new(MemoryStore::new());
    let host = |members: &Arc<Members>| {
        Host::new(HostParts {
            node: node.name.clone(),
            identity: node.identity.clone(),
            members: members.clone(),
            store: store.clone(),
            tell: tell.clone(),
            provide: cluster.package.clone(),
            clock: cluster.clock.clone(),
        })
    };
    assert_eq!(block_on(host(&node.members).load()).expect("loaded"), 0);
    let own = description(&node.address.to_string());
    block_on(host(&node.members).describe(&own)).expect("its name is claimed there, too");
    let fresh = Arc::new(Members::new());
    assert_eq!(block_on(host(&fresh).load()).expect("loaded"), 2);
    assert_eq!(fresh.identities(), node.members.identities());
    // A node that has not heard of the removal does not undo it in the store.
    let (late, late_host, _) = &cluster.nodes[1];
    let stale = Arc::new(Members::new());
    let own = late.member();
    let known = Known::Member(Box::new(own.clone()));
    stale.merge(own.fingerprint(), known).expect("merged");
    block_on(host(&stale).load()).expect("loaded");
    assert!(stale.find(&late.name).is_none());
    assert_eq!(block_on(late_host.load()).expect("loaded"), 0);
    let again = Arc::new(Members::new());
    block_on(host(&again).load()).expect("loaded");
    assert!(again.find(&late.name).is_none());
}

#[test]
fn a_node_that_moves_is_found_at_its_new_address() {
    let mut cluster = Cluster::new();
    cluster.grow();
    let (node, host, _) = &cluster.nodes[1];
    let mut moved = description("db.example:9443");
    moved.zone = "east".to_owned();
    block_on(host.describe(&moved)).expect("described");
    block_on(host.describe(&moved)).expect("nothing to do");
    let known = cluster.nodes[0].0.members.find(&node.name).expect("known");
    assert_eq!(known.member.addresses, moved.addresses);
    assert_eq!(known.member.zone, "east");
    // Another node with the same name and other keys is refused by the store.
    let other = Host::new(HostParts {
        node: node.name.clone(),
        identity: Arc::new(Identity::generate().expect("keys")),
        members: Arc::new(Members::new()),
        store: cluster.store.clone(),
        tell: cluster.nodes[0].2.clone(),
        provide: cluster.package.clone(),
        clock: cluster.clock.clone(),
    });
    let taken = block_on(other.describe(&moved));
    assert!(matches!(taken, Err(ClusterError::NameTaken(_))));
}

#[test]
fn an_invitation_holds_for_a_second_to_a_day() {
    let cluster = Cluster::new();
    let host = &cluster.nodes[0].1;
    let day = Duration::from_secs(24 * 60 * 60);
    for ttl in [Duration::ZERO, day + Duration::from_secs(1)] {
        let refused = block_on(host.invite(ttl)).map(drop);
        assert!(matches!(refused, Err(ClusterError::Ttl)));
    }
    for ttl in [Duration::from_secs(1), day] {
        let token = block_on(host.invite(ttl)).expect("invited");
        assert!(token.end >= SystemClock.now() + ttl.as_secs() - 5);
    }
    // What is kept of it opens nothing: the secret is not in the store.
    let token = cluster.invite();
    let rows = block_on(cluster.store.page(
        signet_store::Table::Once,
        None,
        100,
        SystemClock.now(),
    ));
    for (_, row) in rows.expect("rows") {
        let secret = token.secret.expose().as_slice();
        assert!(!row.value.windows(32).any(|w| w == secret));
    }
}

#[test]
fn who_was_let_in_by_a_member_that_ended_before_it_said_so_is_welcome_at_another_one() {
    let mut cluster = Cluster::new();
    cluster.grow();
    // Nobody hears of the newcomer.
    let (_, _, told) = &cluster.nodes[0];
    told.others.lock().expect("unpoisoned").clear();
    let token = cluster.invite();
    let newcomer = Node::new("x");
    let welcome = cluster.join(&token, &newcomer, Some("a")).expect("joined");
    assert_eq!(
        cluster.nodes[1].0.members.find(&welcome.node).map(drop),
        None
    );
    let by_another = Token {
        addresses: vec![cluster.nodes[1].0.address.to_string()],
        pins: vec![cluster.nodes[1].0.identity.public().spki_sha256],
        ..token
    };
    let again = cluster.join(&by_another, &newcomer, Some("a"));
    assert_eq!(again.expect("welcome again").node, welcome.node);
}

#[test]
fn a_name_that_a_newcomer_claimed_before_its_request_was_lost_is_its_own() {
    let cluster = Cluster::new();
    let (first, second) = (Node::new("x"), Node::new("y"));
    // As a request leaves it whose member ended over it.
    let claim = Op::Insert {
        key: Key::with_sort(Table::Setting, "cluster_names", "a"),
        value: first.identity.fingerprint(&name("a")).0.to_vec(),
        end: Some(cluster.clock.now() + 100),
    };
    let claimed = cluster
        .store
        .commit(Change::new(claim), cluster.clock.now());
    assert!(block_on(claimed).expect("written").is_done());
    let taken = cluster.join(&cluster.invite(), &second, Some("a"));
    assert!(matches!(taken, Err(JoinError::NameTaken)));
    let joined = cluster.join(&cluster.invite(), &first, Some("a"));
    assert_eq!(joined.expect("joined").node, name("a"));
}

#[test]
fn a_name_that_a_removed_node_took_again_while_it_started_is_free() {
    let mut cluster = Cluster::new();
    cluster.grow();
    let own = cluster.nodes[1].0.identity.fingerprint(&name("node-2"));
    block_on(cluster.nodes[0].1.remove(&name("node-2"))).expect("removed");
    // As a start leaves it that began before the removal, and ended before it saw that.
    let claim = Op::Insert {
        key: Key::with_sort(Table::Setting, "cluster_names", "node-2"),
        value: own.0.to_vec(),
        end: None,
    };
    let claimed = cluster
        .store
        .commit(Change::new(claim), cluster.clock.now());
    assert!(block_on(claimed).expect("written").is_done());
    let joined = cluster.join(&cluster.invite(), &Node::new("y"), Some("node-2"));
    assert_eq!(joined.expect("joined").node, name("node-2"));
}
