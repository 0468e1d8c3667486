//! Requests to other servers over HTTP/1.1: whom TLS trusts ([`Trust`]), a connection
//! ([`connect`]), an answer ([`Answer`]), and how a form and a secret are written ([`text`]).
//!
//! Whom a request may go to, and how long it may take, is for whoever sends it to say: what is
//! fetched from a URL that another party gave has other bounds than what an operator asks for.
//! Redirects are not followed, and nothing is sent twice.
#![forbid(unsafe_code)]

mod connection;
pub mod text;
mod trust;

pub use connection::{
    Answer, Driven, Lines, Sender, Unanswered, begin_answer, connect, read, send,
};
pub use trust::{Trust, TrustError};
