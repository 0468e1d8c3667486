//! The report, as Markdown.

use std::{fmt::Write, path::Path, process::Command, time::Duration};

use crate::{
    faults::Fault,
    play::{BOUNDS, Row},
    scene::Options,
};

fn first_line(file: &str, prefix: &str) -> Option<String> {
    let text = std::fs::read_to_string(file).ok()?;
    let line = text.lines().find(|line| line.starts_with(prefix))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

/// The machine, by what matters of it.
fn machine() -> String {
    let processor = first_line("/proc/cpuinfo", "model name");
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let memory = first_line("/proc/meminfo", "MemTotal").and_then(|total| {
        let kib: u64 = total.split(' ').next()?.parse().ok()?;
        Some(kib.div_ceil(1 << 20))
    });
    let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    format!(
        "{} cores of {}, {} GiB, Linux {}",
        cores,
        processor.as_deref().unwrap_or("an unnamed processor"),
        memory.unwrap_or(0),
        kernel.trim()
    )
}

/// What a binary says of itself: its version, and its commit where it knows that.
fn version(binary: &Path) -> String {
    let said = Command::new(binary).arg("-V").output();
    let said = said.map(|said| String::from_utf8_lossy(&said.stdout).trim().to_owned());
    said.unwrap_or_else(|_| "unknown".to_owned())
}

/// The earlier binary, by its own words and the name of its file.
fn earlier(options: &Options) -> String {
    let Some(old) = &options.old else {
        return String::new();
    };
    let file = old.file_name().unwrap_or_default().to_string_lossy();
    format!(" Earlier binary: {} ({file}).", version(old))
}

fn seconds(duration: Duration) -> String {
    format!("{:.2} s", duration.as_secs_f64())
}

/// How the run was made.
pub struct About<'a> {
    /// Its options.
    pub options: &'a Options,
    /// The network between nodes.
    pub network: &'static str,
    /// The commit of the working tree that it was started in.
    pub commit: String,
}

/// The commit of the working tree.
pub fn commit() -> String {
    let git = |arguments: &[&str]| {
        let said = Command::new("git").args(arguments).output().ok()?;
        let said = String::from_utf8_lossy(&said.stdout).trim().to_owned();
        Some(said).filter(|said| !said.is_empty())
    };
    match git(&["rev-parse", "--short=12", "HEAD"]) {
        Some(commit) => commit,
        None => "unknown".to_owned(),
    }
}

/// Writes it.
pub fn write(rows: &[Row], skipped: &[(&Fault, String)], about: &About<'_>) -> String {
    let mut text = String::new();
    let options = about.options;
    let _ = write!(
        text,
        "# What a cluster does when parts of it fail

Written by `make faults`; do not edit. The program is `crates/faults`.

- Binary: {}{}, working tree at {}.{}
- Machine: {}; the nodes, their clients and the databases share it.
- Network: {}.
- Each fault: a new cluster under load, {} s; the fault, {} s; healed, {} s; then tokens are looked at once more on every node.
- Load: codes, refresh tokens, one-time codes by mail, client assertions, DPoP proofs, device codes, pushed requests, introspection, revocations by the protocol and with a receipt. Each step goes to any node; values are used up to three times at once, and again afterwards.

",
        version(&options.binary),
        if options.unoptimised { " (not optimised)" } else { "" },
        about.commit,
        earlier(options),
        machine(),
        about.network,
        options.margin.as_secs(),
        options.hold.as_secs(),
        options.margin.as_secs(),
    );
    text.push_str("| fault | nodes | requests | ambiguous | double | lost | forgotten | failed validations | longest unavailability at one node | everywhere | time to heal |\n|---|---|---|---|---|---|---|---|---|---|---|\n");
    for row in rows {
        let found = &row.findings;
        let (at_one, node, anywhere) = row.longest_unavailable();
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |",
            row.fault.what,
            row.fault.nodes,
            row.history.operations().count(),
            row.ambiguous(),
            found.double.len(),
            found.lost.len(),
            found.forgotten.len(),
            found.invalid.len(),
            match at_one.is_zero() {
                true => "(all were met)".to_owned(),
                false => format!("{} (node {})", seconds(at_one), node + 1),
            },
            match anywhere.is_zero() {
                true => "-".to_owned(),
                false => seconds(anywhere),
            },
            seconds(row.struck.heal),
        );
    }
    let _ = write!(
        text,
        "
- **Ambiguous**: no answer came, or one that says that the node cannot tell now. The checker takes such a request for done and for not done.
- **Double**: a single-use value was accepted twice. **Lost**: something was answered and not there afterwards. Both come from a check that each value's history is linearizable.
- **Forgotten**: a revocation or a detected replay was answered, and a node that could be reached accepted what it had ended more than {} s later; or a node named in a receipt did.
- **Failed validations**: a token was called inactive that nothing had ended.
- **Longest unavailability at one node**: the longest time in which a node that was neither killed nor cut off accepted no single-use value, under a client that asks it all the time. Of restarts it is that of the node that is being restarted. **Everywhere**: the same of all such nodes together, which is what a client sees that tries another one.
- **Time to heal**: from the end of the fault until all nodes see each other ready and hold the same digest.

",
        BOUNDS.told.as_secs()
    );
    let unheard = rows.iter().map(|row| row.findings.longest_unheard).max();
    let _ = writeln!(
        text,
        "The longest that an answered revocation was unknown to a node that could be reached: {}.\n",
        seconds(unheard.unwrap_or_default())
    );
    text.push_str("## How soon each flow goes on\n\nFrom the beginning of the fault until a value that was sent since then was accepted at the last of the nodes that were neither dead nor cut off. Each flow is tried again and again at each of them, with all of its steps there; one that goes through several pages takes its time without a fault, too.\n\n| fault |");
    if let Some(first) = rows.first() {
        for (kind, _) in first.goes_on() {
            let _ = write!(text, " {} |", kind.name());
        }
        text.push_str("\n|---|");
        text.push_str(&"---|".repeat(first.goes_on().len()));
        text.push('\n');
    }
    for row in rows.iter().filter(|row| row.at_each) {
        let _ = write!(text, "| {} |", row.fault.what);
        for (_, after) in row.goes_on() {
            let said = after.map_or("-".to_owned(), seconds);
            let _ = write!(text, " {said} |");
        }
        text.push('\n');
    }
    text.push_str("\n## Requests by flow\n\n| fault | flow and requests |\n|---|---|\n");
    for row in rows {
        let counts = row.history.counts();
        let counts: Vec<String> = counts.iter().map(|(n, c)| format!("{n} {c}")).collect();
        let _ = writeln!(text, "| {} | {} |", row.fault.what, counts.join(", "));
    }
    if !skipped.is_empty() {
        text.push_str("\n## Not run\n\n");
        for (fault, why) in skipped {
            let _ = writeln!(text, "- {}: {why}", fault.what);
        }
    }
    let wrong: Vec<String> = rows
        .iter()
        .flat_map(|row| {
            let all = row.findings.all();
            all.map(|(sort, said)| format!("- {} ({sort}): {said}\n", row.fault.name))
        })
        .collect();
    if !wrong.is_empty() {
        text.push_str("\n## What is wrong\n\n");
        text.push_str(&wrong.concat());
    }
    text
}
