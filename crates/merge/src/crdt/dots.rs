//! Which writes of which nodes: for each node its newest stamp.
use crate::hlc::Stamp;
use signet_store::NodeId;

/// At most one stamp of a node, in order of the nodes. It covers all of the node's earlier ones.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(super) struct Dots(Vec<Stamp>);

impl Dots {
    fn place(&self, node: &NodeId) -> Result<usize, usize> {
        self.0.binary_search_by(|own| own.node.cmp(node))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Stamp> {
        self.0.iter()
    }

    /// Whether this write, or a later one of its node, is among them.
    pub(super) fn covers(&self, stamp: &Stamp) -> bool {
        self.place(&stamp.node).is_ok_and(|at| self.0[at] >= *stamp)
    }

    /// Whether exactly this write is among them.
    pub(super) fn has(&self, stamp: &Stamp) -> bool {
        self.place(&stamp.node).is_ok_and(|at| self.0[at] == *stamp)
    }

    /// Whether it was news.
    pub(super) fn insert(&mut self, stamp: &Stamp) -> bool {
        match self.place(&stamp.node) {
            Ok(at) if self.0[at] >= *stamp => false,
            Ok(at) => {
                self.0[at] = stamp.clone();
                true
            }
            Err(at) => {
                self.0.insert(at, stamp.clone());
                true
            }
        }
    }

    pub(super) fn join(&mut self, other: &Dots) {
        for stamp in other.iter() {
            self.insert(stamp);
        }
    }

    pub(super) fn retain(&mut self, keep: impl FnMut(&Stamp) -> bool) {
        self.0.retain(keep);
    }

    /// Those that the other one does not cover.
    pub(super) fn beyond(&self, other: &Dots) -> Dots {
        let mut beyond = self.clone();
        beyond.retain(|stamp| !other.covers(stamp));
        beyond
    }

    /// From stamps in order of their nodes; None if they are not.
    pub(super) fn from_sorted(stamps: Vec<Stamp>) -> Option<Dots> {
        let ascending = stamps.windows(2).all(|two| two[0].node < two[1].node);
        ascending.then_some(Dots(stamps))
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }
}
