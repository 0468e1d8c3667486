//! Faults that tests inject: where a call may end as if its node had died, and where an answer may
//! be lost.
use std::{fmt, sync::Arc};

/// Where.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Point {
    /// The row that decides is locked.
    HomeLocked,
    /// All rows are locked.
    AllLocked,
    /// It is decided; no other row is written.
    Decided,
    /// Some other rows are written.
    SomeApplied,
    /// All are written; the row that decided does not know yet.
    AllApplied,
    /// The answer to a write of one row is lost.
    WriteAnswer,
    /// The answer to the first lock is lost.
    LockAnswer,
    /// The answer to a further lock is lost.
    OtherLockAnswer,
    /// The answer to the decision is lost.
    DecideAnswer,
}

impl Point {
    /// All of them.
    pub const ALL: [Point; 9] = [
        Point::HomeLocked,
        Point::AllLocked,
        Point::Decided,
        Point::SomeApplied,
        Point::AllApplied,
        Point::WriteAnswer,
        Point::LockAnswer,
        Point::OtherLockAnswer,
        Point::DecideAnswer,
    ];
}

type Strikes = dyn Fn(Point) -> bool + Send + Sync;

/// Says at each point whether the fault strikes there.
#[derive(Clone)]
pub struct Fault(Arc<Strikes>);

impl Fault {
    /// By a function.
    pub fn new(strikes: impl Fn(Point) -> bool + Send + Sync + 'static) -> Fault {
        Fault(Arc::new(strikes))
    }

    pub(crate) fn strikes(&self, point: Point) -> bool {
        (self.0)(point)
    }
}

impl fmt::Debug for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fault").finish_non_exhaustive()
    }
}
