//! The menu of languages: on every page that can be shown again, and the person stays where they
//! were.
use crate::common::{
    SECRET, Server, block_on,
    browser::{Browser, Page},
    client,
    client::Call,
    people::{CHEAP, Mail, PASSWORD, add_user, request, start},
    scope,
    totp::{App, between},
};
use crate::people_claims::Operator;
use serde_json::json;
use signet_crypto::password::hash;
use signet_login::invitation;
use signet_login::journey::totp;
use signet_oauth::client::{Client, ConsentPolicy};
use signet_oauth::people::sign_up::SignUpSettings;

const NEW: &str = "four other words entirely";
const CALLBACK: &str = "https://client.example/cb?";

fn server(mail: &Mail) -> Server {
    let server = start(mail, |setup| {
        setup.clients[0].consent = ConsentPolicy::Skip;
        setup.settings.sign_up = SignUpSettings {
            enabled: true,
            ..SignUpSettings::default()
        };
        setup.clients.push(Client {
            scope: scope("signet:admin openid"),
            ..client("operator")
        });
    });
    // Codes go by the time.
    server.stop_clock();
    server
}

/// Chooses German in the page's menu.
#[track_caller]
fn in_german(browser: &mut Browser<'_>, page: &Page) -> Page {
    let text = page.text();
    assert!(text.contains("<html lang=\"en\""), "{}", page.url);
    let (_, form) = text
        .split_once("<form class=\"language\" method=\"post\" action=\"/language\">")
        .unwrap_or_else(|| panic!("no menu on {}: {text}", page.url));
    let hidden = form.split("<label").next().unwrap();
    let mut fields: Vec<(&str, &str)> = hidden
        .split("name=\"")
        .skip(1)
        .map(|rest| {
            let (name, rest) = rest.split_once('"').unwrap();
            let (_, value) = rest.split_once("value=\"").unwrap();
            (name, value.split('"').next().unwrap())
        })
        .collect();
    fields.push(("language", "de"));
    let page = browser.post("/language", &fields);
    page.expect("<html lang=\"de\"")
}

/// The link of the one mail that came with one.
#[track_caller]
fn link(mail: &mut Mail, path: &str) -> String {
    let begins = format!("{path}?token=");
    let mut mails = mail.fresh();
    mails.retain(|mail| mail.contains(&begins));
    assert_eq!(mails.len(), 1, "{mails:?}");
    let start = mails[0].find(&begins).unwrap();
    let link = mails[0][start..].split_whitespace().next().unwrap();
    link.to_owned()
}

#[track_caller]
fn is_at_application(page: &Page) {
    assert!(
        page.url.starts_with(CALLBACK) && page.param("code").is_some(),
        "{}: {}",
        page.url,
        page.text()
    );
}

#[test]
fn a_mailed_code_stays_asked_for_and_works() {
    let mut mail = Mail::new();
    let server = server(&mail);
    let mut browser = Browser::new(&server);
    let page = browser.get(&request(&[]));
    let page = browser.press(&page, "email", &[("username", "alice")]);
    let code = mail.code();
    let page = in_german(&mut browser, &page);
    assert!(mail.fresh().is_empty(), "no second mail");
    is_at_application(&browser.press(&page, "allow", &[("otp", &code)]));
}

#[test]
fn a_second_step_and_a_temporary_password_stay_asked_for() {
    let mail = Mail::new();
    let server = server(&mail);
    let mut browser = Browser::new(&server);
    let page = browser.get("/account");
    let page = browser.log_in(&page, "alice", PASSWORD);
    let page = browser.press(&page, "totp-add", &[]);
    let app = App::of(&between(&page.text(), "<code id=\"totp-secret\">", "<"));
    browser.press(&page, "totp-add", &[("totp", &app.code(&server, 0))]);
    server.pass(totp::PERIOD);

    let mut browser = Browser::new(&server);
    let page = browser.get(&request(&[]));
    let page = browser.log_in(&page, "alice", PASSWORD);
    let page = in_german(&mut browser, &page).expect("name=\"totp\"");
    let page = browser.press(&page, "allow", &[("totp", &app.code(&server, 0))]);
    is_at_application(&page);

    let bob = add_user(&server, "bob");
    let now = server.realm.now();
    let phc = hash(b"a temporary set of words", CHEAP).unwrap();
    let set = server.realm.people.users.change(&bob.id, now, |draft| {
        draft.set_temporary_password(&phc, now);
    });
    block_on(set).unwrap();
    let mut browser = Browser::new(&server);
    let page = browser.get(&request(&[]));
    let page = browser.log_in(&page, "bob", "a temporary set of words");
    let page = in_german(&mut browser, &page).expect("name=\"new_password\"");
    let page = browser.press(&page, "first-password", &[("new_password", NEW)]);
    is_at_application(&page);
}

#[test]
fn a_factor_that_is_set_up_on_the_way_keeps_its_secret() {
    let mail = Mail::new();
    let server = server(&mail);
    server.configure(|settings, _| {
        settings.required_acr = Some(signet_oauth::authorize::acr::TWO_FACTORS.to_owned());
    });
    let mut browser = Browser::new(&server);
    let page = browser.get(&request(&[]));
    let page = browser.log_in(&page, "alice", PASSWORD);
    let secret = |page: &Page| between(&page.text(), "<code id=\"totp-secret\">", "<");
    let before = secret(&page);
    let page = in_german(&mut browser, &page);
    assert_eq!(secret(&page), before, "it was scanned already");
    let code = App::of(&before).code(&server, 0);
    is_at_application(&browser.press(&page, "totp-add", &[("totp", &code)]));
}

#[test]
fn sign_up_and_a_forgotten_password_stay_with_the_application_behind_them() {
    let mail = Mail::new();
    let server = server(&mail);
    for path in ["/sign-up", "/account/recover"] {
        let mut browser = Browser::new(&server);
        let login = browser.get(&request(&[]));
        let interaction = login.field("interaction");
        let page = browser.post(path, &[("interaction", &interaction)]);
        let page = in_german(&mut browser, &page);
        assert!(page.offers("email"), "{path}: {}", page.text());
        // The login of the application is behind it.
        let login = browser.press(&page, "allow", &[]);
        is_at_application(&browser.log_in(&login, "alice", PASSWORD));
    }
}

#[test]
fn the_pages_behind_mailed_links_stay() {
    let mut mail = Mail::new();
    let server = server(&mail);
    let mut browser = Browser::new(&server);
    let page = browser.get("/sign-up");
    browser.press(&page, "email", &[("email", "bob@example.test")]);
    let mut links = vec![link(&mut mail, "/sign-up")];
    let page = browser.get("/account/recover");
    browser.press(&page, "email", &[("username", "alice")]);
    links.push(link(&mut mail, "/account/recover"));
    let users = &server.realm.people.users;
    let carol = signet_directory::NewUser {
        username: "carol".into(),
        email: Some("carol@example.test".into()),
        ..signet_directory::NewUser::default()
    };
    let carol = block_on(users.create(carol, server.realm.now())).unwrap();
    block_on(invitation::invite(&server.realm, &carol.id, "operator")).unwrap();
    links.push(link(&mut mail, "/invitation"));
    for link in links {
        let mut browser = Browser::new(&server);
        let page = browser.get(&link);
        let page = in_german(&mut browser, &page);
        assert_eq!(page.url, link);
        page.expect("name=\"new_password\"");
    }
}

#[test]
fn an_error_and_the_question_before_a_logout_stay() {
    let mail = Mail::new();
    let server = server(&mail);
    let mut browser = Browser::new(&server);
    let page = browser.get("/authorize?client_id=nobody");
    let page = in_german(&mut browser, &page.expect_error("invalid_request"));
    page.expect_status(400).expect_error("invalid_request");

    let mut browser = Browser::new(&server);
    let page = browser.get("/account");
    browser
        .log_in(&page, "alice", PASSWORD)
        .expect("Your account");
    let page = browser.get("/logout?client_id=web");
    let page = in_german(&mut browser, &page).expect("<bdi>web</bdi>");
    browser.press(&page, "allow", &[]).expect("signed-out");
    assert!(!browser.cookies.contains_key("__Host-signet-session"));
}

#[test]
fn the_menu_shows_no_words_of_others_and_leads_nowhere_else() {
    let mail = Mail::new();
    let server = server(&mail);
    let mut browser = Browser::new(&server);
    for fields in [
        [("error", "Call this number"), ("language", "de")],
        [("at", "/evil.example"), ("token", "x")],
        [("at", "account"), ("token", "x")],
    ] {
        let page = browser.post("/language", &fields);
        assert_eq!(page.url, "/account");
        assert!(!page.text().contains("Call this number"));
    }
    let page = browser.post("/language", &[("at", "sign-up"), ("token", "x&y=z")]);
    assert_eq!(page.url, "/sign-up?token=x%26y%3Dz");
}

#[test]
fn a_scope_is_described_in_the_language_of_who_reads() {
    let mail = Mail::new();
    let server = start(&mail, |setup| {
        setup.clients[0].scope = scope("openid orders");
        setup.clients.push(Client {
            scope: scope("signet:admin"),
            ..client("operator")
        });
    });
    let operator = Operator::of(&server);
    let german = json!({ "de": "Deine Bestellungen sehen" });
    let orders = |descriptions: serde_json::Value| json!({ "description": "See your orders", "descriptions": descriptions });
    let put = operator.put("/scopes/orders", orders(german.clone()), 200);
    assert_eq!(put.json()["descriptions"], german);

    for (language, says, says_not) in [
        ("de", "Deine Bestellungen sehen", "See your orders"),
        ("en", "See your orders", "Deine Bestellungen sehen"),
        ("fr", "See your orders", "Deine Bestellungen sehen"),
    ] {
        let is_right = |page: &Page| {
            let text = page.text();
            assert!(
                text.contains(&format!("<html lang=\"{language}\"")),
                "{text}"
            );
            assert!(text.contains(says) && !text.contains(says_not), "{text}");
        };
        let mut browser = Browser::new(&server);
        let asked = request(&[
            ("scope", "openid orders"),
            ("ui_locales", language),
            ("prompt", "consent"),
        ]);
        let page = browser.get(&asked);
        let page = browser.log_in(&page, "alice", PASSWORD);
        is_right(&page);
        browser.press(&page, "allow", &[]);
        is_right(&browser.get(&format!("/account?ui_locales={language}")));

        let begun = Call::post("/device_authorization").basic("web", SECRET);
        let form = [("scope", "openid orders")];
        let begun = begun.form(&form).send(&server).expect(200);
        let code = begun.member("user_code");
        let page = browser.get(&format!("/device?user_code={code}&ui_locales={language}"));
        is_right(&browser.press(&page, "allow", &[("user_code", &code)]));
    }

    // What is left out stays; what is no language is refused, and changes nothing.
    let other = json!({ "description": "See all your orders" });
    let put = operator.put("/scopes/orders", other, 200).json();
    assert_eq!(put["descriptions"], german);
    let refused = operator.put("/scopes/orders", orders(json!({ "de_AT": "x" })), 400);
    assert_eq!(
        refused.member("detail"),
        "descriptions: \"de_AT\" is no tag of a language, as de and pt-BR are (RFC 5646)"
    );
    let put = operator.put("/scopes/orders", orders(json!({})), 200);
    assert_eq!(put.json()["descriptions"], serde_json::Value::Null);
}
