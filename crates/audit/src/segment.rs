//! Segments: the files that the log rests in.
//!
//! A segment begins with a head that says whose log it is and where it goes on, so that older ones can be archived and the
//! rest still be verified. It is named by the index of its first line, and written to at its end only; one `write` for each batch,
//! flushed before the batch counts as written.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use signet_agent::Refusal;

use crate::line::{Frame, frame_bounds};

const SUFFIX: &str = ".audit";

/// The segments of a directory, in the order of their lines: (index of the first line, file).
///
/// # Errors
/// What the disk says.
pub fn list(directory: &Path) -> io::Result<Vec<(u64, PathBuf)>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        let first = path
            .file_name()
            .and_then(|name| name.to_str())
            .and_then(|name| name.strip_suffix(SUFFIX))
            .filter(|name| name.len() == 20)
            .and_then(|name| name.parse().ok());
        if let Some(first) = first {
            found.push((first, path));
        }
    }
    found.sort();
    Ok(found)
}

/// Where the segment that begins with this line is.
pub fn path(directory: &Path, first: u64) -> PathBuf {
    directory.join(format!("{first:020}{SUFFIX}"))
}

/// One frame of a segment, or why there is none to read.
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

/// The segment that is written to.
#[derive(Debug)]
pub(crate) struct Appending {
    file: File,
    /// Up to here everything was flushed.
    length: u64,
}

impl Appending {
    /// Goes on at the end of a segment, of which so many bytes are good; what follows is cut off.
    pub(crate) fn open(path: &Path, length: u64) -> io::Result<Appending> {
        let file = OpenOptions::new().append(true).open(path)?;
        file.set_len(length)?;
        file.sync_all()?;
        Ok(Appending { file, length })
    }

    /// Makes a segment. One that exists is never written over.
    pub(crate) fn create(path: &Path) -> io::Result<Appending> {
        let mut options = OpenOptions::new();
        options.append(true).create_new(true);
        #[cfg(unix)]
        {
            use std::os::unix::fs::OpenOptionsExt;
            options.mode(0o600);
        }
        let file = options.open(path)?;
        // The name, too, has to survive.
        if let Some(directory) = path.parent() {
            File::open(directory)?.sync_all()?;
        }
        Ok(Appending { file, length: 0 })
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
        let written = self
            .file
            .write_all(bytes)
            .and_then(|()| self.file.sync_data());
        match written {
            Ok(()) => {
                self.length += bytes.len() as u64;
                Ok(())
            }
            Err(error) => {
                // A half-written batch would look like a broken one. If this fails too, the next start cuts it.
                let _ = self.file.set_len(self.length);
                Err(error)
            }
        }
    }
}

/// Keeps bytes that are no part of the log beside it, for whoever wants to know what they were.
pub(crate) fn set_aside(
    directory: &Path,
    first: u64,
    at: u64,
    bytes: &[u8],
) -> io::Result<PathBuf> {
    let path = directory.join(format!("{first:020}-{at}.cut"));
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    let mut file = options.open(&path)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    Ok(path)
}
