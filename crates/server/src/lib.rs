//! The protocol's endpoints, and every route of the server.
//!
//! The server turns bytes into requests, hands them to the rules of `signet-oauth`, commits what
//! the rules decided through the realm, and turns the outcome into bytes. It decides nothing about
//! the protocol itself.
//!
//! - [`endpoint`]: one file per protocol endpoint.
//! - [`issue`]: from a decision to a token response.
//! - [`health`], [`node_metrics`], [`well_known`], [`home`]: what is around the endpoints.
#![forbid(unsafe_code)]

pub mod endpoint;
pub mod health;
pub mod home;
pub mod issue;
mod logo;
pub mod node_metrics;
mod process_metrics;
mod realm_metrics;
pub mod well_known;

use signet_request::http::Router;

/// Adds every route of the server.
pub fn routes(router: &mut Router) {
    endpoint::routes(router);
    health::routes(router);
    home::routes(router);
    logo::routes(router);
    well_known::routes(router);
    signet_admin::routes(router);
    signet_console::routes(router);
    signet_provisioning::routes(router);
}
