//! The link beside a mailed code.
use crate::common::{
    Server,
    browser::{Browser, Page},
    people::{Mail, request, start},
};
use signet_oauth::client::ConsentPolicy;

const CALLBACK: &str = "https://client.example/cb?";

fn server(mail: &Mail) -> Server {
    start(mail, |setup| {
        setup.clients[0].consent = ConsentPolicy::Skip;
    })
}

/// Asks for a code, and gives the link's path.
#[track_caller]
fn ask(browser: &mut Browser<'_>, mail: &mut Mail, server: &Server) -> String {
    let page = browser.get(&request(&[]));
    browser
        .press(&page, "email", &[("username", "alice")])
        .expect("name=\"otp\"");
    let text = mail.fresh().pop().unwrap();
    let start = text.find("/login-link?token=").unwrap();
    let (before, link) = text.split_at(start);
    assert!(before.ends_with(&server.base()));
    link.lines().next().unwrap().trim().to_owned()
}

fn is_logged_in(browser: &Browser<'_>) -> bool {
    browser.cookies.contains_key("__Host-signet-session")
}

#[track_caller]
fn go_on(browser: &mut Browser<'_>, page: &Page) -> Page {
    browser.press(page, "allow", &[])
}

#[test]
fn the_link_logs_in_in_the_browser_that_asked_and_returns_to_the_application() {
    let mut mail = Mail::new();
    let server = server(&mail);
    let mut browser = Browser::new(&server);
    let link = ask(&mut browser, &mut mail, &server);
    let page = browser
        .get(&link)
        .expect("The code from your mail is filled in");
    assert!(!is_logged_in(&browser), "opening it logs nobody in");
    let page = go_on(&mut browser, &page);
    assert!(page.url.starts_with(CALLBACK), "{}", page.url);
    assert!(is_logged_in(&browser));
    browser.get(&link).expect("no longer works");
}

#[test]
fn in_another_browser_the_link_says_so_and_logs_nobody_in() {
    let mut mail = Mail::new();
    let server = server(&mail);
    let mut asking = Browser::new(&server);
    let link = ask(&mut asking, &mut mail, &server);
    let mut other = Browser::new(&server);
    for _ in 0..2 {
        // The second time it has a cookie of its own.
        let page = other
            .get(&link)
            .expect("only in the browser that asked for it");
        assert!(!page.offers("allow"));
        assert!(!is_logged_in(&other));
    }
    let page = asking.get(&link);
    go_on(&mut asking, &page);
    assert!(is_logged_in(&asking));
}

#[test]
fn whoever_opens_the_link_before_uses_nothing_up() {
    let mut mail = Mail::new();
    let server = server(&mail);
    let mut browser = Browser::new(&server);
    let link = ask(&mut browser, &mut mail, &server);
    for _ in 0..30 {
        Browser::new(&server).get(&link).expect_status(200);
        browser.get(&link).expect_status(200);
    }
    let page = browser.get(&link);
    go_on(&mut browser, &page);
    assert!(is_logged_in(&browser));
}

#[test]
fn the_link_ends_with_its_code() {
    let mut mail = Mail::new();
    let server = server(&mail);
    let mut browser = Browser::new(&server);
    let link = ask(&mut browser, &mut mail, &server);
    let early = browser.get(&link);
    server.pass(300);
    browser.get(&link).expect("no longer works");
    go_on(&mut browser, &early).expect("has expired");
    assert!(!is_logged_in(&browser));
    for damaged in [
        "/login-link",
        "/login-link?token=",
        "/login-link?token=AAAA",
    ] {
        browser.get(damaged).expect("no longer works");
    }
}
