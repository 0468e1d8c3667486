//! The lock by which a directory is one process's: asked for the same way by every crate that keeps
//! one.

use std::{
    fs::{File, TryLockError},
    time::Duration,
};

/// A lock that was released stays taken for as long as a child that this process is starting has
/// copies of its files, from fork to exec: it is asked for again before it is another process's.
const LOCK_TRIES: u32 = 50;
const LOCK_RETRY: Duration = Duration::from_millis(20);

/// Takes the exclusive lock of `file`, which is released with it; waits up to a second.
///
/// # Errors
///
/// [`TryLockError::WouldBlock`] where another process has the lock.
pub fn lock_file(file: &File) -> Result<(), TryLockError> {
    for _ in 0..LOCK_TRIES {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => std::thread::sleep(LOCK_RETRY),
            locked => return locked,
        }
    }
    file.try_lock()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_that_is_released_within_a_moment_is_taken_and_one_that_is_held_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let open = || {
            let mut options = File::options();
            options.create(true).truncate(false).write(true);
            options.open(directory.path().join("lock")).unwrap()
        };
        let held = open();
        lock_file(&held).unwrap();
        let refused = lock_file(&open());
        assert!(matches!(refused, Err(TryLockError::WouldBlock)));
        // A copy of the file keeps the lock, as a child's does between fork and exec.
        let copy = held.try_clone().unwrap();
        drop(held);
        let child = std::thread::spawn(move || {
            std::thread::sleep(3 * LOCK_RETRY);
            drop(copy);
        });
        lock_file(&open()).unwrap();
        child.join().unwrap();
    }
}
