//! The faults: a row each.

use std::{future::Future, path::Path, pin::Pin, time::Duration};

use rustix::process::Signal;
use tokio::time::sleep;

use crate::{
    client::Call,
    load::AtEach,
    scene::{Scene, Struck},
};

/// Where rows are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Store {
    /// The embedded store, replicated by consensus.
    Embedded,
    /// The same, each node's on a small file system.
    SmallDisks,
    /// PostgreSQL, a primary and a synchronous standby.
    Postgres,
}

/// What a fault does.
pub type Strike = for<'a> fn(&'a Scene) -> Doing<'a>;
type Doing<'a> = Pin<Box<dyn Future<Output = Result<Struck, String>> + 'a>>;

/// A fault.
pub struct Fault {
    /// As `--only` names it.
    pub name: &'static str,
    /// What happens, in a line.
    pub what: &'static str,
    /// Nodes.
    pub nodes: usize,
    /// Where rows are.
    pub store: Store,
    /// Whether it begins with an earlier binary.
    pub from_old: bool,
    /// Whether it is one of the few that always run.
    pub quick: bool,
    /// See there.
    pub strike: Strike,
}

const fn fault(name: &'static str, nodes: usize, what: &'static str, strike: Strike) -> Fault {
    Fault {
        name,
        what,
        nodes,
        store: Store::Embedded,
        from_old: false,
        quick: false,
        strike,
    }
}

const fn quick(fault: Fault) -> Fault {
    Fault {
        quick: true,
        ..fault
    }
}

const fn over(store: Store, fault: Fault) -> Fault {
    Fault { store, ..fault }
}

/// All faults.
#[rustfmt::skip]
pub static FAULTS: [Fault; 20] = [
    quick(fault("kill-leader", 3, "kill -9 of the leader; started again", |s| Box::pin(kill(s, Who::Leader, 1)))),
    fault("kill-follower", 3, "kill -9 of another node; started again", |s| Box::pin(kill(s, Who::Other, 1))),
    fault("kill-two-of-five", 5, "kill -9 of the leader and another node; started again", |s| Box::pin(kill(s, Who::Leader, 2))),
    fault("kill-all", 3, "kill -9 of all nodes at once; started together", |s| Box::pin(kill(s, Who::Leader, 3))),
    fault("pause-leader", 3, "the leader's process is paused (SIGSTOP), and goes on", |s| Box::pin(pause(s, Who::Leader))),
    fault("pause-follower", 3, "another node's process is paused, and goes on", |s| Box::pin(pause(s, Who::Other))),
    quick(fault("partition-leader", 3, "the leader is cut off from the others", |s| Box::pin(partition(s, Who::Leader, 1)))),
    fault("partition-follower", 3, "another node is cut off from the others", |s| Box::pin(partition(s, Who::Other, 1))),
    fault("partition-two-of-five", 5, "the leader and another node are cut off from the other three", |s| Box::pin(partition(s, Who::Leader, 2))),
    fault("partition-all", 3, "no node reaches another", |s| Box::pin(partition(s, Who::Leader, 3))),
    fault("leader-unheard", 3, "what the leader sends to other nodes is lost", |s| Box::pin(one_way(s, Who::Leader, true))),
    fault("leader-deaf", 3, "what other nodes send to the leader is lost", |s| Box::pin(one_way(s, Who::Leader, false))),
    fault("follower-unheard", 3, "what another node sends to the others is lost", |s| Box::pin(one_way(s, Who::Other, true))),
    quick(fault("rolling-restart", 3, "each node is asked to stop and started again, one after another", |s| Box::pin(rolling(s)))),
    fault("rolling-restart-of-five", 5, "the same, of five nodes", |s| Box::pin(rolling(s))),
    Fault { from_old: true, ..fault("rolling-upgrade", 3, "each node is stopped and started with the new binary, one after another", |s| Box::pin(rolling(s))) },
    fault("keys-and-join", 3, "signing and sealing keys are rotated, and a fourth node joins", |s| Box::pin(keys_and_join(s))),
    over(Store::SmallDisks, fault("disk-full-leader", 3, "the leader's disk is full; then there is space again", |s| Box::pin(disk_full(s, Who::Leader)))),
    over(Store::SmallDisks, fault("disk-full-follower", 3, "another node's disk is full; then there is space again", |s| Box::pin(disk_full(s, Who::Other)))),
    over(Store::Postgres, fault("postgres-failover", 3, "the PostgreSQL primary is killed; a second later its synchronous standby is promoted", |s| Box::pin(database_failover(s)))),
];

/// Whom a fault meets.
#[derive(Clone, Copy)]
enum Who {
    /// The node that orders changes.
    Leader,
    /// One that does not.
    Other,
}

impl Scene {
    /// So many nodes, from that one on.
    async fn met(&self, who: Who, count: usize) -> Result<Vec<usize>, String> {
        let size = self.cluster.size();
        let all: Vec<usize> = (0..size).collect();
        let leader = self.cluster.leader(&all).await?;
        let first = match who {
            Who::Leader => leader,
            Who::Other => leader + 1,
        };
        Ok((first..first + count).map(|node| node % size).collect())
    }

    /// All of it is taken away: waits until all agree.
    async fn healed(&self, from: Duration, apart: Vec<usize>) -> Result<Struck, String> {
        self.recorder.healed();
        let begun = self.recorder.now();
        self.cluster.agreed().await?;
        self.recorder.joined();
        Ok(Struck {
            from,
            heal: self.recorder.now().saturating_sub(begun),
            apart,
        })
    }

    /// The fault lasts; meanwhile every flow is tried at each node that is not met.
    async fn hold(&self, met: &[usize]) {
        let others = (0..self.cluster.size()).filter(|node| !met.contains(node));
        self.at_each.set(met.len() < self.cluster.size());
        let clients = AtEach::of(&self.clients, others);
        sleep(self.options.hold).await;
        clients.end().await;
    }
}

async fn kill(scene: &Scene, who: Who, count: usize) -> Result<Struck, String> {
    let met = scene.met(who, count).await?;
    let from = scene.recorder.now();
    for node in &met {
        scene.cluster.signal(*node, Signal::KILL);
    }
    if count < scene.cluster.size() {
        scene.hold(&met).await;
    }
    for node in &met {
        scene.cluster.kill(*node).await?;
    }
    let started = scene.recorder.now();
    for node in &met {
        scene.cluster.start(*node, None)?;
    }
    for node in &met {
        scene.cluster.answers(*node).await?;
    }
    let mut struck = scene.healed(from, met).await?;
    struck.heal = scene.recorder.now().saturating_sub(started);
    Ok(struck)
}

async fn pause(scene: &Scene, who: Who) -> Result<Struck, String> {
    let met = scene.met(who, 1).await?;
    scene.recorder.cut(met[0]);
    let from = scene.recorder.now();
    scene.cluster.signal(met[0], Signal::STOP);
    scene.hold(&met).await;
    scene.cluster.signal(met[0], Signal::CONT);
    scene.healed(from, met).await
}

async fn partition(scene: &Scene, who: Who, count: usize) -> Result<Struck, String> {
    let met = scene.met(who, count).await?;
    let (network, size) = (&scene.cluster.network, scene.cluster.size());
    for node in &met {
        scene.recorder.cut(*node);
    }
    let from = scene.recorder.now();
    let alone = count == size;
    for one in 0..size {
        for other in (0..size).filter(|other| *other != one) {
            if alone || met.contains(&one) != met.contains(&other) {
                network.cut(one, other)?;
            }
        }
    }
    scene.hold(&met).await;
    network.heal()?;
    scene.healed(from, met).await
}

async fn one_way(scene: &Scene, who: Who, unheard: bool) -> Result<Struck, String> {
    let met = scene.met(who, 1).await?;
    let (network, one) = (&scene.cluster.network, met[0]);
    scene.recorder.cut(one);
    let from = scene.recorder.now();
    for other in (0..scene.cluster.size()).filter(|other| *other != one) {
        match unheard {
            true => network.cut(one, other)?,
            false => network.cut(other, one)?,
        }
    }
    scene.hold(&met).await;
    network.heal()?;
    scene.healed(from, met).await
}

/// The binary under test is what each node is started with.
async fn rolling(scene: &Scene) -> Result<Struck, String> {
    let from = scene.recorder.now();
    let mut heal = Duration::ZERO;
    for node in 0..scene.cluster.size() {
        scene.cluster.stop(node).await?;
        let binary: &Path = &scene.options.binary;
        let begun = scene.recorder.now();
        scene.cluster.start(node, Some(binary))?;
        scene.cluster.answers(node).await?;
        scene.cluster.agreed().await?;
        heal = heal.max(scene.recorder.now().saturating_sub(begun));
        sleep(scene.options.margin / 4).await;
    }
    let struck = scene.healed(from, Vec::new()).await?;
    Ok(Struck { heal, ..struck })
}

async fn keys_and_join(scene: &Scene) -> Result<Struck, String> {
    let from = scene.recorder.now();
    for path in ["/admin/v1/keys/rotate", "/admin/v1/keys/sealing/rotate"] {
        let call = Call::json(path, &serde_json::json!({}));
        let answer = scene.cluster.administer(1, call).await?;
        if !answer.status.is_success() {
            return Err(format!("{path}: {} {}", answer.status, answer.page()));
        }
        sleep(scene.options.hold / 4).await;
    }
    let begun = scene.recorder.now();
    scene.cluster.add(&scene.options.binary, None).await?;
    let struck = scene.healed(from, Vec::new()).await?;
    let heal = scene.recorder.now().saturating_sub(begun);
    sleep(scene.options.hold / 2).await;
    if scene.recorder.taken().signed_with.len() < 2 {
        return Err("no token was signed with the key after the rotation".to_owned());
    }
    Ok(Struck { heal, ..struck })
}

async fn disk_full(scene: &Scene, who: Who) -> Result<Struck, String> {
    let met = scene.met(who, 1).await?;
    let disk = scene
        .disks
        .get(met[0])
        .ok_or("the node has no disk of its own")?;
    let filler = disk.join("filler");
    fill(&filler).map_err(|e| format!("the disk cannot be filled: {e}"))?;
    // A store has room of its own for a moment: what it accepts by that says nothing.
    scene.cluster.says_that_its_disk_is_full(met[0]).await?;
    let from = scene.recorder.now();
    scene.hold(&met).await;
    std::fs::remove_file(&filler).map_err(|e| e.to_string())?;
    scene.healed(from, met).await
}

fn fill(path: &Path) -> std::io::Result<()> {
    use std::io::Write;
    let mut file = std::fs::File::create(path)?;
    for size in [1 << 16, 1 << 12, 1] {
        while file.write_all(&vec![7; size]).is_ok() {}
    }
    Ok(())
}

async fn database_failover(scene: &Scene) -> Result<Struck, String> {
    let databases = scene.databases.as_ref().ok_or("there is no database")?;
    let from = scene.recorder.now();
    databases.fail_over().await?;
    scene.hold(&[]).await;
    scene.healed(from, Vec::new()).await
}
