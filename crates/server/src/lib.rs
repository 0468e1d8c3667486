//! HTTP: endpoints, pages, admin API, middleware.
//!
//! The server turns bytes into requests, hands them to the rules of `signet-oauth`, commits what
//! the rules decided through the store, and turns the outcome into bytes. It decides nothing about
//! the protocol itself.
//!
//! - [`state`]: the process (`Host`), the issuer that a request is for (`Realm`), and the immutable
//!   view that it works with (`Snapshot`).
//! - [`http`]: the request [`http::Context`], the service between the HTTP engine and the handlers,
//!   response helpers.
//! - [`endpoint`]: one file per protocol endpoint.
//! - [`keys`]: the signing keys' life.
//! - [`user_services`]: what concerns persons: [`login`], [`session`]s, [`consent`]s, [`mail`],
//!   [`page`]s.
//! - [`access`]: the one question of every entrance: may this person have this, now?
//! - `freshness`: the one question of every act that outlives its session: has this browser just
//!   shown everything that the account has?
//! - [`admin`]: the admin API.
//! - [`agents`]: identities that people bound, the delegations that were issued under them, and how
//!   both end.
//! - [`groups`]: groups, roles, the schema of people's attributes and access rules, and how they
//!   change.
//! - [`scim`]: accounts and groups, provisioned by a directory's SCIM client.
//! - [`outbound`]: the only place that opens connections on a client's word.
#![forbid(unsafe_code)]

pub mod access;
pub mod account;
pub mod admin;
pub mod agents;
pub mod attempts;
pub mod browser_request;
pub mod browser_state;
pub mod budgets;
pub mod cookie;
mod credentials;
pub mod declared;
pub mod deletion;
pub mod endpoint;
mod failure;
mod freshness;
pub mod front_channel_logout;
pub mod groups;
pub mod health;
pub mod home;
pub mod http;
pub mod interaction;
pub mod invitation;
pub mod issue;
pub mod keep_account;
pub mod known_providers;
pub mod letters;
pub mod login;
mod logo;
pub mod logout_notices;
mod mailed_link;
pub mod metrics;
mod new_password;
pub mod node_metrics;
pub mod nodes;
pub mod once;
pub mod outbound;
pub mod passkeys;
pub mod providers;
pub mod recover;
pub mod registry;
pub mod revoked;
pub mod rewrap;
pub mod scim;
pub mod security_mail;
pub mod sign_up;
pub mod state;
pub mod streams;
pub mod tasks;
pub mod terminate;
pub mod time;
pub mod upstream;
pub mod upstream_tokens;
mod user_passkeys;
pub mod user_services;
pub mod verified_tokens;
mod waiting_login;
pub mod well_known;

pub use signet_directory::{consent, grants, logout_notice, session};
pub use signet_mail as mail;
use signet_pages as page;
pub use signet_registry::{delta, keys, rules, scribe};
use signet_registry::{records, scopes};

/// Adds every route of the server.
pub fn routes(router: &mut http::Router) {
    endpoint::routes(router);
    health::routes(router);
    home::routes(router);
    logo::routes(router);
    well_known::routes(router);
    admin::routes(router);
    scim::routes(router);
}
