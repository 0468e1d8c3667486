//! Where the file lies, who may have touched it, and the lock of whoever changes it.

use std::{
    fs::{self, File, TryLockError},
    io::{self, Read},
    os::unix::fs::{MetadataExt, PermissionsExt},
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use rustix::fs::{Mode, OFlags};
use signet_crypto::private_file;
use zeroize::Zeroizing;

use crate::file::Contexts;

/// Largest file that is read, in bytes.
pub const MAX_FILE: u64 = 1024 * 1024;
/// How long another command may hold the lock: it waits for a server meanwhile.
const PATIENCE: Duration = Duration::from_secs(60);
/// How often the lock is tried.
const EVERY: Duration = Duration::from_millis(20);

const FILE: &str = "contexts.json";
const LOCK: &str = "contexts.lock";

/// Why the kept logins cannot be used. All of it is for the operator; nothing of it repeats what
/// the file holds.
#[derive(Debug, thiserror::Error)]
pub enum ContextError {
    /// The environment names no folder.
    #[error(
        "logins are kept in $XDG_CONFIG_HOME/signet or $HOME/.config/signet, and neither variable is an absolute path"
    )]
    NoHome,
    /// The system refuses.
    #[error("{}: {why}", path.display())]
    Unreadable {
        /// Which file or folder.
        path: PathBuf,
        /// The system's words.
        why: io::Error,
    },
    /// Others could have read or changed it.
    #[error("{} {what}: it is not used; {remedy}", path.display())]
    Open {
        /// Which file or folder.
        path: PathBuf,
        /// What others can do.
        what: &'static str,
        /// What mends it.
        remedy: String,
    },
    /// Its content is not what is written here.
    #[error("{}: {why}; remove the file and log in again with `signet login`", path.display())]
    Malformed {
        /// Which file.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// Somebody else has held the lock for too long.
    #[error("another signet command has been using {} for a minute", path.display())]
    Busy {
        /// The lock.
        path: PathBuf,
    },
}

/// The folder of one user.
#[derive(Clone, Debug)]
pub struct Folder(PathBuf);

impl Folder {
    /// That of the XDG base directory specification: a variable that is no absolute path counts
    /// as unset.
    ///
    /// # Errors
    /// [`ContextError::NoHome`].
    pub fn of_user() -> Result<Folder, ContextError> {
        let variable = |name: &str| {
            let path = std::env::var_os(name).map(PathBuf::from);
            path.filter(|path| path.is_absolute())
        };
        let configuration = variable("XDG_CONFIG_HOME");
        let home = || variable("HOME").map(|home| home.join(".config"));
        let found = configuration.or_else(home).ok_or(ContextError::NoHome)?;
        Ok(Folder(found.join("signet")))
    }

    /// This one.
    pub fn at(path: &Path) -> Folder {
        Folder(path.to_owned())
    }

    /// The file.
    pub fn file(&self) -> PathBuf {
        self.0.join(FILE)
    }

    /// What is kept; nothing where there is no file.
    ///
    /// # Errors
    /// The folder or the file is not for its owner alone, or the file is none of ours.
    pub fn read(&self) -> Result<Contexts, ContextError> {
        let path = self.file();
        let unreadable = |path: &Path| {
            let path = path.to_owned();
            move |why: io::Error| ContextError::Unreadable { path, why }
        };
        let folder = match fs::symlink_metadata(&self.0) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Contexts::default()),
            other => other.map_err(unreadable(&self.0))?,
        };
        // A link of the folder is the user's own way to keep it elsewhere; what it leads to counts.
        let folder = match folder.is_symlink() {
            true => fs::metadata(&self.0).map_err(unreadable(&self.0))?,
            false => folder,
        };
        check(&self.0, &folder, 0o022)?;
        // Not through a link, and without waiting for the writer of a pipe.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = match rustix::fs::open(&path, flags, Mode::empty()) {
            Ok(file) => File::from(file),
            Err(rustix::io::Errno::NOENT) => return Ok(Contexts::default()),
            Err(e) => return Err(unreadable(&path)(e.into())),
        };
        let found = file.metadata().map_err(unreadable(&path))?;
        if !found.is_file() {
            let why = "it is no file".into();
            return Err(ContextError::Malformed { path, why });
        }
        // What was opened is what is looked at, whatever has its name by now.
        check(&path, &found, 0o077)?;
        let mut bytes = Zeroizing::new(Vec::new());
        let mut bounded = file.take(MAX_FILE + 1);
        bounded.read_to_end(&mut bytes).map_err(unreadable(&path))?;
        if bytes.len() as u64 > MAX_FILE {
            let why = format!("it is larger than {MAX_FILE} bytes");
            return Err(ContextError::Malformed { path, why });
        }
        Contexts::parse(&bytes).map_err(|why| ContextError::Malformed { path, why })
    }

    /// Waits for the lock, and holds it. The folder is made where it is not there.
    ///
    /// # Errors
    /// The folder cannot be made, or somebody else holds the lock for a minute.
    pub fn lock(&self) -> Result<Locked, ContextError> {
        let path = self.0.join(LOCK);
        let unreadable = |why| ContextError::Unreadable {
            path: path.clone(),
            why,
        };
        private_file::directory(&self.0).map_err(unreadable)?;
        let folder = fs::metadata(&self.0).map_err(unreadable)?;
        if folder.uid() == rustix::process::geteuid().as_raw() && folder.mode() & 0o077 != 0 {
            // Made by another program: nothing of ours is in it yet that others could have read,
            // or the file's own mode kept them out.
            fs::set_permissions(&self.0, fs::Permissions::from_mode(0o700)).map_err(unreadable)?;
        }
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = rustix::fs::open(&path, flags, Mode::from_raw_mode(0o600));
        let file = File::from(file.map_err(|e| unreadable(e.into()))?);
        let begun = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) if begun.elapsed() < PATIENCE => {
                    thread::sleep(EVERY);
                }
                Err(TryLockError::WouldBlock) => return Err(ContextError::Busy { path }),
                Err(TryLockError::Error(why)) => return Err(unreadable(why)),
            }
        }
        Ok(Locked {
            folder: self.clone(),
            _lock: file,
        })
    }
}

/// Whoever holds the lock, until this is dropped.
#[derive(Debug)]
pub struct Locked {
    folder: Folder,
    _lock: File,
}

impl Locked {
    /// As [`Folder::read`].
    ///
    /// # Errors
    /// As there.
    pub fn read(&self) -> Result<Contexts, ContextError> {
        self.folder.read()
    }

    /// Writes all of it, mode 0600, in place of what was there: the old file or the new one, never
    /// half of one.
    ///
    /// # Errors
    /// What the system says.
    pub fn write(&self, contexts: &Contexts) -> Result<(), ContextError> {
        let path = self.folder.file();
        private_file::write(&path, &contexts.write())
            .map_err(|why| ContextError::Unreadable { path, why })
    }
}

/// Whether it is the caller's own, and nobody else has any of these permissions.
fn check(path: &Path, found: &fs::Metadata, denied: u32) -> Result<(), ContextError> {
    let refused = |what, remedy| ContextError::Open {
        path: path.to_owned(),
        what,
        remedy,
    };
    let shown = path.display();
    if found.uid() != rustix::process::geteuid().as_raw() {
        let remedy = format!("chown it, or set XDG_CONFIG_HOME to a folder of your own ({shown})");
        return Err(refused("belongs to another user", remedy));
    }
    if found.mode() & denied != 0 {
        let (mode, more) = match found.is_dir() {
            true => ("700", String::new()),
            false => (
                "600",
                ", and `signet logout` if somebody may have read it".to_owned(),
            ),
        };
        let remedy = format!("chmod {mode} {shown}{more}");
        let what = "can be read or changed by other users of this machine";
        return Err(refused(what, remedy));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    fn folder() -> (tempfile::TempDir, Folder) {
        let directory = tempfile::tempdir().unwrap();
        let folder = Folder::at(&directory.path().join("signet"));
        (directory, folder)
    }

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().mode() & 0o777
    }

    #[test]
    fn what_is_kept_is_for_its_owner_alone() {
        let (_directory, folder) = folder();
        assert_eq!(folder.read().unwrap(), Contexts::default());
        let locked = folder.lock().unwrap();
        locked.write(&Contexts::default()).unwrap();
        assert_eq!(mode(&folder.0), 0o700);
        assert_eq!(mode(&folder.file()), 0o600);
        drop(locked);
        for open in [0o640, 0o604, 0o620, 0o602, 0o666] {
            fs::set_permissions(folder.file(), fs::Permissions::from_mode(open)).unwrap();
            let refused = folder.read().unwrap_err().to_string();
            assert!(refused.contains("chmod 600"), "{open:o}: {refused}");
        }
        fs::set_permissions(folder.file(), fs::Permissions::from_mode(0o400)).unwrap();
        folder.read().unwrap();
        fs::set_permissions(&folder.0, fs::Permissions::from_mode(0o770)).unwrap();
        let refused = folder.read().unwrap_err().to_string();
        assert!(refused.contains("chmod 700"), "{refused}");
        // Whoever writes next closes it.
        drop(folder.lock().unwrap());
        assert_eq!(mode(&folder.0), 0o700);
    }

    #[test]
    fn a_link_a_pipe_a_folder_and_a_huge_file_are_refused_at_once() {
        let (_directory, folder) = folder();
        drop(folder.lock().unwrap());
        let path = folder.file();
        let other = folder.0.join("other");
        private_file::write(&other, b"{\"contexts\":[]}").unwrap();
        std::os::unix::fs::symlink(&other, &path).unwrap();
        assert!(folder.read().is_err(), "a link");
        fs::remove_file(&path).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, &path, Mode::from_raw_mode(0o600)).unwrap();
        assert!(folder.read().is_err(), "a pipe");
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        assert!(folder.read().is_err(), "a folder");
        fs::remove_dir(&path).unwrap();
        let huge = vec![b' '; usize::try_from(MAX_FILE).unwrap() + 1];
        private_file::write(&path, &huge).unwrap();
        let refused = folder.read().unwrap_err().to_string();
        assert!(refused.contains("larger"), "{refused}");
        private_file::write(&path, b"\"hunter2\"").unwrap();
        let refused = folder.read().unwrap_err().to_string();
        assert!(!refused.contains("hunter2"), "{refused}");
    }

    #[test]
    fn of_all_who_change_it_one_does_at_a_time() {
        static INSIDE: AtomicUsize = AtomicUsize::new(0);
        let (_directory, folder) = folder();
        thread::scope(|scope| {
            for _ in 0..8 {
                let folder = folder.clone();
                scope.spawn(move || {
                    let locked = folder.lock().unwrap();
                    assert_eq!(INSIDE.fetch_add(1, Ordering::SeqCst), 0);
                    locked.write(&locked.read().unwrap()).unwrap();
                    INSIDE.fetch_sub(1, Ordering::SeqCst);
                });
            }
        });
    }
}
