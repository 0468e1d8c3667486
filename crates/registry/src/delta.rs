//! A change of what a node believes, as a value.
//!
//! Whoever changes the registry or the signing keys (the admin API, registration, key rotation, a
//! reload of the configuration) makes the change durable and then hands a [`Delta`] to
//! `Replica::apply`, which is the only function that changes memory. A delta says what holds from
//! now on, not what to do: applying it twice is harmless, and of two for one record the one that
//! was made later holds.
//!
//! What other nodes tell of a record comes as a state that merges ([`Delta::Heard`]): see
//! [`crate::kinds`]. The configuration is a node's own file and is announced to nobody.
use std::sync::Arc;

use signet_merge::crdt::Record;
use signet_merge::entry::Entry;
use signet_oauth::registry::Registry;
use signet_oauth::settings::Settings;

use crate::fields;
use crate::kinds::{AnyStored, RecordKind, Stored};

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

/// See the module. A `record` of `None`: the record is gone.
#[derive(Clone, Debug)]
pub enum Delta {
    /// A record of the store that the registry holds.
    Record {
        /// Which kind of record.
        kind: RecordKind,
        /// Its name within the kind.
        name: String,
        /// It, of the kind's type.
        record: Option<Arc<dyn AnyStored>>,
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
    /// The state of a record, or a part of it, where several nodes write: merged with what is
    /// known.
    Heard {
        /// Which kind of record.
        kind: RecordKind,
        /// Its name within the kind.
        name: String,
        /// What merges.
        state: Record,
        /// It was read in the store: it counts, however old it is.
        stored: bool,
    },
}

/// Why bytes are no delta.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("these bytes are no change of the registry")]
pub struct Malformed;

impl Delta {
    /// A record that was written.
    pub fn record<T: Stored>(record: Arc<T>) -> Delta {
        Delta::Record {
            kind: T::ROW.kind,
            name: record.name().to_owned(),
            record: Some(record),
        }
    }

    /// A record that is gone.
    pub fn gone(kind: RecordKind, name: &str) -> Delta {
        Delta::Record {
            kind,
            name: name.to_owned(),
            record: None,
        }
    }

    /// What a node received.
    ///
    /// # Errors
    /// [`Malformed`]: not a record's, or not one that can be read. Another version of the server
    /// may tell of kinds that this one does not know.
    pub fn of_entry(entry: &Entry) -> Result<Delta, Malformed> {
        let kind = RecordKind::of_number(entry.kind).ok_or(Malformed)?;
        let name = std::str::from_utf8(&entry.name).map_err(|_| Malformed)?;
        let state = Record::from_bytes(&entry.fragment).map_err(|_| Malformed)?;
        Ok(Delta::Heard {
            kind,
            name: name.to_owned(),
            state,
            stored: false,
        })
    }

    /// A record that is written in the place of another one, with the members of that one which
    /// this version does not know: a later version has written them.
    pub fn keeping(kind: RecordKind, name: &str, before: &[u8], after: Vec<u8>) -> Vec<u8> {
        let known = match Delta::of_stored(kind, name, Some(before)) {
            Ok(Delta::Record { record, .. }) => record.map(|record| record.to_bytes()),
            // Written by nobody who has read it before.
            Ok(Delta::Key { .. } | Delta::Configuration(_) | Delta::Heard { .. }) => None,
            // Nothing can be kept of what is no record.
            Err(Malformed) => None,
        };
        match known {
            None => after,
            Some(known) => fields::carry(before, &known, after.clone()).unwrap_or(after),
        }
    }

    /// The record of a kind and name, from its stored form; none: the record is gone.
    ///
    /// # Errors
    /// [`Malformed`]; also where name and record disagree.
    pub fn of_stored(
        kind: RecordKind,
        name: &str,
        stored: Option<&[u8]>,
    ) -> Result<Delta, Malformed> {
        let Some(registry) = kind.row().registry else {
            return match kind {
                // A key's record names its key, which `Replica::apply` compares when it opens it.
                RecordKind::Key => Ok(Delta::Key {
                    kid: name.to_owned(),
                    record: stored.map(<[u8]>::to_vec),
                }),
                // The index has them, not the registry.
                _ => Err(Malformed),
            };
        };
        let record = stored.map(registry.read).transpose();
        let record = record.map_err(|_| Malformed)?;
        match &record {
            Some(record) if record.record_name() != name => Err(Malformed),
            _ => Ok(Delta::Record {
                kind,
                name: name.to_owned(),
                record,
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use signet_oauth::client::Client;
    use signet_oauth::people::access_rules::{AccessRule, Effect};
    use signet_oauth::people::provider::Provider;
    use signet_oauth::people::{Attribute, Group, Role};
    use signet_oauth::registry::{Descriptions, Resource, ScopeEntry};
    use signet_oauth::scope::ScopeSet;

    #[test]
    fn every_record_comes_back_from_its_stored_form_under_its_own_name() {
        let client = Client::new("c1", 7).write();
        let resource = Resource {
            identifier: "https://api.example".into(),
            name: None,
            scopes: ScopeSet::parse("read").unwrap(),
            access_token_signed_response_alg: None,
            access_token_format: None,
            access_token_lifetime: Some(60),
            introspectors: Vec::new(),
            claims: Vec::new(),
            revision: 3,
        }
        .write();
        let scope = ScopeEntry {
            name: "read".into(),
            description: "Read".into(),
            descriptions: Descriptions::read([("de".into(), "Lesen".into())].into()).unwrap(),
            published: true,
            claims: signet_oauth::people::claim_rules::groups(),
        }
        .write();
        let group = Group {
            id: "g".into(),
            name: "staff".into(),
            description: None,
            parent: Some("all".into()),
            roles: vec!["r".into()],
            external_id: Some("x".into()),
            revision: 1,
        }
        .write();
        let role = Role {
            id: "r".into(),
            name: "web/editor".into(),
            description: Some("Edits".into()),
            revision: 1,
        }
        .write();
        let attribute = Attribute::new("level").write();
        let rule = AccessRule::new("closed", Effect::Deny).write();
        let provider = Provider::new("corp", "https://id.example").write();
        let of = [
            (RecordKind::Provider, "corp", &provider),
            (RecordKind::Client, "c1", &client),
            (RecordKind::Resource, "https://api.example", &resource),
            (RecordKind::Scope, "read", &scope),
            (RecordKind::Group, "staff", &group),
            (RecordKind::Role, "web/editor", &role),
            (RecordKind::Attribute, "level", &attribute),
            (RecordKind::Rule, "closed", &rule),
        ];
        for (kind, name, stored) in of {
            assert!(
                Delta::of_stored(kind, name, Some(stored)).is_ok(),
                "{kind:?}"
            );
            assert!(Delta::of_stored(kind, name, None).is_ok(), "{kind:?}");
            let renamed = Delta::of_stored(kind, "other", Some(stored));
            assert_eq!(renamed.unwrap_err(), Malformed, "{kind:?}");
            let cut = Delta::of_stored(kind, name, Some(&stored[..stored.len() - 1]));
            assert_eq!(cut.unwrap_err(), Malformed, "{kind:?}");
        }
    }

    #[test]
    fn what_is_no_record_is_not_believed() {
        let entry = |kind, name: &[u8], fragment: &[u8]| Entry {
            realm: String::new(),
            kind,
            name: name.to_vec(),
            fragment: fragment.to_vec(),
            end: None,
        };
        let whole = Record::new().to_bytes();
        assert!(Delta::of_entry(&entry(16, b"c", &whole)).is_ok());
        assert!(Delta::of_entry(&entry(15, b"c", &whole)).is_err());
        assert!(Delta::of_entry(&entry(16, b"\xff", &whole)).is_err());
        assert!(Delta::of_entry(&entry(16, b"c", b"")).is_err());
    }
}
