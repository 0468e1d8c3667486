//! Dynamic registration (RFC 7591, RFC 7592), pushed requests (RFC 9126) and the documents, over
//! real sockets.
use crate::common::{
    SECRET, Server, Setup, block_on, client,
    client::{Call, Reply},
    made::{CHALLENGE, REDIRECT},
};
use http::Method;
use serde_json::json;
use signet_oauth::client::{AuthMethod, Client, GrantType};
use signet_oauth::issued::format::AccessTokenFormat;
use signet_realm::budgets::{Act, TABLE};
use std::{
    sync::atomic::{AtomicBool, Ordering::SeqCst},
    time::Duration,
};

fn open() -> Setup {
    let mut setup = Setup::default();
    setup.settings.registration.enabled = true;
    setup.settings.registration.open = true;
    setup.settings.registration.grant_types = GrantType::ALL
        .iter()
        .map(|grant| grant.as_str().to_owned())
        .collect();
    setup
}

#[test]
pub fn a_client_registers_reads_changes_and_removes_itself() {
    let server = Server::start(open());
    let document = json!({ "redirect_uris": [REDIRECT], "client_name": "Test", "grant_types": ["authorization_code", "client_credentials"] });
    let made = Call::post("/register")
        .json(&document)
        .send(&server)
        .expect(201);
    assert_eq!(made.header("cache-control"), "no-store");
    let (id, secret) = (made.member("client_id"), made.member("client_secret"));
    let token = made.member("registration_access_token");
    let uri = made.member("registration_client_uri");
    let path = uri.strip_prefix(&server.issuer()).unwrap().to_owned();
    let read = Call::get(&path).bearer(&token).send(&server).expect(200);
    assert_eq!(read.member("client_name"), "Test");
    // The secret is shown once: it rests hashed.
    assert_eq!(read.member("client_secret"), "");
    for call in [Call::get(&path), Call::get(&path).bearer("wrong")] {
        call.send(&server).expect_error(401, "invalid_token");
    }
    let unknown = Call::get("/register/unknown").bearer(&token).send(&server);
    unknown.expect_error(401, "invalid_token");
    let mut next = document.clone();
    next["client_id"] = json!(id);
    next["client_name"] = json!("Changed");
    let put = Call::new(Method::PUT, &path).bearer(&token).json(&next);
    assert_eq!(
        put.send(&server).expect(200).member("client_name"),
        "Changed"
    );
    let grant = Call::post("/token")
        .basic(&id, &secret)
        .form(&[("grant_type", "client_credentials")]);
    grant.send(&server).expect(200);
    let delete = Call::new(Method::DELETE, &path).bearer(&token);
    delete.send(&server).expect(204);
    delete.send(&server).expect_error(401, "invalid_token");
    // Known fault A15: nothing of the old record works on.
    grant.send(&server).expect_error(401, "invalid_client");
}

#[test]
fn bad_registrations_get_their_codes() {
    let server = Server::start(open());
    let send = |text: &str| {
        Call::post("/register")
            .body("application/json", text.as_bytes())
            .send(&server)
    };
    for (text, error) in [
        ("", "invalid_client_metadata"),
        ("{", "invalid_client_metadata"),
        ("[]", "invalid_client_metadata"),
        (
            r#"{"redirect_uris":["https://a.example/cb"],"redirect_uris":[]}"#,
            "invalid_client_metadata",
        ),
        (
            r#"{"redirect_uris":["http://a.example/cb"]}"#,
            "invalid_redirect_uri",
        ),
        (
            r#"{"redirect_uris":["https://a.example/cb#x"]}"#,
            "invalid_redirect_uri",
        ),
        (
            r#"{"redirect_uris":"https://a.example/cb"}"#,
            "invalid_redirect_uri",
        ),
        (
            r#"{"redirect_uris":["https://a.example/cb"],"token_endpoint_auth_method":"x"}"#,
            "invalid_client_metadata",
        ),
        (
            r#"{"redirect_uris":["https://a.example/cb"],"jwks_uri":"https://a.example/j","jwks":{"keys":[]}}"#,
            "invalid_client_metadata",
        ),
    ] {
        let reply = send(text);
        let got = (reply.status, reply.member("error"));
        assert!(
            got == (400, error.to_owned()) || got == (400, "invalid_client_metadata".to_owned()),
            "{text}: {got:?}"
        );
    }
    let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
    send(&deep).expect_error(400, "invalid_client_metadata");
    let form = Call::post("/register").form(&[("redirect_uris", "x")]);
    form.send(&server)
        .expect_error(415, "invalid_client_metadata");
    let large = Call::post("/register").body("application/json", &vec![b' '; 200 * 1024]);
    assert_eq!(large.send(&server).status, 413);
}

#[test]
fn a_client_registers_the_format_of_its_access_tokens() {
    let server = Server::start(open());
    let document = |format| {
        json!({
            "redirect_uris": [REDIRECT], "access_token_format": format,
            "grant_types": ["authorization_code", "client_credentials"],
        })
    };
    let register = |format| {
        Call::post("/register")
            .json(&document(format))
            .send(&server)
    };
    for (name, format) in [
        ("jwt", AccessTokenFormat::Jwt),
        ("compact", AccessTokenFormat::Compact),
    ] {
        let made = register(name).expect(201);
        assert_eq!(made.member("access_token_format"), name);
        let token = Call::post("/token")
            .basic(&made.member("client_id"), &made.member("client_secret"))
            .form(&[("grant_type", "client_credentials")])
            .send(&server)
            .expect(200)
            .member("access_token");
        assert_eq!(AccessTokenFormat::of(&token), Some(format));
    }
    register("opaque").expect_error(400, "invalid_client_metadata");
}

#[test]
fn closed_registration_is_not_there() {
    let server = Server::start(Setup::default());
    let document = json!({ "redirect_uris": [REDIRECT] });
    let reply = Call::post("/register").json(&document).send(&server);
    assert_eq!(reply.status, 404);
    let metadata = Call::get("/.well-known/openid-configuration").send(&server);
    assert!(metadata.json().get("registration_endpoint").is_none());
}

#[test]
pub fn a_pushed_request_is_checked_and_comes_back_sealed() {
    let server = Server::start(Setup::default());
    let good = [
        ("response_type", "code"),
        ("redirect_uri", REDIRECT),
        ("scope", "openid"),
        ("code_challenge", CHALLENGE),
        ("code_challenge_method", "S256"),
    ];
    let push = |form: &[(&str, &str)]| {
        Call::post("/par")
            .basic("service", SECRET)
            .form(form)
            .send(&server)
    };
    let reply = push(&good).expect(201);
    assert!(
        reply
            .member("request_uri")
            .starts_with("urn:ietf:params:oauth:request_uri:")
    );
    assert!(reply.json()["expires_in"].as_u64().unwrap() > 0);
    Call::post("/par")
        .form(&good)
        .send(&server)
        .expect_error(401, "invalid_client");
    for (name, value, error) in [
        ("redirect_uri", "https://evil.example/cb", "invalid_request"),
        ("response_type", "token", "unsupported_response_type"),
        ("code_challenge_method", "plain", "invalid_request"),
    ] {
        let mut form = good;
        form.iter_mut().find(|(n, _)| *n == name).unwrap().1 = value;
        let reply = push(&form);
        assert_eq!(reply.status, 400, "{name}: {}", reply.text());
        assert_eq!(reply.member("error"), error, "{name}");
    }
    let mut nested = good.to_vec();
    nested.push(("request_uri", "urn:x"));
    assert_eq!(push(&nested).status, 400);
}

#[test]
fn the_documents_name_what_is_served_and_nothing_else() {
    let server = Server::start(open());
    let document = Call::get("/.well-known/openid-configuration")
        .send(&server)
        .expect(200)
        .json();
    let other = Call::get("/.well-known/oauth-authorization-server").send(&server);
    assert_eq!(other.expect(200).json(), document);
    assert_eq!(document["issuer"], server.issuer());
    let mut endpoints = 0;
    for (name, value) in document.as_object().unwrap() {
        if !(name.ends_with("_endpoint") || name == "jwks_uri") {
            continue;
        }
        endpoints += 1;
        let path = value
            .as_str()
            .unwrap()
            .strip_prefix(&server.issuer())
            .unwrap();
        let reply = Call::new(Method::OPTIONS, path).send(&server);
        assert_eq!(reply.status, 204, "{name}");
    }
    assert!(endpoints >= 9, "{document}");
    let aliases = document["mtls_endpoint_aliases"].as_object().unwrap();
    for (name, value) in aliases {
        let base = format!("https://localhost:{}", server.mtls_address.port());
        let path = value.as_str().unwrap().strip_prefix(&base).unwrap();
        let reply = Call::new(Method::OPTIONS, path).mtls().send(&server);
        assert_eq!(reply.status, 204, "{name}");
    }
}

#[test]
fn one_address_registers_a_bounded_number_of_clients() {
    let server = Server::start(open());
    let document = json!({ "redirect_uris": [REDIRECT] });
    let call = Call::post("/register").json(&document);
    let most = 5;
    server.realm.budgets.set(Act::Registration, most, 100);
    for _ in 0..most {
        call.send(&server).expect(201);
    }
    let refused = call.send(&server).expect(429);
    assert_ne!(refused.header("retry-after"), "");
    // What is refused for another reason costs nothing of it, and time gives it back.
    server.pass(TABLE[Act::Registration as usize].window + 1);
    call.send(&server).expect(201);
}

#[test]
fn a_registered_client_that_is_not_used_in_a_day_is_removed_and_one_that_is_used_stays() {
    let server = Server::start(open());
    let document = json!({
        "redirect_uris": [REDIRECT],
        "grant_types": ["authorization_code", "client_credentials"],
    });
    let register = || {
        Call::post("/register")
            .json(&document)
            .send(&server)
            .expect(201)
    };
    let (used, unused) = (register(), register());
    let token = |client: &Reply| {
        let call = Call::post("/token");
        let call = call.basic(&client.member("client_id"), &client.member("client_secret"));
        call.form(&[("grant_type", "client_credentials")])
            .send(&server)
    };
    token(&used).expect(200);
    server.pass(24 * 3600);
    token(&unused).expect_error(401, "invalid_client");
    block_on(signet_realm::tasks::sweep_once(&server.realm));
    let there = |client: &Reply| {
        let registry = &server.realm.snapshot().registry;
        registry.clients.contains_key(&client.member("client_id"))
    };
    assert!(there(&used) && !there(&unused));
    token(&used).expect(200);
}

/// However many clients somebody registers and never uses, the next one may register: those that
/// registered first make room, and who registered a moment ago stays.
#[test]
fn unused_registrations_of_others_close_the_endpoint_to_nobody() {
    let server = Server::start(open());
    let fill = |name: &str, count: usize| {
        for number in 0..count {
            let flood = Client {
                registration_token_hash: Some([7; 32]),
                expires_at: Some(server.realm.now() + 24 * 3600),
                ..client(&format!("{name}-{number}"))
            };
            block_on(server.realm.write_record(flood, None)).expect("is new");
        }
    };
    let register = || {
        Call::post("/register")
            .json(&json!({ "redirect_uris": [REDIRECT] }))
            .send(&server)
    };
    let is_there = |id: &str| server.realm.snapshot().registry.clients.contains_key(id);
    // Ends are seconds: each of the three groups has its own.
    fill("first", 1);
    server.pass(1);
    fill("flood", 4998);
    server.pass(1);
    let own = register().expect(201).member("client_id");
    // All of them are of this moment: who comes now waits for minutes, and not for a day.
    let full = register();
    assert_eq!(full.header("retry-after"), "300");
    full.expect_error(429, "temporarily_unavailable");
    assert!(is_there(&own) && is_there("first-0"));
    server.pass(301);
    register().expect(201);
    assert!(!is_there("first-0"), "the first makes room");
    assert!(is_there("flood-4997"), "no more go than have to, at once");
    assert!(is_there(&own), "the last that came is the last that goes");
}

#[test]
fn who_registers_alone_gets_the_grants_that_an_operator_lists_and_puts_no_keys_into_the_set() {
    let mut setup = open();
    setup.settings.registration.grant_types =
        signet_oauth::settings::RegistrationSettings::default().grant_types;
    let server = Server::start(setup);
    let register =
        |document: &serde_json::Value| Call::post("/register").json(document).send(&server);
    let plain = json!({ "redirect_uris": [REDIRECT] });
    register(&plain).expect(201);
    for (name, value) in [
        ("grant_types", json!(["client_credentials"])),
        ("id_token_signed_response_alg", json!("ML-DSA-44")),
    ] {
        let mut document = plain.clone();
        document[name] = value;
        register(&document).expect_error(400, "invalid_client_metadata");
    }
}

/// RFC 7592 section 2.3: what is removed is removed as it is, whoever changes it meanwhile.
#[test]
fn a_registration_that_an_administrator_changes_meanwhile_is_removed_and_replaced() {
    let server = Server::start(open());
    server
        .realm
        .budgets
        .set(Act::RegistrationChange, 1000, 1000);
    server.realm.budgets.set(Act::Registration, 1000, 1000);
    let document = json!({ "redirect_uris": [REDIRECT], "client_name": "Test" });
    let done = AtomicBool::new(false);
    for _ in 0..12 {
        let made = Call::post("/register").json(&document).send(&server);
        let made = made.expect(201);
        let (id, token) = (
            made.member("client_id"),
            made.member("registration_access_token"),
        );
        let path = format!("/register/{id}");
        done.store(false, SeqCst);
        let [put, deleted] = std::thread::scope(|scope| {
            scope.spawn(|| {
                while !done.load(SeqCst) {
                    let current = server.realm.snapshot().registry.clients.get(&id).cloned();
                    let Some(current) = current else { return };
                    let mut next = Client::clone(&current);
                    next.revision += 1;
                    next.enabled = true;
                    // Losing to the request is fine.
                    let _ = block_on(server.realm.write_record(next, Some(current.revision)));
                    std::thread::sleep(Duration::from_micros(500));
                }
            });
            let mut next = document.clone();
            next["client_id"] = json!(id);
            let put = Call::new(Method::PUT, &path).bearer(&token).json(&next);
            let put = put.send(&server).status;
            let delete = Call::new(Method::DELETE, &path).bearer(&token);
            let deleted = delete.send(&server).status;
            done.store(true, SeqCst);
            [put, deleted]
        });
        assert_eq!([put, deleted], [200, 204]);
    }
}

#[test]
fn changes_of_a_registration_and_device_codes_have_budgets() {
    let mut setup = open();
    let mut device = client("device");
    device.token_endpoint_auth_method = AuthMethod::None;
    device.secrets.clear();
    setup.clients.push(device);
    let server = Server::start(setup);
    let document = json!({ "redirect_uris": [REDIRECT] });
    let made = Call::post("/register")
        .json(&document)
        .send(&server)
        .expect(201);
    let token = made.member("registration_access_token");
    let path = format!("/register/{}", made.member("client_id"));
    let read = || Call::get(&path).bearer(&token).send(&server);
    server.realm.budgets.set(Act::RegistrationChange, 3, 3);
    for _ in 0..3 {
        read().expect(200);
    }
    assert_ne!(read().expect(429).header("retry-after"), "");
    server.realm.budgets.set(Act::DeviceCode, 3, 3);
    let ask = || {
        Call::post("/device_authorization")
            .form(&[("client_id", "device")])
            .send(&server)
    };
    for _ in 0..3 {
        ask().expect(200);
    }
    ask().expect_error(503, "temporarily_unavailable");
    // A client with a secret is not counted.
    let confidential = Call::post("/device_authorization").basic("service", SECRET);
    confidential
        .form(&[("scope", "openid")])
        .send(&server)
        .expect(200);
}
