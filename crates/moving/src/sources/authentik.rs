//! authentik: rows of its database, as Django's `dumpdata` writes them. From Django's documented
//! serialization and authentik's published models, not from a running one.
//!
//! A blueprint (`ak export_blueprint`) is what its API shows: it has neither password hashes nor
//! the secrets of apps and clients. `dumpdata` is a command of every Django application, and has
//! them.

mod apps;
mod dump;
mod form;
mod passwords;
mod people;
mod providers;
mod rows;

use std::collections::{BTreeMap, HashSet};

use crate::moved::{Group, Moved};
use crate::names;
use crate::people::finish;
use crate::read::{Part, ReadError};
use crate::sources::{Options, Source};
use dump::Dump;

pub(super) const SOURCE: Source = Source {
    name: "authentik",
    title: "authentik",
    takes: "What `ak dumpdata authentik_core authentik_flows.flow authentik_providers_oauth2.oauth2provider authentik_providers_oauth2.scopemapping authentik_sources_oauth authentik_stages_authenticator_totp authentik_stages_authenticator_static authentik_stages_authenticator_webauthn authentik_stages_consent` writes in a container of its worker (JSON; other models are counted and left). A blueprint has neither password hashes nor secrets, and is refused. Read by Django's documented form and the published models of versions 2023.10 to 2025.10; no authentik was run here.",
    endings: &[".json"],
    folders: &[],
    rows: rows::ROWS,
    read,
};

fn read(parts: &[Part], _: &Options) -> Result<Moved, ReadError> {
    let mut moved = Moved {
        from: "database of authentik".to_owned(),
        ..Moved::default()
    };
    let mut dump = Dump::default();
    for part in parts {
        for document in part.documents(&[])? {
            if document.has("entries") {
                return Err(document.error(
                    "a blueprint: it has no password hashes; take what ak dumpdata writes",
                ));
            }
            dump.take(document, &mut moved.report)?;
        }
    }
    if dump.users.is_empty() && dump.clients.is_empty() {
        return Err(ReadError {
            place: parts.first().map_or("", |part| &part.name).to_owned(),
            why: "neither users nor providers: is it what ak dumpdata wrote?".to_owned(),
        });
    }
    let groups = groups(&dump, &mut moved);
    let providers = providers::read(&dump, &mut moved);
    let clients = apps::read(&dump, &mut moved);
    let drafts = people::read(dump, &groups, &providers, &clients, &mut moved.report);
    finish(&mut moved, drafts, &rows::ATTRIBUTES);
    Ok(moved)
}

/// What the groups are called here, by their keys. Parents are made before those in them.
fn groups(dump: &Dump, moved: &mut Moved) -> BTreeMap<String, String> {
    let (mut known, mut taken) = (BTreeMap::new(), HashSet::new());
    for key in dump.groups.keys() {
        group(key, dump, &mut known, &mut taken, moved);
    }
    known
}

/// The keys of the group's parents, the nearest last. They may make a circle in a file.
fn parents<'a>(key: &'a str, dump: &'a Dump) -> Vec<&'a str> {
    let (mut path, mut at) = (Vec::new(), key);
    while let Some((parent, _)) = dump.parent(at) {
        if parent == key || path.contains(&parent) {
            break;
        }
        path.push(parent);
        at = parent;
    }
    path.reverse();
    path
}

fn group(
    key: &str,
    dump: &Dump,
    known: &mut BTreeMap<String, String>,
    taken: &mut HashSet<String>,
    moved: &mut Moved,
) {
    let mut path: Vec<&str> = Vec::new();
    let mut parent = None;
    let above = parents(key, dump);
    for key in above.into_iter().chain(std::iter::once(key)) {
        let Some(group) = dump.groups.get(key) else {
            continue;
        };
        path.push(&group.name);
        if let Some(name) = known.get(key) {
            parent = Some(name.clone());
            continue;
        }
        let report = &mut moved.report;
        let Some(name) = names::group(&path, taken) else {
            report.add(&rows::GROUPS, &*group.name, "no name for it");
            continue;
        };
        if name != group.name {
            report.add(&rows::GROUPS, &*group.name, format!("called {name}"));
        }
        if !group.attributes.is_empty() {
            report.add(&rows::GROUP_ATTRIBUTES, &*name, "");
        }
        if group.is_superuser {
            report.add(&rows::ADMINISTRATORS, &*name, "");
        }
        if !group.roles.is_empty() {
            report.add(&rows::ROLES, &*name, "");
        }
        if group.parents.len() > 1 {
            report.add(&rows::GROUPS, &*name, "it has several parents: one is kept");
        }
        known.insert(key.to_owned(), name.clone());
        moved.groups.push(Group {
            name: name.clone(),
            description: None,
            parent: parent.replace(name),
            roles: Vec::new(),
        });
    }
}

#[cfg(test)]
mod tests;
