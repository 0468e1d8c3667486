//! Nodes in one process, over a network in memory that fails on request.
use signet_consensus::{
    CallFuture, Member, Network, NetworkError, NodeId, ReplicatedStore, Role, Settings, Status,
};
use signet_store::sqlite;
use std::{
    collections::{BTreeMap, HashSet},
    path::PathBuf,
    sync::{
        Arc, Mutex, MutexGuard, Weak,
        atomic::{AtomicU64, Ordering::SeqCst},
    },
    time::Duration,
};
use tokio::time::{Instant, sleep};

/// For how long a log rests before the members count as settled.
const QUIET: Duration = Duration::from_millis(250);

/// Whether a member knows of `count` members, of the voters that so many have, and of a leader.
fn complete(status: &Status, count: usize) -> bool {
    let voters = match count {
        0..=2 => count,
        3 | 4 => 3,
        _ => 5,
    };
    let voting = status.members.iter().filter(|(_, votes)| *votes).count();
    status.members.len() == count && voting == voters && status.has_majority
}

/// Random numbers from a seed (splitmix64).
#[derive(Clone)]
pub(crate) struct Random(Arc<AtomicU64>);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random(Arc::new(AtomicU64::new(seed)))
    }

    pub(crate) fn next(&self) -> u64 {
        let mut z = self.0.fetch_add(0x9e37_79b9_7f4a_7c15, SeqCst);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&self, bound: u64) -> u64 {
        self.next() % bound
    }
}

pub(crate) fn settings(seed: u64) -> Settings {
    let random = Random::new(seed);
    Settings::new(Arc::new(move || random.next()))
}

#[derive(Default)]
struct Faults {
    /// Nothing goes from the first to the second.
    cut: HashSet<(NodeId, NodeId)>,
    /// In a thousand.
    lost: u64,
    twice: u64,
    /// At most so long, each way.
    delay: Duration,
}

struct Running {
    store: Arc<ReplicatedStore>,
    number: u64,
}

pub(crate) struct World {
    directory: tempfile::TempDir,
    nodes: Mutex<BTreeMap<NodeId, Running>>,
    faults: Mutex<Faults>,
    pub(crate) random: Random,
    next: AtomicU64,
    pub(crate) bulk: AtomicU64,
    /// How long each part of a snapshot takes its receiver.
    slow: Mutex<Duration>,
    /// Bytes of snapshots that are under way, and the most that there were.
    flying: AtomicU64,
    pub(crate) most_flying: AtomicU64,
    /// What nodes read whose version is not the usual one.
    formats: Mutex<BTreeMap<u64, u8>>,
}

/// Bytes of a snapshot under way.
struct Flying(Arc<World>, u64);

impl Flying {
    fn of(world: Arc<World>, bytes: usize) -> Flying {
        let bytes = bytes as u64;
        let now = world.flying.fetch_add(bytes, SeqCst) + bytes;
        world.most_flying.fetch_max(now, SeqCst);
        Flying(world, bytes)
    }
}

impl Drop for Flying {
    fn drop(&mut self) {
        self.0.flying.fetch_sub(self.1, SeqCst);
    }
}

struct Wire {
    world: Weak<World>,
    me: NodeId,
}

pub(crate) fn name(number: u64) -> NodeId {
    NodeId::parse(&format!("n{number}")).expect("a name")
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().expect("no test panicked with it")
}

impl World {
    async fn carry(
        self: Arc<World>,
        from: NodeId,
        to: NodeId,
        request: Vec<u8>,
        deadline: Duration,
    ) -> Result<Vec<u8>, NetworkError> {
        let until = Instant::now() + deadline;
        let silence = async |until| {
            tokio::time::sleep_until(until).await;
            Err(NetworkError::NoAnswer("nothing came".into()))
        };
        let Some(store) = self.store(&to) else {
            return Err(NetworkError::Unreachable("it is not there".into()));
        };
        if !self.passes(&from, &to).await {
            return silence(until).await;
        }
        if lock(&self.faults).twice > self.random.below(1000) {
            let (store, from, request) = (store.clone(), from.clone(), request.clone());
            let late = Duration::from_millis(self.random.below(500));
            tokio::spawn(async move {
                sleep(late).await;
                store.handle(&from, request).await
            });
        }
        let handled = store.handle(&from, request);
        let Ok(answer) = tokio::time::timeout_at(until, handled).await else {
            return Err(NetworkError::NoAnswer("it took too long".into()));
        };
        // Nothing leaves a node that died over it.
        if self.store(&to).is_none() || !self.passes(&to, &from).await {
            return silence(until).await;
        }
        Ok(answer)
    }

    async fn passes(&self, from: &NodeId, to: &NodeId) -> bool {
        let (cut, lost, delay) = {
            let faults = lock(&self.faults);
            let cut = faults.cut.contains(&(from.clone(), to.clone()));
            (cut, faults.lost > self.random.below(1000), faults.delay)
        };
        if !delay.is_zero() {
            let micros = u64::try_from(delay.as_micros()).expect("short");
            sleep(Duration::from_micros(self.random.below(micros))).await;
        }
        !cut && !lost
    }
}

impl Network for Wire {
    fn call(&self, to: &NodeId, request: Vec<u8>, deadline: Duration) -> CallFuture {
        let (world, from, to) = (self.world.upgrade(), self.me.clone(), to.clone());
        Box::pin(async move {
            match world {
                Some(world) => world.carry(from, to, request, deadline).await,
                None => Err(NetworkError::Unreachable("the test is over".into())),
            }
        })
    }

    fn bulk(&self, to: &NodeId, request: Vec<u8>, deadline: Duration) -> CallFuture {
        let flying = self.world.upgrade().map(|world| {
            world.bulk.fetch_add(1, SeqCst);
            Flying::of(world, request.len())
        });
        let call = self.call(to, request, deadline);
        Box::pin(async move {
            if let Some(Flying(world, _)) = &flying {
                let slow = *lock(&world.slow);
                sleep(slow).await;
            }
            let answer = call.await;
            drop(flying);
            answer
        })
    }
}

impl World {
    pub(crate) fn empty(seed: u64) -> Arc<World> {
        Arc::new(World {
            directory: tempfile::tempdir().expect("a directory"),
            nodes: Mutex::default(),
            faults: Mutex::default(),
            random: Random::new(seed),
            next: AtomicU64::new(1),
            bulk: AtomicU64::new(0),
            slow: Mutex::default(),
            flying: AtomicU64::new(0),
            most_flying: AtomicU64::new(0),
            formats: Mutex::default(),
        })
    }

    /// Each part of a snapshot takes its receiver so long from now on.
    pub(crate) fn slow_down(&self, each: Duration) {
        *lock(&self.slow) = each;
    }

    /// The next start of a node is of a version that reads entries up to this format.
    pub(crate) fn reads(&self, number: u64, format: u8) {
        lock(&self.formats).insert(number, format);
    }

    /// `count` nodes of one replicated store, with as many voters as there should be.
    pub(crate) async fn of(count: usize, seed: u64) -> Arc<World> {
        let world = World::empty(seed);
        world.begin(count).await;
        world
    }

    /// The same, of an empty world.
    pub(crate) async fn begin(self: &Arc<World>, count: usize) {
        let first = self.open(1);
        first
            .begin(self.member(1), self.wire(1))
            .await
            .expect("begins");
        for _ in 1..count {
            self.grow(None).await;
        }
        self.settle(count).await;
    }

    pub(crate) fn path(&self, number: u64) -> PathBuf {
        self.directory.path().join(number.to_string())
    }

    pub(crate) fn member(&self, number: u64) -> Member {
        Member::new(number, name(number), None)
    }

    pub(crate) fn wire(self: &Arc<World>, number: u64) -> Arc<dyn Network> {
        Arc::new(Wire {
            world: Arc::downgrade(self),
            me: name(number),
        })
    }

    /// Opens a node's store, or makes it; it takes no part in anything yet.
    pub(crate) fn open(&self, number: u64) -> Arc<ReplicatedStore> {
        let options = sqlite::Options::default();
        let mut settings = settings(self.random.next());
        if let Some(format) = lock(&self.formats).get(&number) {
            settings.format = *format;
        }
        let store = ReplicatedStore::open(&self.path(number), options, settings).expect("opens");
        let store = Arc::new(store);
        self.next.fetch_max(number + 1, SeqCst);
        lock(&self.nodes).insert(
            name(number),
            Running {
                store: store.clone(),
                number,
            },
        );
        store
    }

    /// A further node.
    pub(crate) async fn grow(self: &Arc<World>, zone: Option<&str>) -> Arc<ReplicatedStore> {
        let number = self.next.load(SeqCst);
        let any = self.all().into_iter().next().expect("a node");
        let store = self.open(number);
        let mut member = self.member(number);
        member.zone = zone.map(str::to_owned);
        store
            .join(member.clone(), self.wire(number), false)
            .await
            .expect("joins");
        any.add(&member).await.expect("is added");
        store
    }

    /// Ends a node as a crash does: nobody hears of it, and what it was doing is not finished.
    pub(crate) fn kill(&self, number: u64) {
        let gone = lock(&self.nodes).remove(&name(number)).expect("is there");
        // Nothing reaches it, and nothing of it leaves: its directory is free for the next one.
        signet_store::Store::close(&*gone.store);
    }

    pub(crate) async fn restart(self: &Arc<World>, number: u64) -> Arc<ReplicatedStore> {
        let store = self.open(number);
        store.resume(self.wire(number)).await.expect("goes on");
        store
    }

    pub(crate) fn store(&self, name: &NodeId) -> Option<Arc<ReplicatedStore>> {
        lock(&self.nodes).get(name).map(|node| node.store.clone())
    }

    pub(crate) fn node(&self, number: u64) -> Arc<ReplicatedStore> {
        self.store(&name(number)).expect("is there")
    }

    pub(crate) fn all(&self) -> Vec<Arc<ReplicatedStore>> {
        lock(&self.nodes)
            .values()
            .map(|node| node.store.clone())
            .collect()
    }

    pub(crate) fn numbers(&self) -> Vec<u64> {
        lock(&self.nodes).values().map(|node| node.number).collect()
    }

    pub(crate) fn cut(&self, from: u64, to: u64) {
        lock(&self.faults).cut.insert((name(from), name(to)));
    }

    pub(crate) fn isolate(&self, number: u64) {
        for other in self.numbers().into_iter().filter(|other| *other != number) {
            self.cut(number, other);
            self.cut(other, number);
        }
    }

    pub(crate) fn heal(&self) {
        *lock(&self.faults) = Faults::default();
    }

    pub(crate) fn disturb(&self, lost: u64, twice: u64, delay: Duration) {
        let mut faults = lock(&self.faults);
        (faults.lost, faults.twice, faults.delay) = (lost, twice, delay);
    }

    /// Waits for something to be so.
    pub(crate) async fn until(&self, what: &str, mut so: impl FnMut() -> bool) {
        let end = Instant::now() + Duration::from_secs(60);
        while !so() {
            assert!(Instant::now() < end, "{what}: {:#?}", self.statuses());
            sleep(Duration::from_millis(10)).await;
        }
    }

    pub(crate) fn statuses(&self) -> Vec<Status> {
        self.all().iter().map(|store| store.status()).collect()
    }

    /// Waits until all `count` nodes are members, those who should vote do, and all have a leader.
    pub(crate) async fn complete(&self, count: usize) {
        let so = || self.statuses().iter().all(|status| complete(status, count));
        self.until("the members are complete", so).await;
    }

    /// Waits until the members are complete and nothing happens any more: nobody may be writing.
    pub(crate) async fn settle(&self, count: usize) {
        let settled = || {
            let statuses = self.statuses();
            let quiet = |status: &Status| status.committed == status.last_log;
            statuses.iter().all(|s| complete(s, count) && quiet(s))
        };
        let logs = || -> Vec<u64> { self.statuses().iter().map(|s| s.last_log).collect() };
        // A change of the voters is two entries, and counts by both sets of voters until the second
        // one is committed: so the log has to rest, too.
        let (mut before, mut since) = (Vec::new(), Instant::now());
        let rests = || {
            let now = logs();
            if !settled() || now != before {
                (before, since) = (now, Instant::now());
            }
            since.elapsed() >= QUIET
        };
        self.until("the members are settled", rests).await;
    }

    pub(crate) fn leader(&self) -> Option<u64> {
        let nodes = lock(&self.nodes);
        nodes
            .values()
            .filter(|node| node.store.status().role == Role::Leader)
            .max_by_key(|node| node.store.status().term)
            .map(|node| node.number)
    }

    pub(crate) async fn with_role(&self, role: Role) -> Arc<ReplicatedStore> {
        let find = || {
            let all = self.all();
            all.into_iter().find(|store| store.status().role == role)
        };
        self.until("a node has the role", || find().is_some()).await;
        find().expect("is there")
    }
}
