//! Faults with real processes: clusters of the binary under load, parts of which are killed,
//! paused, cut off, replaced or filled up, and whose answers are then checked. What it does is in
//! `faults.rs`, a row each; what is right is in `check.rs`.
#![forbid(unsafe_code)]
#![allow(unreachable_pub, reason = "a program: nothing outside reaches into it")]

mod check;
mod client;
mod cluster;
mod faults;
mod flows;
mod history;
mod load;
mod network;
mod page;
mod play;
mod postgres;
mod relay;
mod report;
mod scene;
mod settings;
mod worker;

use std::{
    io::{IsTerminal, Write},
    path::PathBuf,
    process::ExitCode,
    rc::Rc,
    time::{Duration, Instant},
};

use clap::Parser;
use faults::{FAULTS, Fault};
use history::{Kind, Outcome};
use network::Network;
use play::Row;
use scene::Options;

/// Breaks clusters of real processes under load, and checks what their clients were answered.
#[derive(Debug, Parser)]
#[command(
    name = "signet-faults",
    after_help = "Exit 0: nothing was lost, used twice, forgotten or wrongly refused. Exit 1: something was. Exit 2: it could not be tried.\n\nExample:\n  signet-faults --binary target/release/signet --report docs/faults-report.md"
)]
struct Arguments {
    /// The program under test.
    #[arg(long, value_name = "FILE", default_value = "target/release/signet")]
    binary: PathBuf,
    /// An earlier one, from which nodes are upgraded one after another.
    #[arg(long, value_name = "FILE")]
    old: Option<PathBuf>,
    /// Only these faults.
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// The few faults that are tried with every change, for a short time each.
    #[arg(long)]
    quick: bool,
    /// How long a fault lasts.
    #[arg(long, value_name = "N")]
    seconds: Option<u64>,
    /// On loopback, also where namespaces can be made.
    #[arg(long)]
    loopback: bool,
    /// Where the report goes.
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Lists the faults.
    #[arg(long)]
    list: bool,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    if arguments.list {
        for fault in &FAULTS {
            say(&format!("{:<24} {}\n", fault.name, fault.what));
        }
        return ExitCode::SUCCESS;
    }
    if !arguments.loopback {
        network::enter_namespaces();
    }
    let runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = { runtime }.enable_all().build();
    let tried = runtime.map_err(|e| e.to_string()).and_then(|runtime| {
        let local = tokio::task::LocalSet::new();
        local.block_on(&runtime, run(&arguments))
    });
    match tried {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(why) => {
            say(&format!("signet-faults: {why}\n"));
            ExitCode::from(2)
        }
    }
}

/// On standard error: the report is a file.
fn say(text: &str) {
    let _nobody_listens = std::io::stderr().write_all(text.as_bytes());
}

fn chosen(arguments: &Arguments) -> Result<Vec<&'static Fault>, String> {
    for name in &arguments.only {
        if !FAULTS.iter().any(|fault| fault.name == *name) {
            return Err(format!("there is no fault {name}: --list shows all"));
        }
    }
    let wanted = |fault: &&Fault| match arguments.only.is_empty() {
        true => !arguments.quick || fault.quick,
        false => arguments.only.iter().any(|name| name == fault.name),
    };
    Ok(FAULTS.iter().filter(wanted).collect())
}

async fn run(arguments: &Arguments) -> Result<bool, String> {
    let binary = arguments.binary.canonicalize();
    let binary = binary.map_err(|e| format!("{}: {e}", arguments.binary.display()))?;
    let old = arguments.old.as_ref().map(|old| {
        let found = old.canonicalize();
        found.map_err(|e| format!("{}: {e}", old.display()))
    });
    let (hold, margin) = match arguments.quick {
        true => (3, 1),
        false => (10, 4),
    };
    let options = Options {
        unoptimised: binary.components().any(|part| part.as_os_str() == "debug"),
        binary,
        old: old.transpose()?,
        hold: Duration::from_secs(arguments.seconds.unwrap_or(hold)),
        margin: Duration::from_secs(margin),
        pause: Duration::from_millis(40),
    };
    let network = Rc::new(Network::new()?);
    let faults = chosen(arguments)?;
    let (mut rows, mut skipped, mut tried) = (Vec::new(), Vec::new(), true);
    let begun = Instant::now();
    for (at, fault) in faults.iter().enumerate() {
        if fault.from_old && options.old.is_none() {
            let why = "no earlier binary was named (--old)".to_owned();
            skipped.push((*fault, why));
            continue;
        }
        let left = begun.elapsed().checked_div(at as u32).map(|each| {
            let left = each * (faults.len() - at) as u32;
            format!(", about {} s left", left.as_secs())
        });
        let title = format!(
            "[{}/{}] {}{}",
            at + 1,
            faults.len(),
            fault.name,
            left.unwrap_or_default()
        );
        let watched = watch(&title);
        let row = play::play(fault, &network, &options).await;
        watched.abort();
        match row {
            Ok(row) => {
                say(&format!("{}\n", line(&row)));
                rows.push(row);
            }
            Err(why) => {
                say(&format!("{}: {why}\n", fault.name));
                let first = why.lines().next().unwrap_or_default().to_owned();
                skipped.push((*fault, first));
                tried = false;
            }
        }
    }
    if let Some(file) = &arguments.report {
        let about = report::About {
            options: &options,
            network: network.name(),
            commit: report::commit(),
        };
        let text = report::write(&rows, &skipped, &about);
        std::fs::write(file, text).map_err(|e| format!("{}: {e}", file.display()))?;
    }
    let mut right = true;
    for row in &rows {
        for (sort, said) in row.findings.all().take(20) {
            say(&format!("{} ({sort}): {said}\n", row.fault.name));
            right = false;
        }
        for missing in missing(row) {
            say(&format!("{}: no {missing} was accepted\n", row.fault.name));
            right = false;
        }
    }
    match tried {
        true => Ok(right),
        false => Err("not everything could be tried".to_owned()),
    }
}

/// What the load did not try: a check of nothing shows nothing.
fn missing(row: &Row) -> Vec<&'static str> {
    let has = |kind: Kind| {
        let mut values = row.history.values.iter().filter(|value| value.kind == kind);
        values.any(|value| value.uses.iter().any(|o| o.outcome == Outcome::Done))
    };
    let kinds = Kind::ALL.iter().filter(|kind| !has(**kind));
    kinds.map(|kind| kind.name()).collect()
}

fn line(row: &Row) -> String {
    let found = &row.findings;
    let (at_one, node, anywhere) = row.longest_unavailable();
    format!(
        "{}: {} requests, {} ambiguous, {} double, {} lost, {} forgotten, {} failed validations; unavailable {:.2} s at most (node {}), {:.2} s everywhere; healed in {:.2} s",
        row.fault.name,
        row.history.operations().count(),
        row.ambiguous(),
        found.double.len(),
        found.lost.len(),
        found.forgotten.len(),
        found.invalid.len(),
        at_one.as_secs_f64(),
        node + 1,
        anywhere.as_secs_f64(),
        row.struck.heal.as_secs_f64()
    )
}

/// Shows what is being done: a line that changes on a terminal, one line elsewhere.
fn watch(title: &str) -> tokio::task::JoinHandle<()> {
    let (title, begun) = (title.to_owned(), Instant::now());
    let terminal = std::io::stderr().is_terminal();
    tokio::task::spawn_local(async move {
        if !terminal {
            say(&format!("{title}\n"));
            return;
        }
        loop {
            say(&format!(
                "\r\x1b[K{title}, {} s ",
                begun.elapsed().as_secs()
            ));
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
    })
}
