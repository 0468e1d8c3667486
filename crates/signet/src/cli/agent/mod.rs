//! `signet agent`: identities, grants, receipts, without a server.

mod anchors;
mod chain;
pub(super) mod files;
mod grant;
mod identity;
mod lineage;
mod log;
mod receipt;

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use clap::{Args, Subcommand};

use super::{Failure, Output};

/// `signet agent ...`
#[derive(Debug, Subcommand)]
pub enum Agent {
    /// Make an identity: FILE, and its next key in FILE.next, to be kept elsewhere. Passphrase: SIGNET_PASSPHRASE or a prompt.
    #[command(after_help = "Example:\n  signet agent create --name alice --out alice.aid")]
    Create(identity::Create),
    /// Show an identity: id, name, public keys, rotations.
    #[command(
        after_help = "Example:\n  signet agent show alice.aid\n  signet agent show --document alice.aid > alice.json"
    )]
    Show(identity::Show),
    /// Begin to use the next key, and commit to a further one.
    #[command(after_help = "Example:\n  signet agent rotate alice.aid --reason yearly")]
    Rotate(identity::Rotate),
    /// Change the passphrase of an identity file (SIGNET_PASSPHRASE, then SIGNET_NEW_PASSPHRASE, or prompts).
    #[command(after_help = "Example:\n  signet agent passphrase alice.aid")]
    Passphrase(identity::Passphrase),
    /// Sign and verify receipts.
    #[command(
        subcommand,
        after_help = "Example:\n  signet agent receipt verify --identity alice.json first.json second.json"
    )]
    Receipt(receipt::ReceiptCommand),
    /// Grant capabilities to another agent.
    #[command(
        after_help = "Example:\n  signet agent grant --identity alice.aid --to bob.json --capability read:calendar --expires-in 1h --out grant.json"
    )]
    Grant(Box<grant::GrantArguments>),
    /// Prove that one holds a grant, for an audience and this moment.
    #[command(
        after_help = "Example:\n  signet agent prove --identity bob.aid --grant grant.json --audience https://api.example.com"
    )]
    Prove(grant::Prove),
    /// Verify chains of grants.
    #[command(
        subcommand,
        after_help = "Example:\n  signet agent chain verify --root alice.json --capability read:calendar grant.json"
    )]
    Chain(ChainCommand),
    /// Say link by link why a chain is accepted or refused.
    #[command(
        after_help = "Example:\n  signet agent explain --root alice.json --capability read:calendar grant.json"
    )]
    Explain(Box<chain::Verify>),
    /// Revoke a grant, what was delegated under it, an agent, or everything from it.
    #[command(
        after_help = "Example:\n  signet agent revoke --identity alice.aid --grant grant.json --reason stolen --out revocation.json"
    )]
    Revoke(grant::Revoke),
    /// Keep receipts, and other signed objects, in a log that nobody can rewrite.
    #[command(
        subcommand,
        after_help = "Example:\n  signet agent log append --log receipts.log --identity operator.aid receipt.json"
    )]
    Log(log::LogCommand),
    /// Record that one agent made another, and verify lines of descent.
    #[command(
        subcommand,
        after_help = "Example:\n  signet agent lineage verify --document parent.json --document child.json birth.json"
    )]
    Lineage(lineage::LineageCommand),
}

/// `signet agent chain ...`
#[derive(Debug, Subcommand)]
pub enum ChainCommand {
    /// Verify a chain of grants, the root's first. Exit 0: accepted; 1: refused.
    #[command(
        after_help = "Example:\n  signet agent chain verify --root alice.json --capability read:calendar --context audience=https://api.example.com first.json second.json"
    )]
    Verify(Box<chain::Verify>),
}

/// Whose private key signs.
#[derive(Debug, Args)]
pub struct Identity {
    /// The identity file of the one who signs.
    #[arg(long)]
    identity: PathBuf,
}

/// Where the object goes.
#[derive(Debug, Args)]
pub struct Out {
    /// The file to write; standard output otherwise.
    #[arg(long)]
    out: Option<PathBuf>,
}

/// Does the command.
pub fn run(command: Agent, output: &Output) -> Result<(), Failure> {
    match command {
        Agent::Create(arguments) => identity::create(&arguments, output),
        Agent::Show(arguments) => identity::show(&arguments, output),
        Agent::Rotate(arguments) => identity::rotate(&arguments, output),
        Agent::Passphrase(arguments) => identity::passphrase(&arguments, output),
        Agent::Receipt(command) => receipt::run(&command, output),
        Agent::Grant(arguments) => grant::grant(&arguments, output),
        Agent::Prove(arguments) => grant::prove(&arguments, output),
        Agent::Chain(ChainCommand::Verify(arguments)) => chain::verify(&arguments, output),
        Agent::Explain(arguments) => chain::explain(&arguments, output),
        Agent::Revoke(arguments) => grant::revoke(&arguments, output),
        Agent::Log(command) => log::run(&command, output),
        Agent::Lineage(command) => lineage::run(&command, output),
    }
}

fn since_epoch() -> Duration {
    SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or_default()
}

/// Unix seconds.
fn now() -> u64 {
    since_epoch().as_secs()
}

/// Unix milliseconds.
fn now_ms() -> u64 {
    u64::try_from(since_epoch().as_millis()).unwrap_or(u64::MAX)
}
