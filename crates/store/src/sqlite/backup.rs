//! A copy of a database of one moment, while a process writes it.
use super::{
    DATABASE_FILE, OpenError,
    open::{check, engine_error, reader},
};
use std::path::Path;

/// Copies the database of a directory into a file that must not exist, as it is at one moment; a
/// server may have it open. The copy is checked and flushed. Its size in bytes.
///
/// # Errors
/// See [`OpenError`]; also where there is no database.
pub fn backup(directory: &Path, to: &Path) -> Result<u64, OpenError> {
    let path = directory.join(DATABASE_FILE);
    let io = |path: &Path| {
        let path = path.to_owned();
        move |source| OpenError::Io { path, source }
    };
    std::fs::metadata(&path).map_err(io(&path))?;
    let name = to.to_str().ok_or_else(|| {
        let source = std::io::Error::new(std::io::ErrorKind::InvalidInput, "is no text");
        io(to)(source)
    })?;
    let from = reader(&path)?;
    // One statement reads one moment; what is written meanwhile goes to the log beside the file.
    from.execute("VACUUM INTO ?1", [name])
        .map_err(engine_error(&path))?;
    check(&reader(to)?, to)?;
    let file = std::fs::File::open(to).map_err(io(to))?;
    file.sync_all().map_err(io(to))?;
    Ok(file.metadata().map_err(io(to))?.len())
}
