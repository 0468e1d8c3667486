//! Accounts that people make for themselves, and invitations to accounts that were made for them.
use crate::common::{
    SECRET, Server, Setup, block_on,
    browser::{Browser, Page},
    client,
    client::Call,
    people::{Mail, PASSWORD, request, start},
    scope,
};
use http::Method;
use serde_json::{Value, json};
use signet_oauth::client::Client;
use signet_oauth::people::sign_up::{SignUpSettings, Terms};
use std::sync::Arc;

const CALLBACK: &str = "https://client.example/cb";
const BOB: &str = "bob@example.test";
const NEW: &str = "four other words entirely";
const USERS: &str = "/admin/v1/users";
const LOGGED_IN: &str = "<title>Your account</title>";

fn open(sign_up: SignUpSettings) -> impl FnOnce(&mut Setup) {
    move |setup| {
        setup.settings.sign_up = SignUpSettings {
            enabled: true,
            ..sign_up
        };
        setup.clients.push(Client {
            scope: scope("signet:admin openid"),
            ..client("operator")
        });
    }
}

fn server(mail: &Mail) -> Server {
    start(mail, open(SignUpSettings::default()))
}

fn terms(version: &str) -> SignUpSettings {
    SignUpSettings {
        terms: Some(Terms {
            url: "https://example.test/terms".into(),
            version: version.into(),
        }),
        ..SignUpSettings::default()
    }
}

/// The link of the one mail that came with one.
#[track_caller]
fn link(mail: &mut Mail, path: &str) -> String {
    let mut mails = mail.fresh();
    let begins = format!("{path}?token=");
    mails.retain(|mail| mail.contains(&begins));
    assert_eq!(mails.len(), 1, "{mails:?}");
    let start = mails[0].find(&begins).expect("a link");
    let link = mails[0][start..].split_whitespace().next().unwrap();
    link.to_owned()
}

/// Types an address at the page that asks for one.
#[track_caller]
fn ask(browser: &mut Browser<'_>, email: &str) -> Page {
    let page = browser.get("/sign-up").expect("A link goes to your e-mail");
    browser.press(&page, "email", &[("email", email)])
}

/// Opens the link, and fills the form behind it in.
#[track_caller]
fn accept(browser: &mut Browser<'_>, link: &str, more: &[(&str, &str)]) -> Page {
    let page = browser.get(link).expect("name=\"new_password\"");
    let mut fields = vec![("new_password", NEW)];
    fields.retain(|(name, _)| more.iter().all(|(other, _)| other != name));
    fields.extend(more);
    browser.press(&page, "allow", &fields)
}

/// The login page has the name, and its cursor is in the field of the password.
#[track_caller]
fn has_name_and_wants_password(login: &Page, name: &str) {
    let text = login.text();
    let field = |id: &str| {
        let (_, rest) = text.split_once(&format!("<input id=\"{id}\"")).unwrap();
        rest.split('>').next().unwrap()
    };
    assert!(
        field("username").contains(&format!("value=\"{name}\"")),
        "{text}"
    );
    assert!(!field("username").contains("autofocus"), "{text}");
    assert!(field("password").contains("autofocus"), "{text}");
}

fn is_logged_in(browser: &Browser<'_>) -> bool {
    browser.cookies.contains_key("__Host-signet-session")
}

fn operator(server: &Server) -> impl Fn(Method, &str, Option<Value>) -> (u16, Value) {
    let token = Call::post("/token")
        .basic("operator", SECRET)
        .form(&[
            ("grant_type", "client_credentials"),
            ("scope", "signet:admin"),
        ])
        .send(server)
        .expect(200)
        .member("access_token");
    move |method, path, body| {
        let mut call = Call::new(method, path).bearer(&token);
        if let Some(body) = body {
            call = call.json(&body);
        }
        let reply = call.send(server);
        let value = match reply.body.is_empty() {
            true => Value::Null,
            false => reply.json(),
        };
        (reply.status, value)
    }
}

/// The account of an address, as an administrator sees it.
fn account(server: &Server, email: &str) -> Option<Value> {
    let (_, found) = operator(server)(Method::GET, &format!("{USERS}?login={email}"), None);
    let first = &found["items"][0];
    (!first.is_null()).then(|| first.clone())
}

#[test]
fn nobody_signs_up_where_it_is_not_switched_on() {
    let mail = Mail::new();
    let server = start(&mail, |_| {});
    let mut browser = Browser::new(&server);
    browser.get("/sign-up").expect_error("not_found");
    browser
        .post("/sign-up", &[("token", "x"), ("new_password", NEW)])
        .expect_error("not_found");
    let login = browser.get(&request(&[]));
    assert!(!login.text().contains("sign-up"), "{}", login.text());
    let answer = browser.get(&request(&[("prompt", "create")]));
    assert_eq!(answer.param("error").as_deref(), Some("invalid_request"));
    let metadata = Call::get("/.well-known/openid-configuration").send(&server);
    let prompts = metadata.json()["prompt_values_supported"].clone();
    assert_eq!(
        prompts,
        json!(["none", "login", "consent", "select_account"])
    );
}

#[test]
fn an_account_is_made_by_the_link_that_shows_that_mail_arrives() {
    let mut mail = Mail::new();
    let server = server(&mail);
    let mut browser = Browser::new(&server);
    ask(&mut browser, BOB).expect("Check your mail");
    assert!(account(&server, BOB).is_none(), "before the mail is shown");
    let link = link(&mut mail, "/sign-up");
    // Opening it changes nothing: mail programs open links.
    browser.get(&link).expect(BOB);
    browser.get(&link).expect(BOB);
    assert!(account(&server, BOB).is_none());
    let page = accept(&mut browser, &link, &[("name", "Bob Builder")]);
    page.expect(LOGGED_IN).expect("Bob Builder");
    assert!(is_logged_in(&browser));
    let made = account(&server, BOB).unwrap();
    assert!(made["username"].as_str().unwrap().starts_with("bob-"));
    assert_eq!(made["email_verified"], true);
    assert_eq!(made["profile"]["name"], "Bob Builder");
    assert_eq!(made["admin"], false);
    assert!(made.get("terms").is_none());
}

#[test]
fn the_new_account_is_logged_in_and_goes_on_to_the_application_that_its_browser_came_from() {
    let mut mail = Mail::new();
    let server = server(&mail);
    let mut browser = Browser::new(&server);
    let login = browser.get(&request(&[]));
    let page = browser.post("/sign-up", &[("interaction", &login.field("interaction"))]);
    browser.press(&page, "email", &[("email", BOB)]);
    let link = link(&mut mail, "/sign-up");
    let mut page = accept(&mut browser, &link, &[]);
    if page.offers("allow") {
        page = browser.press(&page, "allow", &[]);
    }
    assert!(page.url.starts_with(CALLBACK), "{}", page.url);
    assert!(page.param("code").is_some());
}

// A page of somebody else could send the form of an account of theirs: whoever looks at it would be
// logged in to that account, and put into it what is their own.
#[test]
fn a_form_that_this_browser_was_never_shown_logs_nobody_in() {
    let mut mail = Mail::new();
    let server = server(&mail);
    let mut attacker = Browser::new(&server);
    ask(&mut attacker, BOB);
    let link = link(&mut mail, "/sign-up");
    let shown = attacker.get(&link).field("interaction");
    let token = link.split_once("token=").unwrap().1;
    let fields = [
        ("token", token),
        ("new_password", NEW),
        ("interaction", &*shown),
    ];
    let mut victim = Browser::new(&server);
    victim.get("/account");
    let login = victim.post("/sign-up", &fields);
    let login = login.expect("The account is ready");
    assert!(!is_logged_in(&victim));
    has_name_and_wants_password(&login, BOB);
    // The address says nothing of them, and fills nothing in in another browser.
    assert!(!login.url.contains("bob"), "{}", login.url);
    let other = Browser::new(&server).get(&login.url);
    assert!(!other.text().contains(&format!("value=\"{BOB}\"")));
    victim.log_in(&login, BOB, NEW).expect(LOGGED_IN);
}

#[test]
fn a_new_password_opens_no_more_than_a_password_opens() {
    let mut mail = Mail::new();
    let server = server(&mail);
    let two = || Some(signet_oauth::authorize::acr::TWO_FACTORS.to_owned());
    server.configure(|settings, _| settings.required_acr = two());
    let mut browser = Browser::new(&server);
    ask(&mut browser, BOB);
    let page = accept(&mut browser, &link(&mut mail, "/sign-up"), &[]);
    page.expect("Your account has to have a second factor");
    assert!(!is_logged_in(&browser));
    let id = made(&server, "carol");
    invite(&server, &id);
    let mut browser = Browser::new(&server);
    let page = accept(&mut browser, &link(&mut mail, "/invitation"), &[]);
    page.expect("Your account has to have a second factor");
    assert!(!is_logged_in(&browser));
}

#[test]
fn whoever_is_logged_in_here_stays_who_they_are() {
    let mut mail = Mail::new();
    let server = server(&mail);
    let id = made(&server, "carol");
    invite(&server, &id);
    let link = link(&mut mail, "/invitation");
    let mut browser = Browser::new(&server);
    let login = browser.get("/account");
    browser.log_in(&login, "alice", PASSWORD).expect(LOGGED_IN);
    accept(&mut browser, &link, &[]);
    let page = browser.get("/account").expect("alice@example.test");
    assert!(!page.text().contains("carol"), "{}", page.text());
}

#[test]
fn prompt_create_shows_the_page_and_the_new_account_goes_on_to_the_application() {
    let mut mail = Mail::new();
    let server = server(&mail);
    let metadata = Call::get("/.well-known/openid-configuration").send(&server);
    let prompts = metadata.json()["prompt_values_supported"].clone();
    assert_eq!(prompts[4], "create");
    let mut browser = Browser::new(&server);
    // Also of whoever is logged in: an account is to be made.
    let login = browser.get(&request(&[]));
    browser.log_in(&login, "alice", PASSWORD);
    let page = browser.get(&request(&[("prompt", "create")]));
    let page = page.expect("A link goes to your e-mail");
    assert!(page.offers("cancel"));
    browser
        .press(&page, "email", &[("email", BOB)])
        .expect("Check your mail");
    let link = link(&mut mail, "/sign-up");
    let login = accept(&mut browser, &link, &[]);
    assert!(
        login.url.starts_with("/interaction?signed_up="),
        "{}",
        login.url
    );
    let mut page = browser.log_in(&login, BOB, NEW);
    if page.offers("allow") {
        page = browser.press(&page, "allow", &[]);
    }
    assert!(
        page.url.starts_with(CALLBACK),
        "{}: {}",
        page.url,
        page.text()
    );
    assert!(page.param("code").is_some());
}

#[test]
fn who_has_an_account_already_goes_on_to_the_login_or_back() {
    let mail = Mail::new();
    let server = server(&mail);
    let mut browser = Browser::new(&server);
    let page = browser.get(&request(&[("prompt", "create")]));
    let login = browser.press(&page, "allow", &[]);
    assert!(
        login.text().contains("name=\"password\""),
        "{}",
        login.text()
    );
    let mut page = browser.log_in(&login, "alice", PASSWORD);
    if page.offers("allow") {
        page = browser.press(&page, "allow", &[]);
    }
    assert!(page.param("code").is_some(), "{}", page.url);
    let page = browser.get(&request(&[("prompt", "create")]));
    let back = browser.press(&page, "cancel", &[]);
    assert_eq!(back.param("error").as_deref(), Some("access_denied"));
}

#[test]
fn prompt_create_stands_alone() {
    let mail = Mail::new();
    let server = server(&mail);
    let mut browser = Browser::new(&server);
    for prompt in ["create login", "none create"] {
        let answer = browser.get(&request(&[("prompt", prompt)]));
        let error = answer.param("error");
        assert_eq!(error.as_deref(), Some("invalid_request"), "{prompt}");
    }
}

#[test]
fn in_another_browser_the_person_is_told_to_go_back() {
    let mut mail = Mail::new();
    let server = server(&mail);
    let mut browser = Browser::new(&server);
    let login = browser.get(&request(&[]));
    let sealed = login.field("interaction");
    let page = browser.post("/sign-up", &[("interaction", &sealed)]);
    browser.press(&page, "email", &[("email", BOB)]);
    let link = link(&mut mail, "/sign-up");
    let mut other = Browser::new(&server);
    let told = accept(&mut other, &link, &[]);
    let told = told.expect("Go back to the browser where you began");
    assert!(!told.offers("cancel"), "nothing of the application is here");
}

#[test]
fn the_page_answers_the_same_for_an_address_that_has_an_account_and_the_mail_says_so() {
    let mut mail = Mail::new();
    let server = server(&mail);
    let mut browser = Browser::new(&server);
    let strip = |page: &Page| {
        let text = page.text();
        let (before, rest) = text
            .split_once("name=\"interaction\" value=\"")
            .unwrap_or((&text, ""));
        format!(
            "{before}{}",
            rest.split_once('"').map_or("", |(_, rest)| rest)
        )
    };
    let known = ask(&mut browser, "alice@example.test");
    let letter = mail.fresh().remove(0);
    assert!(letter.contains("It has one already"), "{letter}");
    assert!(
        !letter.contains("token="),
        "no link makes or opens anything"
    );
    let unknown = ask(&mut browser, BOB);
    assert_eq!(mail.fresh().len(), 1);
    assert_eq!(known.reply.status, unknown.reply.status);
    assert_eq!(strip(&known), strip(&unknown));
}

#[test]
fn a_link_makes_one_account_and_of_two_at_once_one() {
    let mut mail = Mail::new();
    let server = Arc::new(server(&mail));
    ask(&mut Browser::new(&server), BOB);
    let link = link(&mut mail, "/sign-up");
    let token = link.split_once("token=").unwrap().1.to_owned();
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let (server, token) = (Arc::clone(&server), token.clone());
            std::thread::spawn(move || {
                let mut browser = Browser::new(&server);
                let fields = [("token", &*token), ("new_password", NEW)];
                let page = browser.post("/sign-up", &fields);
                page.text().contains("The account is ready")
            })
        })
        .collect();
    let done: Vec<bool> = threads.into_iter().map(|t| t.join().unwrap()).collect();
    assert_eq!(done.iter().filter(|&&done| done).count(), 1, "{done:?}");
    let mut browser = Browser::new(&server);
    browser
        .get(&link)
        .expect("This link has expired or was used");
    let (_, all) = operator(&server)(Method::GET, &format!("{USERS}?search=bob"), None);
    assert_eq!(all["items"].as_array().unwrap().len(), 1, "{all}");
}

#[test]
fn a_link_ends_and_none_that_was_made_up_is_opened() {
    let mut mail = Mail::new();
    let server = server(&mail);
    let mut browser = Browser::new(&server);
    ask(&mut browser, BOB);
    let link = link(&mut mail, "/sign-up");
    for junk in ["AAAA", &"A".repeat(3000)] {
        browser
            .get(&format!("/sign-up?token={junk}"))
            .expect("This link has expired or was used");
    }
    // A recovery's link is none, nor is this one a recovery's.
    let token = link.split_once("token=").unwrap().1;
    browser
        .get(&format!("/account/recover?token={token}"))
        .expect("This link has expired or was used");
    server.pass(30 * 60 + 1);
    let fields = [("token", token), ("new_password", NEW)];
    browser
        .post("/sign-up", &fields)
        .expect("This link has expired or was used");
    assert!(account(&server, BOB).is_none());
}

#[test]
fn a_domain_that_may_not_sign_up_is_refused_before_and_behind_the_link() {
    let mut mail = Mail::new();
    let server = start(
        &mail,
        open(SignUpSettings {
            denied_domains: vec!["denied.test".into()],
            ..SignUpSettings::default()
        }),
    );
    let mut browser = Browser::new(&server);
    ask(&mut browser, "eve@denied.test").expect("Addresses of this domain cannot");
    ask(&mut browser, "eve").expect("This is not an e-mail address");
    assert!(mail.fresh().is_empty());
    ask(&mut browser, BOB);
    let link = link(&mut mail, "/sign-up");
    server.configure(|settings, _| settings.sign_up.domains = vec!["other.test".into()]);
    browser
        .get(&link)
        .expect("This link has expired or was used");
    let token = link.split_once("token=").unwrap().1;
    browser.post("/sign-up", &[("token", token), ("new_password", NEW)]);
    assert!(account(&server, BOB).is_none());
}

#[test]
fn mails_to_one_address_have_a_budget_whoever_has_it() {
    let mut mail = Mail::new();
    let server = server(&mail);
    for address in [BOB, "alice@example.test"] {
        let mut refused = 0;
        for _ in 0..30 {
            let mut browser = Browser::new(&server);
            let page = ask(&mut browser, address);
            if page.reply.status == 429 {
                refused += 1;
                assert!(page.reply.headers.contains_key("retry-after"));
            }
        }
        assert!(refused > 0, "{address}");
        let sent = mail.fresh().len();
        assert!((1..=10).contains(&sent), "{address}: {sent}");
    }
}

#[test]
fn the_password_and_the_name_follow_the_rules_of_every_account() {
    let mut mail = Mail::new();
    let server = server(&mail);
    let mut browser = Browser::new(&server);
    ask(&mut browser, BOB);
    let link = link(&mut mail, "/sign-up");
    let page = accept(&mut browser, &link, &[("new_password", "short")]);
    assert!(page.text().contains("id=\"problem\""), "{}", page.text());
    let long = "n".repeat(2000);
    accept(&mut browser, &link, &[("name", &long)]).expect("This name is too long");
    assert!(account(&server, BOB).is_none());
    accept(&mut browser, &link, &[]).expect(LOGGED_IN);
}

#[test]
fn terms_are_accepted_and_the_account_says_which_and_when() {
    let mut mail = Mail::new();
    let server = start(&mail, open(terms("2026-11")));
    let mut browser = Browser::new(&server);
    ask(&mut browser, BOB);
    let link = link(&mut mail, "/sign-up");
    accept(&mut browser, &link, &[]).expect("To go on, accept the terms");
    accept(&mut browser, &link, &[("terms", "no")]).expect("To go on, accept the terms");
    assert!(account(&server, BOB).is_none());
    accept(&mut browser, &link, &[("terms", "accepted")]).expect(LOGGED_IN);
    let made = account(&server, BOB).unwrap();
    assert_eq!(made["terms"]["version"], "2026-11");
    let at = made["terms"]["accepted_at"].as_u64().unwrap();
    assert!(
        at <= server.realm.now() && at + 60 > server.realm.now(),
        "{at}"
    );
}

// MP4: an unauthenticated caller with a mailbox had the name of an application's own account, or of
// whoever was there already.
#[test]
fn who_signs_up_gets_a_name_that_is_nobodys_and_tells_nothing() {
    let mut mail = Mail::new();
    let server = server(&mail);
    for (email, base) in [
        ("alice@other.test", "alice-"),
        ("nobody.has.it@other.test", "nobody.has.it-"),
        ("admin@other.test", "person-"),
        ("operator@other.test", "person-"),
        ("\u{430}lice@other.test", "lice-"),
        (
            "\u{1d41a}\u{1d41d}\u{1d426}\u{1d422}\u{1d427}@another.test",
            "person-",
        ),
    ] {
        let mut browser = Browser::new(&server);
        ask(&mut browser, email);
        let link = link(&mut mail, "/sign-up");
        accept(&mut browser, &link, &[]).expect(LOGGED_IN);
        let users = &server.realm.people.users;
        let made = block_on(users.by_login(email, server.realm.now()));
        let name = made.unwrap().unwrap().username;
        assert!(name.is_ascii() && name.starts_with(base), "{email}: {name}");
        assert_eq!(name.len(), base.len() + 6, "{email}: {name}");
    }
}

// LP3: the address is admitted, mailed and kept in one spelling.
#[test]
fn a_denied_domain_is_denied_in_every_spelling() {
    let mut mail = Mail::new();
    let denied = SignUpSettings {
        denied_domains: vec!["evil.example".into()],
        ..SignUpSettings::default()
    };
    let server = start(&mail, open(denied));
    for email in [
        "x@\u{ff45}vil.example",
        "x@EVIL.example",
        "x@evil\u{3002}example",
    ] {
        let mut browser = Browser::new(&server);
        let page = ask(&mut browser, email);
        assert!(page.text().contains("role=\"alert\""), "{}", page.text());
        assert!(mail.fresh().is_empty(), "{email}");
    }
    let mut browser = Browser::new(&server);
    ask(&mut browser, "Ann@M\u{fc}nchen.example");
    let link = link(&mut mail, "/sign-up");
    accept(&mut browser, &link, &[]).expect(LOGGED_IN);
    let made = account(&server, "ann@xn--mnchen-3ya.example").unwrap();
    assert_eq!(made["email"], "ann@xn--mnchen-3ya.example");
}

// Invitations.

/// An account without a password, and its id.
fn made(server: &Server, name: &str) -> String {
    let body = json!({ "username": name, "email": format!("{name}@example.test") });
    let (status, user) = operator(server)(Method::POST, USERS, Some(body));
    assert_eq!(status, 201, "{user}");
    user["id"].as_str().unwrap().to_owned()
}

fn invite(server: &Server, id: &str) -> (u16, Value) {
    operator(server)(Method::POST, &format!("{USERS}/{id}/invitation"), None)
}

#[test]
fn an_invited_person_sets_the_password_once_and_logs_in() {
    let mut mail = Mail::new();
    let server = start(&mail, open(terms("1")));
    let id = made(&server, "carol");
    let (status, user) = invite(&server, &id);
    assert_eq!(status, 200, "{user}");
    let ends_at = user["invitation"]["ends_at"].as_u64().unwrap();
    assert!(ends_at > server.realm.now() + 6 * 86_400);
    let link = link(&mut mail, "/invitation");
    let mut browser = Browser::new(&server);
    accept(&mut browser, &link, &[]).expect("To go on, accept the terms");
    let page = accept(&mut browser, &link, &[("terms", "accepted")]);
    page.expect(LOGGED_IN).expect("carol");
    // It is a session as every other: the next request has it.
    browser.get("/account").expect(LOGGED_IN);
    let user = account(&server, "carol@example.test").unwrap();
    assert!(user.get("invitation").is_none());
    assert_eq!(user["email_verified"], true);
    assert_eq!(user["terms"]["version"], "1");
    // Once.
    browser.get(&link).expect("This invitation was accepted");
    let token = link.split_once("token=").unwrap().1;
    let fields = [
        ("token", token),
        ("new_password", PASSWORD),
        ("terms", "accepted"),
    ];
    browser
        .post("/invitation", &fields)
        .expect("This invitation was accepted");
    // Who has a password is not invited.
    let (status, problem) = invite(&server, &id);
    assert_eq!((status, &problem["code"]), (409, &json!("has_password")));
}

#[test]
fn an_invitation_says_to_what_and_by_which_person() {
    let mut mail = Mail::new();
    let server = server(&mail);
    server.configure(|_, declared| signet_oauth::command_line::add(declared).unwrap());
    let (users, now) = (&server.realm.people.users, server.realm.now());
    let root = crate::common::people::add_user(&server, "root");
    let administrator = users.change(&root.id, now, |draft| {
        draft.user.admin = true;
        draft.user.profile.name = Some("Ada <Root>".into());
    });
    block_on(administrator).unwrap();
    let id = made(&server, "carol");
    let shown = |mail: &mut Mail, by: Option<&str>| {
        let text = mail.fresh().pop().unwrap();
        assert!(
            text.contains("Subject: You were invited to Signet"),
            "{text}"
        );
        assert_eq!(text.contains("invited you to Signet"), by.is_some());
        let start = text.find("/invitation?token=").unwrap();
        let link = text[start..].split_whitespace().next().unwrap();
        let page = Browser::new(&server).get(link);
        let page = page.expect("<h1>You were invited to Signet</h1>");
        let page = page.expect("Choose your password. You log in with");
        assert_eq!(page.text().contains("invited you."), by.is_some());
        if let Some(by) = by {
            page.expect(by);
        }
    };
    // A client has no name that a person knows.
    invite(&server, &id);
    shown(&mut mail, None);
    let token = Call::post("/password-login")
        .json(&json!({ "username": "root", "password": PASSWORD }))
        .send(&server)
        .member("access_token");
    let path = format!("{USERS}/{id}/invitation");
    Call::post(&path).bearer(&token).send(&server).expect(200);
    shown(&mut mail, Some("<bdi>Ada &lt;Root&gt;</bdi>"));
}

#[test]
fn an_invitation_sent_again_takes_the_place_of_the_one_before() {
    let mut mail = Mail::new();
    let server = server(&mail);
    let id = made(&server, "carol");
    invite(&server, &id);
    let first = link(&mut mail, "/invitation");
    invite(&server, &id);
    let second = link(&mut mail, "/invitation");
    let mut browser = Browser::new(&server);
    browser.get(&first).expect("This invitation was accepted");
    accept(&mut browser, &second, &[]).expect(LOGGED_IN);
}

#[test]
fn an_invitation_is_withdrawn_and_ends_with_its_time_its_address_and_its_account() {
    let mut mail = Mail::new();
    let server = server(&mail);
    let call = operator(&server);
    let mut browser = Browser::new(&server);
    let mut invited = |name: &str| {
        let id = made(&server, name);
        invite(&server, &id);
        (format!("{USERS}/{id}"), link(&mut mail, "/invitation"))
    };
    let (path, withdrawn) = invited("withdrawn");
    let (status, _) = call(Method::DELETE, &format!("{path}/invitation"), None);
    assert_eq!(status, 204);
    let (path, moved) = invited("moved");
    let body = json!({ "email": "elsewhere@example.test", "verified": false });
    call(Method::PUT, &format!("{path}/email"), Some(body));
    let (path, disabled) = invited("disabled");
    call(Method::POST, &format!("{path}/disable"), None);
    let (path, removed) = invited("removed");
    call(Method::DELETE, &path, None);
    let (path, has) = invited("has");
    let body = json!({ "password": PASSWORD });
    call(Method::PUT, &format!("{path}/password"), Some(body));
    for link in [withdrawn, moved, disabled, removed, has] {
        browser.get(&link).expect("This invitation was accepted");
    }
    let (_, late) = invited("late");
    server.pass(7 * 86_400 + 1);
    browser.get(&late).expect("This invitation was accepted");
}

#[test]
fn an_invitation_that_cannot_be_says_why() {
    let mail = Mail::new();
    let server = server(&mail);
    let call = operator(&server);
    let (_, user) = call(Method::POST, USERS, Some(json!({ "username": "nowhere" })));
    let id = user["id"].as_str().unwrap().to_owned();
    let (status, problem) = invite(&server, &id);
    assert_eq!((status, &problem["code"]), (409, &json!("no_address")));
    let id = made(&server, "out");
    call(Method::POST, &format!("{USERS}/{id}/disable"), None);
    let (status, problem) = invite(&server, &id);
    assert_eq!((status, &problem["code"]), (409, &json!("disabled")));
    let (status, _) = invite(&server, "AAAAAAAAAAAAAAAAAAAAAA");
    assert_eq!(status, 404);
    let silent = Server::start(Setup {
        clients: vec![Client {
            scope: scope("signet:admin openid"),
            ..client("operator")
        }],
        ..Setup::default()
    });
    let id = made(&silent, "carol");
    let (status, problem) = invite(&silent, &id);
    assert_eq!((status, &problem["code"]), (409, &json!("no_mail")));
}

#[test]
fn of_two_at_once_one_accepts_an_invitation() {
    let mut mail = Mail::new();
    let server = Arc::new(server(&mail));
    let id = made(&server, "carol");
    invite(&server, &id);
    let link = link(&mut mail, "/invitation");
    let token = link.split_once("token=").unwrap().1.to_owned();
    let passwords = ["first words for a login", "second words for a login"];
    let threads: Vec<_> = passwords
        .into_iter()
        .map(|password| {
            let (server, token) = (Arc::clone(&server), token.clone());
            std::thread::spawn(move || {
                let mut browser = Browser::new(&server);
                let fields = [("token", &*token), ("new_password", password)];
                let page = browser.post("/invitation", &fields);
                page.text().contains("The account is ready")
            })
        })
        .collect();
    let done: Vec<bool> = threads.into_iter().map(|t| t.join().unwrap()).collect();
    assert_eq!(done.iter().filter(|&&done| done).count(), 1, "{done:?}");
    let users = &server.realm.people.users;
    let user = block_on(users.by_id(&id, server.realm.now()))
        .unwrap()
        .unwrap();
    assert_eq!(user.invitation, None);
}
