//! From nothing to a server, and to a machine that trusts it.

use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use crate::prompt::{serve, terminal, token_in, until};
use crate::support::http_client::{HttpClient, form};
use crate::support::{SIGNET, Server, json, page, port_in, signet, text};

/// A port that was free a moment ago.
fn free_port() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

/// `signet setup --yes --json` into this directory.
fn setup(directory: &Path, more: &[&str]) -> Output {
    let directory = directory.to_str().unwrap();
    let arguments = ["setup", "--yes", "--json", "--dir", directory];
    signet(&[&arguments, more].concat())
}

fn done(output: &Output) -> Value {
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    json(output)
}

fn path(value: &Value) -> PathBuf {
    value.as_str().unwrap().into()
}

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

/// Opens a link, and fills its form in; the status of the form's answer.
async fn use_link(client: &HttpClient, link: &str, issuer: &str, name: &str) -> u16 {
    let shown = client.get(link, &[]).await.unwrap();
    if !shown.status.is_success() {
        return shown.status.as_u16();
    }
    let html = text(&shown.body);
    let found = page::Form::find(&html).unwrap();
    assert!(found.asks_for("new_password"), "{html}");
    let mut fields: Vec<(&str, &str)> = found
        .hidden
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect();
    fields.push(("username", name));
    fields.push(("new_password", "a long enough passphrase"));
    let url = format!("{issuer}/console/first");
    let headers = [
        ("content-type", "application/x-www-form-urlencoded"),
        ("origin", issuer),
    ];
    let answer = client
        .send(http::Method::POST, &url, &headers, form(&fields).into())
        .await
        .unwrap();
    answer.status.as_u16()
}

#[tokio::test]
async fn setup_makes_a_server_whose_link_makes_the_first_administrator_once() {
    let dir = tempfile::tempdir().unwrap();
    let issuer = format!("https://localhost:{}", free_port());
    let answer = done(&setup(&dir.path().join("id"), &["--issuer", &issuer]));
    let (file, ca) = (path(&answer["file"]), path(&answer["ca_cert"]));
    assert_eq!(file, dir.path().join("id/signet.toml"));
    assert_eq!(mode(&file), 0o600);
    assert_eq!(mode(&path(&answer["data_dir"])), 0o700);
    let checked = signet(&["config", "check", file.to_str().unwrap()]);
    assert_eq!(checked.status.code(), Some(0), "{}", text(&checked.stderr));
    let link = answer["link"].as_str().unwrap();
    assert!(link.starts_with(&format!("{issuer}/console/first?token=")));
    let next = answer["next"].as_array().unwrap();
    assert_eq!(next[0], format!("signet serve --config {}", file.display()));
    assert!(next[1].as_str().unwrap().starts_with("signet trust"));
    // The secret of the link is in no file.
    let secret = token_in(link);
    for entry in std::fs::read_dir(path(&answer["data_dir"])).unwrap() {
        let bytes = std::fs::read(entry.unwrap().path()).unwrap();
        assert!(!bytes.windows(secret.len()).any(|w| w == secret.as_bytes()));
    }
    let log = dir.path().join("log");
    let mut server = Server::start(&["--config", file.to_str().unwrap()], &log);
    server.wait_for(|| port_in(&log, "ready").is_some());
    let client = HttpClient::new(std::slice::from_ref(&ca)).unwrap();
    // Not this one.
    let other = format!("{issuer}/console/first?token=AAAA");
    assert_eq!(use_link(&client, &other, &issuer, "eve").await, 400);
    // The answer is the page that offers a passkey, or leads on.
    assert!(use_link(&client, link, &issuer, "root").await < 400);
    assert_eq!(use_link(&client, link, &issuer, "eve").await, 400);
    let mut list = Command::new(SIGNET);
    list.args(["user", "list", "--json", "--login", "root"])
        .env("SIGNET_SERVER", &issuer)
        .env("SIGNET_CA_CERT", &ca)
        .env("SIGNET_PASSWORD", "a long enough passphrase")
        .env_remove("SIGNET_ADMIN_TOKEN");
    let listed = done(&list.output().unwrap());
    assert_eq!(listed.as_array().unwrap().len(), 1);
    assert_eq!(listed[0]["admin"], true);
}

#[tokio::test]
async fn the_link_of_a_start_and_that_of_the_setup_make_one_administrator() {
    let dir = tempfile::tempdir().unwrap();
    let issuer = format!("https://localhost:{}", free_port());
    let answer = done(&setup(dir.path(), &["--issuer", &issuer]));
    let arguments = ["--config", answer["file"].as_str().unwrap()];
    // Two starts at a terminal: each prints its own, and that of the setup stays.
    let (server, first) = serve(&arguments);
    drop(server);
    let (_server, second) = serve(&arguments);
    let of = |shown: &str| format!("{issuer}/console/first?token={}", token_in(shown));
    let client = HttpClient::new(&[path(&answer["ca_cert"])]).unwrap();
    assert_eq!(use_link(&client, &of(&first), &issuer, "eve").await, 400);
    let link = answer["link"].as_str().unwrap();
    assert!(client.get(link, &[]).await.unwrap().status.is_success());
    let links = [link.to_owned(), of(&second)];
    let at_once = [
        use_link(&client, &links[0], &issuer, "root"),
        use_link(&client, &links[1], &issuer, "second"),
    ];
    let [a, b] = at_once;
    let (a, b) = tokio::join!(a, b);
    assert_eq!([a, b].iter().filter(|status| **status < 400).count(), 1);
    for link in &links {
        assert_eq!(use_link(&client, link, &issuer, "third").await, 400);
    }
}

#[test]
fn setup_overwrites_nothing_and_writes_nothing_that_a_start_refuses() {
    let dir = tempfile::tempdir().unwrap();
    let answer = done(&setup(dir.path(), &[]));
    assert_eq!(answer["issuer"], "https://localhost:8443");
    let file = dir.path().join("signet.toml");
    let written = std::fs::read_to_string(&file).unwrap();
    let again = setup(dir.path(), &["--issuer", "https://id.example"]);
    assert_eq!(again.status.code(), Some(1));
    assert_eq!(json(&again)["error"], "exists");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), written);
    // With --replace, and the one before it is kept. The authority is that of the first host alone.
    let other = setup(dir.path(), &["--issuer", "https://id.example", "--replace"]);
    assert_eq!(other.status.code(), Some(2));
    assert!(
        json(&other)["error_description"]
            .as_str()
            .unwrap()
            .contains("ca.pem")
    );
    assert_eq!(std::fs::read_to_string(&file).unwrap(), written);
    let more = ["--replace", "--behind-proxy", "127.0.0.1"];
    let issuer = ["--issuer", "https://id.example"];
    let proxied = done(&setup(dir.path(), &[&issuer[..], &more].concat()));
    let before = std::fs::read_to_string(path(&proxied["replaced"])).unwrap();
    assert_eq!(before, written);
    let written = std::fs::read_to_string(&file).unwrap();
    assert!(written.contains("[proxy]") && written.contains("protocol = \"http\""));
    // What a start would refuse is refused before anything is written.
    let fresh = dir.path().join("fresh");
    for wrong in [
        &["--issuer", "http://id.example"][..],
        &["--issuer", "https://id.example/?a=b"],
        &["--issuer", "https://id.example/"],
        &["--certificate", "/nonexistent", "--key", "/nonexistent"],
        &["--certificate", "/nonexistent"],
        &["--mail-dir", "mail", "--mail-from", "nobody"],
        &["--smtp", "mail.example", "--smtp-user", "x"],
        &["--data-dir", "/dev/null"],
    ] {
        let refused = setup(&fresh, wrong);
        assert_eq!(refused.status.code(), Some(2), "{wrong:?}");
        assert!(json(&refused)["error_description"].is_string());
        assert!(!fresh.exists(), "{wrong:?}");
    }
    let silent = signet(&["setup", "--dir", fresh.to_str().unwrap()]);
    assert_eq!(silent.status.code(), Some(2));
    assert!(text(&silent.stderr).contains("--yes"));
}

#[test]
fn setup_takes_a_certificate_and_mail_that_are_there() {
    let dir = tempfile::tempdir().unwrap();
    let made = dir.path().join("made");
    done(&setup(&made, &["--issuer", "https://id.example"]));
    let (chain, key) = (made.join("data/server.pem"), made.join("data/server.key"));
    let password = dir.path().join("smtp-password");
    std::fs::write(&password, "hunter2\n").unwrap();
    let text_of = |path: &Path| path.to_str().unwrap().to_owned();
    let (chain, key, secret) = (text_of(&chain), text_of(&key), text_of(&password));
    let answer = done(&setup(
        &dir.path().join("own"),
        &[
            "--issuer",
            "https://id.example",
            "--certificate",
            &chain,
            "--key",
            &key,
            "--smtp",
            "mail.example",
            "--smtp-user",
            "signet",
            "--smtp-password-file",
            &secret,
            "--mail-from",
            "Example \"Login\" <login@id.example>",
        ],
    ));
    assert_eq!(answer["certificate"], "own");
    assert!(answer["ca_cert"].is_null());
    assert_eq!(
        answer["next"][1],
        "signet login --server https://id.example"
    );
    let written = std::fs::read_to_string(path(&answer["file"])).unwrap();
    assert!(!written.contains("hunter2"), "{written}");
    let checked = signet(&["config", "check", answer["file"].as_str().unwrap()]);
    assert_eq!(checked.status.code(), Some(0), "{}", text(&checked.stderr));
}

#[test]
fn setup_at_a_terminal_checks_each_answer_as_it_is_given() {
    let dir = tempfile::tempdir().unwrap();
    let (mut person, program) = terminal();
    let child = Command::new(SIGNET)
        .args(["setup", "--dir"])
        .arg(dir.path())
        .env_remove("SIGNET_SMTP_PASSWORD")
        .stdin(program.try_clone().unwrap())
        .stderr(program)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    for (question, typed) in [
        ("The issuer", "http://id.example"),
        ("begins with https://", "https://id.example/?query"),
        ("The issuer", "https://id.example:9443"),
        ("The data directory", "/dev/null"),
        ("/dev/null is a file", ""),
        ("The certificate", "by hand"),
        ("not \"by hand\"", "self-made"),
        ("The SMTP server", "mail.id.example"),
        ("The sender", "nobody"),
        ("The sender", ""),
        ("The user name there", "signet"),
        ("Password there", "hunter2"),
    ] {
        let mut shown = String::new();
        until(&mut person, &mut shown, question);
        if !shown.trim_end().ends_with(':') {
            until(&mut person, &mut shown, ": ");
        }
        person.write_all(format!("{typed}\n").as_bytes()).unwrap();
    }
    let output = child.wait_with_output().unwrap();
    let said = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(
        said.contains("https://id.example:9443/console/first?token="),
        "{said}"
    );
    assert!(said.contains("signet serve --config") && said.contains("signet trust"));
    let secret = dir.path().join("secrets/smtp");
    assert_eq!(std::fs::read_to_string(&secret).unwrap(), "hunter2");
    assert_eq!(mode(&secret), 0o600);
    let file = dir.path().join("signet.toml");
    let written = std::fs::read_to_string(&file).unwrap();
    assert!(!written.contains("hunter2"), "{written}");
    let checked = signet(&["config", "check", file.to_str().unwrap()]);
    assert_eq!(checked.status.code(), Some(0), "{}", text(&checked.stderr));
}

/// A machine with a system store and two browsers, in a folder.
struct Machine {
    dir: tempfile::TempDir,
    data: PathBuf,
}

impl Machine {
    fn new() -> Machine {
        let dir = tempfile::tempdir().unwrap();
        let data = path(&done(&setup(&dir.path().join("id"), &[]))["data_dir"]);
        for folder in ["system", "bin"] {
            std::fs::create_dir(dir.path().join(folder)).unwrap();
        }
        let machine = Machine { dir, data };
        for store in machine.stores() {
            std::fs::create_dir_all(&store).unwrap();
            machine.certutil(&store, &["-N", "--empty-password"]);
        }
        let program = machine.dir.path().join("bin/update-ca-certificates");
        std::fs::write(
            &program,
            "#!/bin/sh\necho \"updated $*\" >> \"$HOME/updates\"\n",
        )
        .unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        machine
    }

    fn stores(&self) -> [PathBuf; 2] {
        let home = self.dir.path();
        [
            home.join(".pki/nssdb"),
            home.join(".mozilla/firefox/x.default"),
        ]
    }

    fn system(&self) -> PathBuf {
        self.dir.path().join("system")
    }

    /// NSS' own program, which the tests need (Debian: libnss3-tools).
    fn certutil(&self, store: &Path, arguments: &[&str]) -> String {
        let database = format!("sql:{}", store.display());
        let output = Command::new("certutil")
            .args(arguments)
            .args(["-d", &database])
            .output()
            .expect("certutil is installed");
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stdout)
    }

    fn trust(&self, arguments: &[&str], path: &str) -> Output {
        Command::new(SIGNET)
            .args(["trust", "--json", "--data-dir"])
            .arg(&self.data)
            .args(arguments)
            .env("HOME", self.dir.path())
            .env("SIGNET_SYSTEM_TRUST_DIR", self.system())
            .env("PATH", path)
            .output()
            .unwrap()
    }

    fn path(&self) -> String {
        let bin = self.dir.path().join("bin");
        format!("{}:{}", bin.display(), std::env::var("PATH").unwrap())
    }

    fn outcomes(output: &Output) -> Vec<String> {
        let answer = json(output);
        let stores = answer["stores"].as_array().unwrap().iter();
        let outcome = |store: &Value| {
            let member = |name: &str| store[name].as_str().unwrap().to_owned();
            format!("{} {}", member("store"), member("outcome"))
        };
        stores.map(outcome).collect()
    }
}

#[test]
fn trust_puts_the_authority_into_every_store_and_takes_exactly_it_out_again() {
    let machine = Machine::new();
    // Somebody else's authority is there already, under a name that begins alike.
    let other = Machine::new();
    for store in machine.stores() {
        let theirs = other.data.join("ca.pem");
        let arguments = ["-A", "-n", "Signet development CA", "-t", "C,,", "-a", "-i"];
        machine.certutil(
            &store,
            &[&arguments[..], &[theirs.to_str().unwrap()]].concat(),
        );
    }
    std::fs::write(machine.system().join("other.crt"), "theirs").unwrap();
    let run = |arguments: &[&str]| {
        let output = machine.trust(arguments, &machine.path());
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        Machine::outcomes(&output)
    };
    let listed = || {
        machine
            .stores()
            .map(|store| machine.certutil(&store, &["-L"]))
    };
    let before = listed();
    let all = |outcome: &str| ["system", "chromium", "firefox"].map(|s| format!("{s} {outcome}"));
    assert_eq!(run(&[]), all("trusted"));
    assert_eq!(run(&[]), all("already"));
    let ca = std::fs::read(machine.data.join("ca.pem")).unwrap();
    let mut found = std::fs::read_dir(machine.system()).unwrap();
    let copy = found.find_map(|entry| {
        let path = entry.unwrap().path();
        let is_ours = path.file_name().unwrap() != "other.crt";
        is_ours.then(|| (mode(&path), std::fs::read(&path).unwrap()))
    });
    assert_eq!(copy, Some((0o644, ca)));
    for (listed, before) in listed().iter().zip(&before) {
        assert_ne!(listed, before);
        let ours = listed.lines().find(|line| line.contains('('));
        assert!(ours.unwrap().trim_end().ends_with("C,,"), "{listed}");
    }
    assert_eq!(run(&["--remove"]), all("removed"));
    assert_eq!(listed(), before);
    assert!(machine.system().join("other.crt").exists());
    assert_eq!(std::fs::read_dir(machine.system()).unwrap().count(), 1);
    assert_eq!(run(&["--remove"]), all("absent"));
    let updates = std::fs::read_to_string(machine.dir.path().join("updates")).unwrap();
    assert_eq!(updates, "updated \nupdated --fresh\n");
}

#[test]
fn trust_says_which_store_it_could_not_change_and_what_does_it() {
    let machine = Machine::new();
    // Without certutil, and where the system's directory is root's alone, or not there.
    let bin = machine.dir.path().join("bin");
    let output = machine.trust(&["--system-dir", "/proc"], bin.to_str().unwrap());
    assert_eq!(output.status.code(), Some(1));
    let answer = json(&output);
    assert_eq!(answer["error"], "incomplete");
    let stores = answer["stores"].as_array().unwrap();
    for (store, why) in stores.iter().skip(1).map(|store| (store, "certutil")) {
        assert_eq!(store["outcome"], "failed");
        assert!(store["why"].as_str().unwrap().contains(why), "{store}");
    }
    assert_eq!(stores[0]["outcome"], "failed", "{answer}");
    let said = text(&output.stderr);
    assert!(
        said.contains("signet: system:") && said.contains("certutil"),
        "{said}"
    );
    // A certificate that this directory did not make is trusted by nothing.
    let other = Machine::new();
    std::fs::copy(other.data.join("ca.pem"), machine.data.join("ca.pem")).unwrap();
    let output = machine.trust(&[], &machine.path());
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(json(&output)["error"], "not_trusted");
    assert_eq!(std::fs::read_dir(machine.system()).unwrap().count(), 0);
}
