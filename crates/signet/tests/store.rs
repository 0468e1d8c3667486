//! `signet store`, and servers over a PostgreSQL database, as real processes.

#[path = "../../store/tests/server.rs"]
pub mod database;

use std::path::Path;

use database::{Server as Database, shared};
use http::StatusCode;
use serde_json::json;

use crate::support::{Browser, Dev, REDIRECT, Server, VERIFIER, body, json, port_in, signet, text};

/// The URL of a new database, with the password where only its owner reads it.
pub(crate) fn new_url(server: &Database, directory: &Path) -> String {
    use std::os::unix::fs::PermissionsExt;
    let file = directory.join("pgpass");
    std::fs::write(&file, format!("*:*:*:*:{}\n", database::PASSWORD)).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    let database = server.database();
    let (port, file) = (server.port, file.display());
    format!("postgres://signet@127.0.0.1:{port}/{database}?passfile={file}")
}

/// A development server whose rows are in a database.
pub(crate) fn dev_over(directory: &Path, url: &str) -> (Server, Dev) {
    dev_with(directory, url, &[])
}

/// The same, with further arguments.
fn dev_with(directory: &Path, url: &str, further: &[&str]) -> (Server, Dev) {
    let (data, log) = (directory.join("data"), directory.join("log"));
    let directory = data.to_str().unwrap();
    let mut arguments = vec![
        "--dev",
        "--listen",
        "127.0.0.1:0",
        "--data-dir",
        directory,
        "--store",
        url,
    ];
    arguments.extend(further);
    let mut server = Server::start(&arguments, &log);
    server.wait_for(|| data.join("dev.json").exists());
    (server, Dev::read(&data))
}

#[test]
fn a_schema_is_shown_then_made_and_only_then_served() {
    let directory = tempfile::tempdir().unwrap();
    let url = new_url(shared(), directory.path());
    let store = |arguments: &[&str]| {
        let mut all = vec!["--json", "store"];
        all.extend(arguments);
        all.extend(["--store", &url]);
        signet(&all)
    };
    let status = store(&["status"]);
    assert_eq!(status.status.code(), Some(1));
    assert_eq!(json(&status)["error"], "migration_needed");
    assert_eq!(json(&status)["pending"][0]["version"], 1);
    let file = directory.path().join("signet.toml");
    let data = directory.path().join("data");
    let configuration = format!(
        "issuer = \"https://id.example.com\"\ndata_dir = \"{}\"\n[[listeners]]\naddress = \"127.0.0.1:0\"\nprotocol = \"http\"\n[proxy]\ntrusted = [\"127.0.0.1\"]\n[store]\nengine = \"postgres\"\nurl = \"{url}\"\n",
        data.display()
    );
    std::fs::write(&file, configuration).unwrap();
    let refused = signet(&["serve", "--config", file.to_str().unwrap()]);
    assert_eq!(refused.status.code(), Some(2), "{}", text(&refused.stderr));
    assert!(
        text(&refused.stderr).contains("signet store migrate"),
        "{}",
        text(&refused.stderr)
    );

    let dry = store(&["migrate", "--dry-run"]);
    assert_eq!(json(&dry)["pending"][0]["version"], 1);
    assert_eq!(
        json(&store(&["status"]))["schema"],
        0,
        "a dry run does nothing"
    );
    let done = store(&["migrate"]);
    assert_eq!(
        json(&done)["done"][0]["version"],
        1,
        "{}",
        text(&done.stderr)
    );
    assert_eq!(json(&store(&["migrate"]))["done"], json!([]));
    let status = store(&["status"]);
    assert_eq!(status.status.code(), Some(0));
    assert_eq!(json(&status)["schema"], json(&status)["known"]);

    let (server, _) = Server::configured(&file, &directory.path().join("log"));
    // Its data directory is its own, though the rows are not in it.
    let second = signet(&[
        "serve",
        "--config",
        file.to_str().unwrap(),
        "--listen",
        "127.0.0.1:0",
    ]);
    assert!(
        text(&second.stderr).contains("in use"),
        "{}",
        text(&second.stderr)
    );
    drop(server);
}

#[test]
fn a_password_on_the_command_line_is_refused_and_not_repeated() {
    for arguments in [
        &["serve", "--dev", "--store"][..],
        &["store", "status", "--store"],
        &["store", "copy", "--from", "sqlite:/nowhere", "--to"],
    ] {
        let mut all = arguments.to_vec();
        all.push("postgres://signet:hunter2@127.0.0.1/signet");
        let refused = signet(&all);
        assert_eq!(refused.status.code(), Some(2));
        let said = text(&refused.stderr);
        assert!(
            said.contains("password") && !said.contains("hunter2"),
            "{said}"
        );
    }
}

#[tokio::test]
async fn a_code_of_one_node_is_redeemed_at_another_and_once() {
    let directory = tempfile::tempdir().unwrap();
    let url = new_url(shared(), directory.path());
    let one = directory.path().join("one");
    std::fs::create_dir(&one).unwrap();
    let (_first, dev) = dev_over(&one, &url);
    // The second node has the first one's keys, and a trail of its own.
    let two = directory.path().join("two");
    std::fs::create_dir_all(two.join("data")).unwrap();
    for entry in std::fs::read_dir(one.join("data")).unwrap().flatten() {
        if entry.file_type().unwrap().is_file() && entry.file_name() != "signet.lock" {
            std::fs::copy(entry.path(), two.join("data").join(entry.file_name())).unwrap();
        }
    }
    let log = two.join("log");
    let data = two.join("data");
    let mut second = Server::start(
        &[
            "--dev",
            "--listen",
            "127.0.0.1:0",
            "--data-dir",
            data.to_str().unwrap(),
            "--issuer",
            &dev.issuer,
            "--store",
            &url,
        ],
        &log,
    );
    second.wait_for(|| port_in(&log, "ready").is_some());
    let mut there = dev.clone();
    there.url = format!("https://localhost:{}", port_in(&log, "ready").unwrap());

    let (client_id, _) = dev.credentials("native");
    let mut browser = Browser::new(&dev);
    let code = browser.code(&client_id, "openid offline_access").await;
    let redeem = [
        ("grant_type", "authorization_code"),
        ("code", &*code),
        ("redirect_uri", REDIRECT),
        ("client_id", &*client_id),
        ("code_verifier", VERIFIER),
    ];
    let answer = there.post("/token", None, &redeem).await;
    assert_eq!(answer.status, StatusCode::OK, "{}", text(&answer.body));
    let refresh = body(&answer)["refresh_token"].as_str().unwrap().to_owned();
    let rotate = [
        ("grant_type", "refresh_token"),
        ("refresh_token", &*refresh),
        ("client_id", &*client_id),
    ];
    let answer = dev.post("/token", None, &rotate).await;
    assert_eq!(answer.status, StatusCode::OK, "{}", text(&answer.body));
    let replayed = dev.post("/token", None, &redeem).await;
    assert_eq!(body(&replayed)["error"], "invalid_grant");
}

#[tokio::test]
async fn nodes_over_one_database_join_and_hear_each_other_at_once() {
    let directory = tempfile::tempdir().unwrap();
    let url = new_url(shared(), directory.path());
    let [one, two] = ["one", "two"].map(|name| directory.path().join(name));
    std::fs::create_dir(&one).unwrap();
    std::fs::create_dir(&two).unwrap();
    let (_first, dev) = dev_over(&one, &url);
    let invite = ["node", "invite", "--data-dir", dev.dir()];
    let token = signet(&invite);
    assert_eq!(token.status.code(), Some(0), "{}", text(&token.stderr));
    let token = text(&token.stdout).trim().to_owned();
    let (_second, there) = dev_with(&two, &url, &["--join", &token]);
    assert_eq!(there.issuer, dev.issuer);
    assert_ne!(there.url, dev.url);

    let access = there.service_token().await;
    let asked = [("token", &*access)];
    let active = dev.post("/introspect", Some("service"), &asked).await;
    assert_eq!(body(&active)["active"], true);
    let client = ["--client", "service", "--json", "--data-dir"];
    let mut revoke = vec!["revoke"];
    revoke.extend(client);
    revoke.push(dev.dir());
    let output = signet(&revoke);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(json(&output)["nodes"].as_array().unwrap().len(), 2);
    let active = there.post("/introspect", Some("service"), &asked).await;
    assert_eq!(body(&active)["active"], false);

    // One that keeps its state elsewhere is not let in.
    let token = signet(&invite);
    let token = text(&token.stdout).trim().to_owned();
    let three = directory.path().join("three");
    let arguments = [
        "serve",
        "--dev",
        "--listen",
        "127.0.0.1:0",
        "--data-dir",
        three.to_str().unwrap(),
        "--join",
        &token,
    ];
    let output = signet(&arguments);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        text(&output.stderr).contains("database"),
        "{}",
        text(&output.stderr)
    );
    // Nor one whose database is another one; neither leaves anything behind.
    let four = directory.path().join("four");
    std::fs::create_dir(&four).unwrap();
    let other = new_url(shared(), &four);
    let mut arguments = arguments.to_vec();
    arguments[5] = four.to_str().unwrap();
    arguments.extend(["--store", &other]);
    let output = signet(&arguments);
    assert_eq!(output.status.code(), Some(2));
    let said = text(&output.stderr);
    assert!(said.contains("is not the cluster's"), "{said}");
    let listed = signet(&["node", "list", "--json", "--data-dir", dev.dir()]);
    assert_eq!(json(&listed).as_array().unwrap().len(), 2);
    // The token still lets one node in.
    let five = directory.path().join("five");
    std::fs::create_dir(&five).unwrap();
    let (_third, _) = dev_with(&five, &url, &["--join", &token]);
    let listed = signet(&["node", "list", "--json", "--data-dir", dev.dir()]);
    let listed = json(&listed);
    let nodes = listed.as_array().unwrap();
    assert_eq!(nodes.len(), 3);
    let second = nodes.iter().find(|node| node["url"] == there.url).unwrap();
    let second = second["name"].as_str().unwrap();

    // MN1: who was removed is out for good, though the database knows its password still.
    let remove = ["node", "remove", second, "--yes", "--data-dir", dev.dir()];
    let output = signet(&remove);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let ready = format!("{}/health/ready", there.url);
    let started = std::time::Instant::now();
    loop {
        let said = there.client().get(&ready, &[]).await.unwrap();
        if text(&said.body).contains("sync: removed") {
            break;
        }
        assert!(started.elapsed().as_secs() < 60, "{}", text(&said.body));
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    let grant = [("grant_type", "client_credentials")];
    let answer = there.post("/token", Some("service"), &grant).await;
    assert_eq!(answer.status, StatusCode::SERVICE_UNAVAILABLE);
    dev.service_token().await;
}

#[tokio::test]
async fn without_its_database_a_server_answers_what_needs_none_and_recovers() {
    let directory = tempfile::tempdir().unwrap();
    let server = Database::new();
    server.start(&[]);
    let url = new_url(&server, directory.path());
    let (_process, dev) = dev_over(directory.path(), &url);
    let ready = format!("{}/health/ready", dev.issuer);
    let client = dev.client();
    let (client_id, _) = dev.credentials("native");
    let mut browser = Browser::new(&dev);
    let code = browser.code(&client_id, "openid offline_access").await;
    let redeem = [
        ("grant_type", "authorization_code"),
        ("code", &*code),
        ("redirect_uri", REDIRECT),
        ("client_id", &*client_id),
        ("code_verifier", VERIFIER),
    ];
    server.kill();
    let answer = dev.post("/token", None, &redeem).await;
    assert_eq!(
        answer.status,
        StatusCode::SERVICE_UNAVAILABLE,
        "{}",
        text(&answer.body)
    );
    assert_eq!(body(&answer)["error"], "temporarily_unavailable");
    assert_eq!(
        client.get(&ready, &[]).await.unwrap().status,
        StatusCode::SERVICE_UNAVAILABLE
    );
    dev.service_token().await;
    let jwks = format!("{}/jwks", dev.issuer);
    assert_eq!(client.get(&jwks, &[]).await.unwrap().status, StatusCode::OK);

    server.start(&[]);
    let mut tries = 0;
    while client.get(&ready, &[]).await.unwrap().status != StatusCode::OK {
        tries += 1;
        assert!(tries < 600, "it does not recover");
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    // What was not decided was not consumed.
    let answer = dev.post("/token", None, &redeem).await;
    assert_eq!(answer.status, StatusCode::OK, "{}", text(&answer.body));
}

#[tokio::test]
async fn a_server_waits_for_its_database_at_its_start_and_says_so() {
    let directory = tempfile::tempdir().unwrap();
    let server = Database::new();
    server.start(&[]);
    let url = new_url(&server, directory.path());
    let (mut process, dev) = dev_over(directory.path(), &url);
    let token = dev.service_token().await;
    process.signal("TERM");
    assert_eq!(process.end(), Some(0));
    server.kill();
    let bound = dev.issuer.replace("https://localhost", "127.0.0.1");
    let (data, log) = (
        directory.path().join("data"),
        directory.path().join("again"),
    );
    let data = data.to_str().unwrap();
    let arguments = [
        "--dev",
        "--listen",
        &bound,
        "--data-dir",
        data,
        "--store",
        &url,
    ];
    // It holds nothing of the registry, and so answers nothing; it receives a signal to stop, and
    // stops.
    let mut process = Server::start(&arguments, &log);
    process.wait_for_log("waiting for the database");
    process.signal("TERM");
    assert_eq!(process.end(), Some(0), "{}", process.log());
    // It starts by itself as soon as the database is there.
    let mut process = Server::start(&arguments, &log);
    process.wait_for_log("waiting for the database");
    server.start(&[]);
    process.answers(&dev).await;
    let asked = [("token", &*token)];
    let answer = dev.post("/introspect", Some("service"), &asked).await;
    assert_eq!(body(&answer)["active"], true);
}

#[tokio::test]
async fn a_store_is_copied_to_another_engine_and_back() {
    let directory = tempfile::tempdir().unwrap();
    let (mut server, dev) = Server::dev(directory.path());
    let (client_id, _) = dev.credentials("native");
    let mut browser = Browser::new(&dev);
    browser.code(&client_id, "openid offline_access").await;
    let url = new_url(shared(), directory.path());
    let source = format!("sqlite:{}", dev.dir());
    let back = directory.path().join("back");
    let copy =
        |from: &str, to: &str| signet(&["--json", "store", "copy", "--from", from, "--to", to]);
    let refused = copy(&source, &url);
    assert_eq!(refused.status.code(), Some(1), "{}", text(&refused.stderr));
    assert_eq!(json(&refused)["error"], "in_use");
    server.signal("TERM");
    assert_eq!(server.end(), Some(0));

    let copied = copy(&source, &url);
    assert_eq!(copied.status.code(), Some(0), "{}", text(&copied.stderr));
    let rows = json(&copied)["rows"].as_u64().unwrap();
    assert!(rows > 10, "{rows}");
    let again = copy(&source, &url);
    assert_eq!(json(&again)["error"], "not_empty");
    let returned = copy(&url, &format!("sqlite:{}", back.display()));
    assert_eq!(json(&returned)["rows"], rows, "{}", text(&returned.stderr));
    let nothing = copy("sqlite:/nowhere", &url);
    assert_eq!(nothing.status.code(), Some(2));

    // The same installation, on the other engine: same keys, same people, same session.
    let bound = dev.issuer.replace("https://localhost", "127.0.0.1");
    let arguments = [
        "--dev",
        "--listen",
        &bound,
        "--data-dir",
        dev.dir(),
        "--store",
        &url,
    ];
    let log = directory.path().join("log2");
    let mut moved = Server::start(&arguments, &log);
    moved.wait_for(|| port_in(&log, "ready").is_some());
    let silent = browser
        .authorize(&[
            ("response_type", "code"),
            ("client_id", &client_id),
            ("redirect_uri", REDIRECT),
            ("scope", "openid"),
            ("prompt", "none"),
            ("code_challenge", crate::support::CHALLENGE),
            ("code_challenge_method", "S256"),
        ])
        .await;
    assert!(
        silent.contains("code=") || silent.contains("consent_required"),
        "{silent}"
    );
}

/// Exchanges a code or a refresh token at the token endpoint.
async fn token(dev: &Dev, client_id: &str, more: &[(&str, &str)]) -> serde_json::Value {
    let mut form = vec![("client_id", client_id)];
    form.extend(more);
    let answer = dev.post("/token", None, &form).await;
    assert_eq!(answer.status, StatusCode::OK, "{}", text(&answer.body));
    body(&answer)
}

/// Rotates a refresh token until the test stops it; the last one, how often, and the longest wait.
async fn rotate(
    dev: Dev,
    client_id: String,
    mut refresh: String,
    stop: std::sync::Arc<std::sync::atomic::AtomicBool>,
) -> (String, u32, std::time::Duration) {
    let (mut count, mut longest) = (0, std::time::Duration::ZERO);
    while !stop.load(std::sync::atomic::Ordering::SeqCst) {
        let begun = std::time::Instant::now();
        let form = [
            ("grant_type", "refresh_token"),
            ("refresh_token", &*refresh),
        ];
        let answer = token(&dev, &client_id, &form).await;
        refresh = answer["refresh_token"].as_str().unwrap().to_owned();
        longest = longest.max(begun.elapsed());
        count += 1;
    }
    (refresh, count, longest)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_rows_of_a_running_server_move_to_a_database_and_back_and_a_login_goes_on() {
    use std::sync::{Arc, atomic::AtomicBool, atomic::Ordering::SeqCst};
    let directory = tempfile::tempdir().unwrap();
    let (mut server, dev) = Server::dev(directory.path());
    let (client_id, _) = dev.credentials("native");
    let mut browser = Browser::new(&dev);
    let code = browser.code(&client_id, "openid offline_access").await;
    let redeem = [
        ("grant_type", "authorization_code"),
        ("code", &*code),
        ("redirect_uri", REDIRECT),
        ("code_verifier", VERIFIER),
    ];
    let first = token(&dev, &client_id, &redeem).await;
    let mut refresh = first["refresh_token"].as_str().unwrap().to_owned();
    let spent = refresh.clone();

    let url = new_url(shared(), directory.path());
    let other = directory.path().join("other");
    let back = format!("sqlite:{}", other.display());
    let data = dev.dir().to_owned();
    for (to, old) in [
        (url.clone(), &["--data-dir", &*data][..]),
        (back, &["--data-dir", &*data, "--store", &*url][..]),
    ] {
        let stop = Arc::new(AtomicBool::new(false));
        let rotating = tokio::spawn(rotate(
            dev.clone(),
            client_id.clone(),
            refresh,
            stop.clone(),
        ));
        let (to, dir) = (to.clone(), data.clone());
        let moved = tokio::task::spawn_blocking(move || {
            signet(&["--json", "store", "move", "--to", &to, "--data-dir", &dir])
        });
        let moved = moved.await.unwrap();
        assert_eq!(moved.status.code(), Some(0), "{}", text(&moved.stderr));
        let moved = json(&moved);
        tokio::time::sleep(std::time::Duration::from_millis(300)).await;
        stop.store(true, SeqCst);
        let (last, count, longest) = rotating.await.unwrap();
        eprintln!("{moved}; {count} rotations meanwhile, the longest took {longest:?}");
        assert!(moved["rows"].as_u64().unwrap() > 10, "{moved}");
        assert!(moved["held_ms"].as_u64().unwrap() < 1000, "{moved}");
        refresh = last;

        // The session is there, too.
        let silent = browser
            .authorize(&[
                ("response_type", "code"),
                ("client_id", &client_id),
                ("redirect_uri", REDIRECT),
                ("scope", "openid"),
                ("prompt", "none"),
                ("code_challenge", crate::support::CHALLENGE),
                ("code_challenge_method", "S256"),
            ])
            .await;
        assert!(
            silent.contains("code=") || silent.contains("consent_required"),
            "{silent}"
        );

        // A start over the store that was left says where its rows are.
        server.signal("TERM");
        assert_eq!(server.end(), Some(0));
        let bound = dev.issuer.replace("https://localhost", "127.0.0.1");
        let mut arguments = vec!["serve", "--dev", "--listen", &bound];
        arguments.extend(old);
        let refused = signet(&arguments);
        assert_eq!(refused.status.code(), Some(2), "{}", text(&refused.stderr));
        let said = text(&refused.stderr);
        assert!(said.contains("were moved to"), "{said}");

        let kept = moved["to"].as_str().unwrap();
        let kept = if kept.starts_with("sqlite") {
            kept
        } else {
            &*url
        };
        let arguments = [
            "--dev",
            "--listen",
            &*bound,
            "--data-dir",
            &*data,
            "--store",
            kept,
        ];
        let log = directory.path().join(format!("log after {count}"));
        server = Server::start(&arguments, &log);
        server.wait_for(|| port_in(&log, "ready").is_some());
    }
    let form = [
        ("grant_type", "refresh_token"),
        ("refresh_token", &*refresh),
    ];
    token(&dev, &client_id, &form).await;
    // What was spent before the first move is spent after the second.
    let replay = [
        ("grant_type", "refresh_token"),
        ("refresh_token", &*spent),
        ("client_id", &*client_id),
    ];
    let answer = dev.post("/token", None, &replay).await;
    assert_eq!(body(&answer)["error"], "invalid_grant");
}
