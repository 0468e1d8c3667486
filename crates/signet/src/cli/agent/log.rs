//! `log append|verify|checkpoint|prove|check`: receipts, and other signed objects, in a file that
//! nobody can rewrite.
//!
//! The file has one JSON object a line: `{"TYPE":"..."}`, as in `{"receipt":"..."}` or
//! `{"grant":"..."}`, and `{"checkpoint":"..."}`, each the base64url of a COSE message. A leaf of
//! the tree is the whole message, so not a byte of the file can change unseen.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use serde_json::json;
use signet_agent::anchor::Anchors;
use signet_agent::cose::Message;
use signet_agent::identity::VerifiedDocument;
use signet_agent::log::{self, Checkpoint, InclusionProof, Tree};
use signet_agent::object::Type;
use signet_agent::{Hash, Refusal, base64url};

use super::files::{self, refused};
use super::{Failure, Identity, Output, now};
use signet_terminal::output;

/// `signet agent log ...`
#[derive(Debug, Subcommand)]
pub enum LogCommand {
    /// Add receipts, grants or other signed objects, and sign the log as it is then.
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
    /// Print a COSE receipt (RFC 9942) that shows that an object is in the log.
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
    /// The receipts, or other objects, in order.
    #[arg(required = true)]
    objects: Vec<PathBuf>,
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
    /// The receipt, or another object.
    object: PathBuf,
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
    /// The receipt, or another object.
    object: PathBuf,
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

/// The label of a checkpoint's line; an object's is the name of its type.
const CHECKPOINT: &str = "checkpoint";

/// What a log file holds.
#[derive(Default)]
struct Entries {
    objects: Vec<Vec<u8>>,
    checkpoints: Vec<Checkpoint>,
}

fn line(kind: &str, message: &[u8]) -> String {
    format!("{{\"{kind}\":\"{}\"}}\n", base64url::encode(message))
}

impl Entries {
    fn parse(text: &str) -> Result<Entries, Refusal> {
        let mut entries = Entries::default();
        for line in text.split_inclusive('\n') {
            let body = line
                .strip_prefix("{\"")
                .and_then(|line| line.strip_suffix("\"}\n"));
            let (kind, text) = body
                .and_then(|body| body.split_once("\":\""))
                .ok_or(Refusal::Malformed)?;
            let message = base64url::decode(text)?;
            if kind == CHECKPOINT {
                let checkpoint = Checkpoint::parse(&message)?;
                // A checkpoint stands where it was signed.
                if checkpoint.size != entries.objects.len() as u64 {
                    return Err(Refusal::ChainBroken);
                }
                entries.checkpoints.push(checkpoint);
            } else {
                // The label is not signed: it has to be what the object says of itself.
                let found = Type::of_payload(Message::parse(&message)?.payload())?;
                if Type::from_name(kind) != Some(found) {
                    return Err(Refusal::WrongType);
                }
                entries.objects.push(message);
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
        let entries = self.objects.iter().map(Vec::as_slice);
        log::verify(
            entries,
            &self.checkpoints,
            known,
            document,
            &Anchors::none(),
        )
    }
}

/// Adds what a log had taken in, with the time of the first checkpoint that covers it.
pub fn anchor(
    path: &Path,
    keepers: &[VerifiedDocument],
    anchors: &mut Anchors,
) -> Result<(), Failure> {
    let failed = |reason| refused(reason, &path.display().to_string());
    let entries = Entries::read(path)?;
    let by = entries.checkpoints.first().map(|first| first.by.agent);
    // Of several documents of one keeper, the newest knows best which of its keys is not to be
    // believed.
    let keeper = keepers
        .iter()
        .filter(|document| Some(document.id()) == by)
        .max_by_key(|document| document.by().key)
        .ok_or_else(|| failed(Refusal::WrongSigner))?;
    entries.verify(None, keeper).map_err(failed)?;
    for (place, object) in (0_u64..).zip(&entries.objects) {
        let covering = entries.checkpoints.iter().find(|c| c.size > place);
        let payload = Message::parse(object)
            .map_err(|error| failed(error.into()))?
            .payload();
        if let Some(checkpoint) = covering {
            anchors.add(Hash::of(payload), checkpoint.at);
        }
    }
    Ok(())
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
    for path in &arguments.objects {
        let file = files::object(path)?;
        files::check(&file).map_err(|reason| refused(reason, &path.display().to_string()))?;
        lines.push_str(&line(file.kind.name(), &file.message));
        added.push(file.message);
    }
    let (document, keys) = files::unlock(&arguments.identity.identity)?;
    // Nothing is added to a log that was tampered with.
    let mut tree = entries
        .verify(None, &document)
        .map_err(|reason| refused(reason, &path.display().to_string()))?;
    added.iter().for_each(|object| tree.append(object));
    let after = entries.checkpoints.last().map_or(0, |last| last.at);
    let checkpoint = Checkpoint::sign(&tree, &document.signer(&keys), now().max(after))
        .map_err(|reason| Failure::unusable(reason.to_string()))?;
    lines.push_str(&line(CHECKPOINT, &checkpoint.to_bytes()));
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
        format!("{} entries, root {}", tree.len(), tree.root())
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
    if entries.checkpoints.is_empty() {
        // An empty file is what is left of a log of which everything was cut off.
        return Err(failed(Refusal::LogUnsigned));
    }
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
            "verified: {} entries, {} checkpoints",
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
    let object = files::object(&arguments.object)?.message;
    let missing = || Failure::no("not_in_log", "the object is not in the log");
    let index = entries
        .objects
        .iter()
        .position(|entry| *entry == object)
        .ok_or_else(missing)?;
    let last = entries
        .checkpoints
        .last()
        .filter(|last| last.size > index as u64)
        .ok_or_else(missing)?;
    let mut tree = Tree::default();
    entries.objects.iter().for_each(|entry| tree.append(entry));
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
    let object = files::object(&arguments.object)?.message;
    let (checkpoint, proof) = Checkpoint::from_inclusion_receipt(&proof, &object)
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
