//! A trace while it is recorded, and a place in it.
use super::{
    attribute::{Attribute, Value},
    context::{SpanId, TraceContext, TraceId},
    recorded::{Finished, Kind, MAX_SPANS, Span, span_id},
    sinks::Sinks,
};
use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
    time::Instant,
};

/// A place in a trace: a span that further ones are within.
#[derive(Clone, Debug)]
pub struct Handle {
    pub(super) trace: Arc<Trace>,
    pub(super) span: u32,
}

/// A trace that is being recorded.
pub(super) struct Trace {
    pub(super) sinks: Arc<Sinks>,
    pub(super) records: bool,
    pub(super) exported: bool,
    pub(super) propagates: bool,
    pub(super) id: TraceId,
    pub(super) parent: Option<SpanId>,
    pub(super) link: Option<TraceContext>,
    pub(super) state: String,
    pub(super) request_id: String,
    pub(super) at: Instant,
    pub(super) began: u64,
    pub(super) seed: u64,
    /// With how many more there were.
    pub(super) spans: Mutex<(Vec<Span>, u32)>,
}

impl fmt::Debug for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Trace").field(&self.id).finish()
    }
}

/// A span that there was no room for.
const NONE: u32 = u32::MAX;

impl Trace {
    fn since(&self, at: Instant) -> u64 {
        let since = at.saturating_duration_since(self.at);
        u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
    }

    fn spans<T>(&self, change: impl FnOnce(&mut Vec<Span>, &mut u32) -> T) -> T {
        let mut spans = self.spans.lock().unwrap_or_else(PoisonError::into_inner);
        let (spans, dropped) = &mut *spans;
        change(spans, dropped)
    }

    fn push(&self, span: Span) -> u32 {
        self.spans(|spans, dropped| {
            if spans.len() >= MAX_SPANS {
                *dropped += 1;
                return NONE;
            }
            spans.push(span);
            u32::try_from(spans.len() - 1).unwrap_or(NONE)
        })
    }

    pub(super) fn begin(&self, name: &'static str, parent: u32, kind: Kind) -> u32 {
        let begin = self.since(Instant::now());
        self.push(Span {
            name,
            parent: Some(parent).filter(|parent| *parent != NONE),
            kind,
            begin,
            // Until it ends: what is never ended was dropped.
            end: begin,
            attributes: Vec::new(),
            failed: false,
        })
    }

    pub(super) fn add(
        &self,
        name: &'static str,
        parent: u32,
        from: Instant,
        until: Instant,
    ) -> u32 {
        self.push(Span {
            name,
            parent: Some(parent).filter(|parent| *parent != NONE),
            kind: Kind::Internal,
            begin: self.since(from),
            end: self.since(until),
            attributes: Vec::new(),
            failed: false,
        })
    }

    fn at<T>(&self, span: u32, change: impl FnOnce(&mut Span) -> T) -> Option<T> {
        self.spans(|spans, _| spans.get_mut(span as usize).map(change))
    }

    pub(super) fn end(&self, span: u32) {
        let now = self.since(Instant::now());
        self.at(span, |span| span.end = now);
    }

    pub(super) fn is_client(&self, span: u32) {
        self.at(span, |span| span.kind = Kind::Client);
    }

    pub(super) fn note(&self, span: u32, attribute: Attribute, value: Value) {
        self.at(span, |span| span.attributes.push((attribute, value)));
    }

    /// What a call from within a span says.
    pub(super) fn context(&self, span: u32) -> TraceContext {
        let own = match (self.records, self.parent) {
            (false, Some(parent)) => parent,
            _ => span_id(self.seed, if span == NONE { 0 } else { span }),
        };
        TraceContext {
            trace: self.id,
            span: own,
            sampled: self.exported,
            state: self.state.clone(),
        }
    }
}

impl Handle {
    /// A step that another thread did for it, from and until then.
    pub fn add(&self, name: &'static str, from: Instant, until: Instant) -> Handle {
        let span = self.trace.add(name, self.span, from, until);
        Handle {
            trace: Arc::clone(&self.trace),
            span,
        }
    }

    /// Says something of it.
    pub fn note(&self, attribute: Attribute, value: impl Into<Value>) {
        self.trace.note(self.span, attribute, value.into());
    }

    /// The names of its trace and its span, as the log has them.
    pub fn ids(&self) -> (String, String) {
        let context = self.trace.context(self.span);
        (context.trace.to_string(), context.span.to_string())
    }

    pub(super) fn begin(&self, name: &'static str, kind: Kind) -> Handle {
        let span = self.trace.begin(name, self.span, kind);
        Handle {
            trace: Arc::clone(&self.trace),
            span,
        }
    }

    /// The whole is over. `failed`: by this server's fault.
    pub fn finish(self, failed: bool) {
        let trace = &*self.trace;
        if !trace.records {
            return;
        }
        let now = trace.since(Instant::now());
        let (mut spans, dropped) = trace.spans(|spans, dropped| (std::mem::take(spans), *dropped));
        let Some(whole) = spans.first_mut() else {
            return;
        };
        (whole.end, whole.failed) = (now, failed);
        let finished = Arc::new(Finished {
            trace: trace.id,
            parent: trace.parent,
            link: trace.link.clone(),
            state: trace.state.clone(),
            request_id: trace.request_id.clone(),
            began: trace.began,
            spans,
            dropped,
            seed: trace.seed,
        });
        trace.sinks.put(finished, trace.exported);
    }
}
