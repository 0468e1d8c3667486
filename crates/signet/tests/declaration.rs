//! A directory that declares what a server has, by the commands.

use crate::support::{Dev, Server, basic, json, signet, text};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

fn run(dev: &Dev, arguments: &[&str]) -> Output {
    let mut all = arguments.to_vec();
    all.extend(["--data-dir", dev.dir()]);
    signet(&all)
}

#[track_caller]
fn exits(output: &Output, code: i32) {
    let said = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(code), "{said:?}");
}

/// Acts and names of a plan.
#[track_caller]
fn plan(dev: &Dev, directory: &str, more: &[&str], code: i32) -> Vec<String> {
    let mut all = vec!["plan", directory, "--json"];
    all.extend(more);
    let output = run(dev, &all);
    exits(&output, code);
    let plan = json(&output);
    let members: Vec<&String> = plan.as_object().unwrap().keys().collect();
    assert_eq!(members, ["changes", "ends"]);
    let changes = plan["changes"].as_array().unwrap();
    let text = |change: &Value, member: &str| change[member].as_str().unwrap().to_owned();
    let named = |change: &Value| {
        let (act, kind, name) = (
            text(change, "act"),
            text(change, "kind"),
            text(change, "name"),
        );
        format!("{act} {kind} {name}")
    };
    changes.iter().map(named).collect()
}

#[track_caller]
fn apply(dev: &Dev, directory: &str, more: &[&str]) -> Value {
    let mut all = vec!["apply", directory, "--yes", "--json"];
    all.extend(more);
    let output = run(dev, &all);
    exits(&output, 0);
    json(&output)
}

/// What the admin API answers to a token.
fn status(dev: &Dev, bearer: &str) -> u16 {
    let authorization = format!("Bearer {bearer}");
    let headers = [("authorization", authorization.as_str())];
    let url = format!("{}/admin/v1/keys", dev.url);
    let client = dev.client();
    let answer = client.send(http::Method::GET, &url, &headers, bytes::Bytes::new());
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(answer).unwrap().status.as_u16()
}

/// What the token endpoint says to a client.
fn token(dev: &Dev, id: &str, secret: &str, form: &'static str) -> Vec<u8> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let authorization = basic(id, secret);
    let headers = [
        ("content-type", "application/x-www-form-urlencoded"),
        ("authorization", authorization.as_str()),
    ];
    let url = format!("{}/token", dev.url);
    let client = dev.client();
    let answer = client.send(http::Method::POST, &url, &headers, form.into());
    runtime.block_on(answer).unwrap().body.to_vec()
}

fn write(folder: &Path, files: &[(&str, &str)]) -> String {
    for (name, text) in files {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder.to_str().unwrap().to_owned()
}

const SHOP: &str = r#"
[[clients]]
client_id = "shop"
client_name = "Shop"
redirect_uris = ["https://shop.example/cb"]
scope = "openid orders"
client_secret = { generate = "secrets/shop" }

[[scopes]]
name = "orders"
description = "Your orders"
"#;

const PEOPLE: &str = r#"
[[groups]]
name = "staff"
parent = "all"
roles = ["editor", "shop/manager"]

[[groups]]
name = "all"

[[roles]]
name = "shop/manager"

[[roles]]
name = "editor"

[[attributes]]
name = "level"

[[users]]
username = "bob"
email = "bob@shop.example"
groups = ["staff"]
attributes = { level = "high" }

[[rules]]
name = "closed"
effect = "deny"
groups = ["staff"]
clients = ["shop"]
users = ["alice"]
"#;

#[test]
fn every_mistake_of_a_directory_is_named_in_one_run_with_its_line() {
    let dir = tempfile::tempdir().unwrap();
    let (_server, dev) = Server::dev(dir.path());
    let folder = dir.path().join("wrong");
    let directory = write(
        &folder,
        &[
            (
                "a.toml",
                "[[clients]]\nclient_id = \"shop\"\nredirect_uri = [\"https://a.example/\"]\n\
                 client_secret = \"hunter2-hunter2-hunter2-hunter2-\"\n\
                 [[clients]]\nclient_id = \"shop\"\ngrant_types = [\"client_credentials\"]\n\
                 [[clients]]\nclient_name = \"Nameless\"\n\
                 [[clients]]\nclient_id = \"till\"\nrequire_pkce = \"yes\"\n\
                 client_secret = { file = \"missing\" }\n",
            ),
            (
                "deep/b.toml",
                "[[groups]]\nname = \"x\"\nparent = \"y\"\n[[groups]]\nname = \"y\"\nparent = \"x\"\n\
                 [[groups]]\nname = \"z\"\nparent = \"nowhere\"\nroles = [\"nobody\"]\n\
                 [[grups]]\nname = \"w\"\n\
                 [[rules]]\nname = \"r\"\neffect = \"allow\"\nnetworks = [\"nonsense\"]\n",
            ),
            ("c.toml", "[[clients]\n"),
            (
                "d.toml",
                "[[realms]]\nname = \"one\"\nissuer = \"https://one.example\"\n\
                 [[realms]]\nname = \"two\"\nissuer = \"https://one.example\"\n\
                 [[realms]]\nname = \"three\"\nlike = \"four\"\n[realms.settings]\n\
                 \"lifetimes.cod\" = \"30s\"\n[realms.settings.limits]\nconnections = 1\n\
                 [[realms]]\nname = \"four\"\nlike = \"three\"\n",
            ),
        ],
    );
    let output = run(&dev, &["plan", &directory]);
    exits(&output, 2);
    let said = text(&output.stderr);
    assert!(!said.contains("hunter2"), "{said}");
    let expected = [
        (
            "a.toml:3",
            "unknown member \"redirect_uri\"; did you mean \"redirect_uris\"?",
        ),
        (
            "a.toml:4",
            "client_secret: a secret stands here in plain text; write where it is",
        ),
        ("a.toml:5", "a second client \"shop\"; the first is at "),
        ("a.toml:8", "a client without client_id"),
        (
            "a.toml:12",
            "require_pkce is a text; true or false is expected",
        ),
        ("a.toml:13", "client_secret: there is no secret file "),
        ("b.toml:3", "a circle of groups: x, y, x"),
        ("b.toml:9", "parent: there is no group \"nowhere\""),
        ("b.toml:10", "roles: there is no role \"nobody\""),
        (
            "b.toml:11",
            "unknown kind of object \"grups\"; did you mean \"groups\"?",
        ),
        ("b.toml:16", "a network is an address"),
        ("c.toml:1", "not TOML"),
        ("d.toml:6", "issuer: another realm has this issuer"),
        (
            "d.toml:11",
            "there is no setting \"lifetimes.cod\"; did you mean \"lifetimes.code\"?",
        ),
        ("d.toml:12", "limits.connections: belongs to the process"),
        ("d.toml:9", "like: a circle of realms: three, four, three"),
    ];
    for (place, what) in expected {
        let found = said
            .lines()
            .any(|line| line.contains(&format!("{place}: ")) && line.contains(what));
        assert!(found, "{place}: {what}: {said}");
    }
    let lines = said.lines().filter(|line| line.contains(".toml:")).count();
    assert_eq!(lines, expected.len(), "{said}");
    // The same without a server, but for what only the server knows.
    let checked = signet(&["config", "check", &directory]);
    exits(&checked, 2);
    let checked = text(&checked.stderr);
    assert!(checked.contains("a circle of groups"), "{checked}");
    assert!(!checked.contains("nowhere"), "{checked}");
    exits(&run(&dev, &["apply", &directory, "--yes"]), 2);
    exits(&run(&dev, &["group", "list"]), 0);
    assert!(!text(&run(&dev, &["group", "list"]).stdout).contains('x'));
}

/// A realm of a directory answers as soon as it was applied, with the settings of its template, and
/// goes with its declaration.
#[test]
fn realms_are_declared_as_everything_else() {
    let dir = tempfile::tempdir().unwrap();
    let (_server, dev) = Server::dev(dir.path());
    let folder = dir.path().join("realms");
    let realms = "[[realms]]\nname = \"acme\"\nlike = \"base\"\n\
                  [realms.settings.brand.texts.en]\nlogin-title = \"Come in\"\n\
                  [[realms]]\nname = \"base\"\nsuspended = true\n\
                  [realms.settings]\nlifetimes.access_token = \"2m\"\nbrand.name = \"Base\"\n";
    let directory = write(&folder, &[("realms.toml", realms)]);
    exits(&signet(&["config", "check", &directory]), 0);
    assert_eq!(plan(&dev, &directory, &[], 1).len(), 2);
    apply(&dev, &directory, &[]);
    assert!(plan(&dev, &directory, &[], 0).is_empty());

    let shown = text(&run(&dev, &["realm", "show", "acme", "--json"]).stdout);
    let shown: Value = serde_json::from_str(&shown).unwrap();
    assert_eq!(shown["settings"]["lifetimes.access_token"], "2m");
    assert_eq!(shown["settings"]["brand.name"], "Base");
    exits(&run(&dev, &["user", "list", "--realm", "acme"]), 0);
    let refused = run(&dev, &["user", "list", "--realm", "base"]);
    exits(&refused, 1);

    // What was made by hand is not the directory's.
    exits(&run(&dev, &["realm", "add", "by-hand"]), 0);
    exits(&run(&dev, &["realm", "set", "acme", "brand.name=Other"]), 0);
    let drift = plan(&dev, &directory, &["--prune"], 1);
    assert_eq!(drift.len(), 1, "{drift:?}");

    write(&folder, &[("realms.toml", "[[realms]]\nname = \"base\"\n")]);
    let password = dir.path().join("password");
    fs::write(&password, "correct horse battery staple").unwrap();
    let password = password.to_str().unwrap();
    let ada = [
        "user",
        "add",
        "ada",
        "--realm",
        "acme",
        "--password-file",
        password,
    ];
    exits(&run(&dev, &ada), 0);
    let said = text(&run(&dev, &["plan", &directory, "--prune"]).stdout);
    let ends = "! ends realm acme, which is deleted after a week: 1 person\n";
    assert!(said.contains(ends), "{said}");
    let done = apply(&dev, &directory, &["--prune"]);
    assert_eq!(done["ends"]["counted"][0]["people"], json!({ "count": 1 }));
    assert!(plan(&dev, &directory, &["--prune"], 0).is_empty());
    let listed = text(&run(&dev, &["realm", "list", "--json"]).stdout);
    let listed: Value = serde_json::from_str(&listed).unwrap();
    let of = |name: &str| {
        let mut realms = listed.as_array().unwrap().iter();
        realms.find(|realm| realm["name"] == name).unwrap().clone()
    };
    assert!(
        of("acme")["deletes_at"].is_u64(),
        "it has its time of grace"
    );
    assert_eq!(of("base")["suspended"], false);
    assert!(of("by-hand")["deletes_at"].is_null());
    // It is declared again, and is what it was.
    write(&folder, &[("realms.toml", realms)]);
    apply(&dev, &directory, &[]);
    exits(&run(&dev, &["user", "list", "--realm", "acme"]), 0);
}

/// What somebody renamed by hand is not made again, and the plan says how to go on.
#[test]
fn a_realm_that_is_renamed_by_hand_is_said_to_be_and_goes_on_under_either_name() {
    let dir = tempfile::tempdir().unwrap();
    let (_server, dev) = Server::dev(dir.path());
    let folder = dir.path().join("realms");
    let acme = "[[realms]]\nname = \"acme\"\n";
    let directory = write(&folder, &[("realms.toml", acme)]);
    apply(&dev, &directory, &[]);
    let rename = |old: &str, new: &str| exits(&run(&dev, &["realm", "rename", old, new]), 0);
    let refused = |new: &str| {
        let output = run(&dev, &["plan", &directory, "--prune"]);
        exits(&output, 2);
        let said = text(&output.stderr);
        let how = format!(
            "realms.toml:1: realm \"acme\": it was renamed by hand, from acme to {new}; to keep that, \
             declare name = \"{new}\" with issuer = \"{}/acme\" and apply with --adopt; to undo it: \
             signet realm rename {new} acme",
            dev.url
        );
        assert!(said.contains(&how), "{said}");
    };
    rename("acme", "acme-inc");
    refused("acme-inc");
    // Undone, nothing has happened.
    rename("acme-inc", "acme");
    assert!(plan(&dev, &directory, &["--prune"], 0).is_empty());
    rename("acme", "acme-inc");
    rename("acme-inc", "acme-llc");
    refused("acme-llc");
    // Declared as it is called now, it is the directory's again, and is what it was.
    let issuer = format!("{}/acme", dev.url);
    let now = format!("[[realms]]\nname = \"acme-llc\"\nissuer = \"{issuer}\"\n");
    write(&folder, &[("realms.toml", &now)]);
    exits(&run(&dev, &["plan", &directory, "--prune"]), 2);
    let changes = plan(&dev, &directory, &["--prune", "--adopt"], 1);
    assert_eq!(changes, ["change realm acme-llc"]);
    apply(&dev, &directory, &["--prune", "--adopt"]);
    assert!(plan(&dev, &directory, &["--prune"], 0).is_empty());
    // The name that it was made with counts no more for it, but its issuer does.
    rename("acme-llc", "acme-gmbh");
    let output = run(&dev, &["plan", &directory, "--prune"]);
    exits(&output, 2);
    let said = text(&output.stderr);
    assert!(
        said.contains("by hand, from acme-llc to acme-gmbh"),
        "{said}"
    );
}

#[test]
fn a_plan_is_empty_after_it_was_applied_and_drift_is_found() {
    let dir = tempfile::tempdir().unwrap();
    let (_server, dev) = Server::dev(dir.path());
    let folder = dir.path().join("shop");
    let directory = write(&folder, &[("shop.toml", SHOP), ("a/people.toml", PEOPLE)]);
    exits(&signet(&["config", "check", &directory]), 0);
    assert_eq!(plan(&dev, &directory, &[], 1).len(), 9);
    assert!(!folder.join("secrets").exists(), "a plan makes nothing");
    // Nobody was asked, and nobody said yes.
    let refused = run(&dev, &["apply", &directory]);
    exits(&refused, 1);
    assert_eq!(plan(&dev, &directory, &[], 1).len(), 9);

    let done = apply(&dev, &directory, &[]);
    assert_eq!(done["changes"].as_array().unwrap().len(), 9);
    let secret = fs::read_to_string(folder.join("secrets/shop")).unwrap();
    assert!(!done.to_string().contains(secret.trim()));
    assert!(plan(&dev, &directory, &[], 0).is_empty());
    // The secret is the client's, and it works.
    let said = text(&token(
        &dev,
        "shop",
        secret.trim(),
        "grant_type=client_credentials",
    ));
    assert!(said.contains("unauthorized_client"), "{said}");

    // It is named nowhere, and every change is recorded.
    let log = fs::read_to_string(dir.path().join("log")).unwrap();
    let is_recorded = |audit: &str| audit.contains("addDeclared") && audit.contains("client/shop");
    let audit = audit_that(&dev, is_recorded);
    for text in [&log, &audit] {
        assert!(!text.contains(secret.trim()));
    }

    exits(
        &run(&dev, &["group", "set", "staff", "description=changed"]),
        0,
    );
    exits(
        &run(&dev, &["client", "set", "shop", "client_name=Other"]),
        0,
    );
    assert_eq!(
        plan(&dev, &directory, &[], 1),
        ["change client shop", "change group staff"]
    );
    apply(&dev, &directory, &[]);
    assert!(plan(&dev, &directory, &[], 0).is_empty());

    // Another secret is a change, which does not show it.
    let other = "another-secret-of-at-least-thirty-two-bytes";
    fs::write(folder.join("secrets/shop"), other).unwrap();
    let output = run(&dev, &["plan", &directory]);
    exits(&output, 1);
    let said = text(&output.stdout);
    assert!(
        said.contains("client_secret: (a secret, not shown)"),
        "{said}"
    );
    assert!(!said.contains(other), "{said}");
    assert!(
        !said.contains('\u{1b}'),
        "colours are for terminals: {said}"
    );
}

#[test]
fn a_directory_touches_only_what_it_owns() {
    let dir = tempfile::tempdir().unwrap();
    let (_server, dev) = Server::dev(dir.path());
    let folder = dir.path().join("one");
    exits(&run(&dev, &["group", "add", "staff"]), 0);
    exits(&run(&dev, &["group", "add", "byhand"]), 0);
    let two = "[[groups]]\nname = \"staff\"\n[[groups]]\nname = \"crew\"\n";
    let directory = write(&folder, &[("g.toml", two)]);
    let refused = run(&dev, &["plan", &directory]);
    exits(&refused, 2);
    let said = text(&refused.stderr);
    assert!(
        said.contains("g.toml:1: ") && said.contains("--adopt"),
        "{said}"
    );
    exits(&run(&dev, &["apply", &directory, "--yes"]), 2);

    let adopted = ["change group staff", "add group crew"];
    let mut found = plan(&dev, &directory, &["--adopt"], 1);
    found.sort_by(|a, b| b.cmp(a));
    let mut adopted = adopted.to_vec();
    adopted.sort_by(|a, b| b.cmp(a));
    assert_eq!(found, adopted);
    apply(&dev, &directory, &["--adopt"]);
    assert!(plan(&dev, &directory, &[], 0).is_empty());

    // Another directory does not get what this one owns.
    let other = write(&dir.path().join("other"), &[("g.toml", two)]);
    let refused = run(&dev, &["plan", &other, "--adopt"]);
    exits(&refused, 2);
    let said = text(&refused.stderr);
    assert!(said.contains("the directory one owns it"), "{said}");

    write(&folder, &[("g.toml", "[[groups]]\nname = \"staff\"\n")]);
    assert!(plan(&dev, &directory, &[], 0).is_empty());
    assert_eq!(
        plan(&dev, &directory, &["--prune"], 1),
        ["remove group crew"]
    );
    apply(&dev, &directory, &["--prune"]);
    let listed = text(&run(&dev, &["group", "list"]).stdout);
    assert!(
        listed.contains("byhand") && listed.contains("staff"),
        "{listed}"
    );
    assert!(!listed.contains("crew"), "{listed}");
    assert!(plan(&dev, &directory, &["--prune"], 0).is_empty());
}

#[test]
fn what_somebody_changed_since_the_plan_is_a_conflict_and_nothing_is_done() {
    let dir = tempfile::tempdir().unwrap();
    let (_server, dev) = Server::dev(dir.path());
    let folder = dir.path().join("shop");
    let directory = write(&folder, &[("shop.toml", "")]);
    // The secret's command runs once for the plan, and once more before the changes are sent.
    let script = format!(
        "if test -e {0}/ran; then {1} group add crew --data-dir {2} >/dev/null; fi; touch {0}/ran; \
         echo a-secret-of-at-least-thirty-two-bytes",
        dir.path().display(),
        crate::support::SIGNET,
        dev.dir(),
    );
    let declared = format!(
        "[[clients]]\nclient_id = \"shop\"\ngrant_types = [\"client_credentials\"]\n\
         client_secret = {{ command = [\"sh\", \"-c\", {}] }}\n[[groups]]\nname = \"crew\"\n",
        json!(script)
    );
    write(&folder, &[("shop.toml", &declared)]);
    let output = run(&dev, &["apply", &directory, "--yes", "--json"]);
    exits(&output, 1);
    assert_eq!(json(&output)["error"], "conflict");
    let clients = text(&run(&dev, &["client", "list"]).stdout);
    assert!(!clients.contains("shop"), "{clients}");
}

fn files(folder: &Path) -> BTreeMap<String, String> {
    let entries = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let files = entries.filter(|path| path.is_file());
    let named = files.map(|path| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        (name, fs::read_to_string(&path).unwrap())
    });
    named.collect()
}

#[test]
fn what_is_exported_and_applied_elsewhere_is_exported_there_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let (first, second) = (dir.path().join("a"), dir.path().join("b"));
    for folder in [&first, &second] {
        fs::create_dir(folder).unwrap();
    }
    let (_one, here) = Server::dev(&first);
    let (_other, there) = Server::dev(&second);
    let folder = dir.path().join("shop");
    let directory = write(&folder, &[("shop.toml", SHOP), ("people.toml", PEOPLE)]);
    apply(&here, &directory, &[]);
    exits(
        &signet(&["diff", "--server", here.dir(), "--server", there.dir()]),
        1,
    );

    let exported = dir.path().join("exported");
    let exported_here = exported.to_str().unwrap();
    let output = run(&here, &["export", exported_here, "--json"]);
    exits(&output, 0);
    exits(&run(&here, &["export", exported_here]), 2);
    let before = files(&exported);
    assert!(before.contains_key("clients.toml"), "{before:?}");
    let answer = json(&output);
    for place in answer["secrets"].as_array().unwrap() {
        let place = place.as_str().unwrap();
        // The commands of the other server authenticate with its own.
        let own = there.json["admin_client"]["client_secret"]
            .as_str()
            .unwrap();
        let secret = match place {
            "secrets/client-admin-client" => own.to_owned(),
            _ => format!("{place:.<64}"),
        };
        write(&exported, &[(place, &secret)]);
    }
    apply(&there, exported_here, &["--adopt"]);
    assert!(plan(&there, exported_here, &[], 0).is_empty());
    let again = dir.path().join("again");
    exits(&run(&there, &["export", again.to_str().unwrap()]), 0);
    assert_eq!(files(&again), before);
    let same = signet(&[
        "diff",
        "--server",
        here.dir(),
        "--server",
        there.dir(),
        "--json",
    ]);
    exits(&same, 0);
}

#[test]
fn a_client_that_leaves_a_directory_and_comes_back_has_no_tokens_of_before() {
    let dir = tempfile::tempdir().unwrap();
    let (_server, dev) = Server::dev(dir.path());
    let folder = dir.path().join("ops");
    let ops = "[[clients]]\nclient_id = \"ops\"\ngrant_types = [\"client_credentials\"]\n\
               response_types = []\nscope = \"signet:admin\"\n\
               client_secret = { generate = \"secret\" }\n";
    let group = "[[groups]]\nname = \"crew\"\n";
    let directory = write(&folder, &[("ops.toml", ops), ("group.toml", group)]);
    apply(&dev, &directory, &[]);
    let secret = fs::read_to_string(folder.join("secret")).unwrap();
    let form = "grant_type=client_credentials&scope=signet:admin";
    let answer = token(&dev, "ops", secret.trim(), form);
    let answer: Value = serde_json::from_slice(&answer).unwrap();
    let bearer = answer["access_token"].as_str().expect("a token").to_owned();
    assert_eq!(status(&dev, &bearer), 200);

    fs::remove_file(folder.join("ops.toml")).unwrap();
    let output = run(&dev, &["plan", &directory, "--prune"]);
    let said = text(&output.stdout);
    assert!(
        said.contains("! ends every grant and token of client ops: no grants"),
        "{said}"
    );
    let done = apply(&dev, &directory, &["--prune"]);
    assert_eq!(done["ends"]["clients"], json!(["ops"]));
    let counted = json!([{ "kind": "client", "name": "ops", "why": "removed" }]);
    assert_eq!(done["ends"]["counted"], counted);
    assert_eq!(status(&dev, &bearer), 401);
    write(&folder, &[("ops.toml", ops)]);
    apply(&dev, &directory, &[]);
    assert_eq!(status(&dev, &bearer), 401);
}

/// A command that stays; killed when dropped.
pub(crate) struct Staying {
    child: Child,
    log: std::path::PathBuf,
}

impl Staying {
    pub(crate) fn start(dev: &Dev, arguments: &[&str], log: &Path) -> Staying {
        let file = fs::File::create(log).unwrap();
        let child = Command::new(crate::support::SIGNET)
            .args(arguments)
            .args(["--data-dir", dev.dir()])
            .env_remove("SIGNET_ADMIN_TOKEN")
            .env_remove("SIGNET_PASSWORD")
            .stdin(Stdio::null())
            .stdout(file.try_clone().unwrap())
            .stderr(file)
            .spawn()
            .unwrap();
        let log = log.to_owned();
        Staying { child, log }
    }

    /// What it has said.
    pub(crate) fn said(&self) -> String {
        fs::read_to_string(&self.log).unwrap()
    }

    /// Waits until `ready`.
    #[track_caller]
    pub(crate) fn wait_for(&mut self, what: &str, ready: impl Fn() -> bool) {
        let started = Instant::now();
        while !ready() {
            let ended = self.child.try_wait().unwrap();
            assert!(ended.is_none(), "it ended: {}", self.said());
            // Far less than what passes until it looks again of its own accord.
            let patience = Duration::from_secs(40);
            assert!(started.elapsed() < patience, "{what}: {}", self.said());
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Asks it to end, and waits for that: its exit code.
    pub(crate) fn end(&mut self) -> Option<i32> {
        let id = self.child.id().to_string();
        Command::new("kill").args(["-TERM", &id]).status().unwrap();
        self.child.wait().unwrap().code()
    }
}

impl Drop for Staying {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn metrics(dev: &Dev) -> String {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let (client, url) = (dev.client(), format!("{}/metrics", dev.url));
    text(&runtime.block_on(client.get(&url, &[])).unwrap().body)
}

/// The trail, once it says something: it is written behind the answer.
fn audit_that(dev: &Dev, says: impl Fn(&str) -> bool) -> String {
    let mut said = audit(dev);
    for _ in 0..200 {
        if says(&said) {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
        said = audit(dev);
    }
    assert!(says(&said), "{said}");
    said
}

fn audit(dev: &Dev) -> String {
    text(&run(dev, &["audit", "tail", "--since", "10m", "--json"]).stdout)
}

#[test]
fn a_watched_directory_is_the_truth_and_drift_is_counted_and_recorded() {
    let dir = tempfile::tempdir().unwrap();
    let (_server, dev) = Server::dev(dir.path());
    let folder = dir.path().join("shop");
    let directory = write(&folder, &[("shop.toml", SHOP), ("people.toml", PEOPLE)]);
    let arguments = ["apply", &directory, "--yes", "--watch", "--prune"];
    let mut watch = Staying::start(&dev, &arguments, &dir.path().join("watch"));
    let groups = || text(&run(&dev, &["group", "list"]).stdout);
    watch.wait_for("the first application", || groups().contains("staff"));
    let drift = |count: u64| {
        let line =
            format!("signet_declaration_drift_total{{realm=\"\",directory=\"shop\"}} {count}\n");
        metrics(&dev).contains(&line)
    };
    watch.wait_for("the first figures", || drift(0));
    assert!(metrics(&dev).contains("signet_declaration_applied_seconds{"));
    assert!(!audit(&dev).contains("driftDeclared"));

    // A file that is written again is no drift.
    let more = format!("{PEOPLE}[[groups]]\nname = \"crew\"\n");
    write(&folder, &[("people.toml", &more)]);
    watch.wait_for("a file that changed", || groups().contains("crew"));
    // A secret is not either, which stands elsewhere.
    let secret = "another-secret-of-at-least-thirty-two-bytes";
    write(&folder, &[("secrets/shop", secret)]);
    let works = || {
        let answer = token(&dev, "shop", secret, "grant_type=client_credentials");
        text(&answer).contains("unauthorized_client")
    };
    watch.wait_for("a secret that changed", works);
    assert!(drift(0), "{}", metrics(&dev));

    // What somebody changes by hand is, from the next look on; a file beside causes one.
    let words = "description=by hand and secret";
    exits(&run(&dev, &["group", "set", "crew", words]), 0);
    write(&folder, &[("note.txt", "look")]);
    watch.wait_for("what was changed by hand", || drift(1));
    assert!(plan(&dev, &directory, &[], 0).is_empty());
    // The trail is written behind the answer.
    let is_recorded = || audit(&dev).contains("driftDeclared");
    watch.wait_for("a record of it", is_recorded);
    let said: Value = serde_json::from_str(&audit(&dev)).unwrap();
    let records = said.as_array().unwrap().iter();
    let drifted: Vec<&Value> = records
        .filter(|record| record["operation"] == "driftDeclared")
        .collect();
    let [record] = drifted.as_slice() else {
        panic!("{said}")
    };
    assert_eq!(record["target"], "group/crew");
    assert!(!record.to_string().contains("by hand"), "{record}");

    // What is half a file is nothing, and is said once.
    write(&folder, &[("people.toml", "[[groups]\n")]);
    watch.wait_for("a mistake", || watch_said(&dir, "not TOML"));
    for look in ["1", "2"] {
        write(&folder, &[("note.txt", look)]);
        std::thread::sleep(Duration::from_secs(2));
    }
    assert_eq!(
        watch.said().matches("not TOML").count(),
        1,
        "{}",
        watch.said()
    );
    assert!(groups().contains("staff"));
    write(
        &folder,
        &[("people.toml", "[[groups]]\nname = \"staff\"\n")],
    );
    watch.wait_for("the file as it should be", || !groups().contains("crew"));
    assert!(!watch.said().contains(secret));
    assert_eq!(watch.end(), Some(0));
}

fn watch_said(dir: &tempfile::TempDir, words: &str) -> bool {
    let said = fs::read_to_string(dir.path().join("watch"));
    said.is_ok_and(|said| said.contains(words))
}
