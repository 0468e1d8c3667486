//! Accounts that are deleted after a time of grace, and accounts that are kept in it.
use crate::common::{
    SECRET, Server, Setup, block_on,
    browser::{Browser, Page},
    client,
    client::Call,
    people::{Mail, PASSWORD, VERIFIER, request, start},
    scope,
};
use http::Method;
use serde_json::{Value, json};
use signet_directory::DeletionStage;
use signet_oauth::client::Client;
use signet_realm::outbox;

const USERS: &str = "/admin/v1/users";
const DAY: u64 = 86_400;

fn open(setup: &mut Setup) {
    setup.settings.self_deletion = true;
    setup.clients.push(Client {
        scope: scope("signet:admin openid"),
        ..client("operator")
    });
}

fn server(mail: &Mail) -> Server {
    start(mail, open)
}

fn call(server: &Server, method: Method, path: &str) -> (u16, Value) {
    let token = Call::post("/token")
        .basic("operator", SECRET)
        .form(&[
            ("grant_type", "client_credentials"),
            ("scope", "signet:admin"),
        ])
        .send(server)
        .expect(200)
        .member("access_token");
    let reply = Call::new(method, path).bearer(&token).send(server);
    let value = match reply.body.is_empty() {
        true => Value::Null,
        false => reply.json(),
    };
    (reply.status, value)
}

fn alice(server: &Server) -> Option<Value> {
    let (_, found) = call(server, Method::GET, &format!("{USERS}?search=alice"));
    found["items"].as_array().unwrap().first().cloned()
}

fn path(server: &Server) -> String {
    let alice = alice(server).unwrap();
    format!("{USERS}/{}", alice["id"].as_str().unwrap())
}

#[track_caller]
fn log_in(browser: &mut Browser<'_>) -> Page {
    let login = browser.get("/account");
    browser.log_in(&login, "alice", PASSWORD)
}

#[track_caller]
fn delete(browser: &mut Browser<'_>, account: &Page) -> Page {
    browser.press(account, "delete-account", &[("confirmed", "yes")])
}

#[track_caller]
fn link(mail: &mut Mail) -> String {
    let mails = mail.fresh();
    assert_eq!(mails.len(), 1, "{mails:?}");
    let start = mails[0].find("/account/keep?token=").expect("a link");
    mails[0][start..]
        .split_whitespace()
        .next()
        .unwrap()
        .to_owned()
}

/// What the outbox of a server does, until nothing is due.
fn due(server: &Server) {
    block_on(async {
        let mut sender = outbox::sender();
        while sender.round(&server.realm).await.unwrap() {}
        sender.settle().await;
    });
}

#[test]
fn a_person_who_deletes_their_account_is_out_at_once_and_erased_at_its_end() {
    let mut mail = Mail::new();
    let server = server(&mail);
    let mut other = Browser::new(&server);
    log_in(&mut other).expect("Your account");
    let mut browser = Browser::new(&server);
    let account = log_in(&mut browser).expect("Your account");
    let done = delete(&mut browser, &account).expect("Your account will be erased");
    assert!(done.text().contains("a mail with a link is on its way"));
    link(&mut mail);
    // Every session has ended, and a login fails as with a wrong password.
    for browser in [&mut browser, &mut other] {
        let login = browser.get("/account");
        assert!(login.offers("allow"), "{}", login.text());
        browser
            .log_in(&login, "alice", PASSWORD)
            .expect("is not right");
    }
    let deletion = alice(&server).unwrap()["deletion"].clone();
    let erase_at = deletion["erase_at"].as_u64().unwrap();
    assert_eq!(erase_at - deletion["asked_at"].as_u64().unwrap(), 14 * DAY);
    server.pass(14 * DAY - 60);
    due(&server);
    assert!(alice(&server).is_some(), "a minute before");
    server.pass(120);
    due(&server);
    assert!(alice(&server).is_none());
    let told = mail.fresh();
    assert!(
        told.iter().any(|text| text.contains("was erased")),
        "{told:?}"
    );
    // Its name is free again.
    crate::common::people::add_user(&server, "alice");
    due(&server);
    assert!(alice(&server).is_some(), "the new one is another");
}

#[test]
fn the_mailed_link_keeps_the_account_once_and_lets_nobody_in() {
    let mut mail = Mail::new();
    let server = server(&mail);
    let mut browser = Browser::new(&server);
    let account = log_in(&mut browser);
    delete(&mut browser, &account);
    let link = link(&mut mail);
    // Opening it changes nothing: mail programs open links.
    let page = browser.get(&link).expect("Keep your account?");
    assert!(!alice(&server).unwrap()["deletion"].is_null());
    let login = browser
        .press(&page, "allow", &[])
        .expect("The account stays");
    assert!(alice(&server).unwrap()["deletion"].is_null());
    browser
        .log_in(&login, "alice", PASSWORD)
        .expect("Your account");
    browser.get(&link).expect("This link no longer works");
    server.pass(15 * DAY);
    due(&server);
    assert!(alice(&server).is_some(), "it was kept");
}

#[test]
fn a_link_of_a_deletion_before_does_not_undo_the_next() {
    let mut mail = Mail::new();
    let server = server(&mail);
    let path = path(&server);
    let deletion = format!("{path}/deletion");
    assert_eq!(call(&server, Method::POST, &deletion).0, 200);
    let first = link(&mut mail);
    assert_eq!(call(&server, Method::DELETE, &deletion).0, 200);
    server.pass(10);
    assert_eq!(call(&server, Method::POST, &deletion).0, 200);
    let mut browser = Browser::new(&server);
    browser.get(&first).expect("This link no longer works");
    // The watch of the one before comes due, and leaves the account.
    server.pass(14 * DAY - 5);
    due(&server);
    assert!(alice(&server).is_some());
    server.pass(30);
    due(&server);
    assert!(alice(&server).is_none());
}

#[test]
fn a_deletion_that_is_asked_for_twice_keeps_its_first_time() {
    let mut mail = Mail::new();
    let server = server(&mail);
    let deletion = format!("{}/deletion", path(&server));
    let (_, first) = call(&server, Method::POST, &deletion);
    server.pass(DAY);
    let (status, second) = call(&server, Method::POST, &deletion);
    assert_eq!(status, 200);
    assert_eq!(first["deletion"], second["deletion"]);
    assert_eq!(mail.fresh().len(), 1, "told once");
    assert_eq!(call(&server, Method::DELETE, &deletion).0, 200);
    let (status, problem) = call(&server, Method::DELETE, &deletion);
    assert_eq!((status, &problem["code"]), (409, &json!("no_deletion")));
    let (status, _) = call(
        &server,
        Method::POST,
        &format!("{USERS}/AAAAAAAAAAAAAAAAAAAAAA/deletion"),
    );
    assert_eq!(status, 404);
}

#[test]
fn tokens_and_codes_of_an_account_that_is_to_be_erased_are_over() {
    let mail = Mail::new();
    let server = server(&mail);
    let mut browser = Browser::new(&server);
    let login = browser.get(&request(&[
        ("scope", "openid offline_access"),
        ("prompt", "consent"),
    ]));
    let page = browser.log_in(&login, "alice", PASSWORD);
    let page = browser.press(&page, "allow", &[]);
    let code = page.param("code").unwrap();
    let (status, _) = call(
        &server,
        Method::POST,
        &format!("{}/deletion", path(&server)),
    );
    assert_eq!(status, 200);
    let form = [
        ("grant_type", "authorization_code"),
        ("code", &*code),
        ("redirect_uri", "https://client.example/cb"),
        ("code_verifier", VERIFIER),
    ];
    let answer = Call::post("/token")
        .basic("web", SECRET)
        .form(&form)
        .send(&server);
    assert_eq!(answer.expect(400).member("error"), "invalid_grant");
}

#[test]
fn nobody_deletes_an_account_by_mistake_or_from_an_open_browser() {
    let mail = Mail::new();
    let server = server(&mail);
    let mut browser = Browser::new(&server);
    let account = log_in(&mut browser);
    let page = browser.press(&account, "delete-account", &[]);
    let page = page.expect("To delete your account, tick the box");
    assert!(alice(&server).unwrap()["deletion"].is_null());
    server.pass(11 * 60);
    let login = delete(&mut browser, &page);
    assert!(
        login.text().contains("name=\"password\""),
        "{}",
        login.text()
    );
    assert!(alice(&server).unwrap()["deletion"].is_null());
}

#[test]
fn where_it_is_not_switched_on_the_account_page_has_no_deletion_and_takes_none() {
    let mail = Mail::new();
    let server = server(&mail);
    let mut browser = Browser::new(&server);
    let account = log_in(&mut browser);
    assert!(account.offers("delete-account"));
    server.configure(|settings, _| settings.self_deletion = false);
    let page = browser.get("/account");
    assert!(!page.offers("delete-account"));
    delete(&mut browser, &account);
    assert!(alice(&server).unwrap()["deletion"].is_null());
}

/// LP11: a node that stops between the deletion and its mail leaves the account as one whose mail
/// could not be put into the outbox. What is in the outbox is sent until it is taken.
#[test]
fn whoever_was_not_told_of_the_deletion_is_told_later_once() {
    for asks_again in [true, false] {
        let mut mail = Mail::new();
        let server = server(&mail);
        let deletion = format!("{}/deletion", path(&server));
        let ask = || call(&server, Method::POST, &deletion).0;
        assert_eq!(mail.broken(ask), 200);
        assert_eq!(mail.fresh().len(), 0);
        if asks_again {
            assert_eq!(ask(), 200);
            assert_eq!(mail.fresh().len(), 0, "it is on its way");
        }
        server.pass(70);
        mail.broken(|| due(&server));
        assert_eq!(mail.fresh().len(), 0);
        server.pass(15 * 60);
        due(&server);
        let link = link(&mut mail);
        ask();
        server.pass(16 * 60);
        due(&server);
        assert_eq!(mail.fresh().len(), 0, "told once");
        let mut browser = Browser::new(&server);
        let page = browser.get(&link).expect("Keep your account?");
        browser
            .press(&page, "allow", &[])
            .expect("The account stays");
        server.pass(15 * DAY);
        due(&server);
        assert!(alice(&server).is_some(), "it was kept");
    }
}

/// LP8: of a node that keeps the account and one that erases it, at once, one does.
#[test]
fn an_account_that_is_kept_is_not_erased_and_one_that_is_being_erased_is_not_kept() {
    let mut mail = Mail::new();
    let server = server(&mail);
    let id = alice(&server).unwrap()["id"].as_str().unwrap().to_owned();
    let deletion = format!("{USERS}/{id}/deletion");
    let users = &server.realm.people.users;
    let read = || {
        let found = block_on(users.by_id(&id, server.realm.now())).unwrap();
        found.unwrap()
    };
    assert_eq!(call(&server, Method::POST, &deletion).0, 200);
    link(&mut mail);
    let read_before = read();
    assert_eq!(call(&server, Method::DELETE, &deletion).0, 200);
    block_on(server.realm.erase(&read_before)).unwrap();
    assert!(alice(&server).is_some_and(|alice| alice["enabled"] == true));
    // Another deletion is not that one either.
    server.pass(10);
    assert_eq!(call(&server, Method::POST, &deletion).0, 200);
    block_on(server.realm.erase(&read_before)).unwrap();
    assert!(alice(&server).is_some());

    // As far as a node came that stopped in the middle.
    let link = link(&mut mail);
    block_on(users.change(&id, server.realm.now(), |draft| {
        draft.user.deletion_stage = DeletionStage::Erasing;
    }))
    .unwrap();
    let mut browser = Browser::new(&server);
    browser.get(&link).expect("This link no longer works");
    let (status, problem) = call(&server, Method::DELETE, &deletion);
    assert_eq!((status, &problem["code"]), (409, &json!("no_deletion")));
    server.pass(14 * DAY + 60);
    due(&server);
    assert!(alice(&server).is_none());
}
