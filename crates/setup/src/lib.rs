//! From nothing to a server: `signet setup` and `signet trust`.
//!
//! Setup asks what a configuration cannot do without, checks each answer as it is given, and writes
//! a file that a start takes: a mistake shows here rather than in a log. What it makes beside the
//! file is a certificate, where nobody brings one, and the single-use link of the first
//! administrator. Trust puts that certificate's authority where this machine and its browsers look.
//!
//! Neither command speaks to a server.
#![forbid(unsafe_code)]

mod answers;
mod arguments;
pub mod certificate;
mod file;
mod paths;
mod setup;
pub mod stopped;
mod trust;

use clap::Subcommand;
use signet_terminal::output::{Failure, Output};

/// The commands by which a newcomer gets a server.
#[derive(Debug, Subcommand)]
pub enum SetupCommand {
    /// Set a server up: asks what it needs, or takes flags, and writes the configuration file and
    /// the link of the first administrator.
    #[command(
        after_help = "With --yes nothing is asked: what no flag says has its default. A file that is there is never overwritten, unless --replace says so, and is then kept beside the new one.\n\nExample:\n  signet setup\n  signet setup --issuer https://id.example --dir /etc/signet --data-dir /var/lib/signet --yes"
    )]
    Setup(Box<arguments::Setup>),
    /// Have this machine and your browsers trust the certificates that a server of this machine
    /// made for itself.
    #[command(
        after_help = "Root changes the system's store; without being root, the command says what to run. Browsers have stores of their own, which need certutil.\n\nExample:\n  signet trust --data-dir .signet\n  signet trust --remove"
    )]
    Trust(trust::Trust),
}

impl SetupCommand {
    /// Does the command. `routes`: the paths that a server answers.
    ///
    /// # Errors
    /// Why not, for the operator.
    pub fn run(self, routes: &[&'static str], output: &Output) -> Result<(), Failure> {
        match self {
            SetupCommand::Setup(arguments) => setup::run(*arguments, routes, output),
            SetupCommand::Trust(arguments) => trust::run(&arguments, output),
        }
    }
}
