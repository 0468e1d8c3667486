//! What a token takes at one node of many, while the others have nothing to do, beside a node that
//! is alone; and what a node costs that has nothing to do.
use crate::{
    cluster::{Cluster, tokens},
    numbers::Times,
};
use serde_json::{Value, json};
use signet_bench::client::Failure;
use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

/// Requests before the other side has its turn.
const TURN: usize = 100;
const TURNS: usize = 20;
/// For how long the nodes are left alone.
const IDLE: Duration = Duration::from_secs(10);
/// Of the one node's time.
const AIM: f64 = 1.1;

/// The threads that woke most, with wake-ups a second.
fn shown(threads: &[(String, f64)]) -> String {
    let each = threads
        .iter()
        .take(8)
        .map(|(name, rate)| format!("{name} {rate:.1}"));
    each.collect::<Vec<_>>().join(", ")
}

struct Idle {
    /// Of a core.
    cpu: f64,
    wakeups: Vec<(String, f64)>,
}

impl Idle {
    fn rate(&self) -> f64 {
        self.wakeups.iter().map(|(_, rate)| rate).sum()
    }

    fn json(&self) -> Value {
        json!({
            "cpu_of_a_core": self.cpu, "wakeups_a_second": self.rate(),
            "by_thread": self.wakeups.iter().cloned().collect::<BTreeMap<_, _>>(),
        })
    }
}

/// What the last node, which nobody asks anything, costs.
async fn idle(cluster: &Cluster) -> Result<Idle, Failure> {
    let node = &cluster.nodes[cluster.nodes.len() - 1];
    let (cpu, before, begun) = (node.cpu_us()?, node.wakeups()?, Instant::now());
    tokio::time::sleep(IDLE).await;
    let seconds = begun.elapsed().as_secs_f64();
    let after = node.wakeups()?;
    let mut wakeups: Vec<(String, f64)> = after
        .into_iter()
        .map(|(name, count)| {
            let earlier = before.get(&name).copied().unwrap_or_default();
            let rate = count.saturating_sub(earlier) as f64 / seconds;
            (name, rate)
        })
        .collect();
    wakeups.sort_by(|a, b| b.1.total_cmp(&a.1));
    let cpu = (node.cpu_us()? - cpu) as f64 / 1e6 / seconds;
    Ok(Idle { cpu, wakeups })
}

pub(crate) async fn beside_idle(size: usize) -> Result<Value, Failure> {
    let alone = Cluster::start(crate::plan(1, None)).await?;
    let idle_alone = idle(&alone).await?;
    let many = Cluster::start(crate::plan(size, None)).await?;
    // What a start leaves to do is done.
    tokio::time::sleep(Duration::from_secs(5)).await;
    let idle_many = idle(&many).await?;
    let (mut one, mut of_many) = (Times::default(), Times::default());
    let mut to_one = alone.target(0)?.connect().await?;
    let mut to_many = many.target(0)?.connect().await?;
    let (mut cpu_one, mut cpu_many) = (0, 0);
    for turn in 0..TURNS {
        // The first turn warms up both.
        let mut warm = Times::default();
        let (a, b) = match turn {
            0 => (&mut warm, &mut Times::default()),
            _ => (&mut one, &mut of_many),
        };
        let before = alone.cpu_us()?;
        tokens(&mut to_one, TURN, a).await?;
        let between = many.cpu_of(0)?;
        cpu_one += alone.cpu_us()? - before;
        tokens(&mut to_many, TURN, b).await?;
        cpu_many += many.cpu_of(0)? - between;
    }
    let ratio = of_many.mean() / one.mean();
    let medians = of_many.hundredth(50) / one.hundredth(50);
    let verdict = if medians <= AIM { "met" } else { "missed" };
    let each = |cpu: u64| cpu as f64 / (TURNS * TURN) as f64;
    println!("\na token of client_credentials, in turns");
    println!("  a node alone         {one}, cpu {:.0} us", each(cpu_one));
    println!(
        "  one of {size:<2} (idle)     {of_many}, cpu {:.0} us",
        each(cpu_many)
    );
    println!("  ratio of means {ratio:.2}, of medians {medians:.2}, aim {AIM} {verdict}");
    for (name, idle) in [("alone", &idle_alone), ("of many", &idle_many)] {
        println!(
            "  an idle node {name:<8} {:.2} % of a core, {:.0} wake-ups a second: {}",
            idle.cpu * 100.0,
            idle.rate(),
            shown(&idle.wakeups)
        );
    }
    Ok(json!({
        "name": format!("a token at one of {size} nodes"), "nodes": size,
        "alone_ms": one.json(), "of_many_ms": of_many.json(), "ratio_of_medians": medians,
        "ratio_of_means": ratio, "aim": AIM, "cpu_us": { "alone": each(cpu_one), "of_many": each(cpu_many) },
        "idle": { "alone": idle_alone.json(), "of_many": idle_many.json() },
    }))
}
