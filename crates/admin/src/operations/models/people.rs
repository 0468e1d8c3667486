//! Groups, roles and attributes as they go over the wire.
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use signet_directory::Value;
use signet_oauth::people::{Attribute, AttributeType, Group, People, Role, Who};
use signet_operation::problem::Problem;
use signet_realm::records::groups;
use std::collections::BTreeMap;

/// A group.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Group")]
pub(crate) struct GroupDocument {
    pub(crate) name: String,
    pub(crate) revision: u64,
    /// What accounts name it by; another group of its name has another.
    pub(crate) id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) description: Option<String>,
    /// The group that everybody in this one is in, too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) parent: Option<String>,
    /// Whole names of the roles that everybody in it has.
    pub(crate) roles: Vec<String>,
}

impl GroupDocument {
    pub(crate) fn new(group: &Group, people: &People) -> GroupDocument {
        GroupDocument {
            name: group.name.clone(),
            revision: group.revision,
            id: group.id.clone(),
            description: group.description.clone(),
            parent: group.parent.clone(),
            roles: groups::role_names(people, &group.roles),
        }
    }
}

/// What of a group can be written. What was shown can be written back: name, id and revision are
/// read-only.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct GroupChange {
    /// Read-only.
    pub(crate) name: Option<String>,
    /// Read-only.
    #[serde(rename = "revision")]
    _revision: Option<u64>,
    /// Read-only.
    #[serde(rename = "id")]
    _id: Option<String>,
    pub(crate) description: Option<String>,
    /// The name of the group that it is in.
    pub(crate) parent: Option<String>,
    /// Whole names of roles: `NAME`, or `CLIENT_ID/NAME`.
    pub(crate) roles: Vec<String>,
}

/// A role.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Role")]
pub(crate) struct RoleDocument {
    /// `NAME` of the realm, `CLIENT_ID/NAME` of a client.
    pub(crate) name: String,
    pub(crate) revision: u64,
    /// What accounts and groups name it by.
    pub(crate) id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) client_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) description: Option<String>,
}

impl RoleDocument {
    pub(crate) fn new(role: &Role) -> RoleDocument {
        RoleDocument {
            name: role.name.clone(),
            revision: role.revision,
            id: role.id.clone(),
            client_id: role.client().map(str::to_owned),
            description: role.description.clone(),
        }
    }
}

/// What of a role can be written.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct RoleChange {
    /// Read-only.
    pub(crate) name: Option<String>,
    /// Read-only.
    #[serde(rename = "revision")]
    _revision: Option<u64>,
    /// Read-only.
    #[serde(rename = "id")]
    _id: Option<String>,
    /// Read-only.
    #[serde(rename = "client_id")]
    _client_id: Option<String>,
    pub(crate) description: Option<String>,
}

/// An attribute of the people's schema.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Attribute")]
pub(crate) struct AttributeDocument {
    pub(crate) name: String,
    pub(crate) revision: u64,
    /// What the account page calls it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) label: Option<String>,
    /// `string`, `number`, `boolean` or `list`
    #[serde(rename = "type")]
    pub(crate) kind: &'static str,
    /// Who sees it here: `person`, `administrator` or `nobody`
    pub(crate) read: &'static str,
    /// Who writes it: `person`, `administrator` or `nobody`
    pub(crate) write: &'static str,
    /// Only a value that an administrator or a directory vouches for becomes a claim.
    pub(crate) verified: bool,
    /// The longest text, in bytes.
    pub(crate) max_bytes: usize,
    /// Most texts of a list.
    pub(crate) max_items: usize,
}

impl AttributeDocument {
    pub(crate) fn new(attribute: &Attribute) -> AttributeDocument {
        AttributeDocument {
            name: attribute.name.clone(),
            revision: attribute.revision,
            label: attribute.label.clone(),
            kind: attribute.kind.as_str(),
            read: attribute.read.as_str(),
            write: attribute.write.as_str(),
            verified: attribute.verified,
            max_bytes: attribute.max_bytes,
            max_items: attribute.max_items,
        }
    }
}

/// What of an attribute can be written. What is left out is at its default.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct AttributeChange {
    /// Read-only.
    pub(crate) name: Option<String>,
    /// Read-only.
    #[serde(rename = "revision")]
    _revision: Option<u64>,
    label: Option<String>,
    /// `string` (the default), `number`, `boolean` or `list`
    #[serde(rename = "type")]
    kind: Option<String>,
    /// `person`, `administrator` (the default) or `nobody`
    read: Option<String>,
    /// `person`, `administrator` (the default) or `nobody`
    write: Option<String>,
    verified: bool,
    /// 256 unless given.
    max_bytes: Option<usize>,
    /// 16 unless given.
    max_items: Option<usize>,
}

impl AttributeChange {
    pub(crate) fn attribute(self, name: String) -> Result<Attribute, Problem> {
        let who = |said: Option<&str>| match said {
            None => Ok(Who::Administrator),
            Some(said) => Who::from_name(said).ok_or_else(|| {
                Problem::invalid("who reads and writes is person, administrator or nobody")
            }),
        };
        let mut attribute = Attribute::new(name);
        if let Some(kind) = self.kind.as_deref() {
            attribute.kind = AttributeType::from_name(kind)
                .ok_or_else(|| Problem::invalid("type is string, number, boolean or list"))?;
        }
        attribute.read = who(self.read.as_deref())?;
        attribute.write = who(self.write.as_deref())?;
        attribute.label = self.label;
        attribute.verified = self.verified;
        attribute.max_bytes = self.max_bytes.unwrap_or(attribute.max_bytes);
        attribute.max_items = self.max_items.unwrap_or(attribute.max_items);
        Ok(attribute)
    }
}

/// Attributes of a user to write; null takes one away. Others stay as they are.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AttributesChange {
    pub(crate) attributes: BTreeMap<String, Option<Value>>,
    /// Whether these values are vouched for.
    #[serde(default = "yes")]
    pub(crate) verified: bool,
}

fn yes() -> bool {
    true
}
