//! A run: the parts that were asked for, one after the other, into one record.

use std::{
    path::PathBuf,
    time::{Duration, Instant, SystemTime},
};

use crate::client::Failure;
use crate::cores::Together;
use crate::machine::Machine;
use crate::process;
use crate::profile::Shares;
use crate::progress::Progress;
use crate::report::record::{Curve, Profile, Record, Row, Skipped};
use crate::report::{plot, text};

/// What is asked for.
#[derive(Clone, Debug)]
pub struct Options {
    /// Everything; a subset that ends within ten minutes on two cores otherwise.
    pub full: bool,
    /// By how much every measurement is longer than planned; less than one for a first look.
    pub pace: f64,
    /// Whether peers are fetched and measured.
    pub peers: bool,
    /// Of the grid and the load, only what has this in its name.
    pub only: Option<String>,
    /// Where the report goes.
    pub out: PathBuf,
}

impl Options {
    /// The first in a quick run, the second in a full one.
    #[must_use]
    pub fn choose<T>(&self, quick: T, full: T) -> T {
        if self.full { full } else { quick }
    }

    /// So many seconds, at the pace asked for.
    #[must_use]
    pub fn time(&self, seconds: f64) -> Duration {
        Duration::from_secs_f64(seconds * self.pace)
    }
}

/// A row of the table of parts.
pub struct Part {
    /// As it is named on the command line.
    pub name: &'static str,
    /// Its title in the report.
    pub title: &'static str,
    /// How many seconds it is expected to take.
    pub plan: fn(&Options) -> f64,
    /// Measures.
    pub run: fn(&mut Run) -> Result<(), Failure>,
}

/// A run under way.
pub struct Run {
    /// What is asked for.
    pub options: Options,
    /// What was measured so far.
    pub record: Record,
    /// How far it is.
    pub progress: Progress,
    began: Instant,
}

impl Run {
    /// Runs these parts and writes the report after each: a run that is stopped has what it
    /// measured. `subset`: what the command line says.
    ///
    /// A part that fails has no further figures, for one over errors is worth nothing; the others
    /// are measured, and the record says what failed.
    ///
    /// # Errors
    /// A binary that is missing, a report that cannot be written.
    pub fn all(options: Options, subset: String, parts: &[&Part]) -> Result<Record, Failure> {
        let planned = parts.iter().map(|part| (part.plan)(&options)).sum();
        let began_at = SystemTime::UNIX_EPOCH.elapsed()?.as_secs();
        let mut run = Run {
            record: Record {
                machine: Machine::here(&process::binary()?),
                subset,
                began_at,
                seconds: 0.0,
                rows: Vec::new(),
                curves: Vec::new(),
                profiles: Vec::new(),
                skipped: Vec::new(),
                failed: Vec::new(),
            },
            progress: Progress::new(planned),
            began: Instant::now(),
            options,
        };
        let titles: Vec<_> = parts.iter().map(|part| (part.name, part.title)).collect();
        for part in parts {
            run.progress.says(part.title);
            if let Err(failure) = (part.run)(&mut run) {
                run.fail(part.name, &failure);
            }
            run.record.seconds = run.began.elapsed().as_secs_f64();
            write(&run.record, &titles, &run.options.out)?;
        }
        Ok(run.record)
    }

    /// The client and these servers on one core, until this is dropped; where there is no
    /// `taskset`, that is said.
    pub fn together(&mut self, servers: &[u32]) -> Option<Together> {
        let placed = Together::place(servers);
        if placed.is_none() {
            let why = "there is no taskset: ratios may be off by wake-ups between cores";
            self.skip("one core for client and servers", why);
        }
        placed
    }

    /// Keeps a row, and shows it.
    pub fn add(&mut self, row: Row) {
        self.progress.tells(&line(&row));
        self.record.rows.push(row);
    }

    /// Keeps a curve.
    pub fn add_curve(&mut self, curve: Curve) {
        if let Some(knee) = &curve.knee {
            let rate = text::number(knee.rate);
            let because = &knee.because;
            let line = format!("{}: knee at {rate} /s: beyond, {because}", curve.name);
            self.progress.tells(&line);
        }
        self.record.curves.push(curve);
    }

    /// Keeps where the time of a row goes, by shares of it; a missing profiler is reported
    /// once.
    pub fn add_profile(&mut self, part: &str, name: &str, shares: Shares) {
        let row = self.record.row(part, name);
        let Some(cpu) = row.and_then(|row| row.cpu) else {
            return;
        };
        match shares {
            Ok(shares) => {
                let groups = shares.into_iter();
                self.record.profiles.push(Profile {
                    part: part.to_owned(),
                    name: name.to_owned(),
                    groups: groups
                        .map(|(group, share)| (group, share * cpu.ours))
                        .collect(),
                });
            }
            Err(failure) => {
                let what = "where the time goes of what missed a goal";
                if !self
                    .record
                    .skipped
                    .iter()
                    .any(|skipped| skipped.what == what)
                {
                    self.skip(what, failure.to_string());
                }
            }
        }
    }

    /// Says that something failed, and with it the run.
    pub fn fail(&mut self, what: impl Into<String>, failure: &Failure) {
        let (what, why) = (what.into(), failure.to_string());
        self.progress.tells(&format!("{what} FAILED: {why}"));
        self.record.failed.push(Skipped { what, why });
    }

    /// Says that something is left out, and why.
    pub fn skip(&mut self, what: impl Into<String>, why: impl Into<String>) {
        let (what, why) = (what.into(), why.into());
        self.progress.tells(&format!("{what} is left out: {why}"));
        self.record.skipped.push(Skipped { what, why });
    }
}

/// Writes record, text and plots.
///
/// # Errors
/// A file that cannot be written.
pub fn write(
    record: &Record,
    titles: text::Titles<'_>,
    out: &std::path::Path,
) -> Result<(), Failure> {
    record.write(out)?;
    let plots = plot::all(record, out)?;
    std::fs::write(out.join("report.md"), text::report(record, titles, &plots))?;
    Ok(())
}

/// Writes the text as this file, and its plots into a folder beside it that has the file's name
/// without its ending: what a repository keeps of a run.
///
/// # Errors
/// The disk's.
pub fn write_document(
    record: &Record,
    titles: text::Titles<'_>,
    document: &std::path::Path,
) -> Result<(), Failure> {
    let folder = document.with_extension("");
    std::fs::create_dir_all(&folder)?;
    let name = folder.file_name().ok_or("the document has no name")?;
    let name = name.to_string_lossy();
    let plots = plot::all(record, &folder)?.into_iter();
    let plots: Vec<(String, String)> = plots
        .map(|(file, what)| (format!("{name}/{file}"), what))
        .collect();
    std::fs::write(document, text::report(record, titles, &plots))?;
    Ok(())
}

fn line(row: &Row) -> String {
    let mut line = format!(
        "{:<58} {:>14}",
        row.name,
        text::quantity(row.ours.median, row.unit)
    );
    if let Some(floor) = &row.floor {
        let ratio = row.ours.over(&floor.value).median;
        line += &format!("  {ratio:.2} times its floor");
    }
    if let Some(cpu) = row.cpu {
        line += &format!("  cpu {:.1} us", cpu.ours);
        if let Some(floor) = cpu.floor {
            line += &format!(" = {:.2}", cpu.ours / floor);
        }
    }
    if let Some(peer) = &row.peer {
        line += &format!(
            "  {:.2} times {}",
            row.ours.median / peer.value.median,
            peer.name
        );
    }
    if let Some(published) = &row.published {
        line += &format!("  {:.2} times published", row.ours.median / published.value);
    }
    line
}
