//! A server whose disk is full for real: it goes on with what needs no space, revocations included,
//! starts again, and is whole when there is space.
//!
//! The disk is a small tmpfs where this process may mount one. Where it may not, the server's files
//! are limited in size (RLIMIT_FSIZE) and the limit is taken away for the second start: the reserve
//! cannot help then, so what is asked is that nothing is answered as done which is not, and that
//! the server starts.

use crate::support::{Server, basic, http_client::HttpClient, json, signet, text};
use serde_json::Value;
use std::{
    fs::{self, OpenOptions},
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

const SECRET: &str = "a-secret-of-a-service-that-is-long-enough-for-anybody";

struct Disk(tempfile::TempDir);

impl Disk {
    fn mount(bytes: u64) -> Option<Disk> {
        let directory = tempfile::tempdir().unwrap();
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={bytes}"), "tmpfs"])
            .arg(directory.path())
            .stderr(Stdio::null())
            .status();
        mounted
            .is_ok_and(|status| status.success())
            .then_some(Disk(directory))
    }

    fn fill(&self) -> PathBuf {
        let path = self.0.path().join("filler");
        let mut file = OpenOptions::new()
            .append(true)
            .create(true)
            .open(&path)
            .unwrap();
        for size in [1 << 16, 1 << 12, 1] {
            while file.write_all(&vec![7; size]).is_ok() {}
        }
        path
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0.path()).status();
    }
}

/// A configuration with one service; its data directory is `data`.
fn configure(home: &Path, data: &Path) -> PathBuf {
    let file = home.join("signet.toml");
    let text = format!(
        "issuer = \"https://id.example\"\ndata_dir = \"{}\"\n[keys]\nalgorithms = [\"ES256\"]\n\
         [store]\nreserve_bytes = 4194304\n[audit]\nsegment_bytes = 65536\n\
         [[listeners]]\naddress = \"127.0.0.1:0\"\nprotocol = \"http\"\n\
         [[clients]]\nclient_id = \"service\"\nclient_secrets = [{{ file = \"secret\" }}]\n\
         grant_types = [\"client_credentials\"]\ntoken_endpoint_auth_method = \"client_secret_basic\"\n",
        data.display()
    );
    fs::write(&file, text).unwrap();
    fs::write(home.join("secret"), SECRET).unwrap();
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(home.join("secret"), fs::Permissions::from_mode(0o600)).unwrap();
    file
}

/// A running server, asked as the service.
struct Asked {
    client: HttpClient,
    port: u16,
}

impl Asked {
    fn new(port: u16) -> Asked {
        let client = HttpClient::new(&[]).unwrap();
        Asked { client, port }
    }

    async fn post(&self, path: &str, form: &str) -> (u16, Value) {
        let url = format!("http://127.0.0.1:{}{path}", self.port);
        let headers = [
            ("content-type", "application/x-www-form-urlencoded"),
            ("authorization", &*basic("service", SECRET)),
        ];
        let body = form.to_owned().into();
        let sent = self.client.send(http::Method::POST, &url, &headers, body);
        let answer = sent.await.unwrap();
        let body = serde_json::from_slice(&answer.body).unwrap_or_default();
        (answer.status.as_u16(), body)
    }

    async fn get(&self, path: &str) -> (u16, String) {
        let url = format!("http://127.0.0.1:{}{path}", self.port);
        let answer = self.client.get(&url, &[]).await.unwrap();
        (answer.status.as_u16(), text(&answer.body))
    }

    async fn token(&self) -> String {
        let (status, body) = self.post("/token", "grant_type=client_credentials").await;
        assert_eq!(status, 200, "{body}");
        body["access_token"].as_str().unwrap().to_owned()
    }

    async fn is_active(&self, token: &str) -> bool {
        let (status, body) = self.post("/introspect", &format!("token={token}")).await;
        assert_eq!(status, 200, "{body}");
        body["active"].as_bool().unwrap()
    }

    async fn until_ready_says(&self, part: &str) {
        let started = Instant::now();
        loop {
            let (_, body) = self.get("/health/ready").await;
            if body.contains(part) {
                return;
            }
            assert!(started.elapsed() < Duration::from_secs(90), "{body}");
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    }
}

#[tokio::test]
async fn a_full_disk_leaves_reads_and_revocations_and_a_start() {
    let Some(disk) = Disk::mount(24 << 20) else {
        eprintln!("no file system can be mounted here: asked of limited files in its place");
        return limited_files().await;
    };
    let home = tempfile::tempdir().unwrap();
    let data = disk.0.path().join("data");
    let (file, log) = (configure(home.path(), &data), home.path().join("log"));
    let (mut server, port) = Server::configured(&file, &log);
    let asked = Asked::new(port);
    let (kept, revoked) = (asked.token().await, asked.token().await);
    asked.until_ready_says("ready").await;
    // The keys that follow are made two seconds after a start; they are not what is asked here.
    tokio::time::sleep(Duration::from_secs(3)).await;

    let filler = disk.fill();
    asked.until_ready_says("degraded").await;
    assert_eq!(asked.get("/health/ready").await.0, 200);
    let metrics = asked.get("/metrics").await.1;
    assert!(metrics.contains("signet_disk_full 1"), "{metrics}");
    // A flood of refusals adds nothing to the trail, and is counted.
    for number in 0..50 {
        let form = format!("grant_type=authorization_code&code={number}&redirect_uri=x");
        assert!(asked.post("/token", &form).await.0 >= 400);
    }
    let (status, _) = asked.post("/revoke", &format!("token={revoked}")).await;
    assert_eq!(status, 200);
    assert!(!asked.is_active(&revoked).await);
    assert!(asked.is_active(&kept).await);
    // Somebody else takes what the reserve gave up, and the operator starts it again.
    disk.fill();
    server.signal("TERM");
    server.end();
    disk.fill();
    let log = home.path().join("log-of-the-second");
    let (mut server, port) = Server::configured(&file, &log);
    let asked = Asked::new(port);
    asked.until_ready_says("degraded").await;
    assert!(!asked.is_active(&revoked).await);
    assert!(asked.is_active(&kept).await);
    assert_eq!(asked.get("/jwks").await.0, 200);
    assert_eq!(asked.get("/.well-known/openid-configuration").await.0, 200);
    let (status, _) = asked.post("/revoke", &format!("token={kept}")).await;
    assert_eq!(status, 200);
    assert!(!asked.is_active(&kept).await);

    fs::remove_file(&filler).unwrap();
    asked.until_ready_says("ready\n").await;
    let metrics = asked.get("/metrics").await.1;
    assert!(metrics.contains("signet_disk_full 0"), "{metrics}");
    asked.token().await;
    server.signal("TERM");
    assert_eq!(server.end(), Some(0));
    // The trail is whole, has both revocations, and says how many refusals it left out.
    let verified = signet(&[
        "audit",
        "verify",
        "--json",
        "--data-dir",
        data.to_str().unwrap(),
    ]);
    assert_eq!(
        verified.status.code(),
        Some(0),
        "{}",
        text(&verified.stderr)
    );
    let lines = signet(&[
        "audit",
        "tail",
        "--lines",
        "100000",
        "--json",
        "--data-dir",
        data.to_str().unwrap(),
    ]);
    let lines = json(&lines).as_array().unwrap().clone();
    let count = |action: &str| lines.iter().filter(|l| l["action"] == action).count();
    assert_eq!(count("token.revoke"), 2, "{lines:#?}");
}

/// The same with files that must not grow, as far as it can be asked.
async fn limited_files() {
    let home = tempfile::tempdir().unwrap();
    let data = home.path().join("data");
    let (file, log) = (configure(home.path(), &data), home.path().join("log"));
    let (mut server, port) = Server::configured(&file, &log);
    let asked = Asked::new(port);
    let revoked = asked.token().await;
    let pid = server.id().to_string();
    // Nothing may be written behind the first 64 KiB of any file: the database and the trail are
    // longer by then, or will be soon. The signal for it is ignored since the start.
    let limit = |bytes: &str| {
        let done = Command::new("prlimit")
            .args(["--pid", &pid, &format!("--fsize={bytes}:unlimited")])
            .status();
        assert!(done.unwrap().success());
    };
    limit("65536");
    let (status, _) = asked.post("/revoke", &format!("token={revoked}")).await;
    // Done or not: it is answered as what it is.
    assert_eq!(asked.is_active(&revoked).await, status != 200);
    limit("unlimited");
    asked.until_ready_says("ready\n").await;
    let (status, _) = asked.post("/revoke", &format!("token={revoked}")).await;
    assert_eq!(status, 200);
    assert!(!asked.is_active(&revoked).await);
    server.signal("TERM");
    assert_eq!(server.end(), Some(0));
    let log = home.path().join("log-of-the-second");
    let (mut server, port) = Server::configured(&file, &log);
    assert!(!Asked::new(port).is_active(&revoked).await);
    server.signal("TERM");
    assert_eq!(server.end(), Some(0));
}

#[tokio::test]
async fn files_that_must_not_grow_are_no_reason_to_answer_as_done() {
    limited_files().await;
}
