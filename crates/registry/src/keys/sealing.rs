//! The keys that seal, in a file of the data directory.
//!
//! They stay out of the store on purpose: a copy of the database alone opens nothing. The file is
//! written whole, beside the old one, and moved into its place; a crash leaves the one or the
//! other.
//!
//! Where several nodes serve one issuer, all of them have the same keys, and a new one comes in two
//! steps: it is known to every node ([`SealingFile::prepare`]) before any of them seals with it
//! ([`SealingFile::promote`]). Of the keys that are not retired the earliest seals, so two files
//! that know the same keys agree ([`SealingFile::take_over`]).
use serde::{Deserialize, Serialize};
use signet_crypto::{
    Secret, private_file,
    seal::{Keyring, Opens, SealingKey},
};
use signet_encoding::base64url;
use signet_merge::tell::BoxFuture;
use signet_store::NodeId;
use std::{
    fs::File,
    io::{self, Read},
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
    /// What another node announced is not what was written.
    #[error("another node's sealing keys cannot be read")]
    Announced,
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
    /// The first seals, all open. One that is not retired and not the first is prepared: every node
    /// has to know it before it seals.
    keys: Vec<StoredKey>,
}

impl Document {
    fn parse(text: &[u8]) -> Option<Document> {
        let document: Document = serde_json::from_slice(text).ok()?;
        let sound = document.version == 1
            && !document.keys.is_empty()
            && document.keys.iter().all(|key| key.open().is_some());
        sound.then_some(document)
    }
}

#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredKey {
    id: String,
    key: String,
    created_at: u64,
    /// Seals no more since then.
    retired_at: Option<u64>,
    /// What it still opens. Absent: everything, so that a file without it is what earlier versions
    /// read.
    #[serde(default, skip_serializing_if = "StoredOpens::is_all")]
    opens: StoredOpens,
}

/// [`Opens`], as the file has it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum StoredOpens {
    #[default]
    All,
    Lasting,
    AtRest,
}

impl StoredOpens {
    #[allow(
        clippy::trivially_copy_pass_by_ref,
        reason = "serde hands in a reference"
    )]
    fn is_all(&self) -> bool {
        *self == StoredOpens::All
    }

    fn of(opens: Opens) -> StoredOpens {
        match opens {
            Opens::All => StoredOpens::All,
            Opens::Lasting => StoredOpens::Lasting,
            Opens::AtRest => StoredOpens::AtRest,
        }
    }

    fn opens(self) -> Opens {
        match self {
            StoredOpens::All => Opens::All,
            StoredOpens::Lasting => Opens::Lasting,
            StoredOpens::AtRest => Opens::AtRest,
        }
    }
}

impl Drop for StoredKey {
    fn drop(&mut self) {
        drop(Secret::new(std::mem::take(&mut self.key)));
    }
}

/// Brings the sealing keys to the other nodes of the issuer, to each sealed to its own key.
pub trait ShareSealingKeys: Send + Sync {
    /// `keys`: [`SealingFile::to_bytes`], which each node takes over ([`SealingFile::take_over`]).
    /// Who could not be reached, of all members.
    fn share(&self, keys: Secret<Vec<u8>>) -> BoxFuture<'_, Vec<NodeId>>;
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
        let document = Document::parse(text.expose().as_bytes()).ok_or_else(unreadable)?;
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
        let written = match replace {
            true => private_file::write(&self.path, text.expose()),
            false => private_file::create(&self.path, text.expose()),
        };
        written.map_err(io_error)
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

    /// The file of a node that joins others: theirs, or, where it has one, both together.
    /// `announced`: their [`SealingFile::to_bytes`].
    ///
    /// # Errors
    /// See [`SealingError`].
    pub fn adopt(directory: &Path, announced: &[u8]) -> Result<SealingFile, SealingError> {
        let path = directory.join(SEALING_FILE);
        match File::open(&path) {
            Ok(file) => {
                let mut file = SealingFile::read(path, file)?;
                file.take_over(announced)?;
                Ok(file)
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let announced = Document::parse(announced).ok_or(SealingError::Announced)?;
                let keys = announced.keys;
                let file = SealingFile { path, keys };
                file.write(false)?;
                Ok(file)
            }
            Err(source) => Err(SealingError::Io { path, source }),
        }
    }

    /// The keys, for another node of the same issuer. They go nowhere but sealed to that node.
    pub fn to_bytes(&self) -> Secret<Vec<u8>> {
        let document = Document {
            version: 1,
            keys: self.keys.clone(),
        };
        // Invariant: strings and numbers always serialize.
        Secret::new(serde_json::to_vec(&document).expect("sealing keys serialize"))
    }

    /// Knows from now on what another node of the same issuer announced, beside its own; whether
    /// that is anything new. Which key seals follows from what both know.
    ///
    /// # Errors
    /// See [`SealingError`]; then nothing has changed.
    pub fn take_over(&mut self, announced: &[u8]) -> Result<bool, SealingError> {
        let announced = Document::parse(announced).ok_or(SealingError::Announced)?;
        let before = self.keys.clone();
        let mut changed = false;
        for key in &announced.keys {
            match self.keys.iter_mut().find(|known| known.id == key.id) {
                None => {
                    self.keys.push(key.clone());
                    changed = true;
                }
                // Retired by one is retired, since the earlier moment that any knows.
                Some(known) => {
                    let retired = [known.retired_at, key.retired_at];
                    let retired = retired.into_iter().flatten().min();
                    // And so is narrowed by one.
                    let opens = known.opens.max(key.opens);
                    changed |= retired != known.retired_at || opens != known.opens;
                    (known.retired_at, known.opens) = (retired, opens);
                }
            }
        }
        if changed {
            self.keep(before)?;
        }
        Ok(changed)
    }

    /// Makes a new key that opens, and does not seal yet; where there is one already, that stays.
    ///
    /// # Errors
    /// See [`SealingError`]; then nothing has changed.
    pub fn prepare(&mut self, now: u64) -> Result<(), SealingError> {
        if self.prepared() {
            return Ok(());
        }
        let before = self.keys.clone();
        // After the one that seals, whatever the clocks of those who made them said.
        let created_at = self.keys.iter().map(|key| key.created_at.saturating_add(1));
        let created_at = created_at.max().unwrap_or(now).max(now);
        self.keys.push(StoredKey::generate(created_at));
        self.keep(before)
    }

    fn prepared(&self) -> bool {
        self.keys.iter().filter(|key| key.seals()).count() > 1
    }

    /// Lets the prepared key seal from now on, where there is one. The older ones still open;
    /// re-encrypt data at rest (`SigningKeys::rewrap`), and forget them when the longest-lived
    /// sealed value has expired.
    ///
    /// # Errors
    /// See [`SealingError`]; then nothing has changed.
    pub fn promote(&mut self, now: u64) -> Result<(), SealingError> {
        if !self.prepared() {
            return Ok(());
        }
        let before = self.keys.clone();
        if let Some(current) = self.keys.first_mut() {
            current.retired_at = Some(now);
        }
        self.keep(before)
    }

    /// Both at once, where there is one node.
    ///
    /// # Errors
    /// See [`SealingError`].
    pub fn rotate(&mut self, now: u64) -> Result<(), SealingError> {
        self.prepare(now)?;
        self.promote(now)
    }

    /// Begins again, after the store was put back to an earlier moment: a new key seals, and all
    /// that were there open no more than this. The store has forgotten what was consumed since that
    /// moment, and what they sealed for one answer could be consumed again.
    ///
    /// # Errors
    /// See [`SealingError`]; then nothing has changed.
    pub fn begin_again(&mut self, opens: Opens, now: u64) -> Result<(), SealingError> {
        let before = self.keys.clone();
        let opens = StoredOpens::of(opens);
        let created_at = self.keys.iter().map(|key| key.created_at.saturating_add(1));
        let created_at = created_at.max().unwrap_or(now).max(now);
        for key in &mut self.keys {
            key.retired_at.get_or_insert(now);
            key.opens = key.opens.max(opens);
        }
        self.keys.push(StoredKey::generate(created_at));
        self.keep(before)
    }

    /// Puts the one that seals in front and writes the file.
    fn keep(&mut self, before: Vec<StoredKey>) -> Result<(), SealingError> {
        self.keys.sort_by(|a, b| {
            (!a.seals(), a.created_at, &a.id).cmp(&(!b.seals(), b.created_at, &b.id))
        });
        // Two nodes may have retired each other's: the newest goes on.
        if self.keys.iter().all(|key| !key.seals()) {
            self.keys.rotate_right(1);
            if let Some(newest) = self.keys.first_mut() {
                newest.retired_at = None;
            }
        }
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
            opens: StoredOpens::All,
        }
    }

    /// It is not retired: it seals, or is prepared to.
    const fn seals(&self) -> bool {
        self.retired_at.is_none()
    }

    fn open(&self) -> Option<SealingKey> {
        let id = base64url::decode(self.id.as_bytes()).ok()?;
        let key = Secret::new(base64url::decode(self.key.as_bytes()).ok()?);
        Some(SealingKey {
            id: id.try_into().ok()?,
            key: Secret::new(key.expose().as_slice().try_into().ok()?),
            opens: self.opens.opens(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use signet_crypto::seal::Purpose;
    use std::fs;

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
    fn after_it_began_again_older_keys_open_what_lasts_and_every_node_learns_it() {
        let directory = tempfile::tempdir().expect("a directory");
        let other = tempfile::tempdir().expect("a directory");
        let mut file = SealingFile::open_or_create(directory.path(), 1).expect("is made");
        let ring = file.keyring();
        let code = ring.seal(Purpose::AuthorizationCode, b"x").expect("seals");
        let token = ring.seal(Purpose::RefreshToken, b"x").expect("seals");
        let key = ring.seal(Purpose::SigningKey, b"x").expect("seals");
        let before = file.to_bytes();
        // One that was prepared may have sealed since.
        file.prepare(2).expect("is prepared");
        file.begin_again(Opens::Lasting, 3).expect("begins again");

        let check = |file: &SealingFile, opens_tokens: bool| {
            let ring = file.keyring();
            assert_ne!(Keyring::id_of(&code), Some(ring.current_id()));
            assert!(ring.open(Purpose::AuthorizationCode, &code).is_err());
            assert_eq!(
                ring.open(Purpose::RefreshToken, &token).is_ok(),
                opens_tokens
            );
            assert!(ring.open(Purpose::SigningKey, &key).is_ok());
            let fresh = ring.seal(Purpose::AuthorizationCode, b"x").expect("seals");
            assert!(ring.open(Purpose::AuthorizationCode, &fresh).is_ok());
        };
        check(&file, true);
        let again = SealingFile::open_or_create(directory.path(), 4).expect("is read");
        check(&again, true);
        // A node that had the keys before takes the narrower of the two, in either order.
        let mut known = SealingFile::adopt(other.path(), before.expose()).expect("is taken");
        assert!(known.take_over(file.to_bytes().expose()).expect("is taken"));
        check(&known, true);
        file.take_over(before.expose()).expect("is taken");
        check(&file, true);
        file.begin_again(Opens::AtRest, 5).expect("begins again");
        check(&file, false);
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
    fn a_new_key_is_known_to_all_before_any_node_seals_with_it() {
        let here = tempfile::tempdir().expect("a directory");
        let there = tempfile::tempdir().expect("a directory");
        let mut one = SealingFile::open_or_create(here.path(), 1).expect("is made");
        let announced = |file: &SealingFile| file.to_bytes().expose().clone();
        let mut two = SealingFile::adopt(there.path(), &announced(&one)).expect("is made");
        let first = one.keyring().current_id();
        assert_eq!(two.keyring().current_id(), first);

        one.prepare(100).expect("writes");
        one.prepare(101).expect("writes");
        assert_eq!((one.len(), one.keyring().current_id()), (2, first));
        assert!(two.take_over(&announced(&one)).expect("reads"));
        assert!(!two.take_over(&announced(&one)).expect("reads"));
        assert_eq!(two.keyring().current_id(), first);

        one.promote(200).expect("writes");
        let second = one.keyring().current_id();
        assert_ne!(second, first);
        // Each opens what the other seals, before and after it hears of it.
        let sealed = [&one, &two].map(|file| file.keyring().seal(Purpose::SigningKey, b"x"));
        for sealed in sealed {
            let sealed = sealed.expect("seals");
            for file in [&one, &two] {
                file.keyring()
                    .open(Purpose::SigningKey, &sealed)
                    .expect("opens");
            }
        }
        // What is heard twice or backwards changes nothing.
        let old = announced(&two);
        assert!(two.take_over(&announced(&one)).expect("reads"));
        assert!(!one.take_over(&old).expect("reads"));
        assert_eq!(two.keyring().current_id(), second);
        let again = SealingFile::open_or_create(there.path(), 300).expect("is read");
        assert_eq!(again.keyring().current_id(), second);
        assert!(two.take_over(b"{}").is_err());
    }

    #[test]
    fn nodes_that_rotate_at_once_agree_on_one_key() {
        let here = tempfile::tempdir().expect("a directory");
        let there = tempfile::tempdir().expect("a directory");
        let mut one = SealingFile::open_or_create(here.path(), 1).expect("is made");
        let announced = |file: &SealingFile| file.to_bytes().expose().clone();
        let mut two = SealingFile::adopt(there.path(), &announced(&one)).expect("is made");
        one.rotate(100).expect("writes");
        two.rotate(101).expect("writes");
        let (first, second) = (announced(&one), announced(&two));
        one.take_over(&second).expect("reads");
        two.take_over(&first).expect("reads");
        assert_eq!(one.keyring().current_id(), two.keyring().current_id());
        assert_eq!((one.len(), two.len()), (3, 3));
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
