//! Clients that get access tokens of an identity provider (RFC 8693), from the refresh tokens that
//! are kept of people: against a provider that rotates them and takes an old one for stolen.
use crate::common::{
    SECRET, Server, Setup, block_on,
    browser::{Browser, Page},
    client,
    client::{Call, Reply},
    cluster::Cluster,
    made::redeem,
    people::{CHEAP, Mail, people, request},
};
use crate::providers::{Liar, back, lied_to, sent_away, write};
use serde_json::{Value, json};
use signet_admin::sealing::rotate_sealing_key;
use signet_crypto::Secret;
use signet_directory::{CredentialKind, CredentialName, passwords::PasswordOptions};
use signet_jose::jwt::Typ;
use signet_oauth::client::{AuthMethod, Client};
use signet_oauth::people::provider::{Protocol, Provider};
use signet_registry::keys::SealingFile;
use signet_store::Table;
use std::{
    io::{Read, Write},
    net::TcpListener,
    sync::{Arc, Mutex},
    time::Duration,
};

const EXCHANGE: &str = "urn:ietf:params:oauth:grant-type:token-exchange";
const ACCESS_TOKEN: &str = "urn:ietf:params:oauth:token-type:access_token";
const UPSTREAM: &str = "urn:signet:token-type:upstream-access-token";

/// What the provider knows and does.
#[derive(Default)]
struct There {
    /// the refresh token that is good; none: the family is revoked
    good: Option<String>,
    count: usize,
    /// an old refresh token came
    reused: bool,
    /// refreshes under way, and the most at once
    under_way: usize,
    at_once: usize,
    /// answered instead of a refresh
    instead: Option<(u16, String)>,
    /// before a refresh is answered
    wait: Duration,
    /// it gives no other refresh token
    keeps: bool,
    /// the forms of refreshes
    asked: Vec<String>,
}

/// An OAuth 2 provider over plain HTTP on loopback.
struct Up {
    issuer: String,
    there: Arc<Mutex<There>>,
}

fn read_request(stream: &mut std::net::TcpStream) -> String {
    let (mut text, mut read) = (String::new(), [0; 8192]);
    loop {
        let length = stream.read(&mut read).unwrap_or(0);
        text += &String::from_utf8_lossy(&read[..length]);
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let wanted = head.lines().find_map(|line| {
                line.to_ascii_lowercase()
                    .strip_prefix("content-length:")?
                    .trim()
                    .parse()
                    .ok()
            });
            if body.len() >= wanted.unwrap_or(0) {
                return text;
            }
        }
        if length == 0 {
            return text;
        }
    }
}

fn answer(there: &Mutex<There>, text: &str) -> (u16, String) {
    let path = text.split(' ').nth(1).unwrap_or("");
    if path == "/user" {
        return (200, json!({ "sub": "mallory" }).to_string());
    }
    let form = text.split_once("\r\n\r\n").map_or("", |(_, body)| body);
    let field = |name: &str| {
        let mut pairs = form.split('&').filter_map(|pair| pair.split_once('='));
        pairs
            .find(|(known, _)| *known == name)
            .map(|(_, value)| value.to_owned())
    };
    let refreshes = field("grant_type").as_deref() == Some("refresh_token");
    if refreshes {
        let mut now = there.lock().unwrap();
        now.asked.push(form.to_owned());
        now.under_way += 1;
        now.at_once = now.at_once.max(now.under_way);
        let wait = now.wait;
        drop(now);
        std::thread::sleep(wait);
    }
    let mut there = there.lock().unwrap();
    if refreshes {
        there.under_way -= 1;
        if let Some(instead) = &there.instead {
            return instead.clone();
        }
        if there.good.is_none() || field("refresh_token") != there.good {
            there.reused = true;
            there.good = None;
            return (400, json!({ "error": "invalid_grant" }).to_string());
        }
    }
    there.count += 1;
    let mut given = json!({
        "access_token": format!("at-{}", there.count), "token_type": "bearer",
        "expires_in": 300, "scope": "repo user",
    });
    if !(refreshes && there.keeps) {
        let token = format!("rt-{}-secret", there.count);
        given["refresh_token"] = token.clone().into();
        there.good = Some(token);
    }
    (200, given.to_string())
}

impl Up {
    fn start() -> Up {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let issuer = format!("http://127.0.0.1:{}", listener.local_addr().unwrap().port());
        let there = Arc::new(Mutex::new(There::default()));
        let shared = there.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (Ok(mut stream), there) = (stream, shared.clone()) else {
                    return;
                };
                std::thread::spawn(move || {
                    let text = read_request(&mut stream);
                    let (status, body) = answer(&there, &text);
                    let head = format!(
                        "HTTP/1.1 {status} X\r\ncontent-length: {}\r\n\r\n",
                        body.len()
                    );
                    let _ = stream.write_all((head + &body).as_bytes());
                });
            }
        });
        Up { issuer, there }
    }

    fn there<T>(&self, look: impl FnOnce(&mut There) -> T) -> T {
        look(&mut self.there.lock().unwrap())
    }

    fn provider(&self) -> Provider {
        let url = |path: &str| Some(format!("{}{path}", self.issuer));
        Provider {
            client_id: "signet".into(),
            protocol: Protocol::Oauth2,
            authorization_endpoint: url("/authorize"),
            token_endpoint: url("/token"),
            userinfo_endpoint: url("/user"),
            keep_refresh_token: true,
            exchange_clients: vec!["app".into(), "open".into()],
            ..Provider::new("corp", &*self.issuer)
        }
    }
}

fn setup(mail: &Mail) -> Setup {
    let acting = |name: &str| Client {
        may_act_for: vec!["web".into()],
        ..client(name)
    };
    let public = Client {
        token_endpoint_auth_method: AuthMethod::None,
        secrets: Vec::new(),
        ..acting("open")
    };
    Setup {
        clients: vec![client("web"), acting("app"), acting("idle"), public],
        people: people(mail),
        passwords: PasswordOptions {
            cost: CHEAP,
            ..PasswordOptions::default()
        },
        ..Setup::default()
    }
}

fn start(up: &Up) -> (Server, Mail) {
    let mail = Mail::new();
    let down = Server::start(setup(&mail));
    write(&down, up.provider());
    (down, mail)
}

/// Logs in at the provider: the browser, and the access token of `web`.
#[track_caller]
fn log_in(down: &Server) -> (Browser<'_>, String) {
    let mut here = Browser::new(down);
    let login = here.get(&request(&[]));
    let fields = [("username", ""), ("password", "")];
    let away = here.press(&login, "provider:corp", &fields);
    let state = away
        .param("state")
        .unwrap_or_else(|| panic!("{}", away.text()));
    let page = here.get(&back(&state, ""));
    let token = on(&mut here, page);
    (here, token)
}

/// From the provider's answer to the access token of `web`.
#[track_caller]
fn on(here: &mut Browser<'_>, mut page: Page) -> String {
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
    call.send(here.server).expect(200).member("access_token")
}

fn exchange_as(down: &Server, client_id: &str, token: &str, more: &[(&str, &str)]) -> Reply {
    let mut form = vec![
        ("grant_type", EXCHANGE),
        ("subject_token", token),
        ("subject_token_type", ACCESS_TOKEN),
        ("requested_token_type", UPSTREAM),
        ("audience", "corp"),
    ];
    for (name, value) in more {
        form.retain(|(known, _)| known != name || *name == "resource");
        if !value.is_empty() {
            form.push((name, value));
        }
    }
    Call::post("/token")
        .basic(client_id, SECRET)
        .form(&form)
        .send(down)
}

fn exchange(down: &Server, token: &str) -> Reply {
    exchange_as(down, "app", token, &[])
}

/// The rows of links, as they rest.
fn rows(down: &Server) -> Vec<Value> {
    let rows = down
        .realm
        .store
        .page(Table::Credential, None, 99, down.realm.now());
    let rows = block_on(rows).unwrap().into_iter();
    let rows = rows.map(|(_, row)| -> Value {
        // A password's row is no JSON.
        let row: Value = serde_json::from_slice(&row.value).unwrap_or_default();
        let data = row["data"].as_str().unwrap_or_default();
        let data = signet_encoding::base64url::decode(data.as_bytes()).unwrap();
        serde_json::from_slice(&data).unwrap_or_default()
    });
    rows.filter(|row| row["subject"].is_string()).collect()
}

fn is_kept(down: &Server) -> bool {
    let rows = rows(down);
    assert_eq!(rows.len(), 1);
    rows[0]["refresh_token"].is_object()
}

/// Writes what a link's row has kept.
fn rewrite(down: &Server, change: impl FnOnce(&mut Value)) {
    let (users, now) = (&down.realm.people.users, down.realm.now());
    let page = users.credentials_page(CredentialKind::Provider, None, 9, now);
    let (mut all, _) = block_on(page).unwrap();
    let (user_id, mut credential) = all.remove(0);
    let mut row: Value = serde_json::from_slice(credential.data.expose()).unwrap();
    change(&mut row["refresh_token"]);
    credential.data = Secret::new(row.to_string().into_bytes());
    let rewritten = users.rewrite_credential(&user_id, &credential, now);
    assert!(block_on(rewritten).unwrap());
}

#[test]
fn a_listed_client_gets_a_fresh_token_each_time_and_nothing_secret_rests_or_is_recorded() {
    let up = Up::start();
    let (mail, trail) = (Mail::new(), tempfile::tempdir().unwrap());
    let down = Server::start(Setup {
        audit: Some(trail.path().join("audit")),
        ..setup(&mail)
    });
    write(&down, up.provider());
    let (_here, token) = log_in(&down);
    let first = exchange(&down, &token).expect(200);
    assert!(first.header("cache-control").contains("no-store"));
    let first = first.json();
    assert_eq!(
        first,
        json!({
            "access_token": "at-2", "issued_token_type": UPSTREAM, "token_type": "Bearer",
            "expires_in": 300, "scope": "repo user",
        })
    );
    assert_eq!(
        exchange(&down, &token).expect(200).json()["access_token"],
        "at-3"
    );
    // Without another one the old one goes on.
    up.there(|there| there.keeps = true);
    for count in [4, 5] {
        let given = exchange_as(&down, "app", &token, &[("scope", "repo")]).expect(200);
        assert_eq!(given.json()["access_token"], format!("at-{count}"));
    }
    up.there(|there| {
        assert!(!there.reused);
        let asked = there.asked.last().unwrap();
        assert!(asked.contains("&scope=repo"), "{asked}");
    });
    let rest = rows(&down);
    let rest = serde_json::to_string(&rest).unwrap();
    assert!(
        rest.contains("sealed") && !rest.contains("rt-") && !rest.contains("at-"),
        "{rest}"
    );
    exchange_as(&down, "idle", &token, &[]).expect_error(400, "invalid_target");
    let records = down.records();
    let of = |outcome: &str| {
        let mut found = records
            .iter()
            .filter(|record| record["operation"] == "upstream-exchange");
        let found = found.find(|record| record["outcome"] == outcome);
        found.unwrap_or_else(|| panic!("{records:#?}")).clone()
    };
    for (outcome, client) in [("success", "app"), ("failure", "idle")] {
        let record = of(outcome);
        assert_eq!(
            (&record["client_id"], &record["target"]),
            (&json!(client), &json!("corp")),
            "{record:#}"
        );
    }
    let all = serde_json::to_string(&records).unwrap();
    assert!(!all.contains("rt-") && !all.contains("at-3"), "{all}");
}

#[test]
fn nobody_else_gets_one() {
    let up = Up::start();
    let (down, _mail) = start(&up);
    let (_here, token) = log_in(&down);
    let as_app = |more: &[(&str, &str)]| exchange_as(&down, "app", &token, more);
    // Clients that the record does not list, the one of the token included, and other names.
    for name in ["idle", "web"] {
        exchange_as(&down, name, &token, &[]).expect_error(400, "invalid_target");
    }
    as_app(&[("audience", "other")]).expect_error(400, "invalid_target");
    for form in [
        [("audience", "")],
        [("resource", "https://api.example")],
        [("actor_token", &*token)],
        [("actor_token_type", ACCESS_TOKEN)],
        [("subject_token", "")],
        [("subject_token", "x")],
        [("subject_token_type", "")],
        [("subject_token_type", UPSTREAM)],
    ] {
        as_app(&form).expect_error(400, "invalid_request");
    }
    as_app(&[("requested_token_type", "urn:signet:token-type:other")])
        .expect_error(400, "invalid_request");
    as_app(&[("scope", "a\"b")]).expect_error(400, "invalid_scope");
    // A client's own token, and one of a client that it may not act for.
    let own = Call::post("/token")
        .basic("app", SECRET)
        .form(&[("grant_type", "client_credentials"), ("scope", "api:read")]);
    let own = own.send(&down).expect(200).member("access_token");
    exchange(&down, &own).expect_error(400, "invalid_request");
    down.configure(|_, registry| {
        let app = Client {
            may_act_for: Vec::new(),
            ..(*registry.clients["app"]).clone()
        };
        registry.clients.insert("app".into(), Arc::new(app));
    });
    exchange(&down, &token).expect_error(400, "invalid_request");
    down.configure(|_, registry| {
        let app = Client {
            may_act_for: vec!["web".into()],
            ..(*registry.clients["app"]).clone()
        };
        registry.clients.insert("app".into(), Arc::new(app));
    });
    // Somebody who acts for the person has less than all of their powers.
    let delegated = Call::post("/token").basic("app", SECRET).form(&[
        ("grant_type", EXCHANGE),
        ("subject_token", &token),
        ("subject_token_type", ACCESS_TOKEN),
        ("actor_token", &own),
        ("actor_token_type", ACCESS_TOKEN),
    ]);
    let delegated = delegated.send(&down).expect(200).member("access_token");
    exchange(&down, &delegated).expect_error(400, "invalid_request");
    // A client that shows nothing, though it is listed.
    let public = Call::post("/token").form(&[
        ("grant_type", EXCHANGE),
        ("client_id", "open"),
        ("subject_token", &token),
        ("subject_token_type", ACCESS_TOKEN),
        ("requested_token_type", UPSTREAM),
        ("audience", "corp"),
    ]);
    public.send(&down).expect_error(400, "unauthorized_client");
    up.there(|there| assert!(there.asked.is_empty(), "nobody asked the provider"));
    exchange(&down, &token).expect(200);
    // A record that keeps none, another client of the issuer, a provider that is switched off.
    let changed: [fn(&mut Provider); 3] = [
        |provider| {
            provider.keep_refresh_token = false;
            provider.exchange_clients.clear();
        },
        |provider| provider.enabled = false,
        |provider| provider.exchange_clients = vec!["idle".into()],
    ];
    for change in changed {
        let mut provider = up.provider();
        change(&mut provider);
        write(&down, provider);
        exchange(&down, &token).expect_error(400, "invalid_target");
    }
    write(
        &down,
        Provider {
            client_id: "another".into(),
            ..up.provider()
        },
    );
    exchange(&down, &token).expect_error(400, "interaction_required");
    write(&down, up.provider());
    exchange(&down, &token).expect(200);
    // A token that is revoked, a person who is disabled.
    let users = &down.realm.people.users;
    let of = users.by_upstream(&up.issuer, "mallory", down.realm.now());
    let user = block_on(of).unwrap().unwrap();
    let set = |enabled: bool| {
        let change = users.change(&user.id, down.realm.now(), |draft| {
            draft.user.enabled = enabled
        });
        block_on(change).unwrap();
    };
    set(false);
    exchange(&down, &token).expect_error(400, "invalid_request");
    set(true);
    exchange(&down, &token).expect(200);
    let revoke = Call::post("/revoke")
        .basic("web", SECRET)
        .form(&[("token", &token)]);
    revoke.send(&down).expect(200);
    exchange(&down, &token).expect_error(400, "invalid_request");
}

#[test]
fn exchanges_of_one_person_come_one_after_another_on_all_nodes() {
    let up = Up::start();
    let mail = Mail::new();
    let cluster = Cluster::of(2, || setup(&mail));
    write(cluster.node(0), up.provider());
    cluster.catch_up();
    let (_here, token) = log_in(cluster.node(0));
    up.there(|there| there.wait = Duration::from_millis(30));
    let given: Vec<String> = std::thread::scope(|threads| {
        let racers: Vec<_> = (0..10)
            .map(|racer| {
                let (node, token) = (cluster.node(racer % 2), &token);
                threads.spawn(move || exchange(node, token).expect(200).member("access_token"))
            })
            .collect();
        let given = racers.into_iter().map(|racer| racer.join().unwrap());
        given.collect()
    });
    let mut different = given.clone();
    different.sort();
    different.dedup();
    assert_eq!(different.len(), 10, "{given:?}");
    up.there(|there| {
        assert!(!there.reused, "an old refresh token was sent");
        assert_eq!((there.at_once, there.asked.len()), (1, 10));
    });
}

#[test]
fn a_turn_of_a_node_that_died_ends_and_the_next_one_goes_on() {
    let up = Up::start();
    let (down, _mail) = start(&up);
    let (_here, token) = log_in(&down);
    down.stop_clock();
    let until = down.realm.now() + 30;
    let claim = || {
        rewrite(&down, |kept| {
            kept["claim"] = json!({ "id": "dead", "until": until })
        })
    };
    claim();
    std::thread::scope(|threads| {
        let waits = threads.spawn(|| exchange(&down, &token));
        std::thread::sleep(Duration::from_millis(300));
        up.there(|there| assert!(there.asked.is_empty()));
        down.pass(31);
        assert_eq!(
            waits.join().unwrap().expect(200).json()["access_token"],
            "at-2"
        );
    });
    assert_eq!(rows(&down)[0]["refresh_token"]["claim"], Value::Null);
}

#[test]
fn after_the_link_is_taken_off_there_is_none_even_while_the_provider_is_asked() {
    let up = Up::start();
    let (down, _mail) = start(&up);
    let (_here, token) = log_in(&down);
    let (users, now) = (&down.realm.people.users, down.realm.now());
    let found = || block_on(users.by_upstream(&up.issuer, "mallory", now)).unwrap();
    let user = found().unwrap();
    let id = user
        .credentials_of(CredentialKind::Provider)
        .next()
        .unwrap()
        .to_owned();
    up.there(|there| there.wait = Duration::from_millis(600));
    std::thread::scope(|threads| {
        let asking = threads.spawn(|| exchange(&down, &token));
        std::thread::sleep(Duration::from_millis(250));
        up.there(|there| assert_eq!(there.under_way, 1));
        block_on(users.unlink(&user.id, &id, now, |_| true))
            .unwrap()
            .unwrap();
        let refused = asking.join().unwrap();
        refused.expect_error(400, "interaction_required");
    });
    exchange(&down, &token).expect_error(400, "interaction_required");
    assert_eq!(rows(&down), [] as [Value; 0]);
    let name = CredentialName::new(CredentialKind::Provider, id);
    assert!(
        block_on(users.credential(&user.id, &name, now))
            .unwrap()
            .is_none()
    );
}

#[test]
fn with_the_account_goes_what_was_kept() {
    let up = Up::start();
    let (down, _mail) = start(&up);
    log_in(&down);
    assert!(is_kept(&down));
    let (users, now) = (&down.realm.people.users, down.realm.now());
    let user = block_on(users.by_upstream(&up.issuer, "mallory", now))
        .unwrap()
        .unwrap();
    block_on(users.remove(&user.id, now)).unwrap();
    assert_eq!(rows(&down), [] as [Value; 0]);
}

#[test]
fn each_error_of_the_provider_says_what_helps() {
    let up = Up::start();
    let (down, _mail) = start(&up);
    let (_here, token) = log_in(&down);
    let error =
        |code: &str| json!({ "error": code, "error_description": "rt-1-secret" }).to_string();
    let good = json!({ "access_token": "a", "token_type": "DPoP" }).to_string();
    for (status, body, told, code) in [
        (400, error("invalid_scope"), 400, "invalid_scope"),
        (
            400,
            error("temporarily_unavailable"),
            503,
            "temporarily_unavailable",
        ),
        (429, String::new(), 503, "temporarily_unavailable"),
        (502, "<html>".to_owned(), 503, "temporarily_unavailable"),
        (401, error("invalid_client"), 500, "server_error"),
        (400, error("unauthorized_client"), 500, "server_error"),
        (400, error("something else"), 500, "server_error"),
        (200, "<html>".to_owned(), 500, "server_error"),
        (
            200,
            json!({ "token_type": "Bearer" }).to_string(),
            500,
            "server_error",
        ),
        // Bound to a key that the client has not.
        (200, good, 500, "server_error"),
        (302, String::new(), 503, "temporarily_unavailable"),
    ] {
        up.there(|there| there.instead = Some((status, body.clone())));
        let refused = exchange(&down, &token).expect_error(told, code);
        assert!(!refused.text().contains("rt-"), "{}", refused.text());
        assert!(is_kept(&down), "{status} {body}");
        if told == 503 {
            assert!(!refused.header("retry-after").is_empty());
        }
    }
    // None of it used the token up.
    up.there(|there| there.instead = None);
    exchange(&down, &token).expect(200);
    // One that is good no more is not kept, and not sent again.
    up.there(|there| there.instead = Some((400, error("invalid_grant"))));
    exchange(&down, &token).expect_error(400, "interaction_required");
    assert!(!is_kept(&down));
    let asked = up.there(|there| {
        there.instead = None;
        there.asked.len()
    });
    exchange(&down, &token).expect_error(400, "interaction_required");
    assert_eq!(up.there(|there| there.asked.len()), asked);
    // The next login keeps another.
    let (_here, token) = log_in(&down);
    exchange(&down, &token).expect(200);
}

#[test]
fn a_record_that_keeps_none_keeps_none_and_the_next_login_removes_what_was_kept() {
    let up = Up::start();
    let (down, _mail) = start(&up);
    let off = Provider {
        keep_refresh_token: false,
        exchange_clients: Vec::new(),
        ..up.provider()
    };
    write(&down, off.clone());
    log_in(&down);
    assert!(!is_kept(&down));
    write(&down, up.provider());
    log_in(&down);
    assert!(is_kept(&down));
    write(&down, off);
    log_in(&down);
    assert!(!is_kept(&down));
}

#[test]
fn a_logout_at_the_provider_removes_the_refresh_token_of_its_session() {
    let liar = Liar::start();
    let (down, _mail) = lied_to(&liar);
    write(
        &down,
        Provider {
            client_id: "signet".into(),
            keep_refresh_token: true,
            ..Provider::new("corp", &*liar.issuer)
        },
    );
    let now = down.realm.now();
    let log_in = |sid: &str| {
        let (mut here, state, nonce) = sent_away(&down);
        let mut claims = liar.claims(&nonce, now);
        claims["sid"] = sid.into();
        liar.gives(&liar.sign(&claims));
        liar.says.lock().unwrap().token["refresh_token"] = "rt".into();
        let page = here.get(&back(&state, ""));
        on(&mut here, page);
    };
    let logout = |jti: &str, sid: Option<&str>| {
        let mut claims = json!({
            "iss": liar.issuer, "aud": "signet", "iat": now, "exp": now + 60, "jti": jti,
            "sub": "mallory",
            "events": { "http://schemas.openid.net/event/backchannel-logout": {} },
        });
        if let Some(sid) = sid {
            claims["sid"] = sid.into();
        }
        let mut out = Vec::new();
        let text = claims.to_string();
        liar.signer
            .sign_into(Typ::LogoutToken, text.as_bytes(), &mut out)
            .unwrap();
        let token = String::from_utf8(out).unwrap();
        let call = Call::post("/providers/corp/backchannel-logout");
        call.form(&[("logout_token", &token)])
            .send(&down)
            .expect(200);
    };
    log_in("s1");
    logout("j1", Some("s2"));
    assert!(is_kept(&down), "another session ended");
    logout("j2", Some("s1"));
    assert!(!is_kept(&down));
    log_in("s3");
    assert!(is_kept(&down));
    logout("j3", None);
    assert!(!is_kept(&down));
}

#[test]
fn refresh_tokens_are_sealed_anew_with_the_sealing_key() {
    let up = Up::start();
    let (mail, folder) = (Mail::new(), tempfile::tempdir().unwrap());
    let down = Server::start(Setup {
        sealing: Some(SealingFile::open_or_create(folder.path(), 1).unwrap()),
        ..setup(&mail)
    });
    write(&down, up.provider());
    let (_here, token) = log_in(&down);
    let sealed = || rows(&down)[0]["refresh_token"]["sealed"].clone();
    let before = sealed();
    let rotate = || {
        let file = down.realm.sealing_file.as_ref().unwrap();
        let rotated = rotate_sealing_key(&down.realm, file);
        block_on(rotated).unwrap();
    };
    rotate();
    assert_ne!(sealed(), before);
    exchange(&down, &token).expect(200);
    // What nobody keeps any more is not sealed again: it goes.
    write(
        &down,
        Provider {
            keep_refresh_token: false,
            exchange_clients: Vec::new(),
            ..up.provider()
        },
    );
    rotate();
    assert!(!is_kept(&down));
}

#[test]
fn a_logout_here_that_goes_on_at_the_provider_removes_it_too() {
    let liar = Liar::start();
    let (down, _mail) = lied_to(&liar);
    liar.says.lock().unwrap().metadata["end_session_endpoint"] =
        format!("{}/logout", liar.issuer).into();
    write(
        &down,
        Provider {
            client_id: "signet".into(),
            keep_refresh_token: true,
            logout: true,
            scope: "openid offline_access".into(),
            ..Provider::new("corp", &*liar.issuer)
        },
    );
    let mut here = Browser::new(&down);
    let login = here.get(&request(&[]));
    let away = here.press(
        &login,
        "provider:corp",
        &[("username", ""), ("password", "")],
    );
    // OpenID Connect Core section 11.
    assert_eq!(away.param("prompt").as_deref(), Some("consent"));
    let (state, nonce) = (away.param("state").unwrap(), away.param("nonce").unwrap());
    liar.gives(&liar.sign(&liar.claims(&nonce, down.realm.now())));
    liar.says.lock().unwrap().token["refresh_token"] = "rt".into();
    let page = here.get(&back(&state, ""));
    on(&mut here, page);
    assert!(is_kept(&down));
    let account = here.get("/account");
    let sid = account.field("sid");
    let away = here.press(&account, "end-session", &[("sid", &sid)]);
    assert!(away.url.starts_with(&liar.issuer), "{}", away.url);
    assert!(!is_kept(&down));
}
