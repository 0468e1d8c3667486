//! Resource servers, by their identifiers.
use crate::claim_tables::{rows, table};
use crate::record_kind::{InRegistry, KindRow, RecordKind, Rows, Rule, Stored};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use signet_crypto::Algorithm;
use signet_oauth::issued::format::AccessTokenFormat;
use signet_oauth::people::claim_rules::TableOf;
use signet_oauth::registry::{Registry, Resource};
use signet_oauth::scope::ScopeSet;
use signet_store::Table;
use std::sync::Arc;

pub(super) const ROW: KindRow = KindRow {
    kind: RecordKind::Resource,
    number: 17,
    what: "resource servers",
    rows: Rows::Table(Table::Resource),
    rule: |member| match member {
        "scopes" | "introspectors" => Rule::RemoveWins,
        _ => Rule::LastWriter,
    },
    registry: Some(InRegistry::of::<Resource>()),
};

#[derive(Serialize, Deserialize)]
struct StoredResource {
    identifier: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(default)]
    scopes: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    access_token_signed_response_alg: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    access_token_format: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    access_token_lifetime: Option<u64>,
    #[serde(default)]
    introspectors: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    claims: Vec<Value>,
    revision: u64,
}

impl From<&Resource> for StoredResource {
    fn from(resource: &Resource) -> Self {
        StoredResource {
            identifier: resource.identifier.clone(),
            name: resource.name.clone(),
            scopes: resource.scopes.iter().map(str::to_owned).collect(),
            access_token_signed_response_alg: resource
                .access_token_signed_response_alg
                .map(|alg| alg.name().to_owned()),
            access_token_format: resource
                .access_token_format
                .map(|format| format.as_str().to_owned()),
            access_token_lifetime: resource.access_token_lifetime,
            introspectors: resource.introspectors.clone(),
            claims: rows(&resource.claims).unwrap_or_default(),
            revision: resource.revision,
        }
    }
}

impl Stored for Resource {
    const ROW: &'static KindRow = &ROW;

    fn name(&self) -> &str {
        &self.identifier
    }
    fn revision(&self) -> Option<u64> {
        Some(self.revision)
    }
    fn set_revision(&mut self, revision: u64) {
        self.revision = revision;
    }
    fn write(&self) -> Vec<u8> {
        // Invariant: strings, numbers and lists of them always serialize.
        serde_json::to_vec(&StoredResource::from(self)).expect("a resource server serializes")
    }
    fn read(bytes: &[u8]) -> Result<Resource, String> {
        let corrupt = |why: String| format!("a resource server: {why}");
        let stored: StoredResource =
            serde_json::from_slice(bytes).map_err(|e| corrupt(e.to_string()))?;
        let alg = match stored.access_token_signed_response_alg {
            None => None,
            Some(name) => Some(
                Algorithm::from_name(&name).ok_or_else(|| corrupt(format!("algorithm {name}")))?,
            ),
        };
        let format = match stored.access_token_format {
            None => None,
            Some(name) => Some(
                AccessTokenFormat::from_name(&name)
                    .ok_or_else(|| corrupt(format!("format {name}")))?,
            ),
        };
        Ok(Resource {
            identifier: stored.identifier,
            name: stored.name,
            scopes: ScopeSet::parse(&stored.scopes.join(" "))
                .map_err(|_| corrupt("scopes".into()))?,
            access_token_signed_response_alg: alg,
            access_token_format: format,
            access_token_lifetime: stored.access_token_lifetime,
            introspectors: stored.introspectors,
            claims: table(&stored.claims, TableOf::Resource).map_err(|e| corrupt(e.into()))?,
            revision: stored.revision,
        })
    }
    fn get(registry: &Registry, name: &str) -> Option<Arc<Resource>> {
        registry.resources.get(name).cloned()
    }
    fn set(registry: &mut Registry, name: &str, record: Option<Arc<Resource>>) {
        match record {
            Some(resource) => registry.resources.insert(name.to_owned(), resource),
            None => registry.resources.remove(name),
        }
    }
    fn names(registry: &Registry) -> Vec<String> {
        registry.resources.keys().map(str::to_owned).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_member_of_a_resource_server_is_stored() {
        let resource = Resource {
            identifier: "https://api.example".into(),
            name: Some("API".into()),
            scopes: ScopeSet::parse("read write").unwrap(),
            access_token_signed_response_alg: Some(Algorithm::EdDsa),
            access_token_format: Some(AccessTokenFormat::Compact),
            access_token_lifetime: Some(60),
            introspectors: vec!["gateway".into()],
            claims: table(&[Value::from("groups")], TableOf::Resource).unwrap(),
            revision: 1,
        };
        assert_eq!(Resource::read(&resource.write()), Ok(resource));
    }
}
