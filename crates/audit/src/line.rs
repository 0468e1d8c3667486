//! Frames: what a segment's bytes are made of.
//!
//! A segment is a CBOR sequence (RFC 8742) of byte strings, one for each frame. In a frame is one
//! of
//!
//! - `[0, 1, document, first, previous / null, [peaks]]`: the head of a segment, and the state of
//!   the log before its first line;
//! - `[1, receipt, content]`: a line, the receipt's payload and the content that it names by hash;
//! - `[2, checkpoint]`: a signed root (COSE), over all lines before it.
//!
//! The length in front of each frame lets a reader find the next one in what it has not understood,
//! and a torn end shows.

use signet_agent::identity::VerifiedDocument;
use signet_agent::log::{Checkpoint, Frontier};
use signet_agent::object::{KeyRef, Object};
use signet_agent::receipt::Receipt;
use signet_agent::{Hash, Refusal};
use signet_cbor::{Decoder, Encoder};

use crate::event::{Content, Entry, MAX_CONTENT};
use crate::identity;
use signet_store::NodeId;

/// Longest frame of the audit trail that is read, in bytes: a head with a document of many
/// rotations fits
pub const MAX_FRAME: usize = 256 * 1024;

const HEAD: u64 = 0;
const LINE: u64 = 1;
const CHECKPOINT: u64 = 2;
const VERSION: u64 = 1;

/// The head of a segment.
#[derive(Clone, Debug)]
pub struct Head {
    /// Which node's log it is: its document, which nobody else can sign, names it.
    pub node: NodeId,
    /// Whose log it is.
    pub document: VerifiedDocument,
    /// The receipt before its first line; none at the log's beginning.
    pub previous: Option<Hash>,
    /// The tree before its first line.
    pub frontier: Frontier,
}

/// A line, read and not yet compared with what is before it.
#[derive(Clone, Debug)]
pub struct Line {
    /// The receipt.
    pub receipt: Receipt,
    /// SHA-256 of its payload: its name.
    pub id: Hash,
    /// The payload: the leaf of the tree.
    pub payload: Vec<u8>,
    /// What the receipt names by hash.
    pub content: Content,
    /// The same as it was written.
    pub content_bytes: Vec<u8>,
}

/// One frame.
#[derive(Clone, Debug)]
pub enum Frame {
    /// Of a segment.
    Head(Box<Head>),
    /// Of the log.
    Line(Box<Line>),
    /// Over the lines before it.
    Checkpoint(Box<Checkpoint>),
}

fn framed(body: Encoder, out: &mut Vec<u8>) {
    let body = body.finish();
    let mut frame = Encoder::with_capacity(body.len() + 5);
    frame.bytes(&body);
    out.extend_from_slice(&frame.finish());
}

impl Head {
    /// Appends the frame.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        let mut body = Encoder::new();
        body.array(6).uint(HEAD).uint(VERSION);
        body.bytes(self.document.signed().as_bytes());
        body.uint(self.frontier.len());
        match &self.previous {
            Some(previous) => body.bytes(&previous.0),
            None => body.null(),
        };
        body.array(self.frontier.peaks().len());
        for peak in self.frontier.peaks() {
            body.bytes(&peak.0);
        }
        framed(body, out);
    }
}

/// The receipt of an entry at its place in the log.
pub(crate) fn receipt(
    entry: &Entry,
    by: KeyRef,
    index: u64,
    previous: Option<Hash>,
    not_before_ms: u64,
) -> Receipt {
    let mut receipt = Receipt::new(by, &entry.action, entry.at_ms.max(not_before_ms));
    receipt.content = Some(Hash(entry.hash));
    receipt.decision = entry.decision;
    receipt.outcome = entry.outcome;
    receipt.index = index;
    receipt.previous = previous;
    receipt
}

/// Appends a line's frame.
pub(crate) fn write_line(payload: &[u8], content: &[u8], out: &mut Vec<u8>) {
    let mut body = Encoder::with_capacity(payload.len() + content.len() + 8);
    body.array(3).uint(LINE).bytes(payload).bytes(content);
    framed(body, out);
}

/// Appends a checkpoint's frame.
pub(crate) fn write_checkpoint(checkpoint: &Checkpoint, out: &mut Vec<u8>) {
    let mut body = Encoder::new();
    body.array(2).uint(CHECKPOINT).bytes(&checkpoint.to_bytes());
    framed(body, out);
}

/// Where the first frame of these bytes ends, and where its body begins; `None` where the bytes end
/// before it does.
///
/// # Errors
/// `malformed` for what is no frame, `not_canonical` for a length in another than its shortest
/// form, `too_large`.
pub fn frame_bounds(data: &[u8]) -> Result<Option<(usize, usize)>, Refusal> {
    let Some(first) = data.first() else {
        return Ok(None);
    };
    let width = match first {
        0x40..=0x57 => return Ok(bounds(data, 1, usize::from(first & 0x1f))),
        0x58 => 1,
        0x59 => 2,
        0x5a => 4,
        _ => return Err(Refusal::Malformed),
    };
    let Some(length) = data.get(1..=width) else {
        return Ok(None);
    };
    let length = length
        .iter()
        .fold(0_usize, |n, byte| n << 8 | usize::from(*byte));
    let least = [0, 24, 0x100, 0, 0x1_0000][width];
    if length < least {
        return Err(Refusal::NotCanonical);
    }
    if length > MAX_FRAME {
        return Err(Refusal::TooLarge);
    }
    Ok(bounds(data, 1 + width, length))
}

fn bounds(data: &[u8], start: usize, length: usize) -> Option<(usize, usize)> {
    (data.len() >= start + length).then_some((start, start + length))
}

impl Frame {
    /// Reads a frame's body. Nothing has been verified but that each part has its one encoding, and
    /// that a line's content is the one that its receipt names.
    ///
    /// # Errors
    /// As the decoder; `content_mismatch`; what documents refuse.
    pub fn parse(body: &[u8]) -> Result<Frame, Refusal> {
        Decoder::whole(body, |d| {
            let len = d.array()?;
            d.nested(|d| match (d.uint()?, len) {
                (HEAD, 6) => {
                    if d.uint()? != VERSION {
                        return Err(Refusal::WrongType);
                    }
                    let document = VerifiedDocument::parse(d.bytes()?.to_vec())?;
                    let node = identity::node_of(&document).ok_or(Refusal::InvalidValue)?;
                    let first = d.uint()?;
                    let mut ahead = d.clone();
                    let previous = if ahead.null().is_ok() {
                        *d = ahead;
                        None
                    } else {
                        Some(Hash(d.fixed()?))
                    };
                    let peaks = d.list(64, |d| d.fixed().map(Hash))?;
                    let frontier = Frontier::from_parts(first, peaks)?;
                    if previous.is_some() != (first > 0) {
                        return Err(Refusal::InvalidValue);
                    }
                    Ok(Frame::Head(Box::new(Head {
                        node,
                        document,
                        previous,
                        frontier,
                    })))
                }
                (LINE, 3) => {
                    let payload = d.bytes()?.to_vec();
                    let content_bytes = d.bytes()?.to_vec();
                    Line::parse(payload, content_bytes).map(|line| Frame::Line(Box::new(line)))
                }
                (CHECKPOINT, 2) => {
                    let bytes = d.bytes()?;
                    let checkpoint = Checkpoint::parse(bytes)?;
                    // One encoding: what is not what it would be written as was changed.
                    if checkpoint.to_bytes() != bytes {
                        return Err(Refusal::NotCanonical);
                    }
                    Ok(Frame::Checkpoint(Box::new(checkpoint)))
                }
                _ => Err(Refusal::Malformed),
            })
        })
    }
}

impl Line {
    fn parse(payload: Vec<u8>, content_bytes: Vec<u8>) -> Result<Line, Refusal> {
        if content_bytes.len() > MAX_CONTENT {
            return Err(Refusal::TooLarge);
        }
        let receipt = Receipt::from_payload(&payload)?;
        receipt.check_content(&content_bytes)?;
        Ok(Line {
            id: Hash::of(&payload),
            content: Content::parse(&content_bytes)?,
            receipt,
            payload,
            content_bytes,
        })
    }

    /// For people and programs.
    pub fn to_json(&self) -> serde_json::Value {
        crate::event::to_json(&self.receipt, &self.id.to_string(), &self.content)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_is_found_by_its_length_in_shortest_form() {
        assert_eq!(frame_bounds(b""), Ok(None));
        assert_eq!(frame_bounds(&[0x42, 1]), Ok(None));
        assert_eq!(frame_bounds(&[0x42, 1, 2, 3]), Ok(Some((1, 3))));
        assert_eq!(frame_bounds(&[0x58]), Ok(None));
        assert_eq!(frame_bounds(&[0x58, 2, 1, 2]), Err(Refusal::NotCanonical));
        assert_eq!(frame_bounds(&[0x59, 0, 255]), Err(Refusal::NotCanonical));
        assert_eq!(
            frame_bounds(&[0x5a, 0, 0, 255, 255]),
            Err(Refusal::NotCanonical)
        );
        assert_eq!(frame_bounds(&[0x5a, 255, 0, 0, 0]), Err(Refusal::TooLarge));
        for other in [0x00, 0x5b, 0x5f, 0x61, 0x82, 0xff] {
            assert_eq!(frame_bounds(&[other, 0]), Err(Refusal::Malformed));
        }
        let long = [&[0x58, 24][..], &[0; 24]].concat();
        assert_eq!(frame_bounds(&long), Ok(Some((2, 26))));
    }
}
