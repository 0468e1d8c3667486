//! What somebody meets who uses the server for the first time: the trail that answers who did what
//! to whom, commands that do not take away what their caller needs, refusals that say which value
//! was wrong.

use crate::support::{Dev, SIGNET, Server, body, json, signet, signet_with, text};
use serde_json::Value;
use std::{process::Output, time::Duration};

fn run(dev: &Dev, arguments: &[&str]) -> Output {
    let mut all = arguments.to_vec();
    all.extend(["--json", "--data-dir", dev.dir()]);
    signet(&all)
}

fn done(dev: &Dev, arguments: &[&str]) -> Value {
    let output = run(dev, arguments);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {said}");
    json(&output)
}

/// The refusal's code and sentence.
fn refused(dev: &Dev, arguments: &[&str]) -> (String, String) {
    let output = run(dev, arguments);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{arguments:?}: {said}");
    let answer = json(&output);
    let member = |name: &str| answer[name].as_str().unwrap_or_default().to_owned();
    (member("error"), member("error_description"))
}

fn add_user(dev: &Dev, name: &str) -> Value {
    let address = format!("{name}@example.test");
    let add = ["user", "add", name, "--email", &address];
    done(dev, &[&add[..], &["--without-password"]].concat())
}

/// Lines of the trail, once one of which this holds is among them.
async fn lines(dev: &Dev, arguments: &[&str], holds: impl Fn(&Value) -> bool) -> Vec<Value> {
    let mut found = Vec::new();
    for _ in 0..100 {
        found = match done(dev, &[&["audit", "tail"], arguments].concat()) {
            Value::Array(lines) => lines,
            other => panic!("{other}"),
        };
        if found.iter().any(&holds) {
            return found;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("no such line: {found:#?}");
}

#[tokio::test]
async fn the_trail_says_who_was_made_and_removed_by_whom_from_where_and_never_cuts_in_silence() {
    let dir = tempfile::tempdir().unwrap();
    let (server, dev) = Server::dev(dir.path());
    for number in 0..25 {
        add_user(&dev, &format!("person{number}"));
    }
    let erin = add_user(&dev, "erin");
    let id = erin["id"].as_str().unwrap();
    let client = ["client", "add", "--client-id", "shop", "--name", "Shop"];
    let fields = ["--redirect-uri", "https://shop.example/callback"];
    done(&dev, &[&client[..], &fields].concat());
    done(&dev, &["user", "remove", "erin", "--yes"]);

    // Who was made, and who was removed, by the name, also where nobody has it any more.
    let removal = |line: &Value| line["operation"] == "removeUser";
    let since = ["--user", "erin", "--since", "1h"];
    let of_erin = lines(&dev, &since, removal).await;
    assert_eq!(of_erin.len(), 2, "{of_erin:#?}");
    for (line, operation) in of_erin.iter().zip(["createUser", "removeUser"]) {
        assert_eq!(line["operation"], operation);
        assert_eq!(line["target"], id);
        assert_eq!(line["target_name"], "erin");
        assert_eq!(line["address"], "127.0.0.1");
        assert_eq!(line["outcome"], "success");
        let request = line["request_id"].as_str().unwrap();
        assert!(server.log().contains(request), "{request}");
    }
    assert_eq!(
        of_erin,
        lines(&dev, &["--user", id, "--since", "1h"], removal).await
    );
    let made = |line: &Value| line["operation"] == "createClient";
    let clients = lines(&dev, &["--action", "admin", "--since", "1h"], made).await;
    let shop = clients.iter().find(|line| made(line)).unwrap();
    assert_eq!(
        (&shop["target"], &shop["target_name"]),
        (&"shop".into(), &"Shop".into())
    );

    // All of it with --since; what is cut says so.
    let created = |line: &&Value| line["operation"] == "createUser";
    assert_eq!(clients.iter().filter(created).count(), 26);
    let usual = run(&dev, &["audit", "tail", "--action", "admin"]);
    assert_eq!(json(&usual).as_array().unwrap().len(), 20);
    assert!(
        text(&usual.stderr).contains("there are more"),
        "{}",
        text(&usual.stderr)
    );
    let five = run(&dev, &["audit", "tail", "--since", "1h", "--lines", "5"]);
    assert_eq!(json(&five).as_array().unwrap().len(), 5);
    assert!(text(&five.stderr).contains("there are more"));

    // Dates, from and until.
    let all = |arguments: &[&str]| {
        let found = done(
            &dev,
            &[&["audit", "tail", "--action", "admin"], arguments].concat(),
        );
        found.as_array().unwrap().len()
    };
    assert!(all(&["--since", "2020-01-01", "--until", "2100-01-01T00:00:00Z"]) >= 28);
    assert_eq!(all(&["--since", "2100-01-01"]), 0);
    assert_eq!(all(&["--until", "2020-01-01"]), 0);

    // A name that somebody has: refused, and recorded so.
    let (code, said) = refused(
        &dev,
        &[
            "user",
            "add",
            "alice",
            "--email",
            "a@b.example",
            "--without-password",
        ],
    );
    assert_eq!(
        (&*code, said.contains("alice")),
        ("username_taken", true),
        "{said}"
    );
    let failure = |line: &Value| line["outcome"] == "failure";
    let of_alice = lines(&dev, &["--action", "admin", "--user", "alice"], failure).await;
    let last = of_alice.last().unwrap();
    assert_eq!(
        (&last["error"], &last["decision"]),
        (&"username_taken".into(), &"denied".into())
    );
    assert_eq!(last["target"], Value::Null);
    // Freeing the names that were kept for it is not recorded as having made it.
    let here = |line: &&Value| line["operation"] == "createUser" && line["address"] == "127.0.0.1";
    let outcomes: Vec<&Value> = of_alice
        .iter()
        .filter(here)
        .map(|line| &line["outcome"])
        .collect();
    assert_eq!(outcomes, ["failure"]);
}

#[test]
fn a_refused_command_without_a_server_is_recorded_as_refused() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let directory = data.to_str().unwrap();
    let add = [
        "user",
        "add",
        "root",
        "--admin",
        "--password-stdin",
        "--data-dir",
        directory,
    ];
    let made = signet_with(&add, "a long enough passphrase\n");
    assert_eq!(made.status.code(), Some(0), "{}", text(&made.stderr));
    let again = signet_with(&add, "another long passphrase\n");
    assert_eq!(again.status.code(), Some(1));
    assert!(
        text(&again.stderr).contains("somebody has this user name: root"),
        "{}",
        text(&again.stderr)
    );

    // The next start writes both into the log, each with its outcome.
    let (_server, dev) = Server::dev(dir.path());
    let found = done(&dev, &["audit", "tail", "--user", "root", "--since", "1h"]);
    let mut outcomes: Vec<String> = found
        .as_array()
        .unwrap()
        .iter()
        .map(|line| format!("{} {}", line["operation"], line["outcome"]))
        .collect();
    // Both may be of one second.
    outcomes.sort();
    let failure = "\"createUser\" \"failure\"";
    assert_eq!(outcomes, [failure, "\"createUser\" \"success\""]);
}

#[tokio::test]
async fn a_client_does_not_take_its_own_right_away_unless_it_means_to() {
    let dir = tempfile::tempdir().unwrap();
    let (_server, dev) = Server::dev(dir.path());
    let grant = [
        "--grant-type",
        "client_credentials",
        "--scope",
        "signet:admin",
    ];
    let add = ["client", "add", "--client-id", "automation"];
    let made = done(&dev, &[&add[..], &grant].concat());
    let file = dir.path().join("automation.json");
    std::fs::write(&file, made.to_string()).unwrap();
    let as_itself = |arguments: &[&str]| {
        std::process::Command::new(SIGNET)
            .args(arguments)
            .args(["--json", "--credentials", file.to_str().unwrap()])
            .env("SIGNET_SERVER", &dev.issuer)
            .env("SIGNET_CA_CERT", &dev.ca)
            .stdin(std::process::Stdio::null())
            .output()
            .unwrap()
    };
    for taken in [
        &["client", "set", "automation", "scope=openid profile"][..],
        &["client", "set", "automation", "enabled=false"],
        &["client", "remove", "automation"],
    ] {
        let output = as_itself(taken);
        assert_eq!(
            output.status.code(),
            Some(1),
            "{taken:?}: {}",
            text(&output.stdout)
        );
        assert_eq!(json(&output)["error"], "not_confirmed", "{taken:?}");
        let kept = done(&dev, &["client", "show", "automation"]);
        assert_eq!(
            (&kept["scope"], &kept["enabled"]),
            (&"signet:admin".into(), &true.into())
        );
    }
    let output = as_itself(&["client", "set", "automation", "scope=openid,profile"]);
    assert!(
        text(&output.stderr).contains("spaces separate them"),
        "{}",
        text(&output.stderr)
    );
    let output = as_itself(&[
        "client",
        "set",
        "automation",
        "scope=openid profile",
        "--yes",
    ]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(json(&output)["scope"], "openid profile");
}

#[tokio::test]
async fn the_last_account_that_may_administer_stays_unless_somebody_insists() {
    let dir = tempfile::tempdir().unwrap();
    let (_server, dev) = Server::dev(dir.path());
    for taken in [
        &["user", "remove", "admin", "--yes"][..],
        &["user", "remove", "admin", "--yes", "--with-grace"],
        &["user", "set", "admin", "admin=false"],
        &["user", "set", "admin", "enabled=false"],
    ] {
        let (code, said) = refused(&dev, taken);
        assert_eq!(code, "last_administrator", "{taken:?}");
        assert!(said.contains("--last-administrator"), "{said}");
    }
    done(&dev, &["user", "set", "alice", "admin=true"]);
    done(&dev, &["user", "set", "admin", "admin=false"]);
    let insisted = ["user", "remove", "alice", "--yes", "--last-administrator"];
    done(&dev, &insisted);
}

#[tokio::test]
async fn a_client_made_without_a_method_sends_its_secret_either_way() {
    let dir = tempfile::tempdir().unwrap();
    let (_server, dev) = Server::dev(dir.path());
    let add = [
        "client",
        "add",
        "--grant-type",
        "client_credentials",
        "--scope",
        "openid",
    ];
    let token = async |made: &Value| {
        let member = |name: &str| made[name].as_str().unwrap().to_owned();
        let (id, secret) = (member("client_id"), member("client_secret"));
        let grant = ("grant_type", "client_credentials");
        let fields = [grant, ("client_id", &*id), ("client_secret", &*secret)];
        let posted = dev.post("/token", None, &fields).await;
        let basic = crate::support::basic(&id, &secret);
        let headers = [
            ("content-type", "application/x-www-form-urlencoded"),
            ("authorization", basic.as_str()),
        ];
        let url = format!("{}/token", dev.url);
        let form = "grant_type=client_credentials".into();
        let sent = dev
            .client()
            .send(http::Method::POST, &url, &headers, form)
            .await
            .unwrap();
        (sent, posted)
    };
    let either = done(&dev, &add);
    let (sent, posted) = token(&either).await;
    assert_eq!((sent.status.as_u16(), posted.status.as_u16()), (200, 200));
    // A choice is kept, and a caller that has the secret learns which one it was.
    let chosen = done(
        &dev,
        &[&add[..], &["--auth-method", "client_secret_basic"]].concat(),
    );
    let (sent, posted) = token(&chosen).await;
    assert_eq!((sent.status.as_u16(), posted.status.as_u16()), (200, 401));
    let said = body(&posted)["error_description"].to_string();
    assert!(said.contains("client_secret_basic"), "{said}");
    // So is one that is made later.
    let id = either["client_id"].as_str().unwrap();
    done(
        &dev,
        &[
            "client",
            "set",
            id,
            "token_endpoint_auth_method=client_secret_post",
            "any_secret_method=false",
        ],
    );
    let (sent, posted) = token(&either).await;
    assert_eq!((sent.status.as_u16(), posted.status.as_u16()), (401, 200));
}

#[tokio::test]
async fn answers_say_which_value_was_wrong_and_no_is_exit_1() {
    let dir = tempfile::tempdir().unwrap();
    let (server, dev) = Server::dev(dir.path());
    assert!(!server.log().contains("RLIMIT_NOFILE"), "{}", server.log());

    let deny = [
        "rule", "add", "closed", "--user", "alice", "--effect", "deny",
    ];
    done(&dev, &deny);
    let web = dev.credentials("web").0;
    let explain = ["rule", "explain", "--client", &web, "--user", "alice"];
    let (code, said) = refused(&dev, &explain);
    assert_eq!(code, "access_denied");
    assert!(said.contains("denied by the rule closed"), "{said}");

    done(&dev, &["group", "add", "staff"]);
    done(&dev, &["group", "members", "staff", "add", "alice"]);
    let members = done(&dev, &["group", "members", "staff"]);
    assert_eq!(members[0]["username"], "alice");
    let shown = signet(&["group", "show", "staff", "--data-dir", dev.dir()]);
    assert!(
        text(&shown.stdout).contains("members: alice"),
        "{}",
        text(&shown.stdout)
    );

    let set = done(&dev, &["client", "set", &web, "access_token_lifetime=5m"]);
    assert_eq!(set["access_token_lifetime"], 300);

    let token = dev.service_token().await;
    let ca = dev.ca.to_str().unwrap();
    let verify = |issuer: &str, more: &[&str]| {
        let all = ["token", "verify", "--ca-cert", ca, "--issuer", issuer];
        let output = signet(&[&all[..], more, &[&token]].concat());
        text(&output.stderr)
    };
    let said = verify(&format!("{}/", dev.issuer), &[]);
    assert!(
        said.contains(&format!("of {}, and not of {}/", dev.issuer, dev.issuer)),
        "{said}"
    );
    let said = verify(&dev.issuer, &["--audience", "https://elsewhere.example"]);
    assert!(said.contains("another audience: "), "{said}");
    let said = verify(&dev.issuer.replace("https", "http"), &[]);
    assert!(said.contains("https://"), "{said}");

    let alone = signet(&["serve"]);
    let said = text(&alone.stderr);
    assert_eq!(alone.status.code(), Some(2));
    assert!(
        said.contains("--dev") && said.contains("--config"),
        "{said}"
    );
    let alone = signet(&["gate"]);
    let said = text(&alone.stderr);
    assert_eq!(alone.status.code(), Some(2));
    assert!(
        said.contains("--issuer") && said.contains("--config"),
        "{said}"
    );
    let missing = signet(&["serve", "--config", "/nowhere.toml"]);
    let said = text(&missing.stderr);
    assert_eq!(said.matches("/nowhere.toml").count(), 1, "{said}");
}
