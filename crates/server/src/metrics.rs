//! Counters and histograms of the server, lock-free: plain relaxed atomics, which the exposition
//! format is written from on demand.
use signet_http::{
    Connections,
    metrics::{self, Family, RouteMetrics},
};
use std::{
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::Duration,
};

/// Everything that is counted.
#[derive(Default)]
pub struct Metrics {
    routes: RouteMetrics,
    /// By the listener.
    pub connections: Connections,
    /// Tokens issued.
    pub tokens_issued: AtomicU64,
    /// Codes or refresh tokens that came a second time.
    pub replays: AtomicU64,
    /// Errors of the store.
    pub store_errors: AtomicU64,
    /// Steps of the clock that stopped the removal of expired rows.
    pub clock_steps: AtomicU64,
    /// Lines of the audit trail; set when figures are asked for.
    pub audit_lines: AtomicU64,
    /// Decisions that found the audit trail's queue full.
    pub audit_dropped: AtomicU64,
    /// 1 while the disk of the store or of the audit trail is full; set when figures are asked for.
    pub disk_full: AtomicU64,
}

impl Metrics {
    /// With a series for each of these routes: the router's own paths, so none is counted under
    /// another name.
    pub fn new(routes: impl IntoIterator<Item = &'static str>) -> Metrics {
        Metrics {
            routes: RouteMetrics::new(routes),
            ..Metrics::default()
        }
    }

    /// One request that was answered. `route`: as it was added to the router; anything else is
    /// counted as `other`.
    pub fn request(&self, route: &str, status: u16, took: Duration) {
        self.routes.request(route, status, took);
    }

    /// All of it in the text format of OpenMetrics 1.0, which Prometheus reads, with further
    /// families.
    pub fn render(&self, further: Vec<Family>) -> String {
        let mut families = Vec::from(RouteMetrics::families(&[&self.routes]));
        families.extend(metrics::of_connections(&self.connections));
        let counters = [
            (
                "signet_tokens_issued",
                "Token responses.",
                &self.tokens_issued,
            ),
            (
                "signet_replays",
                "Codes and refresh tokens that came a second time.",
                &self.replays,
            ),
            (
                "signet_clock_steps",
                "Steps of the clock by more than a minute.",
                &self.clock_steps,
            ),
            ("signet_store_errors", "Store errors.", &self.store_errors),
            (
                "signet_audit_dropped",
                "Decisions that found the queue of the audit trail full.",
                &self.audit_dropped,
            ),
        ];
        families.extend(
            counters
                .map(|(name, help, count)| Family::counter(name, help).value(count.load(Relaxed))),
        );
        families.push(
            Family::gauge("signet_audit_lines", "Records in the audit trail.")
                .value(self.audit_lines.load(Relaxed)),
        );
        families.push(
            Family::gauge(
                "signet_disk_full",
                "1 while the disk is full and only what ends something is done.",
            )
            .value(self.disk_full.load(Relaxed)),
        );
        families.extend(further);
        metrics::render(families)
    }
}
