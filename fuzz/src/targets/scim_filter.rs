//! SCIM filters. Rule: what is read is answered without a fault, and its opposite is answered the
//! other way.

use serde_json::{Map, Value};
use signet_scim::filter::{Filter, parse};

/// The input as a filter, on a small resource.
pub fn run(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let Ok(filter) = parse(text) else {
        return;
    };
    let resource = r#"{"userName":"x","emails":[{"value":"x","type":"work"}],"active":true,"n":1}"#;
    let resource: Map<String, Value> = serde_json::from_str(resource).expect("an object");
    let holds = filter.holds(&resource);
    // Written out it has parentheses that it did not need: it may be too deep then.
    if let Ok(again) = parse(&filter.to_string()) {
        assert_eq!(again.holds(&resource), holds);
    }
    assert_ne!(Filter::Not(Box::new(filter)).holds(&resource), holds);
}
