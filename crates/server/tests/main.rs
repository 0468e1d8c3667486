//! Behaviour of the server, over real sockets: one program, so that the crates below are linked
//! once.
#![allow(
    unreachable_pub,
    reason = "a program of tests: nothing outside reaches into it"
)]

mod access_rules;
mod account;
mod account_states;
mod admin;
mod administrators;
mod agents;
#[path = "../../webauthn/tests/authenticator.rs"]
mod authenticator;
mod back_channel_logout;
mod bad_input;
mod client_authentication;
mod common;
mod compact_tokens;
mod console;
mod deletion;
mod entrances;
mod freshness;
mod http;
mod jwks;
mod keys;
mod known_faults;
mod languages;
mod leaving;
mod login;
mod login_code;
mod login_link;
mod login_policy;
mod logo;
mod mails;
mod migrating;
mod outside;
mod passkeys;
mod password_login;
mod people_claims;
mod person_data;
mod plan_ends;
mod proofs;
mod providers;
mod realms;
mod realms_opened;
mod records;
mod recovery;
mod registration;
mod remembered_tokens;
mod revocation_stream;
mod scim;
mod second_factor;
mod session_end;
mod session_management;
mod several_nodes;
mod sign_up;
mod steady_size;
mod store_failure;
mod tls;
mod token_life;
mod unauthenticated;
mod upstream_tokens;
mod what_ends_what;
