//! docs/reference/metrics.md is the table of metrics, and what `/metrics` of two nodes and of a
//! gate answer is in it.

use std::collections::BTreeMap;

use signet_telemetry::metrics::{Metric, Program, Values, table};

use crate::cluster::invite;
use crate::gate_revocations::{configuration, make_reader};
use crate::support::{Server, gate::Gate, text};

/// Names with their kind and what they mean, of an exposition (OpenMetrics 1.0 section 3.1.2).
fn families(exposition: &str) -> BTreeMap<String, (String, String)> {
    let mut found: BTreeMap<String, (String, String)> = BTreeMap::new();
    for line in exposition.lines() {
        let Some(rest) = line.strip_prefix("# ") else {
            continue;
        };
        let mut words = rest.splitn(3, ' ');
        let (Some(what), Some(name), Some(said)) = (words.next(), words.next(), words.next())
        else {
            continue;
        };
        let family = found.entry(name.to_owned()).or_default();
        match what {
            "HELP" => family.1 = said.trim_end_matches('.').to_owned(),
            "TYPE" => family.0 = said.to_owned(),
            _ => {}
        }
    }
    found
}

/// Every family and every label of an exposition is a row's.
#[track_caller]
fn is_of_table(exposition: &str) {
    for (name, (kind, meaning)) in families(exposition) {
        let row = table::ALL.iter().find(|row| row.name == name);
        let row = row.unwrap_or_else(|| panic!("{name} is in no table"));
        assert_eq!(kind, row.kind.name(), "{name}");
        assert_eq!(meaning, row.help.trim_end_matches('.'), "{name}");
        let own = exposition.lines().filter(|line| {
            let rest = line.strip_prefix(row.name);
            rest.is_some_and(|rest| rest.starts_with('{') || rest.starts_with("_total{"))
        });
        for line in own {
            let labels: Vec<&str> = row.labels.iter().map(|label| label.name).collect();
            let inside = &line[line.find('{').unwrap() + 1..line.rfind('}').unwrap()];
            let mut said: Vec<&str> = inside.split("\",").collect();
            said.iter_mut()
                .for_each(|pair| *pair = pair.split('=').next().unwrap());
            assert_eq!(said, labels, "{line}");
        }
    }
}

fn section(page: &mut String, title: &str, rows: &[&Metric]) {
    page.push_str(&format!(
        "\n## {title}\n\n| metric | kind | unit | labels | meaning |\n|---|---|---|---|---|\n"
    ));
    let mut rows = rows.to_vec();
    rows.sort_by_key(|row| row.name);
    for row in rows {
        let labels: Vec<String> = row
            .labels
            .iter()
            .map(|label| match label.values {
                Values::Of(values) => {
                    let values: Vec<String> = values.iter().map(|v| format!("`{v}`")).collect();
                    format!("`{}`: {}", label.name, values.join(", "))
                }
                Values::Named(what) => format!("`{}`: {what}", label.name),
            })
            .collect();
        page.push_str(&format!(
            "| `{}` | {} | {} | {} | {} |\n",
            row.exposed_name(),
            row.kind.name(),
            row.unit.name(),
            labels.join("; "),
            row.help.trim_end_matches('.'),
        ));
    }
}

#[test]
fn the_manual_is_the_table_of_metrics() {
    let of = |program: Program| -> Vec<&Metric> {
        let rows = table::ALL.iter();
        rows.filter(|row| row.program == program || row.program == Program::Both)
            .collect()
    };
    let mut page = String::from(
        "# Metrics\n\nWhat `/metrics` answers, in the text format of OpenMetrics 1.0, which Prometheus reads, and what is sent by OTLP with the same names\n\
         ([monitoring.md](../monitoring.md)). A label has the values that stand here, and never what a caller chooses.\n\n\
         This page is made of the table that both are made of: `SIGNET_WRITE_DOCS=1 cargo test -p signet --test it metrics` writes it.\n",
    );
    section(&mut page, "A server", &of(Program::Server));
    section(&mut page, "A gate", &of(Program::Gate));
    let file = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../docs/reference/metrics.md"
    );
    if std::env::var_os("SIGNET_WRITE_DOCS").is_some() {
        std::fs::write(file, &page).unwrap();
    }
    let written = std::fs::read_to_string(file).unwrap_or_default();
    assert_eq!(
        written, page,
        "SIGNET_WRITE_DOCS=1 cargo test -p signet --test it metrics"
    );
}

#[tokio::test]
async fn what_two_nodes_and_a_gate_answer_is_in_the_table() {
    let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (_server, dev) = Server::dev(first.path());
    make_reader(first.path(), &dev);
    let (_joined, other) = Server::joined(second.path(), &invite(&dev));
    let mut names = BTreeMap::new();
    for dev in [&dev, &other] {
        dev.service_token().await;
        let url = format!("{}/metrics", dev.url);
        let answer = dev.client().get(&url, &[]).await.unwrap();
        let said = text(&answer.body);
        is_of_table(&said);
        let issued =
            "signet_tokens_issued_total{grant=\"client_credentials\",client=\"confidential\"} ";
        let issued = said.lines().find_map(|line| line.strip_prefix(issued));
        assert!(issued.is_some_and(|count| count != "0"), "{said}");
        assert!(said.contains("signet_certificate_end_seconds "), "{said}");
        names.extend(families(&said));
    }
    let settings = configuration(&dev, "fail_closed", "client_secret_file = \"secret\"");
    let gate = Gate::start(first.path(), "gate", &settings);
    let token = dev.service_token().await;
    gate.until(&token, (200, "valid")).await;
    let (_, exposition) = gate.ask("/metrics", None).await.unwrap();
    is_of_table(&exposition);
    names.extend(families(&exposition));
    // What is answered only where there are several realms, or a directory that is watched.
    let seldom = [
        &table::DECLARATION_APPLIED,
        &table::DECLARATION_DRIFT,
        &table::REALMS,
        &table::REALM_REQUESTS,
    ];
    let missing: Vec<&str> = table::ALL
        .iter()
        .filter(|row| !names.contains_key(row.name) && !seldom.contains(row))
        .map(|row| row.name)
        .collect();
    assert!(missing.is_empty(), "nobody answers {missing:?}");
}
