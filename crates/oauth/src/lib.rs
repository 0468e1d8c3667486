//! The protocol rules of OAuth 2.1 and OpenID Connect without I/O: a request in, a decision out.
//!
//! Time, randomness and lookups are handed in; state changes come out as data that the caller
//! commits. Nothing here reads a clock, a socket or a store, so every rule can be tried in a unit
//! test, fuzzed, and moved in time.
//!
//! A token request runs through [`params`] (strict parsing), [`token::client_auth`] (one file a
//! method), [`token::dpop_policy`] (sender constraint) and [`token::grant`] (one file a grant),
//! joined in [`token`], and leaves as a [`token::decision`]: conditions that must be committed
//! once, in order, and tokens to make, which [`issued::issue`] writes, an access token in its
//! [`format`](mod@format). What comes back to the server goes through [`issued::access_token`]:
//! [`token::introspect`], [`token::revoke`], [`people::userinfo`] and token exchange all use that
//! one look-up. The front side begins in [`authorize`].
#![forbid(unsafe_code)]
pub mod administration;
pub mod authorize;
pub mod client;
pub mod codec;
pub mod command_line;
pub mod endpoint;
pub mod error;
pub mod id;
pub mod issued;
pub mod logout;
pub mod metadata;
pub mod params;
pub mod people;
pub mod registry;
pub mod request;
pub mod scope;
pub mod setting_fault;
pub mod settings;
pub mod token;
pub mod uri;

#[cfg(test)]
mod testing;
