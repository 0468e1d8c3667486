//! How what a node tells reaches the others: the [engine](crate::gossip) with threads, a clock, a
//! journal and the streams.
//!
//! Signing and verifying are done by two threads of their own, the journal and the passing of time
//! by a third; whoever tells only leaves entries behind, and what queues up while a batch is signed
//! goes into the next one. Nothing here is on a request's way.
mod believe;
mod driver;

pub use crate::gossip::{PeerStatus, Status};
pub use driver::{Spread, SpreadParts};
