//! What `signet revoke` ends at one of three nodes is over at all of them when it is answered.
use crate::{
    cluster::Cluster,
    support::{Browser, Dev, REDIRECT, SIGNET, VERIFIER, body, json, signet, text},
};
use serde_json::Value;
use std::{path::Path, process::Command, time::Duration};

async fn is_active(dev: &Dev, token: &str) -> bool {
    let fields = [("token", token)];
    let answer = dev.post("/introspect", Some("service"), &fields);
    body(&answer.await)["active"] == true
}

/// `signet agent ...` in a directory.
fn agent(directory: &Path, dev: &Dev, arguments: &[&str]) -> String {
    let output = Command::new(SIGNET)
        .arg("agent")
        .args(arguments)
        .current_dir(directory)
        .env("SIGNET_PASSPHRASE", "correct horse")
        .env("SIGNET_CLIENT_SECRET", dev.credentials("service").1)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    text(&output.stdout).trim().to_owned()
}

/// Revokes at a node; all three have to answer.
fn revoke(dev: &Dev, arguments: &[&str]) {
    let mut all = vec!["revoke", "--json", "--data-dir", dev.dir()];
    all.extend(arguments);
    let output = signet(&all);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let answer = json(&output);
    let nodes = answer["nodes"].as_array().unwrap();
    let mut names: Vec<&str> = nodes.iter().filter_map(|n| n["name"].as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, ["node-1", "node-2", "node-3"], "{arguments:?}");
    let took = |node: &Value| node["ms"].as_f64().unwrap() > 0.0;
    assert!(nodes.iter().all(took), "{answer}");
    assert_eq!(answer["unreachable"], Value::Array(Vec::new()));
}

/// A member of an object, however deep it lies.
fn inside<'a>(value: &'a Value, name: &str) -> Option<&'a Value> {
    match value {
        Value::Object(members) => members
            .get(name)
            .or_else(|| members.values().find_map(|value| inside(value, name))),
        Value::Array(list) => list.iter().find_map(|value| inside(value, name)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

fn claim(token: &str, name: &str) -> Value {
    let said = json(&signet(&["token", "inspect", "--json", token]));
    let claim = inside(&said, name);
    claim.unwrap_or_else(|| panic!("no {name}: {said}")).clone()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sessions_agents_delegations_and_moments_end_at_all_of_three_nodes() {
    let cluster = Cluster::of(3);
    let [one, two, three] = [cluster.dev(0), cluster.dev(1), cluster.dev(2)];
    for node in 0..3 {
        cluster.all_ready(node).await;
    }
    let end = async |token: &str, arguments: &[&str]| {
        for dev in [one, two, three] {
            assert!(is_active(dev, token).await, "{arguments:?}");
        }
        revoke(two, arguments);
        for dev in [three, one, two] {
            assert!(!is_active(dev, token).await, "{arguments:?}");
        }
    };

    // A session, and what was issued in it.
    let mut browser = Browser::new(one);
    let code = browser.code("native", "openid offline_access").await;
    let redeem = [
        ("grant_type", "authorization_code"),
        ("client_id", "native"),
        ("redirect_uri", REDIRECT),
        ("code", &*code),
        ("code_verifier", VERIFIER),
    ];
    let tokens = body(&three.post("/token", None, &redeem).await);
    let access = tokens["access_token"].as_str().unwrap();
    let sid = claim(access, "sid");
    end(access, &["--session", sid.as_str().unwrap()]).await;

    // An agent acts for a person who has bound an identity to the account.
    let room = tempfile::tempdir().unwrap();
    let directory = room.path();
    let mut documents = Vec::new();
    for name in ["alice", "bob"] {
        let file = format!("{name}.aid");
        agent(directory, one, &["create", "--name", name, "--out", &file]);
        let document = agent(directory, one, &["show", "--document", &file]);
        std::fs::write(directory.join(format!("{name}.json")), &document).unwrap();
        documents.push(document);
    }
    let mut browser = Browser::new(one);
    let page = browser.account().await;
    let (_, challenge) = page.split_once("--challenge ").unwrap();
    let challenge = challenge.split('<').next().unwrap().to_owned();
    let prove = [
        "prove",
        "--identity",
        "alice.aid",
        "--audience",
        &one.issuer,
    ];
    let prove = [&prove[..], &["--challenge", &challenge]].concat();
    let proof = agent(directory, one, &prove);
    let bind = [("decision", "bind-agent"), ("proof", &*proof)];
    browser.submit_account(&page, &bind).await;
    let token = |file: &str| {
        let grant = ["grant", "--identity", "alice.aid", "--to", "bob.json"];
        let more = [
            "--capability",
            "read:*",
            "--expires-in",
            "1h",
            "--out",
            file,
        ];
        agent(directory, one, &[&grant[..], &more].concat());
        let exchange = ["--json", "exchange", "--identity", "bob.aid"];
        let ca = one.ca.to_str().unwrap();
        let from = ["--issuer", &one.issuer, "--ca-cert", ca];
        let (client_id, _) = one.credentials("service");
        let all = [&exchange[..], &from, &["--client-id", &client_id, file]].concat();
        let answer: Value = serde_json::from_str(&agent(directory, one, &all)).unwrap();
        answer["access_token"].as_str().unwrap().to_owned()
    };
    let first = token("one.json");
    let grants = claim(&first, "agent_grants");
    end(&first, &["--delegation", grants[0].as_str().unwrap()]).await;
    let second = token("two.json");
    let bob: Value = serde_json::from_str(&documents[1]).unwrap();
    let id = inside(&bob, "id").and_then(Value::as_str).unwrap();
    end(&second, &["--agent", id]).await;

    // Everything of before a moment.
    let token = three.service_token().await;
    let now = || std::time::UNIX_EPOCH.elapsed().unwrap().as_secs();
    let begun = now();
    while now() == begun {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let moment = now().to_string();
    let later = two.service_token().await;
    end(&token, &["--before", &moment, "--yes"]).await;
    for dev in [one, two, three] {
        assert!(is_active(dev, &later).await, "it was issued later");
    }
}
