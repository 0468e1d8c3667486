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
    assert_eq!(
        done(&dev, &["client", "remove", "app", "--yes"])["removed"],
        "app"
    );
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
    done(&dev, &["grant", "remove", grant, "--yes"]);
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
    done(
        &dev,
        &["session", "remove", sid, "--user", "alice", "--yes"],
    );
    assert_eq!(
        done(&dev, &["session", "list", "--user", "alice"]),
        serde_json::json!([])
    );
    // The commands begin no sessions.
    let left = done(&dev, &["session", "list", "--user", "admin"]);
    assert_eq!(left, serde_json::json!([]));

    done(&dev, &["user", "revoke", "bob"]);
    done(&dev, &["user", "remove", "bob", "--yes"]);
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
    let add = ["scope", "add", "orders:read", "See orders"];
    let added = done(
        &dev,
        &[&add[..], &["--in", "de=Bestellungen sehen"]].concat(),
    );
    assert_eq!(added["descriptions"]["de"], "Bestellungen sehen");
    assert_eq!(done(&dev, &add)["descriptions"], added["descriptions"]);
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
    done(
        &dev,
        &["resource", "remove", "https://api.example", "--yes"],
    );
    done(&dev, &["scope", "remove", "orders:read", "--yes"]);
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

/// `signet user list --json` as somebody else than dev.json's client, with these variables.
fn users_as(
    dev: &crate::support::Dev,
    arguments: &[&str],
    variables: &[(&str, &str)],
) -> std::process::Command {
    let mut command = std::process::Command::new(crate::support::SIGNET);
    command
        .args(["user", "list", "--json"])
        .args(arguments)
        .env_remove("SIGNET_ADMIN_TOKEN")
        .env_remove("SIGNET_PASSWORD")
        .env_remove("SIGNET_TOTP")
        .env_remove("BROWSER")
        .env_remove("DISPLAY")
        .env_remove("WAYLAND_DISPLAY")
        .env("SIGNET_SERVER", &dev.issuer)
        .env("SIGNET_CA_CERT", &dev.ca)
        .envs(variables.iter().copied())
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped());
    command
}

#[tokio::test]
async fn a_password_alone_logs_an_administrator_in_and_nothing_reads_a_page() {
    let dir = tempfile::tempdir().unwrap();
    let (_server, dev) = Server::dev(dir.path());
    let password = dev.json["admin"]["password"].as_str().unwrap();
    let with = |name: &str, password: &str| {
        let variables = [("SIGNET_PASSWORD", password)];
        users_as(&dev, &["--login", name], &variables)
            .output()
            .unwrap()
    };
    let done = with("admin", password);
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
    assert_eq!(json(&with("admin", "wrong"))["error"], "access_denied");
    // A code that nobody asked for is sent, and not taken on trust.
    let variables = [("SIGNET_PASSWORD", password), ("SIGNET_TOTP", "000000")];
    let with_code = users_as(&dev, &["--login", "admin"], &variables);
    assert_eq!(
        json(&{ with_code }.output().unwrap())["error"],
        "access_denied"
    );
    let alice = dev.json["user"]["password"].as_str().unwrap();
    assert_eq!(json(&with("alice", alice))["error"], "insufficient_scope");
    // Nobody to ask, and nothing said: the ways that would do are named.
    let nobody = users_as(&dev, &[], &[]).output().unwrap();
    assert_eq!(nobody.status.code(), Some(2));
    let said = text(&nobody.stderr);
    for way in ["--login", "SIGNET_PASSWORD", "--credentials"] {
        assert!(said.contains(way), "{said}");
    }
    assert!(!said.contains("--password-stdin"), "{said}");
}

#[tokio::test]
async fn a_script_administers_with_a_clients_credentials() {
    let dir = tempfile::tempdir().unwrap();
    let (_server, dev) = Server::dev(dir.path());
    let client = &dev.json["admin_client"];
    let file = dir.path().join("credentials.json");
    std::fs::write(&file, client.to_string()).unwrap();
    let by_file = users_as(&dev, &["--credentials", file.to_str().unwrap()], &[]);
    let variables = [
        ("SIGNET_CLIENT_ID", client["client_id"].as_str().unwrap()),
        (
            "SIGNET_CLIENT_SECRET",
            client["client_secret"].as_str().unwrap(),
        ),
    ];
    let by_environment = users_as(&dev, &[], &variables);
    for mut command in [by_file, by_environment] {
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    }
    // The service may not administer, whatever it asks for.
    let (id, secret) = dev.credentials("service");
    let service = [
        ("SIGNET_CLIENT_ID", id.as_str()),
        ("SIGNET_CLIENT_SECRET", secret.as_str()),
    ];
    let refused = users_as(&dev, &[], &service).output().unwrap();
    assert_eq!(refused.status.code(), Some(1));
    // A file that is none repeats nothing of itself.
    std::fs::write(&file, "\"hunter2\"").unwrap();
    let bad = users_as(&dev, &["--credentials", file.to_str().unwrap()], &[])
        .output()
        .unwrap();
    assert_eq!(bad.status.code(), Some(2));
    assert!(!text(&bad.stderr).contains("hunter2"));
}

#[tokio::test]
async fn a_script_with_a_reading_clients_credentials_changes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let (_server, dev) = Server::dev(dir.path());
    let made = done(
        &dev,
        &[
            "client",
            "add",
            "--client-id",
            "auditor",
            "--grant-type",
            "client_credentials",
            "--scope",
            "signet:admin.read",
        ],
    );
    // What the command printed is the file.
    let file = dir.path().join("auditor.json");
    std::fs::write(&file, made.to_string()).unwrap();
    let by_file = ["--credentials", file.to_str().unwrap()];
    let variables = [
        ("SIGNET_CLIENT_ID", "auditor"),
        (
            "SIGNET_CLIENT_SECRET",
            made["client_secret"].as_str().unwrap(),
        ),
        ("SIGNET_CLIENT_SCOPE", "signet:admin.read"),
    ];
    for mut command in [
        users_as(&dev, &by_file, &[]),
        users_as(&dev, &[], &variables),
    ] {
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        assert_eq!(json(&output)[0]["username"], "admin");
    }
    let refused = std::process::Command::new(crate::support::SIGNET)
        .args(["user", "remove", "alice", "--yes", "--json"])
        .args(by_file)
        .env("SIGNET_SERVER", &dev.issuer)
        .env("SIGNET_CA_CERT", &dev.ca)
        .output()
        .unwrap();
    assert_eq!(refused.status.code(), Some(1), "{}", text(&refused.stdout));
    assert_eq!(json(&refused)["error"], "insufficient_scope");
    let alice = done(&dev, &["user", "show", "alice"]);
    assert_eq!(alice["username"], "alice");
    // The trail says who tried what.
    let tried = |lines: &serde_json::Value| {
        lines.as_array().unwrap().iter().any(|line| {
            line["subject"] == "auditor"
                && line["operation"] == "removeUser"
                && line["error"] == "insufficient_scope"
        })
    };
    let until = std::time::Instant::now() + std::time::Duration::from_secs(10);
    while !tried(&done(&dev, &["audit", "tail", "--action", "admin"])) {
        assert!(std::time::Instant::now() < until, "no record of it");
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
}

#[tokio::test]
async fn users_are_listed_by_name() {
    let dir = tempfile::tempdir().unwrap();
    let (_server, dev) = Server::dev(dir.path());
    for name in ["zoe", "bob", "mia", "ann"] {
        let address = format!("{name}@example.test");
        done(
            &dev,
            &[
                "user",
                "add",
                name,
                "--email",
                &address,
                "--without-password",
            ],
        );
    }
    let listed = done(&dev, &["user", "list"]);
    let names: Vec<&str> = listed
        .as_array()
        .unwrap()
        .iter()
        .map(|user| user["username"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["admin", "alice", "ann", "bob", "mia", "zoe"]);
}

#[tokio::test]
async fn the_command_lines_own_client_is_changed_and_disabled_and_never_lost() {
    let dir = tempfile::tempdir().unwrap();
    let (mut server, dev) = Server::dev(dir.path());
    let password = dev.json["admin"]["password"].as_str().unwrap().to_owned();
    let logs_in = || {
        let variables = [("SIGNET_PASSWORD", password.as_str())];
        let output = users_as(&dev, &["--login", "admin"], &variables)
            .output()
            .unwrap();
        output.status.code() == Some(0)
    };
    assert!(logs_in());
    let remove = || {
        let arguments = [
            "client",
            "remove",
            "signet-cli",
            "--yes",
            "--json",
            "--data-dir",
        ];
        let output = signet(&[&arguments[..], &[dev.dir()]].concat());
        (output.status.code(), json(&output)["error"].clone())
    };
    assert_eq!(remove(), (Some(1), "built_in".into()));
    done(&dev, &["client", "set", "signet-cli", "enabled=false"]);
    assert!(!logs_in());
    // Disabled it stays.
    server.crash_and_restart(&dev).await;
    assert!(!logs_in());
    // Without the operator's record it is as every server has it.
    assert_eq!(remove().0, Some(0));
    assert!(logs_in());
    assert_eq!(remove(), (Some(1), "built_in".into()));
}

/// Runs the command, and gives what it says until a line has this in it.
fn until_said(command: &mut std::process::Command, wanted: &str) -> (std::process::Child, String) {
    use std::io::BufRead;
    let mut child = command.spawn().unwrap();
    let said = std::io::BufReader::new(child.stderr.take().unwrap())
        .lines()
        .map(Result::unwrap)
        .find(|line| line.contains(wanted));
    (
        child,
        said.unwrap_or_else(|| panic!("it never said {wanted}"))
            .trim()
            .to_owned(),
    )
}

#[tokio::test]
async fn a_person_logs_in_to_the_command_line_by_a_browser() {
    let dir = tempfile::tempdir().unwrap();
    let (_server, dev) = Server::dev(dir.path());
    let mut command = users_as(&dev, &["--login-by", "browser"], &[]);
    let (child, url) = until_said(&mut command, "/authorize?");
    let mut browser = Browser::new(&dev);
    let back = browser
        .walk(&url, &dev.json["admin"], &[], "http://127.0.0.1:")
        .await;
    let page = dev.client().get(&back.unwrap(), &[]).await.unwrap();
    assert!(text(&page.body).contains("You are logged in"));
    let output = tokio::task::spawn_blocking(|| child.wait_with_output().unwrap())
        .await
        .unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(json(&output).as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn a_person_logs_in_to_the_command_line_by_a_code() {
    let dir = tempfile::tempdir().unwrap();
    let (_server, dev) = Server::dev(dir.path());
    let mut command = users_as(&dev, &["--login-by", "device"], &[]);
    let (child, line) = until_said(&mut command, "type the code");
    let code = line.rsplit(' ').next().unwrap();
    let url = format!("{}/device", dev.issuer);
    let fields = [("user_code", code)];
    let end = Browser::new(&dev)
        .walk(&url, &dev.json["admin"], &fields, "none")
        .await;
    assert_eq!(end, None, "the browser stays at the server");
    let output = tokio::task::spawn_blocking(|| child.wait_with_output().unwrap())
        .await
        .unwrap();
    assert_eq!(output.status.code(), Some(0));
}

#[tokio::test]
async fn racing_changes_of_one_record_are_refused_or_merged_and_none_is_lost() {
    let dir = tempfile::tempdir().unwrap();
    let (_server, dev) = Server::dev(dir.path());
    let run = |member: String| {
        let data = dev.dir().to_owned();
        std::thread::spawn(move || {
            let arguments = [
                "client",
                "set",
                "web",
                &member,
                "--json",
                "--data-dir",
                &data,
            ];
            (signet(&arguments), member)
        })
    };
    let members = ["client_uri", "policy_uri", "tos_uri", "logo_uri"];
    let wanted: Vec<String> = members
        .iter()
        .map(|m| format!("{m}=https://example.com/{m}"))
        .collect();
    let racing: Vec<_> = wanted.into_iter().map(run).collect();
    let outcomes: Vec<_> = racing
        .into_iter()
        .map(|thread| thread.join().unwrap())
        .collect();
    let shown = done(&dev, &["client", "show", "web"]);
    for (output, member) in outcomes {
        let (name, value) = member.split_once('=').unwrap();
        match output.status.code() {
            Some(0) => assert_eq!(shown[name], value, "a change was lost"),
            Some(1) => assert_eq!(json(&output)["error"], "conflict"),
            other => panic!("{other:?}: {}", text(&output.stderr)),
        }
    }
    // Single elements merge: all of them are there.
    let racing: Vec<_> = (0..6)
        .map(|n| run(format!("contacts+=mailto:{n}@example.com")))
        .collect();
    for thread in racing {
        let (output, _) = thread.join().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    }
    let shown = done(
        &dev,
        &["client", "set", "web", "contacts-=mailto:0@example.com"],
    );
    let mut contacts: Vec<&str> = shown["contacts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|c| c.as_str().unwrap())
        .collect();
    contacts.sort_unstable();
    let all: Vec<String> = (1..6).map(|n| format!("mailto:{n}@example.com")).collect();
    assert_eq!(contacts, all);
}

#[tokio::test]
async fn a_refused_change_says_which_member_and_which_record() {
    let dir = tempfile::tempdir().unwrap();
    let (_server, dev) = Server::dev(dir.path());
    let said = |arguments: &[&str]| {
        let mut all = arguments.to_vec();
        all.extend(["--data-dir", dev.dir()]);
        let output = signet(&all);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        text(&output.stderr)
    };
    assert!(said(&["client", "set", "web", "name=x"]).contains("did you mean \"client_name\"?"));
    let lifetime = said(&["client", "set", "web", "access_token_lifetime=x"]);
    assert!(lifetime.contains("access_token_lifetime"), "{lifetime}");
    assert!(!lifetime.contains("column"), "{lifetime}");
    assert!(said(&["client", "show", "wbe"]).contains("client wbe"));
    assert!(said(&["user", "show", "nobody"]).contains("user nobody"));
    let resource = "https://orders.example.com";
    assert!(said(&["resource", "add", resource]).contains(resource));
    // A list needs no brackets.
    let set = done(
        &dev,
        &["client", "set", "service", &format!("resources={resource}")],
    );
    assert_eq!(set["resources"], serde_json::json!([resource]));
}

#[tokio::test]
async fn lists_of_everybody_are_one_request_and_say_when_they_are_cut() {
    let dir = tempfile::tempdir().unwrap();
    let (_server, dev) = Server::dev(dir.path());
    for name in ["bob", "carol"] {
        done(
            &dev,
            &[
                "user",
                "add",
                name,
                "--email",
                &format!("{name}@example.test"),
                "--without-password",
            ],
        );
    }
    let found = done(&dev, &["user", "list", "--search", "CAROL"]);
    assert_eq!(found.as_array().unwrap().len(), 1);
    assert_eq!(found[0]["username"], "carol");
    let cut = signet(&["user", "list", "--limit", "2", "--data-dir", dev.dir()]);
    assert!(text(&cut.stderr).contains("the first 2; there may be more"));
    assert_eq!(text(&cut.stdout).lines().count(), 3);
    // Two people with a session and a grant each.
    for user in ["alice", "admin"] {
        let scopes = ["--scope", "openid", "--scope", "offline_access"];
        let mut all = vec![
            "dev",
            "token",
            "--client",
            "web",
            "--user",
            user,
            "--data-dir",
            dev.dir(),
        ];
        all.extend(scopes);
        let output = signet(&all);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    }
    for list in ["session", "grant"] {
        let all = done(&dev, &[list, "list"]);
        let mut names: Vec<&str> = all
            .as_array()
            .unwrap()
            .iter()
            .map(|row| row["username"].as_str().unwrap())
            .collect();
        names.sort_unstable();
        assert_eq!(names, ["admin", "alice"], "{list}");
    }
    // Which key signs now and from when the next one does is said, and nothing else.
    let rotated = signet(&["key", "rotate", "--alg", "ES256", "--data-dir", dev.dir()]);
    let said = text(&rotated.stdout);
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(said.starts_with("ES256: the key "), "{said}");
    assert!(
        said.contains(" signs now; the next one signs from "),
        "{said}"
    );
}

#[test]
fn the_first_administrator_goes_where_the_server_will_look() {
    let dir = tempfile::tempdir().unwrap();
    let (data, file) = (dir.path().join("data"), dir.path().join("signet.toml"));
    std::fs::write(
        &file,
        format!(
            "issuer = \"https://id.example\"\ndata_dir = \"{}\"\n[store]\ndirectory = \"db\"\n\
             [[listeners]]\naddress = \"127.0.0.1:0\"\nprotocol = \"http\"\n",
            data.display()
        ),
    )
    .unwrap();
    let add = |more: &[&str]| {
        let mut all = vec!["user", "add", "root", "--admin", "--password-stdin"];
        all.extend(more);
        signet_with(&all, "a long enough passphrase\n")
    };
    let made = add(&["--config", file.to_str().unwrap()]);
    assert_eq!(made.status.code(), Some(0), "{}", text(&made.stderr));
    assert!(data.join("db/signet.db").exists() && !data.join("signet.db").exists());
    // A directory of a server whose database is elsewhere is not guessed at.
    std::fs::write(data.join("sealing-keys.json"), "{}").unwrap();
    let guessed = add(&["--data-dir", data.to_str().unwrap()]);
    assert_eq!(guessed.status.code(), Some(2));
    assert!(
        text(&guessed.stderr).contains("--config"),
        "{}",
        text(&guessed.stderr)
    );
}

#[test]
fn help_completions_and_the_version_are_there() {
    for arguments in [
        &["help"][..],
        &["help", "client"],
        &["client", "help", "set"],
    ] {
        let output = signet(arguments);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}");
        assert!(text(&output.stdout).contains("Usage:"), "{arguments:?}");
    }
    for shell in ["bash", "zsh", "fish"] {
        let output = signet(&["completions", shell]);
        assert_eq!(output.status.code(), Some(0));
        assert!(text(&output.stdout).contains("rotate"), "{shell}");
    }
    assert!(text(&signet(&["-V"]).stdout).starts_with("signet 0."));
}

#[tokio::test]
async fn a_scope_that_nobody_defined_is_said() {
    let dir = tempfile::tempdir().unwrap();
    let (_server, dev) = Server::dev(dir.path());
    let set = |scope: &str| {
        let output = signet(&["client", "set", "web", scope, "--data-dir", dev.dir()]);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        text(&output.stderr)
    };
    let said = set("scope+=orders:raed");
    assert!(
        said.contains("orders:raed") && !said.contains("openid"),
        "{said}"
    );
    assert!(set("scope-=orders:raed").is_empty());
}
