//! A token that was verified once is remembered, and remembering changes no answer.
use crate::common::{SECRET, Server, Setup, client::Call, made::header};
use signet_registry::delta::Delta;

fn token(server: &Server) -> String {
    Call::post("/token")
        .basic("service", SECRET)
        .form(&[("grant_type", "client_credentials")])
        .send(server)
        .expect(200)
        .member("access_token")
}

fn is_active(server: &Server, token: &str) -> bool {
    let reply = Call::post("/introspect")
        .basic("service", SECRET)
        .form(&[("token", token)])
        .send(server)
        .expect(200);
    reply.json()["active"].as_bool().expect("a boolean")
}

#[test]
fn a_remembered_token_ends_with_its_revocation() {
    let server = Server::start(Setup::default());
    let (token, other) = (token(&server), token(&server));
    assert!(is_active(&server, &token) && is_active(&server, &token));
    let revoked = Call::post("/revoke").basic("service", SECRET);
    revoked.form(&[("token", &token)]).send(&server).expect(200);
    assert!(!is_active(&server, &token));
    assert!(is_active(&server, &other));
}

#[test]
fn a_remembered_token_ends_with_its_time() {
    let server = Server::start(Setup::default());
    let token = token(&server);
    assert!(is_active(&server, &token));
    server.pass(100_000);
    assert!(!is_active(&server, &token));
}

#[test]
fn a_remembered_token_ends_with_its_key() {
    let server = Server::start(Setup::default());
    let token = token(&server);
    assert!(is_active(&server, &token));
    let kid = header(&token)["kid"].as_str().unwrap().to_owned();
    let withdrawn = Delta::Key { kid, record: None };
    server.realm.apply([withdrawn]).unwrap();
    assert!(!is_active(&server, &token));
}

#[test]
fn another_body_under_a_remembered_signature_is_inactive() {
    let server = Server::start(Setup::default());
    let (token, other) = (token(&server), token(&server));
    assert!(is_active(&server, &token));
    let parts = |token: &str| -> Vec<String> { token.split('.').map(str::to_owned).collect() };
    let (kept, foreign) = (parts(&token), parts(&other));
    let forged = format!("{}.{}.{}", kept[0], foreign[1], kept[2]);
    assert!(!is_active(&server, &forged));
    assert!(!is_active(&server, &token[..token.len() - 1]));
    assert!(is_active(&server, &token));
}
