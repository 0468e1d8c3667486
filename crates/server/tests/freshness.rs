//! What outlives the session asks whether this browser has just shown everything that the account
//! has: a table of acts and states of the session, and what was found to pass it by.
use crate::authenticator::Authenticator;
use crate::common::{
    Server, block_on,
    browser::{Browser, Page},
    people::{Mail, PASSWORD, request, start},
    totp::{App, between},
};
use signet_directory::{CredentialKind, NewUser, User};
use signet_encoding::base64url;
use signet_login::journey::totp;
use signet_oauth::authorize::acr;
use signet_oauth::client::ConsentPolicy;
use signet_oauth::issued::sealed::AuthorizationCode;
use signet_oauth::people::passkeys::UserVerification;
use signet_oauth::people::provider::Provider;
use signet_oauth::settings::StepUp;
use signet_request::cookie::Cookie;

const CALLBACK: &str = "https://client.example/cb?";
const LOGIN: &str = "name=\"password\"";
const APP: &str = "name=\"totp\"";
const PASSKEY: &str = "data-passkey-get=";

fn server(mail: &Mail) -> Server {
    let server = start(mail, |setup| {
        setup.clients[0].consent = ConsentPolicy::Skip;
    });
    server.configure(|settings, _| {
        settings.self_deletion = true;
        settings.agents.enabled = true;
    });
    crate::providers::write(
        &server,
        Provider {
            client_id: "signet".into(),
            ..Provider::new("corp", "https://127.0.0.1:1/nowhere")
        },
    );
    server.stop_clock();
    server
}

fn user(server: &Server) -> User {
    let users = &server.realm.people.users;
    let found = block_on(users.by_login("alice", server.realm.now()));
    found.unwrap().unwrap()
}

fn phone(server: &Server) -> Authenticator {
    let party = signet_webauthn::RelyingParty::of_issuer(&server.issuer(), &[]).expect("a domain");
    Authenticator::new(&party.origins()[0], party.id())
}

#[track_caller]
fn asked(page: &Page, attribute: &str) -> serde_json::Value {
    let value = between(&page.text(), &format!("{attribute}=\""), "\"");
    serde_json::from_str(&value.replace("&quot;", "\"")).expect("JSON")
}

fn bytes(value: &serde_json::Value) -> Vec<u8> {
    base64url::decode(value.as_str().expect("a text").as_bytes()).expect("base64url")
}

#[track_caller]
fn made(key: &mut Authenticator, page: &Page) -> String {
    let options = asked(page, "data-passkey-create");
    key.create(
        &bytes(&options["challenge"]),
        &bytes(&options["user"]["id"]),
    )
}

#[track_caller]
fn answer(key: &mut Authenticator, page: &Page) -> String {
    key.get(&bytes(&asked(page, "data-passkey-get")["challenge"]))
}

#[track_caller]
fn log_in<'s>(server: &'s Server) -> (Browser<'s>, Page) {
    let mut browser = Browser::new(server);
    let page = browser.get("/account");
    let page = browser.log_in(&page, "alice", PASSWORD);
    (browser, page)
}

#[track_caller]
fn add_app(server: &Server, browser: &mut Browser<'_>, page: &Page) -> App {
    let page = browser.press(page, "totp-add", &[]);
    let app = App::of(&between(&page.text(), "<code id=\"totp-secret\">", "<"));
    let code = app.code(server, 0);
    let page = browser.press(&page, "totp-add", &[("totp", &code)]);
    page.expect("was added");
    server.pass(totp::PERIOD);
    app
}

#[track_caller]
fn add_key(browser: &mut Browser<'_>, page: &Page, key: &mut Authenticator) {
    let new = made(key, page);
    browser
        .press(page, "passkey-add", &[("passkey", &new)])
        .expect("The passkey was added");
}

fn is_logged_in(browser: &Browser<'_>) -> bool {
    browser
        .cookies
        .contains_key(&browser.cookie_name(Cookie::Session))
}

/// What outlives the session: the forms of the account page. None of them is complete: what comes
/// of one that is not asked for a login is said on the page.
const ACTS: [(&str, &[(&str, &str)]); 9] = [
    ("passkey-add", &[]),
    ("totp-add", &[]),
    ("recovery-codes", &[]),
    ("credential-remove", &[("kind", "totp")]),
    ("provider-link:corp", &[]),
    ("provider-unlink", &[("link", "nobody")]),
    ("bind-agent", &[("proof", "x")]),
    ("unbind-agent", &[("agent", "x")]),
    ("export", &[]),
];

/// What a page asks for; none: the act was let through. The login page takes a passkey, too.
fn asks(page: &Page) -> Option<&'static str> {
    let text = page.text();
    // The forms that change a password and add a passkey stand on the account page, too.
    let at_account = text.contains("Your account") || text.contains("totp-secret");
    [APP, LOGIN, PASSKEY]
        .into_iter()
        .find(|field| !at_account && text.contains(field))
}

/// Sends the form of an act, whether or not its button is on the page.
#[track_caller]
fn act(browser: &mut Browser<'_>, name: &str, fields: &[(&str, &str)]) -> Page {
    let page = browser.get("/account").expect("Your account");
    let field = page.field("interaction");
    let mut all = vec![("interaction", &*field), ("decision", name)];
    all.extend(fields);
    browser.post("/account", &all)
}

#[track_caller]
fn every_act_asks(state: &str, browser: &mut Browser<'_>, expected: Option<&str>) {
    let server = browser.server;
    let app = user(server)
        .credentials_of(CredentialKind::Totp)
        .next()
        .map(str::to_owned);
    for (name, fields) in ACTS {
        let mut fields = fields.to_vec();
        if name == "credential-remove" {
            // The last one is never gone: the list of acts goes on with the same account.
            let Some(app) = app.as_deref().filter(|_| expected.is_some()) else {
                continue;
            };
            fields.push(("id", app));
        }
        let page = act(browser, name, &fields);
        assert_eq!(asks(&page), expected, "{state}, {name}: {}", page.text());
    }
    if expected.is_some() {
        let page = act(browser, "delete-account", &[("confirmed", "yes")]);
        assert_eq!(
            asks(&page),
            expected,
            "{state}, delete-account: {}",
            page.text()
        );
    }
}

#[test]
fn every_act_that_outlives_the_session_asks_for_everything_that_the_account_has() {
    let mail = Mail::new();
    let server = server(&mail);

    // The account has a password alone.
    let (mut browser, _) = log_in(&server);
    every_act_asks("just logged in", &mut browser, None);
    server.pass(601);
    every_act_asks("a session of ten minutes", &mut browser, Some(LOGIN));

    // It has an app.
    let (mut browser, page) = log_in(&server);
    let app = add_app(&server, &mut browser, &page);
    every_act_asks("the app was just added", &mut browser, None);
    let mut browser = Browser::new(&server);
    let page = browser.get("/account");
    let page = browser.log_in(&page, "alice", PASSWORD).expect(APP);
    let fields = [("totp", &*app.code(&server, 0)), ("remember", "yes")];
    browser
        .press(&page, "allow", &fields)
        .expect("Your account");
    every_act_asks("password and code", &mut browser, None);
    server.pass(601);
    every_act_asks("password and code, older", &mut browser, Some(LOGIN));
    let page = browser.get(&request(&[("prompt", "login")]));
    let page = browser.log_in(&page, "alice", PASSWORD);
    assert!(page.url.starts_with(CALLBACK), "{}", page.text());
    every_act_asks("a remembered browser", &mut browser, Some(APP));
    server.pass(590);
    // What is shown now is the code: the password is old when it counts.
    let step = act(&mut browser, "totp-add", &[]).expect(APP);
    let page = browser.press(&step, "allow", &[("totp", &app.code(&server, 0))]);
    page.expect("Your account");
    every_act_asks("password of 590 s, and the code", &mut browser, None);
    server.pass(30);
    every_act_asks("password of 620 s, code of 30 s", &mut browser, Some(LOGIN));
}

#[test]
fn a_passkey_that_the_account_has_is_asked_for_by_every_act_and_not_by_logins() {
    let mail = Mail::new();
    let server = server(&mail);
    let (mut browser, page) = log_in(&server);
    let mut key = phone(&server);
    add_key(&mut browser, &page, &mut key);
    every_act_asks("the passkey was just added", &mut browser, None);
    let (mut browser, page) = log_in(&server);
    page.expect("Your account");
    every_act_asks("a password beside a passkey", &mut browser, Some(PASSKEY));
    let id = user(&server);
    let id = id.credentials_of(CredentialKind::Passkey).next().unwrap();
    let remove = [("kind", "passkey"), ("id", id)];
    let step = act(&mut browser, "credential-remove", &remove).expect(PASSKEY);
    assert!(user(&server).has(CredentialKind::Passkey));
    let sent = answer(&mut key, &step);
    browser
        .press(&step, "passkey", &[("passkey", &sent)])
        .expect("Your account");
    every_act_asks("password and passkey", &mut browser, None);
    act(&mut browser, "credential-remove", &remove).expect("It was removed");
    assert!(!user(&server).has(CredentialKind::Passkey));
}

#[test]
fn a_first_password_is_set_by_who_has_just_logged_in_and_shown_the_factor() {
    let mut mail = Mail::new();
    let server = server(&mail);
    let new = NewUser {
        username: "carol".to_owned(),
        email: Some("carol@example.test".to_owned()),
        email_verified: true,
        ..NewUser::default()
    };
    let users = &server.realm.people.users;
    let carol = block_on(users.create(new, server.realm.now())).unwrap().id;
    let mut key = phone(&server);
    let log_in = |browser: &mut Browser<'_>, mail: &mut Mail| {
        let page = browser.get("/account");
        let page = browser.press(&page, "email", &[("username", "carol")]);
        let page = browser.press(&page, "allow", &[("otp", &mail.code())]);
        page.expect("Your account")
    };
    let mut browser = Browser::new(&server);
    let page = log_in(&mut browser, &mut mail);
    add_key(&mut browser, &page, &mut key);
    mail.fresh();
    let mut browser = Browser::new(&server);
    log_in(&mut browser, &mut mail);
    let password = [("new_password", "a quite different sentence")];
    let has_password = || {
        let carol = block_on(users.by_id(&carol, server.realm.now()));
        users.has_password(&carol.unwrap().unwrap())
    };
    let step = act(&mut browser, "password", &password).expect(PASSKEY);
    assert!(!has_password());
    let sent = answer(&mut key, &step);
    let page = browser.press(&step, "passkey", &[("passkey", &sent)]);
    page.expect("Your account");
    server.pass(601);
    let page = act(&mut browser, "password", &password);
    assert_eq!(asks(&page), Some(LOGIN), "{}", page.text());
    assert!(!has_password());
}

/// HP2: password and remembered browser alone.
#[test]
fn a_login_in_a_remembered_browser_is_offered_no_passkey_and_adds_none() {
    let mail = Mail::new();
    let server = server(&mail);
    let (mut browser, page) = log_in(&server);
    let app = add_app(&server, &mut browser, &page);
    let able = [
        ("username", "alice"),
        ("password", PASSWORD),
        ("passkey_capable", "1"),
    ];
    let mut laptop = Browser::new(&server);
    let page = laptop.get(&request(&[]));
    let page = laptop.press(&page, "allow", &able).expect(APP);
    let fields = [("totp", &*app.code(&server, 0)), ("remember", "yes")];
    let page = laptop.press(&page, "allow", &fields);
    assert!(page.url.starts_with(CALLBACK), "{}", page.text());
    let page = laptop.get(&request(&[("prompt", "login")]));
    let page = laptop.press(&page, "allow", &able);
    assert!(page.url.starts_with(CALLBACK), "offered: {}", page.text());
    assert!(!user(&server).has(CredentialKind::Passkey));
    // A page that was shown when the login was fresh adds none when it is not.
    add_user_bob(&server);
    let able = [("username", "bob"), able[1], able[2]];
    let mut bob = Browser::new(&server);
    let page = bob.get(&request(&[]));
    let page = bob
        .press(&page, "allow", &able)
        .expect("Log in without a password");
    let new = made(&mut phone(&server), &page);
    server.pass(700);
    bob.press(&page, "passkey-add", &[("passkey", &new)]);
    let users = &server.realm.people.users;
    let bob = block_on(users.by_login("bob", server.realm.now()));
    assert!(!bob.unwrap().unwrap().has(CredentialKind::Passkey));
}

fn add_user_bob(server: &Server) {
    crate::common::people::add_user(server, "bob");
}

/// HP3: what a client demands, of a session of any age.
#[test]
fn an_old_session_sets_up_no_factor_that_a_client_or_a_device_requires() {
    let mail = Mail::new();
    let server = server(&mail);
    let (mut browser, _) = log_in(&server);
    server.pass(615);
    server.configure(|settings, _| {
        settings.step_up = vec![StepUp {
            acr: acr::TWO_FACTORS.to_owned(),
            clients: vec!["web".into()],
            ..StepUp::default()
        }];
    });
    crate::account::device(&server);
    let page = browser.get("/device?user_code=bcdf-ghjk");
    let page = browser.press(&page, "allow", &[]);
    assert!(!page.text().contains("totp-secret"), "{}", page.text());
    page.expect(LOGIN);
    let page = browser.get(&request(&[])).expect(LOGIN);
    assert!(!page.text().contains("totp-secret"), "{}", page.text());
    assert!(!user(&server).has(CredentialKind::Totp));
    // Whoever logs in again sets it up on the way, and the session goes on.
    let page = browser.log_in(&page, "alice", PASSWORD);
    let app = App::of(&between(&page.text(), "<code id=\"totp-secret\">", "<"));
    let page = browser.press(&page, "totp-add", &[("totp", &app.code(&server, 0))]);
    let code = page
        .param("code")
        .unwrap_or_else(|| panic!("{}", page.text()));
    let code = AuthorizationCode::open(&server.realm.keyring(), &code).unwrap();
    assert_eq!(code.acr, acr::TWO_FACTORS);
    assert!(user(&server).has(CredentialKind::Totp));
}

/// HP3: the time of a login is not the time of what was set up in it.
#[test]
fn a_factor_that_is_set_up_makes_the_session_no_younger() {
    let mail = Mail::new();
    let server = server(&mail);
    let (mut browser, page) = log_in(&server);
    let begun = server.realm.now();
    server.pass(590);
    let page = browser.press(&page, "totp-add", &[]);
    let app = App::of(&between(&page.text(), "<code id=\"totp-secret\">", "<"));
    let page = browser.press(&page, "totp-add", &[("totp", &app.code(&server, 0))]);
    page.expect("was added");
    server.pass(30);
    let page = browser.get(&request(&[]));
    let code = page
        .param("code")
        .unwrap_or_else(|| panic!("{}", page.text()));
    let code = AuthorizationCode::open(&server.realm.keyring(), &code).unwrap();
    assert_eq!(code.auth_time, begun);
    every_act_asks("an app in an old session", &mut browser, Some(LOGIN));
}

/// MP1: a key that verifies nobody is nothing but a second factor.
#[test]
fn a_security_key_is_asked_for_after_a_password_and_by_whoever_takes_it_away() {
    let mail = Mail::new();
    let server = server(&mail);
    server.configure(|settings, _| {
        settings.passkeys.user_verification = UserVerification::Preferred;
    });
    let (mut browser, page) = log_in(&server);
    let mut key = phone(&server);
    key.verified = false;
    add_key(&mut browser, &page, &mut key);
    let (mut browser, page) = log_in(&server);
    assert!(!is_logged_in(&browser), "{}", page.text());
    assert!(!page.text().contains("Your account"));
    let sent = answer(&mut key, &page);
    let page = browser.press(&page, "passkey", &[("passkey", &sent)]);
    page.expect("Your account");
    every_act_asks("password and key", &mut browser, None);
    // The key alone logs in, and is one factor: the password is asked for beside it.
    let mut browser = Browser::new(&server);
    let page = browser.get("/account");
    let sent = answer(&mut key, &page);
    let page = browser.press(&page, "passkey", &[("passkey", &sent)]);
    page.expect("Your account");
    every_act_asks("the key alone", &mut browser, Some(LOGIN));
    let step = act(&mut browser, "totp-add", &[]).expect(LOGIN);
    let page = browser.press(&step, "allow", &[("password", PASSWORD)]);
    page.expect("Your account");
    every_act_asks("the key and the password", &mut browser, None);
}

/// LP1: a challenge counts once for as long as its page does.
#[test]
fn a_passkeys_answer_is_consumed_for_as_long_as_its_page_can_be_sent() {
    let mail = Mail::new();
    let server = server(&mail);
    let (mut browser, page) = log_in(&server);
    let mut key = phone(&server);
    add_key(&mut browser, &page, &mut key);
    // The page of a login that waits for a mail lives longer than others; so does every page
    // whose lifetime is shortened after it was shown.
    let mut browser = Browser::new(&server);
    let page = browser.get(&request(&[]));
    let sent = answer(&mut key, &page);
    server.configure(|settings, _| settings.interaction_lifetime = 60);
    let done = browser.press(&page, "passkey", &[("passkey", &sent)]);
    assert!(done.url.starts_with(CALLBACK), "{}", done.text());
    server.pass(65);
    browser
        .press(&page, "passkey", &[("passkey", &sent)])
        .expect("waited too long");
}

/// LP10: one question for all ways in, and no form takes what has a form of its own.
#[test]
fn the_last_way_in_stays_whatever_its_kind_and_whoever_asks_at_once() {
    let mail = Mail::new();
    let server = server(&mail);
    let (mut browser, page) = log_in(&server);
    let mut keys = [phone(&server), phone(&server)];
    for key in &mut keys {
        let page = browser.get("/account");
        add_key(&mut browser, &page, key);
    }
    drop(page);
    let alice = user(&server);
    let (users, now) = (&server.realm.people.users, server.realm.now());
    block_on(users.set_password(&alice.id, None, now)).unwrap();
    block_on(users.set_email(&alice.id, None, false, now)).unwrap();
    let ids: Vec<String> = alice
        .credentials_of(CredentialKind::Passkey)
        .map(str::to_owned)
        .collect();
    let page = browser.get("/account").expect("Your account");
    let field = page.field("interaction");
    let cookies: Vec<String> = browser
        .cookies
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    let cookies = cookies.join("; ");
    std::thread::scope(|scope| {
        for id in &ids {
            let call = crate::common::client::Call::post("/account")
                .header("cookie", &cookies)
                .form(&[
                    ("interaction", &field),
                    ("decision", "credential-remove"),
                    ("kind", "passkey"),
                    ("id", id),
                ]);
            let server = &server;
            scope.spawn(move || call.send(server));
        }
    });
    let left = user(&server)
        .credentials_of(CredentialKind::Passkey)
        .count();
    assert_eq!(left, 1, "one of two that were removed at once stays");
}
