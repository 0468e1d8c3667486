//! Counters and histograms of the validation service.
use crate::setup::Setup;
use signet_gate_login::Counts;
use signet_http::{
    Connections,
    metrics::{self, Family, RouteMetrics},
};
use signet_telemetry::metrics::table;
use signet_verify::{HealthState, PerThread, Refusal, RevocationState, Verifier};
use std::{
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::Duration,
};

/// What is timed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stage {
    /// Reading a request's body.
    Body,
    /// A token that was found in the cache.
    Cached,
    /// A token that was checked and accepted.
    Verified,
    /// A token that was refused.
    Refused,
    /// A whole request, from its head to its answer.
    Request,
}

const STAGES: [(Stage, &str); 5] = [
    (Stage::Body, "body"),
    (Stage::Cached, "cached"),
    (Stage::Verified, "verified"),
    (Stage::Refused, "refused"),
    (Stage::Request, "request"),
];

/// Upper bounds, in nanoseconds.
const BOUNDS: [u64; 12] = [
    500,
    1_000,
    2_500,
    5_000,
    10_000,
    25_000,
    50_000,
    100_000,
    250_000,
    1_000_000,
    10_000_000,
    100_000_000,
];

#[derive(Default)]
struct Histogram {
    buckets: [AtomicU64; BOUNDS.len()],
    beyond: AtomicU64,
    nanos: AtomicU64,
}

/// What one thread counts.
struct Counted {
    stages: [Histogram; STAGES.len()],
    routes: RouteMetrics,
}

impl Default for Counted {
    fn default() -> Counted {
        Counted {
            stages: Default::default(),
            routes: RouteMetrics::new(crate::routes::ROUTES.iter().map(|route| route.path)),
        }
    }
}

/// Everything that is counted outside of the verifier.
#[derive(Default)]
pub struct GateMetrics {
    threads: PerThread<Counted>,
}

impl GateMetrics {
    /// One passage of a stage.
    pub fn took(&self, stage: Stage, time: Duration) {
        let histogram = &self.threads.own().stages[stage as usize];
        let nanos = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        let at = BOUNDS.partition_point(|bound| *bound < nanos);
        histogram
            .buckets
            .get(at)
            .unwrap_or(&histogram.beyond)
            .fetch_add(1, Relaxed);
        histogram.nanos.fetch_add(nanos, Relaxed);
    }

    /// One request that was answered. `route`: a path of the table of routes; anything else is
    /// counted as `other`.
    pub(crate) fn request(&self, route: &str, status: u16, time: Duration) {
        self.took(Stage::Request, time);
        self.threads.own().routes.request(route, status, time);
    }

    /// All of it in the text format of OpenMetrics 1.0, which Prometheus reads. `now`: Unix
    /// seconds.
    pub(crate) fn render(&self, setup: &Setup, connections: &Connections, now: u64) -> String {
        let verifier = &setup.verifier;
        let routes: Vec<_> = self.threads.all().map(|counted| &counted.routes).collect();
        let mut families = vec![self.stages()];
        families.extend(RouteMetrics::families(&routes));
        families.extend(tokens(verifier));
        families.extend(issuers(verifier, now));
        families.extend(revocations(verifier, now));
        families.extend(replays(verifier));
        families.push(sessions(setup.login.as_ref().map(|login| &login.counts)));
        families.extend(metrics::of_connections(connections));
        metrics::render(families)
    }

    fn stages(&self) -> Family {
        let mut family = Family::new(&table::GATE_STAGE);
        for (stage, label) in STAGES {
            let sum = |which: &dyn Fn(&Histogram) -> &AtomicU64| -> u64 {
                let threads = self.threads.all();
                threads
                    .map(|counted| which(&counted.stages[stage as usize]).load(Relaxed))
                    .sum()
            };
            let buckets: Vec<(f64, u64)> = BOUNDS
                .iter()
                .enumerate()
                .map(|(at, nanos)| (*nanos as f64 / 1e9, sum(&|h| &h.buckets[at])))
                .collect();
            let within: u64 = buckets.iter().map(|(_, count)| count).sum();
            let timed = metrics::Histogram {
                buckets,
                count: within + sum(&|histogram| &histogram.beyond),
                seconds: sum(&|histogram| &histogram.nanos) as f64 / 1e9,
            };
            family = family.timed([("stage", label)], timed);
        }
        family
    }
}

fn tokens(verifier: &Verifier) -> [Family; 3] {
    let counters = verifier.counters();
    let mut refused = Family::new(&table::GATE_REFUSED);
    for refusal in Refusal::ALL {
        refused = refused.of([("reason", refusal.code())], counters.refused(*refusal));
    }
    [
        Family::new(&table::GATE_ACCEPTED).value(counters.accepted()),
        Family::new(&table::GATE_CACHED).value(counters.cached()),
        refused,
    ]
}

fn issuers(verifier: &Verifier, now: u64) -> [Family; 2] {
    let mut keys = Family::new(&table::GATE_KEYS);
    let mut states = Family::new(&table::GATE_STATE);
    for issuer in verifier.health(now) {
        let name = ("issuer", issuer.issuer.as_str());
        keys = keys.of([name], issuer.keys as u64);
        for state in HealthState::ALL {
            let is = u64::from(issuer.state == state);
            states = states.of([name, ("state", state.as_str())], is);
        }
    }
    [keys, states]
}

/// The sources of revocations, one for each issuer that has one.
fn revocations(verifier: &Verifier, now: u64) -> Vec<Family> {
    let sources = verifier.revocation_health(now);
    if sources.is_empty() {
        return Vec::new();
    }
    let mut held = Family::new(&table::GATE_REVOCATIONS);
    let mut refusing = Family::new(&table::GATE_REFUSING);
    let mut states = Family::new(&table::GATE_REVOCATIONS_STATE);
    for source in &sources {
        let name = ("issuer", source.issuer.as_str());
        held = held.of([name], source.entries as u64);
        refusing = refusing.of([name], u64::from(source.refusing));
        for state in RevocationState::ALL {
            let is = u64::from(source.state == state);
            states = states.of([name, ("state", state.as_str())], is);
        }
    }
    vec![held, refusing, states]
}

/// Sessions of browsers: none without a login.
fn sessions(counts: Option<&Counts>) -> Family {
    let none = Counts::default();
    let counts = counts.unwrap_or(&none);
    let of = [
        ("accepted", &counts.accepted),
        ("without", &counts.without),
        ("forbidden", &counts.forbidden),
        ("begun", &counts.begun),
        ("failed", &counts.failed),
        ("ended", &counts.ended),
    ];
    let family = Family::new(&table::GATE_SESSIONS);
    of.into_iter().fold(family, |family, (outcome, counter)| {
        family.of([("outcome", outcome)], counter.load(Relaxed))
    })
}

/// What remembers DPoP proofs and tokens that are accepted once.
fn replays(verifier: &Verifier) -> [Family; 3] {
    let usage = verifier.replay_guard().usage();
    [
        (&table::GATE_REPLAY_BYTES, usage.bytes),
        (&table::GATE_REPLAY_LIMIT, usage.limit),
        (&table::GATE_REPLAY_IDS, usage.ids),
    ]
    .map(|(metric, value)| Family::new(metric).value(value as u64))
}
