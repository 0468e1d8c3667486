//! `audit verify`.

use std::io::Read;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use serde_json::json;
use signet_agent::identity::VerifiedDocument;
use signet_agent::log::Checkpoint;
use signet_agent::{Refusal, base64url};
use signet_audit::read::{Frames, ReadError};
use signet_audit::verify::{Broken, Left, Signatures, Verified, Verifier};

use super::super::agent::files;
use super::source::{self, Source, Where};
use crate::cli::{Failure, Output, block_on, output};
use signet_admin_client::{Session, Target};

/// A batch that is being written is whole a moment later.
const TRIES: usize = 5;
const BETWEEN: Duration = Duration::from_millis(300);

/// `signet audit verify`
#[derive(Debug, Args)]
pub struct Verify {
    /// An exported file, a directory of segments, or a data directory; several, one for each node,
    /// are verified as one trail. Without it, the trail of --data-dir or --server.
    trail: Vec<PathBuf>,
    /// The public document of the one whose trail it has to be (identity.json beside the segments,
    /// kept from before).
    #[arg(long, value_name = "DOCUMENT")]
    identity: Option<PathBuf>,
    /// A checkpoint that was kept from before: shows that nothing was cut off or begun again since.
    #[arg(long, value_name = "FILE")]
    checkpoint: Option<PathBuf>,
    /// Write the last checkpoint to this file if the trail verifies, for the next time.
    #[arg(long, value_name = "FILE")]
    keep: Option<PathBuf>,
    #[command(flatten)]
    wanted: Where,
    #[command(flatten)]
    target: Target,
}

/// What went wrong: the trail, or the way to it.
enum Wrong {
    Broken(Broken),
    Failed(Failure),
}

fn no(broken: &Broken) -> Failure {
    Failure::no(broken.reason.name(), broken.to_string())
        .with(json!({ "verified": false, "line": broken.line }))
}

/// Reads one segment to its end.
fn feed(verifier: &mut Verifier, from: &mut dyn Read) -> Result<(), Wrong> {
    let mut frames = Frames::new(from);
    loop {
        let next = verifier.next_line();
        let broken = |reason, place: String| Wrong::Broken(Broken::at(next, reason, place));
        match frames.next_frame() {
            Ok(Some(frame)) => verifier.frame(&frame).map_err(Wrong::Broken)?,
            Ok(None) => return Ok(()),
            Err(ReadError::Torn) => {
                let place = format!(
                    "what follows line {} ends within a line",
                    next.saturating_sub(1)
                );
                return Err(broken(Refusal::LogUnsigned, place));
            }
            Err(ReadError::Broken(Refusal::ContentMismatch)) => {
                return Err(broken(Refusal::ContentMismatch, format!("line {next}")));
            }
            Err(ReadError::Broken(reason)) => {
                return Err(broken(
                    reason,
                    format!("line {next}, or the checkpoint before it, was changed"),
                ));
            }
            Err(ReadError::Io(e)) => {
                return Err(Wrong::Failed(Failure::unusable(format!(
                    "cannot read the trail: {e}"
                ))));
            }
        }
    }
}

async fn once(
    source: &Source<'_>,
    expected: Option<&VerifiedDocument>,
    known: Option<&Checkpoint>,
) -> Result<Verified, Wrong> {
    let mut verifier = Verifier::new(expected.cloned(), known.cloned(), Signatures::All);
    let mut broken = None;
    let read = source.each_segment(|bytes, _| match feed(&mut verifier, bytes) {
        Ok(()) => Ok(()),
        Err(Wrong::Failed(failure)) => Err(failure),
        Err(Wrong::Broken(found)) => {
            let failure = no(&found);
            broken = Some(found);
            Err(failure)
        }
    });
    let read = read.await;
    match (broken, read) {
        (Some(broken), _) => Err(Wrong::Broken(broken)),
        (None, Err(failure)) => Err(Wrong::Failed(failure)),
        (None, Ok(())) => verifier.finish().map_err(Wrong::Broken),
    }
}

/// Verifies; where the trail is being written, its end may be half a batch, and is read again.
async fn verified(
    source: &Source<'_>,
    expected: Option<&VerifiedDocument>,
    known: Option<&Checkpoint>,
) -> Result<Verified, Failure> {
    for _ in 1..TRIES {
        match once(source, expected, known).await {
            Err(Wrong::Broken(broken))
                if broken.reason == Refusal::LogUnsigned && source.grows() =>
            {
                tokio::time::sleep(BETWEEN).await;
            }
            done => return done.map_err(failure),
        }
    }
    once(source, expected, known).await.map_err(failure)
}

fn failure(wrong: Wrong) -> Failure {
    match wrong {
        Wrong::Broken(broken) => no(&broken),
        Wrong::Failed(failure) => failure,
    }
}

/// `audit verify`
pub fn verify(arguments: &Verify, output: &Output) -> Result<(), Failure> {
    let expected = arguments
        .identity
        .as_deref()
        .map(files::document)
        .transpose()?;
    let known = match &arguments.checkpoint {
        None => None,
        Some(path) => {
            let text = files::read(path)?;
            let text = String::from_utf8_lossy(&text);
            let checkpoint = base64url::decode(text.trim()).and_then(|b| Checkpoint::parse(&b));
            Some(checkpoint.map_err(|reason| files::refused(reason, &path.display().to_string()))?)
        }
    };
    let (expected, known) = (expected.as_ref(), known.as_ref());
    if arguments.trail.len() > 1 {
        return several(arguments, output);
    }
    let named = arguments.trail.first().map(PathBuf::as_path);
    let verified = match source::local(&arguments.target, named, &arguments.wanted) {
        Some(place) => block_on(verified(&Source::Files(place), expected, known))?,
        None => block_on(Session::with(&arguments.target, async |session| {
            verified(&Source::Server(session), expected, known).await
        }))?,
    }?;
    answer(arguments, &verified, output)
}

/// The logs of several nodes of one installation: each is verified, and none may be there twice or
/// under another one's name.
fn several(arguments: &Verify, output: &Output) -> Result<(), Failure> {
    if arguments.identity.is_some() || arguments.checkpoint.is_some() || arguments.keep.is_some() {
        return Err(Failure::unusable(
            "--identity, --checkpoint and --keep are one node's: verify the logs one by one",
        ));
    }
    let mut nodes: Vec<Verified> = Vec::with_capacity(arguments.trail.len());
    for path in &arguments.trail {
        let place = source::local(&arguments.target, Some(path), &arguments.wanted);
        let place = place.ok_or_else(|| Failure::unusable("there is no such trail"))?;
        let verified = block_on(verified(&Source::Files(place), None, None))??;
        let same = nodes.iter().find(|known| {
            known.node == verified.node || known.document.id() == verified.document.id()
        });
        if let Some(known) = same {
            let (path, node) = (path.display(), &known.node);
            return Err(Failure::no(
                "same_node",
                format!("{path} is a log of the node {node}, and so is another one that was named"),
            )
            .with(json!({ "verified": false })));
        }
        nodes.push(verified);
    }
    nodes.sort_by(|a, b| a.node.cmp(&b.node));
    let lines: u64 = nodes.iter().map(|node| node.lines - node.first).sum();
    output::note("the trails are consistent with the ids that are printed, no more");
    let answer = json!({
        "verified": true,
        "lines": lines,
        "gaps": nodes.iter().map(|node| node.gaps).sum::<u64>(),
        "nodes": nodes
            .iter()
            .map(|node| json!({
                "node": node.node.as_str(),
                "id": node.document.id().to_string(),
                "first": node.first,
                "lines": node.lines,
                "checkpoints": node.checkpoints,
                "gaps": node.gaps,
                "last_signed_at": node.last.as_ref().map(|last| last.at),
            }))
            .collect::<Vec<_>>(),
        "not_checked": ["identity", "truncation"],
    });
    output.print(&answer, || {
        let names: Vec<&str> = nodes.iter().map(|node| node.node.as_str()).collect();
        format!("verified: {lines} lines of {}", names.join(", "))
    })
}

fn answer(arguments: &Verify, verified: &Verified, output: &Output) -> Result<(), Failure> {
    let last = verified.last.as_ref();
    let text = last.map(|last| base64url::encode(&last.to_bytes()));
    if let (Some(path), Some(text)) = (&arguments.keep, &text) {
        files::write_text(path, &format!("{text}\n"))?;
    }
    let mut not_checked = Vec::new();
    if arguments.identity.is_none() {
        not_checked.push("identity");
        output::note(
            "the trail is consistent with the id that is printed, no more: --identity names whose it has to be",
        );
    }
    if !verified.known_checked {
        not_checked.push("truncation");
        output::note(
            "whether the end was cut off was not checked: --keep writes a checkpoint, --checkpoint names one that was kept",
        );
    }
    if verified.first > 0 {
        let (name, how) = match verified.left {
            Some(Left::Removed) => ("removed", "were removed by rule, and a record says so"),
            Some(Left::Archived) | None => (
                "archived",
                "were handed to the archive, and a record says so: --archive names it",
            ),
        };
        not_checked.push(name);
        output::note(&format!("lines 0 to {} {how}", verified.first - 1));
    }
    let id = verified.document.id().to_string();
    let answer = json!({
        "verified": true,
        "id": id,
        "node": verified.node.as_str(),
        "first": verified.first,
        "lines": verified.lines,
        "checkpoints": verified.checkpoints,
        "gaps": verified.gaps,
        "last_signed_at": last.map(|last| last.at),
        "root": last.map(|last| last.root.to_string()),
        "checkpoint": text,
        "not_checked": not_checked,
    });
    output.print(&answer, || {
        let gaps = match verified.gaps {
            0 => String::new(),
            gaps => format!(", {gaps} of them say that others are missing"),
        };
        format!(
            "verified: {} lines of {id}{gaps}",
            verified.lines - verified.first
        )
    })
}
