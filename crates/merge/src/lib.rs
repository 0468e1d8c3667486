//! What nodes know of one thing, such that what several of them wrote merges to the same on each.
//!
//! - [`crdt`]: the state of one record, and the fragment of it that carries a change.
//! - [`hlc`]: when something was written, on clocks that differ.
//! - [`entry`]: one statement about one thing, as it travels.
//! - [`tell`](mod@tell): telling the others and believing them, as two traits.
//!
//! Values without I/O: `signet-cluster` signs and carries them, and the rooms that hold records
//! need not know how.
#![forbid(unsafe_code)]

pub mod crdt;
pub mod entry;
pub mod hlc;
pub mod tell;
