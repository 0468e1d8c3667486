//! `signet agent`: identities, grants, receipts, without a server.

mod anchors;
pub(super) mod chain;
mod exchange;
pub(super) mod files;
pub(super) mod grant;
mod identity;
mod lineage;
mod log;
mod receipt;
mod session_key;

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use clap::{Args, Subcommand};

use super::{Failure, Output};

/// `signet agent ...`
#[derive(Debug, Subcommand)]
pub enum Agent {
    /// Make an identity: FILE, and its next key in FILE.next, to be kept elsewhere. Passphrase:
    /// SIGNET_PASSPHRASE or a prompt.
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
    /// Change the passphrase of an identity file (SIGNET_PASSPHRASE, then SIGNET_NEW_PASSPHRASE, or
    /// prompts).
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
    /// Prove that one holds a grant, or an identity that a server asks about, for an audience and
    /// this moment.
    #[command(
        after_help = "Example:\n  signet agent prove --identity bob.aid --grant grant.json --audience https://api.example.com\n  signet agent prove --identity alice.aid --audience https://localhost:8443 --challenge TEXT"
    )]
    Prove(grant::Prove),
    /// Exchange a chain of grants for an access token, bound to a session's key that is certified
    /// by the identity's.
    #[command(
        after_help = "Example:\n  signet agent exchange --identity carol.aid --issuer https://localhost:8443 --ca-cert .signet/ca.pem --client-id service --resource https://api.example.com alice-to-bob.json bob-to-carol.json"
    )]
    Exchange(Box<exchange::Exchange>),
    /// Make a DPoP proof for one request, with the session's key.
    #[command(
        after_help = "Example:\n  signet agent dpop --key session.jwk --url https://api.example.com/orders \"$TOKEN\"\n  curl -H \"Authorization: DPoP $TOKEN\" -H \"DPoP: $(signet agent dpop --key session.jwk --url \"$URL\" \"$TOKEN\")\" \"$URL\""
    )]
    Dpop(session_key::Dpop),
    /// Send a signed revocation or declaration of refusal to a server.
    #[command(
        after_help = "Example:\n  signet agent publish --issuer https://localhost:8443 --ca-cert .signet/ca.pem revocation.json"
    )]
    Publish(exchange::Publish),
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
        Agent::Exchange(arguments) => exchange::exchange(&arguments, output),
        Agent::Dpop(arguments) => session_key::dpop(&arguments, output),
        Agent::Publish(arguments) => exchange::publish(&arguments, output),
        Agent::Chain(ChainCommand::Verify(arguments)) => chain::verify(&arguments, output),
        Agent::Explain(arguments) => chain::explain(&arguments, output),
        Agent::Revoke(arguments) => grant::revoke(&arguments, output),
        Agent::Log(command) => log::run(&command, output),
        Agent::Lineage(command) => lineage::run(&command, output),
    }
}

/// The JSON of a public document in a file.
pub fn document_json(path: &std::path::Path) -> Result<serde_json::Value, Failure> {
    let document = files::document(path)?;
    let json = signet_agent::json::to_json(document.signed().as_bytes());
    json.map(Into::into)
        .map_err(|reason| files::refused(reason, &path.display().to_string()))
}

fn since_epoch() -> Duration {
    SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or_default()
}

/// Unix seconds.
pub(super) fn now() -> u64 {
    since_epoch().as_secs()
}

/// Unix milliseconds.
pub(super) fn now_ms() -> u64 {
    u64::try_from(since_epoch().as_millis()).unwrap_or(u64::MAX)
}
