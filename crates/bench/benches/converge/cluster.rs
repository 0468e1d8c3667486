//! Nodes, each a process of the release binary with a configuration of its own.
use crate::{numbers::Times, relay};
use bytes::Bytes;
use http::Method;
use serde_json::{Value, json};
use signet_bench::{
    client::{Connection, Failure, Target},
    process::binary,
};
use signet_crypto::certificate::DevelopmentCa;
use std::{
    collections::BTreeMap,
    fmt::Write as _,
    fs::{self, File},
    net::{SocketAddr, TcpListener},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};
use tokio::sync::Mutex;

/// Of every client here.
const SECRET: &str = "a secret of the benchmark, which is long enough";
const PATIENCE: Duration = Duration::from_secs(120);
/// Clients that are changed in turn: what was taken out of a set is remembered with it for a day,
/// and nobody changes one client's addresses a hundred times in a minute.
const CLIENTS: usize = 20;
/// A token of the administrator is used for so long.
const TOKEN_FOR: Duration = Duration::from_secs(120);

/// What is started.
#[derive(Clone, Copy)]
pub(crate) struct Plan {
    /// How many nodes.
    pub(crate) size: usize,
    /// How many of them are hubs; none: a full mesh.
    pub(crate) hubs: usize,
    /// What relays between them add, each way.
    pub(crate) delay: Option<Duration>,
}

/// A node.
pub(crate) struct Node {
    child: Child,
    /// Its own address for everything.
    pub(crate) port: u16,
    log: PathBuf,
    connection: Mutex<Option<Connection>>,
}

/// They end with it.
pub(crate) struct Cluster {
    /// Where their directories are, the certificate authority (`ca.pem`) and the secret.
    pub(crate) directory: tempfile::TempDir,
    /// The first is the issuer.
    pub(crate) nodes: Vec<Node>,
    ca: String,
    token: Mutex<Option<(Instant, String)>>,
}

impl Drop for Node {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn free() -> Result<SocketAddr, Failure> {
    Ok(TcpListener::bind(("127.0.0.1", 0))?.local_addr()?)
}

fn private(path: &Path, text: &str) -> Result<(), Failure> {
    fs::write(path, text)?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o600))?;
    Ok(())
}

/// `client_secret_basic`.
pub(crate) fn basic(client: &str) -> String {
    use std::fmt::Write as _;
    // RFC 6749 section 2.3.1: form-encoded first.
    let secret = SECRET.replace(' ', "+").replace(',', "%2C");
    let pair = format!("{client}:{secret}");
    let mut text = String::from("Basic ");
    for piece in pair.as_bytes().chunks(3) {
        let mut bytes = [0; 4];
        bytes[1..=piece.len()].copy_from_slice(piece);
        let bits = u32::from_be_bytes(bytes);
        for at in 0..4 {
            let six = (bits >> (18 - 6 * at)) & 63;
            let letter = match six {
                _ if at > piece.len() => '=',
                0..=25 => char::from(b'A' + six as u8),
                26..=51 => char::from(b'a' + (six - 26) as u8),
                52..=61 => char::from(b'0' + (six - 52) as u8),
                62 => '+',
                _ => '/',
            };
            let _ = text.write_char(letter);
        }
    }
    text
}

impl Cluster {
    /// Starts nodes, one after the other, and waits until each sees all.
    pub(crate) async fn start(plan: Plan) -> Result<Cluster, Failure> {
        let directory = tempfile::tempdir()?;
        let home = directory.path();
        let ca = DevelopmentCa::generate()?;
        let (chain, key) = ca.issue_server(&["localhost".to_owned(), "127.0.0.1".to_owned()])?;
        fs::write(home.join("ca.pem"), ca.cert_pem())?;
        fs::write(home.join("chain.pem"), chain)?;
        private(&home.join("key.pem"), key.expose())?;
        private(&home.join("secret"), SECRET)?;
        let mut cluster = Cluster {
            ca: ca.cert_pem().to_owned(),
            nodes: Vec::new(),
            token: Mutex::new(None),
            directory,
        };
        for number in 0..plan.size {
            let token = match number {
                0 => None,
                _ => Some(cluster.invite().await?),
            };
            let node = cluster.launch(number, plan, token.as_deref())?;
            cluster.nodes.push(node);
            cluster.answers(number).await?;
        }
        for number in 0..plan.size {
            cluster.sees_all(number).await?;
        }
        Ok(cluster)
    }

    fn launch(&self, number: usize, plan: Plan, token: Option<&str>) -> Result<Node, Failure> {
        let home = self.directory.path();
        let (public, listen) = (free()?, free()?);
        let advertise = match plan.delay {
            Some(delay) => relay::start(listen, delay)?,
            None => listen,
        };
        let issuer = self.nodes.first().map_or(public.port(), |node| node.port);
        let (hubs, hub) = (plan.hubs > 0, number < plan.hubs);
        let mut text = format!(
            "issuer = \"https://localhost:{issuer}\"\nnode = \"node-{}\"\ndata_dir = \"data-{number}\"\n[[listeners]]\naddress = \"{public}\"\n[tls]\ncertificate = \"chain.pem\"\nkey = \"key.pem\"\n[keys]\nalgorithms = [\"ES256\"]\n[cluster]\nlisten = \"{listen}\"\nadvertise = [\"{advertise}\"]\nurl = \"https://localhost:{}\"\ntopology = \"{}\"\nhub = {hub}\n",
            number + 1,
            public.port(),
            if hubs { "hubs" } else { "mesh" },
        );
        for (client, scope) in [
            ("bench", "signet:admin"),
            ("service", "read"),
            ("gate", "signet:revocations"),
        ] {
            write!(
                text,
                "[[clients]]\nclient_id = \"{client}\"\nclient_secrets = [{{ file = \"secret\" }}]\ngrant_types = [\"client_credentials\"]\ntoken_endpoint_auth_method = \"client_secret_basic\"\nscope = \"{scope}\"\n"
            )?;
        }
        text.push_str("[[scopes]]\nname = \"read\"\ndescription = \"Read\"\n");
        let file = home.join(format!("node-{number}.toml"));
        fs::write(&file, text)?;
        let log = home.join(format!("log-{number}"));
        let output = File::create(&log)?;
        let mut command = Command::new(binary()?);
        command
            .args(["serve", "--config"])
            .arg(file)
            .env_remove("RUST_LOG")
            .stdin(Stdio::null())
            .stdout(output.try_clone()?)
            .stderr(output);
        if let Some(token) = token {
            // A secret while it can be used: not an argument.
            command.env("SIGNET_JOIN", token);
        }
        Ok(Node {
            child: command.spawn()?,
            port: public.port(),
            log,
            connection: Mutex::new(None),
        })
    }

    /// Where a node answers, and whom to trust.
    pub(crate) fn target(&self, node: usize) -> Result<Target, Failure> {
        Target::new(self.nodes[node].port, self.ca.as_bytes(), None)
    }

    async fn answers(&mut self, node: usize) -> Result<(), Failure> {
        let begun = Instant::now();
        loop {
            let ready = async {
                let mut connection = self.target(node)?.connect().await?;
                let ready = connection.send(Method::GET, "/health/ready", &[], Bytes::new());
                Ok::<_, Failure>(ready.await?.status.is_success())
            };
            if ready.await.unwrap_or(false) {
                return Ok(());
            }
            let ended = self.nodes[node].child.try_wait()?;
            if ended.is_some() || begun.elapsed() > PATIENCE {
                let log = fs::read_to_string(&self.nodes[node].log)?;
                return Err(format!("node {node} does not answer:\n{log}").into());
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    async fn token(&self) -> Result<String, Failure> {
        let mut kept = self.token.lock().await;
        if let Some((made, token)) = &*kept
            && made.elapsed() < TOKEN_FOR
        {
            return Ok(token.clone());
        }
        let mut connection = self.target(0)?.connect().await?;
        let form = Bytes::from_static(b"grant_type=client_credentials&scope=signet%3Aadmin");
        let authorization = basic("bench");
        let answer = connection.form("/token", Some(&authorization), form);
        let answer = answer.await?.json()?;
        let token = answer["access_token"].as_str();
        let token = token.ok_or_else(|| format!("no token for the administrator: {answer}"))?;
        *kept = Some((Instant::now(), token.to_owned()));
        Ok(token.to_owned())
    }

    /// An operation of the admin API over the node's kept connection; how long it took.
    pub(crate) async fn ask(
        &self,
        node: usize,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<(Value, Duration), Failure> {
        let bearer = format!("Bearer {}", self.token().await?);
        let mut kept = self.nodes[node].connection.lock().await;
        // The node closes what was not used for a while.
        if kept.as_ref().is_some_and(Connection::is_closed) {
            *kept = None;
        }
        let connection = match &mut *kept {
            Some(connection) => connection,
            empty => empty.insert(self.target(node)?.connect().await?),
        };
        let headers = [
            ("authorization", bearer.as_str()),
            ("content-type", "application/json"),
        ];
        let body = body.map_or_else(Bytes::new, |body| body.to_string().into());
        let begun = Instant::now();
        let answer = connection.send(method, path, &headers, body).await;
        let took = begun.elapsed();
        if answer.is_err() {
            *kept = None;
        }
        let answer = answer?;
        if !answer.status.is_success() {
            let said = String::from_utf8_lossy(&answer.body).into_owned();
            return Err(format!("{path}: {}: {said}", answer.status).into());
        }
        let empty = answer.body.is_empty();
        Ok((if empty { Value::Null } else { answer.json()? }, took))
    }

    async fn invite(&self) -> Result<String, Failure> {
        let path = "/admin/v1/nodes/invitations";
        let (answer, _) = self.ask(0, Method::POST, path, Some(&json!({}))).await?;
        let token = answer["token"].as_str().ok_or("no invitation")?;
        Ok(token.to_owned())
    }

    async fn list(&self, node: usize) -> Result<Vec<Value>, Failure> {
        let (answer, _) = self.ask(node, Method::GET, "/admin/v1/nodes", None).await?;
        let items = answer["items"].as_array().ok_or("no nodes")?;
        Ok(items.clone())
    }

    async fn sees_all(&self, node: usize) -> Result<(), Failure> {
        let begun = Instant::now();
        loop {
            let nodes = self.list(node).await?;
            let ready = nodes.iter().filter(|node| node["state"] == "ready").count();
            if ready == self.nodes.len() {
                return Ok(());
            }
            if begun.elapsed() > PATIENCE {
                return Err(format!("node {node} does not see all: {nodes:?}").into());
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    /// Revokes everything of a client: until the last node had it in effect, and until the answer.
    pub(crate) async fn revoke(
        &self,
        node: usize,
        number: usize,
    ) -> Result<(Duration, Duration), Failure> {
        let (answer, took) = self.revoke_with_receipt(node, number).await?;
        Ok((self.latest(&answer)?, took))
    }

    /// The same, with the whole answer. It must be complete.
    pub(crate) async fn revoke_with_receipt(
        &self,
        node: usize,
        number: usize,
    ) -> Result<(Value, Duration), Failure> {
        // Other clients than the bench's own; their tokens do not matter.
        let client = ["service", "gate"][number % 2];
        let body = json!({ "client": client });
        let path = "/admin/v1/revocations";
        self.ask(node, Method::POST, path, Some(&body)).await
    }

    /// When the last of the other nodes had it in effect.
    pub(crate) fn latest(&self, answer: &Value) -> Result<Duration, Failure> {
        let nodes = answer["nodes"].as_array().ok_or("no receipt")?;
        if nodes.len() != self.nodes.len() {
            return Err(format!("not all nodes acknowledged: {answer}").into());
        }
        let others = nodes[1..].iter().filter_map(|node| node["ms"].as_f64());
        Ok(Duration::from_secs_f64(others.fold(0.0, f64::max) / 1e3))
    }

    /// Changes a client that the store keeps: the same two times.
    pub(crate) async fn change(
        &self,
        node: usize,
        number: usize,
    ) -> Result<(Duration, Duration), Failure> {
        if number == 0 {
            for client in 0..CLIENTS {
                let body = json!({
                    "client_id": format!("changed-{client}"), "client_name": "Changed", "redirect_uris": [uri(0)],
                    "grant_types": ["authorization_code"], "response_types": ["code"],
                });
                let path = "/admin/v1/clients";
                self.ask(node, Method::POST, path, Some(&body)).await?;
            }
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
        let (client, turn) = (number % CLIENTS, number / CLIENTS);
        let body = json!({ "add": [uri(turn + 1)], "remove": [uri(turn)] });
        let path = format!("/admin/v1/clients/changed-{client}/redirect_uris");
        let (_, took) = self.ask(node, Method::POST, &path, Some(&body)).await?;
        let nodes = self.list(node).await?;
        let others: Vec<f64> = nodes
            .iter()
            .filter_map(|node| node["acknowledged_ms"].as_f64())
            .collect();
        if others.len() + 1 != self.nodes.len() {
            return Err(format!("not all nodes acknowledged: {nodes:?}").into());
        }
        let word = others.into_iter().fold(0.0, f64::max);
        Ok((Duration::from_secs_f64(word / 1e3), took))
    }

    /// Every node has the last change.
    pub(crate) async fn agrees(&self, number: usize) -> Result<(), Failure> {
        for node in 0..self.nodes.len() {
            let path = format!("/admin/v1/clients/changed-{}", number % CLIENTS);
            let (client, _) = self.ask(node, Method::GET, &path, None).await?;
            if client["redirect_uris"] != json!([uri(number / CLIENTS + 1)]) {
                return Err(format!("node {node} has another client: {client}").into());
            }
        }
        Ok(())
    }

    /// Processor time of all nodes so far, in microseconds.
    pub(crate) fn cpu_us(&self) -> Result<u64, Failure> {
        (0..self.nodes.len()).map(|node| self.cpu_of(node)).sum()
    }

    /// Of one, to the nanoseconds that its threads ran.
    pub(crate) fn cpu_of(&self, node: usize) -> Result<u64, Failure> {
        self.nodes[node].cpu_us()
    }
}

fn uri(number: usize) -> String {
    format!("https://app.example.com/{number}")
}

impl Node {
    /// Processor time of its threads so far, in microseconds: the scheduler's account.
    pub(crate) fn cpu_us(&self) -> Result<u64, Failure> {
        let mut ran = 0;
        for task in fs::read_dir(format!("/proc/{}/task", self.child.id()))? {
            let stat = fs::read_to_string(task?.path().join("schedstat"))?;
            let first = stat.split_whitespace().next().unwrap_or_default();
            ran += first.parse::<u64>()? / 1000;
        }
        Ok(ran)
    }

    /// How often its threads have waited for something so far, by their names: each is a wake-up.
    pub(crate) fn wakeups(&self) -> Result<BTreeMap<String, u64>, Failure> {
        let mut all = BTreeMap::new();
        for task in fs::read_dir(format!("/proc/{}/task", self.child.id()))? {
            let task = task?.path();
            let name = fs::read_to_string(task.join("comm"))?.trim().to_owned();
            let status = fs::read_to_string(task.join("status"))?;
            let waits = status
                .lines()
                .find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
            *all.entry(name).or_default() += waits.unwrap_or("0").trim().parse::<u64>()?;
        }
        Ok(all)
    }
}

/// So many requests for a token to a node by one connection, one after the other.
pub(crate) async fn tokens(
    connection: &mut Connection,
    count: usize,
    times: &mut Times,
) -> Result<(), Failure> {
    let authorization = basic("service");
    for _ in 0..count {
        let form = Bytes::from_static(b"grant_type=client_credentials");
        let begun = Instant::now();
        let answer = connection.form("/token", Some(&authorization), form);
        let answer = answer.await?;
        times.add(begun.elapsed());
        if !answer.status.is_success() {
            return Err(format!("no token: {}", answer.status).into());
        }
    }
    Ok(())
}
