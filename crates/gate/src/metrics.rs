//! Counters and histograms of the validation service, for Prometheus.
use signet_http::Connections;
use signet_verify::{HealthState, PerThread, Refusal, RevocationState, Verifier};
use std::{
    fmt::Write,
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

/// Upper bounds in nanoseconds, and the same in seconds as Prometheus reads them.
const BOUNDS: [(u64, &str); 12] = [
    (500, "0.0000005"),
    (1_000, "0.000001"),
    (2_500, "0.0000025"),
    (5_000, "0.000005"),
    (10_000, "0.00001"),
    (25_000, "0.000025"),
    (50_000, "0.00005"),
    (100_000, "0.0001"),
    (250_000, "0.00025"),
    (1_000_000, "0.001"),
    (10_000_000, "0.01"),
    (100_000_000, "0.1"),
];

#[derive(Default)]
struct Histogram {
    buckets: [AtomicU64; BOUNDS.len()],
    beyond: AtomicU64,
    nanos: AtomicU64,
}

/// Everything that is counted outside of the verifier.
#[derive(Default)]
pub struct GateMetrics {
    threads: PerThread<[Histogram; STAGES.len()]>,
}

impl GateMetrics {
    /// One passage of a stage.
    pub fn took(&self, stage: Stage, time: Duration) {
        let histogram = &self.threads.own()[stage as usize];
        let nanos = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        let at = BOUNDS.partition_point(|(bound, _)| *bound < nanos);
        histogram
            .buckets
            .get(at)
            .unwrap_or(&histogram.beyond)
            .fetch_add(1, Relaxed);
        histogram.nanos.fetch_add(nanos, Relaxed);
    }

    /// The Prometheus text format, version 0.0.4. `now`: Unix seconds.
    pub fn render(&self, verifier: &Verifier, connections: &Connections, now: u64) -> String {
        let mut out = String::with_capacity(8 * 1024);
        // Writing to a String cannot fail.
        let _ = self.stages(&mut out);
        let _ = tokens(&mut out, verifier);
        let _ = issuers(&mut out, verifier, now);
        let _ = revocations(&mut out, verifier, now);
        let _ = replays(&mut out, verifier);
        let _ = listener(&mut out, connections);
        out
    }

    fn stages(&self, out: &mut String) -> std::fmt::Result {
        let name = "signet_gate_stage_seconds";
        writeln!(out, "# HELP {name} Time that a stage of a request took.")?;
        writeln!(out, "# TYPE {name} histogram")?;
        for (stage, label) in STAGES {
            let histograms = || self.threads.all().map(|stages| &stages[stage as usize]);
            let total = |which: &dyn Fn(&Histogram) -> &AtomicU64| -> u64 {
                histograms().map(|h| which(h).load(Relaxed)).sum()
            };
            let mut sum = 0;
            for (at, (_, bound)) in BOUNDS.iter().enumerate() {
                sum += total(&|histogram| &histogram.buckets[at]);
                writeln!(
                    out,
                    "{name}_bucket{{stage=\"{label}\",le=\"{bound}\"}} {sum}"
                )?;
            }
            sum += total(&|histogram| &histogram.beyond);
            writeln!(out, "{name}_bucket{{stage=\"{label}\",le=\"+Inf\"}} {sum}")?;
            let nanos = total(&|histogram| &histogram.nanos);
            let (seconds, rest) = (nanos / 1_000_000_000, nanos % 1_000_000_000);
            writeln!(out, "{name}_sum{{stage=\"{label}\"}} {seconds}.{rest:09}")?;
            writeln!(out, "{name}_count{{stage=\"{label}\"}} {sum}")?;
        }
        Ok(())
    }
}

fn tokens(out: &mut String, verifier: &Verifier) -> std::fmt::Result {
    let counters = verifier.counters();
    for (name, help, value) in [
        (
            "signet_gate_accepted_total",
            "Tokens accepted.",
            counters.accepted(),
        ),
        (
            "signet_gate_cached_total",
            "Tokens accepted from the cache.",
            counters.cached(),
        ),
    ] {
        writeln!(
            out,
            "# HELP {name} {help}\n# TYPE {name} counter\n{name} {value}"
        )?;
    }
    let name = "signet_gate_refused_total";
    writeln!(
        out,
        "# HELP {name} Tokens refused, by reason.\n# TYPE {name} counter"
    )?;
    for refusal in Refusal::ALL {
        let count = counters.refused(*refusal);
        writeln!(out, "{name}{{reason=\"{}\"}} {count}", refusal.code())?;
    }
    Ok(())
}

/// Issuers are the operator's own names; what a label must not hold is left out all the same.
fn label(issuer: &str) -> String {
    issuer.replace(['\\', '"', '\n'], "")
}

fn issuers(out: &mut String, verifier: &Verifier, now: u64) -> std::fmt::Result {
    let health = verifier.health(now);
    let name = "signet_gate_issuer_keys";
    writeln!(
        out,
        "# HELP {name} Keys of an issuer that can be used now.\n# TYPE {name} gauge"
    )?;
    for issuer in &health {
        writeln!(
            out,
            "{name}{{issuer=\"{}\"}} {}",
            label(&issuer.issuer),
            issuer.keys
        )?;
    }
    let name = "signet_gate_issuer_state";
    writeln!(
        out,
        "# HELP {name} How an issuer is: 1 for its state.\n# TYPE {name} gauge"
    )?;
    for issuer in &health {
        for state in [
            HealthState::Starting,
            HealthState::Healthy,
            HealthState::Stale,
            HealthState::Failed,
            HealthState::Disabled,
        ] {
            let (issuer, is) = (label(&issuer.issuer), u8::from(issuer.state == state));
            writeln!(
                out,
                "{name}{{issuer=\"{issuer}\",state=\"{}\"}} {is}",
                state.as_str()
            )?;
        }
    }
    Ok(())
}

/// The sources of revocations, one for each issuer that has one.
fn revocations(out: &mut String, verifier: &Verifier, now: u64) -> std::fmt::Result {
    let sources = verifier.revocation_health(now);
    if sources.is_empty() {
        return Ok(());
    }
    let name = "signet_gate_revocations";
    writeln!(
        out,
        "# HELP {name} Revocations of an issuer that are held.\n# TYPE {name} gauge"
    )?;
    for source in &sources {
        let (issuer, entries) = (label(&source.issuer), source.entries);
        writeln!(out, "{name}{{issuer=\"{issuer}\"}} {entries}")?;
    }
    let name = "signet_gate_revocations_refusing";
    writeln!(
        out,
        "# HELP {name} 1 while tokens are refused because revocations cannot be known.\n# TYPE {name} gauge"
    )?;
    for source in &sources {
        let (issuer, refusing) = (label(&source.issuer), u8::from(source.refusing));
        writeln!(out, "{name}{{issuer=\"{issuer}\"}} {refusing}")?;
    }
    let name = "signet_gate_revocations_state";
    writeln!(
        out,
        "# HELP {name} How a source of revocations is: 1 for its state.\n# TYPE {name} gauge"
    )?;
    for source in &sources {
        for state in RevocationState::ALL {
            let (issuer, is) = (label(&source.issuer), u8::from(source.state == state));
            writeln!(
                out,
                "{name}{{issuer=\"{issuer}\",state=\"{}\"}} {is}",
                state.as_str()
            )?;
        }
    }
    Ok(())
}

/// What remembers DPoP proofs and tokens that are accepted once.
fn replays(out: &mut String, verifier: &Verifier) -> std::fmt::Result {
    let usage = verifier.replay_guard().usage();
    for (name, help, value) in [
        (
            "signet_gate_replay_bytes",
            "Bytes that remember proofs.",
            usage.bytes,
        ),
        (
            "signet_gate_replay_limit_bytes",
            "Bytes that may remember proofs.",
            usage.limit,
        ),
        (
            "signet_gate_replay_ids",
            "Proofs and tokens that are remembered.",
            usage.ids,
        ),
    ] {
        writeln!(
            out,
            "# HELP {name} {help}\n# TYPE {name} gauge\n{name} {value}"
        )?;
    }
    Ok(())
}

fn listener(out: &mut String, connections: &Connections) -> std::fmt::Result {
    for (name, kind, help, value) in [
        (
            "signet_connections",
            "gauge",
            "Open connections.",
            &connections.open,
        ),
        (
            "signet_connections_refused_total",
            "counter",
            "Connections refused at the limit.",
            &connections.refused,
        ),
        (
            "signet_tls_handshakes_failed_total",
            "counter",
            "TLS handshakes that failed.",
            &connections.handshakes_failed,
        ),
    ] {
        let value = value.load(Relaxed);
        writeln!(
            out,
            "# HELP {name} {help}\n# TYPE {name} {kind}\n{name} {value}"
        )?;
    }
    Ok(())
}
