//! Liveness, readiness and metrics: for the machinery around the process, not for clients.
use crate::http::{Context, Response, Router, response};
use http::StatusCode;
use signet_store::StoreError;
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

/// What a server on a full disk says: it answers what it can, so requests may still be sent to it,
/// and somebody has to make space.
const FULL: &str = "degraded: the disk is full; reads, introspection, keys and revocations go on, \
                    what would be written is refused\n";

/// The store reads and writes, and there is a key to sign with. On a full disk the answer is 200
/// still, and says so.
async fn ready(context: Context) -> Response {
    let unavailable = |text: &'static str| response::text(StatusCode::SERVICE_UNAVAILABLE, text);
    if !context.snapshot.keys.is_ready() {
        return unavailable("no signing key\n");
    }
    let (store, audit) = (&context.realm.store, context.realm.audit());
    let checked = store.check().await;
    let full = store.is_full() || audit.is_full();
    match checked {
        Err(StoreError::Unavailable(_)) | Ok(()) if full => response::text(StatusCode::OK, FULL),
        Err(error) => {
            tracing::error!(%error, "the store is not ready");
            unavailable("store unavailable\n")
        }
        Ok(()) if !audit.is_writing() => unavailable("audit trail not written\n"),
        Ok(()) => response::text(StatusCode::OK, "ready\n"),
    }
}

/// Prometheus text. For this machine only, unless the configuration opens it: metrics tell an
/// unauthenticated caller about load and attacks.
async fn metrics(context: Context) -> Response {
    if !context.realm.host.policy.open_metrics && !context.peer.is_loopback() {
        return response::text(StatusCode::NOT_FOUND, "not found\n");
    }
    let (lines, dropped) = context.realm.audit().figures();
    let metrics = &context.realm.host.metrics;
    metrics.audit_lines.store(lines, Relaxed);
    metrics.audit_dropped.store(dropped, Relaxed);
    let full = context.realm.store.is_full() || context.realm.audit().is_full();
    metrics.disk_full.store(full.into(), Relaxed);
    response::body(
        StatusCode::OK,
        signet_http::metrics::MEDIA_TYPE,
        context.realm.host.metrics.render(),
    )
}
