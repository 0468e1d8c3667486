//! `signet backup`: a copy of a single server that can be started, taken while it serves.

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::json;
use signet_registry::keys::SEALING_FILE;
use signet_store::sqlite::{self, DATABASE_FILE};

use super::{Failure, Output, config::refusal, note};
use signet_config::{model::StoreEngine, read};
use signet_crypto::private_file;

/// What the copy does not have, for whoever restores it.
const WITHOUT_TRAIL: &str =
    "The audit trail is not in it: signet audit export writes it to one file.";

/// `signet backup ...`
#[derive(Debug, Args)]
pub struct Backup {
    /// The directory to write to, on another disk; it must not exist.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    #[command(flatten)]
    which: Which,
}

/// Which server.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
struct Which {
    /// The data directory of a server, running or not.
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// The server of a configuration file.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

impl Which {
    /// The data directory, and the directory of the database.
    fn directories(&self) -> Result<(PathBuf, PathBuf), Failure> {
        let Some(file) = &self.config else {
            // Invariant: clap wants one of the two.
            let directory = self.data_dir.clone().unwrap_or_default();
            return Ok((directory.clone(), directory));
        };
        let loaded = read::load(file, false).map_err(|p| refusal(file, &p).fatal())?;
        match loaded.config.store.engine {
            StoreEngine::Sqlite => {
                let store = loaded.config.store_directory();
                Ok((loaded.config.data_dir, store))
            }
            _ => Err(Failure::unusable(format!(
                "the rows are not on this machine: copy the database with its own tools (pg_dump), then {SEALING_FILE}"
            ))),
        }
    }
}

/// Does the command. The database goes first: what it holds can be opened with keys of a later
/// moment, and not with those of an earlier one.
pub fn run(arguments: &Backup, output: &Output) -> Result<(), Failure> {
    let (data, store) = arguments.which.directories()?;
    let out = &arguments.out;
    let failed = |what: &Path, error: &dyn std::fmt::Display| {
        Failure::unusable(format!("{}: {error}", what.display()))
    };
    if out.exists() {
        return Err(failed(out, &"is there already"));
    }
    private_file::directory(out).map_err(|e| failed(out, &e))?;
    let copied = copy(&data, &store, out);
    if copied.is_err() {
        // A part of a copy must not look like one.
        let _ = std::fs::remove_dir_all(out);
    }
    let bytes = copied?;
    let answer = json!({
        "directory": out,
        "files": [DATABASE_FILE, SEALING_FILE],
        "bytes": bytes,
    });
    output.print(&answer, || {
        format!(
            "{}: {DATABASE_FILE} ({bytes} bytes) and {SEALING_FILE}\nWhoever has both can sign tokens: keep them encrypted. {WITHOUT_TRAIL}",
            out.display()
        )
    })
}

fn copy(data: &Path, store: &Path, out: &Path) -> Result<u64, Failure> {
    let unusable = |what: &Path, error: &dyn std::fmt::Display| {
        Failure::unusable(format!("{}: {error}", what.display()))
    };
    let database = out.join(DATABASE_FILE);
    note("copying the database");
    let bytes = sqlite::backup(store, &database).map_err(|e| Failure::unusable(e.to_string()))?;
    private_file::restrict(&database).map_err(|e| unusable(&database, &e))?;
    let keys = data.join(SEALING_FILE);
    let content = std::fs::read(&keys).map_err(|e| unusable(&keys, &e))?;
    let copy = out.join(SEALING_FILE);
    private_file::write(&copy, &content).map_err(|e| unusable(&copy, &e))?;
    Ok(bytes)
}
