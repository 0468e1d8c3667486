//! A change of what a node believes, as a value.
//!
//! Whoever changes the registry or the signing keys (the admin API, registration, key rotation, a
//! reload of the configuration) makes the change durable and then hands a [`Delta`] to
//! `Replica::apply`, which is the only function that changes memory. A delta says what holds from
//! now on, not what to do: applying it twice is harmless, and of two for one record the one that
//! was made later holds.
//!
//! A delta of a record has a form on the wire ([`Delta::to_bytes`]), which is that of its row in
//! the store. Signing keys travel as they are at rest: their private halves sealed. The
//! configuration is a node's own file and has none.
use std::sync::Arc;

use signet_oauth::{
    client::Client,
    registry::{Registry, Resource, ScopeEntry},
    settings::Settings,
};

use crate::records;

/// What the configuration says: settings and the records that it declares. They hold over stored
/// ones of the same name.
#[derive(Clone)]
pub struct Configuration {
    /// The protocol's settings.
    pub settings: Arc<Settings>,
    /// Declared clients, resources and scopes; without the standard scopes.
    pub declared: Arc<Registry>,
}

impl std::fmt::Debug for Configuration {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Configuration")
            .field("issuer", &self.settings.issuer)
            .field("clients", &self.declared.clients.len())
            .field("resources", &self.declared.resources.len())
            .field("scopes", &self.declared.scopes.len())
            .finish_non_exhaustive()
    }
}

/// See the module. A `record` of `None`: there is none any more.
#[derive(Clone, Debug)]
pub enum Delta {
    /// A client of the store.
    Client {
        /// Its `client_id`.
        client_id: String,
        /// Its record.
        record: Option<Arc<Client>>,
    },
    /// A resource server of the store.
    Resource {
        /// Its identifier.
        identifier: String,
        /// Its record.
        record: Option<Arc<Resource>>,
    },
    /// A scope of the store.
    Scope {
        /// Its name.
        name: String,
        /// Its record.
        record: Option<ScopeEntry>,
    },
    /// A signing key.
    Key {
        /// Its `kid`.
        kid: String,
        /// Its record as it is at rest.
        record: Option<Vec<u8>>,
    },
    /// The node's configuration, whole.
    Configuration(Configuration),
}

/// Why bytes are no delta.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("these bytes are no change of the registry")]
pub struct Malformed;

const CLIENT: u8 = 1;
const RESOURCE: u8 = 2;
const SCOPE: u8 = 3;
const KEY: u8 = 4;

impl Delta {
    /// A client that was written.
    pub fn client(record: Arc<Client>) -> Delta {
        Delta::Client {
            client_id: record.client_id.clone(),
            record: Some(record),
        }
    }

    /// A resource server that was written.
    pub fn resource(record: Arc<Resource>) -> Delta {
        Delta::Resource {
            identifier: record.identifier.clone(),
            record: Some(record),
        }
    }

    /// A scope that was written.
    pub fn scope(record: ScopeEntry) -> Delta {
        Delta::Scope {
            name: record.name.clone(),
            record: Some(record),
        }
    }

    /// The form on the wire: a byte for the kind, the length of the name (4 bytes, big-endian), the
    /// name, and the record as its row has it; nothing after the name where there is no record.
    /// None for the configuration.
    pub fn to_bytes(&self) -> Option<Vec<u8>> {
        let (kind, name, record) = match self {
            Delta::Client { client_id, record } => (
                CLIENT,
                client_id,
                record.as_ref().map(|client| client.to_json()),
            ),
            Delta::Resource { identifier, record } => (
                RESOURCE,
                identifier,
                record.as_ref().map(|r| records::write_resource(r)),
            ),
            Delta::Scope { name, record } => {
                (SCOPE, name, record.as_ref().map(records::write_scope))
            }
            Delta::Key { kid, record } => (KEY, kid, record.clone()),
            Delta::Configuration(_) => return None,
        };
        let length = u32::try_from(name.len()).ok()?;
        let mut bytes = vec![kind];
        bytes.extend_from_slice(&length.to_be_bytes());
        bytes.extend_from_slice(name.as_bytes());
        bytes.extend(record.unwrap_or_default());
        Some(bytes)
    }

    /// Reads what [`Delta::to_bytes`] wrote.
    ///
    /// # Errors
    /// [`Malformed`]; also where name and record disagree.
    pub fn from_bytes(bytes: &[u8]) -> Result<Delta, Malformed> {
        let (kind, rest) = bytes.split_first().ok_or(Malformed)?;
        let (length, rest) = rest.split_first_chunk::<4>().ok_or(Malformed)?;
        let length = usize::try_from(u32::from_be_bytes(*length)).map_err(|_| Malformed)?;
        let (name, record) = rest.split_at_checked(length).ok_or(Malformed)?;
        let name = std::str::from_utf8(name).map_err(|_| Malformed)?.to_owned();
        let record = (!record.is_empty()).then_some(record);
        let delta = match *kind {
            CLIENT => {
                let record = record.map(Client::from_json).transpose();
                Delta::Client {
                    client_id: name.clone(),
                    record: record.map_err(|_| Malformed)?.map(Arc::new),
                }
            }
            RESOURCE => {
                let record = record.map(records::read_resource).transpose();
                Delta::Resource {
                    identifier: name.clone(),
                    record: record.map_err(|_| Malformed)?.map(Arc::new),
                }
            }
            SCOPE => {
                let record = record.map(records::read_scope).transpose();
                Delta::Scope {
                    name: name.clone(),
                    record: record.map_err(|_| Malformed)?,
                }
            }
            KEY => Delta::Key {
                kid: name.clone(),
                record: record.map(<[u8]>::to_vec),
            },
            _ => return Err(Malformed),
        };
        let named = match &delta {
            Delta::Client { record, .. } => record.as_ref().map(|record| &record.client_id),
            Delta::Resource { record, .. } => record.as_ref().map(|record| &record.identifier),
            Delta::Scope { record, .. } => record.as_ref().map(|record| &record.name),
            // A key's record names its key, which `Replica::apply` compares when it opens it.
            Delta::Key { .. } | Delta::Configuration(_) => None,
        };
        match named {
            Some(named) if *named != name => Err(Malformed),
            _ => Ok(delta),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use signet_oauth::scope::ScopeSet;

    fn round_trip(delta: &Delta) -> Delta {
        Delta::from_bytes(&delta.to_bytes().unwrap()).unwrap()
    }

    #[test]
    fn every_record_comes_back_from_its_bytes() {
        let client = Arc::new(Client::new("c1", 7));
        let resource = Arc::new(Resource {
            identifier: "https://api.example".into(),
            name: None,
            scopes: ScopeSet::parse("read").unwrap(),
            access_token_signed_response_alg: None,
            access_token_format: None,
            access_token_lifetime: Some(60),
            introspectors: Vec::new(),
            revision: 3,
        });
        let scope = ScopeEntry {
            name: "read".into(),
            description: "Read".into(),
            published: true,
        };
        match round_trip(&Delta::client(client.clone())) {
            Delta::Client { record, .. } => assert_eq!(record, Some(client)),
            other => panic!("{other:?}"),
        }
        match round_trip(&Delta::resource(resource.clone())) {
            Delta::Resource { record, .. } => assert_eq!(record, Some(resource)),
            other => panic!("{other:?}"),
        }
        match round_trip(&Delta::scope(scope.clone())) {
            Delta::Scope { record, .. } => assert_eq!(record.unwrap().description, "Read"),
            other => panic!("{other:?}"),
        }
        let gone = Delta::Key {
            kid: "k".into(),
            record: None,
        };
        assert!(matches!(round_trip(&gone), Delta::Key { record: None, .. }));
    }

    #[test]
    fn a_record_under_another_name_and_cut_off_bytes_are_refused() {
        let bytes = Delta::client(Arc::new(Client::new("c1", 7)))
            .to_bytes()
            .unwrap();
        let mut renamed = bytes.clone();
        renamed[6] = b'2';
        assert_eq!(Delta::from_bytes(&renamed).unwrap_err(), Malformed);
        for length in 0..7 {
            assert!(Delta::from_bytes(&bytes[..length]).is_err() || length == 7);
        }
        assert_eq!(Delta::from_bytes(&[9, 0, 0, 0, 0]).unwrap_err(), Malformed);
        assert_eq!(
            Delta::from_bytes(&[1, 255, 255, 255, 255]).unwrap_err(),
            Malformed
        );
    }
}
