//! What people are in: roles, with those that they are made of, and groups.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::form::{Composites, Group, Realm, Role};
use super::rows;
use crate::moved::{self, Moved};
use crate::names;
use crate::sources::Options;

/// Clients that every realm has.
pub(super) const OWN_CLIENTS: [&str; 6] = [
    "account",
    "account-console",
    "admin-cli",
    "broker",
    "realm-management",
    "security-admin-console",
];
/// Most roles that a group has here.
const MAX_GROUP_ROLES: usize = signet_oauth::people::MAX_GROUP_ROLES;

/// A role, as the export names it: its client, and its name.
type RoleKey = (Option<String>, String);

/// The roles of a realm: what each is called here, and which it is made of.
pub(super) struct Roles {
    names: BTreeMap<RoleKey, String>,
    parts: BTreeMap<RoleKey, Vec<RoleKey>>,
}

impl Roles {
    /// The names here of roles, and of those that they are made of. Those that are not here are in
    /// the second list, as `NAME` or `CLIENT/NAME`.
    pub(super) fn held(
        &self,
        realm: &[String],
        client: &BTreeMap<String, Vec<String>>,
    ) -> (Vec<String>, Vec<String>) {
        let (mut held, mut unknown) = (BTreeSet::new(), Vec::new());
        let mut seen = BTreeSet::new();
        let mut waiting: Vec<RoleKey> = keys(realm, client).collect();
        while let Some(key) = waiting.pop() {
            if !seen.insert(key.clone()) {
                continue;
            }
            if let Some(parts) = self.parts.get(&key) {
                waiting.extend(parts.iter().cloned());
            }
            match self.names.get(&key) {
                Some(name) => {
                    held.insert(name.clone());
                }
                None => unknown.push(match key {
                    (Some(client), name) => format!("{client}/{name}"),
                    (None, name) => name,
                }),
            }
        }
        (held.into_iter().collect(), unknown)
    }
}

fn keys<'a>(
    realm: &'a [String],
    client: &'a BTreeMap<String, Vec<String>>,
) -> impl Iterator<Item = RoleKey> + 'a {
    let of_realm = realm.iter().map(|name| (None, name.clone()));
    let of_clients = client.iter().flat_map(|(client, names)| {
        names
            .iter()
            .map(|name| (Some(client.clone()), name.clone()))
    });
    of_realm.chain(of_clients)
}

/// Whether every realm has this role.
pub(super) fn is_own(client: Option<&str>, name: &str) -> bool {
    match client {
        Some(client) => OWN_CLIENTS.contains(&client),
        None => {
            name.starts_with("default-roles-")
                || [
                    "offline_access",
                    "uma_authorization",
                    "admin",
                    "create-realm",
                ]
                .contains(&name)
        }
    }
}

pub(super) fn roles(realm: &Realm, moved: &mut Moved) -> Roles {
    let mut roles = Roles {
        names: BTreeMap::new(),
        parts: BTreeMap::new(),
    };
    let mut taken = HashSet::new();
    let Some(given) = &realm.rest.roles else {
        return roles;
    };
    let of_realm = given.realm.iter().map(|role| (None, role));
    let of_clients = given.client.iter().flat_map(|(client, of_client)| {
        of_client
            .iter()
            .map(move |role| (Some(client.as_str()), role))
    });
    for (client, role) in of_realm.chain(of_clients) {
        let key = (client.map(str::to_owned), role.name.clone());
        let Composites { realm, client: of } = &role.composites;
        let parts: Vec<RoleKey> = keys(realm, of).collect();
        if is_own(client, &role.name) {
            // Only what somebody put into it is worth a line.
            let added = parts
                .iter()
                .any(|(client, name)| !is_own(client.as_deref(), name));
            if added {
                moved.report.add(&rows::COMPOSITES, &role.name, "");
            }
        } else {
            if !parts.is_empty() {
                moved.report.add(&rows::COMPOSITES, &role.name, "");
            }
            add(role, client, &key, &mut taken, &mut roles, moved);
        }
        if !parts.is_empty() {
            roles.parts.insert(key, parts);
        }
    }
    roles
}

fn add(
    role: &Role,
    client: Option<&str>,
    key: &RoleKey,
    taken: &mut HashSet<String>,
    roles: &mut Roles,
    moved: &mut Moved,
) {
    let name = names::role(client, &role.name).filter(|name| taken.insert(name.clone()));
    let Some(name) = name else {
        let why = "its name cannot be one here, or another's is the same";
        moved.report.add(&rows::OWN_ROLES, &role.name, why);
        return;
    };
    moved.roles.push(moved::Role {
        name: name.clone(),
        description: role.description.as_deref().and_then(description),
    });
    roles.names.insert(key.clone(), name);
}

/// A description, cut to what can be one; a key of its own texts is none.
fn description(text: &str) -> Option<String> {
    let line: String = text.chars().filter(|c| !c.is_control()).collect();
    let mut end = line.len().min(signet_oauth::people::MAX_DESCRIPTION_BYTES);
    while !line.is_char_boundary(end) {
        end -= 1;
    }
    let line = line[..end].trim();
    (!line.is_empty() && !line.starts_with("${")).then(|| line.to_owned())
}

/// What groups are called here, by their paths.
pub(super) fn groups(realm: &Realm, roles: &Roles, moved: &mut Moved) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut taken = HashSet::new();
    // Those above go first, so that the nearer one to the top has the short name.
    let mut level: Vec<(Vec<&str>, Option<String>, &Group)> = realm
        .rest
        .groups
        .iter()
        .map(|group| (vec![group.name.as_str()], None, group))
        .collect();
    while !level.is_empty() {
        let mut next = Vec::new();
        for (path, parent, group) in level {
            let whole = group.path.clone();
            let whole = whole.unwrap_or_else(|| format!("/{}", path.join("/")));
            let mut own = parent.clone();
            if path.len() > signet_oauth::people::MAX_GROUP_DEPTH {
                moved.report.add(
                    &rows::GROUPS,
                    &whole,
                    "too deep: its people are in the one above",
                );
            } else if let Some(name) = names::group(&path, &mut taken) {
                if name != group.name {
                    moved
                        .report
                        .add(&rows::GROUPS, &whole, format!("called {name}"));
                }
                let (mut held, unknown) = roles.held(&group.realm_roles, &group.client_roles);
                if !unknown.iter().all(|name| is_own_text(name)) || held.len() > MAX_GROUP_ROLES {
                    let why = "roles that are not here, or too many";
                    moved.report.add(&rows::GROUPS, &whole, why);
                }
                held.truncate(MAX_GROUP_ROLES);
                moved.groups.push(moved::Group {
                    name: name.clone(),
                    description: None,
                    parent: parent.clone(),
                    roles: held,
                });
                own = Some(name);
            } else {
                moved.report.add(&rows::GROUPS, &whole, "no name for it");
            }
            if !group.attributes.is_empty() {
                moved.report.add(&rows::GROUP_ATTRIBUTES, &whole, "");
            }
            if let Some(own) = &own {
                found.insert(whole, own.clone());
            }
            for sub in &group.sub_groups {
                let mut below = path.clone();
                below.push(&sub.name);
                next.push((below, own.clone(), sub));
            }
        }
        level = next;
    }
    found
}

/// Whether `NAME` or `CLIENT/NAME` is a role that every realm has.
pub(super) fn is_own_text(name: &str) -> bool {
    match name.split_once('/') {
        Some((client, name)) => is_own(Some(client), name),
        None => is_own(None, name),
    }
}

/// What of a realm has no counterpart.
pub(super) fn others(realm: &Realm, moved: &mut Moved) {
    let report = &mut moved.report;
    for group in &realm.rest.default_groups {
        report.add(&rows::DEFAULT_GROUPS, group, "");
    }
    let own = [
        "acr",
        "address",
        "basic",
        "email",
        "microprofile-jwt",
        "offline_access",
        "organization",
        "phone",
        "profile",
        "role_list",
        "roles",
        "saml_organization",
        "service_account",
        "web-origins",
    ];
    for scope in &realm.rest.client_scopes {
        let name = scope.name.as_deref().unwrap_or_default();
        if !own.contains(&name) {
            report.add(&rows::CLIENT_SCOPES, name, "");
        }
    }
    for mapper in &realm.rest.identity_provider_mappers {
        report.add(
            &rows::PROVIDER_MAPPERS,
            mapper.name.as_deref().unwrap_or_default(),
            "",
        );
    }
    let flows = realm.rest.authentication_flows.iter();
    for flow in flows.filter(|flow| flow.top_level && !flow.built_in) {
        report.add(&rows::FLOWS, &flow.alias, "");
    }
    for (kind, components) in &realm.rest.components {
        let row = match kind.as_str() {
            "org.keycloak.storage.UserStorageProvider" => &rows::FEDERATION,
            "org.keycloak.keys.KeyProvider" => &rows::KEYS,
            _ => continue,
        };
        for one in components {
            let name = one.name.as_deref().or(one.provider_id.as_deref());
            report.add(row, name.unwrap_or_default(), "");
        }
    }
    if !realm.rest.smtp_server.is_empty() {
        report.add(&rows::MAIL, &realm.name, "");
    }
    for organization in &realm.rest.organizations {
        report.add(
            &rows::ORGANIZATIONS,
            organization.name.as_deref().unwrap_or_default(),
            "",
        );
    }
    report.add(&rows::SETTINGS, &realm.name, "");
}

/// The relying parties of second factors and of passwordless credentials, as far as they are known.
pub(super) fn relying_party(realm: &Realm, options: &Options) -> [Option<String>; 2] {
    let rest = &realm.rest;
    let host = rest
        .attributes
        .get("frontendUrl")
        .and_then(|url| url.as_str());
    let host = host.and_then(|url| {
        let authority = url.split("://").nth(1)?.split('/').next()?;
        Some(authority.split(':').next()?.to_owned())
    });
    [
        &rest.web_authn_policy_rp_id,
        &rest.web_authn_policy_passwordless_rp_id,
    ]
    .map(|said| {
        let said = said.clone().filter(|said| !said.is_empty());
        said.or_else(|| options.rp_id.clone())
            .or_else(|| host.clone())
    })
}

/// Whether second factors are discoverable.
pub(super) fn discoverable(realm: &Realm) -> bool {
    realm.rest.web_authn_policy_require_resident_key.as_deref() == Some("Yes")
}
