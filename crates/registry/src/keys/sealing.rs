//! The keys that seal, in a file of the data directory.
//!
//! They stay out of the store on purpose: a copy of the database alone opens nothing. The file is
//! written whole, beside the old one, and moved into its place; a crash leaves the one or the
//! other.
use serde::{Deserialize, Serialize};
use signet_crypto::{
    Secret,
    seal::{Keyring, SealingKey},
};
use signet_jose::base64url;
use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read, Write},
    path::{Path, PathBuf},
};

/// The file within the data directory; mode 0600.
pub const SEALING_FILE: &str = "sealing-keys.json";

const MAX_BYTES: u64 = 64 * 1024;

/// Why the sealing keys could not be had or changed. For the operator.
#[derive(Debug, thiserror::Error)]
pub enum SealingError {
    /// The file cannot be read or written.
    #[error("{path}: {source}")]
    Io {
        /// the file
        path: PathBuf,
        /// the system's reason
        source: io::Error,
    },
    /// The file is not what was written.
    #[error(
        "{path} holds no sealing keys; restore it from a backup, without it nothing sealed can be opened"
    )]
    Unreadable {
        /// the file
        path: PathBuf,
    },
    /// Others could read the keys.
    #[error(
        "{path} can be read by others; make it private (chmod 600) and consider rotating the keys in it"
    )]
    Exposed {
        /// the file
        path: PathBuf,
    },
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    version: u32,
    /// The first seals, all open.
    keys: Vec<StoredKey>,
}

#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredKey {
    id: String,
    key: String,
    created_at: u64,
    /// Seals no more since then.
    retired_at: Option<u64>,
}

impl Drop for StoredKey {
    fn drop(&mut self) {
        drop(Secret::new(std::mem::take(&mut self.key)));
    }
}

/// The sealing keys of a data directory.
pub struct SealingFile {
    path: PathBuf,
    keys: Vec<StoredKey>,
}

impl SealingFile {
    /// Reads the file, or makes one with a first key. `now`: Unix seconds.
    ///
    /// # Errors
    /// See [`SealingError`].
    pub fn open_or_create(directory: &Path, now: u64) -> Result<SealingFile, SealingError> {
        let path = directory.join(SEALING_FILE);
        match File::open(&path) {
            Ok(file) => SealingFile::read(path, file),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let file = SealingFile {
                    path,
                    keys: vec![StoredKey::generate(now)],
                };
                match file.write(false) {
                    // Another process was faster. Its keys count: it may have sealed with them
                    // already.
                    Err(SealingError::Io { path, source })
                        if source.kind() == io::ErrorKind::AlreadyExists =>
                    {
                        let made = File::open(&path);
                        let made = made.map_err(|source| SealingError::Io {
                            path: path.clone(),
                            source,
                        })?;
                        SealingFile::read(path, made)
                    }
                    written => written.map(|()| file),
                }
            }
            Err(source) => Err(SealingError::Io { path, source }),
        }
    }

    fn read(path: PathBuf, file: File) -> Result<SealingFile, SealingError> {
        let io_error = |source| SealingError::Io {
            path: path.clone(),
            source,
        };
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = file.metadata().map_err(io_error)?.permissions().mode();
            if mode & 0o077 != 0 {
                return Err(SealingError::Exposed { path });
            }
        }
        let mut text = String::new();
        file.take(MAX_BYTES)
            .read_to_string(&mut text)
            .map_err(io_error)?;
        let text = Secret::new(text);
        let unreadable = || SealingError::Unreadable { path: path.clone() };
        let document: Document = serde_json::from_str(text.expose()).map_err(|_| unreadable())?;
        let sound = document.version == 1
            && !document.keys.is_empty()
            && document.keys.iter().all(|key| key.open().is_some());
        if !sound {
            return Err(unreadable());
        }
        Ok(SealingFile {
            path,
            keys: document.keys,
        })
    }

    /// Writes the file whole. Without `replace`, an existing one stays, and that is an error.
    fn write(&self, replace: bool) -> Result<(), SealingError> {
        let io_error = |source| SealingError::Io {
            path: self.path.clone(),
            source,
        };
        let document = Document {
            version: 1,
            keys: self.keys.clone(),
        };
        let text = serde_json::to_vec_pretty(&document)
            .map(Secret::new)
            .map_err(|error| io_error(error.into()))?;
        // A name of its own for each writer; what a crash left behind is no use to anybody.
        let unique = base64url::encode(&signet_crypto::random::bytes::<8>());
        let beside = self.path.with_extension(format!("{unique}.new"));
        let write = || -> io::Result<()> {
            let mut options = OpenOptions::new();
            options.write(true).create_new(true);
            #[cfg(unix)]
            {
                use std::os::unix::fs::OpenOptionsExt;
                options.mode(0o600);
            }
            let mut file = options.open(&beside)?;
            file.write_all(text.expose())?;
            file.sync_all()?;
            if replace {
                fs::rename(&beside, &self.path)?;
            } else {
                fs::hard_link(&beside, &self.path)?;
                fs::remove_file(&beside)?;
            }
            // The new name is durable when its directory is.
            match self.path.parent() {
                Some(directory) => File::open(directory)?.sync_all(),
                None => Ok(()),
            }
        };
        write()
            .inspect_err(|_| drop(fs::remove_file(&beside)))
            .map_err(io_error)
    }

    /// The current key, and the older ones.
    pub fn keys(&self) -> (SealingKey, Vec<SealingKey>) {
        let mut keys = self.keys.iter().filter_map(StoredKey::open);
        // Invariant: there is a key, and each was opened when it was read or encoded by `generate`.
        let current = keys.next().expect("a sealing key that opens");
        (current, keys.collect())
    }

    /// The default realm's ring of these keys.
    pub fn keyring(&self) -> Keyring {
        let (current, older) = self.keys();
        Keyring::new(current, older)
    }

    /// Puts a new key in front. The older ones still open; re-encrypt data at rest
    /// (`SigningKeys::rewrap`), and forget them when the longest-lived sealed value has expired.
    ///
    /// # Errors
    /// See [`SealingError`]; then nothing has changed.
    pub fn rotate(&mut self, now: u64) -> Result<(), SealingError> {
        let before = self.keys.clone();
        if let Some(current) = self.keys.first_mut() {
            current.retired_at = Some(now);
        }
        self.keys.insert(0, StoredKey::generate(now));
        self.write(true).inspect_err(|_| self.keys = before)
    }

    /// Forgets older keys that sealed nothing since `moment` (Unix seconds); how many.
    ///
    /// # Errors
    /// See [`SealingError`]; then nothing has changed.
    pub fn forget_retired_before(&mut self, moment: u64) -> Result<usize, SealingError> {
        let before = self.keys.clone();
        self.keys
            .retain(|key| key.retired_at.is_none_or(|retired| retired >= moment));
        let count = before.len() - self.keys.len();
        if count > 0 {
            self.write(true).inspect_err(|_| self.keys = before)?;
        }
        Ok(count)
    }

    /// How many keys there are.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Never: there is always one that seals.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }
}

impl StoredKey {
    fn generate(now: u64) -> StoredKey {
        let key = SealingKey::generate();
        StoredKey {
            id: base64url::encode(&key.id),
            key: base64url::encode(key.key.expose()),
            created_at: now,
            retired_at: None,
        }
    }

    fn open(&self) -> Option<SealingKey> {
        let id = base64url::decode(self.id.as_bytes()).ok()?;
        let key = Secret::new(base64url::decode(self.key.as_bytes()).ok()?);
        Some(SealingKey {
            id: id.try_into().ok()?,
            key: Secret::new(key.expose().as_slice().try_into().ok()?),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use signet_crypto::seal::Purpose;

    #[test]
    fn the_file_is_private_and_opens_what_it_sealed_after_a_restart_and_a_rotation() {
        let directory = tempfile::tempdir().expect("a directory");
        let file = SealingFile::open_or_create(directory.path(), 1).expect("is made");
        let first = file.keyring();
        let sealed = first.seal(Purpose::SigningKey, b"x").expect("seals");

        let mut again = SealingFile::open_or_create(directory.path(), 2).expect("is read");
        assert_eq!(again.keyring().current_id(), first.current_id());
        again.rotate(3).expect("rotates");

        let again = SealingFile::open_or_create(directory.path(), 4).expect("is read");
        assert_ne!(again.keyring().current_id(), first.current_id());
        let opened = again.keyring().open(Purpose::SigningKey, &sealed);
        assert_eq!(opened.expect("opens"), b"x");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let path = directory.path().join(SEALING_FILE);
            let mode = |path: &Path| fs::metadata(path).expect("is there").permissions().mode();
            assert_eq!(mode(&path) & 0o777, 0o600);
            fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).expect("is set");
            let exposed = SealingFile::open_or_create(directory.path(), 5);
            assert!(matches!(exposed, Err(SealingError::Exposed { .. })));
        }
    }

    #[test]
    fn of_racing_first_starts_all_have_the_same_keys() {
        let directory = tempfile::tempdir().expect("a directory");
        let ids: Vec<_> = std::thread::scope(|scope| {
            let open = || {
                let file = SealingFile::open_or_create(directory.path(), 1).expect("opens");
                file.keyring().current_id()
            };
            let starts: Vec<_> = (0..8).map(|_| scope.spawn(open)).collect();
            starts
                .into_iter()
                .map(|start| start.join().expect("ends"))
                .collect()
        });
        assert!(ids.iter().all(|id| *id == ids[0]));
        let files = fs::read_dir(directory.path()).expect("lists").count();
        assert_eq!(files, 1);
    }

    #[test]
    fn only_keys_that_sealed_nothing_lately_are_forgotten() {
        let directory = tempfile::tempdir().expect("a directory");
        let mut file = SealingFile::open_or_create(directory.path(), 1).expect("is made");
        file.rotate(100).expect("rotates");
        file.rotate(200).expect("rotates");
        assert_eq!(file.forget_retired_before(150).expect("writes"), 1);
        assert_eq!(file.len(), 2);
        assert_eq!(file.forget_retired_before(u64::MAX).expect("writes"), 1);
        assert_eq!(file.len(), 1);
    }

    #[test]
    fn a_file_that_is_not_ours_is_refused_and_left_alone() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join(SEALING_FILE);
        for text in [
            "",
            "{}",
            r#"{"version":1,"keys":[]}"#,
            r#"{"version":2,"keys":[]}"#,
        ] {
            fs::write(&path, text).expect("writes");
            #[cfg(unix)]
            {
                use std::os::unix::fs::PermissionsExt;
                fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("is set");
            }
            let refused = SealingFile::open_or_create(directory.path(), 1);
            assert!(matches!(refused, Err(SealingError::Unreadable { .. })));
            assert_eq!(fs::read_to_string(&path).expect("is there"), text);
        }
    }
}
