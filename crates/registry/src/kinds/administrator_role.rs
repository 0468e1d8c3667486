//! Roles of administrators that a realm makes, by their names.
use crate::record_kind::{InRegistry, KindRow, Most, RecordKind, Rows, Rule, Stored};
use serde::{Deserialize, Serialize};
use signet_oauth::administration::{AdministratorRole, MAX_ADMINISTRATOR_ROLES};
use signet_oauth::registry::Registry;
use std::sync::Arc;

pub(super) const ROW: KindRow = KindRow {
    kind: RecordKind::AdministratorRole,
    number: 31,
    what: "roles of administrators",
    rows: Rows::Listed(b"administrator_role"),
    rule,
    registry: Some(InRegistry::of::<AdministratorRole>()),
};

/// What it may do grants something: who takes an operation out holds.
fn rule(member: &str) -> Rule {
    match member {
        "operations" => Rule::RemoveWins,
        _ => Rule::LastWriter,
    }
}

#[derive(Serialize, Deserialize)]
struct StoredAdministratorRole {
    name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    #[serde(default)]
    operations: Vec<String>,
    revision: u64,
}

impl Stored for AdministratorRole {
    const ROW: &'static KindRow = &ROW;
    const MOST: Option<Most> = Some(Most {
        records: MAX_ADMINISTRATOR_ROLES,
        full: "there are as many roles of administrators as there may be",
    });

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
        let stored = StoredAdministratorRole {
            name: self.name.clone(),
            description: self.description.clone(),
            operations: self.operations.clone(),
            revision: self.revision,
        };
        // Invariant: strings and a number always serialize.
        serde_json::to_vec(&stored).expect("a role serializes")
    }
    fn read(bytes: &[u8]) -> Result<AdministratorRole, String> {
        let stored: StoredAdministratorRole =
            serde_json::from_slice(bytes).map_err(|e| format!("a role of administrators: {e}"))?;
        Ok(AdministratorRole {
            name: stored.name,
            description: stored.description,
            operations: stored.operations,
            revision: stored.revision,
        })
    }
    fn get(registry: &Registry, name: &str) -> Option<Arc<AdministratorRole>> {
        registry.administrator_roles.get(name).cloned()
    }
    fn set(registry: &mut Registry, name: &str, record: Option<Arc<AdministratorRole>>) {
        let roles = Arc::make_mut(&mut registry.administrator_roles);
        match record {
            Some(role) => drop(roles.insert(name.to_owned(), role)),
            None => drop(roles.remove(name)),
        }
    }
    fn names(registry: &Registry) -> Vec<String> {
        registry.administrator_roles.keys().cloned().collect()
    }
}
