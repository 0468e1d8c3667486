//! Staying: when a directory is looked at again, and what is printed of what went wrong.
use crate::applying::Refused;
use crate::check::{Found, fingerprint};
use crate::notices::Notices;
use signet_terminal::output::{Failure, note};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::{Instant, sleep, timeout};

/// How often the files of a directory are looked at, whatever the system says: not every file
/// system gives notice.
const LOOK: Duration = Duration::from_secs(1);
/// How often declarations are applied where none of them has changed.
pub(crate) const AGAIN: Duration = Duration::from_secs(60);
/// For how long nothing must be written before what was written counts.
pub(crate) const SETTLED: Duration = Duration::from_millis(300);
/// Somebody who writes for longer than this is not waited for.
const LONGEST: Duration = Duration::from_secs(10);

/// A directory from a moment on.
pub(crate) struct Looking {
    path: PathBuf,
    notices: Option<Notices>,
    files: u64,
    until: Instant,
}

impl Looking {
    /// From now on.
    pub(crate) fn at(path: &Path) -> Looking {
        let mut folders = Found::below(path).folders;
        if folders.is_empty() {
            // A file that is written again is often another one.
            let parent = path
                .parent()
                .filter(|parent| !parent.as_os_str().is_empty());
            folders.push(parent.unwrap_or(Path::new(".")).to_owned());
        }
        Looking {
            notices: Notices::of(&folders),
            files: fingerprint(path),
            path: path.to_owned(),
            until: Instant::now() + AGAIN,
        }
    }

    /// Whether the files that declare are others than they were.
    pub(crate) fn has_changed(&self) -> bool {
        fingerprint(&self.path) != self.files
    }

    /// Waits for a change that is over, or until it is time to apply what has not changed.
    pub(crate) async fn change(mut self) {
        while Instant::now() < self.until {
            if self.notice(LOOK).await || self.has_changed() {
                return self.settle().await;
            }
        }
    }

    /// Waits until nobody writes.
    pub(crate) async fn settle(&mut self) {
        let longest = Instant::now() + LONGEST;
        let mut files = fingerprint(&self.path);
        while Instant::now() < longest {
            let is_noticed = self.notice(SETTLED).await;
            let is_open = self.notices.as_ref().is_some_and(Notices::is_writing);
            let found = fingerprint(&self.path);
            if !is_noticed && !is_open && found == files {
                return;
            }
            files = found;
        }
    }

    /// Whether the system gives notice of a change within this time.
    async fn notice(&mut self, within: Duration) -> bool {
        match &mut self.notices {
            Some(notices) => timeout(within, notices.next()).await.is_ok(),
            None => {
                sleep(within).await;
                false
            }
        }
    }
}

/// What was printed last of what went wrong: the same is not printed each time.
#[derive(Default)]
pub(crate) struct Printed(Option<String>);

impl Printed {
    /// What is wrong now may be right in a minute: it is said, and ends nothing.
    pub(crate) fn outcome(&mut self, done: Result<(), Refused>, shown: &str) {
        let Err(refused) = done else {
            self.0 = None;
            return;
        };
        let words = refused.words();
        if self.0.as_ref() != Some(&words) {
            let failure = refused.failure(shown);
            note(&format!("signet: {}", failure.description()));
            self.0 = Some(words);
        }
    }
}

/// Does this until the process is asked to end: also as the first process of a container, whom no
/// signal ends that it does not ask for.
pub(crate) async fn until_stopped(
    work: impl Future<Output = Result<(), Failure>>,
) -> Result<(), Failure> {
    let failed = |e: std::io::Error| Failure::unusable(format!("cannot wait for signals: {e}"));
    let mut terminate = signal(SignalKind::terminate()).map_err(failed)?;
    let mut interrupt = signal(SignalKind::interrupt()).map_err(failed)?;
    tokio::select! {
        done = work => done,
        _ = terminate.recv() => Ok(()),
        _ = interrupt.recv() => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    /// How long a change was waited for.
    async fn waited(looking: Looking) -> Duration {
        let began = Instant::now();
        looking.change().await;
        began.elapsed()
    }

    /// What kubelet does with a ConfigMap: files in a new folder, and one link that is swapped.
    fn mount(folder: &Path, version: &str, text: &str) {
        let data = folder.join(format!("..{version}"));
        fs::create_dir(&data).unwrap();
        fs::write(data.join("shop.toml"), text).unwrap();
        symlink(format!("..{version}"), folder.join("..data_tmp")).unwrap();
        fs::rename(folder.join("..data_tmp"), folder.join("..data")).unwrap();
        let link = folder.join("shop.toml");
        if !link.is_symlink() {
            symlink("..data/shop.toml", link).unwrap();
        }
    }

    #[tokio::test]
    async fn the_swapped_link_of_a_config_map_is_a_change() {
        let dir = tempfile::tempdir().unwrap();
        mount(dir.path(), "2026_11_26_1", "[[groups]]\nname = \"a\"\n");
        let names = || -> Vec<String> {
            let directory = crate::check::directory(dir.path());
            assert!(directory.mistakes.is_empty(), "{:?}", directory.mistakes);
            directory.objects.into_iter().map(|one| one.name).collect()
        };
        assert_eq!(names(), ["a"]);
        for poll in [false, true] {
            let mut looking = Looking::at(dir.path());
            assert!(looking.notices.is_some(), "inotify is there");
            if poll {
                looking.notices = None;
            }
            assert!(!looking.has_changed());
            let version = format!("2026_11_26_2{poll}");
            let name = if poll { "c" } else { "b" };
            mount(
                dir.path(),
                &version,
                &format!("[[groups]]\nname = \"{name}\"\n"),
            );
            assert!(looking.has_changed());
            assert!(waited(looking).await < AGAIN / 2);
            assert_eq!(names(), [name]);
        }
    }

    #[tokio::test]
    async fn a_file_that_somebody_still_writes_is_waited_for() {
        use std::io::Write;
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.toml");
        fs::write(&path, "").unwrap();
        let looking = Looking::at(dir.path());
        let writer = {
            let path = path.clone();
            std::thread::spawn(move || {
                let mut file = fs::File::create(path).unwrap();
                for line in [
                    "[[groups]]\n",
                    "name = \"a\"\n",
                    "[[groups]]\n",
                    "name = \"b\"\n",
                ] {
                    file.write_all(line.as_bytes()).unwrap();
                    // Longer than what is taken for the end of a burst.
                    std::thread::sleep(SETTLED * 2);
                }
            })
        };
        looking.change().await;
        assert!(writer.is_finished(), "it was read while it was written");
        writer.join().unwrap();
    }

    #[tokio::test]
    async fn what_editors_keep_beside_a_file_is_no_change() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("a.toml"), "").unwrap();
        let mut looking = Looking::at(dir.path());
        fs::write(dir.path().join(".a.toml.swp"), "half").unwrap();
        assert!(!looking.notice(SETTLED).await);
        fs::create_dir(dir.path().join("deep")).unwrap();
        assert!(looking.notice(SETTLED).await);
    }
}
