//! A user as a directory declares one.
use crate::operations::model::UserDocument;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as JsonValue};
use signet_directory::{Profile, Value};
use signet_operation::roles::OWNER;
use std::collections::BTreeMap;

/// The kind whose objects are accounts.
pub(crate) const USER: &str = "user";

/// Whether a kind is that of accounts.
pub(super) fn is_user(kind: &str) -> bool {
    kind == USER
}

/// A user as a directory declares one. The password is the first one, of an account that is made;
/// afterwards it is the person's own.
#[derive(Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Person {
    pub(super) username: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) email: Option<String>,
    /// The address is known to be theirs.
    #[serde(default)]
    pub(super) email_verified: bool,
    /// May administer.
    #[serde(default)]
    pub(super) admin: bool,
    /// Roles of administrators. Left out: `owner`, where `admin` is true.
    #[serde(default, skip_serializing_if = "is_implied")]
    pub(super) admin_roles: Vec<String>,
    /// True unless given.
    #[serde(default = "yes")]
    pub(super) enabled: bool,
    /// Unix seconds from which the account is as a disabled one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) expires_at: Option<u64>,
    #[serde(default, skip_serializing_if = "is_empty_profile")]
    pub(super) profile: Profile,
    /// Names of groups.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) groups: Vec<String>,
    /// Whole names of roles.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) roles: Vec<String>,
    /// By the schema.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) attributes: BTreeMap<String, Value>,
}

fn yes() -> bool {
    true
}

/// Whether `admin` says it.
fn is_implied(roles: &Vec<String>) -> bool {
    roles.is_empty() || *roles == [OWNER]
}

fn is_empty_profile(profile: &Profile) -> bool {
    *profile == Profile::default()
}

impl Person {
    pub(super) fn of(document: UserDocument) -> Person {
        let mut person = Person {
            username: document.username,
            email: document.email,
            email_verified: document.email_verified,
            admin: document.admin,
            admin_roles: document.admin_roles,
            enabled: document.enabled,
            expires_at: document.expires_at,
            profile: document.profile,
            groups: document.groups,
            roles: document.roles,
            attributes: document.attributes,
        };
        person.sort();
        person
    }

    pub(super) fn sort(&mut self) {
        if self.admin && self.admin_roles.is_empty() {
            self.admin_roles.push(OWNER.to_owned());
        }
        self.admin = !self.admin_roles.is_empty();
        for list in [&mut self.groups, &mut self.roles, &mut self.admin_roles] {
            list.sort_unstable();
            list.dedup();
        }
        // The login goes without an address that could be somebody's.
        self.email_verified &= self.email.is_some();
    }

    pub(super) fn members(&self) -> Map<String, JsonValue> {
        match serde_json::to_value(self) {
            Ok(JsonValue::Object(members)) => members,
            // A struct of strings, numbers and lists always serializes as an object.
            Ok(_) | Err(_) => Map::new(),
        }
    }
}
