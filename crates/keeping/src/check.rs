//! Whether what a backup holds is a server: checked on what was unpacked of it, before anybody
//! relies on it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Value, json};
use signet_crypto::seal::Keyring;
use signet_registry::keys::{self, SEALING_FILE, SealingFile};
use signet_store::sqlite::{self, DATABASE_FILE, LOCK_FILE, Options};
use signet_store::{RealmId, RealmStore, SqliteStore, Store};

use crate::manifest::{Engine, Manifest};
use crate::moment::now;
use crate::trail::{self, OfNode};

/// A trail that verifies.
#[derive(Debug)]
pub(crate) struct CheckedTrail {
    /// Its directory, below the data directory.
    pub directory: String,
    /// Whose it is.
    pub node: String,
    /// Its records, those that left before among them.
    pub records: u64,
    /// When the last of them was signed, Unix milliseconds.
    pub last_signed_at: Option<u64>,
}

/// What was found to be right.
#[derive(Debug)]
pub(crate) struct Checked {
    /// The realms beside the first.
    pub realms: Vec<String>,
    /// Signing keys that the sealing keys open; none where the rows are not in the backup.
    pub signing_keys: Option<usize>,
    /// Bytes of the database.
    pub database_bytes: Option<u64>,
    /// The trails, each of a realm and a node.
    pub trails: Vec<CheckedTrail>,
    /// What is wrong with trails: they were broken where they lay.
    pub broken: Vec<String>,
}

impl Checked {
    /// As members of an answer.
    pub(crate) fn to_json(&self) -> Value {
        let trails: Vec<Value> = self
            .trails
            .iter()
            .map(|trail| {
                json!({ "directory": trail.directory, "node": trail.node, "records": trail.records,
                        "last_signed_at": trail.last_signed_at })
            })
            .collect();
        json!({ "realms": self.realms, "signing_keys": self.signing_keys,
                "database_bytes": self.database_bytes, "trails": trails, "trail_broken": self.broken })
    }

    /// For people.
    pub(crate) fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if let (Some(bytes), Some(keys)) = (self.database_bytes, self.signing_keys) {
            lines.push(format!(
                "database: {bytes} bytes, whole; {keys} signing keys that its sealing keys open"
            ));
        }
        if !self.realms.is_empty() {
            lines.push(format!(
                "realms beside the first: {}",
                self.realms.join(", ")
            ));
        }
        let records: u64 = self.trails.iter().map(|trail| trail.records).sum();
        lines.push(match self.trails.len() {
            0 => "audit trail: none".to_owned(),
            1 => format!("audit trail: {records} records, verified"),
            trails => format!("audit trails: {trails}, {records} records, verified"),
        });
        let broken = self.broken.iter();
        lines.extend(broken.map(|why| format!("audit trail, not verified: {why}")));
        lines
    }
}

/// Checks a data directory that no server uses. It is opened as a start opens it: a database of an
/// earlier version is brought up to this one's. A trail that does not verify is said, and is no
/// reason to refuse the rest: that is for the caller to decide.
///
/// # Errors
/// For the operator: the first thing that is wrong.
pub(crate) fn check(directory: &Path, manifest: &Manifest) -> Result<Checked, String> {
    let sealing = directory.join(SEALING_FILE);
    if !sealing.is_file() {
        return Err(format!("{SEALING_FILE} is not in it"));
    }
    let sealing = SealingFile::open_or_create(directory, now()).map_err(|e| e.to_string())?;
    let mut databases = Vec::new();
    let mut trails = Vec::new();
    look(directory, directory, &mut databases, &mut trails)?;
    for database in &databases {
        sqlite::integrity(database).map_err(|e| e.to_string())?;
        if database
            .file_name()
            .is_some_and(|name| name == DATABASE_FILE)
        {
            sqlite::schema_of(database).map_err(|e| e.to_string())?;
        }
    }
    let mut checked = Checked {
        realms: Vec::new(),
        signing_keys: None,
        database_bytes: None,
        trails: Vec::new(),
        broken: Vec::new(),
    };
    let mut known = BTreeMap::new();
    if manifest.engine != Engine::Postgres {
        let rows = directory.join(&manifest.rows);
        let path = rows.join(DATABASE_FILE);
        let about = fs::metadata(&path).map_err(|e| format!("{DATABASE_FILE}: {e}"))?;
        checked.database_bytes = Some(about.len());
        let found = check_rows(&rows, &sealing, &trails)?;
        checked.realms = found.realms;
        checked.signing_keys = Some(found.keys);
        known = found.records;
    }
    for (at, (below, trail)) in trails.into_iter().enumerate() {
        let directory = below.display().to_string();
        let node = trail.node.as_str().to_owned();
        let verified = match trail.verified {
            Ok(verified) => verified,
            Err(why) => {
                checked.broken.push(format!("{directory}: {why}"));
                continue;
            }
        };
        let records = known.get(&at).copied().unwrap_or(0);
        if verified.lines < records {
            checked.broken.push(format!(
                "{directory}: it ends after {} records, and the database knows of {records}",
                verified.lines
            ));
        }
        checked.trails.push(CheckedTrail {
            directory,
            node,
            records: verified.lines,
            last_signed_at: verified.last.map(|last| last.at),
        });
    }
    Ok(checked)
}

/// The databases and the trails of a directory and those below it.
fn look(
    root: &Path,
    directory: &Path,
    databases: &mut Vec<PathBuf>,
    trails: &mut Vec<(PathBuf, OfNode)>,
) -> Result<(), String> {
    let unreadable = |e: std::io::Error| format!("{}: {e}", directory.display());
    let mut paths = Vec::new();
    for entry in fs::read_dir(directory).map_err(unreadable)? {
        paths.push(entry.map_err(unreadable)?.path());
    }
    paths.sort();
    let below = directory.strip_prefix(root).unwrap_or(directory);
    let found = trail::verify(directory).map_err(unreadable)?;
    trails.extend(found.into_iter().map(|trail| (below.to_owned(), trail)));
    for path in paths {
        if path.is_dir() {
            look(root, &path, databases, trails)?;
        } else if crate::sources::is_database(&path) {
            databases.push(path);
        }
    }
    Ok(())
}

/// Whose trail lies in a directory: those of further realms lie below the first one's.
fn realm_of(directory: &Path) -> RealmId {
    let name = directory.file_name().and_then(|name| name.to_str());
    let parent = directory.parent().and_then(Path::file_name);
    match (parent.is_some_and(|parent| parent == "realms"), name) {
        (true, Some(name)) => RealmId::parse(name).unwrap_or_default(),
        _ => RealmId::default_realm(),
    }
}

/// What the rows hold.
struct Rows {
    /// The realms beside the first that have any.
    realms: Vec<String>,
    /// Signing keys of all realms.
    keys: usize,
    /// By the place of a trail in the list: records that it has at least.
    records: BTreeMap<usize, u64>,
}

/// Opens the rows as a start does, and every signing key of every realm.
fn check_rows(
    rows: &Path,
    sealing: &SealingFile,
    trails: &[(PathBuf, OfNode)],
) -> Result<Rows, String> {
    let sizes = sqlite::sizes(rows).map_err(|e| e.to_string())?;
    let realms: BTreeSet<RealmId> = sizes.keys().map(|(realm, _)| realm.clone()).collect();
    let options = Options {
        reserve: 0,
        ..Options::default()
    };
    let store = SqliteStore::open(rows, options).map_err(|e| e.to_string())?;
    let store: Arc<dyn Store> = Arc::new(store);
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    let runtime = runtime.map_err(|e| format!("cannot start: {e}"))?;
    let counted = runtime.block_on(async {
        let mut keys = 0;
        for realm in &realms {
            let (current, older) = sealing.keys();
            let ring = Keyring::of_realm(realm.as_str(), current, older);
            let rows = RealmStore::new(realm, store.clone());
            let opened = keys::open_all(&rows, &ring, now()).await;
            keys += opened.map_err(|e| match realm.is_default() {
                true => e.to_string(),
                false => format!("realm {}: {e}", realm.as_str()),
            })?;
        }
        let mut records = BTreeMap::new();
        for (at, (directory, trail)) in trails.iter().enumerate() {
            let rows = RealmStore::new(&realm_of(directory), store.clone());
            let known = signet_audit::known_records(&rows, &trail.node, now()).await;
            records.extend(known.map_err(|e| e.to_string())?.map(|known| (at, known)));
        }
        Ok::<_, String>((keys, records))
    });
    store.close();
    drop(store);
    // What a start leaves beside the file is no part of a backup.
    for end in ["-wal", "-shm"] {
        let _ = fs::remove_file(rows.join(format!("{DATABASE_FILE}{end}")));
    }
    let _ = fs::remove_file(rows.join(LOCK_FILE));
    let (keys, records) = counted?;
    let realms = realms.into_iter().filter(|realm| !realm.is_default());
    Ok(Rows {
        realms: realms.map(|realm| realm.as_str().to_owned()).collect(),
        keys,
        records,
    })
}
