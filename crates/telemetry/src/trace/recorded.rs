//! What was recorded of one request.
use super::{
    attribute::{Attribute, Value},
    context::{SpanId, TraceContext, TraceId},
};

/// Most spans of a trace; further ones are counted.
pub const MAX_SPANS: usize = 128;

/// Which side of a call a span is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A request that is answered.
    Server,
    /// A step within.
    Internal,
    /// A request to another server.
    Client,
}

/// One step.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Span {
    /// What it does: a name of the code.
    pub name: &'static str,
    /// The step that it is within, by its place in the list; none for the first.
    pub parent: Option<u32>,
    /// Which side of a call it is.
    pub kind: Kind,
    /// Nanoseconds since the trace began.
    pub begin: u64,
    /// Nanoseconds since the trace began.
    pub end: u64,
    /// What is said of it.
    pub attributes: Vec<(Attribute, Value)>,
    /// Whether it went wrong by this server's fault.
    pub failed: bool,
}

/// A request, or what a process did by itself, with all of its steps. The first span is the whole.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finished {
    /// The trace.
    pub trace: TraceId,
    /// The span of another process that the first one is within.
    pub parent: Option<SpanId>,
    /// A caller whose trace this is not: named beside it.
    pub link: Option<TraceContext>,
    /// `tracestate`, as it came.
    pub state: String,
    /// The request's id; empty for what is no request.
    pub request_id: String,
    /// When it began, Unix nanoseconds.
    pub began: u64,
    /// At least one.
    pub spans: Vec<Span>,
    /// Spans beyond [`MAX_SPANS`].
    pub dropped: u32,
    pub(super) seed: u64,
}

impl Finished {
    /// The name of a span, by its place in the list.
    pub fn span_id(&self, at: u32) -> SpanId {
        span_id(self.seed, at)
    }
}

/// Names that differ within a trace, from one random number.
pub(super) fn span_id(seed: u64, at: u32) -> SpanId {
    // An odd factor makes a permutation of all numbers: no two places have one name.
    let mixed = seed.wrapping_add(u64::from(at).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    SpanId::of(mixed.to_be_bytes())
}
