//! Files that are written whole: beside the old one, and moved into its place. A crash leaves the
//! one or the other.
use signet_crypto::random;
use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write},
    path::Path,
};

/// Writes a file of mode 0600 in place of the one there is, and makes its directory where that is
/// missing.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    write(path, bytes, |beside| fs::rename(beside, path))
}

/// Writes a file of mode 0600 unless there is one: that is [`io::ErrorKind::AlreadyExists`].
pub(crate) fn create(path: &Path, bytes: &[u8]) -> io::Result<()> {
    write(path, bytes, |beside| {
        fs::hard_link(beside, path)?;
        fs::remove_file(beside)
    })
}

fn write(
    path: &Path,
    bytes: &[u8],
    publish: impl FnOnce(&Path) -> io::Result<()>,
) -> io::Result<()> {
    let Some(directory) = path.parent() else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let mut folder = fs::DirBuilder::new();
    folder.recursive(true);
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
        folder.mode(0o700);
        options.mode(0o600);
    }
    folder.create(directory)?;
    // A name of its own for each writer; what a crash left behind is no use to anybody.
    let unique = u64::from_be_bytes(random::bytes());
    let beside = path.with_extension(format!("{unique:016x}.new"));
    let write = || -> io::Result<()> {
        let mut file = options.open(&beside)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        publish(&beside)?;
        // The new name is durable when its directory is.
        File::open(directory)?.sync_all()
    };
    write().inspect_err(|_| drop(fs::remove_file(&beside)))
}
