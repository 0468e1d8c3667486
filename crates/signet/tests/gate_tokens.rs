//! The validation service beside a real server: compact tokens of a discovered issuer, and tokens
//! that the issuer is asked about.

use std::path::Path;

use crate::support::{Dev, Server, basic, body, gate::Gate, http_client::form, json, signet};
use serde_json::Value;

/// What every configuration here begins with.
fn issuer(dev: &Dev) -> String {
    format!(
        "[outbound]\ntrust = \"{}\"\nallow_loopback = true\n\n[[issuers]]\nissuer = \"{}\"\n",
        dev.ca.display(),
        dev.issuer
    )
}

/// A client whose access tokens are compact: its id and secret.
fn compact_client(dev: &Dev) -> (String, String) {
    let with = |arguments: &[&str]| {
        let all = [arguments, &["--json", "--data-dir", dev.dir()]].concat();
        json(&signet(&all))
    };
    let made = with(&[
        "client",
        "add",
        "--client-id",
        "small",
        "--name",
        "Small",
        "--grant-type",
        "client_credentials",
        "--scope",
        "openid",
    ]);
    with(&["client", "set", "small", "access_token_format=compact"]);
    let secret = made["client_secret"].as_str().unwrap();
    ("small".to_owned(), secret.to_owned())
}

async fn token_of(dev: &Dev, (id, secret): &(String, String)) -> String {
    let answer = dev
        .client()
        .send(
            http::Method::POST,
            &format!("{}/token", dev.issuer),
            &[
                ("content-type", "application/x-www-form-urlencoded"),
                ("authorization", &basic(id, secret)),
            ],
            form(&[("grant_type", "client_credentials")]).into(),
        )
        .await
        .unwrap();
    body(&answer)["access_token"].as_str().unwrap().to_owned()
}

fn spoiled(token: &str) -> String {
    let last = if token.ends_with('A') { 'Q' } else { 'A' };
    let at = token.len() / 2;
    let middle = if &token[at..=at] == "A" { "B" } else { "A" };
    format!(
        "{}{middle}{}{last}",
        &token[..at],
        &token[at + 1..token.len() - 1]
    )
}

#[tokio::test]
async fn compact_tokens_of_a_discovered_issuer_are_verified_where_the_policy_takes_them() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    let (_server, dev) = Server::dev(directory);
    let configuration = format!(
        "{}\n[[policies]]\naudiences = [\"{iss}\"]\ncompact = true\n\n[[policies]]\nname = \"jwt\"\naudiences = [\"{iss}\"]\n",
        issuer(&dev),
        iss = dev.issuer
    );
    let gate = Gate::start(directory, "gate", &configuration);
    gate.until_ready_says(200, "healthy").await;
    let client = compact_client(&dev);
    let token = token_of(&dev, &client).await;
    assert!(!token.contains('.'));
    gate.until(&token, (200, "valid")).await;
    let (_, answer) = gate.ask("/validate", Some(&token)).await.unwrap();
    let answer: Value = serde_json::from_str(&answer).unwrap();
    assert_eq!(answer["claims"]["iss"], dev.issuer.as_str());
    assert_eq!(answer["claims"]["client_id"], "small");
    // A JWT is taken as well, and the policy that did not ask for compact tokens takes none.
    gate.until(&dev.service_token().await, (200, "valid")).await;
    let (status, _) = gate
        .ask("/validate", Some(&format!("{token}\",\"policy\":\"jwt")))
        .await
        .unwrap();
    assert_eq!(status, 401);
    assert_eq!(gate.validate(&spoiled(&token)).await.0, 401);
}

fn asking(dev: &Dev, directory: &Path, which: &str) -> String {
    let (id, secret) = dev.credentials("service");
    std::fs::write(directory.join("secret"), secret).unwrap();
    format!(
        "{}introspection = {{ max_age = \"1s\", client = {{ client_id = \"{id}\", client_secret_file = \"secret\" }} }}\n\n[[policies]]\naudiences = [\"{}\"]\nintrospect = \"{which}\"\n",
        issuer(dev),
        dev.issuer
    )
}

#[tokio::test]
async fn the_issuer_is_asked_about_tokens_and_its_no_ends_them() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    let (mut server, dev) = Server::dev(directory);
    let all = Gate::start(directory, "all", &asking(&dev, directory, "all"));
    let opaque = Gate::start(directory, "opaque", &asking(&dev, directory, "opaque"));
    for gate in [&all, &opaque] {
        gate.until_ready_says(200, "healthy").await;
    }
    let token = dev.service_token().await;
    let other = dev.service_token().await;
    for gate in [&all, &opaque] {
        gate.until(&token, (200, "valid")).await;
    }
    assert_eq!(opaque.validate("no-token-at-all").await.1, "inactive");
    let revoked = dev
        .post("/revoke", Some("service"), &[("token", &token)])
        .await;
    assert_eq!(revoked.status, 200);
    all.until(&token, (401, "inactive")).await;
    // A JWT is not asked about by a policy for opaque tokens.
    assert_eq!(opaque.validate(&token).await.1, "valid");
    // The form of compact tokens says nothing to a policy that has no keys for them: their issuer
    // is asked.
    let mine = dev.credentials("service");
    let changed = signet(&[
        "client",
        "set",
        &mine.0,
        "access_token_format=compact",
        "--data-dir",
        dev.dir(),
    ]);
    assert!(changed.status.success());
    let compact = token_of(&dev, &mine).await;
    assert!(!compact.contains('.'));
    opaque.until(&compact, (200, "valid")).await;
    let revoked = dev
        .post("/revoke", Some("service"), &[("token", &compact)])
        .await;
    assert_eq!(revoked.status, 200);
    opaque.until(&compact, (401, "inactive")).await;

    server.signal("KILL");
    server.end();
    all.until(&other, (503, "introspection_unavailable")).await;
}

/// The published vectors' token ended long ago: a refusal for its time says that it was opened and
/// read.
#[tokio::test]
async fn encrypted_tokens_are_opened_with_the_private_key_of_a_file() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    let vectors: Value =
        serde_json::from_str(include_str!("../../../vectors/jose/jwe.json")).unwrap();
    std::fs::write(directory.join("jwks.json"), vectors["jwks"].to_string()).unwrap();
    for (index, file) in ["rsa.pem", "ec.pem"].into_iter().enumerate() {
        let der = vectors["keys"][index]["pkcs8"].as_str().unwrap();
        let der = signet_encoding::base64url::decode(der.as_bytes()).unwrap();
        let pem = format!(
            "-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----\n",
            crate::support::base64(&der)
        );
        std::fs::write(directory.join(file), pem).unwrap();
    }
    let configuration = |key: &str| {
        format!(
            "[[issuers]]\nissuer = \"https://id.example.com\"\njwks_file = \"jwks.json\"\n\n[[policies]]\naudiences = [\"https://orders.example.com\"]\n{key}"
        )
    };
    let token = vectors["vectors"][0]["token"].as_str().unwrap();
    for (name, key, reason) in [
        (
            "rsa",
            "decryption_keys = [{ file = \"rsa.pem\", kid = \"RSA-2048\" }]",
            "expired",
        ),
        (
            "any",
            "decryption_keys = [{ file = \"ec.pem\" }, { file = \"rsa.pem\" }]",
            "expired",
        ),
        (
            "ec",
            "decryption_keys = [{ file = \"ec.pem\" }]",
            "encryption",
        ),
        ("none", "", "malformed"),
    ] {
        let gate = Gate::start(directory, name, &configuration(key));
        gate.until_ready_says(200, "healthy").await;
        assert_eq!(gate.validate(token).await.1, reason, "{name}");
    }
}

/// An issuer that is nothing but three documents; its address.
async fn documents(keys: String) -> String {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let issuer = format!("http://{}", listener.local_addr().unwrap());
    let vectors: Value =
        serde_json::from_str(include_str!("../../../vectors/jose/jwe.json")).unwrap();
    let jwks = vectors["jwks"].to_string();
    let metadata = format!(
        r#"{{"issuer":"{issuer}","jwks_uri":"{issuer}/jwks","signet_compact_keys_uri":"{issuer}/keys"}}"#
    );
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut head = [0; 4096];
            let length = stream.read(&mut head).await.unwrap_or(0);
            let head = String::from_utf8_lossy(&head[..length]).into_owned();
            let body = match head.split(' ').nth(1) {
                Some("/jwks") => &jwks,
                Some("/keys") => &keys,
                _ => &metadata,
            };
            let answer = format!(
                "HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
                body.len()
            );
            let _ = stream.write_all(answer.as_bytes()).await;
        }
    });
    issuer
}

#[tokio::test]
async fn a_published_zero_knowledge_key_counts_at_the_gate_only_where_its_verifying_key_is_pinned()
{
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    let path = |name: &str| directory.join(name).to_str().unwrap().to_owned();
    let (maker, key, public) = (path("maker"), path("key"), path("public"));
    let keygen = ["--json", "compact", "keygen", "--alg", "groth16-poseidon"];
    let files = ["--data-dir", &maker, "--out", &key, "--public-out", &public];
    let made = json(&signet(&[&keygen[..], &files].concat()));
    let pin = made["verifying_key_sha256"].as_str().unwrap();
    let published = std::fs::read_to_string(&public).unwrap();
    let published = format!(
        r#"{{"keys":[{{"kid":"z","alg":"groth16-poseidon","key":"{}"}}]}}"#,
        published.trim()
    );
    let issuer = documents(published).await;
    let signed = json(&signet(&[
        "--json",
        "compact",
        "sign",
        "--key",
        &key,
        "--data-dir",
        &maker,
        "--issuer",
        &issuer,
        "--subject",
        "user:alice",
        "--audience",
        "orders",
        "--expires-in",
        "1h",
    ]));
    let token = signed["token"].as_str().unwrap();
    let other = "00".repeat(32);
    for (name, pins, answer) in [
        ("none", String::new(), (401, "unknown_key")),
        ("other", format!("\"{other}\""), (401, "unknown_key")),
        ("pinned", format!("\"{other}\", \"{pin}\""), (200, "valid")),
    ] {
        let configuration = format!(
            "[outbound]\nallow_loopback = true\n\n[[issuers]]\nissuer = \"{issuer}\"\n\
             verifying_key_sha256 = [{pins}]\n\n[[policies]]\naudiences = [\"orders\"]\ncompact = true\n"
        );
        let gate = Gate::start(directory, name, &configuration);
        gate.until_ready_says(200, "healthy").await;
        gate.until(token, answer).await;
        let log = std::fs::read_to_string(directory.join(format!("{name}.log"))).unwrap();
        assert_eq!(log.contains(pin), name != "pinned", "{log}");
    }
}
