//! One, two and three nodes, each a process of its own, over the embedded store, which several
//! replicate, and over one PostgreSQL: tokens, introspections, codes and refresh rotations a
//! second, and what each costs the nodes and the database of processor time. Beside them, in the
//! same run, the floors: the embedded store alone, and `pgbench` that updates one row by its key.
//!
//! The load shares the machine. So the processor time of an operation says more than the rate: the
//! cores, divided by all that an operation costs, are the rate that this machine cannot exceed.
//!
//! `cargo bench -p signet-bench --bench nodes -- [--seconds 2] [--in-flight 64] [--nodes 1,3]
//! [--engine embedded,postgres] [--idle 3]` (seconds of idling). Figures go to `target/bench/nodes.json`.

use std::{
    path::Path,
    rc::Rc,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use signet_bench::client::Failure;
use signet_bench::engine::Engine;
use signet_bench::load::flow::Provider;
use signet_bench::load::rotate::{CodeFlow, REDIRECT, Rotations};
use signet_bench::load::{Load, Measured};
use signet_bench::nodes::Nodes;
use signet_bench::postgres::Postgres;
use signet_crypto::Algorithm;
use signet_store::{Change, Key, Op, Outcome, SqliteStore, Store, Table, sqlite};

struct Arguments {
    time: Duration,
    in_flight: usize,
    nodes: Vec<usize>,
    engines: Vec<String>,
    idle: Duration,
}

impl Arguments {
    fn parse() -> Result<Arguments, Failure> {
        let mut read = Arguments {
            time: Duration::from_secs(2),
            in_flight: 64,
            nodes: vec![1, 2, 3],
            engines: vec!["embedded".into(), "postgres".into()],
            idle: Duration::from_secs(3),
        };
        let mut arguments = std::env::args().skip(1);
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().ok_or(format!("{argument} needs a value"));
            match &*argument {
                "--seconds" => read.time = Duration::from_secs_f64(value()?.parse()?),
                "--idle" => read.idle = Duration::from_secs_f64(value()?.parse()?),
                "--in-flight" => read.in_flight = value()?.parse()?,
                "--nodes" => {
                    let counts = value()?;
                    let counts = counts.split(',').map(str::parse);
                    read.nodes = counts.collect::<Result<_, _>>()?;
                }
                "--engine" => read.engines = value()?.split(',').map(str::to_owned).collect(),
                // Cargo's own.
                "--bench" => {}
                other => return Err(format!("unknown: {other}").into()),
            }
        }
        Ok(read)
    }
}

/// What everybody has spent so far: processor time in microseconds, and bytes.
struct Spent {
    nodes: u64,
    database: u64,
    load: u64,
    /// Between the nodes.
    sent: u64,
    /// To the disk, by the nodes; the database's log.
    written: u64,
    wal: u64,
}

impl Spent {
    fn now(nodes: &Nodes, postgres: Option<&Postgres>) -> Result<Spent, Failure> {
        Ok(Spent {
            sent: nodes.sent_bytes()?,
            wal: postgres.map_or(Ok(0), Postgres::wal_bytes)?,
            nodes: nodes.cpu_us()?,
            database: postgres.map_or(Ok(0), Postgres::cpu_us)?,
            load: signet_bench::process::cpu_us(std::process::id())?,
            written: nodes.written_bytes()?,
        })
    }
}

struct Bench<'a> {
    arguments: &'a Arguments,
    engine: &'static str,
    postgres: Option<&'a Postgres>,
    nodes: Nodes,
    lines: &'a mut Vec<Value>,
}

impl Bench<'_> {
    /// Runs a load of all nodes and reports it.
    fn measure(
        &mut self,
        what: &str,
        load: impl FnOnce(&Nodes) -> Result<Measured, Failure>,
    ) -> Result<(), Failure> {
        let before = Spent::now(&self.nodes, self.postgres)?;
        let wall = Instant::now();
        let measured = load(&self.nodes)?;
        let wall_us = wall.elapsed().as_secs_f64() * 1e6;
        let after = Spent::now(&self.nodes, self.postgres)?;
        let done = measured.statuses[2] as f64;
        let refused = measured.statuses.iter().sum::<u64>() - measured.statuses[2];
        let each = |after: u64, before: u64| after.saturating_sub(before) as f64 / done;
        let (sent, written, wal) = (
            each(after.sent, before.sent),
            each(after.written, before.written),
            each(after.wal, before.wal),
        );
        let (nodes, database, load) = (
            each(after.nodes, before.nodes),
            each(after.database, before.database),
            each(after.load, before.load),
        );
        let cores = std::thread::available_parallelism()?.get() as f64;
        let all = nodes + database + load;
        let ceiling = cores * 1e6 / all;
        let busy = all * done / (wall_us * cores);
        let count = self.nodes.servers.len();
        eprintln!(
            "{:<9} {count} node(s)  {what:<28} {:>8.0}/s  p50 {:>6} us  p99 {:>6} us  cpu us: \
             nodes {nodes:>6.1}, database {database:>6.1}, load {load:>5.1}; at most {ceiling:>6.0}/s \
             ({:.0} % of the machine was ours)  bytes: sent {sent:.0}, written {written:.0}, wal {wal:.0}",
            self.engine,
            measured.rate,
            measured.per_mille(500),
            measured.per_mille(990),
            busy * 100.0,
        );
        self.lines.push(json!({
            "engine": self.engine, "nodes": count, "what": what, "per_second": measured.rate,
            "p50_us": measured.per_mille(500), "p99_us": measured.per_mille(990),
            "cpu_us": {"nodes": nodes, "database": database, "load": load},
            "bytes": {"sent": sent, "written": written, "wal": wal},
            "ceiling_per_second": ceiling, "busy": busy, "refused": refused,
            "in_flight": self.arguments.in_flight,
        }));
        if refused > 0 {
            return Err(format!("{what}: {refused} were refused").into());
        }
        Ok(())
    }

    fn run(mut self) -> Result<(), Failure> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let local = tokio::task::LocalSet::new();
        let first = self.nodes.servers.remove(0);
        let provider = local.block_on(&runtime, Provider::of(first))?;
        let metadata = json!({
            "application_type": "native", "redirect_uris": [REDIRECT], "response_types": ["code"],
            "grant_types": ["authorization_code", "refresh_token", "client_credentials"],
            "scope": "openid profile offline_access",
            // The default, RS256, takes a quarter of a millisecond: a figure of its own.
            "id_token_signed_response_alg": "ES256",
        });
        let method = "client_secret_basic";
        let register = provider.register(method, Algorithm::Es256, metadata);
        let client = local.block_on(&runtime, register)?;
        let request = provider.requests(&client, "grant_type=client_credentials", 1)?;
        let authorization = request.into_iter().next().and_then(|r| r.authorization);
        let authorization = authorization.ok_or("no authorization")?;
        let count = self.arguments.in_flight;
        let (mut tokens, mut codes) = (Vec::new(), None);
        let access = local.block_on(&runtime, async {
            let mut connection = provider.target()?.connect().await?;
            let cookie = provider.log_in(&mut connection, client.client_id(), REDIRECT);
            let cookie = cookie.await?;
            let flow = CodeFlow::new(&client, &authorization, &cookie);
            for _ in 0..count {
                tokens.push(flow.run(&mut connection).await?);
            }
            codes = Some(flow);
            let body = "grant_type=client_credentials".into();
            let answer = connection
                .form("/token", Some(&authorization), body)
                .await?;
            let token = answer.json()?["access_token"].as_str().map(str::to_owned);
            token.ok_or_else(|| Failure::from("no access_token"))
        })?;
        let spent = local.block_on(&runtime, logins(&provider, client.client_id()))?;
        eprintln!(
            "{:<9} {} node(s)  a login with a password, to its code: cpu of its node {:.1} ms",
            self.engine,
            self.nodes.servers.len() + 1,
            spent / 1e3
        );
        self.lines.push(json!({
            "engine": self.engine, "nodes": self.nodes.servers.len() + 1,
            "what": "login with a password", "cpu_us": {"nodes": spent},
        }));
        self.nodes.servers.insert(0, provider.server);

        let time = self.arguments.time;
        let post = |path: &str, body: &str| {
            format!(
                "POST {path} HTTP/1.1\r\nhost: localhost\r\nauthorization: {authorization}\r\n\
                 content-type: application/x-www-form-urlencoded\r\ncontent-length: {}\r\n\r\n{body}",
                body.len()
            )
        };
        let health = "GET /health/live HTTP/1.1\r\nhost: localhost\r\n\r\n".to_owned();
        let token = post("/token", "grant_type=client_credentials");
        let introspect = post("/introspect", &format!("token={access}"));
        for (what, request) in [
            ("health (the floor of HTTP)", health),
            ("client_credentials", token),
            ("introspection", introspect),
        ] {
            self.measure(what, |nodes| everywhere(nodes, count, time, request.into()))?;
        }
        let flow = Rc::new(codes.ok_or("no session")?);
        self.measure("code, asked and redeemed", |nodes| {
            local.block_on(&runtime, code_flows(nodes, count, time, &flow))
        })?;
        let mut rotations = Rotations {
            targets: spread(&self.nodes, count)?,
            tokens,
            authorization: authorization.clone(),
            time,
        };
        self.measure("refresh rotation", |_| rotations.run())?;
        self.idle()
    }

    /// What a node costs while nothing happens, for an hour.
    fn idle(&mut self) -> Result<(), Failure> {
        let time = self.arguments.idle;
        if time.is_zero() {
            return Ok(());
        }
        // What the load left to do is done.
        std::thread::sleep(Duration::from_secs(2));
        let before = (
            Spent::now(&self.nodes, self.postgres)?,
            self.nodes.ran_ns()?,
        );
        let begun = Instant::now();
        std::thread::sleep(time);
        let ran = self.nodes.ran_ns()? - before.1;
        // The question for the bytes is none of the idle hour's, but for its own few.
        let after = Spent::now(&self.nodes, self.postgres)?;
        let count = self.nodes.servers.len();
        let hours = begun.elapsed().as_secs_f64() / 3600.0;
        let an_hour = |spent: u64| spent as f64 / hours / count as f64;
        let cpu_s = an_hour(ran) / 1e9;
        let (sent, written) = (
            an_hour(after.sent.saturating_sub(before.0.sent)),
            an_hour(after.written.saturating_sub(before.0.written)),
        );
        let database = after.database.saturating_sub(before.0.database) as f64 / hours / 1e6;
        let wal = after.wal.saturating_sub(before.0.wal) as f64 / hours;
        eprintln!(
            "{:<9} {count} node(s)  idle, an hour of a node, from {:.0} s: cpu {cpu_s:.1} s, sent {:.2} MB, \
             written {:.2} MB; of the database: cpu {database:.1} s, wal {:.2} MB",
            self.engine,
            time.as_secs_f64(),
            sent / 1e6,
            written / 1e6,
            wal / 1e6,
        );
        self.lines.push(json!({
            "engine": self.engine, "nodes": count, "what": "idle hour", "seconds": time.as_secs_f64(),
            "cpu_s": cpu_s, "sent": sent, "written": written, "database_cpu_s": database, "wal": wal,
        }));
        Ok(())
    }
}

/// Processor time of its node for a login, microseconds: pages, password and consent, to the code.
async fn logins(provider: &Provider, client_id: &str) -> Result<f64, Failure> {
    const TIMES: u32 = 10;
    let mut connection = provider.target()?.connect().await?;
    let before = provider.server.cpu_us()?;
    for _ in 0..TIMES {
        let done = provider.log_in(&mut connection, client_id, REDIRECT);
        done.await?;
    }
    Ok((provider.server.cpu_us()? - before) as f64 / f64::from(TIMES))
}

/// Connections to the nodes in turn.
fn spread(nodes: &Nodes, count: usize) -> Result<Vec<signet_bench::client::Target>, Failure> {
    let targets: Vec<_> = nodes
        .servers
        .iter()
        .map(|server| server.target())
        .collect::<Result<_, _>>()?;
    Ok(targets.iter().cycle().take(count).cloned().collect())
}

/// The same request at all nodes, a thread for each.
fn everywhere(
    nodes: &Nodes,
    connections: usize,
    time: Duration,
    request: Vec<u8>,
) -> Result<Measured, Failure> {
    let requests = Arc::new(vec![request]);
    let mut threads = Vec::new();
    for server in &nodes.servers {
        let target = server.target()?;
        let load = Load {
            port: target.port,
            tls: Some(target.tls()),
            connections: connections / nodes.servers.len(),
            requests: requests.clone(),
            from: 0,
            time,
        };
        threads.push(std::thread::spawn(move || load.closed()));
    }
    let all = threads.into_iter();
    let all = all.map(|thread| thread.join().map_err(|_| "a thread of the load ended")?);
    Ok(Measured::join(all.collect::<Result<_, Failure>>()?))
}

/// Code flows at all nodes. Each counts once.
async fn code_flows(
    nodes: &Nodes,
    connections: usize,
    time: Duration,
    flow: &Rc<CodeFlow>,
) -> Result<Measured, Failure> {
    let mut open = Vec::new();
    for target in spread(nodes, connections)? {
        open.push(target.connect().await?);
    }
    let begun = Instant::now();
    let mut tasks = Vec::new();
    for mut connection in open {
        let flow = flow.clone();
        tasks.push(tokio::task::spawn_local(async move {
            let mut took = Vec::new();
            while begun.elapsed() < time {
                let one = Instant::now();
                flow.run(&mut connection).await?;
                took.push(u32::try_from(one.elapsed().as_micros()).unwrap_or(u32::MAX));
            }
            Ok::<_, Failure>(took)
        }));
    }
    let mut measured = Measured::default();
    for task in tasks {
        measured.accepted_us.extend(task.await??);
    }
    let count = measured.accepted_us.len() as u64;
    measured.rate = count as f64 / begun.elapsed().as_secs_f64();
    measured.statuses[2] = count;
    measured.accepted_us.sort_unstable();
    Ok(measured)
}

/// Conditional changes a second of the embedded store alone, as many in flight; 200 bytes each, as
/// a family's row is.
fn embedded_floor(in_flight: usize, time: Duration) -> Result<f64, Failure> {
    let directory = tempfile::tempdir()?;
    let store = SqliteStore::open(directory.path(), sqlite::Options::default())?;
    let store: Arc<dyn Store> = Arc::new(store);
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    let count = Arc::new(AtomicU64::new(0));
    let begun = Instant::now();
    runtime.block_on(async {
        let mut tasks = tokio::task::JoinSet::new();
        for family in 0..in_flight as u64 {
            let (store, count) = (store.clone(), count.clone());
            tasks.spawn(async move {
                let key = Key::new(Table::Family, family.to_be_bytes());
                let value = || vec![7; 200];
                let end = Some(1 << 40);
                let mut op = Op::Put {
                    key: key.clone(),
                    value: value(),
                    end,
                };
                while begun.elapsed() < time {
                    let outcome = store.commit(Change::new(op), 1).await?;
                    let Outcome::Done { version } = outcome else {
                        return Err(Failure::from("a change was refused"));
                    };
                    op = Op::Replace {
                        key: key.clone(),
                        version,
                        value: value(),
                        end,
                    };
                    count.fetch_add(1, Relaxed);
                }
                Ok(())
            });
        }
        while let Some(done) = tasks.join_next().await {
            done??;
        }
        Ok::<_, Failure>(())
    })?;
    Ok(count.load(Relaxed) as f64 / begun.elapsed().as_secs_f64())
}

fn main() -> Result<(), Failure> {
    let arguments = Arguments::parse()?;
    let mut lines = Vec::new();
    let wants = |engine: &str| arguments.engines.iter().any(|own| own == engine);
    let floor = |engine: &str, rate: f64, lines: &mut Vec<Value>| {
        eprintln!(
            "{engine:<9} the floor: {rate:.0} changes a second, {} in flight",
            arguments.in_flight
        );
        lines.push(json!({"engine": engine, "what": "floor", "per_second": rate}));
    };
    if wants("embedded") {
        let rate = embedded_floor(arguments.in_flight, arguments.time)?;
        floor("embedded", rate, &mut lines);
        for count in &arguments.nodes {
            let bench = Bench {
                arguments: &arguments,
                engine: "embedded",
                postgres: None,
                nodes: Nodes::start(Engine::Embedded, *count)?,
                lines: &mut lines,
            };
            bench.run()?;
        }
    }
    if wants("postgres") {
        match Postgres::start()? {
            None => eprintln!("postgres: not measured, its packages are not installed"),
            Some(postgres) => {
                let seconds = arguments.time.as_secs().max(1);
                let rate = postgres.updates_per_second(arguments.in_flight, seconds)?;
                floor("postgres", rate, &mut lines);
                for count in &arguments.nodes {
                    let url = postgres.database(&format!("nodes{count}"))?;
                    let bench = Bench {
                        arguments: &arguments,
                        engine: "postgres",
                        postgres: Some(&postgres),
                        nodes: Nodes::start(Engine::Postgres(&url), *count)?,
                        lines: &mut lines,
                    };
                    bench.run()?;
                }
            }
        }
    }
    let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/bench");
    std::fs::create_dir_all(&place)?;
    std::fs::write(place.join("nodes.json"), serde_json::to_vec_pretty(&lines)?)?;
    Ok(())
}
