//! Nodes, the network between them, and their clocks.
use crate::{
    disk::Disk,
    executor::{Clock, NOBODY},
    installation::Installation,
    random::{Random, Trace},
};
use signet_cluster::transport::CallError;
use signet_consensus::{
    CallFuture, Member, Network, NetworkError, NodeId, ReplicatedStore, Role, Settings, Status,
};
use signet_store::{Key, Row, Store, Table, sqlite};
use std::{
    collections::{BTreeMap, BTreeSet},
    future::Future,
    path::{Path, PathBuf},
    pin::Pin,
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, Weak,
        atomic::{AtomicI64, AtomicU64, Ordering::SeqCst},
    },
    time::Duration,
};

/// Unix seconds at which every world begins.
pub(crate) const BEGINNING: u64 = 1_800_000_000;

/// What the network does to messages.
#[derive(Default)]
pub(crate) struct Faults {
    /// Nothing goes from the first to the second.
    pub(crate) cut: BTreeSet<(u64, u64)>,
    /// In a thousand.
    pub(crate) lost: u64,
    pub(crate) twice: u64,
    /// At most so long more, each way, in microseconds: so messages overtake each other.
    pub(crate) delay_us: u64,
}

pub(crate) struct Running {
    pub(crate) store: Arc<ReplicatedStore>,
    pub(crate) disk: Arc<Disk>,
    pub(crate) group: u64,
}

pub(crate) struct World {
    pub(crate) clock: Clock,
    pub(crate) random: Random,
    pub(crate) trace: Trace,
    directory: tempfile::TempDir,
    nodes: Mutex<BTreeMap<u64, Running>>,
    /// Where a node that is not running has its disk.
    stopped: Mutex<BTreeMap<u64, PathBuf>>,
    pub(crate) faults: Mutex<Faults>,
    /// How far each node's clock is off, in seconds.
    skew: Mutex<BTreeMap<u64, i64>>,
    /// Clocks that are wrong by hours, for what must not go by a clock.
    wild: Mutex<BTreeMap<u64, i64>>,
    /// Seconds by which all clocks were put forward.
    leap: AtomicI64,
    lives: AtomicU64,
    pub(crate) messages: AtomicU64,
    /// Whether nodes begin as those of an installation do; none: as nodes of one store.
    installation: OnceLock<Arc<Installation>>,
}

/// What is asked of a node.
#[derive(Clone)]
pub(crate) enum Ask {
    /// Its part in the consensus, which is all that it has.
    Consensus,
    /// A service of the installation's.
    Service(u8),
    /// To be let in: the invitation, and the key that was proven.
    Door(String, [u8; 32]),
}

struct Wire {
    world: Weak<World>,
    me: u64,
}

pub(crate) fn name(number: u64) -> NodeId {
    NodeId::parse(&format!("n{number}")).expect("a name")
}

pub(crate) fn number(name: &NodeId) -> u64 {
    name.as_str()[1..].parse().expect("one of ours")
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner())
}

fn us(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).expect("short")
}

/// A directory in memory where the system has one: a flush then costs nothing.
fn directory() -> tempfile::TempDir {
    let memory = Path::new("/dev/shm");
    let made = match memory.is_dir() {
        true => tempfile::Builder::new()
            .prefix("signet-sim")
            .tempdir_in(memory),
        false => tempfile::tempdir(),
    };
    made.or_else(|_| tempfile::tempdir()).expect("a directory")
}

impl Network for Wire {
    fn call(&self, to: &NodeId, request: Vec<u8>, deadline: Duration) -> CallFuture {
        let (world, from, to) = (self.world.upgrade(), self.me, number(to));
        Box::pin(async move {
            match world {
                Some(world) => {
                    let carried = world.carry(from, to, Ask::Consensus, request, us(deadline));
                    let refused = |why: CallError| NetworkError::NoAnswer(why.to_string());
                    carried.await?.map_err(refused)
                }
                None => Err(NetworkError::Unreachable("the simulation is over".into())),
            }
        })
    }
}

impl World {
    pub(crate) fn new(clock: &Clock, seed: u64) -> Arc<World> {
        Arc::new(World {
            clock: clock.clone(),
            random: Random::new(seed),
            trace: Trace::default(),
            directory: directory(),
            nodes: Mutex::default(),
            stopped: Mutex::default(),
            faults: Mutex::default(),
            skew: Mutex::default(),
            wild: Mutex::default(),
            leap: AtomicI64::new(0),
            lives: AtomicU64::new(0),
            messages: AtomicU64::new(0),
            installation: OnceLock::new(),
        })
    }

    /// From now on its nodes begin as those of an installation.
    pub(crate) fn install(&self, installation: Arc<Installation>) {
        assert!(self.installation.set(installation).is_ok(), "once");
    }

    /// A machine that was never started, with an empty disk.
    pub(crate) fn set_up(&self, number: u64) {
        let directory = self.fresh(number);
        std::fs::create_dir(&directory).expect("makes");
        lock(&self.stopped).insert(number, directory);
    }

    /// A machine that is stopped is taken away, with its disk.
    pub(crate) fn take_away(&self, number: u64) {
        lock(&self.stopped).remove(&number);
    }

    /// A world of so many nodes that have been one store before, and begin now.
    pub(crate) async fn of(clock: &Clock, nodes: u64, seed: u64) -> Arc<World> {
        let world = World::new(clock, seed);
        for (number, file) in formed(nodes) {
            let directory = world.fresh(*number);
            std::fs::create_dir(&directory).expect("makes");
            std::fs::write(directory.join(sqlite::DATABASE_FILE), file).expect("writes");
            lock(&world.stopped).insert(*number, directory);
            world.start(*number).await;
        }
        world
    }

    /// The same, made now: one node, and others that join it.
    pub(crate) async fn grown(clock: &Clock, nodes: u64, seed: u64) -> Arc<World> {
        let world = World::new(clock, seed);
        world.run_node(1, world.fresh(1));
        let (first, group) = world.node(1).expect("runs");
        let (me, wire) = (world.member(1), world.wire(1));
        let begun = clock.within(group, async move { first.begin(me, wire).await });
        begun.await.expect("lives").expect("begins");
        for _ in 1..nodes {
            world.grow().await;
        }
        world.settle("the nodes have joined").await;
        world
    }

    /// One more node.
    pub(crate) async fn grow(self: &Arc<World>) {
        let number = self.numbers().into_iter().max().unwrap_or(0) + 1;
        let (any, _) = self.node(1).expect("runs");
        self.run_node(number, self.fresh(number));
        let (store, group) = self.node(number).expect("runs");
        let (member, wire) = (self.member(number), self.wire(number));
        let me = member.clone();
        let joined = self
            .clock
            .within(group, async move { store.join(me, wire, false).await });
        joined.await.expect("lives").expect("joins");
        let added = self
            .clock
            .within(NOBODY, async move { any.add(&member).await });
        added.await.expect("lives").expect("is added");
    }

    /// A directory that nobody has.
    pub(crate) fn fresh(&self, number: u64) -> PathBuf {
        let life = self.lives.fetch_add(1, SeqCst) + 1;
        self.directory.path().join(format!("{number}-{life}"))
    }

    fn member(&self, number: u64) -> Member {
        Member::new(number, name(number), None)
    }

    fn wire(self: &Arc<World>, number: u64) -> Arc<dyn Network> {
        Arc::new(Wire {
            world: Arc::downgrade(self),
            me: number,
        })
    }

    /// Opens a node's store on its disk; it takes no part in anything yet.
    fn run_node(self: &Arc<World>, number: u64, directory: PathBuf) {
        let group = self.lives.fetch_add(1, SeqCst) + 1;
        let (disk, store, driver) = Disk::open(directory, &self.clock, &self.random);
        self.clock
            .spawn_in(group, Box::pin(disk.clone().drive(driver)));
        let random = self.random.fork();
        let settings = Settings::new(Arc::new(move || random.next()));
        let store = ReplicatedStore::over(Arc::new(store), settings).expect("is read");
        let running = Running {
            store: Arc::new(store),
            disk,
            group,
        };
        lock(&self.nodes).insert(number, running);
    }

    /// A node that was stopped, or crashed, begins again with what its disk has.
    pub(crate) async fn start(self: &Arc<World>, number: u64) {
        let directory = lock(&self.stopped).remove(&number).expect("is stopped");
        self.trace.note(&[self.clock.now_us(), 2, number]);
        self.run_node(number, directory);
        let (store, group) = self.node(number).expect("runs");
        if let Some(installation) = self.installation.get() {
            installation.start(self, number, store, group);
            return;
        }
        let wire = self.wire(number);
        let resumed = self
            .clock
            .within(group, async move { store.resume(wire).await });
        // It may crash again over it.
        if let Some(resumed) = resumed.await {
            resumed.expect("goes on");
        }
    }

    /// Ends a node in the middle of whatever it does; what was not flushed may be gone.
    pub(crate) fn crash(&self, number: u64) {
        let Some(running) = lock(&self.nodes).remove(&number) else {
            return;
        };
        self.trace.note(&[self.clock.now_us(), 3, number]);
        let directory = self.fresh(number);
        running.disk.crash(&directory);
        lock(&self.stopped).insert(number, directory);
        self.clock.kill(running.group);
    }

    /// Ends a node as an operator does: it hands its place to another one first.
    pub(crate) async fn stop(&self, number: u64) {
        let Some((store, group)) = self.node(number) else {
            return;
        };
        self.trace.note(&[self.clock.now_us(), 4, number]);
        let stopping = async move {
            store.shut_down().await;
        };
        self.clock.within(group, stopping).await;
        self.crash(number);
    }

    pub(crate) fn node(&self, number: u64) -> Option<(Arc<ReplicatedStore>, u64)> {
        let nodes = lock(&self.nodes);
        let running = nodes.get(&number)?;
        Some((running.store.clone(), running.group))
    }

    pub(crate) fn disk(&self, number: u64) -> Option<Arc<Disk>> {
        Some(lock(&self.nodes).get(&number)?.disk.clone())
    }

    /// Whether nothing is wrong with a node, nor with the network.
    pub(crate) fn is_well(&self, number: u64) -> bool {
        let faults = lock(&self.faults);
        let network = faults.cut.is_empty() && faults.lost == 0 && faults.delay_us == 0;
        network && self.disk(number).is_some_and(|disk| disk.is_well())
    }

    /// Whether any node takes its disk for full.
    pub(crate) fn is_full(&self) -> bool {
        let nodes = lock(&self.nodes);
        nodes.values().any(|running| running.store.is_full())
    }

    pub(crate) fn numbers(&self) -> Vec<u64> {
        lock(&self.nodes).keys().copied().collect()
    }

    /// Those that run and those that do not.
    pub(crate) fn machines(&self) -> Vec<u64> {
        let mut all = self.numbers();
        all.extend(self.all_stopped());
        all.sort_unstable();
        all
    }

    /// Those that answer callers: a node of an installation does when its start is over.
    pub(crate) fn serving(&self) -> Vec<u64> {
        match self.installation.get() {
            Some(installation) => installation.serving(self),
            None => self.numbers(),
        }
    }

    pub(crate) fn all_stopped(&self) -> Vec<u64> {
        lock(&self.stopped).keys().copied().collect()
    }

    pub(crate) fn leader(&self) -> Option<u64> {
        let statuses = self.statuses();
        let leaders = statuses
            .iter()
            .filter(|(_, status)| status.role == Role::Leader);
        let newest = leaders.max_by_key(|(_, status)| status.term);
        newest.map(|(number, _)| *number)
    }

    pub(crate) fn statuses(&self) -> Vec<(u64, Status)> {
        let nodes = lock(&self.nodes);
        let status = |(number, running): (&u64, &Running)| (*number, running.store.status());
        nodes.iter().map(status).collect()
    }

    /// Unix seconds by a node's clock.
    pub(crate) fn unix(&self, number: u64) -> u64 {
        let skew = lock(&self.skew).get(&number).copied().unwrap_or(0);
        let seconds = BEGINNING + self.clock.now_us() / 1_000_000;
        seconds.saturating_add_signed(skew + self.leap.load(SeqCst))
    }

    /// The same by a clock that may be hours wrong.
    pub(crate) fn wild_unix(&self, number: u64) -> u64 {
        let wild = lock(&self.wild).get(&number).copied().unwrap_or(0);
        self.unix(number).saturating_add_signed(wild)
    }

    pub(crate) fn set_wild(&self, number: u64, seconds: i64) {
        lock(&self.wild).insert(number, seconds);
    }

    pub(crate) fn set_skew(&self, number: u64, seconds: i64) {
        lock(&self.skew).insert(number, seconds);
    }

    pub(crate) fn leap(&self, seconds: i64) {
        self.leap.fetch_add(seconds, SeqCst);
    }

    /// Waits until all nodes have a leader and have applied the same.
    pub(crate) async fn settle(&self, what: &str) {
        let end = self.clock.now_us() + 90_000_000;
        loop {
            let statuses = self.statuses();
            let voters = match statuses.len() {
                0..=2 => statuses.len(),
                3 | 4 => 3,
                _ => 5,
            };
            let settled = statuses.iter().all(|(_, status)| {
                let voting = status.members.iter().filter(|(_, votes)| *votes).count();
                status.has_majority
                    && status.members.len() == statuses.len()
                    && voting == voters
                    && status.lag == 0
                    && status.applied == statuses[0].1.applied
            });
            if settled {
                return;
            }
            assert!(self.clock.now_us() < end, "never so: {what}: {statuses:#?}");
            self.clock.sleep_us(50_000).await;
        }
    }

    pub(crate) async fn carry(
        self: Arc<World>,
        from: u64,
        to: u64,
        ask: Ask,
        request: Vec<u8>,
        deadline_us: u64,
    ) -> Result<Result<Vec<u8>, CallError>, NetworkError> {
        let until = self.clock.now_us() + deadline_us;
        self.messages.fetch_add(1, SeqCst);
        self.trace
            .note(&[self.clock.now_us(), 1, from, to, request.len() as u64]);
        let silence = async || {
            self.clock.sleep_until(until).await;
            Err(NetworkError::NoAnswer("nothing came".into()))
        };
        if self.node(to).is_none() {
            self.clock.sleep_us(200).await;
            return Err(NetworkError::Unreachable("it is not there".into()));
        }
        if !self.passes(from, to).await {
            return silence().await;
        }
        let Some((store, group)) = self.node(to) else {
            return silence().await;
        };
        if self.random.permille(lock(&self.faults).twice) {
            let late_us = self.random.below(600_000);
            let (world, request, ask) = (self.clone(), request.clone(), ask.clone());
            let again = async move {
                world.clock.sleep_us(late_us).await;
                // The connection's life is the node's: another life hears nothing of it.
                if let Some((store, now)) = world.node(to)
                    && now == group
                {
                    let handled = world.handle(store, to, from, ask, request);
                    world.clock.within(group, handled).await;
                }
            };
            self.clock.spawn_in(NOBODY, Box::pin(again));
        }
        let handled = self.handle(store, to, from, ask, request);
        let answer = tokio::select! {
            biased;
            answer = self.clock.within(group, handled) => answer,
            () = self.clock.sleep_until(until) => None,
        };
        let Some(answer) = answer else {
            return silence().await;
        };
        if !self.passes(to, from).await || self.clock.now_us() > until {
            return silence().await;
        }
        let length = answer.as_ref().map_or(0, Vec::len) as u64;
        self.trace.note(&[self.clock.now_us(), 5, to, from, length]);
        Ok(answer)
    }

    /// What a node does with a message.
    fn handle(
        self: &Arc<World>,
        store: Arc<ReplicatedStore>,
        to: u64,
        from: u64,
        ask: Ask,
        request: Vec<u8>,
    ) -> Pin<Box<dyn Future<Output = Result<Vec<u8>, CallError>> + Send>> {
        match (ask, self.installation.get()) {
            (Ask::Consensus, _) => {
                Box::pin(async move { Ok(store.handle(&name(from), request).await) })
            }
            (Ask::Service(service), Some(installation)) => {
                installation.serve(self, to, from, service, request)
            }
            (Ask::Door(invitation, key), Some(installation)) => {
                installation.welcome(self, to, invitation, key, request)
            }
            (Ask::Service(_) | Ask::Door(..), None) => {
                Box::pin(std::future::ready(Err(CallError::NoService)))
            }
        }
    }

    /// One message on its way, with whatever befalls it.
    pub(crate) async fn passes(&self, from: u64, to: u64) -> bool {
        let (cut, lost, delay_us) = {
            let faults = lock(&self.faults);
            let cut = faults.cut.contains(&(from, to));
            (cut, self.random.permille(faults.lost), faults.delay_us)
        };
        let more = if delay_us > 0 {
            self.random.below(delay_us)
        } else {
            0
        };
        self.clock
            .sleep_us(self.random.between(100, 1_500) + more)
            .await;
        !cut && !lost && !lock(&self.faults).cut.contains(&(from, to))
    }

    /// Every row that a node holds, expired or not.
    pub(crate) async fn rows(&self, number: u64) -> Vec<(Key, Row)> {
        let (store, group) = self.node(number).expect("runs");
        let read = async move {
            let mut rows: Vec<(Key, Row)> = Vec::new();
            for table in Table::ALL {
                loop {
                    let after = rows.last().map(|(key, _)| key.clone());
                    let after = after.filter(|key| key.table == *table);
                    let page = store.engine().page(*table, after.as_ref(), 500, 0).await;
                    let page = page.expect("answers");
                    let last = page.len() < 500;
                    rows.extend(page);
                    if last {
                        break;
                    }
                }
            }
            rows
        };
        self.clock.within(group, read).await.expect("lives")
    }
}

type Files = Vec<(u64, Vec<u8>)>;

/// The disks of so many nodes that are one replicated store, and were stopped: made once, always
/// the same.
fn formed(nodes: u64) -> &'static Files {
    static THREE: OnceLock<Files> = OnceLock::new();
    static FIVE: OnceLock<Files> = OnceLock::new();
    let place = if nodes == 5 { &FIVE } else { &THREE };
    place.get_or_init(|| {
        // On a thread of its own: this one is simulated already.
        let form = move || {
            let clock = Clock::default();
            let inner = clock.clone();
            let world = clock.run(async move {
                let world = World::grown(&inner, nodes, nodes).await;
                for number in world.numbers() {
                    world.crash(number);
                }
                world
            });
            let stopped = lock(&world.stopped).clone();
            let file = |(number, directory): (u64, PathBuf)| {
                // Opened and closed in order, the log is folded into one file.
                let options = sqlite::Options::default();
                let store = signet_store::SqliteStore::open(&directory, options);
                store.expect("opens").close();
                let file = std::fs::read(directory.join(sqlite::DATABASE_FILE));
                (number, file.expect("reads"))
            };
            stopped.into_iter().map(file).collect()
        };
        std::thread::scope(|scope| scope.spawn(form).join().expect("it forms"))
    })
}
