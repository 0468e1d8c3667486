//! From a configuration to a process: its store, what its realms share, and its realms.
//!
//! [`begin`] makes what all realms share, once, and the first realm. Further ones are made of their
//! records in the same way, by the same function ([`further`]).
#![forbid(unsafe_code)]

mod audit;
mod first;
mod further;
mod host;
pub mod node_options;
mod people;
mod realm;
pub mod store;

pub use first::{Development, Start, begin, complete, keep_keys};
pub use further::{Further, keep};
pub use host::rehearse;
pub use people::mailer;
