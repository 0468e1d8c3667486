//! Nodes of configuration files: hub-and-spoke, and a node whose own rows are long past.

use crate::support::node::Node;
use http::Method;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(60);

async fn knows(node: &Node, client_id: &str) -> bool {
    let path = format!("/clients/{client_id}");
    node.admin(Method::GET, &path, Value::Null).await.0 == 200
}

/// A registry write at one node, and a revocation at another: both are there on all.
async fn all_hear(nodes: &[&Node], writer: usize, revoker: usize) {
    let name = format!("made-by-{writer}-{}", nodes.len());
    let client = json!({ "client_name": name, "grant_types": ["client_credentials"] });
    let started = Instant::now();
    let (status, made) = nodes[writer].admin(Method::POST, "/clients", client).await;
    assert_eq!(status, 201, "{made}");
    let client_id = made["client_id"].as_str().unwrap();
    for node in nodes {
        while !knows(node, client_id).await {
            assert!(started.elapsed() < PATIENCE, "{}", node.server.log());
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
    let token = nodes[writer].token().await;
    for node in nodes {
        assert!(node.is_active(&token).await);
    }
    let wanted = json!({ "client": "service" });
    let (status, answer) = nodes[revoker]
        .admin(Method::POST, "/revocations", wanted)
        .await;
    assert!(status < 300, "{answer}");
    for node in nodes {
        assert!(!node.is_active(&token).await, "{answer}");
    }
    // What was issued at this very millisecond or before it is dead; the next one is not.
    tokio::time::sleep(Duration::from_millis(5)).await;
}

#[tokio::test]
async fn what_is_written_or_revoked_reaches_all_through_hubs_and_losing_a_hub_costs_nothing() {
    let cluster = |hub: bool| format!("topology = \"hubs\"\nhub = {hub}\n");
    let mut nodes = vec![Node::start(&cluster(true), None)];
    for number in 1..5 {
        let token = nodes[0].invite().await;
        // Two hubs, three spokes.
        nodes.push(Node::start(&cluster(number == 1), Some(&token)));
    }
    for node in &nodes {
        node.sees_ready(5).await;
    }
    let all: Vec<&Node> = nodes.iter().collect();
    // From spoke to spoke.
    all_hear(&all, 2, 4).await;
    all_hear(&all, 3, 0).await;
    drop(all);
    // The second hub dies; the other one brings everything to everybody.
    nodes[1].kill();
    let left: Vec<&Node> = [0, 2, 3, 4].into_iter().map(|node| &nodes[node]).collect();
    for node in &left {
        node.sees_ready(4).await;
    }
    all_hear(&left, 1, 3).await;
}

#[tokio::test]
async fn a_node_that_starts_without_the_others_grants_nothing_by_rows_that_are_long_past() {
    let mut nodes = vec![Node::start("", None)];
    for _ in 1..3 {
        let token = nodes[0].invite().await;
        nodes.push(Node::start("", Some(&token)));
    }
    for node in &nodes {
        node.sees_ready(3).await;
    }
    let token = nodes[0].token().await;
    for node in &mut nodes {
        node.kill();
    }
    // Longer than this one may believe what it has.
    tokio::time::sleep(Duration::from_secs(4)).await;
    nodes[0].start_again(Some("staleness = \"3s\"\n")).await;
    nodes[0].until_ready_says("sync: outdated").await;
    let form = "grant_type=client_credentials";
    let (status, body) = nodes[0].post("service", "/token", form).await;
    assert_eq!(
        (status, &body["error"]),
        (503, &json!("temporarily_unavailable"))
    );
    let asked = format!("token={token}");
    let (status, body) = nodes[0].post("service", "/introspect", &asked).await;
    assert_eq!(
        (status, &body["error"]),
        (503, &json!("temporarily_unavailable"))
    );
    // What is no claim about anybody is answered.
    assert_eq!(nodes[0].get("/jwks").await.0, 200);
    let metadata = "/.well-known/oauth-authorization-server";
    assert_eq!(nodes[0].get(metadata).await.0, 200);
    // It is whole by itself when it has heard one of the others: two are a majority.
    nodes[1].start_again(None).await;
    nodes[0].until_ready_says("ready\nsync: whole").await;
    nodes[0].token().await;
    assert!(nodes[0].is_active(&token).await);
}
