//! What a record's tables make of what a provider says of a person.
use std::collections::BTreeMap;

use crate::upstream::Person;
use signet_directory::{Profile, StoredAttribute, User, Value};
use signet_oauth::people::MAX_ATTRIBUTES;
use signet_oauth::people::provider::Provider;

use crate::profile;

/// What tables make of claims.
pub struct Mapped {
    profile: Vec<(String, String)>,
    attributes: Vec<(String, Value)>,
    /// Names of groups.
    pub groups: Vec<String>,
}

impl Mapped {
    /// What the record's tables make of what was said of a person. `schema`: an attribute by its
    /// name.
    pub fn of(
        provider: &Provider,
        person: &Person,
        schema: impl Fn(&str) -> Option<std::sync::Arc<signet_oauth::people::Attribute>>,
    ) -> Mapped {
        let mut mapped = Mapped {
            profile: Vec::new(),
            attributes: Vec::new(),
            groups: Vec::new(),
        };
        for row in &provider.claims {
            let Some(value) = crate::upstream::claim(&person.claims, &row.claim) else {
                continue;
            };
            if profile::NAMES.contains(&&*row.to) {
                if let Some(text) = value.as_str() {
                    mapped.profile.push((row.to.clone(), text.to_owned()));
                }
                continue;
            }
            let Ok(value) = serde_json::from_value::<Value>(value.clone()) else {
                continue;
            };
            let fits = schema(&row.to)
                .is_some_and(|attribute| attribute.accepts(&value.to_attribute()).is_ok());
            if fits {
                mapped.attributes.push((row.to.clone(), value));
            }
        }
        for row in &provider.groups {
            let value = crate::upstream::claim(&person.claims, &row.claim);
            let values: Vec<&str> = match value {
                Some(serde_json::Value::String(one)) => vec![one],
                Some(serde_json::Value::Array(list)) => {
                    list.iter().filter_map(serde_json::Value::as_str).collect()
                }
                Some(_) | None => Vec::new(),
            };
            match &row.group {
                Some(group) if values.contains(&&*row.value) => mapped.groups.push(group.clone()),
                Some(_) => {}
                None => {
                    let named = values
                        .iter()
                        .filter(|name| signet_oauth::people::check_group_name(name).is_ok());
                    mapped.groups.extend(named.map(|name| (*name).to_owned()));
                }
            }
        }
        mapped.groups.sort_unstable();
        mapped.groups.dedup();
        mapped.groups.truncate(signet_directory::MAX_USER_GROUPS);
        mapped
    }

    /// Puts it into an account. `until`: Unix seconds from which the groups count no more, unless
    /// they are named again.
    pub fn put(&self, user: &mut User, until: u64) {
        self.put_profile(&mut user.profile);
        self.put_attributes(&mut user.attributes);
        user.groups_outside.clone_from(&self.groups);
        user.groups_outside_until = (!self.groups.is_empty()).then_some(until);
    }

    /// Puts what it says of the profile into one.
    pub fn put_profile(&self, into: &mut Profile) {
        for (name, text) in &self.profile {
            profile::set(into, name, text);
        }
    }

    /// Puts what it says of attributes among those of an account.
    pub fn put_attributes(&self, into: &mut BTreeMap<String, StoredAttribute>) {
        for (name, value) in &self.attributes {
            if into.len() < MAX_ATTRIBUTES || into.contains_key(name) {
                let stored = StoredAttribute {
                    value: value.clone(),
                    verified: true,
                };
                into.insert(name.clone(), stored);
            }
        }
    }
}
