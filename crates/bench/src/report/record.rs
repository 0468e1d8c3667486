//! A run's record: every figure with what it stands beside, on which machine and of which source.
//! `bench-results/report.json` is this, and everything else (text, plots, comparison) is made of
//! it.

use std::{collections::BTreeMap, io, path::Path};

use serde::{Deserialize, Serialize};

use crate::machine::Machine;
use crate::report::summary::Summary;

/// A whole run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Record {
    /// Where and of what.
    pub machine: Machine,
    /// `quick`, `full`, or the parts that were named.
    pub subset: String,
    /// Unix seconds of its begin.
    pub began_at: u64,
    /// How long it took.
    pub seconds: f64,
    /// What was measured.
    pub rows: Vec<Row>,
    /// Percentiles against offered rate, one curve a scenario.
    #[serde(default)]
    pub curves: Vec<Curve>,
    /// Where the time goes of what missed a goal.
    #[serde(default)]
    pub profiles: Vec<Profile>,
    /// What was left out, and why.
    #[serde(default)]
    pub skipped: Vec<Skipped>,
    /// What failed: a wrong answer, a server that ended. The run has failed with it.
    #[serde(default)]
    pub failed: Vec<Skipped>,
}

/// One figure.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    /// The part that measured it.
    pub part: String,
    /// What it is, unique within the part: `client_credentials/client_secret_basic/ES256/1`.
    pub name: String,
    /// Of `ours`, `floor`, `peer` and `published` alike.
    pub unit: Unit,
    /// What was measured.
    pub ours: Summary,
    /// What it cannot be better than, measured in the same turns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub floor: Option<Named>,
    /// Somebody else's program doing the same work here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peer: Option<Named>,
    /// What somebody else's table gives, on their machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published: Option<Published>,
    /// The server's processor time for one request, and the floor's, in microseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu: Option<Cpu>,
    /// What is to be reached.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub goals: Vec<Goal>,
    /// Whatever else belongs to it, by name: percentiles, counts.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub beside: BTreeMap<String, f64>,
}

/// What a figure counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Unit {
    /// Microseconds of one operation.
    #[serde(rename = "us")]
    Microseconds,
    /// Milliseconds.
    #[serde(rename = "ms")]
    Milliseconds,
    /// Operations a second.
    #[serde(rename = "1/s")]
    PerSecond,
    /// Bytes.
    #[serde(rename = "bytes")]
    Bytes,
    /// Millions of bytes.
    #[serde(rename = "MB")]
    Megabytes,
    /// Instructions of one operation.
    #[serde(rename = "instructions")]
    Instructions,
    /// A number without a unit: a ratio, a count.
    #[serde(rename = "")]
    Number,
}

impl Unit {
    /// As it is printed.
    #[must_use]
    pub fn symbol(self) -> &'static str {
        match self {
            Unit::Microseconds => "us",
            Unit::Milliseconds => "ms",
            Unit::PerSecond => "/s",
            Unit::Bytes => "bytes",
            Unit::Megabytes => "MB",
            Unit::Instructions => "instructions",
            Unit::Number => "",
        }
    }

    /// Whether more of it is better.
    #[must_use]
    pub fn more_is_better(self) -> bool {
        match self {
            Unit::PerSecond => true,
            Unit::Microseconds
            | Unit::Milliseconds
            | Unit::Bytes
            | Unit::Megabytes
            | Unit::Instructions
            | Unit::Number => false,
        }
    }
}

/// A series and what it is of.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Named {
    /// What a floor is made of; a peer's name and version.
    pub name: String,
    /// In the row's unit.
    pub value: Summary,
}

/// A figure from elsewhere.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Published {
    /// In the row's unit.
    pub value: f64,
    /// The file of `crates/bench/data` that has it.
    pub source: String,
}

/// Processor time for one request, in microseconds.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Cpu {
    /// Of the server.
    pub ours: f64,
    /// Of the floor.
    pub floor: Option<f64>,
}

/// What is to be reached.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Goal {
    /// Of what.
    pub of: Measure,
    /// As good as this, or better.
    pub bound: f64,
}

/// What a goal is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// The figure itself.
    Value,
    /// The figure over its floor.
    OverFloor,
    /// The server's processor time over the floor's.
    CpuOverFloor,
    /// The figure over the published one.
    OverPublished,
}

impl Measure {
    /// In words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Measure::Value => "the figure",
            Measure::OverFloor => "times its floor",
            Measure::CpuOverFloor => "server CPU, times the floor's",
            Measure::OverPublished => "times the published figure",
        }
    }
}

/// A goal beside what was reached.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The goal.
    pub goal: Goal,
    /// What was measured.
    pub reached: f64,
    /// Whether that is enough.
    pub met: bool,
}

impl Row {
    /// A figure that stands beside nothing yet.
    #[must_use]
    pub fn new(part: &str, name: impl Into<String>, unit: Unit, ours: Summary) -> Row {
        Row {
            part: part.to_owned(),
            name: name.into(),
            unit,
            ours,
            floor: None,
            peer: None,
            published: None,
            cpu: None,
            goals: Vec::new(),
            beside: BTreeMap::new(),
        }
    }

    /// Beside this floor.
    #[must_use]
    pub fn floor(mut self, name: impl Into<String>, value: Summary) -> Row {
        let name = name.into();
        self.floor = Some(Named { name, value });
        self
    }

    /// Beside this published figure, where there is one.
    #[must_use]
    pub fn published(mut self, value: Option<f64>, source: &str) -> Row {
        self.published = value.map(|value| Published {
            value,
            source: source.to_owned(),
        });
        self
    }

    /// With a goal more.
    #[must_use]
    pub fn goal(mut self, of: Measure, bound: f64) -> Row {
        self.goals.push(Goal { of, bound });
        self
    }

    /// With a figure more beside it.
    #[must_use]
    pub fn with(mut self, name: &str, value: f64) -> Row {
        self.beside.insert(name.to_owned(), value);
        self
    }

    /// What the figure is compared by: over its floor where it has one, for that is the same on a
    /// slower machine and in a busier minute; itself otherwise.
    #[must_use]
    pub fn comparable(&self) -> Summary {
        match &self.floor {
            Some(floor) => self.ours.over(&floor.value),
            None => self.ours.clone(),
        }
    }

    /// Each goal, and whether it was met; one whose figure was not measured is left out.
    #[must_use]
    pub fn outcomes(&self) -> Vec<Outcome> {
        let outcomes = self.goals.iter().filter_map(|goal| {
            let reached = self.measured(goal.of)?;
            // The processor's time is better when it is less, whatever the row counts.
            let more = self.unit.more_is_better() && goal.of != Measure::CpuOverFloor;
            let met = match more {
                true => reached >= goal.bound,
                false => reached <= goal.bound,
            };
            let goal = goal.clone();
            Some(Outcome { goal, reached, met })
        });
        outcomes.collect()
    }

    /// Whether a goal was missed.
    #[must_use]
    pub fn has_missed(&self) -> bool {
        self.outcomes().iter().any(|outcome| !outcome.met)
    }

    fn measured(&self, measure: Measure) -> Option<f64> {
        match measure {
            Measure::Value => Some(self.ours.median),
            Measure::OverFloor => {
                let floor = self.floor.as_ref()?;
                Some(self.ours.over(&floor.value).median)
            }
            Measure::CpuOverFloor => {
                let cpu = self.cpu?;
                Some(cpu.ours / cpu.floor?)
            }
            Measure::OverPublished => Some(self.ours.median / self.published.as_ref()?.value),
        }
    }
}

/// Where the servers' time goes of a row that missed a goal.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Profile {
    /// The row's part.
    pub part: String,
    /// The row's name.
    pub name: String,
    /// Microseconds of one operation, by group of [`crate::profile::GROUPS`].
    pub groups: BTreeMap<String, f64>,
}

/// Percentiles of a scenario against the rate that was offered.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Curve {
    /// Scenario, store and nodes: `introspection/embedded/1`.
    pub name: String,
    /// By rising rate.
    pub steps: Vec<Step>,
    /// The greatest rate at which all was well, and why it was not at the next.
    pub knee: Option<Knee>,
}

/// One rate, held.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Step {
    /// Operations a second that were due.
    pub offered: f64,
    /// Operations a second that were answered rightly.
    pub achieved: f64,
    /// How long the rate was held, in seconds.
    pub seconds: f64,
    /// Milliseconds from when an operation was due to its last answer, of all that were due.
    pub p50_ms: f64,
    /// As above.
    pub p95_ms: f64,
    /// As above.
    pub p99_ms: f64,
    /// As above.
    pub p999_ms: f64,
    /// As above.
    pub max_ms: f64,
    /// Operations that were due.
    pub due: u64,
    /// Never sent, because no connection became free in time.
    pub dropped: u64,
    /// Sent, and not answered: a connection broke or patience ended.
    pub unanswered: u64,
    /// Answered 429 or 503 with `Retry-After`.
    pub shed: u64,
    /// The 99th percentile of how late the generator itself let an operation go, in milliseconds.
    pub own_lateness_p99_ms: f64,
    /// The servers' processor time for one answer, in microseconds.
    pub cpu_us: f64,
    /// Resident memory of the servers after it, in millions of bytes.
    pub resident_mb: f64,
}

/// The greatest rate at which all was well.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Knee {
    /// Operations a second.
    pub rate: f64,
    /// What was no longer well at the next step.
    pub because: String,
}

/// What has no figure.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Skipped {
    /// The part or the row.
    pub what: String,
    /// Why.
    pub why: String,
}

impl Record {
    /// Reads a `report.json`.
    ///
    /// # Errors
    /// The file's, or that it is no record.
    pub fn read(path: &Path) -> io::Result<Record> {
        Ok(serde_json::from_slice(&std::fs::read(path)?)?)
    }

    /// Writes `report.json` into a directory.
    ///
    /// # Errors
    /// The file's.
    pub fn write(&self, directory: &Path) -> io::Result<()> {
        std::fs::create_dir_all(directory)?;
        let mut text = serde_json::to_vec_pretty(self)?;
        text.push(b'\n');
        std::fs::write(directory.join("report.json"), text)
    }

    /// The row of this part and name.
    #[must_use]
    pub fn row(&self, part: &str, name: &str) -> Option<&Row> {
        let mut rows = self.rows.iter();
        rows.find(|row| row.part == part && row.name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_goal_is_met_from_the_side_that_is_better() {
        let fast = Row::new("p", "n", Unit::Microseconds, Summary::exact(110.0))
            .floor("an echo", Summary::exact(100.0))
            .goal(Measure::OverFloor, 1.15)
            .goal(Measure::OverFloor, 1.05);
        let met: Vec<bool> = fast.outcomes().iter().map(|outcome| outcome.met).collect();
        assert_eq!(met, [true, false]);

        let rate = Row::new("p", "n", Unit::PerSecond, Summary::exact(30_000.0))
            .goal(Measure::Value, 29_000.0)
            .goal(Measure::Value, 31_000.0);
        let met: Vec<bool> = rate.outcomes().iter().map(|outcome| outcome.met).collect();
        assert_eq!(met, [true, false]);
    }

    #[test]
    fn a_goal_whose_figure_was_not_measured_is_neither_met_nor_missed() {
        let row = Row::new("p", "n", Unit::Microseconds, Summary::exact(1.0))
            .goal(Measure::OverFloor, 1.0)
            .goal(Measure::CpuOverFloor, 1.0)
            .goal(Measure::OverPublished, 1.0);
        assert!(row.outcomes().is_empty());
    }
}
