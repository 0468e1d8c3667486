//! `signet revoke`: everything of one thing, at once, and the answer says where it is in effect.
use crate::support::{
    Browser, CHALLENGE, Dev, REDIRECT, Server, VERIFIER, body, json, signet, text,
};
use serde_json::Value;

async fn is_active(dev: &Dev, token: &str) -> bool {
    let fields = [("token", token)];
    let answer = dev.post("/introspect", Some("service"), &fields);
    body(&answer.await)["active"] == true
}

/// Alice's tokens of `native`: access and refresh.
async fn tokens(dev: &Dev) -> (String, String) {
    let mut browser = Browser::new(dev);
    let code = browser.code("native", "openid offline_access").await;
    let answer = dev
        .post(
            "/token",
            None,
            &[
                ("grant_type", "authorization_code"),
                ("client_id", "native"),
                ("redirect_uri", REDIRECT),
                ("code", &code),
                ("code_verifier", VERIFIER),
            ],
        )
        .await;
    let tokens = body(&answer);
    let member = |name: &str| tokens[name].as_str().unwrap().to_owned();
    (member("access_token"), member("refresh_token"))
}

async fn refresh(dev: &Dev, token: &str) -> Value {
    let fields = [
        ("grant_type", "refresh_token"),
        ("client_id", "native"),
        ("refresh_token", token),
    ];
    body(&dev.post("/token", None, &fields).await)
}

fn revoke(dev: &Dev, arguments: &[&str]) -> Value {
    let mut all = vec!["revoke", "--json", "--data-dir", dev.dir()];
    all.extend(arguments);
    let output = signet(&all);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    json(&output)
}

#[tokio::test]
async fn what_is_revoked_is_in_effect_at_the_node_that_answers() {
    let directory = tempfile::tempdir().unwrap();
    let (_server, dev) = Server::dev(directory.path());
    assert_eq!(CHALLENGE.len(), 43);
    let (access, refresh_token) = tokens(&dev).await;
    let service = dev.service_token().await;
    assert!(is_active(&dev, &access).await && is_active(&dev, &service).await);

    let answer = revoke(&dev, &["--user", "alice"]);
    assert_eq!(answer["nodes"].as_array().unwrap().len(), 1);
    assert!(answer["nodes"][0]["name"].is_string());
    assert!(answer["nodes"][0]["ms"].as_f64().unwrap() > 0.0);
    assert_eq!(answer["unreachable"], Value::Array(Vec::new()));
    assert!(!is_active(&dev, &access).await);
    assert_eq!(
        refresh(&dev, &refresh_token).await["error"],
        "invalid_grant"
    );
    // Nobody else's.
    assert!(is_active(&dev, &service).await);

    revoke(&dev, &["--client", "service"]);
    assert!(!is_active(&dev, &service).await);
    assert!(is_active(&dev, &dev.service_token().await).await);
}

#[tokio::test]
async fn everything_of_before_a_moment_ends_and_nothing_later() {
    let directory = tempfile::tempdir().unwrap();
    let (_server, dev) = Server::dev(directory.path());
    let (access, refresh_token) = tokens(&dev).await;
    let service = dev.service_token().await;
    // What was issued in this second is not before it.
    let now = std::time::UNIX_EPOCH.elapsed().unwrap().as_secs();
    while std::time::UNIX_EPOCH.elapsed().unwrap().as_secs() == now {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    let before = (now + 1).to_string();
    let later = dev.service_token().await;
    revoke(&dev, &["--before", &before, "--yes"]);
    for token in [&access, &service] {
        assert!(!is_active(&dev, token).await);
    }
    assert_eq!(
        refresh(&dev, &refresh_token).await["error"],
        "invalid_grant"
    );
    assert!(is_active(&dev, &later).await);

    // A moment that has not come would end what is not yet made.
    let output = signet(&[
        "revoke",
        "--before",
        "2099-01-01T00:00:00Z",
        "--yes",
        "--data-dir",
        dev.dir(),
    ]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("future"));
    // Whom, is not to be guessed.
    let two = ["revoke", "--user", "a", "--client", "b"];
    for arguments in [&two[..1], &two] {
        assert_eq!(signet(arguments).status.code(), Some(2));
    }
    let output = signet(&["revoke", "--user", "nobody", "--data-dir", dev.dir()]);
    assert_eq!(output.status.code(), Some(1));
}
