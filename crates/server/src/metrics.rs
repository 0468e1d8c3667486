//! Counters and histograms for Prometheus, lock-free: plain relaxed atomics, rendered on demand.
use signet_http::Connections;
use std::{
    fmt::Write,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::Duration,
};

/// Upper bounds of the duration histogram, in microseconds.
const BOUNDS: [u64; 12] = [
    100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 500_000, 2_500_000,
];

/// What every path has in common that is no route: nobody can grow the table.
const OTHER: &str = "other";

#[derive(Default)]
struct Series {
    /// by status class, 1xx to 5xx
    status: [AtomicU64; 5],
    buckets: [AtomicU64; BOUNDS.len()],
    micros: AtomicU64,
    count: AtomicU64,
}

/// Everything that is counted.
#[derive(Default)]
pub struct Metrics {
    /// One for each route, in the order of their paths.
    routes: Vec<(&'static str, Series)>,
    other: Series,
    /// By the listener.
    pub connections: Connections,
    /// Tokens issued.
    pub tokens_issued: AtomicU64,
    /// Codes or refresh tokens that came a second time.
    pub replays: AtomicU64,
    /// Errors of the store.
    pub store_errors: AtomicU64,
    /// Steps of the clock that stopped the removal of what has ended.
    pub clock_steps: AtomicU64,
    /// Lines of the audit trail; set when figures are asked for.
    pub audit_lines: AtomicU64,
    /// Decisions that found the audit trail's queue full.
    pub audit_dropped: AtomicU64,
}

impl Metrics {
    /// With a series for each of these routes: the router's own paths, so none is counted under another name.
    pub fn new(routes: impl IntoIterator<Item = &'static str>) -> Metrics {
        let mut routes: Vec<_> = routes
            .into_iter()
            .map(|route| (route, Series::default()))
            .collect();
        routes.sort_by_key(|(route, _)| *route);
        routes.dedup_by_key(|(route, _)| *route);
        Metrics {
            routes,
            ..Metrics::default()
        }
    }

    /// One request that was answered. `route`: as it was added to the router; anything else is counted as `other`.
    pub fn request(&self, route: &str, status: u16, took: Duration) {
        let at = self.routes.binary_search_by_key(&route, |(route, _)| route);
        let series = at.map_or(&self.other, |at| &self.routes[at].1);
        let class = usize::from(status / 100).clamp(1, 5) - 1;
        series.status[class].fetch_add(1, Relaxed);
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        if let Some(at) = BOUNDS.iter().position(|b| micros <= *b) {
            series.buckets[at].fetch_add(1, Relaxed);
        }
        series.micros.fetch_add(micros, Relaxed);
        series.count.fetch_add(1, Relaxed);
    }

    /// The Prometheus text format, version 0.0.4.
    pub fn render(&self) -> String {
        let mut out = String::with_capacity(8 * 1024);
        // Writing to a String cannot fail.
        let _ = self.write(&mut out);
        out
    }

    fn series(&self) -> impl Iterator<Item = (&'static str, &Series)> {
        let routes = self.routes.iter().map(|(route, series)| (*route, series));
        routes.chain([(OTHER, &self.other)])
    }

    fn write(&self, out: &mut String) -> std::fmt::Result {
        writeln!(out, "# HELP signet_requests_total Requests answered.")?;
        writeln!(out, "# TYPE signet_requests_total counter")?;
        for (route, series) in self.series() {
            for (class, count) in series.status.iter().enumerate() {
                let count = count.load(Relaxed);
                if count > 0 {
                    let class = class + 1;
                    writeln!(
                        out,
                        "signet_requests_total{{route=\"{route}\",status=\"{class}xx\"}} {count}"
                    )?;
                }
            }
        }
        let name = "signet_request_duration_seconds";
        writeln!(
            out,
            "# HELP {name} Time from the request's head to its answer."
        )?;
        writeln!(out, "# TYPE {name} histogram")?;
        for (route, series) in self.series() {
            let count = series.count.load(Relaxed);
            if count == 0 {
                continue;
            }
            let mut sum = 0;
            for (bound, bucket) in BOUNDS.iter().zip(&series.buckets) {
                sum += bucket.load(Relaxed);
                let le = seconds(*bound);
                writeln!(out, "{name}_bucket{{route=\"{route}\",le=\"{le}\"}} {sum}")?;
            }
            writeln!(
                out,
                "{name}_bucket{{route=\"{route}\",le=\"+Inf\"}} {count}"
            )?;
            let total = seconds(series.micros.load(Relaxed));
            writeln!(out, "{name}_sum{{route=\"{route}\"}} {total}")?;
            writeln!(out, "{name}_count{{route=\"{route}\"}} {count}")?;
        }
        let single = [
            (
                "signet_connections",
                "gauge",
                "Open connections.",
                &self.connections.open,
            ),
            (
                "signet_connections_refused_total",
                "counter",
                "Connections refused at the limit.",
                &self.connections.refused,
            ),
            (
                "signet_tls_handshakes_failed_total",
                "counter",
                "TLS handshakes that failed.",
                &self.connections.handshakes_failed,
            ),
            (
                "signet_tokens_issued_total",
                "counter",
                "Token responses.",
                &self.tokens_issued,
            ),
            (
                "signet_replays_total",
                "counter",
                "Codes and refresh tokens that came a second time.",
                &self.replays,
            ),
            (
                "signet_clock_steps_total",
                "counter",
                "Steps of the clock by more than a minute.",
                &self.clock_steps,
            ),
            (
                "signet_store_errors_total",
                "counter",
                "Store errors.",
                &self.store_errors,
            ),
            (
                "signet_audit_lines",
                "gauge",
                "Lines in the audit trail.",
                &self.audit_lines,
            ),
            (
                "signet_audit_dropped_total",
                "counter",
                "Decisions that found the queue of the audit trail full.",
                &self.audit_dropped,
            ),
        ];
        for (name, kind, help, value) in single {
            writeln!(out, "# HELP {name} {help}")?;
            writeln!(out, "# TYPE {name} {kind}")?;
            writeln!(out, "{name} {}", value.load(Relaxed))?;
        }
        Ok(())
    }
}

/// Microseconds as decimal seconds, exactly.
fn seconds(micros: u64) -> String {
    format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_histogram_is_cumulative_and_ends_with_its_count() {
        let metrics = Metrics::new(["/token", "/jwks"]);
        metrics.request("/token", 200, Duration::from_micros(90));
        metrics.request("/token", 400, Duration::from_micros(900));
        metrics.request("/token", 200, Duration::from_secs(9));
        let text = metrics.render();
        let name = "signet_request_duration_seconds";
        for line in [
            format!("{name}_bucket{{route=\"/token\",le=\"0.000100\"}} 1"),
            format!("{name}_bucket{{route=\"/token\",le=\"0.001000\"}} 2"),
            format!("{name}_bucket{{route=\"/token\",le=\"+Inf\"}} 3"),
            "signet_requests_total{route=\"/token\",status=\"2xx\"} 2".to_owned(),
        ] {
            assert!(text.contains(&line), "{line}\n{text}");
        }
    }

    #[test]
    fn an_unknown_route_adds_no_series() {
        let metrics = Metrics::new(["/token", "/jwks"]);
        metrics.request("/x1", 404, Duration::ZERO);
        assert!(!metrics.render().contains("/x1"));
        assert!(metrics.render().contains("route=\"other\""));
    }
}
