//! A process that is watched: what it records is sent to an OpenTelemetry collector
//! ([`Exporter`]), and one request's way is shown at a terminal ([`Trace`]).
//!
//! Nothing here is waited for by a request. What waits to be sent is bounded, and dropped and
//! counted beyond that; a collector that is down, slow or answers nonsense costs what waits, and
//! nothing else.
#![forbid(unsafe_code)]

mod collector;
mod encode;
mod export;
mod show;
pub mod steps;

pub use collector::{LONGEST_ATTEMPT, MAX_ANSWER_BYTES, MAX_ATTEMPTS, MAX_RETRY_AFTER};
pub use export::{Exporter, Gathering, LONGEST_FAREWELL, MAX_BATCH};
pub use show::Trace;
