//! Liveness, readiness and metrics: for the machinery around the process, not for clients.
use crate::{node_metrics, process_metrics, realm_metrics};
use http::StatusCode;
use signet_realm::nodes::{Standing, SyncState};
use signet_realm::outbox;
use signet_realm::realms::Realms;
use signet_realm::state::{Claim, Realm};
use signet_request::http::{Context, Response, Router, response};
use signet_store::StoreError;
use signet_telemetry::metrics::Family;
use std::sync::atomic::Ordering::Relaxed;

const LIVE: &str = "/health/live";
const READY: &str = "/health/ready";
const METRICS: &str = "/metrics";

/// Adds `/health/live`, `/health/ready` and `/metrics`.
pub fn routes(router: &mut Router) {
    router
        .get(LIVE, live)
        .get(READY, ready)
        .get(METRICS, metrics);
    for path in [LIVE, READY, METRICS] {
        router.facts(path).always = true;
    }
}

/// The process answers.
async fn live(_context: Context) -> Response {
    response::text(StatusCode::OK, "live\n")
}

/// What a server on a full disk says: it answers what it can, so requests may still be sent to it,
/// and somebody has to make space.
const FULL: &str = "degraded: the disk is full; reads, introspection, keys and revocations go on, \
                    what would be written is refused";

/// The store reads and writes, there is a key to sign with, and a node of several has what the
/// others have and hears them. On a full disk of a node that has a majority the answer is 200
/// still, and says so. The first line is the reason; of a node of several the second one says how
/// it stands to the others.
async fn ready(context: Context) -> Response {
    let standing = context.realm.host.nodes.standing();
    let unavailable = |standing: &Standing, reason: &str| {
        let status = StatusCode::SERVICE_UNAVAILABLE;
        response::text(status, said(reason, standing))
    };
    if !context.snapshot.keys.is_ready() {
        return unavailable(&standing, "no signing key");
    }
    // A majority may be back within the time that the store waits for it: the next leader is being
    // elected.
    if let Some(reason) = &standing.not_ready
        && standing.sync != SyncState::Minority
    {
        return unavailable(&standing, reason);
    }
    if let Err(mute) = context.realm.may_speak(Claim::NotRevoked) {
        return unavailable(&standing, mute.why());
    }
    let (store, audit) = (&context.realm.store, context.realm.audit());
    let checked = store.check().await;
    let full = store.is_full() || audit.is_full();
    let now = context.realm.host.nodes.standing();
    match checked {
        // A full disk is no reason to send requests to a node that can decide none of them.
        Err(StoreError::Unavailable(_)) | Ok(()) if full => match &now.not_ready {
            None => response::text(StatusCode::OK, said(FULL, &now)),
            Some(reason) => unavailable(&now, reason),
        },
        Err(error) => {
            tracing::error!(%error, "failed the readiness check of the store");
            let reason = now.not_ready.as_deref().unwrap_or("store unavailable");
            unavailable(&now, reason)
        }
        Ok(()) if !audit.is_writing() => unavailable(&standing, "audit trail not written"),
        Ok(()) => response::text(StatusCode::OK, said("ready", &standing)),
    }
}

/// The reason in a line; of a node of several in another one how it stands to the others.
fn said(reason: &str, standing: &Standing) -> String {
    let Standing {
        sync,
        not_ready: _,
        in_sync,
        others,
    } = standing;
    match sync {
        SyncState::Alone => format!("{reason}\n"),
        SyncState::Whole
        | SyncState::Syncing
        | SyncState::Minority
        | SyncState::Outdated
        | SyncState::Refused
        | SyncState::Divided
        | SyncState::Removed => format!(
            "{reason}\nsync: {} ({in_sync} of {others} other nodes hold the same)\n",
            sync.name()
        ),
    }
}

/// Prometheus text. For this machine only, unless the configuration opens it: metrics tell an
/// unauthenticated caller about load and attacks.
async fn metrics(context: Context) -> Response {
    if !context.realm.host.policy.open_metrics && !context.peer.is_loopback() {
        return response::text(StatusCode::NOT_FOUND, "not found\n");
    }
    let families = families(&context.realm).await;
    response::body(
        StatusCode::OK,
        signet_http::metrics::MEDIA_TYPE,
        signet_http::metrics::render(families),
    )
}

/// Every metric of the process, at this moment. `first`: the realm that answers for the process.
pub async fn families(first: &Realm) -> Vec<Family> {
    let (lines, dropped) = first.audit().figures();
    let metrics = &first.host.metrics;
    metrics.audit_lines.store(lines, Relaxed);
    metrics.audit_dropped.store(dropped, Relaxed);
    let full = first.store.is_full() || first.audit().is_full();
    metrics.disk_full.store(full.into(), Relaxed);
    // A list of nodes that cannot be had now has no figures.
    let nodes = first.host.nodes.list().await.unwrap_or_default();
    let keys = first.signing_keys.list().await;
    let mut families = metrics.families();
    families.push(process_metrics::of_keys(&keys, first.now()));
    families.push(process_metrics::of_queues(&first.host));
    families.extend(process_metrics::of_process());
    // An outbox that cannot be read now has no figures.
    let due = outbox::due(&first.store, first.now())
        .await
        .unwrap_or_default();
    families.extend(process_metrics::of_outbox(&due));
    families.extend(node_metrics::families(&nodes));
    if let Some(realms) = Realms::of(first) {
        families.extend(realm_metrics::families(&realms, &realms.table()));
    }
    families
}
