//! Plots of a record, each of which explains itself: what was measured, beside what, where, and
//! which line is whose.

mod chart;

use std::{collections::BTreeMap, path::Path};

use self::chart::{Chart, Look, Panel, Series};
use crate::client::Failure;
use crate::report::published;
use crate::report::record::{Curve, Record, Row};

/// Draws all that the record has figures for. Gives the files, with what they show.
///
/// # Errors
/// A file that cannot be written.
pub fn all(record: &Record, directory: &Path) -> Result<Vec<(String, String)>, Failure> {
    let mut charts = latency(record);
    charts.extend(convergence(record));
    charts.extend(record.curves.iter().map(load));
    charts.extend(throughput(record));
    charts.extend(memory(record));
    charts.extend(sizes(record));
    let machine = &record.machine;
    let place = format!("{}; commit {}", machine.line(), machine.commit);
    let mut drawn = Vec::with_capacity(charts.len());
    for chart in charts {
        let file = format!("{}.svg", chart.file);
        chart.draw(&directory.join(&file), &place)?;
        drawn.push((file, chart.title.clone()));
    }
    Ok(drawn)
}

/// A figure by the last part of its name, where that is a number: nodes, connections.
fn by_last<'r>(rows: impl Iterator<Item = &'r Row>) -> BTreeMap<String, Vec<(f64, &'r Row)>> {
    let mut lines: BTreeMap<String, Vec<(f64, &Row)>> = BTreeMap::new();
    for row in rows {
        if let Some((line, last)) = row.name.rsplit_once('/')
            && let Ok(x) = last.parse()
        {
            lines.entry(line.to_owned()).or_default().push((x, row));
        }
    }
    for points in lines.values_mut() {
        points.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    }
    lines
}

fn of<'r>(record: &'r Record, part: &'r str) -> impl Iterator<Item = &'r Row> {
    record.rows.iter().filter(move |row| row.part == part)
}

/// One chart a scenario and method, one panel an algorithm.
fn latency(record: &Record) -> Vec<Chart> {
    let mut charts: Vec<Chart> = Vec::new();
    for (line, points) in by_last(of(record, "grid")) {
        let Some((scenario, algorithm)) = line.rsplit_once('/') else {
            continue;
        };
        let ours = points.iter().map(|(x, row)| (*x, row.ours.median));
        let floor = points.iter();
        let floor = floor.filter_map(|(x, row)| Some((*x, row.floor.as_ref()?.value.median)));
        let (work, method) = scenario.split_once('/').unwrap_or((scenario, ""));
        let published = [1, 2, 3, 5, 7, 10].into_iter().filter_map(|nodes| {
            let mean = published::latency_us(work, method, algorithm, nodes)?;
            Some((nodes as f64, mean))
        });
        let panel = Panel {
            title: algorithm.to_owned(),
            series: vec![
                Series::new("published, elsewhere", Look::Grey, published.collect()),
                Series::new("floor, in the same turns", Look::Dashed, floor.collect()),
                Series::new("ours", Look::Line(0), ours.collect()),
            ],
            marks: Vec::new(),
        };
        let file = format!("latency-{}", scenario.replace('/', "-"));
        match charts.iter_mut().find(|chart| chart.file == file) {
            Some(chart) => chart.panels.push(panel),
            None => charts.push(Chart {
                file,
                title: format!("Latency of {scenario}, by algorithm and nodes"),
                x: "nodes, asked in turns".into(),
                y: "microseconds".into(),
                logarithmic: (false, true),
                panels: vec![panel],
            }),
        }
    }
    charts
}

fn convergence(record: &Record) -> Option<Chart> {
    let lines = by_last(of(record, "converge"));
    let mut series: Vec<Series> = Vec::new();
    let unit = lines.values().flatten().next()?.1.unit;
    let published = [2, 3, 5, 7, 10].into_iter().filter_map(|nodes| {
        let mean = published::convergence_ms("ES256", nodes)?;
        let scale = if unit == crate::report::record::Unit::Microseconds {
            1000.0
        } else {
            1.0
        };
        Some((nodes as f64, mean * scale))
    });
    series.push(Series::new(
        "published, elsewhere (ES256)",
        Look::Grey,
        published.collect(),
    ));
    for (at, (line, points)) in lines.iter().enumerate() {
        let points = points.iter().map(|(x, row)| (*x, row.ours.median));
        series.push(Series::new(line, Look::Line(at), points.collect()));
    }
    Some(Chart {
        file: "convergence".into(),
        title: "Convergence: from a change on one node until all have it".into(),
        x: "nodes".into(),
        y: unit.symbol().into(),
        logarithmic: (false, true),
        panels: vec![Panel {
            title: String::new(),
            series,
            marks: Vec::new(),
        }],
    })
}

fn load(curve: &Curve) -> Chart {
    let line = |label: &str, look: Look, of: fn(&crate::report::record::Step) -> f64| {
        let points = curve.steps.iter().map(|step| (step.offered, of(step)));
        Series::new(label, look, points.collect())
    };
    let mut marks = Vec::new();
    if let Some(knee) = &curve.knee {
        marks.push((knee.rate, format!("knee: beyond, {}", knee.because)));
    }
    Chart {
        file: format!("load-{}", curve.name.replace(['/', ' '], "-")),
        title: format!(
            "{}: time from when a request was due, by offered rate",
            curve.name
        ),
        x: "requests a second that were due".into(),
        y: "milliseconds".into(),
        logarithmic: (true, true),
        panels: vec![Panel {
            title: String::new(),
            series: vec![
                line("half", Look::Line(0), |step| step.p50_ms),
                line("95 %", Look::Line(1), |step| step.p95_ms),
                line("99 %", Look::Line(2), |step| step.p99_ms),
                line("99.9 %", Look::Line(3), |step| step.p999_ms),
            ],
            marks,
        }],
    }
}

/// The gate against connections, a panel a scheme; published points in grey.
fn throughput(record: &Record) -> Option<Chart> {
    let mut panels: BTreeMap<String, Panel> = BTreeMap::new();
    let rates = of(record, "gate").filter(|row| row.unit.more_is_better());
    for (at, (line, points)) in by_last(rates).into_iter().enumerate() {
        let Some((scheme, what)) = line.split_once('/') else {
            continue;
        };
        let panel = panels.entry(scheme.to_owned()).or_insert_with(|| Panel {
            title: scheme.to_owned(),
            series: vec![Series::new(
                "published, elsewhere",
                Look::Grey,
                validation(),
            )],
            marks: Vec::new(),
        });
        let points = points.iter().map(|(x, row)| (*x, row.ours.median));
        panel
            .series
            .push(Series::new(what, Look::Line(at % 3), points.collect()));
    }
    (!panels.is_empty()).then(|| Chart {
        file: "throughput".into(),
        title: "The validation service: requests a second, by connections".into(),
        x: "connections".into(),
        y: "requests a second".into(),
        logarithmic: (true, false),
        panels: panels.into_values().collect(),
    })
}

/// The best published throughput at each number of connections.
fn validation() -> Vec<(f64, f64)> {
    let table = published::Table::named(published::VALIDATION);
    let mut best: BTreeMap<u32, f64> = BTreeMap::new();
    for row in table.rows(&[("endpoint", "jwt_validation")]) {
        let number = |column| table.cell(row, column)?.parse::<f64>().ok();
        if let (Some(connections), Some(rate)) = (number("connections"), number("throughput_ops_s"))
        {
            let best = best.entry(connections as u32).or_default();
            *best = best.max(rate);
        }
    }
    best.into_iter().map(|(x, y)| (f64::from(x), y)).collect()
}

/// Rows as bars: the x axis is their order, the label their name.
fn bars(rows: &[&Row], label: fn(&Row) -> String) -> Vec<Series> {
    let mut series = Vec::new();
    let published = rows.iter().enumerate();
    let published =
        published.filter_map(|(at, row)| Some((at as f64, row.published.as_ref()?.value)));
    let published: Vec<_> = published.collect();
    if !published.is_empty() {
        series.push(Series::new(
            "published, elsewhere",
            Look::GreyBar,
            published,
        ));
    }
    let ours = rows
        .iter()
        .enumerate()
        .map(|(at, row)| (at as f64, row.ours.median));
    let mut ours = Series::new("ours", Look::Bar, ours.collect());
    ours.names = rows.iter().map(|row| label(row)).collect();
    series.push(ours);
    series
}

fn memory(record: &Record) -> Option<Chart> {
    let megabytes = |row: &&Row| row.unit == crate::report::record::Unit::Megabytes;
    let rows: Vec<&Row> = of(record, "memory").filter(megabytes).collect();
    (!rows.is_empty()).then(|| Chart {
        file: "memory".into(),
        title: "Memory of the server".into(),
        x: String::new(),
        y: "millions of bytes".into(),
        logarithmic: (false, false),
        panels: vec![Panel {
            title: String::new(),
            series: bars(&rows, |row| row.name.clone()),
            marks: Vec::new(),
        }],
    })
}

fn sizes(record: &Record) -> Option<Chart> {
    let kinds = ["access token", "ID token", "public JWK"];
    let panels = kinds.into_iter().filter_map(|kind| {
        let rows = of(record, "sizes").filter(|row| row.name.split('/').next() == Some(kind));
        let rows: Vec<&Row> = rows.collect();
        let label = |row: &Row| row.name.rsplit('/').next().unwrap_or_default().to_owned();
        (!rows.is_empty()).then(|| Panel {
            title: kind.into(),
            series: bars(&rows, label),
            marks: Vec::new(),
        })
    });
    let panels: Vec<Panel> = panels.collect();
    (!panels.is_empty()).then(|| Chart {
        file: "sizes".into(),
        title: "Sizes by algorithm".into(),
        x: String::new(),
        y: "bytes".into(),
        logarithmic: (false, false),
        panels,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Machine;
    use crate::report::record::{Knee, Step, Unit};
    use crate::report::summary::Summary;

    #[test]
    fn every_plot_of_a_record_is_drawn_and_says_what_it_shows() {
        let grid = |nodes: usize, us: f64| {
            let name = format!("client_credentials/client_secret_basic/ES256/{nodes}");
            let ours = Summary::exact(us);
            Row::new("grid", name, Unit::Microseconds, ours).floor("1 echo", Summary::exact(40.0))
        };
        let step = |offered: f64, p50_ms: f64| Step {
            offered,
            p50_ms,
            p95_ms: p50_ms * 2.0,
            p99_ms: p50_ms * 3.0,
            p999_ms: p50_ms * 9.0,
            ..Step::default()
        };
        let gate = |connections: usize| {
            let name = format!("http/health/{connections}");
            Row::new("gate", name, Unit::PerSecond, Summary::exact(90_000.0))
        };
        let size = Row::new(
            "sizes",
            "access token/ES256",
            Unit::Bytes,
            Summary::exact(500.0),
        );
        let idle = Row::new("memory", "idle", Unit::Megabytes, Summary::exact(26.0));
        let record = Record {
            machine: Machine::default(),
            subset: "quick".into(),
            began_at: 0,
            seconds: 1.0,
            rows: vec![
                grid(1, 60.0),
                grid(3, 61.0),
                gate(20),
                gate(200),
                size,
                idle,
            ],
            curves: vec![Curve {
                name: "introspection/embedded/1".into(),
                steps: vec![step(1000.0, 0.1), step(2000.0, 0.2), step(4000.0, 50.0)],
                knee: Some(Knee {
                    rate: 2000.0,
                    because: "the 99th percentile is over 10 ms".into(),
                }),
            }],
            profiles: Vec::new(),
            skipped: Vec::new(),
            failed: Vec::new(),
        };
        let directory = tempfile::tempdir().expect("a directory");
        let drawn = all(&record, directory.path()).expect("drawn");
        assert_eq!(drawn.len(), 5, "{drawn:?}");
        for (file, title) in drawn {
            let text = std::fs::read_to_string(directory.path().join(&file)).expect("a file");
            assert!(text.starts_with("<svg") && text.contains(&title), "{file}");
        }
        let latency = "latency-client_credentials-client_secret_basic.svg";
        let latency = std::fs::read_to_string(directory.path().join(latency)).expect("a file");
        assert!(latency.contains("published, elsewhere"));
        let load =
            std::fs::read_to_string(directory.path().join("load-introspection-embedded-1.svg"));
        assert!(load.expect("a file").contains("knee"));
    }
}
