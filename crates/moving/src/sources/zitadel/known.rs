//! What people of an export name: roles of projects, identity providers, their organization.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::form::{OidcIdp, Org};
use super::rows;
use crate::moved::{Moved, Provider, Role};
use crate::names;

/// What people name.
#[derive(Default)]
pub(super) struct Known {
    /// What roles are called here, by project and key.
    pub(super) roles: BTreeMap<(String, String), String>,
    /// What providers are called here, by their ids.
    pub(super) providers: BTreeMap<String, String>,
    /// What the groups of organizations are called here, by the ids of those, where there are
    /// several.
    pub(super) organizations: BTreeMap<String, String>,
}

/// Reads roles and providers of all organizations: one may name those of another.
pub(super) fn read(orgs: &[Org], moved: &mut Moved) -> Known {
    let mut known = Known::default();
    let projects = orgs.iter().flat_map(|org| &org.projects);
    let projects: BTreeMap<&str, &str> = projects
        .map(|project| {
            let name = project.project.as_ref().map(|project| &*project.name);
            (&*project.project_id, name.unwrap_or(&project.project_id))
        })
        .collect();
    let roles = || orgs.iter().flat_map(|org| &org.project_roles);
    let mut projects_of: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for role in roles() {
        let of_key = projects_of.entry(&role.role_key).or_default();
        of_key.insert(&role.project_id);
    }
    for role in roles() {
        // Of two projects' roles with one key, each has its project's name before its own.
        let shared = projects_of
            .get(&*role.role_key)
            .is_some_and(|all| all.len() > 1);
        let project = projects.get(&*role.project_id).copied();
        let whole = match project.filter(|_| shared) {
            Some(project) => format!("{project}: {}", role.role_key),
            None => role.role_key.clone(),
        };
        let name = names::role(None, &whole);
        let name = name.filter(|name| moved.roles.iter().all(|other| other.name != *name));
        let Some(name) = name else {
            let detail = "no name for it, or another's is the same";
            moved.report.add(&rows::ROLES, &*role.role_key, detail);
            continue;
        };
        if name != role.role_key {
            let detail = format!("called {name}");
            moved.report.add(&rows::ROLES, &*role.role_key, detail);
        }
        let shown = role.display_name.clone();
        moved.roles.push(Role {
            description: shown.filter(|shown| !shown.is_empty() && *shown != role.role_key),
            name: name.clone(),
        });
        let key = (role.project_id.clone(), role.role_key.clone());
        known.roles.insert(key, name);
    }
    for provider in orgs.iter().flat_map(|org| &org.oidc_idps) {
        let read = document(provider).zip(provider.idp.as_ref());
        let named = read.and_then(|(document, idp)| Some((document, names::provider(&idp.name)?)));
        let taken = |name: &str| moved.providers.iter().any(|other| other.name == name);
        match named.filter(|(_, name)| !taken(name)) {
            Some((document, name)) => {
                known
                    .providers
                    .insert(provider.idp_id.clone(), name.clone());
                moved.providers.push(Provider { name, document });
            }
            None => moved.report.add(
                &rows::OIDC_IDPS,
                &*provider.idp_id,
                "it lacks its issuer or client, or another is called so",
            ),
        }
    }
    known
}

fn document(provider: &OidcIdp) -> Option<Map<String, Value>> {
    let idp = provider.idp.as_ref()?;
    let mut members = Map::new();
    let mut set = |name: &str, value: Value| drop(members.insert(name.to_owned(), value));
    for (member, value) in [("issuer", &idp.issuer), ("client_id", &idp.client_id)] {
        set(
            member,
            value.as_deref().filter(|text| !text.is_empty())?.into(),
        );
    }
    if let Some(secret) = idp.client_secret.as_deref().filter(|text| !text.is_empty()) {
        set("client_secret", secret.into());
    }
    set("label", idp.name.as_str().into());
    let more = idp.scopes.iter().filter(|name| *name != "openid");
    let scope: Vec<&str> = std::iter::once("openid")
        .chain(more.map(String::as_str))
        .collect();
    set("scope", scope.join(" ").into());
    set("create", idp.auto_register.into());
    Some(members)
}
