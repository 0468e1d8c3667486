//! Compact access tokens over real sockets: issued, used, introspected, exchanged, revoked, and
//! their keys.
use crate::common::{
    SECRET, Server, Setup, client,
    client::{Call, Reply},
    made::{Proof, alice, claims, code, code_content, proof, random_id, redeem, signer},
};
use signet_compact::{KeySet, Policy, VerifyingKey};
use signet_crypto::Algorithm;
use signet_encoding::base64url;
use signet_oauth::issued::format::AccessTokenFormat::{self, Compact, Jwt};
use signet_verify::{
    self as verify, Issuer, KeySource, MemoryRevocations, OnStreamLoss, Presented, Refusal,
    Subject, Verifier,
};
use std::sync::Arc;

const TOKEN_TYPE: &str = "urn:ietf:params:oauth:token-type:access_token";
const INACTIVE: &str = r#"{"active":false}"#;

/// A server whose client `service` gets tokens of a format, and `other`, which may act for it, of
/// the default one.
fn start(format: AccessTokenFormat, algorithm: signet_compact::Algorithm) -> Server {
    let mut setup = Setup::default();
    setup.settings.compact_alg = algorithm;
    setup.clients[0].access_token_format = Some(format);
    let mut other = client("other");
    other.may_act_for = vec!["service".to_owned()];
    setup.clients.push(other);
    Server::start(setup)
}

fn ed25519(format: AccessTokenFormat) -> Server {
    start(format, signet_compact::Algorithm::Ed25519)
}

fn token(server: &Server, form: &[(&str, &str)]) -> Reply {
    Call::post("/token")
        .basic("service", SECRET)
        .form(form)
        .send(server)
}

fn own(server: &Server) -> String {
    token(server, &[("grant_type", "client_credentials")])
        .expect(200)
        .member("access_token")
}

fn introspect(server: &Server, token: &str) -> Reply {
    Call::post("/introspect")
        .basic("service", SECRET)
        .form(&[("token", token)])
        .send(server)
        .expect(200)
}

fn logged_in(server: &Server) -> (String, Reply) {
    let user = alice(server);
    let code = code(server, "service", &user);
    (user, token(server, &redeem(&code)).expect(200))
}

#[test]
pub fn the_same_story_is_told_the_same_way_in_both_formats() {
    let mut stories = [Jwt, Compact].map(|format| {
        let server = ed25519(format);
        let (user, reply) = logged_in(&server);
        let access = reply.member("access_token");
        assert_eq!(AccessTokenFormat::of(&access), Some(format));
        let info = Call::get("/userinfo").bearer(&access).send(&server);
        assert_eq!(info.expect(200).member("sub"), user);
        // Refreshed, the format stays.
        let refreshed = token(
            &server,
            &[
                ("grant_type", "refresh_token"),
                ("refresh_token", &reply.member("refresh_token")),
            ],
        );
        let refreshed = refreshed.expect(200).member("access_token");
        assert_eq!(AccessTokenFormat::of(&refreshed), Some(format));
        assert!(!claims(&reply.member("id_token"))["at_hash"].is_null());
        (introspect(&server, &access).json(), server.issuer(), user)
    });
    // Each server has its own address, person and moment; everything else is the same.
    for (story, issuer, user) in &mut stories {
        assert_eq!(story["active"], true);
        assert_eq!(story["iss"], issuer.as_str());
        assert_eq!(story["aud"], issuer.as_str());
        assert_eq!(story["sub"], user.as_str());
        let lifetime = story["exp"].as_u64().unwrap() - story["iat"].as_u64().unwrap();
        story["exp"] = lifetime.into();
        let mut scope: Vec<&str> = story["scope"].as_str().unwrap().split(' ').collect();
        scope.sort_unstable();
        story["scope"] = scope.join(" ").into();
        let story = story.as_object_mut().unwrap();
        for name in ["iss", "aud", "sub", "iat", "jti", "auth_time"] {
            assert!(story.remove(name).is_some(), "{name}");
        }
    }
    assert_eq!(stories[0].0, stories[1].0);
}

#[test]
fn revoking_a_token_a_user_a_client_or_a_session_ends_compact_tokens_at_once() {
    for what in 0..5 {
        let server = ed25519(Compact);
        let (realm, user) = (&server.realm, alice(&server));
        let mut content = code_content(&server, "service", &user);
        content.scope = crate::common::scope("openid email");
        let code = content.seal(&realm.keyring()).unwrap();
        let reply = token(&server, &redeem(&code)).expect(200);
        let access = reply.member("access_token");
        assert_ne!(introspect(&server, &access).text(), INACTIVE);
        let revoke = |token: &str| {
            let call = Call::post("/revoke").basic("service", SECRET);
            call.form(&[("token", token)]).send(&server).expect(200);
        };
        match what {
            0 => revoke(&access),
            // The grant, by its refresh token.
            1 => revoke(&reply.member("refresh_token")),
            2 => crate::common::block_on(realm.revoke_user(&user))
                .map(drop)
                .unwrap(),
            3 => crate::common::block_on(realm.revoke_client("service"))
                .map(drop)
                .unwrap(),
            _ => crate::common::block_on(realm.revoke_session("sid-1"))
                .map(drop)
                .unwrap(),
        }
        assert_eq!(introspect(&server, &access).text(), INACTIVE, "{what}");
        let info = Call::get("/userinfo").bearer(&access).send(&server);
        info.expect_error(401, "invalid_token");
    }
}

#[test]
fn a_stranger_revokes_no_compact_token() {
    let server = ed25519(Compact);
    let access = own(&server);
    let call = Call::post("/revoke").basic("other", SECRET);
    call.form(&[("token", &access)])
        .send(&server)
        .expect_error(400, "unauthorized_client");
    assert_ne!(introspect(&server, &access).text(), INACTIVE);
}

#[test]
fn a_bound_compact_token_is_no_bearer_token() {
    let server = ed25519(Compact);
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
    assert_eq!(reply.member("token_type"), "DPoP");
    let bound = reply.member("access_token");
    assert_eq!(AccessTokenFormat::of(&bound), Some(Compact));
    let plain = Call::get("/userinfo").bearer(&bound).send(&server);
    plain.expect_error(401, "invalid_token");
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
    assert!(introspect(&server, &bound).json()["cnf"]["jkt"].is_string());
}

#[test]
fn a_compact_token_is_exchanged_for_a_jwt_and_the_jwt_for_a_compact_token() {
    let server = ed25519(Compact);
    let (user, reply) = logged_in(&server);
    let exchange = |who, token: &str| {
        Call::post("/token")
            .basic(who, SECRET)
            .form(&[
                (
                    "grant_type",
                    "urn:ietf:params:oauth:grant-type:token-exchange",
                ),
                ("subject_token", token),
                ("subject_token_type", TOKEN_TYPE),
            ])
            .send(&server)
            .expect(200)
            .member("access_token")
    };
    let compact = reply.member("access_token");
    let jwt = exchange("other", &compact);
    assert_eq!(claims(&jwt)["sub"], user.as_str());
    let mut service = (**server
        .realm
        .snapshot()
        .registry
        .client("service", 0)
        .unwrap())
    .clone();
    service.may_act_for = vec!["other".to_owned()];
    server.configure(|_, declared| {
        declared
            .clients
            .insert("service".to_owned(), service.into());
    });
    let again = exchange("service", &jwt);
    assert_eq!(AccessTokenFormat::of(&again), Some(Compact));
    assert_eq!(introspect(&server, &again).member("sub"), user);
}

#[test]
fn a_changed_compact_token_or_one_of_another_server_is_inactive() {
    let (server, elsewhere) = (ed25519(Compact), ed25519(Compact));
    let access = own(&server);
    assert_eq!(introspect(&server, &own(&elsewhere)).text(), INACTIVE);
    let bytes = base64url::decode(access.as_bytes()).unwrap();
    for at in (0..bytes.len()).step_by(7) {
        let mut bytes = bytes.clone();
        bytes[at] ^= 1;
        let changed = base64url::encode(&bytes);
        assert_eq!(introspect(&server, &changed).text(), INACTIVE, "byte {at}");
    }
    assert_ne!(introspect(&server, &access).text(), INACTIVE);
}

fn document(server: &Server) -> serde_json::Value {
    let metadata = Call::get("/.well-known/openid-configuration").send(server);
    let uri = metadata.expect(200).member("signet_compact_keys_uri");
    let path = uri
        .strip_prefix(&server.issuer())
        .expect("under the issuer");
    Call::get(path).send(server).expect(200).json()
}

#[test]
fn a_resource_server_verifies_with_the_published_keys() {
    for algorithm in [
        signet_compact::Algorithm::Ed25519,
        signet_compact::Algorithm::MlDsa44,
    ] {
        let server = start(Compact, algorithm);
        let access = base64url::decode(own(&server).as_bytes()).unwrap();
        let document = document(&server);
        let keys = document["keys"].as_array().unwrap().iter().map(|entry| {
            assert_eq!(entry["alg"], algorithm.name());
            let key = base64url::decode(entry["key"].as_str().unwrap().as_bytes()).unwrap();
            VerifyingKey::from_bytes(&key).unwrap()
        });
        let keys = KeySet::new(keys).unwrap();
        let issuer = server.issuer();
        let policy = Policy {
            issuer: Some(&issuer),
            min_version: signet_compact::Version::V1,
            scopes: &["api:read"],
            ..Policy::for_audience(&issuer, server.realm.now())
        };
        let verified = keys.verify(&access, &policy).unwrap();
        assert_eq!(verified.payload().subject, "service");
        // One key, one format.
        let jwks = Call::get("/jwks").send(&server).expect(200).text();
        for entry in document["keys"].as_array().unwrap() {
            let key = base64url::decode(entry["key"].as_str().unwrap().as_bytes()).unwrap();
            let public = match algorithm {
                signet_compact::Algorithm::Ed25519 => &key[key.len() - 32..],
                _ => &key[key.len() - 1312..],
            };
            assert!(!jwks.contains(&base64url::encode(public)));
        }
    }
}

#[test]
fn an_hmac_key_is_published_nowhere_and_introspection_still_knows_its_tokens() {
    let server = start(Compact, signet_compact::Algorithm::HmacSha256);
    let access = own(&server);
    assert_eq!(introspect(&server, &access).json()["active"], true);
    assert_eq!(document(&server), serde_json::json!({ "keys": [] }));
    let jwks = Call::get("/jwks").send(&server).expect(200).text();
    assert!(!jwks.contains("oct") && !jwks.contains("\"k\":"));
}

/// Signet's own verifier reads the same claims in both formats, and what is revoked by any of them
/// is refused in both.
#[test]
fn resource_servers_read_and_revoke_by_the_same_claims_in_both_formats() {
    let mut all = [Jwt, Compact].map(|format| {
        let server = ed25519(format);
        let (_, reply) = logged_in(&server);
        let access = reply.member("access_token");
        let revocations = Arc::new(MemoryRevocations::new(OnStreamLoss::FailOpen));
        let verifier = verifier(&server, revocations.clone());
        let now = server.realm.now();
        let verified = verifier.verify(&Presented::token(&access), now).unwrap();
        let claims = verified.claims();
        let json: serde_json::Value = serde_json::from_str(claims.json()).unwrap();

        let end = claims.exp().unwrap();
        for subject in [
            Subject::Jti(claims.jti().unwrap()),
            Subject::Grant(claims.grant_id().unwrap()),
            Subject::Session(claims.sid().unwrap()),
            Subject::User(claims.sub().unwrap(), server.realm.now_ms()),
            Subject::Client(claims.client_id().unwrap(), server.realm.now_ms()),
        ] {
            let revocations = Arc::new(MemoryRevocations::new(OnStreamLoss::FailOpen));
            revocations.revoke(subject, end);
            let verifier = self::verifier(&server, revocations);
            let again = verifier.verify(&Presented::token(&access), now);
            assert_eq!(again.unwrap_err(), Refusal::Revoked, "{subject:?}");
        }
        json
    });
    let names = all.each_mut().map(|json| {
        let mut names: Vec<String> = json.as_object().unwrap().keys().cloned().collect();
        names.sort();
        names
    });
    assert_eq!(names[0], names[1]);
    for name in ["acr", "amr", "client_id", "sid"] {
        assert_eq!(all[0][name], all[1][name], "{name}");
    }
}

fn verifier(server: &Server, revocations: Arc<MemoryRevocations>) -> Verifier {
    let issuer = server.issuer();
    let document = document(server);
    let keys = document["keys"].as_array().unwrap().iter().map(|entry| {
        let key = base64url::decode(entry["key"].as_str().unwrap().as_bytes()).unwrap();
        VerifyingKey::from_bytes(&key).unwrap()
    });
    let jwks = Call::get("/jwks").send(server).expect(200).body;
    let jwks = signet_jose::jwk::JwkSet::parse(&jwks).unwrap();
    Verifier::builder()
        .issuer(Issuer::new(&issuer, KeySource::Memory(jwks)))
        .policy(verify::Policy::access_token(&issuer).compact(KeySet::new(keys).unwrap()))
        .revocations(revocations)
        .build()
        .unwrap()
}
