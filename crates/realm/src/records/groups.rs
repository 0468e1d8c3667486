//! Groups, roles, the schema of attributes and access rules: how their records change.
//!
//! What must be true of all of them together (groups without a circle, no more of them than may be)
//! cannot be a condition on one record. So every change of any of them has the census as its
//! condition, a row that each change replaces: what was read after the census was read is still
//! so when the change commits, or the change is decided again. On one node and on many, two changes
//! that would be a circle together come one after the other, and the second is refused.
use crate::state::Realm;
use signet_encoding::base64url;
use signet_oauth::people::access_rules::{AccessRule, MAX_RULES};
use signet_oauth::people::{
    Attribute, Fault, Group, MAX_ATTRIBUTES, MAX_GROUP_DEPTH, MAX_GROUP_ROLES, MAX_GROUPS,
    MAX_ROLES, People, Role, check_description, check_group_name, check_role_name,
};
use signet_registry::delta::Delta;
use signet_registry::{
    kinds::RecordKind,
    people::{self, Census, census_key},
    rules::{check_classes, read_rule, write_rule},
    scribe::row_key,
};
use signet_store::{Change, Key, Op, Row, StoreError};
use std::{collections::HashMap, sync::Arc};

/// How often a change that others were faster than is decided again.
const MAX_TRIES: usize = 32;

/// Why a group, a role or an attribute could not be written or removed.
#[derive(Debug, thiserror::Error)]
pub enum PeopleError {
    /// There is none in the store (it may be the configuration's).
    #[error("there is no such record")]
    NotFound,
    /// Somebody else has written it since it was read; or others keep writing.
    #[error("the record has been changed meanwhile")]
    Conflict,
    /// There is one of this name already.
    #[error("a record with this name exists")]
    Exists,
    /// The configuration declares it.
    #[error("the configuration file declares this record")]
    Declared,
    /// Groups would be inside themselves.
    #[error("a group cannot be inside itself: this parent is in it")]
    Circle,
    /// A group has others in it.
    #[error("there are groups in this group: remove them first, or move them")]
    HasGroups,
    /// Access rules name a group.
    #[error("access rules name this group: change or remove them first")]
    HasRules,
    /// What was wanted cannot be.
    #[error("{0}")]
    Invalid(Fault),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<Fault> for PeopleError {
    fn from(fault: Fault) -> PeopleError {
        PeopleError::Invalid(fault)
    }
}

/// A group, as somebody wants it.
#[derive(Clone, Debug, Default)]
pub struct GroupDraft {
    /// For people.
    pub description: Option<String>,
    /// The name of the group that it is in.
    pub parent: Option<String>,
    /// Whole names of the roles that it gives.
    pub roles: Vec<String>,
    /// What whoever provisions it calls it; none: as it was.
    pub external_id: Option<String>,
}

/// A new id of a group or role.
fn new_id() -> String {
    base64url::encode(&signet_crypto::random::id::<16>())
}

/// The stored record, while its change is decided.
struct Found {
    known: Option<Vec<u8>>,
    census: Census,
}

/// What a change comes to: the record's new bytes; none: it goes.
type Decided = Result<Option<Vec<u8>>, PeopleError>;

/// What is wanted of a record. `read`: the revision that is replaced, none if there must be none.
enum Wish<'a> {
    Group {
        draft: &'a GroupDraft,
        /// of a group that is new
        id: String,
        read: Option<u64>,
    },
    Role {
        role: Role,
        read: Option<u64>,
    },
    Attribute {
        attribute: &'a Attribute,
        read: Option<u64>,
    },
    Rule {
        rule: &'a AccessRule,
        read: Option<u64>,
    },
    Gone,
}

impl Realm {
    /// Writes a group: `read` is the revision that it replaces, none if it must not exist yet.
    ///
    /// # Errors
    /// See [`PeopleError`].
    pub async fn write_group(
        &self,
        name: &str,
        draft: &GroupDraft,
        read: Option<u64>,
    ) -> Result<Arc<Group>, PeopleError> {
        check_group_name(name)?;
        check_description(draft.description.as_deref())?;
        let id = new_id();
        let wish = Wish::Group { draft, id, read };
        self.change_people(RecordKind::Group, name, &wish).await?;
        let snapshot = self.snapshot();
        let written = snapshot.registry.people.groups.get(name).cloned();
        written.ok_or(PeopleError::Conflict)
    }

    /// Removes a group that has no others in it.
    ///
    /// # Errors
    /// See [`PeopleError`].
    pub async fn remove_group(&self, name: &str) -> Result<(), PeopleError> {
        self.change_people(RecordKind::Group, name, &Wish::Gone)
            .await
    }

    /// Writes a role: as [`Realm::write_group`]. A role of a client needs the client.
    ///
    /// # Errors
    /// See [`PeopleError`].
    pub async fn write_role(
        &self,
        name: &str,
        description: Option<String>,
        read: Option<u64>,
    ) -> Result<Arc<Role>, PeopleError> {
        check_role_name(name)?;
        check_description(description.as_deref())?;
        let role = Role {
            id: new_id(),
            name: name.to_owned(),
            description,
            revision: 0,
        };
        if let Some(client) = role.client() {
            self.learn(RecordKind::Client, client).await?;
            if !self.snapshot().registry.clients.contains_key(client) {
                return Err("there is no such client: a role is NAME or CLIENT_ID/NAME".into());
            }
        }
        let wish = Wish::Role { role, read };
        self.change_people(RecordKind::Role, name, &wish).await?;
        let snapshot = self.snapshot();
        let written = snapshot.registry.people.roles.get(name).cloned();
        written.ok_or(PeopleError::Conflict)
    }

    /// Removes a role. Whoever had it has it no more.
    ///
    /// # Errors
    /// See [`PeopleError`].
    pub async fn remove_role(&self, name: &str) -> Result<(), PeopleError> {
        self.change_people(RecordKind::Role, name, &Wish::Gone)
            .await
    }

    /// Removes every role of a client that is gone, so that none of them is there for another
    /// client of its id.
    ///
    /// # Errors
    /// The store's, and where others keep writing.
    pub async fn remove_roles_of(&self, client_id: &str) -> Result<(), PeopleError> {
        let snapshot = self.snapshot();
        let roles = snapshot.registry.people.roles.values();
        for role in roles.filter(|role| role.client() == Some(client_id)) {
            match self.remove_role(&role.name).await {
                Ok(()) | Err(PeopleError::NotFound | PeopleError::Declared) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Writes an attribute of the schema: as [`Realm::write_group`]. What accounts have of it stays
    /// as it is; a value that does not fit any more is not given out.
    ///
    /// # Errors
    /// See [`PeopleError`].
    pub async fn write_attribute(
        &self,
        attribute: &Attribute,
        read: Option<u64>,
    ) -> Result<Arc<Attribute>, PeopleError> {
        attribute.check()?;
        let name = &attribute.name;
        let wish = Wish::Attribute { attribute, read };
        self.change_people(RecordKind::Attribute, name, &wish)
            .await?;
        let snapshot = self.snapshot();
        let written = snapshot.registry.people.attributes.get(name).cloned();
        written.ok_or(PeopleError::Conflict)
    }

    /// Removes an attribute of the schema.
    ///
    /// # Errors
    /// See [`PeopleError`].
    pub async fn remove_attribute(&self, name: &str) -> Result<(), PeopleError> {
        self.change_people(RecordKind::Attribute, name, &Wish::Gone)
            .await
    }

    /// Writes an access rule: as [`Realm::write_group`]. Groups and clients that it names exist.
    ///
    /// # Errors
    /// See [`PeopleError`].
    pub async fn write_rule(
        &self,
        rule: &AccessRule,
        read: Option<u64>,
    ) -> Result<Arc<AccessRule>, PeopleError> {
        rule.check()?;
        check_classes(rule)?;
        for client in &rule.clients {
            self.learn(RecordKind::Client, client).await?;
            if !self.snapshot().registry.clients.contains_key(client) {
                return Err("clients: there is no client of this id".into());
            }
        }
        let name = &rule.name;
        self.learn(RecordKind::Rule, name).await?;
        self.change_people(RecordKind::Rule, name, &Wish::Rule { rule, read })
            .await?;
        let written = self.snapshot().registry.rules.get(name).cloned();
        written.ok_or(PeopleError::Conflict)
    }

    /// Removes an access rule.
    ///
    /// # Errors
    /// See [`PeopleError`].
    pub async fn remove_rule(&self, name: &str) -> Result<(), PeopleError> {
        self.change_people(RecordKind::Rule, name, &Wish::Gone)
            .await
    }

    /// What a wish comes to, on what was read after the census.
    async fn decide(
        &self,
        kind: RecordKind,
        name: &str,
        wish: &Wish<'_>,
        found: &Found,
    ) -> Decided {
        let stored = found.known.as_deref();
        match wish {
            Wish::Group { draft, id, read } => {
                let known = stored.map(people::read_group).transpose();
                let known = known.map_err(StoreError::Corrupt)?;
                expect_revision(known.as_ref().map(|group| group.revision), *read)?;
                if known.is_none() && found.census.groups >= MAX_GROUPS {
                    return Err("there are as many groups as there may be".into());
                }
                let roles = self.role_ids(&draft.roles).await?;
                let parent = draft.parent.as_deref();
                self.check_parent(name, parent, known.as_ref()).await?;
                let group = Group {
                    id: known.as_ref().map_or_else(|| id.clone(), |g| g.id.clone()),
                    name: name.to_owned(),
                    description: draft.description.clone(),
                    parent: draft.parent.clone(),
                    roles,
                    external_id: match &draft.external_id {
                        None => known.as_ref().and_then(|known| known.external_id.clone()),
                        Some(external) => Some(external.clone()).filter(|id| !id.is_empty()),
                    },
                    revision: known.map_or(0, |group| group.revision).saturating_add(1),
                };
                Ok(Some(people::write_group(&group)))
            }
            Wish::Role { role, read } => {
                let known = stored.map(people::read_role).transpose();
                let known = known.map_err(StoreError::Corrupt)?;
                expect_revision(known.as_ref().map(|role| role.revision), *read)?;
                if known.is_none() && found.census.roles >= MAX_ROLES {
                    return Err("there are as many roles as there may be".into());
                }
                let mut role = role.clone();
                if let Some(known) = known {
                    role.id = known.id;
                    role.revision = known.revision;
                }
                role.revision = role.revision.saturating_add(1);
                Ok(Some(people::write_role(&role)))
            }
            Wish::Attribute { attribute, read } => {
                let known = stored.map(people::read_attribute).transpose();
                let known = known.map_err(StoreError::Corrupt)?;
                expect_revision(known.as_ref().map(|one| one.revision), *read)?;
                if known.is_none() && found.census.attributes >= MAX_ATTRIBUTES {
                    return Err("the schema has as many attributes as it may have".into());
                }
                let mut attribute = Attribute::clone(attribute);
                attribute.revision = known.map_or(0, |one| one.revision).saturating_add(1);
                Ok(Some(people::write_attribute(&attribute)))
            }
            Wish::Rule { rule, read } => {
                let known = stored.map(read_rule).transpose();
                let known = known.map_err(StoreError::Corrupt)?;
                expect_revision(known.as_ref().map(|one| one.revision), *read)?;
                if known.is_none() && found.census.rules >= MAX_RULES {
                    return Err("there are as many access rules as there may be".into());
                }
                for group in rule.groups() {
                    if self.group_id(group).await?.is_none() {
                        return Err("groups: there is no group of this name".into());
                    }
                }
                let mut rule = AccessRule::clone(rule);
                rule.revision = known.map_or(0, |one| one.revision).saturating_add(1);
                Ok(Some(write_rule(&rule)))
            }
            Wish::Gone => {
                stored.ok_or(PeopleError::NotFound)?;
                if kind == RecordKind::Group {
                    let configuration = self.configuration();
                    let groups = people::load_groups(&*self.store, self.now()).await?;
                    if groups.iter().any(|g| g.parent.as_deref() == Some(name)) {
                        return Err(PeopleError::HasGroups);
                    }
                    // A rule that denies would go on without them.
                    let rules = people::load_rules(&*self.store, self.now()).await?;
                    let mut rules = rules.values().chain(configuration.declared.rules.values());
                    if rules.any(|rule| rule.groups().any(|group| group == name)) {
                        return Err(PeopleError::HasRules);
                    }
                }
                Ok(None)
            }
        }
    }

    /// The configuration's records win over stored ones of their names, and are not changed here.
    fn expect_undeclared(&self, kind: RecordKind, name: &str) -> Result<(), PeopleError> {
        let configuration = self.configuration();
        let declared = &configuration.declared.people;
        let is_declared = match kind {
            RecordKind::Group => declared.groups.contains_key(name),
            RecordKind::Role => declared.roles.contains_key(name),
            RecordKind::Attribute => declared.attributes.contains_key(name),
            RecordKind::Rule => configuration.declared.rules.contains_key(name),
            RecordKind::Client
            | RecordKind::Resource
            | RecordKind::Scope
            | RecordKind::Key
            | RecordKind::Revocation
            | RecordKind::Provider => false,
        };
        match is_declared {
            true => Err(PeopleError::Declared),
            false => Ok(()),
        }
    }

    /// The ids of roles, by whole names.
    async fn role_ids(&self, names: &[String]) -> Result<Vec<String>, PeopleError> {
        if names.len() > MAX_GROUP_ROLES {
            return Err("a group gives at most 64 roles".into());
        }
        let mut ids = Vec::with_capacity(names.len());
        for name in names {
            let id = self.role_id(name).await?;
            ids.push(id.ok_or("there is no such role")?);
        }
        ids.sort_unstable();
        ids.dedup();
        Ok(ids)
    }

    /// The id of a role, also of one that another node wrote a moment ago.
    ///
    /// # Errors
    /// The store's.
    pub async fn role_id(&self, name: &str) -> Result<Option<String>, StoreError> {
        self.learn(RecordKind::Role, name).await?;
        let snapshot = self.snapshot();
        let found = snapshot.registry.people.roles.get(name);
        Ok(found.map(|role| role.id.clone()))
    }

    /// The id of a group, also of one that another node wrote a moment ago.
    ///
    /// # Errors
    /// The store's.
    pub async fn group_id(&self, name: &str) -> Result<Option<String>, StoreError> {
        self.learn(RecordKind::Group, name).await?;
        let snapshot = self.snapshot();
        let found = snapshot.registry.people.groups.get(name);
        Ok(found.map(|group| group.id.clone()))
    }

    /// Whether a group may be in this parent. Read in the store, after the census: another node's
    /// change may not have come here yet.
    async fn check_parent(
        &self,
        name: &str,
        parent: Option<&str>,
        known: Option<&Group>,
    ) -> Result<(), PeopleError> {
        let Some(parent) = parent else { return Ok(()) };
        if known.is_some_and(|known| known.parent.as_deref() == Some(parent)) {
            return Ok(());
        }
        let stored = people::load_groups(&*self.store, self.now()).await?;
        let mut all: HashMap<&str, Option<&str>> = stored
            .iter()
            .map(|group| (group.name.as_str(), group.parent.as_deref()))
            .collect();
        let configuration = self.configuration();
        let declared = configuration.declared.people.groups.values();
        all.extend(declared.map(|group| (group.name.as_str(), group.parent.as_deref())));
        if !all.contains_key(parent) {
            return Err("there is no such parent".into());
        }
        all.insert(name, Some(parent));
        check_forest(&all, name)
    }

    /// Decides and commits one change, with the census as its condition.
    async fn change_people(
        &self,
        kind: RecordKind,
        name: &str,
        wish: &Wish<'_>,
    ) -> Result<(), PeopleError> {
        self.expect_undeclared(kind, name)?;
        let _one_after_another = self.registry_writes.lock().await;
        for _ in 0..MAX_TRIES {
            let begun = self.now();
            let census_row = self.store.get(&census_key(), begun).await?;
            let mut census = Census::read(census_row.as_ref())?;
            let row = self.store.get(&row_key(kind, name), begun).await?;
            let known = row.map(|row| row.value);
            let found = Found { known, census };
            let value = self.decide(kind, name, wish, &found).await?;
            let known = found.known.as_deref();
            if let Some(count) = census.of(kind) {
                match (known, &value) {
                    (None, Some(_)) => *count += 1,
                    (Some(_), None) => *count = count.saturating_sub(1),
                    (None, None) | (Some(_), Some(_)) => {}
                }
            }
            census.changes += 1;
            let noted = self
                .scribe
                .note(&*self.store, kind, name, known, value.as_deref(), begun)
                .await?;
            let told = self.scribe.rows(&noted, begun);
            let change = guarded(row_key(kind, name), census_row, census, value.clone(), told);
            if self.store.commit(change, begun).await?.is_done() {
                let delta = Delta::of_stored(kind, name, value.as_deref());
                let delta = delta.map_err(|_| StoreError::Corrupt("a record of people".into()))?;
                self.tell(noted, begun, || delta).await;
                return Ok(());
            }
            // Another node was faster; its word may not have come yet.
            self.learn(kind, name).await?;
        }
        Err(PeopleError::Conflict)
    }
}

/// The change: the census decides, and the record goes with it.
fn guarded(
    record: Key,
    census_row: Option<Row>,
    census: Census,
    value: Option<Vec<u8>>,
    told: Vec<Op>,
) -> Change {
    let (key, bytes) = (census_key(), census.to_bytes());
    let first = match census_row {
        None => Op::Insert {
            key,
            value: bytes,
            end: None,
        },
        Some(row) => Op::Replace {
            key,
            version: row.version,
            value: bytes,
            end: None,
        },
    };
    let record = match value {
        Some(value) => Op::Put {
            key: record,
            value,
            end: None,
        },
        None => Op::Delete { key: record },
    };
    let mut then = vec![record];
    then.extend(told);
    Change { first, then }
}

fn expect_revision(known: Option<u64>, read: Option<u64>) -> Result<(), PeopleError> {
    match (known, read) {
        (None, None) => Ok(()),
        (Some(known), Some(read)) if known == read => Ok(()),
        (Some(_), Some(_)) => Err(PeopleError::Conflict),
        (Some(_), None) => Err(PeopleError::Exists),
        (None, Some(_)) => Err(PeopleError::NotFound),
    }
}

/// Whether the groups are a forest with the changed one in its new place, and no way through it is
/// longer than it may be. `all`: each group's parent.
fn check_forest(all: &HashMap<&str, Option<&str>>, changed: &str) -> Result<(), PeopleError> {
    let up = |from: &str| {
        let mut way = 1;
        let mut next = all.get(from).copied().flatten();
        let mut meets = from == changed;
        while let Some(name) = next {
            way += 1;
            if name == from || way > MAX_GROUP_DEPTH + 1 {
                return (way, meets, name == from);
            }
            meets |= name == changed;
            next = all.get(name).copied().flatten();
        }
        (way, meets, false)
    };
    if up(changed).2 {
        return Err(PeopleError::Circle);
    }
    for name in all.keys() {
        let (way, meets, _) = up(name);
        if meets && way > MAX_GROUP_DEPTH {
            return Err("groups may be 8 deep".into());
        }
    }
    Ok(())
}

/// The names of what ids name, for people: what is gone is left out.
pub fn names<'a, T: 'a>(
    ids: &'a [String],
    find: impl Fn(&str) -> Option<&'a Arc<T>>,
    name: impl Fn(&T) -> &str,
) -> Vec<String> {
    let found = ids.iter().filter_map(|id| find(id));
    let mut names: Vec<String> = found.map(|one| name(one).to_owned()).collect();
    names.sort_unstable();
    names
}

/// Names of the groups of these ids.
pub fn group_names(people: &People, ids: &[String]) -> Vec<String> {
    names(ids, |id| people.group_of_id(id), |group| &group.name)
}

/// Whole names of the roles of these ids.
pub fn role_names(people: &People, ids: &[String]) -> Vec<String> {
    names(ids, |id| people.role_of_id(id), |role| &role.name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// What follows the rules one change at a time.
    fn accepts(parents: &mut HashMap<String, Option<String>>, name: &str, parent: &str) -> bool {
        let mut all: HashMap<&str, Option<&str>> = parents
            .iter()
            .map(|(name, parent)| (name.as_str(), parent.as_deref()))
            .collect();
        all.insert(name, Some(parent));
        let fits = check_forest(&all, name).is_ok();
        if fits {
            parents.insert(name.to_owned(), Some(parent.to_owned()));
        }
        fits
    }

    proptest! {
        /// Whatever is tried in whatever order: no group is ever inside itself, and none is deeper
        /// than it may be.
        #[test]
        fn no_order_of_changes_makes_a_circle(moves in proptest::collection::vec((0..14_u8, 0..14_u8), 0..200)) {
            let mut parents: HashMap<String, Option<String>> =
                (0..14).map(|i: u8| (i.to_string(), None)).collect();
            for (name, parent) in moves {
                accepts(&mut parents, &name.to_string(), &parent.to_string());
                for start in parents.keys() {
                    let mut steps = 1;
                    let mut next = parents[start].as_ref();
                    while let Some(name) = next {
                        steps += 1;
                        prop_assert!(steps <= MAX_GROUP_DEPTH, "{start} is too deep, or in itself");
                        next = parents[name].as_ref();
                    }
                }
            }
        }
    }

    #[test]
    fn a_group_goes_into_no_group_that_is_inside_it() {
        let mut parents: HashMap<String, Option<String>> = ["a", "b", "c"]
            .iter()
            .map(|n| ((*n).to_owned(), None))
            .collect();
        assert!(!accepts(&mut parents, "a", "a"));
        assert!(accepts(&mut parents, "b", "a"));
        assert!(accepts(&mut parents, "c", "b"));
        assert!(!accepts(&mut parents, "a", "c"));
        assert!(!accepts(&mut parents, "a", "b"));
    }

    #[test]
    fn a_group_with_others_in_it_goes_no_deeper_than_they_may_be() {
        let names: Vec<String> = (0..9).map(|i| i.to_string()).collect();
        let mut parents: HashMap<String, Option<String>> =
            names.iter().map(|name| (name.clone(), None)).collect();
        // Two chains of four and five.
        for pair in [(1, 0), (2, 1), (3, 2), (5, 4), (6, 5), (7, 6), (8, 7)] {
            assert!(accepts(&mut parents, &names[pair.0], &names[pair.1]));
        }
        assert!(!accepts(&mut parents, "4", "3"), "nine deep");
        assert!(accepts(&mut parents, "4", "2"), "eight deep");
    }
}
