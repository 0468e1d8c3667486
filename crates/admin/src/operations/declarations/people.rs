//! Users that a directory declares. Accounts are not records of the registry: they are written
//! after them, one by one, each step of which may be done again.
use super::model::Why;
use super::person::Person;
use crate::operations::model::{EmailChange, ListChange, NewUserDocument, UserChange};
use crate::operations::models::people::AttributesChange;
use crate::operations::users;
use serde_json::{Map, Value as JsonValue};
use signet_crypto::Secret;
use signet_directory::User;
use signet_oauth::issued::session::UserClaims;
use signet_oauth::people::{People, Who};
use signet_oauth::registry::Registry;
use signet_operation::input::{Query, Revision, UserId};
use signet_operation::last_administrator::Insists;
use signet_operation::output::Json;
use signet_operation::problem::Problem;
use signet_operation::roles::Rights;
use signet_operation::target;
use signet_operation::words;
use signet_realm::state::{Realm, Snapshot};
use signet_registry::kinds::RecordKind;
use std::collections::BTreeMap;
use std::sync::Arc;

const PAGE: usize = 100;

/// An account: its name and members, and the directory service of outside that keeps it, where it
/// is not here.
pub(super) type Shown = (String, Map<String, JsonValue>, Option<String>);

fn shown(user: User, snapshot: &Snapshot) -> Shown {
    let document = users::document(user, snapshot);
    let outside = document.directory.clone();
    let person = Person::of(document);
    (person.username.clone(), person.members(), outside)
}

/// The account of this name.
pub(super) async fn one(realm: &Realm, username: &str) -> Result<Option<Shown>, Problem> {
    let found = realm.people.users.by_login(username, realm.now()).await?;
    let found = found.filter(|user| user.username == username);
    Ok(found.map(|user| shown(user, &realm.snapshot())))
}

/// Every account.
pub(super) async fn all(realm: &Realm) -> Result<Vec<Shown>, Problem> {
    let (mut found, mut after) = (Vec::new(), None::<String>);
    let snapshot = realm.snapshot();
    loop {
        let users = &realm.people.users;
        let read = users.list(after.as_deref(), PAGE, realm.now()).await?;
        let is_last = read.len() < PAGE;
        after = read.last().map(|user| user.id.clone());
        found.extend(read.into_iter().map(|user| shown(user, &snapshot)));
        if is_last {
            found.sort_unstable_by(|a, b| a.0.cmp(&b.0));
            return Ok(found);
        }
    }
}

/// In an access rule: the names of the accounts whose ids it has, as long as there are any.
pub(super) async fn names_for_ids(
    realm: &Realm,
    kind: RecordKind,
    members: &mut Map<String, JsonValue>,
) -> Result<(), Problem> {
    if kind != RecordKind::Rule {
        return Ok(());
    }
    let mut lists: Vec<&mut JsonValue> = Vec::new();
    for (name, member) in members.iter_mut() {
        match (name.as_str(), member) {
            ("users", list) => lists.push(list),
            ("except", JsonValue::Object(except)) => lists.extend(except.get_mut("users")),
            _ => {}
        }
    }
    let ids = lists
        .into_iter()
        .filter_map(JsonValue::as_array_mut)
        .flatten();
    for id in ids {
        let Some(text) = id.as_str() else { continue };
        if let Some(user) = realm.people.users.by_id(text, realm.now()).await? {
            *id = user.username.into();
        }
    }
    Ok(())
}

/// A user of this name, as a directory declares one.
pub(super) struct Known {
    user: User,
    person: Person,
}

impl Known {
    /// # Errors
    /// Where a directory service outside keeps the account.
    pub(super) async fn find(realm: &Realm, username: &str) -> Result<Option<Known>, Problem> {
        let found = realm.people.users.by_login(username, realm.now()).await?;
        let Some(user) = found.filter(|user| user.username == username) else {
            return Ok(None);
        };
        if user.link.is_some() {
            return Err(Problem::conflict(
                "kept_elsewhere",
                "a directory service outside keeps this account",
            ));
        }
        let document = users::document(user.clone(), &realm.snapshot());
        let person = Person::of(document);
        Ok(Some(Known { user, person }))
    }

    pub(super) fn members(&self) -> Map<String, JsonValue> {
        self.person.members()
    }
}

/// What is done with an account, after the records.
pub(super) enum Step {
    Put {
        known: Option<Box<Known>>,
        wanted: Box<Person>,
        password: Option<Secret<String>>,
    },
    Remove(Box<Known>),
}

/// Reads a declared user, and looks whether there are the groups, roles and attributes that it has.
pub(super) fn wanted(
    members: Map<String, JsonValue>,
    tried: &Snapshot,
    now: u64,
) -> Result<Person, Problem> {
    let read = serde_path_to_error::deserialize(JsonValue::Object(members));
    let mut person: Person = read.map_err(|error| Problem::invalid(words::of(&error)))?;
    person.sort();
    target::may_give(&Rights::owner(), &tried.registry, &person.admin_roles)?;
    // An account that has expired is as a disabled one, and is shown as such.
    person.enabled &= person.expires_at.is_none_or(|end| now < end);
    let people = &tried.registry.people;
    if let Some(none) = person
        .groups
        .iter()
        .find(|g| !people.groups.contains_key(*g))
    {
        return Err(Problem::invalid(format!(
            "groups: there is no group {none}"
        )));
    }
    if let Some(none) = person.roles.iter().find(|r| !people.roles.contains_key(*r)) {
        return Err(Problem::invalid(format!("roles: there is no role {none}")));
    }
    for (name, value) in &person.attributes {
        let said = |why: &str| Problem::invalid(format!("attributes: {name}: {why}"));
        let attribute = people.attributes.get(name);
        let attribute = attribute.ok_or_else(|| said("the schema has no such attribute"))?;
        if attribute.write == Who::Nobody || attribute.read == Who::Nobody {
            return Err(said("administrators do not read and write it"));
        }
        attribute.accepts(&value.to_attribute()).map_err(said)?;
    }
    Ok(person)
}

fn by(then: &[String], now: &[String]) -> ListChange {
    let missing = |list: &[String], of: &[String]| -> Vec<String> {
        let missing = list.iter().filter(|name| !of.contains(name));
        missing.cloned().collect()
    };
    ListChange {
        add: missing(now, then),
        remove: missing(then, now),
    }
}

fn loses_a_role(known: &Person, wanted: &Person) -> bool {
    let mut roles = known.admin_roles.iter();
    roles.any(|role| !wanted.admin_roles.contains(role))
}

impl Step {
    /// Whether its caller may do it: to whom the account is of, and with the roles that it gets.
    pub(super) fn expect_may(&self, after: &Registry, rights: &Rights) -> Result<(), Problem> {
        if let Some(user) = self.known() {
            target::expect_over_user(rights, user, after)?;
        }
        match self {
            Step::Put { wanted, .. } => target::may_give(rights, after, &wanted.admin_roles),
            Step::Remove(_) => Ok(()),
        }
    }

    pub(super) fn username(&self) -> &str {
        match self {
            Step::Put { wanted, .. } => &wanted.username,
            Step::Remove(known) => &known.person.username,
        }
    }

    /// The account as it is, where there is one.
    pub(super) fn known(&self) -> Option<&User> {
        match self {
            Step::Put { known, .. } => known.as_ref().map(|known| &known.user),
            Step::Remove(known) => Some(&known.user),
        }
    }

    /// Why everything of the person ends; none: it does not.
    pub(super) fn ends(&self) -> Option<Why> {
        let (known, wanted) = match self {
            Step::Remove(_) => return Some(Why::Removed),
            Step::Put { known: None, .. } => return None,
            Step::Put {
                known: Some(known),
                wanted,
                ..
            } => (&known.person, wanted),
        };
        match () {
            () if known.enabled && !wanted.enabled => Some(Why::Disabled),
            // What they got says what they might do then.
            () if loses_a_role(known, wanted) => Some(Why::Demoted),
            () => None,
        }
    }

    /// What the account says of the person: as it is, then with the groups that are wanted, then
    /// with the roles as well. One after another, as they are written.
    pub(super) fn holdings(&self, people: &People) -> Vec<UserClaims> {
        let Step::Put {
            known: Some(known),
            wanted,
            ..
        } = self
        else {
            return Vec::new();
        };
        let group = |name: &String| people.groups.get(name).map(|group| group.id.clone());
        let role = |name: &String| people.roles.get(name).map(|role| role.id.clone());
        let (then, mut user) = (&known.person, known.user.clone());
        let mut states = vec![user.claims()];
        let groups = by(&then.groups, &wanted.groups);
        let [add, remove] = [&groups.add, &groups.remove]
            .map(|names| names.iter().filter_map(group).collect::<Vec<_>>());
        user.change_groups(&add, &remove, people);
        states.push(user.claims());
        let roles = by(&then.roles, &wanted.roles);
        let [add, remove] = [&roles.add, &roles.remove]
            .map(|names| names.iter().filter_map(role).collect::<Vec<_>>());
        user.change_roles(&add, &remove, people);
        states.push(user.claims());
        states
    }

    pub(super) async fn apply(self, realm: &Arc<Realm>) -> Result<(), Problem> {
        let (known, wanted, password) = match self {
            Step::Remove(known) => {
                let id = UserId(known.user.id);
                let insists = Query(Insists(false));
                return users::remove_one(Arc::clone(realm), (id, insists)).await;
            }
            Step::Put {
                known,
                wanted,
                password,
            } => (known, wanted, password),
        };
        let id = match &known {
            Some(known) => known.user.id.clone(),
            None => make(realm, &wanted, password).await?,
        };
        let of = || UserId(id.clone());
        let then = match known {
            Some(known) => known.person,
            None => Person {
                enabled: true,
                groups: Vec::new(),
                roles: Vec::new(),
                attributes: BTreeMap::new(),
                ..Person::clone(&wanted)
            },
        };
        if (&then.email, then.email_verified) != (&wanted.email, wanted.email_verified) {
            let email = EmailChange {
                email: wanted.email.clone(),
                verified: wanted.email_verified,
            };
            users::set_email(Arc::clone(realm), (of(), Json(email))).await?;
        }
        let right = |person: &Person| {
            (
                person.admin_roles.clone(),
                person.enabled,
                person.expires_at,
            )
        };
        if right(&then) != right(&wanted) || then.profile != wanted.profile {
            let found = realm.people.users.found(&id, realm.now()).await?;
            let found = found.ok_or_else(Problem::not_found)?;
            let change = UserChange {
                admin: wanted.admin,
                admin_roles: Some(wanted.admin_roles.clone()),
                enabled: wanted.enabled,
                profile: wanted.profile.clone(),
                must_change_password: None,
                expires_at: Some(wanted.expires_at.unwrap_or(0)),
            };
            let who = (of(), Query(Insists(false)));
            let replaced = (who, Revision(found.version), Json(change));
            // Asked before anything was written: see [`Step::expect_may`].
            users::replace(Arc::clone(realm), Rights::owner(), replaced).await?;
        }
        let people = Arc::clone(&realm.snapshot().registry.people);
        let mut groups = by(&then.groups, &wanted.groups);
        // What is gone, and was gone before the accounts are written, is nobody's any more.
        groups
            .remove
            .retain(|name| people.groups.contains_key(name));
        if !groups.add.is_empty() || !groups.remove.is_empty() {
            users::change_groups(Arc::clone(realm), (of(), Json(groups))).await?;
        }
        let mut roles = by(&then.roles, &wanted.roles);
        roles.remove.retain(|name| people.roles.contains_key(name));
        if !roles.add.is_empty() || !roles.remove.is_empty() {
            users::change_roles(Arc::clone(realm), (of(), Json(roles))).await?;
        }
        if then.attributes != wanted.attributes {
            let gone = then.attributes.keys();
            let gone = gone.filter(|name| !wanted.attributes.contains_key(*name));
            let mut attributes: BTreeMap<_, _> = gone.map(|name| (name.clone(), None)).collect();
            let values = wanted.attributes.iter();
            attributes.extend(values.map(|(name, value)| (name.clone(), Some(value.clone()))));
            let change = AttributesChange {
                attributes,
                verified: true,
            };
            users::set_attributes(Arc::clone(realm), (of(), Json(change))).await?;
        }
        Ok(())
    }
}

/// Makes an account; its id.
async fn make(
    realm: &Arc<Realm>,
    wanted: &Person,
    password: Option<Secret<String>>,
) -> Result<String, Problem> {
    let new = NewUserDocument {
        username: wanted.username.clone(),
        email: wanted.email.clone(),
        email_verified: wanted.email_verified,
        password: password.map(|password| password.expose().clone()),
        temporary: false,
        expires_at: wanted.expires_at,
        admin: wanted.admin,
        admin_roles: Some(wanted.admin_roles.clone()),
        profile: wanted.profile.clone(),
    };
    let made = users::create(Arc::clone(realm), Rights::owner(), Json(new)).await?;
    Ok(made.0.value.id)
}
