//! May this person have this, now? Every entrance against every rule, as the table of
//! `signet_request::access` has it: an entrance that is new does not compile here before it is
//! tried.
use crate::common::{
    SECRET, Server, Setup, block_on,
    browser::{Browser, Page},
    client,
    client::{Call, Reply},
    made::{claims, code_content, redeem},
    people::{CHEAP, Mail, PASSWORD, add_user, request, start},
    scope,
};
use crate::people_claims::Operator;
use crate::providers::{Pair, verify_email, write};
use serde_json::{Value, json};
use signet_crypto::password::hash;
use signet_directory::{Deletion, User, UserDraft};
use signet_oauth::authorize::acr;
use signet_oauth::client::{Client, ConsentPolicy};
use signet_oauth::command_line;
use signet_oauth::people::access_rules::{AccessRule, Effect};
use signet_oauth::people::claim_rules::{self, TableOf};
use signet_oauth::people::provider::Provider;
use signet_oauth::people::sign_up::Terms;
use signet_request::access::{Entrance, Rule};
use std::{cell::RefCell, collections::BTreeMap, sync::Arc};

const EXCHANGE: &str = "urn:ietf:params:oauth:grant-type:token-exchange";
const ACCESS_TOKEN: &str = "urn:ietf:params:oauth:token-type:access_token";
const UPSTREAM: &str = "urn:signet:token-type:upstream-access-token";
const NEW: &str = "four other words entirely";

fn user(server: &Server, name: &str) -> User {
    let users = &server.realm.people.users;
    let found = block_on(users.by_login(name, server.realm.now())).unwrap();
    found.expect(name)
}

fn change(server: &Server, id: &str, with: impl Fn(&mut UserDraft)) {
    let users = &server.realm.people.users;
    block_on(users.change(id, server.realm.now(), with)).unwrap();
}

/// Makes a rule about somebody's account, by the record and the configuration alone: nothing is
/// ended.
fn begin(server: &Server, rule: Rule, id: &str) {
    let now = server.realm.now();
    match rule {
        Rule::Enabled => change(server, id, |draft| draft.user.enabled = false),
        Rule::Lasting => change(server, id, |draft| draft.user.expires_at = Some(now - 1)),
        Rule::Kept => change(server, id, |draft| {
            draft.user.deletion = Some(Deletion {
                asked_at: now,
                erase_at: now + 1000,
            });
        }),
        Rule::TakenOver => change(server, id, |draft| {
            draft.set_password(None, now);
            draft.user.invited = true;
        }),
        Rule::OwnPassword => change(server, id, |draft| draft.user.must_change_password = true),
        Rule::Terms => {
            change(server, id, |draft| draft.user.must_accept_terms = true);
            server.configure(|settings, _| {
                settings.sign_up.terms = Some(Terms {
                    url: "https://example.test/terms".into(),
                    version: "1".into(),
                });
            });
        }
        Rule::Classes => server.configure(|settings, _| {
            settings.required_acr = Some(acr::TWO_FACTORS.to_owned());
        }),
        Rule::AccessRules => server.configure(|_, declared| {
            let mut denied = AccessRule::new("nobody", Effect::Deny);
            denied.who.users = vec![id.to_owned()];
            declared.rules = Arc::new([(denied.name.clone(), Arc::new(denied))].into());
        }),
    }
}

/// Takes it back.
fn end(server: &Server, id: &str, invited: bool) {
    let now = server.realm.now();
    change(server, id, |draft| {
        let user = &mut draft.user;
        user.enabled = true;
        user.expires_at = None;
        user.deletion = None;
        user.must_change_password = false;
        user.must_accept_terms = false;
        if !invited && !user.has(signet_directory::CredentialKind::Password) {
            let phc = hash(PASSWORD.as_bytes(), CHEAP).unwrap();
            draft.set_password(Some(&phc), now);
        }
    });
    server.configure(|settings, declared| {
        settings.sign_up.terms = None;
        settings.required_acr = None;
        declared.rules = Arc::default();
    });
}

fn open(setup: &mut Setup) {
    let limits = &mut setup.people.limits;
    limits.account = 1000;
    limits.address = 10_000;
    limits.mails = 1000;
    setup.settings.sign_up.enabled = true;
    setup.clients[0].consent = ConsentPolicy::Skip;
    setup.clients[0].scope = scope("openid email profile offline_access api:read signet:scim");
    let said = br#"[{"claim":"who","from":"profile:preferred_username","in":["introspection"]}]"#;
    setup.clients[0].claims = claim_rules::parse(said, TableOf::Client).unwrap();
    setup.clients.push(Client {
        scope: scope("signet:admin openid"),
        ..client("operator")
    });
}

/// Root, and what was begun for them before any rule is about them.
struct World {
    server: Server,
    mail: RefCell<Mail>,
    root: String,
    carol: String,
    cookies: BTreeMap<String, String>,
    invitation: String,
    access: String,
    scim: String,
    admin: String,
    refresh: RefCell<String>,
}

impl World {
    fn new() -> World {
        let mut mail = Mail::new();
        let server = start(&mail, open);
        server.configure(|_, declared| command_line::add(declared).unwrap());
        write(
            &server,
            Provider {
                client_id: "signet".into(),
                keep_refresh_token: true,
                exchange_clients: vec!["web".into()],
                ..Provider::new("corp", "https://provider.example")
            },
        );
        let root = add_user(&server, "root").id;
        change(&server, &root, |draft| draft.user.admin = true);
        let operator = Operator::of(&server);
        let body = json!({ "username": "carol", "email": "carol@example.test" });
        let carol = operator.post("/users", body, 201).member("id");
        invite(&operator, &carol);
        let invitation = link(&mail.fresh(), "/invitation");
        let mut browser = Browser::new(&server);
        let page = browser.get("/account");
        browser
            .log_in(&page, "root", PASSWORD)
            .expect("Your account");
        let mut world = World {
            root,
            carol,
            cookies: browser.cookies,
            invitation,
            access: String::new(),
            scim: String::new(),
            admin: String::new(),
            refresh: RefCell::default(),
            mail: RefCell::new(mail),
            server,
        };
        let tokens = world.redeem("openid email offline_access").expect(200);
        world.access = tokens.member("access_token");
        world.refresh = RefCell::new(tokens.member("refresh_token"));
        world.scim = world
            .redeem("signet:scim")
            .expect(200)
            .member("access_token");
        world.admin = world.password_login().expect(200).member("access_token");
        world
    }

    fn redeem(&self, wanted: &str) -> Reply {
        let mut content = code_content(&self.server, "web", &self.root);
        content.scope = scope(wanted);
        let code = content.seal(&self.server.realm.keyring()).unwrap();
        self.token(&redeem(&code))
    }

    fn token(&self, form: &[(&str, &str)]) -> Reply {
        let call = Call::post("/token").basic("web", SECRET).form(form);
        call.send(&self.server)
    }

    fn password_login(&self) -> Reply {
        let body = json!({ "username": "root", "password": PASSWORD });
        Call::post("/password-login").json(&body).send(&self.server)
    }

    /// Root's browser, as it was before.
    fn browser(&self) -> Browser<'_> {
        Browser {
            cookies: self.cookies.clone(),
            ..Browser::new(&self.server)
        }
    }

    fn mailed(&self, act: impl FnOnce()) -> bool {
        self.mail.borrow_mut().unread();
        act();
        !self.mail.borrow_mut().fresh().is_empty()
    }

    fn is_device_approved(&self) -> bool {
        let begun = Call::post("/device_authorization").basic("web", SECRET);
        let begun = begun.form(&[("scope", "openid")]).send(&self.server);
        let begun = begun.expect(200);
        let mut browser = self.browser();
        let page = browser.get(&format!("/device?user_code={}", begun.member("user_code")));
        let page = browser.press(&page, "allow", &[]);
        if !page.offers("allow") {
            return false;
        }
        let page = browser.press(&page, "allow", &[]);
        page.text().contains("Go back to your device")
    }

    /// Whether root gets in here.
    fn lets_in(&self, entrance: Entrance) -> bool {
        let server = &self.server;
        match entrance {
            Entrance::Login => {
                let mut browser = Browser::new(server);
                let page = browser.get("/account");
                browser.log_in(&page, "root", PASSWORD);
                // A page that sets something up first speaks of the account, too.
                browser.get("/account").text().contains("Your account")
            }
            Entrance::Session => self
                .browser()
                .get("/account")
                .text()
                .contains("Your account"),
            Entrance::MailedCode => self.mailed(|| {
                let mut browser = Browser::new(server);
                let page = browser.get("/account");
                browser.press(&page, "email", &[("username", "root"), ("password", "")]);
            }),
            Entrance::Recovery => self.mailed(|| {
                let mut browser = Browser::new(server);
                let page = browser.get("/account/recover");
                browser.press(&page, "email", &[("username", "root")]);
            }),
            Entrance::SignUp => self.mailed(|| {
                let mut browser = Browser::new(server);
                let page = browser.get("/sign-up");
                browser.press(&page, "email", &[("email", "root@example.test")]);
            }),
            Entrance::Invitation => {
                let page = Browser::new(server).get(&self.invitation);
                page.text().contains("Choose your password")
            }
            Entrance::LinkByAddress => {
                unreachable!("it is tried in a test of its own, with a provider")
            }
            Entrance::Authorization => {
                let page = self.browser().get(&request(&[("prompt", "none")]));
                page.param("code").is_some()
            }
            Entrance::DeviceApproval => self.is_device_approved(),
            Entrance::PasswordLogin => self.password_login().status == 200,
            Entrance::Redemption => self.redeem("openid").status == 200,
            Entrance::Refresh => {
                let refresh = self.refresh.borrow().clone();
                let reply =
                    self.token(&[("grant_type", "refresh_token"), ("refresh_token", &refresh)]);
                let done = reply.status == 200;
                if done {
                    self.refresh.replace(reply.member("refresh_token"));
                }
                done
            }
            Entrance::Exchange => {
                let reply = self.token(&[
                    ("grant_type", EXCHANGE),
                    ("subject_token", &self.access),
                    ("subject_token_type", ACCESS_TOKEN),
                ]);
                reply.status == 200
            }
            Entrance::ProviderToken => {
                let reply = self.token(&[
                    ("grant_type", EXCHANGE),
                    ("subject_token", &self.access),
                    ("subject_token_type", ACCESS_TOKEN),
                    ("requested_token_type", UPSTREAM),
                    ("audience", "corp"),
                ]);
                // Nothing of theirs is kept: that is found out behind the entrance.
                match &*reply.member("error") {
                    "interaction_required" => true,
                    "invalid_request" => false,
                    other => panic!("{other}: {}", reply.text()),
                }
            }
            Entrance::Userinfo => {
                let call = Call::get("/userinfo").bearer(&self.access);
                call.send(server).status == 200
            }
            Entrance::Introspection => {
                let call = Call::post("/introspect").basic("web", SECRET);
                let reply = call.form(&[("token", &*self.access)]).send(server);
                reply.expect(200).json()["who"] == "root"
            }
            Entrance::AdminApi => {
                let call = Call::get("/admin/v1/users").bearer(&self.admin);
                call.send(server).status == 200
            }
            Entrance::Scim => {
                let call = Call::get("/scim/v2/Users").bearer(&self.scim);
                call.send(server).status == 200
            }
        }
    }
}

fn invite(operator: &Operator<'_>, id: &str) {
    let path = format!("/users/{id}/invitation");
    operator.send(http::Method::POST, &path, None).expect(200);
}

fn link(mails: &[String], path: &str) -> String {
    assert_eq!(mails.len(), 1, "{mails:?}");
    let start = mails[0].find(&format!("{path}?token=")).expect("a link");
    let link = mails[0][start..].split_whitespace().next().unwrap();
    link.to_owned()
}

#[test]
fn every_entrance_asks_what_the_table_says() {
    let world = World::new();
    let entrances = || {
        let all = Entrance::ALL.iter().copied();
        all.filter(|entrance| *entrance != Entrance::LinkByAddress)
    };
    let about = |entrance| match entrance {
        Entrance::Invitation => &world.carol,
        _ => &world.root,
    };
    for entrance in entrances() {
        assert!(world.lets_in(entrance), "{entrance:?} without any rule");
    }
    for rule in Rule::ALL.iter().copied() {
        for entrance in entrances() {
            let id = about(entrance);
            begin(&world.server, rule, id);
            let lets_in = world.lets_in(entrance);
            end(&world.server, id, entrance == Entrance::Invitation);
            assert_eq!(lets_in, !entrance.asks(rule), "{entrance:?}, {rule:?}");
        }
    }
    for entrance in entrances() {
        assert!(world.lets_in(entrance), "{entrance:?} at the end");
    }
}

#[test]
fn an_address_at_a_provider_asks_what_the_table_says() {
    let pair = Pair::start(|provider| provider.trust_email = true);
    let links = |name: &str| {
        let mut here = Browser::new(&pair.down);
        let login = here.get("/account");
        let empty = [("username", ""), ("password", "")];
        let away = here.press(&login, "provider:corp", &empty);
        let back = pair.at_provider_as(&away, name);
        let page = here.get(&back);
        !page.text().contains("Log in to your account here once")
    };
    let person = |name: &str| {
        for server in [&pair.up, &pair.down] {
            add_user(server, name);
            verify_email(server, name);
        }
        user(&pair.down, name).id
    };
    person("first");
    assert!(links("first"));
    for (n, rule) in Rule::ALL.iter().copied().enumerate() {
        let name = format!("person{n}");
        let id = person(&name);
        begin(&pair.down, rule, &id);
        let linked = links(&name);
        end(&pair.down, &id, false);
        assert_eq!(linked, !Entrance::LinkByAddress.asks(rule), "{rule:?}");
    }
}

/// A server with the command line's client and the administrator `root`.
fn with_root(mail: &Mail) -> Server {
    let server = start(mail, |setup| {
        setup.policy.trusted_proxies = vec!["127.0.0.1".parse().unwrap(), "::1".parse().unwrap()];
    });
    server.configure(|_, declared| command_line::add(declared).unwrap());
    let root = add_user(&server, "root").id;
    change(&server, &root, |draft| draft.user.admin = true);
    server
}

/// HP1.
#[test]
fn an_administrators_password_opens_nothing_where_an_access_rule_denies() {
    let mail = Mail::new();
    let server = with_root(&mail);
    let from = |address: &str| {
        let body = json!({ "username": "root", "password": PASSWORD });
        let call = Call::post("/password-login").json(&body);
        call.header("x-forwarded-for", address).send(&server)
    };
    let list = |token: &str, address: &str| {
        let call = Call::get("/admin/v1/users").bearer(token);
        call.header("x-forwarded-for", address).send(&server).status
    };
    from("198.51.100.7").expect(200);
    server.configure(|_, declared| {
        let mut nowhere_else = AccessRule::new("cli nowhere else", Effect::Deny);
        nowhere_else.clients = vec![command_line::CLIENT_ID.into()];
        nowhere_else.except.networks = vec!["192.0.2.0/24".parse().unwrap()];
        let rule = Arc::new(nowhere_else);
        declared.rules = Arc::new([(rule.name.clone(), rule)].into());
    });
    from("198.51.100.7").expect_error(400, "access_denied");
    // Whom the rule lets in logs in so, and the token is good where the rule says.
    let token = from("192.0.2.7").expect(200).member("access_token");
    assert_eq!(list(&token, "192.0.2.7"), 200);
    assert_eq!(list(&token, "198.51.100.7"), 403);
    server.configure(|settings, declared| {
        settings.access = signet_oauth::people::access_rules::Mode::Deny;
        declared.rules = Arc::default();
    });
    from("192.0.2.7").expect_error(400, "access_denied");
    assert_eq!(list(&token, "192.0.2.7"), 403);
}

fn with_terms(setup: &mut Setup) {
    open(setup);
    setup.settings.sign_up.terms = Some(Terms {
        url: "https://example.test/terms".into(),
        version: "7".into(),
    });
}

/// What a page says, without what differs from request to request.
fn words(page: &Page) -> String {
    let text = page.text();
    let (mut out, mut inside) = (String::new(), false);
    for letter in text.chars() {
        match letter {
            '<' => inside = true,
            '>' => inside = false,
            letter if !inside => out.push(letter),
            _ => {}
        }
    }
    out
}

/// HP4.
#[test]
fn an_account_that_nobody_has_taken_over_opens_by_its_invitation_alone() {
    let mut mail = Mail::new();
    let server = start(&mail, with_terms);
    let body = json!({ "username": "carol", "email": "carol@example.test" });
    let id = Operator::of(&server).post("/users", body, 201).member("id");
    let shown = || Operator::of(&server).get(&format!("/users/{id}"));
    let by_mail = |name: &str| {
        ["/account", "/account/recover"].map(|at| {
            let mut browser = Browser::new(&server);
            let page = browser.get(at);
            let page = browser.press(&page, "email", &[("username", name)]);
            words(&page).replace(name, "NAME")
        })
    };
    let is_as_nobodys = |mail: &mut Mail, when: &str| {
        assert_eq!(shown()["awaits_person"], true, "{when}");
        assert_eq!(by_mail("carol"), by_mail("nemo99"), "{when}");
        assert_eq!(mail.fresh(), Vec::<String>::new(), "{when}");
    };
    assert_eq!(shown().get("awaits_person"), None);
    invite(&Operator::of(&server), &id);
    let first = link(&mail.fresh(), "/invitation");
    is_as_nobodys(&mut mail, "while the invitation is open");
    Operator::of(&server).delete(&format!("/users/{id}/invitation"), 204);
    is_as_nobodys(&mut mail, "after its withdrawal");
    let mut browser = Browser::new(&server);
    browser.get(&first).expect("This invitation was accepted");
    invite(&Operator::of(&server), &id);
    mail.fresh();
    server.pass(8 * 86_400);
    is_as_nobodys(&mut mail, "after its time");

    invite(&Operator::of(&server), &id);
    let again = link(&mail.fresh(), "/invitation");
    let page = browser.get(&again);
    let fields = [("new_password", NEW), ("terms", "accepted")];
    let page = browser.press(&page, "allow", &fields);
    page.expect("<title>Your account</title>");
    let carol = shown();
    assert_eq!(carol["terms"]["version"], "7");
    assert_eq!(carol.get("awaits_person"), None);
    by_mail("carol");
    assert_eq!(mail.fresh().len(), 2, "the address is hers");
}

/// HP4: in whatever way somebody comes to an invited account, the terms come first.
#[test]
fn missing_terms_are_asked_for_at_the_next_login_before_any_session() {
    let mut mail = Mail::new();
    let server = start(&mail, with_terms);
    let operator = Operator::of(&server);
    let body = json!({ "username": "carol", "email": "carol@example.test" });
    let id = operator.post("/users", body, 201).member("id");
    invite(&operator, &id);
    mail.fresh();
    let body = json!({ "password": PASSWORD, "temporary": true });
    let set = operator.send(
        http::Method::PUT,
        &format!("/users/{id}/password"),
        Some(&body),
    );
    assert!(set.status < 300, "{}", set.text());
    let mut browser = Browser::new(&server);
    let page = browser.get(&request(&[]));
    let page = browser.log_in(&page, "carol", PASSWORD);
    let page = browser.press(&page, "first-password", &[("new_password", NEW)]);
    let has_session = |browser: &Browser<'_>| {
        let mut silent = Browser::new(browser.server);
        silent.cookies.clone_from(&browser.cookies);
        let page = silent.get(&request(&[("prompt", "none")]));
        page.param("code").is_some()
    };
    let page = page.expect("accept the terms");
    assert!(!has_session(&browser));
    let page = browser
        .press(&page, "accept-terms", &[("terms", "no")])
        .expect("accept the terms");
    assert!(!has_session(&browser));
    let done = browser.press(&page, "accept-terms", &[("terms", "accepted")]);
    assert!(
        done.param("code").is_some(),
        "{}: {}",
        done.url,
        done.text()
    );
    let user = operator.get(&format!("/users/{id}"));
    assert_eq!(user["terms"]["version"], "7");
    // Once: and nobody else is asked.
    for name in ["carol", "alice"] {
        let password = if name == "carol" { NEW } else { PASSWORD };
        let mut browser = Browser::new(&server);
        let page = browser.get("/account");
        browser.log_in(&page, name, password).expect("Your account");
    }
}

/// The claims of alice's ID token and userinfo, or the error of the authorization.
fn single(
    server: &Server,
    browser: &mut Browser<'_>,
    asked: &str,
) -> Result<(Value, Value), String> {
    let page = browser.get(&request(&[("scope", "openid"), ("claims", asked)]));
    let code = page.param("code").ok_or_else(|| words(&page))?;
    let call = Call::post("/token").basic("web", SECRET);
    let tokens = call.form(&redeem(&code)).send(server).expect(200);
    let userinfo = Call::get("/userinfo").bearer(&tokens.member("access_token"));
    let userinfo = userinfo.send(server).expect(200).json();
    Ok((claims(&tokens.member("id_token")), userinfo))
}

const WORK: &str =
    r#"{"id_token":{"department":null,"name":null},"userinfo":{"department":null,"email":null}}"#;

fn with_work(setup: &mut Setup) {
    open(setup);
    setup.clients[0].scope = scope("openid profile email work offline_access");
}

fn work(server: &Server) -> Operator<'_> {
    let operator = Operator::of(server);
    operator.put("/attributes/dept", json!({}), 201);
    let rows = json!([{"claim": "department", "from": "attribute:dept"}]);
    let scope = json!({"description": "Work", "claims": rows});
    operator.put("/scopes/work", scope, 200);
    let alice = user(server, "alice").id;
    let path = format!("/users/{alice}/attributes");
    operator.put(&path, json!({"attributes": {"dept": "Finance"}}), 200);
    operator
}

/// MP3.
#[test]
fn a_claim_that_is_asked_for_by_name_follows_the_access_rules_of_its_scope() {
    let mail = Mail::new();
    let server = start(&mail, with_work);
    let operator = work(&server);
    let mut browser = Browser::new(&server);
    let page = browser.get("/account");
    browser
        .log_in(&page, "alice", PASSWORD)
        .expect("Your account");
    let (id_token, userinfo) = single(&server, &mut browser, WORK).unwrap();
    assert_eq!(id_token["department"], "Finance");
    assert_eq!(userinfo["department"], "Finance");
    // A code and tokens of before the rule say it no more.
    let page = browser.get(&request(&[
        ("scope", "openid offline_access"),
        ("claims", WORK),
    ]));
    let before = page.param("code").unwrap();
    let page = browser.get(&request(&[("scope", "openid"), ("claims", WORK)]));
    let at_userinfo = page.param("code").unwrap();
    let redeemed = |code: &str| {
        let call = Call::post("/token").basic("web", SECRET);
        call.form(&redeem(code)).send(&server).expect(200)
    };
    let early = redeemed(&at_userinfo).member("access_token");
    let rule = json!({"effect": "deny", "scopes": ["work"]});
    operator.put("/rules/no%20work", rule, 201);

    let (id_token, userinfo) = single(&server, &mut browser, WORK).unwrap();
    assert_eq!(id_token.get("department"), None);
    assert_eq!(userinfo.get("department"), None);
    // What no rule denies is given as before.
    assert_eq!(userinfo["email"], "alice@example.test");
    let late = redeemed(&before);
    assert_eq!(claims(&late.member("id_token")).get("department"), None);
    let refresh = late.member("refresh_token");
    let form = [
        ("grant_type", "refresh_token"),
        ("refresh_token", refresh.as_str()),
    ];
    let call = Call::post("/token").basic("web", SECRET).form(&form);
    let again = call.send(&server).expect(200);
    assert_eq!(claims(&again.member("id_token")).get("department"), None);
    for token in [early, again.member("access_token")] {
        let said = Call::get("/userinfo").bearer(&token).send(&server);
        assert_eq!(said.expect(200).json().get("department"), None);
    }
    // The same of a scope of OpenID Connect's own, and where only a network is let in.
    operator.delete("/rules/no%20work", 204);
    let elsewhere = json!({"effect": "deny", "scopes": ["email", "work"], "networks": ["127.0.0.0/8", "::1/128"]});
    operator.put("/rules/elsewhere", elsewhere, 201);
    let (id_token, userinfo) = single(&server, &mut browser, WORK).unwrap();
    for said in [&id_token, &userinfo] {
        assert_eq!(said.get("department"), None);
        assert_eq!(said.get("email"), None);
    }
}

/// MP3: the class that a scope demands is demanded for the claims that it gives.
#[test]
fn a_claim_that_is_asked_for_by_name_demands_the_class_of_its_scope() {
    let mail = Mail::new();
    let server = start(&mail, with_work);
    work(&server);
    let mut browser = Browser::new(&server);
    let page = browser.get("/account");
    browser
        .log_in(&page, "alice", PASSWORD)
        .expect("Your account");
    server.configure(|settings, _| {
        settings.step_up = vec![signet_oauth::settings::StepUp {
            acr: acr::TWO_FACTORS.to_owned(),
            clients: Vec::new(),
            scopes: vec!["work".into()],
            groups: Vec::new(),
        }];
    });
    let silent = |browser: &mut Browser<'_>, asked: &str| {
        let more = [("scope", "openid"), ("claims", asked), ("prompt", "none")];
        browser.get(&request(&more))
    };
    let page = silent(&mut browser, WORK);
    assert_eq!(page.param("error").as_deref(), Some("login_required"));
    let page = silent(&mut browser, r#"{"userinfo":{"email":null}}"#);
    assert!(page.param("code").is_some(), "{}", page.url);
}

/// LP12.
#[test]
fn a_value_that_a_person_writes_opens_no_access_rule() {
    let mail = Mail::new();
    let server = start(&mail, open);
    let operator = Operator::of(&server);
    let schema = json!({"read": "person", "write": "person"});
    operator.put("/attributes/department", schema, 201);
    server.configure(|settings, declared| {
        settings.access = signet_oauth::people::access_rules::Mode::Deny;
        let mut finance = AccessRule::new("finance", Effect::Allow);
        finance.attributes = [("department".to_owned(), vec!["Finance".to_owned()])].into();
        let mut of_operator = AccessRule::new("operator", Effect::Allow);
        of_operator.clients = vec!["operator".into()];
        let rules = [finance, of_operator].map(|rule| (rule.name.clone(), Arc::new(rule)));
        declared.rules = Arc::new(rules.into());
    });
    let mut browser = Browser::new(&server);
    let page = browser.get("/account");
    let account = browser.log_in(&page, "alice", PASSWORD);
    let fields = [("attribute.department", "Finance")];
    browser.press(&account, "attributes", &fields);
    let alice = user(&server, "alice");
    assert!(alice.attributes.contains_key("department"));
    let asks = |browser: &mut Browser<'_>| browser.get(&request(&[])).param("error");
    assert_eq!(asks(&mut browser).as_deref(), Some("access_denied"));
    // An administrator writes it, and so vouches for it.
    let path = format!("/users/{}/attributes", alice.id);
    let operator = Operator::of(&server);
    operator.put(&path, json!({"attributes": {"department": "Finance"}}), 200);
    assert_eq!(asks(&mut browser), None);
}
