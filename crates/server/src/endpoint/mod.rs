//! One file per endpoint. A handler reads the request, asks the rules, commits what they decided, and answers.
mod jwks;
mod metadata;

use crate::http::Router;
use signet_oauth::endpoint::{ENDPOINTS, EndpointId, Method};

/// Adds every endpoint of the protocol's table: its path, methods, CORS and mTLS alias come from there.
pub fn routes(router: &mut Router) {
    for endpoint in ENDPOINTS {
        for method in endpoint.methods {
            add(router, endpoint.id, endpoint.path, *method);
        }
        router.cors(endpoint.path, endpoint.cors);
        if endpoint.mtls_alias {
            router.at_mtls(endpoint.path);
        }
    }
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
        EndpointId::Jwks => router.route(name, path, jwks::show),
        _ => router,
    };
}
