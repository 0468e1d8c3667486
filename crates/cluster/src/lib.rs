//! Nodes that tell each other what they believe.
//!
//! Knows no client, key or token: what travels is bytes with a name and a time, which the rooms
//! above merge.
#![forbid(unsafe_code)]

pub mod batch;
pub mod gossip;
pub mod identity;
pub mod join;
pub mod journal;
pub mod links;
pub mod member;
pub mod membership;
pub mod spread;
mod tls;
pub mod transport;

pub use signet_store::NodeId;
