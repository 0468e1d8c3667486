//! `[telemetry]`.
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{duration::Duration, secret::SecretRef};

/// What is sent to an OpenTelemetry collector (docs/monitoring.md).
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Telemetry {
    /// Where a collector takes OTLP over HTTP, without the path of a signal: an https URL, or http
    /// for a collector that is reached without leaving what you trust. Traces go to `/v1/traces`
    /// below it, metrics to `/v1/metrics`, log lines to `/v1/logs`. Default: nothing is sent.
    pub otlp_endpoint: Option<String>,
    /// Header fields that the collector asks for, a line each: `name: value`.
    pub otlp_headers: Option<SecretRef>,
    /// Further certificates that a collector's may come from, PEM.
    pub ca_file: Option<PathBuf>,
    /// Send traces?
    pub traces: bool,
    /// Send metrics?
    pub metrics: bool,
    /// Send log lines?
    pub logs: bool,
    /// Of the requests that nobody else has decided about, which part is traced: 0 to 1.
    pub sample: f64,
    /// So many requests of each second are traced whatever `sample` says, the first ones: a server
    /// with little to do is seen whole.
    pub sample_per_second: u32,
    /// Whose `traceparent` is continued, and whose decision to record counts. Of everybody else's
    /// requests the server decides, in a trace of its own that names the caller's.
    pub parents: TraceParents,
    /// Do requests to other servers (identity providers, receivers of logout notices, clients'
    /// keys) say which trace they belong to?
    pub propagate: bool,
    /// How often metrics are sent.
    pub metrics_interval: Duration,
}

impl Default for Telemetry {
    fn default() -> Telemetry {
        Telemetry {
            otlp_endpoint: None,
            otlp_headers: None,
            ca_file: None,
            traces: true,
            metrics: true,
            logs: true,
            sample: 0.01,
            sample_per_second: 10,
            parents: TraceParents::default(),
            propagate: true,
            metrics_interval: Duration(60),
        }
    }
}

/// Whose word about traces counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TraceParents {
    /// That of the proxies in `proxy.trusted`.
    #[default]
    Proxies,
    /// Everybody's: anybody may have requests traced.
    Everybody,
    /// Nobody's.
    Nobody,
}
