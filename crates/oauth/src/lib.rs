//! The protocol rules of OAuth 2.1 and OpenID Connect without I/O: a request in, a decision out.
//! Time, randomness and lookups are handed in; state changes come out as data that the caller commits.
#![forbid(unsafe_code)]
pub mod access_token;
pub mod authorize;
pub mod client;
pub mod client_auth;
pub mod codec;
pub mod decision;
pub mod device_authorization;
pub mod dpop_policy;
pub mod endpoint;
pub mod error;
pub mod grant;
pub mod introspect;
pub mod issue;
pub mod logout;
pub mod metadata;
pub mod par;
pub mod params;
pub mod redirect_uri;
pub mod registration;
pub mod registry;
pub mod request;
pub mod revoke;
pub mod scope;
pub mod sealed;
pub mod session;
pub mod settings;
pub mod target;
pub mod token;
pub mod uri;
pub mod userinfo;

#[cfg(test)]
mod testing;
