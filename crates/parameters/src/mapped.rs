//! Files that are read where the kernel has them: large tables, without a copy.
#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use memmap2::Mmap;

/// A whole file, read only.
#[derive(Debug)]
pub(crate) struct Mapped(Mmap);

impl AsRef<[u8]> for Mapped {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

/// Maps a file of this process's user that nobody else may write.
pub(crate) fn map(path: &Path) -> io::Result<Mapped> {
    let file = File::open(path)?;
    let metadata = file.metadata()?;
    let other = || io::Error::new(io::ErrorKind::PermissionDenied, "others may write to it");
    if !metadata.is_file() || metadata.mode() & 0o022 != 0 || !is_own(metadata.uid()) {
        return Err(other());
    }
    // SAFETY: what is borrowed from a map must not change. The permissions that were just looked at
    // leave writing to this user alone, and no program of Signet writes to a file that it maps:
    // each is written aside, put in place by renaming, and replaced by another file, while the
    // mapped one stays what it was. Somebody who acts as this user can change it all the same, as
    // they can change this program or its memory. Nobody relies on more than that for memory
    // safety: the bytes are only read as numbers, by code that checks its bounds.
    let map = unsafe { Mmap::map(&file)? };
    Ok(Mapped(map))
}

/// Whether this user is the one that this process acts as, or root, who may do anything.
fn is_own(uid: u32) -> bool {
    // The kernel gives /proc/self to the effective user; without /proc the mode has to do.
    uid == 0 || std::fs::metadata("/proc/self").map_or(true, |own| own.uid() == uid)
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use signet_crypto::private_file;

    #[test]
    fn a_mapped_file_stays_what_it_was_when_another_takes_its_name() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("tables");
        private_file::write(&path, b"one").unwrap();
        let mapped = map(&path).unwrap();
        private_file::write(&path, b"two, longer").unwrap();
        assert_eq!(mapped.as_ref(), b"one");
        assert_eq!(map(&path).unwrap().as_ref(), b"two, longer");
        assert_eq!(
            map(&dir.path().join("none")).unwrap_err().kind(),
            io::ErrorKind::NotFound
        );
    }

    #[test]
    fn a_file_that_others_may_write_is_not_mapped() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("tables");
        private_file::write(&path, b"one").unwrap();
        for mode in [0o620, 0o602] {
            fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            assert!(map(&path).is_err());
        }
        assert!(map(dir.path()).is_err());
    }
}
