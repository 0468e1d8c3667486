//! The admin API, `/admin/v1`: what an operator may see and change while the server runs.
//!
//! One [`operation::Operation`] is one row: what its caller must be allowed, method, path, and the
//! function that does it, whose types are its input and its output. The routes and the OpenAPI
//! document are made from the same rows, so neither can name what the other has not.
//!
//! Every call needs an access token of this server with the scope `signet:admin`, or
//! `signet:admin.read` for what only shows; its user or client must still be allowed to have it at
//! that moment.
//!
//! Writes are durable and in effect when they are answered. Records carry a revision (`ETag`); whoever replaces one names
//! the revision that was read (`If-Match`), and lists can be changed by adding and removing, so that two writers do not
//! lose each other's entries (known fault A18). Errors are problem documents (RFC 9457). Secrets are shown once, when they
//! are made.
mod adapter;
mod agent_model;
mod agents;
mod audit;
mod caller;
mod clients;
mod grants;
mod input;
mod keys;
mod model;
mod noun;
mod openapi;
mod operation;
mod output;
mod problem;
mod resources;
mod sessions;
mod users;
mod words;

pub use agents::AGENTS;
pub use clients::CLIENTS;
pub use grants::GRANTS;
pub use keys::KEYS;
pub use noun::{Field, Noun};
pub use resources::{RESOURCES, SCOPES};
pub use sessions::SESSIONS;
pub use users::USERS;

use crate::http::{Router, response};
use http::StatusCode;
use operation::Row;

/// Every operation, in the order of the document.
fn operations() -> impl Iterator<Item = &'static dyn Row> {
    let tables: [&[&dyn Row]; 8] = [
        clients::OPERATIONS,
        users::OPERATIONS,
        sessions::OPERATIONS,
        grants::OPERATIONS,
        agents::OPERATIONS,
        keys::OPERATIONS,
        resources::OPERATIONS,
        audit::OPERATIONS,
    ];
    tables.into_iter().flatten().copied()
}

/// Adds the admin API's routes.
pub fn routes(router: &mut Router) {
    for operation in operations() {
        let facts = operation.facts();
        router.route(facts.method.http(), facts.path, |context| {
            operation.serve(context)
        });
    }
    router.get(openapi::PATH, |context| async move {
        let issuer = &context.snapshot.settings.issuer;
        response::json(StatusCode::OK, openapi::document(issuer, operations()))
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use schemars::SchemaGenerator;

    #[test]
    fn an_operation_reads_every_segment_that_its_path_names() {
        for row in operations() {
            let facts = row.facts();
            let described = row.describe(&mut SchemaGenerator::default());
            let read: Vec<&str> = described
                .parameters
                .iter()
                .filter(|parameter| parameter["in"] == "path")
                .filter_map(|parameter| parameter["name"].as_str())
                .collect();
            let named: Vec<&str> = facts
                .path
                .split('/')
                .filter_map(|segment| segment.strip_prefix('{')?.strip_suffix('}'))
                .collect();
            assert_eq!(read, named, "{}", facts.id);
        }
    }
}
