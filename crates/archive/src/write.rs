//! Writing an archive, file after file.

use std::io::{self, Read, Write};

use super::header::{BLOCK, Entry};

/// Writes an archive into something. Without [`Writer::finish`] it is cut off, and nobody reads it.
pub struct Writer<W: Write> {
    into: W,
}

impl<W: Write> Writer<W> {
    /// Begins an archive.
    pub fn new(into: W) -> Writer<W> {
        Writer { into }
    }

    /// Writes a file: as many bytes of `content` as the entry says.
    ///
    /// # Errors
    /// What the system says; a name that no file may have; content that ends too soon.
    pub fn file(&mut self, entry: &Entry, content: &mut dyn Read) -> io::Result<()> {
        let header = entry.header().map_err(|invalid| {
            io::Error::new(
                io::ErrorKind::InvalidInput,
                format!("{}: {invalid}", entry.name),
            )
        })?;
        self.into.write_all(&header)?;
        let copied = io::copy(&mut content.take(entry.size), &mut self.into)?;
        if copied != entry.size {
            let text = format!("{} became shorter while it was read", entry.name);
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, text));
        }
        let rest = (entry.size % BLOCK as u64) as usize;
        if rest > 0 {
            self.into.write_all(&[0; BLOCK][rest..])?;
        }
        Ok(())
    }

    /// Ends the archive, and gives what it was written into.
    ///
    /// # Errors
    /// What the system says.
    pub fn finish(mut self) -> io::Result<W> {
        self.into.write_all(&[0; 2 * BLOCK])?;
        self.into.flush()?;
        Ok(self.into)
    }
}
