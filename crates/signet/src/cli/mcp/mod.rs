//! `signet mcp`: an identity as a server of the Model Context Protocol, on standard input and
//! output.
//!
//! A model's host starts it with one identity file, and it serves that identity and no other:
//! nothing that comes in names a key. The passphrase is asked for before the first message, and
//! never over the protocol. What is signed is signed because a policy allows it or a person
//! approved it there and then ([`signet_mcp::approval`]); where neither can be had, it is refused.

mod server;
mod tools;

use std::path::PathBuf;

use clap::Args;
use rmcp::ServiceExt;

use super::{Failure, Output, block_on};
use server::Server;
use signet_mcp::policy::Policy;

/// `signet mcp`
#[derive(Debug, Args)]
pub struct Mcp {
    /// The identity file that is served. Passphrase: SIGNET_PASSPHRASE or a prompt on the terminal.
    #[arg(long, value_name = "FILE")]
    identity: PathBuf,
    /// What may be signed without asking, what is asked for, and what is refused (TOML). Without it
    /// a person is asked for every signature.
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,
    /// Grants to this identity, or directories of them: what it may do. May be repeated.
    #[arg(long = "grants", value_name = "FILE")]
    grants: Vec<PathBuf>,
}

/// Serves until the other side closes its end.
pub fn run(arguments: Mcp, _output: &Output) -> Result<(), Failure> {
    let policy = match &arguments.policy {
        Some(path) => Policy::parse(super::agent::files::read(path)?)
            .map_err(|e| Failure::unusable(format!("the policy {}: {e}", path.display())))?,
        None => Policy::default(),
    };
    let (document, keys) = super::agent::files::unlock(&arguments.identity)?;
    // Read once now, so that a wrong path is said at the start.
    server::held(&arguments.grants, &document)?;
    let server = Server::new(document, keys, policy, arguments.grants);
    block_on(async {
        let failed = |e: &dyn std::fmt::Display| Failure::unusable(format!("the protocol: {e}"));
        let running = match server.serve(rmcp::transport::stdio()).await {
            Ok(running) => running,
            // Nobody said anything before the end.
            Err(rmcp::service::ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
            Err(e) => return Err(failed(&e)),
        };
        running.waiting().await.map(drop).map_err(|e| failed(&e))
    })?
}
