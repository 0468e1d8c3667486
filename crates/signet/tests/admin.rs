//! The administration commands against a running server, and the first administrator without one.

use crate::support::{Browser, Server, body, json, signet, signet_with, text};

/// Runs a command against the server; its JSON. It must succeed.
fn done(dev: &crate::support::Dev, arguments: &[&str]) -> serde_json::Value {
    let mut all = arguments.to_vec();
    all.extend(["--json", "--data-dir", dev.dir()]);
    let output = signet(&all);
    assert_eq!(
        output.status.code(),
        Some(0),
        "{arguments:?}: {}",
        text(&output.stderr)
    );
    json(&output)
}

#[test]
fn the_first_administrator_is_made_without_a_server_and_a_default_password() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let data = data.to_str().unwrap();
    let add = [
        "user",
        "add",
        "root",
        "--admin",
        "--password-stdin",
        "--data-dir",
        data,
        "--json",
    ];
    let made = signet_with(&add, "a long enough passphrase\n");
    assert_eq!(made.status.code(), Some(0), "{}", text(&made.stderr));
    assert_eq!(json(&made)["admin"], true);
    // The name is taken; a password that anybody guesses is refused; none at all is wrong usage.
    assert_eq!(
        signet_with(&add, "another long passphrase\n").status.code(),
        Some(1)
    );
    let weak = [
        "user",
        "add",
        "other",
        "--password-stdin",
        "--data-dir",
        data,
    ];
    assert_eq!(signet_with(&weak, "short\n").status.code(), Some(1));
    assert_eq!(signet_with(&weak, "").status.code(), Some(2));
    // The password is nowhere in clear.
    for entry in std::fs::read_dir(data).unwrap() {
        let bytes = std::fs::read(entry.unwrap().path()).unwrap();
        assert!(!bytes.windows(11).any(|w| w == b"long enough"));
    }
}

#[tokio::test]
async fn clients_are_administered_and_secrets_shown_once() {
    let dir = tempfile::tempdir().unwrap();
    let (server, dev) = Server::dev(dir.path());
    let made = done(
        &dev,
        &[
            "client",
            "add",
            "--client-id",
            "app",
            "--name",
            "App",
            "--grant-type",
            "client_credentials",
            "--scope",
            "openid",
        ],
    );
    let secret = made["client_secret"].as_str().unwrap().to_owned();
    let shown = done(&dev, &["client", "show", "app"]);
    assert_eq!(shown["client_name"], "App");
    assert!(!shown.to_string().contains(&secret));
    let changed = done(&dev, &["client", "set", "app", "access_token_lifetime=120"]);
    assert_eq!(changed["access_token_lifetime"], 120);
    let token = async |secret: &str| {
        let fields = [
            ("grant_type", "client_credentials"),
            ("client_id", "app"),
            ("client_secret", secret),
        ];
        dev.post("/token", None, &fields).await.status.as_u16()
    };
    assert_eq!(
        done(
            &dev,
            &[
                "client",
                "set",
                "app",
                "token_endpoint_auth_method=client_secret_post"
            ]
        )["revision"],
        3
    );
    assert_eq!(token(&secret).await, 200);
    // The format of its access tokens is a member like any other; so is a resource's.
    done(
        &dev,
        &["client", "set", "app", "access_token_format=compact"],
    );
    let fields = [
        ("grant_type", "client_credentials"),
        ("client_id", "app"),
        ("client_secret", secret.as_str()),
    ];
    let issued = body(&dev.post("/token", None, &fields).await);
    assert!(!issued["access_token"].as_str().unwrap().contains('.'));
    let resource = "https://compact.example";
    let format = "access_token_format=compact";
    done(&dev, &["resource", "add", resource, format]);
    let shown = done(&dev, &["resource", "show", resource]);
    assert_eq!(shown["access_token_format"], "compact");
    let kinds = done(&dev, &["key", "list"]).to_string();
    assert!(kinds.contains("compact-ed25519"));
    let next = done(&dev, &["client", "secret", "app"]);
    let next = next["client_secret"].as_str().unwrap();
    assert_eq!((token(&secret).await, token(next).await), (401, 200));
    let listed = done(&dev, &["client", "list"]);
    assert!(
        listed
            .as_array()
            .unwrap()
            .iter()
            .any(|c| c["client_id"] == "app")
    );
    let table = signet(&["client", "list", "--data-dir", dev.dir()]);
    assert!(text(&table.stdout).starts_with("CLIENT_ID"));
    assert_eq!(done(&dev, &["client", "remove", "app"])["removed"], "app");
    assert_eq!(token(next).await, 401);
    let gone = signet(&["client", "show", "app", "--json", "--data-dir", dev.dir()]);
    assert_eq!(gone.status.code(), Some(1));
    assert_eq!(json(&gone)["error"], "not_found");
    assert!(!server.log().contains(&secret), "a secret in the log");
}

#[tokio::test]
async fn users_sessions_and_grants_are_administered() {
    let dir = tempfile::tempdir().unwrap();
    let (_server, dev) = Server::dev(dir.path());
    let add = [
        "user",
        "add",
        "bob",
        "--email",
        "bob@example.test",
        "--password-stdin",
        "--data-dir",
        dev.dir(),
    ];
    assert_eq!(
        signet_with(&add, "correct horse battery\n").status.code(),
        Some(0)
    );
    let bob = done(
        &dev,
        &[
            "user",
            "set",
            "bob",
            "nickname=Bobby",
            "email=bobby@example.test",
        ],
    );
    assert_eq!(
        (&bob["email"], &bob["profile"]["nickname"]),
        (&"bobby@example.test".into(), &"Bobby".into())
    );
    assert_eq!(
        done(&dev, &["user", "show", "bobby@example.test"])["username"],
        "bob"
    );

    // Alice logs in; her session and grant are seen, and ended.
    let code = Browser::new(&dev)
        .code("native", "openid offline_access")
        .await;
    let tokens = dev
        .post(
            "/token",
            None,
            &[
                ("grant_type", "authorization_code"),
                ("client_id", "native"),
                ("redirect_uri", crate::support::REDIRECT),
                ("code", &code),
                ("code_verifier", crate::support::VERIFIER),
            ],
        )
        .await;
    let tokens = body(&tokens);
    let grants = done(&dev, &["grant", "list", "--user", "alice"]);
    let grant = grants[0]["grant_id"]
        .as_str()
        .unwrap_or_else(|| panic!("{grants}"));
    done(&dev, &["grant", "remove", grant]);
    let refresh = [
        ("grant_type", "refresh_token"),
        ("client_id", "native"),
        ("refresh_token", tokens["refresh_token"].as_str().unwrap()),
    ];
    assert_eq!(
        body(&dev.post("/token", None, &refresh).await)["error"],
        "invalid_grant"
    );
    done(&dev, &["client", "revoke", "native"]);
    let sessions = done(&dev, &["session", "list", "--user", "alice"]);
    let sid = sessions[0]["sid"].as_str().unwrap();
    done(&dev, &["session", "remove", sid, "--user", "alice"]);
    assert_eq!(
        done(&dev, &["session", "list", "--user", "alice"]),
        serde_json::json!([])
    );
    // The commands' own logins leave nothing behind.
    let left = done(&dev, &["session", "list", "--user", "admin"]);
    assert_eq!(
        left.as_array().unwrap().len(),
        1,
        "this command's own: {left}"
    );

    done(&dev, &["user", "revoke", "bob"]);
    done(&dev, &["user", "remove", "bob"]);
    let gone = signet(&["user", "show", "bob", "--data-dir", dev.dir()]);
    assert_eq!(gone.status.code(), Some(1));
}

#[tokio::test]
async fn keys_scopes_and_resources_are_administered() {
    let dir = tempfile::tempdir().unwrap();
    let (_server, dev) = Server::dev(dir.path());
    let keys = done(&dev, &["key", "list"]);
    let active = |alg: &str| {
        keys.as_array()
            .unwrap()
            .iter()
            .any(|k| k["alg"] == alg && k["phase"] == "active")
    };
    for alg in ["ES256", "RS256", "PS256", "EdDSA", "ML-DSA-65"] {
        assert!(active(alg), "{alg}");
    }
    done(&dev, &["key", "rotate", "--alg", "ES256"]);
    let bad = signet(&["key", "rotate", "--alg", "ES257", "--data-dir", dev.dir()]);
    assert_eq!(bad.status.code(), Some(1));
    assert_eq!(
        done(&dev, &["key", "rotate", "--sealing"])["sealing_keys"],
        2
    );
    done(&dev, &["scope", "add", "orders:read", "See orders"]);
    done(
        &dev,
        &[
            "resource",
            "add",
            "https://api.example",
            "scope=orders:read",
        ],
    );
    let set = done(
        &dev,
        &["resource", "set", "https://api.example", "name=Orders"],
    );
    assert_eq!(
        (&set["name"], &set["scope"]),
        (&"Orders".into(), &"orders:read".into())
    );
    done(&dev, &["resource", "remove", "https://api.example"]);
    done(&dev, &["scope", "remove", "orders:read"]);
}

#[tokio::test]
async fn only_an_administrator_administers() {
    let dir = tempfile::tempdir().unwrap();
    let (_server, dev) = Server::dev(dir.path());
    let user = &dev.json["user"];
    let run = |name: &str, password: &str, token: Option<&str>| {
        let mut command = std::process::Command::new(crate::support::SIGNET);
        command
            .args([
                "client",
                "list",
                "--json",
                "--login",
                name,
                "--data-dir",
                dev.dir(),
            ])
            .env("SIGNET_PASSWORD", password)
            .env_remove("SIGNET_ADMIN_TOKEN");
        if let Some(token) = token {
            command.env("SIGNET_ADMIN_TOKEN", token);
        }
        command.output().unwrap()
    };
    let alice = run("alice", user["password"].as_str().unwrap(), None);
    assert_eq!(alice.status.code(), Some(1), "{}", text(&alice.stdout));
    let wrong = run("admin", "not the password", None);
    assert_eq!(wrong.status.code(), Some(1));
    assert_eq!(json(&wrong)["error"], "access_denied");
    let service = run("admin", "", Some(&dev.service_token().await));
    assert_eq!(service.status.code(), Some(1));
    let unreachable = signet(&[
        "client",
        "list",
        "--server",
        "https://localhost:1",
        "--login",
        "x",
    ]);
    assert_eq!(unreachable.status.code(), Some(2));
}
