//! A request: from the HTTP engine to a handler, and what every handler may ask of it.
//!
//! - [`http`]: the [`http::Context`] that handlers take, the service between the HTTP engine and
//!   the handlers, CORS, proxies, response helpers.
//! - [`browser_request`], [`cookie`], [`interaction`]: the browser behind a request, its session,
//!   and where a person is on the way, sealed into the form.
//! - [`clients`]: where a client that a request names is found.
//! - [`access`]: the one question of every entrance: may this person have this, now?
//! - [`security_mail`]: what a person is written about changes of their own account.
//!
//! It decides nothing about the protocol, shows no page of its own but errors, and changes no
//! record.
#![forbid(unsafe_code)]

pub mod access;
pub mod browser_request;
pub mod browser_state;
pub mod clients;
pub mod cookie;
pub mod credentials;
pub mod front_channel_logout;
pub mod http;
pub mod interaction;
pub mod security_mail;
pub mod shown_error;
