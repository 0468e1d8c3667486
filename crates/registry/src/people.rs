//! Groups, roles, the schema of attributes and access rules: their rows in the store.
//!
//! Each kind is listed in a partition of [`Table::Setting`]. A change of any of them has one more
//! row as its condition, the census ([`census_key`]): so changes of them come one after another,
//! whichever node makes them, and what is true of all of them together (no circle of groups, no
//! more of them than may be) is decided by one atomic change.
use crate::{kinds::RecordKind, rules};
use serde::{Deserialize, Serialize};
use signet_oauth::people::access_rules::Rules;
use signet_oauth::people::{Attribute, AttributeType, Group, People, Role, Who};
use signet_store::{Key, Row, Store, StoreError, Table};
use std::sync::Arc;

const PAGE: usize = 256;

/// The kinds that are listed here.
pub const KINDS: [RecordKind; 4] = [
    RecordKind::Attribute,
    RecordKind::Role,
    RecordKind::Group,
    RecordKind::Rule,
];

fn partition(kind: RecordKind) -> &'static [u8] {
    match kind {
        RecordKind::Group => b"group",
        RecordKind::Role => b"role",
        RecordKind::Attribute => b"attribute",
        RecordKind::Rule => b"rule",
        RecordKind::Client
        | RecordKind::Resource
        | RecordKind::Scope
        | RecordKind::Key
        | RecordKind::Revocation
        | RecordKind::Provider => b"other",
    }
}

/// The row of a record of one of these kinds.
pub fn key(kind: RecordKind, name: &str) -> Key {
    Key::with_sort(Table::Setting, partition(kind), name)
}

/// The row that every change of these kinds has as its condition.
pub fn census_key() -> Key {
    Key::new(Table::Setting, b"people")
}

/// How many records there are of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Census {
    /// Of attributes.
    pub attributes: usize,
    /// Of roles.
    pub roles: usize,
    /// Of groups.
    pub groups: usize,
    /// Of access rules.
    #[serde(default)]
    pub rules: usize,
    /// Grows with every change.
    pub changes: u64,
}

impl Census {
    /// Reads its row; there is none before the first change.
    ///
    /// # Errors
    /// A row that cannot be read.
    pub fn read(row: Option<&Row>) -> Result<Census, StoreError> {
        let Some(row) = row else {
            return Ok(Census::default());
        };
        let read = serde_json::from_slice(&row.value);
        read.map_err(|_| StoreError::Corrupt("the census of groups and roles".into()))
    }

    /// Its row.
    pub fn to_bytes(self) -> Vec<u8> {
        // Invariant: a struct of numbers always serializes.
        serde_json::to_vec(&self).unwrap_or_default()
    }

    /// The number of records of a kind.
    pub fn of(&mut self, kind: RecordKind) -> Option<&mut usize> {
        match kind {
            RecordKind::Group => Some(&mut self.groups),
            RecordKind::Role => Some(&mut self.roles),
            RecordKind::Attribute => Some(&mut self.attributes),
            RecordKind::Rule => Some(&mut self.rules),
            RecordKind::Client
            | RecordKind::Resource
            | RecordKind::Scope
            | RecordKind::Key
            | RecordKind::Revocation
            | RecordKind::Provider => None,
        }
    }
}

/// The stored records of a kind, by name, as bytes.
///
/// # Errors
/// The store's.
pub async fn rows(
    store: &dyn Store,
    kind: RecordKind,
    now: u64,
) -> Result<Vec<(String, Vec<u8>)>, StoreError> {
    let mut found: Vec<(String, Vec<u8>)> = Vec::new();
    loop {
        let after = found
            .last()
            .map(|(name, _)| name.clone())
            .unwrap_or_default();
        let page = store.partition(Table::Setting, partition(kind), after.as_bytes(), PAGE, now);
        let page = page.await?;
        let last = page.len() < PAGE;
        for (key, row) in page {
            let name = String::from_utf8(key.sort);
            let name = name.map_err(|_| StoreError::Corrupt("a record's name".into()))?;
            found.push((name, row.value));
        }
        if last {
            return Ok(found);
        }
    }
}

/// Everything that the store has of these kinds.
///
/// # Errors
/// The store's; also a row that is no record.
pub async fn load(store: &dyn Store, now: u64) -> Result<People, StoreError> {
    let mut people = People::default();
    for (_, value) in rows(store, RecordKind::Attribute, now).await? {
        let attribute = Arc::new(read_attribute(&value).map_err(StoreError::Corrupt)?);
        people.attributes.insert(attribute.name.clone(), attribute);
    }
    for (_, value) in rows(store, RecordKind::Role, now).await? {
        people.put_role(Arc::new(read_role(&value).map_err(StoreError::Corrupt)?));
    }
    for group in load_groups(store, now).await? {
        people.put_group(Arc::new(group));
    }
    Ok(people)
}

/// The stored access rules.
///
/// # Errors
/// The store's; also a row that is no record.
pub async fn load_rules(store: &dyn Store, now: u64) -> Result<Rules, StoreError> {
    let mut found = Rules::new();
    for (name, value) in rows(store, RecordKind::Rule, now).await? {
        let rule = rules::read_rule(&value).map_err(StoreError::Corrupt)?;
        found.insert(name, Arc::new(rule));
    }
    Ok(found)
}

/// The stored groups.
///
/// # Errors
/// The store's; also a row that is no record.
pub async fn load_groups(store: &dyn Store, now: u64) -> Result<Vec<Group>, StoreError> {
    let rows = rows(store, RecordKind::Group, now).await?;
    rows.iter()
        .map(|(_, value)| read_group(value).map_err(StoreError::Corrupt))
        .collect()
}

#[derive(Serialize, Deserialize)]
struct StoredGroup {
    id: String,
    name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    parent: Option<String>,
    #[serde(default)]
    roles: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    external_id: Option<String>,
    revision: u64,
}

#[derive(Serialize, Deserialize)]
struct StoredRole {
    id: String,
    name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    revision: u64,
}

#[derive(Serialize, Deserialize)]
struct StoredAttribute {
    name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    label: Option<String>,
    #[serde(rename = "type")]
    kind: String,
    read: String,
    write: String,
    #[serde(default)]
    verified: bool,
    max_bytes: usize,
    max_items: usize,
    revision: u64,
}

/// The record of a group.
pub fn write_group(group: &Group) -> Vec<u8> {
    let stored = StoredGroup {
        id: group.id.clone(),
        name: group.name.clone(),
        description: group.description.clone(),
        parent: group.parent.clone(),
        roles: group.roles.clone(),
        external_id: group.external_id.clone(),
        revision: group.revision,
    };
    // Invariant: strings, numbers and lists of them always serialize.
    serde_json::to_vec(&stored).expect("a group serializes")
}

/// Reads the record of a group.
///
/// # Errors
/// What is wrong with it, for the log.
pub fn read_group(bytes: &[u8]) -> Result<Group, String> {
    let stored: StoredGroup = serde_json::from_slice(bytes).map_err(|e| format!("a group: {e}"))?;
    Ok(Group {
        id: stored.id,
        name: stored.name,
        description: stored.description,
        parent: stored.parent,
        roles: stored.roles,
        external_id: stored.external_id,
        revision: stored.revision,
    })
}

/// The record of a role.
pub fn write_role(role: &Role) -> Vec<u8> {
    let stored = StoredRole {
        id: role.id.clone(),
        name: role.name.clone(),
        description: role.description.clone(),
        revision: role.revision,
    };
    // Invariant: strings and a number always serialize.
    serde_json::to_vec(&stored).expect("a role serializes")
}

/// Reads the record of a role.
///
/// # Errors
/// What is wrong with it, for the log.
pub fn read_role(bytes: &[u8]) -> Result<Role, String> {
    let stored: StoredRole = serde_json::from_slice(bytes).map_err(|e| format!("a role: {e}"))?;
    Ok(Role {
        id: stored.id,
        name: stored.name,
        description: stored.description,
        revision: stored.revision,
    })
}

/// The record of an attribute.
pub fn write_attribute(attribute: &Attribute) -> Vec<u8> {
    let stored = StoredAttribute {
        name: attribute.name.clone(),
        label: attribute.label.clone(),
        kind: attribute.kind.as_str().to_owned(),
        read: attribute.read.as_str().to_owned(),
        write: attribute.write.as_str().to_owned(),
        verified: attribute.verified,
        max_bytes: attribute.max_bytes,
        max_items: attribute.max_items,
        revision: attribute.revision,
    };
    // Invariant: strings, numbers and booleans always serialize.
    serde_json::to_vec(&stored).expect("an attribute serializes")
}

/// Reads the record of an attribute.
///
/// # Errors
/// What is wrong with it, for the log.
pub fn read_attribute(bytes: &[u8]) -> Result<Attribute, String> {
    let corrupt = |what: &str| format!("an attribute: {what}");
    let stored: StoredAttribute =
        serde_json::from_slice(bytes).map_err(|e| corrupt(&e.to_string()))?;
    let who = |name: &str| Who::from_name(name).ok_or_else(|| corrupt(name));
    Ok(Attribute {
        kind: AttributeType::from_name(&stored.kind).ok_or_else(|| corrupt(&stored.kind))?,
        read: who(&stored.read)?,
        write: who(&stored.write)?,
        name: stored.name,
        label: stored.label,
        verified: stored.verified,
        max_bytes: stored.max_bytes,
        max_items: stored.max_items,
        revision: stored.revision,
    })
}
