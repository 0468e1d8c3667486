//! The embedded store, replicated by consensus.
#![forbid(unsafe_code)]

pub use signet_store::NodeId;
