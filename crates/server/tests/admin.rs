//! The admin API, over real sockets.

use crate::common::{Server, Setup, block_on, client, client::Call, scope};
use http::Method;
use serde_json::{Value, json};
use signet_crypto::{Algorithm, SigningKey, hash::sha256};
use signet_directory::grants;
use signet_directory::{NewUser, Profile, User};
use signet_encoding::base64url;
use signet_jose::{
    dpop,
    jwt::{JwtSigner, Typ},
};
use signet_oauth::client::Client;
use signet_oauth::id::{CodeId, GrantId};
use signet_oauth::issued::sealed::AuthorizationCode;
use signet_registry::keys;
use std::sync::Arc;

const CLIENTS: &str = "/admin/v1/clients";
const USERS: &str = "/admin/v1/users";
const VERIFIER: &str = "verifier-verifier-verifier-verifier-verifier-verifier";

pub fn admin_client() -> Client {
    Client {
        scope: scope("signet:admin openid"),
        ..client("operator")
    }
}

fn server() -> Server {
    Server::start(Setup {
        clients: vec![client("service"), admin_client()],
        ..Setup::default()
    })
}

/// A token for the client itself.
fn token(server: &Server, client_id: &str, secret: &str, scope: &str) -> String {
    Call::post("/token")
        .basic(client_id, secret)
        .form(&[("grant_type", "client_credentials"), ("scope", scope)])
        .send(server)
        .expect(200)
        .member("access_token")
}

struct Operator<'a> {
    server: &'a Server,
    token: String,
}

impl<'a> Operator<'a> {
    fn of(server: &'a Server) -> Operator<'a> {
        let token = token(server, "operator", crate::common::SECRET, "signet:admin");
        Operator { server, token }
    }
    fn call(&self, method: Method, target: &str) -> Call {
        Call::new(method, target).bearer(&self.token)
    }
    fn get(&self, target: &str) -> Value {
        let reply = self.call(Method::GET, target).send(self.server);
        reply.expect(200).json()
    }
    #[track_caller]
    fn post(&self, target: &str, body: &Value, status: u16) -> Value {
        let call = self.call(Method::POST, target).json(body);
        let reply = call.send(self.server).expect(status);
        if reply.body.is_empty() {
            return Value::Null;
        }
        reply.json()
    }
    fn etag(&self, target: &str) -> String {
        let reply = self.call(Method::GET, target).send(self.server);
        reply.expect(200).header("etag").to_owned()
    }
    #[track_caller]
    fn put(&self, target: &str, etag: &str, body: &Value, status: u16) -> Value {
        let call = self.call(Method::PUT, target).header("if-match", etag);
        call.json(body).send(self.server).expect(status).json()
    }
    #[track_caller]
    fn delete(&self, target: &str, status: u16) {
        self.call(Method::DELETE, target)
            .send(self.server)
            .expect(status);
    }
    fn is_active(&self, token: &str) -> bool {
        let call = Call::post("/introspect").basic("service", crate::common::SECRET);
        let reply = call.form(&[("token", token)]).send(self.server);
        reply.expect(200).json()["active"] == true
    }
}

fn service_document() -> Value {
    json!({
        "client_name": "Worker",
        "grant_types": ["client_credentials"],
        "token_endpoint_auth_method": "client_secret_basic",
        "scope": "api:read",
    })
}

#[test]
pub fn without_a_token_of_the_admin_scope_nothing_is_answered() {
    let server = server();
    let anonymous = Call::get(CLIENTS).send(&server).expect(401);
    assert_eq!(anonymous.header("content-type"), "application/problem+json");
    // RFC 6750 section 3.1: who shows nothing hears of no error.
    assert_eq!(anonymous.header("www-authenticate"), "Bearer");
    assert_eq!(anonymous.header("cache-control"), "no-store");

    let plain = token(&server, "service", crate::common::SECRET, "api:read");
    let refused = Call::get(CLIENTS).bearer(&plain).send(&server).expect(403);
    assert_eq!(refused.member("code"), "insufficient_scope");
    for junk in ["", "x", "a.b.c", &format!("{plain}x")] {
        Call::get(CLIENTS).bearer(junk).send(&server).expect(401);
    }
    // A service cannot ask for the scope that its record has not.
    Call::post("/token")
        .basic("service", crate::common::SECRET)
        .form(&[
            ("grant_type", "client_credentials"),
            ("scope", "signet:admin"),
        ])
        .send(&server)
        .expect_error(400, "invalid_scope");
}

#[test]
fn a_right_that_was_taken_away_ends_at_once() {
    let server = server();
    let operator = Operator::of(&server);
    operator.get(CLIENTS);
    server.configure(|_, declared| {
        let demoted = Client {
            scope: scope("openid"),
            ..admin_client()
        };
        declared
            .clients
            .insert("operator".into(), Arc::new(demoted));
    });
    let reply = operator.call(Method::GET, CLIENTS).send(&server);
    assert_eq!(reply.expect(403).member("code"), "insufficient_scope");
}

/// A client that may read, and one that may not administer at all.
fn server_with_an_auditor() -> Server {
    let auditor = Client {
        scope: scope("signet:admin.read"),
        ..client("auditor")
    };
    Server::start(Setup {
        clients: vec![client("service"), admin_client(), auditor],
        ..Setup::default()
    })
}

#[test]
fn a_reader_sees_everything_and_changes_nothing() {
    let server = server_with_an_auditor();
    let operator = Operator::of(&server);
    let token = token(
        &server,
        "auditor",
        crate::common::SECRET,
        "signet:admin.read",
    );
    let before = operator.get(CLIENTS);
    let document = Call::get("/admin/v1/openapi.json").send(&server).json();
    for (path, methods) in document["paths"].as_object().expect("paths") {
        // What is there, where there is something: a refusal is not for want of a record.
        let target = path
            .replace("{client_id}", "service")
            .replace("{name}", "openid")
            .replace(['{', '}'], "");
        for (method, operation) in methods.as_object().expect("methods") {
            let id = operation["operationId"].as_str().expect("an id");
            let method = Method::from_bytes(method.to_uppercase().as_bytes()).expect("a method");
            // A plan is asked for with a document, and changes nothing; a token is in no address.
            let asks = ["planDeclarations", "lookAtToken"];
            let reads = method == Method::GET || asks.contains(&id);
            let needed = match reads {
                true => "signet:admin.read",
                false => "signet:admin",
            };
            assert_eq!(
                operation["security"],
                json!([{ "token": [needed] }]),
                "{id}"
            );
            let call = || Call::new(method.clone(), &target).json(&json!({}));
            let reply = call().bearer(&token).send(&server);
            if reads {
                // 400: what is asked for stands in the query.
                assert!(
                    [200, 400, 404].contains(&reply.status),
                    "{id}: {}",
                    reply.status
                );
                continue;
            }
            let refused = reply.expect(403);
            assert_eq!(refused.member("code"), "insufficient_scope", "{id}");
            assert_eq!(
                refused.header("www-authenticate"),
                "Bearer error=\"insufficient_scope\", scope=\"signet:admin\"",
                "{id}"
            );
        }
    }
    assert_eq!(operator.get(CLIENTS), before);
}

#[test]
fn what_a_caller_lacks_is_named_as_the_least_that_would_do() {
    let server = server_with_an_auditor();
    let plain = token(&server, "service", crate::common::SECRET, "api:read");
    for (method, needed) in [
        (Method::GET, "signet:admin.read"),
        (Method::POST, "signet:admin"),
    ] {
        let call = Call::new(method, CLIENTS).bearer(&plain).json(&json!({}));
        let refused = call.send(&server).expect(403);
        assert_eq!(
            refused.header("www-authenticate"),
            format!("Bearer error=\"insufficient_scope\", scope=\"{needed}\"")
        );
    }
}

#[test]
fn a_client_that_may_only_read_from_now_on_changes_nothing_with_its_old_token() {
    let server = server();
    let operator = Operator::of(&server);
    let user = new_user(&server, "carol", true);
    let person = Device::log_in(&server, &user, "signet:admin", "operator").access_token;
    server.configure(|_, declared| {
        let demoted = Client {
            scope: scope("signet:admin.read"),
            ..admin_client()
        };
        declared
            .clients
            .insert("operator".into(), Arc::new(demoted));
    });
    for token in [&operator.token, &person] {
        let call = |method| Call::new(method, CLIENTS).bearer(token);
        call(Method::GET).send(&server).expect(200);
        let write = call(Method::POST).json(&service_document());
        write.send(&server).expect(403);
    }
    // And the other way round: a token says what it was made for.
    let read = token(
        &server,
        "operator",
        crate::common::SECRET,
        "signet:admin.read",
    );
    server.configure(|_, declared| {
        declared
            .clients
            .insert("operator".into(), Arc::new(admin_client()));
    });
    let call = Call::post(CLIENTS).bearer(&read).json(&service_document());
    call.send(&server).expect(403);
}

#[test]
fn a_person_reads_only_as_an_administrator() {
    let reading = Client {
        scope: scope("signet:admin.read openid"),
        ..client("reading")
    };
    let server = Server::start(Setup {
        clients: vec![client("service"), admin_client(), reading],
        ..Setup::default()
    });
    for (name, admin, read) in [("ada", true, 200), ("eve", false, 403)] {
        let user = new_user(&server, name, admin);
        let device = Device::log_in(&server, &user, "signet:admin.read", "reading");
        let call = |method| Call::new(method, CLIENTS).bearer(&device.access_token);
        call(Method::GET).send(&server).expect(read);
        let document = service_document();
        let refused = call(Method::POST).json(&document).send(&server);
        assert_eq!(refused.expect(403).member("code"), "insufficient_scope");
    }
}

// V11
#[test]
fn a_bound_token_needs_its_proof_once() {
    let mut setup = Setup {
        clients: vec![admin_client()],
        ..Setup::default()
    };
    setup.settings.dpop_nonce_required = true;
    let server = Server::start(setup);
    let key = SigningKey::generate(Algorithm::Es256).expect("a key");
    let signer = JwtSigner::new(key, "");
    let prove = |method: &str, path: &str, token: Option<&str>, nonce: &str| {
        let proof = signer.sign(Typ::DpopProof, |w| {
            let jti = base64url::encode(&signet_crypto::random::bytes::<16>());
            w.member("jti").string(&jti);
            w.member("htm").string(method);
            w.member("htu")
                .string(&format!("{}{path}", server.issuer()));
            w.member("iat").number(server.realm.now());
            w.member("nonce").string(nonce);
            if let Some(token) = token {
                w.member("ath").string(&dpop::ath(token));
            }
        });
        proof.expect("signs")
    };
    let ask = |nonce: &str| {
        Call::post("/token")
            .basic("operator", crate::common::SECRET)
            .header("dpop", &prove("POST", "/token", None, nonce))
            .form(&[
                ("grant_type", "client_credentials"),
                ("scope", "signet:admin"),
            ])
            .send(&server)
    };
    let nonce = ask("").header("dpop-nonce").to_owned();
    let token = ask(&nonce).expect(200).member("access_token");

    Call::get(CLIENTS).bearer(&token).send(&server).expect(401);
    let show = |proof: &str| {
        Call::get(CLIENTS)
            .header("authorization", &format!("DPoP {token}"))
            .header("dpop", proof)
            .send(&server)
    };
    let refused = show(&prove("GET", CLIENTS, Some(&token), "")).expect(401);
    assert_eq!(refused.member("code"), "use_dpop_nonce");
    assert!(refused.header("www-authenticate").starts_with("DPoP"));
    let nonce = refused.header("dpop-nonce").to_owned();
    let proof = prove("GET", CLIENTS, Some(&token), &nonce);
    show(&proof).expect(200);
    show(&proof).expect(401);
    show(&prove("GET", USERS, Some(&token), &nonce)).expect(401);
}

#[test]
fn the_document_and_the_routes_are_one() {
    let server = server();
    let document = Call::get("/admin/v1/openapi.json")
        .send(&server)
        .expect(200);
    let text = document.text();
    let document = document.json();
    assert_eq!(document["openapi"], "3.1.0");
    let mut ids = std::collections::HashSet::new();
    for (path, methods) in document["paths"].as_object().expect("paths") {
        for (method, operation) in methods.as_object().expect("methods") {
            let id = operation["operationId"].as_str().expect("an id");
            assert!(ids.insert(id.to_owned()), "{id} twice");
            let method = Method::from_bytes(method.to_uppercase().as_bytes()).expect("a method");
            let target: String = path.replace(['{', '}'], "");
            // Served, and never without a token.
            Call::new(method, &target).send(&server).expect(401);
        }
    }
    assert!(ids.len() > 30);
    let schemas = document["components"]["schemas"]
        .as_object()
        .expect("schemas");
    for reference in text.split("\"$ref\":\"#/components/schemas/").skip(1) {
        let name = reference.split('"').next().expect("a name");
        assert!(schemas.contains_key(name), "{name}");
    }
}

#[test]
fn a_secret_is_shown_once_and_a_replaced_one_ends_at_once() {
    let server = server();
    let operator = Operator::of(&server);
    let made = operator.post(CLIENTS, &service_document(), 201);
    let (id, secret) = (
        made["client_id"].as_str().unwrap(),
        made["client_secret"].as_str().unwrap(),
    );
    let target = format!("{CLIENTS}/{id}");
    assert!(operator.get(&target).get("client_secret").is_none());
    assert!(!operator.get(CLIENTS).to_string().contains(secret));
    token(&server, id, secret, "api:read");

    // A15: the old secret does not work on, not even for a moment.
    let rotated = operator.post(&format!("{target}/secrets"), &json!({}), 201);
    let new = rotated["client_secret"].as_str().unwrap();
    let old = Call::post("/token")
        .basic(id, secret)
        .form(&[("grant_type", "client_credentials")]);
    old.clone()
        .send(&server)
        .expect_error(401, "invalid_client");
    token(&server, id, new, "api:read");

    // Or for as long as was asked for.
    let kept = json!({ "others_expire_in": 60 });
    let newest = operator.post(&format!("{target}/secrets"), &kept, 201);
    token(&server, id, new, "api:read");
    token(
        &server,
        id,
        newest["client_secret"].as_str().unwrap(),
        "api:read",
    );
    server.pass(61);
    Call::post("/token")
        .basic(id, new)
        .form(&[("grant_type", "client_credentials")])
        .send(&server)
        .expect_error(401, "invalid_client");
}

// A18
#[test]
fn two_writers_do_not_lose_each_others_redirect_uris() {
    let server = server();
    let operator = Operator::of(&server);
    let web = json!({
        "redirect_uris": ["https://app.example/cb"],
        "grant_types": ["authorization_code"],
        "token_endpoint_auth_method": "none",
    });
    let made = operator.post(CLIENTS, &web, 201);
    let target = format!("{CLIENTS}/{}", made["client_id"].as_str().unwrap());

    let etag = operator.etag(&target);
    let mut first = operator.get(&target);
    let mut second = first.clone();
    first["redirect_uris"] = json!(["https://app.example/cb", "https://app.example/first"]);
    second["redirect_uris"] = json!(["https://app.example/cb", "https://app.example/second"]);
    operator.put(&target, &etag, &first, 200);
    let refused = operator.put(&target, &etag, &second, 412);
    assert_eq!(refused["code"], "changed_meanwhile");
    let blind = operator.call(Method::PUT, &target).json(&second);
    blind.send(&server).expect(428);

    // Adding and removing goes on beside others.
    std::thread::scope(|scope| {
        for number in 0..10 {
            let (operator, target) = (&operator, format!("{target}/redirect_uris"));
            scope.spawn(move || {
                let uri = format!("https://app.example/{number}");
                operator.post(&target, &json!({ "add": [uri] }), 200);
            });
        }
    });
    let remove = json!({ "remove": ["https://app.example/first"] });
    operator.post(&format!("{target}/redirect_uris"), &remove, 200);
    let uris = operator.get(&target)["redirect_uris"].clone();
    assert_eq!(uris.as_array().unwrap().len(), 11, "{uris}");
    let bad = json!({ "add": ["http://elsewhere.example/#x"] });
    operator.post(&format!("{target}/redirect_uris"), &bad, 400);
}

#[test]
fn what_is_shown_can_be_written_back_and_typing_errors_are_refused() {
    let server = server();
    let operator = Operator::of(&server);
    let made = operator.post(CLIENTS, &service_document(), 201);
    let target = format!("{CLIENTS}/{}", made["client_id"].as_str().unwrap());
    let shown = operator.get(&target);
    let written = operator.put(&target, &operator.etag(&target), &shown, 200);
    assert_eq!(written["revision"], 2);
    let without_revision = |value: &Value| {
        let mut value = value.clone();
        value.as_object_mut().unwrap().remove("revision");
        value
    };
    assert_eq!(without_revision(&written), without_revision(&shown));
    // The secret stayed.
    token(
        &server,
        made["client_id"].as_str().unwrap(),
        made["client_secret"].as_str().unwrap(),
        "api:read",
    );

    let mut typo = shown.clone();
    typo["redirect_urls"] = json!([]);
    let refused = operator.put(&target, &operator.etag(&target), &typo, 400);
    assert_eq!(refused["code"], "invalid_request");
    assert!(
        refused["detail"]
            .as_str()
            .unwrap()
            .contains("redirect_urls")
    );
    let plain = operator
        .call(Method::POST, CLIENTS)
        .body("text/plain", b"{}");
    plain.send(&server).expect(415);
}

#[test]
pub fn a_disabled_or_removed_client_holds_nothing() {
    let server = server();
    let operator = Operator::of(&server);
    for end in ["disable", "revoke", "remove"] {
        let made = operator.post(CLIENTS, &service_document(), 201);
        let (id, secret) = (
            made["client_id"].as_str().unwrap(),
            made["client_secret"].as_str().unwrap(),
        );
        let target = format!("{CLIENTS}/{id}");
        let mut document = operator.get(&target);
        document["scope"] = json!("signet:admin");
        operator.put(&target, &operator.etag(&target), &document, 200);
        let held = token(&server, id, secret, "signet:admin");
        let works = || Call::get(CLIENTS).bearer(&held).send(&server).status == 200;
        assert!(works());
        match end {
            "remove" => operator.delete(&target, 204),
            "revoke" => drop(operator.post(&format!("{target}/revoke"), &json!({}), 204)),
            _ => drop(operator.post(&format!("{target}/disable"), &json!({}), 200)),
        }
        assert!(!works(), "{end}");
        let again = Call::post("/token")
            .basic(id, secret)
            .form(&[("grant_type", "client_credentials")])
            .send(&server);
        assert_eq!(again.status == 200, end == "revoke");
    }
}

#[test]
fn what_the_configuration_declares_is_not_changed_here() {
    let server = server();
    let operator = Operator::of(&server);
    let target = format!("{CLIENTS}/service");
    let refused = operator.post(&format!("{target}/disable"), &json!({}), 409);
    assert_eq!(refused["code"], "declared_in_configuration");
    operator.delete(&target, 409);
    operator.delete(&format!("{CLIENTS}/nobody"), 404);
}

#[test]
fn one_object_is_shown_as_a_directory_declares_it_with_its_owner() {
    let server = server();
    let operator = Operator::of(&server);
    let of = |kind: &str, name: &str| format!("/admin/v1/declarations/{kind}/{name}");
    let client = operator.get(&of("client", "service"));
    assert_eq!(client["owner"], "configuration");
    assert_eq!(client["has_secret"], true);
    assert!(client["set_by_server"]["created_at"].is_u64());
    assert!(client["members"].get("created_at").is_none());
    assert_eq!(operator.get(&of("scope", "openid"))["owner"], "built in");

    let api = "https://api.example/orders?v=1";
    let resource = json!({ "kind": "resource", "name": api, "members": { "name": "Orders" } });
    let declared = json!({ "directory": "one", "objects": [resource] });
    operator.post("/admin/v1/declarations/apply", &declared, 200);
    let shown = operator.get(&of(
        "resource",
        "https%3A%2F%2Fapi.example%2Forders%3Fv%3D1",
    ));
    let expected = json!({
        "kind": "resource", "name": api, "owner": "directory one", "has_secret": false,
        "members": { "identifier": api, "name": "Orders", "scope": "" },
    });
    assert_eq!(shown, expected);
    let user = new_user(&server, "bob", false);
    let shown = operator.get(&of("user", &user.username));
    assert_eq!(shown["owner"], "hand");
    assert_eq!(shown["members"]["username"], "bob");

    for (kind, name, status) in [
        ("client", "nobody", 404),
        ("user", "nobody", 404),
        ("grup", "x", 400),
    ] {
        let call = operator.call(Method::GET, &of(kind, name));
        call.send(&server).expect(status);
    }
}

#[test]
fn an_account_that_has_expired_is_declared_as_it_is() {
    let server = server();
    let operator = Operator::of(&server);
    let person = |end: u64| {
        let members = json!({ "username": "guest", "expires_at": end });
        let object = json!({ "kind": "user", "name": "guest", "members": members });
        json!({ "directory": "one", "objects": [object] })
    };
    let now = server.realm.now();
    for end in [now - 1, now + 1000, now - 1] {
        operator.post("/admin/v1/declarations/apply", &person(end), 200);
        let plan = operator.post("/admin/v1/declarations/plan", &person(end), 200);
        assert_eq!(plan["changes"], json!([]));
        let shown = operator.get("/admin/v1/declarations/user/guest");
        assert_eq!(shown["members"]["enabled"], end > now);
    }
}

pub fn new_user(server: &Server, name: &str, admin: bool) -> User {
    let new = NewUser {
        username: name.to_owned(),
        admin,
        ..NewUser::default()
    };
    let users = &server.realm.people.users;
    block_on(users.create(new, server.realm.now())).expect("is made")
}

/// What a client holds after its user has logged in: an access token and a refresh token.
pub struct Device {
    pub access_token: String,
    refresh_token: String,
}

impl Device {
    pub fn log_in(server: &Server, user: &User, scope_text: &str, client_id: &str) -> Device {
        let now = server.realm.now();
        let code = AuthorizationCode {
            id: CodeId::new(signet_crypto::random::bytes()),
            grant_id: GrantId::new(signet_crypto::random::bytes()),
            client_id: client_id.to_owned(),
            redirect_uri: "https://client.example/cb".to_owned(),
            redirect_uri_was_sent: true,
            code_challenge: Some(base64url::encode(&sha256(VERIFIER.as_bytes()))),
            nonce: None,
            scope: scope(scope_text),
            resources: Vec::new(),
            user_id: user.id.clone(),
            sid: base64url::encode(&signet_crypto::random::bytes::<16>()),
            auth_time: now,
            acr: "0".to_owned(),
            amr: Vec::new(),
            session_ends_at: u64::MAX,
            claims: None,
            dpop_jkt: None,
            issued_at_ms: server.realm.now_ms(),
            expires_at: now + 60,
        };
        let code = code.seal(&server.realm.keyring()).expect("seals");
        let reply = Call::post("/token")
            .basic(client_id, crate::common::SECRET)
            .form(&[
                ("grant_type", "authorization_code"),
                ("code", &code),
                ("redirect_uri", "https://client.example/cb"),
                ("code_verifier", VERIFIER),
            ])
            .send(server)
            .expect(200);
        Device {
            access_token: reply.member("access_token"),
            refresh_token: reply.member("refresh_token"),
        }
    }

    fn refresh(&mut self, server: &Server) -> bool {
        let reply = Call::post("/token")
            .basic("service", crate::common::SECRET)
            .form(&[
                ("grant_type", "refresh_token"),
                ("refresh_token", &self.refresh_token),
            ])
            .send(server);
        if reply.status != 200 {
            return false;
        }
        self.access_token = reply.member("access_token");
        self.refresh_token = reply.member("refresh_token");
        true
    }
}

// A13
#[test]
pub fn revoke_all_ends_every_device_also_after_a_rotation_and_nobody_elses() {
    let server = server();
    let operator = Operator::of(&server);
    let (alice, bob) = (
        new_user(&server, "alice", false),
        new_user(&server, "bob", false),
    );
    let granted = "openid offline_access api:read";
    let mut phone = Device::log_in(&server, &alice, granted, "service");
    let mut laptop = Device::log_in(&server, &alice, granted, "service");
    let mut other = Device::log_in(&server, &bob, granted, "service");
    // Two devices are two families: both go on.
    assert!(phone.refresh(&server) && laptop.refresh(&server) && phone.refresh(&server));
    let grants = operator.get(&format!("{USERS}/{}/grants", alice.id));
    assert_eq!(grants["items"].as_array().unwrap().len(), 2, "{grants}");

    operator.post(&format!("{USERS}/{}/revoke", alice.id), &json!({}), 204);
    for device in [&mut phone, &mut laptop] {
        assert!(!operator.is_active(&device.access_token));
        assert!(!device.refresh(&server));
    }
    assert!(operator.is_active(&other.access_token));
    assert!(other.refresh(&server));
    let grants = block_on(grants::list(
        &*server.realm.store,
        &alice.id,
        server.realm.now(),
    ));
    assert_eq!(grants.expect("answers"), []);

    // And who logs in again is in.
    server.pass(1);
    let again = Device::log_in(&server, &alice, granted, "service");
    assert!(operator.is_active(&again.access_token));
}

#[test]
fn one_grant_is_ended_and_the_others_go_on() {
    let server = server();
    let operator = Operator::of(&server);
    let alice = new_user(&server, "alice", false);
    let granted = "openid offline_access";
    let mut first = Device::log_in(&server, &alice, granted, "service");
    let listed = operator.get(&format!("{USERS}/{}/grants", alice.id));
    let grant_id = listed["items"][0]["grant_id"].as_str().unwrap().to_owned();
    let mut second = Device::log_in(&server, &alice, granted, "service");
    let target = format!("{USERS}/{}/grants/{grant_id}", alice.id);
    operator.delete(&target, 204);
    assert!(!operator.is_active(&first.access_token));
    assert!(!first.refresh(&server));
    assert!(second.refresh(&server));
    operator.delete(&target, 404);
}

#[test]
fn an_administrator_who_is_demoted_or_disabled_is_out_at_once() {
    let server = server();
    let operator = Operator::of(&server);
    // Somebody has to be left who may administer.
    new_user(&server, "ada", true);
    for (name, change) in [
        (
            "carol",
            json!({ "admin": false, "enabled": true, "profile": {} }),
        ),
        (
            "dave",
            json!({ "admin": true, "enabled": false, "profile": {} }),
        ),
    ] {
        let user = new_user(&server, name, true);
        let device = Device::log_in(&server, &user, "signet:admin", "operator");
        let status = || {
            Call::get(CLIENTS)
                .bearer(&device.access_token)
                .send(&server)
                .status
        };
        assert_eq!(status(), 200);
        let target = format!("{USERS}/{}", user.id);
        operator.put(&target, &operator.etag(&target), &change, 200);
        assert_eq!(status(), 401);
    }
    // The flag counts, whatever an old token says.
    let eve = new_user(&server, "eve", false);
    let device = Device::log_in(&server, &eve, "signet:admin", "operator");
    Call::get(CLIENTS)
        .bearer(&device.access_token)
        .send(&server)
        .expect(403);
}

#[test]
pub fn users_are_made_listed_changed_and_removed() {
    let server = server();
    let operator = Operator::of(&server);
    let wanted = json!({
        "username": "alice", "email": "alice@example.test", "password": "correct horse battery",
        "profile": { "name": "Alice" },
    });
    let made = operator.post(USERS, &wanted, 201);
    assert_eq!(made["has_password"], true);
    assert!(made.get("password").is_none());
    assert_eq!(operator.post(USERS, &wanted, 409)["code"], "username_taken");
    let weak = json!({ "username": "weak", "password": "short" });
    operator.post(USERS, &weak, 400);
    for number in 0..5 {
        operator.post(USERS, &json!({ "username": format!("user{number}") }), 201);
    }
    let (mut seen, mut target) = (0, format!("{USERS}?limit=2"));
    loop {
        let page = operator.get(&target);
        seen += page["items"].as_array().unwrap().len();
        let Some(next) = page["next"].as_str() else {
            break;
        };
        target = format!("{USERS}?limit=2&after={next}");
    }
    assert_eq!(seen, 6);
    let found = operator.get(&format!("{USERS}?login=ALICE%40example.test"));
    assert_eq!(found["items"][0]["username"], "alice");

    let target = format!("{USERS}/{}", made["id"].as_str().unwrap());
    let etag = operator.etag(&target);
    let change = json!({ "admin": false, "enabled": true, "profile": { "name": "Alice B." } });
    assert_eq!(
        operator.put(&target, &etag, &change, 200)["profile"]["name"],
        "Alice B."
    );
    operator.put(&target, &etag, &change, 412);
    let moved = json!({ "email": "a@example.test", "verified": true });
    let reply = operator
        .call(Method::PUT, &format!("{target}/email"))
        .json(&moved);
    assert_eq!(
        reply.send(&server).expect(200).json()["email"],
        "a@example.test"
    );
    operator.delete(&target, 204);
    operator.delete(&target, 404);
    operator.post(USERS, &wanted, 201);
}

/// A server whose keys have a life: made long ago, sealed with keys from a file, as the binary
/// wires them.
fn server_with_old_keys() -> (Server, tempfile::TempDir) {
    let directory = tempfile::tempdir().expect("a directory");
    let file = keys::SealingFile::open_or_create(directory.path(), 1).expect("is made");
    let server = Server::start(Setup {
        clients: vec![client("service"), admin_client()],
        sealing: Some(file),
        keys_age: 100_000,
        ..Setup::default()
    });
    (server, directory)
}

#[test]
fn a_new_sealing_key_leaves_what_people_and_clients_hold_in_force() {
    let (server, directory) = server_with_old_keys();
    let operator = Operator::of(&server);
    let hmac = json!({
        "grant_types": ["client_credentials"],
        "token_endpoint_auth_method": "client_secret_jwt",
        "scope": "api:read",
    });
    operator.post(CLIENTS, &hmac, 201);
    let alice = new_user(&server, "alice", false);
    let mut device = Device::log_in(&server, &alice, "openid offline_access", "service");

    let target = "/admin/v1/keys/sealing/rotate";
    let done = operator.post(target, &json!({}), 200);
    let expected = json!({ "signing_keys": 6, "clients": 1, "sealing_keys": 2 });
    assert_eq!(done, expected);
    assert!(device.refresh(&server));
    assert!(operator.is_active(&device.access_token));
    // Nothing that rests needs the old key: the new one alone opens it.
    let file = keys::SealingFile::open_or_create(directory.path(), 0).expect("is read");
    assert_eq!(
        file.keyring().current_id(),
        server.realm.keyring().current_id()
    );

    // Long after, nothing that the first key sealed is alive: it is forgotten, and data at rest
    // still opens.
    server.pass(40 * 86_400);
    let operator = Operator::of(&server);
    assert_eq!(operator.post(target, &json!({}), 200)["sealing_keys"], 2);
    let loaded = keys::SigningKeys::load(
        server.realm.store.clone(),
        server.realm.change_writer.clone(),
        Arc::clone(&server.realm.keyring()),
        vec![Algorithm::Es256, Algorithm::EdDsa],
        keys::Policy::default(),
        server.realm.moment(),
    );
    assert!(block_on(loaded).is_ok());
}

#[test]
pub fn keys_are_listed_and_rotated_without_a_restart() {
    let (server, _directory) = server_with_old_keys();
    let operator = Operator::of(&server);
    let active = |listed: &Value| {
        let items = listed["items"].as_array().unwrap().clone();
        let key = items
            .into_iter()
            .find(|k| k["alg"] == "ES256" && k["phase"] == "active");
        key.expect("an active key")["kid"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let old = active(&operator.get("/admin/v1/keys"));
    let rotated = operator.post("/admin/v1/keys/rotate", &json!({ "alg": "ES256" }), 200);
    assert_ne!(active(&rotated), old);
    // What the old key signed is still good, and the new key signs.
    operator.get("/admin/v1/keys");
    let next = Operator::of(&server);
    assert!(Call::get("/jwks").send(&server).text().contains(&old));

    let compromised = json!({ "alg": "ES256", "compromised": true });
    next.post("/admin/v1/keys/rotate", &compromised, 200);
    assert!(!Call::get("/jwks").send(&server).text().contains(&old));
    next.call(Method::GET, CLIENTS).send(&server).expect(401);
    Operator::of(&server).post("/admin/v1/keys/rotate", &json!({ "alg": "HS256" }), 400);
}

#[test]
fn resource_servers_and_scopes_are_written_and_removed() {
    let server = server();
    let operator = Operator::of(&server);
    let target = "/admin/v1/resources/https%3A%2F%2Fapi.example%2Fv1";
    let wanted = json!({
        "name": "API", "scope": "read write", "access_token_lifetime": 60, "access_token_format": "compact",
    });
    let made = operator
        .call(Method::PUT, target)
        .json(&wanted)
        .send(&server)
        .expect(201);
    assert_eq!(made.member("identifier"), "https://api.example/v1");
    assert_eq!(made.member("access_token_format"), "compact");
    let etag = made.header("etag").to_owned();
    operator
        .call(Method::PUT, target)
        .json(&wanted)
        .send(&server)
        .expect(409);
    let written = operator.put(target, &etag, &json!({ "scope": "read" }), 200);
    let again = operator.put(target, &operator.etag(target), &written, 200);
    assert_eq!(again["revision"], 3);
    operator.put(target, &etag, &json!({ "scope": "write" }), 412);
    let unknown = json!({ "access_token_format": "opaque" });
    operator.put(target, &operator.etag(target), &unknown, 400);
    assert_eq!(
        operator.get("/admin/v1/resources")["items"][0]["scope"],
        "read"
    );
    operator.delete(target, 204);
    operator.delete(target, 404);

    let target = "/admin/v1/scopes/invoices";
    let scope = json!({ "description": "See your invoices", "published": true });
    operator
        .call(Method::PUT, target)
        .json(&scope)
        .send(&server)
        .expect(200);
    assert!(
        operator
            .get("/admin/v1/scopes")
            .to_string()
            .contains("invoices")
    );
    operator.delete(target, 204);
    operator.delete("/admin/v1/scopes/openid", 409);
}

// People who are provisioned often have no full name.
#[test]
fn users_are_found_by_given_and_family_name() {
    let server = server();
    let operator = Operator::of(&server);
    let users = &server.realm.people.users;
    for (name, given) in [("u1", "Ann"), ("u2", "Bea")] {
        let new = NewUser {
            username: name.to_owned(),
            profile: Profile {
                given_name: Some(given.to_owned()),
                family_name: Some("Family7".to_owned()),
                ..Profile::default()
            },
            ..NewUser::default()
        };
        block_on(users.create(new, server.realm.now())).unwrap();
    }
    for (search, found) in [
        ("Family7", 2),
        ("ann", 1),
        ("ann%20fam", 1),
        ("family7%20bea", 1),
        ("carol", 0),
    ] {
        let list = operator.get(&format!("{USERS}?search={search}"));
        assert_eq!(list["items"].as_array().unwrap().len(), found, "{search}");
    }
}

#[test]
fn a_query_member_that_means_nothing_is_refused_and_search_finds() {
    let server = server();
    let operator = Operator::of(&server);
    let users = &server.realm.people.users;
    for name in ["ann", "bea"] {
        let new = NewUser {
            username: name.to_owned(),
            email: Some(format!("{name}@example.test")),
            ..NewUser::default()
        };
        block_on(users.create(new, server.realm.now())).unwrap();
    }
    let found = operator.get(&format!("{USERS}?search=ANN@"));
    assert_eq!(found["items"].as_array().unwrap().len(), 1);
    assert_eq!(found["items"][0]["username"], "ann");
    let refused = operator
        .call(Method::GET, &format!("{USERS}?serach=ann"))
        .send(&server)
        .expect(400);
    assert!(
        refused.text().contains("did you mean \\\"search\\\""),
        "{}",
        refused.text()
    );
    let document = Call::get("/admin/v1/openapi.json").send(&server).json();
    let named = document["paths"][USERS]["get"]["parameters"].to_string();
    assert!(
        named.contains("search") && named.contains("login"),
        "{named}"
    );
}

/// The look at the others and the act are one: acts at the same moment come one after another.
#[test]
fn of_two_administrators_who_are_taken_out_at_the_same_moment_one_stays() {
    let server = server();
    let admin = |name: &str| {
        let user = NewUser {
            username: name.to_owned(),
            admin: true,
            ..NewUser::default()
        };
        let users = &server.realm.people.users;
        block_on(users.create(user, server.realm.now())).unwrap().id
    };
    let operator = Operator::of(&server);
    // Whoever else may administer here must not.
    let listed = operator.get("/admin/v1/users?limit=100");
    for user in listed["items"].as_array().unwrap() {
        let path = format!("/admin/v1/users/{}", user["id"].as_str().unwrap());
        operator.post(
            &format!("{path}/disable?last_administrator=true"),
            &json!({}),
            200,
        );
    }
    let pair = ["one", "other"].map(admin);
    for _ in 0..5 {
        let disable = |id: &String| {
            let path = format!("/admin/v1/users/{id}/disable");
            operator.call(Method::POST, &path).send(&server).status
        };
        let statuses = std::thread::scope(|scope| {
            let tries = pair.each_ref().map(|id| scope.spawn(move || disable(id)));
            tries.map(|tried| tried.join().unwrap())
        });
        let mut sorted = statuses;
        sorted.sort_unstable();
        assert_eq!(sorted, [200, 409]);
        for id in &pair {
            operator.post(&format!("/admin/v1/users/{id}/enable"), &json!({}), 200);
        }
    }
    // An end that is past already takes the right, too.
    operator.delete(&format!("/admin/v1/users/{}", pair[0]), 204);
    let path = format!("/admin/v1/users/{}", pair[1]);
    let expired = json!({ "admin": true, "enabled": true, "profile": {}, "expires_at": 1 });
    let refused = operator.put(&path, &operator.etag(&path), &expired, 409);
    assert_eq!(refused["code"], "last_administrator", "{refused}");
}
