//! Files that hold secrets: written aside, flushed, then put in place whole, readable by their
//! owner only.

use crate::random;
use std::{
    fs::{self, DirBuilder, File, OpenOptions},
    io::{self, Write},
    os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt, chown},
    path::{Path, PathBuf},
};

/// Makes a directory (and its parents) that only the owner may enter. An existing one stays as it
/// is.
///
/// # Errors
/// What the system says.
pub fn directory(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Writes `content` to `path`, mode 0600, in place of what is there: a reader sees the old file or
/// the new one, never half of one, also after a power failure.
///
/// # Errors
/// What the system says.
pub fn write(path: &Path, content: &[u8]) -> io::Result<()> {
    publish(path, content, |aside| fs::rename(aside, path))
}

/// As [`write()`], unless there is a file already: that is [`io::ErrorKind::AlreadyExists`].
///
/// # Errors
/// What the system says.
pub fn create(path: &Path, content: &[u8]) -> io::Result<()> {
    publish(path, content, |aside| {
        // A link refuses a name that is taken, in one step.
        fs::hard_link(aside, path)?;
        fs::remove_file(aside)
    })
}

fn publish(
    path: &Path,
    content: &[u8],
    put_in_place: impl FnOnce(&Path) -> io::Result<()>,
) -> io::Result<()> {
    let aside = aside(path);
    let write = || {
        let mut file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&aside)?;
        file.write_all(content)?;
        file.sync_all()?;
        put_in_place(&aside)?;
        // The new name is durable when its directory is.
        sync_parent(path)
    };
    write().inspect_err(|_| drop(fs::remove_file(&aside)))
}

/// Makes a file readable by its owner only.
///
/// # Errors
/// What the system says.
pub fn restrict(path: &Path) -> io::Result<()> {
    fs::set_permissions(path, fs::Permissions::from_mode(0o600))
}

/// Gives files that this process wrote as root to the owner of their directory: a service that runs
/// as that user could not open them otherwise. For anybody else there is nothing to give; where it
/// fails, the service says whose file it is.
pub fn give_to_owner(directory: &Path, names: &[&str]) {
    let Ok(owner) = fs::metadata(directory) else {
        return;
    };
    for name in names {
        let path = directory.join(name);
        if fs::metadata(&path).is_ok_and(|file| file.uid() != owner.uid()) {
            let _ = chown(&path, Some(owner.uid()), Some(owner.gid()));
        }
    }
}

/// Whose file it is that cannot be opened, for the error that says so.
pub fn owner(directory: &Path, names: &[&str]) -> String {
    let other = |name: &&&str| {
        let file = fs::metadata(directory.join(name)).ok()?;
        Some(format!(
            " ({name} belongs to the user with the id {}; give it to the one that runs the server, with chown)",
            file.uid()
        ))
    };
    let unreadable = |name: &&&str| {
        File::open(directory.join(name)).is_err_and(|e| e.kind() == io::ErrorKind::PermissionDenied)
    };
    names
        .iter()
        .filter(unreadable)
        .find_map(|name| other(&name))
        .unwrap_or_default()
}

/// Puts a file that is already written in its final place.
///
/// # Errors
/// What the system says.
pub fn rename(from: &Path, to: &Path) -> io::Result<()> {
    fs::rename(from, to)?;
    sync_parent(to)
}

/// May anybody but the owner read or write it?
///
/// # Errors
/// What the system says.
pub fn is_open_to_others(path: &Path) -> io::Result<bool> {
    Ok(fs::metadata(path)?.permissions().mode() & 0o077 != 0)
}

/// A name of its own for each writer; what a crash left behind is in nobody's way.
fn aside(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(
        ".{:016x}.part",
        u64::from_be_bytes(random::bytes())
    ));
    name.into()
}

fn sync_parent(path: &Path) -> io::Result<()> {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => File::open(parent)?.sync_all(),
        _ => File::open(".")?.sync_all(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_private_file_is_whole_and_for_its_owner_only() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("sub/secret");
        directory(path.parent().unwrap()).unwrap();
        create(&path, b"one").unwrap();
        write(&path, b"two").unwrap();
        let taken = create(&path, b"three").unwrap_err();
        assert_eq!(taken.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert!(!is_open_to_others(&path).unwrap());
        assert!(!is_open_to_others(path.parent().unwrap()).unwrap());
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
    }
}
