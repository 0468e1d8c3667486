//! The realms of a process: the first one, and those that its registry names.
//!
//! A further realm is opened by the first request for it, and not before: of one that nobody asks
//! for there is its record alone. A realm whose record changes is closed, and opened again by the
//! next request. So every setting of its record counts at once, and no request sees half of a
//! change.
mod deleting;
mod quiet;
mod requests;
mod slot;
mod table;

pub use deleting::NotDeleted;
pub use quiet::MAX_OPEN_REALMS;
pub use requests::{MAX_COUNTED_REALMS, OTHER_REALMS, Requests};
pub use slot::{NotOpen, Slot};
pub use table::Table;

use crate::state::Realm;
use arc_swap::ArcSwap;
use signet_oauth::registry::RealmEntry;
use std::{
    pin::Pin,
    sync::{Arc, Mutex, OnceLock, PoisonError, Weak},
};

/// What every call returns.
pub type RealmsFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A setting as it counts now.
#[derive(Clone, Debug)]
pub struct SettingNow {
    /// Its name: `lifetimes.code`.
    pub path: String,
    /// Its value as the configuration has it, with references in place of secrets.
    pub value: serde_json::Value,
    /// Where it comes from.
    pub source: Source,
}

/// Where the value of a setting comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Source {
    /// Nobody said another.
    Default,
    /// The process' configuration.
    Configuration,
    /// The realm's own record.
    Record,
}

/// Who makes realms of their records: the wiring.
pub trait OpenRealm: Send + Sync {
    /// The settings as they count in the realm of this record; none: in the first realm.
    fn settings(&self, entry: Option<&RealmEntry>) -> Vec<SettingNow>;

    /// Whether a realm can be made of a record.
    ///
    /// # Errors
    /// What is wrong, one sentence for each place.
    fn check(&self, entry: &RealmEntry) -> Result<(), Vec<String>>;

    /// Makes it, and begins what runs beside its requests.
    fn open(&self, entry: Arc<RealmEntry>) -> RealmsFuture<'_, Result<Arc<Realm>, String>>;

    /// The realm can be found now: what changed while it was made is put in effect.
    fn opened(&self, realm: &Realm);

    /// Ends what runs beside the requests of a realm. From now on it takes no word of other nodes.
    fn end_tasks(&self, realm: &Arc<Realm>);

    /// Closes a realm that nobody uses any more.
    fn close(&self, realm: Arc<Realm>) -> RealmsFuture<'_, ()>;

    /// Whether something of a realm waits that no request would bring about: mail, notices.
    fn has_work<'a>(&'a self, entry: &'a RealmEntry) -> RealmsFuture<'a, bool>;

    /// Deletes everything of a realm that is closed: its rows in every table, its audit trail. How
    /// many rows it found: none, when it is called again, says that nothing came after them.
    fn delete<'a>(&'a self, entry: &'a RealmEntry) -> RealmsFuture<'a, Result<usize, String>>;
}

/// See the module.
pub struct Realms {
    first: Arc<Realm>,
    table: ArcSwap<Table>,
    /// Tables are made one after another.
    changing: Mutex<()>,
    opens: OnceLock<Opener>,
    /// Requests by realm.
    pub requests: Requests,
}

struct Opener {
    by: Arc<dyn OpenRealm>,
    /// Where realms are made and live: a request that is given up takes nothing with it.
    runtime: tokio::runtime::Handle,
}

impl Realms {
    /// The first realm, and none beside it so far.
    pub fn new(first: Arc<Realm>) -> Arc<Realms> {
        let realms = Arc::new(Realms {
            table: ArcSwap::default(),
            changing: Mutex::new(()),
            opens: OnceLock::new(),
            requests: Requests::default(),
            first,
        });
        realms.hold(&realms.first);
        realms
    }

    /// The realms of the process that this one is of; none where it is not put together yet.
    pub fn of(realm: &Realm) -> Option<Arc<Realms>> {
        realm.holder()?.downcast().ok()
    }

    fn hold(self: &Arc<Self>, realm: &Realm) {
        let holder: Arc<Realms> = Arc::clone(self);
        let holder: Weak<dyn std::any::Any + Send + Sync> = Arc::downgrade(&holder) as _;
        realm.set_holder(holder);
    }

    /// From now on the realms of the registry are opened by this. Once, within the runtime that
    /// they live in.
    pub fn open_by(&self, by: Arc<dyn OpenRealm>) {
        let runtime = tokio::runtime::Handle::current();
        // A process is put together once.
        let _ = self.opens.set(Opener { by, runtime });
    }

    /// The realm that answers for the process.
    pub fn first(&self) -> &Arc<Realm> {
        &self.first
    }

    /// Who opens realms.
    pub fn opener(&self) -> Option<&Arc<dyn OpenRealm>> {
        self.opens.get().map(|opens| &opens.by)
    }

    /// Puts realms that were made elsewhere beside the first, in place of those that were there.
    pub fn give(self: &Arc<Self>, given: Vec<Arc<Realm>>) {
        given.iter().for_each(|realm| self.hold(realm));
        let _one = self.lock();
        let table = self.table.load();
        self.table.store(Arc::new(table.with_given(given)));
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, ()> {
        // It guards no value.
        self.changing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What there is at the moment.
    pub fn table(self: &Arc<Self>) -> Arc<Table> {
        let table = self.table.load_full();
        match self.is_current(&table) {
            true => table,
            false => self.follow(),
        }
    }

    /// Whether this is what there is.
    pub fn is_current(&self, table: &Arc<Table>) -> bool {
        self.first.has_realms(&table.entries) && Arc::ptr_eq(&self.table.load(), table)
    }

    /// Makes the table of the registry as it is.
    fn follow(self: &Arc<Self>) -> Arc<Table> {
        let _one = self.lock();
        let before = self.table.load_full();
        let entries = Arc::clone(&self.first.snapshot().registry.realms);
        if Arc::ptr_eq(&entries, &before.entries) {
            return before;
        }
        // A declared one comes from a file that can change after it was checked.
        let usable = |entry: &RealmEntry| {
            let hidden = self.first.host.paths.hidden_by(&entry.issuer);
            if let Some(hidden) = hidden {
                tracing::error!(
                    realm = entry.name,
                    hidden,
                    "ignored a realm whose issuer would hide a path of the server"
                );
            }
            hidden.is_none()
        };
        let (table, ended) = before.next(entries, usable);
        self.replace(table, &ended)
    }

    /// Puts a table in place of the one that it was made of. The caller holds the lock.
    fn replace(&self, table: Table, ended: &[Arc<Slot>]) -> Arc<Table> {
        ended.iter().for_each(|slot| self.close(slot));
        let table = Arc::new(table);
        self.table.store(Arc::clone(&table));
        table
    }

    /// Closes the realms that are made of something else now, and has them opened again by the next
    /// request.
    pub fn reopen(self: &Arc<Self>, changed: impl Fn(&RealmEntry) -> bool) {
        self.table();
        let _one = self.lock();
        let before = self.table.load_full();
        let (table, ended) = before.renewed(changed);
        self.replace(table, &ended);
    }

    /// Closes a realm that is no longer in the table.
    fn close(&self, slot: &Arc<Slot>) {
        if let Some(Opener { by, runtime }) = self.opens.get()
            && let Some(closing) = slot.end()
        {
            runtime.spawn(closing.run(Arc::clone(by)));
        }
    }

    /// The realm of a slot, for requests: opened now where it is not.
    ///
    /// # Errors
    /// See [`NotOpen`].
    pub async fn open(self: &Arc<Self>, slot: &Arc<Slot>) -> Result<Arc<Realm>, NotOpen> {
        match slot.entry().answers() {
            true => {
                slot.count(self);
                self.open_suspended(slot).await
            }
            false => Err(NotOpen::Suspended),
        }
    }

    /// The realm of a slot, for work on what it keeps, whether or not it answers requests.
    ///
    /// # Errors
    /// See [`NotOpen`].
    pub async fn open_suspended(self: &Arc<Self>, slot: &Arc<Slot>) -> Result<Arc<Realm>, NotOpen> {
        if let Some(realm) = slot.opened() {
            return Ok(Arc::clone(realm));
        }
        let Some(Opener { by, runtime }) = self.opens.get() else {
            return Err(NotOpen::Failed);
        };
        let opening = Arc::clone(slot).open(Arc::clone(self), Arc::clone(by));
        // The runtime of the process is stopping.
        let opened = runtime.spawn(opening).await;
        opened.unwrap_or(Err(NotOpen::Failed))
    }

    /// Every realm that is open, the first one first.
    pub fn all_opened(self: &Arc<Self>) -> Vec<Arc<Realm>> {
        let first = std::iter::once(Arc::clone(&self.first));
        first.chain(self.table().opened()).collect()
    }
}
