//! The alert rules and the dashboard name only metrics and labels that are in the table.
use std::{collections::BTreeSet, path::Path};

use serde_json::Value;
use signet_telemetry::metrics::{Kind, Metric, Values, table};

/// Labels that Prometheus itself puts there.
const OF_PROMETHEUS: &[&str] = &["instance", "job"];

fn read(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../integrations/prometheus");
    std::fs::read_to_string(folder.join(name)).unwrap()
}

/// The row of a name as Prometheus has it.
fn row(name: &str) -> Option<&'static Metric> {
    table::ALL.iter().find(|row| match row.kind {
        Kind::Histogram => ["_bucket", "_sum", "_count"]
            .iter()
            .any(|part| name.strip_suffix(part) == Some(row.name)),
        Kind::Counter | Kind::Gauge => row.exposed_name() == name,
    })
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// The names of metrics in an expression, each with what stands in the braces behind it.
fn metrics(expression: &str) -> Vec<(&str, &str)> {
    let mut found = Vec::new();
    let mut rest = expression;
    while let Some(at) = rest.find(|c: char| is_word(c)) {
        let before = &rest[..at];
        let word = &rest[at..];
        let end = word.find(|c: char| !is_word(c)).unwrap_or(word.len());
        let (name, behind) = word.split_at(end);
        if name.starts_with("signet_") || name.starts_with("process_") {
            assert!(!before.ends_with('"'), "{expression}");
            let braces = behind
                .strip_prefix('{')
                .and_then(|inside| inside.split('}').next());
            found.push((name, braces.unwrap_or_default()));
        }
        rest = behind;
    }
    found
}

/// Checks one expression; the metrics that it names.
fn check(expression: &str) -> BTreeSet<&'static str> {
    let mut named = BTreeSet::new();
    let mut labels = BTreeSet::new();
    for (name, matchers) in metrics(expression) {
        let row = row(name).unwrap_or_else(|| panic!("{name} is no metric: {expression}"));
        named.insert(row.name);
        labels.extend(row.labels.iter().map(|label| label.name));
        if row.kind == Kind::Histogram {
            labels.insert("le");
        }
        for matcher in matchers.split(',').filter(|matcher| !matcher.is_empty()) {
            let (label, value) = matcher.split_once('=').expect("a matcher");
            let label = label.trim_end_matches('!');
            let is_bound = label == "le" && name.ends_with("_bucket");
            if is_bound || OF_PROMETHEUS.contains(&label) {
                continue;
            }
            let known = row.labels.iter().find(|known| known.name == label);
            let known =
                known.unwrap_or_else(|| panic!("{name} has no label {label}: {expression}"));
            let value = value.trim_start_matches('~').trim_matches('"');
            if let Values::Of(values) = known.values {
                assert!(
                    values.contains(&value),
                    "{label} is never {value}: {expression}"
                );
            }
        }
    }
    assert!(!named.is_empty(), "no metric in {expression}");
    for behind in expression.split(" by (").skip(1) {
        for label in behind.split(')').next().unwrap().split(", ") {
            let known = labels.contains(label) || OF_PROMETHEUS.contains(&label);
            assert!(known, "no metric has the label {label}: {expression}");
        }
    }
    named
}

/// The labels that a text's templates name.
fn templates(text: &str) -> Vec<&str> {
    let parts = text.split("$labels.").skip(1);
    parts
        .map(|part| part.split(|c| !is_word(c)).next().unwrap())
        .collect()
}

#[test]
fn every_alert_is_of_the_table_and_what_it_says_has_labels_that_are_there() {
    let text = read("signet-alerts.yaml");
    let (mut alerts, mut expression) = (0, "");
    for line in text.lines() {
        let line = line.trim();
        if let Some(found) = line.strip_prefix("expr: ") {
            check(found);
            (alerts, expression) = (alerts + 1, found);
        }
        if let Some(summary) = line.strip_prefix("summary: ") {
            for label in templates(summary) {
                let known = metrics(expression).into_iter().any(|(name, _)| {
                    row(name).is_some_and(|row| row.labels.iter().any(|known| known.name == label))
                });
                assert!(known || label == "instance", "{label}: {summary}");
            }
        }
    }
    assert!(alerts > 20, "{alerts}");
    assert_eq!(
        text.matches("- alert: ").count(),
        alerts,
        "an expression of several lines"
    );
    for tested in read("signet-alerts-test.yaml").lines() {
        if let Some(series) = tested.trim().strip_prefix("- {series: '") {
            check(series.split('\'').next().unwrap());
        }
    }
}

#[test]
fn the_manual_says_of_every_alert_what_to_do() {
    let manual = include_str!("../../../docs/monitoring.md");
    for line in read("signet-alerts.yaml").lines() {
        if let Some(name) = line.trim().strip_prefix("- alert: ") {
            assert!(manual.contains(&format!("`{name}`")), "{name}");
        }
    }
}

#[test]
fn the_dashboard_is_of_the_table_and_shows_nearly_all_of_it() {
    let dashboard: Value = serde_json::from_str(&read("signet-dashboard.json")).unwrap();
    let mut shown = BTreeSet::new();
    let mut ids = BTreeSet::new();
    for panel in dashboard["panels"].as_array().unwrap() {
        assert!(ids.insert(panel["id"].as_u64().unwrap()), "{panel}");
        for target in panel["targets"].as_array().into_iter().flatten() {
            shown.extend(check(target["expr"].as_str().unwrap()));
        }
    }
    let missing: Vec<&str> = table::ALL
        .iter()
        .map(|row| row.name)
        .filter(|name| !shown.contains(name))
        .collect();
    assert!(missing.len() < 30, "{missing:?}");
}

#[test]
#[should_panic(expected = "is no metric")]
fn a_name_that_is_not_in_the_table_is_found() {
    check("rate(signet_nothing_total[5m])");
}

#[test]
#[should_panic(expected = "has no label")]
fn a_label_that_is_not_in_the_table_is_found() {
    check("signet_disk_full{user=\"alice\"}");
}

#[test]
#[should_panic(expected = "is never")]
fn a_value_that_is_not_in_the_table_is_found() {
    check("signet_mails_total{outcome=\"perhaps\"}");
}
