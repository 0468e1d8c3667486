//! Access rules, by name.
use crate::record_kind::{InRegistry, KindRow, Most, RecordKind, Rows, Stored, last_writer};
use crate::rules::{read_rule, write_rule};
use signet_oauth::people::access_rules::{AccessRule, MAX_RULES};
use signet_oauth::registry::Registry;
use std::sync::Arc;

pub(super) const ROW: KindRow = KindRow {
    kind: RecordKind::Rule,
    number: 28,
    what: "access rules",
    rows: Rows::Listed(b"rule"),
    // A list that is empty is no condition: lists of two writers that merge could say what neither
    // said.
    rule: last_writer,
    registry: Some(InRegistry::of::<AccessRule>()),
};

impl Stored for AccessRule {
    const ROW: &'static KindRow = &ROW;
    const MOST: Option<Most> = Some(Most {
        records: MAX_RULES,
        full: "there are as many access rules as there may be",
    });
    const COUNTED: Option<&str> = Some("rules");

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
        write_rule(self)
    }
    fn read(stored: &[u8]) -> Result<AccessRule, String> {
        read_rule(stored)
    }
    fn get(registry: &Registry, name: &str) -> Option<Arc<AccessRule>> {
        registry.rules.get(name).cloned()
    }
    fn set(registry: &mut Registry, name: &str, record: Option<Arc<AccessRule>>) {
        let rules = Arc::make_mut(&mut registry.rules);
        match record {
            Some(rule) => drop(rules.insert(name.to_owned(), rule)),
            None => drop(rules.remove(name)),
        }
    }
    fn names(registry: &Registry) -> Vec<String> {
        registry.rules.keys().cloned().collect()
    }
}
