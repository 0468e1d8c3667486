//! What the realm tells and believes, whether or not this process is a node of several yet.

use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

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

/// What others tell, for a realm that may not be built yet.
#[derive(Default)]
pub(crate) struct Heard(Mutex<State>);

#[derive(Default)]
struct State {
    /// What came before the realm was there.
    early: Vec<(NodeId, Vec<Entry>)>,
    realm: Option<Weak<Realm>>,
}

impl Heard {
    /// The realm is there: it believes what came before, and what comes from now on.
    pub(crate) fn attach(&self, realm: &Arc<Realm>) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for (origin, entries) in state.early.drain(..) {
            realm.believe(&origin, &entries);
        }
        state.realm = Some(Arc::downgrade(realm));
    }

    /// The realm, if it is there.
    pub(crate) fn realm(&self) -> Option<Arc<Realm>> {
        let state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.realm.as_ref()?.upgrade()
    }
}

impl Believe for Heard {
    fn believe(&self, origin: &NodeId, entries: &[Entry]) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &state.realm {
            None => state.early.push((origin.clone(), entries.to_vec())),
            Some(realm) => {
                let realm = realm.upgrade();
                drop(state);
                if let Some(realm) = realm {
                    realm.believe(origin, entries);
                }
            }
        }
    }

    fn is_current(&self, entry: &Entry) -> bool {
        // What nobody can judge yet is kept.
        self.realm().is_none_or(|realm| realm.is_current(entry))
    }
}
