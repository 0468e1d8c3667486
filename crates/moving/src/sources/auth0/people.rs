//! People of Auth0.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use serde_json::Value;

use super::form::{Hash, Identity, User};
use super::{passwords, rows};
use crate::credentials::usual_app;
use crate::moved;
use crate::moved::Person;
use crate::people::{self, Draft, texts};
use crate::read::seconds;
use crate::report::Report;

/// What the id of a user of a database begins with.
const DATABASE: &str = "auth0|";

/// Everybody: users with their hashes, and those of whom there is a hash alone. `providers`: what
/// connections are called here.
pub(super) fn read(
    users: Vec<User>,
    hashes: Vec<Hash>,
    providers: &BTreeMap<String, String>,
    report: &mut Report,
) -> Vec<Draft> {
    let mut by_id: HashMap<String, Hash> = HashMap::new();
    for hash in hashes {
        let id = hash.alt_id.clone().unwrap_or_else(|| hash.id.oid.clone());
        if let Some(other) = by_id.insert(id.clone(), hash) {
            let other = other.email.unwrap_or(other.id.oid);
            report.add(&rows::SAME_NAMES, other, "two password hashes of one id");
        }
    }
    let mut taken = HashSet::new();
    let mut drafts = Vec::new();
    let mut take = |draft: Option<Draft>, report: &mut Report| {
        let Some(draft) = draft else { return };
        // A tenant may have several databases, and each its own names.
        match taken.insert(draft.person.username.to_lowercase()) {
            true => drafts.push(draft),
            false => report.add(&rows::SAME_NAMES, draft.person.username, ""),
        }
    };
    for user in users {
        let id = user.user_id.as_deref();
        let id = id.map(|id| id.strip_prefix(DATABASE).unwrap_or(id));
        let hash = id.and_then(|id| by_id.remove(id));
        take(person(user, hash, providers, report), report);
    }
    // In the order of their ids: a second import finds them so again.
    let rest: BTreeMap<String, Hash> = by_id.into_iter().collect();
    for hash in rest.into_values() {
        take(alone(hash, report), report);
    }
    drafts
}

/// Somebody of whom there is a password hash and nothing else.
fn alone(hash: Hash, report: &mut Report) -> Option<Draft> {
    let of_kind = |kind: &str| hash.identifiers.iter().find(|one| one.kind == kind);
    let (address, name) = (of_kind("email"), of_kind("username"));
    let value = |one: &super::form::Identifier| one.value.clone();
    let email = hash.email.clone().or_else(|| address.map(value));
    let verified = hash.email_verified || address.is_some_and(|one| one.verified);
    let username = hash.username.clone().or_else(|| name.map(value));
    let Some(username) = username.or_else(|| email.clone()) else {
        report.add(&rows::NAMELESS, hash.id.oid, "");
        return None;
    };
    let mut person = Person {
        username,
        email_verified: verified && email.is_some(),
        email,
        enabled: true,
        ..Person::default()
    };
    password(hash.password_hash, &mut person, report);
    let attributes = BTreeMap::new();
    Some(Draft { person, attributes })
}

fn password(hash: Option<String>, person: &mut Person, report: &mut Report) {
    if let Some(hash) = hash.filter(|hash| !hash.is_empty()) {
        match people::hash(hash) {
            Ok(hash) => person.password_hash = Some(hash),
            Err(why) => report.add(&rows::OTHER_PASSWORDS, &*person.username, why),
        }
    }
}

fn person(
    user: User,
    hash: Option<Hash>,
    providers: &BTreeMap<String, String>,
    report: &mut Report,
) -> Option<Draft> {
    let said = |text: Option<String>| text.filter(|text| !text.is_empty());
    let email = said(user.email);
    let Some(username) = said(user.username).or_else(|| email.clone()) else {
        let id = user.user_id.unwrap_or_default();
        report.add(&rows::NAMELESS, id, "");
        return None;
    };
    let mut person = Person {
        username,
        email_verified: user.email_verified && email.is_some(),
        email,
        enabled: !user.blocked,
        created_at: user.created_at.as_ref().and_then(seconds),
        ..Person::default()
    };
    let (given, family) = (user.given_name.as_deref(), user.family_name.as_deref());
    people::call(&mut person, given, family, user.name.as_deref());
    for (member, text) in [
        ("nickname", &user.nickname),
        ("picture", &user.picture),
        ("locale", &user.locale),
        ("phone_number", &user.phone_number),
    ] {
        people::tell(&mut person, member, text.as_deref());
    }
    let stored = hash
        .and_then(|hash| hash.password_hash)
        .or(user.password_hash);
    password(stored, &mut person, report);
    if let Some(given) = user.custom_password_hash.as_ref() {
        match passwords::custom(given) {
            Ok(hash) => person.password_hash = Some(hash),
            Err(why) => report.add(&rows::OTHER_PASSWORDS, &*person.username, why),
        }
    }
    for factor in &user.mfa_factors {
        match factor.totp.as_ref().map(|totp| usual_app(&totp.secret)) {
            Some(Ok(app)) => person.totp.push(app),
            Some(Err(why)) => report.add(&rows::OTHER_FACTORS, &*person.username, why),
            None => report.add(&rows::OTHER_FACTORS, &*person.username, ""),
        }
    }
    // That somebody has factors is exported, and the factors are not.
    if user.mfa_factors.is_empty() && !user.multifactor.is_empty() {
        report.add(&rows::ENROLMENTS, &*person.username, "");
    }
    for identity in &user.identities {
        link(identity, &mut person, providers, report);
    }
    let mut attributes = BTreeMap::new();
    if let Some(verified) = user.phone_verified.filter(|_| user.phone_number.is_some()) {
        let verified = vec![verified.to_string()];
        attributes.insert("phone_number_verified".to_owned(), verified);
    }
    let named: BTreeSet<&String> = user.user_metadata.keys().collect();
    let twice: Vec<String> = user
        .app_metadata
        .keys()
        .filter(|name| named.contains(name))
        .cloned()
        .collect();
    for name in twice {
        let detail = format!("{name}: in both, and user_metadata's comes over");
        report.add(&rows::METADATA, &*person.username, detail);
    }
    let all = user.app_metadata.into_iter().chain(user.user_metadata);
    for (name, value) in all {
        if matches!(value, Value::Object(_)) {
            report.add(&rows::NESTED, &*person.username, name);
            continue;
        }
        attributes.insert(name, texts(value));
    }
    Some(Draft { person, attributes })
}

fn link(
    identity: &Identity,
    person: &mut Person,
    providers: &BTreeMap<String, String>,
    report: &mut Report,
) {
    // An identity of a database is the account.
    if identity.provider == "auth0" {
        return;
    }
    let connection = identity.connection.as_ref().unwrap_or(&identity.provider);
    let Some(provider) = providers.get(connection) else {
        report.add(&rows::LINKS, &*person.username, connection);
        return;
    };
    let subject = match &identity.user_id {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    // Of an enterprise connection the id has its name before it.
    let own = subject.strip_prefix(&format!("{connection}|"));
    person.identities.push(moved::Identity {
        provider: provider.clone(),
        subject: own.unwrap_or(&subject).to_owned(),
        name: None,
    });
}
