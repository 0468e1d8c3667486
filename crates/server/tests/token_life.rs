//! A token's life over real sockets: issued, used, introspected, refreshed, replayed, revoked.
use crate::common::{
    SECRET, Server, Setup, client,
    client::{Call, Reply},
    made::{Proof, alice, claims, code, code_content, proof, random_id, redeem, rows, signer},
};
use signet_crypto::Algorithm;
use signet_oauth::id::GrantId;
use signet_oauth::{
    client::{AuthMethod, RefreshRotation},
    registry::Resource,
};
use signet_store::Table;
use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::SeqCst},
};

fn token(server: &Server, form: &[(&str, &str)]) -> Reply {
    Call::post("/token")
        .basic("service", SECRET)
        .form(form)
        .send(server)
}

fn refresh(server: &Server, refresh_token: &str) -> Reply {
    let form = [
        ("grant_type", "refresh_token"),
        ("refresh_token", refresh_token),
    ];
    token(server, &form)
}

fn is_active(server: &Server, token: &str) -> bool {
    let reply = Call::post("/introspect")
        .basic("service", SECRET)
        .form(&[("token", token)])
        .send(server)
        .expect(200);
    reply.json()["active"].as_bool().unwrap()
}

fn userinfo(server: &Server, token: &str) -> Reply {
    Call::get("/userinfo").bearer(token).send(server)
}

/// A server, its person, and the answer to a redeemed code.
fn logged_in(setup: Setup) -> (Server, String, Reply) {
    let server = Server::start(setup);
    let user = alice(&server);
    let code = code(&server, "service", &user);
    let reply = token(&server, &redeem(&code)).expect(200);
    (server, user, reply)
}

#[test]
pub fn a_code_gives_tokens_that_say_who_and_how() {
    let (server, user, reply) = logged_in(Setup::default());
    let id_token = claims(&reply.member("id_token"));
    assert_eq!(id_token["sub"], user.as_str());
    assert_eq!(id_token["aud"], "service");
    assert_eq!(id_token["nonce"], "n-1");
    assert_eq!(id_token["acr"], "urn:signet:acr:password");
    assert!(id_token["at_hash"].is_string());
    let access_token = reply.member("access_token");
    let info = userinfo(&server, &access_token).expect(200).json();
    assert_eq!(info["sub"], user.as_str());
    assert_eq!(info["email"], "alice@example.test");
    assert!(is_active(&server, &access_token));
    assert!(is_active(&server, &reply.member("refresh_token")));
    assert_eq!(rows(&server, Table::UserGrant), 1);
    // Also by POST with a form body (RFC 6750 section 2.2).
    let form = [("access_token", access_token.as_str())];
    Call::post("/userinfo")
        .form(&form)
        .send(&server)
        .expect(200);
}

#[test]
pub fn the_replay_of_a_code_ends_the_tokens_it_gave() {
    let server = Server::start(Setup::default());
    let user = alice(&server);
    let code = code(&server, "service", &user);
    let first = token(&server, &redeem(&code)).expect(200);
    token(&server, &redeem(&code)).expect_error(400, "invalid_grant");
    assert!(!is_active(&server, &first.member("access_token")));
    userinfo(&server, &first.member("access_token")).expect_error(401, "invalid_token");
    refresh(&server, &first.member("refresh_token")).expect_error(400, "invalid_grant");
}

#[test]
fn a_stranger_cannot_burn_a_code() {
    let mut setup = Setup::default();
    setup.clients.push(client("other"));
    let server = Server::start(setup);
    let user = alice(&server);
    let code = code(&server, "service", &user);
    let form = redeem(&code);
    // Known fault A12: another client, no authentication, another redirect, another verifier.
    let other = Call::post("/token").basic("other", SECRET).form(&form);
    other.send(&server).expect_error(400, "invalid_grant");
    let wrong = Call::post("/token").basic("service", "wrong").form(&form);
    wrong.send(&server).expect_error(401, "invalid_client");
    for (name, value) in [
        ("redirect_uri", "https://client.example/other"),
        (
            "code_verifier",
            "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXx",
        ),
    ] {
        let mut form = form.clone();
        form.iter_mut().find(|(n, _)| *n == name).unwrap().1 = value;
        token(&server, &form).expect_error(400, "invalid_grant");
    }
    token(&server, &form).expect(200);
}

#[test]
fn of_many_racing_redemptions_one_succeeds() {
    let server = Server::start(Setup::default());
    let user = alice(&server);
    let code = code(&server, "service", &user);
    let good = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..24 {
            scope.spawn(|| {
                if token(&server, &redeem(&code)).status == 200 {
                    good.fetch_add(1, SeqCst);
                }
            });
        }
    });
    assert_eq!(good.into_inner(), 1);
}

#[test]
pub fn an_old_refresh_token_ends_its_family_and_no_other() {
    let (server, user, first) = logged_in(Setup::default());
    let other_device = token(&server, &redeem(&code(&server, "service", &user))).expect(200);
    let second = refresh(&server, &first.member("refresh_token")).expect(200);
    let third = refresh(&server, &second.member("refresh_token")).expect(200);
    // Known fault A13: detected before refused, and the family goes.
    refresh(&server, &first.member("refresh_token")).expect_error(400, "invalid_grant");
    refresh(&server, &third.member("refresh_token")).expect_error(400, "invalid_grant");
    assert!(!is_active(&server, &third.member("access_token")));
    assert!(is_active(&server, &other_device.member("access_token")));
    refresh(&server, &other_device.member("refresh_token")).expect(200);
}

#[test]
fn of_many_racing_refreshes_one_succeeds() {
    let (server, _, first) = logged_in(Setup::default());
    let refresh_token = first.member("refresh_token");
    let good = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| {
                if refresh(&server, &refresh_token).status == 200 {
                    good.fetch_add(1, SeqCst);
                }
            });
        }
    });
    assert_eq!(good.into_inner(), 1);
}

#[test]
fn a_client_that_keeps_its_refresh_token_gets_no_new_one() {
    let mut setup = Setup::default();
    setup.clients[0].refresh_rotation = RefreshRotation::Keep;
    setup.clients[0].dpop_bound_access_tokens = true;
    let server = Server::start(setup);
    let (user, key) = (alice(&server), signer(Algorithm::Es256));
    let bound = |form: &[(&str, &str)]| {
        let jti = random_id();
        let proof = proof(
            &server,
            &key,
            &Proof {
                htm: "POST",
                path: "/token",
                jti: &jti,
                nonce: None,
                token: None,
            },
        );
        Call::post("/token")
            .basic("service", SECRET)
            .header("dpop", &proof)
            .form(form)
            .send(&server)
    };
    let first = bound(&redeem(&code(&server, "service", &user))).expect(200);
    assert_eq!(first.member("token_type"), "DPoP");
    let refresh_token = first.member("refresh_token");
    let form = [
        ("grant_type", "refresh_token"),
        ("refresh_token", refresh_token.as_str()),
    ];
    for _ in 0..3 {
        let again = bound(&form).expect(200);
        assert!(again.json().get("refresh_token").is_none());
    }
    refresh(&server, &refresh_token).expect_error(400, "invalid_request");
}

#[test]
pub fn a_proof_counts_once_is_for_its_url_and_brings_its_nonce() {
    let mut setup = Setup::default();
    setup.settings.dpop_nonce_required = true;
    let server = Server::start(setup);
    let key = signer(Algorithm::Es256);
    let form = [("grant_type", "client_credentials")];
    let send = |text: &str| {
        Call::post("/token")
            .basic("service", SECRET)
            .header("dpop", text)
            .form(&form)
            .send(&server)
    };
    let make = |path, jti: &str, nonce| {
        let content = Proof {
            htm: "POST",
            path,
            jti,
            nonce,
            token: None,
        };
        proof(&server, &key, &content)
    };
    let without = send(&make("/token", &random_id(), None)).expect_error(400, "use_dpop_nonce");
    let nonce = without.header("dpop-nonce").to_owned();
    assert_ne!(nonce, "");
    let good = make("/token", &random_id(), Some(&nonce));
    let reply = send(&good).expect(200);
    assert_ne!(reply.header("dpop-nonce"), "");
    assert!(claims(&reply.member("access_token"))["cnf"]["jkt"].is_string());
    send(&good).expect_error(400, "invalid_dpop_proof");
    let elsewhere = make("/introspect", &random_id(), Some(&nonce));
    send(&elsewhere).expect_error(400, "invalid_dpop_proof");
    let invented = make("/token", &random_id(), Some("invented"));
    send(&invented).expect_error(400, "use_dpop_nonce");
    let twice = Call::post("/token")
        .basic("service", SECRET)
        .header("dpop", &good)
        .header("dpop", &good)
        .form(&form);
    twice.send(&server).expect_error(400, "invalid_dpop_proof");
}

#[test]
fn a_bound_token_is_no_bearer_token() {
    let server = Server::start(Setup::default());
    let (user, key) = (alice(&server), signer(Algorithm::Es256));
    let make = |htm, path, token: Option<&str>| {
        let jti = random_id();
        let content = Proof {
            htm,
            path,
            jti: &jti,
            nonce: None,
            token,
        };
        proof(&server, &key, &content)
    };
    let reply = Call::post("/token")
        .basic("service", SECRET)
        .header("dpop", &make("POST", "/token", None))
        .form(&redeem(&code(&server, "service", &user)))
        .send(&server)
        .expect(200);
    let bound = reply.member("access_token");
    let plain = userinfo(&server, &bound).expect_error(401, "invalid_token");
    assert!(plain.header("www-authenticate").starts_with("DPoP"));
    let send = |proof: &str| {
        Call::get("/userinfo")
            .header("authorization", &format!("DPoP {bound}"))
            .header("dpop", proof)
            .send(&server)
    };
    let good = make("GET", "/userinfo", Some(&bound));
    send(&good).expect(200);
    send(&good).expect_error(401, "invalid_dpop_proof");
    send(&make("GET", "/userinfo", None)).expect_error(401, "invalid_dpop_proof");
    send(&make("POST", "/userinfo", Some(&bound))).expect_error(401, "invalid_dpop_proof");
    let introspected = Call::post("/introspect")
        .basic("service", SECRET)
        .form(&[("token", &bound)])
        .send(&server)
        .json();
    assert!(introspected["cnf"]["jkt"].is_string());
}

#[test]
pub fn a_certificate_bound_token_needs_its_certificate() {
    let mut setup = Setup::default();
    setup.clients[0].tls_client_certificate_bound_access_tokens = true;
    let server = Server::start(setup);
    let user = alice(&server);
    let issue = |name| {
        let (chain, key) = server.ca.issue_client(name).unwrap();
        (chain, key.expose().clone())
    };
    let (own, other) = (issue("own"), issue("other"));
    let code = code(&server, "service", &user);
    token(&server, &redeem(&code)).expect_error(400, "invalid_request");
    let reply = Call::post("/token")
        .certificate(&own)
        .basic("service", SECRET)
        .form(&redeem(&code))
        .send(&server)
        .expect(200);
    let bound = reply.member("access_token");
    let at = |call: Call| call.bearer(&bound).send(&server);
    at(Call::get("/userinfo").certificate(&own)).expect(200);
    at(Call::get("/userinfo").certificate(&other)).expect_error(401, "invalid_token");
    at(Call::get("/userinfo")).expect_error(401, "invalid_token");
}

#[test]
pub fn revoking_takes_effect_at_once_and_only_for_the_owner() {
    let mut setup = Setup::default();
    setup.clients.push(client("other"));
    let server = Server::start(setup);
    let user = alice(&server);
    let reply = token(&server, &redeem(&code(&server, "service", &user))).expect(200);
    let (access, refresh_token) = (reply.member("access_token"), reply.member("refresh_token"));
    let revoke = |who, token: &str| {
        Call::post("/revoke")
            .basic(who, SECRET)
            .form(&[("token", token)])
            .send(&server)
    };
    // Known fault A8: neither others' tokens nor strings that are none leave an entry.
    revoke("other", &access).expect_error(400, "unauthorized_client");
    for junk in ["x", "a.b.c", "eyJhbGciOiJub25lIn0.e30."] {
        revoke("service", junk).expect(200);
    }
    assert_eq!(rows(&server, Table::Revocation), 0);
    assert!(is_active(&server, &access));
    revoke("service", &access).expect(200);
    assert!(!is_active(&server, &access));
    assert!(is_active(&server, &refresh_token));
    let next = refresh(&server, &refresh_token).expect(200);
    revoke("service", &next.member("refresh_token")).expect(200);
    assert!(!is_active(&server, &next.member("access_token")));
    refresh(&server, &next.member("refresh_token")).expect_error(400, "invalid_grant");
    assert_eq!(rows(&server, Table::UserGrant), 0);
}

#[test]
pub fn revoking_a_user_a_client_or_a_session_ends_everything_at_once() {
    for what in 0..3 {
        let server = Server::start(Setup::default());
        let (realm, user) = (&server.realm, alice(&server));
        // Without offline_access: what a session gave ends with it.
        let make = || {
            let mut content = code_content(&server, "service", &user);
            content.scope = crate::common::scope("openid email");
            content.seal(&realm.keyring()).unwrap()
        };
        let first = token(&server, &redeem(&make())).expect(200);
        let waiting = make();
        crate::common::block_on(async {
            match what {
                0 => realm.revoke_user(&user).await,
                1 => realm.revoke_client("service").await,
                _ => realm.revoke_session("sid-1").await,
            }
        })
        .unwrap();
        userinfo(&server, &first.member("access_token")).expect_error(401, "invalid_token");
        token(&server, &redeem(&waiting)).expect_error(400, "invalid_grant");
        let refresh_token = first.member("refresh_token");
        if !refresh_token.is_empty() {
            refresh(&server, &refresh_token).expect_error(400, "invalid_grant");
        }
    }
}

#[test]
fn a_disabled_user_gets_nothing_more() {
    let (server, user, first) = logged_in(Setup::default());
    let users = &server.realm.people.users;
    crate::common::block_on(users.set_enabled(&user, false, server.realm.now())).unwrap();
    userinfo(&server, &first.member("access_token")).expect_error(401, "invalid_token");
    refresh(&server, &first.member("refresh_token")).expect_error(400, "invalid_grant");
}

#[test]
fn introspection_says_nothing_to_those_who_may_not_see() {
    let mut setup = Setup::default();
    setup.clients.push(client("another"));
    setup.clients.push(client("api"));
    let mut public = client("public");
    public.token_endpoint_auth_method = AuthMethod::None;
    setup.clients.push(public);
    let server = Server::start(setup);
    server.configure(|_, declared| {
        let resource = Resource {
            identifier: "https://api.example".to_owned(),
            name: None,
            scopes: crate::common::scope("api:read"),
            access_token_signed_response_alg: Some(Algorithm::EdDsa),
            access_token_format: None,
            access_token_lifetime: None,
            introspectors: vec!["api".to_owned()],
            claims: Vec::new(),
            revision: 1,
        };
        declared
            .resources
            .insert(resource.identifier.clone(), Arc::new(resource));
        let mut service = client("service");
        service.resources = vec!["https://api.example".to_owned()];
        declared
            .clients
            .insert("service".to_owned(), Arc::new(service));
    });
    let form = [
        ("grant_type", "client_credentials"),
        ("resource", "https://api.example"),
    ];
    let access = token(&server, &form).expect(200).member("access_token");
    assert_eq!(claims(&access)["aud"], "https://api.example");
    let ask = |who, token: &str| {
        Call::post("/introspect")
            .basic(who, SECRET)
            .form(&[("token", token)])
            .send(&server)
            .expect(200)
            .text()
    };
    let inactive = r#"{"active":false}"#;
    // Known fault A11.
    assert_eq!(ask("another", &access), inactive);
    assert!(ask("api", &access).contains(r#""active":true"#));
    assert!(ask("service", &access).contains(r#""active":true"#));
    let (front, back) = access.split_at(access.len() - 20);
    let other = if back.starts_with('A') { "B" } else { "A" };
    let forged = format!("{front}{other}{}", &back[1..]);
    for junk in [&*forged, "x", "....", "\u{e9}", &"x".repeat(9000)] {
        assert_eq!(ask("api", junk), inactive);
    }
    let by_public = Call::post("/introspect").form(&[("client_id", "public"), ("token", &access)]);
    by_public.send(&server).expect_error(401, "invalid_client");
    let signed = Call::post("/introspect")
        .basic("api", SECRET)
        .header("accept", "application/token-introspection+jwt")
        .form(&[("token", &access)])
        .send(&server)
        .expect(200);
    assert_eq!(
        signed.header("content-type"),
        "application/token-introspection+jwt"
    );
    assert_eq!(
        claims(&signed.text())["token_introspection"]["active"],
        true
    );
    server.pass(7200);
    assert_eq!(ask("api", &access), inactive);
}

#[test]
fn tokens_of_the_signed_header_only_and_not_of_another_type() {
    let (server, _, reply) = logged_in(Setup::default());
    // Known fault V10: an ID token is no access token.
    userinfo(&server, &reply.member("id_token")).expect_error(401, "invalid_token");
    assert!(!is_active(&server, &reply.member("id_token")));
    let path = format!("/userinfo?access_token={}", reply.member("access_token"));
    let bare = Call::get(&path).send(&server);
    assert_eq!(bare.status, 401);
    assert!(!bare.header("www-authenticate").contains("error="));
}

#[test]
fn a_public_client_refreshes_without_a_secret_and_rotates() {
    let mut setup = Setup::default();
    let mut native = client("native");
    native.token_endpoint_auth_method = AuthMethod::None;
    native.secrets.clear();
    setup.clients.push(native);
    let server = Server::start(setup);
    let user = alice(&server);
    let sealed = code(&server, "native", &user);
    let mut form = redeem(&sealed);
    form.push(("client_id", "native"));
    let first = Call::post("/token").form(&form).send(&server).expect(200);
    let refresh = |token: &str| {
        let form = [
            ("grant_type", "refresh_token"),
            ("client_id", "native"),
            ("refresh_token", token),
        ];
        Call::post("/token").form(&form).send(&server)
    };
    let second = refresh(&first.member("refresh_token")).expect(200);
    assert_ne!(second.member("refresh_token"), "");
    refresh(&first.member("refresh_token")).expect_error(400, "invalid_grant");
    refresh(&second.member("refresh_token")).expect_error(400, "invalid_grant");
}

#[test]
fn a_verifier_without_a_challenge_is_refused() {
    let mut setup = Setup::default();
    setup.clients[0].require_pkce = false;
    let server = Server::start(setup);
    let user = alice(&server);
    let mut content = code_content(&server, "service", &user);
    content.code_challenge = None;
    let sealed = content.seal(&server.realm.keyring()).unwrap();
    token(&server, &redeem(&sealed)).expect_error(400, "invalid_grant");
    let form: Vec<_> = redeem(&sealed)
        .into_iter()
        .filter(|(name, _)| *name != "code_verifier")
        .collect();
    token(&server, &form).expect(200);
}

#[test]
pub fn a_device_gets_its_tokens_once_after_a_person_said_yes() {
    use signet_oauth::issued::session::Session;
    use signet_oauth::token::device_authorization::DeviceRecord;
    use signet_store::{Change, Key, Op};
    let server = Server::start(Setup::default());
    let user = alice(&server);
    let asked = Call::post("/device_authorization")
        .basic("service", SECRET)
        .form(&[("scope", "openid offline_access")])
        .send(&server)
        .expect(200);
    let device_code = asked.member("device_code");
    let form = [
        ("grant_type", "urn:ietf:params:oauth:grant-type:device_code"),
        ("device_code", device_code.as_str()),
    ];
    token(&server, &form).expect_error(400, "authorization_pending");
    token(&server, &form).expect_error(400, "slow_down");
    let realm = &server.realm;
    crate::common::block_on(async {
        let rows = realm
            .store
            .page(Table::DeviceCode, None, 10, realm.now())
            .await
            .unwrap();
        let record = DeviceRecord::from_bytes(&rows[0].1.value).unwrap();
        let session = Session {
            sid: "sid-2".to_owned(),
            user_id: user.clone(),
            auth_time: realm.now(),
            acr: "a".to_owned(),
            amr: vec!["pwd".to_owned()],
            methods: vec!["password".to_owned()],
            ends_at: u64::MAX,
        };
        let approved = record
            .approve(
                &session,
                false,
                GrantId::new(signet_crypto::random::bytes()),
                realm.now_ms(),
            )
            .unwrap();
        let put = Op::Put {
            key: Key::new(Table::DeviceCode, record.id.as_bytes().to_vec()),
            value: approved.to_bytes(),
            end: rows[0].1.end,
        };
        let change = Change {
            first: put,
            then: Vec::new(),
        };
        realm.store.commit(change, realm.now()).await.unwrap();
    });
    server.pass(20);
    let reply = token(&server, &form).expect(200);
    assert_eq!(claims(&reply.member("id_token"))["sub"], user.as_str());
    refresh(&server, &reply.member("refresh_token")).expect(200);
    token(&server, &form).expect_error(400, "invalid_grant");
}

#[test]
pub fn a_sweep_removes_what_has_ended_and_nothing_else() {
    let (server, _, first) = logged_in(Setup::default());
    let made = rows(&server, Table::Once);
    assert_eq!(made, 1);
    // The code's own end is not enough: a clock that was forward for a moment must not make it good
    // again.
    server.pass(signet_realm::time::MARGIN);
    crate::common::block_on(signet_realm::tasks::sweep_once(&server.realm));
    assert!(
        !crate::common::block_on(server.realm.store.page(Table::Once, None, 9, 0))
            .unwrap()
            .is_empty()
    );
    server.pass(300);
    crate::common::block_on(signet_realm::tasks::sweep_once(&server.realm));
    assert!(
        crate::common::block_on(server.realm.store.page(Table::Once, None, 9, 0))
            .unwrap()
            .is_empty()
    );
    refresh(&server, &first.member("refresh_token")).expect(200);
}

#[test]
fn an_exchange_narrows_and_refuses_what_is_dead_forged_or_not_its_own() {
    let mut setup = Setup::default();
    let mut agent = client("agent");
    agent.may_act_for = vec!["service".to_owned()];
    setup.clients.push(agent);
    setup.clients.push(client("another"));
    let (server, user, first) = logged_in(setup);
    let subject = first.member("access_token");
    let exchange = |who, subject: &str, scope: &str| {
        let mut form = vec![
            (
                "grant_type",
                "urn:ietf:params:oauth:grant-type:token-exchange",
            ),
            ("subject_token", subject),
            (
                "subject_token_type",
                "urn:ietf:params:oauth:token-type:access_token",
            ),
        ];
        if !scope.is_empty() {
            form.push(("scope", scope));
        }
        Call::post("/token")
            .basic(who, SECRET)
            .form(&form)
            .send(&server)
    };
    let reply = exchange("agent", &subject, "email").expect(200);
    let exchanged = claims(&reply.member("access_token"));
    assert_eq!(exchanged["sub"], user.as_str());
    assert_eq!(exchanged["client_id"], "agent");
    assert_eq!(exchanged["scope"], "email");
    assert_eq!(
        reply.member("issued_token_type"),
        "urn:ietf:params:oauth:token-type:access_token"
    );
    exchange("agent", &subject, "email api:write").expect_error(400, "invalid_scope");
    for who in ["another", "agent"] {
        let token = match who {
            "another" => subject.clone(),
            _ => format!("{}.x", &subject[..subject.rfind('.').unwrap()]),
        };
        assert_eq!(exchange(who, &token, "").status, 400, "{who}");
    }
    let revoke = Call::post("/revoke").basic("service", SECRET);
    let form = [("token", subject.as_str())];
    revoke.form(&form).send(&server).expect(200);
    assert_eq!(exchange("agent", &subject, "").status, 400);
}

#[test]
fn what_a_removed_client_held_stays_revoked_for_as_long_as_its_own_tokens_live() {
    let mut setup = Setup::default();
    let long = setup.settings.refresh_token_lifetime * 10;
    setup.clients.push(signet_oauth::client::Client {
        scope: crate::common::scope("signet:admin"),
        ..client("operator")
    });
    let server = Server::start(setup);
    let realm = &server.realm;
    let stored = signet_oauth::client::Client {
        refresh_token_lifetime: Some(long),
        ..client("long")
    };
    crate::common::block_on(realm.write_record(stored, None)).unwrap();
    let form = [
        ("grant_type", "client_credentials"),
        ("scope", "signet:admin"),
    ];
    let operator = Call::post("/token").basic("operator", SECRET).form(&form);
    let operator = operator.send(&server).expect(200).member("access_token");
    let remove = Call::new(http::Method::DELETE, "/admin/v1/clients/long").bearer(&operator);
    remove.send(&server).expect(204);
    server.pass(long);
    let index = signet_store::RevocationIndex::load(realm.store.clone(), realm.now());
    let index = crate::common::block_on(index).unwrap();
    assert!(
        index.is_revoked(&signet_oauth::token::decision::RevocationQuery {
            client_id: Some("long"),
            ..signet_oauth::token::decision::RevocationQuery::default()
        })
    );
}

#[test]
fn a_client_that_leaves_the_configuration_and_comes_back_holds_nothing() {
    let (server, _, reply) = logged_in(Setup::default());
    let realm = &server.realm;
    let declare = |ids: &[&str]| {
        let ids = ids.iter().map(|id| (*id).to_owned()).collect();
        crate::common::block_on(realm.note_declared_clients(&ids)).unwrap()
    };
    assert_eq!(declare(&["service", "other"]), 0);
    assert_eq!(declare(&["service", "other"]), 0);
    assert!(is_active(&server, &reply.member("access_token")));
    assert_eq!(declare(&["other"]), 1);
    assert_eq!(declare(&["service", "other"]), 0);
    assert!(!is_active(&server, &reply.member("access_token")));
    refresh(&server, &reply.member("refresh_token")).expect_error(400, "invalid_grant");
    // What it gets from now on counts.
    server.pass(1);
    let form = [("grant_type", "client_credentials")];
    let fresh = token(&server, &form).expect(200).member("access_token");
    assert!(is_active(&server, &fresh));
}

#[test]
fn a_clock_that_was_forward_for_one_sweep_undoes_neither_once_nor_a_revocation() {
    let (server, _, first) = logged_in(Setup::default());
    let user = crate::common::block_on(server.realm.people.users.by_login("alice", 0));
    let user = user.unwrap().unwrap().id;
    let spent = code(&server, "service", &user);
    token(&server, &redeem(&spent)).expect(200);
    let access = first.member("access_token");
    let revoke = Call::post("/revoke").basic("service", SECRET);
    revoke.form(&[("token", &access)]).send(&server).expect(200);
    let swept = |server: &Server| {
        crate::common::block_on(signet_realm::tasks::sweep_once(&server.realm));
    };
    // As far as a step may go that is not noticed before a sweep.
    server.pass(1500);
    swept(&server);
    server.clock.passed.fetch_sub(1_500_000, SeqCst);
    token(&server, &redeem(&spent)).expect_error(400, "invalid_grant");
    assert!(!is_active(&server, &access));
    // And where something was removed, the server's time does not go back behind it.
    server.pass(86_400);
    swept(&server);
    let floor = server.realm.now() - signet_realm::time::MARGIN;
    server.clock.passed.fetch_sub(86_400_000, SeqCst);
    assert_eq!(server.realm.now(), floor);
    token(&server, &redeem(&spent)).expect_error(400, "invalid_grant");
    assert!(!is_active(&server, &access));
    let kept = crate::common::block_on(signet_realm::time::Kept::load(&*server.realm.store, 0));
    assert_eq!(kept.unwrap().unwrap().removed_to, floor);
}
