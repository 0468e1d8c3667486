//! What the end of a session or consent does to the tokens that was issued under it.
use crate::common::{
    SECRET, Server,
    browser::{Browser, with},
    client::{Call, Reply},
    people::{Mail, PASSWORD, VERIFIER, request, start},
};
use signet_oauth::authorize::redirect_uri::RedirectUri;
use signet_oauth::client::GrantType;

const CALLBACK: &str = "https://client.example/cb";

fn server(mail: &Mail) -> Server {
    start(mail, |setup| {
        setup.clients[0].post_logout_redirect_uris =
            vec![RedirectUri::parse("https://client.example/bye", false).unwrap()];
    })
}

/// Logs alice in, lets her allow what is asked for, and redeems the code.
#[track_caller]
fn tokens(server: &Server, browser: &mut Browser<'_>, scope: &str) -> Reply {
    let mut page = browser.get(&request(&[("scope", scope), ("prompt", "consent")]));
    if page.text().contains("name=\"password\"") {
        page = browser.log_in(&page, "alice", PASSWORD);
    }
    let back = browser.press(&page, "allow", &[]);
    let code = back.param("code").expect("a code");
    Call::post("/token")
        .basic("web", SECRET)
        .form(&[
            ("grant_type", "authorization_code"),
            ("code", &code),
            ("redirect_uri", CALLBACK),
            ("code_verifier", VERIFIER),
        ])
        .send(server)
        .expect(200)
}

#[track_caller]
fn userinfo(server: &Server, tokens: &Reply) -> u16 {
    Call::get("/userinfo")
        .bearer(&tokens.member("access_token"))
        .send(server)
        .status
}

#[track_caller]
fn refresh(server: &Server, tokens: &Reply) -> u16 {
    Call::post("/token")
        .basic("web", SECRET)
        .form(&[
            ("grant_type", "refresh_token"),
            ("refresh_token", &tokens.member("refresh_token")),
        ])
        .send(server)
        .status
}

#[test]
pub fn logging_out_with_the_sessions_own_id_token_asks_nothing_and_ends_its_access_tokens() {
    let mail = Mail::new();
    let server = server(&mail);
    let mut browser = Browser::new(&server);
    let first = tokens(&server, &mut browser, "openid email");
    assert_eq!(userinfo(&server, &first), 200);
    let hint = first.member("id_token");
    let url = with(
        "/logout",
        &[
            ("id_token_hint", &hint),
            ("post_logout_redirect_uri", "https://client.example/bye"),
            ("state", "s"),
        ],
    );
    let page = browser.get(&url);
    assert_eq!(page.url, "https://client.example/bye?state=s");
    assert_eq!(userinfo(&server, &first), 401);
    browser.get("/account").expect("name=\"password\"");
}

#[test]
fn the_id_token_of_another_session_does_not_log_out_without_a_question() {
    let mail = Mail::new();
    let server = server(&mail);
    let mut attacker = Browser::new(&server);
    let foreign = tokens(&server, &mut attacker, "openid");
    let mut browser = Browser::new(&server);
    let page = browser.get("/account");
    browser.log_in(&page, "alice", PASSWORD);
    let url = with("/logout", &[("id_token_hint", &foreign.member("id_token"))]);
    browser.get(&url).expect("Log out?");
    browser.get("/account").expect("Your account");
}

#[test]
fn an_id_token_hint_is_no_login() {
    // A5
    let mail = Mail::new();
    let server = server(&mail);
    let mut browser = Browser::new(&server);
    let hint = tokens(&server, &mut browser, "openid").member("id_token");
    let silent = request(&[("id_token_hint", &hint), ("prompt", "none")]);
    let page = Browser::new(&server).get(&silent);
    assert_eq!(page.param("error").as_deref(), Some("login_required"));
    assert!(
        browser
            .get(&silent)
            .param("code")
            .is_none_or(|code| !code.is_empty())
    );
}

#[test]
fn a_token_names_the_session_and_never_its_cookie() {
    // A4: what a relying party sees is no key to the session.
    let mail = Mail::new();
    let server = server(&mail);
    let mut browser = Browser::new(&server);
    let token = tokens(&server, &mut browser, "openid").member("access_token");
    let payload = token.split('.').nth(1).unwrap();
    let payload = signet_encoding::base64url::decode(payload.as_bytes()).unwrap();
    let claims: serde_json::Value = serde_json::from_slice(&payload).unwrap();
    let sid = claims["sid"].as_str().expect("sid").to_owned();
    let mut thief = Browser::new(&server);
    thief.cookies.insert("__Host-signet-session".into(), sid);
    thief.get("/account").expect("name=\"password\"");
}

#[test]
fn a_withdrawn_consent_ends_the_clients_tokens() {
    let mail = Mail::new();
    let server = server(&mail);
    let mut browser = Browser::new(&server);
    let held = tokens(&server, &mut browser, "openid email offline_access");
    assert_eq!(userinfo(&server, &held), 200);
    let page = browser.get("/account");
    browser
        .press(&page, "withdraw", &[])
        .expect("can no longer act for you");
    assert_eq!(userinfo(&server, &held), 401);
    assert_eq!(refresh(&server, &held), 400);
}

#[test]
fn a_recovered_password_ends_every_token() {
    let mut mail = Mail::new();
    let server = server(&mail);
    let mut browser = Browser::new(&server);
    let held = tokens(&server, &mut browser, "openid email offline_access");
    let page = browser.get("/account/recover");
    browser.press(&page, "email", &[("username", "alice")]);
    let mails = mail.fresh();
    let start = mails[0].find("/account/recover?token=").unwrap();
    let link = mails[0][start..].split_whitespace().next().unwrap();
    let page = browser.get(link);
    browser.press(
        &page,
        "password",
        &[("new_password", "another calm set of words")],
    );
    assert_eq!(userinfo(&server, &held), 401);
    assert_eq!(refresh(&server, &held), 400);
}

#[test]
pub fn a_pushed_request_is_answered_once() {
    let mail = Mail::new();
    let server = server(&mail);
    let pushed = Call::post("/par")
        .basic("web", SECRET)
        .form(&crate::common::people::parameters(&[("client_id", "")]))
        .send(&server)
        .expect(201);
    let uri = pushed.member("request_uri");
    let url = with("/authorize", &[("client_id", "web"), ("request_uri", &uri)]);
    let mut browser = Browser::new(&server);
    // A reload of the page is no second use.
    browser.get(&url).expect("name=\"password\"");
    let page = browser.get(&url);
    let page = browser.log_in(&page, "alice", PASSWORD);
    let back = browser.press(&page, "allow", &[]);
    assert!(back.param("code").is_some(), "{}", back.url);
    browser.get(&url).expect_error("invalid_request_uri");
    // Nor does the consent page's form give a second code.
    browser
        .press(&page, "allow", &[])
        .expect_error("invalid_request_uri");
    // Another client's browser link does not open it.
    let foreign = with(
        "/authorize",
        &[("client_id", "other"), ("request_uri", &uri)],
    );
    browser.get(&foreign).expect("<main id=\"error\"");
}

#[test]
fn a_pushed_request_is_answered_once_also_after_its_own_end() {
    let mail = Mail::new();
    let server = server(&mail);
    let pushed = Call::post("/par")
        .basic("web", SECRET)
        .form(&crate::common::people::parameters(&[("client_id", "")]))
        .send(&server)
        .expect(201);
    let uri = pushed.member("request_uri");
    let url = with("/authorize", &[("client_id", "web"), ("request_uri", &uri)]);
    let mut browser = Browser::new(&server);
    let page = browser.get(&url);
    let page = browser.log_in(&page, "alice", PASSWORD);
    // The person takes longer than the request lives: their answer still counts, and once.
    server.pass(pushed.json()["expires_in"].as_u64().unwrap() + 1);
    let back = browser.press(&page, "allow", &[]);
    assert!(back.param("code").is_some(), "{}", back.url);
    server.pass(2);
    browser
        .press(&page, "allow", &[])
        .expect_error("invalid_request_uri");
}

#[test]
fn a_withdrawn_consent_ends_the_tokens_of_a_client_that_may_not_refresh() {
    let mail = Mail::new();
    let server = start(&mail, |setup| {
        setup.clients[0].grant_types = vec![GrantType::AuthorizationCode];
    });
    let mut browser = Browser::new(&server);
    let held = tokens(&server, &mut browser, "openid email");
    assert!(held.json().get("refresh_token").is_none());
    let page = browser.get("/account");
    browser
        .press(&page, "withdraw", &[])
        .expect("can no longer act for you");
    assert_eq!(userinfo(&server, &held), 401);
}

#[test]
fn the_pages_of_one_request_give_one_code() {
    let mail = Mail::new();
    let server = server(&mail);
    let mut browser = Browser::new(&server);
    let page = browser.get(&request(&[]));
    let login = browser.log_in(&page, "alice", PASSWORD);
    let back = browser.press(&login, "allow", &[]);
    assert!(back.param("code").is_some(), "{}", back.url);
    // The form of the consent page again, and that of the login page, which the consent now
    // answers.
    browser
        .press(&login, "allow", &[])
        .expect("was answered already");
    browser
        .log_in(&page, "alice", PASSWORD)
        .expect("was answered already");
    // A request of its own is another matter.
    let back = browser.get(&request(&[("prompt", "none")]));
    assert!(back.param("code").is_some(), "{}", back.url);
}
