//! `signet-bench`: measures, writes the report, compares two of them.
#![allow(clippy::print_stdout, reason = "a comparison is its output")]

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::{Args, Parser, Subcommand};
use signet_bench::{
    client::Failure,
    echo,
    instructions::{self, Counts},
    parts,
    report::{
        compare::{Comparison, Verdict},
        record::Record,
    },
    run::{self, Options, Part, Run},
};

/// Measures Signet beside its floors, peers and what others have published.
#[derive(Parser)]
#[command(
    name = "signet-bench",
    after_help = "Example:\n  signet-bench quick\n  signet-bench compare bench-results/report.json before.json"
)]
struct Arguments {
    #[command(subcommand)]
    command: What,
}

#[derive(Subcommand)]
enum What {
    /// A subset that ends within ten minutes on two cores
    Quick(Measuring),
    /// Everything
    Full(Measuring),
    /// Named parts: see `list`
    Part {
        /// Their names
        #[arg(required = true)]
        names: Vec<String>,
        /// As in a full run
        #[arg(long)]
        whole: bool,
        #[command(flatten)]
        measuring: Measuring,
    },
    /// The parts, and how long each takes
    List,
    /// What changed between two reports, beyond the noise; exit 1 where something became worse
    Compare {
        /// The earlier report.json
        old: PathBuf,
        /// The later one
        new: PathBuf,
    },
    /// Counts the instructions of the hot paths under valgrind; exit 1 where one differs by more
    /// than two per cent from what crates/bench/instructions.json keeps
    Instructions {
        /// Keep what was counted
        #[arg(long)]
        accept: bool,
    },
    /// Text and plots of a report.json, written again
    Render {
        /// The report.json
        report: PathBuf,
        /// Where they go
        #[arg(long, default_value = "bench-results")]
        out: PathBuf,
        /// Instead: the text as this file, the plots in a folder beside it (docs/performance.md)
        #[arg(long, value_name = "FILE")]
        document: Option<PathBuf>,
    },
}

#[derive(Args)]
struct Measuring {
    /// By how much each measurement is longer than planned; 0.1 for a first look
    #[arg(long, default_value_t = 1.0)]
    pace: f64,
    /// Fetch and measure the peers, from the package registries
    #[arg(long)]
    peers: bool,
    /// Of the grid and the load, only what has this in its name: for a look with a profiler
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
    /// Where the report goes
    #[arg(long, default_value = "bench-results")]
    out: PathBuf,
}

impl Measuring {
    fn options(&self, full: bool) -> Result<Options, Failure> {
        if !(self.pace > 0.0 && self.pace.is_finite()) {
            return Err("--pace is a number above zero".into());
        }
        Ok(Options {
            full,
            pace: self.pace,
            peers: self.peers,
            only: self.only.clone(),
            out: self.out.clone(),
        })
    }
}

fn main() -> ExitCode {
    // The floor's server is this program, started again.
    let arguments: Vec<_> = std::env::args_os().collect();
    if let [_, argument, directory] = &arguments[..]
        && argument == echo::ARGUMENT
    {
        return ended(echo::serve(Path::new(directory)).map_err(|error| error.to_string().into()));
    }
    if let [_, argument, name, calls] = &arguments[..]
        && argument == instructions::ARGUMENT
    {
        let (name, calls) = (name.to_string_lossy(), calls.to_string_lossy());
        let calls = calls.parse().map_err(Failure::from);
        return ended(calls.and_then(|calls| instructions::run(&name, calls)));
    }
    match Arguments::parse().command {
        What::Quick(measuring) => {
            let options = measuring.options(false);
            ended(options.and_then(|options| measure(options, "quick", &parts::TABLE)))
        }
        What::Full(measuring) => {
            let options = measuring.options(true);
            ended(options.and_then(|options| measure(options, "full", &parts::TABLE)))
        }
        What::Part {
            names,
            whole,
            measuring,
        } => {
            let run = named(&names).and_then(|parts| {
                let options = measuring.options(whole)?;
                let subset = format!("part {}", names.join(" "));
                measure(options, &subset, &parts)
            });
            ended(run)
        }
        What::List => {
            list();
            ExitCode::SUCCESS
        }
        What::Compare { old, new } => {
            compare(&old, &new).unwrap_or_else(|failure| ended(Err(failure)))
        }
        What::Instructions { accept } => {
            count(accept).unwrap_or_else(|failure| ended(Err(failure)))
        }
        What::Render {
            report,
            out,
            document,
        } => {
            let record = Record::read(&report).map_err(Failure::from);
            let titles = parts::titles();
            ended(record.and_then(|record| match document {
                Some(document) => run::write_document(&record, &titles, &document),
                None => run::write(&record, &titles, &out),
            }))
        }
    }
}

fn ended(outcome: Result<(), Failure>) -> ExitCode {
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("signet-bench: {failure}");
            ExitCode::from(2)
        }
    }
}

fn measure(options: Options, subset: &str, parts: &[&Part]) -> Result<(), Failure> {
    let out = options.out.clone();
    let record = Run::all(options, subset.to_owned(), parts)?;
    run::write(&record, &parts::titles(), &out)?;
    let out = out.display();
    eprintln!(
        "{:.0} s; {out}/report.md, {out}/report.json and plots beside them",
        record.seconds
    );
    match record.failed.len() {
        0 => Ok(()),
        count => Err(format!("{count} failed: the report says what").into()),
    }
}

fn named(names: &[String]) -> Result<Vec<&'static Part>, Failure> {
    let named = names.iter().map(|name| {
        let mut parts = parts::TABLE.iter().copied();
        let part = parts.find(|part| part.name == name);
        part.ok_or_else(|| format!("no part is named {name}: see signet-bench list").into())
    });
    named.collect()
}

fn list() {
    let options = |full| Options {
        full,
        pace: 1.0,
        peers: false,
        only: None,
        out: PathBuf::new(),
    };
    let (quick, full) = (options(false), options(true));
    println!("{:<12} {:>7} {:>7}", "part", "quick", "full");
    for part in parts::TABLE {
        let (quick, full) = ((part.plan)(&quick), (part.plan)(&full));
        println!(
            "{:<12} {quick:>5.0} s {full:>5.0} s  {}",
            part.name, part.title
        );
    }
}

fn compare(old: &Path, new: &Path) -> Result<ExitCode, Failure> {
    let (before, after) = (Record::read(old)?, Record::read(new)?);
    if before.machine.processor != after.machine.processor
        || before.machine.cores != after.machine.cores
    {
        println!(
            "Two machines: only figures with a floor compare.\n  {}\n  {}\n",
            before.machine.line(),
            after.machine.line()
        );
    }
    let comparison = Comparison::of(&before, &after);
    print!("{comparison}");
    let worse = comparison.with(Verdict::Worse).count();
    Ok(if worse > 0 {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

fn count(accept: bool) -> Result<ExitCode, Failure> {
    let kept = Counts::kept()?;
    let counts = instructions::count(|name, count| println!("{count:>12}  {name}"))?;
    if accept {
        counts.keep()?;
        println!("kept in {}", instructions::file().display());
        return Ok(ExitCode::SUCCESS);
    }
    let differences = counts.differences(&kept);
    if differences.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    if kept.counted_with != counts.counted_with {
        println!(
            "Kept ones were counted with {}; these with {}.",
            kept.counted_with, counts.counted_with
        );
    }
    for difference in &differences {
        println!("{difference}");
    }
    println!(
        "Where this is meant: make instructions ARGS=--accept, and commit crates/bench/instructions.json."
    );
    Ok(ExitCode::FAILURE)
}
