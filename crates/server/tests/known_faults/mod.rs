//! Faults that were found in servers of this kind, each tried against this one over real sockets:
//! one test a fault. What is deeper than one try (races, properties, every spelling) is in the
//! files of the features themselves, in the last column.
//!
//! | | fault | tried by | also in |
//! |---|---|---|---|
//! | A1 | a parameter that only the server should set is read from the request | `people::what_only_the_server_may_set_is_not_read_from_a_request` | bad_input, login |
//! | A2 | a device approval takes the user's id from the body | `people::a_device_is_approved_by_the_user_of_the_session` | account |
//! | A3 | an assertion of another issuer is accepted unchecked | `tokens::an_assertion_of_another_issuer_is_worth_nothing` | oauth: token_exchange |
//! | A4 | `sid` is the session cookie | `people::the_session_id_of_a_token_is_not_the_cookie` | session_end |
//! | A5 | an `id_token_hint` counts as a login | `people::an_id_token_hint_alone_logs_nobody_in` | session_end |
//! | A6 | `acr` is copied from the request | `people::acr_says_what_was_done_not_what_was_asked_for` | login_code |
//! | A7 | an unknown state of revocation means "not revoked" | `tokens::what_is_not_known_of_a_revocation_is_a_refusal` | store_failure; store: revocation |
//! | A8 | anybody can put entries in the revocation list | `tokens::only_tokens_of_this_server_put_entries_in_the_revocation_list` | token_life |
//! | A9 | a revocation entry ends before its token | `tokens::a_revocation_outlives_what_it_revokes` | store: revocation |
//! | A10 | a one-time code is in the response | `people::a_one_time_code_leaves_by_mail_or_not_at_all` | login, login_code |
//! | A11 | introspection answers from a cache, and to anybody | `tokens::introspection_checks_the_signature_and_who_asks_every_time` | token_life |
//! | A12 | an unauthenticated caller can consume a code | `tokens::a_stranger_cannot_burn_a_code_or_a_refresh_token` | token_life |
//! | A13 | a replayed refresh token does not end its family; "revoke all" misses rotated ones | `tokens::a_replayed_refresh_token_ends_its_family_and_revoking_all_ends_every_one` | token_life, admin |
//! | A14 | two nodes accept one code; replay caches are lost on restart | `tokens::once_is_once_for_every_node_and_after_a_restart` | store: contract, embedded, crash |
//! | A15 | an old client record works on from a cache | `records::a_changed_client_record_counts_from_the_answer_on` | admin, registration |
//! | A16 | the metadata names what is not there | `records::what_the_metadata_names_is_there_and_what_is_not_there_is_refused` | registration |
//! | A17 | policy skips grants; the default is to allow | `records::a_clients_policy_holds_for_every_grant_and_allows_nothing_by_default` | oauth: grants |
//! | A18 | two writers lose each other's redirect URIs | `records::two_writers_do_not_lose_each_others_redirect_uris` | admin |
//! | A19 | the wall clock decides which revocation wins | `tokens::a_clock_that_goes_back_revokes_nothing_less` | store: revocation |
//! | A20 | an assertion for the token endpoint is accepted | `tokens::an_assertion_for_the_token_endpoint_is_refused` | client_authentication |
//! | A21 | origins compared by suffix, names unescaped, parsers unbounded | `people::origins_names_and_nested_input_are_what_they_are` | login, http; fuzz targets |
//! | A22 | enormous passwords, and logins that differ in time | `people::a_password_costs_the_same_for_everybody_and_has_a_longest_form` | login |
//! | A23 | token exchange joins unrelated contexts | `tokens::subject_and_actor_of_unrelated_contexts_are_not_joined` | oauth: token_exchange |
mod people;
mod records;
mod tokens;

use crate::common::{
    SECRET, Server, Setup, block_on,
    browser::{Browser, Page, with},
    client,
    client::{Call, Reply},
    failing::Failing,
    made::{assertion, claims, code, code_content, random_id, redeem, rows, signer},
    people::{Mail, PASSWORD, VERIFIER, add_user, parameters, request, start},
};
use serde_json::{Value, json};
use signet_crypto::Algorithm;
use signet_jose::jwt::Typ;
use signet_oauth::authorize::redirect_uri::RedirectUri;
use signet_oauth::client::AuthMethod;
use signet_store::{
    Change, Key, Op, OpenError, Outcome, RevocationIndex, SqliteStore, Store, Table,
    sqlite::Options,
};
use std::{
    sync::{Arc, atomic::Ordering::SeqCst},
    time::{Duration, Instant},
};

const CALLBACK: &str = "https://client.example/cb";
const SESSION: &str = "__Host-signet-session";
const DEVICE: &str = "urn:ietf:params:oauth:grant-type:device_code";
const EXCHANGE: &str = "urn:ietf:params:oauth:grant-type:token-exchange";
const ACCESS_TOKEN: &str = "urn:ietf:params:oauth:token-type:access_token";

fn ask(server: &Server, endpoint: &str, who: &str, form: &[(&str, &str)]) -> Reply {
    let call = Call::post(endpoint).basic(who, SECRET).form(form);
    call.send(server)
}

fn credentials(server: &Server, who: &str) -> Reply {
    ask(
        server,
        "/token",
        who,
        &[("grant_type", "client_credentials")],
    )
}

fn refresh(server: &Server, who: &str, token: &str) -> Reply {
    let form = [("grant_type", "refresh_token"), ("refresh_token", token)];
    ask(server, "/token", who, &form)
}

fn introspect(server: &Server, who: &str, token: &str) -> Value {
    let reply = ask(server, "/introspect", who, &[("token", token)]);
    reply.expect(200).json()
}

fn is_active(server: &Server, token: &str) -> bool {
    introspect(server, "web", token)["active"] == true
}

fn userinfo(server: &Server, token: &str) -> u16 {
    Call::get("/userinfo").bearer(token).send(server).status
}

fn id_of(server: &Server, name: &str) -> String {
    let users = &server.realm.people.users;
    let found = block_on(users.by_login(name, server.realm.now())).unwrap();
    found.unwrap().id
}

/// Logs in and consents, and redeems the code.
#[track_caller]
fn log_in(server: &Server, browser: &mut Browser<'_>, name: &str, more: &[(&str, &str)]) -> Reply {
    let mut page = browser.get(&request(more));
    if page.text().contains("name=\"password\"") {
        page = browser.log_in(&page, name, PASSWORD);
    }
    if page.offers("allow") {
        page = browser.press(&page, "allow", &[]);
    }
    let code = page.param("code").unwrap_or_else(|| panic!("{page:?}"));
    let form = [
        ("grant_type", "authorization_code"),
        ("code", &code),
        ("redirect_uri", CALLBACK),
        ("code_verifier", VERIFIER),
    ];
    ask(server, "/token", "web", &form).expect(200)
}

#[track_caller]
fn tokens(server: &Server, name: &str, more: &[(&str, &str)]) -> Reply {
    log_in(server, &mut Browser::new(server), name, more)
}

/// Two clients, alice and bob, mail, and whatever else.
fn server(mail: &Mail, change: impl FnOnce(&mut Setup)) -> Server {
    let server = start(mail, |setup| {
        setup.clients.push(client("other"));
        change(setup);
    });
    add_user(&server, "bob");
    server
}

fn error(page: &Page) -> String {
    page.param("error").unwrap_or_else(|| panic!("{page:?}"))
}
