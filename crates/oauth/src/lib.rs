//! The protocol rules of OAuth 2.1 and OpenID Connect without I/O: a request in, a decision out.
//!
//! Time, randomness and lookups are handed in; state changes come out as data that the caller
//! commits. Nothing here reads a clock, a socket or a store, so every rule can be tried in a unit
//! test, fuzzed, and moved in time.
//!
//! A token request runs through [`params`] (strict parsing), [`client_auth`] (one file a method),
//! [`dpop_policy`] (sender constraint) and [`grant`] (one file a grant), joined in [`token`], and
//! leaves as a [`decision`]: conditions that must be committed once, in order, and tokens to make,
//! which [`issue`] writes, an access token in its [`format`](mod@format). What comes back to the
//! server goes through [`access_token`]: [`introspect`], [`revoke`], [`userinfo`] and token
//! exchange all use that one look-up. The front side begins in [`authorize`].
#![forbid(unsafe_code)]
pub mod access_rules;
pub mod access_token;
pub mod acr;
pub mod agent_grants;
pub mod authorize;
pub mod claim_rules;
pub mod claims;
pub mod client;
pub mod client_auth;
pub mod codec;
pub mod command_line;
pub mod decision;
pub mod device_authorization;
pub mod dpop_policy;
pub mod endpoint;
pub mod error;
pub mod format;
pub mod grant;
pub mod id;
pub mod introspect;
pub mod issue;
pub mod logout;
pub mod mapped_claims;
pub mod metadata;
mod names;
pub mod par;
pub mod params;
pub mod passkeys;
pub mod people;
pub mod provider;
pub mod redirect_uri;
pub mod registration;
pub mod registry;
pub mod request;
pub mod revoke;
pub mod scope;
pub mod sealed;
pub mod session;
pub mod session_state;
pub mod settings;
pub mod sign_up;
pub mod standard_claims;
pub mod target;
pub mod token;
pub mod token_facts;
pub mod uri;
pub mod userinfo;

#[cfg(test)]
mod testing;
