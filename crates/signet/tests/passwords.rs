//! New passwords, and accounts that come from another server, by the commands.

use crate::support::{Dev, Server, json, signet, signet_with, text};
use serde_json::{Value, json};
use std::{fs, path::Path, process::Output};

/// What every hash below was made of.
const PASSWORD: &str = "correct horse \u{e4}";
/// htpasswd -nbB -C 4
const BCRYPT: &str = "$2y$04$7WSTcw/7cffl9cXCWlfvguI6MrrSQzCg6QUgcqdiAa9KsQxJIAMPu";
/// openssl passwd -6
const CRYPT: &str = "$6$Ky9B9De4u6079YUX$4Xr.DGhuY8P1S5sjC2ltluilrOSXMSVEqQMvl9SCCGKEv/WIrsWaIk1W0FU3VdwnOprKzm/FhZnAe2oIwqWZy0";
/// passlib ldap_salted_sha1
const SSHA: &str = "{SSHA}r4sQQf2biJuov3EuHOKbPJQPwdSi1Pof";

fn of_dev(dev: &Dev, arguments: &[&str]) -> Output {
    let mut all = arguments.to_vec();
    all.extend(["--json", "--data-dir", dev.dir()]);
    signet(&all)
}

fn import(dev: &Dev, file: &Path) -> Output {
    of_dev(dev, &["user", "import", file.to_str().unwrap()])
}

fn lines(lines: &[Value]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// Logs in as an administrator, by their password.
fn lists_users(dev: &Dev, name: &str, password: &str) -> Output {
    std::process::Command::new(env!("CARGO_BIN_EXE_signet"))
        .args(["user", "list", "--json", "--login", name])
        .env_remove("SIGNET_ADMIN_TOKEN")
        .env("SIGNET_PASSWORD", password)
        .env("SIGNET_SERVER", &dev.issuer)
        .env("SIGNET_CA_CERT", &dev.ca)
        .output()
        .unwrap()
}

#[test]
fn the_policy_of_new_passwords_binds_the_admin_api_and_the_command() {
    let dir = tempfile::tempdir().unwrap();
    let (_server, dev) = Server::dev(dir.path());
    let add = |arguments: &[&str], password: &str| {
        let mut all = vec![
            "user",
            "add",
            "--password-stdin",
            "--json",
            "--data-dir",
            dev.dir(),
        ];
        all.extend(arguments);
        signet_with(&all, &format!("{password}\n"))
    };
    for (arguments, password) in [
        (&["berta"][..], "vX9$kQ2"),
        (&["berta"], "trustno1trustno1"),
        (&["berta"], "my name is BERTA today"),
        (
            &["b", "--email", "bq.lane@example.test"],
            "to bq.lane and back",
        ),
        (&["berta"], "calm localhost words"),
        (&["root", "--admin"], "vX9$kQ2mLpz"),
    ] {
        let output = add(arguments, password);
        assert_eq!(output.status.code(), Some(1), "{password}");
        assert_eq!(json(&output)["error"], "invalid_request", "{password}");
    }
    let made = add(&["root", "--admin"], "vX9$kQ2mLpzW");
    assert_eq!(made.status.code(), Some(0), "{}", text(&made.stderr));
    // An account that is there: the API alone judges.
    let set = [
        "user",
        "set",
        "root",
        "--password-stdin",
        "--json",
        "--data-dir",
        dev.dir(),
    ];
    for refused in ["vX9$kQ2mLpz", "password1234", "a localhost of mine"] {
        let output = signet_with(&set, &format!("{refused}\n"));
        assert_eq!(output.status.code(), Some(1), "{refused}");
    }
    let output = signet_with(&set, "four calm words here\n");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
}

#[test]
fn imported_people_log_in_with_the_password_that_they_had() {
    let dir = tempfile::tempdir().unwrap();
    let (_server, dev) = Server::dev(dir.path());
    assert_eq!(
        of_dev(&dev, &["group", "add", "staff"]).status.code(),
        Some(0)
    );
    let people: Vec<Value> = [("bea", BCRYPT), ("cleo", CRYPT), ("dora", SSHA)]
        .into_iter()
        .map(|(name, hash)| {
            json!({ "username": name, "email": format!("{name}@example.test"), "email_verified": true,
                    "admin": true, "groups": ["staff"], "profile": { "name": name },
                    "created_at": 1_000_000_000, "password_hash": hash })
        })
        .collect();
    let file = dir.path().join("people.jsonl");
    fs::write(&file, lines(&people)).unwrap();
    let done = import(&dev, &file);
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
    assert_eq!(
        json(&done),
        json!({ "imported": 3, "existing": 0, "refused": [] })
    );
    for name in ["bea", "cleo", "dora"] {
        assert_eq!(
            lists_users(&dev, name, "wrong").status.code(),
            Some(1),
            "{name}"
        );
        // Twice: by the hash that came, and by the one that the first login left.
        for _ in 0..2 {
            let listed = lists_users(&dev, name, PASSWORD);
            assert_eq!(listed.status.code(), Some(0), "{}", text(&listed.stderr));
        }
        let shown = json(&of_dev(&dev, &["user", "show", name]));
        assert_eq!(shown["groups"], json!(["staff"]));
        assert_eq!(shown["created_at"], 1_000_000_000);
        assert_eq!(shown["has_password"], true);
    }
    // Again: nothing is made, nothing is changed.
    let before = json(&of_dev(&dev, &["user", "show", "bea"]));
    let again = import(&dev, &file);
    assert_eq!(
        json(&again),
        json!({ "imported": 0, "existing": 3, "refused": [] })
    );
    assert_eq!(json(&of_dev(&dev, &["user", "show", "bea"])), before);
}

#[test]
fn a_refused_line_is_named_and_keeps_no_other_out() {
    let dir = tempfile::tempdir().unwrap();
    let (_server, dev) = Server::dev(dir.path());
    let file = dir.path().join("people.jsonl");
    let mut text_of_file = String::from("\n");
    text_of_file.push_str(&lines(&[
        json!({ "username": "one" }),
        json!({ "username": "two", "pasword_hash": BCRYPT }),
        json!({ "username": "three", "password_hash": "$2y$31$7WSTcw/7cffl9cXCWlfvguI6MrrSQzCg6QUgcqdiAa9KsQxJIAMPu" }),
        json!({ "username": "four", "password_hash": "secret" }),
        json!({ "username": "five", "groups": ["nobody has it"] }),
        json!({ "username": "alice", "id": "AAAAAAAAAAAAAAAAAAAAAA" }),
        json!({ "username": "six", "id": "short" }),
        json!({ "username": "seven" }),
    ]));
    fs::write(&file, text_of_file).unwrap();
    let done = import(&dev, &file);
    assert_eq!(done.status.code(), Some(1));
    let said = json(&done);
    assert_eq!(
        (&said["error"], &said["imported"]),
        (&json!("refused"), &json!(2))
    );
    let refused = said["refused"].as_array().unwrap();
    let at: Vec<(u64, &str)> = refused
        .iter()
        .map(|r| (r["line"].as_u64().unwrap(), r["username"].as_str().unwrap()))
        .collect();
    let expected = [
        (3, "two"),
        (4, "three"),
        (5, "four"),
        (6, "five"),
        (7, "alice"),
        (8, "six"),
    ];
    assert_eq!(at, expected);
    for (at, why) in [
        (0, "pasword_hash"),
        (1, "costs"),
        (2, "password_hash"),
        (3, "group"),
    ] {
        let error = refused[at]["error"].as_str().unwrap();
        assert!(error.contains(why), "{error}");
    }
    assert!(
        text(&done.stderr).contains("people.jsonl:3: two: "),
        "{}",
        text(&done.stderr)
    );
    assert_eq!(
        of_dev(&dev, &["user", "show", "seven"]).status.code(),
        Some(0)
    );
    assert_ne!(
        of_dev(&dev, &["user", "show", "four"]).status.code(),
        Some(0)
    );
}

#[test]
fn a_line_that_is_no_json_object_stops_the_import_before_it_begins() {
    let dir = tempfile::tempdir().unwrap();
    let (_server, dev) = Server::dev(dir.path());
    let file = dir.path().join("people.jsonl");
    fs::write(&file, "{\"username\":\"one\"}\n{\"username\":\n").unwrap();
    let done = import(&dev, &file);
    assert_eq!(done.status.code(), Some(1));
    let said = json(&done)["error_description"].to_string();
    assert!(said.contains("people.jsonl:2: "), "{said}");
    assert_ne!(
        of_dev(&dev, &["user", "show", "one"]).status.code(),
        Some(0)
    );
}

#[test]
fn what_user_show_prints_is_what_an_import_takes() {
    let dir = tempfile::tempdir().unwrap();
    let (_server, dev) = Server::dev(dir.path());
    let mut shown = json(&of_dev(&dev, &["user", "show", "alice"]));
    shown["username"] = "alicia".into();
    shown["email"] = "alicia@example.test".into();
    shown["id"] = "AAAAAAAAAAAAAAAAAAAAAA".into();
    shown["password_hash"] = SSHA.into();
    let file = dir.path().join("people.jsonl");
    fs::write(&file, lines(&[shown])).unwrap();
    let done = import(&dev, &file);
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
    let made = json(&of_dev(&dev, &["user", "show", "alicia"]));
    assert_eq!(made["id"], "AAAAAAAAAAAAAAAAAAAAAA");
    assert_eq!(made["profile"]["name"], "Alice Example");
}
