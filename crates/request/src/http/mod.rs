//! What the application puts above the HTTP engine of [`signet_http`]: the [`Context`] that
//! handlers take, the [`service::Service`] that routes to them, and what depends on the issuer's
//! settings (CORS, proxies).
mod authority;
pub mod context;
mod cors;
pub mod letters;
mod places;
mod proxy;
mod realms;
pub mod response;
pub mod service;
mod traced;

pub use context::{Context, Made};
pub use signet_http::Response;

/// Paths to handlers that take a [`Context`].
pub type Router = signet_http::Router<Context, RouteFacts>;

/// What the server notes about a route.
#[derive(Clone, Copy, Debug)]
pub struct RouteFacts {
    /// Which other origins may read its answers.
    pub cors: signet_oauth::endpoint::Cors,
    /// Also served where client certificates are asked for. All others are not found there: no
    /// browser is sent to it.
    pub mtls: bool,
    /// Answered in whatever state the process is: by a node that was removed from its cluster, too.
    pub always: bool,
}

impl Default for RouteFacts {
    fn default() -> RouteFacts {
        RouteFacts {
            cors: signet_oauth::endpoint::Cors::No,
            mtls: false,
            always: false,
        }
    }
}
