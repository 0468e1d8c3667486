//! `signet audit`: looking at the audit trail, verifying it, handing it to an auditor.
//!
//! A trail on this machine is read from its files, with a server or without one; another server's
//! through its admin API. Verifying believes neither: it needs the bytes, and, to know whose
//! signatures they have to be, the public document.

mod show;
mod source;
mod verify;

use clap::Subcommand;

use super::{Failure, Output};

/// `signet audit ...`
#[derive(Debug, Subcommand)]
pub enum AuditCommand {
    /// Show the last lines, and with --follow those that come.
    #[command(
        after_help = "Example:\n  signet audit tail --lines 50 --data-dir .signet\n  signet audit tail --user alice --since 2026-11-21 --until 2026-11-22\n  signet audit tail --follow --json --server https://id.example.com --login root"
    )]
    Tail(show::Tail),
    /// Verify a trail: an exported file, a directory, or a server's. Exit 0: it is as it was
    /// signed; 1: it is not, and at which line.
    #[command(
        after_help = "Example:\n  signet audit verify --data-dir .signet --keep kept.txt\n  signet audit verify trail.audit --identity audit-identity.json --checkpoint kept.txt"
    )]
    Verify(verify::Verify),
    /// Write the whole trail to one file: lines, checkpoints and the public document, for `audit
    /// verify` without a server.
    #[command(after_help = "Example:\n  signet audit export --data-dir .signet --out trail.audit")]
    Export(show::Export),
}

/// Does the command.
pub fn run(command: AuditCommand, output: &Output) -> Result<(), Failure> {
    match command {
        AuditCommand::Tail(arguments) => show::tail(&arguments, output),
        AuditCommand::Verify(arguments) => verify::verify(&arguments, output),
        AuditCommand::Export(arguments) => show::export(&arguments, output),
    }
}
