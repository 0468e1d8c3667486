//! What a caller without a secret can write: a table of every route and of the answers that such a
//! caller gets there, whatever they are. Refusals alone would not do: what is allowed and can be
//! repeated fills a disk as well.
//!
//! For each act: the audit trail grows by less than [`TRAIL`] bytes on average, and the store by no
//! more than its row says; where the store grows, a budget of `budgets::TABLE` bounds how often.
//! (Log lines have a bound for each place in the program: `signet::log_budget`.)
use crate::common::{
    Server, block_on,
    browser::Browser,
    client,
    client::Call,
    made::{Proof, REDIRECT, alice, code, proof, random_id, redeem, signer},
    people::{Mail, PASSWORD, add_user, parameters, people, request, start},
    routes,
};
use http::Method;
use serde_json::json;
use signet_agent::{
    Hash, Suite,
    identity::create,
    json::File,
    object::Signed,
    revocation::{Revocation, Target},
};
use signet_crypto::Algorithm;
use signet_oauth::{
    client::{AuthMethod, Client},
    endpoint::ENDPOINTS,
};
use signet_realm::agents::binding;
use signet_realm::budgets::{Act, TABLE};
use signet_store::{Key, Table};
use std::collections::BTreeSet;

/// How often each act is repeated.
const TIMES: usize = 30;
/// Bytes of the trail that an act may cost on average, over 2,000 of a kind.
const TRAIL: usize = 20;
/// Records of one kind that acts may leave, however many they are: of each of two callers the first
/// refusal and its count. A record of these is shorter than [`RECORD`].
const RECORDS: usize = 4;
const RECORD: usize = 1024;
/// Most bytes an hour that all networks together may have kept by one kind of act.
const AN_HOUR: u64 = 512 << 20;

/// What the store may keep of an act.
#[derive(Clone, Copy)]
enum Kept {
    /// The same few rows, however often it comes: counters of guesses, sums.
    Constant,
    /// So many bytes each time, and this bounds how often.
    Bytes(usize, Act),
}

struct Kind {
    path: &'static str,
    method: Method,
    kept: Kept,
    call: Box<dyn Fn(&Stage) -> Call>,
}

/// What acts are made of.
struct Stage {
    server: Server,
    access_token: String,
    refresh_token: String,
    registered: (String, String),
    statement: String,
    cookies: String,
    interaction: String,
}

fn kind(path: &'static str, call: impl Fn(&Stage) -> Call + 'static) -> Kind {
    Kind {
        path,
        method: Method::POST,
        kept: Kept::Constant,
        call: Box::new(call),
    }
}

fn get(path: &'static str, target: &'static str) -> Kind {
    Kind {
        method: Method::GET,
        ..kind(path, move |_| Call::get(target))
    }
}

fn form(path: &'static str, fields: &'static [(&'static str, &'static str)]) -> Kind {
    kind(path, move |_| Call::post(path).form(fields))
}

fn keeps(kind: Kind, bytes: usize, act: Act) -> Kind {
    Kind {
        kept: Kept::Bytes(bytes, act),
        ..kind
    }
}

/// A form of a page of ours, with its sealed state.
fn page(path: &'static str, fields: &'static [(&'static str, &'static str)]) -> Kind {
    kind(path, move |stage| {
        let mut all = fields.to_vec();
        all.push(("interaction", &stage.interaction));
        Call::post(path).form(&all).header("cookie", &stage.cookies)
    })
}

fn registration() -> serde_json::Value {
    json!({"redirect_uris": [REDIRECT], "token_endpoint_auth_method": "none"})
}

fn managed(method: Method, right: bool) -> Kind {
    Kind {
        method: method.clone(),
        ..kind("/register/{client_id}", move |stage| {
            let (path, token) = &stage.registered;
            let call = Call::new(method.clone(), path);
            let call = call.bearer(if right { token } else { "wrong" });
            match method == Method::PUT {
                true => {
                    let mut document = registration();
                    let id = path.rsplit('/').next().unwrap();
                    document["client_id"] = json!(id);
                    call.json(&document)
                }
                false => call,
            }
        })
    }
}

fn kinds() -> Vec<Kind> {
    const PUBLIC: (&str, &str) = ("client_id", "public");
    let mut kinds = vec![
        get(
            "/.well-known/oauth-authorization-server",
            "/.well-known/oauth-authorization-server",
        ),
        get(
            "/.well-known/openid-configuration",
            "/.well-known/openid-configuration",
        ),
        get("/jwks", "/jwks"),
        get("/compact-keys", "/compact-keys"),
        get("/check-session", "/check-session"),
        get("/authorize", "/authorize"),
        get(
            "/authorize",
            "/authorize?client_id=nobody&response_type=code",
        ),
        form("/authorize", &[PUBLIC, ("response_type", "token")]),
        form("/token", &[]),
        form("/token", &[PUBLIC, ("grant_type", "nonsense")]),
        form(
            "/token",
            &[
                ("client_id", "nobody"),
                ("grant_type", "client_credentials"),
            ],
        ),
        form(
            "/token",
            &[
                ("client_id", "web"),
                ("client_secret", "wrong"),
                ("grant_type", "client_credentials"),
            ],
        ),
        form(
            "/token",
            &[
                PUBLIC,
                ("grant_type", "authorization_code"),
                ("code", "x"),
                ("redirect_uri", REDIRECT),
            ],
        ),
        form(
            "/token",
            &[
                PUBLIC,
                ("grant_type", "refresh_token"),
                ("refresh_token", "x"),
            ],
        ),
        form(
            "/token",
            &[
                PUBLIC,
                ("grant_type", "urn:ietf:params:oauth:grant-type:device_code"),
                ("device_code", "x"),
            ],
        ),
        form("/introspect", &[("token", "x")]),
        form("/introspect", &[PUBLIC, ("token", "x")]),
        form("/revoke", &[("token", "x")]),
        form("/revoke", &[PUBLIC]),
        form("/revoke", &[PUBLIC, ("token", "x")]),
        form("/revoke", &[("client_id", "signet-cli"), ("token", "x")]),
        form(
            "/revoke",
            &[
                ("client_id", "web"),
                ("client_secret", "wrong"),
                ("token", "x"),
            ],
        ),
        kind("/revoke", |stage| {
            Call::post("/revoke").form(&[PUBLIC, ("token", &stage.access_token)])
        }),
        kind("/revoke", |stage| {
            Call::post("/revoke").form(&[PUBLIC, ("token", &stage.refresh_token)])
        }),
        form("/revocations", &[]),
        form("/revocations", &[PUBLIC]),
        form("/userinfo", &[]),
        get("/userinfo", "/userinfo"),
        kind("/userinfo", |_| Call::post("/userinfo").bearer("junk")),
        form("/par", &[PUBLIC]),
        form("/par", &[("client_id", "nobody")]),
        kind("/par", |_| Call::post("/par").form(&parameters(&[PUBLIC]))),
        keeps(
            kind("/par", |stage| {
                let jti = random_id();
                let content = Proof {
                    htm: "POST",
                    path: "/par",
                    jti: &jti,
                    nonce: None,
                    token: None,
                };
                // A key is not scarce: there is the budget of all, and the endpoint's own.
                let proof = proof(&stage.server, &signer(Algorithm::Es256), &content);
                let call = Call::post("/par").form(&parameters(&[PUBLIC]));
                call.header("dpop", &proof)
            }),
            40,
            Act::Proof,
        ),
        form("/register", &[]),
        kind("/register", |_| Call::post("/register").json(&json!({}))),
        keeps(
            kind("/register", |_| {
                Call::post("/register").json(&registration())
            }),
            3000,
            Act::Registration,
        ),
        managed(Method::GET, true),
        managed(Method::GET, false),
        keeps(managed(Method::PUT, true), 1500, Act::RegistrationChange),
        managed(Method::PUT, false),
        managed(Method::DELETE, false),
        form("/device_authorization", &[]),
        keeps(
            form("/device_authorization", &[PUBLIC, ("scope", "openid")]),
            700,
            Act::DeviceCode,
        ),
        get("/device", "/device"),
        get("/device", "/device?user_code=BBBB-BBBB"),
        form("/device", &[("user_code", "BBBB-BBBB")]),
        form("/agent-statements", &[]),
        kind("/agent-statements", |_| {
            Call::post("/agent-statements").json(&json!({}))
        }),
        kind("/agent-statements", |stage| {
            Call::post("/agent-statements").body("application/json", stage.statement.as_bytes())
        }),
        form("/password-login", &[]),
        kind("/password-login", |_| {
            Call::post("/password-login").json(&json!({"username": "alice", "password": "wrong"}))
        }),
        get("/logout", "/logout"),
        get(
            "/logout",
            "/logout?id_token_hint=x&post_logout_redirect_uri=https%3A%2F%2Fa.example",
        ),
        form("/logout", &[("id_token_hint", "x")]),
        // What only people meet.
        get("/interaction", "/interaction"),
        get("/interaction", "/interaction?answer=x"),
        form("/interaction", &[("interaction", "x")]),
        page(
            "/interaction",
            &[
                ("decision", "allow"),
                ("username", "nobody"),
                ("password", "wrong"),
            ],
        ),
        page(
            "/interaction",
            &[
                ("decision", "allow"),
                ("username", "alice"),
                ("password", "wrong"),
            ],
        ),
        get("/login-link", "/login-link?token=x"),
        form("/language", &[("language", "de")]),
        page("/language", &[("language", "fr")]),
        get("/account", "/account"),
        form("/account", &[("decision", "x")]),
        get("/account/recover", "/account/recover?token=x"),
        form("/account/recover", &[("token", "x"), ("new_password", "x")]),
        get("/account/keep", "/account/keep?token=x"),
        form("/account/keep", &[("token", "x")]),
        get("/sign-up", "/sign-up?token=x"),
        form("/sign-up", &[("token", "x")]),
        get("/invitation", "/invitation?token=x"),
        form("/invitation", &[("token", "x")]),
        get(
            "/providers/{provider}/callback",
            "/providers/corp/callback?code=x&state=x",
        ),
        kind("/providers/{provider}/callback", |_| {
            Call::post("/providers/corp/callback").form(&[("code", "x")])
        }),
        kind("/providers/{provider}/backchannel-logout", |_| {
            Call::post("/providers/corp/backchannel-logout").form(&[("logout_token", "x")])
        }),
        get(
            "/providers/{provider}/logged-out",
            "/providers/corp/logged-out?state=x",
        ),
        get("/client-logo/{client}", "/client-logo/web"),
        get("/provider-logo/{provider}", "/provider-logo/corp"),
    ];
    for path in [
        "/",
        "/console",
        "/console/",
        "/console/audit",
        "/console/settings",
        "/console/keys",
        "/console/token",
        "/console/operations",
        "/console/audit/lines.ndjson",
        "/console/agents",
        "/console/mail",
        "/console/brand",
        "/console/cluster",
        "/console/drift",
        "/console/explain",
        "/console/wizard",
        "/account/",
        "/account/recover/",
        "/sign-up/",
        "/device/",
        "/favicon.ico",
        "/brand/logo",
        "/health/live",
        "/health/ready",
        "/metrics",
        "/.well-known/webauthn",
        "/.well-known/passkey-endpoints",
        "/.well-known/change-password",
    ] {
        kinds.push(get(path, path));
    }
    kinds.push(get("/assets/{name}", "/assets/x"));
    // The console, which nobody is in.
    kinds.push(get("/console/assets/{file}", "/console/assets/x"));
    kinds.push(get("/console/{kind}", "/console/users"));
    kinds.push(get("/console/{kind}/{id}", "/console/users/x"));
    kinds.push(get("/console/first", "/console/first?token=x"));
    let fields = &[("form", "x"), ("token", "x")];
    kinds.push(get("/console/connection/{client}", "/console/connection/x"));
    kinds.push(kind("/console/bulk/{kind}", |_| {
        Call::post("/console/bulk/users").form(&[("form", "x"), ("act", "x")])
    }));
    for path in [
        "/console/leave",
        "/console/token",
        "/console/first",
        "/console/wizard",
    ] {
        kinds.push(form(path, fields));
    }
    kinds.push(page("/console/first/passkey", &[("passkey", "x")]));
    let operation = "/console/do/{operation}";
    kinds.push(get(operation, "/console/do/listUsers"));
    kinds.push(kind(operation, |_| {
        Call::post("/console/do/removeUser").form(&[("form", "x"), ("p.user_id", "x")])
    }));
    // One of each for the two interfaces that take nothing without a token.
    kinds.push(get("/admin/v1/users", "/admin/v1/users"));
    kinds.push(get("/scim/v2/Users", "/scim/v2/Users"));
    // A login page of a large request, and the answer without one.
    kinds.push(Kind {
        method: Method::GET,
        ..kind("/authorize", |_| {
            Call::get(&request(&[("state", &"s".repeat(2000))]))
        })
    });
    kinds.push(Kind {
        method: Method::GET,
        ..kind("/authorize", |_| Call::get(&request(&[("prompt", "none")])))
    });
    kinds
}

/// Interfaces of which each path asks for a token first.
const WITH_TOKEN: [&str; 2] = ["/admin/", "/scim/"];

#[test]
fn every_route_has_a_row() {
    let kinds = kinds();
    let has = |path: &str, method: &str| {
        let of = |kind: &Kind| kind.path == path && kind.method.as_str() == method;
        kinds.iter().any(of)
    };
    for endpoint in ENDPOINTS {
        for method in endpoint.methods {
            let (path, method) = (endpoint.path, method.as_str());
            assert!(has(path, method), "no row of {method} {path}");
        }
    }
    let named: BTreeSet<&str> = kinds.iter().map(|kind| kind.path).collect();
    let router = routes();
    let lacking: Vec<&str> = router
        .paths()
        .filter(|path| !WITH_TOKEN.iter().any(|with| path.starts_with(with)))
        .filter(|path| !named.contains(path))
        .collect();
    assert!(lacking.is_empty(), "no row of {lacking:?}");
}

fn public() -> Client {
    Client {
        token_endpoint_auth_method: AuthMethod::None,
        secrets: Vec::new(),
        ..client("public")
    }
}

fn stage(trail: &std::path::Path) -> Stage {
    let mut setup = crate::common::Setup {
        plain: true,
        audit: Some(trail.to_path_buf()),
        people: people(&Mail::new()),
        ..Default::default()
    };
    setup.passwords.cost = crate::common::people::CHEAP;
    setup.clients = vec![client("web"), public()];
    setup.settings.agents.enabled = true;
    setup.settings.sign_up.enabled = true;
    setup.settings.registration.enabled = true;
    setup.settings.registration.open = true;
    let server = Server::start(setup);
    let user = alice(&server);
    let tokens = Call::post("/token")
        .form(
            &[
                redeem(&code(&server, "public", &user)),
                vec![("client_id", "public")],
            ]
            .concat(),
        )
        .send(&server)
        .expect(200);
    let made = Call::post("/register").json(&registration()).send(&server);
    let made = made.expect(201);
    let uri = made.member("registration_client_uri");
    let path = uri.strip_prefix(&server.issuer()).unwrap().to_owned();
    let agent = create("agent", Suite::Ed25519, 1_700_000_000).unwrap();
    let now = server.realm.now();
    block_on(binding::bind(
        &*server.realm.store,
        &user,
        &agent.document,
        now,
    ))
    .unwrap();
    let revocation = Revocation {
        by: agent.document.by(),
        target: Target::Grant(Hash([7; 32])),
        reason: "enough".to_owned(),
        at: now,
    };
    let signed = Signed::sign(&revocation, &agent.document.signer(&agent.keys)).unwrap();
    let statement = File::of(&signed).with_signer(&agent.document);
    let mut browser = Browser::new(&server);
    let login = browser.get(&request(&[]));
    let cookies = browser.cookies.iter().map(|(n, v)| format!("{n}={v}"));
    let (cookies, interaction) = (
        cookies.collect::<Vec<_>>().join("; "),
        login.field("interaction"),
    );
    Stage {
        access_token: tokens.member("access_token"),
        refresh_token: tokens.member("refresh_token"),
        registered: (path, made.member("registration_access_token")),
        statement: statement.write().unwrap(),
        cookies,
        interaction,
        server,
    }
}

/// Bytes of all rows, keys and values, but for the audit trail's own.
fn kept(server: &Server) -> usize {
    let mut bytes = 0;
    for table in Table::ALL.iter().filter(|table| **table != Table::Audit) {
        let mut after: Option<Key> = None;
        loop {
            // No time is before any row's end.
            let page = server.realm.store.page(*table, after.as_ref(), 256, 0);
            let page = block_on(page).unwrap();
            let Some((last, _)) = page.last() else { break };
            after = Some(last.clone());
            let sizes = page
                .iter()
                .map(|(key, row)| key.partition.len() + key.sort.len() + row.value.len());
            bytes += sizes.sum::<usize>();
        }
    }
    bytes
}

#[test]
fn what_a_caller_without_a_secret_can_write_is_bounded_at_every_endpoint_and_for_every_answer() {
    let trail = tempfile::tempdir().unwrap();
    let stage = stage(&trail.path().join("audit"));
    let kinds = kinds();
    let mut found = Vec::new();
    for kind in &kinds {
        // What the first one makes once: a counter, a session's cookie.
        let said = (kind.call)(&stage).send(&stage.server).status;
        let before = kept(&stage.server);
        for _ in 0..TIMES {
            (kind.call)(&stage).send(&stage.server);
        }
        let grown = kept(&stage.server).saturating_sub(before);
        let most = match kind.kept {
            Kept::Constant => 64,
            Kept::Bytes(each, act) => {
                let row = &TABLE[act as usize];
                let an_hour = u64::from(row.total) * (3600 / row.window) * each as u64;
                assert!(an_hour <= AN_HOUR, "{} {an_hour}", kind.path);
                each * TIMES
            }
        };
        if grown > most {
            found.push(format!(
                "{} {} {said}: {grown} bytes kept",
                kind.method, kind.path
            ));
        }
    }
    let records = stage.server.records();
    let mut kinds_of = std::collections::BTreeMap::<String, usize>::new();
    for record in &records {
        let of = ["action", "operation", "client_id", "error", "method"];
        let name = of.map(|name| record[name].as_str().unwrap_or("-").to_owned());
        *kinds_of.entry(name.join(" ")).or_default() += 1;
        assert!(record.to_string().len() < RECORD, "{record}");
    }
    // Of one kind there is the first record and the count, not one for each.
    let changed = [
        "client.registration register",
        "client.registration replace",
    ];
    for (name, records) in kinds_of {
        let is_change = changed.iter().any(|change| name.starts_with(change));
        if !is_change && records > RECORDS {
            found.push(format!("{name}: {records} records"));
        }
    }
    assert!(found.is_empty(), "{found:#?}");
    const { assert!(RECORDS * RECORD / 2000 < TRAIL) };
}

/// The figure itself, of the act that was without any budget.
#[test]
fn two_thousand_revocations_of_nothing_cost_less_than_twenty_bytes_each() {
    const ACTS: usize = 2000;
    let trail = tempfile::tempdir().unwrap();
    let stage = stage(&trail.path().join("audit"));
    let size = || -> usize {
        let files = std::fs::read_dir(trail.path().join("audit")).unwrap();
        let sizes = files.map(|file| file.unwrap().metadata().unwrap().len());
        sizes.sum::<u64>().try_into().unwrap()
    };
    let before = (size(), kept(&stage.server));
    let nothing = Call::post("/revoke").form(&[("client_id", "public"), ("token", "x")]);
    for _ in 0..ACTS {
        nothing.send(&stage.server).expect(200);
    }
    let records = stage.server.records();
    let grown = size() - before.0 + kept(&stage.server).saturating_sub(before.1);
    assert!(grown / ACTS < TRAIL, "{grown}");
    let counts = records.iter().filter(|r| r["operation"] == "nothing");
    let counts: Vec<u64> = counts.filter_map(|r| r["count"].as_u64()).collect();
    assert_eq!(counts.iter().sum::<u64>(), ACTS as u64);
}

#[test]
fn the_first_revocation_is_a_record_at_once_and_the_same_again_writes_nothing() {
    let trail = tempfile::tempdir().unwrap();
    let stage = stage(&trail.path().join("audit"));
    let rows = || {
        let of = [
            Table::Revocation,
            Table::AgentStatement,
            Table::Family,
            Table::UserGrant,
        ];
        let of = of.map(|table| block_on(stage.server.realm.store.page(table, None, 256, 0)));
        of.map(|page| page.unwrap())
    };
    let statement = || {
        let body = stage.statement.as_bytes();
        let call = Call::post("/agent-statements").body("application/json", body);
        call.send(&stage.server).expect(200).json()
    };
    let first = statement();
    for token in [&stage.access_token, &stage.refresh_token] {
        let call = Call::post("/revoke").form(&[("client_id", "public"), ("token", token)]);
        call.send(&stage.server).expect(200);
    }
    // With their versions.
    let done = rows();
    stage.server.pass(5);
    for _ in 0..3 {
        assert_eq!(statement()["grants_ended"], first["grants_ended"]);
        for token in [&stage.access_token, &stage.refresh_token] {
            let call = Call::post("/revoke").form(&[("client_id", "public"), ("token", token)]);
            call.send(&stage.server).expect(200);
        }
    }
    assert_eq!(rows(), done);
    let records = stage.server.records();
    for (action, operation) in [
        ("token.revoke", "access_token"),
        ("token.revoke", "grant"),
        ("agent", "revoke"),
    ] {
        let own = records
            .iter()
            .filter(|r| r["action"] == action && r["operation"] == operation);
        let counts: Vec<Option<u64>> = own.map(|r| r["count"].as_u64()).collect();
        assert_eq!(counts, [None, Some(3)], "{action} {operation}");
    }
}

#[test]
fn mails_that_nobody_gets_use_up_nobodys_mails() {
    let mut mail = Mail::new();
    let server = start(&mail, |_| {});
    add_user(&server, "bob");
    let mut known = Browser::new(&server);
    let page = known.get("/account");
    known
        .log_in(&page, "alice", PASSWORD)
        .expect("Your account");
    mail.fresh();
    let realm = &server.realm;
    let row = &TABLE[Act::MailRequest as usize];
    // As many networks as it takes ask for mails that nobody gets.
    for network in 0..52_u32 {
        let peer = std::net::IpAddr::from((0x0a00_0000 + network).to_be_bytes());
        for _ in 0..100 {
            realm.budgets.spend(row.act, peer, realm.now()).unwrap();
        }
    }
    let mut stranger = Browser::new(&server);
    let page = stranger.get("/account/recover");
    let page = stranger.press(&page, "email", &[("username", "bob")]);
    assert_eq!(page.reply.status, 200);
    assert_eq!(mail.fresh().len(), 1);
    // And where as many were sent as are sent in all: a known browser gets its own, and a network
    // that has sent nothing yet a few.
    for n in 0..TABLE[Act::Mail as usize].total {
        let peer = std::net::IpAddr::from(n.to_be_bytes());
        realm.budgets.spend(Act::Mail, peer, realm.now()).unwrap();
    }
    let page = known.get("/account/recover");
    let page = known.press(&page, "email", &[("username", "alice")]);
    assert_eq!(page.reply.status, 200);
    assert_eq!(mail.fresh().len(), 1);
    let ask = |name: &str| {
        let mut stranger = Browser::new(&server);
        let page = stranger.get("/account/recover");
        let page = stranger.press(&page, "email", &[("username", name)]);
        page.reply.status
    };
    assert_eq!(ask("bob"), 200);
    assert_eq!(mail.fresh().len(), 1);
    let served = (0..30)
        .filter(|n| ask(&format!("nobody{n}")) == 200)
        .count();
    // One was spent before, and one for bob now.
    assert_eq!(served, row.share as usize - 2);
}

#[test]
fn who_asks_for_somebodys_mails_from_another_network_leaves_the_person_theirs() {
    let mut mail = Mail::new();
    let server = start(&mail, |_| {});
    let limits = server.realm.people.limits;
    let (store, now) = (&*server.realm.store, server.realm.now());
    let alice = block_on(server.realm.people.users.by_login("alice", now));
    let alice = alice.unwrap().unwrap().id;
    // Ten requests of an unauthenticated caller, as they are counted.
    let elsewhere = "198.51.100.7".parse().unwrap();
    for name in ["typed alice", &*alice] {
        let kind = signet_realm::attempts::Kind::Mail;
        let budgets = [
            limits.of_account_from(kind, name, elsewhere),
            limits.of_account_in_all(kind, name),
        ];
        for _ in 0..limits.mails {
            let counted = signet_realm::attempts::count_all(store, &budgets, now);
            block_on(counted).unwrap();
        }
    }
    let mut browser = Browser::new(&server);
    let page = browser.get("/account/recover");
    let page = browser.press(&page, "email", &[("username", "alice")]);
    assert_eq!(page.reply.status, 200);
    assert_eq!(mail.fresh().len(), 1);
}
