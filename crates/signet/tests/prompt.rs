//! What a person at a terminal sees of a prompt for a password, and what not.

use std::{
    fs::File,
    io::{Read, Write},
    os::unix::ffi::OsStrExt,
    process::{Command, Stdio},
};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::support::{SIGNET, json, signet, text};

/// A terminal: the person's end, and the program's.
pub(crate) fn terminal() -> (File, File) {
    let person = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&person).unwrap();
    unlockpt(&person).unwrap();
    let name = ptsname(&person, Vec::new()).unwrap();
    let path = std::ffi::OsStr::from_bytes(name.as_bytes());
    let program = File::options().read(true).write(true).open(path).unwrap();
    (File::from(person), program)
}

/// Reads until the terminal shows this; everything that it has shown.
pub(crate) fn until(person: &mut File, shown: &mut String, wanted: &str) {
    let mut buffer = [0; 1024];
    while !shown.contains(wanted) {
        let count = person.read(&mut buffer).unwrap();
        shown.push_str(&String::from_utf8_lossy(&buffer[..count]));
    }
}

#[test]
fn a_new_password_is_asked_for_twice_and_never_shown() {
    let dir = tempfile::tempdir().unwrap();
    let (mut person, program) = terminal();
    let child = Command::new(SIGNET)
        .args(["user", "add", "root", "--admin", "--data-dir"])
        .arg(dir.path().join("data"))
        // No program is needed for it.
        .env("PATH", "")
        .env_remove("SIGNET_PASSWORD")
        .env_remove("SIGNET_SERVER")
        .stdin(program.try_clone().unwrap())
        .stderr(program)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut shown = String::new();
    until(&mut person, &mut shown, "Password of root: ");
    // At once, as a password manager pastes it.
    person.write_all(b"correct horse battery\n").unwrap();
    until(&mut person, &mut shown, "Password of root again: ");
    person.write_all(b"correct horse battery\n").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{shown}");
    assert!(text(&output.stdout).contains("administrator root was made"));
    assert!(!shown.contains("horse"), "{shown}");
}

#[test]
fn what_cannot_be_undone_is_asked_for_at_a_terminal() {
    let dir = tempfile::tempdir().unwrap();
    let (_server, dev) = crate::support::Server::dev(dir.path());
    let remove = |answer: &[u8], more: &[&str]| {
        let (mut person, program) = terminal();
        let child = Command::new(SIGNET)
            .args(["client", "remove", "web", "--data-dir", dev.dir()])
            .args(more)
            .stdin(program.try_clone().unwrap())
            .stderr(program)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        if !answer.is_empty() {
            until(&mut person, &mut String::new(), "[y/N]");
            person.write_all(answer).unwrap();
        }
        child.wait_with_output().unwrap().status.code()
    };
    // A script that means it says so, whatever it removes.
    for removal in [
        &["client", "remove", "web"][..],
        &["user", "remove", "alice"],
        &["session", "remove", "x"],
        &["grant", "remove", "x"],
        &["scope", "remove", "email"],
        &["key", "rotate", "--compromised"],
        &["revoke", "--before", "1"],
        &["agents", "remove", "x"],
        &["node", "recover"],
    ] {
        let output = signet(&[removal, &["--json", "--data-dir", dev.dir()]].concat());
        assert_eq!(output.status.code(), Some(1), "{removal:?}");
        assert_eq!(json(&output)["error"], "not_confirmed", "{removal:?}");
    }
    assert_eq!(remove(b"n\n", &[]), Some(1));
    assert_eq!(remove(b"y\n", &[]), Some(0));
    assert_eq!(remove(b"", &["--yes"]), Some(1), "it is gone already");
}

#[test]
fn wrong_usage_is_answered_as_json_where_that_was_asked_for() {
    for wrong in [
        &["--json", "serve", "--lissten", "x"][..],
        &["serve", "--json", "--lissten", "x"],
        &["user", "show", "--json"],
        &["user", "--json"],
        &["nonsense", "--json"],
    ] {
        let output = signet(wrong);
        assert_eq!(output.status.code(), Some(2), "{wrong:?}");
        let answer = json(&output);
        assert_eq!(answer["error"], "unusable", "{wrong:?}");
        let said = answer["error_description"].as_str().unwrap();
        assert!(!said.is_empty() && !said.contains("Usage"), "{said}");
        assert!(!output.stderr.is_empty(), "{wrong:?}");
    }
    // What is behind -- is somebody else's; help is no refusal.
    assert!(signet(&["nonsense", "--", "--json"]).stdout.is_empty());
    let help = signet(&["user", "--help", "--json"]);
    assert_eq!(help.status.code(), Some(0));
    assert!(text(&help.stdout).contains("Usage"));
}

#[test]
fn a_table_fits_the_terminal_and_is_whole_in_a_pipe() {
    let dir = tempfile::tempdir().unwrap();
    let (_server, dev) = crate::support::Server::dev(dir.path());
    let list = ["client", "list", "--data-dir", dev.dir()];
    let (mut person, program) = terminal();
    let size = rustix::termios::Winsize {
        ws_row: 24,
        ws_col: 40,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    rustix::termios::tcsetwinsize(&program, size).unwrap();
    let mut child = Command::new(SIGNET)
        .args(list)
        .stdin(Stdio::null())
        .stdout(program.try_clone().unwrap())
        .spawn()
        .unwrap();
    assert!(child.wait().unwrap().success());
    // It was shorter than what the terminal holds.
    let mut shown = String::new();
    until(&mut person, &mut shown, "signet-cli");
    drop(program);
    let longest = shown.lines().map(|line| line.trim_end().chars().count());
    assert!(longest.max() <= Some(40), "{shown}");
    assert!(shown.contains('\u{2026}'), "{shown}");
    let piped = text(&signet(&list).stdout);
    assert!(!piped.contains('\u{2026}'), "{piped}");
    assert!(
        piped.lines().any(|line| line.chars().count() > 40),
        "{piped}"
    );
}

/// A server at a terminal, which ends with the test.
pub(crate) struct AtTerminal(std::process::Child);

impl Drop for AtTerminal {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts a server whose output a person reads; what it has shown, up to the end of the link.
pub(crate) fn serve(arguments: &[&str]) -> (AtTerminal, String) {
    let (mut person, program) = terminal();
    let child = Command::new(SIGNET)
        .arg("serve")
        .args(arguments)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .stdout(program)
        .spawn()
        .unwrap();
    let server = AtTerminal(child);
    let mut shown = String::new();
    until(&mut person, &mut shown, "/console/first?token=");
    let mut link = String::new();
    let is_whole = |shown: &str| {
        shown
            .split("?token=")
            .nth(1)
            .is_some_and(|rest| rest.contains('\n'))
    };
    if !is_whole(&shown) {
        until(&mut person, &mut link, "\n");
    }
    (server, shown + &link)
}

pub(crate) fn token_in(shown: &str) -> String {
    let (_, rest) = shown.split_once("?token=").unwrap();
    rest.split_whitespace().next().unwrap().to_owned()
}

#[test]
fn a_first_start_at_a_terminal_prints_a_link_and_one_into_a_log_does_not() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("signet.toml");
    let text = "issuer = \"https://id.example\"\ndata_dir = \"data\"\nlisteners = [{ address = \"127.0.0.1:0\", protocol = \"http\" }]\n";
    std::fs::write(&file, text).unwrap();
    let arguments = ["--config", file.to_str().unwrap()];
    let (server, shown) = serve(&arguments);
    assert!(shown.contains("There is no account yet"), "{shown}");
    assert!(
        shown.contains("https://id.example/console/first?token="),
        "{shown}"
    );
    let first = token_in(&shown);
    drop(server);
    // The secret is nowhere in the folder.
    for entry in std::fs::read_dir(dir.path().join("data")).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            let bytes = std::fs::read(&path).unwrap();
            let found = bytes
                .windows(first.len())
                .any(|part| part == first.as_bytes());
            assert!(!found, "{}", path.display());
        }
    }
    // The next start has another one.
    let (server, shown) = serve(&arguments);
    assert_ne!(token_in(&shown), first);
    drop(server);
    let log = dir.path().join("log");
    let (_server, _) = crate::support::Server::configured(&file, &log);
    let log = std::fs::read_to_string(&log).unwrap();
    assert!(!log.contains("token="), "{log}");
    assert!(log.contains("waiting for the first administrator"), "{log}");
}

#[test]
fn development_mode_at_a_terminal_prints_a_link_that_logs_in() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let arguments = [
        "--dev",
        "--listen",
        "127.0.0.1:0",
        "--data-dir",
        data.to_str().unwrap(),
    ];
    let (_server, shown) = serve(&arguments);
    assert!(shown.contains("https://localhost:"), "{shown}");
    let file = std::fs::read_to_string(data.join("dev.json")).unwrap();
    assert!(!file.contains(&token_in(&shown)));
}
