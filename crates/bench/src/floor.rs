//! What an operation cannot be faster than: the same client's round trips to a bare echo over TLS
//! that makes every signature and check, and every flush, that the protocol makes unavoidable.

use std::{
    os::unix::fs::FileExt,
    path::Path,
    time::{Duration, Instant},
};

use bytes::Bytes;
use http::StatusCode;
use signet_crypto::Algorithm;

use crate::client::{Connection, Failure, Target};

/// What a floor consists of.
#[derive(Clone, Debug)]
pub struct Floor {
    /// Round trips.
    pub trips: usize,
    /// Bytes of each request's body.
    pub body: usize,
    /// Signatures that are made, and, where true, checked.
    pub signatures: Vec<(Algorithm, bool)>,
    /// Writes that must be on the disk before the answer.
    pub flushes: usize,
}

impl Floor {
    /// In words: `1 echo + sign ES256 + 1 flush`.
    #[must_use]
    pub fn words(&self) -> String {
        let mut parts = vec![format!("{} echo", self.trips)];
        parts.extend(self.signatures.iter().map(|(algorithm, checked)| {
            let act = if *checked { "check" } else { "sign" };
            format!("{act} {}", algorithm.name())
        }));
        if self.flushes > 0 {
            parts.push(format!("{} flush", self.flushes));
        }
        parts.join(" + ")
    }

    /// What the echo is asked for, so that it signs and checks: see [`crate::echo`].
    #[must_use]
    pub fn path(&self) -> String {
        let parts = self.signatures.iter().map(|(algorithm, checked)| {
            let act = if *checked { "check" } else { "sign" };
            format!("/{act}/{}", algorithm.name())
        });
        let path: String = parts.collect();
        if path.is_empty() { "/".into() } else { path }
    }
}

/// A floor, taken in turns with what they are the floor of.
pub struct Bare {
    connection: Connection,
    body: Bytes,
    trips: usize,
    path: String,
    flushes: usize,
    flush: Flush,
}

impl Bare {
    /// `echo`: where the echo answers; `directory`: on the disk that the server writes to.
    ///
    /// # Errors
    /// A connection that could not be opened, or a file that could not be made.
    pub async fn new(floor: &Floor, echo: &Target, directory: &Path) -> Result<Bare, Failure> {
        Ok(Bare {
            connection: echo.connect().await?,
            body: Bytes::from(vec![b'x'; floor.body]),
            trips: floor.trips,
            path: floor.path(),
            flushes: floor.flushes,
            flush: Flush::new(directory)?,
        })
    }

    /// Does it once; how long it took.
    ///
    /// # Errors
    /// An echo that does not answer, or a disk that does not write.
    pub async fn once(&mut self) -> Result<Duration, Failure> {
        let start = Instant::now();
        for trip in 1..=self.trips {
            // The last one has the signatures.
            let path = if trip == self.trips { &*self.path } else { "/" };
            let answer = self.connection.form(path, None, self.body.clone()).await?;
            if answer.status != StatusCode::OK {
                return Err(format!("the echo answers {}", answer.status).into());
            }
        }
        for _ in 0..self.flushes {
            self.flush.once()?;
        }
        Ok(start.elapsed())
    }
}

/// A write of one page that is forced to the disk, over what was there: a file that grows would pay
/// for its metadata too.
struct Flush {
    file: std::fs::File,
    page: u64,
}

impl Flush {
    const PAGES: u64 = 256;

    fn new(directory: &Path) -> Result<Flush, Failure> {
        let file = std::fs::File::create(directory.join("flush"))?;
        file.write_all_at(&[0; 4096 * Flush::PAGES as usize], 0)?;
        file.sync_all()?;
        Ok(Flush { file, page: 0 })
    }

    fn once(&mut self) -> Result<(), Failure> {
        self.page = (self.page + 1) % Flush::PAGES;
        self.file.write_all_at(&[b'p'; 4096], self.page * 4096)?;
        Ok(self.file.sync_data()?)
    }
}
