//! People of ZITADEL.

use std::collections::{BTreeMap, HashSet};

use super::form::{HumanUser, Org};
use super::known::Known;
use super::rows;
use crate::credentials::{bytes, usual_app};
use crate::moved::{Identity, Person};
use crate::people::{self, Draft};
use crate::report::Report;

/// The people of an organization. `taken`: user names that others have.
pub(super) fn read(
    org: Org,
    known: &Known,
    taken: &mut HashSet<String>,
    report: &mut Report,
) -> Vec<Draft> {
    let mut held = Held::of(&org, known, report);
    let group = known.organizations.get(&org.org_id);
    let mut drafts = Vec::new();
    for human in org.human_users {
        let HumanUser { user_id, user } = human;
        let Some(user) = user.filter(|user| !user.user_name.is_empty()) else {
            report.add(&rows::NAMELESS, user_id, "");
            continue;
        };
        // Names are unique in an organization there, and in the realm here.
        if !taken.insert(user.user_name.to_lowercase()) {
            report.add(&rows::SAME_NAMES, user.user_name, "");
            continue;
        }
        let email = user.email.unwrap_or_default();
        let address = email.email.filter(|email| !email.is_empty());
        let mut person = Person {
            username: user.user_name,
            email_verified: email.is_email_verified && address.is_some(),
            email: address,
            enabled: true,
            must_change_password: user.password_change_required,
            groups: group.cloned().into_iter().collect(),
            roles: held.roles.remove(&user_id).unwrap_or_default(),
            ..Person::default()
        };
        let mut attributes = held.metadata.remove(&user_id).unwrap_or_default();
        if let Some(profile) = user.profile {
            people::call(
                &mut person,
                profile.first_name.as_deref(),
                profile.last_name.as_deref(),
                profile.display_name.as_deref(),
            );
            people::tell(&mut person, "nickname", profile.nick_name.as_deref());
            // `und`: no language was chosen.
            let language = profile.preferred_language.as_deref();
            people::tell(
                &mut person,
                "locale",
                language.filter(|name| *name != "und"),
            );
            let gender = profile.gender.as_deref();
            let gender = gender.and_then(|name| name.strip_prefix("GENDER_"));
            let gender = gender.filter(|name| ["FEMALE", "MALE", "DIVERSE"].contains(name));
            people::tell(
                &mut person,
                "gender",
                gender.map(str::to_lowercase).as_deref(),
            );
        }
        if let Some(phone) = user.phone.filter(|phone| !phone.phone.is_empty()) {
            people::tell(&mut person, "phone_number", Some(&phone.phone));
            let verified = vec![phone.is_phone_verified.to_string()];
            attributes.insert("phone_number_verified".to_owned(), verified);
        }
        let hash = user.hashed_password.map(|hash| hash.value);
        if let Some(hash) = hash.filter(|hash| !hash.is_empty()) {
            match people::hash(hash) {
                Ok(hash) => person.password_hash = Some(hash),
                Err(why) => report.add(&rows::OTHER_PASSWORDS, &*person.username, why),
            }
        }
        if let Some(secret) = user.otp_code.filter(|secret| !secret.is_empty()) {
            match usual_app(&secret) {
                Ok(app) => person.totp.push(app),
                Err(why) => report.add(&rows::OTHER_TOTP, &*person.username, why),
            }
        }
        let own = user.idps.into_iter().map(|idp| {
            let (subject, name) = (idp.external_user_id, idp.display_name);
            (idp.config_id, subject, name)
        });
        let links = held.links.remove(&user_id).unwrap_or_default();
        for (provider, subject, name) in own.chain(links) {
            match known.providers.get(&provider) {
                Some(provider) => person.identities.push(Identity {
                    provider: provider.clone(),
                    subject,
                    name: name.filter(|name| !name.is_empty()),
                }),
                None => report.add(&rows::LINKS, &*person.username, provider),
            }
        }
        drafts.push(Draft { person, attributes });
    }
    drafts
}

/// A link: the provider's id, the subject there, what the person is called there.
type Link = (String, String, Option<String>);

/// What people hold, by their ids: other lists of the organization name them.
#[derive(Default)]
struct Held {
    roles: BTreeMap<String, Vec<String>>,
    metadata: BTreeMap<String, BTreeMap<String, Vec<String>>>,
    links: BTreeMap<String, Vec<Link>>,
}

impl Held {
    fn of(org: &Org, known: &Known, report: &mut Report) -> Held {
        let mut held = Held::default();
        for grant in &org.user_grants {
            for key in &grant.role_keys {
                let name = (grant.project_id.clone(), key.clone());
                let roles = held.roles.entry(grant.user_id.clone()).or_default();
                match known.roles.get(&name) {
                    Some(role) if !roles.contains(role) => roles.push(role.clone()),
                    Some(_) => {}
                    None => report.add(&rows::ROLES, &**key, "it is not in the export"),
                }
            }
        }
        for metadata in &org.user_metadata {
            let value = bytes(&metadata.value).and_then(|bytes| String::from_utf8(bytes).ok());
            let of_user = held.metadata.entry(metadata.id.clone()).or_default();
            match value {
                Some(value) => drop(of_user.insert(metadata.key.clone(), vec![value])),
                None => report.add(&rows::METADATA, &*metadata.key, "it is no text"),
            }
        }
        for link in &org.user_links {
            let links = held.links.entry(link.user_id.clone()).or_default();
            links.push((
                link.idp_id.clone(),
                link.provided_user_id.clone(),
                link.provided_user_name.clone(),
            ));
        }
        held
    }
}
