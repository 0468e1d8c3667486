//! Groups of people, by name.
use crate::record_kind::{InRegistry, KindRow, Most, RecordKind, Rows, Rule, Stored};
use serde::{Deserialize, Serialize};
use signet_oauth::people::{Group, MAX_GROUPS};
use signet_oauth::registry::Registry;
use std::sync::Arc;

pub(super) const ROW: KindRow = KindRow {
    kind: RecordKind::Group,
    number: 24,
    what: "groups",
    rows: Rows::Listed(b"group"),
    rule: |member| match member {
        "roles" => Rule::RemoveWins,
        _ => Rule::LastWriter,
    },
    registry: Some(InRegistry::of::<Group>()),
};

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

impl Stored for Group {
    const ROW: &'static KindRow = &ROW;
    const MOST: Option<Most> = Some(Most {
        records: MAX_GROUPS,
        full: "there are as many groups as there may be",
    });
    const COUNTED: Option<&str> = Some("groups");

    fn name(&self) -> &str {
        &self.name
    }
    fn revision(&self) -> Option<u64> {
        Some(self.revision)
    }
    fn set_revision(&mut self, revision: u64) {
        self.revision = revision;
    }
    fn write(&self) -> Vec<u8> {
        let stored = StoredGroup {
            id: self.id.clone(),
            name: self.name.clone(),
            description: self.description.clone(),
            parent: self.parent.clone(),
            roles: self.roles.clone(),
            external_id: self.external_id.clone(),
            revision: self.revision,
        };
        // Invariant: strings, numbers and lists of them always serialize.
        serde_json::to_vec(&stored).expect("a group serializes")
    }
    fn read(bytes: &[u8]) -> Result<Group, String> {
        let stored: StoredGroup =
            serde_json::from_slice(bytes).map_err(|e| format!("a group: {e}"))?;
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
    fn get(registry: &Registry, name: &str) -> Option<Arc<Group>> {
        registry.people.groups.get(name).cloned()
    }
    fn set(registry: &mut Registry, name: &str, record: Option<Arc<Group>>) {
        let people = Arc::make_mut(&mut registry.people);
        match record {
            Some(group) => people.put_group(group),
            None => people.forget_group(name),
        }
    }
    fn names(registry: &Registry) -> Vec<String> {
        registry.people.groups.keys().cloned().collect()
    }
}
