//! What much state costs: clients and revocations by the hundred thousand. Start and reload of a
//! node, its memory and disk, how long a write, a list and a question take, a new node's join, and
//! what the nodes spend on comparing what they know while nothing happens; each beside the same
//! with an empty registry, in the same run.
//!
//! `cargo bench -p signet-bench --bench state -- [--clients 2000] [--revocations 20000] [--idle 5]`
//! (seconds of idling). Figures go to `target/bench/state.json`.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use bytes::Bytes;
use http::{Method, StatusCode};
use serde_json::{Value, json};
use signet_bench::{
    client::Failure,
    engine::Engine,
    nodes::{Nodes, said},
    process::Server,
};
use signet_store::{Change, Key, Op, Revoked, SqliteStore, Store, Subject, Table, sqlite};

struct Arguments {
    clients: usize,
    revocations: usize,
    idle: Duration,
}

impl Arguments {
    fn parse() -> Result<Arguments, Failure> {
        let mut read = Arguments {
            clients: 2000,
            revocations: 20_000,
            idle: Duration::from_secs(5),
        };
        let mut arguments = std::env::args().skip(1);
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().ok_or(format!("{argument} needs a value"));
            match &*argument {
                "--clients" => read.clients = value()?.parse()?,
                "--revocations" => read.revocations = value()?.parse()?,
                "--idle" => read.idle = Duration::from_secs_f64(value()?.parse()?),
                // Cargo's own.
                "--bench" => {}
                other => return Err(format!("unknown: {other}").into()),
            }
        }
        Ok(read)
    }
}

fn runtime() -> Result<tokio::runtime::Runtime, Failure> {
    Ok(tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?)
}

/// Writes copies of the development client `web` and revocations of sessions into the store of a
/// node that is stopped.
fn fill(directory: &Path, arguments: &Arguments) -> Result<(), Failure> {
    let developer: Value = serde_json::from_slice(&std::fs::read(directory.join("dev.json"))?)?;
    let web = developer["clients"]["web"]["client_id"].as_str();
    let web = web.ok_or("no client web")?.to_owned();
    let store = SqliteStore::open(directory, sqlite::Options::default())?;
    let now = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)?
        .as_secs();
    let clients = |record: Value| {
        let copy = move |n: usize| {
            let id = format!("state-{n:07}");
            let mut record = record.clone();
            record["client_id"] = id.clone().into();
            let value = serde_json::to_vec(&record)?;
            let key = Key::new(Table::Client, id);
            Ok::<_, Failure>(Op::Put {
                key,
                value,
                end: None,
            })
        };
        (0..arguments.clients).map(copy)
    };
    let revocations = (0..arguments.revocations).map(|n| {
        let subject = Subject::Session(format!("session-{n:012}"));
        let end = now + 86_400;
        let (name, said) = Revoked { subject, end }.to_parts();
        let key = Key::with_sort(Table::Revocation, name, said);
        let value = said[..8].to_vec();
        Ok(Op::Put {
            key,
            value,
            end: Some(end),
        })
    });
    runtime()?.block_on(async {
        let row = store.get(&Key::new(Table::Client, web), now).await?;
        let record = serde_json::from_slice(&row.ok_or("no row of the client")?.value)?;
        let mut ops: Vec<Op> = Vec::new();
        let mut changes: Vec<Change> = Vec::new();
        for op in clients(record).chain(revocations) {
            ops.push(op?);
            if ops.len() == signet_store::COLLECTED {
                let mut all = ops.drain(..);
                let mut change = Change::new(all.next().ok_or("none")?);
                change.then.extend(all);
                changes.push(change);
            }
            if changes.len() == 64 {
                store.commit_each(std::mem::take(&mut changes), now).await?;
            }
        }
        changes.extend(ops.into_iter().map(Change::new));
        store.commit_each(changes, now).await?;
        Ok(())
    })
}

/// The mean time of `times` requests, each of which `ask` makes, milliseconds.
fn mean_ms(
    server: &Server,
    times: usize,
    method: Method,
    path: &str,
    status: StatusCode,
    ask: impl Fn(usize) -> String,
) -> Result<f64, Failure> {
    let target = server.target()?;
    let local = tokio::task::LocalSet::new();
    local.block_on(&runtime()?, async {
        let mut connection = target.connect().await?;
        let mut total = Duration::ZERO;
        for n in 0..times {
            let headers = [("content-type", "application/json")];
            let body = Bytes::from(ask(n));
            let begun = Instant::now();
            let answer = connection
                .send(method.clone(), path, &headers, body)
                .await?;
            total += begun.elapsed();
            if answer.status != status {
                let text = String::from_utf8_lossy(&answer.body);
                return Err(format!("{path}: {} {text}", answer.status).into());
            }
        }
        Ok(total.as_secs_f64() * 1e3 / times as f64)
    })
}

fn disk_bytes(directory: &Path) -> u64 {
    let files = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let sizes = files.map(|file| {
        let path = file.path();
        match path.is_dir() {
            true => disk_bytes(&path),
            false => path.metadata().map_or(0, |meta| meta.len()),
        }
    });
    sizes.sum()
}

/// What one node with its state costs.
fn node(what: &str, server: &Server, start: Duration) -> Result<Value, Failure> {
    let register = |n: usize| {
        format!(r#"{{"client_name":"state {n}","redirect_uris":["https://app{n}.example/cb"]}}"#)
    };
    let resident = server.resident_bytes()?;
    let registration = mean_ms(
        server,
        8,
        Method::POST,
        "/register",
        StatusCode::CREATED,
        register,
    )?;
    let metadata = "/.well-known/openid-configuration";
    let request = mean_ms(server, 200, Method::GET, metadata, StatusCode::OK, |_| {
        String::new()
    })?;
    let begun = Instant::now();
    let list = said(
        server.directory(),
        &["client", "list", "--json", "--limit", "1000"],
    )?;
    let listed = serde_json::from_str::<Value>(&list)?;
    let listed = listed.as_array().map_or(0, Vec::len);
    let list_ms = begun.elapsed().as_secs_f64() * 1e3;
    let begun = Instant::now();
    said(server.directory(), &["revoke", "--session", "no-session"])?;
    let revoke_ms = begun.elapsed().as_secs_f64() * 1e3;
    let disk = disk_bytes(server.directory());
    eprintln!(
        "{what:<24} start {:>8.0} ms  resident {:>7.1} MB  disk {:>7.1} MB  registration \
         {registration:>6.2} ms  metadata {request:>5.2} ms  first {listed} listed {list_ms:>6.0} ms  \
         revocation by the command {revoke_ms:>5.0} ms",
        start.as_secs_f64() * 1e3,
        resident as f64 / 1e6,
        disk as f64 / 1e6,
    );
    Ok(json!({
        "what": what, "start_ms": start.as_secs_f64() * 1e3, "resident_bytes": resident,
        "disk_bytes": disk, "registration_ms": registration, "metadata_ms": request,
        "list_ms": list_ms, "listed": listed, "revoke_ms": revoke_ms,
    }))
}

/// A second and a third node join; then nothing happens.
fn joined(what: &str, server: Server, idle: Duration) -> Result<Value, Failure> {
    let mut nodes = Nodes {
        servers: vec![server],
    };
    let mut joins = Vec::new();
    for _ in 0..2 {
        joins.push(nodes.join(Engine::Embedded)?.as_secs_f64() * 1e3);
        nodes.wait_ready()?;
    }
    std::thread::sleep(Duration::from_secs(1));
    let resident: Vec<u64> = nodes
        .servers
        .iter()
        .map(Server::resident_bytes)
        .collect::<Result<_, _>>()?;
    let before = nodes.cpu_us()?;
    std::thread::sleep(idle);
    let cpu = (nodes.cpu_us()? - before) as f64 / nodes.servers.len() as f64;
    let each = cpu / idle.as_secs_f64();
    let disks: Vec<u64> = nodes
        .servers
        .iter()
        .map(|server| disk_bytes(server.directory()))
        .collect();
    let mb = |all: &[u64]| {
        let all: Vec<String> = all
            .iter()
            .map(|n| format!("{:.0}", *n as f64 / 1e6))
            .collect();
        all.join(" ")
    };
    eprintln!(
        "{what:<24} join {:.0} and {:.0} ms  resident {} MB  disk {} MB  idle, each: {each:.0} us of cpu a second",
        joins[0],
        joins[1],
        mb(&resident),
        mb(&disks),
    );
    Ok(json!({
        "what": what, "join_ms": joins, "resident_bytes": resident, "disk_bytes": disks,
        "idle_cpu_us_per_second": each,
    }))
}

fn main() -> Result<(), Failure> {
    let arguments = Arguments::parse()?;
    let mut lines = Vec::new();
    for full in [false, true] {
        let count = if full { arguments.clients } else { 0 };
        let revocations = if full { arguments.revocations } else { 0 };
        let what = format!("{count} clients, {revocations} revoked");
        let stopped = Server::signet()?.stop()?;
        if full {
            let begun = Instant::now();
            fill(stopped.directory.path(), &arguments)?;
            eprintln!("written in {:.1} s", begun.elapsed().as_secs_f64());
        }
        let (server, start) = stopped.start(Engine::Embedded)?;
        lines.push(node(&what, &server, start)?);
        lines.push(joined(&format!("{what}, joined"), server, arguments.idle)?);
    }
    let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/bench");
    std::fs::create_dir_all(&place)?;
    std::fs::write(place.join("state.json"), serde_json::to_vec_pretty(&lines)?)?;
    Ok(())
}
