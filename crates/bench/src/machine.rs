//! Where a run took place and of what: without it a figure means nothing.

use std::{collections::BTreeMap, process::Command};

use serde::{Deserialize, Serialize};

/// The machine, its system, and the versions of what ran.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// The processor's model.
    pub processor: String,
    /// Processors that this run could use.
    pub cores: usize,
    /// Millions of bytes.
    pub memory_mb: u64,
    /// Kernel and its release.
    pub kernel: String,
    /// The distribution.
    pub system: String,
    /// The processor's flags.
    pub cpu_flags: Vec<String>,
    /// What else the machine was doing when the run began: the load of the last minute.
    pub load: String,
    /// Commit of the source; `-changed` behind it where files differ from it.
    pub commit: String,
    /// Of the programs that took part.
    pub versions: BTreeMap<String, String>,
}

impl Machine {
    /// Of this machine, with the binary under test. What cannot be found out is empty.
    #[must_use]
    pub fn here(binary: &std::path::Path) -> Machine {
        let cpu = file("/proc/cpuinfo");
        let flags = field(&cpu, "flags");
        let memory = field(&file("/proc/meminfo"), "MemTotal");
        let kib: u64 = memory
            .split_whitespace()
            .next()
            .and_then(|kib| kib.parse().ok())
            .unwrap_or(0);
        let mut versions = BTreeMap::new();
        let mut version = |name: &str, command: &mut Command| {
            if let Some(text) = said(command) {
                versions.insert(name.to_owned(), text);
            }
        };
        version("signet", Command::new(binary).arg("--version"));
        version("rustc", Command::new("rustc").arg("--version"));
        Machine {
            processor: field(&cpu, "model name"),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            memory_mb: kib * 1024 / 1_000_000,
            kernel: said(Command::new("uname").arg("-sr")).unwrap_or_default(),
            system: field_of(&file("/etc/os-release"), "PRETTY_NAME", '=')
                .trim_matches('"')
                .to_owned(),
            cpu_flags: flags.split_whitespace().map(str::to_owned).collect(),
            load: file("/proc/loadavg")
                .split_whitespace()
                .next()
                .unwrap_or_default()
                .to_owned(),
            commit: commit(),
            versions,
        }
    }

    /// One line: processor, cores, kernel.
    #[must_use]
    pub fn line(&self) -> String {
        let Machine {
            processor,
            cores,
            memory_mb,
            kernel,
            system,
            ..
        } = self;
        let gb = memory_mb / 1000;
        format!("{cores} cores of {processor}, {gb} GB, {kernel}, {system}")
    }

    /// Those of the processor's flags that the hot paths look for.
    #[must_use]
    pub fn telling_flags(&self) -> Vec<&str> {
        const TELLING: [&str; 8] = [
            "sha_ni",
            "avx2",
            "avx512f",
            "avx512ifma",
            "vaes",
            "vpclmulqdq",
            "adx",
            "bmi2",
        ];
        let flags = self.cpu_flags.iter().map(String::as_str);
        flags.filter(|flag| TELLING.contains(flag)).collect()
    }
}

fn commit() -> String {
    let git = |arguments: &[&str]| {
        let mut git = Command::new("git");
        git.current_dir(env!("CARGO_MANIFEST_DIR")).args(arguments);
        said(&mut git)
    };
    let Some(commit) = git(&["rev-parse", "--short=12", "HEAD"]) else {
        return String::new();
    };
    match git(&["status", "--porcelain", "--untracked-files=no"]) {
        Some(changes) if !changes.is_empty() => format!("{commit}-changed"),
        _ => commit,
    }
}

/// What a command prints; `None` where it is missing or fails.
fn said(command: &mut Command) -> Option<String> {
    let output = command.output().ok()?;
    output
        .status
        .success()
        .then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

fn file(path: &str) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

fn field(text: &str, name: &str) -> String {
    field_of(text, name, ':')
}

fn field_of(text: &str, name: &str, separator: char) -> String {
    let mut lines = text.lines().filter_map(|line| line.split_once(separator));
    let found = lines.find(|(found, _)| found.trim() == name);
    found.map_or(String::new(), |(_, value)| value.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machine_says_what_a_reader_needs_to_judge_a_figure() {
        let machine = Machine::here(std::path::Path::new("/bin/true"));
        assert!(machine.cores > 0 && machine.memory_mb > 0);
        assert!(!machine.processor.is_empty() && !machine.kernel.is_empty());
        assert!(!machine.cpu_flags.is_empty());
    }

    #[test]
    fn a_program_that_is_missing_has_no_version() {
        let machine = Machine::here(std::path::Path::new("/no/such/program"));
        assert!(!machine.versions.contains_key("signet"));
    }
}
