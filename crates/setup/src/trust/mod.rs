//! `signet trust`: the authority that a data directory made, in the stores of this machine.
//!
//! Whoever has the key of a trusted authority can stand in for the servers that it is limited to,
//! or, of a development server, for any. So only an authority is trusted that this data directory
//! made and whose key nobody else can read; and what is removed is exactly that certificate.

mod authority;
mod browsers;
mod program;
mod system;

use std::path::PathBuf;

use clap::Args;
use serde_json::{Value, json};
use signet_terminal::output::{Failure, Output, note, table};

use authority::Authority;

/// The data directory unless told otherwise.
const DATA_DIR: &str = ".signet";

/// `signet trust ...`
#[derive(Debug, Args)]
pub struct Trust {
    /// The data directory whose authority is meant.
    #[arg(long, value_name = "DIR", default_value = DATA_DIR)]
    data_dir: PathBuf,
    /// Take it out of the stores again.
    #[arg(long)]
    remove: bool,
    /// The system's directory of further authorities [also: SIGNET_SYSTEM_TRUST_DIR; default: the
    /// one of this distribution].
    #[arg(long, value_name = "DIR")]
    system_dir: Option<PathBuf>,
}

/// What was to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Act {
    Add,
    Remove,
}

/// The outcome in one store.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Outcome {
    /// It is trusted from now on.
    Trusted,
    /// It was trusted before.
    Already,
    /// It was taken out.
    Removed,
    /// It was not there, or there is no such store.
    Absent(String),
    /// It could not be done.
    Failed {
        /// Why.
        why: String,
        /// What does it.
        run: Option<String>,
    },
}

impl Outcome {
    fn failed(why: impl Into<String>) -> Outcome {
        Outcome::Failed {
            why: why.into(),
            run: None,
        }
    }

    fn name(&self) -> &'static str {
        match self {
            Outcome::Trusted => "trusted",
            Outcome::Already => "already",
            Outcome::Removed => "removed",
            Outcome::Absent(_) => "absent",
            Outcome::Failed { .. } => "failed",
        }
    }

    fn words(&self) -> &str {
        match self {
            Outcome::Trusted | Outcome::Already | Outcome::Removed => "",
            Outcome::Absent(why) | Outcome::Failed { why, .. } => why,
        }
    }
}

/// One store.
#[derive(Clone, Debug)]
struct Store {
    /// `system`, `chromium` or `firefox`.
    kind: &'static str,
    /// Where it is.
    path: PathBuf,
    outcome: Outcome,
}

/// Does the command. Exit 1: a store that is there could not be changed.
pub(crate) fn run(arguments: &Trust, output: &Output) -> Result<(), Failure> {
    let act = match arguments.remove {
        true => Act::Remove,
        false => Act::Add,
    };
    let authority = Authority::read(&arguments.data_dir, act)?;
    if act == Act::Add && authority.limited_to.is_none() {
        note(
            "this authority may stand for any server: whoever gets its key can read what your browsers send. Take it out when you are done: signet trust --remove",
        );
    }
    let variable = std::env::var_os("SIGNET_SYSTEM_TRUST_DIR").filter(|v| !v.is_empty());
    let system_dir = arguments.system_dir.clone();
    let system_dir = system_dir.or_else(|| variable.map(PathBuf::from));
    let mut stores = vec![system::change(&authority, act, system_dir)];
    stores.extend(browsers::change(&authority, act));
    let shown: Vec<Value> = stores.iter().map(shown).collect();
    let answer = json!({
        "certificate": authority.file,
        "name": authority.name,
        "sha256": authority.fingerprint,
        "limited_to": authority.limited_to,
        "stores": shown,
    });
    let text = || {
        let rows: Vec<Vec<String>> = stores
            .iter()
            .map(|store| {
                let path = store.path.display().to_string();
                let outcome = &store.outcome;
                let said = [store.kind, outcome.name(), &path, outcome.words()];
                said.map(str::to_owned).to_vec()
            })
            .collect();
        format!(
            "{} (SHA-256 {})\n{}",
            authority.name,
            authority.fingerprint,
            table(&["store", "outcome", "where", "why"], &rows)
        )
    };
    let failed: Vec<String> = stores.iter().filter_map(failure).collect();
    if failed.is_empty() {
        return output.print(&answer, text);
    }
    // With --json the refusal has the answer's members.
    if !output.json {
        output.print(&answer, text)?;
    }
    Err(Failure::no("incomplete", failed.join("\nsignet: ")).with(answer))
}

/// Why a store could not be changed, and what does it.
fn failure(store: &Store) -> Option<String> {
    let Outcome::Failed { why, run } = &store.outcome else {
        return None;
    };
    let said = format!("{}: {why}", store.kind);
    Some(match run {
        Some(run) => format!("{said}\n  {run}"),
        None => said,
    })
}

fn shown(store: &Store) -> Value {
    let run = match &store.outcome {
        Outcome::Failed { run, .. } => run.clone(),
        Outcome::Trusted | Outcome::Already | Outcome::Removed | Outcome::Absent(_) => None,
    };
    let why = Some(store.outcome.words()).filter(|words| !words.is_empty());
    json!({
        "store": store.kind,
        "path": store.path,
        "outcome": store.outcome.name(),
        "why": why,
        "run": run,
    })
}
