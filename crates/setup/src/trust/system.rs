//! The system's store: a file in the directory of the administrator's own authorities, and the
//! program that makes the store of them.

use std::io;
use std::path::{Path, PathBuf};

use super::authority::Authority;
use super::program;
use super::{Act, Outcome, Store};
use crate::paths::shell;

/// How a distribution does it.
struct System {
    directory: &'static str,
    program: &'static str,
    add: &'static [&'static str],
    remove: &'static [&'static str],
}

const SYSTEMS: &[System] = &[
    // Debian, Ubuntu, Alpine.
    System {
        directory: "/usr/local/share/ca-certificates",
        program: "update-ca-certificates",
        add: &[],
        // Without it the links of what is gone would stay.
        remove: &["--fresh"],
    },
    // Fedora, Red Hat.
    System {
        directory: "/etc/pki/ca-trust/source/anchors",
        program: "update-ca-trust",
        add: &["extract"],
        remove: &["extract"],
    },
    // Arch.
    System {
        directory: "/etc/ca-certificates/trust-source/anchors",
        program: "trust",
        add: &["extract-compat"],
        remove: &["extract-compat"],
    },
];

/// Changes it. `directory`: instead of the distribution's.
pub(super) fn change(authority: &Authority, act: Act, directory: Option<PathBuf>) -> Store {
    let mut known = SYSTEMS.iter();
    let system = match &directory {
        None => known.find(|system| Path::new(system.directory).is_dir()),
        Some(_) => known.find(|system| program::is_there(system.program)),
    };
    let Some(system) = system else {
        return Store {
            kind: "system",
            path: directory.unwrap_or_default(),
            outcome: Outcome::failed(
                "this system's store is not known: give ca.pem to it as its manual says",
            ),
        };
    };
    let directory = directory.unwrap_or_else(|| system.directory.into());
    let path = directory.join(format!("signet-{}.crt", authority.short()));
    let outcome = match act {
        Act::Add => add(authority, system, &path),
        Act::Remove => remove(authority, system, &path),
    };
    Store {
        kind: "system",
        path,
        outcome,
    }
}

fn add(authority: &Authority, system: &System, path: &Path) -> Outcome {
    let by_hand = format!(
        "sudo install -m 644 {} {} && sudo {}",
        shell(&authority.file),
        shell(path),
        command(system, system.add)
    );
    match std::fs::read(path) {
        Ok(found) if authority.is(&found) => return Outcome::Already,
        Ok(_) => return Outcome::failed("another certificate has this name"),
        Err(_) => {}
    }
    if let Err(e) = put(path, authority.pem.as_bytes()) {
        return refused(&e, by_hand);
    }
    match program::run(system.program, system.add, "") {
        Ok(_) => Outcome::Trusted,
        Err(why) => Outcome::Failed {
            why,
            run: Some(format!("sudo {}", command(system, system.add))),
        },
    }
}

/// Written whole, and readable by everybody: it is public, and libraries read it as anybody.
fn put(path: &Path, content: &[u8]) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    signet_crypto::private_file::create(path, content)?;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o644))
}

fn remove(authority: &Authority, system: &System, path: &Path) -> Outcome {
    let by_hand = format!(
        "sudo rm {} && sudo {}",
        shell(path),
        command(system, system.remove)
    );
    match std::fs::read(path) {
        Ok(found) if authority.is(&found) => {}
        Ok(_) => return Outcome::failed("another certificate has this name, and stays"),
        Err(e) if e.kind() == io::ErrorKind::NotFound => {
            return Outcome::Absent("it is not there".into());
        }
        Err(e) => return refused(&e, by_hand),
    }
    if let Err(e) = std::fs::remove_file(path) {
        return refused(&e, by_hand);
    }
    match program::run(system.program, system.remove, "") {
        Ok(_) => Outcome::Removed,
        Err(why) => Outcome::Failed {
            why,
            run: Some(format!("sudo {}", command(system, system.remove))),
        },
    }
}

fn refused(error: &io::Error, by_hand: String) -> Outcome {
    match error.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => Outcome::Failed {
            why: "this is root's to do; run:".into(),
            run: Some(by_hand),
        },
        _ => Outcome::failed(error.to_string()),
    }
}

fn command(system: &System, arguments: &[&str]) -> String {
    let words = [system.program]
        .into_iter()
        .chain(arguments.iter().copied());
    words.collect::<Vec<_>>().join(" ")
}
