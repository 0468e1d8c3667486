//! Logs of receipts: an append-only Merkle tree (RFC 9162 section 2.1), signed in checkpoints.
//!
//! A leaf is the payload of a receipt; one signature over the root covers every entry before it, so
//! a logged receipt costs a few hashes. A [`Checkpoint`] is a COSE message over the root whose
//! protected header says the log, its size and time; with the root left out and a proof in its
//! unprotected header it is a COSE receipt (RFC 9942), whose proof is checked against the same
//! signature.
//!
//! What was rewritten, moved, put in or taken out gives another root; what was cut off shows
//! against any later checkpoint that somebody else has kept: a witness, or the verifier himself.

mod checkpoint;
mod frontier;
mod proof;
mod tree;

pub use checkpoint::Checkpoint;
pub use frontier::Frontier;
pub use proof::{ConsistencyProof, InclusionProof};
pub use tree::Tree;

use crate::anchor::Anchors;
use crate::error::{Refusal, Result, ensure};
use crate::identity::VerifiedDocument;

/// Checks a whole log: every checkpoint's signature, order and root against the entries, up to the
/// last entry.
///
/// The last checkpoint is by the log's current key; those before it may be by a key that was
/// retired since. `known` is a checkpoint from elsewhere (kept from before, or co-signed by a
/// witness): the log must contain what it says.
///
/// # Errors
/// [`Refusal::LogTruncated`], [`Refusal::RootMismatch`], [`Refusal::LogUnsigned`],
/// [`Refusal::ChainBroken`] for checkpoints out of order, and what signatures refuse.
pub fn verify<'a>(
    entries: impl Iterator<Item = &'a [u8]>,
    checkpoints: &[Checkpoint],
    known: Option<&Checkpoint>,
    document: &VerifiedDocument,
    anchors: &Anchors,
) -> Result<Tree> {
    let mut tree = Tree::default();
    entries.for_each(|entry| tree.append(entry));
    for pair in checkpoints.windows(2) {
        let ascends = pair[0].size <= pair[1].size
            && pair[0].at <= pair[1].at
            && pair[0].by.agent == pair[1].by.agent;
        ensure(ascends, Refusal::ChainBroken)?;
    }
    for (number, checkpoint) in (1..).zip(checkpoints.iter().chain(known)) {
        // The last one vouches for those before it, which are of the same entries.
        if number == checkpoints.len() {
            checkpoint.verify(document, anchors)?;
        } else {
            checkpoint.verify_earlier(document, anchors)?;
        }
        ensure(checkpoint.size <= tree.len(), Refusal::LogTruncated)?;
        ensure(
            tree.root_at(checkpoint.size) == checkpoint.root,
            Refusal::RootMismatch,
        )?;
    }
    let signed = checkpoints
        .iter()
        .chain(known)
        .map(|c| c.size)
        .max()
        .unwrap_or(0);
    ensure(signed == tree.len(), Refusal::LogUnsigned)?;
    Ok(tree)
}

#[cfg(test)]
mod tests;
