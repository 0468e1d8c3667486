//! What every request may look up, as one immutable snapshot: no lock, no store.
mod records;
mod shared_map;

pub use records::{Change, ClientTally, Counted, Records, ResourceTally};
pub use shared_map::SharedMap;

use crate::{client::Client, names::AccessTokenFormat, scope::ScopeSet};
use std::sync::Arc;

/// Clients, resource servers and scopes of one moment. Built whole by the caller, and replaced
/// whole; copies share what they have in common.
#[derive(Clone, Default)]
pub struct Registry {
    /// by `client_id`
    pub clients: Records<Client>,
    /// by identifier
    pub resources: Records<Resource>,
    /// every scope that exists
    pub scopes: Vec<ScopeEntry>,
}

impl Registry {
    /// The client, if it exists, is enabled and has not ended. `now`: Unix seconds.
    pub fn client(&self, client_id: &str, now: u64) -> Option<&Arc<Client>> {
        self.clients
            .get(client_id)
            .filter(|c| c.enabled && c.expires_at.is_none_or(|end| now < end))
    }
    /// The resource server of this identifier.
    pub fn resource(&self, identifier: &str) -> Option<&Arc<Resource>> {
        self.resources.get(identifier)
    }
    /// The scope's entry.
    pub fn scope(&self, name: &str) -> Option<&ScopeEntry> {
        self.scopes.iter().find(|s| s.name == name)
    }
    /// The scopes of OpenID Connect Core sections 5.4 and 11, with the words that a consent page
    /// shows.
    pub fn standard_scopes() -> Vec<ScopeEntry> {
        [
            ("openid", "Know who you are (an identifier)"),
            ("profile", "See your profile: name, picture, locale"),
            ("email", "See your e-mail address"),
            ("address", "See your postal address"),
            ("phone", "See your phone number"),
            ("offline_access", "Keep access while you are away"),
        ]
        .into_iter()
        .map(|(name, description)| ScopeEntry {
            name: name.to_owned(),
            description: description.to_owned(),
            published: true,
        })
        .collect()
    }
}

/// A resource server, by its identifier (RFC 8707 URI).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resource {
    /// the `resource` parameter and the token's `aud`
    pub identifier: String,
    /// shown to people
    pub name: Option<String>,
    /// the scopes that mean something there; empty: every scope may be asked for
    pub scopes: ScopeSet,
    /// None: the server's setting
    pub access_token_signed_response_alg: Option<signet_crypto::Algorithm>,
    /// how tokens for it are written; None: JWT
    pub access_token_format: Option<AccessTokenFormat>,
    /// seconds; None: the server's setting
    pub access_token_lifetime: Option<u64>,
    /// clients that may introspect tokens for this audience
    pub introspectors: Vec<String>,
    /// grows at every write
    pub revision: u64,
}

/// A scope that exists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScopeEntry {
    /// the token
    pub name: String,
    /// what a consent page says
    pub description: String,
    /// listed in the metadata
    pub published: bool,
}
