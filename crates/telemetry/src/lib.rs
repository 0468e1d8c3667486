//! What a process tells of itself, as far as every crate may tell it: the steps of a request
//! ([`trace`]), and what is counted ([`metrics`]).
//!
//! A request that is not recorded costs a branch at each step: whether it is, is a flag of the
//! thread that works for it. What is recorded has its names, and its attributes' names, from this
//! crate: there is no place for a secret, a query or a body.
//!
//! It opens no connection and reads no clock but the monotonic one. What is kept here is handed to
//! whoever exports it.
#![forbid(unsafe_code)]

pub mod logs;
pub mod metrics;
mod queue;
pub mod trace;

pub use queue::Queue;
