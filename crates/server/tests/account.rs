//! What people do with their own account: passwords, sessions, consents, a forgotten password,
//! logging out, devices.
use crate::common::{
    Server, block_on,
    browser::{Browser, Page, with},
    people::{Mail, PASSWORD, add_user, request, start},
};
use signet_oauth::authorize::redirect_uri::RedirectUri;
use signet_oauth::id::DeviceId;
use signet_oauth::token::device_authorization::{DeviceRecord, DeviceState};
use signet_request::cookie::Cookie;
use signet_store::{Change, Key, Op, Table};

const CALLBACK: &str = "https://client.example/cb?";
const NEW: &str = "another calm set of words";

fn server(mail: &Mail) -> Server {
    start(mail, |setup| {
        setup.clients[0].post_logout_redirect_uris =
            vec![RedirectUri::parse("https://client.example/bye", false).unwrap()];
    })
}

#[track_caller]
fn log_in<'s>(server: &'s Server, name: &str) -> Browser<'s> {
    let mut browser = Browser::new(server);
    let page = browser.get("/account").expect("name=\"password\"");
    browser.log_in(&page, name, PASSWORD).expect("Your account");
    browser
}

#[track_caller]
fn silent(browser: &mut Browser<'_>) -> Result<String, String> {
    let page = browser.get(&request(&[("prompt", "none")]));
    assert!(
        page.url.starts_with(CALLBACK),
        "{}: {}",
        page.url,
        page.text()
    );
    page.param("code")
        .ok_or_else(|| page.param("error").unwrap())
}

#[track_caller]
fn consent(browser: &mut Browser<'_>) {
    let page = browser.get(&request(&[])).expect("asks for access");
    browser.press(&page, "allow", &[]);
}

#[test]
fn the_account_page_needs_a_session() {
    let mail = Mail::new();
    let server = server(&mail);
    Browser::new(&server)
        .get("/account")
        .expect("name=\"password\"");
}

#[test]
fn a_changed_password_ends_the_other_sessions_and_the_old_password() {
    let mail = Mail::new();
    let server = server(&mail);
    let mut here = log_in(&server, "alice");
    let mut there = log_in(&server, "alice");
    let page = here.get("/account");
    here.press(
        &page,
        "password",
        &[("password", "wrong"), ("new_password", NEW)],
    )
    .expect("The current password is not right");
    here.press(
        &page,
        "password",
        &[("password", PASSWORD), ("new_password", "short")],
    )
    .expect("at least 8 characters");
    here.press(
        &page,
        "password",
        &[("password", PASSWORD), ("new_password", NEW)],
    )
    .expect("The password was changed");
    here.get("/account").expect("Your account");
    there.get("/account").expect("name=\"password\"");
    let mut fresh = Browser::new(&server);
    let page = fresh.get("/account");
    let page = fresh
        .log_in(&page, "alice", PASSWORD)
        .expect("is not right");
    fresh.log_in(&page, "alice", NEW).expect("Your account");
}

#[test]
fn a_password_that_everybody_tries_first_is_not_taken() {
    let mail = Mail::new();
    let server = server(&mail);
    let mut browser = log_in(&server, "alice");
    for (common, why) in [
        ("password1", "one that many people choose"),
        ("12345678", "one that many people choose"),
        ("Example2024!", "made of your name"),
    ] {
        let page = browser.get("/account");
        let fields = [("password", PASSWORD), ("new_password", common)];
        browser.press(&page, "password", &fields).expect(why);
    }
    let mut fresh = Browser::new(&server);
    let page = fresh.get("/account");
    fresh
        .log_in(&page, "alice", PASSWORD)
        .expect("Your account");
}

#[test]
fn the_current_password_cannot_be_guessed_from_an_open_browser() {
    let mail = Mail::new();
    let server = server(&mail);
    let mut browser = log_in(&server, "alice");
    let page = browser.get("/account");
    for _ in 0..server.realm.people.limits.device {
        browser
            .press(
                &page,
                "password",
                &[("password", "wrong"), ("new_password", NEW)],
            )
            .expect_status(200);
    }
    browser
        .press(
            &page,
            "password",
            &[("password", PASSWORD), ("new_password", NEW)],
        )
        .expect_status(429);
}

#[test]
pub fn sessions_are_listed_and_ended_one_by_one_or_all_others() {
    let mail = Mail::new();
    let server = server(&mail);
    let mut here = log_in(&server, "alice");
    let mut there = log_in(&server, "alice");
    let mut third = log_in(&server, "alice");
    let mine = here.get("/account");
    let own = mine.text();
    let (head, list) = own.split_once("id=\"devices\"").unwrap();
    assert_eq!(list.matches("name=\"sid\"").count(), 3);
    // The way out of the page itself.
    assert_eq!(head.matches("name=\"sid\"").count(), 1);
    // The first form with an `end-session` button that is not this session's.
    let sid = there_sid(&server, &mut there);
    let sealed = mine.field("interaction");
    let fields = [
        ("interaction", &*sealed),
        ("sid", &*sid),
        ("decision", "end-session"),
    ];
    here.post("/account", &fields)
        .expect("The session was terminated");
    there.get("/account").expect("name=\"password\"");
    third.get("/account").expect("Your account");
    let page = here.get("/account");
    here.press(&page, "end-others", &[])
        .expect("All other sessions have ended");
    third.get("/account").expect("name=\"password\"");
    here.get("/account").expect("Your account");
}

/// The `sid` of a browser's session, from the code that it gives.
fn there_sid(server: &Server, browser: &mut Browser<'_>) -> String {
    let page = browser.get(&request(&[]));
    let page = if page.url.starts_with(CALLBACK) {
        page
    } else {
        browser.press(&page, "allow", &[])
    };
    let code = page.param("code").unwrap();
    signet_oauth::issued::sealed::AuthorizationCode::open(&server.realm.keyring(), &code)
        .unwrap()
        .sid
}

#[test]
fn nobody_ends_somebody_elses_session() {
    let mail = Mail::new();
    let server = server(&mail);
    add_user(&server, "bob");
    let mut alice = log_in(&server, "alice");
    let mut bob = log_in(&server, "bob");
    let sid = there_sid(&server, &mut alice);
    let page = bob.get("/account");
    let sealed = page.field("interaction");
    let fields = [
        ("interaction", &*sealed),
        ("sid", &*sid),
        ("decision", "end-session"),
    ];
    bob.post("/account", &fields);
    alice.get("/account").expect("Your account");
    // Nor with the form of the other's page.
    let page = alice.get("/account");
    let sealed = page.field("interaction");
    let fields = [
        ("interaction", &*sealed),
        ("sid", &*sid),
        ("decision", "end-session"),
    ];
    bob.post("/account", &fields).expect_status(400);
    alice.get("/account").expect("Your account");
}

#[test]
pub fn a_withdrawn_consent_is_asked_for_again() {
    let mail = Mail::new();
    let server = server(&mail);
    let mut browser = log_in(&server, "alice");
    consent(&mut browser);
    assert!(silent(&mut browser).is_ok());
    let page = browser.get("/account").expect("web");
    browser
        .press(&page, "withdraw", &[])
        .expect("can no longer act for you");
    assert_eq!(silent(&mut browser), Err("consent_required".into()));
}

#[test]
pub fn a_forgotten_password_is_recovered_by_a_link_that_works_once() {
    let mut mail = Mail::new();
    let server = server(&mail);
    let mut old = log_in(&server, "alice");
    let mut browser = Browser::new(&server);
    let page = browser.get("/account/recover");
    browser
        .press(&page, "email", &[("username", "alice@example.test")])
        .expect("If the account exists");
    let link = link_of(&server, &mail.fresh());
    // Mail programs open links: that changes nothing.
    Browser::new(&server)
        .get(&link)
        .expect("Set a new password");
    let mut elsewhere = Browser::new(&server);
    let page = elsewhere.get(&link);
    let page = elsewhere
        .press(&page, "password", &[("new_password", "short")])
        .expect("at least 8 characters");
    let again = elsewhere.get(&link);
    server.pass(1);
    elsewhere
        .press(&page, "password", &[("new_password", NEW)])
        .expect("name=\"password\"");
    elsewhere
        .press(
            &again,
            "password",
            &[("new_password", "a third set of words")],
        )
        .expect("This link has expired");
    elsewhere.get(&link).expect("This link has expired");
    // Everything that was begun with the old password has ended.
    old.get("/account").expect("name=\"password\"");
    server.pass(1);
    let page = browser.get("/account");
    let page = browser
        .log_in(&page, "alice", PASSWORD)
        .expect("is not right");
    browser.log_in(&page, "alice", NEW).expect("Your account");
}

#[track_caller]
fn link_of(server: &Server, mails: &[String]) -> String {
    assert_eq!(mails.len(), 1, "{mails:?}");
    let start = mails[0].find("/account/recover?token=").unwrap();
    let link = mails[0][start..].split_whitespace().next().unwrap();
    assert!(mails[0].contains(&server.issuer()));
    link.to_owned()
}

#[test]
fn recovery_answers_the_same_for_an_unknown_name_and_its_links_end() {
    let mut mail = Mail::new();
    let server = server(&mail);
    let mut texts = Vec::new();
    for name in ["alice", "nobody"] {
        let mut browser = Browser::new(&server);
        let page = browser.get("/account/recover");
        let page = browser.press(&page, "email", &[("username", name)]);
        texts.push((page.reply.status, page.text()));
    }
    assert_eq!(texts[0], texts[1]);
    let link = link_of(&server, &mail.fresh());
    server.pass(31 * 60);
    Browser::new(&server)
        .get(&link)
        .expect("This link has expired");
    for junk in ["x", "AAAA", &"A".repeat(4000)] {
        Browser::new(&server)
            .get(&with("/account/recover", &[("token", junk)]))
            .expect("This link has expired");
    }
}

#[test]
fn a_link_asks_for_its_account_and_is_limited() {
    let mail = Mail::new();
    let server = server(&mail);
    let mut browser = Browser::new(&server);
    let page = browser.get("/account/recover");
    for _ in 0..server.realm.people.limits.mails {
        browser
            .press(&page, "email", &[("username", "alice")])
            .expect_status(200);
    }
    browser
        .press(&page, "email", &[("username", "alice")])
        .expect_status(429);
}

#[test]
pub fn logging_out_is_asked_for_and_ends_the_session() {
    let mail = Mail::new();
    let server = server(&mail);
    let mut browser = log_in(&server, "alice");
    consent(&mut browser);
    let cookies = browser.cookies.clone();
    let page = browser.get("/logout").expect("Log out?");
    browser.press(&page, "deny", &[]).expect("still logged in");
    assert!(silent(&mut browser).is_ok());
    let page = browser.get("/logout");
    browser
        .press(&page, "allow", &[])
        .expect("<main id=\"signed-out\"");
    assert!(
        !browser
            .cookies
            .contains_key(&browser.cookie_name(Cookie::Session))
    );
    assert_eq!(silent(&mut browser), Err("login_required".into()));
    // A copy of the cookie is worth nothing.
    browser.cookies = cookies;
    assert_eq!(silent(&mut browser), Err("login_required".into()));
}

#[test]
pub fn a_logout_goes_to_a_registered_place_or_nowhere() {
    let mail = Mail::new();
    let server = server(&mail);
    let mut browser = log_in(&server, "alice");
    let to = |uri| {
        with(
            "/logout",
            &[
                ("client_id", "web"),
                ("post_logout_redirect_uri", uri),
                ("state", "s&1"),
            ],
        )
    };
    browser
        .get(&to("https://attacker.example/"))
        .expect_error("invalid_request");
    browser.get("/account").expect("Your account");
    let page = browser
        .get(&to("https://client.example/bye"))
        .expect("Log out?");
    let page = browser.press(&page, "allow", &[]);
    assert_eq!(page.url, "https://client.example/bye?state=s%261");
}

#[test]
fn a_cross_site_post_to_logout_asks_like_a_link() {
    let mail = Mail::new();
    let server = server(&mail);
    let mut browser = log_in(&server, "alice");
    let page = browser.cross_site_post("/logout", &[("client_id", "web"), ("decision", "allow")]);
    page.expect("Log out?");
    browser.get("/account").expect("Your account");
}

/// A device that waits.
pub fn device(server: &Server) -> DeviceRecord {
    let record = DeviceRecord {
        id: DeviceId::new([7; 16]),
        user_code: "BCDFGHJK".into(),
        client_id: "web".into(),
        scope: crate::common::scope("openid email"),
        resources: Vec::new(),
        interval: 5,
        last_poll: 0,
        expires_at: server.realm.now() + 600,
        state: DeviceState::Pending,
    };
    let end = Some(record.expires_at);
    let change = Change {
        first: Op::Put {
            key: Key::new(Table::DeviceCode, record.id.as_bytes().as_slice()),
            value: record.to_bytes(),
            end,
        },
        then: vec![Op::Put {
            key: Key::new(Table::UserCode, record.user_code.as_bytes()),
            value: record.id.as_bytes().to_vec(),
            end,
        }],
    };
    block_on(server.realm.store.commit(change, server.realm.now())).unwrap();
    record
}

fn state_of(server: &Server) -> DeviceState {
    let key = Key::new(Table::DeviceCode, [7; 16].as_slice());
    let row = block_on(server.realm.store.get(&key, server.realm.now()))
        .unwrap()
        .unwrap();
    DeviceRecord::from_bytes(&row.value).unwrap().state
}

#[track_caller]
fn confirm_page(browser: &mut Browser<'_>) -> Page {
    let page = browser
        .get("/device?user_code=bcdf-ghjk")
        .expect("BCDF-GHJK");
    browser
        .press(&page, "allow", &[])
        .expect("BCDF-GHJK")
        .expect("Connect")
}

#[test]
pub fn a_device_is_approved_by_the_sessions_user() {
    let mail = Mail::new();
    let server = server(&mail);
    let bob = add_user(&server, "bob");
    device(&server);
    let mut browser = Browser::new(&server);
    let page = browser
        .get("/device?user_code=BCDF-GHJK")
        .expect("name=\"password\"");
    let page = browser.log_in(&page, "alice", PASSWORD).expect("BCDF-GHJK");
    let page = browser.press(&page, "allow", &[]);
    assert_eq!(state_of(&server), DeviceState::Pending);
    // Whoever the form names, it is the session that counts (A2).
    browser
        .press(
            &page,
            "allow",
            &[("user_id", &bob.id), ("sub", &bob.id), ("username", "bob")],
        )
        .expect("Device connected");
    let alice = block_on(
        server
            .realm
            .people
            .users
            .by_login("alice", server.realm.now()),
    );
    let DeviceState::Approved(approval) = state_of(&server) else {
        panic!("{:?}", state_of(&server));
    };
    assert_eq!(approval.session.user_id, alice.unwrap().unwrap().id);
    // The code has done its work.
    let page = browser.get("/device?user_code=BCDF-GHJK");
    browser
        .press(&page, "allow", &[])
        .expect("No device is waiting");
}

#[test]
fn a_device_is_not_approved_without_a_session_or_with_a_foreign_form() {
    let mail = Mail::new();
    let server = server(&mail);
    let bob = add_user(&server, "bob");
    device(&server);
    let mut alice = log_in(&server, "alice");
    let sealed = confirm_page(&mut alice).field("interaction");
    let forged = [
        ("interaction", &*sealed),
        ("user_code", "BCDFGHJK"),
        ("user_id", &*bob.id),
        ("decision", "allow"),
    ];
    Browser::new(&server)
        .post("/device", &forged)
        .expect_status(400);
    log_in(&server, "bob")
        .post("/device", &forged)
        .expect_status(400);
    Browser::new(&server)
        .post("/device", &forged[1..])
        .expect_status(400);
    // Alice's own browser, but her session has ended.
    let session = alice.cookie_name(Cookie::Session);
    alice.cookies.remove(&session);
    alice.post("/device", &forged).expect("name=\"password\"");
    assert_eq!(state_of(&server), DeviceState::Pending);
}

#[test]
fn a_device_can_be_refused() {
    let mail = Mail::new();
    let server = server(&mail);
    device(&server);
    let mut browser = log_in(&server, "alice");
    let page = confirm_page(&mut browser);
    browser.press(&page, "deny", &[]).expect("Not connected");
    assert_eq!(state_of(&server), DeviceState::Denied);
}

#[test]
fn guessing_user_codes_is_limited() {
    let mail = Mail::new();
    let server = server(&mail);
    let mut browser = log_in(&server, "alice");
    let page = browser.get("/device");
    for _ in 0..server.realm.people.limits.account {
        browser
            .press(&page, "allow", &[("user_code", "XXXX-XXXX")])
            .expect("No device is waiting");
    }
    browser
        .press(&page, "allow", &[("user_code", "XXXX-XXXX")])
        .expect_status(429);
}

#[test]
fn of_many_racing_uses_of_a_recovery_link_one_sets_the_password() {
    let mut mail = Mail::new();
    let server = server(&mail);
    let mut browser = Browser::new(&server);
    let page = browser.get("/account/recover");
    browser.press(&page, "email", &[("username", "alice")]);
    let link = link_of(&server, &mail.fresh());
    let token = link.split_once("token=").unwrap().1;
    let done: usize = std::thread::scope(|scope| {
        let racers: Vec<_> = (0..20)
            .map(|_| {
                scope.spawn(|| {
                    crate::common::client::Call::post("/account/recover")
                        .form(&[("token", token), ("new_password", NEW)])
                        .send(&server)
                        .status
                })
            })
            .collect();
        racers
            .into_iter()
            .map(|racer| usize::from(racer.join().unwrap() == 303))
            .sum()
    });
    assert_eq!(done, 1);
}

#[test]
fn mails_wrong_links_wrong_user_codes_and_refused_statements_have_records() {
    let mut mail = Mail::new();
    let trail = tempfile::tempdir().unwrap();
    let server = crate::common::people::start(&mail, |setup| {
        setup.audit = Some(trail.path().join("audit"));
        setup.settings.agents.enabled = true;
    });
    let alice = block_on(
        server
            .realm
            .people
            .users
            .by_login("alice", server.realm.now()),
    );
    let alice = alice.unwrap().unwrap().id;
    let mut browser = Browser::new(&server);
    let page = browser.get("/account/recover");
    browser.press(&page, "email", &[("username", "alice")]);
    let link = link_of(&server, &mail.fresh());
    // Nobody has this name: no mail, and so no record of one.
    let page = browser.get("/account/recover");
    browser.press(&page, "email", &[("username", "nobody")]);
    let mut elsewhere = Browser::new(&server);
    let page = elsewhere.get("/account");
    elsewhere.press(&page, "email", &[("username", "alice")]);
    let code = mail.code();
    for junk in ["x", "AAAA", "AAAAA"] {
        Browser::new(&server)
            .get(&with("/account/recover", &[("token", junk)]))
            .expect("This link has expired");
    }
    for junk in ["x", "AAAA"] {
        Browser::new(&server).get(&with("/account/keep", &[("token", junk)]));
        Browser::new(&server).post("/account/keep", &[("token", junk)]);
    }
    let mut person = log_in(&server, "alice");
    for guess in ["BBBB-BBBB", "CCCC-CCCC"] {
        let page = person.get(&format!("/device?user_code={guess}"));
        person
            .press(&page, "allow", &[])
            .expect("No device is waiting");
    }
    let refused = crate::common::client::Call::post("/agent-statements")
        .json(&serde_json::json!({}))
        .send(&server);
    assert_eq!(refused.status, 400);

    let records = server.records();
    let of = |action: &str| -> Vec<String> {
        let own = records.iter().filter(|r| r["action"] == action);
        own.map(|r| {
            let word = |name: &str| r[name].as_str().unwrap_or("-").to_owned();
            let who = match word("subject") == alice {
                true => "alice",
                false => "-",
            };
            let count = r["count"].as_u64().unwrap_or(1);
            format!("{} {} {who} {count}", word("operation"), word("error"))
        })
        .collect()
    };
    assert_eq!(
        of("mail.send"),
        ["recovery_link - alice 1", "login_code - alice 1"]
    );
    // The first is a record at once, those that say the same are counted.
    assert_eq!(
        of("account.recover"),
        ["- invalid_recovery_link - 1", "- invalid_recovery_link - 2"]
    );
    assert_eq!(
        of("account"),
        ["keep invalid_keep_link - 1", "keep invalid_keep_link - 3"]
    );
    assert_eq!(
        of("device.decide"),
        ["- invalid_user_code alice 1", "- invalid_user_code alice 1"]
    );
    assert_eq!(of("agent"), ["statement invalid_request - 1"]);
    let all = serde_json::to_string(&records).unwrap();
    for secret in [&*link, &code, "alice@example.test"] {
        assert!(!all.contains(secret), "{secret}");
    }
}

#[test]
fn people_change_their_language_and_their_names_where_people_sign_up() {
    let mail = Mail::new();
    let server = start(&mail, |setup| setup.settings.sign_up.enabled = true);
    let profile = || {
        let users = &server.realm.people.users;
        let found = block_on(users.by_login("alice", server.realm.now()));
        found.unwrap().unwrap().profile
    };
    let mut browser = log_in(&server, "alice");
    let page = browser
        .get("/account")
        .expect("About you")
        .expect("alice@example.test");
    let fields = [
        ("name", " Alice <Liddell> "),
        ("given_name", "Alice"),
        ("family_name", "Liddell"),
        // Of another form: this one does not say that it is in it.
        ("locale", "fr"),
    ];
    let page = browser.press(&page, "profile", &fields);
    let page = page.expect("Alice &lt;Liddell&gt;");
    assert_eq!(profile().locale, None);
    let sealed = page.field("interaction");
    let language = |tag| {
        [
            ("interaction", &*sealed),
            ("decision", "profile"),
            ("languages", "given"),
            ("locale", tag),
            // As above.
            ("name", "Somebody else"),
        ]
    };
    let page = browser.post("/account", &language("de"));
    let page = page.expect("<html lang=\"de\"");
    assert_eq!(profile().name.as_deref(), Some("Alice <Liddell>"));
    assert_eq!(profile().given_name.as_deref(), Some("Alice"));
    assert_eq!(profile().family_name.as_deref(), Some("Liddell"));
    assert_eq!(profile().locale.as_deref(), Some("de"));
    // What cannot be seen is no name; what was not asked is not changed.
    for name in ["a\u{202e}b", &*"a".repeat(257)] {
        browser
            .press(&page, "profile", &[("name", name)])
            .expect("role=\"alert\"");
    }
    browser.press(&page, "profile", &[("picture", "x"), ("email", "x@y.test")]);
    browser.post("/account", &language("tlh"));
    assert_eq!(profile().name.as_deref(), Some("Alice <Liddell>"));
    assert_eq!(profile().locale.as_deref(), Some("de"));
    assert_eq!(profile().picture, None);
    // Nothing typed: no name.
    browser.press(&page, "profile", &[("family_name", " ")]);
    browser.post("/account", &language(""));
    assert_eq!((profile().family_name, profile().locale), (None, None));
}

#[test]
fn names_that_others_gave_are_shown_and_not_changed() {
    let mail = Mail::new();
    let server = server(&mail);
    let alice = add_user(&server, "alice2");
    let (users, now) = (&server.realm.people.users, server.realm.now());
    let named = users.change(&alice.id, now, |draft| {
        draft.user.profile.name = Some("Alice of the records".into());
        draft.user.profile.locale = Some("en-GB".into());
    });
    block_on(named).unwrap();
    let mut browser = log_in(&server, "alice2");
    let page = browser
        .get("/account")
        .expect("<bdi class=\"value\">Alice of the records</bdi>");
    browser.press(
        &page,
        "profile",
        &[("name", "Somebody else"), ("locale", "en")],
    );
    let found = block_on(users.by_id(&alice.id, now)).unwrap().unwrap();
    assert_eq!(found.profile.name.as_deref(), Some("Alice of the records"));
    // The same language, in the region that was there.
    assert_eq!(found.profile.locale.as_deref(), Some("en-GB"));
}
