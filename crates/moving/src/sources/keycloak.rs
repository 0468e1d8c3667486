//! Keycloak: what `kc.sh export` writes, one file of a realm or a directory of `*-realm.json` and
//! `*-users-N.json`. Read from what version 26 writes; the shapes are those of its documented
//! representations (RealmRepresentation and those in it).

mod clients;
mod credentials;
mod form;
mod known;
mod providers;
mod realm;
mod rows;
mod users;

use crate::moved::Moved;
use crate::people;
use crate::read::{Part, ReadError};
use crate::sources::{Options, Source};
use form::{Export, Realm, User};
use known::Known;

pub(super) const SOURCE: Source = Source {
    name: "keycloak",
    title: "Keycloak",
    takes: "What `kc.sh export --dir DIR --realm NAME --users different_files` writes (give the directory), or `--file FILE` (give the file). An export from the administration console has no people and masks secrets.",
    endings: &[".json"],
    folders: &[],
    rows: rows::ROWS,
    read,
};

fn read(parts: &[Part], options: &Options) -> Result<Moved, ReadError> {
    let mut realm: Option<Realm> = None;
    let mut users: Vec<User> = Vec::new();
    for part in parts {
        let exports = match part.bytes.trim_ascii_start().first() {
            // All realms in one file.
            Some(b'[') => part.json::<Vec<Export>>()?,
            _ => vec![part.json::<Export>()?],
        };
        for mut export in exports {
            let more = std::mem::take(&mut export.users);
            let is_realm = export.is_realm();
            match export.realm.clone() {
                Some(name) if is_realm => {
                    if let Some(other) = &realm {
                        return Err(part.error(format!(
                            "a second realm, {name:?} beside {:?}: export one with --realm",
                            other.name
                        )));
                    }
                    realm = Some(Realm { name, rest: export });
                }
                _ if more.is_empty() => {
                    return Err(part.error(
                        "neither a realm (with clients and roles) nor its users: is it what kc.sh export wrote?",
                    ));
                }
                _ => {}
            }
            users.extend(more);
        }
    }
    let Some(realm) = realm else {
        let place = parts.first().map_or("", |part| &part.name);
        return Err(ReadError {
            place: place.to_owned(),
            why: "no realm among the files: *-realm.json is missing".to_owned(),
        });
    };
    let mut moved = Moved {
        from: format!(
            "realm {} of Keycloak {}",
            realm.name,
            realm
                .rest
                .keycloak_version
                .as_deref()
                .unwrap_or("(unknown)")
        ),
        ..Moved::default()
    };
    let roles = realm::roles(&realm, &mut moved);
    let groups = realm::groups(&realm, &roles, &mut moved);
    clients::read(&realm, &mut moved);
    let providers = providers::read(&realm, &mut moved);
    realm::others(&realm, &mut moved);
    let known = Known {
        roles: &roles,
        groups: &groups,
        providers: &providers,
        relying_party: realm::relying_party(&realm, options),
        discoverable: realm::discoverable(&realm),
    };
    let drafts = users
        .into_iter()
        .filter_map(|user| users::read(user, &known, &mut moved.report))
        .collect();
    people::finish(&mut moved, drafts, &rows::ATTRIBUTES);
    Ok(moved)
}

#[cfg(test)]
mod tests;
