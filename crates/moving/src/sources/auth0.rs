//! Auth0: the users of its exports, the password hashes that its support hands out, and clients,
//! connections and roles as its Management API lists them or its Deploy CLI writes them. From its
//! published documentation, not from a running tenant.
//!
//! The files have no names of their own: what a document is, its members say.

mod clients;
mod connections;
mod form;
mod passwords;
mod people;
mod rows;

use std::collections::BTreeMap;

use crate::moved::{Moved, Role};
use crate::names;
use crate::people::finish;
use crate::read::{Document, Part, ReadError};
use crate::sources::{Options, Source};
use form::{Hash, User};

pub(super) const SOURCE: Source = Source {
    name: "auth0",
    title: "Auth0",
    takes: "A directory with any of: the users of a bulk export (NDJSON) or in the form of a bulk import (JSON), the password hashes that Auth0's support exports (NDJSON), what `GET /api/v2/clients`, `/connections` and `/roles` answer, what `a0deploy export --format directory` writes (with `AUTH0_EXPORT_IDENTIFIERS` and the secrets included); or one of those files. Read by its published documentation; no tenant was exported here.",
    endings: &[".json", ".ndjson"],
    folders: &["clients", "connections", "roles"],
    rows: rows::ROWS,
    read,
};

/// How the API calls its lists, where it answers with a number of pages.
const LISTS: [&str; 4] = ["users", "clients", "connections", "roles"];

/// What a document is.
enum Kind {
    Hash,
    Connection,
    Client,
    User,
    Role,
    Tenant,
}

impl Kind {
    fn of(document: &Document) -> Option<Kind> {
        let any = |members: &[&str]| members.iter().any(|name| document.has(name));
        Some(match () {
            () if any(&["passwordHash", "_id"]) => Kind::Hash,
            () if any(&["strategy"]) => Kind::Connection,
            () if any(&["app_type", "callbacks", "grant_types", "client_id"]) => Kind::Client,
            () if any(&["user_id", "email", "username", "phone_number"]) => Kind::User,
            () if any(&["default_directory", "session_lifetime", "sandbox_version"]) => {
                Kind::Tenant
            }
            () if any(&["name"]) => Kind::Role,
            () => return None,
        })
    }
}

fn read(parts: &[Part], _: &Options) -> Result<Moved, ReadError> {
    let mut moved = Moved {
        from: "tenant of Auth0".to_owned(),
        ..Moved::default()
    };
    let mut users: Vec<User> = Vec::new();
    let mut hashes: Vec<Hash> = Vec::new();
    let mut providers = BTreeMap::new();
    for part in parts {
        for document in part.documents(&LISTS)? {
            let Some(kind) = Kind::of(&document) else {
                return Err(document
                    .error("neither a user, a password hash, a client, a connection nor a role"));
            };
            match kind {
                Kind::Hash => hashes.push(document.read("")?),
                Kind::User => users.push(document.read("")?),
                Kind::Client => clients::read(&document.read("")?, &mut moved),
                Kind::Connection => {
                    connections::read(&document.read("")?, &mut providers, &mut moved);
                }
                Kind::Role => role(&document.read("")?, &mut moved),
                Kind::Tenant => moved.report.add(&rows::SETTINGS, "", ""),
            }
        }
    }
    let drafts = people::read(users, hashes, &providers, &mut moved.report);
    finish(&mut moved, drafts, &rows::METADATA);
    Ok(moved)
}

fn role(role: &form::Role, moved: &mut Moved) {
    let name = names::role(None, &role.name);
    let name = name.filter(|name| moved.roles.iter().all(|other| other.name != *name));
    let Some(name) = name else {
        let detail = "no name for it, or another's is the same";
        return moved.report.add(&rows::ROLES, &*role.name, detail);
    };
    if !role.permissions.is_empty() {
        moved.report.add(&rows::PERMISSIONS, &*role.name, "");
    }
    moved.report.add(&rows::ROLE_MEMBERS, &*role.name, "");
    let description = role.description.clone();
    moved.roles.push(Role {
        description: description.filter(|text| !text.is_empty() && *text != name),
        name,
    });
}

#[cfg(test)]
mod tests;
