//! People leave a server with everything that they log in with, and log in at another with it.

use crate::support::{Dev, Server, json, signet, text};
use serde_json::{Value, json};
use signet_crypto::mac::hmac_sha1;
use std::path::Path;
use std::process::Output;
use std::time::{Duration, Instant};

const PASSWORD: &str = "seventeen quiet otters";
const HASH_OF_A_GUEST: &str =
    "$pbkdf2-sha256$i=1000$c2FsdHNhbHRzYWx0c2E$aGFzaGhhc2hoYXNoaGFzaGhhc2hoYXNoaGFzaGhhc2g";
const APP: &[u8] = b"12345678901234567890";
const APP_BASE32: &str = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ";
/// The passkey of vectors/moving/keycloak.
const KEY: &str = "pQECAyYgASFYIK_voW-XypstI-uGzLZAmNINuQhWBi6yScM6m2cvJt9hIlggkwpWuHovymYzSwNFir-HlxfBLMaO1zKQry4mZHlrkiA";

fn of_dev(dev: &Dev, arguments: &[&str]) -> Output {
    let mut all = arguments.to_vec();
    all.extend(["--json", "--data-dir", dev.dir()]);
    signet(&all)
}

fn done(output: &Output) -> Value {
    assert_eq!(
        output.status.code(),
        Some(0),
        "{}{}",
        text(&output.stderr),
        text(&output.stdout)
    );
    json(output)
}

fn server(data: &Path) -> (Server, Dev) {
    std::fs::create_dir(data).unwrap();
    Server::dev(data)
}

/// The code of the present step (RFC 6238), or of one beside it.
fn code(beside: i64) -> String {
    let now = std::time::SystemTime::now();
    let now = now.duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    let step = (now / 30).strict_add_signed(beside);
    let tag = hmac_sha1(APP, &step.to_be_bytes());
    let at = usize::from(tag[19] & 15);
    let word = [tag[at] & 0x7f, tag[at + 1], tag[at + 2], tag[at + 3]];
    format!("{:06}", u32::from_be_bytes(word) % 1_000_000)
}

/// A command, as somebody with a password and perhaps a code.
fn by(dev: &Dev, name: &str, code: Option<&str>, arguments: &[&str]) -> Output {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_signet"));
    command
        .args(arguments)
        .args(["--json", "--login", name])
        .env_remove("SIGNET_ADMIN_TOKEN")
        .env("SIGNET_PASSWORD", PASSWORD)
        .env("SIGNET_SERVER", &dev.issuer)
        .env("SIGNET_CA_CERT", &dev.ca);
    if let Some(code) = code {
        command.env("SIGNET_TOTP", code);
    }
    command.output().unwrap()
}

/// Makes an administrator with an app and a passkey, one without, and who came with a hash.
fn people(dev: &Dev, dir: &Path) {
    for group in ["staff", "sales"] {
        done(&of_dev(dev, &["group", "add", group]));
    }
    let password = dir.join("password");
    std::fs::write(&password, PASSWORD).unwrap();
    let password = password.to_str().unwrap();
    let hash = signet_crypto::password::hash(
        PASSWORD.as_bytes(),
        signet_crypto::password::Cost::default(),
    );
    let lines = [
        json!({
            "username": "ann", "email": "ann@b.example", "email_verified": true, "admin": true,
            "password_hash": hash.unwrap(), "created_at": 1_700_000_000, "groups": ["sales", "staff"],
            "profile": { "name": "Ann Other", "given_name": "Ann", "family_name": "Other" },
            "totp": [{ "secret": APP_BASE32, "label": "phone", "created_at": 1_700_000_001 }],
            "passkeys": [{
                "rp_id": "localhost", "id": "g3W-tVAadGZFeHFPZlOAKGEviP7987MdZQf9q0YOTmU",
                "public_key": KEY, "sign_count": 3, "transports": ["internal"],
                "user_verified": true, "label": "laptop", "created_at": 1_700_000_002,
            }],
        }),
        json!({ "username": "guest", "password_hash": HASH_OF_A_GUEST, "must_change_password": true }),
    ];
    let file = dir.join("made.jsonl");
    let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
    std::fs::write(&file, lines.join("\n")).unwrap();
    let made = done(&of_dev(dev, &["user", "import", file.to_str().unwrap()]));
    assert_eq!(made["imported"], 2, "{made}");
    assert_eq!(made.get("left_out"), None, "{made}");
    done(&of_dev(
        dev,
        &[
            "user",
            "add",
            "plain",
            "--admin",
            "--password-file",
            password,
        ],
    ));
}

/// The accounts of an encrypted export, by name.
fn opened(file: &Path, identity: &signet_age::Identity) -> (Vec<u8>, Vec<Value>) {
    let bytes = signet_age::decrypt(&std::fs::read(file).unwrap(), identity).unwrap();
    let lines = bytes
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty());
    let lines: Vec<Value> = lines
        .map(|line| serde_json::from_slice(line).unwrap())
        .collect();
    let accounts = lines[1..lines.len() - 1].to_vec();
    (bytes, accounts)
}

fn named<'a>(accounts: &'a [Value], name: &str) -> &'a Value {
    accounts.iter().find(|one| one["username"] == name).unwrap()
}

#[test]
fn people_leave_encrypted_and_log_in_elsewhere_with_what_they_had() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let (_one, here) = server(&dir.path().join("here"));
    people(&here, dir.path());
    let (secret, recipient) = signet_age::Identity::generate().unwrap();
    let (key, passphrase, wrong) = (path("key.txt"), path("passphrase"), path("wrong"));
    std::fs::write(&key, secret.expose()).unwrap();
    std::fs::write(&passphrase, "a passphrase of four words\n").unwrap();
    std::fs::write(&wrong, "another one\n").unwrap();
    let moved = path("moved");
    let wanted = ["export", &*moved, "--people", "--with-credentials"];
    let with = |more: &[&'static str]| [&wanted[..], more].concat();

    // Nobody says to whom, and there is no terminal to ask at: nothing is asked of the server.
    let unsaid = by(&here, "ann", Some("000000"), &wanted);
    assert_eq!(unsaid.status.code(), Some(2));
    let why = json(&unsaid)["error_description"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(why.contains("--passphrase-file"), "{why}");

    // A client, and a person without a second factor, are refused, and nothing is written.
    let to_key = [&wanted[..], &["--recipient", &*recipient]].concat();
    for refused in [of_dev(&here, &to_key), by(&here, "plain", None, &to_key)] {
        assert_eq!(refused.status.code(), Some(1), "{}", text(&refused.stderr));
        assert_eq!(json(&refused)["error"], "insufficient_user_authentication");
    }
    assert!(!Path::new(&moved).exists());

    // Whoever shows two factors gets them, for a recipient and for a passphrase.
    let exported = done(&by(&here, "ann", Some(&code(0)), &to_key));
    assert_eq!(exported["people"]["file"], "people.jsonl.age", "{exported}");
    let file = dir.path().join("moved/people.jsonl.age");
    let identity = signet_age::Identity::parse(secret.expose()).unwrap();
    let (plain, accounts) = opened(&file, &identity);
    let bytes = std::fs::read(&file).unwrap();
    for part in [
        &b"argon2"[..],
        b"pbkdf2",
        APP_BASE32.as_bytes(),
        KEY.as_bytes(),
        b"ann@b.example",
    ] {
        let has = |bytes: &[u8]| bytes.windows(part.len()).any(|window| window == part);
        assert!(!has(&bytes) && has(&plain), "{}", text(part));
    }
    use std::os::unix::fs::PermissionsExt;
    let mode = std::fs::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o077, 0, "{mode:o}");
    let ann = named(&accounts, "ann");
    assert_eq!(ann["totp"][0]["secret"], APP_BASE32);
    assert_eq!(ann["passkeys"][0]["public_key"], KEY);
    assert_eq!(named(&accounts, "guest")["password_hash"], HASH_OF_A_GUEST);
    // The manual names every member.
    let manual = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/moving-out.md");
    let manual = std::fs::read_to_string(manual).unwrap();
    for member in accounts.iter().filter_map(Value::as_object).flatten() {
        assert!(
            manual.contains(&format!("| `{}` |", member.0)),
            "{}",
            member.0
        );
    }
    let said = text(&by(&here, "plain", None, &to_key).stderr);
    assert!(!said.contains("argon2"), "{said}");

    // The trail has the pages, and who was refused.
    // The store has a line at once; the log takes it from there.
    let missing = json!("insufficient_user_authentication");
    let (allowed, denied) = (json!("allowed"), json!("denied"));
    let plain = &named(&accounts, "plain")["id"];
    let until = Instant::now() + Duration::from_secs(10);
    loop {
        let tail = done(&of_dev(&here, &["audit", "tail", "--since", "10m"]));
        assert!(!tail.to_string().contains("argon2"));
        let pages = tail.as_array().unwrap().iter();
        let pages = pages.filter(|record| record["operation"] == "exportUsersWithCredentials");
        let pages: Vec<_> = pages
            .map(|record| (&record["subject"], &record["decision"], &record["error"]))
            .collect();
        let has = |record| pages.contains(&record);
        if has((&ann["id"], &allowed, &Value::Null)) && has((plain, &denied, &missing)) {
            break;
        }
        assert!(Instant::now() < until, "{pages:?}");
        std::thread::sleep(Duration::from_millis(50));
    }

    // Elsewhere: a wrong passphrase says so; what people name comes first; then people.
    std::fs::remove_file(&file).unwrap();
    let by_passphrase = [
        &with(&["--force", "--passphrase-file"])[..],
        &[&*passphrase],
    ]
    .concat();
    // The next step's code: this one is used up.
    done(&by(&here, "ann", Some(&code(1)), &by_passphrase));
    let (_other, there) = server(&dir.path().join("there"));
    let import =
        |opens: &str, file: &str| of_dev(&there, &["import", "signet", &*moved, opens, file]);
    for (opens, given, why) in [
        ("--passphrase-file", &*wrong, "the passphrase is wrong"),
        ("--identity", &*key, "encrypted to a passphrase"),
        ("--identity", &*passphrase, "recipients are age1"),
    ] {
        let refused = import(opens, given);
        assert_eq!(refused.status.code(), Some(1), "{}", text(&refused.stderr));
        let said = json(&refused);
        assert_eq!(said["error"], "invalid_export", "{said}");
        let said = said["error_description"].as_str().unwrap();
        assert!(said.contains(why), "{said}");
    }
    // What development mode made is there, with secrets of its own.
    let moved_files = Path::new(&moved);
    assert!(!moved_files.join("users.toml").exists());
    for own in ["clients.toml", "resources.toml"] {
        std::fs::remove_file(moved_files.join(own)).unwrap();
    }
    done(&of_dev(&there, &["apply", &*moved, "--yes"]));
    let arrived = import("--passphrase-file", &passphrase);
    // Those that development mode made are there already, with other ids.
    assert_eq!(arrived.status.code(), Some(1), "{}", text(&arrived.stderr));
    let arrived = json(&arrived)["people"].clone();
    assert_eq!(arrived["imported"], 3, "{arrived}");
    assert_eq!(arrived["left_out"], json!([]), "{arrived}");
    let refused = arrived["refused"].as_array().unwrap().iter();
    let mut refused: Vec<&str> = refused
        .map(|one| one["username"].as_str().unwrap())
        .collect();
    refused.sort_unstable();
    assert_eq!(refused, ["admin", "alice"]);

    // The old password, and the old app. A code of the step before the present one is still taken.
    assert_eq!(
        by(&there, "ann", Some("000000"), &["user", "list"])
            .status
            .code(),
        Some(1)
    );
    done(&by(&there, "ann", Some(&code(-1)), &["user", "list"]));
    let shown = done(&of_dev(&there, &["user", "show", "ann"]));
    assert_eq!(shown["id"], ann["id"]);
    assert_eq!(shown["groups"], json!(["sales", "staff"]));

    // Exported again from there, they are the same.
    let again = path("again");
    let arguments = [
        "export",
        &*again,
        "--people",
        "--with-credentials",
        "--recipient",
        &*recipient,
    ];
    done(&by(&there, "ann", Some(&code(0)), &arguments));
    let (_, again) = opened(&dir.path().join("again/people.jsonl.age"), &identity);
    for name in ["ann", "guest", "plain"] {
        let without_times = |account: &Value| {
            let mut account = account.clone();
            account["updated_at"] = Value::Null;
            account
        };
        let (before, after) = (named(&accounts, name), named(&again, name));
        assert_eq!(without_times(after), without_times(before), "{name}");
    }

    // For Keycloak, and back by the reader of Keycloak's files.
    let out = path("out");
    let arguments = [
        "export",
        &*out,
        "--people",
        "--with-credentials",
        "--form",
        "keycloak",
        "--recipient",
        &*recipient,
    ];
    done(&by(&there, "ann", Some(&code(1)), &arguments));
    let file = path("out/keycloak.json.age");
    let read = signet(&[
        "import",
        "keycloak",
        &*file,
        "--identity",
        &*key,
        "--dry-run",
        "--json",
    ]);
    let found = done(&read)["found"].clone();
    assert_eq!(
        (&found["with_totp"], &found["with_passkey"]),
        (&json!(1), &json!(1)),
        "{found}"
    );
    assert_eq!(found["with_password"], found["people"], "{found}");
}

#[test]
fn people_without_credentials_leave_for_who_may_read_and_nothing_secret_with_them() {
    let dir = tempfile::tempdir().unwrap();
    let (_server, dev) = server(&dir.path().join("data"));
    people(&dev, dir.path());
    let moved = dir.path().join("moved");
    let exported = done(&of_dev(
        &dev,
        &["export", moved.to_str().unwrap(), "--people"],
    ));
    assert_eq!(exported["people"]["file"], "people.jsonl", "{exported}");
    let file = std::fs::read_to_string(moved.join("people.jsonl")).unwrap();
    assert!(file.contains("ann@b.example") && file.contains("sales"));
    for secret in ["password_hash", "totp", "passkeys", APP_BASE32, "$argon2"] {
        assert!(!file.contains(secret), "{secret}");
    }
    let read = signet(&[
        "import",
        "signet",
        moved.to_str().unwrap(),
        "--dry-run",
        "--json",
    ]);
    assert_eq!(done(&read)["found"]["with_password"], 0);
}
