//! Everything of a server that belongs into a backup, found and put in its order.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use signet_audit::segment::{self, Segment};
use signet_config::secret::SecretRef;
use signet_config::{brand::Brand, engine};
use signet_store::sqlite::{DATABASE_FILE, LOCK_FILE, RESERVE_FILE};

use crate::manifest::{CONFIGURATION, ConfigurationFile, DATA};
use crate::place::{Configuration, Place};
use crate::scratch::SCRATCH;
use crate::trail;
use crate::unpack::RESTORED_CONFIGURATION;

/// What begins every database of the embedded engine.
const SQLITE: &[u8] = b"SQLite format 3\0";

/// A file that belongs into a backup.
#[derive(Debug)]
pub(crate) struct Source {
    /// Its name there.
    pub name: String,
    /// Where it lies.
    pub path: PathBuf,
    /// How it is read.
    pub kind: SourceKind,
}

/// How a file is read while a server may write it.
#[derive(Debug)]
pub(crate) enum SourceKind {
    /// A database: a copy of one moment is made of it.
    Database,
    /// As it is: files are written aside and renamed, so whoever opens one has the whole of it.
    Whole,
    /// A segment of the trail that may grow: up to its last checkpoint.
    Growing(Segment),
}

impl SourceKind {
    /// What a later one names, an earlier one must not know: the rows come before the keys that
    /// open them, and both before the trail, which is never shorter than the rows say.
    const fn order(&self, is_rows: bool, is_trail: bool) -> u8 {
        match self {
            SourceKind::Database if is_rows => 0,
            SourceKind::Database => 2,
            SourceKind::Whole if !is_trail => 1,
            SourceKind::Whole | SourceKind::Growing(_) => 3,
        }
    }
}

/// Where a directory's files go in a backup.
struct Walk<'a> {
    place: &'a Place,
    found: Vec<(u8, Source)>,
}

/// Finds everything of a server, in the order in which it is read. `rows`: the name of the
/// directory of its rows, below the data directory.
///
/// # Errors
/// What the system says.
pub(crate) fn of(place: &Place, rows: &str) -> io::Result<Vec<Source>> {
    let mut walk = Walk {
        place,
        found: Vec::new(),
    };
    walk.directory(&place.data_dir, "")?;
    if let Some(directory) = place.rows() {
        let directory = directory.canonicalize()?;
        if !directory.starts_with(&place.data_dir) {
            let name = match rows {
                "" => DATABASE_FILE.to_owned(),
                rows => format!("{rows}/{DATABASE_FILE}"),
            };
            walk.add(&name, directory.join(DATABASE_FILE), SourceKind::Database);
        }
    }
    if let Ok(audit) = place.audit.canonicalize()
        && !audit.starts_with(&place.data_dir)
    {
        walk.directory(&audit, "audit/")?;
    }
    let mut found = walk.found;
    found.sort_by(|(a, one), (b, other)| (a, &one.name).cmp(&(b, &other.name)));
    Ok(found.into_iter().map(|(_, source)| source).collect())
}

impl Walk<'_> {
    fn add(&mut self, name: &str, path: PathBuf, kind: SourceKind) {
        let rows = self.place.rows().and_then(|rows| rows.canonicalize().ok());
        let is_rows = rows.as_deref() == path.parent();
        let is_trail = name.starts_with("audit/");
        let order = kind.order(is_rows, is_trail);
        let name = format!("{DATA}{name}");
        self.found.push((order, Source { name, path, kind }));
    }

    fn directory(&mut self, directory: &Path, prefix: &str) -> io::Result<()> {
        let segments = segment::list(directory)?;
        for entry in fs::read_dir(directory)? {
            let entry = entry?;
            let path = entry.path();
            let name = entry.file_name();
            let Some(name) = name.to_str() else {
                let text = format!("{}: its name is no text", path.display());
                return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
            };
            // What an earlier restore put aside is no part of a server.
            let is_aside = prefix.is_empty() && name == RESTORED_CONFIGURATION;
            if is_passing(name) || is_aside {
                continue;
            }
            // What a link leads to belongs to the server as much as a file in its place; a folder
            // behind a link may be anything.
            let Ok(about) = fs::metadata(&path) else {
                continue;
            };
            let full = format!("{prefix}{name}");
            if about.is_dir() {
                if !entry.file_type()?.is_symlink() {
                    self.directory(&path, &format!("{full}/"))?;
                }
                continue;
            }
            if !about.is_file() {
                continue;
            }
            let growing = segments
                .iter()
                .find(|segment| segment.path == path && trail::is_plain(segment));
            let kind = match growing {
                Some(segment) => SourceKind::Growing(segment.clone()),
                None if is_database(&path) => SourceKind::Database,
                None => SourceKind::Whole,
            };
            self.add(&full, path, kind);
        }
        Ok(())
    }
}

/// What belongs to a running process, or to work that was not finished.
fn is_passing(name: &str) -> bool {
    let ends = [".part", ".tmp", ".new", "-wal", "-shm", "-journal"];
    [LOCK_FILE, RESERVE_FILE, SCRATCH].contains(&name) || ends.iter().any(|end| name.ends_with(end))
}

pub(crate) fn is_database(path: &Path) -> bool {
    let mut begins = [0; SQLITE.len()];
    let read =
        fs::File::open(path).and_then(|mut file| io::Read::read_exact(&mut file, &mut begins));
    read.is_ok() && begins == SQLITE
}

/// The configuration file and the files that it names, as far as they are there and not in the data
/// directory: certificates, keys, authorities, secrets, what pages look like.
pub(crate) fn of_configuration(
    configuration: &Configuration,
    data_dir: &Path,
) -> (Vec<Source>, Vec<ConfigurationFile>) {
    let Configuration { file, base, config } = configuration;
    let mut paths: Vec<PathBuf> = vec![file.clone()];
    let mut add = |path: Option<&PathBuf>| paths.extend(path.map(|path| base.join(path)));
    if let Some(tls) = &config.tls {
        add(Some(&tls.certificate));
        add(Some(&tls.key));
        add(tls.client_ca.as_ref());
    }
    add(config.outbound.trust.as_ref());
    if let Some(proxy) = &config.proxy {
        add(proxy.secret_file.as_ref());
    }
    let secret = |reference: &SecretRef| match reference {
        SecretRef::File(path) => Some(path.clone()),
        SecretRef::Env(_) => None,
    };
    if let Some(smtp) = config.mail.as_ref().and_then(|mail| mail.smtp.as_ref()) {
        add(smtp.trust.as_ref());
        add(smtp.password.as_ref().and_then(secret).as_ref());
    }
    add(config.store.password.as_ref().and_then(secret).as_ref());
    for path in engine::files_of_url(&config.store) {
        add(Some(&path));
    }
    for brand in std::iter::once(&config.brand).chain(config.brand.clients.values()) {
        let Brand {
            logo, favicon, css, ..
        } = brand;
        for path in [logo, favicon, css].into_iter().flatten() {
            add(Some(path));
        }
    }
    let mut sources = Vec::new();
    let mut named: Vec<ConfigurationFile> = Vec::new();
    for path in paths {
        let shown = path.display().to_string();
        let is_within = path
            .canonicalize()
            .is_ok_and(|path| path.starts_with(data_dir));
        if is_within || !path.is_file() || named.iter().any(|known| known.path == shown) {
            continue;
        }
        let last = path.file_name().and_then(|name| name.to_str());
        let name = format!(
            "{CONFIGURATION}{}-{}",
            named.len() + 1,
            last.unwrap_or("file")
        );
        named.push(ConfigurationFile {
            path: shown,
            name: name.clone(),
        });
        let kind = SourceKind::Whole;
        sources.push(Source { name, path, kind });
    }
    (sources, named)
}
