//! Roles, of the realm and of clients, by their whole names.
use crate::record_kind::{InRegistry, KindRow, Most, RecordKind, Rows, Stored, last_writer};
use serde::{Deserialize, Serialize};
use signet_oauth::people::{MAX_ROLES, Role};
use signet_oauth::registry::Registry;
use std::sync::Arc;

pub(super) const ROW: KindRow = KindRow {
    kind: RecordKind::Role,
    number: 25,
    what: "roles",
    rows: Rows::Listed(b"role"),
    rule: last_writer,
    registry: Some(InRegistry::of::<Role>()),
};

#[derive(Serialize, Deserialize)]
struct StoredRole {
    id: String,
    name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    revision: u64,
}

impl Stored for Role {
    const ROW: &'static KindRow = &ROW;
    const MOST: Option<Most> = Some(Most {
        records: MAX_ROLES,
        full: "there are as many roles as there may be",
    });
    const COUNTED: Option<&str> = Some("roles");

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
        let stored = StoredRole {
            id: self.id.clone(),
            name: self.name.clone(),
            description: self.description.clone(),
            revision: self.revision,
        };
        // Invariant: strings and a number always serialize.
        serde_json::to_vec(&stored).expect("a role serializes")
    }
    fn read(bytes: &[u8]) -> Result<Role, String> {
        let stored: StoredRole =
            serde_json::from_slice(bytes).map_err(|e| format!("a role: {e}"))?;
        Ok(Role {
            id: stored.id,
            name: stored.name,
            description: stored.description,
            revision: stored.revision,
        })
    }
    fn get(registry: &Registry, name: &str) -> Option<Arc<Role>> {
        registry.people.roles.get(name).cloned()
    }
    fn set(registry: &mut Registry, name: &str, record: Option<Arc<Role>>) {
        let people = Arc::make_mut(&mut registry.people);
        match record {
            Some(role) => people.put_role(role),
            None => people.forget_role(name),
        }
    }
    fn names(registry: &Registry) -> Vec<String> {
        registry.people.roles.keys().cloned().collect()
    }
}
