//! Groups, roles, the schema of attributes and access rules: what must be true of them.
use crate::records::write::{Before, Next, RecordError};
use crate::state::Realm;
use signet_encoding::base64url;
use signet_oauth::people::access_rules::AccessRule;
use signet_oauth::people::{
    Attribute, Group, MAX_GROUP_ROLES, People, Role, check_description, check_group_name,
    check_role_name,
};
use signet_registry::forest::{ForestFault, check_forest};
use signet_registry::kinds::RecordKind;
use signet_registry::load;
use signet_registry::rules::check_classes;
use signet_store::StoreError;
use std::{collections::HashMap, sync::Arc};

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

/// A group as it is wanted, under this name and, where it is new, this id.
struct WantedGroup<'a> {
    name: &'a str,
    id: String,
    draft: &'a GroupDraft,
}

impl Next<Group> for WantedGroup<'_> {
    async fn next(
        &self,
        realm: &Realm,
        known: Option<&Group>,
    ) -> Result<Option<Group>, RecordError> {
        let WantedGroup { name, id, draft } = self;
        let roles = realm.role_ids(&draft.roles).await?;
        let parent = draft.parent.as_deref();
        realm.check_parent(name, parent, known).await?;
        Ok(Some(Group {
            id: known.map_or(id, |known| &known.id).clone(),
            name: (*name).to_owned(),
            description: draft.description.clone(),
            parent: draft.parent.clone(),
            roles,
            external_id: match &draft.external_id {
                None => known.and_then(|known| known.external_id.clone()),
                Some(external) => Some(external.clone()).filter(|id| !id.is_empty()),
            },
            revision: 0,
        }))
    }
}

/// A group goes that has no others in it and that no access rule names.
struct GroupGone<'a>(&'a str);

impl Next<Group> for GroupGone<'_> {
    async fn next(&self, realm: &Realm, _: Option<&Group>) -> Result<Option<Group>, RecordError> {
        let (name, now) = (self.0, realm.now());
        let groups = load::all::<Group>(&*realm.store, now).await?;
        if groups.iter().any(|g| g.parent.as_deref() == Some(name)) {
            return Err(IN_GROUPS);
        }
        // A rule that denies would go on without them.
        let rules = load::all::<AccessRule>(&*realm.store, now).await?;
        let configuration = realm.configuration();
        let declared = configuration.declared.rules.values().map(|rule| &**rule);
        if rules
            .iter()
            .chain(declared)
            .any(|rule| rule.groups().any(|group| group == name))
        {
            return Err(IN_RULES);
        }
        Ok(None)
    }
}

/// A role as it is wanted; one that there is keeps its id.
struct WantedRole(Role);

impl Next<Role> for WantedRole {
    async fn next(&self, _: &Realm, known: Option<&Role>) -> Result<Option<Role>, RecordError> {
        let mut role = self.0.clone();
        if let Some(known) = known {
            role.id.clone_from(&known.id);
        }
        Ok(Some(role))
    }
}

/// An access rule as it is wanted: the groups that it names exist.
struct WantedRule<'a>(&'a AccessRule);

impl Next<AccessRule> for WantedRule<'_> {
    async fn next(
        &self,
        realm: &Realm,
        _: Option<&AccessRule>,
    ) -> Result<Option<AccessRule>, RecordError> {
        for group in self.0.groups() {
            if realm.group_id(group).await?.is_none() {
                return Err("groups: there is no group of this name".into());
            }
        }
        Ok(Some(self.0.clone()))
    }
}

const CIRCLE: RecordError = RecordError::Refused {
    code: "circle",
    why: "a group cannot be inside itself: this parent is in it",
};
const IN_GROUPS: RecordError = RecordError::Refused {
    code: "in_use",
    why: "there are groups in this group: remove them first, or move them",
};
const IN_RULES: RecordError = RecordError::Refused {
    code: "in_use",
    why: "access rules name this group: change or remove them first",
};

impl Realm {
    /// Writes a group: `read` is the revision that it replaces, none if it must not exist yet.
    ///
    /// # Errors
    /// See [`RecordError`].
    pub async fn write_group(
        &self,
        name: &str,
        draft: &GroupDraft,
        read: Option<u64>,
    ) -> Result<Arc<Group>, RecordError> {
        check_group_name(name)?;
        check_description(draft.description.as_deref())?;
        let id = new_id();
        let wanted = WantedGroup { name, id, draft };
        let written = self
            .change_record(name, Before::read(read), &wanted)
            .await?;
        written.ok_or(RecordError::Conflict)
    }

    /// Removes a group that has no others in it.
    ///
    /// # Errors
    /// See [`RecordError`].
    pub async fn remove_group(&self, name: &str) -> Result<(), RecordError> {
        let next = GroupGone(name);
        let gone = self.change_record(name, Before::Anything, &next);
        gone.await.map(drop)
    }

    /// Writes a role: as [`Realm::write_group`]. A role of a client needs the client.
    ///
    /// # Errors
    /// See [`RecordError`].
    pub async fn write_role(
        &self,
        name: &str,
        description: Option<String>,
        read: Option<u64>,
    ) -> Result<Arc<Role>, RecordError> {
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
        let wanted = WantedRole(role);
        let written = self
            .change_record(name, Before::read(read), &wanted)
            .await?;
        written.ok_or(RecordError::Conflict)
    }

    /// Removes every role of a client that is gone, so that none of them is there for another
    /// client of its id.
    ///
    /// # Errors
    /// The store's, and where others keep writing.
    pub async fn remove_roles_of(&self, client_id: &str) -> Result<(), RecordError> {
        let snapshot = self.snapshot();
        let roles = snapshot.registry.people.roles.values();
        for role in roles.filter(|role| role.client() == Some(client_id)) {
            match self.remove_record::<Role>(&role.name, None).await {
                Ok(()) | Err(RecordError::NotFound | RecordError::Declared) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Writes an attribute of the schema: as [`Realm::write_group`]. What accounts have of it stays
    /// as it is; a value that does not fit any more is not given out.
    ///
    /// # Errors
    /// See [`RecordError`].
    pub async fn write_attribute(
        &self,
        attribute: Attribute,
        read: Option<u64>,
    ) -> Result<Arc<Attribute>, RecordError> {
        attribute.check()?;
        self.write_record(attribute, read).await
    }

    /// Writes an access rule: as [`Realm::write_group`]. Groups and clients that it names exist.
    ///
    /// # Errors
    /// See [`RecordError`].
    pub async fn write_rule(
        &self,
        rule: &AccessRule,
        read: Option<u64>,
    ) -> Result<Arc<AccessRule>, RecordError> {
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
        let wanted = WantedRule(rule);
        let written = self
            .change_record(name, Before::read(read), &wanted)
            .await?;
        written.ok_or(RecordError::Conflict)
    }

    /// The ids of roles, by whole names.
    async fn role_ids(&self, names: &[String]) -> Result<Vec<String>, RecordError> {
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
    ) -> Result<(), RecordError> {
        let Some(parent) = parent else { return Ok(()) };
        if known.is_some_and(|known| known.parent.as_deref() == Some(parent)) {
            return Ok(());
        }
        let stored = load::all::<Group>(&*self.store, self.now()).await?;
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
        check_forest(&all, name).map_err(|fault| match fault {
            ForestFault::Circle => CIRCLE,
            ForestFault::TooDeep => "groups may be 8 deep".into(),
        })
    }
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
