//! How fast several nodes agree: real processes of the release binary, with addresses, keys and
//! disks of their own.
//!
//! `make build && cargo bench -p signet-bench --bench converge`. For each size of a cluster: a
//! revocation and a change of a client, again and again at one node; the time from the word (the
//! change is durable in the store, and is announced) until every other node has acknowledged that
//! it is in effect there, as the node that was asked measures it, and the time that the caller
//! waits. Beside them what they cannot be faster than, measured in the same run between two
//! processes: the two signatures, their verification, and a frame of that size over TLS and back.
//!
//! Then the same behind relays that hold everything back for 20 ms each way; mass revocation with
//! gates that read the stream of revocations; and what a token costs one node of ten while the
//! others have nothing to do. NODES (2,3,5,10), WRITES (100) and the scenarios after `--` (mesh,
//! delay, gates, tokens) say what is done.
#![allow(clippy::print_stdout, reason = "a report is its output")]

mod cluster;
mod floor;
mod gates;
mod numbers;
mod relay;
mod tokens;

use cluster::{Cluster, Plan};
use numbers::Times;
use serde_json::{Value, json};
use signet_bench::client::Failure;
use std::{fs, path::Path, time::Duration};

/// Up to so many nodes are a full mesh; more have hubs.
const MESH: usize = 5;
/// Of the larger ones.
const HUBS: usize = 3;
/// What the relays add each way.
const DELAY: Duration = Duration::from_millis(20);

/// What is aimed at: milliseconds on average for a cluster of so many.
const AIMS: [(usize, f64); 4] = [(2, 1.0), (3, 1.0), (5, 2.0), (10, 3.0)];
/// Beyond the injected delay.
const DELAY_AIM_MS: f64 = 3.0;

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().collect();
    if let [_, first, directory, ..] = &arguments[..]
        && first == floor::ARGUMENT
    {
        return floor::answer(Path::new(directory));
    }
    // `cargo test` runs benches with --test, and without the release binary there is nothing to
    // measure.
    if arguments.iter().any(|argument| argument == "--test") {
        return Ok(());
    }
    let chosen = |name: &str| {
        let mut named = arguments[1..].iter().filter(|a| !a.starts_with('-'));
        named.clone().next().is_none() || named.any(|argument| argument == name)
    };
    let sizes = std::env::var("NODES").unwrap_or_else(|_| "2,3,5,10".to_owned());
    let sizes: Vec<usize> = sizes.split(',').map(str::parse).collect::<Result<_, _>>()?;
    let writes: usize = std::env::var("WRITES").map_or(Ok(100), |text| text.parse())?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let local = tokio::task::LocalSet::new();
    let floor = floor::measure(writes)?;
    println!("{floor}");
    let mut rows = Vec::new();
    local.block_on(&runtime, async {
        for &size in &sizes {
            if chosen("mesh") {
                rows.push(agree(size, None, writes, &floor).await?);
            }
            if chosen("delay") {
                rows.push(agree(size, Some(DELAY), writes, &floor).await?);
            }
        }
        if chosen("gates") {
            for &size in &sizes {
                rows.push(gates::revoke(size, writes, &floor).await?);
            }
        }
        if chosen("tokens") {
            let largest = sizes.iter().copied().max().unwrap_or(1);
            rows.push(tokens::beside_idle(largest).await?);
        }
        Ok::<_, Failure>(())
    })?;
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/bench");
    fs::create_dir_all(&directory)?;
    let report = json!({ "floor": floor.json(), "scenarios": rows });
    fs::write(
        directory.join("converge.json"),
        serde_json::to_vec_pretty(&report)?,
    )?;
    Ok(())
}

/// A cluster of this size, as it is measured.
fn plan(size: usize, delay: Option<Duration>) -> Plan {
    Plan {
        size,
        hubs: if size > MESH { HUBS } else { 0 },
        delay,
    }
}

async fn agree(
    size: usize,
    delay: Option<Duration>,
    writes: usize,
    floor: &floor::Floor,
) -> Result<Value, Failure> {
    let cluster = Cluster::start(plan(size, delay)).await?;
    let added = delay.map_or(0.0, |delay| delay.as_secs_f64() * 1e3);
    let name = format!(
        "{size} nodes{}{}",
        if size > MESH { ", hubs" } else { "" },
        if delay.is_some() { ", 20 ms away" } else { "" }
    );
    println!("\n{name}");
    let least = floor.between(size, added);
    let aim = match delay {
        Some(_) => Some(added + DELAY_AIM_MS),
        None => AIMS.iter().find(|(of, _)| *of == size).map(|(_, ms)| *ms),
    };
    let mut rows = Vec::new();
    for what in ["revocation", "change of a client"] {
        let (mut in_effect, mut caller) = (Times::default(), Times::default());
        let before = cluster.cpu_us()?;
        let begun = std::time::Instant::now();
        for number in 0..writes {
            let (word, whole) = match what {
                "revocation" => cluster.revoke(0, number).await?,
                _ => cluster.change(0, number).await?,
            };
            // It was in effect before the acknowledgement was on its way back.
            in_effect.add(word.saturating_sub(delay.unwrap_or_default()));
            caller.add(whole);
            // Each by itself: what is measured is no throughput.
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        let cpu: u64 = cluster.cpu_us()? - before;
        let busy = cpu as f64 / begun.elapsed().as_micros() as f64;
        println!(
            "  {what:<20} in effect at all {in_effect}  floor {least:.2} ms, ratio {:.2}{}",
            in_effect.mean() / least,
            numbers::verdict(in_effect.mean(), aim)
        );
        println!("  {:<20} seen by the caller  {caller}", "");
        rows.push(json!({
            "what": what, "in_effect_ms": in_effect.json(), "caller_ms": caller.json(),
            "floor_ms": least, "aim_ms": aim, "cores_busy_with_nodes": busy,
        }));
    }
    cluster.agrees(writes - 1).await?;
    Ok(json!({ "name": name, "nodes": size, "delay_ms": added, "rows": rows }))
}
