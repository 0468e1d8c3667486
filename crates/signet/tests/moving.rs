//! What other servers export (vectors/moving) moves in, and its people log in with what they had.

use crate::support::{Dev, Server, body, json, signet, text};
use serde_json::{Value, json};
use signet_crypto::mac::hmac_sha1;
use std::process::Output;

const VECTORS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors/moving");
const EXPORT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors/moving/keycloak");
/// `TOTP` of scripts/moving-vectors.py, which is that of RFC 6238's appendix B.
const USUAL_SECRET: &[u8] = b"12345678901234567890";
/// `password(5)` and `app(5)` of scripts/keycloak-export.py: SHA-1, eight digits, 30 seconds.
const PASSWORD: &str = "Acme-spyr5btys4zy";
const SECRET: &[u8] = b"DJNYGPC23PJNFMGSDW2R";

fn of_dev(dev: &Dev, arguments: &[&str]) -> Output {
    let mut all = arguments.to_vec();
    all.extend(["--json", "--data-dir", dev.dir()]);
    signet(&all)
}

/// The code of a step (RFC 4226 section 5.3), of so many digits.
fn code(secret: &[u8], step: u64, digits: usize) -> String {
    let tag = hmac_sha1(secret, &step.to_be_bytes());
    let at = usize::from(tag[19] & 15);
    let word = [tag[at] & 0x7f, tag[at + 1], tag[at + 2], tag[at + 3]];
    let all = format!("{:010}", u32::from_be_bytes(word));
    all[10 - digits..].to_owned()
}

/// The step of thirty seconds that it is now.
fn step() -> u64 {
    let now = std::time::SystemTime::now();
    now.duration_since(std::time::UNIX_EPOCH).unwrap().as_secs() / 30
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
    let code = code(SECRET, step(), 8);
    for (password, code, exit) in [
        (PASSWORD, "00000000", 1),
        ("another password", &*code, 1),
        (PASSWORD, &*code, 0),
        // The same code again.
        (PASSWORD, &*code, 1),
    ] {
        let listed = lists_users(&dev, "person00005", password, code);
        assert_eq!(listed.status.code(), Some(exit), "{}", text(&listed.stderr));
    }
}

/// Imports what lies with the vectors, dry and then into a server in development mode; the second
/// time everything is there.
fn moves_in(source: &str, more: &[&str], dir: &std::path::Path) -> (Server, Dev, Value) {
    let export = format!("{VECTORS}/{source}");
    let mut arguments = vec!["import", source, &export];
    arguments.extend(more);
    let mut dry = arguments.clone();
    dry.extend(["--dry-run", "--json"]);
    let dry = signet(&dry);
    assert_eq!(dry.status.code(), Some(0), "{}", text(&dry.stderr));
    let (server, dev) = Server::dev(dir);
    let done = of_dev(&dev, &arguments);
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
    let said = json(&done);
    let found = &json(&dry)["found"];
    assert_eq!(said["people"]["imported"], found["people"], "{said}");
    assert_eq!(said["report"], json(&dry)["report"]);
    for kind in ["groups", "roles", "clients", "providers", "attributes"] {
        assert_eq!(said[kind]["made"], found[kind], "{kind}");
    }
    let everything = text(&done.stdout) + &text(&done.stderr);
    for secret in [
        "the-secret-of",
        "pbkdf2",
        "$argon2",
        "$2b$",
        "GEZDGNBVGY3TQOJQ",
    ] {
        assert!(!everything.contains(secret), "{secret}");
    }
    let again = json(&of_dev(&dev, &arguments));
    assert_eq!(again["people"]["existing"], found["people"], "{again}");
    assert_eq!(again["clients"]["made"], 0);
    (server, dev, said)
}

/// The person logs in with the old password and the app's code, and with nothing less. They are
/// made an administrator, so that a command can log in as them.
fn logs_in(dev: &Dev, username: &str, name: &str, digits: usize) {
    let set = of_dev(dev, &["user", "set", username, "admin=true"]);
    assert_eq!(set.status.code(), Some(0), "{}", text(&set.stderr));
    let password = format!("old-password-of-{name}");
    let code = code(USUAL_SECRET, step(), digits);
    let wrong = "0".repeat(digits);
    for (password, code, exit) in [
        (&*password, &*wrong, 1),
        ("another password", &*code, 1),
        (&*password, &*code, 0),
        (&*password, &*code, 1),
    ] {
        let listed = lists_users(dev, username, password, code);
        assert_eq!(listed.status.code(), Some(exit), "{}", text(&listed.stderr));
    }
}

#[test]
fn authentik_moves_in_and_its_people_log_in_with_what_they_had() {
    let dir = tempfile::tempdir().unwrap();
    let (_server, dev, said) = moves_in("authentik", &[], dir.path());
    assert_eq!(said["people"]["left_out"], json!([]), "{said}");
    let ada = json(&of_dev(&dev, &["user", "show", "ada"]));
    assert_eq!(ada["groups"], json!(["europe", "staff"]));
    assert_eq!(ada["attributes"]["teams"], json!(["red", "blue"]));
    logs_in(&dev, "ada", "ada", 8);
}

#[test]
fn zitadel_moves_in_and_its_people_log_in_with_what_they_had() {
    let dir = tempfile::tempdir().unwrap();
    let (_server, dev, said) = moves_in("zitadel", &[], dir.path());
    assert_eq!(said["people"]["left_out"], json!([]), "{said}");
    assert_eq!(
        said["clients_without_secret"],
        json!(["401@shop", "403@shop"])
    );
    let ada = json(&of_dev(&dev, &["user", "show", "ada"]));
    assert_eq!(ada["roles"], json!(["Shop: admin", "clerk"]));
    logs_in(&dev, "ada", "ada", 6);
}

#[test]
fn auth0_moves_in_and_its_people_and_clients_log_in_with_what_they_had() {
    let dir = tempfile::tempdir().unwrap();
    let (_server, dev, said) = moves_in("auth0", &[], dir.path());
    assert_eq!(said["people"]["left_out"], json!([]), "{said}");
    logs_in(&dev, "cleo@acme.example", "cleo", 6);
    let secret = "the-secret-of-machine-which-is-long-enough";
    for (secret, status) in [(secret, 200), ("another-secret-which-is-long-enough", 401)] {
        let fields = [
            ("grant_type", "client_credentials"),
            ("client_id", "machine"),
            ("client_secret", secret),
        ];
        assert_eq!(post(&dev, &fields).0, status);
    }
}

#[test]
fn pocket_id_moves_in_with_passkeys_of_this_host_and_hashed_secrets() {
    let dir = tempfile::tempdir().unwrap();
    let (_server, dev, said) = moves_in("pocket-id", &["--rp-id", "localhost"], dir.path());
    assert_eq!(said["people"]["left_out"], json!([]), "{said}");
    let credentials = json(&of_dev(&dev, &["user", "credentials", "ada"]));
    assert!(credentials.to_string().contains("passkey"), "{credentials}");
    // A client whose secret nobody has shown goes on with it: the code is wrong, it is not.
    let shop = "3654a746-35d4-4321-ac61-0bdcff2b4001";
    let secret = "the-secret-of-shop-which-is-long-enough";
    for (secret, error) in [
        (secret, "invalid_grant"),
        ("another-secret-which-is-long-enough", "invalid_client"),
    ] {
        let fields = [
            ("grant_type", "authorization_code"),
            ("code", "none"),
            (
                "code_verifier",
                "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz",
            ),
            ("redirect_uri", "https://shop.acme.example/cb"),
            ("client_id", shop),
            ("client_secret", secret),
        ];
        assert_eq!(post(&dev, &fields).1["error"], error);
    }
    // Passkeys of another host are left out, and their person comes without them.
    let dir = tempfile::tempdir().unwrap();
    let (_server, _dev, said) = moves_in("pocket-id", &["--rp-id", "id.acme.example"], dir.path());
    assert_eq!(said["people"]["left_out"][0]["username"], "ada", "{said}");
}

/// What the token endpoint answers: the status, and the document.
fn post(dev: &Dev, fields: &[(&str, &str)]) -> (u16, Value) {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_all().build().unwrap();
    let answer = runtime.block_on(dev.post("/token", None, fields));
    (answer.status.as_u16(), body(&answer))
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
