//! The machine: space, whose files they are, how many may be open.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::process::{Resource, getrlimit};
use signet_audit::NODE_FILE;
use signet_config::secret::SecretRef;
use signet_registry::keys::SEALING_FILE;
use signet_store::sqlite::{DATABASE_FILE, LOCK_FILE};

use super::Finding;
use super::subject::Subject;

/// Less than this is about to be none, bytes.
const LITTLE: u64 = 1 << 30;
/// Less than this is as good as none: the reserve of a full disk is of this size, bytes.
const NONE: u64 = 64 << 20;
/// Files that are open beside connections: the database, the trail, other servers.
const BESIDE: u64 = 256;

/// There is space for the database and the trail.
pub(crate) fn disk(subject: &Subject) -> Finding {
    let place = &subject.place;
    let mut directories = vec![place.data_dir.clone(), place.audit.clone()];
    directories.extend(place.rows().map(Path::to_owned));
    let mut least: Option<(u64, PathBuf)> = None;
    for directory in directories {
        let Ok(disk) = rustix::fs::statvfs(&directory) else {
            // The trail's may not be there yet.
            continue;
        };
        let free = disk.f_bavail.saturating_mul(disk.f_frsize);
        if least.as_ref().is_none_or(|(known, _)| free < *known) {
            least = Some((free, directory));
        }
    }
    match least {
        Some((free, directory)) => of_space(free, &directory),
        None => Finding::wrong(
            format!("{} cannot be looked at", place.data_dir.display()),
            "let this user enter the data directory",
        ),
    }
}

/// What so much space means.
pub(crate) fn of_space(free: u64, directory: &Path) -> Finding {
    let found = format!("{} MiB are free at {}", free >> 20, directory.display());
    let mend = "make space, or let closed segments of the trail leave (audit.keep_for, audit.archive_directory)";
    match free {
        ..NONE => Finding::wrong(found, mend),
        NONE..LITTLE => Finding::warning(found, mend),
        LITTLE.. => Finding::ok(found),
    }
}

/// Nobody else reads what is secret, and one user owns the directory.
pub(crate) fn permissions(subject: &Subject) -> Finding {
    let place = &subject.place;
    let mut secrets: Vec<PathBuf> = [
        SEALING_FILE,
        "dev.json",
        "ca.key",
        "server.key",
        "cluster/node.json",
    ]
    .iter()
    .map(|name| place.data_dir.join(name))
    .collect();
    secrets.push(place.audit.join(NODE_FILE));
    secrets.extend(place.rows().map(|rows| rows.join(DATABASE_FILE)));
    if let Some(found) = &place.configuration {
        let config = &found.config;
        let file = |reference: &SecretRef| match reference {
            SecretRef::File(path) => Some(path.clone()),
            SecretRef::Env(_) => None,
        };
        let smtp = config.mail.as_ref().and_then(|mail| mail.smtp.as_ref());
        let named = [
            config.tls.as_ref().map(|tls| tls.key.clone()),
            config
                .proxy
                .as_ref()
                .and_then(|proxy| proxy.secret_file.clone()),
            smtp.and_then(|smtp| smtp.password.as_ref()).and_then(file),
            config.store.password.as_ref().and_then(file),
        ];
        secrets.extend(
            named
                .into_iter()
                .flatten()
                .map(|path| found.base.join(path)),
        );
    }
    let mode = |path: &PathBuf| fs::metadata(path).ok().map(|about| about.mode());
    // A group may be the proxy's or the backup's; nobody means everybody.
    let open: Vec<&PathBuf> = secrets
        .iter()
        .filter(|path| {
            let within = path.starts_with(&place.data_dir);
            let others = if within { 0o077 } else { 0o007 };
            mode(path).is_some_and(|mode| mode & others != 0)
        })
        .collect();
    if !open.is_empty() {
        let names: Vec<String> = open.iter().map(|path| path.display().to_string()).collect();
        let names = names.join(" ");
        return Finding::wrong(
            format!("others may read {names}"),
            format!(
                "chmod 600 {names}; if somebody could, rotate what is in them (signet key rotate --sealing)"
            ),
        );
    }
    let owner = |path: &Path| fs::metadata(path).ok().map(|about| about.uid());
    let own = owner(&place.data_dir);
    let foreign = secrets.iter().find(|path| {
        path.starts_with(&place.data_dir) && owner(path).is_some_and(|of| Some(of) != own)
    });
    if let (Some(path), Some(own)) = (foreign, own) {
        return Finding::wrong(
            format!(
                "{} belongs to another user than the data directory",
                path.display()
            ),
            format!("chown -R {own} {}", place.data_dir.display()),
        );
    }
    match mode(&place.data_dir).is_some_and(|mode| mode & 0o022 != 0) {
        true => Finding::wrong(
            format!("others may write {}", place.data_dir.display()),
            format!("chmod 700 {}", place.data_dir.display()),
        ),
        false => Finding::ok(format!(
            "{} keys and secrets are their owner's alone",
            secrets.iter().filter(|path| path.exists()).count()
        )),
    }
}

/// The process that holds the data directory.
pub(crate) fn running(subject: &Subject) -> Option<u32> {
    let place = &subject.place;
    let directory = place.rows().unwrap_or(&place.data_dir);
    let text = fs::read_to_string(directory.join(LOCK_FILE)).ok()?;
    let pid: u32 = text.trim().parse().ok()?;
    Path::new("/proc")
        .join(pid.to_string())
        .exists()
        .then_some(pid)
}

/// The process may open as many files as it has connections.
pub(crate) fn limits(subject: &Subject) -> Finding {
    let of_process = running(subject).and_then(|pid| {
        let text = fs::read_to_string(format!("/proc/{pid}/limits")).ok()?;
        open_files(&text)
    });
    // The server raises what it may have to what the system lets it.
    let (files, whose) = match of_process {
        Some(files) => (files, "the server"),
        None => (
            getrlimit(Resource::Nofile).maximum,
            "a process of this user",
        ),
    };
    let config = subject.place.configuration.as_ref();
    let connections = config.map_or_else(
        || signet_config::model::Limits::default().connections,
        |found| found.config.limits.connections,
    );
    of_files(files, connections, whose)
}

/// The hard limit of open files, as Linux shows it; None: unlimited.
fn open_files(text: &str) -> Option<Option<u64>> {
    let line = text
        .lines()
        .find(|line| line.starts_with("Max open files"))?;
    let hard = line["Max open files".len()..].split_whitespace().nth(1)?;
    match hard {
        "unlimited" => Some(None),
        number => Some(Some(number.parse().ok()?)),
    }
}

/// What so many files mean; None: as many as are asked for.
pub(crate) fn of_files(files: Option<u64>, connections: u64, whose: &str) -> Finding {
    match files {
        Some(files) if files < connections.saturating_add(BESIDE) => Finding::warning(
            format!(
                "{whose} may open {files} files: fewer connections than limits.connections ({connections})"
            ),
            format!(
                "LimitNOFILE={} in the unit, or a lower limits.connections",
                connections + BESIDE
            ),
        ),
        Some(files) => Finding::ok(format!("{whose} may open {files} files")),
        None => Finding::ok(format!("{whose} may open any number of files")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_of_a_process_is_read() {
        let line = |hard: &str| {
            format!(
                "Limit    Soft Limit  Hard Limit  Units\nMax open files            1024                 {hard}               files\n"
            )
        };
        assert_eq!(open_files(&line("524288")), Some(Some(524_288)));
        assert_eq!(open_files(&line("unlimited")), Some(None));
        assert_eq!(open_files("nothing"), None);
    }
}
