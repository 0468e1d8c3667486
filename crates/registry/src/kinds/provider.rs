//! Identity providers, by name.
use crate::record_kind::{InRegistry, KindRow, Most, RecordKind, Rows, Rule, Stored};
use signet_oauth::people::provider::{MAX_PROVIDERS, Provider};
use signet_oauth::registry::Registry;
use std::sync::Arc;

pub(super) const ROW: KindRow = KindRow {
    kind: RecordKind::Provider,
    number: 29,
    what: "identity providers",
    rows: Rows::Listed(b"provider"),
    rule: |member| match member {
        "domains" => Rule::RemoveWins,
        _ => Rule::LastWriter,
    },
    registry: Some(InRegistry::of::<Provider>()),
};

impl Stored for Provider {
    const ROW: &'static KindRow = &ROW;
    const MOST: Option<Most> = Some(Most {
        records: MAX_PROVIDERS,
        full: "a realm has at most 100 providers",
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
        // Invariant: strings, booleans, a number and lists of them always serialize.
        serde_json::to_vec(self).expect("a provider serializes")
    }
    fn read(stored: &[u8]) -> Result<Provider, String> {
        serde_json::from_slice(stored).map_err(|e| format!("an identity provider: {e}"))
    }
    fn get(registry: &Registry, name: &str) -> Option<Arc<Provider>> {
        registry.providers.get(name).cloned()
    }
    fn set(registry: &mut Registry, name: &str, record: Option<Arc<Provider>>) {
        let providers = Arc::make_mut(&mut registry.providers);
        match record {
            Some(provider) => providers.put(provider),
            None => providers.forget(name),
        }
    }
    fn names(registry: &Registry) -> Vec<String> {
        let providers = registry.providers.iter();
        providers.map(|provider| provider.name.clone()).collect()
    }
}
