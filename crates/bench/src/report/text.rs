//! A record as text: `report.md`, and `docs/performance.md` of the last full run.

use std::fmt::Write;

use crate::profile::GROUPS;
use crate::report::record::{Curve, Outcome, Record, Row, Unit};

/// The parts' titles, in the order of the report.
pub type Titles<'t> = &'t [(&'static str, &'static str)];

/// The whole report. `plots`: files beside it, with what they show.
#[must_use]
pub fn report(record: &Record, titles: Titles<'_>, plots: &[(String, String)]) -> String {
    let mut out = String::from("# Performance\n\n");
    head(&mut out, record);
    if !record.failed.is_empty() {
        out.push_str("## FAILED\n\n");
        for failed in &record.failed {
            let _ = writeln!(out, "- {}: {}", failed.what, failed.why);
        }
        out.push('\n');
    }
    goals(&mut out, record);
    profiles(&mut out, record);
    for (file, what) in plots {
        let _ = writeln!(out, "![{what}]({file})\n");
    }
    for (part, title) in titles {
        let rows: Vec<&Row> = record.rows.iter().filter(|row| row.part == *part).collect();
        if !rows.is_empty() {
            let _ = writeln!(out, "## {title}\n");
            table(&mut out, &rows);
        }
    }
    if !record.curves.is_empty() {
        out.push_str("## Load: a constant rate of arrivals, held\n\n");
        for curve in &record.curves {
            load(&mut out, curve);
        }
    }
    if !record.skipped.is_empty() {
        out.push_str("## Left out\n\n");
        for skipped in &record.skipped {
            let _ = writeln!(out, "- {}: {}", skipped.what, skipped.why);
        }
    }
    out
}

fn head(out: &mut String, record: &Record) {
    let machine = &record.machine;
    let versions: Vec<&str> = machine.versions.values().map(String::as_str).collect();
    let _ = writeln!(
        out,
        "Made by `make bench ARGS=\"{}\"` in {:.0} minutes, not by hand. {}; {}. Commit {}; {}. Load of the machine when it began: {}.\n",
        record.subset,
        (record.seconds / 60.0).ceil(),
        machine.line(),
        machine.telling_flags().join(" "),
        machine.commit,
        versions.join(", "),
        machine.load,
    );
    out.push_str(
        "Servers, floors and the load share these cores. What is compared ran in turns; a figure is the median of its turns, and the spread is half the distance \
         between the quartiles. A floor is the same client against a bare echo over TLS, plus every signature, hash and flush that the protocol makes \
         unavoidable. Published figures were measured elsewhere: only ratios compare.\n\n",
    );
}

fn goals(out: &mut String, record: &Record) {
    let outcomes = record.rows.iter().flat_map(|row| {
        let outcomes = row.outcomes().into_iter();
        outcomes.map(move |outcome| (row, outcome))
    });
    let (met, missed): (Vec<_>, Vec<_>) = outcomes.partition(|(_, outcome)| outcome.met);
    if met.is_empty() && missed.is_empty() {
        return;
    }
    let _ = writeln!(
        out,
        "## Goals: {} met, {} missed\n",
        met.len(),
        missed.len()
    );
    if missed.is_empty() {
        return;
    }
    out.push_str("| missed | reached | goal | of |\n|---|---|---|---|\n");
    for (row, Outcome { goal, reached, .. }) in missed {
        let words = match goal.of {
            crate::report::record::Measure::Value => row.unit.symbol(),
            other @ (crate::report::record::Measure::OverFloor
            | crate::report::record::Measure::CpuOverFloor
            | crate::report::record::Measure::OverPublished) => other.words(),
        };
        let (reached, bound) = (number(reached), number(goal.bound));
        let _ = writeln!(
            out,
            "| {}: {} | {reached} | {bound} | {words} |",
            row.part, row.name
        );
    }
    out.push('\n');
}

/// Where the time goes of what missed a goal.
fn profiles(out: &mut String, record: &Record) {
    if record.profiles.is_empty() {
        return;
    }
    out.push_str(
        "### Where the time of these goes\n\nMicroseconds of the servers' processor time for one operation, as `perf` samples them while it is repeated: on the \
         thread that answers by kind of function, then the other threads. A change that must be on the disk is written and flushed by the store's writer. Single \
         benches (verify, gate, passkey) have no profile.\n\n",
    );
    let heads = GROUPS.join(" | ");
    let _ = writeln!(out, "| | all | {heads} |");
    let _ = writeln!(out, "|{}", "---|".repeat(GROUPS.len() + 2));
    for profile in &record.profiles {
        let all: f64 = profile.groups.values().sum();
        let groups = GROUPS.map(|group| {
            let time = profile.groups.get(group).copied();
            time.map_or(String::new(), |time| format!("{time:.1}"))
        });
        let (part, name) = (&profile.part, &profile.name);
        let groups = groups.join(" | ");
        let _ = writeln!(out, "| {part}: {name} | {all:.1} | {groups} |");
    }
    out.push('\n');
}

fn table(out: &mut String, rows: &[&Row]) {
    let has = |present: fn(&Row) -> bool| rows.iter().any(|row| present(row));
    let floor = has(|row| row.floor.is_some());
    let peer = has(|row| row.peer.is_some());
    let published = has(|row| row.published.is_some());
    let cpu = has(|row| row.cpu.is_some());
    let mut names: Vec<&String> = rows.iter().flat_map(|row| row.beside.keys()).collect();
    names.sort();
    names.dedup();

    let mut heads = vec!["".to_owned(), "ours".into(), "spread".into()];
    let mut add = |present: bool, more: &[&str]| {
        if present {
            heads.extend(more.iter().map(|&head| head.to_owned()));
        }
    };
    add(floor, &["floor", "times floor"]);
    add(peer, &["peer here", "times peer"]);
    add(published, &["published", "times published"]);
    add(cpu, &["server CPU, us", "times floor's"]);
    heads.extend(names.iter().map(|&name| name.clone()));
    let _ = writeln!(out, "| {} |", heads.join(" | "));
    let _ = writeln!(out, "|{}", "---|".repeat(heads.len()));

    for row in rows {
        let of = |value: f64| quantity(value, row.unit);
        let spread = match row.ours.samples.len() {
            0 | 1 => String::new(),
            _ => format!("{:.1} %", row.ours.spread() * 100.0),
        };
        let mut cells = vec![row.name.clone(), of(row.ours.median), spread];
        if floor {
            cells.extend(
                row.floor
                    .as_ref()
                    .map_or([String::new(), String::new()], |floor| {
                        [
                            of(floor.value.median),
                            number(row.ours.over(&floor.value).median),
                        ]
                    }),
            );
        }
        if peer {
            cells.extend(
                row.peer
                    .as_ref()
                    .map_or([String::new(), String::new()], |peer| {
                        let figure = format!("{} ({})", of(peer.value.median), peer.name);
                        [figure, number(row.ours.median / peer.value.median)]
                    }),
            );
        }
        if published {
            let published = row.published.as_ref();
            cells.extend(
                published.map_or([String::new(), String::new()], |published| {
                    [
                        of(published.value),
                        number(row.ours.median / published.value),
                    ]
                }),
            );
        }
        if cpu {
            cells.extend(row.cpu.map_or([String::new(), String::new()], |cpu| {
                let ratio = cpu.floor.map(|floor| number(cpu.ours / floor));
                [number(cpu.ours), ratio.unwrap_or_default()]
            }));
        }
        for name in &names {
            cells.push(row.beside.get(*name).copied().map_or(String::new(), number));
        }
        let _ = writeln!(out, "| {} |", cells.join(" | "));
    }
    out.push('\n');
    let mut made: Vec<(&str, &str)> = Vec::new();
    for row in rows {
        if let Some(floor) = &row.floor
            && !made.iter().any(|(_, name)| *name == floor.name)
        {
            made.push((&row.name, &floor.name));
        }
    }
    if !made.is_empty() {
        let made: Vec<String> = made
            .iter()
            .map(|(row, floor)| format!("{row}: {floor}"))
            .collect();
        let _ = writeln!(
            out,
            "Floors, from the first row that has each: {}.\n",
            made.join("; ")
        );
    }
}

fn load(out: &mut String, curve: &Curve) {
    let knee = match &curve.knee {
        Some(knee) => format!("knee at {} /s: beyond, {}", number(knee.rate), knee.because),
        None => "no rate at which all was well".to_owned(),
    };
    let _ = writeln!(out, "### {}: {knee}\n", curve.name);
    out.push_str(
        "| offered /s | answered rightly /s | p50 ms | p95 | p99 | p99.9 | max | dropped | unanswered | shed | generator late, p99 ms | server CPU, us | resident MB |\n",
    );
    let _ = writeln!(out, "|{}", "---|".repeat(13));
    for step in &curve.steps {
        let figures = [
            step.offered,
            step.achieved,
            step.p50_ms,
            step.p95_ms,
            step.p99_ms,
            step.p999_ms,
            step.max_ms,
            step.dropped as f64,
            step.unanswered as f64,
            step.shed as f64,
            step.own_lateness_p99_ms,
            step.cpu_us,
            step.resident_mb,
        ];
        let _ = writeln!(out, "| {} |", figures.map(number).join(" | "));
    }
    out.push('\n');
}

/// Three significant digits, thousands apart.
#[must_use]
pub fn number(value: f64) -> String {
    let size = value.abs();
    match () {
        () if !value.is_finite() => "-".to_owned(),
        () if value == 0.0 => "0".to_owned(),
        () if size >= 1000.0 => thousands(value.round() as i64),
        () if size >= 100.0 || value.fract() == 0.0 => format!("{value:.0}"),
        () if size >= 10.0 => format!("{value:.1}"),
        () if size >= 0.1 => format!("{value:.2}"),
        () => format!("{value:.3}"),
    }
}

/// A figure with its unit.
#[must_use]
pub fn quantity(value: f64, unit: Unit) -> String {
    match unit.symbol() {
        "" => number(value),
        symbol => format!("{} {symbol}", number(value)),
    }
}

fn thousands(value: i64) -> String {
    let digits = value.unsigned_abs().to_string();
    let mut out = String::from(if value < 0 { "-" } else { "" });
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Machine;
    use crate::report::record::{Cpu, Measure, Profile, Skipped};
    use crate::report::summary::Summary;

    #[test]
    fn numbers_have_three_digits_that_count() {
        let shown = [0.0, 0.0123, 0.5, 12.345, 123.4, 1234.5, 1_234_567.0, 7.0].map(number);
        let expected = [
            "0",
            "0.012",
            "0.50",
            "12.3",
            "123",
            "1,235",
            "1,234,567",
            "7",
        ];
        assert_eq!(shown, expected);
    }

    #[test]
    fn the_report_shows_what_was_missed_and_what_was_left_out() {
        let mut row = Row::new(
            "grid",
            "token/ES256",
            Unit::Microseconds,
            Summary::exact(60.0),
        )
        .floor("1 echo + sign ES256", Summary::exact(40.0))
        .published(Some(151.0), crate::report::published::LATENCY)
        .goal(Measure::OverFloor, 1.15)
        .goal(Measure::OverPublished, 1.0);
        row.cpu = Some(Cpu {
            ours: 35.0,
            floor: Some(28.0),
        });
        let record = Record {
            machine: Machine::default(),
            subset: "quick".into(),
            began_at: 0,
            seconds: 61.0,
            rows: vec![row],
            curves: Vec::new(),
            profiles: vec![Profile {
                part: "grid".into(),
                name: "token/ES256".into(),
                groups: [("Signet".to_owned(), 7.25), ("kernel".to_owned(), 27.75)].into(),
            }],
            skipped: vec![Skipped {
                what: "peers".into(),
                why: "asked for by --peers".into(),
            }],
            failed: Vec::new(),
        };
        let text = report(&record, &[("grid", "Latency")], &[]);
        assert!(text.contains("1 met, 1 missed"), "{text}");
        assert!(
            text.contains("| grid: token/ES256 | 1.50 | 1.15 | times its floor |"),
            "{text}"
        );
        let line = "| token/ES256 | 60 us |  | 40 us | 1.50 | 151 us | 0.40 | 35 | 1.25 |";
        assert!(text.contains(line), "{text}");
        assert!(text.contains("peers: asked for by --peers"));
        let line = "| grid: token/ES256 | 35.0 |  |  |  |  |  | 7.2 | 27.8 |  |  |  |";
        assert!(text.contains(line), "{text}");
    }
}
