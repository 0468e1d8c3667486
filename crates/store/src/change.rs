//! Changes: at most one condition, all or nothing.
use crate::{Key, Row, StoreError};

/// Longest value, in bytes.
pub const MAX_VALUE_BYTES: usize = 1 << 20;

/// Most operations in [`Change::then`]: what a directory of declarations changes is one change.
pub const MAX_THEN: usize = 4096;

/// Operations that a writer of many independent rows puts into one change.
pub const COLLECTED: usize = 64;

/// One write. `end` is in Unix seconds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Op {
    /// Must not exist (an ended row does not exist). A row that has already ended is refused, never
    /// written: otherwise what may happen once could happen twice.
    Insert {
        /// where
        key: Key,
        /// what
        value: Vec<u8>,
        /// until when
        end: Option<u64>,
    },
    /// Must exist with this version.
    Replace {
        /// where
        key: Key,
        /// the version that was read
        version: u64,
        /// what
        value: Vec<u8>,
        /// until when
        end: Option<u64>,
    },
    /// Must exist with this version.
    Remove {
        /// where
        key: Key,
        /// the version that was read
        version: u64,
    },
    /// No condition.
    Put {
        /// where
        key: Key,
        /// what
        value: Vec<u8>,
        /// until when
        end: Option<u64>,
    },
    /// No condition.
    Delete {
        /// where
        key: Key,
    },
}

impl Op {
    /// The key that is written.
    pub fn key(&self) -> &Key {
        match self {
            Op::Insert { key, .. }
            | Op::Replace { key, .. }
            | Op::Remove { key, .. }
            | Op::Put { key, .. }
            | Op::Delete { key } => key,
        }
    }

    fn is_conditional(&self) -> bool {
        matches!(
            self,
            Op::Insert { .. } | Op::Replace { .. } | Op::Remove { .. }
        )
    }

    fn check(&self) -> Result<(), StoreError> {
        self.key().check()?;
        match self {
            Op::Insert { key, value, end }
            | Op::Put { key, value, end }
            | Op::Replace {
                key, value, end, ..
            } => {
                if value.len() > MAX_VALUE_BYTES {
                    return Err(StoreError::TooLarge);
                }
                if end.is_none() && key.table.must_end() {
                    return Err(StoreError::Invalid("a row of this table needs an end"));
                }
                Ok(())
            }
            Op::Remove { .. } | Op::Delete { .. } => Ok(()),
        }
    }
}

/// At most one conditional operation (`first`), then unconditional ones that are done if and only
/// if it held. All or nothing, durable before it is answered.
///
/// Only `first` may carry a condition: a distributed engine can then decide the change at one key.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Change {
    /// Decides.
    pub first: Op,
    /// [`Op::Put`] and [`Op::Delete`] only.
    pub then: Vec<Op>,
}

impl Change {
    /// One operation alone.
    pub fn new(first: Op) -> Change {
        Change {
            first,
            then: Vec::new(),
        }
    }

    /// Adds an unconditional operation.
    #[must_use]
    pub fn then(mut self, op: Op) -> Change {
        self.then.push(op);
        self
    }

    /// What every engine refuses before it looks at a row: conditions in `then`, rows without the
    /// end that they need, sizes above the bounds.
    ///
    /// # Errors
    /// [`StoreError::Invalid`] for the caller's mistakes, [`StoreError::TooLarge`] for sizes.
    pub fn check(&self) -> Result<(), StoreError> {
        self.first.check()?;
        if self.then.len() > MAX_THEN {
            return Err(StoreError::TooLarge);
        }
        for op in &self.then {
            if op.is_conditional() {
                return Err(StoreError::Invalid(
                    "only the first operation of a change may be conditional",
                ));
            }
            op.check()?;
        }
        Ok(())
    }
}

/// How a change ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// It was done, and it is durable.
    Done {
        /// The version of the row that `first` wrote; 0 for removals.
        version: u64,
    },
    /// The condition did not hold: the row as it is (None: it does not exist).
    Refused(Option<Row>),
}

impl Outcome {
    /// Whether the change was done.
    pub fn is_done(&self) -> bool {
        matches!(self, Outcome::Done { .. })
    }
}
