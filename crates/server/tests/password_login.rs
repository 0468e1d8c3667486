//! `/password-login`: what the command line gets for a password, and what it does not get.
use crate::common::{
    Server, block_on,
    client::{Call, Reply},
    people::{Mail, PASSWORD, add_user, start},
};
use http::Method;
use serde_json::json;
use signet_oauth::{authorize::acr, command_line};
use std::sync::Arc;

/// A server that has the built-in client, and the administrator `root` beside `alice`.
fn server(mail: &Mail) -> Server {
    let server = start(mail, |_| {});
    server.configure(|_, declared| command_line::add(declared).unwrap());
    let root = add_user(&server, "root");
    let users = &server.realm.people.users;
    block_on(users.change(&root.id, server.realm.now(), |draft| {
        draft.user.admin = true
    }))
    .unwrap();
    server
}

fn log_in(server: &Server, username: &str, password: &str) -> Reply {
    Call::post("/password-login")
        .json(&json!({ "username": username, "password": password }))
        .send(server)
}

#[test]
fn an_administrators_password_gives_a_short_token_for_the_admin_api_and_nothing_else() {
    let mail = Mail::new();
    let server = server(&mail);
    let answer = log_in(&server, "root", PASSWORD).expect(200);
    assert_eq!(answer.json()["scope"], "signet:admin");
    assert_eq!(answer.json()["expires_in"], 300);
    assert_eq!(answer.header("set-cookie"), "");
    assert_eq!(answer.header("cache-control"), "no-store");
    let token = answer.member("access_token");
    let list = |token: &str| {
        Call::new(Method::GET, "/admin/v1/users")
            .bearer(token)
            .send(&server)
            .status
    };
    assert_eq!(list(&token), 200);
    // It is no login of OpenID Connect.
    let userinfo = Call::new(Method::GET, "/userinfo")
        .bearer(&token)
        .send(&server);
    assert_ne!(userinfo.status, 200);
    // What revokes the user revokes it.
    let root = block_on(
        server
            .realm
            .people
            .users
            .by_login("root", server.realm.now()),
    );
    let id = root.unwrap().unwrap().id;
    let revoked = Call::post(&format!("/admin/v1/users/{id}/revoke")).bearer(&token);
    revoked.send(&server).expect(204);
    assert_eq!(list(&token), 401);
}

#[test]
fn who_is_no_administrator_gets_no_token() {
    let mail = Mail::new();
    let server = server(&mail);
    let answer = log_in(&server, "alice", PASSWORD).expect(403);
    assert_eq!(answer.member("error"), "insufficient_scope");
}

#[test]
fn guesses_count_as_on_the_login_page() {
    let mail = Mail::new();
    let server = server(&mail);
    for name in ["root", "nobody"] {
        for _ in 0..server.realm.people.limits.account {
            let wrong = log_in(&server, name, "not the password").expect(403);
            assert_eq!(wrong.member("error"), "access_denied", "{name}");
        }
        let refused = log_in(&server, name, PASSWORD).expect(429);
        assert_ne!(refused.header("retry-after"), "", "{name}");
    }
}

#[test]
fn an_account_of_which_more_is_asked_logs_in_by_a_browser() {
    let mail = Mail::new();
    let server = server(&mail);
    server.configure(|_, declared| {
        let mut client = (*declared.clients[command_line::CLIENT_ID]).clone();
        client.default_acr_values = vec![acr::PASSWORD_AND_EMAIL_CODE.to_owned()];
        let id = client.client_id.clone();
        declared.clients.insert(id, Arc::new(client));
    });
    let refused = log_in(&server, "root", PASSWORD).expect(400);
    assert_eq!(refused.member("error"), "interaction_required");
}

#[test]
fn a_form_of_another_site_is_no_login() {
    let mail = Mail::new();
    let server = server(&mail);
    Call::post("/password-login")
        .form(&[("username", "root"), ("password", PASSWORD)])
        .send(&server)
        .expect(415);
    Call::post("/password-login")
        .json(&json!({ "username": "root" }))
        .send(&server)
        .expect(400);
}
