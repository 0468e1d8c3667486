//! The nodes of an installation.

use clap::Subcommand;
use http::Method;
use serde_json::{Value, json};
use signet_server::admin::NODES;

use super::noun::{self, Leave, Paging};
use crate::{
    admin_client::{Session, Target},
    cli::{Failure, Output, block_on},
    config::duration::Duration,
};

/// `signet node ...`
#[derive(Debug, Subcommand)]
pub enum NodeCommand {
    /// List the nodes, as the one that answers sees them.
    #[command(after_help = "Example:\n  signet node list")]
    List {
        #[command(flatten)]
        target: Target,
    },
    /// Make a single-use token that lets one node join: `signet serve --join TOKEN`.
    #[command(after_help = "Example:\n  signet node invite --ttl 10m")]
    Invite {
        /// How long it can be used.
        #[arg(long, value_name = "DURATION", default_value = "10m", value_parser = Duration::parse)]
        ttl: Duration,
        #[command(flatten)]
        target: Target,
    },
    /// Show the node that answers, and how it sees each of the others.
    #[command(after_help = "Example:\n  signet node status --data-dir .signet")]
    Status {
        #[command(flatten)]
        target: Target,
    },
    /// Remove a node for good: nothing that it signs counts any more.
    #[command(after_help = "Example:\n  signet node remove node-3 --yes")]
    Remove {
        /// Its name.
        name: String,
        #[command(flatten)]
        leave: Leave,
        #[command(flatten)]
        target: Target,
    },
}

/// `signet node ...`
pub fn node(command: NodeCommand, output: &Output) -> Result<(), Failure> {
    match command {
        NodeCommand::List { target } => {
            noun::list(&NODES, &target, &Paging { limit: 1000 }, output)
        }
        NodeCommand::Invite { ttl, target } => invite(ttl.0, &target, output),
        NodeCommand::Status { target } => status(&target, output),
        NodeCommand::Remove {
            name,
            leave,
            target,
        } => noun::remove(&NODES, &target, &name, leave, output),
    }
}

/// The token alone on its line: it is to be handed on.
fn invite(seconds: u64, target: &Target, output: &Output) -> Result<(), Failure> {
    let body = json!({ "expires_in": seconds });
    let path = format!("{}/invitations", NODES.path());
    noun::send(target, Method::POST, &path, &body, output, |answer| {
        answer["token"].as_str().unwrap_or_default().to_owned()
    })
}

fn status(target: &Target, output: &Output) -> Result<(), Failure> {
    block_on(Session::with(target, async |session| {
        let nodes = noun::all(session, NODES.path(), usize::MAX).await?;
        let (own, peers): (Vec<Value>, Vec<Value>) =
            nodes.into_iter().partition(|node| node["self"] == true);
        let own = own.into_iter().next().unwrap_or_default();
        let mut document = own.clone();
        document["peers"] = peers.clone().into();
        output.print(&document, || {
            let mut text = noun::members(&own);
            for peer in &peers {
                text.push_str("\n\n");
                text.push_str(&noun::members(peer));
            }
            text
        })
    }))?
}
