//! What clients receive when a session ends: OpenID Connect Back-Channel Logout 1.0.
use crate::common::{
    SECRET, Server, Setup, block_on,
    browser::Browser,
    client,
    client::{Call, Reply},
    cluster::Cluster,
    people::{CHEAP, Mail, PASSWORD, VERIFIER, add_user, people, request, start},
    scope,
};
use http::Method;
use serde_json::{Value, json};
use signet_directory::logout_notice::{self, NOTICES, Notice};
use signet_directory::passwords::PasswordOptions;
use signet_directory::session;
use signet_oauth::client::Client;
use signet_outbox::Item;
use signet_realm::outbox::{self, MAX_HELD};
use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpListener,
    sync::{Arc, Mutex, mpsc},
    time::Duration,
};

const CALLBACK: &str = "https://client.example/cb";

/// A client's server: it keeps the forms that it is sent.
struct Party {
    url: String,
    forms: Arc<Mutex<Vec<String>>>,
    came: mpsc::Receiver<()>,
}

impl Party {
    /// Answers each request with this status; 0: never.
    fn new(status: u16) -> Party {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/logout", listener.local_addr().unwrap());
        let forms = Arc::<Mutex<Vec<String>>>::default();
        let (tell, came) = mpsc::channel();
        let kept = Arc::clone(&forms);
        std::thread::spawn(move || {
            let mut open = Vec::new();
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let mut reader = BufReader::new(stream.try_clone().unwrap());
                let mut length = 0;
                loop {
                    let mut line = String::new();
                    reader.read_line(&mut line).unwrap();
                    let line = line.trim().to_ascii_lowercase();
                    if let Some(value) = line.strip_prefix("content-length:") {
                        length = value.trim().parse().unwrap();
                    }
                    if line.is_empty() {
                        break;
                    }
                }
                let mut body = vec![0; length];
                reader.read_exact(&mut body).unwrap();
                kept.lock().unwrap().push(String::from_utf8(body).unwrap());
                if status == 0 {
                    open.push(stream);
                } else {
                    let answer = format!("HTTP/1.1 {status} X\r\ncontent-length: 0\r\n\r\n");
                    let _ = stream.write_all(answer.as_bytes());
                }
                if tell.send(()).is_err() {
                    return;
                }
            }
        });
        Party { url, forms, came }
    }

    /// The claims of what it was sent, in the order in which it came.
    fn tokens(&self) -> Vec<(Value, Value)> {
        let forms = self.forms.lock().unwrap();
        forms
            .iter()
            .map(|form| parts(form.strip_prefix("logout_token=").unwrap()))
            .collect()
    }
}

/// Header and claims.
fn parts(token: &str) -> (Value, Value) {
    let mut parts = token.split('.').map(|part| {
        let bytes = signet_encoding::base64url::decode(part.as_bytes()).unwrap_or_default();
        serde_json::from_slice(&bytes).unwrap_or_default()
    });
    (parts.next().unwrap(), parts.next().unwrap())
}

fn told_at(id: &str, party: &Party) -> Client {
    let mut told = client(id);
    told.backchannel_logout_uri = Some(party.url.clone());
    told
}

/// Logs alice in at `web`; what the token endpoint answered.
fn tokens(server: &Server, browser: &mut Browser<'_>) -> Reply {
    let mut page = browser.get(&request(&[("scope", "openid"), ("prompt", "consent")]));
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

/// Sends what is due, until nothing is.
fn deliver(server: &Server) {
    block_on(async {
        let mut sender = outbox::sender();
        // A watch that finds its session gone puts a notice behind itself.
        for _ in 0..3 {
            while sender.round(&server.realm).await.unwrap() {}
            sender.settle().await;
        }
    });
}

fn alice(server: &Server) -> String {
    let users = &server.realm.people.users;
    let found = block_on(users.by_login("alice", server.realm.now()));
    found.unwrap().expect("alice").id
}

#[test]
fn a_client_is_told_once_by_a_signed_token_of_the_session_that_ended() {
    let (mail, party) = (Mail::new(), Party::new(200));
    let server = start(&mail, |setup| setup.clients[0] = told_at("web", &party));
    let mut browser = Browser::new(&server);
    let id_token = tokens(&server, &mut browser).member("id_token");
    // Twice in one session: still one client.
    tokens(&server, &mut browser);
    let (_, said) = parts(&id_token);
    deliver(&server);
    assert!(party.tokens().is_empty(), "the session goes on");

    let page = browser.get("/logout");
    browser.press(&page, "allow", &[]);
    deliver(&server);
    deliver(&server);
    let tokens = party.tokens();
    assert_eq!(tokens.len(), 1);
    let (header, claims) = &tokens[0];
    assert_eq!(header["typ"], "logout+jwt");
    for name in ["iss", "sub", "aud", "sid"] {
        assert_eq!(claims[name], said[name], "{name}");
    }
    let event = "http://schemas.openid.net/event/backchannel-logout";
    assert_eq!(claims["events"][event], serde_json::json!({}));
    assert!(claims["jti"].is_string());
    assert!(claims["exp"].as_u64() <= claims["iat"].as_u64().map(|at| at + 120));
    // Section 2.4: so that it is never taken for an ID token.
    assert!(claims.get("nonce").is_none());
}

/// By the admin API, with this body.
fn admin(server: &Server, method: Method, path: &str, body: Option<Value>) -> Reply {
    let form = [
        ("grant_type", "client_credentials"),
        ("scope", "signet:admin"),
    ];
    let token = Call::post("/token").basic("operator", SECRET).form(&form);
    let token = token.send(server).expect(200).member("access_token");
    let call = Call::new(method.clone(), path).bearer(&token);
    let reply = match body {
        None => call.send(server),
        Some(body) if method == Method::PUT => {
            let read = Call::get(path).bearer(&token).send(server).expect(200);
            let etag = read.header("etag").to_owned();
            call.header("if-match", &etag).json(&body).send(server)
        }
        Some(body) => call.json(&body).send(server),
    };
    assert!(
        (200..300).contains(&reply.status),
        "{path}: {}",
        reply.text()
    );
    reply
}

/// The `sid` of alice's session.
fn sid(server: &Server) -> String {
    let user_id = alice(server);
    let found = session::list(&*server.realm.store, &user_id, server.realm.now());
    block_on(found).unwrap().remove(0).1.sid
}

#[test]
fn every_way_a_session_ends_is_told_and_an_administrator_sees_that_it_was() {
    type End = fn(&Server, &mut Browser<'_>);
    let ways: [(&str, End); 11] = [
        // `signet session remove`
        ("an administrator ends the session", |server, _| {
            let path = format!("/admin/v1/users/{}/sessions/{}", alice(server), sid(server));
            admin(server, Method::DELETE, &path, None);
        }),
        // `signet revoke --session`
        ("an administrator revokes the session", |server, _| {
            let body = json!({ "session": sid(server) });
            admin(server, Method::POST, "/admin/v1/revocations", Some(body));
        }),
        // `signet revoke --user`
        (
            "an administrator revokes everything of the person",
            |server, _| {
                let body = json!({ "user": alice(server) });
                admin(server, Method::POST, "/admin/v1/revocations", Some(body));
            },
        ),
        ("an administrator disables the account", |server, _| {
            let path = format!("/admin/v1/users/{}", alice(server));
            let body = json!({ "admin": false, "enabled": false, "profile": {} });
            admin(server, Method::PUT, &path, Some(body));
        }),
        ("the account expires", |server, _| {
            let path = format!("/admin/v1/users/{}", alice(server));
            let end = server.realm.now() + 100;
            let body = json!({ "admin": false, "enabled": true, "profile": {}, "expires_at": end });
            admin(server, Method::PUT, &path, Some(body));
            server.pass(101);
        }),
        ("the account is removed", |server, _| {
            let path = format!("/admin/v1/users/{}", alice(server));
            admin(server, Method::DELETE, &path, None);
        }),
        ("the person, at the account page", |_, browser| {
            let page = browser.get("/account");
            let (sealed, sid) = (page.field("interaction"), page.field("sid"));
            let fields = [
                ("interaction", &*sealed),
                ("sid", &*sid),
                ("decision", "end-session"),
            ];
            browser.post("/account", &fields);
        }),
        ("everything of the person is revoked", |server, _| {
            let id = alice(server);
            block_on(server.realm.revoke_everything_of(&id)).unwrap();
        }),
        ("the account is disabled", |server, _| {
            let id = alice(server);
            let disabled = server.realm.change_user_and_end_everything(
                &id,
                |_| true,
                |draft| draft.user.enabled = false,
            );
            block_on(disabled).unwrap().expect("changed");
        }),
        ("it is not used for a while", |server, _| {
            let idle = server.realm.snapshot().settings.session_idle_lifetime;
            server.pass(idle + 1);
        }),
        ("somebody else logs in", |server, browser| {
            add_user(server, "bob");
            let page = browser.get(&request(&[("prompt", "login")]));
            browser.log_in(&page, "bob", PASSWORD);
        }),
    ];
    for (way, end) in ways {
        let (mail, party) = (Mail::new(), Party::new(200));
        let server = start(&mail, |setup| {
            setup.clients[0] = told_at("web", &party);
            let mut operator = client("operator");
            operator.scope = scope("signet:admin");
            setup.clients.push(operator);
        });
        let mut browser = Browser::new(&server);
        let (_, said) = parts(&tokens(&server, &mut browser).member("id_token"));
        end(&server, &mut browser);
        deliver(&server);
        let told = party.tokens();
        assert_eq!(told.len(), 1, "{way}");
        assert_eq!(told[0].1["sid"], said["sid"], "{way}");
        assert_eq!(told[0].1["sub"], said["sub"], "{way}");
        let shown = admin(&server, Method::GET, "/admin/v1/logouts", None).json();
        let shown = &shown["items"];
        assert_eq!(shown.as_array().map(Vec::len), Some(1), "{way}: {shown}");
        assert_eq!(shown[0]["state"], "delivered", "{way}");
        assert_eq!(shown[0]["sid"], said["sid"], "{way}");
    }
}

#[test]
fn what_was_made_before_an_accounts_end_was_said_ends_with_it() {
    let mail = Mail::new();
    let server = start(&mail, |setup| {
        let mut operator = client("operator");
        operator.scope = scope("signet:admin");
        setup.clients.push(operator);
    });
    let mut browser = Browser::new(&server);
    let token = tokens(&server, &mut browser).member("access_token");
    let is_active = || {
        let asked = Call::post("/introspect").basic("web", SECRET);
        let said = asked.form(&[("token", &token)]).send(&server).expect(200);
        said.json()["active"] == true
    };
    let path = format!("/admin/v1/users/{}", alice(&server));
    let set = |end: u64| {
        let body = json!({ "admin": false, "enabled": true, "profile": {}, "expires_at": end });
        admin(&server, Method::PUT, &path, Some(body));
    };
    let now = server.realm.now();
    // Later, and then sooner again, and then later: what the record says at the time counts.
    set(now + 100);
    set(now + 200);
    deliver(&server);
    assert!(is_active());
    server.pass(101);
    deliver(&server);
    assert!(is_active(), "its end was put off");
    server.pass(100);
    deliver(&server);
    assert!(!is_active());
    Call::get("/userinfo")
        .bearer(&token)
        .send(&server)
        .expect(401);
    // Nothing of it comes back with the account.
    set(0);
    assert!(!is_active());
    browser.get("/account").expect("name=\"password\"");
}

#[test]
fn a_session_that_ends_on_one_node_is_told_of_by_the_other() {
    let (mail, party) = (Mail::new(), Party::new(200));
    let cluster = Cluster::of(2, || Setup {
        clients: vec![told_at("web", &party)],
        people: people(&mail),
        passwords: PasswordOptions {
            cost: CHEAP,
            ..PasswordOptions::default()
        },
        ..Setup::default()
    });
    let (one, two) = (cluster.node(0), cluster.node(1));
    add_user(one, "alice");
    let mut browser = Browser::new(one);
    let (_, said) = parts(&tokens(one, &mut browser).member("id_token"));
    block_on(one.realm.revoke_everything_of(&alice(one))).unwrap();
    deliver(two);
    deliver(one);
    let told = party.tokens();
    assert_eq!(told.len(), 1, "one of them told it");
    assert_eq!(told[0].1["sid"], said["sid"]);
}

#[test]
fn a_client_that_refuses_is_told_again_later_with_the_same_jti() {
    let (mail, party) = (Mail::new(), Party::new(503));
    let server = start(&mail, |setup| setup.clients[0] = told_at("web", &party));
    let mut browser = Browser::new(&server);
    tokens(&server, &mut browser);
    block_on(server.realm.revoke_everything_of(&alice(&server))).unwrap();
    deliver(&server);
    assert_eq!(party.tokens().len(), 1, "not again at once");
    server.pass(6);
    deliver(&server);
    let told = party.tokens();
    assert_eq!(told.len(), 2);
    assert_eq!(told[0].1["jti"], told[1].1["jti"]);
    let now = server.realm.now();
    let shown = block_on(NOTICES.page(&*server.realm.store, None, 10, now));
    let (shown, _) = shown.unwrap();
    assert_eq!((shown.len(), shown[0].attempts), (1, 2));
    assert!(shown[0].last.as_deref().unwrap().contains("503"));
}

/// So many sessions of each of these clients have ended.
async fn end_sessions(server: &Server, clients: &[String], sessions: usize) {
    let (now, store) = (server.realm.now(), &*server.realm.store);
    for session in 0..sessions {
        let sid = format!("{}-{session}", clients[0]);
        for client in clients {
            let who = (&*sid, "somebody", &**client);
            let ops = logout_notice::seen(store, who, now + 1_000, now).await;
            let mut ops = ops.unwrap().into_iter();
            let change = signet_store::Change {
                first: ops.next().unwrap(),
                then: ops.collect(),
            };
            assert!(store.commit(change, now).await.unwrap().is_done());
        }
        logout_notice::ended(store, &sid, now).await.unwrap();
    }
}

#[test]
fn a_client_that_does_not_answer_delays_no_other() {
    const SESSION_WATCHES: usize = 40;
    const CLIENTS: usize = 8;
    // More than a node holds at most, and due before all others'.
    const HANGING: usize = MAX_HELD + 500;
    let mail = Mail::new();
    let (hanging, parties) = (Party::new(0), [(); CLIENTS].map(|()| Party::new(200)));
    let server = start(&mail, |setup| {
        setup.clients = vec![client("web"), told_at("hanging", &hanging)];
        let others = parties.iter().enumerate();
        setup
            .clients
            .extend(others.map(|(i, party)| told_at(&format!("c{i}"), party)));
    });
    let others: Vec<String> = (0..CLIENTS).map(|i| format!("c{i}")).collect();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        end_sessions(&server, &["hanging".to_owned()], HANGING).await;
        server.pass(1);
        end_sessions(&server, &others, SESSION_WATCHES).await;
    });
    runtime.spawn(outbox::deliver(Arc::clone(&server.realm)));
    // All of the others' come while the first of the hanging one's are still open.
    for party in &parties {
        for _ in 0..SESSION_WATCHES {
            party
                .came
                .recv_timeout(Duration::from_secs(60))
                .expect("a logout token");
        }
    }
    let asked = hanging.tokens().len();
    assert!(asked <= 8, "it has but a few requests at once: {asked}");
    // Once it is known to hang, what waits for it is put off and stands in nobody's way.
    let shown = async {
        loop {
            let now = server.realm.now();
            let page = NOTICES.page(&*server.realm.store, None, 20_000, now).await;
            let (shown, _) = page.unwrap();
            let put_off = |n: &&Item<Notice>| {
                n.what.client_id == "hanging"
                    && n.attempts == 0
                    && n.last.as_deref() == Some("put off: the client cannot be reached")
            };
            if shown.iter().filter(put_off).count() > HANGING / 2 {
                return;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    let seen =
        runtime.block_on(async { tokio::time::timeout(Duration::from_secs(60), shown).await });
    assert!(seen.is_ok(), "what waits for it is not put off");
    runtime.shutdown_background();
}

#[test]
fn the_page_that_ends_a_logout_loads_what_each_application_of_the_session_registered() {
    let mail = Mail::new();
    let server = start(&mail, |setup| {
        let mut web = client("web");
        web.frontchannel_logout_uri = Some("https://client.example/out?a=b".into());
        setup.clients[0] = web;
        let mut other = client("other");
        other.frontchannel_logout_uri = Some("https://other.example/out".into());
        setup.clients.push(other);
    });
    let mut browser = Browser::new(&server);
    let (_, said) = parts(&tokens(&server, &mut browser).member("id_token"));
    let page = browser.get("/logout");
    let page = browser.press(&page, "allow", &[]);
    let text = page.text();
    assert!(text.contains("<main id=\"signed-out\""), "{text}");
    // Section 2: `iss` and `sid`; and nobody who had no part in the session.
    let (issuer, sid) = (said["iss"].as_str().unwrap(), said["sid"].as_str().unwrap());
    let encoded = issuer.replace(':', "%3A").replace('/', "%2F");
    let frame = format!("src=\"https://client.example/out?a=b&amp;iss={encoded}&amp;sid={sid}\"");
    assert!(text.contains(&frame), "{frame}\n{text}");
    assert!(!text.contains("other.example"), "{text}");
    let policy = page.reply.header("content-security-policy");
    assert!(
        policy.contains("; frame-src https://client.example;"),
        "{policy}"
    );
    // There is nobody to tell by the back channel, and nothing that says that it failed.
    deliver(&server);
    let (waits, _) =
        block_on(NOTICES.page(&*server.realm.store, None, 50, server.realm.now())).unwrap();
    assert!(waits.is_empty(), "{waits:?}");
    // Without a session nobody is named.
    let page = browser.get("/logout");
    assert!(!page.text().contains("<iframe"), "{}", page.text());
}

#[test]
fn a_logout_goes_on_to_the_application_once_the_frames_are_loaded() {
    let mail = Mail::new();
    let server = start(&mail, |setup| {
        let mut web = client("web");
        web.frontchannel_logout_uri = Some("https://client.example/out".into());
        web.post_logout_redirect_uris = web.redirect_uris.clone();
        setup.clients[0] = web;
    });
    let mut browser = Browser::new(&server);
    let id_token = tokens(&server, &mut browser).member("id_token");
    let back = "https%3A%2F%2Fclient.example%2Fcb";
    let page = browser.get(&format!(
        "/logout?id_token_hint={id_token}&post_logout_redirect_uri={back}&state=s"
    ));
    let text = page.text();
    assert!(text.contains("<iframe "), "{text}");
    assert!(
        text.contains("href=\"https://client.example/cb?state=s\""),
        "{text}"
    );
    assert!(text.contains("assets/logout-"), "{text}");
    // Nobody is left to be notified: it continues at once.
    let again = browser.get(&format!(
        "/logout?id_token_hint={id_token}&post_logout_redirect_uri={back}&state=s"
    ));
    assert_eq!(again.reply.status, 303, "{}", again.text());
}
