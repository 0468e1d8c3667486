//! The audit trail of a real server: what is recorded, what a `kill -9` leaves, and the commands
//! that an auditor uses.

use crate::support::{Dev, Server, json, signet, text};
use serde_json::Value;
use std::{path::Path, process::Output, sync::Arc, time::Duration};

fn verify(arguments: &[&str]) -> Output {
    let mut all = vec!["audit", "verify", "--json"];
    all.extend(arguments);
    signet(&all)
}

fn tail(dev: &Dev) -> Vec<Value> {
    let output = signet(&[
        "audit",
        "tail",
        "--lines",
        "100000",
        "--json",
        "--data-dir",
        dev.dir(),
    ]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    json(&output).as_array().unwrap().clone()
}

/// Waits until the trail has a line of which this holds.
async fn until(dev: &Dev, holds: impl Fn(&Value) -> bool) -> Value {
    for _ in 0..600 {
        if let Some(line) = tail(dev).into_iter().find(|line| holds(line)) {
            return line;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("no such line: {:#?}", tail(dev));
}

fn segment(dev: &Dev) -> std::path::PathBuf {
    dev.data.join("audit/node-1.00000000000000000000.audit")
}

#[tokio::test]
async fn decisions_have_lines_and_no_line_has_a_secret() {
    let dir = tempfile::tempdir().unwrap();
    let (mut server, dev) = Server::dev(dir.path());
    let token = dev.service_token().await;
    let (id, secret) = dev.credentials("service");
    let refused = dev
        .client()
        .send(
            http::Method::POST,
            &format!("{}/token", dev.issuer),
            &[
                ("content-type", "application/x-www-form-urlencoded"),
                (
                    "authorization",
                    &crate::support::basic(&id, "a-wrong-secret"),
                ),
            ],
            "grant_type=client_credentials".into(),
        )
        .await
        .unwrap();
    assert_eq!(refused.status, 401);
    dev.post("/introspect", Some("service"), &[("token", &token)])
        .await;
    dev.post("/revoke", Some("service"), &[("token", &token)])
        .await;
    let made = signet(&[
        "scope",
        "add",
        "audit:read",
        "Read it",
        "--data-dir",
        dev.dir(),
    ]);
    assert_eq!(made.status.code(), Some(0), "{}", text(&made.stderr));
    until(&dev, |line| line["operation"] == "writeScope").await;
    server.signal("TERM");
    assert_eq!(server.end(), Some(0));

    let lines = tail(&dev);
    let said: Vec<String> = lines
        .iter()
        .map(|l| {
            let word = |name: &str| l[name].as_str().unwrap_or("-").to_owned();
            format!(
                "{} {} {} {}",
                word("action"),
                word("decision"),
                word("client_id"),
                word("operation")
            )
        })
        .collect();
    let has = |wanted: &str| {
        assert!(
            said.iter().any(|line| line == wanted),
            "{wanted}: {said:#?}"
        )
    };
    has("token.issue allowed service -");
    has("token.issue denied service -");
    has("token.introspect none service active");
    has("token.revoke allowed service access_token");
    has("token.issue allowed admin-client -");
    has("admin allowed - writeScope");
    has("key none - publish_active");
    assert_eq!(lines.last().unwrap()["action"], "audit.stop");
    // Who administered is named, and the command left two records: its token, and what it did.
    let admin = lines.iter().find(|l| l["action"] == "admin").unwrap();
    assert_eq!(admin["subject"], "admin-client");
    // And from where: the trail answers that without the log.
    assert_eq!(admin["address"], "127.0.0.1");
    let of_the_command = lines.iter().filter(|l| l["subject"] == "admin-client");
    assert_eq!(of_the_command.count(), 2);
    // The line of a token has its id.
    let payload = token.split('.').nth(1).unwrap();
    let claims = signet_claims(payload);
    assert!(
        lines
            .iter()
            .any(|l| l["action"] == "token.issue" && l["jti"] == claims["jti"])
    );
    let bytes = std::fs::read(segment(&dev)).unwrap();
    let member = |a: &str, b: &str| dev.json[a][b].as_str().unwrap();
    let password = member("admin_client", "client_secret");
    for hidden in [&secret, "a-wrong-secret", &token, password] {
        let found = bytes
            .windows(hidden.len())
            .any(|window| window == hidden.as_bytes());
        assert!(!found, "{hidden}");
    }
    let verified = verify(&["--data-dir", dev.dir()]);
    assert_eq!(
        verified.status.code(),
        Some(0),
        "{}",
        text(&verified.stderr)
    );
    assert_eq!(json(&verified)["gaps"], 0);
}

/// What a JWT says, believed or not.
fn signet_claims(payload: &str) -> Value {
    let bytes = signet_encoding::base64url::decode(payload.as_bytes()).unwrap();
    serde_json::from_slice(&bytes).unwrap()
}

#[tokio::test]
async fn what_a_kill_leaves_verifies_and_the_gap_shows() {
    let dir = tempfile::tempdir().unwrap();
    let (mut server, dev) = Server::dev(dir.path());
    for round in 1..=3 {
        // Revocations are state changes: each that was answered has its line, whatever happens
        // next.
        let answered = Arc::new(std::sync::Mutex::new(Vec::new()));
        let work = (0..4).map(|_| {
            let (dev, answered) = (dev.clone(), answered.clone());
            tokio::spawn(async move {
                loop {
                    let Ok(token) =
                        tokio::time::timeout(Duration::from_secs(20), token_of(&dev)).await
                    else {
                        return;
                    };
                    let Some(token) = token else { return };
                    let jti = signet_claims(token.split('.').nth(1).unwrap())["jti"].clone();
                    if !revoked(&dev, &token).await {
                        return;
                    }
                    answered.lock().unwrap().push(jti);
                }
            })
        });
        let work: Vec<_> = work.collect();
        while answered.lock().unwrap().len() < 12 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        server.crash_and_restart(&dev).await;
        for task in work {
            task.abort();
            let _ = task.await;
        }
        let lines = tail(&dev);
        let revocations: Vec<_> = lines
            .iter()
            .filter(|l| l["action"] == "token.revoke")
            .map(|l| &l["jti"])
            .collect();
        for jti in answered.lock().unwrap().iter() {
            let times = revocations.iter().filter(|found| **found == jti).count();
            assert_eq!(times, 1, "{jti} in round {round}");
        }
        let verified = verify(&["--data-dir", dev.dir()]);
        assert_eq!(
            verified.status.code(),
            Some(0),
            "{}",
            text(&verified.stderr)
        );
        assert_eq!(json(&verified)["gaps"], round);
        let gaps = lines.iter().filter(|l| l["action"] == "audit.gap");
        assert!(gaps.clone().all(|gap| gap["error"] == "crash"));
        assert_eq!(gaps.count(), round);
    }
}

async fn token_of(dev: &Dev) -> Option<String> {
    let (id, secret) = dev.credentials("service");
    let answer = post(dev, "/token", &id, &secret, "grant_type=client_credentials").await?;
    let body: Value = serde_json::from_slice(&answer).ok()?;
    body["access_token"].as_str().map(str::to_owned)
}

async fn revoked(dev: &Dev, token: &str) -> bool {
    let (id, secret) = dev.credentials("service");
    post(dev, "/revoke", &id, &secret, &format!("token={token}"))
        .await
        .is_some()
}

/// The body of a 200; none where the server went away.
async fn post(dev: &Dev, path: &str, id: &str, secret: &str, form: &str) -> Option<bytes::Bytes> {
    let url = format!("{}{path}", dev.issuer);
    let headers = [
        ("content-type", "application/x-www-form-urlencoded"),
        ("authorization", &*crate::support::basic(id, secret)),
    ];
    let sent = dev
        .client()
        .send(http::Method::POST, &url, &headers, form.to_owned().into())
        .await;
    sent.ok()
        .filter(|answer| answer.status == 200)
        .map(|answer| answer.body)
}

/// A trail of a stopped server.
async fn trail(dir: &Path) -> Dev {
    let (mut server, dev) = Server::dev(dir);
    for _ in 0..3 {
        dev.service_token().await;
    }
    server.signal("TERM");
    assert_eq!(server.end(), Some(0));
    dev
}

/// The system's time.
struct Now;

impl signet_crypto::Clock for Now {
    fn now_ms(&self) -> u64 {
        let since = std::time::UNIX_EPOCH.elapsed().unwrap();
        u64::try_from(since.as_millis()).unwrap()
    }
}

#[tokio::test]
async fn the_commands_read_archived_segments_and_refuse_a_gap_that_no_record_names() {
    use signet_audit::{Action, Audit, AuditOptions, Event, Places};
    use signet_crypto::seal::{Keyring, SealingKey};
    let dir = tempfile::tempdir().unwrap();
    let places = Places {
        directory: dir.path().join("audit"),
        archive: Some(dir.path().join("archive")),
    };
    let archive = dir.path().join("archive");
    std::fs::create_dir(&archive).unwrap();
    let options = AuditOptions {
        interval: Duration::from_millis(2),
        segment_bytes: 3000,
        ..AuditOptions::at(places)
    };
    let keyring = Keyring::new(SealingKey::generate(), Vec::new());
    let store = Arc::new(signet_store::MemoryStore::new());
    let clock = Arc::new(Now);
    let (audit, _) = Audit::open(options, store, &keyring, clock).await.unwrap();
    let mut number = 0;
    while std::fs::read_dir(&archive).unwrap().count() < 3 {
        assert!(number < 2000);
        let had = audit.figures().0;
        let name = format!("person-{number}");
        audit.record(Event::new(Action::LOGIN, 1_800_000_000_000).subject(&name));
        while audit.figures().0 == had {
            std::thread::sleep(Duration::from_millis(2));
        }
        number += 1;
    }
    audit.close();
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let (data, archive) = (path(""), path("archive"));
    let good = verify(&["--data-dir", &data, "--archive", &archive]);
    assert_eq!(good.status.code(), Some(0), "{}", text(&good.stderr));
    assert_eq!(json(&good)["first"], 0);
    assert_eq!(json(&good)["node"], "node-1");
    let without = verify(&["--data-dir", &data]);
    assert_eq!(without.status.code(), Some(0), "{}", text(&without.stderr));
    let left = json(&without);
    assert!(left["first"].as_u64().unwrap() > 0);
    assert!(
        left["not_checked"].to_string().contains("archived"),
        "{left}"
    );
    let arguments = ["--json", "--lines", "100000", "--data-dir", &data];
    let lines = |more: &[&str]| {
        let all = [&["audit", "tail"], &arguments[..], more].concat();
        let output = signet(&all);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        json(&output).as_array().unwrap().clone()
    };
    let all = lines(&["--archive", &archive]);
    assert_eq!(all.len() as u64, json(&good)["lines"].as_u64().unwrap());
    assert_eq!(all[0]["index"], 0);
    assert!(all.iter().all(|line| line["node"] == "node-1"));
    assert!(lines(&[]).len() < all.len());
    // The whole of it in one file, for an auditor.
    let export = path("trail.audit");
    let exported = [
        "audit",
        "export",
        "--out",
        &export,
        "--data-dir",
        &data,
        "--archive",
        &archive,
    ];
    assert_eq!(signet(&exported).status.code(), Some(0));
    assert_eq!(json(&verify(&[&export]))["first"], 0);
    // A segment that is missing in the middle, where no record says that the trail begins: refused.
    let mut archived: Vec<_> = std::fs::read_dir(&archive).unwrap().collect();
    archived.sort_by_key(|entry| entry.as_ref().unwrap().path());
    std::fs::remove_file(archived[1].as_ref().unwrap().path()).unwrap();
    let gap = verify(&["--data-dir", &data, "--archive", &archive]);
    assert_eq!(gap.status.code(), Some(1));
    assert_eq!(json(&gap)["error"], "chain_broken");
}

#[tokio::test]
async fn an_export_is_verified_without_a_server_against_a_kept_document_and_checkpoint() {
    let dir = tempfile::tempdir().unwrap();
    let (mut server, dev) = Server::dev(dir.path());
    dev.service_token().await;
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let (kept, identity, export) = (path("kept.txt"), path("identity.json"), path("trail.audit"));
    let verified = verify(&["--data-dir", dev.dir(), "--keep", &kept]);
    assert_eq!(
        verified.status.code(),
        Some(0),
        "{}",
        text(&verified.stderr)
    );
    std::fs::copy(dev.data.join("audit/identity.json"), &identity).unwrap();
    dev.service_token().await;
    until(&dev, |l| l["action"] == "token.issue").await;
    server.signal("TERM");
    server.end();
    let exported = signet(&["audit", "export", "--out", &export, "--data-dir", dev.dir()]);
    assert_eq!(
        exported.status.code(),
        Some(0),
        "{}",
        text(&exported.stderr)
    );
    let arguments = [&*export, "--identity", &identity, "--checkpoint", &kept];
    let verified = verify(&arguments);
    assert_eq!(
        verified.status.code(),
        Some(0),
        "{}",
        text(&verified.stderr)
    );
    assert_eq!(json(&verified)["not_checked"], serde_json::json!([]));
    // An export is never written over.
    let again = signet(&["audit", "export", "--out", &export, "--data-dir", dev.dir()]);
    assert_eq!(again.status.code(), Some(2));

    // One changed byte: the line is named.
    let good = std::fs::read(&export).unwrap();
    let mut changed = good.clone();
    let at = good.windows(7).rposition(|w| w == b"service").unwrap();
    changed[at] ^= 1;
    std::fs::write(&export, &changed).unwrap();
    let broken = verify(&arguments);
    assert_eq!(broken.status.code(), Some(1));
    let answer = json(&broken);
    assert_eq!(answer["error"], "content_mismatch", "{answer}");
    let line = answer["line"].as_u64().unwrap();
    let description = answer["error_description"].as_str().unwrap();
    assert!(
        description.contains(&format!("line {line}")),
        "{description}"
    );
    assert!(text(&broken.stderr).contains(&format!("line {line}")));

    // Another server's document, and another's checkpoint.
    let other = tempfile::tempdir().unwrap();
    let stranger = trail(other.path()).await;
    let foreign = stranger.data.join("audit/identity.json");
    std::fs::write(&export, &good).unwrap();
    let broken = verify(&[&export, "--identity", foreign.to_str().unwrap()]);
    assert_eq!(
        (broken.status.code(), &json(&broken)["error"]),
        (Some(1), &"wrong_signer".into())
    );
    let others = path("others.txt");
    verify(&["--data-dir", stranger.dir(), "--keep", &others]);
    let broken = verify(&[&export, "--checkpoint", &others]);
    assert_eq!(broken.status.code(), Some(1), "{}", text(&broken.stdout));
    // Nothing there, and nonsense.
    assert_eq!(verify(&[&path("missing")]).status.code(), Some(2));
    let nonsense = path("nonsense");
    std::fs::write(&nonsense, "nonsense").unwrap();
    assert_eq!(verify(&[&nonsense]).status.code(), Some(1));
}

#[tokio::test]
async fn lines_that_were_cut_off_are_missed_by_a_kept_checkpoint_and_by_the_next_start() {
    let dir = tempfile::tempdir().unwrap();
    let (mut server, dev) = Server::dev(dir.path());
    dev.service_token().await;
    until(&dev, |l| l["action"] == "token.issue").await;
    let before = std::fs::read(segment(&dev)).unwrap();
    let known = tail(&dev).len();
    for _ in 0..3 {
        dev.service_token().await;
    }
    server.signal("TERM");
    server.end();
    let kept = dir.path().join("kept.txt");
    let kept = kept.to_str().unwrap();
    assert_eq!(
        verify(&["--data-dir", dev.dir(), "--keep", kept])
            .status
            .code(),
        Some(0)
    );
    // As it was a moment ago: whole, signed, and shorter.
    std::fs::write(segment(&dev), &before).unwrap();
    assert_eq!(verify(&["--data-dir", dev.dir()]).status.code(), Some(0));
    let broken = verify(&["--data-dir", dev.dir(), "--checkpoint", kept]);
    assert_eq!(broken.status.code(), Some(1));
    let answer = json(&broken);
    assert_eq!(answer["error"], "log_truncated");
    assert!(answer["line"].as_u64().unwrap() >= known as u64);
    // The store remembers, too.
    let mut again = Server::start(
        &["--dev", "--listen", "127.0.0.1:0", "--data-dir", dev.dir()],
        &dir.path().join("log2"),
    );
    let segments = || std::fs::read_dir(dev.data.join("audit")).unwrap().count();
    again.wait_for(|| segments() >= 3);
    let broken = verify(&["--data-dir", dev.dir()]);
    assert_eq!(
        (broken.status.code(), &json(&broken)["error"]),
        (Some(1), &"chain_broken".into())
    );
    assert!(text(&broken.stderr).contains("are missing"));
}

#[tokio::test]
async fn an_auditor_reads_and_verifies_through_the_admin_api_and_nobody_else_does() {
    let dir = tempfile::tempdir().unwrap();
    let (_server, dev) = Server::dev(dir.path());
    dev.service_token().await;
    until(&dev, |l| l["action"] == "token.issue").await;
    let password = dev.json["admin"]["password"].as_str().unwrap().to_owned();
    let remote = |command: &[&str]| {
        std::process::Command::new(crate::support::SIGNET)
            .arg("audit")
            .args(command)
            .args([
                "--json",
                "--server",
                &dev.issuer,
                "--login",
                "admin",
                "--ca-cert",
                dev.ca.to_str().unwrap(),
            ])
            .env("SIGNET_PASSWORD", &password)
            .env_remove("SIGNET_ADMIN_TOKEN")
            .output()
            .unwrap()
    };
    let shown = remote(&["tail", "--lines", "3", "--action", "token.issue"]);
    assert_eq!(shown.status.code(), Some(0), "{}", text(&shown.stderr));
    let lines = json(&shown);
    assert!(
        lines
            .as_array()
            .unwrap()
            .iter()
            .all(|l| l["action"] == "token.issue")
    );
    assert!(
        lines
            .as_array()
            .unwrap()
            .iter()
            .any(|l| l["client_id"] == "service")
    );
    // The records of these logins are written a moment after the answer.
    let mut of_admin = serde_json::json!([]);
    for _ in 0..100 {
        of_admin = json(&remote(&["tail", "--user", "admin", "--since", "1h"]));
        if of_admin != serde_json::json!([]) {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    let of_admin = of_admin.as_array().unwrap();
    assert!(!of_admin.is_empty());
    assert!(of_admin.iter().all(|line| line["username"] == "admin"));
    // The service's token is older than that.
    tokio::time::sleep(std::time::Duration::from_millis(1500)).await;
    let recent = remote(&["tail", "--action", "token.issue", "--since", "1s"]);
    assert_eq!(recent.status.code(), Some(0), "{}", text(&recent.stderr));
    assert_eq!(json(&recent), serde_json::json!([]));
    let misspelt = remote(&["tail", "--action", "token.isue"]);
    assert_eq!(misspelt.status.code(), Some(0));
    assert_eq!(json(&misspelt), serde_json::json!([]));
    let said = text(&misspelt.stderr);
    assert!(said.contains("did you mean token.issue?"), "{said}");
    let verified = remote(&["verify"]);
    assert_eq!(
        verified.status.code(),
        Some(0),
        "{}",
        text(&verified.stderr)
    );
    let export = dir.path().join("remote.audit");
    let exported = remote(&["export", "--out", export.to_str().unwrap()]);
    assert_eq!(
        exported.status.code(),
        Some(0),
        "{}",
        text(&exported.stderr)
    );
    assert_eq!(verify(&[export.to_str().unwrap()]).status.code(), Some(0));
    // A client's token is none of an administrator.
    let token = dev.service_token().await;
    for path in ["/audit", "/audit/lines", "/audit/segments/0"] {
        let url = format!("{}/admin/v1{path}", dev.issuer);
        let bearer = format!("Bearer {token}");
        let answer = dev
            .client()
            .get(&url, &[("authorization", &bearer)])
            .await
            .unwrap();
        assert!(
            [401, 403].contains(&answer.status.as_u16()),
            "{path}: {}",
            answer.status
        );
        assert_eq!(dev.client().get(&url, &[]).await.unwrap().status, 401);
    }
}

#[tokio::test]
async fn the_logs_of_several_nodes_verify_as_one_trail_and_none_counts_twice() {
    use signet_audit::{Action, Audit, AuditOptions, Event, NodeId};
    use signet_crypto::seal::{Keyring, SealingKey};
    struct Stopped;
    impl signet_crypto::Clock for Stopped {
        fn now_ms(&self) -> u64 {
            1_800_000_000_000
        }
    }
    let dir = tempfile::tempdir().unwrap();
    let store = Arc::new(signet_store::MemoryStore::new());
    let keyring = Keyring::new(SealingKey::generate(), Vec::new());
    let mut trails = Vec::new();
    for name in ["west", "east"] {
        let directory = dir.path().join(name);
        let options = AuditOptions {
            node: Some(NodeId::parse(name).unwrap()),
            shared_store: true,
            ..AuditOptions::new(&directory)
        };
        let opened = Audit::open(options, store.clone(), &keyring, Arc::new(Stopped)).await;
        let (audit, _) = opened.unwrap();
        audit.record(Event::new(Action::ADMIN, 1_800_000_000_000).subject(name));
        let closing = audit.clone();
        tokio::task::spawn_blocking(move || closing.close())
            .await
            .unwrap();
        trails.push(directory.to_str().unwrap().to_owned());
    }
    let output = verify(&[&trails[0], &trails[1]]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let said = json(&output);
    let nodes = said["nodes"].as_array().unwrap();
    let names: Vec<&str> = nodes.iter().map(|n| n["node"].as_str().unwrap()).collect();
    assert_eq!(names, ["east", "west"]);
    let lines: u64 = nodes.iter().map(|n| n["lines"].as_u64().unwrap()).sum();
    assert!(said["lines"].as_u64() == Some(lines) && lines > 2, "{said}");

    let twice = verify(&[&trails[0], &trails[1], &trails[0]]);
    assert_eq!(twice.status.code(), Some(1));
    assert_eq!(json(&twice)["error"], "same_node");
    // One that was changed breaks the whole.
    let segment = std::fs::read_dir(&trails[1]).unwrap().find_map(|entry| {
        let path = entry.unwrap().path();
        path.extension()
            .is_some_and(|e| e == "audit")
            .then_some(path)
    });
    let segment = segment.unwrap();
    let mut bytes = std::fs::read(&segment).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&segment, bytes).unwrap();
    let broken = verify(&[&trails[0], &trails[1]]);
    assert_eq!(broken.status.code(), Some(1));
    assert_eq!(json(&broken)["verified"], false);
}
