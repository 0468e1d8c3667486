//! What every request may look up, as one immutable snapshot: no lock, no store.
mod descriptions;
mod realm_entry;
mod records;
mod shared_map;

pub use descriptions::{Descriptions, MAX_DESCRIPTION_LANGUAGES, MAX_LANGUAGE_TAG_BYTES};
pub use realm_entry::{
    MAX_REALM_DESCRIPTION_BYTES, MAX_REALM_ISSUER_BYTES, MAX_REALM_SETTING_BYTES,
    MAX_REALM_SETTINGS, MAX_REALMS, RealmEntries, RealmEntry, RealmTally,
};
pub use records::{Change, ClientTally, Counted, Records, ResourceTally};
pub use shared_map::{MayDiffer, SharedMap};

use crate::administration::AdministratorRole;
use crate::client::Client;
use crate::issued::names::AccessTokenFormat;
use crate::people::People;
use crate::people::access_rules::{Access, Mode, Rules};
use crate::people::claim_rules::{self, ClaimRule};
use crate::people::provider::Providers;
use crate::scope::ScopeSet;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The scope that gives the names of a person's groups.
pub const GROUPS: &str = "groups";

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
    /// attributes, groups and roles
    pub people: Arc<People>,
    /// access rules
    pub rules: Arc<Rules>,
    /// identity providers of others
    pub providers: Arc<Providers>,
    /// further realms of the process; the first one's alone
    pub realms: Arc<RealmEntries>,
    /// roles of administrators that the realm made, by name
    pub administrator_roles: Arc<BTreeMap<String, Arc<AdministratorRole>>>,
}

impl std::fmt::Debug for Registry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Registry")
            .field("clients", &self.clients.len())
            .field("resources", &self.resources.len())
            .field("scopes", &self.scopes.len())
            .field("groups", &self.people.groups.len())
            .finish_non_exhaustive()
    }
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
    /// What decides who may get tokens. `mode`: the realm's switch.
    pub fn access(&self, mode: Mode) -> Access<'_> {
        Access {
            people: &self.people,
            rules: &self.rules,
            mode,
        }
    }
    /// The scopes of OpenID Connect Core sections 5.4 and 11 and `groups`, with the words that a
    /// consent page shows.
    pub fn standard_scopes() -> Vec<ScopeEntry> {
        [
            ("openid", "See your account ID"),
            ("profile", "See your profile: name, picture, locale"),
            ("email", "See your e-mail address"),
            ("address", "See your postal address"),
            ("phone", "See your phone number"),
            (GROUPS, "See which groups you are in"),
            ("offline_access", "Keep access while you are away"),
        ]
        .into_iter()
        .map(|(name, description)| ScopeEntry {
            name: name.to_owned(),
            description: description.to_owned(),
            descriptions: Descriptions::default(),
            published: true,
            claims: match name {
                GROUPS => claim_rules::groups(),
                _ => Vec::new(),
            },
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
    /// what access tokens that are meant for it say of the person
    pub claims: Vec<ClaimRule>,
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
    /// the same, to those who read these languages
    pub descriptions: Descriptions,
    /// listed in the metadata
    pub published: bool,
    /// the claims that it gives, beside those of OpenID Connect Core section 5.4
    pub claims: Vec<ClaimRule>,
}
