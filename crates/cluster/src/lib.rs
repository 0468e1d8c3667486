//! Nodes that tell each other what they believe.
//!
//! Knows no client, key or token: what travels is bytes with a name and a time, which the rooms
//! above merge.
#![forbid(unsafe_code)]

pub mod crdt;
pub mod entry;
pub mod hlc;
pub mod spread;

pub use signet_store::NodeId;
