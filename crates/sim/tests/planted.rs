//! Faults that are planted, to see that they are found.
use crate::random::Random;
use signet_consensus::ReplicatedStore;
use signet_store::{Change, Key, Layer, Op, Outcome, RealmId, RealmStore, Row, Store, StoreFuture};
use std::sync::Arc;

/// What is wrong with the world, beside what should be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Planted {
    Nothing,
    /// Some of those who come second get the answer that they were first.
    DoubleRedemption,
    /// Some changes are answered, and never made.
    LostWrite,
    /// Reads are of the node's own rows, without asking how far the others are.
    StaleRead,
    /// The realms' rows are not kept apart.
    OneRealm,
    /// Disks say that they have flushed, and have not; all nodes crash together.
    LyingDisks,
    /// The last node number that was given out is not counted on.
    NumberTwice,
    /// A store that is left does not say where its rows went.
    TwoStores,
    /// A key signs as soon as it is made.
    KeyAtOnce,
    /// A key is removed as soon as it signs no more.
    KeyForgotten,
}

struct Wrong {
    store: Arc<ReplicatedStore>,
    planted: Planted,
    random: Random,
}

impl Planted {
    /// What a realm sees of a store.
    pub(crate) fn view(self, realm: RealmId, store: Arc<dyn Store>) -> Arc<dyn Store> {
        let realm = match self {
            Planted::OneRealm => RealmId::default_realm(),
            Planted::Nothing
            | Planted::DoubleRedemption
            | Planted::LostWrite
            | Planted::StaleRead
            | Planted::LyingDisks
            | Planted::NumberTwice
            | Planted::TwoStores
            | Planted::KeyAtOnce
            | Planted::KeyForgotten => realm,
        };
        Arc::new(RealmStore::new(&realm, store))
    }

    /// What callers of a node's store see of it.
    pub(crate) fn over(self, store: Arc<ReplicatedStore>, random: &Random) -> Arc<dyn Store> {
        match self {
            Planted::Nothing
            | Planted::OneRealm
            | Planted::LyingDisks
            | Planted::NumberTwice
            | Planted::TwoStores
            | Planted::KeyAtOnce
            | Planted::KeyForgotten => store,
            Planted::DoubleRedemption | Planted::LostWrite | Planted::StaleRead => {
                Arc::new(Wrong {
                    store,
                    planted: self,
                    random: random.fork(),
                })
            }
        }
    }
}

/// Counts no number on.
struct NotCounted(Arc<ReplicatedStore>);

impl Planted {
    /// Where a member that lets others in counts the numbers that it gives.
    pub(crate) fn numbers(self, store: Arc<ReplicatedStore>) -> Arc<dyn Store> {
        match self {
            Planted::NumberTwice => Arc::new(NotCounted(store)),
            Planted::Nothing
            | Planted::DoubleRedemption
            | Planted::LostWrite
            | Planted::StaleRead
            | Planted::OneRealm
            | Planted::LyingDisks
            | Planted::TwoStores
            | Planted::KeyAtOnce
            | Planted::KeyForgotten => store,
        }
    }
}

impl Layer for NotCounted {
    fn inner(&self) -> &dyn Store {
        &*self.0
    }

    fn commit(&self, mut change: Change, now: u64) -> StoreFuture<'_, Outcome> {
        if let (Op::Replace { .. }, true) = (&change.first, !change.then.is_empty()) {
            change.first = change.then.remove(0);
        }
        self.0.commit(change, now)
    }
}

const DONE: Outcome = Outcome::Done { version: 1 };

impl Wrong {
    fn answered(&self, change: &Change, outcome: Outcome) -> Outcome {
        let wrong = self.planted == Planted::DoubleRedemption
            && matches!(change.first, Op::Insert { .. })
            && self.random.permille(100);
        if wrong { DONE } else { outcome }
    }

    fn loses(&self) -> bool {
        self.planted == Planted::LostWrite && self.random.permille(30)
    }
}

impl Layer for Wrong {
    fn inner(&self) -> &dyn Store {
        &*self.store
    }

    fn get<'a>(&'a self, key: &'a Key, now: u64) -> StoreFuture<'a, Option<Row>> {
        match self.planted {
            Planted::StaleRead => self.store.engine().get(key, now),
            Planted::Nothing
            | Planted::DoubleRedemption
            | Planted::LostWrite
            | Planted::OneRealm
            | Planted::LyingDisks
            | Planted::NumberTwice
            | Planted::TwoStores
            | Planted::KeyAtOnce
            | Planted::KeyForgotten => self.store.get(key, now),
        }
    }

    fn commit(&self, change: Change, now: u64) -> StoreFuture<'_, Outcome> {
        Box::pin(async move {
            if self.loses() {
                return Ok(DONE);
            }
            let outcome = self.store.commit(change.clone(), now).await?;
            Ok(self.answered(&change, outcome))
        })
    }

    fn commit_each(&self, changes: Vec<Change>, now: u64) -> StoreFuture<'_, Vec<Outcome>> {
        Box::pin(async move {
            if self.loses() {
                return Ok(vec![DONE; changes.len()]);
            }
            let outcomes = self.store.commit_each(changes.clone(), now).await?;
            let both = changes.iter().zip(outcomes);
            Ok(both
                .map(|(change, outcome)| self.answered(change, outcome))
                .collect())
        })
    }
}
