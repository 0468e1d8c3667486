//! Mass revocation: the answer waits for every node and for every gate that reads a node's stream
//! of revocations.
use crate::{
    cluster::Cluster,
    floor::Floor,
    numbers::{Times, verdict},
};
use serde_json::{Value, json};
use signet_bench::{client::Failure, process::binary};
use std::{
    fs::{self, File},
    path::PathBuf,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

/// Gates, each on the stream of another node.
const GATES: usize = 3;
/// What is aimed at, 99 of 100.
const AIM_MS: f64 = 5.0;
const PATIENCE: Duration = Duration::from_secs(60);

struct Gate(Child);

impl Drop for Gate {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn start(cluster: &Cluster, number: usize) -> Result<Gate, Failure> {
    let home = cluster.directory.path();
    let issuer = cluster.nodes[0].port;
    // The nodes at the end: spokes, where there are hubs.
    let node = cluster.nodes.len() - 1 - number % cluster.nodes.len();
    let stream = cluster.nodes[node].port;
    let file = home.join(format!("gate-{number}.toml"));
    fs::write(
        &file,
        format!(
            "listen = \"127.0.0.1:0\"\n[outbound]\ntrust = \"ca.pem\"\nallow_loopback = true\n[[issuers]]\nissuer = \"https://localhost:{issuer}\"\n[issuers.revocations]\nurl = \"https://localhost:{stream}/revocations\"\nclient = {{ client_id = \"gate\", client_secret_file = \"secret\" }}\n[[policies]]\naudiences = [\"https://localhost:{issuer}\"]\n"
        ),
    )?;
    let log: PathBuf = home.join(format!("gate-{number}.log"));
    let output = File::create(log)?;
    let child = Command::new(binary()?)
        .args(["gate", "--config"])
        .arg(file)
        .env_remove("RUST_LOG")
        .stdin(Stdio::null())
        .stdout(output.try_clone()?)
        .stderr(output)
        .spawn()?;
    Ok(Gate(child))
}

pub(crate) async fn revoke(size: usize, writes: usize, floor: &Floor) -> Result<Value, Failure> {
    let cluster = Cluster::start(crate::plan(size, None)).await?;
    let gates: Vec<Gate> = (0..GATES)
        .map(|number| start(&cluster, number))
        .collect::<Result<_, _>>()?;
    let begun = Instant::now();
    let mut number = 0;
    loop {
        let (answer, _) = cluster.revoke_with_receipt(0, number).await?;
        number += 2;
        if answer["readers"].as_array().map_or(0, Vec::len) == gates.len() {
            break;
        }
        if begun.elapsed() > PATIENCE {
            return Err(format!("the gates do not acknowledge: {answer}").into());
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let (mut nodes, mut readers, mut word, mut caller) = (
        Times::default(),
        Times::default(),
        Times::default(),
        Times::default(),
    );
    for _ in 0..writes {
        // Always the same client, and not the one that the gates are.
        let (answer, took) = cluster.revoke_with_receipt(0, 0).await?;
        let heard = answer["readers"].as_array().map_or(&[][..], Vec::as_slice);
        if heard.len() != gates.len() {
            return Err(format!("not all gates acknowledged: {answer}").into());
        }
        let latest = cluster.latest(&answer)?;
        let last = heard.iter().filter_map(|reader| reader["ms"].as_f64());
        let last = Duration::from_secs_f64(last.fold(0.0, f64::max) / 1e3);
        nodes.add(latest);
        readers.add(last);
        word.add(latest + last);
        caller.add(took);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    println!("\n{size} nodes and {GATES} gates");
    println!("  nodes                {nodes}");
    println!("  gates, asked then    {readers}");
    println!(
        "  both                 {word}{}",
        verdict(word.hundredth(99), Some(AIM_MS))
    );
    println!("  seen by the caller   {caller}");
    Ok(json!({
        "name": format!("{size} nodes and {GATES} gates"), "nodes": size, "gates": GATES,
        "nodes_ms": nodes.json(), "gates_ms": readers.json(), "both_ms": word.json(),
        "caller_ms": caller.json(), "floor_ms": floor.between(size, 0.0), "aim_p99_ms": AIM_MS,
    }))
}
