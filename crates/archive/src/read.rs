//! Reading an archive that anybody may have written.

use std::collections::HashSet;
use std::io::{self, Read};

use super::header::{BLOCK, Entry, kind_of};

/// Most files of a backup.
pub const MAX_ENTRIES: usize = 200_000;

/// Why an archive is refused.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// What it is read from says so: the disk, or the encryption.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// It ends before its end.
    #[error("it is cut off")]
    Cut,
    /// It holds something else than files.
    #[error("it holds {0}, and a backup holds files alone")]
    Kind(&'static str),
    /// A header that no backup has.
    #[error("a header in it is malformed")]
    Header,
    /// Two files of one name, or a file where another one needs a directory.
    #[error("{0} is in it twice, or is a file and a directory")]
    Twice(String),
    /// More files than a backup has.
    #[error("it holds more than {MAX_ENTRIES} files")]
    TooMany,
    /// A file that is larger than the archive.
    #[error("{0} is said to be larger than the whole backup")]
    Size(String),
    /// What fills up a block is not zero.
    #[error("there is something behind the content of a file")]
    Filling,
    /// Something follows the end.
    #[error("there is something behind its end")]
    Behind,
}

/// Reads an archive, file after file.
pub struct Reader<R: Read> {
    from: R,
    /// Bytes that can be left to read at most.
    left: u64,
    count: usize,
    files: HashSet<String>,
    directories: HashSet<String>,
    /// Of the content of the last entry.
    unread: u64,
    filling: usize,
    ended: bool,
}

impl<R: Read> Reader<R> {
    /// `most`: bytes that the archive can have at most, the size of the file that it is in, say.
    pub fn new(from: R, most: u64) -> Reader<R> {
        Reader {
            from,
            left: most,
            count: 0,
            files: HashSet::new(),
            directories: HashSet::new(),
            unread: 0,
            filling: 0,
            ended: false,
        }
    }

    fn exact(&mut self, into: &mut [u8]) -> Result<(), ArchiveError> {
        self.left = self.left.saturating_sub(into.len() as u64);
        self.from.read_exact(into).map_err(cut)
    }

    /// The next file; None: that was all, and nothing follows. What of the last one's content was
    /// not read is passed over.
    ///
    /// # Errors
    /// See [`ArchiveError`]; then nothing of it may be used.
    pub fn next_entry(&mut self) -> Result<Option<Entry>, ArchiveError> {
        if self.ended {
            return Ok(None);
        }
        io::copy(&mut self.content(), &mut io::sink())?;
        if self.unread > 0 {
            return Err(ArchiveError::Cut);
        }
        let mut filling = [0; BLOCK];
        let filling = &mut filling[..self.filling];
        self.filling = 0;
        self.exact(filling)?;
        if filling.iter().any(|byte| *byte != 0) {
            return Err(ArchiveError::Filling);
        }
        let mut block = [0; BLOCK];
        self.exact(&mut block)?;
        if block == [0; BLOCK] {
            self.exact(&mut block)?;
            if block != [0; BLOCK] || self.from.read(&mut [0])? > 0 {
                return Err(ArchiveError::Behind);
            }
            self.ended = true;
            return Ok(None);
        }
        let Some(entry) = Entry::parse(&block) else {
            return Err(kind_of(&block).map_or(ArchiveError::Header, ArchiveError::Kind));
        };
        self.take_name(&entry.name)?;
        if entry.size > self.left {
            return Err(ArchiveError::Size(entry.name));
        }
        self.unread = entry.size;
        self.filling = (BLOCK - (entry.size % BLOCK as u64) as usize) % BLOCK;
        Ok(Some(entry))
    }

    fn take_name(&mut self, name: &str) -> Result<(), ArchiveError> {
        self.count += 1;
        if self.count > MAX_ENTRIES {
            return Err(ArchiveError::TooMany);
        }
        let twice = || ArchiveError::Twice(name.to_owned());
        if self.directories.contains(name) || !self.files.insert(name.to_owned()) {
            return Err(twice());
        }
        for (at, _) in name.match_indices('/') {
            if self.files.contains(&name[..at]) {
                return Err(twice());
            }
            self.directories.insert(name[..at].to_owned());
        }
        Ok(())
    }

    /// The content of the last file.
    pub fn content(&mut self) -> Content<'_, R> {
        Content(self)
    }
}

/// The content of a file of an archive. It ends where the entry says; an archive that ends before
/// is cut off.
pub struct Content<'a, R: Read>(&'a mut Reader<R>);

impl<R: Read> Read for Content<'_, R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let reader = &mut *self.0;
        let room = usize::try_from(reader.unread).unwrap_or(usize::MAX);
        let room = room.min(into.len());
        if room == 0 {
            return Ok(0);
        }
        let count = reader.from.read(&mut into[..room])?;
        if count == 0 {
            return Err(io::Error::new(
                io::ErrorKind::UnexpectedEof,
                "it is cut off",
            ));
        }
        reader.unread -= count as u64;
        reader.left = reader.left.saturating_sub(count as u64);
        Ok(count)
    }
}

fn cut(error: io::Error) -> ArchiveError {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => ArchiveError::Cut,
        _ => ArchiveError::Io(error),
    }
}
