//! The benches that stand by themselves (`cargo bench -p signet-bench --bench NAME`): they are run
//! as they are, and what they write to `target/bench` becomes rows of the same report.

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use serde_json::Value;

use crate::client::Failure;
use crate::report::published::{self, Table};
use crate::report::record::{Cpu, Measure, Row, Unit};
use crate::report::summary::Summary;
use crate::run::{Options, Part, Run};

/// All of [`TABLE`].
pub const PART: Part = Part {
    name: "benches",
    title: "Benches that stand by themselves",
    plan,
    run,
};

/// A bench.
pub struct Bench {
    /// Of the program, and of its file in `target/bench`.
    pub name: &'static str,
    /// In the report.
    pub title: &'static str,
    /// Whether a quick run has it.
    quick: bool,
    /// Seconds that it takes in a quick and in a full run.
    seconds: (f64, f64),
    /// From its file to rows.
    rows: fn(&str, &Value) -> Vec<Row>,
}

/// In the order of the report.
#[rustfmt::skip]
pub const TABLE: [Bench; 9] = [
    Bench { name: "primitives", title: "Primitives, beside the bare library", quick: false, seconds: (60.0, 90.0), rows: lines },
    Bench { name: "verify", title: "Validation, beside the bare signature check", quick: true, seconds: (15.0, 15.0), rows: lines },
    Bench { name: "gate", title: "The validation service, beside its health endpoint", quick: true, seconds: (60.0, 200.0), rows: gate },
    Bench { name: "passkey", title: "Passkeys, beside the code flow", quick: true, seconds: (10.0, 25.0), rows: lines },
    Bench { name: "compact", title: "Compact and zero-knowledge tokens", quick: false, seconds: (60.0, 120.0), rows: lines },
    Bench { name: "agent", title: "Agents", quick: false, seconds: (60.0, 120.0), rows: lines },
    Bench { name: "converge", title: "Convergence: a change on one node, in effect on all", quick: true, seconds: (60.0, 180.0), rows: converge },
    Bench { name: "nodes", title: "The store by engine and nodes", quick: false, seconds: (120.0, 300.0), rows: nodes },
    Bench { name: "state", title: "State of many clients, revocations and realms", quick: false, seconds: (120.0, 300.0), rows: state },
];

fn plan(options: &Options) -> f64 {
    let wanted = TABLE.iter().filter(|bench| options.full || bench.quick);
    wanted
        .map(|bench| options.choose(bench.seconds.0, bench.seconds.1))
        .sum()
}

fn run(run: &mut Run) -> Result<(), Failure> {
    for bench in &TABLE {
        if !run.options.full && !bench.quick {
            run.skip(
                bench.title,
                format!(
                    "in a full run: make bench ARGS=full, or ARGS=\"-- --bench {}\" alone",
                    bench.name
                ),
            );
            continue;
        }
        let source = directory().join(format!("{}.rs", bench.name));
        if !source.exists() && !source.with_extension("").exists() {
            run.skip(bench.title, "this source has no such bench");
            continue;
        }
        run.progress.says(bench.title);
        let value = measured(bench.name, &run.options)?;
        for row in (bench.rows)(bench.name, &value) {
            run.add(row);
        }
        let seconds = run.options.choose(bench.seconds.0, bench.seconds.1);
        run.progress.done(seconds);
    }
    Ok(())
}

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("benches")
}

/// Runs a bench and reads what it wrote. Its own lines go to a log beside the report.
fn measured(name: &str, options: &Options) -> Result<Value, Failure> {
    let log = options.out.join(format!("{name}.log"));
    std::fs::create_dir_all(&options.out)?;
    let file = std::fs::File::create(&log)?;
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command
        .args([
            "bench",
            "--locked",
            "--quiet",
            "-p",
            "signet-bench",
            "--features",
            "peer",
            "--bench",
            name,
        ])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env("SIGNET_BIN", crate::process::binary()?)
        .env(
            "SECONDS",
            (options.choose(1.0, 3.0) * options.pace).to_string(),
        )
        .stdin(Stdio::null())
        .stdout(file.try_clone()?)
        .stderr(file);
    if !options.full {
        // Of the benches that go by numbers of nodes.
        command.env("NODES", "2,3").env("WRITES", "40");
    }
    if !command.status()?.success() {
        let said = std::fs::read_to_string(&log)?;
        return Err(format!("the bench {name} failed: {said}").into());
    }
    let written = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/bench");
    let written = std::fs::read(written.join(format!("{name}.json")))?;
    Ok(serde_json::from_slice(&written)?)
}

/// Lines of [`crate::report::Line`]: one median a line, with its floor.
fn lines(part: &str, value: &Value) -> Vec<Row> {
    let lines = value.as_array().map_or(&[][..], Vec::as_slice);
    let rows = lines.iter().filter_map(|line| {
        let name = line["name"].as_str()?;
        let number = |member: &str| line[member].as_f64();
        let ours = Summary::exact(number("value_us")?);
        let mut row = Row::new(part, name, Unit::Microseconds, ours);
        if let Some(floor) = number("floor_us") {
            let words = line["floor"].as_str().unwrap_or("the bare operation");
            row = row.floor(words, Summary::exact(floor));
        }
        if let Some(ours) = number("server_cpu_us") {
            let floor = number("floor_cpu_us");
            row.cpu = Some(Cpu { ours, floor });
        }
        let source = match part {
            "agent" => published::AGENTS,
            _ => published::COMPACT,
        };
        row = row.published(number("published_us"), source);
        if let Some(aim) = number("aim") {
            row = row.goal(Measure::OverFloor, aim);
        }
        if let Some(bound) = number("bound_us") {
            row = row.goal(Measure::Value, bound);
        }
        Some(row)
    });
    rows.collect()
}

/// Throughput against connections; the health endpoint is the floor, and what it and the bare check
/// allow together is that of tokens never seen.
fn gate(part: &str, value: &Value) -> Vec<Row> {
    let table = Table::named(published::VALIDATION);
    let best = |endpoint: &str| {
        let wanted = [("endpoint", endpoint)];
        let rates = table
            .rows(&wanted)
            .filter_map(|row| table.cell(row, "throughput_ops_s")?.parse().ok());
        rates.reduce(f64::max)
    };
    let mut rows = Vec::new();
    for scheme in ["http", "https"] {
        let empty = Vec::new();
        let measured = &value[scheme];
        for at in measured["throughput"].as_array().unwrap_or(&empty) {
            let connections = at["connections"].as_u64().unwrap_or(0);
            let rate = |member: &str| Summary::exact(at[member].as_f64().unwrap_or(0.0));
            let mut add = |what: &str,
                           rate: Summary,
                           floor: Option<(&str, Summary)>,
                           key: &str,
                           published: Option<f64>| {
                let name = format!("{scheme}/{what}/{connections}");
                let mut row = Row::new(part, name, Unit::PerSecond, rate)
                    .published(published, published::VALIDATION);
                if let Some((words, floor)) = floor {
                    row = row.floor(words, floor).goal(Measure::OverFloor, 0.95);
                }
                row.cpu = at["cpu_us"][key].as_f64().map(|ours| Cpu {
                    ours,
                    floor: at["cpu_us"]["health"].as_f64(),
                });
                for (name, group) in [("p99 us", "p99_us"), ("p99.9 us", "p999_us")] {
                    if let Some(tail) = at[group][key].as_f64() {
                        row = row.with(name, tail);
                    }
                }
                rows.push(row);
            };
            add(
                "health",
                rate("health_per_s"),
                None,
                "health",
                best("health"),
            );
            let health = Some(("the health endpoint", rate("health_per_s")));
            add(
                "seen before",
                rate("few_per_s"),
                health,
                "few",
                best("jwt_validation"),
            );
            let allowed = Some((
                "what health and the bare check allow",
                rate("many_allowed_per_s"),
            ));
            add(
                "never seen",
                rate("many_per_s"),
                allowed,
                "many",
                best("jwt_validation"),
            );
        }
        for (what, member) in [
            ("after a million validations", "after_a_million"),
            (
                "after all connections have come and gone",
                "after_connections",
            ),
        ] {
            if let Some(bytes) = measured["resident_bytes"][member].as_f64() {
                let resident = Summary::exact(bytes / 1e6);
                rows.push(Row::new(
                    part,
                    format!("{scheme}/resident {what}"),
                    Unit::Megabytes,
                    resident,
                ));
            }
        }
    }
    rows
}

/// Milliseconds of a bench's own summary: mean, median and 99th percentile.
fn times(part: &str, name: String, of: &Value) -> Option<Row> {
    let mut ours = Summary::exact(of["median"].as_f64()?);
    ours.mean = of["mean"].as_f64().unwrap_or(ours.mean);
    let mut row = Row::new(part, name, Unit::Milliseconds, ours);
    for (name, member) in [("mean ms", "mean"), ("p99 ms", "p99")] {
        if let Some(value) = of[member].as_f64() {
            row = row.with(name, value);
        }
    }
    Some(row)
}

/// How long until a change is in effect on all nodes. Names end with the number of nodes.
fn converge(part: &str, value: &Value) -> Vec<Row> {
    let mut rows = Vec::new();
    let floor = |row: Row, of: &Value| match of["floor_ms"].as_f64() {
        Some(ms) => row.floor("signature, way there and back, checks", Summary::exact(ms)),
        None => row,
    };
    for scenario in value["scenarios"].as_array().unwrap_or(&Vec::new()) {
        let nodes = scenario["nodes"].as_u64().unwrap_or(0);
        let delay = scenario["delay_ms"].as_f64().unwrap_or(0.0);
        for measured in scenario["rows"].as_array().unwrap_or(&Vec::new()) {
            let what = measured["what"].as_str().unwrap_or("a change");
            let name = match delay > 0.0 {
                true => format!("{what}, {delay:.0} ms away/{nodes}"),
                false => format!("{what}/{nodes}"),
            };
            let Some(row) = times(part, name, &measured["in_effect_ms"]) else {
                continue;
            };
            let mut row = floor(row, measured);
            if what == "change of a client" && delay == 0.0 {
                let published = published::convergence_ms("ES256", nodes as usize);
                row = row.published(published, published::LATENCY);
            }
            if let Some(aim) = measured["aim_ms"].as_f64() {
                row = row.goal(Measure::Value, aim);
            }
            rows.push(row);
        }
        let word = format!("revocation at nodes and gates/{nodes}");
        if let Some(row) = times(part, word, &scenario["both_ms"]) {
            rows.push(floor(row, scenario));
        }
    }
    rows
}

/// Operations a second by engine and nodes, and what an idle hour costs.
fn nodes(part: &str, value: &Value) -> Vec<Row> {
    let empty = Vec::new();
    let lines = value.as_array().unwrap_or(&empty);
    let floor_of = |engine: &Value| {
        let mut floors = lines.iter().filter(|line| line["what"] == "floor");
        floors.find(|line| line["engine"] == *engine)?["per_second"].as_f64()
    };
    let rows = lines
        .iter()
        .filter(|line| line["what"] != "floor")
        .filter_map(|line| {
            let (what, engine) = (line["what"].as_str()?, line["engine"].as_str()?);
            let name = format!("{what}/{engine}/{}", line["nodes"].as_u64()?);
            let rate = Summary::exact(line["per_second"].as_f64()?);
            let mut row = Row::new(part, name, Unit::PerSecond, rate);
            // The engine alone is what durable changes cannot be faster than.
            if what.contains("rotation")
                && let Some(floor) = floor_of(&line["engine"])
            {
                row = row.floor("the engine alone", Summary::exact(floor));
            }
            row.cpu = line["cpu_us"]["nodes"]
                .as_f64()
                .map(|ours| Cpu { ours, floor: None });
            for (name, member) in [("p50 us", "p50_us"), ("p99 us", "p99_us")] {
                if let Some(value) = line[member].as_f64() {
                    row = row.with(name, value);
                }
            }
            Some(row)
        });
    rows.collect()
}

/// Memory and times of a server with much state: every figure of a line is a row.
fn state(part: &str, value: &Value) -> Vec<Row> {
    let mut rows = Vec::new();
    for line in value.as_array().unwrap_or(&Vec::new()) {
        let what = line["what"].as_str().unwrap_or("state");
        for (member, figure) in line.as_object().into_iter().flatten() {
            let Some(figure) = figure.as_f64() else {
                continue;
            };
            let (name, unit, figure) = match member.rsplit_once('_') {
                Some((name, "ms")) => (name, Unit::Milliseconds, figure),
                Some((name, "bytes")) => (name, Unit::Megabytes, figure / 1e6),
                _ => (member.as_str(), Unit::Number, figure),
            };
            rows.push(Row::new(
                part,
                format!("{what}: {name}"),
                unit,
                Summary::exact(figure),
            ));
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_lines_of_a_bench_become_rows_with_floor_and_goal() {
        let written = json!([
            { "name": "verify/ES256", "value_us": 53.0, "floor_us": 50.0, "floor": "the bare check", "aim": 1.05 },
            { "name": "a line without a value" },
        ]);
        let rows = lines("verify", &written);
        assert_eq!(rows.len(), 1);
        let outcome = &rows[0].outcomes()[0];
        assert!(
            !outcome.met && (outcome.reached - 1.06).abs() < 1e-9,
            "{outcome:?}"
        );
    }

    #[test]
    fn the_gates_throughput_stands_beside_its_health_endpoint() {
        let written = json!({ "http": { "throughput": [{
            "connections": 64, "health_per_s": 100_000.0, "few_per_s": 87_000.0,
            "many_per_s": 22_000.0, "many_allowed_per_s": 27_000.0,
            "cpu_us": { "health": 7.0, "few": 8.0, "many": 60.0 },
        }], "resident_bytes": { "after_a_million": 21_000_000 } } });
        let rows = gate("gate", &written);
        assert_eq!(rows.len(), 4);
        let seen = rows
            .iter()
            .find(|row| row.name == "http/seen before/64")
            .expect("measured");
        assert_eq!(seen.outcomes()[0].reached, 0.87);
        assert_eq!(
            seen.published.as_ref().map(|published| published.value),
            Some(14_264.0)
        );
    }

    #[test]
    fn convergence_stands_beside_its_floor_and_what_was_published() {
        let written = json!({ "floor": {}, "scenarios": [
            { "name": "3 nodes", "nodes": 3, "delay_ms": 0.0, "rows": [{
                "what": "change of a client", "floor_ms": 0.5, "aim_ms": 1.0,
                "in_effect_ms": { "mean": 0.9, "median": 0.8, "p99": 1.7 },
            }] },
            { "name": "3 nodes and 2 gates", "nodes": 3, "both_ms": { "mean": 2.0, "median": 1.9, "p99": 4.0 } },
        ] });
        let rows = converge("converge", &written);
        assert_eq!(rows.len(), 2);
        assert_eq!(rows[0].name, "change of a client/3");
        assert!(rows[0].outcomes()[0].met && rows[0].published.is_some());
        assert_eq!(rows[1].beside["p99 ms"], 4.0);
    }

    #[test]
    fn rotations_stand_beside_the_engine_alone() {
        let written = json!([
            { "engine": "embedded", "what": "floor", "per_second": 100_000.0 },
            { "engine": "embedded", "nodes": 3, "what": "rotations", "per_second": 25_000.0, "p99_us": 9000 },
        ]);
        let rows = nodes("nodes", &written);
        assert_eq!(rows.len(), 1);
        assert_eq!(rows[0].comparable().median, 0.25);
    }
}
