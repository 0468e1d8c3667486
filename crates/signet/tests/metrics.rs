//! docs/reference/metrics.md: what `/metrics` of two nodes and of a gate say of themselves.

use std::collections::BTreeMap;

use crate::cluster::invite;
use crate::gate_revocations::{configuration, make_reader};
use crate::support::{Server, gate::Gate, text};

/// Names with their kind and what they mean, of an exposition (OpenMetrics 1.0 section 3.1.2).
fn families(exposition: &str, into: &mut BTreeMap<String, (String, String)>) {
    for line in exposition.lines() {
        let Some(rest) = line.strip_prefix("# ") else {
            continue;
        };
        let mut words = rest.splitn(3, ' ');
        let (Some(what), Some(name), Some(said)) = (words.next(), words.next(), words.next())
        else {
            continue;
        };
        let family = into.entry(name.to_owned()).or_default();
        match what {
            "HELP" => family.1 = said.trim_end_matches('.').to_owned(),
            "TYPE" => family.0 = said.to_owned(),
            _ => {}
        }
    }
}

fn table(page: &mut String, title: &str, families: &BTreeMap<String, (String, String)>) {
    page.push_str(&format!(
        "\n## {title}\n\n| metric | kind | meaning |\n|---|---|---|\n"
    ));
    for (name, (kind, meaning)) in families {
        // OpenMetrics section 4.4: what only grows is said with this suffix.
        let total = match kind.as_str() {
            "counter" => "_total",
            _ => "",
        };
        page.push_str(&format!("| `{name}{total}` | {kind} | {meaning} |\n"));
    }
}

#[tokio::test]
async fn the_manual_has_every_metric_with_its_meaning() {
    let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (_server, dev) = Server::dev(first.path());
    make_reader(first.path(), &dev);
    let (_joined, other) = Server::joined(second.path(), &invite(&dev));
    let mut server = BTreeMap::new();
    for dev in [&dev, &other] {
        dev.service_token().await;
        let url = format!("{}/metrics", dev.url);
        let answer = dev.client().get(&url, &[]).await.unwrap();
        families(&text(&answer.body), &mut server);
    }
    let settings = configuration(&dev, "fail_closed", "client_secret_file = \"secret\"");
    let gate = Gate::start(first.path(), "gate", &settings);
    let token = dev.service_token().await;
    gate.until(&token, (200, "valid")).await;
    let (_, exposition) = gate.ask("/metrics", None).await.unwrap();
    let mut of_gate = BTreeMap::new();
    families(&exposition, &mut of_gate);
    assert!(
        server.len() > 20 && of_gate.len() > 8,
        "{server:?} {of_gate:?}"
    );
    for (name, (kind, meaning)) in server.iter().chain(&of_gate) {
        let own = name.starts_with("signet_") || name.starts_with("process_");
        assert!(own, "{name}");
        assert!(!kind.is_empty() && !meaning.is_empty(), "{name}");
    }

    let mut page = String::from(
        "# Metrics\n\nWhat `/metrics` answers, in the text format of OpenMetrics 1.0, which Prometheus reads. [Operation](../operations.md) says who may read it and\n\
         which labels are bounded how.\n\n\
         This page is made of what running processes answer: `SIGNET_WRITE_DOCS=1 cargo test -p signet --test it metrics` writes it.\n",
    );
    table(&mut page, "A server", &server);
    table(&mut page, "A gate", &of_gate);
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
