//! The nodes of an installation.

use std::path::{Path, PathBuf};

use clap::Subcommand;
use http::Method;
use serde_json::{Value, json};
use signet_admin::NODES;
use signet_consensus::ConsensusError;
use signet_store::{sqlite, sqlite::DATABASE_FILE};

use super::noun::{self, Leave, Paging};
use crate::cli::{Failure, Output, block_on};
use signet_admin_client::{Session, Target};
use signet_config::duration::Duration;

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
    /// The majority of a replicated store is lost for ever: make this node, which is stopped, the
    /// first of a new cluster, with what it has.
    #[command(
        after_help = "What only the other nodes had is lost, also what was answered. They are refused from then on, and may join again with an empty data directory.\n\nExample:\n  signet node recover --data-dir /var/lib/signet --yes"
    )]
    Recover {
        /// The data directory of the stopped node, where its store is.
        #[arg(long, value_name = "DIR")]
        data_dir: PathBuf,
        #[command(flatten)]
        leave: Leave,
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
        NodeCommand::Recover { data_dir, leave } => recover(&data_dir, leave, output),
    }
}

/// For when the majority will not come back.
fn recover(data_dir: &Path, leave: Leave, output: &Output) -> Result<(), Failure> {
    leave.ask(
        "What only the other nodes had is lost, and they will be refused. Is their majority gone for ever?",
    )?;
    if !data_dir.join(DATABASE_FILE).exists() {
        let directory = data_dir.display();
        return Err(Failure::unusable(format!(
            "there is no store in {directory}"
        )));
    }
    let random = || u64::from_be_bytes(signet_crypto::random::bytes());
    let done = signet_consensus::recover(data_dir, sqlite::Options::default(), &random);
    let done = done.map_err(|error| match error {
        ConsensusError::Alone => Failure::no(
            "not_replicated",
            "the store is not replicated: nothing is lost",
        ),
        error => Failure::unusable(error.to_string()),
    })?;
    let left = done
        .members
        .iter()
        .filter(|member| member.name != done.me.name);
    let left: Vec<&str> = left.map(|member| member.name.as_str()).collect();
    let answer = json!({
        "node": done.me.name.as_str(),
        "left_behind": left,
        "last_entry": done.last_log,
        "uncertain_entries": done.uncertain,
    });
    output.print(&answer, || {
        format!(
            "{} is the only voter now, with everything up to entry {}.\n{} of its last entries may not have been answered to anybody; they count now.\nLeft behind: {}. Remove them when it runs: signet node remove NAME",
            done.me.name,
            done.last_log,
            done.uncertain,
            left.join(", ")
        )
    })
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
