//! The code by mail.
use crate::common::{
    Server, block_on,
    browser::{Browser, Page},
    people::{Mail, PASSWORD, add_user, request, start},
};
use signet_oauth::client::ConsentPolicy;
use signet_oauth::issued::sealed::AuthorizationCode;

const CALLBACK: &str = "https://client.example/cb?";

fn server(mail: &Mail) -> Server {
    start(mail, |setup| {
        setup.clients[0].consent = ConsentPolicy::Skip;
    })
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

#[track_caller]
fn ask(browser: &mut Browser<'_>, name: &str) -> Page {
    let page = browser.get(&request(&[]));
    browser
        .press(&page, "email", &[("username", name)])
        .expect("name=\"otp\"")
}

#[test]
pub fn the_mailed_code_logs_in() {
    let mut mail = Mail::new();
    let server = server(&mail);
    let mut browser = Browser::new(&server);
    let page = ask(&mut browser, "alice@example.test");
    let otp = mail.code();
    assert!(
        !page.text().contains(&otp),
        "a code belongs in the mail alone (A10)"
    );
    let code = code_of(&server, &browser.press(&page, "allow", &[("otp", &otp)]));
    assert_eq!(code.amr, ["otp"]);
    let user = block_on(
        server
            .realm
            .people
            .users
            .by_id(&code.user_id, server.realm.now()),
    );
    assert!(user.unwrap().unwrap().email_verified);
}

#[test]
fn the_answer_for_an_unknown_address_is_the_same_and_no_mail_leaves() {
    let mut mail = Mail::new();
    let server = server(&mail);
    let mut texts = Vec::new();
    for name in ["alice@example.test", "nobody@example.test"] {
        let mut browser = Browser::new(&server);
        let page = ask(&mut browser, name);
        let wrong = browser.press(&page, "allow", &[("otp", "000000")]);
        for page in [&page, &wrong] {
            let sealed = page.field("interaction");
            let text = page.text().replace(&sealed, "").replace(name, "");
            let text = text.replace(&page.again(), "");
            texts.push((
                page.reply.status,
                text,
                page.field("interaction").len() - name.len(),
            ));
        }
    }
    assert_eq!(texts[0].1, texts[2].1);
    assert_eq!(texts[1].1, texts[3].1);
    assert_eq!((texts[0].0, texts[1].0), (texts[2].0, texts[3].0));
    assert_eq!(mail.fresh().len(), 1);
}

#[test]
fn a_code_works_once_and_in_its_browser_only() {
    let mut mail = Mail::new();
    let server = server(&mail);
    let mut browser = Browser::new(&server);
    let page = ask(&mut browser, "alice");
    let otp = mail.code();
    let sealed = page.field("interaction");
    let stolen = [
        ("interaction", &*sealed),
        ("otp", &*otp),
        ("decision", "allow"),
    ];
    let mut other = Browser::new(&server);
    other.get(&request(&[]));
    other.post("/interaction", &stolen).expect_status(400);
    code_of(&server, &browser.press(&page, "allow", &[("otp", &otp)]));
    browser
        .press(&page, "allow", &[("otp", &otp)])
        .expect("This code has expired");
}

#[test]
fn a_code_ends_after_five_minutes() {
    let mut mail = Mail::new();
    let server = server(&mail);
    assert_eq!(server.realm.snapshot().settings.otp_lifetime, 300);
    let mut browser = Browser::new(&server);
    let page = ask(&mut browser, "alice");
    let otp = mail.code();
    server.pass(301);
    browser
        .press(&page, "allow", &[("otp", &otp)])
        .expect("This code has expired");
}

#[test]
fn few_attempts_end_a_code_also_in_parallel() {
    let mut mail = Mail::new();
    let server = server(&mail);
    let mut browser = Browser::new(&server);
    let page = ask(&mut browser, "alice");
    let otp = mail.code();
    let wrong = if otp == "000000" { "000001" } else { "000000" };
    for _ in 0..4 {
        browser
            .press(&page, "allow", &[("otp", wrong)])
            .expect("not the code");
    }
    browser
        .press(&page, "allow", &[("otp", wrong)])
        .expect("has expired");
    browser
        .press(&page, "allow", &[("otp", &otp)])
        .expect("has expired");
}

#[test]
fn a_new_code_replaces_the_page_and_mails_are_limited() {
    let mut mail = Mail::new();
    let server = server(&mail);
    let mut browser = Browser::new(&server);
    let mut page = ask(&mut browser, "alice");
    for _ in 1..server.realm.people.limits.mails {
        page = browser
            .press(&page, "email", &[])
            .expect("a new code is on its way");
    }
    let mails = mail.fresh().len();
    assert_eq!(mails, server.realm.people.limits.mails as usize);
    let refused = browser.press(&page, "email", &[]).expect_status(429);
    assert!(!refused.reply.header("retry-after").is_empty());
    assert!(mail.fresh().is_empty());
}

#[test]
fn guessing_codes_is_limited_over_many_codes() {
    let mail = Mail::new();
    let server = server(&mail);
    let mut browser = Browser::new(&server);
    let mut wrong = 0;
    for _ in 0..5 {
        let page = ask(&mut browser, "alice");
        for _ in 0..5 {
            let answer = browser.press(&page, "allow", &[("otp", "x")]);
            if answer.reply.status == 429 {
                assert_eq!(wrong, server.realm.people.limits.account);
                return;
            }
            wrong += 1;
        }
    }
    panic!("{wrong} wrong codes were not too many");
}

#[test]
fn a_disabled_or_moved_account_gets_no_session_from_an_old_code() {
    let mut mail = Mail::new();
    let server = server(&mail);
    let bob = add_user(&server, "bob");
    let users = &server.realm.people.users;
    let now = server.realm.now();
    let mut browser = Browser::new(&server);
    let page = ask(&mut browser, "bob");
    let otp = mail.code();
    block_on(users.set_email(&bob.id, Some("bob@elsewhere.test"), false, now)).unwrap();
    browser
        .press(&page, "allow", &[("otp", &otp)])
        .expect("has expired");
    let page = ask(&mut browser, "bob");
    let otp = mail.code();
    block_on(users.set_enabled(&bob.id, false, now)).unwrap();
    browser
        .press(&page, "allow", &[("otp", &otp)])
        .expect("has expired");
    assert!(!browser.cookies.contains_key("__Host-signet-session"));
}

#[test]
fn both_factors_are_reached_when_they_are_asked_for_and_never_claimed_otherwise() {
    // A6
    let mut mail = Mail::new();
    let server = server(&mail);
    let both = "urn:signet:acr:password-and-email-code";
    let mut browser = Browser::new(&server);
    let page = browser.get(&request(&[("acr_values", both)]));
    let page = browser
        .log_in(&page, "alice", PASSWORD)
        .expect("One more step");
    let page = browser.press(&page, "email", &[("username", "alice")]);
    let code = code_of(
        &server,
        &browser.press(&page, "allow", &[("otp", &mail.code())]),
    );
    assert_eq!(code.acr, both);
    assert_eq!(code.amr.len(), 2);
    // A fresh login with one factor says one factor.
    let page = browser.get(&request(&[("prompt", "login")]));
    let code = code_of(&server, &browser.log_in(&page, "alice", PASSWORD));
    assert_eq!(code.acr, "urn:signet:acr:password");
    assert_eq!(code.amr, ["pwd"]);
}

#[test]
fn of_many_racing_attempts_with_the_right_code_one_logs_in() {
    let mut mail = Mail::new();
    let server = server(&mail);
    let mut browser = Browser::new(&server);
    let page = ask(&mut browser, "alice");
    let otp = mail.code();
    let sealed = page.field("interaction");
    let cookies: Vec<String> = browser
        .cookies
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    let call = crate::common::client::Call::post("/interaction")
        .header("cookie", &cookies.join("; "))
        .form(&[
            ("interaction", &sealed),
            ("otp", &otp),
            ("decision", "allow"),
        ]);
    let logged_in: usize = std::thread::scope(|scope| {
        let racers: Vec<_> = (0..40)
            .map(|_| scope.spawn(|| call.send(&server)))
            .collect();
        racers
            .into_iter()
            .map(|racer| {
                let reply = racer.join().unwrap();
                let cookies = reply.headers.get_all("set-cookie");
                let session = |c: &http::HeaderValue| {
                    c.to_str().unwrap().starts_with("__Host-signet-session=")
                };
                usize::from(cookies.iter().any(session))
            })
            .sum()
    });
    assert_eq!(logged_in, 1);
}
