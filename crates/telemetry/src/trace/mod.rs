//! The steps of a request, as spans: what ran, when, within what, and with which of the attributes
//! that are allowed.
//!
//! - [`context`]: the headers that join a trace across processes (W3C Trace Context).
//! - [`Tracer`]: which requests are recorded, and where what was recorded waits.
//! - [`step`], [`within`]: one step. Which trace it belongs to is known to the thread while the
//!   request's future is polled, so that a step may lie many floors below the request.
//! - [`Handle`]: a place in a trace, for a thread that works for several requests at once.
mod attribute;
pub mod context;
mod current;
mod kept;
mod recorded;
mod recording;
mod sinks;
mod tracer;

pub use attribute::{Attribute, MAX_VALUE_CHARS, Value};
pub use current::{During, Step, during, is_recorded, note, outgoing, request, step, within};
pub use kept::{MAX_KEPT, MAX_KEPT_SPANS};
pub use recorded::{Finished, Kind, MAX_SPANS, Span};
pub use recording::Handle;
pub use sinks::MAX_WAITING_SPANS;
pub use tracer::{Arrived, Options, Own, Parents, Tracer};
