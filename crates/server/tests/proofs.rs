//! A proof of possession is a row that its sender chooses the number of: how many of one key are
//! kept is bounded at every door, but for requests of clients that authenticate.
use crate::common::{
    SECRET, Server, Setup, client,
    client::{Call, Reply},
    made::{Proof, alice, code, proof, random_id, redeem, rows, signer},
    people::parameters,
};
use signet_crypto::Algorithm;
use signet_jose::jwt::JwtSigner;
use signet_oauth::client::{AuthMethod, Client};
use signet_realm::budgets::{Act, TABLE};
use signet_store::Table;

const PUBLIC: (&str, &str) = ("client_id", "public");

fn public() -> Client {
    Client {
        token_endpoint_auth_method: AuthMethod::None,
        secrets: Vec::new(),
        ..client("public")
    }
}

fn start() -> Server {
    Server::start(Setup {
        clients: vec![client("service"), public()],
        ..Setup::default()
    })
}

/// A request with a new proof of the key; with a token that is bound to it, if there is one.
fn proven(
    server: &Server,
    key: &JwtSigner,
    (htm, path): (&str, &str),
    token: Option<&str>,
    call: Call,
) -> Call {
    let jti = random_id();
    let content = Proof {
        htm,
        path,
        jti: &jti,
        nonce: None,
        token,
    };
    let call = call.header("dpop", &proof(server, key, &content));
    match token {
        Some(token) => call.header("authorization", &format!("DPoP {token}")),
        None => call,
    }
}

fn token(server: &Server, key: &JwtSigner, call: Call) -> Reply {
    proven(server, key, ("POST", "/token"), None, call).send(server)
}

fn resource(server: &Server, key: &JwtSigner, path: &str, token: &str) -> Reply {
    proven(server, key, ("GET", path), Some(token), Call::get(path)).send(server)
}

/// The answer where the budget is used up.
#[track_caller]
fn refused(reply: Reply) {
    assert_ne!(reply.header("retry-after"), "");
    assert_eq!(reply.header("www-authenticate"), "");
    assert_ne!(reply.header("retry-after"), "2");
    reply.expect_error(429, "temporarily_unavailable");
}

#[test]
fn proofs_of_one_key_have_a_bound() {
    let server = start();
    let (user, key) = (alice(&server), signer(Algorithm::Es256));
    let log_in = |key: &JwtSigner| {
        let code = code(&server, "public", &user);
        let form = [redeem(&code), vec![PUBLIC]].concat();
        token(&server, key, Call::post("/token").form(&form))
    };
    let first = log_in(&key).expect(200);
    let bound = first.member("access_token");
    let most = 6;
    // As many networks as there are would not help: it is the key that is counted.
    server.realm.budgets.set(Act::Proof, most, 100);
    let refresh = |refresh_token: &str| {
        let form = [
            PUBLIC,
            ("grant_type", "refresh_token"),
            ("refresh_token", refresh_token),
        ];
        token(&server, &key, Call::post("/token").form(&form))
    };
    let push = |key: &JwtSigner| {
        let call = Call::post("/par").form(&parameters(&[PUBLIC]));
        proven(&server, key, ("POST", "/par"), None, call).send(&server)
    };
    // One was counted by the login. At each door one proof is good, once.
    resource(&server, &key, "/userinfo", &bound).expect(200);
    resource(&server, &key, "/admin/v1/users", &bound).expect(403);
    resource(&server, &key, "/scim/v2/Users", &bound).expect(403);
    let jwt = {
        let jti = random_id();
        let content = Proof {
            htm: "GET",
            path: "/userinfo",
            jti: &jti,
            nonce: None,
            token: Some(&bound),
        };
        proof(&server, &key, &content)
    };
    let again = || {
        Call::get("/userinfo")
            .header("authorization", &format!("DPoP {bound}"))
            .header("dpop", &jwt)
            .send(&server)
    };
    again().expect(200);
    // Nobody uses up a key's budget with a proof that was seen on the way.
    for _ in 0..2 * most {
        again().expect_error(401, "invalid_dpop_proof");
    }
    let next = refresh(&first.member("refresh_token")).expect(200);
    let refresh_token = next.member("refresh_token");
    let before = rows(&server, Table::Once);
    for _ in 0..3 {
        refused(resource(&server, &key, "/userinfo", &bound));
        refused(refresh(&refresh_token));
        refused(push(&key));
        for path in ["/admin/v1/users", "/scim/v2/Users"] {
            let reply = resource(&server, &key, path, &bound).expect(429);
            assert_ne!(reply.header("retry-after"), "");
        }
    }
    assert_eq!(rows(&server, Table::Once), before);
    // Another key is not held up by it, and the refused one loses nothing.
    let other = signer(Algorithm::Es256);
    log_in(&other).expect(200);
    push(&other).expect(201);
    server.pass(TABLE[Act::Proof as usize].window);
    refresh(&refresh_token).expect(200);
}

#[test]
fn proofs_of_a_client_that_authenticates_have_no_bound_in_its_requests_and_one_with_its_tokens() {
    let server = start();
    let (user, key) = (alice(&server), signer(Algorithm::Es256));
    server.realm.budgets.set(Act::Proof, 0, 0);
    server.realm.budgets.set(Act::ClientProof, 2, 100);
    let form = [("grant_type", "client_credentials")];
    for _ in 0..5 {
        let call = Call::post("/token").basic("service", SECRET).form(&form);
        token(&server, &key, call).expect(200);
        let form = parameters(&[("client_id", "service")]);
        let call = Call::post("/par").basic("service", SECRET).form(&form);
        let pushed = proven(&server, &key, ("POST", "/par"), None, call);
        pushed.send(&server).expect(201);
    }
    let code = code(&server, "service", &user);
    let call = Call::post("/token").basic("service", SECRET);
    let bound = token(&server, &key, call.form(&redeem(&code))).expect(200);
    let bound = bound.member("access_token");
    for _ in 0..2 {
        resource(&server, &key, "/userinfo", &bound).expect(200);
    }
    refused(resource(&server, &key, "/userinfo", &bound));
}
