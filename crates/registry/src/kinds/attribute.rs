//! Attributes of the people's schema, by name.
use crate::record_kind::{InRegistry, KindRow, Most, RecordKind, Rows, Stored, last_writer};
use serde::{Deserialize, Serialize};
use signet_oauth::people::{Attribute, AttributeType, MAX_ATTRIBUTES, Who};
use signet_oauth::registry::Registry;
use std::sync::Arc;

pub(super) const ROW: KindRow = KindRow {
    kind: RecordKind::Attribute,
    number: 26,
    what: "attributes of people",
    rows: Rows::Listed(b"attribute"),
    rule: last_writer,
    registry: Some(InRegistry::of::<Attribute>()),
};

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

impl Stored for Attribute {
    const ROW: &'static KindRow = &ROW;
    const MOST: Option<Most> = Some(Most {
        records: MAX_ATTRIBUTES,
        full: "the schema has as many attributes as it may have",
    });
    const COUNTED: Option<&str> = Some("attributes");

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
        let stored = StoredAttribute {
            name: self.name.clone(),
            label: self.label.clone(),
            kind: self.kind.as_str().to_owned(),
            read: self.read.as_str().to_owned(),
            write: self.write.as_str().to_owned(),
            verified: self.verified,
            max_bytes: self.max_bytes,
            max_items: self.max_items,
            revision: self.revision,
        };
        // Invariant: strings, numbers and booleans always serialize.
        serde_json::to_vec(&stored).expect("an attribute serializes")
    }
    fn read(bytes: &[u8]) -> Result<Attribute, String> {
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
    fn get(registry: &Registry, name: &str) -> Option<Arc<Attribute>> {
        registry.people.attributes.get(name).cloned()
    }
    fn set(registry: &mut Registry, name: &str, record: Option<Arc<Attribute>>) {
        let people = Arc::make_mut(&mut registry.people);
        match record {
            Some(attribute) => drop(people.attributes.insert(name.to_owned(), attribute)),
            None => drop(people.attributes.remove(name)),
        }
    }
    fn names(registry: &Registry) -> Vec<String> {
        registry.people.attributes.keys().cloned().collect()
    }
}
