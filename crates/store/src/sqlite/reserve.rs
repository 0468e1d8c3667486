//! A reserve of disk space, kept for what must be possible when the disk is full.
//!
//! A file of zeros lies beside the database. When the engine says that the disk is full, a part of
//! it is given up and the store takes only changes that end or revoke something, until there is
//! space for the whole reserve, and as much again, to be put back. The last part is kept for the
//! next start: opening a database takes space, too, and a server that cannot start cannot be asked
//! what is revoked.
//!
//! What it cannot prevent: another program on the same disk may take what was given up.
use crate::Need;
use std::{
    fs::{File, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    time::{Duration, Instant},
};

/// The reserve within the store's directory.
pub const RESERVE_FILE: &str = "reserve";

/// Disk space that the store keeps for revocations and removals when the disk is full, in bytes,
/// where nothing else is set
pub const DEFAULT_RESERVE: u64 = 16777216;

/// The reserve is given up in so many parts, the last of them by a start alone.
const PARTS: u64 = 4;

/// How often a full disk is looked at again.
const LOOK_EVERY: Duration = Duration::from_secs(5);

/// Free space below which a failure of the engine is one of the disk's.
const NEARLY_NOTHING: u64 = 1 << 20;

/// Free space of a directory's disk for this process, in bytes.
type FreeSpace = Box<dyn Fn(&Path) -> io::Result<u64> + Send>;

/// What the reserve asks the machine.
pub(super) struct Machine {
    /// Time that only goes on.
    pub(super) now: Box<dyn Fn() -> Instant + Send>,
    /// Free space of a directory's disk for this process, in bytes.
    pub(super) free: FreeSpace,
}

impl Default for Machine {
    fn default() -> Machine {
        Machine {
            now: Box::new(Instant::now),
            free: Box::new(free),
        }
    }
}

/// See the module.
pub(super) struct Reserve {
    path: PathBuf,
    size: u64,
    left: u64,
    full: Arc<AtomicBool>,
    machine: Machine,
    next_look: Instant,
}

/// Free space of a directory's disk for this process, in bytes.
fn free(directory: &Path) -> io::Result<u64> {
    let disk = rustix::fs::statvfs(directory)?;
    Ok(disk.f_bavail.saturating_mul(disk.f_frsize))
}

/// Whether there is nearly no space left; not, where the system cannot say.
pub(super) fn is_nearly_full(directory: &Path) -> bool {
    free(directory).is_ok_and(is_nearly_nothing)
}

fn is_nearly_nothing(free: u64) -> bool {
    free < NEARLY_NOTHING
}

/// Blocks that are really there: a file of zeros could be none on some disks.
fn allocate(file: &mut File, size: u64) -> io::Result<()> {
    use rustix::{fs::FallocateFlags, io::Errno};
    match rustix::fs::fallocate(&*file, FallocateFlags::empty(), 0, size) {
        Err(Errno::OPNOTSUPP | Errno::NOSYS | Errno::INVAL) => {
            let zeros = vec![0; 1 << 16];
            let mut left = size;
            while left > 0 {
                let part = left.min(zeros.len() as u64);
                // Invariant: at most the length of `zeros`.
                file.write_all(&zeros[..part as usize])?;
                left -= part;
            }
            Ok(())
        }
        done => Ok(done?),
    }
}

impl Reserve {
    /// The reserve of a directory, as on a real machine.
    #[cfg(test)]
    pub(super) fn find(directory: &Path, size: u64, full: Arc<AtomicBool>) -> Reserve {
        Reserve::find_on(Machine::default(), directory, size, full)
    }

    /// The reserve of a directory, with what is left of it. `size`: 0 keeps none.
    pub(super) fn find_on(
        machine: Machine,
        directory: &Path,
        size: u64,
        full: Arc<AtomicBool>,
    ) -> Reserve {
        let path = directory.join(RESERVE_FILE);
        let left = std::fs::metadata(&path).map_or(0, |file| file.len());
        Reserve {
            path,
            size,
            left: left.min(size),
            full,
            next_look: (machine.now)(),
            machine,
        }
    }

    /// Whether there is nearly no space left on its disk.
    pub(super) fn is_nearly_full(&self) -> bool {
        let free = |directory| (self.machine.free)(directory).is_ok_and(is_nearly_nothing);
        self.path.parent().is_some_and(free)
    }

    pub(super) fn is_full(&self) -> bool {
        self.full.load(SeqCst)
    }

    /// Whether a change is taken now.
    pub(super) fn admits(&self, need: Need) -> bool {
        match need {
            Need::Ends => true,
            Need::Proves => !self.is_full() || self.left >= self.size / 2,
            Need::Grows => !self.is_full(),
        }
    }

    /// The disk is full: gives up a part, if there is one for this. `starting`: also the last one.
    pub(super) fn give(&mut self, starting: bool) -> bool {
        if !self.full.swap(true, SeqCst) {
            tracing::error!(
                reserve = self.left,
                "restricting writes to revocations and terminations: disk full"
            );
            self.next_look = (self.machine.now)() + LOOK_EVERY;
        }
        let part = (self.size / PARTS).max(1);
        let kept = if starting { 0 } else { part };
        if self.left <= kept {
            return false;
        }
        let left = self.left.saturating_sub(part).max(kept);
        let given = OpenOptions::new().write(true).open(&self.path);
        match given.and_then(|file| file.set_len(left)) {
            Ok(()) => {
                self.left = left;
                true
            }
            Err(error) => {
                tracing::warn!(%error, "failed to release the reserved disk space");
                false
            }
        }
    }

    /// Puts the reserve back where there is space for it and as much again. From time to time only,
    /// while the disk is full.
    pub(super) fn look(&mut self) {
        if self.is_full() && (self.machine.now)() >= self.next_look {
            self.next_look = (self.machine.now)() + LOOK_EVERY;
            self.restore();
        }
    }

    /// At the start: there is no reserve yet, or a part of it was given up.
    pub(super) fn begin(&mut self) {
        if self.left < self.size || self.is_full() {
            self.restore();
        }
    }

    fn restore(&mut self) {
        let directory = self.path.parent().unwrap_or(Path::new("."));
        // Where the system cannot say what is free, trying shows it.
        let wanted = (2 * self.size)
            .saturating_sub(self.left)
            .max(NEARLY_NOTHING);
        let enough = (self.machine.free)(directory).map_or(true, |free| free >= wanted);
        if enough && self.put_back().is_ok() {
            if self.full.swap(false, SeqCst) {
                tracing::info!("resumed all writes: disk space available");
            }
        } else {
            self.full.store(true, SeqCst);
        }
    }

    fn put_back(&mut self) -> io::Result<()> {
        if self.left >= self.size {
            return Ok(());
        }
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true);
        #[cfg(unix)]
        {
            use std::os::unix::fs::OpenOptionsExt;
            options.mode(0o600);
        }
        let mut file = options.open(&self.path)?;
        let made = allocate(&mut file, self.size).and_then(|()| file.sync_all());
        match made {
            Ok(()) => {
                self.left = self.size;
                Ok(())
            }
            Err(error) => {
                // Half a reserve would be the rest of the disk.
                file.set_len(0)?;
                self.left = 0;
                Err(error)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reserve_is_given_up_in_parts_and_the_last_at_a_start_alone() {
        let directory = tempfile::tempdir().expect("a directory");
        let full = Arc::new(AtomicBool::new(false));
        let mut reserve = Reserve::find(directory.path(), 4096, full.clone());
        reserve.begin();
        let length =
            || std::fs::metadata(directory.path().join(RESERVE_FILE)).map_or(0, |f| f.len());
        assert_eq!((length(), full.load(SeqCst)), (4096, false));
        for left in [3072, 2048, 1024] {
            assert!(reserve.admits(Need::Proves));
            assert!(reserve.give(false));
            assert_eq!(length(), left);
        }
        assert!(reserve.admits(Need::Ends));
        assert!(!reserve.admits(Need::Proves) && !reserve.admits(Need::Grows));
        assert!(!reserve.give(false));
        assert!(reserve.give(true) && length() == 0);
        assert!(!reserve.give(true));
        // What is left of it is found by the next process, which puts it back.
        let mut next = Reserve::find(directory.path(), 4096, Arc::default());
        next.begin();
        assert_eq!(length(), 4096);
        assert!(next.admits(Need::Grows));
    }
}
