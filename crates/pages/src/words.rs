//! Names and scopes in words, as pages show them.
use super::ScopeLine;
use signet_oauth::{client::Client, registry::Registry, scope::ScopeSet};

/// What is asked for, in words.
pub fn scope_lines(registry: &Registry, scope: &ScopeSet, new: &ScopeSet) -> Vec<ScopeLine> {
    scope
        .iter()
        .map(|name| ScopeLine {
            description: scope_text(registry, name),
            known: !new.contains(name),
        })
        .collect()
}

/// A scope in words, or itself where it has none.
pub fn scope_text(registry: &Registry, name: &str) -> String {
    let entry = registry.scopes.iter().find(|entry| entry.name == name);
    match entry.map(|entry| entry.description.as_str()) {
        Some(text) if !text.is_empty() => text.to_owned(),
        _ => name.to_owned(),
    }
}

/// A client's name for people.
pub fn name_of(client: &Client) -> &str {
    match client.client_name.as_deref().map(str::trim) {
        Some(name) if !name.is_empty() => name,
        _ => &client.client_id,
    }
}
