//! What a fault can reach, and what it did.

use std::{cell::Cell, path::PathBuf, rc::Rc, time::Duration};

use crate::{cluster::Cluster, history::Recorder, postgres::Servers, worker::Shared};

/// How a run goes.
#[derive(Clone, Debug)]
pub struct Options {
    /// The program under test.
    pub binary: PathBuf,
    /// Whether it was built without optimisation.
    pub unoptimised: bool,
    /// An earlier one.
    pub old: Option<PathBuf>,
    /// How long a fault lasts.
    pub hold: Duration,
    /// Before it, and after it is healed.
    pub margin: Duration,
    /// Between two rounds of a client.
    pub pause: Duration,
}

/// What a fault can reach.
pub struct Scene {
    /// The cluster.
    pub cluster: Rc<Cluster>,
    /// What happened is written down.
    pub recorder: Rc<Recorder>,
    /// What its clients share.
    pub clients: Rc<Shared>,
    /// How it goes.
    pub options: Options,
    /// Whether every flow was tried at each node that was left.
    pub at_each: Cell<bool>,
    /// The databases, where rows are in one.
    pub databases: Option<Servers>,
    /// The small disk of a node, where it has one.
    pub disks: Vec<PathBuf>,
}

/// What a fault did.
#[derive(Clone, Debug, Default)]
pub struct Struck {
    /// When it began.
    pub from: Duration,
    /// How long all nodes took to agree again once it was taken away.
    pub heal: Duration,
    /// Nodes that cannot answer meanwhile what needs the store: dead, paused, in a minority.
    pub apart: Vec<usize>,
}
