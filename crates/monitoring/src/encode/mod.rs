//! OTLP in JSON (opentelemetry-proto 1.x, OTLP 1.x "JSON Protobuf Encoding"): ids in hex, numbers
//! of 64 bits as text.
pub(crate) mod logs;
pub(crate) mod metrics;
pub(crate) mod traces;

use serde_json::{Value, json};

/// Who sends it.
pub(crate) fn resource(node: &str) -> Value {
    json!({ "attributes": [
        text("service.name", "signet"),
        text("service.version", env!("CARGO_PKG_VERSION")),
        text("service.instance.id", node),
    ]})
}

fn scope() -> Value {
    json!({ "name": "signet", "version": env!("CARGO_PKG_VERSION") })
}

fn text(key: &str, value: &str) -> Value {
    json!({ "key": key, "value": { "stringValue": value } })
}

fn number(key: &str, value: u64) -> Value {
    // The encoding's integers are signed.
    let value = i64::try_from(value).unwrap_or(i64::MAX);
    json!({ "key": key, "value": { "intValue": value.to_string() } })
}
