//! What callers ask of the engine, as values on its queues.
use super::queue::{Job, Reply};
use crate::{Change, Key, Op, Outcome, Row, StoreError, Table};

/// A job of the writers.
pub(super) enum Write {
    Commit {
        change: Change,
        now: u64,
        reply: Reply<Outcome>,
    },
    CommitEach {
        changes: Vec<Change>,
        now: u64,
        reply: Reply<Vec<Outcome>>,
    },
    Take {
        key: Key,
        now: u64,
        reply: Reply<Option<Row>>,
    },
    Restore {
        rows: Vec<(Key, Option<Row>)>,
        now: u64,
        reply: Reply<()>,
    },
    Check {
        reply: Reply<()>,
    },
}

fn value_of(op: &Op) -> usize {
    match op {
        Op::Insert { value, .. } | Op::Replace { value, .. } | Op::Put { value, .. } => value.len(),
        Op::Remove { .. } | Op::Delete { .. } => 0,
    }
}

fn ops(change: &Change) -> impl Iterator<Item = &Op> {
    std::iter::once(&change.first).chain(&change.then)
}

impl Job for Write {
    // A caller that has gone away is no reason to stop: sending may fail, here and below.
    fn fail(self, error: StoreError) {
        match self {
            Write::Commit { reply, .. } => drop(reply.send(Err(error))),
            Write::CommitEach { reply, .. } => drop(reply.send(Err(error))),
            Write::Take { reply, .. } => drop(reply.send(Err(error))),
            Write::Restore { reply, .. } | Write::Check { reply } => drop(reply.send(Err(error))),
        }
    }

    fn weight(&self) -> usize {
        match self {
            Write::Commit { change, .. } => ops(change).map(value_of).sum(),
            Write::CommitEach { changes, .. } => changes.iter().flat_map(ops).map(value_of).sum(),
            Write::Restore { rows, .. } => {
                let values = rows.iter().filter_map(|(_, row)| row.as_ref());
                values.map(|row| row.value.len()).sum()
            }
            Write::Take { .. } | Write::Check { .. } => 0,
        }
    }
}

/// A job of the readers.
pub(super) enum Read {
    Get {
        key: Key,
        now: u64,
        reply: Reply<Option<Row>>,
    },
    Partition {
        table: Table,
        partition: Vec<u8>,
        after: Vec<u8>,
        limit: usize,
        now: u64,
        reply: Reply<Vec<(Key, Row)>>,
    },
    Page {
        table: Table,
        after: Option<Key>,
        limit: usize,
        now: u64,
        reply: Reply<Vec<(Key, Row)>>,
    },
    Sweep {
        now: u64,
        limit: usize,
        reply: Reply<usize>,
    },
}

impl Job for Read {
    fn fail(self, error: StoreError) {
        match self {
            Read::Get { reply, .. } => drop(reply.send(Err(error))),
            Read::Partition { reply, .. } | Read::Page { reply, .. } => {
                drop(reply.send(Err(error)));
            }
            Read::Sweep { reply, .. } => drop(reply.send(Err(error))),
        }
    }

    fn weight(&self) -> usize {
        1
    }
}
