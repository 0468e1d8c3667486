//! People of authentik.

use std::collections::BTreeMap;

use serde_json::Value;

use super::dump::Dump;
use super::form::{Key, TotpDevice, User};
use super::{passwords, rows};
use crate::clients::scope;
use crate::credentials;
use crate::moved::{App, Consent, Identity, Person};
use crate::people::{self, Draft, id_of_uuid, text, texts};
use crate::read::seconds;
use crate::report::Report;

/// What authentik's own attributes begin with.
const OWN: &str = "goauthentik.io/";

/// Everybody. `groups`, `providers`, `clients`: what those are called here, by the keys of groups,
/// sources and applications.
pub(super) fn read(
    mut dump: Dump,
    groups: &BTreeMap<String, String>,
    providers: &BTreeMap<String, String>,
    clients: &BTreeMap<String, String>,
    report: &mut Report,
) -> Vec<Draft> {
    let mut held = Held::of(&mut dump, providers, clients, report);
    let mut drafts = Vec::new();
    for (key, user) in dump.users {
        // The account that stands for nobody.
        if user.username == "AnonymousUser" {
            continue;
        }
        let kind = user.kind.as_deref();
        if kind.is_some_and(|kind| kind.ends_with("service_account")) {
            report.add(&rows::SERVICE_ACCOUNTS, user.username, "");
            continue;
        }
        drafts.push(person(&key, user, groups, &mut held, report));
    }
    drafts
}

/// What people hold, by the keys of their rows.
struct Held {
    apps: BTreeMap<String, Vec<TotpDevice>>,
    identities: BTreeMap<String, Vec<Result<Identity, String>>>,
    consents: BTreeMap<String, Vec<Consent>>,
}

impl Held {
    fn of(
        dump: &mut Dump,
        providers: &BTreeMap<String, String>,
        clients: &BTreeMap<String, String>,
        report: &mut Report,
    ) -> Held {
        let mut identities: BTreeMap<String, Vec<Result<Identity, String>>> = BTreeMap::new();
        for (key, connection) in &dump.connections {
            let own = dump.oauth_connections.get(key);
            let own = own.and_then(|own| own.identifier.clone());
            let subject = own.or_else(|| connection.identifier.clone());
            let provider = providers.get(&connection.source.0);
            let slug = dump.sources.get(&connection.source.0);
            let slug = slug.map_or(&connection.source.0, |source| &source.slug);
            let identity = provider.zip(subject.filter(|text| !text.is_empty()));
            let identity = identity.map(|(provider, subject)| Identity {
                provider: provider.clone(),
                subject,
                name: None,
            });
            let of_user = identities.entry(connection.user.0.clone()).or_default();
            of_user.push(identity.ok_or_else(|| slug.clone()));
        }
        // Each time that somebody is asked for more there is a row more.
        let mut scopes: BTreeMap<(String, String), String> = BTreeMap::new();
        for consent in &dump.consents {
            match clients.get(&consent.application.0) {
                _ if consent.expiring => report.add(&rows::EXPIRING_CONSENTS, "", ""),
                Some(client) => {
                    let key = (consent.user.0.clone(), client.clone());
                    let all = scopes.entry(key).or_default();
                    all.push(' ');
                    all.push_str(&consent.permissions);
                }
                None => report.add(&rows::CONSENTS, "", "of an application without a client"),
            }
        }
        let mut consents: BTreeMap<String, Vec<Consent>> = BTreeMap::new();
        for ((user, client_id), given) in scopes {
            consents.entry(user).or_default().push(Consent {
                client_id,
                scope: scope(|name| given.split(' ').any(|one| one == name)),
                granted_at: None,
            });
        }
        let mut apps: BTreeMap<String, Vec<TotpDevice>> = BTreeMap::new();
        for device in std::mem::take(&mut dump.apps) {
            apps.entry(device.user.0.clone()).or_default().push(device);
        }
        Held {
            apps,
            identities,
            consents,
        }
    }
}

fn person(
    key: &str,
    user: User,
    groups: &BTreeMap<String, String>,
    held: &mut Held,
    report: &mut Report,
) -> Draft {
    let mut person = Person {
        id: user.uuid.as_deref().and_then(id_of_uuid),
        username: user.username,
        email: user.email.filter(|email| !email.is_empty()),
        enabled: user.is_active,
        created_at: user.date_joined.as_ref().and_then(seconds),
        consents: held.consents.remove(key).unwrap_or_default(),
        ..Person::default()
    };
    if person.id.is_none() {
        report.add(
            &rows::USERS,
            &*person.username,
            "its uuid is none: a new id",
        );
    }
    people::tell(&mut person, "name", Some(&user.name));
    match passwords::read(&user.password) {
        Ok(hash) => person.password_hash = Some(hash),
        Err(None) => report.add(&rows::NO_PASSWORD, &*person.username, ""),
        Err(Some(why)) => report.add(&rows::OTHER_PASSWORDS, &*person.username, why),
    }
    for device in held.apps.remove(key).unwrap_or_default() {
        match app(&device) {
            Ok(app) => person.totp.push(app),
            Err(why) => report.add(&rows::OTHER_TOTP, &*person.username, why),
        }
    }
    for identity in held.identities.remove(key).unwrap_or_default() {
        match identity {
            Ok(identity) => person.identities.push(identity),
            Err(source) => report.add(&rows::LINKS, &*person.username, source),
        }
    }
    // A group of Django's own has a number, and is none of these.
    let own = user.ak_groups.unwrap_or(user.groups);
    for Key(key) in own {
        match groups.get(&key) {
            Some(group) if !person.groups.contains(group) => person.groups.push(group.clone()),
            Some(_) => {}
            None => report.add(&rows::GROUPS, &*person.username, "it is not in the dump"),
        }
    }
    let mut attributes = BTreeMap::new();
    for (name, value) in user.attributes {
        if name == "settings" {
            let locale = text(&value, "locale");
            people::tell(&mut person, "locale", locale.as_deref());
        } else if name.starts_with(OWN) {
            report.add(&rows::OWN_ATTRIBUTES, &*person.username, name);
        } else if matches!(value, Value::Object(_)) {
            report.add(&rows::NESTED, &*person.username, name);
        } else {
            attributes.insert(name, texts(value));
        }
    }
    Draft { person, attributes }
}

fn app(device: &TotpDevice) -> Result<App, &'static str> {
    if !device.confirmed {
        return Err("nobody has confirmed it");
    }
    if device.t0 != 0 {
        return Err("its steps do not begin with Unix time");
    }
    let secret = credentials::hex(&device.key).ok_or("its key is not hexadecimal")?;
    Ok(App {
        label: device.name.clone(),
        created_at: device.created.as_ref().and_then(seconds),
        ..credentials::app(&secret, "SHA1", device.digits.0, device.step)?
    })
}
