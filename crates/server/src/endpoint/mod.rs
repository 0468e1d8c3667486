//! One file per endpoint. A handler reads the request, asks the rules, commits what they decided,
//! and answers.
mod agent_chain;
mod agent_statements;
pub mod authorize;
mod check_session;
mod client_endpoint;
mod compact_keys;
mod device;
mod device_authorization;
mod interaction;
mod introspect;
mod jwks;
mod language;
mod logout;
mod metadata;
mod par;
mod password_login;
mod provider_logout;
mod providers;
mod register;
pub mod revocation_stream;
mod revoke;
mod rules;
mod token;
mod upstream_exchange;
mod userinfo;

use signet_admin::PersonExport;
use signet_login::journey::link;
use signet_login::{account, invitation, keep_account, recover, sign_up};
use signet_oauth::endpoint::{ENDPOINTS, Endpoint, EndpointId, Method};
use signet_realm::deletion;
use signet_request::http::{RouteFacts, Router};

/// Adds every endpoint of the protocol's table: its path, methods, CORS and mTLS alias come from
/// there.
///
/// # Panics
/// At start, where a row's methods are not those that have a handler: what is advertised must be
/// answered.
pub fn routes(router: &mut Router) {
    for endpoint in ENDPOINTS {
        add(router, endpoint);
        *router.facts(endpoint.path) = RouteFacts {
            cors: endpoint.cors,
            mtls: endpoint.mtls_alias,
            always: false,
        };
        let answered = router.find(endpoint.path).map(|(route, _)| route.methods());
        let listed: Vec<http::Method> = endpoint.methods.iter().map(|m| method(*m)).collect();
        assert_eq!(
            answered.as_deref(),
            Some(&*listed),
            "the handlers of {} are not those of its row",
            endpoint.path
        );
    }
    pages(router);
}

fn method(method: Method) -> http::Method {
    match method {
        Method::Get => http::Method::GET,
        Method::Post => http::Method::POST,
        Method::Put => http::Method::PUT,
        Method::Delete => http::Method::DELETE,
    }
}

/// What only people meet: no part of the protocol, so not in its table.
fn pages(router: &mut Router) {
    router
        .get("/interaction", interaction::show)
        .post("/interaction", interaction::submit)
        .get(link::PATH, link::show)
        .post("/language", language::submit)
        .get("/account", account::show)
        .post("/account", account::submit::<PersonExport>)
        .get("/providers/{provider}/callback", providers::show)
        .post("/providers/{provider}/callback", providers::submit)
        .post(
            "/providers/{provider}/backchannel-logout",
            provider_logout::receive,
        )
        .get("/providers/{provider}/logged-out", logout::back)
        .get("/account/recover", recover::show)
        .post("/account/recover", recover::submit)
        .get(deletion::PATH, keep_account::show)
        .post(deletion::PATH, keep_account::submit)
        .get(sign_up::PATH, sign_up::show)
        .post(sign_up::PATH, |context| async {
            interaction::follow(sign_up::submit(context).await).await
        })
        .get(invitation::PATH, invitation::show)
        .post(invitation::PATH, |context| async {
            interaction::follow(invitation::submit(context).await).await
        });
}

/// The handlers of a row. No arm for the rest: a new endpoint does not compile before it has one.
fn add(router: &mut Router, endpoint: &Endpoint) {
    let path = endpoint.path;
    match endpoint.id {
        EndpointId::OauthMetadata | EndpointId::OpenidMetadata => router.get(path, metadata::show),
        EndpointId::CompactKeys => router.get(path, compact_keys::show),
        EndpointId::Jwks => router.get(path, jwks::show),
        EndpointId::Authorize => router
            .get(path, authorize::show)
            .post(path, authorize::submit),
        EndpointId::DeviceVerification => router.get(path, device::show).post(path, device::submit),
        EndpointId::CheckSession => router.get(path, check_session::show),
        EndpointId::Logout => router.get(path, logout::show).post(path, logout::submit),
        EndpointId::AgentStatements => router.post(path, agent_statements::submit),
        EndpointId::PasswordLogin => router.post(path, password_login::submit),
        EndpointId::Token => router.post(path, token::handle),
        EndpointId::Introspect => router.post(path, introspect::handle),
        EndpointId::Revoke => router.post(path, revoke::handle),
        EndpointId::RevocationStream => router.post(path, revocation_stream::handle),
        EndpointId::Userinfo => router
            .get(path, userinfo::handle)
            .post(path, userinfo::handle),
        EndpointId::Par => router.post(path, par::handle),
        EndpointId::DeviceAuthorization => router.post(path, device_authorization::handle),
        EndpointId::Register => router.post(path, register::submit),
        EndpointId::RegisterClient => router
            .get(path, register::manage)
            .route(http::Method::PUT, path, register::manage)
            .route(http::Method::DELETE, path, register::manage),
    };
}
