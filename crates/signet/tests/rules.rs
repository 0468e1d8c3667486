//! Groups and access rules by the commands, as scripts use them.

use crate::support::{Dev, Server, json, signet, text};
use serde_json::{Value, json};

fn run(dev: &Dev, arguments: &[&str]) -> std::process::Output {
    let mut all = arguments.to_vec();
    all.extend(["--json", "--data-dir", dev.dir()]);
    signet(&all)
}

#[track_caller]
fn done(dev: &Dev, arguments: &[&str]) -> Value {
    let output = run(dev, arguments);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {said}");
    json(&output)
}

/// The explanation of a no, which is exit 1.
#[track_caller]
fn denied(dev: &Dev, arguments: &[&str]) -> Value {
    let output = run(dev, arguments);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{arguments:?}: {said}");
    json(&output)
}

/// A token of alice for `web`, or what the command says instead.
fn token(dev: &Dev) -> Result<String, String> {
    let output = signet(&[
        "dev",
        "token",
        "--client",
        "web",
        "--user",
        "alice",
        "--scope",
        "openid",
        "--data-dir",
        dev.dir(),
    ]);
    match output.status.code() {
        Some(0) => Ok(text(&output.stdout)),
        _ => Err(text(&output.stderr)),
    }
}

#[test]
fn a_rule_that_denies_keeps_a_person_out_of_a_client_and_is_explained() {
    let dir = tempfile::tempdir().unwrap();
    let (_server, dev) = Server::dev(dir.path());
    let web = dev.credentials("web").0;
    let explain = ["rule", "explain", "--user", "alice", "--client", &web];
    let before = done(&dev, &explain);
    assert_eq!(
        (&before["allowed"], &before["rule"]),
        (&json!(true), &Value::Null)
    );
    token(&dev).expect("a token before there is a rule");

    let add = ["rule", "add", "closed", "--user", "alice", "--client", &web];
    let mut all = add.to_vec();
    all.extend(["--effect", "deny"]);
    let made = done(&dev, &all);
    assert_eq!(
        (&made["effect"], &made["clients"]),
        (&json!("deny"), &json!([web]))
    );
    let refused = token(&dev).expect_err("a token in spite of a rule");
    assert!(refused.contains("an access rule"), "{refused}");
    let after = denied(&dev, &explain);
    assert_eq!(
        (&after["decision"], &after["rule"]),
        (&json!("deny"), &json!("closed"))
    );
    let listed = run(&dev, &["rule", "list"]);
    assert_eq!(json(&listed)[0]["name"], "closed");
    assert!(text(&listed.stderr).contains("What no rule denies is allowed."));

    // By a group, and only for one scope.
    done(&dev, &["rule", "remove", "closed", "--yes"]);
    done(&dev, &["group", "add", "staff"]);
    done(&dev, &["group", "add", "engineering", "--parent", "staff"]);
    let rule = [
        "rule", "add", "mail", "--group", "staff", "--client", &web, "--scope", "email",
    ];
    let mut all = rule.to_vec();
    all.extend(["--effect", "deny"]);
    done(&dev, &all);
    done(&dev, &["group", "members", "engineering", "add", "alice"]);
    let mut mail = explain.to_vec();
    mail.extend(["--scope", "openid", "--scope", "email"]);
    assert_eq!(denied(&dev, &mail)["rule"], "mail");
    token(&dev).expect("openid alone");
    done(&dev, &["rule", "set", "mail", "scopes=[]"]);
    assert!(token(&dev).is_err());
    let outside = r#"except={"groups":["engineering"]}"#;
    done(&dev, &["rule", "set", "mail", outside]);
    token(&dev).expect("engineering is excepted");
}
