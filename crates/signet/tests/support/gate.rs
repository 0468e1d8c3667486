//! A real `signet gate` for the tests.

use std::{
    path::Path,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use http::{Method, StatusCode};
use serde_json::Value;

use super::{SIGNET, http_client::HttpClient, port_in, text};

/// For things that take a moment on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// A running `signet gate`; killed when dropped.
pub struct Gate {
    child: Child,
    port: u16,
    log: std::path::PathBuf,
}

impl Gate {
    /// With this configuration, and a variable `TEST_GATE_SECRET` of what is in the directory's
    /// file `secret`.
    pub fn start(directory: &Path, name: &str, configuration: &str) -> Gate {
        let file = directory.join(format!("{name}.toml"));
        std::fs::write(&file, format!("listen = \"127.0.0.1:0\"\n{configuration}")).unwrap();
        let log = directory.join(format!("{name}.log"));
        let output = std::fs::File::create(&log).unwrap();
        let mut child = Command::new(SIGNET)
            .args(["gate", "--config", file.to_str().unwrap()])
            .env(
                "TEST_GATE_SECRET",
                std::fs::read_to_string(directory.join("secret")).unwrap_or_default(),
            )
            .stdin(Stdio::null())
            .stdout(output.try_clone().unwrap())
            .stderr(output)
            .spawn()
            .unwrap();
        let begun = Instant::now();
        let port = loop {
            if let Some(port) = port_in(&log, "answering") {
                break port;
            }
            let said = || text(&std::fs::read(&log).unwrap_or_default());
            if let Some(status) = child.try_wait().unwrap() {
                panic!("the gate ended with {status}:\n{}", said());
            }
            assert!(begun.elapsed() < PATIENCE, "not answering:\n{}", said());
            std::thread::sleep(Duration::from_millis(10));
        };
        Gate { child, port, log }
    }

    /// Asks with a token, or GETs.
    pub async fn ask(&self, path: &str, token: Option<&str>) -> Option<(StatusCode, String)> {
        let client = HttpClient::new(&[]).unwrap();
        let url = format!("http://127.0.0.1:{}{path}", self.port);
        let (method, content) = match token {
            Some(token) => (Method::POST, format!("{{\"token\":\"{token}\"}}")),
            None => (Method::GET, String::new()),
        };
        let answer = client.send(method, &url, &[], content.into()).await.ok()?;
        Some((answer.status, text(&answer.body)))
    }

    /// The status and the reason; `valid` where the answer has none.
    pub async fn validate(&self, token: &str) -> (StatusCode, String) {
        let (status, answer) = self.ask("/validate", Some(token)).await.unwrap();
        let answer: Value = serde_json::from_str(&answer).unwrap();
        let reason = answer["reason"].as_str().unwrap_or("valid").to_owned();
        (status, reason)
    }

    /// Asks until the answer is this one.
    pub async fn until(&self, token: &str, expected: (u16, &str)) {
        let begun = Instant::now();
        loop {
            let (status, reason) = self.validate(token).await;
            if (status.as_u16(), reason.as_str()) == expected {
                return;
            }
            assert!(
                begun.elapsed() < PATIENCE,
                "{status} {reason}, not {expected:?}:\n{}",
                self.log()
            );
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Asks for readiness until its text says so.
    pub async fn until_ready_says(&self, status: u16, part: &str) {
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
                self.log()
            );
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Where it answers, on this machine.
    pub fn port(&self) -> u16 {
        self.port
    }

    fn log(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap_or_default()
    }

    /// Sends a signal by its name.
    pub fn signal(&self, name: &str) {
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
