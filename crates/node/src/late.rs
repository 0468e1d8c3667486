//! What the realm tells and believes, whether or not this process is a node of several yet.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use signet_cluster::spread::Spread;
use signet_crypto::Clock;
use signet_merge::entry::Entry;
use signet_merge::hlc::Stamp;
use signet_merge::tell::{Alone, Believe, BoxFuture, Receipt, Tell};
use signet_realm::state::Realm;
use signet_store::NodeId;

/// The realm's way to the other nodes, and theirs to it.
pub(crate) struct Late {
    /// While nobody is to be notified.
    alone: Alone,
    spread: OnceLock<Arc<Spread>>,
}

impl Late {
    /// Of the node with this name.
    pub(crate) fn new(node: NodeId, clock: Arc<dyn Clock>) -> Late {
        Late {
            alone: Alone::new(node, clock),
            spread: OnceLock::new(),
        }
    }

    /// Its name.
    pub(crate) fn name(&self) -> &str {
        self.alone.hlc().node().as_str()
    }

    /// From now on others are notified. What was written before has earlier stamps.
    pub(crate) fn join(&self, spread: Arc<Spread>) {
        spread.hlc().resume(&self.alone.stamp());
        // A process becomes a node once.
        let _ = self.spread.set(spread);
    }
}

impl Tell for Late {
    fn stamp(&self) -> Stamp {
        match self.spread.get() {
            Some(spread) => spread.stamp(),
            None => self.alone.stamp(),
        }
    }

    fn tell(&self, entries: Vec<Entry>) -> BoxFuture<'static, Receipt> {
        match self.spread.get() {
            Some(spread) => spread.tell(entries),
            None => self.alone.tell(entries),
        }
    }
}

/// What others tell, for realms of which the first may not be built yet.
#[derive(Default)]
pub(crate) struct Heard(Mutex<State>);

#[derive(Default)]
struct State {
    /// What came before the first realm was there.
    early: Vec<(NodeId, Vec<Entry>)>,
    realm: Option<Weak<Realm>>,
    /// Further realms that are open, by their names.
    others: HashMap<String, Weak<Realm>>,
}

impl State {
    fn named(&self, name: &str) -> Option<Arc<Realm>> {
        match name {
            "" => self.realm.as_ref()?.upgrade(),
            name => self.others.get(name)?.upgrade(),
        }
    }
}

impl Heard {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The realm is there: it believes what came before, and what comes from now on.
    pub(crate) fn attach(&self, realm: &Arc<Realm>) {
        let mut state = self.state();
        for (origin, entries) in state.early.drain(..) {
            realm.believe(&origin, &entries);
        }
        state.realm = Some(Arc::downgrade(realm));
    }

    /// A further realm is open: it believes what comes from now on.
    pub(crate) fn attach_further(&self, realm: &Arc<Realm>) {
        let name = realm.id().as_str().to_owned();
        self.state().others.insert(name, Arc::downgrade(realm));
    }

    /// A further realm is closed. What others tell of it is read when it is opened again.
    pub(crate) fn detach(&self, realm: &Arc<Realm>) {
        let mut state = self.state();
        let name = realm.id().as_str();
        let known = state.others.get(name);
        if known.is_some_and(|known| std::ptr::eq(known.as_ptr(), Arc::as_ptr(realm))) {
            state.others.remove(name);
        }
    }

    /// The first realm, if it is there.
    pub(crate) fn realm(&self) -> Option<Arc<Realm>> {
        self.named("")
    }

    /// The realm of this name, if it is open.
    pub(crate) fn named(&self, name: &str) -> Option<Arc<Realm>> {
        self.state().named(name)
    }

    /// All that are open.
    pub(crate) fn all(&self) -> Vec<Arc<Realm>> {
        let state = self.state();
        let others = state.others.values();
        let all = state.realm.iter().chain(others);
        all.filter_map(Weak::upgrade).collect()
    }
}

impl Believe for Heard {
    fn believe(&self, origin: &NodeId, entries: &[Entry]) {
        let mut state = self.state();
        if state.realm.is_none() {
            state.early.push((origin.clone(), entries.to_vec()));
            return;
        }
        let named: BTreeSet<&str> = entries.iter().map(|entry| &*entry.realm).collect();
        let realms: Vec<Arc<Realm>> = named.iter().filter_map(|name| state.named(name)).collect();
        drop(state);
        for realm in realms {
            // Each takes its own.
            realm.believe(origin, entries);
        }
    }

    fn is_current(&self, entry: &Entry) -> bool {
        let state = self.state();
        // What nobody can judge yet is kept.
        if state.realm.is_none() {
            return true;
        }
        let realm = state.named(&entry.realm);
        drop(state);
        // A realm that is not open reads the store when it is opened.
        realm.is_some_and(|realm| realm.is_current(entry))
    }
}
