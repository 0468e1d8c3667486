//! The validation service follows a real server's stream of revocations: what is revoked is
//! refused, and what a lost stream means is what was chosen.

use std::path::Path;

use crate::support::{Dev, Server, body, gate::Gate, json, signet};
use http::StatusCode;

/// After how many seconds a lost stream counts.
const AFTER: u64 = 2;

/// A client that may hear revocations; its secret goes to a file.
pub fn make_reader(directory: &Path, dev: &Dev) {
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
    let secret = made["client_secret"].as_str().unwrap();
    std::fs::write(directory.join("secret"), format!("{secret}\n")).unwrap();
}

pub fn configuration(dev: &Dev, on_stream_loss: &str, secret: &str) -> String {
    format!(
        r#"
[outbound]
trust = "{ca}"
allow_loopback = true

[[issuers]]
issuer = "{issuer}"

[issuers.revocations]
on_stream_loss = "{on_stream_loss}"
after = "{AFTER}s"
client = {{ client_id = "gate", {secret} }}

[[policies]]
audiences = ["{issuer}"]
"#,
        ca = dev.ca.display(),
        issuer = dev.issuer,
    )
}

async fn revoke(dev: &Dev, token: &str) {
    let answer = dev
        .post("/revoke", Some("service"), &[("token", token)])
        .await;
    assert_eq!(answer.status, StatusCode::OK);
}

#[tokio::test]
async fn what_is_revoked_is_refused_and_a_lost_stream_is_open_or_closed_as_chosen() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    let (mut server, dev) = Server::dev(directory);
    make_reader(directory, &dev);
    let before = dev.service_token().await;
    revoke(&dev, &before).await;
    let closed = configuration(&dev, "fail_closed", "client_secret_file = \"secret\"");
    let closed = Gate::start(directory, "closed", &closed);
    let open = configuration(
        &dev,
        "fail_open",
        "client_secret_env = \"TEST_GATE_SECRET\"",
    );
    let open = Gate::start(directory, "open", &open);

    // What was revoked before the stream began, and what is revoked while it is read: cached
    // answers end, too.
    let (one, other) = (dev.service_token().await, dev.service_token().await);
    for gate in [&closed, &open] {
        gate.until_ready_says(200, "revocations current").await;
        gate.until(&one, (200, "valid")).await;
        gate.until(&other, (200, "valid")).await;
        gate.until(&before, (401, "revoked")).await;
    }
    revoke(&dev, &one).await;
    for gate in [&closed, &open] {
        gate.until(&one, (401, "revoked")).await;
        assert_eq!(gate.validate(&other).await.1, "valid");
    }
    let (_, metrics) = open.ask("/metrics", None).await.unwrap();
    let line = format!(
        "signet_gate_revocations_state{{issuer=\"{}\",state=\"current\"}} 1",
        dev.issuer
    );
    assert!(metrics.contains(&line), "{metrics}");

    // A reload keeps what is known, and goes on listening.
    closed.signal("HUP");
    closed.until_ready_says(200, "revocations current").await;
    closed.until(&one, (401, "revoked")).await;

    server.signal("KILL");
    closed.until(&other, (503, "revocation_unknown")).await;
    closed
        .until_ready_says(503, "revocations lost, refusing")
        .await;
    open.until_ready_says(200, "revocations lost").await;
    assert_eq!(open.validate(&other).await.1, "valid");
    assert_eq!(open.validate(&one).await.1, "revoked");

    server.crash_and_restart(&dev).await;
    closed.until(&other, (200, "valid")).await;
    revoke(&dev, &other).await;
    for gate in [&closed, &open] {
        gate.until(&other, (401, "revoked")).await;
        gate.until(&one, (401, "revoked")).await;
    }

    // The client's whole access ends.
    let last = dev.service_token().await;
    closed.until(&last, (200, "valid")).await;
    let (service, _) = dev.credentials("service");
    let revoked = signet(&["client", "revoke", &service, "--data-dir", dev.dir()]);
    assert!(
        revoked.status.success(),
        "{}",
        crate::support::text(&revoked.stderr)
    );
    closed.until(&last, (401, "revoked")).await;
    let next = dev.service_token().await;
    closed.until(&next, (200, "valid")).await;
}

#[tokio::test]
async fn an_exchanged_token_ends_at_the_gate_with_the_token_it_was_exchanged_from() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    let (_server, dev) = Server::dev(directory);
    make_reader(directory, &dev);
    let gate = configuration(&dev, "fail_closed", "client_secret_file = \"secret\"");
    let gate = Gate::start(directory, "gate", &gate);
    gate.until_ready_says(200, "revocations current").await;

    let exchanged = async |subject: &str| {
        let access_token = "urn:ietf:params:oauth:token-type:access_token";
        let form = [
            (
                "grant_type",
                "urn:ietf:params:oauth:grant-type:token-exchange",
            ),
            ("subject_token", subject),
            ("subject_token_type", access_token),
        ];
        let answer = body(&dev.post("/token", Some("service"), &form).await);
        let token = answer["access_token"].as_str();
        token.unwrap_or_else(|| panic!("{answer}")).to_owned()
    };
    let subject = dev.service_token().await;
    let once = exchanged(&subject).await;
    let twice = exchanged(&once).await;
    let other = exchanged(&dev.service_token().await).await;
    for token in [&once, &twice, &other] {
        gate.until(token, (200, "valid")).await;
    }
    revoke(&dev, &subject).await;
    for token in [&subject, &once, &twice] {
        gate.until(token, (401, "revoked")).await;
    }
    assert_eq!(gate.validate(&other).await.1, "valid");
}

#[tokio::test]
async fn a_reload_while_the_stream_is_lost_forgets_no_revocation() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    let (server, dev) = Server::dev(directory);
    make_reader(directory, &dev);
    // Keys that are there without the server, so that the next setup is ready while the server is
    // gone.
    let keys = dev.client().get(&format!("{}/jwks", dev.issuer), &[]).await;
    std::fs::write(directory.join("keys.json"), keys.unwrap().body).unwrap();
    let named = format!("issuer = \"{}\"\n", dev.issuer);
    let open = configuration(&dev, "fail_open", "client_secret_file = \"secret\"")
        .replace(&named, &format!("{named}jwks_file = \"keys.json\"\n"));
    let gate = Gate::start(directory, "open", &open);
    gate.until_ready_says(200, "revocations current").await;
    let (revoked, other) = (dev.service_token().await, dev.service_token().await);
    gate.until(&revoked, (200, "valid")).await;
    gate.until(&other, (200, "valid")).await;
    revoke(&dev, &revoked).await;
    gate.until(&revoked, (401, "revoked")).await;

    server.signal("KILL");
    gate.until_ready_says(200, "revocations lost").await;
    assert_eq!(gate.validate(&revoked).await.1, "revoked");
    gate.signal("HUP");
    // The next setup counts from nothing.
    for _ in 0..600 {
        let (_, metrics) = gate.ask("/metrics", None).await.unwrap();
        if metrics.contains("signet_gate_accepted_total 0\n") {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    let (_, metrics) = gate.ask("/metrics", None).await.unwrap();
    assert!(
        metrics.contains("signet_gate_accepted_total 0\n"),
        "{metrics}"
    );
    assert_eq!(gate.validate(&revoked).await.1, "revoked");
    assert_eq!(gate.validate(&other).await.1, "valid");
}

#[tokio::test]
async fn a_client_without_the_scope_hears_nothing_and_the_gate_says_why() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    let (_server, dev) = Server::dev(directory);
    let (id, secret) = dev.credentials("service");
    std::fs::write(directory.join("secret"), secret).unwrap();
    let configuration = configuration(&dev, "fail_closed", "client_secret_file = \"secret\"")
        .replace("\"gate\"", &format!("\"{id}\""));
    let gate = Gate::start(directory, "gate", &configuration);
    gate.until_ready_says(503, "revocations starting, refusing")
        .await;
    gate.until_ready_says(503, "the answer's status is 403")
        .await;
    let token = body(
        &dev.post(
            "/token",
            Some("service"),
            &[("grant_type", "client_credentials")],
        )
        .await,
    )["access_token"]
        .as_str()
        .unwrap()
        .to_owned();
    gate.until(&token, (503, "revocation_unknown")).await;
}

/// Gives each connection to the next of these ports, in turns.
fn balancer(ports: Vec<u16>) -> u16 {
    use std::net::{TcpListener, TcpStream};
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for (near, port) in listener.incoming().zip(ports.into_iter().cycle()) {
            let (near, far) = (
                near.unwrap(),
                TcpStream::connect(("127.0.0.1", port)).unwrap(),
            );
            let ways = [
                (near.try_clone().unwrap(), far.try_clone().unwrap()),
                (far, near),
            ];
            for (mut from, mut to) in ways {
                std::thread::spawn(move || {
                    // How a connection ends is no matter here.
                    let _ = std::io::copy(&mut from, &mut to);
                    let _ = to.shutdown(std::net::Shutdown::Both);
                });
            }
        }
    });
    port
}

#[tokio::test]
async fn a_gate_behind_a_balancer_acknowledges_by_whichever_node_it_reaches() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    let (_first, one) = Server::dev(directory);
    make_reader(directory, &one);
    let invited = signet(&["node", "invite", "--data-dir", one.dir()]);
    let token = crate::support::text(&invited.stdout).trim().to_owned();
    let place = directory.join("second");
    std::fs::create_dir(&place).unwrap();
    let (_second, two) = Server::joined(&place, &token);
    // The stream comes to the one node, and what is acknowledged to the other.
    let port = |dev: &Dev| dev.url.rsplit(':').next().unwrap().parse().unwrap();
    let balancer = balancer(vec![port(&one), port(&two)]);
    let both = [&one, &two].map(|dev| std::fs::read_to_string(&dev.ca).unwrap());
    std::fs::write(directory.join("trust.pem"), both.concat()).unwrap();
    let configuration = format!(
        r#"
[outbound]
trust = "trust.pem"
allow_loopback = true

[[issuers]]
issuer = "{issuer}"

[issuers.revocations]
url = "https://localhost:{balancer}/revocations"
client = {{ client_id = "gate", client_secret_file = "secret" }}

[[policies]]
audiences = ["{issuer}"]
"#,
        issuer = one.issuer,
    );
    let gate = Gate::start(directory, "balanced", &configuration);
    gate.until_ready_says(200, "revocations current").await;
    let access = one.service_token().await;
    gate.until(&access, (200, "valid")).await;
    let (service, _) = two.credentials("service");
    // Asked at either node: the one has the stream, the other only the way to it.
    for dev in [&one, &two] {
        let revoked = signet(&[
            "revoke",
            "--client",
            &service,
            "--json",
            "--data-dir",
            dev.dir(),
        ]);
        let answer = json(&revoked);
        assert_eq!(revoked.status.code(), Some(0), "{answer}");
        assert_eq!(answer["nodes"].as_array().unwrap().len(), 2, "{answer}");
        assert_eq!(answer["readers"].as_array().unwrap().len(), 1, "{answer}");
        assert_eq!(answer["readers"][0]["name"], "gate", "{answer}");
        assert_eq!(gate.validate(&access).await.1, "revoked");
    }
}

/// HN1: the node answers all the time, and its stream never falls silent.
#[tokio::test]
async fn a_gate_at_a_node_that_hears_no_other_closes_and_opens_by_itself() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    let cluster = crate::cluster::Cluster::of(3);
    cluster.all_ready(0).await;
    let dev = cluster.dev(0);
    make_reader(directory, dev);
    let configuration = |on_stream_loss| {
        let secret = "client_secret_file = \"secret\"";
        configuration(dev, on_stream_loss, secret)
    };
    let closed = Gate::start(directory, "closed", &configuration("fail_closed"));
    let open = Gate::start(directory, "open", &configuration("fail_open"));
    let token = dev.service_token().await;
    for gate in [&closed, &open] {
        gate.until(&token, (200, "valid")).await;
        gate.until_ready_says(200, "revocations current").await;
    }

    for (server, _) in &cluster.nodes[1..] {
        server.signal("STOP");
    }
    closed.until(&token, (503, "revocation_unknown")).await;
    closed
        .until_ready_says(503, "revocations lost, refusing")
        .await;
    // It stays closed for as long as its node speaks alone, and so is a gate that starts now.
    let later = Gate::start(directory, "later", &configuration("fail_closed"));
    // Its issuer's keys come first.
    later.until(&token, (503, "revocation_unknown")).await;
    for _ in 0..2 * AFTER {
        dev.service_token().await;
        for gate in [&closed, &later] {
            let answer = gate.validate(&token).await;
            assert_eq!(answer.1, "revocation_unknown");
        }
        tokio::time::sleep(std::time::Duration::from_millis(500)).await;
    }
    open.until_ready_says(200, "revocations lost").await;
    assert_eq!(open.validate(&token).await.1, "valid");

    for (server, _) in &cluster.nodes[1..] {
        server.signal("CONT");
    }
    for gate in [&closed, &later, &open] {
        gate.until(&token, (200, "valid")).await;
        gate.until_ready_says(200, "revocations current").await;
    }
    revoke(cluster.dev(2), &token).await;
    for gate in [&closed, &later, &open] {
        gate.until(&token, (401, "revoked")).await;
    }
}
