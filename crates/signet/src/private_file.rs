//! Files that hold secrets: written aside, flushed, then put in place whole, readable by their owner only.

use std::{
    fs::{self, DirBuilder, File, OpenOptions},
    io::{self, Write},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

/// Makes a directory (and its parents) that only the owner may enter. An existing one stays as it is.
pub fn directory(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Writes `content` to `path`, mode 0600: a reader sees the old file or the new one, never half of one, also after a
/// power failure.
pub fn write(path: &Path, content: &[u8]) -> io::Result<()> {
    let aside = aside(path);
    match fs::remove_file(&aside) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
        _ => {}
    }
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&aside)?;
    file.write_all(content)?;
    file.sync_all()?;
    fs::rename(&aside, path)?;
    sync_parent(path)
}

/// Puts a file that is already written in its final place.
pub fn rename(from: &Path, to: &Path) -> io::Result<()> {
    fs::rename(from, to)?;
    sync_parent(to)
}

/// May anybody but the owner read or write it?
#[cfg(test)]
pub fn is_open_to_others(path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::PermissionsExt;
    Ok(fs::metadata(path)?.permissions().mode() & 0o077 != 0)
}

fn aside(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".part");
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
        // A crash left half a file behind.
        fs::write(aside(&path), "half").unwrap();
        write(&path, b"one").unwrap();
        write(&path, b"two").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert!(!is_open_to_others(&path).unwrap());
        assert!(!is_open_to_others(path.parent().unwrap()).unwrap());
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
    }
}
