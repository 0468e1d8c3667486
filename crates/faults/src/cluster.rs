//! A cluster of real processes.

use std::{
    cell::{Cell, RefCell},
    fs::File,
    io::Write,
    path::{Path, PathBuf},
    process::{Child, Stdio},
    rc::Rc,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tokio::time::sleep;

use crate::{
    client::{Answer, Call, Client, NoAnswer, trust},
    network::{Network, Place},
    settings::{Common, OPERATOR},
};

/// Longest that a start, or a heal, may take on a busy machine.
pub const PATIENCE: Duration = Duration::from_secs(90);
/// Between two looks.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// A node.
pub struct Node {
    /// Where it is.
    pub place: Place,
    directory: PathBuf,
    binary: PathBuf,
    child: RefCell<Option<Child>>,
}

/// See the module.
pub struct Cluster {
    /// What is the same for all nodes.
    pub common: Common,
    /// Its network.
    pub network: Rc<Network>,
    /// Its nodes, by number from 0.
    pub nodes: RefCell<Vec<Rc<Node>>>,
    /// Which of their certificates to trust.
    pub tls: std::sync::Arc<rustls::ClientConfig>,
    /// Whether some of its nodes may be of an earlier binary, which does not tell its digest.
    pub mixed: Cell<bool>,
    admin: RefCell<Client>,
    token: RefCell<Option<String>>,
}

impl Cluster {
    /// Without nodes yet.
    pub fn new(network: Rc<Network>, common: Common) -> Result<Cluster, String> {
        let tls = trust(&common.ca)?;
        Ok(Cluster {
            admin: RefCell::new(Client::new(tls.clone())),
            common,
            network,
            nodes: RefCell::default(),
            mixed: Cell::new(false),
            tls,
            token: RefCell::default(),
        })
    }

    /// How many nodes there are.
    pub fn size(&self) -> usize {
        self.nodes.borrow().len()
    }

    /// A node.
    pub fn node(&self, number: usize) -> Rc<Node> {
        self.nodes.borrow()[number].clone()
    }

    /// Adds a node: the first one by itself, every other one by an invitation. `data`: where its
    /// data is, where that is not in the cluster's directory.
    pub async fn add(&self, binary: &Path, data: Option<&Path>) -> Result<usize, String> {
        let number = self.size();
        let directory = self.common.directory.join(format!("node-{}", number + 1));
        std::fs::create_dir_all(&directory).map_err(|e| e.to_string())?;
        if let Some(data) = data {
            let link = directory.join("data");
            std::os::unix::fs::symlink(data, link).map_err(|e| e.to_string())?;
        }
        let place = self.network.place(number)?;
        self.common.node(number, &place, &directory)?;
        let node = Rc::new(Node {
            place,
            directory,
            binary: binary.to_owned(),
            child: RefCell::default(),
        });
        let invitation = match number {
            0 => None,
            _ => Some(self.invite().await?),
        };
        self.nodes.borrow_mut().push(node);
        self.spawn(number, None, invitation.as_deref())?;
        self.answers(number).await?;
        Ok(number)
    }

    async fn invite(&self) -> Result<String, String> {
        let begun = Instant::now();
        loop {
            let body = serde_json::json!({ "expires_in": 600 });
            let call = Call::json("/admin/v1/nodes/invitations", &body);
            let said = match self.administer(0, call).await {
                Ok(answer) => match answer.member("token") {
                    Some(token) => return Ok(token),
                    None => answer.page(),
                },
                Err(why) => why,
            };
            if begun.elapsed() > PATIENCE {
                return Err(format!("no invitation: {said}"));
            }
            sleep(LOOK_EVERY).await;
        }
    }

    fn spawn(
        &self,
        number: usize,
        binary: Option<&Path>,
        invitation: Option<&str>,
    ) -> Result<(), String> {
        let node = self.node(number);
        let failed = |e: std::io::Error| format!("node {}: {e}", number + 1);
        let log = File::options()
            .create(true)
            .append(true)
            .open(node.log_file())
            .map_err(failed)?;
        let mut command = self.network.command(number, binary.unwrap_or(&node.binary));
        command.arg("serve").arg("--config");
        command.arg(node.directory.join("signet.toml"));
        if invitation.is_some() {
            command.args(["--join", "-"]);
        }
        command.env_remove("RUST_LOG").stdin(Stdio::piped());
        command.stdout(log.try_clone().map_err(failed)?).stderr(log);
        let mut child = command.spawn().map_err(failed)?;
        if let (Some(token), Some(mut input)) = (invitation, child.stdin.take()) {
            writeln!(input, "{token}").map_err(failed)?;
        }
        self.network.runs(number, child.id());
        *node.child.borrow_mut() = Some(child);
        Ok(())
    }

    /// Starts a node again that was stopped, with another binary where one is given.
    pub fn start(&self, number: usize, binary: Option<&Path>) -> Result<(), String> {
        self.spawn(number, binary, None)
    }

    /// Sends a signal to a node's process.
    pub fn signal(&self, number: usize, signal: Signal) {
        let node = self.node(number);
        let child = node.child.borrow();
        let process = child.as_ref().and_then(|child| {
            let id = i32::try_from(child.id()).ok()?;
            Pid::from_raw(id)
        });
        if let Some(process) = process {
            let _gone_already = kill_process(process, signal);
        }
    }

    /// Kills a node as a power cut would.
    pub async fn kill(&self, number: usize) -> Result<(), String> {
        self.signal(number, Signal::KILL);
        self.ended(number).await
    }

    /// Asks a node to stop, and waits until it has.
    pub async fn stop(&self, number: usize) -> Result<(), String> {
        self.signal(number, Signal::TERM);
        self.ended(number).await
    }

    async fn ended(&self, number: usize) -> Result<(), String> {
        let node = self.node(number);
        let begun = Instant::now();
        loop {
            let over = match node.child.borrow_mut().as_mut() {
                Some(child) => child.try_wait().map_err(|e| e.to_string())?.is_some(),
                None => true,
            };
            if over {
                *node.child.borrow_mut() = None;
                return Ok(());
            }
            if begun.elapsed() > PATIENCE {
                return Err(format!(
                    "node {} does not stop:\n{}",
                    number + 1,
                    node.log()
                ));
            }
            sleep(LOOK_EVERY).await;
        }
    }

    /// Waits until a node says that its disk is full.
    pub async fn says_that_its_disk_is_full(&self, number: usize) -> Result<(), String> {
        let node = self.node(number);
        let mut client = Client::new(self.tls.clone());
        let begun = Instant::now();
        loop {
            let answer = client
                .send(node.place.public, &Call::get("/health/ready"))
                .await;
            if answer.is_ok_and(|answer| answer.body.starts_with(b"degraded")) {
                return Ok(());
            }
            if begun.elapsed() > PATIENCE {
                let number = number + 1;
                return Err(format!(
                    "the disk of node {number} is full, and it does not say so"
                ));
            }
            sleep(LOOK_EVERY).await;
        }
    }

    /// Waits until a node answers that it is ready.
    pub async fn answers(&self, number: usize) -> Result<(), String> {
        let node = self.node(number);
        let mut client = Client::new(self.tls.clone());
        let begun = Instant::now();
        loop {
            let answer = client
                .send(node.place.public, &Call::get("/health/ready"))
                .await;
            if answer.is_ok_and(|answer| answer.status.is_success()) {
                return Ok(());
            }
            let over = match node.child.borrow_mut().as_mut() {
                Some(child) => child.try_wait().is_ok_and(|status| status.is_some()),
                None => true,
            };
            if over || begun.elapsed() > PATIENCE {
                return Err(format!(
                    "node {} does not answer:\n{}",
                    number + 1,
                    node.log()
                ));
            }
            sleep(LOOK_EVERY).await;
        }
    }

    /// Sends a request of the admin API to a node, as the operator.
    pub async fn administer(&self, node: usize, call: Call) -> Result<Answer, String> {
        let to = self.node(node).place.public;
        let said = |failed: NoAnswer| format!("node {}: {failed:?}", node + 1);
        // Not held while waiting: several ask at once.
        let kept = self.admin.replace(Client::new(self.tls.clone()));
        let mut client = kept;
        let result = async {
            let known = self.token.borrow().clone();
            let token = match known {
                Some(token) => token,
                None => {
                    let form = [
                        ("grant_type", "client_credentials"),
                        ("scope", "signet:admin"),
                    ];
                    let asked = Call::form("/token", &form).basic(OPERATOR, &self.common.secret);
                    let answer = client.send(to, &asked).await.map_err(said)?;
                    let token = answer.member("access_token").ok_or_else(|| answer.page())?;
                    *self.token.borrow_mut() = Some(token.clone());
                    token
                }
            };
            let call = call.with("authorization", format!("Bearer {token}"));
            client.send(to, &call).await.map_err(said)
        };
        let result = result.await;
        *self.admin.borrow_mut() = client;
        result
    }

    /// The nodes, as one of them sees them.
    pub async fn list(&self, node: usize) -> Result<Vec<Value>, String> {
        let answer = self.administer(node, Call::get("/admin/v1/nodes")).await?;
        let mut answer = answer.json();
        match answer["items"].take() {
            Value::Array(nodes) => Ok(nodes),
            _ => Err(format!("no list of nodes: {answer}")),
        }
    }

    /// The number of the node that orders changes, as the nodes of `asked` see it.
    pub async fn leader(&self, asked: &[usize]) -> Result<usize, String> {
        let begun = Instant::now();
        loop {
            for node in asked {
                let Ok(list) = self.list(*node).await else {
                    continue;
                };
                let leader = list.iter().find(|node| node["role"] == "leader");
                let name = leader.and_then(|leader| leader["name"].as_str());
                let number = name.and_then(|name| name.strip_prefix("node-")?.parse().ok());
                if let Some(number) = number {
                    let number: usize = number;
                    return Ok(number - 1);
                }
            }
            if begun.elapsed() > PATIENCE {
                return Err("there is no leader".to_owned());
            }
            sleep(LOOK_EVERY).await;
        }
    }

    /// Whether all nodes are ready in each other's eyes and hold the same; otherwise what is not.
    pub async fn agree(&self) -> Result<(), String> {
        let mut digests = Vec::new();
        for node in 0..self.size() {
            let list = self.list(node).await?;
            if list.len() != self.size() {
                return Err(format!("node {} knows {} nodes", node + 1, list.len()));
            }
            for seen in &list {
                if seen["state"] != "ready" {
                    return Err(format!("node {} sees {seen}", node + 1));
                }
            }
            let own = list.into_iter().find(|seen| seen["self"] == true);
            let digest = own.and_then(|own| Some(own["digest"].as_str()?.to_owned()));
            match digest {
                Some(digest) => digests.push(digest),
                None if self.mixed.get() => {}
                None => return Err(format!("node {} does not tell its digest", node + 1)),
            }
        }
        match digests.windows(2).all(|two| two[0] == two[1]) {
            true => Ok(()),
            false => Err(format!("the digests differ: {digests:?}")),
        }
    }

    /// Waits until all nodes agree; how long that took.
    pub async fn agreed(&self) -> Result<Duration, String> {
        let begun = Instant::now();
        loop {
            let Err(why) = self.agree().await else {
                return Ok(begun.elapsed());
            };
            if begun.elapsed() > PATIENCE {
                return Err(format!("no agreement: {why}{}", self.logs()));
            }
            sleep(LOOK_EVERY).await;
        }
    }

    /// The ends of all logs.
    pub fn logs(&self) -> String {
        let nodes = self.nodes.borrow();
        let logs = nodes.iter().map(|node| node.log());
        let numbered = logs.enumerate();
        numbered
            .map(|(number, log)| format!("\n-- node {}\n{log}", number + 1))
            .collect()
    }
}

impl Node {
    fn log_file(&self) -> PathBuf {
        self.directory.join("log")
    }

    /// The end of what it logged.
    pub fn log(&self) -> String {
        let log = std::fs::read(self.log_file()).unwrap_or_default();
        let log = String::from_utf8_lossy(&log);
        let lines: Vec<&str> = log.lines().collect();
        lines[lines.len().saturating_sub(12)..].join("\n")
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        if let Some(child) = self.child.get_mut() {
            let _gone_already = child.kill();
            let _status = child.wait();
        }
    }
}
