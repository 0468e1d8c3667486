//! The HTTP engine: sockets, TLS, limits, routing, and the shapes of answers.
//!
//! It knows no protocol of tokens. What it serves implements [`Serves`]: one request with its
//! connection in, one answer out. The authorization server and the validation service both stand on
//! it.
//!
//! hyper is used directly. One current-thread runtime per core accepts on its own socket
//! (`SO_REUSEPORT`), so that a connection, its TLS state and its handlers stay on one core, and
//! nothing on the hot path is shared but what the service itself shares.
//!
//! - [`listener`]: sockets, threads, connections, and how they are shut down.
//! - [`tls`]: TLS 1.3, certificates that change without a restart.
//! - [`limits`], [`addresses`], [`descriptors`]: every bound that a connection or a request meets.
//! - [`router`]: paths to handlers.
//! - [`metrics`]: what is counted, by route and otherwise, and the text that says it.
//! - [`panics`]: what a panic does, in a handler and elsewhere.
//! - [`body`], [`response`]: what a handler reads and what it gives back.
#![forbid(unsafe_code)]

pub mod addresses;
pub mod answer;
pub mod body;
pub mod certificate;
pub mod descriptors;
mod head;
pub mod limits;
pub mod listener;
pub mod metrics;
pub mod panics;
pub mod percent;
pub mod proxy_secret;
pub mod request_id;
pub mod response;
pub mod router;
pub mod serves;
pub mod tls;

pub use body::{Body, BodyError};
pub use certificate::PresentedCertificate;
pub use limits::Limits;
pub use proxy_secret::ProxySecret;
pub use request_id::RequestId;
pub use response::Response;
pub use router::Router;
pub use serves::{Connection, Connections, ListenerKind, Serves};
