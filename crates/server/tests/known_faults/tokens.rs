//! Faults of tokens: issued, exchanged, introspected, revoked, once.
use super::*;

/// Known fault A3.
#[test]
fn an_assertion_of_another_issuer_is_worth_nothing() {
    let mail = Mail::new();
    let server = server(&mail, |_| {});
    let alice = id_of(&server, "alice");
    let own = credentials(&server, "web")
        .expect(200)
        .member("access_token");
    let made = claims(&own);
    let stranger = signet_jose::jwt::JwtSigner::new(
        signet_crypto::SigningKey::generate(Algorithm::Es256).unwrap(),
        server
            .realm
            .snapshot()
            .keys
            .signer(Algorithm::Es256)
            .unwrap()
            .kid(),
    );
    for issuer in [&*server.issuer(), "https://other.example"] {
        let foreign = stranger
            .sign(Typ::AccessToken, |w| {
                w.member("iss").string(issuer);
                w.member("sub").string(&alice);
                w.member("aud").string(&server.issuer());
                w.member("client_id").string("web");
                w.member("scope").string("openid");
                w.member("jti").string(made["jti"].as_str().unwrap());
                w.member("iat").number(server.realm.now());
                w.member("exp").number(server.realm.now() + 300);
            })
            .unwrap();
        let form = [
            ("grant_type", EXCHANGE),
            ("subject_token", &*foreign),
            ("subject_token_type", ACCESS_TOKEN),
        ];
        ask(&server, "/token", "web", &form).expect_error(400, "invalid_request");
        assert_eq!(userinfo(&server, &foreign), 401);
        assert!(!is_active(&server, &foreign));
    }
    let unsigned = format!("eyJhbGciOiJub25lIn0.{}.", own.split('.').nth(1).unwrap());
    assert_eq!(userinfo(&server, &unsigned), 401);
    assert!(!is_active(&server, &unsigned));
}

/// Known fault A7.
#[test]
fn what_is_not_known_of_a_revocation_is_a_refusal() {
    let mail = Mail::new();
    let store = Arc::new(Failing::default());
    let server = server(&mail, |setup| setup.store = Some(store.clone()));
    let reply = tokens(
        &server,
        "alice",
        &[("scope", "openid offline_access"), ("prompt", "consent")],
    );
    let (access, again) = (reply.member("access_token"), reply.member("refresh_token"));
    store.unread.store(true, SeqCst);
    assert!((500..600).contains(&refresh(&server, "web", &again).status));
    let revoked = ask(&server, "/revoke", "web", &[("token", &access)]);
    assert!((500..600).contains(&revoked.status), "not reported as done");
    assert!(
        (500..600).contains(&userinfo(&server, &access)),
        "the person cannot be read"
    );
    // A start that cannot read the index is none.
    assert!(block_on(RevocationIndex::load(store.clone(), 0)).is_err());
    store.unread.store(false, SeqCst);
    ask(&server, "/revoke", "web", &[("token", &access)]).expect(200);
    // From here on the index in memory knows, whatever becomes of the store.
    store.unread.store(true, SeqCst);
    assert!(!is_active(&server, &access));
    assert_eq!(userinfo(&server, &access), 401);
}

/// Known fault A8.
#[test]
fn only_tokens_of_this_server_put_entries_in_the_revocation_list() {
    let mail = Mail::new();
    let server = server(&mail, |_| {});
    let access = credentials(&server, "web")
        .expect(200)
        .member("access_token");
    let (front, signature) = access.rsplit_once('.').unwrap();
    let turned: String = signature.chars().rev().collect();
    let body = front.split('.').nth(1).unwrap();
    for forged in [
        format!("{front}.{turned}"),
        format!("{front}."),
        format!("eyJhbGciOiJub25lIn0.{body}."),
        "x".to_owned(),
    ] {
        ask(&server, "/revoke", "web", &[("token", &forged)]).expect(200);
    }
    ask(&server, "/revoke", "other", &[("token", &access)])
        .expect_error(400, "unauthorized_client");
    assert_eq!(rows(&server, Table::Revocation), 0);
    assert!(is_active(&server, &access));
}

/// Known fault A9.
#[test]
fn a_revocation_outlives_what_it_revokes() {
    let mail = Mail::new();
    let server = server(&mail, |_| {});
    let access = credentials(&server, "web")
        .expect(200)
        .member("access_token");
    let end = claims(&access)["exp"].as_u64().unwrap();
    ask(&server, "/revoke", "web", &[("token", &access)]).expect(200);
    let now = server.realm.now();
    let entries = block_on(server.realm.store.page(Table::Revocation, None, 10, now)).unwrap();
    assert_eq!(entries.len(), 1);
    assert!(entries[0].1.end.is_some_and(|entry| entry >= end));
    server.pass(end - server.realm.now() - 1);
    block_on(server.realm.store.sweep(server.realm.now(), 100)).unwrap();
    assert_eq!(rows(&server, Table::Revocation), 1);
    assert!(!is_active(&server, &access));
}

/// Known fault A11.
#[test]
fn introspection_checks_the_signature_and_who_asks_every_time() {
    let mail = Mail::new();
    let server = server(&mail, |_| {});
    let access = credentials(&server, "web")
        .expect(200)
        .member("access_token");
    assert!(is_active(&server, &access));
    let (front, signature) = access.rsplit_once('.').unwrap();
    let turned: String = signature.chars().rev().collect();
    for _ in 0..2 {
        assert_eq!(
            introspect(&server, "other", &access),
            json!({ "active": false })
        );
        assert!(!is_active(&server, &format!("{front}.{turned}")));
        assert!(is_active(&server, &access));
    }
    let nobody = Call::post("/introspect").form(&[("token", &access)]);
    nobody.send(&server).expect_error(401, "invalid_client");
}

/// Known fault A12.
#[test]
fn a_stranger_cannot_burn_a_code_or_a_refresh_token() {
    let mail = Mail::new();
    let server = server(&mail, |_| {});
    let alice = id_of(&server, "alice");
    let code = code(&server, "web", &alice);
    let good = redeem(&code);
    let put = |name: &str, value: &'static str| {
        let mut form = good.clone();
        form.retain(|(known, _)| *known != name);
        form.push((
            if name == "redirect_uri" {
                "redirect_uri"
            } else {
                "code_verifier"
            },
            value,
        ));
        form
    };
    ask(&server, "/token", "other", &good).expect_error(400, "invalid_grant");
    let wrong = Call::post("/token").basic("web", "wrong").form(&good);
    wrong.send(&server).expect_error(401, "invalid_client");
    Call::post("/token")
        .form(&good)
        .send(&server)
        .expect_error(401, "invalid_client");
    for bad in [
        put("redirect_uri", "https://client.example/elsewhere"),
        put(
            "code_verifier",
            "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXx",
        ),
    ] {
        ask(&server, "/token", "web", &bad).expect_error(400, "invalid_grant");
    }
    let reply = ask(&server, "/token", "web", &good).expect(200);
    let token = reply.member("refresh_token");
    refresh(&server, "other", &token).expect_error(400, "invalid_grant");
    refresh(&server, "web", &token).expect(200);
}

/// Known fault A13.
#[test]
fn a_replayed_refresh_token_ends_its_family_and_revoking_all_ends_every_one() {
    let mail = Mail::new();
    let server = server(&mail, |_| {});
    let offline = [("scope", "openid offline_access"), ("prompt", "consent")];
    let phone = tokens(&server, "alice", &offline);
    let laptop = tokens(&server, "alice", &offline);
    let second = refresh(&server, "web", &phone.member("refresh_token")).expect(200);
    // The theft is noticed, and the thief's newer token dies with it.
    refresh(&server, "web", &phone.member("refresh_token")).expect_error(400, "invalid_grant");
    refresh(&server, "web", &second.member("refresh_token")).expect_error(400, "invalid_grant");
    assert!(!is_active(&server, &second.member("access_token")));
    // The other device's family is another one.
    let next = refresh(&server, "web", &laptop.member("refresh_token")).expect(200);
    // Revoked after a rotation: the newest token is the one that must die.
    block_on(server.realm.revoke_everything_of(&id_of(&server, "alice"))).unwrap();
    refresh(&server, "web", &next.member("refresh_token")).expect_error(400, "invalid_grant");
    assert!(!is_active(&server, &next.member("access_token")));
}

/// Known fault A14: two nodes with one store. Two processes cannot have one embedded store at all,
/// and what it decided outlives a restart.
#[test]
fn once_is_once_for_every_node_and_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let open = || SqliteStore::open(folder.path(), Options::default());
    let store: Arc<SqliteStore> = Arc::new(open().unwrap());
    assert!(matches!(open(), Err(OpenError::InUse { .. })));
    let sealing_key = signet_crypto::seal::SealingKey::generate();
    let node = || {
        Server::start(Setup {
            store: Some(store.clone()),
            sealing_key: sealing_key.clone(),
            ..Setup::default()
        })
    };
    let (first, second) = (node(), node());
    let user = crate::common::made::alice(&first);
    // The same code, and the same refresh token, as each node would have them under a common
    // sealing key.
    let content = code_content(&first, "service", &user);
    let at = |server: &Server| {
        let code = content.clone().seal(&server.realm.keyring()).unwrap();
        ask(server, "/token", "service", &redeem(&code))
    };
    at(&first).expect(200);
    at(&second).expect_error(400, "invalid_grant");

    let once = |id: &str| {
        Change::new(Op::Insert {
            key: Key::new(Table::Once, id),
            value: Vec::new(),
            end: Some(4_000_000_000),
        })
    };
    let now = first.realm.now();
    let done = block_on(store.commit(once("assertion"), now)).unwrap();
    assert!(matches!(done, Outcome::Done { .. }));
    drop((first, second));
    store.close();
    let reopened = open().unwrap();
    let again = block_on(reopened.commit(once("assertion"), now)).unwrap();
    assert!(matches!(again, Outcome::Refused(_)), "lost on restart");
}

/// Known fault A19.
#[test]
fn a_clock_that_goes_back_revokes_nothing_less() {
    let mail = Mail::new();
    let server = server(&mail, |_| {});
    let alice = id_of(&server, "alice");
    server.pass(300);
    let access = tokens(&server, "alice", &[]).member("access_token");
    let alone = credentials(&server, "web")
        .expect(200)
        .member("access_token");
    block_on(server.realm.revoke_user(&alice)).unwrap();
    ask(&server, "/revoke", "web", &[("token", &alone)]).expect(200);
    assert_eq!(userinfo(&server, &access), 401);
    // Five minutes back, on this node or on the one that writes next: the earlier moment does not
    // win.
    server.clock.passed.store(0, SeqCst);
    assert_eq!(userinfo(&server, &access), 401);
    block_on(server.realm.revoke_user(&alice)).unwrap();
    assert_eq!(userinfo(&server, &access), 401);
    assert!(!is_active(&server, &alone));
    let reloaded = block_on(RevocationIndex::load(
        server.realm.store.clone(),
        server.realm.now(),
    ));
    assert!(!reloaded.unwrap().is_empty());
}

/// Known fault A20.
#[test]
fn an_assertion_for_the_token_endpoint_is_refused() {
    let mail = Mail::new();
    let key = signer(Algorithm::Es256);
    let public = signet_jose::jwk::Jwk::for_signatures(
        key.key().public().unwrap().clone(),
        Algorithm::Es256,
        "k1",
    );
    let server = server(&mail, |setup| {
        let mut asserting = client("asserting");
        asserting.token_endpoint_auth_method = AuthMethod::PrivateKeyJwt;
        asserting.secrets.clear();
        asserting.jwks = Some(signet_jose::jwk::JwkSet { keys: vec![public] });
        setup.clients.push(asserting);
    });
    let issuer = server.issuer();
    let ask = |audience: &str| {
        let made = assertion(
            &key,
            "asserting",
            audience,
            &random_id(),
            server.realm.now(),
        );
        let form = [
            ("grant_type", "client_credentials"),
            (
                "client_assertion_type",
                "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
            ),
            ("client_assertion", &*made),
        ];
        Call::post("/token").form(&form).send(&server)
    };
    for other in [
        format!("{issuer}/token"),
        format!("{issuer}/par"),
        format!("{issuer}/"),
        "https://other.example".to_owned(),
        String::new(),
    ] {
        ask(&other).expect_error(401, "invalid_client");
    }
    ask(&issuer).expect(200);
}

/// Known fault A23.
#[test]
fn subject_and_actor_of_unrelated_contexts_are_not_joined() {
    let mail = Mail::new();
    let server = server(&mail, |setup| {
        let mut agent = client("agent");
        agent.may_act_for = vec!["web".into()];
        setup.clients.push(agent);
        setup.clients[1].redirect_uris = vec![RedirectUri::parse(CALLBACK, false).unwrap()];
    });
    let subject = tokens(&server, "alice", &[]).member("access_token");
    let exchange = |who: &str, actor: Option<&str>| {
        let mut form = vec![
            ("grant_type", EXCHANGE),
            ("subject_token", &*subject),
            ("subject_token_type", ACCESS_TOKEN),
        ];
        if let Some(actor) = actor {
            form.extend([("actor_token", actor), ("actor_token_type", ACCESS_TOKEN)]);
        }
        ask(&server, "/token", who, &form)
    };
    let of = |who: &str| credentials(&server, who).expect(200).member("access_token");
    // Who may not act for the subject's client, or brings another client's token, or another
    // person's.
    exchange("other", None).expect_error(400, "invalid_request");
    exchange("other", Some(&of("other"))).expect_error(400, "invalid_request");
    exchange("agent", Some(&of("other"))).expect_error(400, "invalid_request");
    let bob = code(&server, "agent", &id_of(&server, "bob"));
    let bobs = ask(&server, "/token", "agent", &redeem(&bob))
        .expect(200)
        .member("access_token");
    exchange("agent", Some(&bobs)).expect_error(400, "invalid_request");
    let joined = exchange("agent", Some(&of("agent"))).expect(200);
    let said = claims(&joined.member("access_token"));
    assert_eq!(said["sub"], *id_of(&server, "alice"));
    assert_eq!(said["act"]["sub"], "agent");
}
