//! Room to work in, beside what is worked on: on the same disk, under the same protection, and gone
//! when the work is.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use signet_crypto::private_file;
use signet_store::lock_file;

/// The directory's name. Nothing in it is part of a server.
pub(crate) const SCRATCH: &str = "backup.part";
const LOCK: &str = "lock";

/// A directory that one process works in. Removed when dropped.
#[derive(Debug)]
pub(crate) struct Scratch {
    path: PathBuf,
    _lock: File,
}

impl Scratch {
    /// Makes it; what a process left there that ended before its work is removed.
    ///
    /// # Errors
    /// What the system says; [`io::ErrorKind::ResourceBusy`] where another process works in it.
    pub(crate) fn begin(beside: &Path) -> io::Result<Scratch> {
        let path = beside.join(SCRATCH);
        private_file::directory(&path)?;
        let lock = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(path.join(LOCK))?;
        lock_file(&lock).map_err(|error| match error {
            TryLockError::WouldBlock => io::Error::new(
                io::ErrorKind::ResourceBusy,
                "another backup is being made: wait for it",
            ),
            TryLockError::Error(error) => error,
        })?;
        for entry in fs::read_dir(&path)? {
            let entry = entry?;
            if entry.file_name() != LOCK {
                remove(&entry.path())?;
            }
        }
        Ok(Scratch { path, _lock: lock })
    }

    /// A path in it.
    pub(crate) fn join(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // The next one removes what stays.
        let _ = fs::remove_dir_all(&self.path);
    }
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path)?.is_dir() {
        true => fs::remove_dir_all(path),
        false => fs::remove_file(path),
    }
}
