//! What was recorded is sent, in batches, by one task that nobody waits for.
use crate::{
    collector::{Collector, Connection, Outcome},
    encode,
};
use serde_json::Value;
use signet_config::model::Telemetry;
use signet_telemetry::{
    logs::{LINES, ON},
    metrics::{Family, counted},
    trace::Tracer,
};
use std::{
    path::Path,
    pin::Pin,
    sync::atomic::Ordering::Relaxed,
    time::{Duration, SystemTime, UNIX_EPOCH},
};
use tokio::time::{Instant, MissedTickBehavior, interval, sleep, timeout, timeout_at};

/// Most spans, or lines, of one batch; a trace is in one batch.
pub const MAX_BATCH: usize = 1_024;
/// Longest time that a process that ends takes to send what waits.
pub const LONGEST_FAREWELL: Duration = Duration::from_secs(3);

/// How often what waits is looked at.
const EVERY: Duration = Duration::from_millis(500);

/// Every metric of the process, once it is gathered.
pub type Gathering = Pin<Box<dyn Future<Output = Vec<Family>> + Send>>;

/// What is exported, and what its answers call what they did not take. In the order of
/// [`signet_telemetry::metrics::table::SIGNALS`].
struct Signal {
    at: usize,
    name: &'static str,
    path: &'static str,
    rejected: &'static str,
}

const TRACES: Signal = Signal {
    at: 0,
    name: "traces",
    path: "/v1/traces",
    rejected: "rejectedSpans",
};
const METRICS: Signal = Signal {
    at: 1,
    name: "metrics",
    path: "/v1/metrics",
    rejected: "rejectedDataPoints",
};
const LOGS: Signal = Signal {
    at: 2,
    name: "logs",
    path: "/v1/logs",
    rejected: "rejectedLogRecords",
};

/// See the module.
#[derive(Debug)]
pub struct Exporter {
    collector: Collector,
    resource: Value,
    tracer: Tracer,
    traces: bool,
    metrics: bool,
    logs: bool,
    metrics_every: Duration,
    /// When it was made, Unix nanoseconds.
    since: u64,
}

impl Exporter {
    /// The one of a configuration; none where nothing is sent. `tracer`: what records. `node`: what
    /// this process is called.
    ///
    /// # Errors
    /// What cannot be used, for the operator.
    pub fn of_config(
        config: &Telemetry,
        base: &Path,
        tracer: Tracer,
        node: &str,
    ) -> Result<Option<Exporter>, String> {
        let Some(collector) = Collector::of_config(config, base)? else {
            return Ok(None);
        };
        Ok(Some(Exporter {
            collector,
            resource: encode::resource(node),
            tracer,
            traces: config.traces,
            metrics: config.metrics,
            logs: config.logs,
            metrics_every: Duration::from_secs(config.metrics_interval.0),
            since: now(),
        }))
    }

    /// Whether the settings can be used, as [`Exporter::of_config`] uses them.
    ///
    /// # Errors
    /// What cannot be used, for the operator.
    pub fn check(config: &Telemetry, base: &Path) -> Result<(), String> {
        Collector::of_config(config, base).map(drop)
    }

    /// Sends, for ever. The three signals hold up each other in nothing.
    pub async fn run(&self, gather: impl Fn() -> Gathering) {
        ON.store(self.logs, Relaxed);
        tokio::join!(
            self.send_traces(),
            self.send_logs(),
            self.send_metrics(gather)
        );
    }

    async fn send_traces(&self) {
        let (mut connection, mut told) = (None, 0);
        if !self.traces {
            return;
        }
        loop {
            sleep(EVERY).await;
            loop {
                told = tell_dropped(&TRACES, self.tracer.finished().dropped(), told);
                let taken = self.tracer.finished().take(MAX_BATCH);
                if taken.is_empty() {
                    break;
                }
                let count = taken.iter().map(|trace| trace.spans.len()).sum();
                let batch = encode::traces::traces(&self.resource, &taken);
                self.send(&mut connection, &TRACES, &batch, count).await;
            }
        }
    }

    async fn send_logs(&self) {
        let (mut connection, mut told) = (None, 0);
        if !self.logs {
            return;
        }
        loop {
            sleep(EVERY).await;
            loop {
                told = tell_dropped(&LOGS, LINES.dropped(), told);
                let taken = LINES.take(MAX_BATCH);
                if taken.is_empty() {
                    break;
                }
                let batch = encode::logs::logs(&self.resource, &taken);
                self.send(&mut connection, &LOGS, &batch, taken.len()).await;
            }
        }
    }

    async fn send_metrics(&self, gather: impl Fn() -> Gathering) {
        let mut connection = None;
        let mut ticks = interval(self.metrics_every);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        if !self.metrics {
            return;
        }
        loop {
            ticks.tick().await;
            let (batch, count) =
                encode::metrics::metrics(&self.resource, &gather().await, self.since, now());
            self.send(&mut connection, &METRICS, &batch, count).await;
        }
    }

    async fn send(
        &self,
        connection: &mut Option<Connection>,
        signal: &Signal,
        batch: &Value,
        count: usize,
    ) {
        let (path, rejected) = (signal.path, signal.rejected);
        let outcome = self.collector.send(connection, path, rejected, batch).await;
        count_outcome(signal, &outcome, count);
    }

    /// Sends what waits, within [`LONGEST_FAREWELL`], each batch once.
    pub async fn finish(&self, gather: impl FnOnce() -> Gathering) {
        let end = Instant::now() + LONGEST_FAREWELL;
        let traces = async {
            loop {
                let taken = self.tracer.finished().take(MAX_BATCH);
                if taken.is_empty() || !self.traces {
                    return;
                }
                let count = taken.iter().map(|trace| trace.spans.len()).sum();
                let batch = encode::traces::traces(&self.resource, &taken);
                self.send_last(&TRACES, &batch, count, end).await;
            }
        };
        let logs = async {
            loop {
                let taken = LINES.take(MAX_BATCH);
                if taken.is_empty() || !self.logs {
                    return;
                }
                let batch = encode::logs::logs(&self.resource, &taken);
                self.send_last(&LOGS, &batch, taken.len(), end).await;
            }
        };
        let metrics = async {
            if self.metrics
                && let Ok(families) = timeout(LONGEST_FAREWELL / 2, gather()).await
            {
                let (batch, count) =
                    encode::metrics::metrics(&self.resource, &families, self.since, now());
                self.send_last(&METRICS, &batch, count, end).await;
            }
        };
        let all = async { tokio::join!(traces, logs, metrics) };
        // What is left then is lost.
        let _ = timeout_at(end, all).await;
    }

    async fn send_last(&self, signal: &Signal, batch: &Value, count: usize, end: Instant) {
        let (path, rejected) = (signal.path, signal.rejected);
        let sent = self.collector.send_once(path, rejected, batch);
        let outcome = timeout_at(end, sent).await;
        let outcome = outcome.unwrap_or_else(|_| Outcome::Lost("it took too long".to_owned()));
        count_outcome(signal, &outcome, count);
    }
}

fn count_outcome(signal: &Signal, outcome: &Outcome, count: usize) {
    let count = count as u64;
    let rejected = match outcome {
        Outcome::Taken { rejected } => (*rejected).min(count),
        Outcome::Lost(_) => count,
    };
    counted::EXPORTED.add(signal.at, count - rejected);
    counted::DROPPED.add(signal.at, rejected);
    let signal = signal.name;
    match outcome {
        Outcome::Taken { rejected: 0 } => {}
        Outcome::Taken { rejected } => {
            tracing::warn!(signal, rejected, "failed to export a part of a batch");
        }
        Outcome::Lost(why) => tracing::warn!(signal, count, why, "failed to export a batch"),
    }
}

/// Counts what a full queue has dropped since the last call.
fn tell_dropped(signal: &Signal, dropped: u64, told: u64) -> u64 {
    let more = dropped.saturating_sub(told);
    if more > 0 {
        counted::DROPPED.add(signal.at, more);
        let signal = signal.name;
        tracing::warn!(signal, count = more, "dropped what waited for its export");
    }
    dropped
}

/// Unix nanoseconds.
fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let since = since.unwrap_or_default().as_nanos();
    u64::try_from(since).unwrap_or(u64::MAX)
}
