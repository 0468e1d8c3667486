//! Nobody is led away by this server's address alone: not by a client that registered itself, not
//! by a logout that nobody stands for (RFC 9700 section 4.11.2).

use crate::common::{
    Server,
    browser::{Browser, Page, with},
    client::{Call, Reply},
    made::REDIRECT,
    people::{Mail, PASSWORD, parameters, request, start},
};
use serde_json::json;

const BYE: &str = "https://client.example/bye";

fn server(mail: &Mail) -> Server {
    start(mail, |setup| {
        setup.settings.registration.enabled = true;
        setup.settings.registration.open = true;
        let web = &mut setup.clients[0];
        web.post_logout_redirect_uris =
            vec![signet_oauth::authorize::redirect_uri::RedirectUri::parse(BYE, false).unwrap()];
        web.client_uri = Some("https://client.example/about".into());
        web.policy_uri = Some("https://client.example/privacy".into());
        web.tos_uri = Some("https://client.example/terms".into());
        web.logo_uri = Some("https://client.example/logo.png".into());
    })
}

/// A client that registers itself; its id.
fn registered(server: &Server) -> String {
    let document = json!({ "redirect_uris": [REDIRECT], "client_name": "Self-made" });
    let made = Call::post("/register").json(&document).send(server);
    made.expect(201).member("client_id")
}

#[test]
fn an_error_of_a_client_that_registered_itself_redirects_nobody() {
    let mail = Mail::new();
    let server = server(&mail);
    let id = registered(&server);
    let ask = |client_id: &str, more: &[(&str, &str)]| -> Call {
        let mut params = parameters(&[("client_id", client_id), ("scope", "openid")]);
        params.retain(|(name, _)| more.iter().all(|(other, _)| other != name));
        params.extend(more);
        Call::get(&with("/authorize", &params))
    };
    let cases: [(&[(&str, &str)], &str); 2] = [
        (&[("response_type", "token")], "unsupported_response_type"),
        (&[("prompt", "none login")], "invalid_request"),
    ];
    for (more, error) in cases {
        let shown: Reply = ask(&id, more).send(&server).expect(200);
        let text = shown.text();
        assert!(text.contains("<main id=\"error\""), "{text}");
        assert!(text.contains(&format!("data-error=\"{error}\"")), "{text}");
        assert!(text.contains("client.example"), "{text}");
        assert!(
            text.contains(&format!("href=\"{REDIRECT}?error={error}&amp;")),
            "{text}"
        );
        assert!(!text.contains("<script"), "{text}");
        // Nobody is led away in a frame, and a silent login in one gets its answer.
        let framed = ask(&id, more).header("sec-fetch-dest", "iframe");
        let back = framed.send(&server).expect(303);
        assert!(back.header("location").starts_with(REDIRECT));
        // What an operator has registered is answered as ever.
        ask("web", more).send(&server).expect(303);
    }
    // OpenID Connect Core section 3.1.2.1: a silent request shows no page of this server.
    let silent = ask(&id, &[("prompt", "none")]).send(&server).expect(303);
    assert!(silent.header("location").contains("error=login_required"));
    let posted = ask(
        &id,
        &[("response_type", "token"), ("response_mode", "form_post")],
    );
    let text = posted.send(&server).expect(200).text();
    assert!(
        text.contains("<main id=\"error\"") && !text.contains("<script"),
        "{text}"
    );
    assert!(
        text.contains("value=\"unsupported_response_type\""),
        "{text}"
    );
}

#[test]
fn who_presses_a_button_goes_back_at_once() {
    let mail = Mail::new();
    let server = server(&mail);
    let id = registered(&server);
    let mut browser = Browser::new(&server);
    let page = browser.get(&request(&[("client_id", &id), ("scope", "openid")]));
    let page: Page = browser.log_in(&page, "alice", PASSWORD);
    let back = browser.press(&page, "deny", &[]);
    assert!(back.url.starts_with(REDIRECT), "{}", back.text());
    assert_eq!(back.param("error").as_deref(), Some("access_denied"));
}

#[test]
fn a_logout_that_nobody_stands_for_leads_nowhere_by_itself() {
    let mail = Mail::new();
    let server = server(&mail);
    let url = with(
        "/logout",
        &[
            ("client_id", "web"),
            ("post_logout_redirect_uri", BYE),
            ("state", "s"),
        ],
    );
    let mut browser = Browser::new(&server);
    let page = browser.get(&url);
    assert_eq!(page.url, url, "without a session, and without an ID token");
    let page = page.expect("<main id=\"signed-out\"");
    let page = page.expect("client.example");
    page.expect(&format!("href=\"{BYE}?state=s\""));
    // Who is logged in is asked, and sees where it goes.
    let page = browser.get("/account");
    browser.log_in(&page, "alice", PASSWORD);
    let page = browser
        .get(&url)
        .expect("Log out?")
        .expect("client.example");
    let page = browser.press(&page, "allow", &[]);
    assert_eq!(page.url, format!("{BYE}?state=s"));
}

#[test]
fn login_and_consent_link_the_clients_own_pages_and_load_no_picture_of_others() {
    let mail = Mail::new();
    let server = server(&mail);
    let mut browser = Browser::new(&server);
    let login = browser.get(&request(&[]));
    let consent = {
        let page = browser.log_in(&login, "alice", PASSWORD);
        page.expect("asks for access")
    };
    for page in [login, consent] {
        let text = page.text();
        for link in ["about", "privacy", "terms"] {
            let href = format!("href=\"https://client.example/{link}\" rel=\"noopener noreferrer");
            assert!(text.contains(&href), "{link}: {text}");
        }
        // The one that is shown is this server's.
        assert_eq!(text.matches("<img").count(), 1, "{text}");
        assert!(text.contains("src=\"/client-logo/d2Vi\""), "{text}");
        assert!(!text.contains("logo.png"), "{text}");
        let policy = page.reply.header("content-security-policy");
        assert!(policy.contains("img-src 'self';"), "{policy}");
    }
}
