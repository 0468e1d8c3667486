//! Liveness, readiness and metrics: for the machinery around the process, not for clients.
use crate::http::{Context, Response, Router, response};
use http::StatusCode;
use std::sync::atomic::Ordering::Relaxed;

/// Adds `/health/live`, `/health/ready` and `/metrics`.
pub fn routes(router: &mut Router) {
    router
        .get("/health/live", live)
        .get("/health/ready", ready)
        .get("/metrics", metrics);
}

/// The process answers.
async fn live(_context: Context) -> Response {
    response::text(StatusCode::OK, "live\n")
}

/// The store reads and writes, and there is a key to sign with.
async fn ready(context: Context) -> Response {
    if !context.snapshot.keys.is_ready() {
        return response::text(StatusCode::SERVICE_UNAVAILABLE, "no signing key\n");
    }
    if !context.realm.audit().is_writing() {
        return response::text(StatusCode::SERVICE_UNAVAILABLE, "audit trail not written\n");
    }
    match context.realm.store.check().await {
        Ok(()) => response::text(StatusCode::OK, "ready\n"),
        Err(error) => {
            tracing::error!(%error, "the store is not ready");
            response::text(StatusCode::SERVICE_UNAVAILABLE, "store unavailable\n")
        }
    }
}

/// Prometheus text. For this machine only, unless the configuration opens it: metrics tell an unauthenticated caller about load and attacks.
async fn metrics(context: Context) -> Response {
    if !context.realm.host.policy.open_metrics && !context.peer.is_loopback() {
        return response::text(StatusCode::NOT_FOUND, "not found\n");
    }
    let (lines, dropped) = context.realm.audit().figures();
    let metrics = &context.realm.host.metrics;
    metrics.audit_lines.store(lines, Relaxed);
    metrics.audit_dropped.store(dropped, Relaxed);
    response::body(
        StatusCode::OK,
        signet_http::metrics::MEDIA_TYPE,
        context.realm.host.metrics.render(),
    )
}
