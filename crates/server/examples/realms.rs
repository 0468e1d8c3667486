//! What a realm costs: so many in one process, over one embedded store, each with keys of its own.
//!
//! `cargo run --release -p signet-server --example realms -- [realms] [audited]`: how many realms,
//! and how many of them have an audit trail. Prints the time and the memory of the first start,
//! which makes the keys, and of a later one; what a realm keeps in the store; threads; and how
//! long a request takes to its realm.
#![allow(clippy::print_stdout, reason = "what it measured")]
use signet_audit::{Audit, AuditOptions};
use signet_crypto::{Clock, seal::SealingKey};
use signet_directory::passwords::PasswordOptions;
use signet_http::{
    Limits, ListenerKind,
    listener::{Listener, Listening, start},
};
use signet_merge::tell::Alone;
use signet_oauth::{command_line, registry::Registry, settings::Settings};
use signet_realm::nodes::SingleNode;
use signet_realm::outbound::OutboundOptions;
use signet_realm::state::{Host, HostParts, Partition, Parts, Policy, Realm, RealmId, Replica};
use signet_realm::user_services::UserServiceOptions;
use signet_registry::change_writer::ChangeWriter;
use signet_registry::delta::Configuration;
use signet_registry::keys::{self, KeyKind, Moment, SigningKeys};
use signet_request::http::Router;
use signet_request::http::service::Service;
use signet_store::{NodeId, RevocationIndex, SqliteStore, Store, sqlite};
use std::{
    error::Error,
    fs,
    io::{Read, Write},
    net::TcpStream,
    path::Path,
    sync::Arc,
    time::{Duration, Instant, SystemTime},
};

type Failure = Box<dyn Error>;

struct SystemClock;

impl Clock for SystemClock {
    fn now_ms(&self) -> u64 {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        since.map_or(0, |d| u64::try_from(d.as_millis()).unwrap_or(u64::MAX))
    }
}

/// A number of this process's account: KiB of `VmRSS`, or `Threads`.
fn account(name: &str) -> Result<u64, Failure> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    let number = line.and_then(|line| line.trim_start_matches(':').split_whitespace().next());
    Ok(number.ok_or("no such line")?.parse()?)
}

struct Process {
    host: Arc<Host>,
    store: Arc<dyn Store>,
    sealing: (SealingKey, Vec<SealingKey>),
    clock: Arc<dyn Clock>,
}

/// One realm, as the binary's wiring makes it, at `/rN`.
async fn realm(
    process: &Process,
    number: usize,
    audit: Option<&Path>,
) -> Result<Arc<Realm>, Failure> {
    let (id, path) = match number {
        0 => (RealmId::default_realm(), String::new()),
        _ => (
            RealmId::parse(&format!("r{number}"))?,
            format!("/r{number}"),
        ),
    };
    let (current, older) = process.sealing.clone();
    let mut partition = Partition::new(id, process.store.clone(), current, older);
    let audit = match audit {
        None => Audit::off(),
        Some(directory) => {
            let options = AuditOptions::new(directory.join(number.to_string()));
            let store = partition.store().clone();
            let opened = Audit::open(options, store, partition.keyring(), process.clock.clone());
            let (audit, _) = opened.await?;
            partition = partition.recorded(&audit);
            audit
        }
    };
    let settings = Arc::new(Settings::new(format!("https://id.example{path}")));
    let now = process.host.now();
    let mut stored = signet_registry::load::load(&**partition.store(), now).await?;
    command_line::add(&mut stored).map_err(|error| error.description.to_owned())?;
    let revocations = RevocationIndex::load(partition.store().clone(), now).await?;
    let tell = Alone::new(NodeId::default(), process.clock.clone());
    let change_writer = ChangeWriter::new(partition.id().clone(), Arc::new(tell));
    let longest_token = keys::longest_token(&settings, &stored);
    let (signing_keys, published) = SigningKeys::load(
        partition.store().clone(),
        change_writer.clone(),
        partition.keyring().clone(),
        KeyKind::all(&settings),
        keys::Policy::default(),
        Moment { now, longest_token },
    )
    .await?;
    let configuration = Configuration {
        settings,
        declared: Arc::new(Registry::default()),
    };
    let parts = Parts {
        partition,
        change_writer,
        replica: Replica::new(configuration, stored, published)?,
        revocations,
        signing_keys,
        sealing_file: None,
        audit,
        people: UserServiceOptions::default(),
    };
    Ok(Realm::new(process.host.clone(), parts))
}

/// Builds all of them and says what they took.
async fn realms(
    what: &str,
    process: &Process,
    count: usize,
    audited: usize,
    directory: &Path,
) -> Result<Vec<Arc<Realm>>, Failure> {
    let (memory, threads, begun) = (account("VmRSS")?, account("Threads")?, Instant::now());
    let mut all = Vec::with_capacity(count);
    for number in 0..count {
        let audit = (number < audited).then_some(directory);
        all.push(realm(process, number, audit).await?);
    }
    let seconds = begun.elapsed().as_secs_f64();
    let grown = account("VmRSS")?.saturating_sub(memory) as f64;
    println!(
        "{what}: {count} realms in {seconds:.2} s, {:.3} ms each; {:.0} MB more, {:.1} KB each; {} threads more",
        seconds * 1e3 / count as f64,
        grown / 1024.0,
        grown / count as f64,
        account("Threads")?.saturating_sub(threads),
    );
    Ok(all)
}

/// Asks for a document of a realm on a kept connection, and gives the microseconds of the median.
fn ask(port: u16, path: &str, times: usize) -> Result<u128, Failure> {
    let mut stream = TcpStream::connect(("127.0.0.1", port))?;
    stream.set_nodelay(true)?;
    let request = format!("GET {path}/jwks HTTP/1.1\r\nhost: id.example\r\n\r\n");
    let mut took = Vec::with_capacity(times);
    let mut buffer = vec![0; 64 * 1024];
    for _ in 0..times {
        let begun = Instant::now();
        stream.write_all(request.as_bytes())?;
        let count = stream.read(&mut buffer)?;
        took.push(begun.elapsed().as_micros());
        let status = buffer.get(..count).unwrap_or_default();
        if !status.starts_with(b"HTTP/1.1 200") {
            return Err(String::from_utf8_lossy(status).into_owned().into());
        }
    }
    took.sort_unstable();
    Ok(took[times / 2])
}

fn main() -> Result<(), Failure> {
    let mut arguments = std::env::args().skip(1).map(|text| text.parse::<usize>());
    let count = arguments.next().transpose()?.unwrap_or(1000).max(2);
    let audited = arguments.next().transpose()?.unwrap_or(0);
    let directory = tempfile::tempdir()?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let mut router = Router::default();
    signet_server::routes(&mut router);
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let store = SqliteStore::open(directory.path(), sqlite::Options::default())?;
    let process = Process {
        host: Host::new(HostParts {
            clock: clock.clone(),
            policy: Policy::default(),
            outbound: OutboundOptions::default(),
            passwords: PasswordOptions::default(),
            routes: router.paths().collect(),
            nodes: Arc::new(SingleNode {
                name: NodeId::default(),
                url: "https://id.example".to_owned(),
            }),
        }),
        store: Arc::new(store),
        sealing: (SealingKey::generate(), Vec::new()),
        clock,
    };
    let trails = directory.path().join("audit");
    let made = realms("first start", &process, count, audited, &trails);
    drop(runtime.block_on(made)?);
    let rows = fs::metadata(directory.path().join("signet.db"))?.len()
        + fs::metadata(directory.path().join("signet.db-wal")).map_or(0, |file| file.len());
    println!(
        "on the disk: {:.1} KB each",
        rows as f64 / 1024.0 / count as f64
    );
    // The memory of the first ones is used again, at most: measured in a process of its own it
    // would be as large as that of the first start.
    let mut all = runtime.block_on(realms("later start", &process, count, 0, &trails))?;
    let first = all.remove(0);

    let service = Service::new(first, router, Limits::default());
    let begun = Instant::now();
    service.serve(all);
    println!("routed in {:.1} ms", begun.elapsed().as_secs_f64() * 1e3);
    let listening = Listening::bind("127.0.0.1:0".parse()?, 1)?;
    let port = listening.address().port();
    let listener = Listener {
        listening,
        tls: None,
        listener_kind: ListenerKind::Public,
    };
    let running = start(service, vec![listener])?;
    std::thread::sleep(Duration::from_millis(100));
    for (what, path) in [
        ("the first", String::new()),
        ("the second", "/r1".to_owned()),
        ("the last", format!("/r{}", count - 1)),
    ] {
        println!("a request of {what}: {} us", ask(port, &path, 2000)?);
    }
    running.stop();
    Ok(())
}
