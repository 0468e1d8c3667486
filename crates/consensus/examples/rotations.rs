//! Durable rotations a second: three nodes in one process, against the embedded store alone in the
//! same run.
//!
//! `cargo run --release -p signet-consensus --example rotations [seconds] [in flight]`
use signet_consensus::{
    CallFuture, Member, Network, NetworkError, NodeId, ReplicatedStore, Settings,
};
use signet_store::{Change, Key, Op, Outcome, SqliteStore, Store, Table, sqlite};
use std::{
    collections::BTreeMap,
    io::Write,
    sync::{
        Arc, Mutex, Weak,
        atomic::{AtomicU64, Ordering::SeqCst},
    },
    time::{Duration, Instant},
};

const NOW: u64 = 1_000;
const VALUE: usize = 200;

type Nodes = Mutex<BTreeMap<NodeId, Arc<ReplicatedStore>>>;

struct Wire(Weak<Nodes>, NodeId);

impl Network for Wire {
    fn call(&self, to: &NodeId, request: Vec<u8>, deadline: Duration) -> CallFuture {
        let nodes = self.0.upgrade();
        let store = nodes.and_then(|nodes| nodes.lock().ok()?.get(to).cloned());
        let me = self.1.clone();
        Box::pin(async move {
            let store = store.ok_or_else(|| NetworkError::Unreachable("gone".into()))?;
            let handled = tokio::time::timeout(deadline, store.handle(&me, request)).await;
            handled.map_err(|_| NetworkError::NoAnswer("late".into()))
        })
    }
}

async fn rotate(
    store: Arc<dyn Store>,
    family: u64,
    end: Instant,
    took: Arc<Mutex<Vec<u32>>>,
) -> u64 {
    let key = Key::new(Table::Family, family.to_be_bytes());
    let value = vec![7; VALUE];
    let change = Change::new(Op::Put {
        key: key.clone(),
        value: value.clone(),
        end: Some(1 << 40),
    });
    let mut version = match store.commit(change, NOW).await {
        Ok(Outcome::Done { version }) => version,
        other => panic!("{other:?}"),
    };
    let mut count = 0;
    let mut mine = Vec::new();
    while Instant::now() < end {
        let begun = Instant::now();
        let change = Change::new(Op::Replace {
            key: key.clone(),
            version,
            value: value.clone(),
            end: Some(1 << 40),
        });
        version = match store.commit(change, NOW).await {
            Ok(Outcome::Done { version }) => version,
            other => panic!("{other:?}"),
        };
        mine.push(u32::try_from(begun.elapsed().as_micros()).unwrap_or(u32::MAX));
        count += 1;
    }
    took.lock().expect("whole").append(&mut mine);
    count
}

async fn measure(what: &str, stores: &[Arc<dyn Store>], seconds: u64, flight: u64) -> f64 {
    let begun = Instant::now();
    let end = begun + Duration::from_secs(seconds);
    let took = Arc::new(Mutex::new(Vec::new()));
    let tasks: Vec<_> = (0..flight)
        .map(|family| {
            let store = stores[usize::try_from(family).unwrap_or(0) % stores.len()].clone();
            tokio::spawn(rotate(store, family, end, took.clone()))
        })
        .collect();
    let mut count = 0;
    for task in tasks {
        count += task.await.expect("ends");
    }
    let rate = count as f64 / begun.elapsed().as_secs_f64();
    let mut took = took.lock().expect("whole");
    took.sort_unstable();
    let at = |part: usize| f64::from(took[(took.len() - 1) * part / 100]) / 1000.0;
    let (half, high) = (at(50), at(99));
    let out = std::io::stdout();
    writeln!(
        out.lock(),
        "{what:44} {rate:8.0} a second, {half:6.2} ms in the middle, {high:6.2} ms at 99 %"
    )
    .expect("prints");
    rate
}

fn settings(seed: u64) -> Settings {
    let next = AtomicU64::new(seed);
    Settings::new(Arc::new(move || {
        next.fetch_add(0x9e37_79b9_7f4a_7c15, SeqCst)
    }))
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let mut arguments = std::env::args()
        .skip(1)
        .filter_map(|text| text.parse().ok());
    let (seconds, flight) = (
        arguments.next().unwrap_or(5),
        arguments.next().unwrap_or(64),
    );
    let place = std::env::current_dir().expect("a directory");
    let directory = tempfile::tempdir_in(place.join("target")).expect("a directory");
    let options = sqlite::Options::default();

    let alone: Arc<dyn Store> =
        Arc::new(SqliteStore::open(&directory.path().join("0"), options).expect("opens"));
    let floor = measure(
        "floor: the embedded store alone",
        std::slice::from_ref(&alone),
        seconds,
        flight,
    )
    .await;
    alone.close();

    let nodes = Arc::new(Nodes::default());
    let member = |number: u64| {
        let name = NodeId::parse(&format!("n{number}")).expect("a name");
        Member::new(number, name, None)
    };
    let open = |number: u64| {
        let path = directory.path().join(number.to_string());
        let store = ReplicatedStore::open(&path, options, settings(number)).expect("opens");
        let store = Arc::new(store);
        let all = &mut *nodes.lock().expect("whole");
        all.insert(member(number).name, store.clone());
        store
    };
    let wire = |number| Arc::new(Wire(Arc::downgrade(&nodes), member(number).name));
    let first = open(1);
    first.begin(member(1), wire(1)).await.expect("begins");
    let one: Vec<Arc<dyn Store>> = vec![first.clone()];
    measure("one node that has begun", &one, seconds, flight).await;
    let mut all = one.clone();
    for number in [2, 3] {
        let store = open(number);
        store
            .join(member(number), wire(number), false)
            .await
            .expect("joins");
        first.add(&member(number)).await.expect("is added");
        all.push(store);
    }
    while first
        .status()
        .members
        .iter()
        .filter(|(_, votes)| *votes)
        .count()
        < 3
    {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let rate = measure("three nodes, asked at the leader", &one, seconds, flight).await;
    let jobs = first.engine().statistics();
    measure("three nodes, asked at all", &all, seconds, flight).await;
    measure(
        "three nodes, asked at a follower",
        &all[1..2],
        seconds,
        flight,
    )
    .await;
    writeln!(
        std::io::stdout(),
        "{:.2} of the floor; the leader's writer: {} groups, {} jobs; {flight} in flight, {VALUE} bytes each",
        rate / floor,
        jobs.groups,
        jobs.jobs
    )
    .expect("prints");
    for store in all {
        store.close();
    }
}
