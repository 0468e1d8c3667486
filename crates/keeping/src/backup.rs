//! `signet backup`: everything of a server in one encrypted file, while it serves.

use std::fs::{self, File};
use std::io::{self, BufWriter, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::json;
use signet_age::{Encrypted, Identity, OwnKey, Recipient};
use signet_crypto::private_file;
use signet_node::Place as NodePlace;
use signet_registry::keys::SEALING_FILE;
use signet_store::sqlite::{self, DATABASE_FILE};
use signet_store::{Engine as StoreEngine, PostgresStore};
use signet_terminal::{Failure, Output, Progress};

use crate::check::{self, Checked};
use crate::given::Closing;
use crate::manifest::{DATA, Database, Engine, MANIFEST, Manifest, VERSION};
use crate::moment::now;
use crate::place::{Place, Which};
use crate::scratch::Scratch;
use crate::sources::{self, Source, SourceKind};
use crate::trail;
use crate::unpack::{self, Key};
use signet_archive::{Entry, Writer};

/// How often a backup is begun again because segments of the trail left while they were listed.
const MAX_TRIES: usize = 5;
/// Files up to this size are read before their header is written: they may be replaced meanwhile.
const SMALL: u64 = 1 << 20;
/// How much less than others this process wants of the processors, as `nice` has it: the server
/// that is copied comes first.
const NICE: i32 = 15;

/// `signet backup ...`
#[derive(Debug, Args)]
pub struct Backup {
    /// The file to write, on another disk. One that is there is replaced, once the new one has been
    /// verified.
    #[arg(long, value_name = "FILE")]
    to: PathBuf,
    #[command(flatten)]
    closing: Closing,
    #[command(flatten)]
    which: Which,
    /// Write it although the audit trail does not verify where it lies; the answer says what is
    /// wrong with it.
    #[arg(long)]
    with_broken_trail: bool,
}

/// What was written.
struct Written {
    manifest: Manifest,
    files: u64,
}

impl Backup {
    /// Does the command.
    ///
    /// # Errors
    /// Exit 2: what is missing or cannot be reached; exit 1: what was written does not verify.
    pub fn run(&self, output: &Output) -> Result<(), Failure> {
        let place = self.which.find(false)?;
        let rows = place.existing_rows()?;
        if !place.data_dir.join(SEALING_FILE).exists() {
            return Err(Failure::unusable(format!(
                "{} holds no {SEALING_FILE}: is it the data directory of a server?",
                place.data_dir.display()
            )));
        }
        let (recipient, identity) = self.closing.recipient()?;
        // The server's answers come first. Without the right to ask for that, nothing is lost.
        let _ = rustix::process::nice(NICE);
        let beside = rows.unwrap_or(&place.data_dir);
        let scratch = Scratch::begin(beside)
            .map_err(|e| Failure::unusable(format!("{}: {e}", beside.display())))?;
        let part = part_of(&self.to);
        let made = make(&place, &scratch, &part, &recipient, identity.as_ref());
        let made = made.and_then(|made| self.accept(made));
        if made.is_err() {
            // A part of a backup must not look like one.
            let _ = fs::remove_file(&part);
        }
        let (written, checked) = made?;
        private_file::rename(&part, &self.to)
            .map_err(|e| Failure::unusable(format!("{}: {e}", self.to.display())))?;
        drop(scratch);
        self.answer(&written, &checked, output)
    }

    /// Whether the trail may be as it is.
    fn accept(&self, made: (Written, Checked)) -> Result<(Written, Checked), Failure> {
        match made.1.broken.first() {
            Some(why) if !self.with_broken_trail => Err(Failure::no(
                "not_verified",
                format!(
                    "the audit trail does not verify: {why}; `signet audit verify` says more, and --with-broken-trail writes the backup all the same"
                ),
            )),
            _ => Ok(made),
        }
    }

    fn answer(&self, written: &Written, checked: &Checked, output: &Output) -> Result<(), Failure> {
        let bytes = fs::metadata(&self.to).map_or(0, |about| about.len());
        let manifest = &written.manifest;
        let mut answer = json!({
            "file": self.to,
            "bytes": bytes,
            "files": written.files,
            "made_at": manifest.made_at,
            "issuer": manifest.issuer,
            "node": manifest.node,
            "engine": manifest.engine.name(),
            "schema": manifest.schema,
            "database": manifest.database,
            "verified": true,
        });
        merge(&mut answer, checked.to_json());
        output.print(&answer, || {
            let mut lines = vec![format!(
                "{}: {bytes} bytes, {} files, read back and verified",
                self.to.display(),
                written.files
            )];
            lines.extend(checked.lines());
            if let Some(database) = &manifest.database {
                lines.push(format!(
                    "The rows are not in it: they are in {}, which was at {} (its clock: {} ms) before the rest was read. Back it up with its own tools, up to that place or later.",
                    database.address,
                    database.lsn.as_deref().unwrap_or("no place that it names"),
                    database.now_ms
                ));
            }
            lines.push(
                "Whoever opens it can sign tokens. Keep what opens it elsewhere: without it nothing is restored.".to_owned(),
            );
            lines.join("\n")
        })
    }
}

/// Adds the members of another answer.
pub(crate) fn merge(answer: &mut serde_json::Value, more: serde_json::Value) {
    if let (Some(answer), serde_json::Value::Object(more)) = (answer.as_object_mut(), more) {
        answer.extend(more);
    }
}

fn part_of(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(".part");
    name.into()
}

fn unusable(path: &Path) -> impl Fn(io::Error) -> Failure + '_ {
    move |error| Failure::unusable(format!("{}: {error}", path.display()))
}

/// Writes the file and verifies it by restoring it beside the server.
fn make(
    place: &Place,
    scratch: &Scratch,
    part: &Path,
    recipient: &Recipient,
    identity: Option<&Identity>,
) -> Result<(Written, Checked), Failure> {
    let mut tries = 0;
    let (written, own) = loop {
        tries += 1;
        match write(place, scratch, part, recipient) {
            Err(NotWritten::Left) if tries < MAX_TRIES => {}
            Err(NotWritten::Left) => {
                return Err(Failure::unusable(
                    "the audit trail's segments are being compressed and archived all the time: try again",
                ));
            }
            Err(NotWritten::Failed(failure)) => return Err(failure),
            Ok(written) => break written,
        }
    };
    let key = match identity {
        Some(identity) => Key::Identity(identity),
        None => Key::Own(&own),
    };
    let folder = scratch.join("check");
    private_file::directory(&folder).map_err(unusable(&folder))?;
    let progress = Progress::of("Verifying");
    let unpacked = unpack::unpack(part, &key, &folder, &mut |done, all| progress.at(done, all));
    drop(progress);
    let wrong = |why: String| {
        Failure::no(
            "not_verified",
            format!("what was written does not verify, and was removed: {why}"),
        )
    };
    let unpacked = unpacked.map_err(|error| match error.name() {
        None => Failure::unusable(error.to_string()),
        Some(_) => wrong(error.to_string()),
    })?;
    if unpacked.manifest != written.manifest || unpacked.files != written.files {
        return Err(wrong("it is not what was written".to_owned()));
    }
    let checked = check::check(&folder, &unpacked.manifest).map_err(wrong)?;
    Ok((written, checked))
}

/// Why a backup was not written.
enum NotWritten {
    /// A segment of the trail was compressed or left while it was listed: once more.
    Left,
    Failed(Failure),
}

impl From<Failure> for NotWritten {
    fn from(failure: Failure) -> NotWritten {
        NotWritten::Failed(failure)
    }
}

fn write(
    place: &Place,
    scratch: &Scratch,
    part: &Path,
    recipient: &Recipient,
) -> Result<(Written, OwnKey), NotWritten> {
    let copy = scratch.join("copy.db");
    let database = position(place)?;
    let made_at = now();
    let mut manifest = manifest(place, database, made_at)?;
    // The rows first: their moment is the backup's.
    let mut copied = None;
    if let Some(rows) = place.rows() {
        let progress = Progress::of("Copying the database");
        let from = rows.join(DATABASE_FILE);
        remove(&copy)?;
        let bytes = sqlite::snapshot(&from, &copy);
        drop(progress);
        // Whoever reads a database makes files beside it, where no server has it open.
        let made = ["-wal", "-shm"].map(|end| format!("{DATABASE_FILE}{end}"));
        private_file::give_to_owner(rows, &made.each_ref().map(String::as_str));
        bytes.map_err(|e| Failure::unusable(e.to_string()))?;
        let schema = sqlite::schema_of(&copy).map_err(|e| Failure::unusable(e.to_string()))?;
        manifest.schema = schema.found;
        copied = Some(from.canonicalize().map_err(unusable(&from))?);
    }
    let mut sources = sources::of(place, &manifest.rows).map_err(unusable(&place.data_dir))?;
    if let Some(configuration) = &place.configuration {
        let (more, named) = sources::of_configuration(configuration, &place.data_dir);
        sources.extend(more);
        manifest.configuration = named;
    }
    let total: u64 = sources
        .iter()
        .filter_map(|source| fs::metadata(&source.path).ok())
        .map(|about| about.len())
        .sum();
    let failed = unusable(part);
    let file = File::options()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(part)
        .map_err(&failed)?;
    private_file::restrict(part).map_err(&failed)?;
    let encrypted = Encrypted::new(BufWriter::with_capacity(1 << 17, file), recipient);
    let encrypted = encrypted.map_err(&failed)?;
    let own = encrypted.own_key();
    let mut writer = Writer::new(encrypted);
    let text = manifest.to_bytes();
    let entry = Entry {
        name: MANIFEST.to_owned(),
        mode: 0o600,
        modified: made_at,
        size: text.len() as u64,
    };
    writer.file(&entry, &mut &text[..]).map_err(&failed)?;
    let progress = Progress::of("Encrypting");
    let (mut files, mut done) = (0, 0);
    for source in &sources {
        let is_rows = copied.as_ref() == source.path.canonicalize().ok().as_ref();
        if add(
            &mut writer,
            source,
            is_rows.then_some(&*copy),
            scratch,
            part,
        )? {
            files += 1;
        }
        done += fs::metadata(&source.path).map_or(0, |about| about.len());
        progress.at(done.min(total), total);
    }
    let encrypted = writer.finish().map_err(&failed)?;
    let file = encrypted.finish().map_err(&failed)?;
    let file = file.into_inner().map_err(|e| failed(e.into_error()))?;
    file.sync_all().map_err(&failed)?;
    remove(&copy)?;
    Ok((Written { manifest, files }, own))
}

fn remove(path: &Path) -> Result<(), Failure> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(unusable(path)(error)),
        _ => Ok(()),
    }
}

/// Adds a file; whether it was still there. `copy`: of the rows, where the file is theirs.
fn add<W: io::Write>(
    writer: &mut Writer<W>,
    source: &Source,
    copy: Option<&Path>,
    scratch: &Scratch,
    part: &Path,
) -> Result<bool, NotWritten> {
    let failed = unusable(&source.path);
    let written = unusable(part);
    let about = match fs::metadata(&source.path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return gone(source),
        about => about.map_err(&failed)?,
    };
    let entry = |size: u64| Entry {
        name: source.name.clone(),
        mode: about.permissions().mode() & 0o777,
        modified: u64::try_from(about.mtime()).unwrap_or(0),
        size,
    };
    match &source.kind {
        SourceKind::Database => {
            let other = scratch.join("other.db");
            let path = match copy {
                Some(copy) => copy,
                None => {
                    remove(&other)?;
                    sqlite::snapshot(&source.path, &other)
                        .map_err(|e| Failure::unusable(e.to_string()))?;
                    &*other
                }
            };
            let mut file = File::open(path).map_err(unusable(path))?;
            let size = file.metadata().map_err(unusable(path))?.len();
            writer.file(&entry(size), &mut file).map_err(written)?;
            remove(&other)?;
        }
        SourceKind::Growing(segment) => {
            let Some(data) = trail::read_plain(segment).map_err(&failed)? else {
                return Err(NotWritten::Left);
            };
            if data.is_empty() {
                return Ok(false);
            }
            writer
                .file(&entry(data.len() as u64), &mut &data[..])
                .map_err(written)?;
        }
        SourceKind::Whole => {
            let mut file = match File::open(&source.path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => return gone(source),
                file => file.map_err(&failed)?,
            };
            // Of the file that is open: another one may have its name by now.
            let size = file.metadata().map_err(&failed)?.len();
            if size <= SMALL {
                let mut data = zeroize::Zeroizing::new(Vec::new());
                file.take(2 * SMALL)
                    .read_to_end(&mut data)
                    .map_err(&failed)?;
                writer
                    .file(&entry(data.len() as u64), &mut &data[..])
                    .map_err(written)?;
            } else {
                writer.file(&entry(size), &mut file).map_err(written)?;
            }
        }
    }
    Ok(true)
}

/// A file that has left since it was listed.
fn gone(source: &Source) -> Result<bool, NotWritten> {
    match source.name.starts_with(&format!("{DATA}audit/")) {
        true => Err(NotWritten::Left),
        false => Ok(false),
    }
}

/// Where a database is that is not on this machine.
fn position(place: &Place) -> Result<Option<Database>, Failure> {
    let StoreEngine::Postgres { options, .. } = &place.engine else {
        return Ok(None);
    };
    let position =
        PostgresStore::position(options).map_err(|e| Failure::unusable(e.to_string()))?;
    Ok(Some(Database {
        address: options.address.to_string(),
        server: position.server,
        lsn: position.lsn,
        now_ms: position.now_ms,
    }))
}

fn manifest(place: &Place, database: Option<Database>, made_at: u64) -> Result<Manifest, Failure> {
    let read = |e: &dyn std::fmt::Display| Failure::unusable(e.to_string());
    let (engine, schema) = match &place.engine {
        StoreEngine::Postgres { options, .. } => {
            let status = PostgresStore::schema(options).map_err(|e| read(&e))?;
            (Engine::Postgres, status.found)
        }
        StoreEngine::Sqlite { directory, .. } => {
            match sqlite::is_replicated(directory).map_err(|e| read(&e))? {
                true => (Engine::Replicated, 0),
                false => (Engine::Sqlite, 0),
            }
        }
    };
    let rows = place.rows().and_then(|rows| rows.canonicalize().ok());
    let rows = rows
        .as_deref()
        .and_then(|rows| rows.strip_prefix(&place.data_dir).ok());
    let node = NodePlace::read(&place.data_dir).map_err(Failure::unusable)?;
    Ok(Manifest {
        version: VERSION,
        signet: env!("CARGO_PKG_VERSION").to_owned(),
        made_at,
        issuer: place.issuer().map(str::to_owned),
        node: node.map(|node| node.name),
        engine,
        schema,
        rows: rows.and_then(Path::to_str).unwrap_or_default().to_owned(),
        database,
        data_dir: place.data_dir.display().to_string(),
        configuration: Vec::new(),
    })
}
