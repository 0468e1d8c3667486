//! What a change does to the members of a record's stored form, for the audit trail.
use serde_json::{Map, Value};

/// Longest value that is repeated, in bytes; of longer ones the member is named alone.
const SHOWN_BYTES: usize = 100;

/// Members whose values are not repeated: secrets, hashes of them, and settings, which may have
/// one.
const UNSHOWN: [&str; 5] = ["secret", "hash", "sealed", "password", "settings"];

/// `member`, or `member: before → after`, of each that differs. Of a record that is made or goes,
/// nothing: the act's name says it.
pub(super) fn of(was: Option<&[u8]>, is: Option<&[u8]>) -> Vec<String> {
    let (Some(was), Some(is)) = (was.and_then(read), is.and_then(read)) else {
        return Vec::new();
    };
    let gone = was.keys().filter(|name| !is.contains_key(*name));
    let names = is.keys().chain(gone).filter(|name| *name != "revision");
    let differing = names.filter(|name| was.get(*name) != is.get(*name));
    differing
        .map(|name| said(name, was.get(name), is.get(name)))
        .collect()
}

fn read(stored: &[u8]) -> Option<Map<String, Value>> {
    serde_json::from_slice(stored).ok()
}

fn said(name: &str, was: Option<&Value>, is: Option<&Value>) -> String {
    let text = |value: Option<&Value>| value.map_or_else(|| "-".to_owned(), Value::to_string);
    let said = format!("{name}: {} → {}", text(was), text(is));
    let is_shown = !UNSHOWN.iter().any(|part| name.contains(part));
    match is_shown && said.len() <= name.len() + SHOWN_BYTES {
        true => said,
        false => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::of;

    #[test]
    fn members_that_differ_are_named_and_secrets_are_not_repeated() {
        let was = br#"{"client_name":"A","secrets":["x"],"scope":"a","gone":1,"revision":1}"#;
        let is = br#"{"client_name":"B","secrets":["hunter2"],"scope":"a","revision":2}"#;
        let mut said = of(Some(was), Some(is));
        said.sort();
        assert_eq!(
            said,
            ["client_name: \"A\" → \"B\"", "gone: 1 → -", "secrets"]
        );
        assert!(of(None, Some(is)).is_empty() && of(Some(was), None).is_empty());
        let long = format!(r#"{{"policy_uri":"{}"}}"#, "x".repeat(200));
        assert_eq!(of(Some(b"{}"), Some(long.as_bytes())), ["policy_uri"]);
    }
}
