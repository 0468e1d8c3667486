//! The admin API, `/admin/v1`: what an operator may see and change while the server runs.
//!
//! One [`operation::Operation`] is one row: method, path, models and handler. The routes and the OpenAPI document are made
//! from the same rows, so neither can name what the other has not. Every call needs an access token of this server with
//! the scope `signet:admin`, and its user or client must still be allowed to have it at that moment.
//!
//! Writes are durable and in effect when they are answered. Records carry a revision (`ETag`); whoever replaces one names
//! the revision that was read (`If-Match`), and lists can be changed by adding and removing, so that two writers do not
//! lose each other's entries (known fault A18). Errors are problem documents (RFC 9457). Secrets are shown once, when they
//! are made.
mod agent_model;
mod agents;
mod audit;
mod call;
mod clients;
mod grants;
mod keys;
mod model;
mod openapi;
mod operation;
mod problem;
mod resources;
mod sessions;
mod users;
mod words;

use crate::http::{Router, response};
use http::StatusCode;
use operation::Operation;

/// Every operation, in the order of the document.
fn operations() -> impl Iterator<Item = &'static Operation> {
    [
        clients::OPERATIONS,
        users::OPERATIONS,
        sessions::OPERATIONS,
        grants::OPERATIONS,
        agents::OPERATIONS,
        keys::OPERATIONS,
        resources::OPERATIONS,
        audit::OPERATIONS,
    ]
    .into_iter()
    .flatten()
}

/// Adds the admin API's routes.
pub fn routes(router: &mut Router) {
    for operation in operations() {
        router.route(operation.http_method(), operation.path, move |context| {
            call::run(operation, context)
        });
    }
    router.get(openapi::PATH, |context| async move {
        let issuer = &context.snapshot.settings.issuer;
        response::json(StatusCode::OK, openapi::document(issuer, operations()))
    });
}

/// The OpenAPI 3.1 document of the admin API, for servers under this issuer: the command line learns from it which members are
/// lists.
pub fn openapi_document(issuer: &str) -> Vec<u8> {
    openapi::document(issuer, operations())
}
