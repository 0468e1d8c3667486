//! Which other origins may read an answer (Fetch standard, "CORS protocol").
//!
//! Credentials are never allowed: what is readable across origins depends on a bearer token or a
//! client's own authentication, not on cookies.
use http::{HeaderMap, HeaderValue, header};
use signet_http::Response;
use signet_oauth::endpoint::Cors;
use signet_realm::state::Snapshot;

const EXPOSED: HeaderValue =
    HeaderValue::from_static("dpop-nonce, www-authenticate, retry-after, x-request-id");

/// The value for `Access-Control-Allow-Origin`, if this origin may read.
fn allowed(cors: Cors, headers: &HeaderMap, snapshot: &Snapshot) -> Option<HeaderValue> {
    let origin = headers.get(header::ORIGIN)?;
    match cors {
        Cors::No => None,
        Cors::Any => Some(HeaderValue::from_static("*")),
        // Some client's scripts run there.
        Cors::Registered => snapshot
            .registry
            .clients
            .tally()
            .has_origin(origin.to_str().ok()?)
            .then(|| origin.clone()),
    }
}

/// Adds what lets the calling origin read this answer.
pub(crate) fn mark(response: &mut Response, cors: Cors, headers: &HeaderMap, snapshot: &Snapshot) {
    if cors == Cors::Registered {
        // The answer depends on the origin, for caches on the way.
        response
            .headers_mut()
            .append(header::VARY, HeaderValue::from_static("Origin"));
    }
    if let Some(origin) = allowed(cors, headers, snapshot) {
        let out = response.headers_mut();
        out.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        out.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED);
    }
}

/// Adds what a preflight request asks for.
pub(crate) fn preflight(
    response: &mut Response,
    cors: Cors,
    headers: &HeaderMap,
    snapshot: &Snapshot,
    methods: &str,
) {
    mark(response, cors, headers, snapshot);
    let out = response.headers_mut();
    if !out.contains_key(header::ACCESS_CONTROL_ALLOW_ORIGIN) {
        return;
    }
    if let Ok(methods) = HeaderValue::from_str(methods) {
        out.insert(header::ACCESS_CONTROL_ALLOW_METHODS, methods);
    }
    out.insert(
        header::ACCESS_CONTROL_ALLOW_HEADERS,
        HeaderValue::from_static("authorization, content-type, dpop"),
    );
    out.insert(
        header::ACCESS_CONTROL_MAX_AGE,
        HeaderValue::from_static("600"),
    );
}
