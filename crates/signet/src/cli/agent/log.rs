//! `log append|verify|checkpoint|prove|check`: receipts in a file that nobody can rewrite.
//!
//! The file has one JSON object a line: `{"receipt":"..."}` or `{"checkpoint":"..."}`, each the base64url of a COSE message.
//! A leaf of the tree is the whole message of a receipt, so not a byte of the file can change unseen.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use serde_json::json;
use signet_agent::anchor::Anchors;
use signet_agent::identity::VerifiedDocument;
use signet_agent::log::{self, Checkpoint, InclusionProof, Tree};
use signet_agent::receipt::Receipt;
use signet_agent::{Refusal, base64url};

use super::files::{self, refused};
use super::{Failure, Identity, Output, now};
use crate::cli::output;

/// `signet agent log ...`
#[derive(Debug, Subcommand)]
pub enum LogCommand {
    /// Add receipts, and sign the log as it is then.
    #[command(
        after_help = "Example:\n  signet agent log append --log receipts.log --identity operator.aid receipt.json"
    )]
    Append(Append),
    /// Verify a whole log. Exit 0: it is as it was signed; 1: it is not.
    #[command(
        after_help = "Example:\n  signet agent log verify --log receipts.log --identity operator.json --checkpoint kept.txt"
    )]
    Verify(Verify),
    /// Print the last checkpoint, to be kept elsewhere: it shows later that nothing was cut off.
    #[command(after_help = "Example:\n  signet agent log checkpoint --log receipts.log > kept.txt")]
    Checkpoint(LogFile),
    /// Print a COSE receipt (RFC 9942) that shows that a receipt is in the log.
    #[command(
        after_help = "Example:\n  signet agent log prove --log receipts.log receipt.json > proof.txt"
    )]
    Prove(Prove),
    /// Check such a proof.
    #[command(
        after_help = "Example:\n  signet agent log check --proof proof.txt --identity operator.json receipt.json"
    )]
    Check(CheckProof),
}

/// The log.
#[derive(Debug, Args)]
pub struct LogFile {
    /// The log's file.
    #[arg(long)]
    log: PathBuf,
}

/// `signet agent log append`
#[derive(Debug, Args)]
pub struct Append {
    #[command(flatten)]
    log: LogFile,
    #[command(flatten)]
    identity: Identity,
    /// The receipts, in order.
    #[arg(required = true)]
    receipts: Vec<PathBuf>,
}

/// `signet agent log verify`
#[derive(Debug, Args)]
pub struct Verify {
    #[command(flatten)]
    log: LogFile,
    /// The document of the one who keeps the log.
    #[arg(long)]
    identity: PathBuf,
    /// A checkpoint that was kept elsewhere.
    #[arg(long)]
    checkpoint: Option<PathBuf>,
}

/// `signet agent log prove`
#[derive(Debug, Args)]
pub struct Prove {
    #[command(flatten)]
    log: LogFile,
    /// The receipt.
    receipt: PathBuf,
}

/// `signet agent log check`
#[derive(Debug, Args)]
pub struct CheckProof {
    /// What `log prove` printed.
    #[arg(long)]
    proof: PathBuf,
    /// The document of the one who keeps the log.
    #[arg(long)]
    identity: PathBuf,
    /// The receipt.
    receipt: PathBuf,
}

pub fn run(command: &LogCommand, output: &Output) -> Result<(), Failure> {
    match command {
        LogCommand::Append(arguments) => append(arguments, output),
        LogCommand::Verify(arguments) => verify(arguments, output),
        LogCommand::Checkpoint(arguments) => checkpoint(arguments, output),
        LogCommand::Prove(arguments) => prove(arguments, output),
        LogCommand::Check(arguments) => check(arguments, output),
    }
}

/// What a log file holds.
#[derive(Default)]
struct Entries {
    receipts: Vec<Vec<u8>>,
    checkpoints: Vec<Checkpoint>,
}

fn line(kind: &str, message: &[u8]) -> String {
    format!("{{\"{kind}\":\"{}\"}}\n", base64url::encode(message))
}

impl Entries {
    fn parse(text: &str) -> Result<Entries, Refusal> {
        let mut entries = Entries::default();
        for line in text.split_inclusive('\n') {
            let body = line.strip_suffix("\"}\n").ok_or(Refusal::Malformed)?;
            if let Some(message) = body.strip_prefix("{\"receipt\":\"") {
                entries.receipts.push(base64url::decode(message)?);
            } else {
                let message = body
                    .strip_prefix("{\"checkpoint\":\"")
                    .ok_or(Refusal::Malformed)?;
                let checkpoint = Checkpoint::parse(&base64url::decode(message)?)?;
                // A checkpoint stands where it was signed.
                if checkpoint.size != entries.receipts.len() as u64 {
                    return Err(Refusal::ChainBroken);
                }
                entries.checkpoints.push(checkpoint);
            }
        }
        Ok(entries)
    }

    fn read(path: &Path) -> Result<Entries, Failure> {
        let text = std::fs::read_to_string(path)
            .map_err(|e| Failure::unusable(format!("cannot read {}: {e}", path.display())))?;
        Self::parse(&text).map_err(|reason| refused(reason, &path.display().to_string()))
    }

    fn verify(
        &self,
        known: Option<&Checkpoint>,
        document: &VerifiedDocument,
    ) -> Result<Tree, Refusal> {
        let entries = self.receipts.iter().map(Vec::as_slice);
        log::verify(
            entries,
            &self.checkpoints,
            known,
            document,
            &Anchors::none(),
        )
    }
}

/// Text of one message in a file of its own.
fn message(path: &Path) -> Result<Vec<u8>, Failure> {
    let data = files::read(path)?;
    let text = std::str::from_utf8(&data).map_err(|_| Refusal::Malformed);
    text.and_then(|text| base64url::decode(text.trim()))
        .map_err(|reason| refused(reason, &path.display().to_string()))
}

fn append(arguments: &Append, output: &Output) -> Result<(), Failure> {
    let path = &arguments.log.log;
    let entries = if path.exists() {
        Entries::read(path)?
    } else {
        Entries::default()
    };
    let mut lines = String::new();
    let mut added = Vec::new();
    for receipt in &arguments.receipts {
        let (receipt, file) = files::typed::<Receipt>(receipt)?;
        if let Some(signer) = &file.signer {
            receipt
                .verify_by(signer, &Anchors::none())
                .map_err(|reason| refused(reason, "the receipt"))?;
        }
        lines.push_str(&line("receipt", receipt.as_bytes()));
        added.push(receipt);
    }
    let (document, keys) = files::unlock(&arguments.identity.identity)?;
    // Nothing is added to a log that was tampered with.
    let mut tree = entries
        .verify(None, &document)
        .map_err(|reason| refused(reason, &path.display().to_string()))?;
    added
        .iter()
        .for_each(|receipt| tree.append(receipt.as_bytes()));
    let after = entries.checkpoints.last().map_or(0, |last| last.at);
    let checkpoint = Checkpoint::sign(&tree, &document.signer(&keys), now().max(after))
        .map_err(|reason| Failure::unusable(reason.to_string()))?;
    lines.push_str(&line("checkpoint", &checkpoint.to_bytes()));
    let failed =
        |e: std::io::Error| Failure::unusable(format!("cannot write {}: {e}", path.display()));
    let mut file = OpenOptions::new()
        .append(true)
        .create(true)
        .open(path)
        .map_err(failed)?;
    file.write_all(lines.as_bytes())
        .and_then(|()| file.sync_all())
        .map_err(failed)?;
    let answer = json!({ "size": tree.len(), "root": tree.root().to_string() });
    output.print(&answer, || {
        format!("{} receipts, root {}", tree.len(), tree.root())
    })
}

fn verify(arguments: &Verify, output: &Output) -> Result<(), Failure> {
    let path = &arguments.log.log;
    let document = files::document(&arguments.identity)?;
    let entries = Entries::read(path)?;
    let failed = |reason| refused(reason, &path.display().to_string());
    let known = match &arguments.checkpoint {
        Some(path) => Some(Checkpoint::parse(&message(path)?).map_err(failed)?),
        None => None,
    };
    let tree = entries.verify(known.as_ref(), &document).map_err(failed)?;
    if known.is_none() {
        output::note(
            "whether the end was cut off together with its checkpoint was not checked: --checkpoint names one that was kept",
        );
    }
    let answer = json!({
        "verified": true,
        "size": tree.len(),
        "root": tree.root().to_string(),
        "checkpoints": entries.checkpoints.len(),
        "not_checked": if known.is_none() { vec!["truncation"] } else { Vec::new() },
    });
    output.print(&answer, || {
        format!(
            "verified: {} receipts, {} checkpoints",
            tree.len(),
            entries.checkpoints.len()
        )
    })
}

fn checkpoint(arguments: &LogFile, output: &Output) -> Result<(), Failure> {
    let entries = Entries::read(&arguments.log)?;
    let last = entries
        .checkpoints
        .last()
        .ok_or_else(|| Failure::unusable("the log has no checkpoint"))?;
    let text = base64url::encode(&last.to_bytes());
    let answer = json!({ "checkpoint": text, "size": last.size, "at": last.at, "root": last.root.to_string() });
    output.print(&answer, || text.clone())
}

fn prove(arguments: &Prove, output: &Output) -> Result<(), Failure> {
    let entries = Entries::read(&arguments.log.log)?;
    let (receipt, _) = files::typed::<Receipt>(&arguments.receipt)?;
    let missing = || Failure::no("not_in_log", "the receipt is not in the log");
    let index = entries
        .receipts
        .iter()
        .position(|entry| entry == receipt.as_bytes())
        .ok_or_else(missing)?;
    let last = entries
        .checkpoints
        .last()
        .filter(|last| last.size > index as u64)
        .ok_or_else(missing)?;
    let mut tree = Tree::default();
    entries.receipts.iter().for_each(|entry| tree.append(entry));
    let proof = InclusionProof::of(&tree, index as u64, last.size).ok_or_else(missing)?;
    let text = base64url::encode(&last.inclusion_receipt(&proof));
    output.print(
        &json!({ "proof": text, "index": index, "size": last.size }),
        || text.clone(),
    )
}

fn check(arguments: &CheckProof, output: &Output) -> Result<(), Failure> {
    let document = files::document(&arguments.identity)?;
    let proof = message(&arguments.proof)?;
    let (receipt, _) = files::typed::<Receipt>(&arguments.receipt)?;
    let (checkpoint, proof) = Checkpoint::from_inclusion_receipt(&proof, receipt.as_bytes())
        .and_then(|(checkpoint, proof)| {
            checkpoint
                .verify(&document, &Anchors::none())
                .map(|()| (checkpoint, proof))
        })
        .map_err(|reason| refused(reason, "the proof"))?;
    let answer = json!({ "verified": true, "index": proof.index, "size": checkpoint.size, "at": checkpoint.at });
    output.print(&answer, || {
        format!(
            "entry {} of {} at {}",
            proof.index,
            checkpoint.size,
            output::date(checkpoint.at)
        )
    })
}
