//! `signet backup`, `restore` and `upgrade check`, with servers that run.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use std::time::Duration;

use serde_json::Value;
use signet_age::Identity;

use crate::cluster::Cluster;
use crate::store::database::shared;
use crate::store::{dev_over, new_url};
use crate::support::{Browser, Dev, REDIRECT, Server, VERIFIER, body, json, signet, text};

/// A folder, and in it the file of a passphrase.
struct Desk {
    folder: tempfile::TempDir,
    passphrase: PathBuf,
}

impl Desk {
    fn new() -> Desk {
        let folder = tempfile::tempdir().unwrap();
        let passphrase = folder.path().join("passphrase");
        fs::write(&passphrase, "a passphrase of the test\n").unwrap();
        Desk { folder, passphrase }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn backup(&self, to: &Path, further: &[&str]) -> Output {
        let (to, passphrase) = (to.to_str().unwrap(), self.passphrase.to_str().unwrap());
        let mut arguments = vec!["--json", "backup", "--to", to];
        if !further.contains(&"--recipient") {
            arguments.extend(["--passphrase-file", passphrase]);
        }
        arguments.extend(further);
        signet(&arguments)
    }

    fn restore(&self, from: &Path, to: &Path, further: &[&str]) -> Output {
        let (from, to) = (from.to_str().unwrap(), to.to_str().unwrap());
        let mut arguments = vec!["--json", "restore", "--from", from, "--data-dir", to];
        if !further.contains(&"--identity") && !further.contains(&"--passphrase-file") {
            arguments.extend(["--passphrase-file", self.passphrase.to_str().unwrap()]);
        }
        arguments.extend(further);
        signet(&arguments)
    }
}

/// The answer of a command that has to succeed.
fn done(output: &Output) -> Value {
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    json(output)
}

/// The name of the refusal of a command that answers no.
fn refused(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    json(output)["error"].as_str().unwrap().to_owned()
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

/// The server of a directory, where it listened before.
fn start_on(data: &Path, dev: &Dev, log: &Path, further: &[&str]) -> Server {
    let listen = dev.issuer.replace("https://localhost", "127.0.0.1");
    let mut arguments = vec![
        "--dev",
        "--listen",
        &listen,
        "--data-dir",
        data.to_str().unwrap(),
    ];
    arguments.extend(further);
    Server::start(&arguments, log)
}

async fn redeem(dev: &Dev, code: &str) -> Value {
    let fields = [
        ("grant_type", "authorization_code"),
        ("client_id", "native"),
        ("redirect_uri", REDIRECT),
        ("code", code),
        ("code_verifier", VERIFIER),
    ];
    body(&dev.post("/token", None, &fields).await)
}

async fn refresh(dev: &Dev, token: &str) -> Value {
    let fields = [
        ("grant_type", "refresh_token"),
        ("client_id", "native"),
        ("refresh_token", token),
    ];
    body(&dev.post("/token", None, &fields).await)
}

async fn is_active(dev: &Dev, token: &str) -> bool {
    let answer = dev
        .post("/introspect", Some("service"), &[("token", token)])
        .await;
    body(&answer)["active"] == true
}

fn member(answer: &Value, name: &str) -> String {
    let text = answer[name].as_str();
    text.unwrap_or_else(|| panic!("{answer}")).to_owned()
}

#[tokio::test]
async fn a_backup_that_is_made_under_changes_is_the_server_again() {
    let desk = Desk::new();
    let (mut server, dev) = Server::dev(desk.folder.path());
    let admin = |arguments: &[&str]| {
        let output = signet(&[arguments, &["--data-dir", dev.dir()]].concat());
        output.status.code()
    };
    assert_eq!(admin(&["group", "add", "before"]), Some(0));
    assert_eq!(admin(&["realm", "add", "acme"]), Some(0));
    // A realm has its keys from its first request on.
    let metadata = format!("{}/acme/.well-known/openid-configuration", dev.url);
    assert_eq!(dev.client().get(&metadata, &[]).await.unwrap().status, 200);
    let mut browser = Browser::new(&dev);
    let code = browser.code("native", "openid offline_access").await;
    let tokens = redeem(&dev, &code).await;
    let (access, first) = (
        member(&tokens, "access_token"),
        member(&tokens, "refresh_token"),
    );
    let code = browser.code("native", "openid offline_access").await;
    let rotated = member(&redeem(&dev, &code).await, "refresh_token");
    let unused = browser.code("native", "openid").await;
    let service = dev.service_token().await;

    // While others go on.
    let (stop, count) = (
        Arc::new(AtomicBool::new(false)),
        Arc::new(AtomicU32::new(0)),
    );
    let others = {
        let (dev, stop, count) = (dev.clone(), stop.clone(), count.clone());
        tokio::spawn(async move {
            let mut browser = Browser::new(&dev);
            while !stop.load(SeqCst) {
                let code = browser.code("native", "openid offline_access").await;
                member(&redeem(&dev, &code).await, "refresh_token");
                count.fetch_add(1, SeqCst);
            }
        })
    };
    while count.load(SeqCst) < 3 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let file = desk.path("backup.age");
    fs::write(&file, "an older one").unwrap();
    let before = count.load(SeqCst);
    let made = {
        let (file, dir) = (file.clone(), dev.dir().to_owned());
        let passphrase = desk.passphrase.to_str().unwrap().to_owned();
        tokio::task::spawn_blocking(move || {
            signet(&[
                "--json",
                "backup",
                "--to",
                file.to_str().unwrap(),
                "--passphrase-file",
                &passphrase,
                "--data-dir",
                &dir,
            ])
        })
        .await
        .unwrap()
    };
    let made = done(&made);
    assert!(count.load(SeqCst) > before, "nothing changed meanwhile");
    stop.store(true, SeqCst);
    others.await.unwrap();
    assert_eq!(made["verified"], true);
    assert_eq!(
        (&made["engine"], &made["issuer"]),
        (&"sqlite".into(), &dev.json["issuer"])
    );
    assert_eq!(made["realms"], serde_json::json!(["acme"]));
    assert!(made["signing_keys"].as_u64() > Some(10), "{made}");
    let trails = made["trails"].as_array().unwrap();
    let directories: BTreeSet<&str> = trails
        .iter()
        .map(|trail| trail["directory"].as_str().unwrap())
        .collect();
    assert_eq!(directories, BTreeSet::from(["audit", "audit/realms/acme"]));
    assert!(
        trails
            .iter()
            .all(|trail| trail["records"].as_u64() > Some(0)),
        "{made}"
    );
    assert_eq!(mode(&file), 0o600);
    assert_eq!(
        made["bytes"].as_u64(),
        Some(fs::metadata(&file).unwrap().len())
    );
    assert!(!desk.path("backup.age.part").exists());
    assert!(!dev.data.join("backup.part").exists());

    // What happens after it is forgotten; what was consumed after it is not valid again.
    let later = browser.code("native", "openid").await;
    member(&redeem(&dev, &later).await, "access_token");
    let next = member(&refresh(&dev, &rotated).await, "refresh_token");
    assert_eq!(admin(&["group", "add", "after"]), Some(0));
    let known = fs::read(dev.data.join("dev.json")).unwrap();
    server.signal("KILL");
    server.end();

    let restored = desk.path("restored");
    let answer = done(&desk.restore(&file, &restored, &[]));
    assert_eq!(answer["issuer"], dev.json["issuer"]);
    assert_eq!(answer["signing_keys"], made["signing_keys"]);
    assert_eq!(mode(&restored), 0o700);
    for name in [
        "dev.json",
        "ca.pem",
        "ca.key",
        "server.pem",
        "audit/identity.json",
    ] {
        let [was, is] = [&dev.data, &restored].map(|place| fs::read(place.join(name)).unwrap());
        assert_eq!(was, is, "{name}");
        assert_eq!(
            mode(&dev.data.join(name)),
            mode(&restored.join(name)),
            "{name}"
        );
    }
    for name in ["signet.db", "sealing-keys.json"] {
        assert_eq!(mode(&restored.join(name)), 0o600, "{name}");
    }
    assert!(!restored.join("signet.lock").exists());
    assert_eq!(refused(&desk.restore(&file, &restored, &[])), "not_empty");
    let left: Vec<_> = fs::read_dir(desk.folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".part"))
        .collect();
    assert_eq!(left, Vec::<String>::new());

    let mut server = start_on(&restored, &dev, &desk.path("log-2"), &[]);
    server.answers(&dev).await;
    let now = Dev::read(&restored);
    assert_eq!(now.ca, restored.canonicalize().unwrap().join("ca.pem"));
    for name in ["issuer", "admin", "user", "clients", "admin_client"] {
        assert_eq!(now.json[name], dev.json[name], "{name}");
    }
    assert_eq!(fs::read(dev.data.join("dev.json")).unwrap(), known);
    assert!(is_active(&now, &access).await && is_active(&now, &service).await);
    member(&refresh(&now, &first).await, "access_token");
    for (code, which) in [(&unused, "issued before"), (&later, "consumed after")] {
        assert_eq!(
            redeem(&now, code).await["error"],
            "invalid_grant",
            "{which}"
        );
    }
    // The store knows the token before it: whoever has the next one finds the family ended.
    assert_eq!(refresh(&now, &next).await["error"], "invalid_grant");
    assert_eq!(refresh(&now, &rotated).await["error"], "invalid_grant");
    let shown = |noun: &str, name: &str| {
        let show = signet(&[noun, "show", name, "--data-dir", now.dir()]);
        show.status.code()
    };
    assert_eq!(
        (shown("group", "before"), shown("group", "after")),
        (Some(0), Some(1))
    );
    assert_eq!(shown("realm", "acme"), Some(0));
    let verified = signet(&["--json", "audit", "verify", "--data-dir", now.dir()]);
    assert!(done(&verified)["lines"].as_u64() > Some(0));
    let log = server.log();
    assert!(
        !log.contains("truncated") && !log.contains("unreadable"),
        "{log}"
    );
    let new = Browser::new(&now).code("native", "openid").await;
    member(&redeem(&now, &new).await, "access_token");
    server.signal("TERM");
    server.end();

    // Everybody logs in again, and data at rest opens all the same.
    let ended = desk.path("ended");
    done(&desk.restore(&file, &ended, &["--end-sessions"]));
    let mut server = start_on(&ended, &dev, &desk.path("log-3"), &[]);
    server.answers(&dev).await;
    let now = Dev::read(&ended);
    assert_eq!(refresh(&now, &first).await["error"], "invalid_grant");
    assert!(is_active(&now, &service).await);
}

#[test]
fn a_backup_that_is_wrong_or_does_not_open_restores_nothing() {
    let desk = Desk::new();
    let (_server, dev) = Server::dev(desk.folder.path());
    let file = desk.path("backup.age");
    done(&desk.backup(&file, &["--data-dir", dev.dir()]));
    let target = desk.path("target");
    let wrong = desk.path("wrong");
    fs::write(&wrong, "another passphrase\n").unwrap();
    let said = desk.restore(
        &file,
        &target,
        &["--passphrase-file", wrong.to_str().unwrap()],
    );
    assert_eq!(refused(&said), "wrong_passphrase");

    // To a recipient, whom the one who makes it need not be.
    let (identity, recipient) = Identity::generate().unwrap();
    let key = desk.path("identity");
    fs::write(&key, identity.expose()).unwrap();
    let key = key.to_str().unwrap();
    let made = desk.backup(&file, &["--recipient", &recipient, "--data-dir", dev.dir()]);
    assert_eq!(done(&made)["verified"], true);
    assert_eq!(
        refused(&desk.restore(&file, &target, &[])),
        "wrong_identity"
    );

    let whole = fs::read(&file).unwrap();
    let header = whole.windows(4).position(|bytes| bytes == b"--- ").unwrap();
    let regions = [
        ("magic", 3),
        ("recipient", 30),
        ("sealed key", header - 10),
        ("tag", header + 8),
        ("nonce", header + 50),
        ("first chunk", header + 200),
        ("middle", whole.len() / 2),
        ("end", whole.len() - 1),
    ];
    let changed = desk.path("changed.age");
    let refuses = |bytes: &[u8], what: &str| {
        fs::write(&changed, bytes).unwrap();
        let said = refused(&desk.restore(&changed, &target, &["--identity", key]));
        let known = ["no_backup", "damaged", "wrong_identity"];
        assert!(known.contains(&said.as_str()), "{what}: {said}");
        assert!(!target.exists(), "{what}");
    };
    for (what, at) in regions {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        refuses(&bytes, what);
    }
    for end in [0, 10, header, header + 60, whole.len() / 2, whole.len() - 1] {
        refuses(&whole[..end], &format!("cut at {end}"));
    }
    refuses(&[&whole[..], b"x"].concat(), "longer");
    let parts = fs::read_dir(desk.folder.path()).unwrap();
    let parts = parts.filter(|entry| {
        let name = entry.as_ref().unwrap().file_name();
        name.to_str().unwrap().ends_with(".part")
    });
    assert_eq!(parts.count(), 0);
    done(&desk.restore(&file, &target, &["--identity", key]));

    // What cannot be reached is another answer.
    let nowhere = desk.path("nowhere");
    assert_eq!(
        desk.restore(&nowhere, &desk.path("b"), &[]).status.code(),
        Some(2)
    );
    let empty = desk.path("empty");
    fs::create_dir(&empty).unwrap();
    let said = desk.backup(
        &desk.path("c.age"),
        &["--data-dir", empty.to_str().unwrap()],
    );
    assert_eq!(said.status.code(), Some(2), "{}", text(&said.stderr));
    assert!(
        text(&said.stderr).contains("holds no database"),
        "{}",
        text(&said.stderr)
    );
    assert!(!desk.path("c.age").exists() && !desk.path("c.age.part").exists());
}

#[test]
fn what_does_not_verify_is_no_backup() {
    let desk = Desk::new();
    let (mut server, dev) = Server::dev(desk.folder.path());
    server.signal("TERM");
    server.end();
    let file = desk.path("backup.age");
    // Keys of another server.
    let keys = dev.data.join("sealing-keys.json");
    let (own, kept) = (fs::read(&keys).unwrap(), desk.path("kept"));
    let other = desk.path("other");
    fs::create_dir(&other).unwrap();
    let (_second, of_other) = Server::dev(&other);
    fs::copy(of_other.data.join("sealing-keys.json"), &keys).unwrap();
    let said = desk.backup(&file, &["--data-dir", dev.dir()]);
    assert_eq!(refused(&said), "not_verified");
    assert!(!file.exists() && !desk.path("backup.age.part").exists());
    fs::write(&keys, &own).unwrap();
    fs::write(&kept, own).unwrap();
    // A record of the trail that somebody changed, and an end that somebody cut off.
    let audit = dev.data.join("audit");
    let segment = fs::read_dir(&audit)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| {
            path.extension()
                .is_some_and(|extension| extension == "audit")
        })
        .unwrap();
    let whole = fs::read(&segment).unwrap();
    let middle = whole.len() / 2;
    let mut changed = whole.clone();
    changed[middle] ^= 1;
    for bytes in [&changed[..], &whole[..middle]] {
        fs::write(&segment, bytes).unwrap();
        let said = desk.backup(&file, &["--data-dir", dev.dir()]);
        assert_eq!(refused(&said), "not_verified", "{}", text(&said.stderr));
        assert!(!file.exists());
    }
    // The rest of the server can be kept all the same, and who restores it hears of it.
    let said = desk.backup(&file, &["--data-dir", dev.dir(), "--with-broken-trail"]);
    assert_eq!(done(&said)["trail_broken"].as_array().unwrap().len(), 1);
    let restored = done(&desk.restore(&file, &desk.path("restored"), &[]));
    assert_eq!(restored["trail_broken"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn a_doctor_finds_a_server_well_and_counts_it() {
    let desk = Desk::new();
    let (_server, dev) = Server::dev(desk.folder.path());
    let mut browser = Browser::new(&dev);
    let code = browser.code("native", "openid offline_access").await;
    member(&redeem(&dev, &code).await, "refresh_token");
    let arguments = ["--json", "doctor", "--data-dir", dev.dir(), "--sizes"];
    let found = done(&signet(&arguments));
    assert_eq!(found["ok"], true, "{found}");
    for row in found["checks"].as_array().unwrap() {
        // What the machine of the test has is its own.
        if row["check"] != "limits" && row["check"] != "disk" {
            assert_eq!(row["state"], "ok", "{row}");
        }
    }
    let sizes = &found["sizes"];
    assert_eq!(
        (&sizes["realms"][0]["people"], &sizes["realms"][0]["realm"]),
        (&2.into(), &"".into())
    );
    assert!(
        sizes["realms"][0]["refresh_families"].as_u64() > Some(0),
        "{sizes}"
    );
    let tables = sizes["tables"].as_array().unwrap();
    let clients = tables.iter().find(|table| table["table"] == "client");
    assert!(clients.unwrap()["bytes"].as_u64() > Some(100), "{sizes}");
    assert!(sizes["trail_bytes"].as_u64() > Some(0) && sizes["database_bytes"].as_u64() > Some(0));
    assert!(
        sizes["process"]["resident_bytes"].as_u64() > Some(1 << 20),
        "{sizes}"
    );

    // What is wrong is an exit code, and is said.
    let keys = dev.data.join("sealing-keys.json");
    fs::set_permissions(&keys, fs::Permissions::from_mode(0o644)).unwrap();
    let said = signet(&["--json", "doctor", "--data-dir", dev.dir()]);
    assert_eq!(refused(&said), "something_is_wrong");
    let row = json(&said)["checks"][8].clone();
    assert_eq!(
        (&row["check"], &row["state"]),
        (&"permissions".into(), &"wrong".into())
    );
    assert!(
        row["mend"].as_str().unwrap().starts_with("chmod 600"),
        "{row}"
    );
    let said = signet(&["doctor", "--data-dir", dev.dir()]);
    assert_eq!(said.status.code(), Some(1));
    let shown = text(&said.stdout);
    assert!(
        shown.starts_with("CHECK") && shown.contains("mend: chmod 600"),
        "{shown}"
    );
}

#[tokio::test]
async fn a_backup_of_a_server_over_a_database_says_where_that_was() {
    let desk = Desk::new();
    let url = new_url(shared(), desk.folder.path());
    let (mut server, dev) = dev_over(desk.folder.path(), &url);
    let token = dev.service_token().await;
    let file = desk.path("backup.age");
    let said = desk.backup(&file, &["--data-dir", dev.dir()]);
    assert!(
        text(&said.stderr).contains("--store"),
        "{}",
        text(&said.stderr)
    );
    let made = done(&desk.backup(&file, &["--data-dir", dev.dir(), "--store", &url]));
    assert_eq!(made["engine"], "postgres");
    let lsn = made["database"]["lsn"].as_str().unwrap();
    assert!(lsn.contains('/'), "{lsn}");
    assert!(made["database"]["now_ms"].as_u64() > Some(1_700_000_000_000));
    assert_eq!(made["trails"][0]["directory"], "audit");
    server.signal("TERM");
    server.end();
    let restored = desk.path("restored");
    let answer = done(&desk.restore(&file, &restored, &[]));
    let next = answer["next"].as_array().unwrap();
    assert!(next[0].as_str().unwrap().contains(lsn), "{answer}");
    let mut server = start_on(&restored, &dev, &desk.path("log-2"), &["--store", &url]);
    server.answers(&dev).await;
    assert!(is_active(&dev, &token).await);
}

#[tokio::test]
async fn a_node_of_a_replicated_store_is_backed_up_while_it_serves() {
    let desk = Desk::new();
    let cluster = Cluster::of(2);
    let dev = cluster.dev(1);
    let file = desk.path("backup.age");
    let made = done(&desk.backup(&file, &["--data-dir", dev.dir()]));
    assert_eq!(
        (&made["engine"], &made["verified"]),
        (&"replicated".into(), &true.into())
    );
    assert_eq!(made["node"], dev.json["node"]["name"]);
    let restored = desk.path("restored");
    let answer = done(&desk.restore(&file, &restored, &[]));
    let next = answer["next"][0].as_str().unwrap();
    assert!(next.contains("signet node recover"), "{next}");
    for name in ["cluster/node.json", "dev.json"] {
        let [was, is] = [&dev.data, &restored].map(|place| fs::read(place.join(name)).unwrap());
        assert_eq!(was, is, "{name}");
    }
}

#[test]
fn the_configuration_file_and_what_it_names_are_in_the_backup() {
    let desk = Desk::new();
    let (config, data) = (desk.path("signet.toml"), desk.path("var"));
    fs::write(desk.path("proxy"), "0123456789abcdef0123456789abcdef\n").unwrap();
    let text_of_file = format!(
        "issuer = \"https://id.example.com\"\ndata_dir = \"{}\"\n[[listeners]]\naddress = \"127.0.0.1:0\"\nprotocol = \"http\"\n[proxy]\ntrusted = [\"127.0.0.1\"]\nsecret_file = \"proxy\"\n[store]\ndirectory = \"rows\"\n",
        data.display()
    );
    fs::write(&config, &text_of_file).unwrap();
    let (_server, _) = Server::configured(&config, &desk.path("log"));
    let file = desk.path("backup.age");
    let made = done(&desk.backup(&file, &["--config", config.to_str().unwrap()]));
    assert_eq!(made["issuer"], "https://id.example.com");
    let restored = desk.path("restored");
    fs::create_dir(&restored).unwrap();
    let answer = done(&desk.restore(&file, &restored, &[]));
    let kept = answer["configuration"].as_array().unwrap();
    assert_eq!(kept[0]["path"], config.to_str().unwrap());
    let of = |name: &str| fs::read_to_string(restored.join("restored-configuration").join(name));
    assert_eq!(of("1-signet.toml").unwrap(), text_of_file);
    assert!(of("2-proxy").unwrap().starts_with("0123"));
    assert!(restored.join("rows/signet.db").exists());
}

#[test]
fn an_upgrade_is_checked_before_it_is_made() {
    let desk = Desk::new();
    let (mut server, dev) = Server::dev(desk.folder.path());
    let check = || signet(&["--json", "upgrade", "check", "--data-dir", dev.dir()]);
    let found = done(&check());
    assert_eq!(
        (&found["possible"], &found["steps"]),
        (&true.into(), &serde_json::json!([]))
    );
    assert_eq!(found["written_by"][0]["version"], env!("CARGO_PKG_VERSION"));
    let first = found["first"][0].as_str().unwrap();
    assert!(first.starts_with("signet backup --to"), "{first}");
    let known = found["known_schema"].as_u64().unwrap();
    server.signal("TERM");
    server.end();
    // The schema's number is in the head of the file (bytes 60 to 63, big endian).
    let set = |schema: u64| {
        let file = fs::File::options()
            .write(true)
            .open(dev.data.join("signet.db"))
            .unwrap();
        let schema = u32::try_from(schema).unwrap().to_be_bytes();
        file.write_all_at(&schema, 60).unwrap();
    };
    set(known - 1);
    let found = done(&check());
    assert_eq!(found["steps"][0]["version"], known);
    assert_eq!(found["way_back"], true);
    assert!(found["rows"].as_u64() > Some(0) && found["rows_read_ms"].is_u64());
    set(known + 1);
    assert_eq!(done(&check())["possible"], true);
    set(known + 2);
    assert_eq!(refused(&check()), "schema_too_new");
    set(known);
    done(&check());
}
