//! The trace of a request: where it begins, and what it says of the whole.
use super::context::LogNotes;
use http::{HeaderMap, HeaderValue, Method};
use signet_http::{Connection, RequestId};
use signet_realm::state::Host;
use signet_telemetry::trace::{
    Arrived, Attribute, Handle,
    context::{TRACEPARENT, TRACESTATE, TraceContext},
};
use std::time::Instant;

/// Methods that are named; of others nothing is repeated.
const METHODS: [&str; 7] = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"];

/// The trace of a request, where it has one. What its headers say counts as far as the
/// configuration lets it.
pub(super) fn begin(
    host: &Host,
    connection: &Connection,
    headers: &HeaderMap,
    request_id: RequestId,
    at: Instant,
) -> Option<Handle> {
    let policy = &host.policy;
    if !policy.tracer.is_on() {
        return None;
    }
    let context = match headers.contains_key(TRACEPARENT) {
        true => {
            let fields = |name| headers.get_all(name).into_iter().map(HeaderValue::as_bytes);
            TraceContext::read(fields(TRACEPARENT), fields(TRACESTATE))
        }
        false => None,
    };
    let arrived = Arrived {
        request_id: request_id.bytes(),
        // Whose word it is matters only where there is one.
        by_proxy: context.is_some() && policy.is_of_proxy(connection.peer, headers),
        context,
        at,
        now_ms: host.now_ms(),
    };
    policy.tracer.begin(arrived, signet_crypto::random::bytes)
}

/// Ends it, and says of the whole what the log's line says, but no address and no hint: names of
/// the code, and who has authenticated.
pub(super) fn finish(
    trace: Handle,
    method: &Method,
    route: &'static str,
    status: u16,
    notes: &LogNotes,
) {
    let known = METHODS.into_iter().find(|known| *known == method.as_str());
    trace.note(Attribute::Method, known.unwrap_or("_OTHER"));
    trace.note(Attribute::Route, route);
    trace.note(Attribute::Status, u64::from(status));
    if let Some(client_id) = notes.client_id.get() {
        trace.note(Attribute::ClientId, client_id.clone());
    }
    if let Some((grant, _)) = notes.grant.get() {
        trace.note(Attribute::GrantType, grant.as_str());
    }
    if let Some((error, _)) = notes.error.get() {
        trace.note(Attribute::Error, *error);
    }
    trace.finish(status >= 500);
}
