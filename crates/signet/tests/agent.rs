//! `signet agent` as scripts use it.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

struct Room {
    directory: tempfile::TempDir,
}

impl Room {
    fn new() -> Room {
        Room {
            directory: tempfile::tempdir().expect("a directory"),
        }
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.directory.path().join(name)
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.run_with(arguments, "correct horse")
    }

    fn run_with(&self, arguments: &[&str], passphrase: &str) -> Output {
        Command::new(env!("CARGO_BIN_EXE_signet"))
            .arg("agent")
            .args(arguments)
            .current_dir(self.directory.path())
            .env("SIGNET_PASSPHRASE", passphrase)
            .env("SIGNET_CHILD_PASSPHRASE", passphrase)
            .env("SIGNET_NEW_PASSPHRASE", "new horse")
            .output()
            .expect("the binary runs")
    }

    fn ok(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?}: {error}");
        String::from_utf8(output.stdout)
            .expect("UTF-8")
            .trim()
            .to_owned()
    }

    fn json(&self, arguments: &[&str]) -> Value {
        let mut all = vec!["--json"];
        all.extend(arguments);
        serde_json::from_str(&self.ok(&all)).expect("JSON")
    }

    /// The name of the reason for exit 1.
    fn refused(&self, arguments: &[&str]) -> String {
        let mut all = vec!["--json"];
        all.extend(arguments);
        let output = self.run(&all);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {text}");
        let answer: Value = serde_json::from_str(&text).expect("JSON");
        assert!(answer["error_description"].is_string() && !output.stderr.is_empty());
        answer["error"].as_str().expect("a name").to_owned()
    }

    fn agent(&self, name: &str) {
        let file = format!("{name}.aid");
        self.ok(&["create", "--name", name, "--out", &file]);
        self.document(name);
    }

    fn document(&self, name: &str) {
        let text = self.ok(&["show", "--document", &format!("{name}.aid")]);
        std::fs::write(self.path(&format!("{name}.json")), text).expect("written");
    }

    fn grant(&self, from: &str, to: &str, capability: &str, out: &str, more: &[&str]) {
        let (identity, to) = (format!("{from}.aid"), format!("{to}.json"));
        let mut all = vec![
            "grant",
            "--identity",
            &identity,
            "--to",
            &to,
            "--capability",
            capability,
            "--expires-in",
            "1h",
            "--out",
            out,
        ];
        all.extend(more);
        self.ok(&all);
    }

    fn edit(&self, from: &str, to: &str, change: impl FnOnce(&mut Value)) {
        let text = std::fs::read_to_string(self.path(from)).expect("read");
        let mut value: Value = serde_json::from_str(&text).expect("JSON");
        change(&mut value);
        std::fs::write(self.path(to), value.to_string()).expect("written");
    }
}

fn mode(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(path).expect("there").permissions().mode() & 0o777
}

#[test]
fn an_identity_is_made_shown_rotated_and_keeps_its_id() {
    let room = Room::new();
    room.agent("alice");
    for file in ["alice.aid", "alice.aid.next"] {
        assert_eq!(mode(&room.path(file)), 0o600);
    }
    assert_eq!(
        room.run(&["create", "--name", "alice", "--out", "alice.aid"])
            .status
            .code(),
        Some(2)
    );
    let before = room.json(&["show", "alice.aid"]);
    assert_eq!(before["name"], "alice");
    room.ok(&["rotate", "alice.aid", "--reason", "yearly"]);
    room.ok(&["rotate", "alice.aid", "--reason", "again"]);
    let after = room.json(&["show", "alice.aid"]);
    assert_eq!(before["id"], after["id"]);
    assert_ne!(before["public_key"], after["public_key"]);
    assert_eq!(after["rotations"].as_array().map(Vec::len), Some(2));
    // A next key that was used, or one of another identity, does not rotate.
    room.agent("mallory");
    std::fs::copy(room.path("mallory.aid.next"), room.path("alice.aid.next")).expect("copied");
    assert_eq!(
        room.refused(&["rotate", "alice.aid", "--reason", "x"]),
        "wrong_signer"
    );
}

#[test]
fn a_passphrase_is_needed_and_can_be_changed() {
    let room = Room::new();
    room.agent("alice");
    std::fs::write(room.path("text"), "content").expect("written");
    let sign = [
        "receipt",
        "sign",
        "--identity",
        "alice.aid",
        "--action",
        "a",
        "--content",
        "text",
    ];
    assert_eq!(room.run_with(&sign, "wrong").status.code(), Some(1));
    assert_eq!(room.run_with(&sign, "").status.code(), Some(2));
    let without = Command::new(env!("CARGO_BIN_EXE_signet"))
        .args(["agent", "create", "--name", "bob", "--out", "bob.aid"])
        .current_dir(room.directory.path())
        .env_remove("SIGNET_PASSPHRASE")
        .stdin(std::process::Stdio::null())
        .output()
        .expect("the binary runs");
    assert_eq!(
        without.status.code(),
        Some(2),
        "there is no default passphrase"
    );
    assert!(!room.path("bob.aid").exists());
    room.ok(&["passphrase", "alice.aid"]);
    assert_eq!(room.run(&sign).status.code(), Some(1));
    assert_eq!(room.run_with(&sign, "new horse").status.code(), Some(0));
}

#[test]
fn receipts_are_signed_chained_and_verified() {
    let room = Room::new();
    room.agent("alice");
    room.agent("mallory");
    std::fs::write(room.path("text"), "what was done").expect("written");
    let sign = |out: &str, more: &[&str]| {
        let mut all = vec![
            "receipt",
            "sign",
            "--identity",
            "alice.aid",
            "--action",
            "decision",
            "--content",
            "text",
            "--out",
            out,
        ];
        all.extend(more);
        room.ok(&all);
    };
    sign("1.json", &["--include-content"]);
    sign("2.json", &["--previous", "1.json"]);
    sign("3.json", &["--previous", "2.json"]);
    let verify = ["receipt", "verify", "--identity", "alice.json"];
    let with = |files: &[&'static str]| [&verify[..], files].concat();
    assert_eq!(
        room.json(&with(&["1.json", "2.json", "3.json"]))["verified"],
        true
    );
    assert_eq!(
        room.json(&["receipt", "verify", "2.json"])["not_checked"][1],
        "identity"
    );
    assert_eq!(room.refused(&with(&["1.json", "3.json"])), "chain_broken");
    assert_eq!(
        room.refused(&with(&["2.json", "1.json"])),
        "chain_start_missing"
    );
    assert_eq!(
        room.refused(&with(&["2.json", "3.json"])),
        "chain_start_missing"
    );
    assert_eq!(
        room.refused(&with(&["1.json", "2.json", "--count", "3"])),
        "chain_end_missing"
    );
    assert_eq!(
        room.refused(&["receipt", "verify", "--identity", "mallory.json", "1.json"]),
        "wrong_signer"
    );
    room.edit("1.json", "bad.json", |r| r["action"] = "other".into());
    assert_eq!(room.refused(&with(&["bad.json"])), "derived_mismatch");
    room.edit("1.json", "bad.json", |r| {
        r["content_base64url"] = "AAAA".into()
    });
    assert_eq!(room.refused(&with(&["bad.json"])), "content_mismatch");
    room.ok(&with(&["--content", "text", "2.json"]));
    std::fs::write(room.path("text"), "what was not done").expect("written");
    assert_eq!(
        room.refused(&with(&["--content", "text", "2.json"])),
        "content_mismatch"
    );
    assert_eq!(room.run(&with(&["none.json"])).status.code(), Some(2));
    // Signed by the key before a rotation, verified with the document after it; not once it was
    // compromised.
    room.ok(&["rotate", "alice.aid", "--reason", "yearly"]);
    room.document("alice");
    room.ok(&with(&["1.json"]));
    room.ok(&["rotate", "alice.aid", "--reason", "stolen", "--compromised"]);
    room.document("alice");
    room.ok(&with(&["1.json"]));
    std::fs::write(room.path("text"), "more").expect("written");
    sign("4.json", &[]);
    room.ok(&["rotate", "alice.aid", "--reason", "stolen", "--compromised"]);
    room.document("alice");
    assert_eq!(room.refused(&with(&["4.json"])), "key_compromised");
}

#[test]
fn a_chain_is_granted_delegated_proven_explained_and_revoked() {
    let room = Room::new();
    for name in ["alice", "bob", "carol", "mallory"] {
        room.agent(name);
    }
    room.grant(
        "alice",
        "bob",
        "read:files/*",
        "first.json",
        &["--max-depth", "1", "--constraint", "audience=api"],
    );
    room.grant(
        "bob",
        "carol",
        "read:files/a",
        "second.json",
        &["--parent", "first.json"],
    );
    let verify = [
        "chain",
        "verify",
        "--root",
        "alice.json",
        "--capability",
        "read:files/a",
        "--context",
        "audience=api",
    ];
    let with = |more: &[&'static str]| [&verify[..], more].concat();
    let answer = room.json(&with(&["first.json", "second.json"]));
    assert_eq!(
        (&answer["verified"], &answer["not_checked"][0]),
        (&true.into(), &"possession".into())
    );
    room.ok(&[
        "prove",
        "--identity",
        "carol.aid",
        "--grant",
        "second.json",
        "--audience",
        "api",
        "--nonce",
        "n",
        "--out",
        "proof.json",
    ]);
    let proven = with(&[
        "--context",
        "nonce=n",
        "--proof",
        "proof.json",
        "first.json",
        "second.json",
    ]);
    assert_eq!(room.json(&proven)["possession_proven"], true);
    for (more, reason) in [
        (vec!["--proof", "proof.json", "first.json"], "wrong_signer"),
        (
            vec![
                "--context",
                "nonce=m",
                "--proof",
                "proof.json",
                "first.json",
                "second.json",
            ],
            "proof_nonce_mismatch",
        ),
        (
            vec!["--context", "audience=other", "first.json", "second.json"],
            "audience_refused",
        ),
        (vec!["second.json", "first.json"], "wrong_root"),
        (vec!["second.json"], "wrong_root"),
        (vec!["--now", "1", "first.json"], "not_yet_valid"),
        (vec!["--now", "9999999999", "first.json"], "expired"),
    ] {
        assert_eq!(room.refused(&with(&more)), reason, "{more:?}");
    }
    let other = ["chain", "verify", "--root", "alice.json", "--capability"];
    assert_eq!(
        room.refused(
            &[
                &other[..],
                &["write:files/a", "--context", "audience=api", "first.json"]
            ]
            .concat()
        ),
        "capability_not_granted"
    );
    assert_eq!(
        room.refused(&[&other[..], &["read:files/a", "first.json"]].concat()),
        "context_missing"
    );
    assert_eq!(
        room.refused(&[
            "chain",
            "verify",
            "--root",
            "mallory.json",
            "--capability",
            "read:files/a",
            "first.json"
        ]),
        "wrong_root"
    );
    // Wider than the parent: not even signed.
    let wide = [
        "grant",
        "--identity",
        "bob.aid",
        "--to",
        "carol.json",
        "--capability",
        "read:*",
        "--expires-in",
        "1h",
        "--parent",
        "first.json",
    ];
    assert_eq!(room.refused(&wide), "capability_widened");
    room.edit("first.json", "bad.json", |g| {
        g["capabilities"] = serde_json::json!(["*:*"]);
        g.as_object_mut().expect("object").remove("id");
    });
    assert_eq!(room.refused(&with(&["bad.json"])), "signature_invalid");
    let explain = [
        "explain",
        "--root",
        "alice.json",
        "--capability",
        "read:files/b",
        "--context",
        "audience=api",
        "first.json",
        "second.json",
    ];
    assert_eq!(room.refused(&explain), "capability_not_granted");
    // Revoked by those who may.
    room.ok(&[
        "revoke",
        "--identity",
        "mallory.aid",
        "--grant",
        "first.json",
        "--reason",
        "spite",
        "--out",
        "spite.json",
    ]);
    room.ok(&with(&[
        "--revocation",
        "spite.json",
        "first.json",
        "second.json",
    ]));
    room.ok(&[
        "revoke",
        "--identity",
        "alice.aid",
        "--grant",
        "first.json",
        "--reason",
        "over",
        "--out",
        "revoked.json",
    ]);
    assert_eq!(
        room.refused(&with(&[
            "--revocation",
            "revoked.json",
            "first.json",
            "second.json"
        ])),
        "revoked"
    );
    assert_eq!(
        room.refused(&with(&["first.json", "revoked.json"])),
        "revoked"
    );
    room.edit("revoked.json", "bad.json", |r| r["reason"] = "x".into());
    assert_eq!(
        room.refused(&with(&["--revocation", "bad.json", "first.json"])),
        "revocation_unreadable"
    );
    // Grants made before a rotation still verify, unless the key was compromised.
    room.ok(&["rotate", "alice.aid", "--reason", "yearly"]);
    room.document("alice");
    room.ok(&with(&["first.json", "second.json"]));
    room.ok(&["rotate", "bob.aid", "--reason", "stolen", "--compromised"]);
    room.document("bob");
    assert_eq!(
        room.refused(&with(&[
            "--document",
            "bob.json",
            "first.json",
            "second.json"
        ])),
        "key_compromised"
    );
}

#[test]
fn a_stolen_copy_signs_nothing_after_a_rotation_and_a_later_one_gives_it_up() {
    let room = Room::new();
    room.agent("root");
    room.agent("mallory");
    std::fs::copy(room.path("root.aid"), room.path("stolen.aid")).expect("copied");
    room.grant("root", "mallory", "read:a", "before.json", &[]);
    room.ok(&["rotate", "root.aid", "--reason", "the laptop was sold"]);
    room.document("root");
    let rotated = room.json(&["show", "root.aid"])["rotations"][0]["at"]
        .as_u64()
        .expect("a time");
    // Objects are dated in seconds: the thief signs in the next one.
    let now = || {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        since.expect("after 1970").as_secs()
    };
    while now() <= rotated {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    room.grant("stolen", "mallory", "*:*", "evil.json", &[]);
    let verify = |capability: &str, file: &str| {
        [
            "chain",
            "verify",
            "--root",
            "root.json",
            "--capability",
            capability,
            file,
        ]
        .map(str::to_owned)
    };
    let refused = |arguments: &[String]| {
        room.refused(&arguments.iter().map(String::as_str).collect::<Vec<_>>())
    };
    let ok =
        |arguments: &[String]| room.ok(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(
        refused(&verify("delete:everything", "evil.json")),
        "retired_key"
    );
    ok(&verify("read:a", "before.json"));
    let demanding = [
        &verify("read:a", "before.json")[..],
        &["--require-anchors".into()],
    ]
    .concat();
    assert_eq!(refused(&demanding), "retired_key");
    // It turns out that the copy was made earlier than that.
    let unknown = [
        "rotate",
        "root.aid",
        "--reason",
        "x",
        "--compromised-key",
        "7",
    ];
    assert_eq!(room.run(&unknown).status.code(), Some(2));
    room.ok(&[
        "rotate",
        "root.aid",
        "--reason",
        "the laptop was read",
        "--compromised-key",
        "0",
    ]);
    room.document("root");
    assert_eq!(refused(&verify("read:a", "before.json")), "key_compromised");
    let shown = room.json(&["show", "root.aid"]);
    assert!(shown["keys"][0]["compromised_since"].is_u64(), "{shown}");
    assert!(shown["keys"][1]["compromised_since"].is_null(), "{shown}");
    assert!(shown["keys"][1]["retired"].is_u64() && shown["keys"][2]["retired"].is_null());
    assert!(
        room.ok(&["show", "root.json"])
            .contains("key        0 from ")
    );
}

#[test]
fn constraints_refuse_without_their_context() {
    let room = Room::new();
    room.agent("alice");
    room.agent("bob");
    for (constraint, good, bad, reason) in [
        ("max-uses=2", "max-uses=2", "max-uses=3", "uses_exhausted"),
        (
            "budget=10:eur",
            "budget=10:eur",
            "budget=11:eur",
            "budget_exhausted",
        ),
        (
            "network=10.0.0.0/8",
            "network=10.1.2.3",
            "network=11.1.2.3",
            "network_refused",
        ),
        (
            "x-region=eu",
            "x-region=eu",
            "x-region=us",
            "custom_refused",
        ),
    ] {
        room.grant(
            "alice",
            "bob",
            "read:a",
            "g.json",
            &["--constraint", constraint],
        );
        let verify = [
            "chain",
            "verify",
            "--root",
            "alice.json",
            "--capability",
            "read:a",
            "g.json",
        ];
        let missing = if constraint.starts_with("x-") {
            "custom_unknown"
        } else {
            "context_missing"
        };
        assert_eq!(room.refused(&verify), missing);
        room.ok(&[&verify[..], &["--context", good]].concat());
        assert_eq!(
            room.refused(&[&verify[..], &["--context", bad]].concat()),
            reason
        );
    }
    let unknown = [
        "grant",
        "--identity",
        "alice.aid",
        "--to",
        "bob.json",
        "--capability",
        "read:a",
        "--expires-in",
        "1h",
        "--constraint",
        "moon=full",
    ];
    assert_eq!(room.run(&unknown).status.code(), Some(2));
}

#[test]
fn a_log_shows_every_change_and_proves_its_entries() {
    let room = Room::new();
    room.agent("alice");
    room.agent("operator");
    std::fs::write(room.path("text"), "content").expect("written");
    for name in ["1.json", "2.json", "3.json"] {
        room.ok(&[
            "receipt",
            "sign",
            "--identity",
            "alice.aid",
            "--action",
            "a",
            "--content",
            "text",
            "--out",
            name,
        ]);
    }
    let append = [
        "log",
        "append",
        "--log",
        "log",
        "--identity",
        "operator.aid",
    ];
    room.ok(&[&append[..], &["1.json", "2.json"]].concat());
    let short = std::fs::read(room.path("log")).expect("read");
    room.ok(&[&append[..], &["3.json"]].concat());
    let verify = [
        "log",
        "verify",
        "--log",
        "log",
        "--identity",
        "operator.json",
    ];
    assert_eq!(room.json(&verify)["size"], 3);
    let kept = room.ok(&["log", "checkpoint", "--log", "log"]);
    std::fs::write(room.path("kept"), kept).expect("written");
    let proof = room.ok(&["log", "prove", "--log", "log", "2.json"]);
    std::fs::write(room.path("proof"), proof).expect("written");
    room.ok(&[
        "log",
        "check",
        "--proof",
        "proof",
        "--identity",
        "operator.json",
        "2.json",
    ]);
    assert_eq!(
        room.refused(&[
            "log",
            "check",
            "--proof",
            "proof",
            "--identity",
            "operator.json",
            "1.json"
        ]),
        "signature_invalid"
    );
    let whole = std::fs::read(room.path("log")).expect("read");
    for at in (0..whole.len()).step_by(whole.len() / 12) {
        let mut changed = whole.clone();
        changed[at] = if changed[at] == b'A' { b'B' } else { b'A' };
        std::fs::write(room.path("log"), changed).expect("written");
        room.refused(&verify);
    }
    let lines: Vec<&[u8]> = whole.split_inclusive(|b| *b == b'\n').collect();
    for missing in 0..lines.len() - 1 {
        let rest: Vec<&[u8]> = lines
            .iter()
            .enumerate()
            .filter(|(i, _)| *i != missing)
            .map(|(_, l)| *l)
            .collect();
        std::fs::write(room.path("log"), rest.concat()).expect("written");
        // Without the first checkpoint everything is still covered by the second.
        if missing != 2 {
            room.refused(&verify);
        }
    }
    std::fs::write(room.path("log"), short).expect("written");
    room.ok(&verify);
    assert_eq!(
        room.refused(&[&verify[..], &["--checkpoint", "kept"]].concat()),
        "log_truncated"
    );
}

#[test]
fn a_line_of_descent_is_recorded_and_verified() {
    let room = Room::new();
    for name in ["parent", "child", "other"] {
        room.agent(name);
    }
    room.ok(&[
        "lineage",
        "birth",
        "--identity",
        "parent.aid",
        "--child",
        "child.aid",
        "--capability",
        "read:files/*",
        "--out",
        "birth.json",
    ]);
    let answer = room.json(&[
        "lineage",
        "verify",
        "--document",
        "child.json",
        "birth.json",
    ]);
    assert_eq!(answer["agents"].as_array().map(Vec::len), Some(2));
    assert_eq!(
        room.refused(&[
            "lineage",
            "verify",
            "--document",
            "other.json",
            "birth.json"
        ]),
        "document_missing"
    );
    // Ending the parent ends the child, whoever is its own; the word of an unrelated identity ends
    // nobody.
    let ids = ["parent", "other"].map(|name| {
        let shown = room.json(&["show", &format!("{name}.aid")]);
        shown["id"].as_str().expect("an id").to_owned()
    });
    for (name, by, agent) in [
        ("ended.json", "parent.aid", &ids[0]),
        ("unrelated.json", "other.aid", &ids[0]),
    ] {
        room.ok(&[
            "revoke",
            "--identity",
            by,
            "--agent",
            agent,
            "--reason",
            "over",
            "--out",
            name,
        ]);
    }
    let line = [
        "lineage",
        "verify",
        "--document",
        "child.json",
        "birth.json",
        "--revocation",
    ];
    assert_eq!(
        room.refused(&[&line[..], &["ended.json"]].concat()),
        "agent_revoked"
    );
    room.ok(&[&line[..], &["unrelated.json"]].concat());
    room.edit("birth.json", "bad.json", |b| {
        b["authority"] = serde_json::json!(["*:*"])
    });
    assert_eq!(
        room.refused(&["lineage", "verify", "--document", "child.json", "bad.json"]),
        "derived_mismatch"
    );
    // The chain checker holds the child to it.
    room.grant("other", "child", "read:*", "grant.json", &[]);
    let verify = |capability| {
        [
            "chain",
            "verify",
            "--root",
            "other.json",
            "--document",
            "child.json",
            "--capability",
            capability,
            "grant.json",
            "birth.json",
        ]
    };
    room.ok(&verify("read:files/a"));
    assert_eq!(room.refused(&verify("read:secrets")), "authority_widened");
}

#[test]
fn a_compromised_key_counts_for_what_a_kept_log_had_taken_in_before() {
    let room = Room::new();
    for name in ["alice", "bob", "operator", "mallory"] {
        room.agent(name);
    }
    std::fs::write(room.path("text"), "content").expect("written");
    room.grant("alice", "bob", "read:a", "grant.json", &[]);
    room.grant("alice", "bob", "read:a", "unlogged.json", &[]);
    let sign = [
        "receipt",
        "sign",
        "--identity",
        "alice.aid",
        "--action",
        "a",
        "--content",
        "text",
        "--out",
        "receipt.json",
    ];
    room.ok(&sign);
    for keeper in ["operator", "mallory"] {
        let (log, identity) = (format!("{keeper}.log"), format!("{keeper}.aid"));
        room.ok(&[
            "log",
            "append",
            "--log",
            &log,
            "--identity",
            &identity,
            "grant.json",
            "receipt.json",
        ]);
    }
    let logged = room.json(&[
        "log",
        "verify",
        "--log",
        "operator.log",
        "--identity",
        "operator.json",
    ]);
    assert_eq!(logged["size"], 2);
    // A log's time is in seconds, and "before" is a second at least: the clock's next one.
    let second = || {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        now.expect("after 1970").as_secs()
    };
    let logged_at = second();
    while second() == logged_at {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    room.ok(&["rotate", "alice.aid", "--reason", "stolen", "--compromised"]);
    room.document("alice");
    let verify = [
        "chain",
        "verify",
        "--root",
        "alice.json",
        "--capability",
        "read:a",
    ];
    let with = |more: &[&'static str], file: &'static str| [&verify[..], more, &[file]].concat();
    let anchored = [
        "--anchor-log",
        "operator.log",
        "--anchor-keeper",
        "operator.json",
    ];
    assert_eq!(room.refused(&with(&[], "grant.json")), "key_compromised");
    room.ok(&with(&anchored, "grant.json"));
    assert_eq!(
        room.refused(&with(&anchored, "unlogged.json")),
        "key_compromised"
    );
    // A log counts for nothing unless its keeper was named; a changed one is no log.
    let others = [
        "--anchor-log",
        "mallory.log",
        "--anchor-keeper",
        "operator.json",
    ];
    assert_eq!(room.refused(&with(&others, "grant.json")), "wrong_signer");
    let unnamed = with(&["--anchor-log", "operator.log"], "grant.json");
    assert_eq!(room.run(&unnamed).status.code(), Some(2));
    let receipt = ["receipt", "verify", "--identity", "alice.json"];
    assert_eq!(
        room.refused(&[&receipt[..], &["receipt.json"]].concat()),
        "key_compromised"
    );
    room.ok(&[&receipt[..], &anchored, &["receipt.json"]].concat());
    let log = std::fs::read_to_string(room.path("operator.log")).expect("read");
    std::fs::write(
        room.path("operator.log"),
        log.replacen("{\"grant\"", "{\"receipt\"", 1),
    )
    .expect("written");
    assert_eq!(room.refused(&with(&anchored, "grant.json")), "wrong_type");
}

#[test]
fn nonsense_is_answered_and_never_panicked_at() {
    let room = Room::new();
    room.agent("alice");
    std::fs::write(room.path("empty"), "").expect("written");
    std::fs::write(room.path("noise"), [0xff; 100]).expect("written");
    std::fs::write(room.path("deep"), "[".repeat(100_000)).expect("written");
    std::fs::write(room.path("json"), "{\"type\":\"grant\",\"signatures\":[]}").expect("written");
    for bad in ["empty", "noise", "deep", "json", "alice.json"] {
        let commands: [&[&str]; 8] = [
            &[
                "chain",
                "verify",
                "--root",
                "alice.json",
                "--capability",
                "read:a",
                bad,
            ],
            &[
                "explain",
                "--root",
                "alice.json",
                "--capability",
                "read:a",
                bad,
            ],
            &["receipt", "verify", bad],
            &["lineage", "verify", bad],
            &["log", "verify", "--log", bad, "--identity", "alice.json"],
            &[
                "log",
                "check",
                "--proof",
                bad,
                "--identity",
                "alice.json",
                "alice.json",
            ],
            &[
                "chain",
                "verify",
                "--root",
                "alice.json",
                "--capability",
                "read:a",
                "--declaration",
                bad,
                "alice.json",
            ],
            &[
                "chain",
                "verify",
                "--root",
                "alice.json",
                "--capability",
                "read:a",
                "--revocation",
                bad,
                "alice.json",
            ],
        ];
        for command in commands {
            let output = room.run(command);
            let error = String::from_utf8_lossy(&output.stderr);
            assert!(
                matches!(output.status.code(), Some(1 | 2)),
                "{command:?}: {error}"
            );
            assert!(
                !error.is_empty() && !error.contains("panicked"),
                "{command:?}: {error}"
            );
        }
    }
    let missing = [
        "chain",
        "verify",
        "--root",
        "alice.json",
        "--capability",
        "read:a",
        "nowhere.json",
    ];
    assert_eq!(room.run(&missing).status.code(), Some(2));
}

#[test]
fn a_challenge_or_nonce_may_begin_with_a_hyphen() {
    let folder = tempfile::tempdir().unwrap();
    for said in [["--challenge", "-9bYQ"], ["--nonce", "-9bYQ"]] {
        let output = std::process::Command::new(crate::support::SIGNET)
            .current_dir(folder.path())
            .args(["agent", "prove", "--identity", "none.aid", "--grant"])
            .args(["none.grant", "--audience", "https://id.example"])
            .args(said)
            .output()
            .unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(!stderr.contains("unexpected argument"), "{stderr}");
    }
}
