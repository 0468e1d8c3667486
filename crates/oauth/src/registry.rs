use crate::client::Client;
use std::{collections::HashMap, sync::Arc};
/// What every request may look up, as one immutable snapshot.
#[derive(Clone, Default)]
pub struct Registry {
    pub clients: HashMap<String, Arc<Client>>,
    pub resources: HashMap<String, Arc<Resource>>,
    pub scopes: Vec<ScopeEntry>,
}
/// A resource server, by its identifier (RFC 8707 URI).
#[derive(Clone, Debug)]
pub struct Resource {
    pub identifier: String,
    pub name: Option<String>,
    pub scopes: crate::scope::ScopeSet,
    pub access_token_signed_response_alg: Option<signet_crypto::Algorithm>,
    pub access_token_lifetime: Option<u64>,
    /// clients that may introspect tokens for this audience
    pub introspectors: Vec<String>,
    pub revision: u64,
}
#[derive(Clone, Debug)]
pub struct ScopeEntry {
    pub name: String,
    pub description: String,
    /// listed in the metadata
    pub published: bool,
}
