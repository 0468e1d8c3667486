//! The admin API, `/admin/v1`: what an operator may see and change while the server runs.
//!
//! One [`signet_operation::operation::Operation`] is one row: what its caller must be allowed,
//! method, path, and the function that does it, whose types are its input and its output. The
//! routes and the OpenAPI document are made from the same rows, so neither can name what the other
//! has not.
//!
//! Every call needs an access token of this server with the scope `signet:admin`, or
//! `signet:admin.read` for what only shows; its user or client must still be allowed to have it at
//! that moment.
//!
//! Writes are durable and in effect when they are answered. Records carry a revision (`ETag`);
//! whoever replaces one names the revision that was read (`If-Match`), and lists can be changed by
//! adding and removing, so that two writers do not lose each other's entries (known fault A18).
//! Errors are problem documents (RFC 9457). Secrets are shown once, when they are made.
#![forbid(unsafe_code)]

mod operations;

pub use operations::administration::keys::API_KEYS;
pub use operations::administration::roles::ADMINISTRATOR_ROLES;
pub use operations::agents::AGENTS;
pub use operations::clients::CLIENTS;
pub use operations::declarations::{DECLARED, Declared, MAX_DECLARED, direct as declarations};
pub use operations::export::person::PersonExport;
pub use operations::grants::GRANTS;
pub use operations::import::MAX_IMPORTED;
pub use operations::keys::KEYS;
pub use operations::logouts::LOGOUTS;
pub use operations::nodes::NODES;
pub use operations::people::{ATTRIBUTES, GROUPS, ROLES};
pub use operations::providers::PROVIDERS;
pub use operations::realms::REALMS;
pub use operations::resources::{RESOURCES, SCOPES};
pub use operations::rules::{EXPLAIN, RULES};
pub use operations::sealing;
pub use operations::sessions::SESSIONS;
pub use operations::users::USERS;
pub use signet_operation::noun::{Field, Noun};

/// What provisioning does as the admin API does it.
pub mod provisioned {
    pub use crate::operations::users::{hash, remove};
    pub use signet_operation::caller::{person, token_of};
    pub use signet_operation::last_administrator::{Insists, keeping_one};
    pub use signet_operation::problem::Problem;
    pub use signet_operation::right::{Area, Right};
    pub use signet_operation::roles::Rights;
    pub use signet_operation::target::expect_over_user;
}

use http::StatusCode;
use signet_operation::adapter::Row;
use signet_operation::facts;
use signet_operation::openapi;
use signet_request::http::{Router, response};

/// Every kind of record, in the order in which people look for them.
pub const NOUNS: &[Noun] = &[
    USERS,
    GROUPS,
    ROLES,
    ATTRIBUTES,
    RULES,
    CLIENTS,
    RESOURCES,
    SCOPES,
    PROVIDERS,
    REALMS,
    KEYS,
    SESSIONS,
    GRANTS,
    AGENTS,
    NODES,
    ADMINISTRATOR_ROLES,
    API_KEYS,
];

/// Every operation, in the order of the document.
pub fn rows() -> impl Iterator<Item = &'static dyn Row> {
    let tables: [&[&dyn Row]; 25] = [
        operations::clients::OPERATIONS,
        operations::users::OPERATIONS,
        operations::export::person::OPERATIONS,
        operations::import::OPERATIONS,
        operations::export::people::OPERATIONS,
        operations::import::client::OPERATIONS,
        operations::people::OPERATIONS,
        operations::credentials::OPERATIONS,
        operations::rules::OPERATIONS,
        operations::providers::OPERATIONS,
        operations::sessions::OPERATIONS,
        operations::logouts::OPERATIONS,
        operations::grants::OPERATIONS,
        operations::agents::OPERATIONS,
        operations::keys::OPERATIONS,
        operations::resources::OPERATIONS,
        operations::audit::OPERATIONS,
        operations::nodes::OPERATIONS,
        operations::revocations::OPERATIONS,
        operations::tokens::OPERATIONS,
        operations::realms::OPERATIONS,
        operations::settings::OPERATIONS,
        operations::administration::roles::OPERATIONS,
        operations::administration::keys::OPERATIONS,
        operations::declarations::OPERATIONS,
    ];
    tables.into_iter().flatten().copied()
}

/// Adds the admin API's routes.
pub fn routes(router: &mut Router) {
    facts::install(rows().map(Row::facts));
    for operation in rows() {
        let facts = operation.facts();
        router.route(facts.method.http(), facts.path, |context| {
            operation.serve(context)
        });
    }
    router.get(openapi::PATH, |context| async move {
        let issuer = &context.snapshot.settings.issuer;
        response::json(StatusCode::OK, openapi::document(issuer, rows()))
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use schemars::SchemaGenerator;
    use serde_json::Value;
    use signet_operation::right::Right;
    use std::collections::HashSet;

    #[test]
    fn the_manual_is_the_table_of_operations() {
        let file = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../docs/reference/admin-api.md"
        );
        let mut page = String::from(
            "# Admin API\n\nEvery operation, in the order of the OpenAPI document, which a running server has at `/admin/v1/openapi.json` with the schema of each body and\nanswer. \
             A request needs an access token of the realm (`Authorization: Bearer` or `DPoP`) with the scope in the column before the last, of a client or a person who\nmay administer; \
             what a caller may is looked up at each request. Lists are paged by `after` and `limit`. A record is replaced only by who has read it:\n`If-Match` has its `ETag`, \
             and `412` says that somebody was faster. Errors are problem documents (RFC 9457) with `error` and, where a member is wrong,\n`member`. \
             Each change is an audit record (`admin`) with the operation's name.\n\n\
             This page is made of the table that the server runs on: `SIGNET_WRITE_DOCS=1 cargo test -p signet-admin` writes it.\n\n\
             A person needs one of the roles in the last column, or a role that the realm made of the operation, of its area, or of `AREA:RIGHT` ([administrators](../administrators.md)).\n\n\
             | operation | request | what it does | area and right | scope | roles |\n|---|---|---|---|---|---|\n",
        );
        for row in rows() {
            let facts = row.facts();
            let (id, method, path) = (facts.id, facts.method.http(), facts.path);
            let (summary, scope) = (facts.summary, facts.needs.scope());
            let beyond = match facts.needs {
                Right::Reveal => ", and two factors just shown",
                Right::Read | Right::Reset | Right::Write => "",
            };
            let (area, right) = (facts.area.name(), facts.needs.name());
            let roles = signet_operation::roles::needed(facts).join(", ");
            page.push_str(&format!(
                "| `{id}` | `{method} {path}` | {summary} | `{area}:{right}` | `{scope}`{beyond} | {roles} |\n"
            ));
        }
        if std::env::var_os("SIGNET_WRITE_DOCS").is_some() {
            std::fs::write(file, &page).unwrap();
        }
        let written = std::fs::read_to_string(file).unwrap_or_default();
        assert_eq!(
            written, page,
            "SIGNET_WRITE_DOCS=1 cargo test -p signet-admin"
        );
    }

    #[test]
    fn an_operation_reads_every_segment_that_its_path_names() {
        for row in rows() {
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

    /// Names of members that a schema has, here or where it refers to.
    fn members(schema: &Value, document: &Value, found: &mut HashSet<String>) {
        if let Some(reference) = schema["$ref"].as_str() {
            let pointer = reference.trim_start_matches('#');
            let named = document.pointer(pointer).expect("a schema of this name");
            return members(named, document, found);
        }
        for (name, member) in schema["properties"].as_object().into_iter().flatten() {
            found.insert(name.clone());
            members(member, document, found);
        }
        let parts = schema["allOf"].as_array().into_iter().flatten();
        for part in parts.chain(schema.get("items")) {
            members(part, document, found);
        }
    }

    #[test]
    fn a_nouns_columns_are_members_of_what_its_list_answers() {
        let document = openapi::document("https://id.example", rows());
        let document: Value = serde_json::from_slice(&document).expect("JSON");
        for noun in NOUNS {
            let answer = &document["paths"][noun.list]["get"]["responses"]["200"];
            let schema = &answer["content"]["application/json"]["schema"];
            let mut found = HashSet::new();
            members(schema, &document, &mut found);
            for column in noun.columns.iter().chain(&noun.sorted_by).chain([&noun.id]) {
                assert!(found.contains(*column), "{}: {column}", noun.name);
            }
            assert_eq!(noun.path(), &noun.list["/admin/v1".len()..]);
        }
    }

    #[test]
    fn a_nouns_lists_are_known_from_what_can_be_written() {
        let lists = |noun: Noun| -> Vec<String> {
            let fields = noun.fields().into_iter().filter(|field| field.is_list);
            fields.map(|field| field.name).collect()
        };
        let of_clients = lists(CLIENTS);
        for name in ["redirect_uris", "resources", "contacts", "grant_types"] {
            assert!(of_clients.iter().any(|list| list == name), "{name}");
        }
        assert!(!of_clients.iter().any(|list| list == "scope"));
        assert_eq!(lists(RESOURCES), ["claims", "introspectors"]);
        assert_eq!(lists(GROUPS), ["roles"]);
        assert!(USERS.fields().iter().any(|field| field.name == "email"));
        assert_eq!(lists(USERS), ["admin_roles"]);
    }
}
