//! Groups, roles and attributes by the commands, and what a token says of them.

use crate::support::{Dev, Server, json, signet, text};
use serde_json::{Value, json};

fn run(dev: &Dev, arguments: &[&str]) -> std::process::Output {
    let mut all = arguments.to_vec();
    all.extend(["--json", "--data-dir", dev.dir()]);
    signet(&all)
}

/// Runs a command against the server; its JSON. It must succeed.
#[track_caller]
fn done(dev: &Dev, arguments: &[&str]) -> Value {
    let output = run(dev, arguments);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {said}");
    json(&output)
}

/// The `error` of a refusal.
#[track_caller]
fn refused(dev: &Dev, arguments: &[&str]) -> Value {
    let output = run(dev, arguments);
    assert_eq!(output.status.code(), Some(1), "{arguments:?}");
    json(&output)["error"].clone()
}

/// What an access token of alice says.
#[track_caller]
fn said(dev: &Dev, scopes: &[&str]) -> Value {
    let mut arguments = vec!["dev", "token", "--client", "web", "--user", "alice"];
    for scope in scopes {
        arguments.extend(["--scope", scope]);
    }
    arguments.extend(["--data-dir", dev.dir()]);
    let output = signet(&arguments);
    let token = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let inspected = signet(&["token", "inspect", "--json", token.trim()]);
    let inspected = json(&inspected);
    inspected["claims"].clone()
}

#[test]
fn groups_and_roles_of_the_commands_stand_in_the_next_token() {
    let dir = tempfile::tempdir().unwrap();
    let (_server, dev) = Server::dev(dir.path());
    done(&dev, &["group", "add", "staff"]);
    done(
        &dev,
        &["role", "add", "auditor", "--description", "May look"],
    );
    let made = [
        "group",
        "add",
        "engineering",
        "--parent",
        "staff",
        "--role",
        "auditor",
    ];
    assert_eq!(done(&dev, &made)["parent"], "staff");
    done(&dev, &["group", "members", "engineering", "add", "alice"]);
    let listed = done(&dev, &["group", "members", "engineering", "list"]);
    assert_eq!(listed[0]["username"], "alice");
    assert_eq!(
        done(&dev, &["user", "show", "alice"])["groups"],
        json!(["engineering"])
    );
    assert_eq!(
        said(&dev, &["openid", "groups"])["groups"],
        json!(["engineering", "staff"])
    );

    // What the API refuses has the API's own code.
    assert_eq!(
        refused(&dev, &["group", "set", "staff", "parent=engineering"]),
        "circle"
    );
    assert_eq!(
        refused(&dev, &["group", "remove", "staff", "--yes"]),
        "in_use"
    );
    assert_eq!(refused(&dev, &["group", "add", "staff"]), "exists");
    assert_eq!(
        refused(&dev, &["group", "members", "nowhere", "add", "alice"]),
        "invalid_request"
    );

    let claims = r#"claims=["realm_access.roles"]"#;
    let web = dev.credentials("web").0;
    done(&dev, &["client", "set", &web, claims]);
    assert_eq!(
        said(&dev, &["openid"])["realm_access"],
        json!({"roles": ["auditor"]})
    );
    let reserved = r#"claims=[{"claim":"sub","from":"groups"}]"#;
    let code = refused(&dev, &["client", "set", &web, reserved]);
    assert_eq!(code, "invalid_client_metadata");

    done(
        &dev,
        &["attribute", "add", "level", "type=number", "label=Level"],
    );
    done(&dev, &["user", "attributes", "alice", "level=3"]);
    assert_eq!(
        refused(&dev, &["user", "attributes", "alice", "level=three"]),
        "invalid_request"
    );
    done(
        &dev,
        &[
            "client",
            "set",
            &web,
            r#"claims=[{"claim":"work.level","from":"attribute:level"}]"#,
        ],
    );
    assert_eq!(said(&dev, &["openid"])["work"], json!({"level": 3}));

    done(
        &dev,
        &["group", "members", "engineering", "remove", "alice"],
    );
    assert_eq!(said(&dev, &["openid", "groups"])["groups"], json!([]));
    done(&dev, &["role", "members", "auditor", "add", "alice"]);
    assert_eq!(
        done(&dev, &["user", "show", "alice"])["roles"],
        json!(["auditor"])
    );
    done(&dev, &["role", "remove", "auditor", "--yes"]);
    assert_eq!(done(&dev, &["user", "show", "alice"])["roles"], json!([]));
    done(&dev, &["group", "remove", "engineering", "--yes"]);
    assert_eq!(done(&dev, &["group", "list"]).as_array().unwrap().len(), 1);
}
