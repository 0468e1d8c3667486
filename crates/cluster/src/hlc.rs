//! Hybrid logical time.
use signet_store::NodeId;

/// When something was written: Unix milliseconds by the writer's hybrid clock, a counter within the
/// millisecond, and the writer. Ordered in this order; no two writes have the same.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Stamp {
    /// Unix milliseconds.
    pub ms: u64,
    /// Within the millisecond.
    pub seq: u32,
    /// Who wrote.
    pub node: NodeId,
}
