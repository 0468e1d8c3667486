//! Value, floor and ratio: printed, and written as JSON to `target/bench/NAME.json`.

pub mod compare;
pub mod plot;
pub mod published;
pub mod record;
pub mod summary;
pub mod text;

use std::collections::BTreeMap;
use std::path::Path;

/// One figure beside its floor. Times are microseconds per operation.
pub struct Line {
    /// Scenario, as in `client_credentials/client_secret_basic/ES256/1`.
    pub name: String,
    /// What was measured.
    pub value_us: f64,
    /// What it cannot be faster than, measured in the same run.
    pub floor_us: f64,
    /// What the floor is made of.
    pub floor: String,
    /// Server CPU per operation, and the same of the transport floor plus the bare operations.
    pub cpu: Option<(f64, f64)>,
    /// The ratio that is aimed at.
    pub aim: Option<f64>,
}

/// Collects lines and writes them at the end.
#[derive(Default)]
pub struct Report {
    lines: Vec<Line>,
    beside: BTreeMap<String, Beside>,
}

/// What a figure stands beside, other than its floor.
#[derive(Clone, Copy, Default)]
pub struct Beside {
    /// Microseconds that somebody else's published table gives for the same thing, on their
    /// machine.
    pub published_us: Option<f64>,
    /// Microseconds under which the figure is meant to stay.
    pub bound_us: Option<f64>,
}

impl Report {
    /// Prints and keeps what the line of this name stands beside; a line that was not measured has
    /// nothing.
    pub fn beside(&mut self, name: &str, beside: Beside) {
        let Some(line) = self.lines.iter().find(|line| line.name == name) else {
            return;
        };
        let published = beside.published_us.map_or(String::new(), |published| {
            format!(
                "  published {published:.2} us: {:.1} times as fast",
                published / line.value_us
            )
        });
        let bound = beside.bound_us.map_or(String::new(), |bound| {
            let answer = if line.value_us < bound {
                "met"
            } else {
                "missed"
            };
            format!("  under {bound} us: {answer}")
        });
        eprintln!("{name:<62} {:>9.3} us{published}{bound}", line.value_us);
        self.beside.insert(name.to_owned(), beside);
    }

    /// Prints and keeps a line.
    pub fn add(&mut self, line: Line) {
        let ratio = line.value_us / line.floor_us;
        let aim = line.aim.map_or(String::new(), |aim| {
            format!(
                "  aim {aim:.2} {}",
                if ratio <= aim { "met" } else { "missed" }
            )
        });
        let cpu = line.cpu.map_or(String::new(), |(value, floor)| {
            format!("  cpu {value:.1}/{floor:.1} = {:.2}", value / floor)
        });
        eprintln!(
            "{:<62} {:>10.3} us  floor {:>10.3}  ratio {ratio:.2}{cpu}{aim}  ({})",
            line.name, line.value_us, line.floor_us, line.floor
        );
        self.lines.push(line);
    }

    /// Writes `NAME.json`.
    pub fn write(&self, directory: &Path, name: &str) -> std::io::Result<()> {
        std::fs::create_dir_all(directory)?;
        let lines: Vec<serde_json::Value> = self
            .lines
            .iter()
            .map(|line| {
                let beside = self.beside.get(&line.name).copied().unwrap_or_default();
                serde_json::json!({
                    "published_us": beside.published_us, "bound_us": beside.bound_us,
                    "name": line.name, "value_us": line.value_us, "floor_us": line.floor_us, "ratio": line.value_us / line.floor_us,
                    "floor": line.floor, "aim": line.aim,
                    "server_cpu_us": line.cpu.map(|c| c.0), "floor_cpu_us": line.cpu.map(|c| c.1),
                })
            })
            .collect();
        std::fs::write(
            directory.join(format!("{name}.json")),
            serde_json::to_vec_pretty(&lines)?,
        )
    }
}
