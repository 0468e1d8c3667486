//! Scopes that were added to the standard ones, by name.
use crate::claim_tables::{rows, table};
use crate::record_kind::{InRegistry, KindRow, RecordKind, Rows, Stored, last_writer};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use signet_oauth::people::claim_rules::TableOf;
use signet_oauth::registry::{Descriptions, Registry, ScopeEntry};
use std::collections::BTreeMap;
use std::sync::Arc;

pub(super) const ROW: KindRow = KindRow {
    kind: RecordKind::Scope,
    number: 18,
    what: "scopes",
    rows: Rows::Listed(b"scope"),
    rule: last_writer,
    registry: Some(InRegistry::of::<ScopeEntry>()),
};

#[derive(Serialize, Deserialize)]
struct StoredScope {
    name: String,
    description: String,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    descriptions: BTreeMap<String, String>,
    published: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    claims: Option<Vec<Value>>,
}

impl Stored for ScopeEntry {
    const ROW: &'static KindRow = &ROW;

    fn name(&self) -> &str {
        &self.name
    }
    fn revision(&self) -> Option<u64> {
        None
    }
    fn set_revision(&mut self, _: u64) {}
    fn write(&self) -> Vec<u8> {
        let stored = StoredScope {
            name: self.name.clone(),
            description: self.description.clone(),
            descriptions: self.descriptions.texts().clone(),
            published: self.published,
            claims: rows(&self.claims),
        };
        // Invariant: strings, a boolean and JSON always serialize.
        serde_json::to_vec(&stored).expect("a scope serializes")
    }
    fn read(bytes: &[u8]) -> Result<ScopeEntry, String> {
        let corrupt = |why: String| format!("a scope: {why}");
        let stored: StoredScope =
            serde_json::from_slice(bytes).map_err(|e| corrupt(e.to_string()))?;
        let claims = match stored.claims {
            // A record from before scopes had tables: the built-in one is as it was built in.
            None => ScopeEntry::built_in(&stored.name)
                .map(|entry| entry.claims)
                .unwrap_or_default(),
            Some(rows) => table(&rows, TableOf::Scope).map_err(|e| corrupt(e.into()))?,
        };
        Ok(ScopeEntry {
            name: stored.name,
            description: stored.description,
            descriptions: Descriptions::read(stored.descriptions).map_err(corrupt)?,
            published: stored.published,
            claims,
        })
    }
    /// A standard one, in its own words.
    fn built_in(name: &str) -> Option<ScopeEntry> {
        let standard = Registry::standard_scopes();
        standard.into_iter().find(|scope| scope.name == name)
    }
    fn get(registry: &Registry, name: &str) -> Option<Arc<ScopeEntry>> {
        registry.scope(name).cloned().map(Arc::new)
    }
    fn set(registry: &mut Registry, name: &str, record: Option<Arc<ScopeEntry>>) {
        let at = registry.scopes.iter().position(|scope| scope.name == name);
        match (at, record.map(Arc::unwrap_or_clone)) {
            (Some(at), Some(entry)) => registry.scopes[at] = entry,
            (Some(at), None) => drop(registry.scopes.remove(at)),
            (None, Some(entry)) => registry.scopes.push(entry),
            (None, None) => {}
        }
    }
    fn names(registry: &Registry) -> Vec<String> {
        let scopes = registry.scopes.iter();
        scopes.map(|scope| scope.name.clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scope_without_texts_of_other_languages_is_stored_as_it_was_before_there_were_any() {
        let stored = br#"{"name":"read","description":"Read","published":true,"claims":[]}"#;
        let read = ScopeEntry::read(stored).unwrap();
        assert_eq!(read.descriptions, Descriptions::default());
        assert_eq!(read.write(), stored);
    }

    #[test]
    fn texts_of_other_languages_come_back_from_the_stored_form() {
        let mut scope = ScopeEntry::built_in("email").unwrap();
        let texts = [("de".into(), "Mailadresse sehen".into())];
        scope.descriptions = Descriptions::read(texts.into()).unwrap();
        assert_eq!(ScopeEntry::read(&scope.write()), Ok(scope));
    }
}
