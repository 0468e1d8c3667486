//! `lineage birth` and `lineage verify`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use serde_json::json;
use signet_agent::capability::Capability;
use signet_agent::json::File;
use signet_agent::lineage::{Birth, VerifiedLineage};
use signet_agent::object::Signed;
use signet_agent::revocation::Revocations;

use super::anchors::Anchoring;
use super::files::{self, refused};
use super::grant::capability;
use super::{Failure, Identity, Out, Output, now};
use signet_terminal::input;

/// `signet agent lineage ...`
#[derive(Debug, Subcommand)]
pub enum LineageCommand {
    /// Record that one agent made another; both sign. The child's passphrase:
    /// SIGNET_CHILD_PASSPHRASE or a prompt.
    #[command(
        after_help = "Example:\n  signet agent lineage birth --identity parent.aid --child child.aid --capability read:files/* --out birth.json"
    )]
    Birth(MakeBirth),
    /// Verify a line of descent, the oldest birth first. Exit 0: it holds, and nobody of it was
    /// ended; 1: it does not.
    #[command(
        after_help = "Example:\n  signet agent lineage verify --document parent.json --document child.json birth.json"
    )]
    Verify(Box<Verify>),
}

/// `signet agent lineage birth`
#[derive(Debug, Args)]
pub struct MakeBirth {
    #[command(flatten)]
    identity: Identity,
    /// The child's identity file.
    #[arg(long)]
    child: PathBuf,
    /// What the child may be allowed at most. May be repeated.
    #[arg(long = "capability", required = true, value_parser = capability)]
    capabilities: Vec<Capability>,
    /// What the child is for.
    #[arg(long, default_value = "")]
    purpose: String,
    /// The parent's own birth.
    #[arg(long)]
    parent_birth: Option<PathBuf>,
    #[command(flatten)]
    out: Out,
}

/// `signet agent lineage verify`
#[derive(Debug, Args)]
pub struct Verify {
    /// The document of an agent of the line. May be repeated.
    #[arg(long = "document")]
    documents: Vec<PathBuf>,
    /// A revocation: a line of which somebody was ended is refused. May be repeated.
    #[arg(long = "revocation")]
    revocations: Vec<PathBuf>,
    #[command(flatten)]
    anchoring: Anchoring,
    /// The births, the oldest first.
    #[arg(required = true)]
    births: Vec<PathBuf>,
}

pub fn run(command: &LineageCommand, output: &Output) -> Result<(), Failure> {
    match command {
        LineageCommand::Birth(arguments) => birth(arguments, output),
        LineageCommand::Verify(arguments) => verify(arguments, output),
    }
}

fn birth(arguments: &MakeBirth, output: &Output) -> Result<(), Failure> {
    let own = arguments
        .parent_birth
        .as_deref()
        .map(files::typed::<Birth>)
        .transpose()?;
    let child_file = files::identity_file(&arguments.child)?;
    let (parent, keys) = files::unlock(&arguments.identity.identity)?;
    let passphrase =
        input::passphrase("SIGNET_CHILD_PASSPHRASE", "Passphrase of the child", false)?;
    let child_keys = child_file
        .open(passphrase.expose().as_bytes())
        .map_err(|reason| refused(reason, &arguments.child.display().to_string()))?;
    let mut authority = arguments.capabilities.clone();
    authority.sort_unstable();
    authority.dedup();
    let body = Birth {
        by: parent.by(),
        child: child_file.document().by(),
        parent_birth: own.map(|(birth, _)| birth.id()),
        authority,
        purpose: arguments.purpose.clone(),
        at: now(),
    };
    let signed = Signed::sign_birth(&body, &keys, &child_keys)
        .map_err(|reason| Failure::unusable(format!("the birth cannot be signed: {reason}")))?;
    files::write(
        &File::of(&signed).with_signer(&parent),
        arguments.out.out.as_deref(),
        output,
    )
}

fn verify(arguments: &Verify, output: &Output) -> Result<(), Failure> {
    let mut documents = arguments
        .documents
        .iter()
        .map(|path| files::document(path))
        .collect::<Result<Vec<_>, _>>()?;
    let mut births = Vec::new();
    for path in &arguments.births {
        let (birth, file) = files::typed::<Birth>(path)?;
        births.push(birth);
        documents.extend(file.signer);
    }
    // Of several documents of one agent, the newest comes first.
    documents.sort_by_key(|document| std::cmp::Reverse(document.by().key));
    let anchors = arguments.anchoring.read()?;
    let mut revocations = Revocations::as_of(0);
    for path in &arguments.revocations {
        files::add_revocation(path, &mut revocations, &documents, &anchors)?;
    }
    let lineage = VerifiedLineage::verify(&births, &documents, &anchors)
        .and_then(|lineage| lineage.check_standing(&revocations).map(|()| lineage))
        .map_err(|reason| refused(reason, "the line of descent"))?;
    let agents: Vec<String> = lineage.agents().iter().map(ToString::to_string).collect();
    output.print(&json!({ "verified": true, "agents": agents }), || {
        agents.join("\n")
    })
}
