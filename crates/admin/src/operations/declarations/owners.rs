//! Who owns an object. What a directory owns is one row of the store for each directory, which
//! changes with the records.
use super::kinds::Kind;
use super::model::Named;
use super::person::USER;
use signet_operation::problem::Problem;
use signet_realm::records::Together;
use signet_realm::state::Realm;
use signet_registry::kinds::RecordKind;
use signet_store::{Change, Key, Op, StoreError, Table};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

const PARTITION: &[u8] = b"directories";
const PAGE: usize = 256;

/// Who owns an object.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Owner {
    Hand,
    Directory(String),
    Configuration,
    Registration,
    Scim,
    /// Every server has it, and nobody has changed it.
    BuiltIn,
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Owner::Hand => f.write_str("hand"),
            Owner::Directory(name) => write!(f, "directory {name}"),
            Owner::Configuration => f.write_str("configuration"),
            Owner::Registration => f.write_str("registration"),
            Owner::Scim => f.write_str("SCIM"),
            Owner::BuiltIn => f.write_str("built in"),
        }
    }
}

/// What each directory owns.
#[derive(Default)]
pub(crate) struct Owners(BTreeMap<String, BTreeSet<Named>>);

impl Owners {
    pub(crate) async fn read(realm: &Realm) -> Result<Owners, Problem> {
        let mut owners = Owners::default();
        let mut after = Vec::new();
        loop {
            let store = &realm.store;
            let rows = store
                .partition(Table::Setting, PARTITION, &after, PAGE, realm.now())
                .await?;
            let is_last = rows.len() < PAGE;
            for (key, row) in rows {
                after.clone_from(&key.sort);
                let corrupt = || StoreError::Corrupt("what a directory owns".to_owned());
                let name = String::from_utf8(key.sort).map_err(|_| corrupt())?;
                let owned = serde_json::from_slice(&row.value).map_err(|_| corrupt())?;
                owners.0.insert(name, owned);
            }
            if is_last {
                return Ok(owners);
            }
        }
    }

    /// What a directory owns.
    pub(crate) fn owned(&self, directory: &str) -> BTreeSet<Named> {
        self.0.get(directory).cloned().unwrap_or_default()
    }

    fn directory(&self, kind: &str, name: &str) -> Option<Owner> {
        let holds = |named: &Named| named.kind == kind && named.name == name;
        let found = self.0.iter().find(|(_, owned)| owned.iter().any(holds))?;
        Some(Owner::Directory(found.0.clone()))
    }

    /// The owner of a record that exists.
    pub(crate) async fn of(
        &self,
        realm: &Realm,
        kind: &Kind,
        name: &str,
    ) -> Result<Owner, Problem> {
        if let Some(of_kind) = kind.record.row().registry {
            let declared = &realm.configuration().declared;
            if (of_kind.get)(declared, name).is_some() {
                return Ok(Owner::Configuration);
            }
        }
        if let Some(owner) = self.directory(kind.declared.kind(), name) {
            return Ok(owner);
        }
        let snapshot = realm.snapshot();
        let registry = &snapshot.registry;
        let of_its_own = match kind.record {
            RecordKind::Client => {
                let client = registry.clients.get(name);
                client
                    .is_some_and(|client| client.registration_token_hash.is_some())
                    .then_some(Owner::Registration)
            }
            RecordKind::Group => {
                let group = registry.people.groups.get(name);
                group
                    .is_some_and(|group| group.external_id.is_some())
                    .then_some(Owner::Scim)
            }
            RecordKind::Scope => {
                let row = realm.store.get(&kind.record.key(name), realm.now()).await?;
                row.is_none().then_some(Owner::BuiltIn)
            }
            _ => None,
        };
        Ok(of_its_own.unwrap_or(Owner::Hand))
    }

    /// The owner of a user that exists.
    pub(crate) fn of_user(&self, username: &str) -> Owner {
        self.directory(USER, username).unwrap_or(Owner::Hand)
    }
}

/// Writes what a directory owns, with the records.
pub(crate) async fn write(
    together: &Together<'_>,
    directory: &str,
    owned: &BTreeSet<Named>,
) -> Result<(), Problem> {
    let key = Key::with_sort(Table::Setting, PARTITION, directory);
    let op = match owned.is_empty() {
        true => Op::Delete { key },
        false => Op::Put {
            key,
            // Invariant: names always serialize.
            value: serde_json::to_vec(owned).unwrap_or_default(),
            end: None,
        },
    };
    let tried = &together.tried;
    tried.store.commit(Change::new(op), tried.now()).await?;
    Ok(())
}
