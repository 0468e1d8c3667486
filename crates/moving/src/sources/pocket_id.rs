//! Pocket ID: the `database.json` of the archive that `pocket-id export` writes. From its published
//! source (the export and import services, the models), not from a running one.
//!
//! Tables are as the database has them. Columns of bytes and of JSON are in base64, times are RFC
//! 3339.

mod form;
mod rows;

use std::collections::{BTreeMap, BTreeSet, HashSet};

use signet_encoding::base64url;

use crate::clients::{self, Said};
use crate::credentials::{NO_HOST, hex};
use crate::moved::{self, Consent, Group, Moved, Passkey, Person};
use crate::names;
use crate::people::{self, Draft, id_of_uuid};
use crate::read::{Part, ReadError, seconds};
use crate::report::Report;
use crate::sources::{Options, Source};
use form::{Client, Export, Hashed, Tables, User};

pub(super) const SOURCE: Source = Source {
    name: "pocket-id",
    title: "Pocket ID",
    takes: "`database.json` of the archive that `pocket-id export` writes, unpacked. Read by its published source (versions from 2.0 on); no Pocket ID was run here. `--rp-id` says the host of its `APP_URL`.",
    endings: &["database.json"],
    folders: &[],
    rows: rows::ROWS,
    read,
};

fn read(parts: &[Part], options: &Options) -> Result<Moved, ReadError> {
    let mut moved = Moved {
        from: "database of Pocket ID".to_owned(),
        ..Moved::default()
    };
    let mut tables = None;
    for part in parts {
        if part.bytes.starts_with(b"PK") {
            return Err(part.error("an archive: unpack it, and give its database.json"));
        }
        let export: Export = part.json()?;
        if tables.replace(export.tables).is_some() {
            return Err(part.error("a second database: give one"));
        }
    }
    let mut tables = tables.unwrap_or_default();
    let groups = groups(&tables, &mut moved);
    let others = std::mem::take(&mut tables.others);
    for client in &tables.oidc_clients {
        moved.clients.push(read_client(client, &mut moved.report));
    }
    let restricted = tables.oidc_clients_allowed_user_groups.iter();
    let restricted: BTreeSet<&str> = restricted.map(|row| &*row.oidc_client_id).collect();
    for client in restricted {
        moved.report.add(&rows::ALLOWED_GROUPS, client, "");
    }
    let mut held = Held::of(&tables, &groups, options, &mut moved.report);
    let users = tables.users.into_iter();
    let drafts: Vec<Draft> = users
        .map(|user| read_user(user, &mut held, &mut moved.report))
        .collect();
    held.left_over(&mut moved.report);
    people::finish(&mut moved, drafts, &rows::CLAIMS);
    for (table, found) in others {
        let row = rows::TABLES.iter().find(|(name, _)| *name == table);
        let (row, detail) = row.map_or((&rows::OTHERS, &*table), |(_, row)| (*row, ""));
        for _ in &found {
            moved.report.add(row, "", detail);
        }
    }
    Ok(moved)
}

/// What the groups are called here, by their ids.
fn groups(tables: &Tables, moved: &mut Moved) -> BTreeMap<String, String> {
    let (mut known, mut taken) = (BTreeMap::new(), HashSet::new());
    for group in &tables.user_groups {
        let Some(name) = names::group(&[&group.name], &mut taken) else {
            moved
                .report
                .add(&rows::GROUPS, &*group.name, "no name for it");
            continue;
        };
        if name != group.name {
            let detail = format!("called {name}");
            moved.report.add(&rows::GROUPS, &*group.name, detail);
        }
        known.insert(group.id.clone(), name.clone());
        let description = group.friendly_name.clone();
        moved.groups.push(Group {
            description: description.filter(|text| !text.is_empty() && *text != name),
            name,
            parent: None,
            roles: Vec::new(),
        });
    }
    known
}

/// What people hold, by their ids: the other tables name them.
#[derive(Default)]
struct Held {
    groups: BTreeMap<String, Vec<String>>,
    claims: BTreeMap<String, BTreeMap<String, Vec<String>>>,
    passkeys: BTreeMap<String, Vec<Result<Passkey, &'static str>>>,
    consents: BTreeMap<String, Vec<Consent>>,
}

impl Held {
    fn of(
        tables: &Tables,
        groups: &BTreeMap<String, String>,
        options: &Options,
        report: &mut Report,
    ) -> Held {
        let mut held = Held::default();
        for member in &tables.user_groups_users {
            let name = groups.get(&member.user_group_id);
            let of_user = held.groups.entry(member.user_id.clone()).or_default();
            of_user.extend(name.filter(|name| !of_user.contains(name)).cloned());
        }
        for claim in &tables.custom_claims {
            match &claim.user_id {
                Some(user) => {
                    let of_user = held.claims.entry(user.clone()).or_default();
                    let values = of_user.entry(claim.key.clone()).or_default();
                    values.push(claim.value.clone());
                }
                None => report.add(&rows::GROUP_CLAIMS, &*claim.key, ""),
            }
        }
        for row in &tables.webauthn_credentials {
            let party = options.rp_id.clone().ok_or(NO_HOST);
            let passkey = party.map(|rp_id| Passkey {
                rp_id,
                id: base64url::encode(&row.credential_id.0),
                public_key: base64url::encode(&row.public_key.0),
                // Pocket ID counts none.
                sign_count: 0,
                aaguid: row.aaguid.clone().filter(|text| !text.is_empty()),
                backup_eligible: Some(row.backup_eligible),
                transports: row
                    .transport
                    .as_ref()
                    .map_or_else(Vec::new, |list| list.0.clone()),
                label: row.name.clone(),
                created_at: row.created_at.as_ref().and_then(seconds),
            });
            let of_user = held.passkeys.entry(row.user_id.clone()).or_default();
            of_user.push(passkey);
        }
        for row in &tables.user_authorized_oidc_clients {
            let of_user = held.consents.entry(row.user_id.clone()).or_default();
            of_user.push(Consent {
                client_id: row.client_id.clone(),
                scope: clients::scope(|name| row.scope.split(' ').any(|one| one == name)),
                granted_at: None,
            });
        }
        held
    }

    /// What is held by nobody of the export.
    fn left_over(self, report: &mut Report) {
        for (user, keys) in &self.passkeys {
            for _ in keys {
                report.add(&rows::PASSKEYS, user, "its person is not in the export");
            }
        }
    }
}

fn read_user(user: User, held: &mut Held, report: &mut Report) -> Draft {
    let email = user.email.filter(|email| !email.is_empty());
    let mut person = Person {
        id: id_of_uuid(&user.id),
        username: user.username,
        email_verified: user.email_verified && email.is_some(),
        email,
        enabled: !user.disabled,
        created_at: user.created_at.as_ref().and_then(seconds),
        groups: held.groups.remove(&user.id).unwrap_or_default(),
        consents: held.consents.remove(&user.id).unwrap_or_default(),
        ..Person::default()
    };
    let (given, family) = (user.first_name.as_deref(), user.last_name.as_deref());
    people::call(&mut person, given, family, user.display_name.as_deref());
    people::tell(&mut person, "locale", user.locale.as_deref());
    let name = person.username.as_str();
    if person.id.is_none() {
        report.add(&rows::USERS, name, "its id is no UUID: a new one");
    }
    if user.is_admin {
        report.add(&rows::ADMINISTRATORS, name, "");
    }
    if user.ldap_id.is_some_and(|id| !id.is_empty()) {
        report.add(&rows::LDAP, name, "");
    }
    let mut passkeys = Vec::new();
    for passkey in held.passkeys.remove(&user.id).unwrap_or_default() {
        match passkey {
            Ok(passkey) => passkeys.push(passkey),
            Err(why) => report.add(&rows::PASSKEYS, name, why),
        }
    }
    person.passkeys = passkeys;
    Draft {
        person,
        attributes: held.claims.remove(&user.id).unwrap_or_default(),
    }
}

fn read_client(client: &Client, report: &mut Report) -> moved::Client {
    let id = client.id.as_str();
    let list = |list: &Option<form::Json<Option<Vec<String>>>>| {
        let list = list.as_ref().and_then(|list| list.0.clone());
        list.unwrap_or_default()
    };
    let redirect_uris = list(&client.callback_urls);
    let redirect_uris = clients::exact(redirect_uris, id, &rows::WILDCARDS, report);
    let after_logout = list(&client.logout_callback_urls);
    let after_logout = clients::exact(after_logout, id, &rows::WILDCARDS, report);
    let mut grants = vec!["authorization_code", "refresh_token"];
    if redirect_uris.is_empty() {
        report.add(&rows::NO_CALLBACK, id, "");
        grants[0] = "urn:ietf:params:oauth:grant-type:device_code";
    }
    let said = Said {
        client_id: id,
        name: Some(&client.name),
        enabled: true,
        redirect_uris,
        after_logout,
        grants,
        is_public: client.is_public,
        pkce: client.pkce_enabled,
        asks: true,
        scope: clients::scope(|_| true),
    };
    let mut document = said.document();
    let home = client.launch_url.as_deref();
    if let Some(home) = home.filter(|home| home.starts_with("https://")) {
        document.insert("client_uri".to_owned(), home.into());
    }
    if client.requires_reauthentication {
        report.add(&rows::REAUTHENTICATION, id, "");
    }
    let credentials = client.credentials.as_ref();
    let credentials = credentials.map(|column| &column.0);
    if credentials.is_some_and(|all| !all.federated_identities.is_empty()) {
        report.add(&rows::FEDERATED, id, "");
    }
    if !client.is_public {
        let secrets = credentials.map_or(&[][..], |all| &all.secrets);
        match secrets.iter().find_map(sha256) {
            Some(hash) => drop(document.insert("client_secret_sha256".to_owned(), hash.into())),
            None => report.add(&rows::SECRETS, id, ""),
        }
        if secrets.iter().filter_map(sha256).count() > 1 {
            report.add(&rows::SECRETS, id, "it has several: the first comes over");
        }
    }
    moved::Client {
        client_id: client.id.clone(),
        document,
    }
}

/// A secret's SHA-256, in base64url, where it is kept so and does not expire.
fn sha256(secret: &Hashed) -> Option<String> {
    let known = secret.algorithm.eq_ignore_ascii_case("sha256") && secret.expires_at.is_none();
    let hash = hex(&secret.hash).filter(|hash| known && hash.len() == 32);
    hash.map(|hash| base64url::encode(&hash))
}

#[cfg(test)]
mod tests;
