//! Several nodes that serve one issuer over one store: any of them answers any step of any flow,
//! and each follows what the others change.
use crate::common::Server;
use crate::common::{
    SECRET, Setup, block_on,
    browser::Browser,
    client,
    client::{Call, Reply},
    cluster::{Carried, Cluster},
    made::{Proof, assertion, proof, random_id, signer},
    people::{CHEAP, Mail, PASSWORD, VERIFIER, add_user, people, request},
    scope,
};
use serde_json::{Value, json};
use signet_admin::sealing::rotate_sealing_key;
use signet_crypto::Algorithm;
use signet_directory::passwords::PasswordOptions;
use signet_merge::tell::Believe;
use signet_oauth::authorize::redirect_uri::RedirectUri;
use signet_oauth::client::{AuthMethod, ConsentPolicy};
use signet_oauth::endpoint::{ENDPOINTS, EndpointId, Method};
use signet_oauth::id::GrantId;
use signet_realm::records::RecordError;
use signet_realm::state::Claim;
use signet_realm::tasks::{maintain_keys, sweep_once};
use signet_registry::keys::SealingFile;
use signet_request::cookie::Cookie;
use signet_store::{RevocationIndex, Subject};
use std::{
    collections::BTreeSet,
    sync::{Arc, atomic::Ordering::SeqCst},
};

const CALLBACK: &str = "https://client.example/cb";

fn setup(mail: &Mail) -> Setup {
    let mut operator = client("operator");
    operator.scope = scope("signet:admin");
    let mut setup = Setup {
        clients: vec![client("web"), operator],
        people: people(mail),
        passwords: PasswordOptions {
            cost: CHEAP,
            ..PasswordOptions::default()
        },
        ..Setup::default()
    };
    setup.settings.registration.enabled = true;
    setup.settings.registration.open = true;
    setup
}

fn cluster(mail: &Mail) -> Cluster {
    let cluster = Cluster::of(3, || setup(mail));
    add_user(cluster.node(0), "alice");
    cluster
}

fn as_web(node: &Server, path: &str, form: &[(&str, &str)]) -> Reply {
    Call::post(path).basic("web", SECRET).form(form).send(node)
}

fn is_active(node: &Server, token: &str) -> bool {
    let reply = as_web(node, "/introspect", &[("token", token)]).expect(200);
    reply.json()["active"].as_bool().expect("a boolean")
}

fn redeemed(node: &Server, code: &str) -> Reply {
    let form = [
        ("grant_type", "authorization_code"),
        ("code", code),
        ("redirect_uri", CALLBACK),
        ("code_verifier", VERIFIER),
    ];
    as_web(node, "/token", &form)
}

fn refreshed(node: &Server, refresh_token: &str) -> Reply {
    let form = [
        ("grant_type", "refresh_token"),
        ("refresh_token", refresh_token),
    ];
    as_web(node, "/token", &form)
}

/// Logs alice in at one node and says yes at another: the code.
#[track_caller]
fn code_of(
    at: &Server,
    consent_at: &Server,
    more: &[(&str, &str)],
) -> (String, Vec<(String, String)>) {
    let mut browser = Browser::new(at);
    let login = browser.get(&request(more)).expect_status(200);
    let consent = browser.log_in(&login, "alice", PASSWORD);
    let consent = consent.expect("asks for access");
    let mut browser = browser.moved_to(consent_at);
    let back = browser.press(&consent, "allow", &[]);
    assert!(
        back.url.starts_with(CALLBACK),
        "{}: {}",
        back.url,
        back.text()
    );
    assert_eq!(back.param("iss"), Some(at.issuer()));
    let code = back.param("code").expect("a code");
    (code, browser.cookies.into_iter().collect())
}

#[track_caller]
fn logged_in<'s>(node: &'s Server) -> Browser<'s> {
    let mut browser = Browser::new(node);
    let login = browser.get("/account");
    browser.log_in(&login, "alice", PASSWORD).expect_status(200);
    browser
}

const OFFLINE: &[(&str, &str)] = &[
    ("scope", "openid email offline_access"),
    ("prompt", "consent"),
];

#[test]
fn any_node_answers_any_step_of_a_login() {
    let mail = Mail::new();
    let cluster = cluster(&mail);
    let [one, two, three] = &cluster.nodes[..] else {
        panic!("three nodes");
    };
    let (code, cookies) = code_of(one, two, &[]);
    let tokens = redeemed(three, &code).expect(200);
    let (access, refresh) = (
        tokens.member("access_token"),
        tokens.member("refresh_token"),
    );
    // Every node serves the one issuer, and verifies what any of them signed.
    for node in &cluster.nodes {
        let metadata = Call::get("/.well-known/openid-configuration").send(node);
        assert_eq!(metadata.member("issuer"), one.issuer());
        assert!(is_active(node, &access));
    }
    let again = refreshed(one, &refresh).expect(200);
    let (access, refresh) = (again.member("access_token"), again.member("refresh_token"));
    assert!(is_active(two, &access));
    // The session counts everywhere.
    let mut browser = Browser::new(three);
    browser.cookies.extend(cookies);
    browser.get("/account").expect_status(200);
    // Logging out at any node ends it on all.
    let out = browser.get("/logout");
    browser
        .press(&out, "allow", &[])
        .expect("id=\"signed-out\"");
    for node in &cluster.nodes {
        assert!(!is_active(node, &access), "{}", node.base());
        assert!(!is_active(node, &tokens.member("access_token")));
    }
    refreshed(two, &refresh).expect_error(400, "invalid_grant");
}

#[test]
fn what_may_happen_once_happens_once_on_all_nodes_together() {
    let mail = Mail::new();
    let key = signer(Algorithm::Es256);
    let public = crate::client_authentication::public_set(&key);
    let make = || {
        let mut assertive = client("assertive");
        assertive.token_endpoint_auth_method = AuthMethod::PrivateKeyJwt;
        assertive.secrets.clear();
        assertive.jwks = Some(public.clone());
        let mut setup = setup(&mail);
        setup.clients.push(assertive);
        setup
    };
    let cluster = Cluster::of(2, make);
    let (one, two) = (cluster.node(0), cluster.node(1));
    add_user(one, "alice");

    // A code; its replay on another node ends what it gave.
    let (code, _) = code_of(one, one, &[]);
    let tokens = redeemed(one, &code).expect(200);
    redeemed(two, &code).expect_error(400, "invalid_grant");
    for node in &cluster.nodes {
        assert!(!is_active(node, &tokens.member("access_token")));
    }

    // A refresh token; its replay on another node ends its family.
    let (code, _) = code_of(two, one, OFFLINE);
    let first = redeemed(two, &code).expect(200).member("refresh_token");
    let second = refreshed(one, &first).expect(200).member("refresh_token");
    let third = refreshed(two, &second).expect(200);
    refreshed(two, &first).expect_error(400, "invalid_grant");
    refreshed(one, &third.member("refresh_token")).expect_error(400, "invalid_grant");
    assert!(!is_active(one, &third.member("access_token")));

    // A client assertion, also where it names the node that it is for.
    let asserted = |node: &Server, assertion: &str| {
        let kind = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
        let form = [
            ("grant_type", "client_credentials"),
            ("client_assertion_type", kind),
            ("client_assertion", assertion),
        ];
        Call::post("/token").form(&form).send(node)
    };
    let now = one.realm.now();
    let jti = random_id();
    let made = |audience: &str| assertion(&key, "assertive", audience, &jti, now);
    asserted(one, &made(&one.issuer())).expect(200);
    for audience in [one.issuer(), two.base()] {
        asserted(two, &made(&audience)).expect_error(401, "invalid_client");
    }
    let fresh = assertion(&key, "assertive", &two.base(), &random_id(), now);
    asserted(one, &fresh).expect_error(401, "invalid_client");
    asserted(two, &fresh).expect(200);

    // A DPoP proof.
    let proven = |node: &Server, proof: &str| {
        let form = [("grant_type", "client_credentials")];
        let call = Call::post("/token")
            .basic("web", SECRET)
            .header("dpop", proof);
        call.form(&form).send(node)
    };
    let of = |jti: &str| {
        let content = Proof {
            htm: "POST",
            path: "/token",
            jti,
            nonce: None,
            token: None,
        };
        proof(one, &key, &content)
    };
    let shown = of(&random_id());
    proven(one, &shown).expect(200);
    proven(two, &shown).expect_error(400, "invalid_dpop_proof");
}

#[test]
fn a_pushed_request_and_a_device_code_go_from_node_to_node() {
    let mail = Mail::new();
    let cluster = cluster(&mail);
    let [one, two, three] = &cluster.nodes[..] else {
        panic!("three nodes");
    };
    let parameters = crate::common::people::parameters(&[]);
    let pushed = as_web(one, "/par", &parameters).expect(201);
    let uri = pushed.member("request_uri");
    let target =
        crate::common::browser::with("/authorize", &[("client_id", "web"), ("request_uri", &uri)]);
    let mut browser = Browser::new(two);
    let login = browser.get(&target);
    let consent = browser.log_in(&login, "alice", PASSWORD);
    let mut browser = browser.moved_to(three);
    let back = browser.press(&consent, "allow", &[]);
    redeemed(one, &back.param("code").expect("a code")).expect(200);
    // It was answered: at no node again.
    let mut browser = Browser::new(one);
    browser.get(&target).expect_error("invalid_request_uri");

    let device = as_web(two, "/device_authorization", &[("scope", "openid")]).expect(200);
    let (code, user_code) = (device.member("device_code"), device.member("user_code"));
    let poll = |node: &Server| {
        let kind = "urn:ietf:params:oauth:grant-type:device_code";
        as_web(
            node,
            "/token",
            &[("grant_type", kind), ("device_code", &code)],
        )
    };
    poll(one).expect_error(400, "authorization_pending");
    let mut browser = logged_in(three);
    let page = browser.get(&format!("/device?user_code={user_code}"));
    let page = browser.press(&page, "allow", &[]);
    browser.press(&page, "allow", &[]).expect_status(200);
    one.pass(60);
    two.pass(60);
    poll(one).expect(200);
    poll(two).expect_error(400, "invalid_grant");
}

#[test]
fn a_client_that_one_node_writes_is_known_to_all_when_it_is_answered() {
    let mail = Mail::new();
    let cluster = cluster(&mail);
    let (one, two) = (cluster.node(0), cluster.node(1));
    let registered = Call::post("/register")
        .json(&json!({ "redirect_uris": ["https://a.example/cb"] }))
        .send(one)
        .expect(201);
    let id = registered.member("client_id");
    for node in &cluster.nodes {
        assert!(node.realm.snapshot().registry.clients.contains_key(&id));
    }
    // Whoever was not told has it within one look into the log.
    cluster.mesh.carry(Carried::NotAtAll);
    let mut known = client("late");
    known.revision = 1;
    block_on(two.realm.write_record(known, None)).expect("is new");
    assert!(!one.realm.snapshot().registry.clients.contains_key("late"));
    cluster.catch_up();
    for node in &cluster.nodes {
        assert!(node.realm.snapshot().registry.clients.contains_key("late"));
    }
    block_on(
        one.realm
            .remove_record::<signet_oauth::client::Client>("late", None),
    )
    .expect("is there");
    cluster.catch_up();
    for node in &cluster.nodes {
        assert!(!node.realm.snapshot().registry.clients.contains_key("late"));
    }
}

#[test]
fn words_in_any_order_and_twice_give_what_the_rows_say() {
    let mail = Mail::new();
    let cluster = cluster(&mail);
    cluster.mesh.carry(Carried::Later);
    let (one, two) = (cluster.node(0), cluster.node(1));
    let mut web = client("shop");
    web.revision = 1;
    block_on(one.realm.write_record(web, None)).expect("is new");
    for step in 0..6 {
        let node = [one, two][step % 2];
        let id = "shop".to_owned();
        block_on(
            node.realm
                .learn(signet_registry::kinds::RecordKind::Client, &id),
        )
        .expect("reads");
        let current = node.realm.snapshot().registry.clients["shop"].clone();
        let mut next = (*current).clone();
        next.revision += 1;
        next.client_name = Some(format!("Shop {step}"));
        let uri = format!("https://shop.example/{step}");
        next.redirect_uris
            .push(RedirectUri::parse(&uri, false).expect("a redirect"));
        if step > 2 {
            next.redirect_uris.remove(0);
        }
        block_on(node.realm.write_record(next, Some(current.revision))).expect("is current");
    }
    let mut gone = client("gone");
    gone.revision = 1;
    block_on(two.realm.write_record(gone, None)).expect("is new");
    block_on(
        two.realm
            .remove_record::<signet_oauth::client::Client>("gone", Some(1)),
    )
    .expect("is there");
    assert!(cluster.mesh.waiting() > 0);
    cluster.mesh.deliver();
    let stored = block_on(signet_registry::load::load(
        &*cluster.store,
        one.realm.now(),
    ))
    .expect("reads");
    for node in &cluster.nodes {
        let snapshot = node.realm.snapshot();
        assert_eq!(snapshot.registry.clients["shop"], stored.clients["shop"]);
        assert!(!snapshot.registry.clients.contains_key("gone"));
    }
    // The log says the same once more, and changes nothing.
    cluster.catch_up();
    for node in &cluster.nodes {
        assert_eq!(
            node.realm.snapshot().registry.clients["shop"],
            stored.clients["shop"]
        );
    }
}

#[test]
fn a_whole_record_over_a_changed_one_is_a_conflict_and_added_elements_of_two_both_stay() {
    let mail = Mail::new();
    let cluster = cluster(&mail);
    cluster.mesh.carry(Carried::NotAtAll);
    let (one, two) = (cluster.node(0), cluster.node(1));
    let operator = |node: &Server| {
        let form = [
            ("grant_type", "client_credentials"),
            ("scope", "signet:admin"),
        ];
        let reply = Call::post("/token").basic("operator", SECRET).form(&form);
        reply.send(node).expect(200).member("access_token")
    };
    let tokens = [operator(one), operator(two)];
    let created = Call::post("/admin/v1/clients")
        .bearer(&tokens[0])
        .json(&json!({ "client_id": "shop", "redirect_uris": ["https://shop.example/0"] }))
        .send(one)
        .expect(201);
    assert_eq!(created.header("etag"), "\"1\"");
    // Neither has heard of the other; both additions stay.
    for (n, node) in [one, two, one, two].into_iter().enumerate() {
        Call::post("/admin/v1/clients/shop/redirect_uris")
            .bearer(&tokens[n % 2])
            .json(&json!({ "add": [format!("https://shop.example/{}", n + 1)] }))
            .send(node)
            .expect(200);
    }
    let shown = Call::get("/admin/v1/clients/shop")
        .bearer(&tokens[0])
        .send(one)
        .expect(200);
    let uris = shown.json()["redirect_uris"]
        .as_array()
        .expect("a list")
        .len();
    assert_eq!((uris, shown.header("etag")), (5, "\"5\""));
    // A caller that read the third revision is refused, wherever it writes.
    let whole = |node: &Server, token: &str, revision: &str| {
        let document = json!({ "redirect_uris": ["https://shop.example/0"] });
        let call = Call::new(http::Method::PUT, "/admin/v1/clients/shop").bearer(token);
        call.header("if-match", revision).json(&document).send(node)
    };
    assert_eq!(whole(two, &tokens[1], "\"3\"").status, 412);
    assert_eq!(whole(two, &tokens[1], "\"5\"").status, 200);
    assert_eq!(whole(one, &tokens[0], "\"5\"").status, 412);
}

#[test]
fn what_one_node_revokes_is_revoked_on_all_and_who_heard_it_is_said() {
    let mail = Mail::new();
    let cluster = cluster(&mail);
    let [one, two, three] = &cluster.nodes[..] else {
        panic!("three nodes");
    };
    let (code, _) = code_of(one, two, OFFLINE);
    let access = redeemed(three, &code).expect(200).member("access_token");
    let user = crate::common::made::claims(&access)["sub"]
        .as_str()
        .expect("text")
        .to_owned();
    // A gate that follows another node hears it.
    let mut feed = three.realm.revocations.follow();
    let subject = || Subject::User(user.clone(), one.realm.now_ms());
    let end = one.realm.now() + 600;
    let receipt = block_on(one.realm.revoke_everywhere(subject(), end)).expect("is durable");
    let heard: Vec<&str> = receipt
        .acknowledged
        .iter()
        .map(|(id, _)| id.as_str())
        .collect();
    assert_eq!(heard, ["node-2", "node-3"]);
    for node in &cluster.nodes {
        assert!(!is_active(node, &access));
    }
    let told = feed.change_now().expect("in time").expect("was announced");
    assert_eq!(told.end, end);

    // Who is not reached is named, and reads it in the log.
    cluster.mesh.carry(Carried::NotAtAll);
    let (code, _) = code_of(one, two, OFFLINE);
    let access = redeemed(three, &code).expect(200).member("access_token");
    let receipt = block_on(one.realm.revoke_everywhere(subject(), end + 9)).expect("is durable");
    assert_eq!(receipt.unreachable.len(), 2);
    assert!(!is_active(one, &access) && is_active(two, &access));
    cluster.catch_up();
    for node in &cluster.nodes {
        assert!(!is_active(node, &access));
    }
}

// 7.5: what was revoked elsewhere could not be heard.
#[test]
fn a_node_that_does_not_hear_the_others_calls_no_token_active() {
    let mail = Mail::new();
    let cluster = cluster(&mail);
    let node = &cluster.nodes[0];
    let token = as_web(node, "/token", &[("grant_type", "client_credentials")]).expect(200);
    let token = token.json()["access_token"]
        .as_str()
        .expect("a token")
        .to_owned();
    assert!(is_active(node, &token));
    node.realm.set_deaf(true);
    as_web(node, "/introspect", &[("token", &token)]).expect_error(503, "temporarily_unavailable");
    // What asks nobody goes on.
    as_web(node, "/token", &[("grant_type", "client_credentials")]).expect(200);
    node.realm.set_deaf(false);
    assert!(is_active(node, &token));
}

/// What an endpoint claims about now. A new endpoint has to say it here.
fn claim_of(endpoint: EndpointId) -> Option<Claim> {
    match endpoint {
        EndpointId::Token => Some(Claim::Grant),
        EndpointId::Introspect
        | EndpointId::Userinfo
        | EndpointId::RevocationStream
        | EndpointId::CheckSession => Some(Claim::NotRevoked),
        // Documents, true whenever they were read.
        EndpointId::OauthMetadata
        | EndpointId::OpenidMetadata
        | EndpointId::Jwks
        | EndpointId::CompactKeys
        // What they begin, end or change is a write, which asks the others itself.
        | EndpointId::Authorize
        | EndpointId::Revoke
        | EndpointId::Par
        | EndpointId::Register
        | EndpointId::RegisterClient
        | EndpointId::DeviceAuthorization
        | EndpointId::DeviceVerification
        | EndpointId::Logout
        | EndpointId::PasswordLogin
        | EndpointId::AgentStatements => None,
    }
}

// HN1, MN1: one question, asked at each entrance.
#[test]
fn whatever_claims_something_about_now_asks_whether_the_node_may_speak() {
    let mail = Mail::new();
    let cluster = Cluster::of(1, || {
        let mut setup = setup(&mail);
        let mut reader = client("reader");
        reader.scope = scope("signet:revocations");
        setup.clients.push(reader);
        setup
    });
    add_user(cluster.node(0), "alice");
    let node = cluster.node(0);
    let (code, _) = code_of(node, node, OFFLINE);
    let token = redeemed(node, &code).expect(200).member("access_token");
    let ask = |endpoint: EndpointId| {
        let path = endpoint.row().path.replace("{client_id}", "web");
        let reply = if endpoint == EndpointId::Token {
            as_web(node, &path, &[("grant_type", "client_credentials")])
        } else if endpoint == EndpointId::Introspect {
            as_web(node, &path, &[("token", &token)])
        } else if endpoint == EndpointId::Userinfo {
            Call::get(&path).bearer(&token).send(node)
        } else if endpoint == EndpointId::RevocationStream {
            // Of a stream that begins nobody would see an end.
            Call::post(&path)
                .basic("reader", SECRET)
                .form(&[("acknowledge", "perhaps")])
                .send(node)
        } else if endpoint.row().methods.contains(&Method::Get) {
            Call::get(&path).send(node)
        } else {
            Call::post(&path).form(&[]).send(node)
        };
        reply.status
    };
    type Turn = fn(&Server, bool);
    let states: [(&str, Turn); 3] = [
        ("deaf", |node, on| node.realm.set_deaf(on)),
        ("outdated", |node, on| node.realm.set_outdated(on)),
        ("removed", |node, _| node.realm.set_removed()),
    ];
    assert_eq!(Call::get("/health/ready").send(node).status, 200);
    for (state, set) in states {
        set(node, true);
        for endpoint in ENDPOINTS {
            let mute = match claim_of(endpoint.id) {
                Some(Claim::NotRevoked) => true,
                Some(Claim::Grant) => state != "deaf",
                None => state == "removed",
            };
            assert_eq!(ask(endpoint.id) == 503, mute, "{state}: {:?}", endpoint.id);
        }
        assert_eq!(Call::get("/health/live").send(node).status, 200, "{state}");
        assert_eq!(Call::get("/health/ready").send(node).status, 503, "{state}");
        set(node, false);
        if state != "removed" {
            for endpoint in ENDPOINTS {
                assert_ne!(ask(endpoint.id), 503, "{state}: {:?}", endpoint.id);
            }
            assert_eq!(Call::get("/health/ready").send(node).status, 200, "{state}");
        }
    }
}

#[test]
fn revocations_only_grow_in_whatever_order_they_are_heard() {
    let mail = Mail::new();
    let cluster = cluster(&mail);
    cluster.mesh.carry(Carried::Later);
    let (one, two) = (cluster.node(0), cluster.node(1));
    let now = one.realm.now();
    let user = |epoch_ms| Subject::User("somebody".into(), epoch_ms);
    let revoke = |node: &Server, subject, end| {
        block_on(node.realm.revocations.revoke(subject, end, now)).expect("is durable");
    };
    revoke(one, user(1_000), now + 900);
    revoke(two, user(5_000), now + 100);
    revoke(one, user(2_000), now + 50);
    revoke(two, Subject::Grant(GrantId::new([7; 16])), now + 70);
    cluster.mesh.deliver();
    for node in &cluster.nodes {
        let index = &node.realm.revocations;
        assert!(index.holds(&user(5_000), now + 900), "{}", node.base());
        assert!(!index.holds(&user(5_001), now + 900));
        assert!(index.holds(&Subject::Grant(GrantId::new([7; 16])), now + 70));
    }
    let loaded = block_on(RevocationIndex::load(cluster.store.clone(), now)).expect("reads");
    assert!(loaded.holds(&user(5_000), now + 900));
}

#[test]
fn an_agent_that_one_node_registers_or_stops_is_so_on_the_others_at_once_though_nothing_is_told() {
    use signet_agent::{Suite, identity, json::to_json};
    let mail = Mail::new();
    let cluster = Cluster::of(2, || {
        let mut setup = setup(&mail);
        setup.settings.agents.enabled = true;
        setup
    });
    // Nothing of it is in the memory of a node: no word is carried, and no log is read.
    cluster.mesh.carry(Carried::NotAtAll);
    let admin = |node: &Server, method: http::Method, target: &str, body: Option<&Value>| {
        let form = [
            ("grant_type", "client_credentials"),
            ("scope", "signet:admin"),
        ];
        let token = Call::post("/token").basic("operator", SECRET).form(&form);
        let token = token.send(node).expect(200).member("access_token");
        let call = Call::new(method, target).bearer(&token);
        match body {
            Some(body) => call.json(body).send(node),
            None => call.send(node),
        }
    };
    let (one, two) = (cluster.node(0), cluster.node(1));
    let agent = identity::create("agent", Suite::Ed25519, 1_700_000_000).expect("is made");
    let document = to_json(agent.document.signed().as_bytes()).expect("is text");
    let document = json!({ "document": document });
    let path = format!("/admin/v1/agents/{}", agent.document.id());
    admin(two, http::Method::GET, &path, None).expect(404);
    admin(one, http::Method::POST, "/admin/v1/agents", Some(&document)).expect(201);
    let shown = admin(two, http::Method::GET, &path, None)
        .expect(200)
        .json();
    assert_eq!(shown["registered"], true);
    assert!(shown.get("stopped_at").is_none());
    admin(two, http::Method::POST, &format!("{path}/stop"), None).expect(200);
    let shown = admin(one, http::Method::GET, &path, None)
        .expect(200)
        .json();
    assert!(shown["stopped_at"].is_u64());
}

#[test]
fn what_a_later_version_tells_is_kept_for_those_who_read_it_and_changes_nothing_here() {
    let mail = Mail::new();
    let cluster = cluster(&mail);
    let (one, two) = (cluster.node(0), cluster.node(1));
    cluster.catch_up();
    let before = one.realm.snapshot();
    let later = signet_merge::entry::Entry {
        realm: String::new(),
        kind: 200,
        name: b"of a later version".to_vec(),
        fragment: vec![1, 2, 3],
        end: None,
    };
    let origin = signet_store::NodeId::parse("node-2").expect("a name");
    // Nothing is read again for it: what is in memory is the very same.
    one.realm.believe(&origin, std::slice::from_ref(&later));
    block_on(one.realm.catch_up()).expect("reads");
    assert!(Arc::ptr_eq(&before, &one.realm.snapshot()));
    // It is not forgotten before somebody who understands it says so.
    assert!(one.realm.is_current(&later));
    let token = as_web(two, "/token", &[("grant_type", "client_credentials")]);
    let token = token.expect(200).member("access_token");
    assert!(is_active(one, &token));
}

#[test]
fn settings_are_the_configuration_of_the_node_that_reads_it_again() {
    let mail = Mail::new();
    let cluster = Cluster::of(2, || setup(&mail));
    let lifetime = |node: &Server| {
        let form = [("grant_type", "client_credentials")];
        as_web(node, "/token", &form).expect(200).json()["expires_in"].clone()
    };
    let (one, two) = (cluster.node(0), cluster.node(1));
    let before = lifetime(two);
    one.configure(|settings, _| settings.access_token_lifetime = 77);
    assert_eq!(lifetime(one), 77);
    cluster.catch_up();
    assert_eq!(lifetime(two), before);
}

fn kids(jwks: &Reply) -> BTreeSet<String> {
    let keys = jwks.json()["keys"].as_array().expect("keys").clone();
    let kid = |key: Value| key["kid"].as_str().expect("a kid").to_owned();
    keys.into_iter().map(kid).collect()
}

#[test]
fn nodes_that_do_a_due_step_at_once_end_with_one_active_key_each() {
    let mail = Mail::new();
    let cluster = cluster(&mail);
    for carried in [Carried::AtOnce, Carried::NotAtAll] {
        cluster.mesh.carry(carried);
        block_on(async {
            let ticks = cluster.nodes.iter().map(|node| maintain_keys(&node.realm));
            for done in futures_all(ticks).await {
                done.expect("does what is due");
            }
        });
        cluster.nodes.iter().for_each(|node| node.pass(700));
        block_on(async {
            let rotations = cluster.nodes.iter().map(|node| async {
                let realm = &node.realm;
                let keyring = Arc::clone(&realm.keyring());
                let publish = |deltas: Vec<_>| realm.apply(deltas).expect("opens");
                let at = realm.moment();
                realm.signing_keys.rotate(None, &keyring, at, publish).await
            });
            for done in futures_all(rotations).await {
                done.expect("rotates");
            }
        });
        cluster.catch_up();
        for node in &cluster.nodes {
            block_on(node.realm.learn_keys()).expect("reads");
        }
        let sets = cluster
            .nodes
            .iter()
            .map(|node| Call::get("/jwks").send(node).expect(200));
        let sets: Vec<BTreeSet<String>> = sets.map(|jwks| kids(&jwks)).collect();
        assert!(sets.iter().all(|set| *set == sets[0]), "{sets:?}");
        for node in &cluster.nodes {
            let keys = block_on(node.realm.signing_keys.list());
            for kind in keys.iter().map(|key| key.kind).collect::<BTreeSet<_>>() {
                let active = keys
                    .iter()
                    .filter(|key| key.kind == kind)
                    .filter(|key| key.phase == signet_registry::keys::Phase::Active);
                assert_eq!(active.count(), 1, "{keys:?}");
            }
        }
    }
}

async fn futures_all<T>(futures: impl Iterator<Item = impl Future<Output = T>>) -> Vec<T> {
    let mut all: Vec<_> = futures.map(|future| (Box::pin(future), None)).collect();
    std::future::poll_fn(|context| {
        let mut ready = true;
        for (future, done) in &mut all {
            if done.is_none() {
                match future.as_mut().poll(context) {
                    std::task::Poll::Ready(value) => *done = Some(value),
                    std::task::Poll::Pending => ready = false,
                }
            }
        }
        match ready {
            true => std::task::Poll::Ready(()),
            false => std::task::Poll::Pending,
        }
    })
    .await;
    all.into_iter().filter_map(|(_, done)| done).collect()
}

#[test]
fn a_key_is_in_every_nodes_key_set_before_any_node_signs_with_it() {
    let mail = Mail::new();
    let cluster = cluster(&mail);
    cluster.mesh.carry(Carried::NotAtAll);
    let (one, two) = (cluster.node(0), cluster.node(1));
    block_on(maintain_keys(&one.realm)).expect("makes standbys");
    let ahead = kids(&Call::get("/jwks").send(one).expect(200));
    cluster.catch_up();
    assert_eq!(kids(&Call::get("/jwks").send(two).expect(200)), ahead);
    // What a new key signs is verified by nodes that were not told that it is active.
    cluster.nodes.iter().for_each(|node| node.pass(700));
    let keyring = Arc::clone(&one.realm.keyring());
    let publish = |deltas: Vec<_>| one.realm.apply(deltas).expect("opens");
    let rotated = one
        .realm
        .signing_keys
        .rotate(None, &keyring, one.realm.moment(), publish);
    block_on(rotated).expect("rotates");
    let form = [("grant_type", "client_credentials")];
    let token = as_web(one, "/token", &form)
        .expect(200)
        .member("access_token");
    assert!(is_active(two, &token));
    // A node that comes now has them all before it answers.
    let mut cluster = cluster;
    let four = cluster.join(setup(&mail));
    assert!(is_active(four, &token));
}

#[test]
fn a_key_that_a_node_makes_at_its_start_is_known_to_all_at_the_next_look() {
    let mail = Mail::new();
    let mut cluster = Cluster::of(1, || setup(&mail));
    cluster.mesh.carry(Carried::NotAtAll);
    // Its configuration has one algorithm more.
    let mut more = setup(&mail);
    more.settings.signing_algs.push(Algorithm::Rs256);
    cluster.join(more);
    let (one, two) = (cluster.node(0), cluster.node(1));
    let served = |node: &Server| kids(&Call::get("/jwks").send(node).expect(200));
    assert_ne!(served(one), served(two));
    cluster.catch_up();
    cluster.catch_up();
    assert_eq!(served(one), served(two));
}

#[test]
fn what_is_told_to_a_node_before_it_has_read_everything_does_not_bring_back_what_is_gone() {
    let mail = Mail::new();
    let cluster = Cluster::of(1, || setup(&mail));
    let one = cluster.node(0);
    cluster.mesh.carry(Carried::Later);
    let mut ghost = client("ghost");
    ghost.revision = 1;
    block_on(one.realm.write_record(ghost, None)).expect("is new");
    let told = cluster.mesh.take();
    block_on(
        one.realm
            .remove_record::<signet_oauth::client::Client>("ghost", None),
    )
    .expect("is there");
    // The word of its beginning reaches a node that is being started, and that of its end does not.
    let starting = Server::start(Setup {
        store: Some(cluster.store.clone()),
        sealing_key: cluster.sealing_key.clone(),
        ..setup(&mail)
    });
    for (origin, entries) in &told {
        starting.realm.believe(origin, entries);
    }
    let has = |node: &Server| node.realm.snapshot().registry.clients.contains_key("ghost");
    assert!(!has(&starting));
    block_on(starting.realm.share()).expect("reads");
    for (origin, entries) in &told {
        starting.realm.believe(origin, entries);
    }
    assert!(!has(&starting));
}

#[test]
fn clocks_that_differ_by_minutes_neither_lose_a_write_nor_let_an_old_one_win() {
    let mail = Mail::new();
    let mut cluster = Cluster::of(1, || setup(&mail));
    // Four minutes ahead of the first.
    cluster.join(Setup {
        ahead_ms: 240_000,
        ..setup(&mail)
    });
    let (one, two) = (cluster.node(0), cluster.node(1));
    let mut shop = client("shop");
    shop.revision = 1;
    block_on(two.realm.write_record(shop, None)).expect("is new");
    cluster.mesh.carry(Carried::Later);
    for round in 0..3_u64 {
        for node in [one, two] {
            block_on(
                node.realm
                    .learn(signet_registry::kinds::RecordKind::Client, "shop"),
            )
            .expect("reads");
            let mut next = (*node.realm.snapshot().registry.clients["shop"]).clone();
            let read = next.revision;
            next.revision += 1;
            next.client_name = Some(format!("{} {round}", node.base()));
            block_on(node.realm.write_record(next, Some(read))).expect("is current");
        }
    }
    // The last one by the order of the store is the slow clock's.
    let mut last = (*two.realm.snapshot().registry.clients["shop"]).clone();
    last.revision += 1;
    last.client_name = Some("the last".to_owned());
    block_on(
        one.realm
            .learn(signet_registry::kinds::RecordKind::Client, "shop"),
    )
    .expect("reads");
    block_on(one.realm.write_record(last, Some(7))).expect("is current");
    cluster.mesh.deliver();
    for node in &cluster.nodes {
        let snapshot = node.realm.snapshot();
        let name = snapshot.registry.clients["shop"].client_name.as_deref();
        assert_eq!(name, Some("the last"));
    }
}

/// A node's clock is set, by so many milliseconds.
fn set_clock(node: &Server, by_ms: i64) {
    let passed = &node.clock.passed;
    passed.store(passed.load(SeqCst).wrapping_add_signed(by_ms), SeqCst);
}

const HOUR_MS: i64 = 3_600_000;

#[test]
fn a_clock_that_is_wrong_for_a_moment_hides_nothing_that_its_node_does() {
    let mail = Mail::new();
    let cluster = cluster(&mail);
    cluster.mesh.carry(Carried::NotAtAll);
    let (one, two) = (cluster.node(0), cluster.node(1));
    // Room for a clock that is behind.
    cluster.nodes.iter().for_each(|node| node.pass(4 * 3_600));
    let end = one.realm.now() + 10 * 86_400;
    let revoked_by_all = |id: u8| {
        let subject = || Subject::Grant(GrantId::new([id; 16]));
        let revocations = &two.realm.revocations;
        block_on(revocations.revoke(subject(), end, two.realm.now())).expect("is durable");
        cluster.catch_up();
        for node in &cluster.nodes {
            assert!(node.realm.revocations.holds(&subject(), end), "{id}");
        }
    };
    let steps = [
        HOUR_MS / 6,
        -HOUR_MS / 6,
        HOUR_MS,
        -HOUR_MS,
        -3 * HOUR_MS,
        3 * HOUR_MS,
    ];
    for (id, by_ms) in (0..).zip(steps) {
        set_clock(two, by_ms);
        revoked_by_all(id);
    }
    // What is written while a clock is ahead, and afterwards when it is right.
    let mut made = client("made");
    made.revision = 1;
    set_clock(two, 23 * HOUR_MS);
    block_on(two.realm.write_record(made, None)).expect("is new");
    set_clock(two, -23 * HOUR_MS);
    revoked_by_all(99);
    for node in &cluster.nodes {
        let snapshot = node.realm.snapshot();
        assert!(
            snapshot.registry.clients.contains_key("made"),
            "{}",
            node.base()
        );
    }
}

#[test]
fn who_was_revoked_by_a_clock_that_was_ahead_logs_in_at_once_and_that_holds_on_every_node() {
    let mail = Mail::new();
    let cluster = cluster(&mail);
    let [one, two, three] = &cluster.nodes[..] else {
        panic!("three nodes");
    };
    let (code, _) = code_of(one, two, OFFLINE);
    let before = redeemed(three, &code).expect(200);
    let user = crate::common::made::claims(&before.member("access_token"))["sub"]
        .as_str()
        .expect("text")
        .to_owned();
    for by_ms in [50_000, HOUR_MS] {
        set_clock(two, by_ms);
        // What the node issues while its clock is ahead ends, too, whichever node ends it.
        let (code, _) = code_of(two, two, OFFLINE);
        let ahead = redeemed(two, &code).expect(200);
        block_on(two.realm.revoke_everything_of(&user)).expect("is durable");
        set_clock(two, -by_ms);
        for node in &cluster.nodes {
            for tokens in [&before, &ahead] {
                assert!(!is_active(node, &tokens.member("access_token")));
                let refresh_token = tokens.member("refresh_token");
                refreshed(node, &refresh_token).expect_error(400, "invalid_grant");
            }
        }
        for (login, consent, redeem) in [(one, two, three), (three, one, two), (two, three, one)] {
            let (code, _) = code_of(login, consent, OFFLINE);
            let tokens = redeemed(redeem, &code).expect(200);
            let next = refreshed(login, &tokens.member("refresh_token")).expect(200);
            for node in &cluster.nodes {
                assert!(is_active(node, &tokens.member("access_token")));
                assert!(is_active(node, &next.member("access_token")));
            }
        }
        // A later revocation, by a clock that is right, ends what was issued in between.
        let (code, _) = code_of(one, one, OFFLINE);
        let tokens = redeemed(one, &code).expect(200);
        let refresh_token = tokens.member("refresh_token");
        block_on(three.realm.revoke_everything_of(&user)).expect("is durable");
        for node in &cluster.nodes {
            assert!(!is_active(node, &tokens.member("access_token")));
            refreshed(node, &refresh_token).expect_error(400, "invalid_grant");
        }
    }
}

#[test]
fn a_client_whose_tokens_were_ended_by_a_clock_that_was_ahead_gets_new_ones_that_hold() {
    let mail = Mail::new();
    let cluster = cluster(&mail);
    let form = [("grant_type", "client_credentials")];
    let token = |node| {
        as_web(node, "/token", &form)
            .expect(200)
            .member("access_token")
    };
    let (one, two) = (cluster.node(0), cluster.node(1));
    set_clock(two, HOUR_MS);
    let ahead = token(two);
    set_clock(two, -HOUR_MS);
    // Nothing that the node issued while it was ahead outlives what it revokes later.
    block_on(two.realm.revoke_client("web")).expect("is durable");
    assert!(!is_active(one, &ahead));
    for node in &cluster.nodes {
        let token = token(node);
        for node in &cluster.nodes {
            assert!(is_active(node, &token), "{}", node.base());
        }
    }
}

#[test]
fn a_node_that_was_away_for_longer_than_the_log_is_kept_reads_everything() {
    let mail = Mail::new();
    let cluster = cluster(&mail);
    cluster.mesh.carry(Carried::NotAtAll);
    let (one, two) = (cluster.node(0), cluster.node(1));
    for id in ["stays", "goes"] {
        let mut made = client(id);
        made.revision = 1;
        block_on(one.realm.write_record(made, None)).expect("is new");
    }
    cluster.catch_up();
    assert!(two.realm.snapshot().registry.clients.contains_key("goes"));
    block_on(
        one.realm
            .remove_record::<signet_oauth::client::Client>("goes", None),
    )
    .expect("is there");
    let end = one.realm.now() + 10 * 86_400;
    let somebody = || Subject::User("somebody".into(), 5);
    block_on(
        one.realm
            .revocations
            .revoke(somebody(), end, one.realm.now()),
    )
    .expect("is durable");
    // The log and the memory of the removal are gone.
    cluster.nodes.iter().for_each(|node| node.pass(2 * 86_400));
    block_on(sweep_once(&one.realm));
    cluster.catch_up();
    let clients = &two.realm.snapshot().registry.clients;
    assert!(clients.contains_key("stays") && !clients.contains_key("goes"));
    assert!(two.realm.revocations.holds(&somebody(), end));
}

#[test]
fn guesses_are_counted_on_all_nodes_together() {
    let mail = Mail::new();
    let cluster = cluster(&mail);
    let mut refused = 0;
    for guess in 0..40 {
        let mut browser = Browser::new(cluster.node(guess % 3));
        let login = browser.get("/account");
        let answer = browser.log_in(&login, "alice", "wrong");
        if answer.reply.status == 429 {
            refused += 1;
        }
    }
    // As many as one node alone lets pass.
    let alone = Cluster::of(1, || setup(&mail));
    add_user(alone.node(0), "alice");
    let mut refused_alone = 0;
    for _ in 0..40 {
        let mut browser = Browser::new(alone.node(0));
        let login = browser.get("/account");
        if browser.log_in(&login, "alice", "wrong").reply.status == 429 {
            refused_alone += 1;
        }
    }
    assert!(refused > 0);
    assert_eq!(refused, refused_alone);
}

#[test]
fn a_mailed_code_works_on_any_node_once() {
    let mut mail = Mail::new();
    let cluster = cluster(&mail);
    let (one, two) = (cluster.node(0), cluster.node(1));
    let mut browser = Browser::new(one);
    let login = browser.get("/account");
    let asked = browser.press(&login, "email", &[("username", "alice")]);
    let code = mail.code();
    let cookies = browser.cookies.clone();
    let mut browser = browser.moved_to(two);
    browser
        .press(&asked, "allow", &[("otp", &code)])
        .expect_status(200);
    assert!(
        browser
            .cookies
            .contains_key(&browser.cookie_name(Cookie::Session))
    );
    let mut again = Browser::new(one);
    again.cookies = cookies;
    again.press(&asked, "allow", &[("otp", &code)]);
    assert!(
        !again
            .cookies
            .contains_key(&again.cookie_name(Cookie::Session))
    );
}

#[test]
fn a_node_answers_under_its_own_name_as_under_the_issuers() {
    let mail = Mail::new();
    let cluster = cluster(&mail);
    let (one, two) = (cluster.node(0), cluster.node(1));
    assert_ne!(one.issuer(), two.base());
    // Every page and redirect stayed on the node: the browser follows no other.
    let (code, _) = code_of(two, two, &[]);
    let tokens = redeemed(two, &code).expect(200);
    let claims = crate::common::made::claims(&tokens.member("id_token"));
    assert_eq!(claims["iss"], one.issuer());
    // A proof may name either.
    let key = signer(Algorithm::Es256);
    for url in [one.issuer(), two.base()] {
        let proof = key.sign(signet_jose::jwt::Typ::DpopProof, |w| {
            w.member("htm").string("POST");
            w.member("htu").string(&format!("{url}/token"));
            w.member("jti").string(&random_id());
            w.member("iat").number(two.realm.now());
        });
        let form = [("grant_type", "client_credentials")];
        let call = Call::post("/token").basic("web", SECRET).form(&form);
        let call = call.header("dpop", &proof.expect("signs"));
        call.clone().send(two).expect(200);
        // The first node is not found under the second one's name.
        let other = call.send(one);
        other.expect_error(400, "invalid_dpop_proof");
    }
}

#[test]
fn a_conflict_of_two_that_insert_is_told_to_one() {
    let mail = Mail::new();
    let cluster = cluster(&mail);
    cluster.mesh.carry(Carried::NotAtAll);
    let made = || {
        let mut made = client("both");
        made.revision = 1;
        made.consent = ConsentPolicy::Skip;
        made
    };
    block_on(cluster.node(0).realm.write_record(made(), None)).expect("is new");
    let other = block_on(cluster.node(1).realm.write_record(made(), None));
    assert!(matches!(other, Err(RecordError::Exists)), "{other:?}");
    // And it has it now.
    let snapshot = cluster.node(1).realm.snapshot();
    assert!(snapshot.registry.clients.contains_key("both"));
}

/// Brings sealing keys to other nodes as the binary's calls between nodes do.
struct Bring {
    nodes: Vec<Arc<signet_realm::state::Realm>>,
    reachable: std::sync::atomic::AtomicBool,
}

impl signet_registry::keys::ShareSealingKeys for Bring {
    fn share(
        &self,
        keys: signet_crypto::Secret<Vec<u8>>,
    ) -> signet_merge::tell::BoxFuture<'_, Vec<signet_store::NodeId>> {
        Box::pin(async move {
            if !self.reachable.load(std::sync::atomic::Ordering::SeqCst) {
                return vec![signet_store::NodeId::parse("node-2").expect("a name")];
            }
            for node in &self.nodes {
                let keys = signet_crypto::Secret::new(keys.expose().clone());
                node.take_over_sealing_keys(keys).await.expect("takes over");
            }
            Vec::new()
        })
    }
}

#[test]
fn rotating_the_sealing_key_loses_no_session_on_any_node() {
    let mail = Mail::new();
    let directories = [0, 1].map(|_| tempfile::tempdir().expect("a directory"));
    let first = SealingFile::open_or_create(directories[0].path(), 1).expect("is made");
    let announced = first.to_bytes();
    let second = SealingFile::adopt(directories[1].path(), announced.expose()).expect("is made");
    let mut cluster = Cluster::of(0, || setup(&mail));
    for file in [first, second] {
        cluster.join(Setup {
            sealing: Some(file),
            ..setup(&mail)
        });
    }
    let (one, two) = (cluster.node(0), cluster.node(1));
    add_user(one, "alice");
    let bring = Arc::new(Bring {
        nodes: vec![two.realm.clone()],
        reachable: std::sync::atomic::AtomicBool::new(false),
    });
    one.realm.share_sealing_keys_by(bring.clone());
    let rotate = || {
        let file = one.realm.sealing_file.as_ref().expect("has one");
        block_on(rotate_sealing_key(&one.realm, file))
    };
    let current = |node: &Server| node.realm.keyring().current_id();
    let before = current(one);
    let browser = logged_in(one);
    let (code, _) = code_of(one, two, OFFLINE);
    let refresh = redeemed(two, &code).expect(200).member("refresh_token");

    // A node that cannot be reached holds it up, and nothing is sealed that it could not open.
    let held_up = rotate().expect_err("is held up").to_string();
    assert!(held_up.contains("node-2"), "{held_up}");
    assert_eq!([current(one), current(two)], [before; 2]);

    bring
        .reachable
        .store(true, std::sync::atomic::Ordering::SeqCst);
    rotate().expect("rotates");
    assert_ne!(current(one), before);
    assert_eq!(current(one), current(two));
    // What was sealed before and after goes on, at any node.
    let mut browser = browser.moved_to(two);
    browser.get("/account").expect_status(200).expect("alice");
    let refresh = refreshed(one, &refresh).expect(200).member("refresh_token");
    refreshed(two, &refresh).expect(200);
    let later = logged_in(two);
    later.moved_to(one).get("/account").expect("alice");
    // Signing keys are sealed again, and every node signs.
    block_on(two.realm.catch_up()).expect("reads");
    for node in &cluster.nodes {
        as_web(node, "/token", &[("grant_type", "client_credentials")]).expect(200);
    }

    // Work on the signing keys that a rotation overtakes is to be done again, and then succeeds.
    let work = |keyring: &Arc<_>| {
        let show = |deltas: Vec<_>| two.realm.apply(deltas).expect("opens");
        let keys = &two.realm.signing_keys;
        block_on(keys.refresh(keyring, two.realm.now(), show))
    };
    let keyring = Arc::clone(&two.realm.keyring());
    rotate().expect("rotates");
    let overtaken = work(&keyring);
    assert!(overtaken.is_err() && two.realm.was_overtaken(&keyring, &overtaken));
    block_on(two.realm.learn_keys()).expect("reads");
    let keyring = Arc::clone(&two.realm.keyring());
    let done = work(&keyring);
    assert!(done.is_ok() && !two.realm.was_overtaken(&keyring, &done));
}

#[test]
fn proofs_with_a_nonce_of_one_node_hold_on_another() {
    let mail = Mail::new();
    let cluster = Cluster::of(2, || {
        let mut setup = setup(&mail);
        setup.settings.dpop_nonce_required = true;
        setup
    });
    let (one, two) = (cluster.node(0), cluster.node(1));
    let key = signer(Algorithm::Es256);
    let proven = |node: &Server, nonce: Option<&str>| {
        let content = Proof {
            htm: "POST",
            path: "/token",
            jti: &random_id(),
            nonce,
            token: None,
        };
        let call = Call::post("/token").basic("web", SECRET);
        let call = call.header("dpop", &proof(node, &key, &content));
        call.form(&[("grant_type", "client_credentials")])
            .send(node)
    };
    let refused = proven(one, None).expect_error(400, "use_dpop_nonce");
    let nonce = refused.header("dpop-nonce").to_owned();
    proven(two, Some(&nonce)).expect(200);
}

#[test]
fn what_a_directory_declares_is_in_effect_on_every_node_whichever_applies_it() {
    let mail = Mail::new();
    let cluster = cluster(&mail);
    // More than one line of the change log has.
    let clients = (0..300).map(|i| {
        json!({ "kind": "client", "name": format!("shop{i}"), "members": {
            "token_endpoint_auth_method": "none", "redirect_uris": [CALLBACK],
        } })
    });
    let group = |name: &str| json!({ "kind": "group", "name": name, "members": {} });
    let mut objects: Vec<Value> = clients.collect();
    objects.push(group("staff"));
    let declared =
        |objects: &[Value]| json!({ "directory": "shop", "prune": true, "objects": objects });
    let apply = |node: usize, objects: &[Value]| {
        let realm = &cluster.node(node).realm;
        block_on(signet_admin::declarations::apply(realm, declared(objects))).expect("is applied")
    };
    let everywhere = |clients: usize| {
        for node in &cluster.nodes {
            let registry = &node.realm.snapshot().registry;
            let shops = (0..300).filter(|i| registry.clients.contains_key(&format!("shop{i}")));
            assert_eq!(shops.count(), clients);
            assert!(registry.people.groups.contains_key("staff"));
        }
    };
    apply(0, &objects);
    everywhere(300);
    // Nobody hears it at once: the log has it.
    cluster.mesh.carry(Carried::Later);
    let changed = apply(1, &objects[299..]);
    assert_eq!(changed["changes"].as_array().map(Vec::len), Some(299));
    cluster.catch_up();
    everywhere(1);
    let realm = &cluster.node(2).realm;
    let left = block_on(signet_admin::declarations::plan(
        realm,
        declared(&objects[299..]),
    ));
    assert_eq!(left.expect("a plan")["changes"], json!([]));
}
