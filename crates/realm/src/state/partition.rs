//! What makes a realm's state its own: its view of the store and its keys of the seals.
use signet_audit::Audit;
use signet_crypto::seal::{Keyring, SealingKey};
use signet_store::{RealmId, RealmStore, Store};
use std::sync::Arc;

/// A realm's name, with the view of the store and the keyring that are derived from it. Nothing
/// else makes them, so a realm cannot be put together with another's rows or seals.
pub struct Partition {
    pub(super) id: RealmId,
    pub(super) store: Arc<dyn Store>,
    pub(super) keyring: Arc<Keyring>,
}

impl Partition {
    /// Of the whole store and of the sealing keys, the current one first named. The default realm's
    /// rows and seals are those of a server that knows no realms.
    pub fn new(
        id: RealmId,
        whole: Arc<dyn Store>,
        current: SealingKey,
        older: Vec<SealingKey>,
    ) -> Partition {
        Partition {
            store: Arc::new(RealmStore::new(&id, whole)),
            keyring: Arc::new(Keyring::of_realm(id.as_str(), current, older)),
            id,
        }
    }

    /// From now on changes carry the records of this trail. It was opened with this partition's
    /// store and keyring.
    #[must_use]
    pub fn recorded(mut self, audit: &Audit) -> Partition {
        self.store = audit.recorded(self.store);
        self
    }

    /// Whose it is.
    pub fn id(&self) -> &RealmId {
        &self.id
    }

    /// The realm's view of the store.
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// The realm's sealing keys.
    pub fn keyring(&self) -> &Arc<Keyring> {
        &self.keyring
    }
}
