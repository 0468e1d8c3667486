//! `signet gate`: the arguments, and which configuration they stand for.

use std::path::PathBuf;

use clap::Args;

use super::{Failure, Output, serve::address};
use signet_gate_process::Source;

/// `signet gate ...`
#[derive(Debug, Args)]
pub struct Gate {
    /// The TOML configuration file.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["issuer", "audience", "ca_cert"])]
    config: Option<PathBuf>,
    /// Quick start: the issuer whose access tokens are accepted. Its keys are found through its
    /// metadata.
    #[arg(long, value_name = "URL")]
    issuer: Option<String>,
    /// Quick start: the audience that tokens must have.
    #[arg(long, value_name = "AUDIENCE")]
    audience: Option<String>,
    /// Quick start: PEM file of the authority that the issuer's certificate comes from.
    #[arg(long, value_name = "FILE")]
    ca_cert: Option<PathBuf>,
    /// Where to listen [default: 127.0.0.1:9000, or what the file says].
    #[arg(long, value_name = "HOST:PORT")]
    listen: Option<String>,
}

/// Serves until a signal ends it.
pub fn run(arguments: Gate, _output: &Output) -> Result<(), Failure> {
    let listen = arguments.listen.as_deref().map(address).transpose()?;
    let source = match (arguments.config, arguments.issuer, arguments.audience) {
        (Some(file), ..) => Source::File(file),
        (None, Some(issuer), Some(audience)) => Source::Quick {
            issuer,
            audience,
            ca_cert: arguments.ca_cert,
        },
        _ => {
            return Err(Failure::unusable(
                "validate for whom? --issuer URL and --audience AUDIENCE for a first try; --config FILE for everything else",
            ));
        }
    };
    signet_gate_process::run(&source, listen).map_err(Failure::unusable)
}
