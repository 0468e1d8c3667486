//! The validation service: tokens in, claims or refusals out, for whatever speaks HTTP.
//!
//! `/validate` is for applications, the forward-auth endpoints for reverse proxies. It issues nothing, keeps nothing and asks nobody on a
//! request's way: it is [`signet_verify::Verifier`] behind the same listeners as the server. It believes what its callers say about the request
//! they ask about (method, URL, certificate), so it belongs on a network that only they reach.
#![forbid(unsafe_code)]

mod forward;
mod gate;
mod header;
mod identity;
mod metrics;
mod service;
mod setup;
mod validate;

pub use gate::Gate;
pub use identity::Identity;
pub use metrics::{GateMetrics, Stage};
pub use setup::Setup;
