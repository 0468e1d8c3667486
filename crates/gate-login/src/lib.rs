//! A login for applications that have none: the gate as a relying party of OpenID Connect.
//!
//! A browser without a session is led to the issuer and back. What the ID token says becomes a
//! session: claims, sealed into a cookie that only this gate opens. Nothing is stored: any gate
//! with the same keys reads the cookie, and the streams of revocations that the gate follows end
//! it.
//!
//! What is assumed: a reverse proxy in front, whose word about a request's URL is trusted, and
//! which leads the paths under [`PREFIX`] here. What is left to others: how a proxy asks, which
//! header fields carry a claim (the gate's), what a token must show (`signet-verify`).
//!
//! No refresh token is kept. A cookie that held one would be sent by several tabs at once, and
//! rotation (RFC 9700 section 4.14) would take the second one for a theft. A session that is over
//! is renewed by the issuer's own session, which a navigation passes through without a question.
#![forbid(unsafe_code)]

mod application;
mod attempt;
mod callback;
mod client;
pub mod cookie;
mod ended;
mod endpoints;
mod judge;
mod keys;
mod login;
mod logout;
mod navigation;
mod page;
mod paths;
mod provider;
mod requests;
mod session;
mod settings;
mod start;

pub use application::Application;
pub use client::ClientAuthentication;
pub use ended::Ended;
pub use judge::{Judged, Refused};
pub use keys::{KeysError, read_keys};
pub use login::{Counts, Login, PREFIX};
pub use paths::{PathRule, Paths};
pub use session::Session;
pub use settings::Settings;
