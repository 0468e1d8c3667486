//! The HTTP side: sockets, TLS, limits, routing, and what a handler is given and gives back.
//!
//! hyper is used directly. One current-thread runtime per core accepts on its own socket (`SO_REUSEPORT`), so that a
//! connection, its TLS state and its handlers stay on one core, and nothing on the hot path is shared but the snapshot.
pub mod addresses;
pub mod answer;
pub mod context;
mod cors;
pub mod limits;
pub mod listener;
pub mod metrics;
pub(crate) mod proxy;
pub mod response;
pub mod router;
pub mod service;
pub mod tls;

pub use context::{Body, Context, RequestId};
pub use limits::Limits;
pub use response::Response;
pub use router::Router;
