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

/// Where an answer goes, for people: a host, this machine, or an app.
pub fn host_of(redirect_uri: &str) -> String {
    let (scheme, rest) = redirect_uri.split_once(':').unwrap_or(("", redirect_uri));
    if scheme != "https" && scheme != "http" {
        return format!("an app on this device ({scheme})");
    }
    let authority = rest.trim_start_matches('/');
    let authority = authority.split(['/', '?']).next().unwrap_or(authority);
    let host = match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|b| b.is_ascii_digit()) => host,
        _ => authority,
    };
    match host {
        "127.0.0.1" | "[::1]" | "localhost" => "an app on this device".to_owned(),
        _ => authority.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_are_told_where_the_answer_goes() {
        assert_eq!(host_of("https://rp.example/cb?x=1"), "rp.example");
        assert_eq!(host_of("https://rp.example:8443/cb"), "rp.example:8443");
        assert_eq!(host_of("http://127.0.0.1:5000/cb"), "an app on this device");
        assert_eq!(host_of("http://[::1]:5000/cb"), "an app on this device");
        assert_eq!(
            host_of("com.example.app:/cb"),
            "an app on this device (com.example.app)"
        );
    }
}
