//! Names and scopes in words, as pages show them.
use super::{Face, ScopeLine};
use signet_oauth::{client::Client, registry::Registry, scope::ScopeSet};
use signet_texts::Language;

/// What is asked for, in words.
pub fn scope_lines(
    t: &Face,
    registry: &Registry,
    scope: &ScopeSet,
    new: &ScopeSet,
) -> Vec<ScopeLine> {
    scope
        .iter()
        .map(|name| ScopeLine {
            name: name.to_owned(),
            description: scope_text(t, registry, name),
            known: !new.contains(name),
            // The server's own scopes: all of them are about other people.
            danger: name.starts_with("signet:"),
        })
        .collect()
}

/// What the house said of its scopes before: a record may have it still, and nobody chose it.
const FORMER: [&str; 1] = ["Know who you are (an identifier)"];

/// A scope in words, or itself where it has none. What an administrator wrote in the person's
/// language comes first. The scopes that every server has are in the person's language, unless an
/// administrator gave them other words.
pub fn scope_text(t: &Face, registry: &Registry, name: &str) -> String {
    let entry = registry.scope(name);
    if let Some(text) = entry.and_then(|entry| entry.descriptions.of(t.language.tag())) {
        return text.to_owned();
    }
    let own = entry.map_or("", |entry| entry.description.as_str());
    let id = format!("scope-{name}");
    let source = Language::ENGLISH.find(&id);
    match source {
        Some(english) if own.is_empty() || *english == *own || FORMER.contains(&own) => {
            t.with(&id, &[])
        }
        _ if own.is_empty() => name.to_owned(),
        _ => own.to_owned(),
    }
}

/// A client's name for people.
pub fn name_of(client: &Client) -> &str {
    match client.client_name.as_deref().map(str::trim) {
        Some(name) if !name.is_empty() => name,
        _ => &client.client_id,
    }
}

/// Where an answer goes, for people: a host, with its port where it has one, or an app.
pub fn host_of(t: &Face, redirect_uri: &str) -> String {
    let (scheme, rest) = redirect_uri.split_once(':').unwrap_or(("", redirect_uri));
    if scheme != "https" && scheme != "http" {
        return t.with("page-device-app-scheme", &[("scheme", scheme.into())]);
    }
    let authority = rest.trim_start_matches('/');
    authority
        .split(['/', '?'])
        .next()
        .unwrap_or(authority)
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use signet_oauth::registry::{Descriptions, ScopeEntry};

    #[test]
    fn a_scope_is_in_the_readers_language_where_somebody_wrote_or_built_it_in() {
        let descriptions = |texts: &[(&str, &str)]| {
            let texts = texts
                .iter()
                .map(|(tag, text)| ((*tag).into(), (*text).into()));
            Descriptions::read(texts.collect()).unwrap()
        };
        let mut registry = Registry {
            scopes: Registry::standard_scopes(),
            ..Registry::default()
        };
        for scope in &mut registry.scopes {
            if scope.name == "email" {
                scope.descriptions = descriptions(&[("de-AT", "Deine Adresse")]);
            }
        }
        registry.scopes[0].description = FORMER[0].to_owned();
        registry.scopes.push(ScopeEntry {
            name: "orders".into(),
            description: "See your orders".into(),
            descriptions: descriptions(&[("de", "Bestellungen sehen")]),
            published: true,
            claims: Vec::new(),
        });
        let said = |tag: &str, name: &str| {
            let t = Face {
                language: Language::of_tag(tag).unwrap(),
                ..Face::default()
            };
            scope_text(&t, &registry, name)
        };
        assert_eq!(said("de", "orders"), "Bestellungen sehen");
        assert_eq!(said("en", "orders"), "See your orders");
        assert_eq!(said("fr", "orders"), "See your orders");
        assert_eq!(said("de", "email"), "Deine Adresse");
        assert_eq!(said("en", "email"), "See your e-mail address");
        assert_ne!(said("fr", "email"), said("en", "email"), "built in");
        assert_eq!(said("en", "openid"), "See your account ID");
        assert_eq!(said("de", "unknown"), "unknown");
    }

    #[test]
    fn people_are_told_where_the_answer_goes() {
        let host = |uri: &str| host_of(&Face::default(), uri);
        assert_eq!(host("https://rp.example/cb?x=1"), "rp.example");
        assert_eq!(host("https://rp.example:8443/cb"), "rp.example:8443");
        assert_eq!(host("http://127.0.0.1:5000/cb"), "127.0.0.1:5000");
        assert_eq!(host("http://[::1]:5000/cb"), "[::1]:5000");
        assert_eq!(host("http://localhost:24010"), "localhost:24010");
        assert_eq!(
            host("com.example.app:/cb"),
            "an app on this device (com.example.app)"
        );
    }
}
