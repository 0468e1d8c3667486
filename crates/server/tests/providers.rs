//! Logging in at an identity provider: a second Signet, and one that lies.
use crate::common::{
    SECRET, Server, block_on,
    browser::{Browser, Page, with},
    client,
    client::Call,
    made::{claims, redeem},
    people::{Mail, PASSWORD, add_user, request, start},
    scope,
    totp::{App, between},
};
use http::Method;
use serde_json::{Value, json};
use signet_crypto::{Algorithm, Secret, SigningKey, hash::sha256};
use signet_directory::CredentialKind;
use signet_directory::logout_notice::{self, NOTICES};
use signet_directory::session;
use signet_encoding::base64url;
use signet_jose::jwk::{Jwk, JwkSet};
use signet_jose::jwt::{JwtSigner, Typ, half_hash};
use signet_oauth::authorize::redirect_uri::RedirectUri;
use signet_oauth::client::{AuthMethod, Client};
use signet_oauth::people::provider::{
    AnswerBy, ClaimRow, GroupRow, Preset, Provider, ProviderAuth,
};
use signet_realm::records::groups::GroupDraft;
use signet_registry::providers::seal_secret;
use signet_request::cookie::Cookie;
use signet_store::{Change, Key, Op, Table};
use std::{
    collections::BTreeMap,
    io::{Read, Write},
    net::TcpListener,
    sync::{Arc, Mutex},
    time::Duration,
};

/// A server whose people log in at another one, and that one.
pub struct Pair {
    pub up: Server,
    pub down: Server,
    mail: Mail,
}

pub fn write(down: &Server, provider: Provider) {
    let keyring = down.realm.keyring().clone();
    let secret = Secret::new(SECRET.to_owned());
    let sealed_secret = seal_secret(&keyring, &provider.name, &secret);
    let known = down.realm.snapshot();
    let known = known
        .registry
        .providers
        .get(&provider.name)
        .map(|p| p.revision);
    let provider = Provider {
        sealed_secret,
        ..provider
    };
    block_on(down.realm.write_provider(provider, known)).unwrap();
}

impl Pair {
    pub fn start(change: impl FnOnce(&mut Provider)) -> Pair {
        let mail = Mail::new();
        let up = start(&mail, |_| {});
        let trust = up.ca.cert_pem().into_bytes();
        let down = start(&mail, |setup| {
            setup.outbound.trust = Some(trust);
            setup.clients.push(Client {
                scope: scope("signet:admin openid"),
                ..client("operator")
            });
        });
        let mut provider = Provider {
            client_id: "signet".into(),
            ..Provider::new("corp", up.issuer())
        };
        change(&mut provider);
        let redirects = ["corp", "other"].map(|name| {
            let uri = format!("{}/providers/{name}/callback", down.issuer());
            RedirectUri::parse(&uri, false).unwrap()
        });
        up.configure(|_, registry| {
            let signet = Client {
                redirect_uris: redirects.to_vec(),
                ..client("signet")
            };
            registry.clients.insert("signet".into(), Arc::new(signet));
        });
        write(&down, provider);
        Pair { up, down, mail }
    }

    /// Logs alice in at the provider, which sent the browser here, and gives where it sends her.
    #[track_caller]
    fn at_provider(&self, away: &Page) -> String {
        self.at_provider_as(away, "alice")
    }

    #[track_caller]
    pub fn at_provider_as(&self, away: &Page, name: &str) -> String {
        let target = away.url.strip_prefix(&self.up.issuer());
        let target = target.unwrap_or_else(|| panic!("{}: {}", away.url, away.text()));
        let mut there = Browser::new(&self.up);
        let mut page = there.get(target);
        page = there.log_in(&page, name, PASSWORD);
        if page.offers("allow") {
            page = there.press(&page, "allow", &[]);
        }
        let back = page.url.strip_prefix(&self.down.issuer());
        back.unwrap_or_else(|| panic!("{}: {}", page.url, page.text()))
            .to_owned()
    }

    /// From the button to the answer.
    #[track_caller]
    fn through(&self, here: &mut Browser<'_>, login: &Page) -> Page {
        let away = here.press(
            login,
            "provider:corp",
            &[("username", ""), ("password", "")],
        );
        let back = self.at_provider(&away);
        here.get(&back)
    }

    /// On to the client's tokens.
    #[track_caller]
    fn tokens(&self, here: &mut Browser<'_>, mut page: Page) -> Value {
        for _ in 0..2 {
            if page.offers("allow") {
                page = here.press(&page, "allow", &[]);
            }
        }
        let code = page.param("code");
        let code = code.unwrap_or_else(|| panic!("{}: {}", page.url, page.text()));
        let call = Call::post("/token")
            .basic("web", SECRET)
            .form(&redeem(&code));
        call.send(&self.down).expect(200).json()
    }

    #[track_caller]
    fn id_token(&self, here: &mut Browser<'_>, page: Page) -> Value {
        let tokens = self.tokens(here, page);
        claims(tokens["id_token"].as_str().unwrap())
    }

    fn sub_of(&self, name: &str) -> String {
        let users = &self.down.realm.people.users;
        let user = block_on(users.by_login(name, self.down.realm.now())).unwrap();
        user.unwrap().id
    }
}

pub fn verify_email(server: &Server, name: &str) {
    let users = &server.realm.people.users;
    let now = server.realm.now();
    let user = block_on(users.by_login(name, now)).unwrap().unwrap();
    block_on(users.change(&user.id, now, |draft| draft.user.email_verified = true)).unwrap();
}

#[test]
fn a_person_of_another_signet_gets_an_account_and_keeps_it() {
    let pair = Pair::start(|_| {});
    let mut here = Browser::new(&pair.down);
    let login = here.get(&request(&[]));
    assert!(login.offers("provider:corp"), "{}", login.text());
    let page = pair.through(&mut here, &login).expect("First time here");
    // Whether alice@example.test has an account here is not said: she has, and is not told.
    assert!(page.offers("allow") && page.offers("link"));
    let first = pair.id_token(&mut here, page);
    assert_ne!(
        first["sub"],
        pair.sub_of("alice"),
        "an address of another person links nothing"
    );
    assert_eq!(first["amr"], json!(["fed"]));
    assert_eq!(first["acr"], "urn:signet:acr:provider");
    assert_eq!(first["email"], Value::Null, "nor is it believed");
    // In another browser: the same account, and no question.
    let mut again = Browser::new(&pair.down);
    let login = again.get(&request(&[]));
    let page = pair.through(&mut again, &login);
    assert!(!page.text().contains("First time here"));
    assert_eq!(pair.id_token(&mut again, page)["sub"], first["sub"]);
    // A provider that is switched off lets nobody in.
    write(
        &pair.down,
        Provider {
            client_id: "signet".into(),
            enabled: false,
            ..Provider::new("corp", pair.up.issuer())
        },
    );
    let login = Browser::new(&pair.down).get(&request(&[]));
    assert!(!login.offers("provider:corp"));
}

#[test]
fn an_address_links_only_where_the_provider_is_trusted_and_both_sides_verified_it() {
    // What the provider says, what is verified here, and what becomes of it.
    for (up, down, links) in [
        (true, true, true),
        (true, false, false),
        (false, true, false),
    ] {
        let pair = Pair::start(|provider| provider.trust_email = true);
        if up {
            verify_email(&pair.up, "alice");
        }
        if down {
            verify_email(&pair.down, "alice");
        }
        let mut here = Browser::new(&pair.down);
        let login = here.get(&request(&[]));
        let page = pair.through(&mut here, &login);
        match (up, down) {
            (true, true) => {
                let id_token = pair.id_token(&mut here, page);
                assert_eq!(id_token["sub"], pair.sub_of("alice"));
            }
            (true, false) => {
                // Her own account, once she has proven it.
                let page = page.expect("Log in to your account here once");
                let page = here.log_in(&page, "alice", PASSWORD);
                assert_eq!(pair.id_token(&mut here, page)["sub"], pair.sub_of("alice"));
                let mut again = Browser::new(&pair.down);
                let login = again.get(&request(&[]));
                let page = pair.through(&mut again, &login);
                let id_token = pair.id_token(&mut again, page);
                assert_eq!(id_token["sub"], pair.sub_of("alice"));
                assert_eq!(id_token["amr"], json!(["fed"]));
            }
            (false, _) => drop(page.expect("First time here")),
        }
        assert_eq!(links, up && down);
    }
}

#[test]
fn an_administrators_account_is_never_linked_by_an_address() {
    let pair = Pair::start(|provider| provider.trust_email = true);
    verify_email(&pair.up, "alice");
    verify_email(&pair.down, "alice");
    let (users, now) = (&pair.down.realm.people.users, pair.down.realm.now());
    let alice = pair.sub_of("alice");
    block_on(users.change(&alice, now, |draft| draft.user.admin = true)).unwrap();
    let mut here = Browser::new(&pair.down);
    let login = here.get(&request(&[]));
    pair.through(&mut here, &login)
        .expect("Log in to your account here once");
    assert!(
        !here
            .cookies
            .contains_key(&here.cookie_name(Cookie::Session))
    );
}

#[test]
fn who_is_new_and_trusted_gets_name_and_address_without_a_question() {
    let pair = Pair::start(|provider| provider.trust_email = true);
    add_user(&pair.up, "olga");
    verify_email(&pair.up, "olga");
    let mut here = Browser::new(&pair.down);
    let login = here.get(&request(&[]));
    let away = here.press(
        &login,
        "provider:corp",
        &[("username", ""), ("password", "")],
    );
    let page = here.get(&pair.at_provider_as(&away, "olga"));
    assert!(!page.text().contains("First time here"));
    pair.tokens(&mut here, page);
    let users = &pair.down.realm.people.users;
    let olga = block_on(users.by_login("olga@example.test", pair.down.realm.now()));
    let olga = olga.unwrap().unwrap();
    assert!(olga.username.starts_with("olga-") && olga.email_verified);
}

#[test]
fn where_no_accounts_are_made_a_stranger_is_told_so_and_an_account_can_be_proven() {
    let pair = Pair::start(|provider| provider.create = false);
    let mut here = Browser::new(&pair.down);
    let login = here.get(&request(&[]));
    let page = pair.through(&mut here, &login);
    assert!(!page.offers("allow") && page.offers("link"));
    // A form that was made up does not make one either.
    let sealed = page.field("interaction");
    let forged = here.post(
        "/interaction",
        &[("interaction", &sealed), ("decision", "allow")],
    );
    assert!(forged.offers("link") && !forged.offers("allow"));
    let page = here
        .press(&page, "link", &[])
        .expect("Log in to your account here once");
    let page = here.log_in(&page, "alice", PASSWORD);
    assert_eq!(pair.id_token(&mut here, page)["sub"], pair.sub_of("alice"));
}

#[test]
fn an_answer_counts_once_in_its_own_browser_and_at_its_own_provider() {
    let pair = Pair::start(|_| {});
    write(
        &pair.down,
        Provider {
            client_id: "signet".into(),
            ..Provider::new("other", pair.up.issuer())
        },
    );
    let refused = |page: &Page| {
        assert!(
            page.text().contains("another browser, or too long ago"),
            "{}",
            page.text()
        );
    };
    let mut here = Browser::new(&pair.down);
    let begin = |here: &mut Browser<'_>| {
        let login = here.get(&request(&[]));
        let away = here.press(
            &login,
            "provider:corp",
            &[("username", ""), ("password", "")],
        );
        pair.at_provider(&away)
    };
    let back = begin(&mut here);
    // An attacker who has the answer, in a browser of theirs, with cookies and without.
    let mut attacker = Browser::new(&pair.down);
    refused(&attacker.get(&back));
    attacker.get(&request(&[]));
    refused(&attacker.get(&back));
    // The other provider's answer (mix-up), and a state that nobody gave.
    refused(&here.get(&back.replace("/corp/", "/other/")));
    refused(&here.get("/providers/corp/callback?code=x&state=x"));
    refused(&here.get("/providers/corp/callback?code=x"));
    here.get(&back).expect("First time here");
    refused(&here.get(&back));
    // Of two at once one counts.
    let back = begin(&mut here);
    let cookies = here.cookies.clone();
    let pages: Vec<bool> = std::thread::scope(|threads| {
        let racers: Vec<_> = (0..4)
            .map(|_| {
                let (server, back, cookies) = (&pair.down, &back, cookies.clone());
                threads.spawn(move || {
                    let mut browser = Browser::new(server);
                    browser.cookies = cookies;
                    browser.get(back).text().contains("First time here")
                })
            })
            .collect();
        racers
            .into_iter()
            .map(|racer| racer.join().unwrap())
            .collect()
    });
    assert_eq!(pages.iter().filter(|first| **first).count(), 1);
    // Too late.
    let back = begin(&mut here);
    pair.down.pass(3600);
    refused(&here.get(&back));
}

#[test]
fn what_waits_for_a_providers_answer_is_bounded_in_bytes_and_known_browsers_have_their_own() {
    use signet_realm::budgets::{Act, TABLE};
    // Of one network, with twelve hundred requests or as many as it likes.
    const { assert!(TABLE[Act::Waiting as usize].address < 5_000_000) };
    let pair = Pair::start(|_| {});
    let up = format!("{}/authorize", pair.up.issuer());
    let mut known = Browser::new(&pair.down);
    let page = known.get("/account");
    known
        .log_in(&page, "alice", PASSWORD)
        .expect("Your account");
    let session = known.cookie_name(Cookie::Session);
    known.cookies.remove(&session);
    pair.down.realm.budgets.set(Act::Waiting, 40_000, 400_000);
    let state = "s".repeat(2000);
    let large = request(&[("idp_hint", "corp"), ("state", &state)]);
    let kept = || {
        let page = pair.down.realm.store.page(Table::Once, None, 1000, 0);
        let rows = block_on(page).unwrap();
        rows.iter().map(|(_, row)| row.value.len()).sum::<usize>()
    };
    let before = kept();
    let mut sent = 0;
    for _ in 0..20 {
        let page = Browser::new(&pair.down).get(&large);
        match page.url.starts_with(&up) {
            true => sent += 1,
            // The login page, with what else there is on it.
            false => assert!(page.offers("allow"), "{}", page.url),
        }
    }
    assert!((1..20).contains(&sent), "{sent}");
    assert!(kept() - before <= 40_000);
    // Whoever has logged in here before is not held up by them.
    pair.down.realm.budgets.set(Act::Waiting, 400_000, 400_000);
    while Browser::new(&pair.down).get(&large).url.starts_with(&up) {}
    let away = known.get(&request(&[("idp_hint", "corp")]));
    assert!(away.url.starts_with(&up), "{}", away.url);
}

#[test]
fn hints_and_domains_lead_to_a_provider_and_silent_requests_never() {
    let pair = Pair::start(|provider| {
        provider.hidden = true;
        provider.domains = vec!["example.test".into()];
    });
    let up = format!("{}/authorize", pair.up.issuer());
    for hint in [
        ("idp_hint", "corp"),
        ("kc_idp_hint", "corp"),
        ("login_hint", "ann@example.test"),
    ] {
        let away = Browser::new(&pair.down).get(&request(&[hint]));
        assert!(away.url.starts_with(&up), "{hint:?}: {}", away.url);
        assert_eq!(away.param("code_challenge_method").as_deref(), Some("S256"));
    }
    let mut here = Browser::new(&pair.down);
    let login = here.get(&request(&[("idp_hint", "nobody")]));
    assert!(login.offers("allow") && !login.offers("provider:corp"));
    let away = here.log_in(&login, "Ann@Example.test", "");
    assert!(away.url.starts_with(&up), "{}", away.url);
    assert_eq!(
        away.param("login_hint").as_deref(),
        Some("Ann@Example.test")
    );
    let silent = here.get(&request(&[("idp_hint", "corp"), ("prompt", "none")]));
    assert_eq!(silent.param("error").as_deref(), Some("login_required"));
    let away = here.get(&request(&[
        ("idp_hint", "corp"),
        ("prompt", "login"),
        ("max_age", "60"),
    ]));
    let param = |name: &str| away.param(name).unwrap_or_default();
    assert_eq!((&*param("prompt"), &*param("max_age")), ("login", "60"));
}

#[test]
fn a_realm_may_have_upstream_login_alone() {
    let pair = Pair::start(|_| {});
    pair.down
        .configure(|settings, _| settings.local_login = false);
    let mut here = Browser::new(&pair.down);
    let login = here.get(&request(&[]));
    assert!(login.offers("provider:corp") && login.offers("cancel"));
    assert!(!login.offers("allow") && !login.offers("email") && !login.text().contains("password"));
    // Forms of before, and ones that were made up, log nobody in.
    let sealed = login.field("interaction");
    for decision in ["allow", "email"] {
        let fields = [
            ("interaction", &*sealed),
            ("username", "alice"),
            ("password", PASSWORD),
            ("decision", decision),
        ];
        let page = here.post("/interaction", &fields);
        assert!(page.offers("provider:corp"), "{}", page.text());
    }
    let body = json!({ "username": "alice", "password": PASSWORD });
    Call::post("/password-login")
        .json(&body)
        .send(&pair.down)
        .expect_error(400, "access_denied");
    let page = pair.through(&mut here, &login);
    pair.tokens(&mut here, page);
}

#[test]
fn an_answer_by_a_posted_form_arrives() {
    let pair = Pair::start(|provider| provider.answer_by = AnswerBy::FormPost);
    let mut here = Browser::new(&pair.down);
    let login = here.get(&request(&[]));
    let away = here.press(
        &login,
        "provider:corp",
        &[("username", ""), ("password", "")],
    );
    let mut there = Browser::new(&pair.up);
    let page = there.get(away.url.strip_prefix(&pair.up.issuer()).unwrap());
    let page = there.log_in(&page, "alice", PASSWORD);
    let page = if page.offers("allow") {
        there.press(&page, "allow", &[])
    } else {
        page
    };
    let names = ["code", "state", "iss"];
    let values: Vec<String> = names.iter().map(|name| page.field(name)).collect();
    let fields: Vec<(&str, &str)> = names
        .iter()
        .copied()
        .zip(values.iter().map(|v| &**v))
        .collect();
    let reply = Call::post("/providers/corp/callback")
        .form(&fields)
        .send(&pair.down)
        .expect(303);
    let on = reply.header("location").to_owned();
    assert!(!on.contains(&*values[0]), "no code stands in a URL");
    here.get(on.strip_prefix(&pair.down.issuer()).unwrap())
        .expect("First time here");
}

#[test]
fn a_link_is_made_and_taken_off_on_the_account_page_and_the_last_way_stays() {
    let pair = Pair::start(|_| {});
    let mut here = Browser::new(&pair.down);
    let login = here.get("/account");
    let account = here
        .log_in(&login, "alice", PASSWORD)
        .expect("Other ways to log in");
    let away = here.press(&account, "provider-link:corp", &[]);
    assert_eq!(away.param("prompt").as_deref(), Some("login"));
    let account = here
        .get(&pair.at_provider(&away))
        .expect("Other ways to log in");
    assert!(account.offers("provider-unlink"));
    // Who is at the provider somebody else's already is not taken.
    add_user(&pair.down, "bob");
    let mut bobs = Browser::new(&pair.down);
    let login = bobs.get("/account");
    let account_of_bob = bobs.log_in(&login, "bob", PASSWORD);
    let away = bobs.press(&account_of_bob, "provider-link:corp", &[]);
    bobs.get(&pair.at_provider(&away))
        .expect("linked to another account");
    // Without a password it is the last way.
    let (users, now) = (&pair.down.realm.people.users, pair.down.realm.now());
    let alice = pair.sub_of("alice");
    let old = here
        .press(&account, "provider-unlink", &[])
        .expect("no longer log in that way");
    let away = here.press(&old, "provider-link:corp", &[]);
    let account = here.get(&pair.at_provider(&away));
    block_on(users.set_password(&alice, None, now)).unwrap();
    block_on(users.set_email(&alice, None, false, now)).unwrap();
    here.press(&account, "provider-unlink", &[])
        .expect("only way to log in");
    // Not in a session that is old.
    pair.down.pass(700);
    let page = here.press(&account, "provider-unlink", &[]);
    assert!(page.offers("provider:corp"), "{}", page.text());
}

#[test]
fn this_server_shows_itself_by_its_own_keys_at_the_provider() {
    let pair = Pair::start(|provider| provider.auth = ProviderAuth::PrivateKeyJwt);
    let known_by = |jwks: &Server| {
        let keys = Call::get("/jwks").send(jwks).expect(200).text();
        pair.up.configure(|_, registry| {
            let signet = Client {
                token_endpoint_auth_method: AuthMethod::PrivateKeyJwt,
                secrets: Vec::new(),
                jwks: Some(JwkSet::parse(keys.as_bytes()).unwrap()),
                ..(*registry.clients["signet"]).clone()
            };
            registry.clients.insert("signet".into(), Arc::new(signet));
        });
    };
    let log_in = || {
        let mut here = Browser::new(&pair.down);
        let login = here.get(&request(&[]));
        pair.through(&mut here, &login)
    };
    // Whoever has other keys is somebody else.
    known_by(&pair.up);
    let page = log_in();
    assert!(page.text().contains("role=\"alert\""), "{}", page.text());
    known_by(&pair.down);
    log_in().expect("First time here");
}

#[test]
fn a_logout_here_goes_on_at_the_provider_and_comes_back() {
    for listed in [true, false] {
        let pair = Pair::start(|provider| provider.logout = listed);
        let back = format!("{}/providers/corp/logged-out", pair.down.issuer());
        pair.up.configure(|_, registry| {
            let signet = &registry.clients["signet"];
            let signet = Client {
                post_logout_redirect_uris: vec![RedirectUri::parse(&back, false).unwrap()],
                ..(**signet).clone()
            };
            registry.clients.insert("signet".into(), Arc::new(signet));
        });
        let out = "https://web.example/out";
        pair.down.configure(|_, registry| {
            let web = &registry.clients["web"];
            let web = Client {
                post_logout_redirect_uris: vec![RedirectUri::parse(out, false).unwrap()],
                ..(**web).clone()
            };
            registry.clients.insert("web".into(), Arc::new(web));
        });
        let mut here = Browser::new(&pair.down);
        let login = here.get(&request(&[]));
        let page = pair.through(&mut here, &login);
        let tokens = pair.tokens(&mut here, page);
        let id_token = tokens["id_token"].as_str().unwrap();
        let asked = with(
            "/logout",
            &[
                ("id_token_hint", id_token),
                ("post_logout_redirect_uri", out),
                ("state", "s1"),
            ],
        );
        let away = here.get(&asked);
        // The session here has ended before anybody is sent anywhere.
        assert!(!here.get("/account").text().contains("Sessions"));
        if !listed {
            assert_eq!(away.url, format!("{out}?state=s1"));
            continue;
        }
        let target = away.url.strip_prefix(&pair.up.issuer());
        let target = target.unwrap_or_else(|| panic!("{}: {}", away.url, away.text()));
        assert!(target.starts_with("/logout?"), "{target}");
        assert_eq!(away.param("client_id").as_deref(), Some("signet"));
        assert_eq!(away.param("post_logout_redirect_uri"), Some(back.clone()));
        // The hint is the ID token of the login there: nothing is asked.
        let hint = claims(&away.param("id_token_hint").unwrap());
        assert_eq!(
            (&hint["iss"], &hint["aud"]),
            (&json!(pair.up.issuer()), &json!("signet"))
        );
        let returned = Browser::new(&pair.up).get(target);
        let returned = returned
            .url
            .strip_prefix(&pair.down.issuer())
            .unwrap()
            .to_owned();
        let state = returned.split_once("state=").unwrap().1;
        // Another browser is led nowhere by it, nor does another provider's name open it.
        let other = Browser::new(&pair.down).get(&returned);
        assert!(other.text().contains("signed-out"), "{}", other.url);
        for wrong in [
            "/providers/corp/logged-out".to_owned(),
            "/providers/corp/logged-out?state=AAAA".to_owned(),
            format!("/providers/other/logged-out?state={state}"),
        ] {
            assert!(here.get(&wrong).text().contains("signed-out"), "{wrong}");
        }
        assert_eq!(here.get(&returned).url, format!("{out}?state=s1"));
        pair.down.pass(601);
        assert!(here.get(&returned).text().contains("signed-out"));
    }
}

#[test]
fn a_logout_on_the_account_page_goes_on_at_the_provider_while_it_is_linked() {
    let pair = Pair::start(|provider| provider.logout = true);
    let log_in = || {
        let mut here = Browser::new(&pair.down);
        let login = here.get(&request(&[]));
        let page = pair.through(&mut here, &login);
        let sub = pair.id_token(&mut here, page)["sub"].clone();
        (here, sub.as_str().unwrap().to_owned())
    };
    let (mut here, _) = log_in();
    let account = here.get("/account");
    let policy = account.reply.header("content-security-policy");
    // Chromium holds redirects that follow a form to it.
    assert!(!policy.contains("form-action"), "{policy}");
    let sid = account.field("sid");
    let away = here.press(&account, "end-session", &[("sid", &sid)]);
    assert!(
        away.url
            .starts_with(&format!("{}/logout?", pair.up.issuer())),
        "{}",
        away.url
    );
    // What is kept of the hint is sealed.
    let (_other, sub) = log_in();
    let now = pair.down.realm.now();
    let sessions = signet_directory::session::list(&*pair.down.realm.store, &sub, now);
    let sessions = block_on(sessions).unwrap();
    assert_eq!(sessions.len(), 1);
    for (_, row) in sessions {
        let kept = row.upstream.unwrap().sealed_id_token.unwrap();
        assert!(!kept.contains('.') && !kept.contains("eyJ"), "{kept}");
    }
}

#[test]
fn claims_and_groups_are_taken_over_at_each_login() {
    let table = |provider: &mut Provider| {
        provider.claims = vec![
            ClaimRow {
                claim: "email".into(),
                to: "nickname".into(),
            },
            ClaimRow {
                claim: "preferred_username".into(),
                to: "level".into(),
            },
        ];
        let group = |value: &str| GroupRow {
            claim: "preferred_username".into(),
            value: value.into(),
            group: Some("staff".into()),
        };
        provider.groups = vec![group("alice"), group("nobody")];
    };
    let pair = Pair::start(table);
    let draft = GroupDraft::default();
    block_on(pair.down.realm.write_group("staff", &draft, None)).unwrap();
    let level = signet_oauth::people::Attribute::new("level");
    block_on(pair.down.realm.write_attribute(level, None)).unwrap();
    let mut here = Browser::new(&pair.down);
    let login = here.get(&request(&[]));
    let page = pair.through(&mut here, &login);
    let sub = pair.id_token(&mut here, page)["sub"]
        .as_str()
        .unwrap()
        .to_owned();
    let users = &pair.down.realm.people.users;
    let user = || {
        block_on(users.by_id(&sub, pair.down.realm.now()))
            .unwrap()
            .unwrap()
    };
    assert_eq!(user().groups_outside, ["staff"]);
    assert_eq!(
        user().profile.nickname.as_deref(),
        Some("alice@example.test")
    );
    assert_eq!(user().attributes.len(), 1);
    // Out of the table, out of the group.
    write(
        &pair.down,
        Provider {
            client_id: "signet".into(),
            ..Provider::new("corp", pair.up.issuer())
        },
    );
    let mut again = Browser::new(&pair.down);
    let login = again.get(&request(&[]));
    let page = pair.through(&mut again, &login);
    pair.tokens(&mut again, page);
    assert!(user().groups_outside.is_empty());
    let mut provider = Provider {
        client_id: "signet".into(),
        ..Provider::new("corp", pair.up.issuer())
    };
    table(&mut provider);
    write(&pair.down, provider);
    let mut once_more = Browser::new(&pair.down);
    let login = once_more.get(&request(&[]));
    let page = pair.through(&mut once_more, &login);
    pair.tokens(&mut once_more, page);
    // LP14: for as long as the setting says, whatever logins there are in between.
    let pass = |days: u64| {
        pair.up.pass(days * 86_400);
        pair.down.pass(days * 86_400);
    };
    pass(89);
    assert_eq!(user().groups_outside, ["staff"]);
    block_on(users.change(&sub, pair.down.realm.now(), |draft| {
        draft.user.profile.gender = Some("x".into());
    }))
    .unwrap();
    pass(2);
    assert!(user().groups_outside.is_empty());
}

/// Adds an app to an account of the server, in a browser of its own.
#[track_caller]
fn add_app(server: &Server, name: &str) -> App {
    let mut browser = Browser::new(server);
    let page = browser.get("/account");
    let page = browser.log_in(&page, name, PASSWORD);
    let page = browser.press(&page, "totp-add", &[]);
    let app = App::of(&between(&page.text(), "<code id=\"totp-secret\">", "<"));
    let code = app.code(server, 0);
    browser
        .press(&page, "totp-add", &[("totp", &code)])
        .expect("was added");
    server.pass(30);
    app
}

#[test]
fn what_a_provider_says_changes_nothing_before_the_accounts_factor_was_shown() {
    let mut pair = Pair::start(|provider| {
        provider.trust_email = true;
        provider.claims = vec![ClaimRow {
            claim: "email".into(),
            to: "nickname".into(),
        }];
        provider.groups = vec![GroupRow {
            claim: "preferred_username".into(),
            value: "alice".into(),
            group: Some("staff".into()),
        }];
    });
    block_on(
        pair.down
            .realm
            .write_group("staff", &GroupDraft::default(), None),
    )
    .unwrap();
    verify_email(&pair.up, "alice");
    verify_email(&pair.down, "alice");
    let app = add_app(&pair.down, "alice");
    pair.up.pass(30);
    let alice = pair.sub_of("alice");
    pair.mail.fresh();
    let down = &pair.down;
    let account = || {
        let user = block_on(down.realm.people.users.by_id(&alice, down.realm.now()));
        user.unwrap().unwrap()
    };
    let linked = || account().has(CredentialKind::Provider);
    let mut here = Browser::new(&pair.down);
    let login = here.get(&request(&[]));
    let page = pair.through(&mut here, &login).expect("name=\"totp\"");
    assert!(!linked(), "the link");
    assert!(account().groups_outside.is_empty(), "groups");
    assert_eq!(account().profile.nickname, None, "the profile");
    // With the code it is done, in the same login, and the person is notified of the link.
    let page = here.press(&page, "allow", &[("totp", &app.code(&pair.down, 0))]);
    let id_token = pair.id_token(&mut here, page);
    assert_eq!(id_token["sub"], pair.sub_of("alice"));
    assert!(linked());
    assert_eq!(account().groups_outside, ["staff"]);
    assert!(account().profile.nickname.is_some());
    let told = pair.mail.fresh();
    assert!(
        told.len() == 1 && told[0].contains("An identity provider was linked"),
        "{told:?}"
    );
}

#[test]
fn a_remembered_browser_links_nobody_by_an_address() {
    let pair = Pair::start(|provider| provider.trust_email = true);
    verify_email(&pair.up, "alice");
    verify_email(&pair.down, "alice");
    let app = add_app(&pair.down, "alice");
    pair.up.pass(30);
    let mut laptop = Browser::new(&pair.down);
    let page = laptop.get("/account");
    let page = laptop.log_in(&page, "alice", PASSWORD);
    let code = app.code(&pair.down, 0);
    let fields = [("totp", &*code), ("remember", "yes")];
    let page = laptop.press(&page, "allow", &fields).expect("Your account");
    // The page that links asks for the code, as its login would have spared it.
    let away = laptop.get(&request(&[("prompt", "login")]));
    pair.through(&mut laptop, &away).expect("name=\"totp\"");
    let users = &pair.down.realm.people.users;
    let alice = block_on(users.by_login("alice", pair.down.realm.now()));
    assert!(!alice.unwrap().unwrap().has(CredentialKind::Provider));
    drop(page);
}

#[test]
fn who_arrived_for_one_account_adds_nothing_to_a_login_of_another() {
    let pair = Pair::start(|provider| {
        provider.trust_email = true;
        provider.trust_acr = true;
    });
    verify_email(&pair.up, "alice");
    verify_email(&pair.down, "alice");
    add_app(&pair.down, "alice");
    pair.up.pass(30);
    let bob = add_user(&pair.down, "bob");
    let mut here = Browser::new(&pair.down);
    let login = here.get("/account");
    let page = pair.through(&mut here, &login).expect("name=\"totp\"");
    // Half way as alice, and then by bob's password.
    let sealed = page.field("interaction");
    let fields = [("interaction", &*sealed), ("decision", "other")];
    let page = here.post("/interaction", &fields);
    here.log_in(&page, "bob", PASSWORD).expect("Your account");
    let (store, now) = (&*pair.down.realm.store, pair.down.realm.now());
    let sessions = block_on(session::list(store, &bob.id, now)).unwrap();
    assert_eq!(sessions.len(), 1);
    assert_eq!(sessions[0].1.upstream, None);
    assert_eq!(sessions[0].1.methods, ["password"]);
}

#[test]
fn a_link_is_taken_off_by_its_own_form_alone_which_tells_the_person_and_ends_its_groups() {
    let mut pair = Pair::start(|provider| {
        provider.groups = vec![GroupRow {
            claim: "preferred_username".into(),
            value: "alice".into(),
            group: Some("staff".into()),
        }];
    });
    block_on(
        pair.down
            .realm
            .write_group("staff", &GroupDraft::default(), None),
    )
    .unwrap();
    let mut here = Browser::new(&pair.down);
    let login = here.get("/account");
    let account = here.log_in(&login, "alice", PASSWORD);
    let away = here.press(&account, "provider-link:corp", &[]);
    let account = here.get(&pair.at_provider(&away));
    let alice = pair.sub_of("alice");
    let down = &pair.down;
    let user = || {
        let user = block_on(down.realm.people.users.by_id(&alice, down.realm.now()));
        user.unwrap().unwrap()
    };
    assert_eq!(user().groups_outside, ["staff"]);
    let id = user()
        .credentials_of(CredentialKind::Provider)
        .next()
        .unwrap()
        .to_owned();
    let field = account.field("interaction");
    let fields = [
        ("interaction", &*field),
        ("decision", "credential-remove"),
        ("kind", "provider"),
        ("id", &*id),
    ];
    here.post("/account", &fields);
    assert!(user().has(CredentialKind::Provider));
    let told = pair.mail.fresh();
    assert!(
        told.iter().any(|mail| mail.contains("was linked")),
        "{told:?}"
    );
    // An administrator takes it away with all that came by it.
    let form = [
        ("grant_type", "client_credentials"),
        ("scope", "signet:admin"),
    ];
    let token = Call::post("/token").basic("operator", SECRET).form(&form);
    let token = token.send(&pair.down).expect(200).member("access_token");
    let path = format!("/admin/v1/users/{alice}/credentials/provider/{id}");
    Call::new(Method::DELETE, &path)
        .bearer(&token)
        .send(&pair.down)
        .expect(204);
    assert!(!user().has(CredentialKind::Provider));
    assert!(user().groups_outside.is_empty());
    let told = pair.mail.fresh();
    assert!(
        told.len() == 1 && told[0].contains("A link to an identity provider was removed"),
        "{told:?}"
    );
}

#[test]
fn providers_are_administered_and_their_secrets_never_shown() {
    let pair = Pair::start(|_| {});
    let token = Call::post("/token")
        .basic("operator", SECRET)
        .form(&[
            ("grant_type", "client_credentials"),
            ("scope", "signet:admin"),
        ])
        .send(&pair.down)
        .expect(200)
        .member("access_token");
    let call = |method: Method, target: &str| Call::new(method, target).bearer(&token);
    let path = "/admin/v1/providers/second";
    let body = json!({
        "issuer": "https://id.second.example", "client_id": "us", "client_secret": "the secret itself",
        "domains": ["second.example"],
    });
    let made = call(Method::PUT, path)
        .json(&body)
        .send(&pair.down)
        .expect(201);
    let shown = made.json();
    assert_eq!(
        shown["redirect_uri"],
        format!("{}/providers/second/callback", pair.down.issuer())
    );
    assert_eq!(
        (&shown["has_secret"], &shown["trust_email"]),
        (&json!(true), &json!(false))
    );
    assert!(!made.text().contains("the secret itself") && !made.text().contains("sealed"));
    let etag = made.header("etag").to_owned();
    // What was shown can be written back; the secret stays.
    let mut back = shown.clone();
    back["trust_email"] = true.into();
    let put = call(Method::PUT, path).json(&back);
    put.clone().send(&pair.down).expect(409);
    let again = put.header("if-match", &etag).send(&pair.down).expect(200);
    assert_eq!(
        (&again.json()["has_secret"], &again.json()["trust_email"]),
        (&json!(true), &json!(true))
    );
    // Of another client it does not: nobody gets a secret sent to an issuer of theirs.
    back["issuer"] = "https://id.thief.example".into();
    let put = call(Method::PUT, path)
        .json(&back)
        .header("if-match", again.header("etag"));
    put.send(&pair.down).expect(400);
    let list = call(Method::GET, "/admin/v1/providers")
        .send(&pair.down)
        .expect(200)
        .json();
    let names: Vec<&str> = list["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|p| p["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["corp", "second"]);
    call(Method::DELETE, path).send(&pair.down).expect(204);
    call(Method::GET, path).send(&pair.down).expect(404);
    let wrong = json!({ "issuer": "javascript:alert(1)", "client_id": "us", "client_secret": "x" });
    call(Method::PUT, path)
        .json(&wrong)
        .send(&pair.down)
        .expect(400);
}

/// A provider that lies, over plain HTTP on loopback.
pub struct Liar {
    pub issuer: String,
    pub says: Arc<Mutex<Lie>>,
    pub signer: JwtSigner,
}

/// What it says at the moment.
#[derive(Clone, Default)]
pub struct Lie {
    pub metadata: Value,
    jwks: Value,
    pub token: Value,
    /// what its API answers, by path
    api: BTreeMap<&'static str, Value>,
    /// bytes behind the token answer
    padding: usize,
    /// before the token answer
    wait: Duration,
}

impl Liar {
    pub fn start() -> Liar {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let issuer = format!("http://127.0.0.1:{}", listener.local_addr().unwrap().port());
        let key = SigningKey::generate(Algorithm::Es256).unwrap();
        let mut jwk = Vec::new();
        let mut writer = signet_encoding::json::Writer::new(&mut jwk);
        Jwk::for_signatures(key.public().unwrap().clone(), Algorithm::Es256, "k1")
            .write(&mut writer);
        let jwk: Value = serde_json::from_slice(&jwk).unwrap();
        let says = Arc::new(Mutex::new(Lie {
            metadata: json!({
                "issuer": issuer,
                "authorization_endpoint": format!("{issuer}/authorize"),
                "token_endpoint": format!("{issuer}/token"),
                "jwks_uri": format!("{issuer}/jwks"),
            }),
            jwks: json!({ "keys": [jwk] }),
            ..Lie::default()
        }));
        let shared = says.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (Ok(mut stream), says) = (stream, shared.clone()) else {
                    return;
                };
                std::thread::spawn(move || {
                    let mut read = [0; 8192];
                    let length = stream.read(&mut read).unwrap_or(0);
                    let head = String::from_utf8_lossy(&read[..length]).into_owned();
                    let lie = says.lock().unwrap().clone();
                    let body = match head.split(' ').nth(1).unwrap_or("") {
                        "/.well-known/openid-configuration" => lie.metadata.to_string(),
                        "/jwks" => lie.jwks.to_string(),
                        path if lie.api.contains_key(path) => lie.api[path].to_string(),
                        _ => {
                            std::thread::sleep(lie.wait);
                            lie.token.to_string() + &" ".repeat(lie.padding)
                        }
                    };
                    let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", body.len());
                    let _ = stream.write_all((head + &body).as_bytes());
                });
            }
        });
        Liar {
            issuer,
            says,
            signer: JwtSigner::new(key, "k1"),
        }
    }

    pub fn claims(&self, nonce: &str, now: u64) -> Value {
        json!({
            "iss": self.issuer, "sub": "mallory", "aud": "signet", "nonce": nonce,
            "iat": now, "exp": now + 60,
            "at_hash": half_hash(Algorithm::Es256, "at"),
        })
    }

    pub fn sign(&self, claims: &Value) -> String {
        let mut out = Vec::new();
        self.signer
            .sign_into(Typ::Jwt, claims.to_string().as_bytes(), &mut out)
            .unwrap();
        String::from_utf8(out).unwrap()
    }

    pub fn gives(&self, id_token: &str) {
        let token = json!({ "access_token": "at", "token_type": "Bearer", "id_token": id_token });
        self.says.lock().unwrap().token = token;
    }
}

#[test]
fn githubs_preset_believes_its_list_of_addresses_and_nothing_else() {
    let liar = Liar::start();
    let (down, _mail) = lied_to(&liar);
    verify_email(&down, "alice");
    let at = |path: &str| Some(format!("{}{path}", liar.issuer));
    let preset = Provider::of_preset("corp", Preset::Github);
    let issuer = preset.issuer.clone();
    write(
        &down,
        Provider {
            client_id: "signet".into(),
            trust_email: true,
            authorization_endpoint: at("/authorize"),
            token_endpoint: at("/token"),
            userinfo_endpoint: at("/user"),
            emails_endpoint: at("/user/emails"),
            ..preset
        },
    );
    let log_in = |token: Value, user: Value, emails: Value| {
        {
            let mut says = liar.says.lock().unwrap();
            says.token = token;
            says.api = [("/user", user), ("/user/emails", emails)].into();
        }
        let mut here = Browser::new(&down);
        let login = here.get(&request(&[]));
        let fields = [("username", ""), ("password", "")];
        let away = here.press(&login, "provider:corp", &fields);
        let state = away.param("state").unwrap();
        here.get(&back(&state, ""))
    };
    let token = || json!({ "access_token": "at", "token_type": "bearer", "scope": "user:email" });
    let address = |primary: Value, verified: Value| json!([{ "email": "alice@example.test", "primary": primary, "verified": verified }]);
    let users = &down.realm.people.users;
    let of = |id: &str| block_on(users.by_upstream(&issuer, id, down.realm.now())).unwrap();
    // The public profile says whatever its owner writes there.
    let boast = |id: u64| json!({ "id": id, "login": "mallory", "email": "alice@example.test", "email_verified": true });
    for (id, emails) in [
        (1, json!([])),
        (2, json!({ "message": "Not Found" })),
        (3, address(json!(true), json!(false))),
        (4, address(json!(false), json!(true))),
        (5, address(json!("true"), json!(true))),
        (6, address(json!(true), json!("yes"))),
    ] {
        let page = log_in(token(), boast(id), emails);
        assert!(
            page.text().contains("First time here"),
            "{id}: {}",
            page.text()
        );
        assert!(of(&id.to_string()).is_none(), "{id}");
    }
    // Whoever has no id that lasts is nobody; a name can be another person's tomorrow.
    for id in [
        Value::Null,
        json!(""),
        json!(1.5),
        json!(-1),
        json!([7]),
        json!(true),
    ] {
        let user = json!({ "id": id, "login": "alice" });
        let page = log_in(token(), user, address(json!(true), json!(true)));
        assert!(
            page.text().contains("role=\"alert\""),
            "{id}: {}",
            page.text()
        );
    }
    // GitHub says errors with 200.
    for token in [
        json!({ "error": "bad_verification_code" }),
        json!({ "error": "bad_verification_code", "access_token": "at", "token_type": "bearer" }),
        json!({ "access_token": "at", "token_type": "mac" }),
    ] {
        let page = log_in(token, boast(7), address(json!(true), json!(true)));
        assert!(page.text().contains("role=\"alert\""), "{}", page.text());
    }
    assert!(of("7").is_none());
    // The same without a lie.
    let page = log_in(token(), boast(7), address(json!(true), json!(true)));
    assert!(page.offers("deny"), "{}", page.text());
    assert_eq!(of("7").unwrap().username, "alice");
}

#[test]
fn apples_preset_believes_the_signed_address_and_no_posted_one() {
    let liar = Liar::start();
    let (down, _mail) = lied_to(&liar);
    verify_email(&down, "alice");
    write(
        &down,
        Provider {
            issuer: liar.issuer.clone(),
            client_id: "signet".into(),
            trust_email: true,
            ..Provider::of_preset("corp", Preset::Apple)
        },
    );
    let log_in = |change: &dyn Fn(&mut Value)| {
        let (mut here, state, nonce) = sent_away(&down);
        let mut claims = liar.claims(&nonce, down.realm.now());
        change(&mut claims);
        liar.gives(&liar.sign(&claims));
        // Apple posts the name and address of a first login beside the code, unsigned.
        let user = json!({ "email": "alice@example.test", "email_verified": true }).to_string();
        let reply = Call::post("/providers/corp/callback")
            .form(&[("code", "c"), ("state", &state), ("user", &user)])
            .send(&down)
            .expect(303);
        let on = reply.header("location").to_owned();
        here.get(on.strip_prefix(&down.issuer()).unwrap())
    };
    log_in(&|_| ()).expect("First time here");
    log_in(&|claims| {
        claims["email"] = "alice@example.test".into();
        claims["email_verified"] = "false".into();
    })
    .expect("First time here");
    // Apple says it as a text.
    let page = log_in(&|claims| {
        claims["email"] = "alice@example.test".into();
        claims["email_verified"] = "true".into();
    });
    assert!(page.offers("deny"), "{}", page.text());
}

#[test]
fn a_preset_of_one_tenant_takes_no_metadata_of_all() {
    let liar = Liar::start();
    let (down, _mail) = lied_to(&liar);
    for preset in [
        Preset::Microsoft,
        Preset::Google,
        Preset::Gitlab,
        Preset::Apple,
    ] {
        // What Microsoft's "common" says of itself, and an issuer of somebody else.
        for said in [
            format!("{}/{{tenantid}}/v2.0", liar.issuer),
            "https://accounts.google.com".to_owned(),
        ] {
            // One of its own each: what is wrong is looked for again after a pause.
            let liar = Liar::start();
            liar.says.lock().unwrap().metadata["issuer"] = said.clone().into();
            write(
                &down,
                Provider {
                    issuer: liar.issuer.clone(),
                    client_id: "signet".into(),
                    ..Provider::of_preset("corp", preset)
                },
            );
            let mut here = Browser::new(&down);
            let login = here.get(&request(&[]));
            let fields = [("username", ""), ("password", "")];
            let page = here.press(&login, "provider:corp", &fields);
            assert!(
                page.text().contains("role=\"alert\""),
                "{said}: {}",
                page.url
            );
        }
    }
}

#[test]
fn a_logout_at_the_provider_ends_the_sessions_that_came_of_it_once() {
    let liar = Liar::start();
    let (down, _mail) = lied_to(&liar);
    let now = down.realm.now();
    let log_in = |sid: &str| {
        let (mut here, state, nonce) = sent_away(&down);
        let mut claims = liar.claims(&nonce, now);
        claims["sid"] = sid.into();
        liar.gives(&liar.sign(&claims));
        let page = here.get(&back(&state, ""));
        let page = match page.text().contains("First time here") {
            true => here.press(&page, "allow", &[]),
            false => page,
        };
        assert!(page.offers("deny"), "{}", page.text());
        here
    };
    let (mut one, mut other) = (log_in("s1"), log_in("s2"));
    let logout = |change: &dyn Fn(&mut Value)| {
        let mut claims = json!({
            "iss": liar.issuer, "aud": "signet", "iat": now, "exp": now + 60, "jti": "j1",
            "sub": "mallory", "sid": "s1",
            "events": { "http://schemas.openid.net/event/backchannel-logout": {} },
        });
        change(&mut claims);
        let mut out = Vec::new();
        liar.signer
            .sign_into(Typ::LogoutToken, claims.to_string().as_bytes(), &mut out)
            .unwrap();
        let token = String::from_utf8(out).unwrap();
        let call = Call::post("/providers/corp/backchannel-logout");
        call.form(&[("logout_token", &token)]).send(&down)
    };
    let is_in = |browser: &mut Browser<'_>| browser.get("/account").text().contains("Sessions");
    let wrong: [&dyn Fn(&mut Value); 5] = [
        &|claims| claims["iss"] = "https://id.example".into(),
        &|claims| claims["aud"] = "others".into(),
        &|claims| claims["events"] = json!({}),
        &|claims| claims["nonce"] = "n".into(),
        &|claims| claims["iat"] = (now - 3600).into(),
    ];
    for change in wrong {
        logout(&|claims| {
            change(claims);
            if claims["iat"] != now {
                claims["exp"] = (now - 3000).into();
            }
        })
        .expect_error(400, "invalid_request");
    }
    assert!(is_in(&mut one) && is_in(&mut other));
    // A client takes part in the first of them.
    let store = &*down.realm.store;
    let (sessions, _) = block_on(session::page(store, None, 10, now)).unwrap();
    let of_s1 = sessions.iter().find(|row| {
        let upstream = row.upstream.as_ref();
        upstream.and_then(|upstream| upstream.sid.as_deref()) == Some("s1")
    });
    let (sid, user_id) = of_s1.map(|row| (&*row.sid, &*row.user_id)).unwrap();
    let noted = logout_notice::seen(store, (sid, user_id, "web"), now + 1_000, now);
    let mut noted = block_on(noted).unwrap().into_iter();
    let change = Change {
        first: noted.next().unwrap(),
        then: noted.collect(),
    };
    block_on(store.commit(change, now)).unwrap();
    logout(&|_| ()).expect(200);
    assert!(!is_in(&mut one) && is_in(&mut other));
    // It is passed on to the client.
    let (passed_on, _) = block_on(NOTICES.page(store, None, 10, now)).unwrap();
    let passed_on: Vec<(&str, &str)> = passed_on
        .iter()
        .map(|n| (&*n.what.client_id, &*n.what.sid))
        .collect();
    assert_eq!(passed_on, [("web", sid)]);
    logout(&|_| ()).expect_error(400, "invalid_request");
    logout(&|claims| {
        claims["jti"] = "j2".into();
        claims.as_object_mut().unwrap().remove("sid");
    })
    .expect(200);
    assert!(!is_in(&mut other));

    // A token that a node began with and did not come to the end of counts when it is sent again.
    let mut third = log_in("s3");
    let named = format!("{}\0j3", liar.issuer);
    let key = [b"provider logout ".as_slice(), &sha256(named.as_bytes())].concat();
    let begun = Op::Insert {
        key: Key::new(Table::Once, key),
        value: b"begun".to_vec(),
        end: Some(now + 600),
    };
    block_on(down.realm.store.commit(Change::new(begun), now)).unwrap();
    let retried = |claims: &mut Value| {
        claims["jti"] = "j3".into();
        claims["sid"] = "s3".into();
    };
    logout(&retried).expect(200);
    assert!(!is_in(&mut third));
    logout(&retried).expect_error(400, "invalid_request");
}

pub fn lied_to(liar: &Liar) -> (Server, Mail) {
    let mail = Mail::new();
    let down = start(&mail, |setup| {
        setup.outbound.timeout = Duration::from_millis(1500)
    });
    write(
        &down,
        Provider {
            client_id: "signet".into(),
            ..Provider::new("corp", &*liar.issuer)
        },
    );
    (down, mail)
}

/// Presses the button, and gives the browser with what the provider was asked.
#[track_caller]
pub fn sent_away<'s>(down: &'s Server) -> (Browser<'s>, String, String) {
    let mut here = Browser::new(down);
    let login = here.get(&request(&[]));
    let away = here.press(
        &login,
        "provider:corp",
        &[("username", ""), ("password", "")],
    );
    let param = |name: &str| {
        away.param(name)
            .unwrap_or_else(|| panic!("{}", away.text()))
    };
    let (state, nonce) = (param("state"), param("nonce"));
    (here, state, nonce)
}

pub fn back(state: &str, more: &str) -> String {
    format!("/providers/corp/callback?code=c&state={state}{more}")
}

#[test]
fn a_hostile_provider_logs_nobody_in() {
    let liar = Liar::start();
    let (down, _mail) = lied_to(&liar);
    let now = down.realm.now();
    // The same without a lie.
    let (mut here, state, nonce) = sent_away(&down);
    liar.gives(&liar.sign(&liar.claims(&nonce, now)));
    here.get(&back(&state, "")).expect("First time here");

    let stranger = JwtSigner::new(SigningKey::generate(Algorithm::Es256).unwrap(), "k1");
    let part = |value: Value| base64url::encode(value.to_string().as_bytes());
    type Lies<'a> = Vec<(&'a str, Box<dyn Fn(&Liar, &str) -> String + 'a>)>;
    type Lie = Box<dyn Fn(&Liar, &str) -> String>;
    let with = |member: &'static str, value: Value| -> Lie {
        Box::new(move |liar, nonce| {
            let mut claims = liar.claims(nonce, now);
            claims[member] = value.clone();
            liar.sign(&claims)
        })
    };
    let lies: Lies<'_> = vec![
        ("another issuer", with("iss", json!("https://id.example"))),
        ("another audience", with("aud", json!("others"))),
        (
            "several audiences, no azp",
            with("aud", json!(["signet", "others"])),
        ),
        ("another party", with("azp", json!("others"))),
        ("another nonce", with("nonce", json!("n"))),
        ("no nonce", with("nonce", Value::Null)),
        ("expired", with("exp", json!(now - 600))),
        ("of the future", with("iat", json!(now + 600))),
        (
            "another access token",
            with("at_hash", json!("AAAAAAAAAAAAAAAAAAAAAA")),
        ),
        ("no subject", with("sub", json!(""))),
        ("an endless subject", with("sub", json!("x".repeat(300)))),
        (
            "another key",
            Box::new(|liar, nonce| {
                let mut out = Vec::new();
                let claims = liar.claims(nonce, now).to_string();
                stranger
                    .sign_into(Typ::Jwt, claims.as_bytes(), &mut out)
                    .unwrap();
                String::from_utf8(out).unwrap()
            }),
        ),
        (
            "alg none",
            Box::new(|liar, nonce| {
                format!(
                    "{}.{}.",
                    part(json!({ "alg": "none" })),
                    part(liar.claims(nonce, now))
                )
            }),
        ),
        ("no token", Box::new(|_, _| String::new())),
    ];
    for (what, lie) in lies {
        let (mut here, state, nonce) = sent_away(&down);
        liar.gives(&lie(&liar, &nonce));
        let page = here.get(&back(&state, ""));
        assert!(
            page.text().contains("role=\"alert\""),
            "{what}: {}",
            page.text()
        );
        // Other ways to log in, and the way back.
        assert!(page.offers("allow") && page.offers("cancel"), "{what}");
        assert!(
            !here
                .cookies
                .contains_key(&here.cookie_name(Cookie::Session)),
            "{what}"
        );
        let cancelled = here.press(&page, "cancel", &[]);
        assert_eq!(
            cancelled.param("error").as_deref(),
            Some("access_denied"),
            "{what}"
        );
    }
}

#[test]
fn an_empty_key_set_of_a_provider_withdraws_its_keys_and_one_that_is_none_does_so_in_minutes() {
    let liar = Liar::start();
    let (down, _mail) = lied_to(&liar);
    let logs_in = || {
        let (mut here, state, nonce) = sent_away(&down);
        liar.gives(&liar.sign(&liar.claims(&nonce, down.realm.now())));
        let page = here.get(&back(&state, ""));
        !page.text().contains("role=\"alert\"")
    };
    let publishes = |set: Value| liar.says.lock().unwrap().jwks = set;
    let good = liar.says.lock().unwrap().jwks.clone();
    assert!(logs_in());
    publishes(json!({ "keys": [] }));
    down.pass(301);
    assert!(!logs_in());
    publishes(good);
    down.pass(11);
    assert!(logs_in());
    publishes(json!("no set"));
    down.pass(301);
    assert!(logs_in(), "the keys of before are used for minutes");
    // The clock of the test runs, too: less than the 300 s, and more.
    down.pass(270);
    assert!(logs_in());
    down.pass(31);
    assert!(!logs_in());
}

#[test]
fn a_mixed_up_a_huge_and_a_slow_answer_log_nobody_in() {
    let liar = Liar::start();
    let (down, _mail) = lied_to(&liar);
    let good = |nonce: &str| liar.gives(&liar.sign(&liar.claims(nonce, down.realm.now())));
    // RFC 9207: another issuer's answer is refused before its code is sent anywhere.
    for iss in ["https%3A%2F%2Fid.example", "x"] {
        let (mut here, state, nonce) = sent_away(&down);
        good(&nonce);
        let page = here.get(&back(&state, &format!("&iss={iss}")));
        page.expect("does not come from the service that was asked");
    }
    let (mut here, state, nonce) = sent_away(&down);
    good(&nonce);
    liar.says.lock().unwrap().padding = 200_000;
    here.get(&back(&state, ""))
        .expect("cannot be reached at the moment");
    let (mut here, state, nonce) = sent_away(&down);
    good(&nonce);
    liar.says.lock().unwrap().padding = 0;
    liar.says.lock().unwrap().wait = Duration::from_secs(3);
    here.get(&back(&state, ""))
        .expect("cannot be reached at the moment");
    liar.says.lock().unwrap().wait = Duration::ZERO;
    for (error, text) in [
        ("access_denied", "did not log you in"),
        ("server_error", "cannot be reached at the moment"),
        ("%3Cimg%3E", "did not log you in"),
    ] {
        let (mut here, state, _) = sent_away(&down);
        let page = here.get(&format!(
            "/providers/corp/callback?state={state}&error={error}"
        ));
        let page = page.expect(text);
        assert!(page.offers("cancel") && !page.text().contains("<img"));
    }
}

#[test]
fn another_issuers_metadata_and_addresses_of_scripts_are_not_followed() {
    let liar = Liar::start();
    let (down, _mail) = lied_to(&liar);
    let press = |down: &Server| {
        let mut here = Browser::new(down);
        let login = here.get(&request(&[]));
        here.press(
            &login,
            "provider:corp",
            &[("username", ""), ("password", "")],
        )
    };
    let true_one = liar.says.lock().unwrap().metadata.clone();
    for (member, value) in [
        ("issuer", "https://id.example"),
        ("authorization_endpoint", "javascript:alert(1)"),
        ("token_endpoint", ""),
    ] {
        let mut metadata = true_one.clone();
        metadata[member] = value.into();
        liar.says.lock().unwrap().metadata = metadata;
        // What is known already goes on for an hour: another provider each time.
        down.pass(90_000);
        let page = press(&down).expect("is not set up rightly here");
        assert!(page.offers("allow"), "{member}");
    }
    liar.says.lock().unwrap().metadata = true_one;
    down.pass(90_000);
    assert!(press(&down).url.starts_with(&liar.issuer));
}
