//! Classes that an operator demands, of the realm and of a client: what is missing is asked for,
//! and what nobody has set up is set up on the way.
use crate::common::{
    Server, block_on,
    browser::{Browser, Page},
    people::{Mail, PASSWORD, add_user, request, start},
    totp::{App, between},
};
use signet_login::journey::totp;
use signet_oauth::authorize::acr;
use signet_oauth::client::ConsentPolicy;
use signet_oauth::issued::sealed::AuthorizationCode;
use signet_oauth::people::Group;
use signet_oauth::settings::StepUp;
use std::sync::Arc;

const CALLBACK: &str = "https://client.example/cb?";

fn server(mail: &Mail) -> Server {
    let server = start(mail, |setup| {
        setup.clients[0].consent = ConsentPolicy::Skip;
    });
    server.stop_clock();
    server
}

/// Demands a class for the client `web`.
fn demand_for_client(server: &Server, class: &str) {
    server.configure(|_, registry| {
        let mut web = (*registry.clients.get("web").unwrap()).clone();
        let record = Arc::make_mut(&mut web);
        record.required_acr = Some(class.to_owned());
        registry.clients.insert("web".into(), web);
    });
}

#[track_caller]
fn code_of(server: &Server, page: &Page) -> AuthorizationCode {
    assert!(
        page.url.starts_with(CALLBACK),
        "{}: {}",
        page.url,
        page.text()
    );
    AuthorizationCode::open(&server.realm.keyring(), &page.param("code").unwrap()).unwrap()
}

fn is_logged_in(browser: &Browser<'_>) -> bool {
    browser.cookies.contains_key("__Host-signet-session")
}

/// Sets an app up on the page that demands one.
#[track_caller]
fn set_up(server: &Server, browser: &mut Browser<'_>, page: &Page) -> (App, Page) {
    let app = App::of(&between(&page.text(), "<code id=\"totp-secret\">", "<"));
    browser
        .press(page, "totp-add", &[("totp", "000000")])
        .expect("is not the code that the app shows");
    let page = browser.press(page, "totp-add", &[("totp", &app.code(server, 0))]);
    server.pass(totp::PERIOD);
    (app, page)
}

#[test]
fn whoever_has_nothing_that_reaches_what_the_realm_demands_sets_it_up_before_any_session() {
    let mut mail = Mail::new();
    let server = server(&mail);
    server.configure(|settings, _| settings.required_acr = Some(acr::TWO_FACTORS.to_owned()));
    let mut browser = Browser::new(&server);
    let page = browser.get(&request(&[]));
    let page = browser.log_in(&page, "alice", PASSWORD);
    let page = page.expect("Your account has to have a second factor");
    assert!(!is_logged_in(&browser));
    // Nothing is reached beside it.
    browser.get("/account").expect("name=\"password\"");
    let (app, page) = set_up(&server, &mut browser, &page);
    let code = code_of(&server, &page);
    assert_eq!(code.acr, acr::TWO_FACTORS);
    let told = mail.fresh();
    assert!(
        told.len() == 1 && told[0].contains("A code app was added"),
        "{told:?}"
    );
    // From now on it is asked for.
    let mut browser = Browser::new(&server);
    let page = browser.get(&request(&[]));
    let page = browser
        .log_in(&page, "alice", PASSWORD)
        .expect("name=\"totp\"");
    assert!(!page.text().contains("totp-secret"));
    code_of(
        &server,
        &browser.press(&page, "allow", &[("totp", &app.code(&server, 0))]),
    );
}

#[test]
fn a_mailed_code_alone_sets_up_no_factor_before_the_password_was_shown() {
    let mut mail = Mail::new();
    let server = server(&mail);
    server.configure(|settings, _| settings.required_acr = Some(acr::TWO_FACTORS.to_owned()));
    let mut browser = Browser::new(&server);
    let page = browser.get(&request(&[]));
    let page = browser.press(&page, "email", &[("username", "alice")]);
    let page = browser.press(&page, "allow", &[("otp", &mail.code())]);
    let page = page.expect("this needs your password, too");
    let page = browser.press(&page, "allow", &[("password", PASSWORD)]);
    let (_, page) = set_up(&server, &mut browser, &page);
    code_of(&server, &page);
}

#[test]
fn what_a_client_demands_is_asked_of_a_session_and_only_what_is_missing() {
    let mail = Mail::new();
    let server = server(&mail);
    let mut browser = Browser::new(&server);
    let page = browser.get("/account");
    let page = browser.log_in(&page, "alice", PASSWORD);
    let page = browser.press(&page.expect("Your account"), "totp-add", &[]);
    let (app, page) = set_up(&server, &mut browser, &page);
    page.expect("was added");
    // A session with a password alone, from before the app was there, in another browser.
    demand_for_client(&server, acr::TWO_FACTORS);
    let silent = request(&[("prompt", "none")]);
    let code = code_of(&server, &browser.get(&silent));
    assert_eq!(code.acr, acr::TWO_FACTORS);
    let mut other = Browser::new(&server);
    let page = other.get(&silent);
    assert_eq!(page.param("error").as_deref(), Some("login_required"));
    let page = other.get(&request(&[]));
    let page = other
        .log_in(&page, "alice", PASSWORD)
        .expect("name=\"totp\"");
    code_of(
        &server,
        &other.press(&page, "allow", &[("totp", &app.code(&server, 0))]),
    );
}

#[test]
fn a_session_with_a_password_steps_up_for_the_client_that_demands_more_and_keeps_its_sid() {
    let mail = Mail::new();
    let server = server(&mail);
    let mut browser = Browser::new(&server);
    let page = browser.get(&request(&[]));
    let before = code_of(&server, &browser.log_in(&page, "alice", PASSWORD));
    assert_eq!(before.acr, acr::PASSWORD);
    demand_for_client(&server, acr::TWO_FACTORS);
    let page = browser.get(&request(&[("prompt", "none")]));
    assert_eq!(page.param("error").as_deref(), Some("login_required"));
    let page = browser
        .get(&request(&[]))
        .expect("Your account has to have a second factor");
    assert!(!page.text().contains("name=\"password\""));
    let (_, page) = set_up(&server, &mut browser, &page);
    let after = code_of(&server, &page);
    assert_eq!(after.acr, acr::TWO_FACTORS);
    assert_eq!(after.sid, before.sid);
}

#[test]
fn what_cannot_be_reached_is_refused_and_never_made_up_for() {
    let mail = Mail::new();
    let server = server(&mail);
    let mut browser = Browser::new(&server);
    let page = browser.get(&request(&[]));
    code_of(&server, &browser.log_in(&page, "alice", PASSWORD));
    demand_for_client(&server, acr::PHISHING_RESISTANT);
    for more in [&[][..], &[("prompt", "login")]] {
        let mut page = browser.get(&request(more));
        if page.text().contains("name=\"password\"") {
            page = browser.log_in(&page, "alice", PASSWORD);
        }
        assert!(page.param("code").is_none(), "{}", page.url);
        let refused = page.param("error").as_deref() == Some("unmet_authentication_requirements")
            || page
                .text()
                .contains("data-error=\"unmet_authentication_requirements\"");
        assert!(refused, "{}: {}", page.url, page.text());
    }
}

#[test]
fn what_is_required_binds_the_command_lines_password_too() {
    let mail = Mail::new();
    let server = server(&mail);
    server.configure(|settings, declared| {
        settings.required_acr = Some(acr::TWO_FACTORS.to_owned());
        signet_oauth::command_line::add(declared).unwrap();
    });
    crate::common::client::Call::post("/password-login")
        .json(&serde_json::json!({ "username": "alice", "password": PASSWORD }))
        .send(&server)
        .expect_error(400, "interaction_required");
}

/// Demands two factors where a row of the operator's table fits.
fn demand(server: &Server, row: StepUp) {
    server.configure(|settings, _| {
        settings.step_up = vec![StepUp {
            acr: acr::TWO_FACTORS.to_owned(),
            ..row
        }];
    });
}

#[test]
fn a_scope_may_demand_more_than_the_client_that_asks_for_it() {
    let mail = Mail::new();
    let server = server(&mail);
    demand(
        &server,
        StepUp {
            scopes: vec!["email".into()],
            ..StepUp::default()
        },
    );
    let mut browser = Browser::new(&server);
    let page = browser.get(&request(&[("scope", "openid")]));
    let before = code_of(&server, &browser.log_in(&page, "alice", PASSWORD));
    assert_eq!(before.acr, acr::PASSWORD);
    let page = browser.get(&request(&[("scope", "openid email")]));
    let (_, page) = set_up(&server, &mut browser, &page);
    let after = code_of(&server, &page);
    assert_eq!(
        (after.acr.as_str(), &after.sid),
        (acr::TWO_FACTORS, &before.sid)
    );
}

#[test]
fn a_group_may_demand_more_of_its_people_at_every_login_and_of_nobody_else() {
    let mail = Mail::new();
    let server = server(&mail);
    add_user(&server, "bob");
    server.configure(|_, registry| {
        let people = Arc::make_mut(&mut registry.people);
        let group = |name: &str, parent: Option<&str>| Group {
            id: format!("id-{name}"),
            name: name.to_owned(),
            description: None,
            parent: parent.map(str::to_owned),
            roles: Vec::new(),
            external_id: None,
            revision: 0,
        };
        people.put_group(Arc::new(group("staff", None)));
        people.put_group(Arc::new(group("finance", Some("staff"))));
    });
    let (users, now) = (&server.realm.people.users, server.realm.now());
    let alice = block_on(users.by_login("alice", now)).unwrap().unwrap();
    block_on(users.change(&alice.id, now, |draft| {
        draft.user.groups = vec!["id-finance".to_owned()];
    }))
    .unwrap();
    // Of those of a group inside it, too.
    demand(
        &server,
        StepUp {
            groups: vec!["staff".into()],
            ..StepUp::default()
        },
    );
    let mut browser = Browser::new(&server);
    let page = browser.get("/account");
    let page = browser.log_in(&page, "alice", PASSWORD);
    page.expect("Your account has to have a second factor");
    assert!(!is_logged_in(&browser));
    let mut browser = Browser::new(&server);
    let page = browser.get("/account");
    browser
        .log_in(&page, "bob", PASSWORD)
        .expect("Your account");
    assert!(is_logged_in(&browser));
}
