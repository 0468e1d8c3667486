//! People of Keycloak.

use signet_encoding::base64url;

use super::credentials;
use super::form::User;
use super::known::Known;
use super::realm::{OWN_CLIENTS, is_own_text};
use super::rows;
use crate::clients;
use crate::moved::{Consent, Identity, Person};
use crate::people::{self, Draft, id_of_uuid, texts};
use crate::report::Report;

/// A person; None: nobody that can come.
pub(super) fn read(user: User, known: &Known<'_>, report: &mut Report) -> Option<Draft> {
    let name = user.username.clone();
    if user.service_account_client_id.is_some() {
        report.add(&rows::SERVICE_ACCOUNTS, name, "");
        return None;
    }
    if user.federation_link.is_some() {
        report.add(&rows::FEDERATED_USERS, name, "");
        return None;
    }
    let mut person = Person {
        id: user.id.as_deref().and_then(id),
        username: user.username,
        email: user.email.filter(|email| !email.is_empty()),
        email_verified: user.email_verified,
        enabled: user.enabled,
        created_at: user.created_timestamp.map(|at| at / 1000),
        ..Person::default()
    };
    if person.id.is_none() {
        report.add(&rows::USERS, &*name, "its id is no UUID: a new one");
    }
    people::call(
        &mut person,
        user.first_name.as_deref(),
        user.last_name.as_deref(),
        None,
    );
    for credential in &user.credentials {
        credentials::read(credential, &mut person, known, report);
    }
    for action in &user.required_actions {
        match action.as_str() {
            "UPDATE_PASSWORD" => person.must_change_password = true,
            other => report.add(&rows::OTHER_ACTIONS, &*name, other),
        }
    }
    let (roles, unknown) = known.roles.held(&user.realm_roles, &user.client_roles);
    person.roles = roles;
    if user
        .client_roles
        .keys()
        .any(|client| client == "realm-management")
    {
        report.add(&rows::ADMINISTRATORS, &*name, "");
    }
    for role in unknown.iter().filter(|role| !is_own_text(role)) {
        report.add(
            &rows::OWN_ROLES,
            &*name,
            format!("{role} is not in the export"),
        );
    }
    for path in &user.groups {
        match known.groups.get(path) {
            Some(group) if !person.groups.contains(group) => person.groups.push(group.clone()),
            Some(_) => {}
            None => report.add(
                &rows::GROUPS,
                &*name,
                format!("{path} is not in the export"),
            ),
        }
    }
    for identity in user.federated_identities {
        match known.providers.get(&identity.identity_provider) {
            Some(provider) => person.identities.push(Identity {
                provider: provider.clone(),
                subject: identity.user_id,
                name: identity.user_name,
            }),
            None => report.add(&rows::LINKS, &*name, identity.identity_provider),
        }
    }
    let others = |client: &String| !OWN_CLIENTS.contains(&client.as_str());
    let consents = user.client_consents.into_iter();
    let consents = consents.filter(|consent| others(&consent.client_id));
    person.consents = consents
        .map(|consent| Consent {
            client_id: consent.client_id,
            // Keycloak asks for `openid` without granting it by name.
            scope: clients::scope(|name| {
                consent.granted_client_scopes.iter().any(|one| one == name)
            }),
            granted_at: consent.created_date.map(|at| at / 1000),
        })
        .collect();
    let attributes = user.attributes.unwrap_or_default().into_iter();
    let attributes = attributes.map(|(name, value)| (name, texts(value)));
    Some(Draft {
        person,
        attributes: attributes.collect(),
    })
}

/// A UUID's bytes, or an id of Signet's own, as an export from here has it.
fn id(text: &str) -> Option<String> {
    let is_own = base64url::decode(text.as_bytes()).is_ok_and(|bytes| bytes.len() == 16);
    id_of_uuid(text).or_else(|| is_own.then(|| text.to_owned()))
}
