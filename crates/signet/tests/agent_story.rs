//! Agents from end to end, with real processes: a person grants an agent, the agent delegates to a
//! second, the second exchanges the chain for a token and calls an API behind `signet gate`; the
//! person revokes, the next call fails, and an auditor verifies all of it offline.

use std::{
    path::Path,
    process::{Command, Output},
    time::{Duration, Instant},
};

use crate::support::{
    Browser, Dev, SIGNET, Server, gate::Gate, http_client::HttpClient, json, signet, text,
};
use http::StatusCode;
use serde_json::Value;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
};

/// For things that take a moment on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// `signet agent ...` in a directory.
fn agent(directory: &Path, dev: &Dev, arguments: &[&str]) -> Output {
    Command::new(SIGNET)
        .arg("agent")
        .args(arguments)
        .current_dir(directory)
        .env("SIGNET_PASSPHRASE", "correct horse")
        .env("SIGNET_CLIENT_SECRET", dev.credentials("service").1)
        .output()
        .unwrap()
}

#[track_caller]
fn done(output: &Output) -> String {
    assert!(output.status.success(), "{}", text(&output.stderr));
    text(&output.stdout).trim().to_owned()
}

/// How the API in front of the gate shows that it may speak for others.
const PROXY_SECRET: &str = "0123456789abcdef0123456789abcdef";

/// An API behind the gate: a server that asks the gate about every request, as a reverse proxy
/// does, and answers with what the gate said of the token.
async fn api(gate: u16) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            tokio::spawn(async move {
                let mut head = Vec::new();
                let mut buffer = [0; 4096];
                while !head.windows(4).any(|end| end == b"\r\n\r\n") {
                    match stream.read(&mut buffer).await {
                        Ok(0) | Err(_) => return,
                        Ok(n) => head.extend_from_slice(&buffer[..n]),
                    }
                }
                let head = text(&head);
                let field = |name: &str| {
                    let mut lines = head.lines().skip(1);
                    lines.find_map(|line| {
                        let (known, value) = line.split_once(':')?;
                        known
                            .eq_ignore_ascii_case(name)
                            .then(|| value.trim().to_owned())
                    })
                };
                let path = head.split(' ').nth(1).unwrap_or("/").to_owned();
                let url = format!("http://127.0.0.1:{port}{path}");
                let (authorization, proof) = (field("authorization"), field("dpop"));
                let mut headers = vec![
                    ("x-original-method", head.split(' ').next().unwrap()),
                    ("x-original-url", url.as_str()),
                    ("x-gate-secret", PROXY_SECRET),
                ];
                if let Some(value) = &authorization {
                    headers.push(("authorization", value));
                }
                if let Some(value) = &proof {
                    headers.push(("dpop", value));
                }
                let client = HttpClient::new(&[]).unwrap();
                let asked = format!("http://127.0.0.1:{gate}/auth/nginx");
                let answer = client.get(&asked, &headers).await.unwrap();
                let (status, body) = match answer.status {
                    StatusCode::OK => {
                        let subject = answer.header("x-auth-subject").unwrap_or_default();
                        ("200 OK", format!(r#"{{"orders":[],"for":"{subject}"}}"#))
                    }
                    _ => ("401 Unauthorized", String::from("{}")),
                };
                let answer = format!(
                    "HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
                    body.len()
                );
                let _ = stream.write_all(answer.as_bytes()).await;
            });
        }
    });
    port
}

/// One call of the API with a fresh DPoP proof.
async fn call(directory: &Path, dev: &Dev, api: u16, token: &str) -> (StatusCode, String) {
    let url = format!("http://127.0.0.1:{api}/orders");
    let proof = done(&agent(
        directory,
        dev,
        &["dpop", "--key", "session.jwk", "--url", &url, token],
    ));
    let authorization = format!("DPoP {token}");
    let headers = [("authorization", &*authorization), ("dpop", &*proof)];
    let answer = HttpClient::new(&[])
        .unwrap()
        .get(&url, &headers)
        .await
        .unwrap();
    (answer.status, text(&answer.body))
}

/// What stands after a mark, up to another.
fn between<'a>(text: &'a str, mark: &str, end: char) -> &'a str {
    let (_, rest) = text
        .split_once(mark)
        .unwrap_or_else(|| panic!("no {mark}: {text}"));
    rest.split(end).next().unwrap().trim()
}

#[tokio::test]
async fn a_person_grants_an_agent_delegates_a_second_acts_the_person_revokes_and_an_auditor_verifies()
 {
    let room = tempfile::tempdir().unwrap();
    let directory = room.path();
    let (_server, dev) = Server::dev(directory);
    let ca = dev.ca.to_str().unwrap();

    // Three identities: a person's and two agents'.
    for name in ["alice", "bob", "carol"] {
        let file = format!("{name}.aid");
        done(&agent(
            directory,
            &dev,
            &["create", "--name", name, "--out", &file],
        ));
        let document = done(&agent(directory, &dev, &["show", "--document", &file]));
        std::fs::write(directory.join(format!("{name}.json")), document).unwrap();
    }

    // Alice binds hers to her account, over the page's challenge.
    let mut browser = Browser::new(&dev);
    let page = browser.account().await;
    let challenge = between(&page, "--challenge ", '<').to_owned();
    let prove = [
        "prove",
        "--identity",
        "alice.aid",
        "--audience",
        &dev.issuer,
        "--challenge",
        &challenge,
    ];
    let proof = done(&agent(directory, &dev, &prove));
    let page = browser
        .submit_account(&page, &[("decision", "bind-agent"), ("proof", &proof)])
        .await;
    assert!(
        page.contains("The identity is bound to your account"),
        "{page}"
    );

    // She grants Bob, and Bob delegates a part to Carol.
    let grant = |identity: &str, to: &str, more: &[&str], out: &str| {
        let mut arguments = vec![
            "grant",
            "--identity",
            identity,
            "--to",
            to,
            "--expires-in",
            "1h",
            "--out",
            out,
        ];
        arguments.extend(more);
        done(&agent(directory, &dev, &arguments));
    };
    let first = ["--capability", "read:orders/*", "--max-depth", "1"];
    grant("alice.aid", "bob.json", &first, "alice-to-bob.json");
    let second = [
        "--capability",
        "read:orders/open",
        "--parent",
        "alice-to-bob.json",
    ];
    grant("bob.aid", "carol.json", &second, "bob-to-carol.json");

    // Carol exchanges the chain for a token that is bound to her session's key.
    let (client_id, _) = dev.credentials("service");
    let exchange = [
        "--json",
        "exchange",
        "--identity",
        "carol.aid",
        "--issuer",
        &dev.issuer,
        "--ca-cert",
        ca,
        "--client-id",
        &client_id,
        "alice-to-bob.json",
        "bob-to-carol.json",
    ];
    let answer = json(&agent(directory, &dev, &exchange));
    assert_eq!(answer["token_type"], "DPoP", "{answer}");
    assert_eq!(
        answer["authorization_details"][0]["resources"][0],
        "orders/open"
    );
    let token = answer["access_token"].as_str().unwrap().to_owned();
    let said = json(&signet(&["token", "inspect", "--json", &token]));
    assert!(said.to_string().contains("agent_grants"), "{said}");

    // An API behind a gate that follows the server's revocations.
    let made = json(&signet(&[
        "client",
        "add",
        "--client-id",
        "gate",
        "--name",
        "The gate",
        "--grant-type",
        "client_credentials",
        "--scope",
        "signet:revocations",
        "--json",
        "--data-dir",
        dev.dir(),
    ]));
    std::fs::write(
        directory.join("secret"),
        made["client_secret"].as_str().unwrap(),
    )
    .unwrap();
    let configuration = format!(
        "[outbound]\ntrust = \"{ca}\"\nallow_loopback = true\n\n[[issuers]]\nissuer = \"{0}\"\n\n[issuers.revocations]\n\
         on_stream_loss = \"fail_closed\"\nclient = {{ client_id = \"gate\", client_secret_file = \"secret\" }}\n\n[[policies]]\n\
         audiences = [\"{0}\"]\nbinding = \"dpop\"\n",
        dev.issuer
    );
    std::fs::write(directory.join("proxy.secret"), PROXY_SECRET).unwrap();
    let configuration = format!("{configuration}\n[proxy]\nsecret_file = \"proxy.secret\"\n");
    let gate = Gate::start(directory, "gate", &configuration);
    gate.until_ready_says(200, "revocations current").await;
    let api = api(gate.port()).await;
    let (status, orders) = call(directory, &dev, api, &token).await;
    assert_eq!(status, StatusCode::OK);
    let page = browser.account().await;
    let subject = between(&orders, "\"for\":\"", '"').to_owned();
    assert!(!subject.is_empty());

    // An operator sees what Carol holds.
    let carol = done(&agent(directory, &dev, &["show", "--json", "carol.aid"]));
    let carol: Value = serde_json::from_str(&carol).unwrap();
    let carol = carol["id"].as_str().unwrap();
    let held = json(&signet(&[
        "agents",
        "show",
        carol,
        "--json",
        "--data-dir",
        dev.dir(),
    ]));
    assert_eq!(held["tokens"].as_array().unwrap().len(), 1, "{held}");
    assert_eq!(held["grants"][0]["user_id"], subject.as_str());

    // Alice revokes, in a session; the next calls fail as soon as the gate has heard of it.
    let root: Value =
        serde_json::from_slice(&std::fs::read(directory.join("alice-to-bob.json")).unwrap())
            .unwrap();
    let id = root["id"].as_str().unwrap();
    assert!(page.contains(id), "{page}");
    let page = browser
        .submit_account(&page, &[("decision", "revoke-grant"), ("grant", id)])
        .await;
    assert!(page.contains("have ended"), "{page}");
    let revoked = Instant::now();
    while call(directory, &dev, api, &token).await.0 != StatusCode::UNAUTHORIZED {
        assert!(revoked.elapsed() < PATIENCE, "the token is still accepted");
    }
    let again = agent(directory, &dev, &exchange);
    assert_eq!(json(&again)["error_description"], "revoked");

    // The auditor has the trail, the public documents and the grants, and no server.
    let audit = |arguments: &[&str]| {
        let output = signet(&[&["audit"], arguments].concat());
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stdout)
    };
    let trail = directory.join("trail.audit");
    let trail = trail.to_str().unwrap();
    let tail = audit(&["tail", "--json", "--lines", "100", "--data-dir", dev.dir()]);
    audit(&["export", "--data-dir", dev.dir(), "--out", trail]);
    drop(_server);
    audit(&["verify", trail]);
    for expected in ["bind-agent", "token.issue", carol, id, "revoke-agent-grant"] {
        assert!(tail.contains(expected), "{expected}: {tail}");
    }
    let verify = [
        "chain",
        "verify",
        "--root",
        "alice.json",
        "--capability",
        "read:orders/open",
        "alice-to-bob.json",
        "bob-to-carol.json",
    ];
    let accepted = done(&agent(directory, &dev, &verify));
    assert!(accepted.contains(carol), "{accepted}");
    // One byte of the trail changed is found.
    let mut bytes = std::fs::read(trail).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(trail, bytes).unwrap();
    assert!(!signet(&["audit", "verify", trail]).status.success());
}

#[tokio::test]
async fn a_signed_revocation_is_published_and_an_operator_stops_everything_of_a_person() {
    let room = tempfile::tempdir().unwrap();
    let directory = room.path();
    let (_server, dev) = Server::dev(directory);
    let ca = dev.ca.to_str().unwrap();
    for name in ["alice", "bob"] {
        let file = format!("{name}.aid");
        done(&agent(
            directory,
            &dev,
            &["create", "--name", name, "--out", &file],
        ));
        let document = done(&agent(directory, &dev, &["show", "--document", &file]));
        std::fs::write(directory.join(format!("{name}.json")), document).unwrap();
    }
    let mut browser = Browser::new(&dev);
    let page = browser.account().await;
    let challenge = between(&page, "--challenge ", '<').to_owned();
    let prove = [
        "prove",
        "--identity",
        "alice.aid",
        "--audience",
        &dev.issuer,
        "--challenge",
        &challenge,
    ];
    let proof = done(&agent(directory, &dev, &prove));
    let bind = [("decision", "bind-agent"), ("proof", &*proof)];
    browser.submit_account(&page, &bind).await;
    let grant = |out: &str| {
        let arguments = [
            "grant",
            "--identity",
            "alice.aid",
            "--to",
            "bob.json",
            "--capability",
            "read:*",
            "--expires-in",
            "1h",
            "--out",
            out,
        ];
        done(&agent(directory, &dev, &arguments));
    };
    let (client_id, _) = dev.credentials("service");
    let exchange = |file: &str| {
        let arguments = [
            "--json",
            "exchange",
            "--identity",
            "bob.aid",
            "--issuer",
            &dev.issuer,
            "--ca-cert",
            ca,
            "--client-id",
            &client_id,
            file,
        ];
        json(&agent(directory, &dev, &arguments))
    };
    grant("one.json");
    assert!(exchange("one.json")["access_token"].is_string());
    let revoke = [
        "revoke",
        "--identity",
        "alice.aid",
        "--grant",
        "one.json",
        "--reason",
        "enough",
        "--out",
        "revocation.json",
    ];
    done(&agent(directory, &dev, &revoke));
    let publish = [
        "publish",
        "--issuer",
        &dev.issuer,
        "--ca-cert",
        ca,
        "revocation.json",
    ];
    let said = done(&agent(directory, &dev, &publish));
    assert!(said.contains("1 grants"), "{said}");
    assert_eq!(exchange("one.json")["error_description"], "revoked");
    grant("two.json");
    let token = exchange("two.json")["access_token"]
        .as_str()
        .unwrap()
        .to_owned();
    let user = dev.json["user"]["username"].as_str().unwrap();
    let stopped = json(&signet(&[
        "agents",
        "stop",
        "--user",
        user,
        "--json",
        "--data-dir",
        dev.dir(),
    ]));
    assert_eq!(stopped["identities_unbound"], 1);
    assert!(stopped["nodes"][0]["milliseconds"].is_u64());
    assert!(!stopped["nodes"][0]["node"].as_str().unwrap().is_empty());
    let answer = dev
        .post("/introspect", Some("service"), &[("token", &token)])
        .await;
    assert_eq!(crate::support::body(&answer)["active"], false);
    assert_eq!(exchange("two.json")["error_description"], "wrong_root");
    // An agent can be registered by its document, listed and stopped for good.
    let bob = directory.join("bob.json");
    done(&signet(&[
        "agents",
        "add",
        bob.to_str().unwrap(),
        "--data-dir",
        dev.dir(),
    ]));
    let listed = json(&signet(&[
        "agents",
        "list",
        "--json",
        "--data-dir",
        dev.dir(),
    ]));
    let registered = listed
        .as_array()
        .unwrap()
        .iter()
        .find(|a| a["registered"] == true);
    let id = registered.unwrap()["agent_id"].as_str().unwrap();
    done(&signet(&["agents", "stop", id, "--data-dir", dev.dir()]));
    let shown = json(&signet(&[
        "agents",
        "show",
        id,
        "--json",
        "--data-dir",
        dev.dir(),
    ]));
    assert!(shown["stopped_at"].is_u64());
}
