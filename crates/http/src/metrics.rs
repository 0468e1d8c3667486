//! What is counted, and how it is said: the text format of OpenMetrics 1.0, which Prometheus reads.
//!
//! Counting is lock-free: plain relaxed atomics. The text is written on demand, from a copy that is
//! taken at one moment ([`Family`]). Requests are counted under the paths of the service's own
//! table of routes ([`RouteMetrics`]), so that no route is counted under another name, and nobody
//! can grow the table by what he asks for.

use crate::serves::Connections;
use prometheus_client::{
    collector::Collector,
    encoding::{DescriptorEncoder, MetricEncoder, NoLabelSet, text::encode},
    metrics::MetricType,
    registry::Registry,
};
pub use signet_telemetry::metrics::{Family, Histogram};
use signet_telemetry::metrics::{Kind, Metric, Reading, table};
use std::{
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::Duration,
};

/// The media type of [`render`]'s text.
pub const MEDIA_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// All of them as text.
pub fn render(families: Vec<Family>) -> String {
    let mut registry = Registry::default();
    registry.register_collector(Box::new(Families(families)));
    let mut out = String::with_capacity(8 * 1024);
    // Writing to a String cannot fail.
    let _ = encode(&mut out, &registry);
    out
}

#[derive(Debug)]
struct Families(Vec<Family>);

impl Collector for Families {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> std::fmt::Result {
        for family in &self.0 {
            let row = family.metric;
            let kind = match row.kind {
                Kind::Counter => MetricType::Counter,
                Kind::Gauge => MetricType::Gauge,
                Kind::Histogram => MetricType::Histogram,
            };
            let mut metric = encoder.encode_descriptor(row.name, row.help, None, kind)?;
            for (labels, reading) in &family.readings {
                match labels.is_empty() {
                    true => write(row.kind, reading, &mut metric)?,
                    false => write(row.kind, reading, &mut metric.encode_family(labels)?)?,
                }
            }
        }
        Ok(())
    }
}

fn write(kind: Kind, reading: &Reading, metric: &mut MetricEncoder<'_>) -> std::fmt::Result {
    match (reading, kind) {
        (Reading::Number(value), Kind::Gauge) => metric.encode_gauge(value),
        (Reading::Number(count), Kind::Counter | Kind::Histogram) => {
            metric.encode_counter::<NoLabelSet, u64, u64>(count, None)
        }
        (Reading::Timed(of), _) => {
            metric.encode_histogram::<NoLabelSet>(of.seconds, of.count, &of.buckets, None)
        }
    }
}

/// What a listener counts.
pub fn of_connections(connections: &Connections) -> Vec<Family> {
    let of =
        |metric: &'static Metric, count: &AtomicU64| Family::new(metric).value(count.load(Relaxed));
    vec![
        of(&table::CONNECTIONS, &connections.open),
        of(&table::CONNECTIONS_REFUSED, &connections.refused),
        of(&table::HANDSHAKES_FAILED, &connections.handshakes_failed),
        of(&table::HANDLER_PANICS, &connections.panicked),
    ]
}

/// Upper bounds of the duration histogram, in microseconds.
const BOUNDS: [u64; 12] = [
    100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 500_000, 2_500_000,
];

/// What every path has in common that is no route.
pub const OTHER: &str = "other";

const CLASSES: &[&str] = table::CLASSES;

#[derive(Default)]
struct Series {
    /// in the order of [`CLASSES`]
    status: [AtomicU64; CLASSES.len()],
    buckets: [AtomicU64; BOUNDS.len()],
    micros: AtomicU64,
    count: AtomicU64,
}

/// Requests, counted and timed by route.
#[derive(Default)]
pub struct RouteMetrics {
    /// One for each route, in the order of their paths.
    routes: Vec<(&'static str, Series)>,
    other: Series,
}

impl RouteMetrics {
    /// With a series for each of these routes.
    pub fn new(routes: impl IntoIterator<Item = &'static str>) -> RouteMetrics {
        let mut routes: Vec<_> = routes
            .into_iter()
            .map(|route| (route, Series::default()))
            .collect();
        routes.sort_by_key(|(route, _)| *route);
        routes.dedup_by_key(|(route, _)| *route);
        RouteMetrics {
            routes,
            other: Series::default(),
        }
    }

    /// One request that was answered. `route`: one of those of `new`; anything else is counted as
    /// [`OTHER`].
    pub fn request(&self, route: &str, status: u16, took: Duration) {
        let at = self.routes.binary_search_by_key(&route, |(route, _)| route);
        let series = at.map_or(&self.other, |at| &self.routes[at].1);
        let class = usize::from(status / 100).clamp(1, CLASSES.len()) - 1;
        series.status[class].fetch_add(1, Relaxed);
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        if let Some(at) = BOUNDS.iter().position(|b| micros <= *b) {
            series.buckets[at].fetch_add(1, Relaxed);
        }
        series.micros.fetch_add(micros, Relaxed);
        series.count.fetch_add(1, Relaxed);
    }

    /// How many requests of these routes were refused (4xx).
    pub fn refused(&self, routes: &[&str]) -> u64 {
        let found = routes.iter().filter_map(|route| {
            let at = self.routes.binary_search_by_key(route, |(route, _)| route);
            self.routes.get(at.ok()?)
        });
        found.map(|(_, one)| one.status[3].load(Relaxed)).sum()
    }

    /// How many requests, by route and class of status, and how long they took. `of`: every place
    /// where requests for the same routes are counted.
    pub fn families(of: &[&RouteMetrics]) -> [Family; 2] {
        let mut requests = Family::new(&table::REQUESTS);
        let mut durations = Family::new(&table::REQUEST_DURATION);
        let paths = of.first().map_or(&[][..], |one| &one.routes[..]);
        let paths = paths.iter().map(|(path, _)| *path).chain([OTHER]);
        for (at, route) in paths.enumerate() {
            let series = || {
                let places = of.iter();
                places.map(move |one| one.routes.get(at).map_or(&one.other, |(_, series)| series))
            };
            let sum = |which: &dyn Fn(&Series) -> &AtomicU64| -> u64 {
                series().map(|series| which(series).load(Relaxed)).sum()
            };
            for (class, name) in CLASSES.iter().enumerate() {
                let count = sum(&|series| &series.status[class]);
                if count > 0 {
                    requests = requests.of([("route", route), ("status", name)], count);
                }
            }
            let bounds = BOUNDS.iter().enumerate();
            let timed = Histogram {
                buckets: bounds
                    .map(|(at, micros)| (*micros as f64 / 1e6, sum(&|s| &s.buckets[at])))
                    .collect(),
                count: sum(&|series| &series.count),
                seconds: sum(&|series| &series.micros) as f64 / 1e6,
            };
            if timed.count > 0 {
                durations = durations.timed([("route", route)], timed);
            }
        }
        [requests, durations]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_histogram_is_cumulative_and_ends_with_its_count() {
        let places = [
            RouteMetrics::new(["/token", "/jwks"]),
            RouteMetrics::new(["/token", "/jwks"]),
        ];
        places[0].request("/token", 200, Duration::from_micros(90));
        places[1].request("/token", 400, Duration::from_micros(900));
        places[0].request("/token", 200, Duration::from_secs(9));
        let text = render(RouteMetrics::families(&[&places[0], &places[1]]).into());
        let name = "signet_request_duration_seconds";
        for line in [
            format!("{name}_bucket{{le=\"0.0001\",route=\"/token\"}} 1"),
            format!("{name}_bucket{{le=\"0.001\",route=\"/token\"}} 2"),
            format!("{name}_bucket{{le=\"+Inf\",route=\"/token\"}} 3"),
            format!("{name}_count{{route=\"/token\"}} 3"),
            "signet_requests_total{route=\"/token\",status=\"2xx\"} 2".to_owned(),
            "signet_requests_total{route=\"/token\",status=\"4xx\"} 1".to_owned(),
        ] {
            assert!(text.lines().any(|own| own == line), "{line}\n{text}");
        }
        assert!(!text.contains("/jwks"), "a route that nobody asked for");
    }

    #[test]
    fn an_unknown_route_adds_no_series() {
        let metrics = RouteMetrics::new(["/token", "/jwks"]);
        metrics.request("/x1", 404, Duration::ZERO);
        metrics.request("/x2", 700, Duration::ZERO);
        let text = render(RouteMetrics::families(&[&metrics]).into());
        assert!(!text.contains("/x1"), "{text}");
        assert!(text.contains("signet_requests_total{route=\"other\",status=\"4xx\"} 1"));
        assert!(text.contains("signet_requests_total{route=\"other\",status=\"5xx\"} 1"));
    }

    #[test]
    fn a_label_cannot_end_its_own_quotes() {
        let family = Family::new(&table::GATE_KEYS).of([("issuer", "a\"} 1\nb \\")], 1);
        let text = render(vec![family]);
        assert!(
            text.contains("signet_gate_issuer_keys{issuer=\"a\\\"} 1\\nb \\\\\"} 1\n"),
            "{text}"
        );
    }
}
