//! The validation service follows a real server's stream of revocations: what is revoked is refused, and what a lost stream means is
//! what was chosen.

mod support;

use std::{
    path::Path,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use http::{Method, StatusCode};
use serde_json::Value;
use support::{Dev, SIGNET, Server, body, free_port, http_client::HttpClient, json, signet};

/// For things that take a moment on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);
/// After how many seconds a lost stream counts.
const AFTER: u64 = 2;

/// A running `signet gate`; killed when dropped.
struct Gate {
    child: Child,
    port: u16,
    log: std::path::PathBuf,
}

impl Gate {
    fn start(directory: &Path, name: &str, configuration: &str) -> Gate {
        let port = free_port();
        let file = directory.join(format!("{name}.toml"));
        std::fs::write(
            &file,
            format!("listen = \"127.0.0.1:{port}\"\n{configuration}"),
        )
        .unwrap();
        let log = directory.join(format!("{name}.log"));
        let output = std::fs::File::create(&log).unwrap();
        let child = Command::new(SIGNET)
            .args(["gate", "--config", file.to_str().unwrap()])
            .env("TEST_GATE_SECRET", secret(directory))
            .stdin(Stdio::null())
            .stdout(output.try_clone().unwrap())
            .stderr(output)
            .spawn()
            .unwrap();
        Gate { child, port, log }
    }

    async fn ask(&self, path: &str, token: Option<&str>) -> Option<(StatusCode, String)> {
        let client = HttpClient::new(&[]).unwrap();
        let url = format!("http://127.0.0.1:{}{path}", self.port);
        let (method, content) = match token {
            Some(token) => (Method::POST, format!("{{\"token\":\"{token}\"}}")),
            None => (Method::GET, String::new()),
        };
        let answer = client.send(method, &url, &[], content.into()).await.ok()?;
        Some((answer.status, support::text(&answer.body)))
    }

    async fn validate(&self, token: &str) -> (StatusCode, String) {
        let (status, answer) = self.ask("/validate", Some(token)).await.unwrap();
        let answer: Value = serde_json::from_str(&answer).unwrap();
        let reason = answer["reason"].as_str().unwrap_or("valid").to_owned();
        (status, reason)
    }

    /// Asks until the answer is this one.
    async fn until(&self, token: &str, expected: (u16, &str)) {
        let begun = Instant::now();
        loop {
            let (status, reason) = self.validate(token).await;
            if (status.as_u16(), reason.as_str()) == expected {
                return;
            }
            assert!(
                begun.elapsed() < PATIENCE,
                "{status} {reason}, not {expected:?}:\n{}",
                std::fs::read_to_string(&self.log).unwrap()
            );
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Asks for readiness until its text says so.
    async fn until_ready_says(&self, status: u16, part: &str) {
        let begun = Instant::now();
        loop {
            let answer = self.ask("/health/ready", None).await;
            if let Some((answered, text)) = &answer
                && answered.as_u16() == status
                && text.contains(part)
            {
                return;
            }
            assert!(
                begun.elapsed() < PATIENCE,
                "{answer:?}, not {status} {part}:\n{}",
                std::fs::read_to_string(&self.log).unwrap()
            );
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    fn signal(&self, name: &str) {
        let pid = self.child.id().to_string();
        let sent = Command::new("kill").args(["-s", name, &pid]).status();
        assert!(sent.unwrap().success());
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn secret(directory: &Path) -> String {
    std::fs::read_to_string(directory.join("secret")).unwrap_or_default()
}

/// A client that may hear revocations; its secret goes to a file.
fn make_reader(directory: &Path, dev: &Dev) {
    let made = json(&signet(&[
        "client",
        "add",
        "--client-id",
        "gate",
        "--name",
        "The gate",
        "--grant-type",
        "client_credentials",
        "--scope",
        "signet:revocations",
        "--json",
        "--data-dir",
        dev.dir(),
    ]));
    let secret = made["client_secret"].as_str().unwrap();
    std::fs::write(directory.join("secret"), format!("{secret}\n")).unwrap();
}

fn configuration(dev: &Dev, when_lost: &str, secret: &str) -> String {
    format!(
        r#"
[outbound]
trust = "{ca}"
allow_loopback = true

[[issuers]]
issuer = "{issuer}"

[issuers.revocations]
when_lost = "{when_lost}"
after = "{AFTER}s"
client = {{ client_id = "gate", {secret} }}

[[policies]]
audiences = ["{issuer}"]
"#,
        ca = dev.ca.display(),
        issuer = dev.issuer,
    )
}

async fn revoke(dev: &Dev, token: &str) {
    let answer = dev
        .post("/revoke", Some("service"), &[("token", token)])
        .await;
    assert_eq!(answer.status, StatusCode::OK);
}

#[tokio::test]
async fn what_is_revoked_is_refused_and_a_lost_stream_is_open_or_closed_as_chosen() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    let (mut server, dev) = Server::dev(directory);
    make_reader(directory, &dev);
    let before = dev.service_token().await;
    revoke(&dev, &before).await;
    let closed = configuration(&dev, "closed", "client_secret_file = \"secret\"");
    let closed = Gate::start(directory, "closed", &closed);
    let open = configuration(&dev, "open", "client_secret_env = \"TEST_GATE_SECRET\"");
    let open = Gate::start(directory, "open", &open);

    // What was revoked before the stream began, and what is revoked while it is read: cached answers end, too.
    let (one, other) = (dev.service_token().await, dev.service_token().await);
    for gate in [&closed, &open] {
        gate.until_ready_says(200, "revocations current").await;
        gate.until(&one, (200, "valid")).await;
        gate.until(&other, (200, "valid")).await;
        gate.until(&before, (401, "revoked")).await;
    }
    revoke(&dev, &one).await;
    for gate in [&closed, &open] {
        gate.until(&one, (401, "revoked")).await;
        assert_eq!(gate.validate(&other).await.1, "valid");
    }
    let (_, metrics) = open.ask("/metrics", None).await.unwrap();
    let line = format!(
        "signet_gate_revocations_state{{issuer=\"{}\",state=\"current\"}} 1",
        dev.issuer
    );
    assert!(metrics.contains(&line), "{metrics}");

    // A reload keeps what is known, and goes on listening.
    closed.signal("HUP");
    closed.until_ready_says(200, "revocations current").await;
    closed.until(&one, (401, "revoked")).await;

    server.signal("KILL");
    closed.until(&other, (503, "revocation_unknown")).await;
    closed
        .until_ready_says(503, "revocations lost, refusing")
        .await;
    open.until_ready_says(200, "revocations lost").await;
    assert_eq!(open.validate(&other).await.1, "valid");
    assert_eq!(open.validate(&one).await.1, "revoked");

    server.crash_and_restart(&dev).await;
    closed.until(&other, (200, "valid")).await;
    revoke(&dev, &other).await;
    for gate in [&closed, &open] {
        gate.until(&other, (401, "revoked")).await;
        gate.until(&one, (401, "revoked")).await;
    }

    // The client's whole access ends.
    let last = dev.service_token().await;
    closed.until(&last, (200, "valid")).await;
    let (service, _) = dev.credentials("service");
    let revoked = signet(&["client", "revoke", &service, "--data-dir", dev.dir()]);
    assert!(
        revoked.status.success(),
        "{}",
        support::text(&revoked.stderr)
    );
    closed.until(&last, (401, "revoked")).await;
    let next = dev.service_token().await;
    closed.until(&next, (200, "valid")).await;
}

#[tokio::test]
async fn a_client_without_the_scope_hears_nothing_and_the_gate_says_why() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    let (_server, dev) = Server::dev(directory);
    let (id, secret) = dev.credentials("service");
    std::fs::write(directory.join("secret"), secret).unwrap();
    let configuration = configuration(&dev, "closed", "client_secret_file = \"secret\"")
        .replace("\"gate\"", &format!("\"{id}\""));
    let gate = Gate::start(directory, "gate", &configuration);
    gate.until_ready_says(503, "revocations starting, refusing")
        .await;
    gate.until_ready_says(503, "the answer's status is 403")
        .await;
    let token = body(
        &dev.post(
            "/token",
            Some("service"),
            &[("grant_type", "client_credentials")],
        )
        .await,
    )["access_token"]
        .as_str()
        .unwrap()
        .to_owned();
    gate.until(&token, (503, "revocation_unknown")).await;
}
