//! The browsers' stores: databases of NSS, one a profile, changed by NSS' own program.

use std::path::{Path, PathBuf};

use super::authority::Authority;
use super::program;
use super::{Act, Outcome, Store};

/// NSS' program.
const CERTUTIL: &str = "certutil";
/// The file by which a store is known.
const DATABASE: &str = "cert9.db";

/// Stores that all profiles of a browser share, below the home directory.
const SHARED: &[&str] = &[".pki/nssdb", "snap/chromium/current/.pki/nssdb"];
/// Folders of profiles, each with a store of its own.
const PROFILES: &[&str] = &[
    ".mozilla/firefox",
    ".config/mozilla/firefox",
    "snap/firefox/common/.mozilla/firefox",
    ".var/app/org.mozilla.firefox/.mozilla/firefox",
];

/// Changes every store of the user's browsers.
pub(super) fn change(authority: &Authority, act: Act) -> Vec<Store> {
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let Some(home) = home.filter(|home| home.is_absolute()) else {
        let outcome = Outcome::failed("HOME is not set: whose browsers?");
        return vec![Store {
            kind: "browsers",
            path: PathBuf::new(),
            outcome,
        }];
    };
    let stores = stores(&home);
    if stores.is_empty() {
        let why = "no browser has a store here yet: start it once, and run this again";
        return vec![Store {
            kind: "browsers",
            path: home,
            outcome: Outcome::Absent(why.into()),
        }];
    }
    let has_program = program::is_there(CERTUTIL);
    let changed = stores.into_iter().map(|(kind, path)| {
        let outcome = match (has_program, act) {
            (false, _) => Outcome::failed(
                "certutil is not installed (Debian: libnss3-tools; Fedora: nss-tools; Arch: nss)",
            ),
            (true, Act::Add) => add(authority, &path),
            (true, Act::Remove) => remove(authority, &path),
        };
        Store {
            kind,
            path,
            outcome,
        }
    });
    changed.collect()
}

/// Every store that is there, and whose it is.
fn stores(home: &Path) -> Vec<(&'static str, PathBuf)> {
    let is_store = |path: &PathBuf| path.join(DATABASE).is_file();
    let shared = SHARED.iter().map(|path| home.join(path));
    let mut found: Vec<_> = shared
        .filter(is_store)
        .map(|path| ("chromium", path))
        .collect();
    for folder in PROFILES {
        let entries = std::fs::read_dir(home.join(folder)).into_iter().flatten();
        let mut profiles: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        profiles.retain(is_store);
        profiles.sort();
        found.extend(profiles.into_iter().map(|path| ("firefox", path)));
    }
    found
}

/// What the certificate is called there: no other has the name.
fn nickname(authority: &Authority) -> String {
    format!("{} ({})", authority.name, authority.short())
}

fn database(store: &Path) -> String {
    format!("sql:{}", store.display())
}

/// The certificate of that name, PEM.
fn found(authority: &Authority, store: &Path) -> Option<Vec<u8>> {
    let (store, nickname) = (database(store), nickname(authority));
    program::run(CERTUTIL, &["-L", "-d", &store, "-n", &nickname, "-a"], "").ok()
}

fn add(authority: &Authority, store: &Path) -> Outcome {
    match found(authority, store) {
        Some(there) if authority.is(&there) => return Outcome::Already,
        Some(_) => return Outcome::failed("another certificate has this name"),
        None => {}
    }
    let (database, nickname) = (database(store), nickname(authority));
    // "C,,": its certificates are believed of servers, and of nobody else.
    let arguments = ["-A", "-d", &database, "-n", &nickname, "-t", "C,,", "-a"];
    // What was checked is what is added: not the file, which may be another one by now.
    if let Err(why) = program::run(CERTUTIL, &arguments, &authority.pem) {
        return Outcome::failed(why);
    }
    match found(authority, store).is_some_and(|there| authority.is(&there)) {
        true => Outcome::Trusted,
        false => Outcome::failed("it is there under another name"),
    }
}

fn remove(authority: &Authority, store: &Path) -> Outcome {
    match found(authority, store) {
        Some(there) if authority.is(&there) => {}
        Some(_) => return Outcome::failed("another certificate has this name, and stays"),
        None => return Outcome::Absent("it is not there".into()),
    }
    let (database, nickname) = (database(store), nickname(authority));
    match program::run(CERTUTIL, &["-D", "-d", &database, "-n", &nickname], "") {
        Ok(_) => Outcome::Removed,
        Err(why) => Outcome::failed(why),
    }
}
