//! A realm of a real Keycloak (vectors/moving/keycloak) moves in, and its people log in.

use crate::support::{Dev, Server, json, signet, text};
use serde_json::json;
use signet_crypto::mac::hmac_sha1;
use std::process::Output;

const EXPORT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors/moving/keycloak");
/// `password(5)` and `app(5)` of scripts/keycloak-export.py: SHA-1, eight digits, 30 seconds.
const PASSWORD: &str = "Acme-spyr5btys4zy";
const SECRET: &[u8] = b"DJNYGPC23PJNFMGSDW2R";

fn of_dev(dev: &Dev, arguments: &[&str]) -> Output {
    let mut all = arguments.to_vec();
    all.extend(["--json", "--data-dir", dev.dir()]);
    signet(&all)
}

/// The code of a step (RFC 4226 section 5.3), of eight digits.
fn code(step: u64) -> String {
    let tag = hmac_sha1(SECRET, &step.to_be_bytes());
    let at = usize::from(tag[19] & 15);
    let word = [tag[at] & 0x7f, tag[at + 1], tag[at + 2], tag[at + 3]];
    format!("{:08}", u32::from_be_bytes(word) % 100_000_000)
}

/// Lists users, as an administrator with a password and a code.
fn lists_users(dev: &Dev, name: &str, password: &str, code: &str) -> Output {
    std::process::Command::new(env!("CARGO_BIN_EXE_signet"))
        .args(["user", "list", "--json", "--login", name])
        .env_remove("SIGNET_ADMIN_TOKEN")
        .env("SIGNET_PASSWORD", password)
        .env("SIGNET_TOTP", code)
        .env("SIGNET_SERVER", &dev.issuer)
        .env("SIGNET_CA_CERT", &dev.ca)
        .output()
        .unwrap()
}

#[test]
fn a_realm_of_keycloak_moves_in_and_its_people_log_in_with_what_they_had() {
    let dir = tempfile::tempdir().unwrap();
    let dry = signet(&["import", "keycloak", EXPORT, "--dry-run", "--json"]);
    assert_eq!(dry.status.code(), Some(0), "{}", text(&dry.stderr));
    assert_eq!(json(&dry)["found"]["people"], 12);
    let (_server, dev) = Server::dev(dir.path());
    let done = of_dev(&dev, &["import", "keycloak", EXPORT]);
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
    let said = json(&done);
    assert_eq!(said["people"]["imported"], 12, "{said}");
    assert_eq!(said["people"]["left_out"], json!([]), "{said}");
    assert_eq!(said["report"], json(&dry)["report"]);
    for (kind, number) in [
        ("groups", 4),
        ("roles", 4),
        ("clients", 2),
        ("providers", 1),
    ] {
        assert_eq!(said[kind]["made"], number, "{kind}");
    }
    let everything = text(&done.stdout) + &text(&done.stderr);
    for secret in ["the-secret-", "pbkdf2-sha512$", "argon2id$"] {
        assert!(!everything.contains(secret), "{secret}");
    }
    // Again: nothing is made, nothing is changed.
    let before = json(&of_dev(&dev, &["user", "show", "person00005"]));
    let again = json(&of_dev(&dev, &["import", "keycloak", EXPORT]));
    assert_eq!(again["people"]["existing"], 12, "{again}");
    assert_eq!(again["clients"], json!({ "made": 0, "existing": 2 }));
    let after = json(&of_dev(&dev, &["user", "show", "person00005"]));
    assert_eq!(after, before);
    assert_eq!(before["attributes"]["cost_centre"], "CC-5");
    assert_eq!(before["groups"], json!(["sales"]));
    assert_eq!(before["created_at"], 1_700_000_005);
    // What an administrator may is not brought: it is given here.
    let set = of_dev(&dev, &["user", "set", "person00005", "admin=true"]);
    assert_eq!(set.status.code(), Some(0), "{}", text(&set.stderr));
    let now = std::time::SystemTime::now();
    let now = now.duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    for (password, code, exit) in [
        (PASSWORD, "00000000", 1),
        ("another password", &*code(now / 30), 1),
        (PASSWORD, &*code(now / 30), 0),
        // The same code again.
        (PASSWORD, &*code(now / 30), 1),
    ] {
        let listed = lists_users(&dev, "person00005", password, code);
        assert_eq!(listed.status.code(), Some(exit), "{}", text(&listed.stderr));
    }
}

#[test]
fn a_file_that_is_no_export_is_refused_before_anything_is_done() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("x.json");
    std::fs::write(
        &file,
        r#"{"realm":"r","roles":{},"users":[{"username":7}]}"#,
    )
    .unwrap();
    // There is no server: none is asked.
    let refused = signet(&["import", "keycloak", file.to_str().unwrap(), "--json"]);
    assert_eq!(refused.status.code(), Some(1));
    let said = json(&refused);
    assert_eq!(said["error"], "invalid_export");
    let why = said["error_description"].as_str().unwrap();
    assert!(
        why.contains("users[0].username: expected a string"),
        "{why}"
    );
}
