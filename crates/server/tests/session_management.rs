//! What a client's page learns of the browser's session by a frame: OpenID Connect Session
//! Management 1.0. The check is computed here as the page's script does.
use crate::common::{
    Server, block_on,
    browser::{Browser, Page},
    client,
    client::Call,
    people::{Mail, PASSWORD, request, start},
};
use signet_oauth::authorize::redirect_uri::RedirectUri;
use signet_oauth::authorize::session_state::hashed;
use signet_oauth::client::ConsentPolicy;
use signet_request::browser_state;
use signet_request::cookie::Cookie;

const ORIGIN: &str = "https://client.example";

fn server(mail: &Mail) -> Server {
    start(mail, |setup| {
        setup.clients[0].consent = ConsentPolicy::Skip;
        let mut app = client("app");
        app.consent = ConsentPolicy::Skip;
        app.redirect_uris = vec![RedirectUri::parse("com.example.app:/cb", true).unwrap()];
        setup.clients.push(app);
    })
}

/// What the frame's script answers, for a page of this origin.
fn asked(browser: &Browser<'_>, client: &str, origin: &str, session_state: &str) -> &'static str {
    let state = browser.cookies.get(&browser.cookie_name(Cookie::State));
    let Some((_, salt)) = session_state.split_once('.') else {
        return "error";
    };
    let logged_in = state.filter(|state| !state.is_empty() && *state != browser_state::NOBODY);
    let now = hashed(client, origin, state.map_or("", |state| state), salt);
    match logged_in.is_some() && now == session_state {
        true => "unchanged",
        false => "changed",
    }
}

fn log_in(browser: &mut Browser<'_>, more: &[(&str, &str)]) -> Page {
    let page = browser.get(&request(more));
    match page.text().contains("name=\"password\"") {
        true => browser.log_in(&page, "alice", PASSWORD),
        false => page,
    }
}

fn state_of(page: &Page) -> String {
    page.param("session_state").expect("a session state")
}

#[test]
fn a_client_hears_unchanged_until_the_login_is_another_one_or_over() {
    let mail = Mail::new();
    let server = server(&mail);
    let mut browser = Browser::new(&server);
    let first = state_of(&log_in(&mut browser, &[]));
    assert_eq!(asked(&browser, "web", ORIGIN, &first), "unchanged");
    // Of another client and another site it says nothing.
    assert_eq!(asked(&browser, "app", ORIGIN, &first), "changed");
    assert_eq!(
        asked(&browser, "web", "https://evil.example", &first),
        "changed"
    );

    // The same login again: another salt, and both hold.
    let again = state_of(&browser.get(&request(&[("prompt", "none")])));
    assert_ne!(first, again);
    browser.get("/account").expect("Your account");
    for state in [&first, &again] {
        assert_eq!(asked(&browser, "web", ORIGIN, state), "unchanged");
    }

    // Another login, of the same person.
    let second = state_of(&log_in(&mut browser, &[("prompt", "login")]));
    assert_eq!(asked(&browser, "web", ORIGIN, &first), "changed");
    assert_eq!(asked(&browser, "web", ORIGIN, &second), "unchanged");

    let page = browser.get("/logout");
    browser.press(&page, "allow", &[]);
    assert_eq!(asked(&browser, "web", ORIGIN, &second), "changed");
    let third = state_of(&log_in(&mut browser, &[]));
    assert_eq!(asked(&browser, "web", ORIGIN, &second), "changed");
    assert_eq!(asked(&browser, "web", ORIGIN, &third), "unchanged");
}

#[test]
fn a_session_that_ended_elsewhere_is_changed_when_the_browser_comes_next_and_a_frame_changes_nothing()
 {
    let mail = Mail::new();
    let server = server(&mail);
    let mut browser = Browser::new(&server);
    let state = state_of(&log_in(&mut browser, &[]));

    // A silent request in a frame of another site: the session's cookie is not sent with it.
    let session = browser.cookie_name(Cookie::Session);
    let kept = browser.cookies.remove(&session).expect("a session");
    let silent = browser.get(&request(&[("prompt", "none")]));
    assert_eq!(silent.param("error").as_deref(), Some("login_required"));
    assert_eq!(silent.param("session_state"), None);
    assert_eq!(asked(&browser, "web", ORIGIN, &state), "unchanged");

    browser.cookies.insert(session, kept);
    let users = &server.realm.people.users;
    let alice = block_on(users.by_login("alice", server.realm.now()));
    let alice = alice.unwrap().expect("alice").id;
    block_on(server.realm.revoke_everything_of(&alice)).unwrap();
    assert_eq!(asked(&browser, "web", ORIGIN, &state), "unchanged");
    browser.get(&request(&[("prompt", "none")]));
    assert_eq!(asked(&browser, "web", ORIGIN, &state), "changed");
}

#[test]
fn every_response_mode_has_it_and_only_who_can_ask_gets_it() {
    let mail = Mail::new();
    let server = server(&mail);
    let mut browser = Browser::new(&server);
    let page = log_in(&mut browser, &[("response_mode", "form_post")]);
    let state = page.field("session_state");
    assert_eq!(asked(&browser, "web", ORIGIN, &state), "unchanged");
    // Without OpenID Connect, and where no page of the web could ask.
    let plain = browser.get(&request(&[("scope", "email")]));
    assert!(plain.param("code").is_some(), "{}", plain.url);
    assert_eq!(plain.param("session_state"), None);
    let app = [
        ("client_id", "app"),
        ("redirect_uri", "com.example.app:/cb"),
    ];
    let app = browser.get(&request(&app));
    assert!(app.param("code").is_some(), "{}", app.url);
    assert_eq!(app.param("session_state"), None);
}

#[test]
fn the_page_of_the_check_alone_may_be_framed_and_has_its_script_and_nothing_else() {
    let mail = Mail::new();
    let server = server(&mail);
    let metadata = Call::get("/.well-known/openid-configuration").send(&server);
    let url = metadata.member("check_session_iframe");
    let path = url.strip_prefix(&server.base()).expect("a page of ours");
    let page = Call::get(path).send(&server).expect(200);
    // What an unauthenticated caller may know of a browser is compared with nothing
    // (`tests/clients/check-session.test.mjs` runs the script).
    let text = page.text();
    let script = text.split("src=\"").nth(1).expect("a script");
    let script = Call::get(script.split('"').next().expect("a path")).send(&server);
    let not = format!(
        "state !== null && state !== \"\" && state !== \"{}\"",
        browser_state::NOBODY
    );
    assert!(script.expect(200).text().contains(&not));
    let policy = page.header("content-security-policy");
    assert!(
        policy.starts_with("default-src 'none'; script-src 'self';"),
        "{policy}"
    );
    assert!(
        policy.ends_with("; frame-ancestors https: http:"),
        "{policy}"
    );
    assert!(page.headers.get("x-frame-options").is_none());
    assert!(page.headers.get("set-cookie").is_none());
    let text = page.text();
    let name = Browser::new(&server).cookie_name(Cookie::State);
    assert!(text.contains(&format!("data-cookie=\"{name}\"")), "{text}");
    let source = text.split("src=\"").nth(1).expect("a script");
    let source = source.split('"').next().expect("its end").to_owned();
    let at = source.find("/assets/").expect("a file of ours");
    let script = Call::get(&source[at..]).send(&server).expect(200);
    assert!(script.text().contains("postMessage"));
    let login = Browser::new(&server).get("/account");
    assert_eq!(login.reply.header("x-frame-options"), "DENY");
    let policy = login.reply.header("content-security-policy");
    assert!(policy.contains("frame-ancestors 'none'"), "{policy}");
}
