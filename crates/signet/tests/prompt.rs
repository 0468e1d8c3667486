//! What a person at a terminal sees of a prompt for a password, and what not.

use std::{
    fs::File,
    io::{Read, Write},
    os::unix::ffi::OsStrExt,
    process::{Command, Stdio},
};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::support::{SIGNET, text};

/// A terminal: the person's end, and the program's.
fn terminal() -> (File, File) {
    let person = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&person).unwrap();
    unlockpt(&person).unwrap();
    let name = ptsname(&person, Vec::new()).unwrap();
    let path = std::ffi::OsStr::from_bytes(name.as_bytes());
    let program = File::options().read(true).write(true).open(path).unwrap();
    (File::from(person), program)
}

/// Reads until the terminal shows this; everything that it has shown.
fn until(person: &mut File, shown: &mut String, wanted: &str) {
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
    assert_eq!(remove(b"n\n", &[]), Some(1));
    assert_eq!(remove(b"y\n", &[]), Some(0));
    assert_eq!(remove(b"", &["--yes"]), Some(1), "it is gone already");
}
