//! The immutable view that one request reads.
use bytes::Bytes;
use signet_crypto::{Algorithm, KeyType};
use signet_directory::fold;
use signet_oauth::{metadata::metadata, registry::Registry, settings::Settings};
use signet_texts::{LANGUAGES, Language};
use std::sync::Arc;

use signet_registry::keys::KeySet;

/// One consistent view of everything that changes rarely. Cheap to clone: every part is shared.
#[derive(Clone)]
pub struct Snapshot {
    /// The protocol settings, from the configuration.
    pub settings: Arc<Settings>,
    /// Clients, resources and scopes.
    pub registry: Arc<Registry>,
    /// Signing keys by algorithm, verification keys by `kid`, and the rendered JWKS.
    pub keys: Arc<KeySet>,
    /// Metadata documents, rendered once.
    pub documents: Documents,
    /// Answer with HSTS: the issuer is https, and not the developer's own machine.
    pub strict_transport: bool,
}

/// Responses that are the same for every caller until the snapshot changes.
#[derive(Clone, Default)]
pub struct Documents {
    /// RFC 8414 and OpenID Connect Discovery: one document serves both.
    pub metadata: Bytes,
    /// The JWK Set. Keys of type `AKP` (ML-DSA) are in it as soon as a record or the settings ask
    /// for one: relying parties that refuse a whole set for one type that they do not know are only
    /// met by those keys where somebody wants them.
    pub jwks: Bytes,
}

/// Whether anything is signed with ML-DSA: by the settings, or by the record of a client or
/// resource server. A client that registered itself does not decide what stands in everybody's key
/// set, unless the settings say that it may.
fn uses_ml_dsa(settings: &Settings, registry: &Registry) -> bool {
    let is_ml_dsa = |algorithm: Algorithm| algorithm.key_type() == KeyType::Akp;
    let of_settings = [settings.access_token_alg, settings.id_token_alg];
    of_settings.into_iter().any(is_ml_dsa)
        || registry.resources.tally().asks_for_ml_dsa()
        || registry
            .clients
            .tally()
            .asks_for_ml_dsa(settings.registration.ml_dsa)
}

impl Snapshot {
    /// A snapshot with its documents rendered from its parts.
    pub fn new(settings: Arc<Settings>, registry: Arc<Registry>, keys: Arc<KeySet>) -> Snapshot {
        Snapshot {
            strict_transport: strict_transport(&settings.issuer),
            documents: Documents {
                metadata: metadata(&settings, &registry, &LANGUAGES.map(Language::tag)).into(),
                jwks: if uses_ml_dsa(&settings, &registry) {
                    keys.jwks().clone()
                } else {
                    keys.classical_jwks().clone()
                },
            },
            settings,
            registry,
            keys,
        }
    }

    /// Whether a client or a group of the realm has this name, which is folded: no name that is
    /// made for a person is one of them.
    pub fn names(&self, folded: &str) -> bool {
        let mut groups = self.registry.people.groups.keys();
        self.registry.clients.contains_key(folded)
            || groups.any(|group| fold(group).as_deref() == Some(folded))
    }
}

fn strict_transport(issuer: &str) -> bool {
    issuer.strip_prefix("https://").is_some_and(|rest| {
        let host = rest.split(['/', ':']).next().unwrap_or(rest);
        host != "localhost" && !host.starts_with("127.") && !host.starts_with('[')
    })
}
