//! Accounts that wait for another password, and accounts that expire, on two nodes; and the mail
//! about a browser that is new.
use crate::common::{
    SECRET, Server, Setup, block_on,
    browser::{Browser, Page},
    client,
    client::{Call, Reply},
    cluster::Cluster,
    people::{CHEAP, Mail, PASSWORD, VERIFIER, add_user, people, request, start},
    scope,
};
use http::Method;
use serde_json::{Value, json};
use signet_directory::passwords::PasswordOptions;
use signet_oauth::{client::ConsentPolicy, command_line};

const CALLBACK: &str = "https://client.example/cb";
const TEMPORARY: &str = "violet anchor harvest nine";
const NEW: &str = "another calm set of words";
const NEW_FIELD: &str = "name=\"new_password\"";

fn cluster(mail: &Mail) -> Cluster {
    let cluster = Cluster::of(2, || {
        let mut operator = client("operator");
        operator.scope = scope("signet:admin");
        let mut web = client("web");
        web.consent = ConsentPolicy::Skip;
        Setup {
            clients: vec![web, operator],
            people: people(mail),
            passwords: PasswordOptions {
                cost: CHEAP,
                ..PasswordOptions::default()
            },
            ..Setup::default()
        }
    });
    add_user(cluster.node(0), "alice");
    cluster
}

fn id(node: &Server, name: &str) -> String {
    let users = &node.realm.people.users;
    let found = block_on(users.by_login(name, node.realm.now()));
    found.unwrap().unwrap().id
}

fn admin(node: &Server, method: Method, path: &str, etag: &str, body: &Value) -> Reply {
    let form = [
        ("grant_type", "client_credentials"),
        ("scope", "signet:admin"),
    ];
    let token = Call::post("/token").basic("operator", SECRET).form(&form);
    let token = token.send(node).expect(200).member("access_token");
    let call = Call::new(method, path).bearer(&token);
    match (body.is_null(), etag) {
        (true, _) => call.send(node),
        (false, "") => call.json(body).send(node),
        (false, etag) => call.header("if-match", etag).json(body).send(node),
    }
}

fn set_temporary(node: &Server, name: &str) {
    let path = format!("/admin/v1/users/{}/password", id(node, name));
    let body = json!({ "password": TEMPORARY, "temporary": true });
    let status = admin(node, Method::PUT, &path, "", &body).status;
    assert!((200..300).contains(&status), "{status}");
}

fn is_logged_in(browser: &Browser<'_>) -> bool {
    browser.cookies.contains_key("__Host-signet-session")
}

#[track_caller]
fn came_back(page: &Page) -> String {
    assert!(
        page.url.starts_with(CALLBACK),
        "{}: {}",
        page.url,
        page.text()
    );
    page.param("code").expect("a code")
}

#[test]
fn a_temporary_password_opens_no_session_and_the_new_one_goes_on_to_the_application() {
    let mut mail = Mail::new();
    let cluster = cluster(&mail);
    let (one, two) = (cluster.node(0), cluster.node(1));
    set_temporary(one, "alice");
    let path = format!("/admin/v1/users/{}", id(one, "alice"));
    let shown = |node| admin(node, Method::GET, &path, "", &Value::Null).expect(200);
    assert_eq!(shown(two).json()["must_change_password"], true);

    // Set at one node, used at the other, and changed at the first again.
    let mut browser = Browser::new(two);
    let page = browser.get(&request(&[]));
    let page = browser.log_in(&page, "alice", TEMPORARY).expect(NEW_FIELD);
    assert!(!is_logged_in(&browser));
    let silent = browser.get(&request(&[("prompt", "none")]));
    assert_eq!(silent.param("error").as_deref(), Some("login_required"));
    let mut browser = browser.moved_to(one);
    for (refused, why) in [("short", "characters"), (TEMPORARY, "temporary password")] {
        let again = browser.press(&page, "first-password", &[("new_password", refused)]);
        again.expect(why).expect(NEW_FIELD);
        assert!(!is_logged_in(&browser));
    }
    // Another button is no way around it.
    let interaction = page.field("interaction");
    let around = [("interaction", &*interaction), ("decision", "allow")];
    browser.post(&page.url, &around).expect(NEW_FIELD);
    assert!(!is_logged_in(&browser));
    mail.fresh();
    let back = browser.press(&page, "first-password", &[("new_password", NEW)]);
    came_back(&back);
    assert!(is_logged_in(&browser));
    let told = mail.fresh();
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!(shown(two).json()["must_change_password"], false);

    // The page works once: the account is another's to change from now on.
    let mut other = Browser::new(one);
    other.cookies = browser.cookies.clone();
    other.cookies.remove("__Host-signet-session");
    let late = other.press(&page, "first-password", &[("new_password", TEMPORARY)]);
    late.expect("name=\"password\"");
    assert!(!is_logged_in(&other));

    // The session is one, and goes on; the old password is nobody's.
    browser.get("/account").expect("Your account");
    let mut browser = Browser::new(two);
    let page = browser.get(&request(&[]));
    let page = browser.log_in(&page, "alice", TEMPORARY);
    assert!(!page.text().contains(NEW_FIELD) && !is_logged_in(&browser));
    came_back(&browser.log_in(&page, "alice", NEW));
}

#[test]
fn a_change_that_is_asked_for_without_a_new_password_waits_for_the_next_login() {
    let mail = Mail::new();
    let cluster = cluster(&mail);
    let (one, two) = (cluster.node(0), cluster.node(1));
    let mut browser = Browser::new(two);
    let page = browser.get("/account");
    browser
        .log_in(&page, "alice", PASSWORD)
        .expect("Your account");
    let path = format!("/admin/v1/users/{}", id(one, "alice"));
    let read = admin(one, Method::GET, &path, "", &Value::Null).expect(200);
    let body =
        json!({ "admin": false, "enabled": true, "profile": {}, "must_change_password": true });
    let etag = read.header("etag").to_owned();
    admin(one, Method::PUT, &path, &etag, &body).expect(200);
    browser.get("/account").expect("Your account");
    // The same browser logs in again: the session that it had ends, and another one begins.
    let page = browser.get(&request(&[("prompt", "login")]));
    let page = browser.log_in(&page, "alice", PASSWORD).expect(NEW_FIELD);
    let back = browser.press(&page, "first-password", &[("new_password", NEW)]);
    came_back(&back);
    browser.get("/account").expect("Your account");
    let mut browser = browser.moved_to(one);
    browser.get("/account").expect("Your account");
}

#[test]
fn the_command_line_gets_no_token_for_a_temporary_password() {
    let mail = Mail::new();
    let server = start(&mail, |setup| {
        let mut operator = client("operator");
        operator.scope = scope("signet:admin");
        setup.clients.push(operator);
    });
    server.configure(|_, declared| command_line::add(declared).unwrap());
    let root = add_user(&server, "root");
    let users = &server.realm.people.users;
    block_on(users.change(&root.id, server.realm.now(), |draft| {
        draft.user.admin = true
    }))
    .unwrap();
    let log_in = |password: &str| {
        Call::post("/password-login")
            .json(&json!({ "username": "root", "password": password }))
            .send(&server)
    };
    log_in(PASSWORD).expect(200);
    set_temporary(&server, "root");
    let answer = log_in(TEMPORARY);
    assert_eq!(answer.member("error"), "interaction_required");
    assert!(answer.json().get("access_token").is_none());
}

#[test]
fn an_account_that_expires_is_out_on_every_node_and_reads_as_a_wrong_password() {
    let mail = Mail::new();
    let cluster = cluster(&mail);
    let (one, two) = (cluster.node(0), cluster.node(1));
    let path = format!("/admin/v1/users/{}", id(one, "alice"));
    let set = |expires_at: u64| {
        let read = admin(one, Method::GET, &path, "", &Value::Null).expect(200);
        let body =
            json!({ "admin": false, "enabled": true, "profile": {}, "expires_at": expires_at });
        let etag = read.header("etag").to_owned();
        admin(one, Method::PUT, &path, &etag, &body).expect(200)
    };
    let end = one.realm.now() + 100;
    assert_eq!(set(end).json()["expires_at"], end);
    let mut browser = Browser::new(two);
    let page = browser.get(&request(&[("scope", "openid offline_access")]));
    let code = came_back(&browser.log_in(&page, "alice", PASSWORD));
    let redeem = [
        ("grant_type", "authorization_code"),
        ("code", &*code),
        ("redirect_uri", CALLBACK),
        ("code_verifier", VERIFIER),
    ];
    let as_web = |form: &[(&str, &str)]| Call::post("/token").basic("web", SECRET).form(form);
    let tokens = as_web(&redeem).send(one).expect(200);
    // No token outlives the account.
    let lifetime = tokens.json()["expires_in"].as_u64().expect("a number");
    assert!((1..=100).contains(&lifetime), "{lifetime}");

    for node in [one, two] {
        node.pass(101);
    }
    browser.get("/account").expect("name=\"password\"");
    let silent = browser.get(&request(&[("prompt", "none")]));
    assert_eq!(silent.param("error").as_deref(), Some("login_required"));
    let refresh = tokens.member("refresh_token");
    let refresh = [
        ("grant_type", "refresh_token"),
        ("refresh_token", &*refresh),
    ];
    as_web(&refresh)
        .send(two)
        .expect_error(400, "invalid_grant");
    for node in [one, two] {
        let said = |name: &str, password: &str| {
            let mut browser = Browser::new(node);
            let page = browser.get("/account");
            let page = browser.log_in(&page, name, password);
            assert!(!is_logged_in(&browser));
            let text = page.text();
            let start = text.find("role=\"alert\"").expect("an error");
            text[start..].lines().next().unwrap_or("")[..80].to_owned()
        };
        assert_eq!(said("alice", PASSWORD), said("alice", "not the password"));
    }

    // The end taken away, the account is as it was, and what had been begun has stayed away.
    let shown = set(0);
    assert!(shown.json().get("expires_at").is_none());
    let mut browser = Browser::new(two);
    let page = browser.get("/account");
    browser
        .log_in(&page, "alice", PASSWORD)
        .expect("Your account");
    // An end that is past already ends everything at once.
    set(1);
    browser.get("/account").expect("name=\"password\"");
}

#[test]
fn a_login_from_a_new_browser_is_told_once_while_the_person_is_logged_in_elsewhere() {
    let mut mail = Mail::new();
    let server = start(&mail, |setup| {
        setup.clients[0].consent = ConsentPolicy::Skip;
    });
    let log_in = |browser: &mut Browser<'_>| {
        let page = browser.get(&request(&[("prompt", "login")]));
        came_back(&browser.log_in(&page, "alice", PASSWORD));
    };
    let mut first = Browser::new(&server);
    log_in(&mut first);
    assert_eq!(
        mail.unread().len(),
        0,
        "of the first there is nobody to tell"
    );
    let mut second = Browser::new(&server);
    log_in(&mut second);
    let told = mail.unread();
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].contains("Subject: New login"), "{told:?}");
    assert!(told[0].contains("alice@example.test"), "{told:?}");
    log_in(&mut second);
    log_in(&mut first);
    assert_eq!(mail.unread().len(), 0, "both browsers are known");
}

#[test]
fn another_address_is_told_to_the_one_before() {
    let mut mail = Mail::new();
    let cluster = cluster(&mail);
    let node = cluster.node(0);
    let alice = id(node, "alice");
    mail.fresh();
    let body = json!({ "email": "new@example.test", "verified": true });
    let path = format!("/admin/v1/users/{alice}/email");
    admin(node, Method::PUT, &path, "", &body).expect(200);
    let told = mail.fresh();
    assert!(
        told.len() == 1
            && told[0].contains("To: alice@example.test")
            && told[0].contains("The e-mail address of your account was changed"),
        "{told:?}"
    );
    // The same address again is no change.
    admin(node, Method::PUT, &path, "", &body).expect(200);
    assert_eq!(mail.fresh().len(), 0);
}
