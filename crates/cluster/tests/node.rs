//! Nodes in one process, each with a listener on loopback: what the tests of connections share.
use signet_cluster::{
    NodeId,
    identity::Identity,
    links::{self, Door, Ears, LinkOptions, Links, Parts},
    member::{Known, Member, Members},
    membership::{Membership, MembershipOptions, MembershipParts},
    transport::{Hear, Serve, Services},
};
use signet_crypto::clock::Clock;
use signet_merge::{hlc::Stamp, tell::BoxFuture};
use std::{
    net::{SocketAddr, TcpListener},
    sync::{Arc, Mutex, mpsc},
    time::{Duration, Instant, SystemTime},
};

/// What fails a test that waits in vain; nothing waits for it otherwise.
pub(crate) const LONG: Duration = Duration::from_secs(30);

pub(crate) struct SystemClock;

impl Clock for SystemClock {
    fn now_ms(&self) -> u64 {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        since.expect("after 1970").as_millis() as u64
    }
}

pub(crate) fn name(text: &str) -> NodeId {
    NodeId::parse(text).expect(text)
}

pub(crate) fn stamp(ms: u64) -> Stamp {
    Stamp {
        ms,
        seq: 0,
        node: name("test"),
    }
}

/// What a node heard.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Heard {
    Up(NodeId),
    Down(NodeId),
    Frame(NodeId, Vec<u8>),
}

pub(crate) struct Ear(Mutex<mpsc::Sender<Heard>>);

impl Ear {
    pub(crate) fn new() -> (Arc<Ear>, mpsc::Receiver<Heard>) {
        let (sender, receiver) = mpsc::channel();
        (Arc::new(Ear(Mutex::new(sender))), receiver)
    }

    fn say(&self, heard: Heard) {
        // A test that is over listens no more.
        let _ = self.0.lock().expect("unpoisoned").send(heard);
    }
}

impl Hear for Ear {
    fn up(&self, peer: &NodeId) {
        self.say(Heard::Up(peer.clone()));
    }
    fn down(&self, peer: &NodeId) {
        self.say(Heard::Down(peer.clone()));
    }
    fn received(&self, from: &NodeId, frame: &[u8]) {
        self.say(Heard::Frame(from.clone(), frame.to_vec()));
    }
}

/// A service that answers with what it was asked.
pub(crate) struct Echo;

impl Serve for Echo {
    fn serve(&self, _: &NodeId, request: Vec<u8>) -> BoxFuture<'static, Result<Vec<u8>, String>> {
        Box::pin(std::future::ready(Ok(request)))
    }
}

/// A node that may be started, stopped and started again.
pub(crate) struct Node {
    pub(crate) name: NodeId,
    pub(crate) identity: Arc<Identity>,
    pub(crate) members: Arc<Members>,
    pub(crate) services: Arc<Services>,
    pub(crate) address: SocketAddr,
    pub(crate) options: LinkOptions,
    pub(crate) listener: Option<TcpListener>,
    pub(crate) links: Option<Links>,
    pub(crate) heard: Option<mpsc::Receiver<Heard>>,
    pub(crate) door: Option<Arc<dyn Door>>,
    /// Whether it watches the others, and how closely.
    pub(crate) watch: Option<MembershipOptions>,
    pub(crate) membership: Option<Membership>,
}

/// Soon enough for a test.
pub(crate) fn quick() -> LinkOptions {
    LinkOptions {
        heartbeat: Duration::from_millis(50),
        silence: Duration::from_millis(1000),
        backoff: Duration::from_millis(10),
        backoff_max: Duration::from_millis(100),
        ..LinkOptions::default()
    }
}

impl Node {
    pub(crate) fn new(text: &str) -> Node {
        let listener = links::bind("127.0.0.1:0".parse().expect("an address")).expect("bound");
        Node {
            name: name(text),
            identity: Arc::new(Identity::generate().expect("keys")),
            members: Arc::new(Members::new()),
            services: Arc::new(Services::new()),
            address: listener.local_addr().expect("bound"),
            options: quick(),
            listener: Some(listener),
            links: None,
            heard: None,
            door: None,
            watch: None,
            membership: None,
        }
    }

    pub(crate) fn member(&self) -> Member {
        Member {
            node: self.name.clone(),
            keys: self.identity.public().clone(),
            joined: stamp(1),
            written: stamp(1),
            addresses: vec![self.address.to_string()],
            url: "https://localhost".into(),
            zone: String::new(),
            hub: false,
        }
    }

    pub(crate) fn knows(&self, member: &Member) {
        let known = Known::Member(Box::new(member.clone()));
        let merged = self.members.merge(member.fingerprint(), known);
        merged.expect("a member");
    }

    pub(crate) fn start(&mut self) {
        let links = Links::new(Parts {
            node: self.name.clone(),
            identity: self.identity.clone(),
            members: self.members.clone(),
            services: self.services.clone(),
            clock: Arc::new(SystemClock),
            options: self.options.clone(),
        });
        let listener = self.listener.take();
        let listener = listener.unwrap_or_else(|| links::bind(self.address).expect("bound again"));
        let (ear, heard) = Ear::new();
        self.membership = self.watch.clone().map(|options| {
            let parts = MembershipParts {
                node: self.name.clone(),
                members: self.members.clone(),
                transport: Box::new(links.membership()),
                clock: Arc::new(SystemClock),
                options,
            };
            Membership::start(parts).expect("started")
        });
        let ears = Ears {
            gossip: ear,
            membership: self.membership.as_ref().map(Membership::ear),
            door: self.door.clone(),
        };
        links.start(listener, ears).expect("started");
        self.links = Some(links);
        self.heard = Some(heard);
    }

    pub(crate) fn stop(&mut self) {
        self.links = None;
        self.membership = None;
    }

    pub(crate) fn links(&self) -> &Links {
        self.links.as_ref().expect("started")
    }

    /// The next thing that it hears.
    pub(crate) fn hears(&self) -> Heard {
        let heard = self.heard.as_ref().expect("started");
        heard.recv_timeout(LONG).expect("something is heard")
    }

    /// Waits until it heard this.
    pub(crate) fn waits_for(&self, expected: &Heard) {
        while self.hears() != *expected {}
    }
}

/// Nodes a, b, c ... that know each other.
pub(crate) fn nodes(count: usize, change: impl Fn(usize, &mut Member)) -> Vec<Node> {
    let names = ["a", "b", "c", "d", "e"];
    let nodes: Vec<Node> = names[..count].iter().map(|name| Node::new(name)).collect();
    for node in &nodes {
        for (at, other) in nodes.iter().enumerate() {
            let mut member = other.member();
            change(at, &mut member);
            node.knows(&member);
        }
    }
    nodes
}

/// Asks again and again until it is so.
pub(crate) fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < LONG, "{what}");
        // Asked again soon; how soon decides nothing.
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// A runtime for what is asked.
pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.expect("a runtime").block_on(future)
}
