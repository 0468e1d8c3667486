//! One fault, from an empty cluster to what its history shows.

use std::{
    cell::Cell,
    path::{Path, PathBuf},
    rc::Rc,
    time::Duration,
};

use tokio::time::sleep;

use crate::{
    check::{Bounds, Findings, check},
    cluster::Cluster,
    faults::{Fault, Store},
    history::{History, Kind, Outcome, Recorder},
    load::Load,
    network::{MAX_NODES, Network},
    postgres::Servers,
    scene::{Options, Scene, Struck},
    settings::{Common, STALENESS},
};

/// Within this an answered revocation is known to every node that can be reached
/// (docs/consistency.md: the change log is the last way there, read every second).
pub const BOUNDS: Bounds = Bounds {
    told: Duration::from_secs(2),
    staleness: Duration::from_secs(STALENESS),
};

/// A line of the report.
pub struct Row {
    /// Which fault.
    pub fault: &'static Fault,
    /// What it did.
    pub struck: Struck,
    /// Whether every flow was tried at each node that was left.
    pub at_each: bool,
    /// Everything that was asked.
    pub history: History,
    /// What is wrong with that.
    pub findings: Findings,
}

/// A small disk.
fn small_disk(directory: &Path) -> Result<PathBuf, String> {
    let disk = directory.join("disk");
    std::fs::create_dir_all(&disk).map_err(|e| e.to_string())?;
    let mut mount = std::process::Command::new("mount");
    mount
        .args(["-t", "tmpfs", "-o", "size=96m", "tmpfs"])
        .arg(&disk);
    let done = mount.output().map_err(|e| e.to_string())?;
    match done.status.success() {
        true => Ok(disk),
        false => Err(String::from_utf8_lossy(&done.stderr).into_owned()),
    }
}

/// Starts a cluster, puts load on it, does the fault, and checks what was recorded. Within a
/// `LocalSet`.
pub async fn play(
    fault: &'static Fault,
    network: &Rc<Network>,
    options: &Options,
) -> Result<Row, String> {
    let home = tempfile::tempdir().map_err(|e| e.to_string())?;
    let databases = match fault.store {
        Store::Embedded | Store::SmallDisks => None,
        Store::Postgres => Some(Servers::start(home.path(), network.host()).await?),
    };
    let addresses = match &**network {
        Network::Namespaces => (0..MAX_NODES).map(|n| network.address(n)).collect(),
        Network::Loopback(_) => Vec::new(),
    };
    let store = match &databases {
        Some(servers) => servers.settings(),
        None => "[store]\nreserve_bytes = 4194304".to_owned(),
    };
    let common = Common::write(home.path(), &addresses, store)?;
    let cluster = Rc::new(Cluster::new(network.clone(), common)?);
    cluster.mixed.set(fault.from_old);
    let first = match fault.from_old {
        true => options.old.as_ref().ok_or("no earlier binary was named")?,
        false => &options.binary,
    };
    if let Some(servers) = &databases {
        servers.migrate(first)?;
    }
    let mut disks = Vec::new();
    for node in 0..fault.nodes {
        if fault.store == Store::SmallDisks {
            let place = home.path().join(format!("disk-{node}"));
            disks.push(small_disk(&place)?);
        }
        let disk = disks.get(node).map(|disk| disk.join("data"));
        if let Some(disk) = &disk {
            std::fs::create_dir_all(disk).map_err(|e| e.to_string())?;
        }
        cluster.add(first, disk.as_deref()).await?;
    }
    cluster.agreed().await?;
    let recorder = Rc::new(Recorder::new());
    let load = Load::start(cluster.clone(), recorder.clone(), options.pause).await?;
    let scene = Scene {
        cluster: cluster.clone(),
        recorder,
        clients: load.shared.clone(),
        options: options.clone(),
        at_each: Cell::new(false),
        databases,
        disks,
    };
    sleep(options.margin).await;
    let struck = (fault.strike)(&scene).await;
    let struck = struck.map_err(|why| format!("{why}{}", cluster.logs()));
    if struck.is_ok() {
        sleep(options.margin).await;
    }
    network.heal()?;
    load.end().await;
    let struck = struck?;
    cluster.mixed.set(false);
    cluster.agreed().await?;
    let history = scene.recorder.taken();
    for disk in &scene.disks {
        let _unmounted = std::process::Command::new("umount")
            .arg("-l")
            .arg(disk)
            .status();
    }
    let findings = check(&history, &BOUNDS);
    Ok(Row {
        fault,
        struck,
        at_each: scene.at_each.get(),
        history,
        findings,
    })
}

impl Row {
    /// Requests of which nobody knows whether they were done.
    pub fn ambiguous(&self) -> usize {
        let all = self.history.operations();
        all.filter(|(_, o)| o.outcome == Outcome::Unknown).count()
    }

    /// The longest in which nothing that needs the store was done, from just before the fault to
    /// the end: at one node that was not cut off, and which that was; and at all of those together,
    /// as a client sees it that tries another node.
    pub fn longest_unavailable(&self) -> (Duration, usize, Duration) {
        let mut moments: Vec<Vec<Duration>> = vec![Vec::new(); MAX_NODES];
        let uses = self.history.values.iter().flat_map(|value| &value.uses);
        let done = uses.filter(|o| o.outcome == Outcome::Done);
        for done in done.filter(|o| !self.struck.apart.contains(&o.node)) {
            moments[done.node].push(done.returned);
        }
        let longest = |moments: &mut Vec<Duration>| {
            moments.sort_unstable();
            let pairs = moments.windows(2);
            let pairs = pairs.filter(|two| two[1] > self.struck.from);
            pairs.map(|two| two[1] - two[0]).max().unwrap_or_default()
        };
        let mut all = moments.concat();
        // One that joins meanwhile was not there before.
        let nodes = moments.iter_mut().enumerate().take(self.fault.nodes);
        let (node, at_one) = nodes
            .map(|(node, moments)| (node, longest(moments)))
            .max_by_key(|(_, longest)| *longest)
            .unwrap_or_default();
        (at_one, node, longest(&mut all))
    }

    /// For each kind of single-use value: how long after the fault began one that was sent since
    /// then was done at the last of the nodes that were not cut off.
    pub fn goes_on(&self) -> Vec<(Kind, Option<Duration>)> {
        let first = |kind, node| {
            let values = self
                .history
                .values
                .iter()
                .filter(|value| value.kind == kind);
            let done = values.flat_map(|value| &value.uses).filter(|o| {
                o.outcome == Outcome::Done && o.invoked >= self.struck.from && o.node == node
            });
            let returned = done.map(|o| o.returned).min();
            returned.map(|at| at.saturating_sub(self.struck.from))
        };
        let last = |kind| {
            let nodes = (0..self.fault.nodes).filter(|node| !self.struck.apart.contains(node));
            let each: Option<Vec<Duration>> = nodes.map(|node| first(kind, node)).collect();
            each?.into_iter().max()
        };
        Kind::ALL.iter().map(|kind| (*kind, last(*kind))).collect()
    }
}
