//! Reading a log: one frame after the other from any reader, and lines by their index for those who
//! look at it.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use signet_agent::Refusal;

use crate::line::{Frame, Line, frame_bounds};
use crate::segment::{Places, Segment};
use signet_store::NodeId;

/// The audit identity's public document, beside the segments that are written.
pub const DOCUMENT_FILE: &str = "identity.json";

/// Bytes that are read at once.
const CHUNK: usize = 256 * 1024;

/// Why there is no further frame.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The disk, or wherever the bytes come from.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The bytes are no frame.
    #[error("{0}")]
    Broken(Refusal),
    /// The bytes end within a frame.
    #[error("the bytes end within a line")]
    Torn,
}

/// Frames of a segment, or of several one after the other, without more of it in memory than one
/// needs.
#[derive(Debug)]
pub struct Frames<R> {
    from: R,
    buffer: Vec<u8>,
    at: usize,
    ended: bool,
}

impl<R: Read> Frames<R> {
    /// From the beginning of a segment.
    pub fn new(from: R) -> Frames<R> {
        Frames {
            from,
            buffer: Vec::new(),
            at: 0,
            ended: false,
        }
    }

    /// The body of the next frame; `None` at the end.
    fn body(&mut self) -> Result<Option<(usize, usize)>, ReadError> {
        loop {
            let rest = &self.buffer[self.at..];
            match frame_bounds(rest).map_err(ReadError::Broken)? {
                Some((start, end)) => {
                    let bounds = (self.at + start, self.at + end);
                    self.at += end;
                    return Ok(Some(bounds));
                }
                None if self.ended && rest.is_empty() => return Ok(None),
                None if self.ended => return Err(ReadError::Torn),
                None => self.fill()?,
            }
        }
    }

    fn fill(&mut self) -> io::Result<()> {
        self.buffer.drain(..self.at);
        self.at = 0;
        let had = self.buffer.len();
        self.buffer.resize(had + CHUNK, 0);
        let read = loop {
            match self.from.read(&mut self.buffer[had..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => break other?,
            }
        };
        self.buffer.truncate(had + read);
        self.ended = read == 0;
        Ok(())
    }

    /// The next frame; `None` at the end.
    ///
    /// # Errors
    /// See [`ReadError`].
    pub fn next_frame(&mut self) -> Result<Option<Frame>, ReadError> {
        let Some((start, end)) = self.body()? else {
            return Ok(None);
        };
        Frame::parse(&self.buffer[start..end])
            .map(Some)
            .map_err(ReadError::Broken)
    }

    /// The body of the next frame if it is a line's, unread; `None` inside for other frames.
    fn next_line_body(&mut self) -> Result<Option<Option<&[u8]>>, ReadError> {
        let Some((start, end)) = self.body()? else {
            return Ok(None);
        };
        let body = &self.buffer[start..end];
        // A line's frame is an array of three whose first item is 1.
        Ok(Some(body.starts_with(&[0x83, 0x01]).then_some(body)))
    }
}

fn parse_line(body: &[u8], node: &NodeId) -> Result<Line, ReadError> {
    match Frame::parse(body).map_err(ReadError::Broken)? {
        Frame::Line(mut line) => {
            // Heads say it once for all of their records; a reader of one record wants to
            // know.
            let members = &mut line.content.members;
            members.insert("node".to_owned(), node.as_str().into());
            Ok(*line)
        }
        Frame::Head(_) | Frame::Checkpoint(_) => Err(ReadError::Broken(Refusal::WrongType)),
    }
}

/// Records of these segments, which are one node's, in order: at most `limit` from the record
/// `from` on, or, without it, the last ones. A batch that is being written ends them.
///
/// # Errors
/// See [`ReadError`]; records are shown, not verified.
pub fn lines(
    segments: &[Segment],
    from: Option<u64>,
    limit: usize,
) -> Result<Vec<Line>, ReadError> {
    let mut found = Vec::new();
    match from {
        Some(from) => {
            // The last segment that does not begin behind it.
            let begin = segments.partition_point(|s| s.first <= from).max(1) - 1;
            for segment in segments.iter().skip(begin) {
                walk(segment, |index, body| {
                    if index < from {
                        return Ok(true);
                    }
                    found.push(parse_line(body, &segment.node)?);
                    Ok(found.len() < limit)
                })?;
                if found.len() >= limit {
                    break;
                }
            }
        }
        None => {
            let mut wanted = limit;
            for segment in segments.iter().rev() {
                let mut count = 0_u64;
                walk(segment, |_, _| {
                    count += 1;
                    Ok(true)
                })?;
                let skip = segment.first + count.saturating_sub(wanted as u64);
                let mut these = Vec::new();
                walk(segment, |index, body| {
                    if index >= skip && these.len() < wanted {
                        these.push(parse_line(body, &segment.node)?);
                    }
                    Ok(true)
                })?;
                wanted -= these.len();
                these.append(&mut found);
                found = these;
                if wanted == 0 {
                    break;
                }
            }
        }
    }
    Ok(found)
}

/// Hands each record's index and body to `visit`, until it says no. A segment that was removed
/// since it was listed has none.
fn walk(
    segment: &Segment,
    mut visit: impl FnMut(u64, &[u8]) -> Result<bool, ReadError>,
) -> Result<(), ReadError> {
    let bytes = match segment.open() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        opened => opened?,
    };
    let mut frames = Frames::new(bytes);
    let mut index = segment.first;
    loop {
        match frames.next_line_body() {
            Ok(None) | Err(ReadError::Torn) => return Ok(()),
            Ok(Some(None)) => {}
            Ok(Some(Some(body))) => {
                if !visit(index, body)? {
                    return Ok(());
                }
                index += 1;
            }
            Err(error) => return Err(error),
        }
    }
}

/// A trail that is on this machine.
#[derive(Debug)]
pub enum Local {
    /// The segments of one node.
    Segments(Vec<Segment>),
    /// One exported file.
    Exported(PathBuf),
}

/// Finds a trail: the segments of a directory, or of a data directory's `audit`, with those of an
/// archive; or one exported file. `node` has to be named where several nodes' segments are there.
///
/// # Errors
/// What the disk says; where there is nothing, or more than one.
pub fn local(path: &Path, archive: Option<&Path>, node: Option<&NodeId>) -> io::Result<Local> {
    if path.is_file() {
        return Ok(Local::Exported(path.to_owned()));
    }
    let mut places = Places::new(path);
    let inner = path.join("audit");
    if crate::segment::list(path)?.is_empty() && inner.is_dir() {
        places.directory = inner;
    }
    places.archive = archive.map(Path::to_owned);
    let mut segments = places.segments()?;
    if let Some(node) = node {
        segments.retain(|segment| segment.node == *node);
    }
    let Some(first) = segments.first() else {
        let text = format!("there is no audit trail in {}", path.display());
        return Err(io::Error::new(io::ErrorKind::NotFound, text));
    };
    if let Some(other) = segments.iter().find(|s| s.node != first.node) {
        let text = format!(
            "{} holds the trails of several nodes, {} and {} among them: name one",
            places.directory.display(),
            first.node,
            other.node
        );
        return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
    }
    Ok(Local::Segments(segments))
}
