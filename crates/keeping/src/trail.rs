//! The audit trail in a backup: segments up to a verified end.

use std::fs;
use std::io::{self, Read};
use std::path::Path;

use signet_audit::NodeId;
use signet_audit::line::Frame;
use signet_audit::read::{Frames, ReadError};
use signet_audit::segment::{self, Form, Found, Segment};
use signet_audit::verify::{Signatures, Verified, Verifier};

/// The bytes of a segment that a checkpoint covers: what is behind the last one belongs to a batch
/// that is being written.
pub(crate) fn signed(data: &[u8]) -> usize {
    let mut end = 0;
    for found in segment::frames(data) {
        match found {
            Found::Frame(frame, at) => match *frame {
                Frame::Checkpoint(_) => end = at,
                Frame::Head(_) | Frame::Line(_) => {}
            },
            Found::Torn => break,
            // That is no batch that is being written: it belongs into the backup, whose
            // verification says what is wrong.
            Found::Broken(_) => return data.len(),
        }
    }
    end
}

/// What of a segment that lies there as it was written belongs into a backup. None: it was
/// compressed or has left since it was listed.
///
/// # Errors
/// What the system says.
pub(crate) fn read_plain(segment: &Segment) -> io::Result<Option<Vec<u8>>> {
    let mut data = match fs::read(&segment.path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        read => read?,
    };
    data.truncate(signed(&data));
    Ok(Some(data))
}

/// A node's trail in a directory.
#[derive(Debug)]
pub(crate) struct OfNode {
    /// Whose.
    pub(crate) node: NodeId,
    /// What was verified, or what is wrong and where.
    pub(crate) verified: Result<Verified, String>,
}

/// Verifies every trail of a directory, each node's for itself. None of a directory that has none.
///
/// # Errors
/// What the system says.
pub(crate) fn verify(directory: &Path) -> io::Result<Vec<OfNode>> {
    let mut segments = segment::list(directory)?;
    // Of two files of one segment the plain one comes first, and counts.
    segments.dedup_by(|later, kept| later.node == kept.node && later.first == kept.first);
    let of_nodes = segments.chunk_by(|one, next| one.node == next.node);
    of_nodes
        .map(|segments| {
            Ok(OfNode {
                node: segments[0].node.clone(),
                verified: verify_one(segments)?,
            })
        })
        .collect()
}

fn verify_one(segments: &[Segment]) -> io::Result<Result<Verified, String>> {
    let mut verifier = Verifier::new(None, None, Signatures::All);
    for segment in segments {
        let name = segment.path.file_name().unwrap_or_default().display();
        if let Err(why) = feed(&mut verifier, &mut segment.open()?) {
            return Ok(Err(format!("{name}: {why}")));
        }
    }
    Ok(verifier.finish().map_err(|why| why.to_string()))
}

fn feed(verifier: &mut Verifier, from: &mut dyn Read) -> Result<(), String> {
    let mut frames = Frames::new(from);
    loop {
        let line = verifier.next_line();
        match frames.next_frame() {
            Ok(Some(frame)) => verifier.frame(&frame).map_err(|why| why.to_string())?,
            Ok(None) => return Ok(()),
            Err(ReadError::Torn) => return Err(format!("what is behind line {line} is cut off")),
            Err(ReadError::Broken(why)) => return Err(format!("line {line}: {why}")),
            Err(ReadError::Io(error)) => return Err(error.to_string()),
        }
    }
}

/// Whether a segment's file may change while it is read.
pub(crate) fn is_plain(segment: &Segment) -> bool {
    segment.form == Form::Plain
}
