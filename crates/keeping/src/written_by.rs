//! Which versions wrote a data directory: a file in it, written by each start of another version.

use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};
use signet_crypto::private_file;

/// The file within the data directory.
pub(crate) const FILE: &str = "versions.json";

/// Most versions that are remembered: the last ones.
const REMEMBERED: usize = 32;
/// Longest file that is read, in bytes.
const MAX_BYTES: u64 = 64 * 1024;

/// One version, and since when.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WrittenBy {
    /// The program's version.
    pub version: String,
    /// Its first start on the directory, or its first after another one's; Unix seconds.
    pub since: u64,
}

/// The versions that wrote a directory, the earliest first; none where none is known.
///
/// # Errors
/// What the system says, or that the file is none.
pub(crate) fn read(data_dir: &Path) -> io::Result<Vec<WrittenBy>> {
    let path = data_dir.join(FILE);
    match std::fs::metadata(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
        Ok(about) if about.len() > MAX_BYTES => {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "is too long"));
        }
        Ok(_) => {}
    }
    Ok(serde_json::from_slice(&std::fs::read(&path)?)?)
}

/// Remembers that this version writes the directory from now on, `now` Unix seconds. Writes nothing
/// where that is known. A file that cannot be read is begun again: it is for people, and no reason
/// to refuse a start.
///
/// # Errors
/// What the system says.
pub fn note(data_dir: &Path, now: u64) -> io::Result<()> {
    let mut known = read(data_dir).unwrap_or_default();
    let version = env!("CARGO_PKG_VERSION");
    if known.last().is_some_and(|last| last.version == version) {
        return Ok(());
    }
    known.push(WrittenBy {
        version: version.to_owned(),
        since: now,
    });
    let from = known.len().saturating_sub(REMEMBERED);
    let mut text = serde_json::to_vec_pretty(&known[from..])?;
    text.push(b'\n');
    private_file::write(&data_dir.join(FILE), &text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_noted_once_and_after_another_one() {
        let folder = tempfile::tempdir().expect("a folder");
        assert_eq!(read(folder.path()).expect("is read"), Vec::new());
        note(folder.path(), 5).expect("is written");
        note(folder.path(), 6).expect("is written");
        let own = WrittenBy {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            since: 5,
        };
        assert_eq!(
            read(folder.path()).expect("is read"),
            std::slice::from_ref(&own)
        );
        let other = r#"[{ "version": "0.0.9", "since": 1 }]"#;
        std::fs::write(folder.path().join(FILE), other).expect("is written");
        note(folder.path(), 5).expect("is written");
        let known = read(folder.path()).expect("is read");
        assert_eq!((known.len(), &known[1]), (2, &own));
        std::fs::write(folder.path().join(FILE), "{").expect("is written");
        assert!(read(folder.path()).is_err());
        note(folder.path(), 5).expect("is written");
        assert_eq!(read(folder.path()).expect("is read"), [own]);
    }
}
