//! Logs whose word counts where a key was retired or compromised.

use std::path::PathBuf;

use clap::Args;
use signet_agent::anchor::Anchors;

use super::{Failure, files, log};

/// `--anchor-log` and `--anchor-keeper`.
#[derive(Debug, Args)]
pub struct Anchoring {
    /// A log. What a key signed that was later compromised still counts if a log had taken it in
    /// before. May be repeated.
    #[arg(long = "anchor-log", requires = "keepers")]
    logs: Vec<PathBuf>,
    /// The document of one who keeps such a log and whose word counts. May be repeated.
    #[arg(long = "anchor-keeper")]
    keepers: Vec<PathBuf>,
    /// What a retired key signed counts only if such a log had taken it in before the rotation,
    /// whatever date it has.
    #[arg(long)]
    require_anchors: bool,
}

impl Anchoring {
    /// What the logs had taken in, each log verified as its keeper's.
    pub fn read(&self) -> Result<Anchors, Failure> {
        let keepers = self
            .keepers
            .iter()
            .map(|path| files::document(path))
            .collect::<Result<Vec<_>, _>>()?;
        let mut anchors = if self.require_anchors {
            Anchors::demanded()
        } else {
            Anchors::none()
        };
        for path in &self.logs {
            log::anchor(path, &keepers, &mut anchors)?;
        }
        Ok(anchors)
    }
}
