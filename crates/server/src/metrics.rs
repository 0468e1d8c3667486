//! Counters and histograms, lock-free: plain relaxed atomics, which the exposition format is written from on demand.
use prometheus_client::{
    collector::Collector,
    encoding::{DescriptorEncoder, NoLabelSet, text::encode},
    metrics::MetricType,
    registry::Registry,
};
use signet_http::Connections;
use std::{
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

    /// All of it in the text format of OpenMetrics 1.0, which Prometheus reads.
    pub fn render(&self) -> String {
        let mut registry = Registry::default();
        registry.register_collector(Box::new(self.figures()));
        let mut out = String::with_capacity(8 * 1024);
        // Writing to a String cannot fail.
        let _ = encode(&mut out, &registry);
        out
    }

    fn figures(&self) -> Figures {
        let own = self.routes.iter().map(|(route, series)| (*route, series));
        Figures {
            routes: own
                .chain([(OTHER, &self.other)])
                .map(|(route, series)| series.figures(route))
                .collect(),
            single: vec![
                Single::gauge(
                    "signet_connections",
                    "Open connections.",
                    &self.connections.open,
                ),
                Single::counter(
                    "signet_connections_refused",
                    "Connections refused at the limit.",
                    &self.connections.refused,
                ),
                Single::counter(
                    "signet_tls_handshakes_failed",
                    "TLS handshakes that failed.",
                    &self.connections.handshakes_failed,
                ),
                Single::counter(
                    "signet_tokens_issued",
                    "Token responses.",
                    &self.tokens_issued,
                ),
                Single::counter(
                    "signet_replays",
                    "Codes and refresh tokens that came a second time.",
                    &self.replays,
                ),
                Single::counter(
                    "signet_clock_steps",
                    "Steps of the clock by more than a minute.",
                    &self.clock_steps,
                ),
                Single::counter("signet_store_errors", "Store errors.", &self.store_errors),
                Single::gauge(
                    "signet_audit_lines",
                    "Records in the audit trail.",
                    &self.audit_lines,
                ),
                Single::counter(
                    "signet_audit_dropped",
                    "Decisions that found the queue of the audit trail full.",
                    &self.audit_dropped,
                ),
            ],
        }
    }
}

impl Series {
    fn figures(&self, route: &'static str) -> RouteFigures {
        let bounds = BOUNDS.iter().map(|micros| *micros as f64 / 1e6);
        let mut buckets: Vec<(f64, u64)> = bounds
            .zip(self.buckets.iter().map(|bucket| bucket.load(Relaxed)))
            .collect();
        // Of several that are read while they grow, the total is made from its parts, so that it never says less.
        let within: u64 = buckets.iter().map(|(_, count)| count).sum();
        let count = self.count.load(Relaxed).max(within);
        buckets.push((f64::INFINITY, count - within));
        RouteFigures {
            route,
            status: self.status.each_ref().map(|count| count.load(Relaxed)),
            buckets,
            seconds: self.micros.load(Relaxed) as f64 / 1e6,
            count,
        }
    }
}

/// What was counted, at one moment: the exposition format is written from this copy.
#[derive(Debug)]
struct Figures {
    routes: Vec<RouteFigures>,
    single: Vec<Single>,
}

#[derive(Debug)]
struct RouteFigures {
    route: &'static str,
    status: [u64; 5],
    /// upper bounds in seconds, and how many lie between each and the one before
    buckets: Vec<(f64, u64)>,
    seconds: f64,
    count: u64,
}

#[derive(Debug)]
struct Single {
    name: &'static str,
    kind: MetricType,
    help: &'static str,
    value: u64,
}

impl Single {
    /// The format adds `_total` to the name.
    fn counter(name: &'static str, help: &'static str, value: &AtomicU64) -> Single {
        Single {
            name,
            kind: MetricType::Counter,
            help,
            value: value.load(Relaxed),
        }
    }

    fn gauge(name: &'static str, help: &'static str, value: &AtomicU64) -> Single {
        Single {
            kind: MetricType::Gauge,
            ..Single::counter(name, help, value)
        }
    }
}

impl Collector for Figures {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> std::fmt::Result {
        const CLASSES: [&str; 5] = ["1xx", "2xx", "3xx", "4xx", "5xx"];
        let mut requests = encoder.encode_descriptor(
            "signet_requests",
            "Requests answered.",
            None,
            MetricType::Counter,
        )?;
        for route in &self.routes {
            for (class, count) in CLASSES.iter().zip(&route.status) {
                if *count > 0 {
                    requests
                        .encode_family(&[("route", route.route), ("status", class)])?
                        .encode_counter::<NoLabelSet, u64, u64>(count, None)?;
                }
            }
        }
        let mut durations = encoder.encode_descriptor(
            "signet_request_duration_seconds",
            "Time from the request's head to its answer.",
            None,
            MetricType::Histogram,
        )?;
        for route in self.routes.iter().filter(|route| route.count > 0) {
            durations
                .encode_family(&[("route", route.route)])?
                .encode_histogram::<NoLabelSet>(route.seconds, route.count, &route.buckets, None)?;
        }
        for single in &self.single {
            let mut metric =
                encoder.encode_descriptor(single.name, single.help, None, single.kind)?;
            match single.kind {
                MetricType::Gauge => metric.encode_gauge(&single.value)?,
                _ => metric.encode_counter::<NoLabelSet, u64, u64>(&single.value, None)?,
            }
        }
        Ok(())
    }
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
            format!("{name}_bucket{{le=\"0.0001\",route=\"/token\"}} 1"),
            format!("{name}_bucket{{le=\"0.001\",route=\"/token\"}} 2"),
            format!("{name}_bucket{{le=\"+Inf\",route=\"/token\"}} 3"),
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
