//! Realms of one server: made, changed, suspended and deleted while it serves, by command and by
//! file.
use crate::cluster::Cluster;
use crate::support::{Dev, Server, body, http_client::Answer, json, signet, text};
use http::StatusCode;
use serde_json::{Value, json};
use signet_store::{RealmId, SqliteStore, Store, Table, sqlite};
use std::path::Path;
use std::time::{Duration, Instant};

/// A command at a development server.
fn run(dev: &Dev, arguments: &[&str]) -> std::process::Output {
    signet(&[arguments, &["--data-dir", dev.dir(), "--json"]].concat())
}

/// The same, which has to succeed; its JSON.
fn done(dev: &Dev, arguments: &[&str]) -> Value {
    let output = run(dev, arguments);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    json(&output)
}

/// The same, which is refused: its error and its words.
fn refused(dev: &Dev, arguments: &[&str]) -> (String, String) {
    let output = run(dev, arguments);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stdout));
    let said = json(&output);
    let member = |name: &str| said[name].as_str().unwrap_or_default().to_owned();
    (member("error"), member("error_description"))
}

/// A realm's own view: its issuer, and a client of it that has this scope.
fn with_client(dev: &Dev, realm: &str, scope: &str) -> Dev {
    let mut arguments = vec![
        "client",
        "add",
        "--client-id",
        "robot",
        "--grant-type",
        "client_credentials",
        "--realm",
        realm,
    ];
    if !scope.is_empty() {
        arguments.extend(["--scope", scope]);
    }
    let made = done(dev, &arguments);
    let json = json!({ "clients": { "robot": made } });
    Dev {
        issuer: format!("{}/{realm}", dev.issuer),
        url: format!("{}/{realm}", dev.url),
        json,
        ..dev.clone()
    }
}

async fn token(of: &Dev, scope: &str) -> Answer {
    let mut fields = vec![("grant_type", "client_credentials")];
    if !scope.is_empty() {
        fields.push(("scope", scope));
    }
    of.post("/token", Some("robot"), &fields).await
}

async fn get(dev: &Dev, path: &str, token: Option<&str>) -> (StatusCode, Value) {
    let bearer = token.map(|token| format!("Bearer {token}"));
    let headers: Vec<(&str, &str)> = bearer.iter().map(|b| ("authorization", &**b)).collect();
    let url = format!("{}{path}", dev.url);
    let answer = dev.client().get(&url, &headers).await.unwrap();
    let value = serde_json::from_slice(&answer.body).unwrap_or_default();
    (answer.status, value)
}

fn at(dev: &Dev, realm: &str) -> Dev {
    Dev {
        issuer: format!("{}/{realm}", dev.issuer),
        url: format!("{}/{realm}", dev.url),
        ..dev.clone()
    }
}

const METADATA: &str = "/.well-known/openid-configuration";

#[tokio::test]
async fn a_realm_answers_as_soon_as_it_is_made_and_after_a_restart() {
    let directory = tempfile::tempdir().unwrap();
    let (mut server, dev) = Server::dev(directory.path());
    let made = done(
        &dev,
        &["realm", "add", "acme", "description=The Acme account"],
    );
    assert_eq!(made["name"], "acme");
    assert_eq!(made["issuer"], format!("{}/acme", dev.issuer));
    let (status, metadata) = get(&at(&dev, "acme"), METADATA, None).await;
    assert_eq!(status, StatusCode::OK);
    assert_eq!(metadata["issuer"], made["issuer"]);
    // RFC 8414 section 3: the path of the issuer stands behind the document's name, too.
    let (_, again) = get(&dev, &format!("{METADATA}/acme"), None).await;
    assert_eq!(again, metadata);

    let acme = with_client(&dev, "acme", "");
    let first = body(&token(&acme, "").await);
    assert_eq!(first["expires_in"], 600, "{first}");
    // The first realm knows neither the client nor the token.
    let elsewhere = Dev {
        url: dev.url.clone(),
        ..acme.clone()
    };
    assert_eq!(token(&elsewhere, "").await.status, StatusCode::UNAUTHORIZED);
    let access = first["access_token"].as_str().unwrap();
    let asked = [("token", access)];
    let answer = dev.post("/introspect", Some("service"), &asked).await;
    assert_eq!(body(&answer)["active"], false);

    // A setting counts from the next request, and is the realm's alone.
    let set = [
        "realm",
        "set",
        "acme",
        "lifetimes.access_token=2m",
        "brand.name=Acme",
    ];
    let changed = done(&dev, &set);
    assert_eq!(changed["settings"]["lifetimes.access_token"], "2m");
    assert_eq!(changed["description"], "The Acme account");
    assert_eq!(body(&token(&acme, "").await)["expires_in"], 120);
    let like = ["realm", "add", "beta", "--like", "acme", "brand.name=Beta"];
    let like = done(&dev, &like);
    assert_eq!(
        like["settings"],
        json!({ "brand.name": "Beta", "lifetimes.access_token": "2m" })
    );
    let reset = ["realm", "set", "beta", "lifetimes.access_token=null"];
    assert_eq!(
        done(&dev, &reset)["settings"],
        json!({ "brand.name": "Beta" })
    );

    // What counts where, and where it comes from.
    let explained = |realm: Option<&str>, name: &str| {
        let mut arguments = vec!["explain", name, "--running"];
        arguments.extend(realm.into_iter().flat_map(|realm| ["--realm", realm]));
        let said = done(&dev, &arguments);
        let one = said["settings"][0].clone();
        [&one["value"], &one["source"], &one["changed_in"]].map(Clone::clone)
    };
    let token_life = "lifetimes.access_token";
    assert_eq!(
        explained(Some("acme"), token_life),
        [json!("2m"), json!("record"), json!("record")]
    );
    assert_eq!(explained(Some("acme"), "lifetimes.code")[1], "default");
    assert_eq!(
        explained(None, "listeners")[1..],
        [json!("configuration"), json!("configuration")]
    );
    // How the installation sends mail is not shown to those who administer a realm of it.
    assert_eq!(explained(None, "mail.directory")[1], "configuration");
    assert!(explained(None, "mail.directory")[0].is_string());
    let hidden = explained(Some("acme"), "mail.directory");
    assert_eq!(hidden[..2], [Value::Null, json!("configuration")]);
    let of_process = done(
        &dev,
        &["explain", "listeners", "--running", "--realm", "acme"],
    );
    assert_eq!(
        of_process["settings"],
        json!([]),
        "the process is not the realm's"
    );

    let (client, url) = (dev.client(), format!("{}/metrics", dev.url));
    let metrics = text(&client.get(&url, &[]).await.unwrap().body);
    for line in [
        "signet_realms{state=\"open\"} 1",
        "signet_realms{state=\"closed\"} 1",
        "signet_realm_requests_total{realm=\"acme\"} ",
    ] {
        assert!(metrics.contains(line), "{line} in {metrics}");
    }

    server.crash_and_restart(&dev).await;
    assert_eq!(body(&token(&acme, "").await)["expires_in"], 120);
    let listed = done(&dev, &["realm", "list"]);
    let names: Vec<&Value> = listed
        .as_array()
        .unwrap()
        .iter()
        .map(|r| &r["name"])
        .collect();
    assert_eq!(names, ["acme", "beta"]);
    // Each has a trail of its own.
    let trail = signet(&[
        "audit",
        "verify",
        "--realm",
        "acme",
        "--data-dir",
        dev.dir(),
    ]);
    assert_eq!(trail.status.code(), Some(0), "{}", text(&trail.stderr));
}

#[tokio::test]
async fn a_realm_that_cannot_be_is_refused_with_the_reason() {
    let directory = tempfile::tempdir().unwrap();
    let (_server, dev) = Server::dev(directory.path());
    done(&dev, &["realm", "add", "acme"]);
    let taken = format!("--issuer={}/acme", dev.issuer);
    let own = format!("--issuer={}", dev.issuer);
    let deep = format!("--issuer={}/a/token", dev.issuer);
    for (arguments, error, words) in [
        (&["acme"][..], "exists", "there is a realm acme already"),
        (&["Acme"], "invalid_request", "a realm's name is 1 to 32"),
        (
            &["token"],
            "invalid_request",
            "would hide the server's own /token",
        ),
        (
            &["b", &deep],
            "invalid_request",
            "would hide the server's own /token",
        ),
        (
            &["b", &taken],
            "issuer_taken",
            "another realm has this issuer",
        ),
        (
            &["b", &own],
            "issuer_taken",
            "another realm has this issuer",
        ),
        (
            &["b", "--issuer=http://b.example"],
            "invalid_request",
            "must be an https URL",
        ),
        (
            &["b", "lifetimes.cod=1"],
            "invalid_request",
            "did you mean \"lifetimes.code\"?",
        ),
        (
            &["b", "lifetimes.code=9d"],
            "invalid_request",
            "lifetimes.code: must be from",
        ),
        (
            &["b", "limits.connections=1"],
            "invalid_request",
            "belongs to the process",
        ),
        (
            &["b", "--like=nobody"],
            "invalid_request",
            "like: there is no such realm",
        ),
    ] {
        let (said, why) = refused(&dev, &[&["realm", "add"], arguments].concat());
        assert_eq!(said, error, "{arguments:?}: {why}");
        assert!(why.contains(words), "{arguments:?}: {why}");
    }
    assert_eq!(refused(&dev, &["realm", "show", "b"]).0, "not_found");
    assert_eq!(
        refused(&dev, &["user", "list", "--realm", "b"]).0,
        "not_found"
    );
}

/// Whoever administers a realm sees that realm; whoever administers the installation sees all.
#[tokio::test]
async fn an_administrator_of_a_realm_administers_that_realm_alone() {
    let directory = tempfile::tempdir().unwrap();
    let (_server, dev) = Server::dev(directory.path());
    for realm in ["acme", "beta"] {
        done(&dev, &["realm", "add", realm]);
    }
    let [acme, beta] = ["acme", "beta"].map(|realm| with_client(&dev, realm, "signet:admin"));
    let admin = body(&token(&acme, "signet:admin").await);
    let admin = admin["access_token"].as_str().unwrap();
    let clients = "/admin/v1/clients";
    assert_eq!(get(&acme, clients, Some(admin)).await.0, StatusCode::OK);
    // Nowhere else: not in another realm, not at the installation, and no realms.
    assert_eq!(
        get(&beta, clients, Some(admin)).await.0,
        StatusCode::UNAUTHORIZED
    );
    assert_eq!(
        get(&dev, clients, Some(admin)).await.0,
        StatusCode::UNAUTHORIZED
    );
    let (status, said) = get(&acme, "/admin/v1/realms", Some(admin)).await;
    assert_eq!(
        (status, &said["code"]),
        (StatusCode::FORBIDDEN, &json!("not_the_installation"))
    );

    // The installation's may, everywhere, and only for as long as they may there.
    let own = done(
        &dev,
        &[
            "client",
            "add",
            "--client-id",
            "robot",
            "--grant-type",
            "client_credentials",
            "--scope",
            "signet:admin",
        ],
    );
    let installation = Dev {
        json: json!({ "clients": { "robot": own } }),
        ..dev.clone()
    };
    let owner = body(&token(&installation, "signet:admin").await);
    let owner = owner["access_token"].as_str().unwrap();
    for realm in [&acme, &beta, &dev] {
        assert_eq!(get(realm, clients, Some(owner)).await.0, StatusCode::OK);
    }
    done(&dev, &["client", "set", "robot", "scope="]);
    assert_eq!(
        get(&acme, clients, Some(owner)).await.0,
        StatusCode::FORBIDDEN
    );
    done(&dev, &["client", "set", "robot", "enabled=false"]);
    assert_eq!(
        get(&acme, clients, Some(owner)).await.0,
        StatusCode::UNAUTHORIZED
    );
    // A token that is nobody's is none anywhere.
    assert_eq!(
        get(&acme, clients, Some("x.y.z")).await.0,
        StatusCode::UNAUTHORIZED
    );
}

/// Rows of a realm in the raw store, by their tables.
async fn raw_rows(dev: &Dev, realm: &str) -> usize {
    let store = SqliteStore::open(&dev.data, sqlite::Options::default()).unwrap();
    let name = RealmId::parse(realm).unwrap();
    let mark = [b"\0realm\0", name.as_str().as_bytes(), b"\0"].concat();
    let mut found = 0;
    for table in Table::ALL {
        let mut last = None;
        loop {
            let page = store.page(*table, last.as_ref(), 100, 0).await.unwrap();
            found += page
                .iter()
                .filter(|(key, _)| key.partition.starts_with(&mark))
                .count();
            let Some((key, _)) = page.last() else { break };
            last = Some(key.clone());
        }
    }
    store.close();
    found
}

#[tokio::test]
async fn a_realm_that_is_renamed_keeps_everything_and_its_former_name_is_not_given_again() {
    let directory = tempfile::tempdir().unwrap();
    let (mut server, dev) = Server::dev(directory.path());
    done(&dev, &["realm", "add", "acme"]);
    let acme = with_client(&dev, "acme", "");
    assert_eq!(token(&acme, "").await.status, StatusCode::OK);

    let renamed = done(&dev, &["realm", "rename", "acme", "acme-inc"]);
    assert_eq!(renamed["name"], "acme-inc");
    assert_eq!(renamed["made_as"], "acme");
    assert!(renamed["issuer"].as_str().unwrap().ends_with("/acme"));
    assert_eq!(token(&acme, "").await.status, StatusCode::OK);
    assert_eq!(refused(&dev, &["realm", "show", "acme"]).0, "not_found");
    done(&dev, &["client", "show", "robot", "--realm", "acme-inc"]);
    let (code, why) = refused(
        &dev,
        &["realm", "add", "acme", "--issuer", "https://x.example"],
    );
    assert_eq!(code, "name_taken", "{why}");
    let (code, _) = refused(&dev, &["realm", "rename", "acme-inc", "Acme"]);
    assert_eq!(code, "invalid_request");
    done(&dev, &["realm", "add", "beta"]);
    let (code, _) = refused(&dev, &["realm", "rename", "acme-inc", "beta"]);
    assert_eq!(code, "exists");

    // With another issuer, and after a restart.
    let issuer = format!("{}/acme-inc", dev.issuer);
    done(
        &dev,
        &["realm", "rename", "acme-inc", "third", "--issuer", &issuer],
    );
    assert_eq!(token(&acme, "").await.status, StatusCode::NOT_FOUND);
    let moved = Dev {
        json: acme.json.clone(),
        ..at(&dev, "acme-inc")
    };
    assert_eq!(token(&moved, "").await.status, StatusCode::OK);
    server.crash_and_restart(&dev).await;
    done(&dev, &["client", "show", "robot", "--realm", "third"]);
    done(&dev, &["realm", "rename", "third", "acme"]);
    done(&dev, &["realm", "remove", "acme", "--grace", "0", "--yes"]);
    assert!(!dev.data.join("audit/realms/acme").exists());
    done(&dev, &["realm", "add", "acme"]);
}

#[tokio::test]
async fn a_realm_is_suspended_resumed_and_deleted_from_every_table() {
    let directory = tempfile::tempdir().unwrap();
    let (mut server, dev) = Server::dev(directory.path());
    for realm in ["acme", "beta"] {
        done(&dev, &["realm", "add", realm]);
    }
    let [acme, beta] = ["acme", "beta"].map(|realm| with_client(&dev, realm, ""));
    assert_eq!(token(&acme, "").await.status, StatusCode::OK);
    assert_eq!(done(&dev, &["realm", "suspend", "acme"])["suspended"], true);
    let answer = token(&acme, "").await;
    assert_eq!(answer.status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(body(&answer)["error"], "temporarily_unavailable");
    assert_eq!(token(&beta, "").await.status, StatusCode::OK);
    done(&dev, &["realm", "resume", "acme"]);
    assert_eq!(token(&acme, "").await.status, StatusCode::OK);

    // Removed with a time of grace, it comes back whole.
    let removed = done(&dev, &["realm", "remove", "acme", "--grace", "1h", "--yes"]);
    assert!(removed["deletes_at"].is_u64(), "{removed}");
    assert_eq!(
        token(&acme, "").await.status,
        StatusCode::SERVICE_UNAVAILABLE
    );
    assert_eq!(
        done(&dev, &["realm", "resume", "acme"])["deletes_at"],
        Value::Null
    );
    assert_eq!(token(&acme, "").await.status, StatusCode::OK);

    // And without one, nothing of it is left.
    done(&dev, &["realm", "remove", "acme", "--grace", "0", "--yes"]);
    assert_eq!(refused(&dev, &["realm", "show", "acme"]).0, "not_found");
    assert_eq!(token(&acme, "").await.status, StatusCode::NOT_FOUND);
    assert!(!dev.data.join("audit/realms/acme").exists());
    assert_eq!(token(&beta, "").await.status, StatusCode::OK);
    // Its name is free, and what has it then is another realm.
    done(&dev, &["realm", "add", "acme"]);
    assert_eq!(token(&acme, "").await.status, StatusCode::UNAUTHORIZED);
    done(&dev, &["realm", "remove", "acme", "--grace", "0", "--yes"]);
    server.signal("TERM");
    assert_eq!(server.end(), Some(0));
    assert_eq!(raw_rows(&dev, "acme").await, 0);
    assert!(raw_rows(&dev, "beta").await > 0);
}

#[tokio::test]
async fn the_sealing_key_is_rotated_for_all_realms_and_none_loses_what_it_sealed() {
    let directory = tempfile::tempdir().unwrap();
    let (mut server, dev) = Server::dev(directory.path());
    for realm in ["acme", "quiet"] {
        done(&dev, &["realm", "add", realm]);
    }
    let [acme, quiet] = ["acme", "quiet"].map(|realm| with_client(&dev, realm, ""));
    // One is open when the key changes, and the other is not.
    server.crash_and_restart(&dev).await;
    assert_eq!(token(&acme, "").await.status, StatusCode::OK);
    for _ in 0..2 {
        done(&dev, &["key", "rotate", "--sealing"]);
        assert_eq!(token(&acme, "").await.status, StatusCode::OK);
    }
    server.crash_and_restart(&dev).await;
    for realm in [&acme, &quiet] {
        assert_eq!(token(realm, "").await.status, StatusCode::OK);
    }
}

fn configuration(directory: &Path, realms: &str) -> std::path::PathBuf {
    let file = directory.join("signet.toml");
    let text = format!(
        "issuer = \"https://id.example\"\ndata_dir = \"data\"\nlisteners = [{{ address = \"127.0.0.1:0\", protocol = \"http\" }}]\n{realms}"
    );
    std::fs::write(&file, text).unwrap();
    file
}

#[tokio::test]
async fn a_realm_that_the_file_declares_comes_and_goes_with_a_reload() {
    let directory = tempfile::tempdir().unwrap();
    let acme = "[[realms]]\nname = \"acme\"\n[realms.settings.lifetimes]\naccess_token = \"3m\"\n";
    let file = configuration(directory.path(), acme);
    let log = directory.path().join("log");
    let (server, port) = Server::configured(&file, &log);
    let client = crate::support::http_client::HttpClient::new(&[]).unwrap();
    let ask = async |path: &str| {
        let url = format!("http://127.0.0.1:{port}{path}");
        let answer = client.get(&url, &[]).await.unwrap();
        answer.status
    };
    let until = async |path: &str, status: StatusCode| {
        let begun = Instant::now();
        while ask(path).await != status {
            assert!(begun.elapsed() < Duration::from_secs(60), "{path}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    until("/acme/jwks", StatusCode::OK).await;
    assert_eq!(ask("/beta/jwks").await, StatusCode::NOT_FOUND);
    configuration(directory.path(), "[[realms]]\nname = \"beta\"\n");
    server.signal("HUP");
    until("/beta/jwks", StatusCode::OK).await;
    until("/acme/jwks", StatusCode::NOT_FOUND).await;
    // Taken out of the file it keeps what it had.
    configuration(directory.path(), acme);
    server.signal("HUP");
    until("/acme/jwks", StatusCode::OK).await;

    let wrong = configuration(
        directory.path(),
        "[[realms]]\nname = \"token\"\n[[realms]]\nname = \"b\"\nissuer = \"https://id.example\"\n[realms.settings.lifetimes]\ncod = 1\n",
    );
    let checked = signet(&["config", "check", wrong.to_str().unwrap()]);
    assert_eq!(checked.status.code(), Some(1));
    let said = text(&checked.stderr);
    for part in ["lifetimes.code", "another realm has the issuer"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let hides = configuration(directory.path(), "[[realms]]\nname = \"token\"\n");
    let checked = signet(&["config", "check", hides.to_str().unwrap()]);
    assert_eq!(checked.status.code(), Some(1));
    let said = text(&checked.stderr);
    assert!(
        said.contains("would hide the server's own /token"),
        "{said}"
    );
}

#[tokio::test]
async fn a_realm_that_is_made_at_one_node_answers_at_all_and_what_one_revokes_all_refuse() {
    let cluster = Cluster::of(3);
    cluster.all_ready(0).await;
    done(cluster.dev(0), &["realm", "add", "acme"]);
    for node in 0..3 {
        let realm = at(cluster.dev(node), "acme");
        let (status, metadata) = get(&realm, METADATA, None).await;
        assert_eq!(status, StatusCode::OK, "node {node}");
        assert_eq!(
            metadata["issuer"],
            format!("{}/acme", cluster.dev(0).issuer)
        );
    }
    let acme = with_client(cluster.dev(1), "acme", "");
    let on = |node: usize| Dev {
        url: format!("{}/acme", cluster.dev(node).url),
        ..acme.clone()
    };
    // The client is there where it was not made, and so is the end of its token.
    let access = body(&token(&on(2), "").await);
    let access = access["access_token"].as_str().unwrap();
    let active = async |node: usize| {
        let answer = on(node)
            .post("/introspect", Some("robot"), &[("token", access)])
            .await;
        body(&answer)["active"].clone()
    };
    assert_eq!(active(0).await, true);
    let answer = on(1)
        .post("/revoke", Some("robot"), &[("token", access)])
        .await;
    assert_eq!(answer.status, StatusCode::OK);
    let begun = Instant::now();
    for node in 0..3 {
        while active(node).await != false {
            assert!(begun.elapsed() < Duration::from_secs(5), "node {node}");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
    // The sealing key changes for the realm at every node.
    done(cluster.dev(0), &["key", "rotate", "--sealing"]);
    for node in 0..3 {
        assert_eq!(
            token(&on(node), "").await.status,
            StatusCode::OK,
            "node {node}"
        );
    }
    // Removed at one node it answers at none.
    done(
        cluster.dev(2),
        &["realm", "remove", "acme", "--grace", "0", "--yes"],
    );
    for node in 0..3 {
        let status = token(&on(node), "").await.status;
        assert!(
            [StatusCode::SERVICE_UNAVAILABLE, StatusCode::NOT_FOUND].contains(&status),
            "node {node}: {status}"
        );
    }
}
