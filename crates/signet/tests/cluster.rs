//! Several nodes as one installation: real processes, started as the documentation says, killed and
//! started again.
use crate::support::{
    Browser, CHALLENGE, Dev, REDIRECT, Server, VERIFIER, body, http_client::percent_encode, json,
    parameter, signet, text,
};
use serde_json::Value;
use std::{
    path::Path,
    time::{Duration, Instant},
};
use tempfile::TempDir;

/// Longest that anything here may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) struct Cluster {
    pub(crate) nodes: Vec<(Server, Dev)>,
    _directory: TempDir,
}

pub fn invite(dev: &Dev) -> String {
    let output = signet(&["node", "invite", "--data-dir", dev.dir()]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    text(&output.stdout).trim().to_owned()
}

impl Cluster {
    /// Each further node is let in by the one before it.
    pub(crate) fn of(size: usize) -> Cluster {
        let directory = tempfile::tempdir().unwrap();
        let place = |number: usize| {
            let place = directory.path().join(number.to_string());
            std::fs::create_dir(&place).unwrap();
            place
        };
        let mut nodes = vec![Server::dev(&place(0))];
        for number in 1..size {
            let token = invite(&nodes[number - 1].1);
            assert!(token.starts_with("signet-join-"));
            nodes.push(Server::joined(&place(number), &token));
        }
        Cluster {
            nodes,
            _directory: directory,
        }
    }

    pub(crate) fn dev(&self, node: usize) -> &Dev {
        &self.nodes[node].1
    }

    /// Waits until a node sees all as this says.
    async fn seen_from(&self, node: usize, what: &str, seen: impl Fn(&[Value]) -> bool) {
        let started = Instant::now();
        loop {
            let nodes = list(self.dev(node));
            if seen(&nodes) {
                return;
            }
            assert!(
                started.elapsed() < PATIENCE,
                "not {what}: {nodes:?}\n{}",
                self.nodes[node].0.log()
            );
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    pub(crate) async fn all_ready(&self, node: usize) {
        let count = self.nodes.len();
        self.seen_from(node, "ready", |nodes| {
            nodes.len() == count && nodes.iter().all(|node| node["state"] == "ready")
        })
        .await;
    }
}

fn list(dev: &Dev) -> Vec<Value> {
    let output = signet(&["node", "list", "--json", "--data-dir", dev.dir()]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    json(&output).as_array().unwrap().clone()
}

async fn is_active(dev: &Dev, token: &str) -> bool {
    let fields = [("token", token)];
    let answer = dev.post("/introspect", Some("service"), &fields);
    body(&answer.await)["active"] == true
}

/// `native` names itself in the form, others authenticate.
async fn token(dev: &Dev, client: &str, mut fields: Vec<(&str, &str)>) -> Value {
    let authenticates = (client != "native").then_some(client);
    if authenticates.is_none() {
        fields.push(("client_id", client));
    }
    body(&dev.post("/token", authenticates, &fields).await)
}

async fn redeem(dev: &Dev, client: &str, code: &str) -> Value {
    let fields = vec![
        ("grant_type", "authorization_code"),
        ("redirect_uri", REDIRECT),
        ("code", code),
        ("code_verifier", VERIFIER),
    ];
    token(dev, client, fields).await
}

async fn refresh(dev: &Dev, client: &str, refresh_token: &str) -> Value {
    let fields = vec![
        ("grant_type", "refresh_token"),
        ("refresh_token", refresh_token),
    ];
    token(dev, client, fields).await
}

fn member(value: &Value, name: &str) -> String {
    let member = value[name].as_str();
    member
        .unwrap_or_else(|| panic!("no {name}: {value}"))
        .to_owned()
}

#[tokio::test]
async fn any_of_three_nodes_answers_any_step_and_what_is_revoked_on_one_is_revoked_on_all() {
    let cluster = Cluster::of(3);
    let [one, two, three] = [cluster.dev(0), cluster.dev(1), cluster.dev(2)];
    for node in 0..3 {
        cluster.all_ready(node).await;
        let dev = cluster.dev(node);
        assert_eq!(dev.issuer, one.issuer);
        assert_eq!(dev.json["clients"], one.json["clients"]);
    }
    let roles: Vec<String> = list(two).iter().map(|node| member(node, "role")).collect();
    assert_eq!(roles.iter().filter(|role| *role == "leader").count(), 1);
    assert_eq!(roles.iter().filter(|role| *role == "voter").count(), 2);

    // One log-in, on the first: the browser is known to the others. A code of the second, redeemed
    // on the third, refreshed on the first.
    let mut browser = Browser::new(one);
    browser.code("web", "openid offline_access").await;
    browser.go_to(two);
    let silent = [
        ("response_type", "code"),
        ("client_id", "web"),
        ("redirect_uri", REDIRECT),
        ("scope", "openid offline_access"),
        ("code_challenge", CHALLENGE),
        ("code_challenge_method", "S256"),
        ("prompt", "none"),
    ];
    let back = browser.authorize(&silent).await;
    assert_eq!(
        parameter(&back, "iss"),
        Some(percent_encode(&one.issuer)),
        "{back}"
    );
    let code = parameter(&back, "code").unwrap_or_else(|| panic!("no code: {back}"));
    let tokens = redeem(three, "web", &code).await;
    let access = member(&tokens, "access_token");
    let again = refresh(one, "web", &member(&tokens, "refresh_token")).await;
    let latest = member(&again, "refresh_token");
    for node in [one, two, three] {
        assert!(is_active(node, &access).await);
    }
    // Single-use is single-use, wherever it is tried, and a replay ends what was issued.
    assert_eq!(redeem(one, "web", &code).await["error"], "invalid_grant");
    assert_eq!(refresh(two, "web", &latest).await["error"], "invalid_grant");

    // The sealing key is rotated on the second node: what was sealed before opens on all, and a
    // session goes on.
    let rotate = ["key", "rotate", "--sealing", "--data-dir", two.dir()];
    let output = signet(&rotate);
    assert_eq!(
        output.status.code(),
        Some(0),
        "{}{}",
        text(&output.stderr),
        cluster.nodes[1].0.log()
    );
    browser.go_to(three);
    let back = browser.authorize(&silent).await;
    let code = parameter(&back, "code").unwrap_or_else(|| panic!("no code: {back}"));
    member(&redeem(one, "web", &code).await, "access_token");

    // Two writers of one list, at two nodes.
    let add = |dev: &Dev, uri: &str| {
        let field = format!("redirect_uris+={uri}");
        let arguments = ["client", "set", "web", &field, "--data-dir", dev.dir()];
        let output = signet(&arguments);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    };
    let (uri_of_two, uri_of_three) = ("https://two.example/cb", "https://three.example/cb");
    std::thread::scope(|scope| {
        scope.spawn(|| add(two, uri_of_two));
        scope.spawn(|| add(three, uri_of_three));
    });
    let shown = signet(&["client", "show", "web", "--json", "--data-dir", one.dir()]);
    let uris = json(&shown)["redirect_uris"].to_string();
    assert!(
        uris.contains(uri_of_two) && uris.contains(uri_of_three),
        "{uris}"
    );

    // Revoked on the second, gone on all when it is answered.
    let token = three.service_token().await;
    assert!(is_active(one, &token).await);
    let output = signet(&[
        "revoke",
        "--client",
        "service",
        "--json",
        "--data-dir",
        two.dir(),
    ]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let answer = json(&output);
    let mut names: Vec<String> = answer["nodes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|node| member(node, "name"))
        .collect();
    names.sort();
    assert_eq!(names, ["node-1", "node-2", "node-3"]);
    assert_eq!(answer["unreachable"], Value::Array(Vec::new()));
    for node in [one, two, three] {
        assert!(!is_active(node, &token).await);
    }

    // One trail, of three parts.
    let output = signet(&[
        "audit",
        "verify",
        "--json",
        one.dir(),
        two.dir(),
        three.dir(),
    ]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(json(&output)["nodes"].as_array().unwrap().len(), 3);
}

#[tokio::test]
async fn with_one_of_three_killed_every_flow_goes_on_and_it_comes_back_by_itself() {
    let mut cluster = Cluster::of(3);
    for node in 0..3 {
        cluster.all_ready(node).await;
    }
    let leader = list(cluster.dev(0))
        .iter()
        .position(|node| node["role"] == "leader")
        .unwrap();
    let (other, last) = ((leader + 1) % 3, (leader + 2) % 3);
    // What was answered before the death is there after it: a code of the node that dies, and a
    // refresh token.
    let mut browser = Browser::new(cluster.dev(leader));
    let code = browser.code("native", "openid offline_access").await;
    let tokens = redeem(cluster.dev(other), "native", &code).await;
    let code = browser.code("native", "openid offline_access").await;
    cluster.nodes[leader].0.signal("KILL");
    cluster.nodes[leader].0.end();
    let died = Instant::now();

    let redeemed = loop {
        let answer = redeem(cluster.dev(last), "native", &code).await;
        // The way to the store may be cut for a moment; that is said, and nothing else is.
        if answer["error"] != "temporarily_unavailable" {
            break answer;
        }
        assert!(died.elapsed() < PATIENCE);
        tokio::time::sleep(Duration::from_millis(20)).await;
    };
    member(&redeemed, "access_token");
    let refreshed = refresh(
        cluster.dev(last),
        "native",
        &member(&tokens, "refresh_token"),
    )
    .await;
    member(&refreshed, "refresh_token");
    let mut anew = Browser::new(cluster.dev(other));
    let code = anew.code("native", "openid").await;
    let access = member(
        &redeem(cluster.dev(last), "native", &code).await,
        "access_token",
    );

    // A revocation says whom it could not reach, and counts all the same.
    let dev = cluster.dev(other);
    let output = signet(&[
        "revoke",
        "--user",
        "alice",
        "--json",
        "--data-dir",
        dev.dir(),
    ]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    let name = format!("node-{}", leader + 1);
    assert_eq!(json(&output)["unreachable"], serde_json::json!([name]));
    assert!(!is_active(cluster.dev(last), &access).await);

    // It comes back, with the same arguments, and hears what it missed.
    let dev = cluster.dev(leader).clone();
    let (server, _) = &mut cluster.nodes[leader];
    server.restart(&dev).await;
    cluster.all_ready(other).await;
    assert!(!is_active(&dev, &access).await);
    let mut browser = Browser::new(&dev);
    let code = browser.code("native", "openid").await;
    member(
        &redeem(cluster.dev(other), "native", &code).await,
        "access_token",
    );
}

#[tokio::test]
async fn a_minority_says_so_and_goes_on_with_what_needs_no_store() {
    let cluster = Cluster::of(3);
    cluster.all_ready(0).await;
    let token = cluster.dev(0).service_token().await;
    let mut browser = Browser::new(cluster.dev(0));
    let code = browser.code("native", "openid").await;
    for node in [1, 2] {
        cluster.nodes[node].0.signal("STOP");
    }
    let dev = cluster.dev(0);
    let asked = Instant::now();
    // A code is single-use: alone, the node cannot decide that.
    let refused = redeem(dev, "native", &code).await;
    assert_eq!(refused["error"], "temporarily_unavailable", "{refused}");
    assert!(asked.elapsed() < Duration::from_secs(20));
    // What needs no store.
    assert!(is_active(dev, &token).await);
    dev.service_token().await;
    let keys = dev.client().get(&format!("{}/jwks", dev.url), &[]).await;
    assert_eq!(keys.unwrap().status, 200);
    for node in [1, 2] {
        cluster.nodes[node].0.signal("CONT");
    }
    let started = Instant::now();
    loop {
        let answer = redeem(cluster.dev(1), "native", &code).await;
        if answer["error"] != "temporarily_unavailable" {
            member(&answer, "access_token");
            break;
        }
        assert!(started.elapsed() < PATIENCE);
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test]
async fn a_removed_node_counts_no_more_and_a_token_lets_one_node_in() {
    let mut cluster = Cluster::of(2);
    let token = invite(cluster.dev(0));
    let third = tempfile::tempdir().unwrap();
    let joined = Server::joined(third.path(), &token);
    cluster.nodes.push(joined);
    cluster.all_ready(0).await;
    // The token was used.
    let fourth = tempfile::tempdir().unwrap();
    let data = fourth.path().join("data");
    let listen = ["serve", "--dev", "--listen", "127.0.0.1:0", "--data-dir"];
    let mut arguments = listen.to_vec();
    arguments.extend([data.to_str().unwrap(), "--join", &token]);
    let output = signet(&arguments);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        text(&output.stderr).contains("used"),
        "{}",
        text(&output.stderr)
    );
    let output = signet(&["serve", "--dev", "--join", "signet-join-nonsense"]);
    assert_eq!(output.status.code(), Some(2));

    let dev = cluster.dev(0).clone();
    let remove = ["node", "remove", "node-3", "--yes", "--data-dir", dev.dir()];
    let output = signet(&remove);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(signet(&remove).status.code(), Some(1));
    cluster
        .seen_from(0, "two", |nodes| {
            nodes.len() == 2 && nodes.iter().all(|node| node["state"] == "ready")
        })
        .await;
    // MN1: who was removed is out for good: it hears of it, answers nothing, and does not start.
    let gone = cluster.dev(2).clone();
    says(&gone, "sync: removed").await;
    let fields = vec![("grant_type", "client_credentials")];
    for path in ["/token", "/introspect", "/revocations"] {
        let answer = gone.post(path, Some("service"), &fields).await;
        assert_eq!(answer.status, 503, "{path}");
    }
    let (server, _) = &mut cluster.nodes[2];
    server.signal("KILL");
    server.end();
    server.start_again();
    assert_ne!(server.end(), Some(0), "{}", server.log());
    assert!(server.log().contains("this node was removed"));
    cluster.nodes.truncate(2);
    // A node does not remove itself.
    let own = ["node", "remove", "node-1", "--yes", "--data-dir", dev.dir()];
    assert_eq!(signet(&own).status.code(), Some(1));
    // It is asked to stop, and stops.
    for (server, _) in &mut cluster.nodes {
        server.signal("TERM");
    }
    for (server, _) in &mut cluster.nodes {
        assert_eq!(server.end(), Some(0), "{}", server.log());
    }
}

/// Waits until a node says this of its readiness.
async fn says(dev: &Dev, what: &str) {
    let started = Instant::now();
    let url = format!("{}/health/ready", dev.url);
    loop {
        let said = match dev.client().get(&url, &[]).await {
            Ok(answer) => text(&answer.body),
            Err(error) => error.to_string(),
        };
        if said.contains(what) {
            return;
        }
        assert!(started.elapsed() < PATIENCE, "not {what}: {said}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

fn copied(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copied(&entry.path(), &to),
            false => drop(std::fs::copy(entry.path(), to).unwrap()),
        }
    }
}

/// Removes the database of a directory, or puts it back from a copy.
fn put_back(directory: &Path, from: Option<&Path>) {
    for end in ["", "-wal", "-shm"] {
        let name = format!("signet.db{end}");
        let _ = std::fs::remove_file(directory.join(&name));
        if let Some(from) = from
            && from.join(&name).exists()
        {
            std::fs::copy(from.join(&name), directory.join(&name)).unwrap();
        }
    }
}

// HN3, MN3: the consensus counts on it that a voter has what it acknowledged.
#[tokio::test]
async fn a_voter_whose_rows_are_gone_or_older_than_what_it_acknowledged_does_not_start() {
    let mut cluster = Cluster::of(3);
    for node in 0..3 {
        cluster.all_ready(node).await;
    }
    let devs: Vec<Dev> = cluster.nodes.iter().map(|(_, dev)| dev.clone()).collect();
    let data = Path::new(devs[1].dir()).to_owned();
    let note = data.join("cluster/acknowledged.json");
    let noted = || std::fs::read_to_string(&note).unwrap_or_default();
    let copy = tempfile::tempdir().unwrap();
    let stop = |server: &mut Server| {
        server.signal("KILL");
        server.end();
    };
    stop(&mut cluster.nodes[1].0);
    copied(&data, copy.path());
    cluster.nodes[1].0.restart(&devs[1]).await;
    cluster.all_ready(0).await;
    // Something is acknowledged, and noted: here, and at the others.
    let before = noted();
    let mut browser = Browser::new(&devs[0]);
    let code = browser.code("native", "openid").await;
    member(&redeem(&devs[0], "native", &code).await, "access_token");
    let started = Instant::now();
    while noted() == before || noted().matches("\"node\"").count() < 3 {
        assert!(started.elapsed() < PATIENCE, "{}", noted());
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    tokio::time::sleep(Duration::from_secs(5)).await;
    stop(&mut cluster.nodes[1].0);

    let refused = |server: &mut Server, why: &str| {
        server.start_again();
        assert_ne!(server.end(), Some(0), "{}", server.log());
        let log = server.log();
        let last = log.lines().rev().take(5).collect::<String>();
        assert!(last.contains(why), "{why}:\n{log}");
        assert!(last.contains("signet node remove node-2"), "{log}");
    };
    let server = &mut cluster.nodes[1].0;
    // The database was deleted, or put back alone: seen without asking anybody.
    let kept = tempfile::tempdir().unwrap();
    copied(&data, kept.path());
    put_back(&data, None);
    refused(server, "its store is empty");
    put_back(&data, Some(copy.path()));
    refused(server, "older than what it has acknowledged");
    // The directory was put back: another member knows better.
    std::fs::remove_dir_all(&data).unwrap();
    copied(copy.path(), &data);
    refused(server, "older than what it has acknowledged");
    // As it was it comes back, and what was used is used.
    std::fs::remove_dir_all(&data).unwrap();
    copied(kept.path(), &data);
    server.restart(&devs[1]).await;
    let again = redeem(&devs[1], "native", &code).await;
    assert_eq!(again["error"], "invalid_grant");
}

// MN4: nothing that may happen once happens at both.
#[tokio::test]
async fn two_recoveries_of_one_cluster_see_each_other_and_neither_decides_until_one_is_removed() {
    let mut cluster = Cluster::of(3);
    cluster.all_ready(2).await;
    let devs: Vec<Dev> = cluster.nodes.iter().map(|(_, dev)| dev.clone()).collect();
    let mut browser = Browser::new(&devs[0]);
    let code = browser.code("native", "openid").await;
    for (server, _) in &mut cluster.nodes {
        server.signal("KILL");
        server.end();
    }
    for dev in &devs[..2] {
        let recover = ["node", "recover", "--yes", "--data-dir", dev.dir()];
        assert_eq!(signet(&recover).status.code(), Some(0));
    }
    for (at, dev) in devs[..2].iter().enumerate() {
        cluster.nodes[at].0.restart(dev).await;
    }
    for dev in &devs[..2] {
        says(dev, "sync: divided").await;
        let answer = redeem(dev, "native", &code).await;
        assert_eq!(answer["error"], "temporarily_unavailable", "{answer}");
    }
    let remove = [
        "node",
        "remove",
        "node-2",
        "--yes",
        "--data-dir",
        devs[0].dir(),
    ];
    let output = signet(&remove);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    says(&devs[0], "sync: whole").await;
    says(&devs[1], "sync: removed").await;
    member(&redeem(&devs[0], "native", &code).await, "access_token");
    // The third one is left behind by both, and does not divide them.
    let (server, _) = &mut cluster.nodes[2];
    server.start_again();
    server.wait_for_log("refuse");
    says(&devs[0], "ready").await;
}

#[tokio::test]
async fn nodes_that_were_all_killed_start_together_with_all_that_was_answered() {
    let mut cluster = Cluster::of(3);
    cluster.all_ready(0).await;
    let mut browser = Browser::new(cluster.dev(0));
    let code = browser.code("native", "openid offline_access").await;
    for (server, _) in &mut cluster.nodes {
        server.signal("KILL");
        server.end();
    }
    for (server, _) in &mut cluster.nodes {
        server.start_again();
    }
    let devs: Vec<Dev> = cluster.nodes.iter().map(|(_, dev)| dev.clone()).collect();
    for ((server, _), dev) in cluster.nodes.iter_mut().zip(&devs) {
        server.answers(dev).await;
    }
    cluster.all_ready(1).await;
    member(
        &redeem(cluster.dev(1), "native", &code).await,
        "access_token",
    );
    assert_eq!(
        redeem(cluster.dev(2), "native", &code).await["error"],
        "invalid_grant"
    );
}

#[tokio::test]
async fn a_node_starts_without_a_majority_says_so_and_becomes_whole_by_itself() {
    let mut cluster = Cluster::of(3);
    for node in 0..3 {
        cluster.all_ready(node).await;
    }
    let devs: Vec<Dev> = cluster.nodes.iter().map(|(_, dev)| dev.clone()).collect();
    let dev = &devs[0];
    let revoked = dev.service_token().await;
    let of_service = ["revoke", "--client", "service", "--data-dir", devs[1].dir()];
    assert_eq!(signet(&of_service).status.code(), Some(0));
    tokio::time::sleep(Duration::from_millis(5)).await;
    let token = dev.service_token().await;
    let mut browser = Browser::new(dev);
    let code = browser.code("native", "openid").await;
    for (server, _) in &mut cluster.nodes {
        server.signal("KILL");
        server.end();
    }

    // Alone it starts, and says what it is.
    cluster.nodes[0].0.restart(dev).await;
    let ready = format!("{}/health/ready", dev.url);
    let answer = dev.client().get(&ready, &[]).await.unwrap();
    let said = text(&answer.body);
    assert_eq!(answer.status, 503, "{said}");
    assert!(said.starts_with("no majority of the nodes"), "{said}");
    // Nobody is connected who could hold the same.
    assert!(said.contains("sync: minority (0 of 2 "), "{said}");
    // What needs no store goes on, by what this node had.
    dev.service_token().await;
    assert!(is_active(dev, &token).await);
    assert!(!is_active(dev, &revoked).await);
    for path in ["/jwks", "/.well-known/openid-configuration", "/health/live"] {
        let url = format!("{}{path}", dev.url);
        let answer = dev.client().get(&url, &[]).await.unwrap();
        assert_eq!(answer.status, 200, "{path}");
    }
    // What can be decided once is not.
    let (client_id, _) = dev.credentials("native");
    let fields = [
        ("grant_type", "authorization_code"),
        ("redirect_uri", REDIRECT),
        ("code", &*code),
        ("code_verifier", VERIFIER),
        ("client_id", &*client_id),
    ];
    let answer = dev.post("/token", None, &fields).await;
    assert_eq!(answer.status, 503, "{}", text(&answer.body));
    assert_eq!(body(&answer)["error"], "temporarily_unavailable");
    assert!(answer.headers.contains_key("retry-after"));
    let itself = list(dev).into_iter().find(|node| node["self"] == true);
    assert_eq!(itself.unwrap()["state"], "syncing");

    // A second one is a majority: both become whole, and what was answered before is there.
    cluster.nodes[1].0.restart(&devs[1]).await;
    let started = Instant::now();
    for dev in &devs[..2] {
        let ready = format!("{}/health/ready", dev.url);
        while dev.client().get(&ready, &[]).await.unwrap().status != 200 {
            assert!(started.elapsed() < PATIENCE, "{}", cluster.nodes[0].0.log());
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
    member(&redeem(&devs[1], "native", &code).await, "access_token");
    assert_eq!(redeem(dev, "native", &code).await["error"], "invalid_grant");
}

#[tokio::test]
async fn a_node_that_waits_at_its_start_says_for_what_and_stops_when_it_is_told_to() {
    let mut cluster = Cluster::of(3);
    for node in 0..3 {
        cluster.all_ready(node).await;
    }
    for (server, _) in &mut cluster.nodes {
        server.signal("KILL");
        server.end();
    }
    let (server, dev) = &mut cluster.nodes[0];
    server.start_again();
    // MN3: a balancer, and whoever looks, is answered meanwhile.
    says(
        dev,
        "no majority of the nodes can be reached\nsync: starting",
    )
    .await;
    let get = async |path: &str| {
        let url = format!("{}{path}", dev.url);
        dev.client().get(&url, &[]).await.unwrap().status
    };
    assert_eq!(get("/health/live").await, 200);
    assert_eq!(get("/jwks").await, 503);
    server.signal("TERM");
    assert_eq!(server.end(), Some(0), "{}", server.log());
}

#[tokio::test]
async fn what_is_left_of_a_lost_majority_goes_on_when_it_is_told_to() {
    let mut cluster = Cluster::of(3);
    cluster.all_ready(2).await;
    let mut browser = Browser::new(cluster.dev(2));
    let code = browser.code("native", "openid offline_access").await;
    let tokens = redeem(cluster.dev(2), "native", &code).await;
    let dev = cluster.dev(2).clone();
    let recover = [
        "node",
        "recover",
        "--yes",
        "--json",
        "--data-dir",
        dev.dir(),
    ];
    // Not while it runs.
    assert_eq!(signet(&recover).status.code(), Some(2));
    for (server, _) in &mut cluster.nodes {
        server.signal("KILL");
        server.end();
    }
    let output = signet(&recover);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let answer = json(&output);
    assert_eq!(answer["node"], "node-3");
    assert_eq!(answer["left_behind"].as_array().unwrap().len(), 2);
    // Alone it decides again, with all that it had.
    cluster.nodes[2].0.restart(&dev).await;
    let refreshed = refresh(&dev, "native", &member(&tokens, "refresh_token")).await;
    member(&refreshed, "refresh_token");
    // One that was left behind does not come back by mistake.
    let behind = cluster.dev(0).clone();
    let (server, _) = &mut cluster.nodes[0];
    server.start_again();
    server.wait_for_log("refuse");
    for name in ["node-1", "node-2"] {
        let remove = ["node", "remove", name, "--yes", "--data-dir", dev.dir()];
        let output = signet(&remove);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    }
    assert_eq!(list(&dev).len(), 1);
    assert_ne!(behind.url, dev.url);
}
