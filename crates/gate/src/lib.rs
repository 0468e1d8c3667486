//! The validation service: tokens in, claims or refusals out, for whatever speaks HTTP.
//!
//! `/validate` is for applications, the forward-auth endpoints for reverse proxies. It issues
//! nothing, keeps nothing and asks nobody on a request's way: it is [`signet_verify::Verifier`]
//! behind the same listeners as the server. What a reverse proxy says about a request (method, URL,
//! certificate) is accepted from callers that show that they are one ([`Proxies`]). `/validate`
//! takes its caller's word about the caller's own request. With a login (`signet-gate-login`) the
//! forward-auth endpoints also know the sessions of browsers.
#![forbid(unsafe_code)]

mod asked;
mod forward;
mod gate;
mod header;
mod identity;
mod metrics;
mod notices;
mod proxies;
mod routes;
mod service;
mod session;
mod setup;
mod validate;

pub use gate::Gate;
pub use identity::Identity;
pub use metrics::{GateMetrics, Stage};
pub use proxies::Proxies;
pub use setup::Setup;
