//! The life of closed segments: they are compressed, and leave the directory for an archive or
//! by a rule.
//!
//! A thread beside the writer does it, because a segment takes a moment to compress and records
//! must not wait for it. Each step leaves the log whole, whenever the process ends:
//!
//! 1. A closed segment is written again in compressed form under a name that is none, flushed, read
//!    back and compared, renamed; then the plain file is removed. Where both are there, they say
//!    the same.
//! 2. One that leaves for the archive is copied there likewise.
//! 3. A record says which segment leaves ([`SegmentFacts`]), and is durable in the log and
//!    remembered in the store before the file is removed, by the writer. Verification takes the
//!    log's beginning from such a record and from nothing else.
//!
//! Segments leave from the oldest on, and the newest never does.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::thread::park_timeout;
use std::time::Duration;

use crate::event::SegmentFacts;
use crate::line::Frame;
use crate::read::{Frames, ReadError};
use crate::segment::{self, Form, Segment, UNFINISHED};
use crate::shared::Shared;
use crate::verify::Left;

/// How often the keeper looks where nobody wakes it.
const LOOK_EVERY: Duration = Duration::from_secs(60);

/// How often a keeper that waits for the writer looks whether the trail is being closed.
const WAIT: Duration = Duration::from_millis(200);

/// zstd's own default: about a tenth of the bytes of such records, at some hundred megabytes a
/// second.
const LEVEL: i32 = 3;

/// The thread's niceness (0 to 19): requests come first, and a segment is still compressed sooner
/// than the next is full.
#[cfg(target_os = "linux")]
const NICENESS: i32 = 10;

/// When closed segments leave the directory. Without a rule they stay, or, where there is an
/// archive, leave as soon as they are closed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Keep {
    /// Longest time after a segment was closed.
    pub time: Option<Duration>,
    /// Most bytes of all segments in the directory.
    pub bytes: Option<u64>,
}

/// A segment that is to leave: the writer records it, then removes the file.
pub(crate) struct Departure {
    pub(crate) facts: SegmentFacts,
    pub(crate) how: Left,
    pub(crate) path: PathBuf,
    /// Told when the file is gone.
    pub(crate) done: SyncSender<()>,
}

pub(crate) struct Keeper {
    pub(crate) shared: Arc<Shared>,
    pub(crate) keep: Keep,
    pub(crate) departures: SyncSender<Departure>,
}

/// Gives way to requests: a segment takes a good part of a second of a core, and where all cores
/// are busy that is a queue of thousands.
fn step_back() {
    // Linux gives each thread its own; elsewhere it would be the whole process that gives way.
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::setpriority_process(None, NICENESS) {
        tracing::debug!(%error, "failed to lower the priority of the audit keeper");
    }
}

impl Keeper {
    /// Works until the trail is closed.
    pub(crate) fn run(self) {
        step_back();
        if let Err(error) = remove_unfinished(&self.shared) {
            tracing::warn!(%error, "failed to remove unfinished audit files");
        }
        let mut failed = false;
        while !self.shared.closing.load(SeqCst) {
            match self.round() {
                Ok(()) => failed = false,
                Err(error) if !failed => {
                    tracing::warn!(%error, "failed to compress or archive closed audit segments");
                    failed = true;
                }
                Err(_) => {}
            }
            if !self.shared.closing.load(SeqCst) && !self.shared.closed.load(SeqCst) {
                park_timeout(LOOK_EVERY);
            }
        }
    }

    /// Does what there is to do now.
    fn round(&self) -> io::Result<()> {
        self.shared.closed.store(false, SeqCst);
        let segments = self.own()?;
        for closed in &segments[..segments.len().saturating_sub(1)] {
            if self.shared.closing.load(SeqCst) {
                return Ok(());
            }
            if closed.first < self.shared.gone.load(SeqCst) {
                // A record says that it left; the process ended before the file was removed.
                remove(&closed.path)?;
            } else if closed.form == Form::Plain {
                compress(&closed.path)?;
            }
        }
        let mut one_left = true;
        while one_left && !self.shared.closing.load(SeqCst) {
            one_left = self.let_go()?;
        }
        Ok(())
    }

    /// This node's segments in the directory; each once, the plain form where there are both.
    fn own(&self) -> io::Result<Vec<Segment>> {
        let mut found = segment::list(&self.shared.places.directory)?;
        found.retain(|segment| segment.node == self.shared.node);
        found.dedup_by(|later, kept| later.first == kept.first);
        Ok(found)
    }

    /// Whether the oldest segment left.
    fn let_go(&self) -> io::Result<bool> {
        let segments = self.own()?;
        let [oldest, next, ..] = &*segments else {
            return Ok(false);
        };
        // A head that is not there yet is being written.
        let Some((facts, closed_ms)) = what_ended(oldest.first, next)? else {
            return Ok(false);
        };
        if oldest.form == Form::Plain || !self.is_due(&segments, closed_ms)? {
            return Ok(false);
        }
        let how = match &self.shared.places.archive {
            Some(archive) => {
                hand_over(&oldest.path, archive)?;
                Left::Archived
            }
            None => Left::Removed,
        };
        let (done, removed) = sync_channel(1);
        let departure = Departure {
            facts,
            how,
            path: oldest.path.clone(),
            done,
        };
        if self.departures.send(departure).is_err() {
            return Ok(false);
        }
        self.shared.changed();
        loop {
            match removed.recv_timeout(WAIT) {
                Ok(()) => return Ok(!oldest.path.exists()),
                Err(RecvTimeoutError::Disconnected) => return Ok(false),
                Err(RecvTimeoutError::Timeout) if self.shared.closing.load(SeqCst) => {
                    return Ok(false);
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    fn is_due(&self, segments: &[Segment], closed_ms: u64) -> io::Result<bool> {
        if self.keep == Keep::default() {
            return Ok(self.shared.places.archive.is_some());
        }
        let now_ms = u128::from(self.shared.clock.now_ms());
        let too_old = |time: Duration| now_ms >= u128::from(closed_ms) + time.as_millis();
        if self.keep.time.is_some_and(too_old) {
            return Ok(true);
        }
        let Some(most) = self.keep.bytes else {
            return Ok(false);
        };
        let mut bytes = 0;
        for segment in segments {
            bytes += segment.bytes()?;
        }
        Ok(bytes > most)
    }
}

/// What the log was when the segment before this one ended, and when that was; `None` where this
/// one has no record yet.
fn what_ended(first: u64, next: &Segment) -> io::Result<Option<(SegmentFacts, u64)>> {
    let mut frames = Frames::new(next.open()?);
    let mut frame = || match frames.next_frame() {
        Ok(frame) => Ok(frame),
        Err(ReadError::Io(error)) => Err(error),
        // Half a batch, or broken: verification says where.
        Err(ReadError::Torn | ReadError::Broken(_)) => Ok(None),
    };
    let (Some(Frame::Head(head)), Some(Frame::Line(line))) = (frame()?, frame()?) else {
        return Ok(None);
    };
    Ok(head.previous.map(|previous| {
        let facts = SegmentFacts {
            first,
            next: head.frontier.len(),
            head: previous.0,
            root: head.frontier.root().0,
        };
        (facts, line.receipt.at_ms)
    }))
}

/// Files that a process before this one did not finish.
fn remove_unfinished(shared: &Shared) -> io::Result<()> {
    let places = &shared.places;
    let own = format!("{}.", shared.node);
    for directory in std::iter::once(&places.directory).chain(&places.archive) {
        let entries = match fs::read_dir(directory) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            entries => entries?,
        };
        for entry in entries {
            let path = entry?.path();
            let name = path.file_name().and_then(|name| name.to_str());
            if name.is_some_and(|name| name.starts_with(&own) && name.ends_with(UNFINISHED)) {
                remove(&path)?;
            }
        }
    }
    Ok(())
}

/// Removes a file, which may have gone already.
pub(crate) fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    path.parent().map_or(Ok(()), segment::sync_directory)
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// Makes a file under a name that is none, and gives it its own once its bytes are on the disk and
/// `holds`.
fn make(
    path: &Path,
    write: impl FnOnce(&mut File) -> io::Result<()>,
    holds: impl FnOnce(&Path) -> io::Result<bool>,
) -> io::Result<()> {
    let unfinished = with_suffix(path, UNFINISHED);
    let made = (|| {
        let mut options = segment::private();
        let mut file = options
            .write(true)
            .create(true)
            .truncate(true)
            .open(&unfinished)?;
        write(&mut file)?;
        file.sync_all()?;
        if !holds(&unfinished)? {
            let text = format!("{} does not hold what was written", unfinished.display());
            return Err(io::Error::other(text));
        }
        fs::rename(&unfinished, path)
    })();
    if made.is_err() {
        // It may be the disk that is full: what is of no use must not fill it.
        let _ = fs::remove_file(&unfinished);
    }
    made?;
    path.parent().map_or(Ok(()), segment::sync_directory)
}

/// Compresses a closed segment.
fn compress(plain: &Path) -> io::Result<()> {
    make(
        &with_suffix(plain, ".zst"),
        |file| {
            let mut encoder = zstd::stream::write::Encoder::new(file, LEVEL)?;
            encoder.include_checksum(true)?;
            io::copy(&mut File::open(plain)?, &mut encoder)?;
            encoder.finish().map(drop)
        },
        |made| {
            let compressed = zstd::stream::read::Decoder::new(File::open(made)?)?;
            same(compressed, File::open(plain)?)
        },
    )?;
    remove(plain)
}

/// Copies a compressed segment to the archive. What is there already stays, if it is the same.
///
/// The directory is the operator's to make: one that is not mounted must not be filled in its
/// place.
fn hand_over(path: &Path, archive: &Path) -> io::Result<()> {
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    let there = archive.join(name);
    match File::open(&there) {
        Ok(file) => {
            if same(file, File::open(path)?)? {
                return Ok(());
            }
            let text = format!("{} is there, and is another segment", there.display());
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, text));
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    let about = |error: io::Error| {
        let text = format!("the archive {}: {error}", archive.display());
        io::Error::new(error.kind(), text)
    };
    make(
        &there,
        |file| io::copy(&mut File::open(path)?, file).map(drop),
        |made| same(File::open(made)?, File::open(path)?),
    )
    .map_err(about)
}

/// Whether two readers have the same bytes.
fn same(mut one: impl Read, mut other: impl Read) -> io::Result<bool> {
    let (mut a, mut b) = (vec![0; 64 * 1024], vec![0; 64 * 1024]);
    loop {
        let (read_a, read_b) = (fill(&mut one, &mut a)?, fill(&mut other, &mut b)?);
        if a[..read_a] != b[..read_b] {
            return Ok(false);
        }
        if read_a == 0 {
            return Ok(true);
        }
    }
}

/// Reads until the buffer is full or nothing is left.
fn fill(from: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match from.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}
