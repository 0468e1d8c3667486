//! Further realms of the process, by name. The first realm's rows have them.
use crate::record_kind::{InRegistry, KindRow, Most, RecordKind, Rows, Stored, last_writer};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use signet_oauth::registry::{MAX_REALMS, RealmEntry, Registry};
use std::{collections::BTreeMap, sync::Arc};

pub(super) const ROW: KindRow = KindRow {
    kind: RecordKind::Realm,
    number: 30,
    what: "realms",
    rows: Rows::Listed(b"realm"),
    rule: last_writer,
    registry: Some(InRegistry::of::<RealmEntry>()),
};

#[derive(Serialize, Deserialize)]
struct StoredRealm {
    name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    made_as: Option<String>,
    issuer: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    #[serde(default)]
    suspended: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    deletes_at: Option<u64>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    settings: BTreeMap<String, Value>,
    created_at: u64,
    revision: u64,
}

impl Stored for RealmEntry {
    const ROW: &'static KindRow = &ROW;
    const MOST: Option<Most> = Some(Most {
        records: MAX_REALMS,
        full: "there are as many realms as there may be",
    });
    const COUNTED: Option<&str> = Some("realms");

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
        let settings = self.settings.iter().filter_map(|(path, value)| {
            let value = serde_json::from_str(value).ok()?;
            Some((path.clone(), value))
        });
        let stored = StoredRealm {
            name: self.name.clone(),
            made_as: self.made_as.clone(),
            issuer: self.issuer.clone(),
            description: self.description.clone(),
            suspended: self.suspended,
            deletes_at: self.deletes_at,
            settings: settings.collect(),
            created_at: self.created_at,
            revision: self.revision,
        };
        // Invariant: texts, numbers and JSON values serialize.
        serde_json::to_vec(&stored).expect("a realm serializes")
    }
    fn read(bytes: &[u8]) -> Result<RealmEntry, String> {
        let stored: StoredRealm =
            serde_json::from_slice(bytes).map_err(|e| format!("a realm: {e}"))?;
        let settings = stored.settings.into_iter();
        Ok(RealmEntry {
            name: stored.name,
            made_as: stored.made_as,
            issuer: stored.issuer,
            description: stored.description,
            suspended: stored.suspended,
            deletes_at: stored.deletes_at,
            settings: settings
                .map(|(path, value)| (path, value.to_string()))
                .collect(),
            created_at: stored.created_at,
            revision: stored.revision,
        })
    }
    fn get(registry: &Registry, name: &str) -> Option<Arc<RealmEntry>> {
        registry.realms.get(name).cloned()
    }
    fn set(registry: &mut Registry, name: &str, record: Option<Arc<RealmEntry>>) {
        let realms = Arc::make_mut(&mut registry.realms);
        match record {
            Some(realm) => realms.insert(name.to_owned(), realm),
            None => realms.remove(name),
        }
    }
    fn names(registry: &Registry) -> Vec<String> {
        let mut names: Vec<String> = registry.realms.keys().map(str::to_owned).collect();
        names.sort_unstable();
        names
    }
}
