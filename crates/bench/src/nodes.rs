//! Several nodes as one installation, each a process of its own, over their own stores or over one
//! PostgreSQL.

use std::{
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

use crate::{
    client::Failure,
    engine::Engine,
    process::{Server, binary},
};

/// Nodes that know each other and are ready. The first has the issuer's name.
pub struct Nodes {
    /// In the order in which they joined.
    pub servers: Vec<Server>,
}

impl Nodes {
    /// Starts `count` development nodes.
    ///
    /// # Errors
    /// A node that does not start or does not become ready.
    pub fn start(engine: Engine<'_>, count: usize) -> Result<Nodes, Failure> {
        let mut nodes = Nodes {
            servers: vec![Server::node(engine, None)?],
        };
        while nodes.servers.len() < count {
            nodes.join(engine)?;
        }
        nodes.wait_ready()?;
        Ok(nodes)
    }

    /// Lets one more in; how long that took, from its start to its first answer.
    ///
    /// # Errors
    /// As [`Nodes::start`].
    pub fn join(&mut self, engine: Engine<'_>) -> Result<Duration, Failure> {
        let first = self.servers.first().ok_or("no node")?;
        let token = said(first.directory(), &["node", "invite"])?;
        let begun = Instant::now();
        self.servers.push(Server::node(engine, Some(token.trim()))?);
        Ok(begun.elapsed())
    }

    /// Waits until the last one sees all as ready.
    ///
    /// # Errors
    /// They are not after two minutes.
    pub fn wait_ready(&self) -> Result<(), Failure> {
        let begun = Instant::now();
        let last = self.servers.last().ok_or("no node")?;
        loop {
            let list = said(last.directory(), &["node", "list", "--json"])?;
            let list: serde_json::Value = serde_json::from_str(&list)?;
            let is_ready = |node: &serde_json::Value| node["state"] == "ready";
            let ready = list
                .as_array()
                .is_some_and(|all| all.len() == self.servers.len() && all.iter().all(is_ready));
            if ready {
                return Ok(());
            }
            if begun.elapsed() > Duration::from_secs(120) {
                return Err(format!("the nodes are not ready: {list}").into());
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// User and system time of all of them, microseconds.
    ///
    /// # Errors
    /// The kernel's account of a process cannot be read.
    pub fn cpu_us(&self) -> Result<u64, Failure> {
        self.servers.iter().map(Server::cpu_us).sum()
    }
}

impl Nodes {
    /// Bytes that all of them have sent to each other, since their connections began.
    ///
    /// # Errors
    /// A node that does not answer.
    pub fn sent_bytes(&self) -> Result<u64, Failure> {
        let mut sent = 0;
        for server in &self.servers {
            let list = said(server.directory(), &["node", "list", "--json"])?;
            let list: serde_json::Value = serde_json::from_str(&list)?;
            let all = list.as_array().into_iter().flatten();
            sent += all
                .filter_map(|node| node["sent_bytes"].as_u64())
                .sum::<u64>();
        }
        Ok(sent)
    }

    /// Bytes that all of them had written to the disk.
    ///
    /// # Errors
    /// The kernel's account of a process cannot be read.
    pub fn written_bytes(&self) -> Result<u64, Failure> {
        self.servers.iter().map(Server::written_bytes).sum()
    }

    /// The time that their threads ran, nanoseconds.
    ///
    /// # Errors
    /// The kernel's account of a process cannot be read.
    pub fn ran_ns(&self) -> Result<u64, Failure> {
        self.servers.iter().map(Server::ran_ns).sum()
    }
}

/// What a command of the binary says of the node in this directory.
///
/// # Errors
/// The command's.
pub fn said(directory: &Path, arguments: &[&str]) -> Result<String, Failure> {
    let output = Command::new(binary()?)
        .args(arguments)
        .arg("--data-dir")
        .arg(directory)
        .output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
    }
    Ok(String::from_utf8(output.stdout)?)
}
