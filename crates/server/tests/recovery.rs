//! A forgotten password, in the middle of a login for an application: who recovers it comes back to
//! the application. (A lost factor is made good by a recovery code in the login itself:
//! `second_factor::recovery_codes_are_shown_once_hashed_at_rest_and_work_once_each`.)
use crate::common::{
    SECRET, Server,
    browser::{Browser, Page},
    client::Call,
    people::{Mail, PASSWORD, request, start},
};

const NEW: &str = "four other words entirely";
const CALLBACK: &str = "https://client.example/cb";

/// Presses "forgotten" on the login page that an address leads to.
#[track_caller]
fn forgotten(browser: &mut Browser<'_>, target: &str) -> Page {
    let login = browser.get(target);
    assert!(
        login.text().contains("form=\"forgotten\""),
        "{}",
        login.text()
    );
    let interaction = login.field("interaction");
    let page = browser.post("/account/recover", &[("interaction", &interaction)]);
    assert!(page.offers("email"), "{}", page.text());
    page
}

#[track_caller]
fn sent(browser: &mut Browser<'_>, name: &str) -> Page {
    sent_from(browser, &request(&[]), name)
}

#[track_caller]
fn sent_from(browser: &mut Browser<'_>, target: &str, name: &str) -> Page {
    let page = forgotten(browser, target);
    // Nothing typed: the same page again, with the login still behind it.
    let page = browser.press(&page, "email", &[("username", " ")]);
    let sent = browser.press(&page, "email", &[("username", name)]);
    sent.expect("If the account exists")
}

#[track_caller]
fn link(mail: &mut Mail) -> String {
    let mails = mail.fresh();
    assert_eq!(mails.len(), 1, "{mails:?}");
    let start = mails[0].find("/account/recover?token=").unwrap();
    let link = mails[0][start..].split_whitespace().next().unwrap();
    link.to_owned()
}

/// What leads back to the login, from the page that says that a mail was sent. The menu of
/// languages has nothing to go on with.
#[track_caller]
fn sealed_of(page: &Page) -> String {
    let text = page.text();
    let (_, form) = text.split_once("action=\"/interaction\"").unwrap();
    let (_, value) = form.split_once("name=\"interaction\" value=\"").unwrap();
    value.split('"').next().unwrap().to_owned()
}

/// Opens the link and sets the password.
#[track_caller]
fn set(browser: &mut Browser<'_>, link: &str) -> Page {
    let page = browser.get(link).expect("Set a new password");
    browser.press(&page, "password", &[("new_password", NEW)])
}

/// Logs in, and goes on to the application.
#[track_caller]
fn to_application(browser: &mut Browser<'_>, login: &Page) {
    let mut page = browser.log_in(login, "alice", NEW);
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
    assert_eq!(page.param("state").as_deref(), Some("st&te"));
}

fn server(mail: &Mail) -> Server {
    start(mail, |_| {})
}

#[test]
fn in_the_same_browser_the_login_goes_on_to_the_application() {
    let mut mail = Mail::new();
    let server = server(&mail);
    let mut browser = Browser::new(&server);
    sent(&mut browser, "alice");
    let link = link(&mut mail);
    // Late, and yet within the link's time: what the login waits in lasts as long.
    server.pass(25 * 60);
    let login = set(&mut browser, &link).expect("Log in with it");
    assert!(
        login.url.starts_with("/interaction?recovered="),
        "{}",
        login.url
    );
    // The name is filled in, and the address does not say it.
    assert!(
        login
            .text()
            .contains("name=\"username\" type=\"text\" value=\"alice\"")
    );
    assert!(!login.url.contains("alice"), "{}", login.url);
    // The application's login page: it can be cancelled, and the old password does not do.
    assert!(login.offers("cancel"));
    let refused = browser
        .log_in(&login, "alice", PASSWORD)
        .expect("is not right");
    to_application(&mut browser, &refused);
}

#[test]
fn another_browser_is_told_to_go_back_and_the_first_one_goes_on() {
    let mut mail = Mail::new();
    let server = server(&mail);
    let mut browser = Browser::new(&server);
    let waiting = sent(&mut browser, "alice");
    let link = link(&mut mail);
    let mut other = Browser::new(&server);
    let told = set(&mut other, &link).expect("Go back to the browser where you began");
    assert!(!told.offers("cancel"), "nothing of the application is here");
    other.log_in(&told, "alice", NEW).expect("Your account");
    // The form's address is that of every login page.
    assert!(waiting.text().contains("action=\"/interaction\""));
    let sealed = sealed_of(&waiting);
    let fields = [("interaction", &*sealed), ("decision", "allow")];
    let login = browser.post("/interaction", &fields);
    assert!(login.offers("cancel"), "{}", login.text());
    to_application(&mut browser, &login);
}

#[test]
fn a_login_for_a_device_goes_on_to_the_device() {
    let mut mail = Mail::new();
    let server = server(&mail);
    let at = |path: &str, form: &[(&str, &str)]| {
        let call = Call::post(path).basic("web", SECRET);
        call.form(form).send(&server)
    };
    let begun = at("/device_authorization", &[("scope", "openid")]).expect(200);
    let (code, user_code) = (begun.member("device_code"), begun.member("user_code"));
    let mut browser = Browser::new(&server);
    let target = format!("/device?user_code={user_code}");
    sent_from(&mut browser, &target, "alice");
    let link = link(&mut mail);
    server.pass(5 * 60);
    let login = set(&mut browser, &link).expect("Log in with it");
    let page = browser.log_in(&login, "alice", NEW);
    let filled = format!("value=\"{user_code}\"");
    assert!(page.text().contains(&filled), "the code is not typed again");
    let page = browser.press(&page, "allow", &[]);
    browser.press(&page, "allow", &[]).expect_status(200);
    let kind = "urn:ietf:params:oauth:grant-type:device_code";
    let poll = [("grant_type", kind), ("device_code", &*code)];
    at("/token", &poll).expect(200);
}

#[test]
fn what_waits_opens_in_its_own_browser_alone_and_says_nothing_of_names() {
    let mut mail = Mail::new();
    let server = server(&mail);
    let mut browser = Browser::new(&server);
    sent(&mut browser, "alice");
    let login = set(&mut browser, &link(&mut mail));
    let url = login.url.clone();
    let mut attacker = Browser::new(&server);
    attacker.get(&request(&[]));
    for target in [
        &*url,
        "/interaction?recovered=AAAA",
        "/interaction?recovered=",
    ] {
        let page = attacker.get(target);
        assert!(!page.offers("cancel"), "{}", page.text());
    }
    assert!(browser.get(&url).offers("cancel"));
    // The answer is the same for a name that nobody has.
    let shown = |name: &str| {
        let page = sent(&mut Browser::new(&server), name);
        (
            page.reply.status,
            page.text()
                .replace(&sealed_of(&page), "")
                .replace(&page.again(), ""),
        )
    };
    assert_eq!(shown("alice"), shown("nobody"));
    // A form of another page does not begin a recovery.
    let account = browser.get("/account");
    let account = browser.log_in(&account, "alice", NEW);
    let interaction = account.expect("Your account").field("interaction");
    let page = browser.post("/account/recover", &[("interaction", &interaction)]);
    assert!(!page.offers("email"), "{}", page.text());
}

#[test]
fn the_name_goes_along_to_the_page_of_a_forgotten_password_and_a_way_leads_back() {
    let mail = Mail::new();
    let server = server(&mail);
    for (target, leads_on) in [(request(&[]), true), ("/account".to_owned(), false)] {
        let mut browser = Browser::new(&server);
        let login = browser.get(&target);
        let login = browser.log_in(&login, "<alice>", "wrong");
        // What is known of the name where no script runs.
        assert_eq!(login.field("typed"), "<alice>");
        let interaction = login.field("interaction");
        let fields = [("interaction", &*interaction), ("typed", " bob ")];
        let page = browser.post("/account/recover", &fields);
        let page = page.expect("value=\"bob\"");
        let back = match leads_on {
            true => browser.press(&page, "allow", &[]),
            false => browser.get("/account"),
        };
        assert_eq!(back.offers("cancel"), leads_on, "{}", back.text());
        assert!(back.text().contains("name=\"password\""));
        let link = page.text().contains("href=\"/account\"");
        assert_eq!(link, !leads_on, "{}", page.text());
    }
}
