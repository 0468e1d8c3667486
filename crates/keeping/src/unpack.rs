//! A backup, opened and put into a directory of its own. What anybody may have written is read
//! here: nothing that it says is used before all of it was read.

use std::fs::{self, File};
use std::io::{self, BufReader, Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use signet_age::{AgeError, Decrypted, Identity, OwnKey};
use signet_crypto::private_file;

use crate::manifest::{CONFIGURATION, DATA, MAX_MANIFEST_BYTES, Manifest, ManifestError};
use signet_archive::{ArchiveError, Entry, Reader};

/// Below a restored data directory: the configuration file that the backup has, and those that it
/// names.
pub(crate) const RESTORED_CONFIGURATION: &str = "restored-configuration";

/// Why a backup cannot be unpacked.
#[derive(Debug, thiserror::Error)]
pub(crate) enum UnpackError {
    /// The file cannot be read, or the directory cannot be written.
    #[error("{path}: {source}")]
    Io {
        /// which
        path: PathBuf,
        /// the system's reason
        source: io::Error,
    },
    /// The encryption.
    #[error(transparent)]
    Age(#[from] AgeError),
    /// The archive.
    #[error(transparent)]
    Archive(ArchiveError),
    /// The manifest.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// A file that belongs nowhere.
    #[error("it holds {0}, which belongs nowhere")]
    Nowhere(String),
}

impl UnpackError {
    /// The stable name; None: what was asked for could not be reached.
    pub(crate) fn name(&self) -> Option<&'static str> {
        match self {
            UnpackError::Io { .. } => None,
            UnpackError::Age(AgeError::WrongPassphrase) => Some("wrong_passphrase"),
            UnpackError::Age(
                AgeError::WrongIdentity | AgeError::NoPassphrase | AgeError::PassphraseNeeded,
            ) => Some("wrong_identity"),
            UnpackError::Age(AgeError::NotAge) => Some("no_backup"),
            UnpackError::Manifest(ManifestError::Version(_)) => Some("unknown_version"),
            UnpackError::Age(_)
            | UnpackError::Archive(_)
            | UnpackError::Manifest(_)
            | UnpackError::Nowhere(_) => Some("damaged"),
        }
    }
}

/// What opens the file.
pub(crate) enum Key<'a> {
    /// As whoever it is for.
    Identity(&'a Identity),
    /// As whoever wrote it.
    Own(&'a OwnKey),
}

/// What was unpacked.
#[derive(Debug)]
pub(crate) struct Unpacked {
    /// What the backup says of itself.
    pub manifest: Manifest,
    /// Files, the manifest not among them.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// Sorts an error of reading by what it comes from.
fn of_reading(path: &Path) -> impl Fn(ArchiveError) -> UnpackError + '_ {
    |error| match error {
        ArchiveError::Io(source) => {
            let age = source.get_ref().and_then(|e| e.downcast_ref::<AgeError>());
            match age {
                Some(age) => UnpackError::Age(*age),
                None if source.kind() == io::ErrorKind::UnexpectedEof => {
                    UnpackError::Archive(ArchiveError::Cut)
                }
                None => UnpackError::Io {
                    path: path.to_owned(),
                    source,
                },
            }
        }
        other => UnpackError::Archive(other),
    }
}

/// Unpacks `backup` into the directory `into`, which must be there, empty and private. Everything
/// is flushed. After an error the directory holds a part, of which nothing may be used.
///
/// # Errors
/// See [`UnpackError`].
pub(crate) fn unpack(
    backup: &Path,
    key: &Key<'_>,
    into: &Path,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Unpacked, UnpackError> {
    let io = |source| UnpackError::Io {
        path: backup.to_owned(),
        source,
    };
    let file = File::open(backup).map_err(io)?;
    let size = file.metadata().map_err(io)?.len();
    let file = BufReader::with_capacity(1 << 17, file);
    let decrypted = match key {
        Key::Identity(identity) => Decrypted::new(file, identity),
        Key::Own(key) => Decrypted::of_own(file, key),
    };
    let decrypted = decrypted.map_err(|e| of_reading(backup)(e.into()))?;
    read_archive(decrypted, size, into, progress, backup)
}

/// The same of an archive that is decrypted already. `size`: bytes that it can have at most.
fn read_archive(
    archive: impl Read,
    size: u64,
    into: &Path,
    progress: &mut dyn FnMut(u64, u64),
    backup: &Path,
) -> Result<Unpacked, UnpackError> {
    let reading = of_reading(backup);
    let mut reader = Reader::new(archive, size);
    let first = reader.next_entry().map_err(&reading)?;
    let Some(_) = first.filter(Manifest::is_one) else {
        return Err(ManifestError::Missing.into());
    };
    let mut text = Vec::new();
    reader
        .content()
        .take(MAX_MANIFEST_BYTES)
        .read_to_end(&mut text)
        .map_err(|e| reading(e.into()))?;
    let manifest = Manifest::parse(&text)?;
    let (mut files, mut bytes) = (0, 0);
    while let Some(entry) = reader.next_entry().map_err(&reading)? {
        let path = into.join(below(&entry.name)?);
        write(&path, into, &entry, &mut reader.content(), &reading)?;
        files += 1;
        bytes += entry.size;
        progress(bytes.min(size), size);
    }
    sync_directories(into)?;
    Ok(Unpacked {
        manifest,
        files,
        bytes,
    })
}

/// Where a file of a backup goes, below the data directory. Names were checked when they were read.
fn below(name: &str) -> Result<PathBuf, UnpackError> {
    let nowhere = || UnpackError::Nowhere(name.to_owned());
    if let Some(rest) = name.strip_prefix(CONFIGURATION) {
        return Ok(Path::new(RESTORED_CONFIGURATION).join(rest));
    }
    let rest = name.strip_prefix(DATA).ok_or_else(nowhere)?;
    // The place of the other kind is not reached by this one.
    match rest.split('/').next() {
        Some(RESTORED_CONFIGURATION) | None => Err(nowhere()),
        Some(_) => Ok(rest.into()),
    }
}

fn write(
    path: &Path,
    root: &Path,
    entry: &Entry,
    content: &mut dyn Read,
    reading: &impl Fn(ArchiveError) -> UnpackError,
) -> Result<(), UnpackError> {
    let io = |source| UnpackError::Io {
        path: path.to_owned(),
        source,
    };
    let parent = path.parent().unwrap_or(root);
    private_file::directory(parent).map_err(io)?;
    let mut file = File::options()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
        .map_err(io)?;
    let mut buffer = vec![0; 1 << 16];
    loop {
        // What fails here is the backup, what fails below the disk.
        let count = match content.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(reading(error.into())),
        };
        file.write_all(&buffer[..count]).map_err(io)?;
    }
    // Nobody but the owner may write anything of a server, whatever a backup says.
    let mode = (entry.mode & 0o755) | 0o400;
    file.set_permissions(fs::Permissions::from_mode(mode))
        .map_err(io)?;
    if let Some(time) = UNIX_EPOCH.checked_add(Duration::from_secs(entry.modified)) {
        // A time that the disk cannot hold changes nothing of what the file is.
        let _ = file.set_modified(time);
    }
    file.sync_all().map_err(io)
}

/// Makes the names in a directory, and in those below it, durable.
///
/// # Errors
/// What the system says.
pub(crate) fn sync_directories(directory: &Path) -> Result<(), UnpackError> {
    let io = |source| UnpackError::Io {
        path: directory.to_owned(),
        source,
    };
    for entry in fs::read_dir(directory).map_err(io)? {
        let entry = entry.map_err(io)?;
        if entry.file_type().map_err(io)?.is_dir() {
            sync_directories(&entry.path())?;
        }
    }
    File::open(directory)
        .and_then(|file| file.sync_all())
        .map_err(io)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use signet_age::{Encrypted, Recipient};
    use signet_crypto::Secret;

    use super::*;
    use crate::manifest::{Engine, MANIFEST, VERSION};
    use signet_archive::Writer;

    fn manifest() -> Manifest {
        Manifest {
            version: VERSION,
            signet: "0.1.0".into(),
            made_at: 1,
            issuer: None,
            node: None,
            engine: Engine::Sqlite,
            schema: 2,
            rows: String::new(),
            database: None,
            data_dir: "/var/lib/signet".into(),
            configuration: Vec::new(),
        }
    }

    fn archive(files: &[(&str, u32, &[u8])]) -> Vec<u8> {
        let mut writer = Writer::new(Vec::new());
        for (name, mode, mut content) in files.iter().copied() {
            let entry = Entry {
                name: name.to_owned(),
                mode,
                modified: 1_795_300_000,
                size: content.len() as u64,
            };
            writer.file(&entry, &mut content).expect("is written");
        }
        writer.finish().expect("is written")
    }

    fn unpacked(archive: &[u8], into: &Path) -> Result<Unpacked, UnpackError> {
        let size = archive.len() as u64;
        read_archive(archive, size, into, &mut |_, _| {}, Path::new("archive"))
    }

    #[test]
    fn files_get_their_place_their_mode_and_their_time() {
        let folder = tempfile::tempdir().expect("a folder");
        let text = manifest().to_bytes();
        let bytes = archive(&[
            (MANIFEST, 0o600, &text),
            ("data/a/secret", 0o600, b"one"),
            ("data/open", 0o777, b"two"),
            ("configuration/1-signet.toml", 0o644, b"three"),
        ]);
        let found = unpacked(&bytes, folder.path()).expect("is unpacked");
        assert_eq!(
            (found.files, found.bytes, found.manifest),
            (3, 11, manifest())
        );
        let mode = |name: &str| {
            let about = fs::metadata(folder.path().join(name)).expect(name);
            about.permissions().mode() & 0o777
        };
        assert_eq!((mode("a/secret"), mode("a")), (0o600, 0o700));
        assert_eq!(mode("open"), 0o755);
        assert_eq!(mode("restored-configuration/1-signet.toml"), 0o644);
        let time = fs::metadata(folder.path().join("open"))
            .expect("open")
            .modified();
        let time = time
            .expect("a time")
            .duration_since(UNIX_EPOCH)
            .expect("later");
        assert_eq!(time.as_secs(), 1_795_300_000);
    }

    #[test]
    fn files_that_belong_nowhere_and_other_first_files_are_refused() {
        let text = manifest().to_bytes();
        for name in ["etc/passwd", "data", "data/restored-configuration/x"] {
            let folder = tempfile::tempdir().expect("a folder");
            let bytes = archive(&[(MANIFEST, 0o600, &text), (name, 0o600, b"x")]);
            let refused = unpacked(&bytes, folder.path()).expect_err(name);
            assert_eq!(refused.name(), Some("damaged"), "{name}");
        }
        let folder = tempfile::tempdir().expect("a folder");
        let bytes = archive(&[("data/a", 0o600, b"x")]);
        let refused = unpacked(&bytes, folder.path()).expect_err("no manifest");
        assert!(matches!(
            refused,
            UnpackError::Manifest(ManifestError::Missing)
        ));
        assert_eq!(fs::read_dir(folder.path()).expect("is read").count(), 0);
        let later = String::from_utf8(text).expect("a text");
        let later = later.replace("\"version\": 1", "\"version\": 2, \"more\": true");
        let bytes = archive(&[(MANIFEST, 0o600, later.as_bytes())]);
        let refused = unpacked(&bytes, folder.path()).expect_err("a later form");
        assert_eq!(refused.name(), Some("unknown_version"));
    }

    #[test]
    fn what_is_cut_within_its_encryption_is_damaged() {
        let folder = tempfile::tempdir().expect("a folder");
        let passphrase = || Secret::new("a passphrase".to_owned());
        let text = manifest().to_bytes();
        let bytes = archive(&[(MANIFEST, 0o600, &text), ("data/a", 0o600, &[5; 200_000])]);
        let mut file =
            Encrypted::new(Vec::new(), &Recipient::Passphrase(passphrase())).expect("begins");
        let key = file.own_key();
        file.write_all(&bytes).expect("is written");
        let whole = file.finish().expect("is written");
        let path = folder.path().join("backup");
        for end in [whole.len() - 1, whole.len() / 2, 70_000, 300] {
            fs::write(&path, &whole[..end]).expect("is written");
            let into = folder.path().join(end.to_string());
            private_file::directory(&into).expect("is made");
            let refused = unpack(&path, &Key::Own(&key), &into, &mut |_, _| {});
            assert_eq!(refused.expect_err("cut").name(), Some("damaged"), "{end}");
        }
        fs::write(&path, &whole).expect("is written");
        let other = Identity::Passphrase(Secret::new("another".to_owned()));
        let into = folder.path().join("other");
        let refused = unpack(&path, &Key::Identity(&other), &into, &mut |_, _| {});
        assert_eq!(
            refused.expect_err("closed").name(),
            Some("wrong_passphrase")
        );
        assert!(!into.exists());
        fs::write(&path, "text\n").expect("is written");
        let refused = unpack(&path, &Key::Identity(&other), &into, &mut |_, _| {});
        assert_eq!(refused.expect_err("no backup").name(), Some("no_backup"));
    }
}
