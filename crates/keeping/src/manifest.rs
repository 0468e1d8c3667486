//! What a backup says of itself: its first file.

use serde::{Deserialize, Serialize};

use signet_archive::Entry;

/// The manifest's name in a backup.
pub const MANIFEST: &str = "backup.json";
/// Begins the names of the files of the data directory.
pub const DATA: &str = "data/";
/// Begins the names of the configuration file and of those that it names.
pub const CONFIGURATION: &str = "configuration/";

/// The form that this version writes, and the newest that it reads.
pub const VERSION: u32 = 1;

/// Longest manifest, in bytes.
pub const MAX_MANIFEST_BYTES: u64 = 1024 * 1024;

/// Which store a backup is of.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Engine {
    /// The embedded one, of a single server.
    Sqlite,
    /// The embedded one, replicated by consensus: one node's copy.
    Replicated,
    /// A database that lies elsewhere, and is not in the backup.
    Postgres,
}

impl Engine {
    /// As it is written.
    pub const fn name(self) -> &'static str {
        match self {
            Engine::Sqlite => "sqlite",
            Engine::Replicated => "replicated",
            Engine::Postgres => "postgres",
        }
    }
}

/// Where a database that is not in the backup was, in its own time, before the rest was read.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Database {
    /// Its address, without a password.
    pub address: String,
    /// What it calls itself.
    pub server: String,
    /// The place in its log (`recovery_target_lsn`); none of one that has no such log.
    pub lsn: Option<String>,
    /// Its clock, Unix milliseconds.
    pub now_ms: u64,
}

/// A file of the configuration.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConfigurationFile {
    /// Where it lay.
    pub path: String,
    /// Its name in the backup.
    pub name: String,
}

/// See the module.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// The form of the backup.
    pub version: u32,
    /// The version of the program that made it.
    pub signet: String,
    /// The moment that the database is of, Unix seconds.
    pub made_at: u64,
    /// The issuer, where it is known.
    pub issuer: Option<String>,
    /// The name of the node, where it is one of several.
    pub node: Option<String>,
    /// The store.
    pub engine: Engine,
    /// The version of the database's schema.
    pub schema: u32,
    /// The directory of the embedded database, below the data directory; empty: that itself.
    pub rows: String,
    /// The database, where it is not in the backup.
    pub database: Option<Database>,
    /// Where the data directory lay.
    pub data_dir: String,
    /// The configuration file, and the files that it names.
    pub configuration: Vec<ConfigurationFile>,
}

/// Why a manifest is none.
#[derive(Debug, thiserror::Error)]
pub enum ManifestError {
    /// The first file is another one, or too long.
    #[error("it is no backup of Signet's: its first file is not {MANIFEST}")]
    Missing,
    /// It cannot be read.
    #[error("its {MANIFEST} cannot be read: {0}")]
    Unreadable(String),
    /// A later form.
    #[error(
        "it is of form {0}, and this version reads form {VERSION}: use the version that made it, or a later one"
    )]
    Version(u32),
}

impl Manifest {
    /// Reads a manifest: its entry, and its content.
    ///
    /// # Errors
    /// See [`ManifestError`].
    pub fn parse(text: &[u8]) -> Result<Manifest, ManifestError> {
        #[derive(Deserialize)]
        struct Form {
            version: u32,
        }
        let unreadable = |error: serde_json::Error| ManifestError::Unreadable(error.to_string());
        // The form first: a later one may have members that this one does not know.
        let form: Form = serde_json::from_slice(text).map_err(unreadable)?;
        if form.version != VERSION {
            return Err(ManifestError::Version(form.version));
        }
        let manifest: Manifest = serde_json::from_slice(text).map_err(unreadable)?;
        let wrong = |what: &str| Err(ManifestError::Unreadable(what.to_owned()));
        let rows = &manifest.rows;
        if !rows.is_empty() && signet_archive::is_name(rows).is_err() {
            return wrong("the directory of its rows is no name");
        }
        if (manifest.engine == Engine::Postgres) != manifest.database.is_some() {
            return wrong("its engine and its database do not fit");
        }
        Ok(manifest)
    }

    /// Whether an entry can be a manifest's.
    pub fn is_one(entry: &Entry) -> bool {
        entry.name == MANIFEST && entry.size <= MAX_MANIFEST_BYTES
    }

    /// Its bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        // Invariant: texts and numbers always serialize.
        let mut text = serde_json::to_vec_pretty(self).unwrap_or_default();
        text.push(b'\n');
        text
    }
}
