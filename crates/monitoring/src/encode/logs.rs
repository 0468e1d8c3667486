//! Log lines.
use super::{scope, text};
use serde_json::{Value, json};
use signet_telemetry::logs::Line;

/// An `ExportLogsServiceRequest`.
pub(crate) fn logs(resource: &Value, lines: &[Line]) -> Value {
    let records: Vec<Value> = lines.iter().map(record).collect();
    json!({ "resourceLogs": [{
        "resource": resource,
        "scopeLogs": [{ "scope": scope(), "logRecords": records }],
    }]})
}

fn record(line: &Line) -> Value {
    let mut attributes: Vec<Value> = line
        .fields
        .iter()
        .map(|(name, value)| text(name, value))
        .collect();
    attributes.push(text("code.namespace", line.target));
    let mut record = json!({
        "timeUnixNano": line.at.to_string(),
        "observedTimeUnixNano": line.at.to_string(),
        "severityNumber": match line.level {
            "ERROR" => 17,
            "WARN" => 13,
            "INFO" => 9,
            "DEBUG" => 5,
            _ => 1,
        },
        "severityText": line.level,
        "body": { "stringValue": line.message },
        "attributes": attributes,
    });
    if let Some((trace, span)) = &line.span {
        record["traceId"] = trace.clone().into();
        record["spanId"] = span.clone().into();
    }
    record
}
