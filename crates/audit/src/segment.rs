//! Segments: the files of a log.
//!
//! A segment begins with a head that says whose log it is and where it continues, so that the rest
//! of a log verifies where older segments lie elsewhere. Its name is the node's and the index of
//! its first record. The newest is written to at its end only; one `write` for each batch, flushed
//! before the batch counts as written. Older ones are closed: they are compressed (zstd, RFC 8878),
//! and may move to an archive or be removed ([`crate::keeper`]).

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use signet_agent::Refusal;

use crate::line::{Frame, frame_bounds};
use signet_store::NodeId;

const SUFFIX: &str = ".audit";
const COMPRESSED: &str = ".audit.zst";
/// What is being made and has no name yet.
pub(crate) const UNFINISHED: &str = ".tmp";

/// How a segment's bytes lie on the disk.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Form {
    /// As they were written.
    Plain,
    /// zstd.
    Compressed,
}

/// A segment's file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Segment {
    /// Whose.
    pub node: NodeId,
    /// The index of its first record.
    pub first: u64,
    /// How its bytes lie there.
    pub form: Form,
    /// The file.
    pub path: PathBuf,
    /// Where else it may be, once it is no longer there: closed segments are compressed and
    /// archived while others read.
    others: Vec<PathBuf>,
}

impl Segment {
    /// Its bytes as they were written.
    ///
    /// # Errors
    /// What the disk says; `NotFound` where it was removed.
    pub fn open(&self) -> io::Result<Box<dyn Read + Send>> {
        let mut missing = None;
        for path in std::iter::once(&self.path).chain(&self.others) {
            match open(path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => missing = Some(error),
                opened => return opened,
            }
        }
        Err(missing.unwrap_or_else(|| io::ErrorKind::NotFound.into()))
    }

    /// Bytes on the disk.
    ///
    /// # Errors
    /// What the disk says.
    pub fn bytes(&self) -> io::Result<u64> {
        fs::metadata(&self.path).map(|file| file.len())
    }
}

/// A segment's bytes as they were written, whatever form the file has.
///
/// # Errors
/// What the disk says.
pub fn open(path: &Path) -> io::Result<Box<dyn Read + Send>> {
    let file = File::open(path)?;
    if path.extension().is_some_and(|extension| extension == "zst") {
        return Ok(Box::new(zstd::stream::read::Decoder::new(file)?));
    }
    Ok(Box::new(file))
}

/// Where a log lies.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Places {
    /// The directory that is written to.
    pub directory: PathBuf,
    /// Where closed segments are handed to.
    pub archive: Option<PathBuf>,
}

impl Places {
    /// Without an archive.
    pub fn new(directory: impl Into<PathBuf>) -> Places {
        Places {
            directory: directory.into(),
            archive: None,
        }
    }

    /// The segments of all nodes, each once, by node and in the order of their records.
    ///
    /// # Errors
    /// What the disk says. An archive that is not there has none: what is missing then shows.
    pub fn segments(&self) -> io::Result<Vec<Segment>> {
        let mut found = list(&self.directory)?;
        if let Some(archive) = &self.archive {
            match list(archive) {
                Ok(archived) => found.extend(archived),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
            for segment in &mut found {
                let name = file_name(&segment.node, segment.first, Form::Compressed);
                segment.others.push(archive.join(name));
            }
        }
        // The sort is stable: of two files of one segment, the directory's comes before the
        // archive's.
        found.sort_by(|a, b| (&a.node, a.first).cmp(&(&b.node, b.first)));
        found.dedup_by(|later, kept| later.node == kept.node && later.first == kept.first);
        Ok(found)
    }

    /// The segments of one node.
    ///
    /// # Errors
    /// As [`Places::segments`].
    pub fn of(&self, node: &NodeId) -> io::Result<Vec<Segment>> {
        let mut found = self.segments()?;
        found.retain(|segment| segment.node == *node);
        Ok(found)
    }
}

fn file_name(node: &NodeId, first: u64, form: Form) -> String {
    let suffix = match form {
        Form::Plain => SUFFIX,
        Form::Compressed => COMPRESSED,
    };
    format!("{node}.{first:020}{suffix}")
}

fn read_name(name: &str) -> Option<(NodeId, u64, Form)> {
    let (stem, form) = match (name.strip_suffix(COMPRESSED), name.strip_suffix(SUFFIX)) {
        (Some(stem), _) => (stem, Form::Compressed),
        (None, Some(stem)) => (stem, Form::Plain),
        (None, None) => return None,
    };
    let (node, first) = stem.rsplit_once('.')?;
    let digits = first.len() == 20 && first.bytes().all(|c| c.is_ascii_digit());
    let first = first.parse().ok().filter(|_| digits)?;
    Some((NodeId::parse(node).ok()?, first, form))
}

/// The segments of one directory, in the order of node, records and form.
///
/// # Errors
/// What the disk says.
pub fn list(directory: &Path) -> io::Result<Vec<Segment>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str());
        let Some((node, first, form)) = name.and_then(read_name) else {
            continue;
        };
        let others = match form {
            Form::Plain => vec![directory.join(file_name(&node, first, Form::Compressed))],
            Form::Compressed => Vec::new(),
        };
        found.push(Segment {
            node,
            first,
            form,
            path,
            others,
        });
    }
    found.sort_by(|a, b| (&a.node, a.first, a.form).cmp(&(&b.node, b.first, b.form)));
    Ok(found)
}

/// Where the segment that begins with this record is.
pub fn path(directory: &Path, node: &NodeId, first: u64, form: Form) -> PathBuf {
    directory.join(file_name(node, first, form))
}

/// One frame of a segment, or why no frame can be read.
#[derive(Debug)]
pub enum Found {
    /// A frame, and where it ends.
    Frame(Box<Frame>, usize),
    /// The bytes end within a frame.
    Torn,
    /// These bytes are none.
    Broken(Refusal),
}

/// The frames of a segment's bytes, in order. What is no frame ends them.
pub fn frames(data: &[u8]) -> impl Iterator<Item = Found> {
    let mut at = 0;
    let mut done = false;
    std::iter::from_fn(move || {
        if done || at == data.len() {
            return None;
        }
        let found = match frame_bounds(&data[at..]) {
            Ok(Some((start, end))) => match Frame::parse(&data[at + start..at + end]) {
                Ok(frame) => {
                    at += end;
                    Found::Frame(Box::new(frame), at)
                }
                Err(reason) => Found::Broken(reason),
            },
            Ok(None) => Found::Torn,
            Err(reason) => Found::Broken(reason),
        };
        done = !matches!(found, Found::Frame(..));
        Some(found)
    })
}

/// A file that only its owner may read (0600).
pub(crate) fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    options
}

/// Takes a file that may have been made with more rights back to [`private`]'s.
pub(crate) fn make_private(path: &Path) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mut rights = fs::metadata(path)?.permissions();
        if rights.mode() & 0o777 != 0o600 {
            rights.set_mode(0o600);
            fs::set_permissions(path, rights)?;
        }
    }
    Ok(())
}

/// Makes names that were given and taken in a directory durable.
pub(crate) fn sync_directory(directory: &Path) -> io::Result<()> {
    File::open(directory)?.sync_all()
}

/// The segment that is written to.
#[derive(Debug)]
pub(crate) struct Appending {
    file: File,
    /// Up to here everything was flushed.
    length: u64,
    /// There may be bytes of a batch that failed behind it.
    torn: bool,
    /// When its first record was made, Unix milliseconds.
    pub(crate) began_ms: u64,
}

impl Appending {
    /// Continues at the end of a segment, of which so many bytes are good; what follows is cut off.
    pub(crate) fn open(path: &Path, length: u64, began_ms: u64) -> io::Result<Appending> {
        let file = OpenOptions::new().append(true).open(path)?;
        file.set_len(length)?;
        file.sync_all()?;
        Ok(Appending {
            file,
            length,
            torn: false,
            began_ms,
        })
    }

    /// Makes a segment. One that exists is never written over: if there is anything in it, it is no
    /// part of the log, which continues here, and gets another name.
    pub(crate) fn create(path: &Path, began_ms: u64) -> io::Result<Appending> {
        if fs::metadata(path).is_ok_and(|there| there.len() > 0) {
            fs::rename(path, path.with_extension("cut"))?;
        }
        let file = private().append(true).create(true).open(path)?;
        // The name, too, has to survive.
        if let Some(directory) = path.parent() {
            sync_directory(directory)?;
        }
        Ok(Appending {
            file,
            length: 0,
            torn: false,
            began_ms,
        })
    }

    /// Nothing was written yet, not even a head.
    pub(crate) fn is_empty(&self) -> bool {
        self.length == 0
    }

    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    /// Appends and flushes: all of it, or, where the disk fails, none that stays.
    pub(crate) fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.torn {
            // The file is written at its end: what a failed batch left there has to go first.
            self.file.set_len(self.length)?;
        }
        self.torn = true;
        let written = self
            .file
            .write_all(bytes)
            .and_then(|()| self.file.sync_data());
        if let Err(error) = written {
            // A half-written batch would look like a broken one. If this fails too, the next batch
            // or the next start cuts it.
            self.torn = self.file.set_len(self.length).is_err();
            return Err(error);
        }
        self.torn = false;
        self.length += bytes.len() as u64;
        Ok(())
    }
}

/// Keeps bytes that are no part of the log beside it, for a later look at what they were.
pub(crate) fn set_aside(
    directory: &Path,
    node: &NodeId,
    first: u64,
    at: u64,
    bytes: &[u8],
) -> io::Result<PathBuf> {
    let path = directory.join(format!("{node}.{first:020}-{at}.cut"));
    let mut file = private()
        .write(true)
        .create(true)
        .truncate(true)
        .open(&path)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segments_name_says_its_node_its_first_record_and_its_form() {
        for form in [Form::Plain, Form::Compressed] {
            let name = file_name(&NodeId::default(), 42, form);
            assert_eq!(read_name(&name), Some((NodeId::default(), 42, form)));
        }
        for other in [
            "00000000000000000000.audit",
            "node-1.0.audit",
            "node-1.+0000000000000000000.audit",
            "NODE.00000000000000000000.audit",
            "node-1.00000000000000000000.audit.zst.tmp",
            "node-1.00000000000000000000-7.cut",
            "identity.json",
        ] {
            assert_eq!(read_name(other), None, "{other}");
        }
    }
}
