//! Logging in, saying yes or no, and what a client hears of it.
use crate::common::{
    Server, Setup,
    browser::{Browser, Page},
    client::Call,
    people::{Mail, PASSWORD, add_user, parameters, request, start},
};
use signet_oauth::client::ConsentPolicy;
use signet_oauth::issued::sealed::AuthorizationCode;

const CALLBACK: &str = "https://client.example/cb?";
use signet_request::cookie::Cookie;

const SESSION: Cookie = Cookie::Session;

fn server(mail: &Mail) -> Server {
    start(mail, |_| {})
}

#[track_caller]
fn code_of(server: &Server, page: &Page) -> AuthorizationCode {
    assert!(
        page.url.starts_with(CALLBACK),
        "{}: {}",
        page.url,
        page.text()
    );
    let code = page.param("code").unwrap_or_else(|| panic!("{}", page.url));
    AuthorizationCode::open(&server.realm.keyring(), &code).unwrap()
}

#[track_caller]
fn error_of(page: &Page) -> String {
    assert!(
        page.url.starts_with(CALLBACK),
        "{}: {}",
        page.url,
        page.text()
    );
    page.param("error")
        .unwrap_or_else(|| panic!("{}", page.url))
}

/// Logs alice in and lets her allow everything.
#[track_caller]
fn arrive(browser: &mut Browser<'_>, request: &str) -> Page {
    let page = browser.get(request);
    let page = browser.log_in(&page, "alice", PASSWORD);
    browser.press(&page.expect("asks for access"), "allow", &[])
}

#[test]
pub fn a_password_and_consent_give_a_code() {
    let mail = Mail::new();
    let server = server(&mail);
    let mut browser = Browser::new(&server);
    let login = browser.get(&request(&[])).expect_status(200);
    for part in ["name=\"username\"", "name=\"password\""] {
        assert!(login.text().contains(part));
    }
    assert!(login.offers("cancel") && login.offers("email"));
    let consent = browser
        .log_in(&login, "ALICE ", PASSWORD)
        .expect("asks for access");
    assert!(consent.offers("deny"));
    let back = browser.press(&consent, "allow", &[]);
    let code = code_of(&server, &back);
    assert_eq!(back.param("state").as_deref(), Some("st&te"));
    assert_eq!(back.param("iss"), Some(server.issuer()));
    assert_eq!(code.client_id, "web");
    assert_eq!(code.nonce.as_deref(), Some("n-1"));
    assert_eq!(code.amr, ["pwd"]);
    // The public session id is not what the cookie holds (A4).
    let cookie = &browser.cookies[&browser.cookie_name(SESSION)];
    assert!(!cookie.contains(&code.sid) && !code.sid.contains(cookie.as_str()));
}

#[test]
fn an_email_address_names_the_account_too() {
    let mail = Mail::new();
    let server = server(&mail);
    let mut browser = Browser::new(&server);
    let page = browser.get(&request(&[]));
    browser
        .log_in(&page, "Alice@Example.test", PASSWORD)
        .expect("asks for access");
}

#[test]
fn wrong_password_unknown_user_and_disabled_user_look_the_same() {
    let mail = Mail::new();
    let server = server(&mail);
    let bob = add_user(&server, "bob");
    let users = &server.realm.people.users;
    crate::common::block_on(users.set_enabled(&bob.id, false, server.realm.now())).unwrap();
    let mut texts = Vec::new();
    for (name, password) in [
        ("alice", "wrong password"),
        ("nobody", PASSWORD),
        ("bob", PASSWORD),
    ] {
        let mut browser = Browser::new(&server);
        let page = browser.get(&request(&[]));
        let page = browser
            .log_in(&page, name, password)
            .expect("role=\"alert\"");
        assert!(!browser.cookies.contains_key(&browser.cookie_name(SESSION)));
        let sealed = page.field("interaction");
        // Each page has a challenge of its own for passkeys.
        let text = page.text();
        let (_, challenge) = text.split_once("challenge&quot;:&quot;").unwrap();
        let challenge = challenge.split('&').next().unwrap();
        texts.push(
            text.replace(&sealed, "")
                .replace(&page.again(), "")
                .replace(challenge, "")
                .replace(&format!("value=\"{name}\""), ""),
        );
    }
    assert_eq!(texts[0], texts[1]);
    assert_eq!(texts[0], texts[2]);
}

#[test]
fn deny_and_cancel_answer_access_denied() {
    let mail = Mail::new();
    let server = server(&mail);
    let mut browser = Browser::new(&server);
    let page = browser.get(&request(&[]));
    let back = browser.press(&page, "cancel", &[]);
    assert_eq!(error_of(&back), "access_denied");
    assert_eq!(back.param("state").as_deref(), Some("st&te"));
    assert_eq!(back.param("iss"), Some(server.issuer()));
    let page = browser.get(&request(&[]));
    let page = browser.log_in(&page, "alice", PASSWORD);
    let back = browser.press(&page, "deny", &[]);
    assert_eq!(error_of(&back), "access_denied");
    // Nothing was remembered.
    browser.get(&request(&[])).expect("asks for access");
}

#[test]
pub fn prompt_none_answers_from_the_session_alone() {
    let mail = Mail::new();
    let server = server(&mail);
    let silent = request(&[("prompt", "none")]);
    let mut browser = Browser::new(&server);
    assert_eq!(error_of(&browser.get(&silent)), "login_required");
    let page = browser.get(&request(&[]));
    let page = browser.log_in(&page, "alice", PASSWORD);
    assert_eq!(error_of(&browser.get(&silent)), "consent_required");
    browser.press(&page, "allow", &[]);
    code_of(&server, &browser.get(&silent));
    // More than was allowed has to be asked.
    let more = request(&[("prompt", "none"), ("scope", "openid email profile")]);
    assert_eq!(error_of(&browser.get(&more)), "consent_required");
    // Another browser of the same person knows nothing.
    assert_eq!(
        error_of(&Browser::new(&server).get(&silent)),
        "login_required"
    );
}

#[test]
fn parameters_that_only_the_server_may_set_change_nothing() {
    // A1 and A5: whatever the query claims to be done, was not.
    let mail = Mail::new();
    let server = server(&mail);
    let alice = crate::common::block_on(
        server
            .realm
            .people
            .users
            .by_login("alice", server.realm.now()),
    );
    let alice = alice.unwrap().unwrap();
    let claims = [
        ("user_id", &*alice.id),
        ("sub", &*alice.id),
        ("session", "1"),
        ("sid", "1"),
        ("confirmed", "true"),
        ("consent", "true"),
        ("logged_in_now", "true"),
        ("auth_time", "9999999999"),
        ("acr", "urn:signet:acr:password-and-email-code"),
        ("interaction", "x"),
        ("decision", "allow"),
        ("prompt", "none"),
    ];
    let mut browser = Browser::new(&server);
    assert_eq!(error_of(&browser.get(&request(&claims))), "login_required");
    // The same in a form, and with a session but no consent.
    let page = browser.get(&request(&[]));
    browser.log_in(&page, "alice", PASSWORD);
    let back = browser.post("/authorize", &parameters(&claims));
    assert_eq!(error_of(&back), "consent_required");
}

#[test]
fn prompt_login_asks_again_and_gives_a_new_auth_time() {
    let mail = Mail::new();
    let server = server(&mail);
    let mut browser = Browser::new(&server);
    let first = code_of(&server, &arrive(&mut browser, &request(&[])));
    let before = browser.cookies[&browser.cookie_name(SESSION)].clone();
    server.pass(60);
    let page = browser
        .get(&request(&[("prompt", "login")]))
        .expect("name=\"password\"");
    let second = code_of(&server, &browser.log_in(&page, "alice", PASSWORD));
    assert!(second.auth_time >= first.auth_time + 60);
    // One session to relying parties, another secret in the cookie; the old cookie is worth
    // nothing.
    assert_eq!(second.sid, first.sid);
    assert_ne!(browser.cookies[&browser.cookie_name(SESSION)], before);
    browser.cookies.insert(browser.cookie_name(SESSION), before);
    let silent = browser.get(&request(&[("prompt", "none")]));
    assert_eq!(error_of(&silent), "login_required");
}

#[test]
fn max_age_asks_for_a_login_that_is_young_enough() {
    let mail = Mail::new();
    let server = server(&mail);
    let mut browser = Browser::new(&server);
    arrive(&mut browser, &request(&[]));
    code_of(&server, &browser.get(&request(&[("max_age", "100")])));
    server.pass(200);
    let silent = request(&[("max_age", "100"), ("prompt", "none")]);
    assert_eq!(error_of(&browser.get(&silent)), "login_required");
    let page = browser
        .get(&request(&[("max_age", "100")]))
        .expect("name=\"password\"");
    code_of(&server, &browser.log_in(&page, "alice", PASSWORD));
    code_of(&server, &browser.get(&silent));
}

#[test]
fn prompt_consent_asks_again() {
    let mail = Mail::new();
    let server = server(&mail);
    let mut browser = Browser::new(&server);
    arrive(&mut browser, &request(&[]));
    let page = browser
        .get(&request(&[("prompt", "consent")]))
        .expect("asks for access");
    code_of(&server, &browser.press(&page, "allow", &[]));
}

#[test]
fn select_account_goes_on_or_lets_somebody_else_in() {
    let mail = Mail::new();
    let server = start(&mail, |setup| {
        setup.clients[0].consent = ConsentPolicy::Skip
    });
    let bob = add_user(&server, "bob");
    let mut browser = Browser::new(&server);
    let page = browser.get(&request(&[]));
    let alice = code_of(&server, &browser.log_in(&page, "alice", PASSWORD));
    let choose = request(&[("prompt", "select_account")]);
    let page = browser.get(&choose).expect("Choose an account");
    let same = code_of(&server, &browser.press(&page, "allow", &[]));
    assert_eq!(same.user_id, alice.user_id);
    let page = browser.get(&choose);
    let page = browser
        .press(&page, "other", &[])
        .expect("name=\"password\"");
    let other = code_of(&server, &browser.log_in(&page, "bob", PASSWORD));
    assert_eq!(other.user_id, bob.id);
    assert_ne!(other.sid, alice.sid);
}

#[test]
pub fn a_cross_site_post_goes_on_as_a_get_with_the_session() {
    let mail = Mail::new();
    let server = server(&mail);
    let mut browser = Browser::new(&server);
    arrive(&mut browser, &request(&[]));
    let back = browser.cross_site_post("/authorize", &parameters(&[("prompt", "none")]));
    code_of(&server, &back);
    // And without a session it is a login like any other.
    let mut other = Browser::new(&server);
    let page = other.cross_site_post("/authorize", &parameters(&[]));
    other.log_in(&page, "alice", PASSWORD);
}

#[test]
fn form_post_answers_with_a_form() {
    let mail = Mail::new();
    let server = start(&mail, |setup| {
        setup.clients[0].consent = ConsentPolicy::Skip
    });
    let mut browser = Browser::new(&server);
    let page = browser.get(&request(&[
        ("response_mode", "form_post"),
        ("state", "\"><script>x</script>"),
    ]));
    let page = browser.log_in(&page, "alice", PASSWORD).expect_status(200);
    assert!(page.text().contains("action=\"https://client.example/cb\""));
    assert!(!page.field("code").is_empty());
    assert_eq!(page.field("state"), "\"><script>x</script>");
    assert_eq!(page.text().matches("<script").count(), 1);
    assert!(
        page.reply
            .header("content-security-policy")
            .contains("script-src 'sha256-")
    );
}

#[test]
fn an_unproven_redirect_is_never_followed() {
    let mail = Mail::new();
    let server = server(&mail);
    for redirect in [
        "https://attacker.example/cb",
        "https://client.example/cb/../x",
        "https://client.example/cb?x",
        "https://client.example.attacker.example/cb",
        "//attacker.example/cb",
        "javascript:alert(1)",
    ] {
        for more in [
            &[("redirect_uri", redirect)][..],
            &[("redirect_uri", redirect), ("prompt", "none")],
        ] {
            let page = Browser::new(&server)
                .get(&request(more))
                .expect_error("invalid_request");
            assert_eq!(page.reply.header("location"), "");
        }
    }
    let page = Browser::new(&server).get(&request(&[("client_id", "unknown")]));
    page.expect("<main id=\"error\"");
}

#[test]
fn hostile_client_names_are_shown_as_text() {
    // A21
    let mail = Mail::new();
    let hostile = "<img src=x onerror=alert(1)>\"'><script>alert(1)</script>";
    let server = start(&mail, |setup| {
        setup.clients[0].client_name = Some(hostile.into());
        setup.clients[0].policy_uri = Some("javascript:alert(1)".into());
        setup.clients[0].tos_uri = Some("https://client.example/\"><script>".into());
    });
    let mut browser = Browser::new(&server);
    let login = browser.get(&request(&[("login_hint", hostile)]));
    let consent = browser.log_in(&login, "alice", PASSWORD);
    for page in [login, consent.expect("asks for access")] {
        // The page has a script of its own, with attributes.
        assert!(!page.text().contains("<script>") && !page.text().contains("<img"));
        assert!(!page.text().contains("javascript:"));
        let policy = page.reply.header("content-security-policy");
        assert!(policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"));
        assert_eq!(page.reply.header("x-frame-options"), "DENY");
        assert_eq!(page.reply.header("cache-control"), "no-store");
    }
}

#[test]
pub fn a_form_of_another_browser_is_refused() {
    let mail = Mail::new();
    let server = server(&mail);
    let mut attacker = Browser::new(&server);
    let page = attacker.get(&request(&[]));
    let consent = attacker.log_in(&page, "alice", PASSWORD);
    let mut victim = Browser::new(&server);
    victim.get(&request(&[]));
    // Neither the login form nor the consent form of somebody else works here.
    for foreign in [&page, &consent] {
        let fields = [
            ("interaction", &*foreign.field("interaction")),
            ("username", "alice"),
            ("password", PASSWORD),
            ("decision", "allow"),
        ];
        victim
            .post("/interaction", &fields)
            .expect_status(400)
            .expect("<main id=\"error\"");
        let mut without_cookies = Browser::new(&server);
        without_cookies
            .post("/interaction", &fields)
            .expect_status(400);
    }
    assert!(!victim.cookies.contains_key(&victim.cookie_name(SESSION)));
}

#[test]
fn consent_counts_for_the_person_it_was_shown_to() {
    let mail = Mail::new();
    let server = server(&mail);
    add_user(&server, "bob");
    let mut browser = Browser::new(&server);
    let page = browser.get(&request(&[]));
    let shown_to_alice = browser.log_in(&page, "alice", PASSWORD);
    // In another tab, bob logs in.
    let page = browser.get(&request(&[("prompt", "login")]));
    browser
        .log_in(&page, "bob", PASSWORD)
        .expect("asks for access");
    let page = browser.press(&shown_to_alice, "allow", &[]);
    page.expect("asks for access").expect("bob");
}

#[test]
fn a_page_that_is_too_old_starts_again() {
    let mail = Mail::new();
    let server = server(&mail);
    let mut browser = Browser::new(&server);
    let page = browser.get(&request(&[]));
    server.pass(24 * 3600);
    browser
        .log_in(&page, "alice", PASSWORD)
        .expect_status(400)
        .expect_error("invalid_request");
}

#[test]
fn sessions_end_by_idleness_and_by_age() {
    let mail = Mail::new();
    let server = start(&mail, |setup| {
        setup.settings.session_idle_lifetime = 1000;
        setup.settings.session_absolute_lifetime = 3000;
    });
    let silent = request(&[("prompt", "none")]);
    let mut browser = Browser::new(&server);
    arrive(&mut browser, &request(&[]));
    server.pass(900);
    code_of(&server, &browser.get(&silent));
    // Use moved the idle end on.
    server.pass(900);
    code_of(&server, &browser.get(&silent));
    server.pass(900);
    code_of(&server, &browser.get(&silent));
    // But not beyond the absolute end.
    server.pass(500);
    assert_eq!(error_of(&browser.get(&silent)), "login_required");
    arrive_again(&mut browser);
    server.pass(1001);
    assert_eq!(error_of(&browser.get(&silent)), "login_required");
}

#[track_caller]
fn arrive_again(browser: &mut Browser<'_>) {
    let page = browser.get(&request(&[]));
    let page = browser.log_in(&page, "alice", PASSWORD);
    assert!(page.url.starts_with(CALLBACK), "{}", page.text());
}

#[test]
fn a_disabled_user_has_no_session() {
    let mail = Mail::new();
    let server = server(&mail);
    let mut browser = Browser::new(&server);
    let code = code_of(&server, &arrive(&mut browser, &request(&[])));
    let users = &server.realm.people.users;
    crate::common::block_on(users.set_enabled(&code.user_id, false, server.realm.now())).unwrap();
    let silent = request(&[("prompt", "none")]);
    assert_eq!(error_of(&browser.get(&silent)), "login_required");
}

#[test]
fn a_revoked_user_or_session_has_to_log_in_again() {
    let mail = Mail::new();
    let server = server(&mail);
    let silent = request(&[("prompt", "none")]);
    let mut browser = Browser::new(&server);
    let code = code_of(&server, &arrive(&mut browser, &request(&[])));
    crate::common::block_on(server.realm.revoke_session(&code.sid)).unwrap();
    assert_eq!(error_of(&browser.get(&silent)), "login_required");
    arrive_again(&mut browser);
    let again = code_of(&server, &browser.get(&silent));
    assert_ne!(again.sid, code.sid);
    crate::common::block_on(server.realm.revoke_user(&code.user_id)).unwrap();
    assert_eq!(error_of(&browser.get(&silent)), "login_required");
    server.pass(1);
    arrive_again(&mut browser);
}

#[test]
pub fn wrong_passwords_are_limited_and_the_owners_browser_still_gets_in() {
    let mail = Mail::new();
    let server = server(&mail);
    let mut owner = Browser::new(&server);
    arrive(&mut owner, &request(&[]));
    let session = owner.cookie_name(SESSION);
    owner.cookies.remove(&session);
    let mut stranger = Browser::new(&server);
    let page = stranger.get(&request(&[]));
    let most = server.realm.people.limits.account;
    for _ in 0..most {
        stranger
            .log_in(&page, "alice", "a wrong password")
            .expect_status(200);
    }
    let refused = stranger.log_in(&page, "alice", PASSWORD).expect_status(429);
    let wait: u64 = refused.reply.header("retry-after").parse().unwrap();
    assert!(wait > 0 && wait <= server.realm.people.limits.window);
    // The device that alice logged in from before has a budget of its own.
    arrive_again(&mut owner);
    // And unknown browsers, alice on a new device among them, get in again later.
    server.pass(wait);
    let page = stranger.get(&request(&[]));
    let page = stranger.log_in(&page, "alice", PASSWORD);
    assert!(page.url.starts_with(CALLBACK));
}

#[test]
fn unknown_names_are_limited_like_known_ones() {
    let mail = Mail::new();
    let server = server(&mail);
    let mut browser = Browser::new(&server);
    let page = browser.get(&request(&[]));
    for _ in 0..server.realm.people.limits.account {
        browser
            .log_in(&page, "nobody", "a wrong password")
            .expect_status(200);
    }
    browser
        .log_in(&page, "nobody", "a wrong password")
        .expect_status(429);
}

#[test]
fn one_address_cannot_try_every_account() {
    let mail = Mail::new();
    let server = start(&mail, |setup| setup.people.limits.address = 5);
    let mut browser = Browser::new(&server);
    let page = browser.get(&request(&[]));
    for name in ["a", "b", "c", "d", "e"] {
        browser
            .log_in(&page, name, "a wrong password")
            .expect_status(200);
    }
    browser
        .log_in(&page, "f", "a wrong password")
        .expect_status(429);
}

#[test]
fn right_passwords_are_never_limited() {
    let mail = Mail::new();
    let server = start(&mail, |setup| {
        setup.clients[0].consent = ConsentPolicy::Skip
    });
    for _ in 0..25 {
        let mut browser = Browser::new(&server);
        let page = browser.get(&request(&[]));
        code_of(&server, &browser.log_in(&page, "alice", PASSWORD));
    }
}

#[test]
fn hostile_forms_get_an_answer_and_no_fault() {
    let mail = Mail::new();
    let server = server(&mail);
    let mut browser = Browser::new(&server);
    let page = browser.get(&request(&[]));
    let sealed = page.field("interaction");
    let long = "x".repeat(15_000);
    let values = ["", "\u{202e}", "%00", "'\"<>&;", &long, "ÿ", "null", "-1"];
    for path in [
        "/interaction",
        "/authorize",
        "/device",
        "/logout",
        "/account",
        "/account/recover",
    ] {
        for value in values {
            for name in [
                "interaction",
                "username",
                "password",
                "otp",
                "decision",
                "user_code",
                "token",
                "sid",
                "new_password",
            ] {
                let fields = [("interaction", &*sealed), (name, value)];
                let fields = if name == "interaction" {
                    &fields[1..]
                } else {
                    &fields[..]
                };
                let status = browser.post(path, fields).reply.status;
                assert!(status < 500, "{path} {name}={value}: {status}");
            }
        }
        for body in [
            &b"\xff\xfe"[..],
            b"%",
            b"a=b&a=c",
            b"=&=&&&",
            b"interaction=%ff",
        ] {
            let call = Call::post(path).body("application/x-www-form-urlencoded", body);
            let status = call.send(&server).status;
            assert!(status < 500, "{path}: {status}");
        }
        let status = Call::post(path)
            .json(&serde_json::json!({}))
            .send(&server)
            .status;
        assert!((400..500).contains(&status), "{path}: {status}");
    }
    for cookie in ["", "x", "AAAA", "\"", &"A".repeat(3000)] {
        for name in [SESSION, Cookie::Browser, Cookie::Device] {
            let name = browser.cookie_name(name);
            let mut browser = Browser::new(&server);
            browser.cookies.insert(name, cookie.into());
            browser
                .get(&request(&[]))
                .expect_status(200)
                .expect("name=\"password\"");
        }
    }
}

#[test]
fn without_mail_no_code_is_offered_and_none_is_answered() {
    // A10
    let mail = Mail::new();
    let server = start(&mail, |setup: &mut Setup| setup.people.mailer = None);
    let mut browser = Browser::new(&server);
    let page = browser.get(&request(&[]));
    assert!(!page.offers("email"));
    let sealed = page.field("interaction");
    let fields = [
        ("interaction", &*sealed),
        ("username", "alice"),
        ("decision", "email"),
    ];
    let page = browser.post("/interaction", &fields);
    assert!(!page.text().contains("name=\"otp\""));
    browser
        .get("/account/recover")
        .expect_status(400)
        .expect("<main id=\"error\"");
}

#[test]
fn a_flood_of_guesses_does_not_keep_the_owners_browser_out() {
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
    let mail = Mail::new();
    let server = start(&mail, |setup: &mut Setup| {
        setup.passwords.cost.memory_kib = 4096;
        (setup.passwords.threads, setup.passwords.queue) = (1, 1);
        // Their addresses are many.
        setup.people.limits.address = u32::MAX;
    });
    let mut owner = Browser::new(&server);
    arrive(&mut owner, &request(&[]));
    let (over, refused) = (AtomicBool::new(false), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for flood in 0..6 {
            let (server, over, refused) = (&server, &over, &refused);
            scope.spawn(move || {
                let mut browser = Browser::new(server);
                let page = browser.get(&request(&[]));
                for guess in 0.. {
                    if over.load(SeqCst) {
                        return;
                    }
                    let answer = browser.log_in(&page, &format!("{flood}-{guess}"), "guess");
                    if answer.reply.status == 503 {
                        refused.fetch_add(1, SeqCst);
                    }
                }
            });
        }
        for _ in 0..5 {
            let before = refused.load(SeqCst);
            for _ in 0..1000 {
                if refused.load(SeqCst) > before {
                    break;
                }
                std::thread::sleep(std::time::Duration::from_millis(10));
            }
            let page = owner.get(&request(&[("prompt", "login")]));
            let page = owner.log_in(&page, "alice", PASSWORD);
            if page.reply.status == 503 {
                over.store(true, SeqCst);
            }
            assert_ne!(page.reply.status, 503);
        }
        over.store(true, SeqCst);
    });
    assert!(refused.load(SeqCst) > 0, "the queue was full");
}

#[test]
fn enormous_passwords_are_refused_without_hashing_them() {
    // A22
    let mail = Mail::new();
    let server = server(&mail);
    let mut browser = Browser::new(&server);
    let page = browser.get(&request(&[]));
    browser
        .log_in(&page, "alice", &"x".repeat(10_000))
        .expect_status(200)
        .expect("is not right");
    for size in [20_000, 60_000] {
        let status = browser
            .log_in(&page, "alice", &"x".repeat(size))
            .reply
            .status;
        assert!((400..500).contains(&status), "{size}: {status}");
    }
}

#[test]
fn a_full_password_queue_answers_later_and_counts_nothing() {
    let mail = Mail::new();
    let server = start(&mail, |setup| {
        setup.passwords.cost = signet_crypto::password::Cost {
            memory_kib: 19_456,
            passes: 8,
            lanes: 1,
        };
        setup.passwords.threads = 1;
        setup.passwords.queue = 1;
    });
    let statuses: Vec<u16> = std::thread::scope(|scope| {
        let logins: Vec<_> = (0..12)
            .map(|n| {
                let server = &server;
                scope.spawn(move || {
                    let mut browser = Browser::new(server);
                    let page = browser.get(&request(&[]));
                    let page = browser.log_in(&page, &format!("nobody{n}"), "wrong password");
                    if page.reply.status == 503 {
                        assert_eq!(page.reply.header("retry-after"), "5");
                    }
                    page.reply.status
                })
            })
            .collect();
        logins
            .into_iter()
            .map(|login| login.join().unwrap())
            .collect()
    });
    assert!(statuses.contains(&503), "{statuses:?}");
    assert!(
        statuses.iter().all(|s| matches!(s, 200 | 503)),
        "{statuses:?}"
    );
}

/// A `claims` parameter that asks for a name, with a value of `length` characters.
fn large_claims(length: usize) -> String {
    format!(
        "{{\"userinfo\":{{\"name\":{{\"value\":\"{}\"}}}}}}",
        "a".repeat(length)
    )
}

#[test]
fn a_request_that_is_accepted_is_carried_through_every_page() {
    let mail = Mail::new();
    let server = server(&mail);
    let mut browser = Browser::new(&server);
    let (state, nonce) = ("s".repeat(2048), "n".repeat(1024));
    let claims = large_claims(6000);
    let large = request(&[("state", &state), ("nonce", &nonce), ("claims", &claims)]);
    let page = arrive(&mut browser, &large);
    assert_eq!(page.param("state").as_deref(), Some(&*state));
    assert_eq!(code_of(&server, &page).nonce.as_deref(), Some(&*nonce));
}

#[test]
fn a_request_that_the_pages_could_not_carry_is_refused_before_any_page() {
    let mail = Mail::new();
    let server = server(&mail);
    let mut browser = Browser::new(&server);
    let (state, nonce) = ("s".repeat(2048), "n".repeat(1024));
    let claims = large_claims(8000);
    let page = browser.get(&request(&[
        ("state", &state),
        ("nonce", &nonce),
        ("claims", &claims),
    ]));
    assert_eq!(error_of(&page), "invalid_request");
    assert_eq!(page.param("state").as_deref(), Some(&*state));
}

#[test]
fn the_budgets_of_guesses_do_not_tell_which_names_exist_nor_which_address_is_whose() {
    let mail = Mail::new();
    let server = start(&mail, |_| {});
    let most = server.realm.people.limits.account;
    let attempt = |name: &str, password: &str| {
        let mut browser = Browser::new(&server);
        let page = browser.get("/account");
        let page = browser.log_in(&page, name, password);
        let said = page.text().contains("is not right");
        (page.reply.status, said)
    };
    for (name, address) in [
        ("alice", "alice@example.test"),
        ("nobody7", "nobody7@example.test"),
    ] {
        for _ in 0..most {
            assert_eq!(attempt(name, "wrong"), (200, true), "{name}");
        }
        assert_eq!(attempt(name, "wrong"), (429, false), "{name}");
        // The same for an address that leads to an account whose guesses are used up, and for one
        // that leads nowhere.
        assert_eq!(attempt(address, "wrong"), (200, true), "{address}");
    }
    // And no guess is open by another name: it would be wrong if it were right.
    assert_eq!(attempt("alice@example.test", PASSWORD), (200, true));
    server.pass(server.realm.people.limits.window);
    let mut browser = Browser::new(&server);
    let page = browser.get("/account");
    browser
        .log_in(&page, "alice", PASSWORD)
        .expect("Your account");
}

#[test]
fn mails_are_limited_for_an_account_by_whatever_name_and_without_a_word() {
    let mut mail = Mail::new();
    let server = start(&mail, |_| {});
    let most = server.realm.people.limits.mails;
    let mut ask = |name: &str| {
        let mut browser = Browser::new(&server);
        let page = browser.get("/account/recover");
        let page = browser.press(&page, "email", &[("username", name)]);
        (page.reply.status, mail.fresh().len())
    };
    for _ in 0..most {
        assert_eq!(ask("alice"), (200, 1));
    }
    assert_eq!(ask("alice"), (429, 0));
    assert_eq!(ask("alice@example.test"), (200, 0));
    assert_eq!(ask("nobody"), (200, 0));
}

#[test]
fn a_page_that_nobody_was_given_is_not_a_browser_without_cookies() {
    let mail = Mail::new();
    let server = server(&mail);
    let bookmark = Call::get("/interaction").send(&server);
    assert!(
        bookmark.text().contains("id=\"error\""),
        "{}",
        bookmark.text()
    );
    assert!(!bookmark.text().contains("cookies"), "{}", bookmark.text());
}

#[test]
fn the_answer_to_a_form_can_be_loaded_again_and_its_address_says_nothing_that_was_typed() {
    let mail = Mail::new();
    let server = start(&mail, |_| {});
    let mut browser = Browser::new(&server);
    let login = browser.get(&request(&[]));
    // What was asked for by its address has one already.
    assert_eq!(login.again(), "");
    let wrong = browser
        .log_in(&login, "alice", "wrong")
        .expect("is not right");
    let address = wrong.again();
    assert!(address.starts_with("/interaction?request="), "{address}");
    // Back: the login page of the application.
    let back = browser.get(&address).expect("name=\"password\"");
    assert!(back.offers("cancel"));
    let consent = browser.log_in(&back, "alice", PASSWORD);
    let address = consent.again();
    // It is a request and no login: in another browser nobody is there.
    let other = Browser::new(&server).get(&address);
    other
        .expect("name=\"password\"")
        .expect("name=\"username\" type=\"text\" value=\"\"");
    let consent = browser.get(&address);
    let code = browser.press(&consent, "allow", &[]);
    assert!(code.param("code").is_some(), "{}", code.url);

    let mut browser = Browser::new(&server);
    let login = browser.get("/account");
    let wrong = browser.log_in(&login, "alice", "wrong");
    assert_eq!(wrong.again(), "/account");
    let account = browser
        .log_in(&wrong, "alice", PASSWORD)
        .expect("Your account");
    let saved = browser.press(&account, "end-others", &[]);
    assert_eq!(saved.again(), "/account");
}

#[test]
fn a_pushed_request_is_answered_once_also_by_the_address_of_its_pages() {
    let mail = Mail::new();
    let server = start(&mail, |_| {});
    let pushed = Call::post("/par").basic("web", crate::common::SECRET);
    let pushed = pushed
        .form(&crate::common::people::parameters(&[]))
        .send(&server);
    let uri = pushed.member("request_uri");
    let mut browser = Browser::new(&server);
    let asked = [("client_id", "web"), ("request_uri", &*uri)];
    let login = browser.get(&crate::common::browser::with("/authorize", &asked));
    let consent = browser.log_in(&login, "alice", PASSWORD);
    let address = consent.again();
    let answer = browser.press(&consent, "allow", &[]);
    assert!(answer.param("code").is_some(), "{}", answer.url);
    let twice = browser.get(&address);
    assert!(twice.param("code").is_none(), "{}", twice.url);
}
