//! One request's steps, as the admin API answers them.
use schemars::JsonSchema;
use serde::Serialize;
use signet_telemetry::trace::{Finished, Kind, Span, Value as Said};
use std::collections::BTreeMap;

/// A request of the last ones of a development server.
#[derive(Serialize, JsonSchema)]
pub struct Trace {
    /// The request's id; empty for what the server did by itself.
    pub request_id: String,
    /// The trace, 32 hex digits.
    pub trace_id: String,
    /// The caller's span, where its `traceparent` was continued.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub caller: Option<String>,
    /// When it began, Unix milliseconds.
    pub began_at_ms: u64,
    /// The first one is the whole.
    pub spans: Vec<Step>,
    /// Steps beyond those that are kept of one request.
    pub dropped: u32,
}

/// A step.
#[derive(Serialize, JsonSchema)]
pub struct Step {
    /// Its name in the trace, 16 hex digits.
    pub id: String,
    /// The step that it lies within.
    pub parent: Option<String>,
    /// What was done.
    pub name: &'static str,
    /// `server`, `internal` or `client`.
    pub kind: &'static str,
    /// Microseconds since the request came in.
    pub begin_us: u64,
    /// Microseconds.
    pub took_us: u64,
    /// What is said of it; never a secret, a query or a body.
    pub attributes: BTreeMap<&'static str, serde_json::Value>,
    /// Whether it went wrong by the server's fault.
    pub failed: bool,
}

impl Trace {
    /// As it is shown.
    pub fn of(found: &Finished) -> Trace {
        let spans = found.spans.iter().zip(0..);
        Trace {
            request_id: found.request_id.clone(),
            trace_id: found.trace.to_string(),
            caller: found.parent.map(|parent| parent.to_string()),
            began_at_ms: found.began / 1_000_000,
            spans: spans.map(|(span, at)| step(found, at, span)).collect(),
            dropped: found.dropped,
        }
    }
}

fn step(found: &Finished, at: u32, span: &Span) -> Step {
    let attributes = span.attributes.iter().map(|(name, value)| {
        let value = match value {
            Said::Text(text) => text.as_ref().into(),
            Said::Number(number) => (*number).into(),
        };
        (name.name(), value)
    });
    Step {
        id: found.span_id(at).to_string(),
        parent: span.parent.map(|parent| found.span_id(parent).to_string()),
        name: span.name,
        kind: match span.kind {
            Kind::Server => "server",
            Kind::Internal => "internal",
            Kind::Client => "client",
        },
        begin_us: span.begin / 1000,
        took_us: span.end.saturating_sub(span.begin) / 1000,
        attributes: attributes.collect(),
        failed: span.failed,
    }
}
