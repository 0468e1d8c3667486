//! The token side's rules, each tried from outside: a request in, a decision out.
#![allow(
    unreachable_pub,
    reason = "a program of tests: nothing outside reaches into it"
)]

mod authorization_code;
mod client_auth;
mod dpop;
mod formats;
mod grants;
mod introspect_revoke;
mod members;
mod refresh_token;
mod robustness;
mod support;
mod token_exchange;
