//! The records of the registry as bytes: what their rows hold, and what a change of one carries.
//! A client's record is written by `signet_oauth` ([`signet_oauth::client::Client::to_json`]).
use serde::{Deserialize, Serialize};
use serde_json::Value;
use signet_crypto::Algorithm;
use signet_oauth::issued::format::AccessTokenFormat;
use signet_oauth::people::claim_rules::{self, ClaimRule, TableOf};
use signet_oauth::registry::{Registry, Resource, ScopeEntry};
use signet_oauth::scope::ScopeSet;

/// The record of a resource server.
pub fn write_resource(resource: &Resource) -> Vec<u8> {
    // Invariant: strings, numbers and lists of them always serialize.
    serde_json::to_vec(&StoredResource::from(resource)).expect("a resource server serializes")
}

/// The record of a scope.
pub fn write_scope(entry: &ScopeEntry) -> Vec<u8> {
    let stored = StoredScope {
        name: entry.name.clone(),
        description: entry.description.clone(),
        published: entry.published,
        claims: rows(&entry.claims),
    };
    // Invariant: strings, a boolean and JSON always serialize.
    serde_json::to_vec(&stored).expect("a scope serializes")
}

/// Reads the record of a scope.
///
/// # Errors
/// What is wrong with it, for the log.
pub fn read_scope(bytes: &[u8]) -> Result<ScopeEntry, String> {
    let stored: StoredScope = serde_json::from_slice(bytes).map_err(|e| format!("a scope: {e}"))?;
    let claims = match stored.claims {
        // A record from before scopes had tables: the built-in one is as it was built in.
        None => built_in(&stored.name)
            .map(|entry| entry.claims)
            .unwrap_or_default(),
        Some(rows) => table(&rows, TableOf::Scope).map_err(|e| format!("a scope: {e}"))?,
    };
    Ok(ScopeEntry {
        name: stored.name,
        description: stored.description,
        published: stored.published,
        claims,
    })
}

fn built_in(name: &str) -> Option<ScopeEntry> {
    let standard = Registry::standard_scopes();
    standard.into_iter().find(|scope| scope.name == name)
}

/// The rows of a table of claims as JSON values; none: there are none.
pub fn rows(table: &[ClaimRule]) -> Option<Vec<Value>> {
    // Invariant: what the table writes is a JSON array.
    serde_json::from_str(&claim_rules::to_json(table)).ok()
}

/// A table of claims from the JSON values of its rows.
///
/// # Errors
/// What is wrong with it.
pub fn table(rows: &[Value], of: TableOf) -> Result<Vec<ClaimRule>, &'static str> {
    let text = serde_json::to_vec(rows).map_err(|_| "claims must be a list of rows")?;
    claim_rules::parse(&text, of)
}

/// Adds an entry to the registry, or puts it in the place of the one with its name.
pub fn put_scope(registry: &mut Registry, entry: ScopeEntry) {
    match registry.scopes.iter_mut().find(|s| s.name == entry.name) {
        Some(known) => *known = entry,
        None => registry.scopes.push(entry),
    }
}

/// Takes an entry out of the registry; a standard one goes back to its own words.
pub fn forget_scope(registry: &mut Registry, name: &str) {
    registry.scopes.retain(|s| s.name != name);
    registry.scopes.extend(built_in(name));
}

#[derive(Serialize, Deserialize)]
struct StoredScope {
    name: String,
    description: String,
    published: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    claims: Option<Vec<Value>>,
}

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

/// Reads the record of a resource server.
///
/// # Errors
/// What is wrong with it, for the log.
pub fn read_resource(bytes: &[u8]) -> Result<Resource, String> {
    let corrupt = |why: String| format!("a resource server: {why}");
    let stored: StoredResource =
        serde_json::from_slice(bytes).map_err(|e| corrupt(e.to_string()))?;
    let alg = match stored.access_token_signed_response_alg {
        None => None,
        Some(name) => {
            Some(Algorithm::from_name(&name).ok_or_else(|| corrupt(format!("algorithm {name}")))?)
        }
    };
    let format = match stored.access_token_format {
        None => None,
        Some(name) => Some(
            AccessTokenFormat::from_name(&name).ok_or_else(|| corrupt(format!("format {name}")))?,
        ),
    };
    Ok(Resource {
        identifier: stored.identifier,
        name: stored.name,
        scopes: ScopeSet::parse(&stored.scopes.join(" ")).map_err(|_| corrupt("scopes".into()))?,
        access_token_signed_response_alg: alg,
        access_token_format: format,
        access_token_lifetime: stored.access_token_lifetime,
        introspectors: stored.introspectors,
        claims: table(&stored.claims, TableOf::Resource).map_err(|e| corrupt(e.into()))?,
        revision: stored.revision,
    })
}
