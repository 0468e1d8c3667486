//! A second factor: codes of an app, recovery codes, browsers that are remembered.
use crate::common::{
    Server, Setup, block_on,
    browser::{Browser, Page},
    client::Call,
    cluster::Cluster,
    people::{CHEAP, Mail, PASSWORD, add_user, people, request, start},
    totp::{App, between},
};
use signet_directory::passwords::PasswordOptions;
use signet_directory::{CredentialKind, CredentialName, User};
use signet_login::journey::{recovery_code, remembered, totp};
use signet_oauth::authorize::acr;
use signet_oauth::client::ConsentPolicy;
use signet_oauth::issued::sealed::AuthorizationCode;
use signet_pages::{Brand, BrandParts, Brands};
use signet_store::Table;

const CALLBACK: &str = "https://client.example/cb?";
const ASKED: &str = "name=\"totp\"";

fn server(mail: &Mail) -> Server {
    let server = start(mail, |setup| {
        setup.clients[0].consent = ConsentPolicy::Skip;
        let mut operator = crate::common::client("operator");
        operator.scope = crate::common::scope("signet:admin openid");
        setup.clients.push(operator);
    });
    // Codes go by the time: a test says when a step begins.
    server.stop_clock();
    server
}

#[track_caller]
fn account<'s>(server: &'s Server, name: &str) -> (Browser<'s>, Page) {
    let mut browser = Browser::new(server);
    let page = browser.get("/account");
    let page = browser.log_in(&page, name, PASSWORD).expect("Your account");
    (browser, page)
}

/// Adds an app on the account page, and lets its step pass.
#[track_caller]
fn enrol(server: &Server, browser: &mut Browser<'_>, page: &Page) -> (App, Page) {
    let page = browser.press(page, "totp-add", &[]);
    let app = App::of(&between(&page.text(), "<code id=\"totp-secret\">", "<"));
    let code = app.code(server, 0);
    let page = browser.press(&page, "totp-add", &[("totp", &code), ("label", "my phone")]);
    let page = page.expect("was added").expect("my phone");
    server.pass(totp::PERIOD);
    (app, page)
}

/// A server on which alice has an app, and the app.
#[track_caller]
fn with_app(mail: &Mail) -> (Server, App) {
    let server = server(mail);
    let (mut browser, page) = account(&server, "alice");
    let (app, _) = enrol(&server, &mut browser, &page);
    drop(browser);
    (server, app)
}

#[track_caller]
fn user(server: &Server) -> User {
    let users = &server.realm.people.users;
    let found = block_on(users.by_login("alice", server.realm.now()));
    found.unwrap().unwrap()
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

/// Up to the page that asks for the second factor.
#[track_caller]
fn half_way(browser: &mut Browser<'_>) -> Page {
    let page = browser.get(&request(&[("prompt", "login")]));
    browser.log_in(&page, "alice", PASSWORD).expect(ASKED)
}

fn is_logged_in(browser: &Browser<'_>) -> bool {
    browser.cookies.contains_key("__Host-signet-session")
}

#[test]
fn an_enrolled_app_is_asked_for_at_every_login_and_no_session_begins_before_its_code() {
    let mut mail = Mail::new();
    let (server, app) = with_app(&mail);
    let told = mail.fresh();
    assert!(
        told.iter()
            .any(|text| text.contains("A code app was added")),
        "{told:?}"
    );
    for round in 0..2 {
        let mut browser = Browser::new(&server);
        let page = half_way(&mut browser);
        assert!(!is_logged_in(&browser));
        assert!(page.offers("recovery") == user(&server).has(CredentialKind::RecoveryCodes));
        let page = browser.press(&page, "allow", &[("totp", &app.code(&server, 0))]);
        let code = code_of(&server, &page);
        assert_eq!(code.acr, acr::TWO_FACTORS, "{round}");
        assert_eq!(code.amr, ["pwd", "otp", "mfa"]);
        server.pass(totp::PERIOD);
    }
    // A mailed code is a first step like a password, and no way around the second.
    let mut browser = Browser::new(&server);
    let page = browser.get(&request(&[]));
    let page = browser.press(&page, "email", &[("username", "alice")]);
    let page = browser
        .press(&page, "allow", &[("otp", &mail.code())])
        .expect(ASKED);
    assert!(!page.offers("email") && !page.offers("password"));
    assert!(!is_logged_in(&browser));
}

#[test]
fn an_app_calls_the_server_by_its_name_and_without_one_by_its_host() {
    for (name, called) in [
        (Some("Acme & Sons"), "Acme%20%26%20Sons"),
        (None, "localhost"),
    ] {
        let mail = Mail::new();
        let server = start(&mail, |setup| {
            let parts = BrandParts {
                name: name.map(str::to_owned),
                ..BrandParts::default()
            };
            setup.people.brands = Brands::new(Brand::new(parts).unwrap()).into();
        });
        let (mut browser, page) = account(&server, "alice");
        let page = browser.press(&page, "totp-add", &[]);
        page.expect(&format!("otpauth://totp/{called}:alice?"))
            .expect(&format!("issuer={called}&amp;"));
    }
}

#[test]
fn a_code_works_once_also_the_one_that_added_the_app() {
    let mail = Mail::new();
    let server = server(&mail);
    let (mut browser, page) = account(&server, "alice");
    let page = browser.press(&page, "totp-add", &[]);
    let app = App::of(&between(&page.text(), "<code id=\"totp-secret\">", "<"));
    let code = app.code(&server, 0);
    let page_again = browser.press(&page, "totp-add", &[("totp", "000000")]);
    page_again.expect("is not the code that the app shows");
    browser
        .press(&page, "totp-add", &[("totp", &code)])
        .expect("was added");
    let mut browser = Browser::new(&server);
    let page = half_way(&mut browser);
    browser
        .press(&page, "allow", &[("totp", &code)])
        .expect("is not the code");
    // A step later, the earlier code would be within the window, and was used.
    server.pass(totp::PERIOD);
    browser
        .press(&page, "allow", &[("totp", &code)])
        .expect("is not the code");
    let next = app.code(&server, 0);
    let typed = format!("{} {}", &next[..3], &next[3..]);
    code_of(&server, &browser.press(&page, "allow", &[("totp", &typed)]));
    let page = half_way(&mut browser);
    browser
        .press(&page, "allow", &[("totp", &next)])
        .expect("is not the code");
}

#[test]
fn a_code_is_accepted_one_step_early_and_one_late_and_no_more() {
    let mail = Mail::new();
    let (server, app) = with_app(&mail);
    server.pass(5 * totp::PERIOD);
    let mut browser = Browser::new(&server);
    for (steps, right) in [(-2, false), (2, false), (-1, true), (1, true)] {
        let page = half_way(&mut browser);
        let page = browser.press(&page, "allow", &[("totp", &app.code(&server, steps))]);
        assert_eq!(
            page.url.starts_with(CALLBACK),
            right,
            "{steps}: {}",
            page.text()
        );
    }
}

#[test]
fn the_secret_of_an_app_is_sealed_at_rest() {
    let mail = Mail::new();
    let (server, app) = with_app(&mail);
    let user = user(&server);
    let (users, now) = (&server.realm.people.users, server.realm.now());
    let rows = block_on(users.credentials(&user.id, now)).unwrap();
    let row = rows
        .iter()
        .find(|row| row.name.kind == CredentialKind::Totp)
        .unwrap();
    assert_eq!(row.label, "my phone");
    let row: serde_json::Value = serde_json::from_slice(row.data.expose()).unwrap();
    let sealed: Vec<u8> = serde_json::from_value(row["secret"].clone()).unwrap();
    assert!(sealed.windows(app.0.len()).all(|part| part != app.0));
    assert!(sealed.len() > app.0.len());
}

/// Two nodes over one store, and alice's app.
fn two_nodes(mail: &Mail) -> (Cluster, App) {
    let cluster = Cluster::of(2, || Setup {
        clients: vec![{
            let mut web = crate::common::client("web");
            web.consent = ConsentPolicy::Skip;
            web
        }],
        people: people(mail),
        passwords: PasswordOptions {
            cost: CHEAP,
            ..PasswordOptions::default()
        },
        ..Setup::default()
    });
    let first = cluster.node(0);
    add_user(first, "alice");
    for node in &cluster.nodes {
        node.stop_clock();
    }
    let (mut browser, page) = account(first, "alice");
    let page = browser.press(&page, "totp-add", &[]);
    let app = App::of(&between(&page.text(), "<code id=\"totp-secret\">", "<"));
    let code = app.code(first, 0);
    browser
        .press(&page, "totp-add", &[("totp", &code)])
        .expect("was added");
    drop(browser);
    for node in &cluster.nodes {
        node.pass(2 * totp::PERIOD);
    }
    (cluster, app)
}

/// The call that sends the second step's form, as this browser.
fn step(browser: &Browser<'_>, page: &Page, field: &'static str, typed: &str) -> Call {
    let cookies: Vec<String> = browser
        .cookies
        .iter()
        .map(|(n, v)| format!("{n}={v}"))
        .collect();
    Call::post("/interaction")
        .header("cookie", &cookies.join("; "))
        .form(&[
            ("interaction", &page.field("interaction")),
            (field, typed),
            ("decision", "allow"),
        ])
}

/// How many of these calls, sent at once, begin a session.
fn sessions(calls: &[(Call, &Server)]) -> usize {
    std::thread::scope(|scope| {
        let racers: Vec<_> = calls
            .iter()
            .map(|(call, server)| scope.spawn(|| call.send(server)))
            .collect();
        let begun = racers.into_iter().filter(|_| true).map(|racer| {
            let reply = racer.join().unwrap();
            let mut cookies = reply.headers.get_all("set-cookie").iter();
            cookies.any(|c| c.to_str().unwrap().starts_with("__Host-signet-session="))
        });
        begun.filter(|begun| *begun).count()
    })
}

#[test]
fn of_many_racing_logins_with_one_code_at_two_nodes_one_succeeds() {
    let mail = Mail::new();
    let (cluster, app) = two_nodes(&mail);
    let code = app.code(cluster.node(0), 0);
    let calls: Vec<(Call, &Server)> = (0..8)
        .map(|at| {
            let node = cluster.node(at % 2);
            let mut browser = Browser::new(node);
            let page = half_way(&mut browser);
            (step(&browser, &page, "totp", &code), node)
        })
        .collect();
    assert_eq!(sessions(&calls), 1);
}

#[test]
fn guesses_at_the_second_factor_are_counted_over_nodes_and_over_both_ways_to_show_one() {
    let mail = Mail::new();
    let (cluster, app) = two_nodes(&mail);
    let first = cluster.node(0);
    let list = recovery_codes(first, &app);
    for node in &cluster.nodes {
        node.pass(2 * totp::PERIOD);
    }
    let mut browsers: Vec<(Browser<'_>, Page)> = (0..2)
        .map(|at| {
            let mut browser = Browser::new(cluster.node(at));
            let page = half_way(&mut browser);
            (browser, page)
        })
        .collect();
    let mut refused = 0;
    for guess in 0..30 {
        let (browser, page) = &mut browsers[guess % 2];
        let reply = match guess % 3 {
            0 => {
                let page = browser.press(page, "recovery", &[]);
                browser.press(&page, "allow", &[("recovery_code", "wrong-wrong")])
            }
            _ => browser.press(page, "allow", &[("totp", "000000")]),
        };
        refused += usize::from(reply.reply.status == 429);
        assert!(!is_logged_in(browser));
    }
    assert_eq!(refused, 20, "ten guesses in a window, wherever and however");
    // Nothing fits now, and the next window has ten more.
    let (browser, page) = &mut browsers[0];
    let code = app.code(first, 0);
    browser
        .press(page, "allow", &[("totp", &code)])
        .expect_status(429);
    let recovery = browser.press(page, "recovery", &[]);
    browser
        .press(&recovery, "allow", &[("recovery_code", &list[0])])
        .expect_status(429);
    for node in &cluster.nodes {
        node.pass(15 * 60);
    }
    let page = half_way(browser);
    let code = app.code(first, 0);
    browser.press(&page, "allow", &[("totp", &code)]);
    assert!(is_logged_in(browser));
}

#[test]
fn guesses_in_parallel_do_not_outrun_the_counter() {
    let mail = Mail::new();
    let (server, _) = with_app(&mail);
    let mut browser = Browser::new(&server);
    let page = half_way(&mut browser);
    let statuses: Vec<u16> = std::thread::scope(|scope| {
        let racers: Vec<_> = (0..40)
            .map(|guess| {
                let call = step(&browser, &page, "totp", &format!("{guess:06}"));
                let server = &server;
                scope.spawn(move || call.send(server).status)
            })
            .collect();
        racers
            .into_iter()
            .map(|racer| racer.join().unwrap())
            .collect()
    });
    let looked_at = statuses.iter().filter(|status| **status != 429).count();
    assert!(looked_at <= 10, "{statuses:?}");
}

/// Makes alice's recovery codes.
#[track_caller]
fn recovery_codes(server: &Server, app: &App) -> Vec<String> {
    let mut browser = Browser::new(server);
    let page = browser.get("/account");
    let page = browser.log_in(&page, "alice", PASSWORD).expect(ASKED);
    let page = browser.press(&page, "allow", &[("totp", &app.code(server, 0))]);
    let page = browser.press(&page.expect("Your account"), "recovery-codes", &[]);
    let text = between(&page.text(), "<ul id=\"recovery-codes\">", "</ul>");
    let codes = text.split("<li><code>").skip(1);
    codes
        .map(|code| code.split('<').next().unwrap().to_owned())
        .collect()
}

#[test]
fn recovery_codes_are_offered_where_there_is_a_second_factor_that_they_stand_in_for() {
    let mail = Mail::new();
    let server = server(&mail);
    let (mut browser, page) = account(&server, "alice");
    assert!(!page.offers("recovery-codes"));
    let (_, page) = enrol(&server, &mut browser, &page);
    assert!(page.offers("recovery-codes"));
}

#[test]
fn recovery_codes_are_shown_once_hashed_at_rest_and_work_once_each() {
    let mut mail = Mail::new();
    let (server, app) = with_app(&mail);
    let codes = recovery_codes(&server, &app);
    assert_eq!(codes.len(), recovery_code::CODES);
    let stored = block_on(server.realm.people.users.credential(
        &user(&server).id,
        &CredentialName::RECOVERY_CODES,
        server.realm.now(),
    ));
    let stored = stored.unwrap().unwrap();
    let stored = String::from_utf8_lossy(stored.data.expose()).into_owned();
    assert!(codes.iter().all(|code| !stored.contains(code.as_str())));
    mail.fresh();

    let mut browser = Browser::new(&server);
    let page = half_way(&mut browser);
    let page = browser
        .press(&page, "recovery", &[])
        .expect("name=\"recovery_code\"");
    let used = browser.press(
        &page,
        "allow",
        &[("recovery_code", &codes[3].to_uppercase())],
    );
    let code = code_of(&server, &used);
    assert_eq!(code.acr, acr::TWO_FACTORS);
    let told = mail.fresh();
    assert!(
        told.len() == 1 && told[0].contains("A recovery code was used"),
        "{told:?}"
    );
    let page = half_way(&mut browser);
    let page = browser.press(&page, "recovery", &[]);
    browser
        .press(&page, "allow", &[("recovery_code", &codes[3])])
        .expect("is not one of your recovery codes");
    let page = browser.press(&page, "totp", &[]).expect(ASKED);
    let page = browser.press(&page, "recovery", &[]);
    code_of(
        &server,
        &browser.press(&page, "allow", &[("recovery_code", &codes[4])]),
    );
    browser
        .get("/account")
        .expect("You have 8 recovery codes left");

    // New ones replace the old.
    server.pass(2 * totp::PERIOD);
    let fresh = recovery_codes(&server, &app);
    assert!(fresh.iter().all(|code| !codes.contains(code)));
    let page = half_way(&mut browser);
    let page = browser.press(&page, "recovery", &[]);
    browser
        .press(&page, "allow", &[("recovery_code", &codes[0])])
        .expect("is not one of your recovery codes");
}

#[test]
fn of_many_racing_logins_with_one_recovery_code_one_succeeds() {
    let mail = Mail::new();
    let (cluster, app) = two_nodes(&mail);
    let codes = recovery_codes(cluster.node(0), &app);
    let calls: Vec<(Call, &Server)> = (0..8)
        .map(|at| {
            let node = cluster.node(at % 2);
            let mut browser = Browser::new(node);
            let page = half_way(&mut browser);
            let page = browser.press(&page, "recovery", &[]);
            (step(&browser, &page, "recovery_code", &codes[0]), node)
        })
        .collect();
    assert_eq!(sessions(&calls), 1);
}

/// Logs in with the app, and lets the browser be remembered.
#[track_caller]
fn remember(server: &Server, app: &App, browser: &mut Browser<'_>) {
    let page = half_way(browser);
    assert!(page.text().contains("name=\"remember\" type=\"checkbox\""));
    let fields = [("totp", &*app.code(server, 0)), ("remember", "yes")];
    let page = browser.press(&page, "allow", &fields);
    code_of(server, &page);
    server.pass(totp::PERIOD);
}

/// Whether a login in this browser asks for the second factor.
#[track_caller]
fn is_asked(browser: &mut Browser<'_>, password: &str) -> bool {
    let page = browser.get(&request(&[("prompt", "login")]));
    let page = browser.log_in(&page, "alice", password);
    match page.url.starts_with(CALLBACK) {
        true => false,
        false => {
            page.expect(ASKED);
            true
        }
    }
}

#[test]
fn a_remembered_browser_is_not_asked_until_its_time_is_over_and_no_other_browser_is_spared() {
    let mail = Mail::new();
    let (server, app) = with_app(&mail);
    let mut browser = Browser::new(&server);
    remember(&server, &app, &mut browser);
    assert!(!is_asked(&mut browser, PASSWORD));
    let page = browser.get(&request(&[("prompt", "login")]));
    let code = code_of(&server, &browser.log_in(&page, "alice", PASSWORD));
    assert_eq!(code.amr, ["pwd", "mfa"]);
    assert!(is_asked(&mut Browser::new(&server), PASSWORD));
    // Another person in the same browser is not spared by it.
    server.pass(remembered::LIFETIME);
    assert!(is_asked(&mut browser, PASSWORD));
}

#[test]
fn a_remembered_browser_is_listed_and_forgotten_by_its_person_at_once() {
    let mail = Mail::new();
    let (server, app) = with_app(&mail);
    let (mut browser, mut other) = (Browser::new(&server), Browser::new(&server));
    remember(&server, &app, &mut browser);
    remember(&server, &app, &mut other);
    let page = browser.get("/account").expect("Remembered browsers");
    assert_eq!(page.text().matches("Remembered browser ").count(), 2);
    let id = between(
        &page.text(),
        "value=\"remembered_browser\"><input type=\"hidden\" name=\"id\" value=\"",
        "\"",
    );
    let fields = [("kind", "remembered_browser"), ("id", &*id)];
    browser
        .press(&page, "credential-remove", &fields)
        .expect("It was removed");
    let asked = [
        is_asked(&mut browser, PASSWORD),
        is_asked(&mut other, PASSWORD),
    ];
    assert_eq!(asked.iter().filter(|asked| **asked).count(), 1, "{asked:?}");
}

#[test]
fn a_remembered_browser_ends_with_the_password_and_with_a_change_of_factors() {
    let mail = Mail::new();
    let (server, app) = with_app(&mail);
    let mut browser = Browser::new(&server);
    remember(&server, &app, &mut browser);
    // Another app.
    let mut own = Browser::new(&server);
    let page = own.get("/account");
    let page = own.log_in(&page, "alice", PASSWORD);
    let page = own.press(&page, "allow", &[("totp", &app.code(&server, 0))]);
    server.pass(totp::PERIOD);
    enrol(&server, &mut own, &page);
    assert!(is_asked(&mut browser, PASSWORD));
    remember(&server, &app, &mut browser);
    assert!(!is_asked(&mut browser, PASSWORD));
    let new = "a quite different sentence";
    let page = own.get("/account");
    own.press(
        &page,
        "password",
        &[("password", PASSWORD), ("new_password", new)],
    )
    .expect("was changed");
    server.pass(1);
    assert!(is_asked(&mut browser, new));
}

#[test]
fn a_factor_is_removed_after_a_fresh_login_that_showed_one_and_a_remembered_browser_is_none() {
    let mut mail = Mail::new();
    let (server, app) = with_app(&mail);
    let mut browser = Browser::new(&server);
    remember(&server, &app, &mut browser);
    assert!(!is_asked(&mut browser, PASSWORD));
    let page = browser.get("/account");
    let id = between(
        &page.text(),
        "value=\"totp\"><input type=\"hidden\" name=\"id\" value=\"",
        "\"",
    );
    let fields = [("kind", "totp"), ("id", &*id)];
    // The login is fresh, and was not shown the factor itself: it alone is asked for.
    let step = browser
        .press(&page, "credential-remove", &fields)
        .expect(ASKED);
    assert!(!step.text().contains("name=\"password\""));
    assert!(user(&server).has(CredentialKind::Totp));
    let page = browser.press(&step, "allow", &[("totp", &app.code(&server, 0))]);
    let page = page.expect("Your account");
    // Ten minutes later it is a whole login, which the remembered browser does not shorten.
    server.pass(601);
    let login = browser.press(&page, "credential-remove", &fields);
    let page = browser.log_in(&login, "alice", PASSWORD).expect(ASKED);
    assert!(user(&server).has(CredentialKind::Totp));
    let page = browser.press(&page, "allow", &[("totp", &app.code(&server, 0))]);
    mail.fresh();
    browser
        .press(&page.expect("Your account"), "credential-remove", &fields)
        .expect("It was removed");
    let user = user(&server);
    assert!(
        user.credentials()
            .iter()
            .all(|name| name.kind == CredentialKind::Password)
    );
    let told = mail.fresh();
    assert!(
        told.len() == 1 && told[0].contains("A code app was removed"),
        "{told:?}"
    );
    assert!(!is_asked(&mut Browser::new(&server), PASSWORD));
}

#[test]
fn a_login_that_is_half_way_ends_with_what_ends_the_account_or_its_password() {
    let mail = Mail::new();
    let (server, app) = with_app(&mail);
    let users = &server.realm.people.users;
    let id = user(&server).id;
    let ends: [&dyn Fn(u64); 3] = [
        &|now| {
            block_on(users.set_enabled(&id, false, now)).unwrap();
        },
        &|now| {
            let phc = signet_crypto::password::hash(PASSWORD.as_bytes(), CHEAP).unwrap();
            block_on(users.set_enabled(&id, true, now)).unwrap();
            block_on(users.set_password(&id, Some(&phc), now)).unwrap();
        },
        &|_| {
            let ended = server.realm.revoke_user(&id);
            block_on(ended).unwrap();
        },
    ];
    for end in ends {
        let mut browser = Browser::new(&server);
        let page = half_way(&mut browser);
        end(server.realm.now());
        let page = browser.press(&page, "allow", &[("totp", &app.code(&server, 0))]);
        page.expect("name=\"password\"");
        assert!(!is_logged_in(&browser));
        let now = server.realm.now();
        block_on(users.set_enabled(&id, true, now)).unwrap();
        server.pass(totp::PERIOD);
    }
}

#[test]
fn a_recovered_password_leaves_the_second_factor_in_place() {
    let mut mail = Mail::new();
    let (server, app) = with_app(&mail);
    mail.fresh();
    let mut browser = Browser::new(&server);
    let page = browser.get("/account/recover");
    browser.press(&page, "email", &[("username", "alice")]);
    let mails = mail.fresh();
    let link = between(&mails[0], "/account/recover?token=", "\r\n");
    let page = browser.get(&format!("/account/recover?token={link}"));
    let new = "a quite different sentence";
    let page = browser.press(&page, "password", &[("new_password", new)]);
    server.pass(1);
    let told = mail.fresh();
    assert!(
        told.iter()
            .any(|text| text.contains("A new password was set")),
        "{told:?}"
    );
    let page = browser.log_in(&page, "alice", new).expect(ASKED);
    assert!(!is_logged_in(&browser));
    browser
        .press(&page, "allow", &[("totp", &app.code(&server, 0))])
        .expect("Your account");
}

#[test]
fn the_command_lines_password_is_not_enough_where_there_is_a_second_factor() {
    let mail = Mail::new();
    let (server, app) = with_app(&mail);
    server.configure(|_, declared| signet_oauth::command_line::add(declared).unwrap());
    let now = server.realm.now();
    let id = user(&server).id;
    let users = &server.realm.people.users;
    block_on(users.change(&id, now, |draft| draft.user.admin = true)).unwrap();
    let ask = |body: serde_json::Value| Call::post("/password-login").json(&body).send(&server);
    let plain = serde_json::json!({ "username": "alice", "password": PASSWORD });
    ask(plain.clone()).expect_error(400, "interaction_required");
    let mut wrong = plain.clone();
    wrong["totp"] = "000000".into();
    ask(wrong).expect_error(403, "access_denied");
    let mut right = plain;
    right["totp"] = app.code(&server, 0).into();
    ask(right.clone()).expect(200);
    ask(right).expect_error(403, "access_denied");
}

#[test]
fn a_step_of_somebody_elses_login_is_nothing_in_this_browser() {
    let mail = Mail::new();
    let (server, app) = with_app(&mail);
    let mut theirs = Browser::new(&server);
    let page = half_way(&mut theirs);
    let mut mine = Browser::new(&server);
    mine.get("/account");
    let fields = [
        ("interaction", &*page.field("interaction")),
        ("totp", &*app.code(&server, 0)),
        ("decision", "allow"),
    ];
    mine.post("/interaction", &fields)
        .expect_error("invalid_request");
    assert!(!is_logged_in(&mine));
    assert_eq!(
        crate::common::made::rows(&server, Table::Session),
        1,
        "alice's own"
    );
}

#[test]
fn an_administrator_lists_and_removes_factors_and_the_person_is_told() {
    let mut mail = Mail::new();
    let (server, app) = with_app(&mail);
    recovery_codes(&server, &app);
    mail.fresh();
    let id = user(&server).id;
    let token = Call::post("/token")
        .basic("operator", crate::common::SECRET)
        .form(&[
            ("grant_type", "client_credentials"),
            ("scope", "signet:admin"),
        ])
        .send(&server)
        .expect(200)
        .member("access_token");
    let path = format!("/admin/v1/users/{id}/credentials");
    let list = || {
        Call::get(&path)
            .bearer(&token)
            .send(&server)
            .expect(200)
            .json()
    };
    let listed = list();
    let kinds: Vec<&str> = listed["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| item["kind"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["recovery_codes", "totp"]);
    assert_eq!(listed["items"][1]["label"], "my phone");
    assert!(!listed.to_string().contains("secret"));
    let remove = |path: &str| {
        let call = Call::new(http::Method::DELETE, path);
        call.bearer(&token).send(&server).status
    };
    assert_eq!(remove(&format!("{path}/password")), 404);
    assert_eq!(remove(&format!("{path}/passkey")), 404);
    assert_eq!(remove(&format!("{path}/totp")), 204);
    assert_eq!(
        list()["items"].as_array().unwrap().len(),
        0,
        "the codes go with the last app"
    );
    let told = mail.fresh();
    assert!(
        told.len() == 1 && told[0].contains("A code app was removed"),
        "{told:?}"
    );
    assert!(!is_asked(&mut Browser::new(&server), PASSWORD));
}
