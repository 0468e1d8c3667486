//! Metrics.
use super::{scope, text};
use serde_json::{Value, json};
use signet_telemetry::metrics::{Family, Kind, Labels, Reading};

/// AGGREGATION_TEMPORALITY_CUMULATIVE
const CUMULATIVE: u8 = 2;

/// An `ExportMetricsServiceRequest`, and how many points are in it. `since`, `now`: Unix
/// nanoseconds; what only grows grows since then.
pub(crate) fn metrics(
    resource: &Value,
    families: &[Family],
    since: u64,
    now: u64,
) -> (Value, usize) {
    let mut count = 0;
    let families: Vec<Value> = families
        .iter()
        .filter(|family| !family.readings.is_empty())
        .map(|family| {
            count += family.readings.len();
            let points: Vec<Value> = family
                .readings
                .iter()
                .map(|(labels, reading)| point(labels, reading, since, now))
                .collect();
            let row = family.metric;
            let mut metric = json!({
                "name": row.name,
                "description": row.help,
                "unit": row.unit.name(),
            });
            match row.kind {
                Kind::Counter => {
                    metric["sum"] = json!({
                        "dataPoints": points,
                        "aggregationTemporality": CUMULATIVE,
                        "isMonotonic": true,
                    });
                }
                Kind::Gauge => metric["gauge"] = json!({ "dataPoints": points }),
                Kind::Histogram => {
                    metric["histogram"] = json!({
                        "dataPoints": points,
                        "aggregationTemporality": CUMULATIVE,
                    });
                }
            }
            metric
        })
        .collect();
    let request = json!({ "resourceMetrics": [{
        "resource": resource,
        "scopeMetrics": [{ "scope": scope(), "metrics": families }],
    }]});
    (request, count)
}

fn point(labels: &Labels, reading: &Reading, since: u64, now: u64) -> Value {
    let attributes: Vec<Value> = labels
        .iter()
        .map(|(name, value)| text(name, value))
        .collect();
    let mut point = json!({
        "attributes": attributes,
        "startTimeUnixNano": since.to_string(),
        "timeUnixNano": now.to_string(),
    });
    match reading {
        Reading::Number(value) => {
            let value = i64::try_from(*value).unwrap_or(i64::MAX);
            point["asInt"] = value.to_string().into();
        }
        Reading::Timed(timed) => {
            let counts = timed.buckets.iter().map(|(_, count)| count.to_string());
            let bounds = timed.buckets.iter().map(|(bound, _)| *bound);
            point["count"] = timed.count.to_string().into();
            point["sum"] = timed.seconds.into();
            point["bucketCounts"] = counts.collect();
            // The last bucket has no bound.
            point["explicitBounds"] = bounds.filter(|bound| bound.is_finite()).collect();
        }
    }
    point
}
