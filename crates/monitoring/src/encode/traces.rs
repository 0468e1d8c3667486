//! Traces.
use super::{number, scope, text};
use serde_json::{Value, json};
use signet_telemetry::trace::{Attribute, Finished, Kind, Span, Value as Said};
use std::sync::Arc;

/// An `ExportTraceServiceRequest`.
pub(crate) fn traces(resource: &Value, traces: &[Arc<Finished>]) -> Value {
    let spans: Vec<Value> = traces
        .iter()
        .flat_map(|trace| {
            let spans = trace.spans.iter().enumerate();
            spans.map(|(at, one)| span(trace, u32::try_from(at).unwrap_or(u32::MAX), one))
        })
        .collect();
    json!({ "resourceSpans": [{
        "resource": resource,
        "scopeSpans": [{ "scope": scope(), "spans": spans }],
    }]})
}

fn span(trace: &Finished, at: u32, span: &Span) -> Value {
    let mut attributes: Vec<Value> = span
        .attributes
        .iter()
        .map(|(name, value)| match value {
            Said::Text(value) => text(name.name(), value),
            Said::Number(value) => number(name.name(), *value),
        })
        .collect();
    let parent = match span.parent {
        Some(parent) => Some(trace.span_id(parent).to_string()),
        None => trace.parent.map(|parent| parent.to_string()),
    };
    let mut out = json!({
        "traceId": trace.trace.to_string(),
        "spanId": trace.span_id(at).to_string(),
        "name": name(span),
        // Unspecified is 0.
        "kind": match span.kind {
            Kind::Internal => 1,
            Kind::Server => 2,
            Kind::Client => 3,
        },
        "startTimeUnixNano": trace.began.saturating_add(span.begin).to_string(),
        "endTimeUnixNano": trace.began.saturating_add(span.end).to_string(),
        "flags": 1,
    });
    if let Some(parent) = parent {
        out["parentSpanId"] = parent.into();
    }
    if at == 0 {
        if !trace.request_id.is_empty() {
            attributes.push(text(Attribute::RequestId.name(), &trace.request_id));
        }
        if !trace.state.is_empty() {
            out["traceState"] = trace.state.clone().into();
        }
        if trace.dropped > 0 {
            attributes.push(number("signet.dropped_spans", trace.dropped.into()));
        }
        if let Some(link) = &trace.link {
            out["links"] = json!([{
                "traceId": link.trace.to_string(),
                "spanId": link.span.to_string(),
            }]);
        }
    }
    out["attributes"] = attributes.into();
    if span.failed {
        // STATUS_CODE_ERROR
        out["status"] = json!({ "code": 2 });
    }
    out
}

/// A request is called by its method and its route, as the semantic conventions have it.
fn name(span: &Span) -> String {
    let of = |wanted: Attribute| {
        span.attributes
            .iter()
            .find_map(|(name, value)| match value {
                Said::Text(text) if *name == wanted => Some(text),
                Said::Text(_) | Said::Number(_) => None,
            })
    };
    match (of(Attribute::Method), of(Attribute::Route)) {
        (Some(method), Some(route)) => format!("{method} {route}"),
        _ => span.name.to_owned(),
    }
}
