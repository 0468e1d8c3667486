//! Passkeys, by an authenticator in software: what is made, used, refused, and told.
use crate::authenticator::Authenticator;
use crate::common::{
    Server, block_on,
    browser::{Browser, Page},
    client::Call,
    cluster::Cluster,
    people::{CHEAP, Mail, PASSWORD, add_user, people, request, start},
};
use signet_directory::passwords::PasswordOptions;
use signet_directory::{CredentialKind, User};
use signet_encoding::base64url;
use signet_oauth::authorize::acr;
use signet_oauth::client::ConsentPolicy;
use signet_oauth::issued::sealed::AuthorizationCode;
use signet_oauth::people::passkeys::{Aaguid, UserVerification};

const CALLBACK: &str = "https://client.example/cb?";
const WRONG: &str = "This passkey was not accepted";
const ADDED: &str = "The passkey was added";

fn server(mail: &Mail) -> Server {
    start(mail, |setup| {
        setup.clients[0].consent = ConsentPolicy::Skip;
    })
}

fn origin(server: &Server) -> (String, String) {
    let issuer = server.issuer();
    let party = signet_webauthn::RelyingParty::of_issuer(&issuer, &[]).expect("a domain");
    (party.origins()[0].clone(), party.id().to_owned())
}

fn phone(server: &Server) -> Authenticator {
    let (origin, id) = origin(server);
    Authenticator::new(&origin, &id)
}

/// What a page asks the browser for.
#[track_caller]
fn asked(page: &Page, attribute: &str) -> serde_json::Value {
    let text = page.text();
    let start = format!("{attribute}=\"");
    let from = text
        .find(&start)
        .unwrap_or_else(|| panic!("no {attribute} in {text}"));
    let value = text[from + start.len()..]
        .split('"')
        .next()
        .expect("a value");
    serde_json::from_str(&value.replace("&quot;", "\"")).expect("JSON")
}

#[track_caller]
fn bytes(value: &serde_json::Value) -> Vec<u8> {
    base64url::decode(value.as_str().expect("a text").as_bytes()).expect("base64url")
}

/// The authenticator's answer to the page.
#[track_caller]
fn answer(authenticator: &mut Authenticator, page: &Page) -> String {
    authenticator.get(&bytes(&asked(page, "data-passkey-get")["challenge"]))
}

#[track_caller]
fn log_in(browser: &mut Browser<'_>, page: &Page, authenticator: &mut Authenticator) -> Page {
    let answer = answer(authenticator, page);
    browser.press(page, "passkey", &[("passkey", &answer)])
}

#[track_caller]
fn create(authenticator: &mut Authenticator, page: &Page) -> String {
    let options = asked(page, "data-passkey-create");
    authenticator.create(
        &bytes(&options["challenge"]),
        &bytes(&options["user"]["id"]),
    )
}

#[track_caller]
fn account<'s>(server: &'s Server) -> (Browser<'s>, Page) {
    let mut browser = Browser::new(server);
    let page = browser.get("/account");
    let page = browser
        .log_in(&page, "alice", PASSWORD)
        .expect("Your account");
    (browser, page)
}

/// Alice has added a passkey on her account page, her first.
#[track_caller]
fn enrol(server: &Server, authenticator: &mut Authenticator) {
    let (mut browser, page) = account(server);
    let made = create(authenticator, &page);
    let fields = [("passkey", &*made), ("label", "my phone")];
    browser
        .press(&page, "passkey-add", &fields)
        .expect(ADDED)
        .expect("my phone");
}

#[track_caller]
fn alice(server: &Server) -> User {
    let users = &server.realm.people.users;
    block_on(users.by_login("alice", server.realm.now()))
        .unwrap()
        .unwrap()
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

#[test]
fn a_passkey_is_added_told_by_mail_and_logs_in_as_two_factors_that_resist_phishing() {
    let mut mail = Mail::new();
    let server = server(&mail);
    let (mut adds, _) = account(&server);
    for (bound, how) in [(false, "swk"), (true, "hwk")] {
        let mut authenticator = phone(&server);
        authenticator.backup_eligible = !bound;
        authenticator.backed_up = !bound;
        let page = adds.get("/account");
        let made = create(&mut authenticator, &page);
        adds.press(&page, "passkey-add", &[("passkey", &made)])
            .expect(ADDED);
        assert_eq!(mail.fresh().len(), 1);
        let mut browser = Browser::new(&server);
        let page = browser.get(&request(&[]));
        assert!(page.text().contains("autocomplete=\"username webauthn\""));
        let page = log_in(&mut browser, &page, &mut authenticator);
        let code = code_of(&server, &page);
        assert_eq!(code.acr, acr::PHISHING_RESISTANT_TWO_FACTORS);
        assert!(code.amr.iter().any(|value| value == how), "{:?}", code.amr);
        assert!(
            code.amr.iter().any(|value| value == "mfa"),
            "{:?}",
            code.amr
        );
    }
    let (_, page) = account(&server);
    page.expect("Backed up").expect("Stays on this device");
}

#[test]
fn what_was_made_elsewhere_or_for_something_else_is_refused() {
    let mail = Mail::new();
    let server = server(&mail);
    let mut authenticator = phone(&server);
    enrol(&server, &mut authenticator);
    type Change = fn(&mut Authenticator);
    let changes: [(&str, Change); 6] = [
        ("origin", |a| a.origin = "https://evil.example".to_owned()),
        ("relying party", |a| a.rp_id = "evil.example".to_owned()),
        ("type", |a| a.client_type = Some("webauthn.create")),
        ("frame", |a| a.cross_origin = true),
        ("verification", |a| a.verified = false),
        ("presence", |a| a.present = false),
    ];
    for (what, change) in changes {
        let (good_origin, good_id) = origin(&server);
        change(&mut authenticator);
        let mut browser = Browser::new(&server);
        let page = browser.get(&request(&[]));
        let page = log_in(&mut browser, &page, &mut authenticator);
        assert!(page.text().contains(WRONG), "{what}: {}", page.text());
        authenticator.origin = good_origin;
        authenticator.rp_id = good_id;
        authenticator.client_type = None;
        authenticator.cross_origin = false;
        authenticator.verified = true;
        authenticator.present = true;
        // The page that says so asks again.
        let page = log_in(&mut browser, &page, &mut authenticator);
        code_of(&server, &page);
    }
}

#[test]
fn a_challenge_is_answered_once_by_its_browser_alone() {
    let mail = Mail::new();
    let server = server(&mail);
    let mut authenticator = phone(&server);
    enrol(&server, &mut authenticator);
    let mut browser = Browser::new(&server);
    let page = browser.get(&request(&[]));
    let sent = answer(&mut authenticator, &page);
    // Another page's form has another challenge.
    let mut other = Browser::new(&server);
    let elsewhere = other.get(&request(&[]));
    other
        .press(&elsewhere, "passkey", &[("passkey", &sent)])
        .expect(WRONG);
    // The form of another browser does not open.
    let field = page.field("interaction");
    let fields = [
        ("interaction", &*field),
        ("decision", "passkey"),
        ("passkey", &*sent),
    ];
    let reply = other.post("/interaction", &fields);
    assert!(!reply.url.starts_with(CALLBACK), "{}", reply.url);
    let done = browser.press(&page, "passkey", &[("passkey", &sent)]);
    code_of(&server, &done);
    let again = browser.press(&page, "passkey", &[("passkey", &sent)]);
    assert!(!again.url.starts_with(CALLBACK), "{}", again.url);
}

#[test]
fn a_counter_that_goes_back_is_refused_recorded_and_told() {
    let mut mail = Mail::new();
    let audit = tempfile::tempdir().unwrap();
    let server = start(&mail, |setup| {
        setup.clients[0].consent = ConsentPolicy::Skip;
        setup.audit = Some(audit.path().join("audit"));
    });
    let mut authenticator = phone(&server);
    enrol(&server, &mut authenticator);
    for _ in 0..2 {
        let mut browser = Browser::new(&server);
        let page = browser.get(&request(&[]));
        let page = log_in(&mut browser, &page, &mut authenticator);
        code_of(&server, &page);
    }
    mail.fresh();
    authenticator.held[0].sign_count = 0;
    let mut browser = Browser::new(&server);
    let page = browser.get(&request(&[]));
    log_in(&mut browser, &page, &mut authenticator).expect(WRONG);
    let told = mail.fresh();
    assert!(
        told.iter().any(|text| text.contains("there may be a copy")),
        "{told:?}"
    );
    let recorded = |record: &serde_json::Value| record.to_string().contains("passkey_counter");
    assert!(server.records().iter().any(recorded));
}

#[test]
fn a_passkey_that_verified_nobody_is_one_factor_where_the_realm_allows_it() {
    let mail = Mail::new();
    let server = server(&mail);
    server.configure(|settings, _| {
        settings.passkeys.user_verification = UserVerification::Preferred;
    });
    let mut authenticator = phone(&server);
    authenticator.verified = false;
    enrol(&server, &mut authenticator);
    let mut browser = Browser::new(&server);
    let page = browser.get(&request(&[]));
    let page = log_in(&mut browser, &page, &mut authenticator);
    assert_eq!(code_of(&server, &page).acr, acr::PHISHING_RESISTANT);
}

#[test]
fn a_step_up_asks_a_session_for_the_passkey_alone() {
    let mail = Mail::new();
    let server = server(&mail);
    let mut authenticator = phone(&server);
    enrol(&server, &mut authenticator);
    let mut browser = Browser::new(&server);
    let page = browser.get(&request(&[]));
    let page = browser.log_in(&page, "alice", PASSWORD);
    assert_eq!(code_of(&server, &page).acr, acr::PASSWORD);
    let stronger = [("acr_values", acr::PHISHING_RESISTANT_TWO_FACTORS)];
    let page = browser.get(&request(&stronger)).expect("Use your passkey");
    let mut strange = phone(&server);
    strange.create(&[0; 32], alice(&server).id.as_bytes());
    let page = log_in(&mut browser, &page, &mut strange).expect(WRONG);
    let page = log_in(&mut browser, &page, &mut authenticator);
    let code = code_of(&server, &page);
    assert_eq!(code.acr, acr::PHISHING_RESISTANT_TWO_FACTORS);
    assert!(
        code.amr.iter().any(|value| value == "pwd"),
        "{:?}",
        code.amr
    );
}

#[test]
fn a_passkey_is_offered_after_a_password_to_a_browser_that_can_and_declined_for_a_while() {
    let mail = Mail::new();
    let server = server(&mail);
    let password = [("username", "alice"), ("password", PASSWORD)];
    let mut browser = Browser::new(&server);
    let page = browser.get(&request(&[]));
    let page = browser.press(&page, "allow", &password);
    code_of(&server, &page);
    let able = [password[0], password[1], ("passkey_capable", "1")];
    let mut browser = Browser::new(&server);
    let page = browser.get(&request(&[]));
    let page = browser
        .press(&page, "allow", &able)
        .expect("Log in without a password");
    // Its own script is needed: a button alone adds nothing.
    let page = browser
        .press(&page, "passkey-add", &[])
        .expect("needs JavaScript");
    let mut authenticator = phone(&server);
    let made = create(&mut authenticator, &page);
    let page = browser.press(&page, "passkey-add", &[("passkey", &made)]);
    code_of(&server, &page);
    assert!(alice(&server).has(CredentialKind::Passkey));
    add_user(&server, "bob");
    let able = [("username", "bob"), able[1], able[2]];
    let mut browser = Browser::new(&server);
    let page = browser.get(&request(&[]));
    let page = browser.press(&page, "allow", &able);
    let page = browser.press(&page, "later", &[]);
    code_of(&server, &page);
    let page = browser.get(&request(&[("prompt", "login")]));
    let page = browser.press(&page, "allow", &able);
    code_of(&server, &page);
}

#[test]
fn only_models_that_are_allowed_are_added_and_one_only_once() {
    let mail = Mail::new();
    let server = server(&mail);
    server.configure(|settings, _| {
        settings.passkeys.allowed_aaguids = vec![Aaguid([9; 16])];
    });
    let mut authenticator = phone(&server);
    let (mut browser, page) = account(&server);
    let made = create(&mut authenticator, &page);
    let page = browser.press(&page, "passkey-add", &[("passkey", &made)]);
    let page = page.expect("Passkeys of this kind are not accepted here");
    authenticator.aaguid = [9; 16];
    let made = create(&mut authenticator, &page);
    let added = browser
        .press(&page, "passkey-add", &[("passkey", &made)])
        .expect(ADDED);
    let again = browser.press(&page, "passkey-add", &[("passkey", &made)]);
    again.expect("on your account already");
    // And what its page asks for leaves out what is there.
    assert_eq!(
        asked(&added, "data-passkey-create")["excludeCredentials"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
}

#[test]
fn adding_asks_for_a_login_of_the_last_minutes_and_removing_tells_the_person() {
    let mut mail = Mail::new();
    let server = server(&mail);
    let mut authenticator = phone(&server);
    enrol(&server, &mut authenticator);
    let (mut browser, page) = account(&server);
    mail.fresh();
    let id = alice(&server)
        .credentials()
        .iter()
        .find(|one| one.kind == CredentialKind::Passkey)
        .unwrap()
        .id
        .clone();
    let remove = [("kind", "passkey"), ("id", &*id)];
    server.pass(700);
    browser
        .press(&page, "credential-remove", &remove)
        .expect("Log in");
    assert!(alice(&server).has(CredentialKind::Passkey));
    // A password beside it is not enough: whoever has a passkey shows it.
    let (mut browser, page) = account(&server);
    let step = browser
        .press(&page, "credential-remove", &remove)
        .expect("Use your passkey");
    let page = log_in(&mut browser, &step, &mut authenticator).expect("Your account");
    browser
        .press(&page, "credential-remove", &remove)
        .expect("It was removed");
    assert!(!alice(&server).has(CredentialKind::Passkey));
    assert_eq!(mail.fresh().len(), 1);
    let mut other = Browser::new(&server);
    let page = other.get(&request(&[]));
    log_in(&mut other, &page, &mut authenticator).expect(WRONG);
    // A page that was left open adds nothing.
    let (mut browser, page) = account(&server);
    let made = create(&mut authenticator, &page);
    server.pass(700);
    browser
        .press(&page, "passkey-add", &[("passkey", &made)])
        .expect("Log in");
    assert!(!alice(&server).has(CredentialKind::Passkey));
}

#[test]
fn of_two_nodes_either_ends_what_the_other_began_and_one_takes_an_answer() {
    let mail = Mail::new();
    let cluster = Cluster::of(2, || {
        let mut web = crate::common::client("web");
        web.consent = ConsentPolicy::Skip;
        crate::common::Setup {
            clients: vec![web],
            people: people(&mail),
            passwords: PasswordOptions {
                cost: CHEAP,
                ..PasswordOptions::default()
            },
            ..crate::common::Setup::default()
        }
    });
    let (one, two) = (cluster.node(0), cluster.node(1));
    add_user(one, "alice");
    let mut authenticator = phone(one);
    enrol(one, &mut authenticator);
    let mut browser = Browser::new(one);
    let page = browser.get(&request(&[]));
    let sent = answer(&mut authenticator, &page);
    let before = browser.cookies.clone();
    let mut browser = browser.moved_to(two);
    let done = browser.press(&page, "passkey", &[("passkey", &sent)]);
    assert!(done.url.starts_with(CALLBACK), "{}", done.url);
    let mut browser = browser.moved_to(one);
    browser.cookies = before;
    browser
        .press(&page, "passkey", &[("passkey", &sent)])
        .expect("waited too long");
}

#[test]
fn browsers_find_what_they_look_for_and_the_script_is_the_one_that_pages_allow() {
    let mail = Mail::new();
    let server = server(&mail);
    let origins = Call::get("/.well-known/webauthn").send(&server).expect(200);
    assert_eq!(origins.json()["origins"][0], origin(&server).0);
    let endpoints = Call::get("/.well-known/passkey-endpoints")
        .send(&server)
        .expect(200);
    assert_eq!(
        endpoints.json()["enroll"],
        format!("{}/account", server.issuer())
    );
    let password = Call::get("/.well-known/change-password")
        .send(&server)
        .expect(303);
    assert!(password.header("location").ends_with("/account#password"));
    let page = Browser::new(&server).get("/account");
    let text = page.text();
    let path = text
        .split("script src=\"")
        .nth(1)
        .unwrap()
        .split('"')
        .next()
        .unwrap();
    let script = Call::get(path).send(&server).expect(200);
    let hash = signet_crypto::hash::sha256(script.text().as_bytes());
    let hash = base64url::encode(&hash).replace('-', "+").replace('_', "/");
    assert!(text.contains(&format!("integrity=\"sha256-{hash}=\"")));
    server.configure(|settings, _| settings.passkeys.enabled = false);
    Call::get("/.well-known/webauthn").send(&server).expect(404);
    let page = Browser::new(&server).get("/account");
    assert!(!page.offers("passkey") && !page.text().contains("assets/passkey-"));
}
