//! Instructions of the hot paths, counted by valgrind: unlike seconds they do not depend on what
//! else the machine does. The counts are kept in the repository (`crates/bench/instructions.json`);
//! one that differs by more than two per cent fails the check, and is accepted by writing the file
//! again.
//!
//! Each path is run twice, a few times and more often, in a process of its own: the difference is
//! what the further calls cost, without the start and the preparation.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use serde::{Deserialize, Serialize};

use crate::{client::Failure, hot};

/// A change that passes: two per cent.
pub const TOLERATED: f64 = 0.02;
/// Calls of the two runs.
const SHORT: u32 = 20;
const LONG: u32 = 220;
/// Of the longer one, where a call has fewer than [`FEW`] instructions.
const OFTEN: u32 = 20_020;
const FEW: u64 = 15_000;
/// The argument that makes this program run a hot path: its name and the number of calls follow.
pub const ARGUMENT: &str = "--signet-bench-hot";

/// What is kept.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Counts {
    /// What they were counted with: another compiler counts differently.
    pub counted_with: String,
    /// Instructions of one call.
    pub instructions: BTreeMap<String, u64>,
}

/// A count that is not what was kept.
#[derive(Debug, PartialEq)]
pub enum Difference {
    /// More, or fewer.
    Changed {
        /// The path.
        name: String,
        /// Kept.
        kept: u64,
        /// Counted.
        counted: u64,
    },
    /// Kept, and counted no longer.
    Gone(String),
    /// Counted, and not kept.
    New(String),
}

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Difference::Changed {
                name,
                kept,
                counted,
            } => {
                let percent = (*counted as f64 / *kept as f64 - 1.0) * 100.0;
                write!(
                    f,
                    "{name}: {kept} -> {counted} instructions ({percent:+.1} %)"
                )
            }
            Difference::Gone(name) => write!(f, "{name}: kept, and counted no longer"),
            Difference::New(name) => write!(f, "{name}: counted, and not kept yet"),
        }
    }
}

/// Where the counts are kept.
#[must_use]
pub fn file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("instructions.json")
}

/// Runs a hot path so many times: what valgrind counts.
///
/// # Errors
/// There is no such path, or it fails.
pub fn run(name: &str, calls: u32) -> Result<(), Failure> {
    let mut paths = hot::TABLE.iter();
    let path = paths.find(|path| path.name == name).ok_or("no such path")?;
    let mut call = (path.prepare)()?;
    for _ in 0..calls {
        call()?;
    }
    Ok(())
}

/// Counts all paths. `each` receives every count.
///
/// # Errors
/// Valgrind is missing, or a path fails.
pub fn count(each: impl Fn(&str, u64)) -> Result<Counts, Failure> {
    let said = Command::new("valgrind").arg("--version").output();
    let said = said.map_err(|_| "valgrind is needed: apt-get install valgrind")?;
    let rustc = Command::new("rustc").arg("--version").output()?;
    let versions =
        [said, rustc].map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    let mut counts = Counts {
        counted_with: versions.join(", "),
        ..Counts::default()
    };
    for path in &hot::TABLE {
        let (short, long) = (counted(path.name, SHORT)?, counted(path.name, LONG)?);
        let mut one = long.saturating_sub(short) / u64::from(LONG - SHORT);
        if one < FEW {
            // The preparation costs some thousands more or less from run to run, by its random
            // keys: a path of few instructions is called so often that this is no part of it.
            let long = counted(path.name, OFTEN)?;
            one = long.saturating_sub(short) / u64::from(OFTEN - SHORT);
        }
        each(path.name, one);
        counts.instructions.insert(path.name.to_owned(), one);
    }
    Ok(counts)
}

fn counted(name: &str, calls: u32) -> Result<u64, Failure> {
    let directory = tempfile::tempdir()?;
    let out = directory.path().join("out");
    let status = Command::new("valgrind")
        .args(["--tool=callgrind", "--quiet"])
        .arg(format!("--callgrind-out-file={}", out.display()))
        .arg(std::env::current_exe()?)
        .args([ARGUMENT, name, &calls.to_string()])
        .stdin(Stdio::null())
        .status()?;
    if !status.success() {
        return Err(format!("{name} under valgrind: {status}").into());
    }
    total(&std::fs::read_to_string(out)?).ok_or_else(|| "valgrind wrote no sum".into())
}

/// The sum that callgrind writes at the end of its file.
fn total(written: &str) -> Option<u64> {
    let mut lines = written.lines();
    let sum = lines.find_map(|line| {
        line.strip_prefix("summary: ")
            .or(line.strip_prefix("totals: "))
    })?;
    sum.split_whitespace().next()?.parse().ok()
}

impl Counts {
    /// Reads the kept ones; none where there is no file yet.
    ///
    /// # Errors
    /// The file's.
    pub fn kept() -> Result<Counts, Failure> {
        match std::fs::read(file()) {
            Ok(text) => Ok(serde_json::from_slice(&text)?),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Counts::default()),
            Err(error) => Err(error.into()),
        }
    }

    /// Keeps these.
    ///
    /// # Errors
    /// The file's.
    pub fn keep(&self) -> Result<(), Failure> {
        let mut text = serde_json::to_vec_pretty(self)?;
        text.push(b'\n');
        Ok(std::fs::write(file(), text)?)
    }

    /// What differs from the kept ones by more than [`TOLERATED`].
    #[must_use]
    pub fn differences(&self, kept: &Counts) -> Vec<Difference> {
        let mut differences = Vec::new();
        for (name, &counted) in &self.instructions {
            match kept.instructions.get(name) {
                None => differences.push(Difference::New(name.clone())),
                Some(&kept) if counted.abs_diff(kept) as f64 > TOLERATED * kept as f64 => {
                    let name = name.clone();
                    differences.push(Difference::Changed {
                        name,
                        kept,
                        counted,
                    });
                }
                Some(_) => {}
            }
        }
        let gone = kept.instructions.keys();
        let gone = gone.filter(|name| !self.instructions.contains_key(*name));
        differences.extend(gone.cloned().map(Difference::Gone));
        differences
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(of: &[(&str, u64)]) -> Counts {
        let instructions = of.iter().map(|(name, count)| ((*name).to_owned(), *count));
        Counts {
            counted_with: String::new(),
            instructions: instructions.collect(),
        }
    }

    #[test]
    fn a_count_beyond_two_per_cent_fails_the_check_and_one_within_passes() {
        let kept = counts(&[("a", 1000), ("b", 1000), ("c", 1000), ("gone", 5)]);
        let now = counts(&[("a", 1020), ("b", 1021), ("c", 979), ("new", 5)]);
        let names: Vec<String> = now
            .differences(&kept)
            .iter()
            .map(|difference| match difference {
                Difference::Changed { name, .. }
                | Difference::Gone(name)
                | Difference::New(name) => name.clone(),
            })
            .collect();
        assert_eq!(names, ["b", "c", "new", "gone"]);
    }

    #[test]
    fn the_sum_of_callgrinds_file_is_read() {
        assert_eq!(
            total("events: Ir\nfn=x\n1 2\ntotals: 123456\n"),
            Some(123_456)
        );
        assert_eq!(total("events: Ir\n"), None);
    }
}
