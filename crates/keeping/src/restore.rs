//! `signet restore`: a data directory from a backup, whole or not at all.
//!
//! A restored store has forgotten what happened since it was copied. What could be consumed a
//! second time by that is taken out of the world here, before a server starts on it: everything
//! that was sealed for one answer stops opening ([`Opens::Lasting`]), and codes and invitations
//! that wait in the store are removed.

use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt, lchown};
use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::json;
use signet_crypto::seal::Opens;
use signet_crypto::{private_file, random};
use signet_registry::keys::SealingFile;
use signet_store::Table;
use signet_store::sqlite::{self};
use signet_terminal::output::date;
use signet_terminal::{Failure, Output, Progress};

use crate::backup::merge;
use crate::check::{self, Checked};
use crate::given::Opening;
use crate::manifest::{Engine, Manifest};
use crate::moment::now;
use crate::unpack::{self, Key, RESTORED_CONFIGURATION, UnpackError, Unpacked};

/// What waits in the store to be consumed, and may have been since: a table, and what the
/// partitions begin with.
const WAITING: &[(Table, &[u8], &str)] = &[
    (Table::OneTimeCode, b"", "mailed codes"),
    (Table::UserCode, b"", "user codes of devices"),
    (Table::DeviceCode, b"", "device codes"),
    (Table::Once, b"node invitation ", "invitations of nodes"),
    (Table::Once, b"console link", "links of a first start"),
];

/// `signet restore ...`
#[derive(Debug, Args)]
pub struct Restore {
    /// The backup, as `signet backup` wrote it.
    #[arg(long, value_name = "FILE")]
    from: PathBuf,
    #[command(flatten)]
    opening: Opening,
    /// The data directory to make; it must not exist, or be empty.
    #[arg(long, value_name = "DIR")]
    data_dir: PathBuf,
    /// Log everybody out, too: refresh tokens and session cookies of before are refused. Where the
    /// backup is old, or what happened since matters more than that people log in again.
    #[arg(long)]
    end_sessions: bool,
}

/// The directory that is made, until it has its name.
struct Part(Option<PathBuf>);

impl Drop for Part {
    fn drop(&mut self) {
        if let Some(path) = &self.0 {
            // A part of a server must not look like one.
            let _ = fs::remove_dir_all(path);
        }
    }
}

impl Restore {
    /// Does the command.
    ///
    /// # Errors
    /// Exit 1: the backup is none, is damaged or does not open, or the directory is not empty; exit
    /// 2: what cannot be read or written.
    pub fn run(&self, output: &Output) -> Result<(), Failure> {
        let owner = self.owner()?;
        fs::metadata(&self.from)
            .map_err(|e| Failure::unusable(format!("{}: {e}", self.from.display())))?;
        let identity = self.opening.identity()?;
        let path = self.part()?;
        let mut part = Part(Some(path.clone()));
        let unusable = |e: &dyn std::fmt::Display| Failure::unusable(e.to_string());

        let progress = Progress::of("Restoring");
        let unpacked = unpack::unpack(
            &self.from,
            &Key::Identity(&identity),
            &path,
            &mut |done, all| {
                progress.at(done, all);
            },
        );
        let unpacked = unpacked.map_err(|error| self.refused(&error))?;
        let manifest = &unpacked.manifest;
        let checked = check::check(&path, manifest).map_err(|why| {
            Failure::no(
                "damaged",
                format!("{}: {why}; nothing was restored", self.from.display()),
            )
        })?;
        let forgotten = self.forget(&path, manifest)?;
        if let Some((uid, gid)) = owner {
            give(&path, uid, gid).map_err(|e| unusable(&e))?;
        }
        unpack::sync_directories(&path).map_err(|e| unusable(&e))?;
        drop(progress);

        // An empty directory is replaced by it.
        private_file::rename(&path, &self.data_dir).map_err(|e| self.not_renamed(&e))?;
        part.0 = None;
        self.answer(&unpacked, &checked, &forgotten, output)
    }

    /// Whose the directory is, where it is there and this process may give files away; refuses one
    /// that is not empty.
    fn owner(&self) -> Result<Option<(u32, u32)>, Failure> {
        let shown = self.data_dir.display();
        match fs::read_dir(&self.data_dir) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Failure::unusable(format!("{shown}: {error}"))),
            Ok(mut entries) => {
                if entries.next().is_some() {
                    return Err(Failure::no(
                        "not_empty",
                        format!(
                            "{shown} is not empty: name a directory that does not exist, or move what is there away"
                        ),
                    ));
                }
                let about = fs::metadata(&self.data_dir)
                    .map_err(|e| Failure::unusable(format!("{shown}: {e}")))?;
                let is_root = rustix::process::geteuid().is_root();
                Ok(is_root.then(|| (about.uid(), about.gid())))
            }
        }
    }

    fn not_renamed(&self, error: &io::Error) -> Failure {
        let shown = self.data_dir.display();
        Failure::unusable(match error.kind() {
            // Of another file system: nothing beside it can become it by one rename.
            io::ErrorKind::ResourceBusy | io::ErrorKind::CrossesDevices => format!(
                "{shown} is where a file system is mounted: name a directory in it, which the restore makes"
            ),
            _ => format!("{shown}: {error}"),
        })
    }

    /// A private directory beside the one that is wanted, so that one rename makes it.
    fn part(&self) -> Result<PathBuf, Failure> {
        let mut name = match self.data_dir.file_name() {
            Some(name) => name.to_owned(),
            None => {
                return Err(Failure::unusable(format!(
                    "{} names no directory that can be made",
                    self.data_dir.display()
                )));
            }
        };
        name.push(format!(
            ".{:016x}.part",
            u64::from_be_bytes(random::bytes())
        ));
        let path = self.data_dir.with_file_name(name);
        private_file::directory(&path)
            .map_err(|e| Failure::unusable(format!("{}: {e}", path.display())))?;
        Ok(path)
    }

    fn refused(&self, error: &UnpackError) -> Failure {
        let text = format!("{}: {error}; nothing was restored", self.from.display());
        match error.name() {
            Some(name) => Failure::no(name, text),
            None => Failure::unusable(text),
        }
    }

    /// See the module. What was removed, for people.
    fn forget(&self, directory: &Path, manifest: &Manifest) -> Result<Vec<String>, Failure> {
        let unusable = |e: &dyn std::fmt::Display| Failure::unusable(e.to_string());
        let opens = match (manifest.engine, self.end_sessions) {
            // The rows are where they are, and have forgotten nothing. Were this node to begin with
            // a key of its own, the others could not open what it seals.
            (Engine::Postgres, false) => return Ok(Vec::new()),
            (Engine::Postgres, true) => {
                return Err(Failure::unusable(
                    "--end-sessions is for backups that hold the rows: these are in PostgreSQL (signet revoke --before, signet key rotate --compromised)",
                ));
            }
            (Engine::Sqlite | Engine::Replicated, false) => Opens::Lasting,
            (Engine::Sqlite | Engine::Replicated, true) => Opens::AtRest,
        };
        let mut sealing =
            SealingFile::open_or_create(directory, now()).map_err(|e| unusable(&e))?;
        sealing
            .begin_again(opens, now())
            .map_err(|e| unusable(&e))?;
        let rows = directory.join(&manifest.rows);
        let mut forgotten = vec!["codes, pushed requests, open pages and mailed links".to_owned()];
        for (table, begins, name) in WAITING {
            let count = sqlite::forget(&rows, *table, begins).map_err(|e| unusable(&e))?;
            if count > 0 {
                forgotten.push(format!("{count} {name}"));
            }
        }
        if self.end_sessions {
            forgotten.push("refresh tokens and sessions".to_owned());
        }
        Ok(forgotten)
    }

    fn answer(
        &self,
        unpacked: &Unpacked,
        checked: &Checked,
        forgotten: &[String],
        output: &Output,
    ) -> Result<(), Failure> {
        let manifest = &unpacked.manifest;
        let next = next(manifest, &self.data_dir);
        let mut answer = json!({
            "data_dir": self.data_dir,
            "made_at": manifest.made_at,
            "issuer": manifest.issuer,
            "node": manifest.node,
            "engine": manifest.engine.name(),
            "signet": manifest.signet,
            "files": unpacked.files,
            "bytes": unpacked.bytes,
            "database": manifest.database,
            "configuration": manifest.configuration,
            "ended": forgotten,
            "next": next,
        });
        merge(&mut answer, checked.to_json());
        output.print(&answer, || {
            let mut lines = vec![format!(
                "{}: {} files, {} bytes, as of {}",
                self.data_dir.display(),
                unpacked.files,
                unpacked.bytes,
                date(manifest.made_at)
            )];
            lines.extend(checked.lines());
            if !forgotten.is_empty() {
                lines.push(format!(
                    "ended, because they may have been used since: {}",
                    forgotten.join(", ")
                ));
            }
            lines.extend(next);
            lines.join("\n")
        })
    }
}

/// What whoever restores has to do besides.
fn next(manifest: &Manifest, data_dir: &Path) -> Vec<String> {
    let mut next = Vec::new();
    if !manifest.configuration.is_empty() {
        next.push(format!(
            "The configuration is in {}: put its files where they were ({}).",
            data_dir.join(RESTORED_CONFIGURATION).display(),
            manifest
                .configuration
                .iter()
                .map(|file| file.path.as_str())
                .collect::<Vec<_>>()
                .join(", ")
        ));
    }
    match (manifest.engine, &manifest.database) {
        (Engine::Sqlite, _) => {}
        (Engine::Replicated, _) => next.push(format!(
            "This is one node of several, {}. Start it only if all are lost, after `signet node recover --data-dir {}`; otherwise let a new node join.",
            manifest.node.as_deref().unwrap_or("without a name"),
            data_dir.display()
        )),
        (Engine::Postgres, None) => {}
        (Engine::Postgres, Some(database)) => next.push(format!(
            "The rows are in {}: if they are lost, too, recover them up to {} or a little later.",
            database.address,
            match &database.lsn {
                Some(lsn) => format!("{lsn} (recovery_target_lsn)"),
                None => format!("{} (Unix milliseconds of its clock)", database.now_ms),
            }
        )),
    }
    if manifest.engine != Engine::Postgres {
        next.push(
            "Revocations and logouts since then are forgotten: `signet key rotate --compromised` ends every access token, --end-sessions every session.".to_owned(),
        );
    }
    next
}

/// Gives everything in a directory, and itself, to a user.
fn give(path: &Path, uid: u32, gid: u32) -> io::Result<()> {
    if fs::symlink_metadata(path)?.is_dir() {
        for entry in fs::read_dir(path)? {
            give(&entry?.path(), uid, gid)?;
        }
    }
    lchown(path, Some(uid), Some(gid))
}
