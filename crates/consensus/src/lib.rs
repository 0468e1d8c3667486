//! The embedded store, replicated by consensus.
#![forbid(unsafe_code)]

mod member;
mod network;

pub use member::{Member, Role, Status};
pub use network::{CallFuture, Network, NetworkError};
pub use signet_store::NodeId;

/// Most bytes of a message between two nodes of a replicated store
pub const MAX_MESSAGE: usize = 8 << 20;
