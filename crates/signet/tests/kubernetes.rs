//! A namespace of Kubernetes that declares what a server has, by the commands. Its API is a
//! pretended one.
use crate::declaration::Staying;
use crate::support::kubernetes::Api;
use crate::support::{Dev, Server, json, signet, text};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::Output;

const SECRET: &str = "a-secret-of-at-least-thirty-two-bytes";
const TOKEN: &str = "token-of-the-account";

fn arguments<'a>(command: &'a str, api: &'a Api, token: &'a str) -> Vec<&'a str> {
    let mut all = vec![command, "--kubernetes", "--kubernetes-api", &api.url];
    all.extend(["--kubernetes-token", token, "--namespace", "demo"]);
    all
}

fn run(dev: &Dev, arguments: &[&str]) -> Output {
    let mut all = arguments.to_vec();
    all.extend(["--data-dir", dev.dir()]);
    signet(&all)
}

#[track_caller]
fn exits(output: &Output, code: i32) {
    let said = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(code), "{said:?}");
}

fn token_file(directory: &Path) -> String {
    let file = directory.join("token");
    fs::write(&file, format!("{TOKEN}\n")).unwrap();
    file.to_str().unwrap().to_owned()
}

fn reference() -> Value {
    json!({ "secret": { "name": "shop", "key": "client-secret" } })
}

/// A client with a secret, its scope, and two groups, one inside the other.
fn declared() -> Api {
    let api = Api::start(TOKEN);
    let client = json!({
        "redirect_uris": ["https://shop.example/cb"], "scope": "openid orders",
        "client_secret": reference(),
    });
    api.put("signetclients", "SignetClient", "shop", client);
    let scope = json!({ "description": "Your orders" });
    api.put("signetscopes", "SignetScope", "orders", scope);
    let all = json!({ "name": "Everybody" });
    api.put("signetgroups", "SignetGroup", "all", all);
    let staff = json!({ "parent": "Everybody" });
    api.put("signetgroups", "SignetGroup", "staff", staff);
    let base64 = "YS1zZWNyZXQtb2YtYXQtbGVhc3QtdGhpcnR5LXR3by1ieXRlcw==";
    api.secret("shop", "client-secret", base64);
    // Nobody names it, so nobody reads it.
    api.secret("other", "client-secret", base64);
    api
}

const OBJECTS: [(&str, &str); 4] = [
    ("signetclients", "shop"),
    ("signetscopes", "orders"),
    ("signetgroups", "all"),
    ("signetgroups", "staff"),
];

#[test]
fn a_namespace_is_applied_like_a_directory_and_each_object_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let (_server, dev) = Server::dev(dir.path());
    let file = token_file(dir.path());
    let api = declared();
    let plan = run(&dev, &arguments("plan", &api, &file));
    exits(&plan, 1);
    assert!(
        api.condition("signetclients", "shop").is_none(),
        "a plan writes nothing"
    );
    let mut apply = arguments("apply", &api, &file);
    apply.extend(["--yes", "--json"]);
    let done = run(&dev, &apply);
    exits(&done, 0);
    assert_eq!(json(&done)["changes"].as_array().unwrap().len(), 4);
    for (plural, name) in OBJECTS {
        let (reason, _) = api.condition(plural, name).unwrap();
        assert_eq!(reason, "Applied", "{name}");
    }
    exits(&run(&dev, &arguments("plan", &api, &file)), 0);
    let requests = api.requests();
    let asked = |words: &str| requests.iter().any(|request| request.contains(words));
    assert!(asked("signetgroups?limit=100&continue=1"), "{requests:?}");
    assert!(
        asked("/secrets/shop") && !asked("/secrets/other"),
        "{requests:?}"
    );
    let patches = |requests: &[String]| {
        let patches = requests.iter().filter(|one| one.starts_with("PATCH"));
        patches.count()
    };
    assert_eq!(patches(&requests), 4);
    // What is so already is not written again.
    exits(&run(&dev, &apply), 0);
    assert_eq!(patches(&api.requests()), 4);

    // One that is wrong keeps all back, and knows it.
    let wrong = json!({ "parrent": "Everybody" });
    api.put("signetgroups", "SignetGroup", "wrong", wrong);
    let late = json!({ "description": "Changed" });
    api.put("signetscopes", "SignetScope", "orders", late);
    let refused = run(&dev, &apply);
    exits(&refused, 2);
    let said = text(&refused.stderr);
    let mistake = "demo/SignetGroup/wrong: unknown member \"parrent\"; did you mean \"parent\"?";
    assert!(said.contains(mistake), "{said}");
    let (reason, message) = api.condition("signetgroups", "wrong").unwrap();
    assert_eq!((reason.as_str(), message.as_str()), ("Invalid", mistake));
    let (reason, _) = api.condition("signetscopes", "orders").unwrap();
    assert_eq!(reason, "OthersInvalid");
    api.put("signetgroups", "SignetGroup", "wrong", json!({}));
    exits(&run(&dev, &apply), 0);
    assert_eq!(api.condition("signetgroups", "wrong").unwrap().0, "Applied");

    // What ends is said before it does.
    let disabled = json!({
        "redirect_uris": ["https://shop.example/cb"], "scope": "openid orders",
        "client_secret": reference(), "enabled": false,
    });
    api.put("signetclients", "SignetClient", "shop", disabled);
    let in_words = apply.iter().copied().filter(|one| *one != "--json");
    let done = run(&dev, &in_words.collect::<Vec<_>>());
    exits(&done, 0);
    let said = text(&done.stderr);
    let ends = "! ends every grant and token of client shop: no grants";
    assert!(said.contains(ends), "{said}");

    // A Secret that is not there, and a token that is not taken.
    let none = json!({ "client_secret": { "secret": { "name": "none", "key": "k" } } });
    api.put("signetclients", "SignetClient", "till", none);
    let refused = run(&dev, &apply);
    exits(&refused, 2);
    let said = text(&refused.stderr);
    let mistake = "demo/SignetClient/till: client_secret: there is no Secret demo/none";
    assert!(said.contains(mistake), "{said}");
    api.accept("another");
    let refused = run(&dev, &apply);
    exits(&refused, 2);
    let refused = [text(&refused.stderr), text(&refused.stdout)].concat();
    assert!(
        refused.contains("the API does not accept the token of"),
        "{refused}"
    );

    let log = fs::read_to_string(dir.path().join("log")).unwrap();
    let audit = text(&run(&dev, &["audit", "tail", "--since", "10m", "--json"]).stdout);
    for output in [&said, &refused, &log, &audit, &text(&done.stdout)] {
        assert!(
            !output.contains(SECRET) && !output.contains(TOKEN),
            "{output}"
        );
    }
}

#[test]
fn a_watched_namespace_is_followed_past_what_its_api_forgets() {
    let dir = tempfile::tempdir().unwrap();
    let (_server, dev) = Server::dev(dir.path());
    let file = token_file(dir.path());
    let api = declared();
    let mut line = arguments("apply", &api, &file);
    line.extend(["--yes", "--prune", "--watch"]);
    let mut watch = Staying::start(&dev, &line, &dir.path().join("watch"));
    let has = |name: &str| {
        let listed = run(&dev, &["group", "list", "--json"]);
        let listed: Value = json(&listed);
        let groups = listed.as_array().unwrap();
        groups.iter().any(|group| group["name"] == name)
    };
    let group = |name: &str| api.put("signetgroups", "SignetGroup", name, json!({}));
    watch.wait_for("the first application", || {
        api.condition("signetgroups", "staff").is_some()
    });
    assert!(has("staff"));

    group("added");
    watch.wait_for("an object that was added", || has("added"));
    // The connections end: the watches are taken up where they were.
    api.hang_up();
    group("again");
    watch.wait_for("an object after a connection ended", || has("again"));
    // The token is replaced, and the versions before are forgotten.
    fs::write(&file, "the-next-one").unwrap();
    api.accept("the-next-one");
    api.forget();
    group("later");
    watch.wait_for("an object after what was forgotten", || has("later"));
    api.remove("signetgroups", "added");
    watch.wait_for("an object that was deleted", || !has("added"));

    // Our own words are no news: nothing is listed for them.
    watch.wait_for("the last condition", || {
        api.condition("signetgroups", "later").is_some()
    });
    std::thread::sleep(std::time::Duration::from_secs(3));
    let lists = || {
        let requests = api.requests();
        let lists = requests
            .iter()
            .filter(|one| one.contains("signetusers?limit"));
        lists.count()
    };
    let before = lists();
    std::thread::sleep(std::time::Duration::from_secs(3));
    assert_eq!(lists(), before);
    assert!(!watch.said().contains(SECRET), "{}", watch.said());
    assert_eq!(watch.end(), Some(0));
}

#[test]
fn the_definitions_are_printed_for_kubectl() {
    let printed = signet(&["config", "schema", "--kubernetes"]);
    exits(&printed, 0);
    let kept = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../integrations/kubernetes/crds.yaml"
    );
    let kept = fs::read_to_string(kept).unwrap();
    let (_, kept) = kept.split_once('\n').unwrap();
    assert_eq!(text(&printed.stdout), kept);
    let list = json(&signet(&["config", "schema", "--kubernetes", "--json"]));
    assert_eq!(list["kind"], "List");
}
