//! One file per endpoint. A handler reads the request, asks the rules, commits what they decided, and answers.
mod agent_chain;
mod agent_statements;
pub mod authorize;
mod backchannel;
mod compact_keys;
mod device;
mod device_authorization;
mod front;
mod interaction;
mod introspect;
mod jwks;
mod logout;
mod metadata;
mod par;
mod password_login;
mod register;
pub mod revocation_stream;
mod revoke;
mod token;
mod userinfo;

use crate::http::{RouteFacts, Router};
use crate::{account, recover};
use signet_oauth::endpoint::{ENDPOINTS, EndpointId, Method};

/// Adds every endpoint of the protocol's table: its path, methods, CORS and mTLS alias come from there.
pub fn routes(router: &mut Router) {
    for endpoint in ENDPOINTS {
        for method in endpoint.methods {
            add(router, endpoint.id, endpoint.path, *method);
        }
        *router.facts(endpoint.path) = RouteFacts {
            cors: endpoint.cors,
            mtls: endpoint.mtls_alias,
        };
    }
    pages(router);
}

/// What only people meet: no part of the protocol, so not in its table.
fn pages(router: &mut Router) {
    router
        .get("/interaction", interaction::show)
        .post("/interaction", interaction::submit)
        .get("/account", account::show)
        .post("/account", account::submit)
        .get("/account/recover", recover::show)
        .post("/account/recover", recover::submit);
}

fn add(router: &mut Router, id: EndpointId, path: &'static str, method: Method) {
    let name = match method {
        Method::Get => http::Method::GET,
        Method::Post => http::Method::POST,
        Method::Put => http::Method::PUT,
        Method::Delete => http::Method::DELETE,
        _ => return,
    };
    match id {
        EndpointId::OauthMetadata | EndpointId::OpenidMetadata => {
            router.route(name, path, metadata::show)
        }
        EndpointId::CompactKeys => router.route(name, path, compact_keys::show),
        EndpointId::Jwks => router.route(name, path, jwks::show),
        EndpointId::Authorize => match method {
            Method::Get => router.route(name, path, authorize::show),
            _ => router.route(name, path, authorize::submit),
        },
        EndpointId::DeviceVerification => match method {
            Method::Get => router.route(name, path, device::show),
            _ => router.route(name, path, device::submit),
        },
        EndpointId::Logout => match method {
            Method::Get => router.route(name, path, logout::show),
            _ => router.route(name, path, logout::submit),
        },
        EndpointId::AgentStatements => router.route(name, path, agent_statements::submit),
        EndpointId::PasswordLogin => router.route(name, path, password_login::submit),
        EndpointId::Token => router.route(name, path, token::handle),
        EndpointId::Introspect => router.route(name, path, introspect::handle),
        EndpointId::Revoke => router.route(name, path, revoke::handle),
        EndpointId::RevocationStream => router.route(name, path, revocation_stream::handle),
        EndpointId::Userinfo => router.route(name, path, userinfo::handle),
        EndpointId::Par => router.route(name, path, par::handle),
        EndpointId::DeviceAuthorization => router.route(name, path, device_authorization::handle),
        EndpointId::Register => router.route(name, path, register::submit),
        EndpointId::RegisterClient => router.route(name, path, register::manage),
        _ => router,
    };
}
