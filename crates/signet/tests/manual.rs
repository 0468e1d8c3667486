//! The examples of docs/cluster.md, pasted: what a reader copies works as it stands, but for names
//! of machines, ports and paths.

use crate::store::database;
use crate::support::{
    Browser, Dev, REDIRECT, SIGNET, VERIFIER, body, json, signet, signet_with, text,
};
use serde_json::{Value, json};
use std::{
    collections::HashSet,
    net::TcpListener,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    time::{Duration, Instant},
};

const PATIENCE: Duration = Duration::from_secs(60);
const PASSWORD: &str = "correct-horse-battery-9";
/// The file that the examples call by this name.
const CONFIGURATION: &str = "/etc/signet/signet.toml";

/// The indented blocks of a section, without their indentation.
fn blocks(section: &str) -> Vec<String> {
    let manual = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/cluster.md");
    let manual = std::fs::read_to_string(manual).expect("the manual");
    let heading = format!("## {section}\n");
    let (_, text) = manual.split_once(&heading).expect("the section");
    let text = text.split("\n## ").next().unwrap_or(text);
    let mut blocks = vec![String::new()];
    for line in text.lines() {
        match (line.strip_prefix("    "), line.is_empty()) {
            (Some(line), _) => {
                let block = blocks.last_mut().expect("a block");
                block.push_str(line);
                block.push('\n');
            }
            // An empty line within a block belongs to it.
            (None, true) => blocks.last_mut().expect("a block").push('\n'),
            (None, false) => blocks.push(String::new()),
        }
    }
    blocks.retain(|block| !block.trim().is_empty());
    blocks
}

/// The block that has these words.
fn block(section: &str, words: &str) -> String {
    let found = blocks(section).into_iter().find(|b| b.contains(words));
    found.unwrap_or_else(|| panic!("no {words} in {section}"))
}

/// Puts a value of this test in the place of one of the manual's, which must be there.
fn put(text: &str, manual: &str, here: &str) -> String {
    assert!(text.contains(manual), "no {manual} in:\n{text}");
    text.replace(manual, here)
}

/// Ports that nothing listens on.
fn free_ports<const N: usize>() -> [u16; N] {
    let sockets: Vec<TcpListener> = (0..N)
        .map(|_| TcpListener::bind("127.0.0.1:0").expect("a port"))
        .collect();
    let ports: Vec<u16> = sockets
        .iter()
        .map(|socket| socket.local_addr().expect("an address").port())
        .collect();
    let different: HashSet<u16> = ports.iter().copied().collect();
    assert_eq!(different.len(), N);
    ports.try_into().expect("as many as asked")
}

/// A shell with the binary on its path.
fn shell(directory: &Path, line: &str) -> Command {
    let binary = Path::new(SIGNET).parent().expect("a directory");
    let path = std::env::var("PATH").unwrap_or_default();
    let mut command = Command::new("sh");
    command
        .args(["-c", line])
        .current_dir(directory)
        .env("PATH", format!("{}:{path}", binary.display()))
        .env_remove("SIGNET_ADMIN_TOKEN")
        .env_remove("RUST_LOG");
    command
}

fn run(directory: &Path, line: &str) -> Output {
    let output = shell(directory, line).output().expect("a shell");
    assert_eq!(
        output.status.code(),
        Some(0),
        "{line}\n{}{}",
        text(&output.stdout),
        text(&output.stderr)
    );
    output
}

/// A server that a shell started; killed when dropped.
struct Started {
    child: Child,
    log: PathBuf,
}

impl Started {
    fn new(mut command: Command, log: PathBuf) -> Started {
        let file = std::fs::File::create(&log).expect("a log");
        let child = command
            .stdin(Stdio::null())
            .stdout(file.try_clone().expect("the log"))
            .stderr(file)
            .spawn()
            .expect("a shell");
        Started { child, log }
    }

    async fn answers(&mut self, dev: &Dev) {
        let started = Instant::now();
        let url = format!("{}/health/ready", dev.url);
        loop {
            if let Ok(answer) = dev.client().get(&url, &[]).await
                && answer.status == 200
            {
                return;
            }
            let log = || text(&std::fs::read(&self.log).unwrap_or_default());
            let ended = self.child.try_wait().expect("its state");
            assert!(ended.is_none(), "it ended:\n{}", log());
            assert!(started.elapsed() < PATIENCE, "not ready:\n{}", log());
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

async fn redeem(dev: &Dev, client: &str, code: &str) -> Value {
    let fields = [
        ("grant_type", "authorization_code"),
        ("client_id", client),
        ("redirect_uri", REDIRECT),
        ("code", code),
        ("code_verifier", VERIFIER),
    ];
    body(&dev.post("/token", None, &fields).await)
}

/// Whether the node's userinfo takes a token.
async fn is_taken(dev: &Dev, token: &str) -> bool {
    let authorization = format!("Bearer {token}");
    let url = format!("{}/userinfo", dev.url);
    let headers = [("authorization", authorization.as_str())];
    let answer = dev.client().get(&url, &headers).await.expect("an answer");
    assert!(answer.status == 200 || answer.status == 401);
    answer.status == 200
}

/// A person logs in by the first node; the code is redeemed at the second, and taken by the third.
async fn log_in(nodes: &[Dev; 3], client: &str) -> String {
    let mut browser = Browser::new(&nodes[0]);
    let code = browser.code(client, "openid").await;
    let tokens = redeem(&nodes[1], client, &code).await;
    let token = tokens["access_token"].as_str();
    let token = token.unwrap_or_else(|| panic!("{tokens}")).to_owned();
    assert!(is_taken(&nodes[2], &token).await);
    token
}

#[tokio::test]
async fn three_development_nodes_started_by_hand_are_one_server() {
    let directory = tempfile::tempdir().expect("a directory");
    let place = directory.path();
    let ports: [u16; 3] = free_ports();
    let section = "Three nodes on this machine";
    let servers = block(section, "--join");
    let mut text_here = put(
        &servers,
        "signet serve --dev  ",
        &format!("signet serve --dev --listen 127.0.0.1:{}  ", ports[0]),
    );
    for (port, here) in [("8444", ports[1]), ("8445", ports[2])] {
        text_here = put(
            &text_here,
            &format!("127.0.0.1:{port}"),
            &format!("127.0.0.1:{here}"),
        );
    }
    let lines: Vec<&str> = text_here.lines().filter(|l| !l.is_empty()).collect();
    let (starts, questions) = lines.split_at(3);
    let mut nodes = Vec::new();
    let mut running = Vec::new();
    for ((line, data), port) in starts
        .iter()
        .zip([".signet", ".signet-2", ".signet-3"])
        .zip(ports)
    {
        let log = place.join(format!("log-{port}"));
        // The shell becomes the server, so that it can be stopped by its id.
        let mut started = Started::new(shell(place, &format!("exec {line}")), log.clone());
        let begun = Instant::now();
        let data = place.join(data);
        while !data.join("dev.json").exists() {
            let said = || std::fs::read_to_string(&log).unwrap_or_default();
            let ended = started.child.try_wait().expect("its state");
            assert!(ended.is_none(), "{line} ended: {}", said());
            assert!(begun.elapsed() < PATIENCE, "{line}: {}", said());
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        let dev = Dev::read(&data);
        started.answers(&dev).await;
        running.push(started);
        nodes.push(dev);
    }
    let nodes: [Dev; 3] = nodes.try_into().ok().expect("three");
    let token = log_in(&nodes, "native").await;
    // The questions, in their order: who is there, a token by way of the second, gone on all.
    let answers: Vec<Output> = questions.iter().map(|line| run(place, line)).collect();
    assert_eq!(answers.len(), 3);
    let listed = text(&answers[0].stdout);
    for name in ["node-1", "node-2", "node-3"] {
        assert!(listed.contains(name), "{listed}");
    }
    let second = text(&answers[1].stdout);
    assert!(!second.trim().is_empty());
    for node in &nodes {
        assert!(!is_taken(node, &token).await);
    }
}

/// Three nodes from the file of the manual, with what is added to each; what to do before the first
/// start.
async fn from_files(addition: &str, secrets: &[(&str, &str)], before: &[&str]) {
    use signet_crypto::certificate::DevelopmentCa;
    let directory = tempfile::tempdir().expect("a directory");
    let ports: [u16; 3] = free_ports();
    let cluster_ports: [u16; 3] = free_ports();
    let issuer = format!("https://localhost:{}", ports[0]);
    let section = "Three nodes, no database";
    let file = block(section, "[cluster]");
    let ca = DevelopmentCa::generate().expect("an authority");
    let ca_file = directory.path().join("ca.pem");
    std::fs::write(&ca_file, ca.cert_pem()).expect("a file");
    let private = |path: &Path, content: &str| {
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, content).expect("a file");
        let mode = std::fs::Permissions::from_mode(0o600);
        std::fs::set_permissions(path, mode).expect("its mode");
    };
    let places: Vec<PathBuf> = (0..3)
        .map(|number| {
            let place = directory.path().join(format!("node-{}", number + 1));
            let (chain, key) = ca.issue_server(&["localhost".to_owned()]).expect("a key");
            private(&place.join("tls/chain.pem"), &chain);
            private(&place.join("tls/key.pem"), key.expose());
            for (name, content) in secrets {
                private(&place.join(name), content);
            }
            let mut here = put(&file, "https://id.example.com", &issuer);
            here = put(&here, "node-1.internal:7443", "127.0.0.1:7443");
            let own = format!("node-{}", number + 1);
            here = put(&here, "\"node-1\"", &format!("\"{own}\""));
            here = put(
                &here,
                "0.0.0.0:443",
                &format!("127.0.0.1:{}", ports[number]),
            );
            here = put(&here, "0.0.0.0:7443", "127.0.0.1:7443");
            here = put(&here, "7443", &cluster_ports[number].to_string());
            let data = place.join("data");
            here = format!("data_dir = \"{}\"\n{here}{addition}", data.display());
            std::fs::write(place.join("signet.toml"), here).expect("a file");
            place
        })
        .collect();
    // A command of the manual, at a node: its file, and this machine's authority and password.
    let at = |number: usize, line: &str| {
        let path = places[number].join("signet.toml");
        let line = line.replace(CONFIGURATION, path.to_str().expect("a path"));
        let line = line.replace("https://id.example.com", &issuer);
        let mut command = shell(&places[number], &line);
        command
            .env("SIGNET_CA_CERT", &ca_file)
            .env("SIGNET_PASSWORD", PASSWORD);
        command
    };
    let done = |number: usize, line: &str| {
        let output = at(number, line).output().expect("a shell");
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{line}\n{said}");
        output
    };
    for line in before {
        done(0, line);
    }
    let path = places[0].join("signet.toml");
    let path = path.to_str().expect("a path");
    let arguments = ["user", "add", "root", "--admin", "--password-stdin"];
    let mut arguments = arguments.to_vec();
    arguments.extend(["--config", path]);
    let output = signet_with(&arguments, &format!("{PASSWORD}\n"));
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));

    let commands = block(section, "node-2$");
    let line = |prompt: &str, words: &str| {
        let mut lines = commands.lines();
        let found = lines.find(|l| l.starts_with(prompt) && l.contains(words));
        let found = found.unwrap_or_else(|| panic!("no {words} at {prompt}"));
        found[prompt.len()..].to_owned()
    };
    let dev = |number: usize| Dev {
        issuer: issuer.clone(),
        url: format!("https://localhost:{}", ports[number]),
        ca: ca_file.clone(),
        data: places[number].join("data"),
        json: json!({"user": {"username": "root", "password": PASSWORD}, "clients": {}}),
    };
    let nodes = [dev(0), dev(1), dev(2)];
    let mut running = Vec::new();
    for (number, node) in nodes.iter().enumerate() {
        let start = if number == 0 {
            line("node-1$ ", "serve")
        } else {
            done(0, &line("node-1$ ", "invite"));
            let token = places[0].join("token");
            std::fs::rename(token, places[number].join("token")).expect("the token");
            line("node-2$ ", "--join -")
        };
        let command = at(number, &format!("exec {start}"));
        let log = places[number].join("log");
        let mut started = Started::new(command, log);
        started.answers(node).await;
        running.push(started);
    }
    let add = format!(
        "signet client add --client-id shop --redirect-uri {REDIRECT} --auth-method none --scope openid --server {issuer} --login root"
    );
    done(0, &add);
    let token = log_in(&nodes, "shop").await;
    let second = &nodes[1].url;
    let revoke = format!("signet revoke --client shop --json --server {second} --login root");
    let output = done(1, &revoke);
    let answer = json(&output);
    let names: HashSet<&str> = answer["nodes"]
        .as_array()
        .expect("the nodes")
        .iter()
        .filter_map(|node| node["name"].as_str())
        .collect();
    assert_eq!(names, HashSet::from(["node-1", "node-2", "node-3"]));
    for node in &nodes {
        assert!(!is_taken(node, &token).await);
    }
}

#[tokio::test]
async fn three_nodes_from_the_file_of_the_manual_need_no_database() {
    from_files("", &[], &[]).await;
}

#[tokio::test]
async fn three_nodes_from_the_file_of_the_manual_share_a_database() {
    let server = database::shared();
    let addition = block("Nodes over PostgreSQL", "[store]");
    let url =
        "postgres://signet@db-1.internal,db-2.internal/signet?target_session_attrs=read-write";
    let here = format!(
        "postgres://signet@127.0.0.1:{}/{}?target_session_attrs=read-write",
        server.port,
        server.database()
    );
    let addition = put(&addition, url, &here);
    from_files(
        &addition,
        &[("secrets/database", database::PASSWORD)],
        &["signet store migrate --config /etc/signet/signet.toml"],
    )
    .await;
}

#[test]
fn every_command_of_the_manual_is_one() {
    for section in ["Three nodes on this machine", "Three nodes, no database"] {
        for line in blocks(section).iter().flat_map(|block| block.lines()) {
            let line = line.split_once("$ ").map_or(line, |(_, line)| line);
            let Some(command) = line.strip_prefix("signet ") else {
                continue;
            };
            let words = command.split_whitespace();
            let words = words.take_while(|w| w.chars().all(|c| c.is_ascii_lowercase()));
            let mut arguments: Vec<&str> = words.collect();
            arguments.push("--help");
            let output = signet(&arguments);
            assert_eq!(output.status.code(), Some(0), "{command}");
        }
    }
}
